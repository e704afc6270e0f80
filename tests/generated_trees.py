"""Trees of random tests, which no learner has grown."""

import numpy as np

from oc1.tree.linear import Tree


def random_tree(rng, n_features=2, depth=3, n_classes=2, axis=0.3, n_categories=0):
    """Return a tree with random tests; the first attribute is categorical if there are categories."""
    children, tests, counts = [], [], []
    codes = np.round(rng.uniform(0, 1, n_categories), 2)

    def grow(level):
        node = len(children)
        children.append([-1, -1])
        tests.append(([], [], 0.0))
        counts.append(rng.integers(0, 9, n_classes) + np.eye(n_classes)[rng.integers(n_classes)] * 10)
        if level == 0 or (level < depth and rng.uniform() < 0.15):
            return node
        n_terms = 1 if rng.uniform() < axis else rng.integers(1, n_features + 1)
        features = np.sort(rng.permutation(n_features)[:n_terms])
        coefficients = np.ones(1) if n_terms == 1 else np.round(rng.normal(size=n_terms), 2) + 0.001
        middle = np.where((features == 0) & (n_categories > 0), 0.5, rng.normal(size=n_terms))
        tests[node] = (features, coefficients, float(np.round(coefficients @ middle, 3)))
        children[node] = [grow(level - 1), grow(level - 1)]
        return node

    grow(depth)
    sizes = [len(own[0]) for own in tests]
    is_coded = n_categories > 0
    return Tree(
        children=np.array(children, np.int32),
        counts=np.array(counts, float),
        gains=np.zeros(len(children)),
        fill=np.full(n_features, 0.1),
        classes=np.array([f"class{k}" for k in range(n_classes)]),
        feature_names=tuple(f"a{m}" for m in range(n_features)),
        terms=np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
        features=np.concatenate([own[0] for own in tests]).astype(np.int32),
        coefficients=np.concatenate([own[1] for own in tests]).astype(float),
        thresholds=np.array([own[2] for own in tests]),
        gaps=np.zeros(len(children)),
        codes=(codes, *[None] * (n_features - 1)) if is_coded else (),
        categories=(tuple(map(str, range(n_categories))), *[None] * (n_features - 1)) if is_coded else (),
    )
