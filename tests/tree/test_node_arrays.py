"""Trees under scikit-learn's names: the arrays describe the partition that `apply` makes."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_iris, load_wine
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from oc1 import OC1Classifier, OC1Regressor
from oc1.tree.node_arrays import NO_CHILD, OBLIQUE, UNDEFINED

LEARNERS = [
    OC1Classifier(random_state=0),
    OC1Classifier(splits="axis", prune=None, random_state=0),
    OC1Classifier(max_depth=0),
    OC1Classifier(missing="direction", prune=None, splits="axis", random_state=0),
    OC1Regressor(random_state=0),
]


def some_data(missing: bool = False) -> tuple[np.ndarray, np.ndarray]:
    X, y = load_wine(return_X_y=True)
    if missing:
        X[np.random.default_rng(0).random(X.shape) < 0.1] = np.nan
    return X, y


def walk(tree, x: np.ndarray) -> int:
    """Follow one example by the arrays alone, as code for scikit-learn does; the terms of oblique nodes beside them."""
    node = 0
    while tree.children_left[node] != NO_CHILD:
        if tree.feature[node] == OBLIQUE:
            features, coefficients, _ = tree.test(node)
            value = (coefficients * np.where(np.isnan(x), tree.fill, x)[features]).sum()
            goes_left = value <= tree.threshold[node]
        else:
            value = x[tree.feature[node]]
            goes_left = tree.missing_go_to_left[node] if np.isnan(value) else value <= tree.threshold[node]
        node = tree.children_left[node] if goes_left else tree.children_right[node]
    return node


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("missing", [False, True])
def test_the_arrays_describe_the_partition(learner, missing):
    X, y = some_data(missing)
    model = learner.fit(X, y)
    tree = model.tree_
    assert_array_equal([walk(tree, x) for x in X], model.apply(X))
    path = model.decision_path(X).toarray()
    assert path.shape[1] == tree.node_count
    assert_array_equal(path.sum(axis=0), tree.n_node_samples)
    assert_array_equal(tree.weighted_n_node_samples, tree.n_node_samples)
    leaves = tree.children_left == NO_CHILD
    assert_array_equal(leaves, tree.children_right == NO_CHILD)
    assert (tree.feature[leaves] == UNDEFINED).all()
    assert (tree.threshold[leaves] == UNDEFINED).all()
    assert (tree.feature[~leaves] != UNDEFINED).all()
    predicted = tree.value[model.apply(X), 0]
    expected = model.predict_proba(X) if hasattr(model, "predict_proba") else model.predict(X)[:, None]
    assert_array_equal(predicted, expected)


@pytest.mark.parametrize("learner", LEARNERS[:2])
def test_one_attribute_means_an_axis_parallel_node(learner):
    tree = learner.fit(*some_data()).tree_
    n_terms = np.diff(tree.terms)
    assert_array_equal(tree.feature >= 0, n_terms == 1)
    assert_array_equal(tree.feature == OBLIQUE, n_terms > 1)


@pytest.mark.parametrize("weighted", [False, True])
def test_all_is_as_in_scikit_learn_where_the_tree_is_the_same(weighted):
    X, y = load_iris(return_X_y=True)
    weights = np.random.default_rng(0).integers(1, 4, len(y)).astype(float) if weighted else None
    for ours, theirs in (
        (OC1Classifier(criterion="gini", splits="axis", prune=None, max_depth=2), DecisionTreeClassifier(max_depth=2)),
        (OC1Regressor(splits="axis", prune=None, min_samples_leaf=1, max_depth=2), DecisionTreeRegressor(max_depth=2)),
    ):
        # At other depths, and with other seeds, equally good attributes are chosen differently.
        own = ours.set_params(random_state=2).fit(X[:, 2:3], y, sample_weight=weights).tree_
        other = theirs.set_params(random_state=2).fit(X[:, 2:3], y, sample_weight=weights).tree_
        assert own.node_count == other.node_count
        assert (own.max_depth, own.n_leaves, own.n_features) == (other.max_depth, other.n_leaves, other.n_features)
        for name in ("children_left", "children_right", "feature", "n_classes"):
            assert_array_equal(getattr(own, name), getattr(other, name))
        for name in ("threshold", "impurity", "weighted_n_node_samples", "value"):
            assert_allclose(getattr(own, name), getattr(other, name), atol=1e-6)
            assert getattr(own, name).shape == getattr(other, name).shape
