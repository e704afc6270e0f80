"""A fitted tree as text, in the user's names and units."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from .linear import Tree
    from .structure import TreeStructure

#: A longer set of categories is cut to this many words.
MAX_CATEGORIES = 8
#: Deeper subtrees are not written: each level indents all lines below it.
MAX_DEPTH = 200


def write_test(
    names: Sequence[str], features: np.ndarray, coefficients: np.ndarray, threshold: float, digits: int = 3
) -> str:
    """Write a test that is not in a tree yet; without names, attributes are ``x1``, ``x2``, ..."""
    called = [feature_name(names, int(feature)) for feature in features]
    return f"{' '.join(_terms(called, coefficients, digits))} > {threshold:.{digits}g}"


def write_terms(tree: TreeStructure, features: np.ndarray, coefficients: np.ndarray, digits: int) -> list[str]:
    """Write terms like ``0.37 petal_len`` and ``- 1.2 petal_wid``; ``code(...)`` stands for a category."""
    names = [tree.feature_name(feature) for feature in features.tolist()]
    coded = [f"code({name})" if tree.is_categorical(m) else name for m, name in zip(features, names, strict=True)]
    return _terms(coded, coefficients, digits)


def _terms(names: list[str], coefficients: np.ndarray, digits: int) -> list[str]:
    words: list[str] = []
    for name, coefficient in zip(names, coefficients, strict=True):
        factor = f"{abs(coefficient):.{digits}g}"
        size = name if factor == "1" else f"{factor} {name}"
        sign = "-" if coefficient < 0 else "+"
        words.append(f"{sign} {size}" if words else size if sign == "+" else f"-{size}")
    return words


def digits_needed(value: float, gap: float, digits: int = 3) -> int:
    """Return how many significant digits, `digits` or more, keep a number within a quarter of a gap."""
    while digits < 17 and abs(float(f"{value:.{digits}g}") - value) > 0.25 * gap:
        digits += 1
    return digits


def write_number(value: float, digits: int, gap: float) -> str:
    """Write a number with as many digits as keep it within a quarter of a gap."""
    return f"{value:.{digits_needed(value, gap, digits)}g}"


def write_membership(tree: Tree, node: int) -> str:
    """Write a test on a categorical attribute alone, like ``colour in {red, green}``."""
    feature = int(tree.test(node)[0][0])

    codes = np.asarray(tree.codes[feature])

    def passing(node: int) -> np.ndarray:
        """Say which categories answer yes."""
        _, coefficients, threshold = tree.test(node)
        return np.asarray(coefficients[0] * codes > threshold)

    # Categories that a test further up has sent elsewhere are not worth a word.
    possible = np.ones(len(codes), dtype=bool)
    parents, below = tree.parents, node
    while (above := int(parents[below])) >= 0:
        if tree.test(above)[0].tolist() == [feature]:
            possible &= passing(above) == (tree.children[above, 1] == below)
        below = above
    labels = np.array(tree.categories[feature], dtype=object)
    yes, no = (sorted(labels[possible & side]) for side in (passing(node), ~passing(node)))
    if not yes:
        return f"{tree.feature_name(feature)} missing"
    word, chosen = ("not in", no) if len(yes) > MAX_CATEGORIES and len(no) < len(yes) else ("in", yes)
    if len(chosen) > MAX_CATEGORIES:
        chosen = [*chosen[: MAX_CATEGORIES - 1], f"{len(chosen) - MAX_CATEGORIES + 1} more"]
    return f"{tree.feature_name(feature)} {word} {{{', '.join(chosen)}}}"


def code_lists(tree: TreeStructure, digits: int = 3) -> list[str]:
    """Write the codes of each categorical attribute that stands in a combination, in their order."""
    if not tree.codes:
        return []
    tests = [tree.node_functions(node).features.tolist() for node in np.flatnonzero(~tree.is_leaf).tolist()]
    lines = []
    for feature in sorted({feature for features in tests if len(features) > 1 for feature in features}):
        codes, labels = tree.codes[feature], tree.categories[feature]
        if codes is not None and labels is not None:
            words = [f"{label} {code:.{digits}g}" for code, label in sorted(zip(codes.tolist(), labels, strict=True))]
            words.append(f"missing {tree.fill[feature]:.{digits}g}")
            lines.append(f"code({tree.feature_name(feature)}): {', '.join(words)}")
    return lines


def feature_name(names: Sequence[str], feature: int) -> str:
    """Return an attribute's name, ``x1``, ``x2``, ... where there are none."""
    return names[feature] if names else f"x{feature + 1}"


def attribute_names(model: Any) -> list[str]:
    """Return the names of a fitted estimator's attributes, ``x1``, ``x2``, ... where it has none."""
    names = [str(name) for name in getattr(model, "feature_names_in_", ())]
    return [feature_name(names, feature) for feature in range(model.n_features_in_)]


def text(model: Any, digits: int = 3) -> str:
    """Write a tree, or all trees of an ensemble, as text.

    Parameters
    ----------
    model : Tree, MachineTree or fitted classifier of this package
    digits : int, default=3
        Significant digits of coefficients and thresholds.

    Returns
    -------
    str
        One line for each test and each leaf. A leaf shows its class and the weight of the training examples of each
        class. A branch of a linear machine shows its class and its function: an example takes the branch with the
        largest function. A test on a single categorical attribute shows the categories for which the answer is yes; in
        linear combinations, categories appear as codes, which are listed below the tree. A test that has learned where
        to send missing values says "or missing" or "and not missing", or only tests whether a value is "missing".
        More than 200 levels below the root, only the number of leaves is shown.

    Examples
    --------
    >>> import numpy as np
    >>> from oc1 import OC1Classifier
    >>> X = np.array([[0.0, 1.0], [1.0, 1.0], [2.0, 0.0], [3.0, 1.0]])
    >>> print(text(OC1Classifier(splits="axis", prune=None, random_state=0).fit(X, ["a", "a", "b", "b"])))
    x1 > 1.5
    |-- no:  a  [2 0]
    `-- yes: b  [0 2]
    """
    if hasattr(model, "fit"):
        from sklearn.utils.validation import check_is_fitted  # not for a tree of its own

        check_is_fitted(model)
    if hasattr(model, "estimators_"):
        return "\n\n".join(f"tree {i}\n{text(one, digits)}" for i, one in enumerate(model.estimators_, 1))
    tree: TreeStructure = getattr(model, "tree_", model)
    leaf = tree.is_leaf

    def describe(node: int) -> str:
        if not leaf[node]:
            return tree.question(node, digits)
        counts = " ".join(np.format_float_positional(count, precision=4, trim="-") for count in tree.counts[node])
        return f"{tree.label(node, digits)}  [{counts}]"

    def answers(node: int) -> list[str]:
        """Write what leads to each branch of an inner node."""
        names, functions = tree.branch_names(node), tree.branch_functions(node, digits)
        if not functions:
            return [f"{name}: ".ljust(5) for name in names]
        return [f"{name} ({words}): " for name, words in zip(names, functions, strict=True)]

    lines = []
    n_leaves = tree.leaves_below
    stack = [(0, 0, "", "")]  # node, its depth, what stands before it, what stands before the nodes below it
    while stack:
        node, depth, before, indent = stack.pop()
        if depth > MAX_DEPTH:
            lines.append(f"{before}... ({n_leaves[node]} leaves)")
            continue
        lines.append(before + describe(node))
        if not leaf[node]:
            below = answers(node)
            last = len(below) - 1
            for branch in range(last, -1, -1):
                corner, bar = ("`-- ", "    ") if branch == last else ("|-- ", "|   ")
                child = tree.children[node, branch]
                stack.append((child, depth + 1, indent + corner + below[branch], indent + bar))
    return "\n".join(lines + code_lists(tree, digits))
