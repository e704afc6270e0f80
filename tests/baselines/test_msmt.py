"""MSM-T: the linear program against its plain form, the grouping of classes, the split beside it, estimator manners."""

import naive
import numpy as np
import pytest
from expected_failures import repetitions_are_evidence
from hypothesis import given, settings
from hypothesis import strategies as st
from naive import msmt
from sklearn.datasets import load_iris
from sklearn.model_selection import cross_val_score
from sklearn.utils.estimator_checks import parametrize_with_checks

from oc1.baselines.grouping import TwoClassProblem, best_axis_split, group_classes
from oc1.baselines.msmt import MSMTClassifier, nearest_plane
from oc1.datasets import make_ls10, make_pol, make_rcb
from oc1.growing.splitters import NodeExamples
from oc1.impurity import information_gained


@pytest.mark.slow
@parametrize_with_checks([MSMTClassifier()], expected_failed_checks=repetitions_are_evidence)
def test_scikit_learns_checks(estimator, check):
    check(estimator)


# ------------------------------------------------------------------------------------------------ linear program


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 2**31 - 1), n=st.integers(1, 60), d=st.integers(1, 5), noise=st.sampled_from([0, 0.5, 5]))
def test_the_plane_solves_the_plain_program(seed, n, d, noise):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n + 2, d))
    sides = np.where(X @ rng.normal(size=d) + noise * rng.normal(size=n + 2) > 0, 1.0, -1.0)
    sides[:2] = 1, -1
    weights = rng.integers(1, 4, n + 2) * rng.uniform(0.1, 1)
    plane = nearest_plane(X, sides, weights)
    assert msmt.objective(plane, X, sides, weights) == pytest.approx(msmt.least_objective(X, sides, weights), abs=1e-5)


def test_separable_examples_are_separated():
    X, y = make_ls10(1000, random_state=0)
    sides = np.where(y == 1, 1.0, -1.0)
    plane = nearest_plane(X, sides, np.ones(len(y)))
    assert (sides * (X @ plane[:-1] + plane[-1])).min() > 1 - 1e-4
    clf = MSMTClassifier(prune=None).fit(X, y)
    assert clf.get_n_leaves() == 2
    assert clf.score(X, y) == 1.0
    assert clf.n_hyperplanes_ == 1


def test_where_the_program_finds_no_plane_an_attribute_is_split():
    # The classes' means are equal, so the null plane is best.
    X, y = np.array([[-1.0, 0.0], [1.0, 0.0], [0.0, 0.0], [0.0, 0.0]]), [0, 0, 1, 1]
    clf = MSMTClassifier(prune=None).fit(X, y)
    assert clf.score(X, y) == 1.0
    assert clf.get_n_leaves() == 3
    assert clf.n_hyperplanes_ == 3  # a program, an attribute, and a program below


# ------------------------------------------------------------------------------------------------ grouping


def node_of(X, y, weights=None, min_leaf=1):
    y = np.asarray(y)
    weights = np.ones(len(y)) if weights is None else weights
    return NodeExamples(np.asarray(X, float), y, weights, int(y.max()) + 1, min_leaf, 0)


def test_classes_are_grouped_where_they_lie_apart():
    places = np.array([0.0, 11.0, 1.0, np.nan, 10.0, 12.0])  # class 3 does not occur
    y = np.repeat([0, 1, 2, 4, 5], 4)
    X = np.column_stack([places[y], np.tile([0.0, 1.0], 10)])
    second = group_classes(X, y, np.ones(len(y)))
    assert set(np.flatnonzero(second)) in ({0, 2}, {1, 4, 5})
    heavy = np.where(y == 5, 1e3, np.where(y == 1, 1e3, 1e-3))
    second = group_classes(X, y, heavy)
    assert second[1] != second[5]  # the light classes do not count


def test_equal_examples_are_merged_and_the_rest_sorted():
    rng = np.random.default_rng(0)
    X, y, weights = rng.integers(0, 3, (50, 2)), rng.integers(0, 2, 50), rng.integers(1, 4, 50)
    X = np.column_stack([X, np.ones(50)])
    one = TwoClassProblem.of_node(node_of(X, y, weights.astype(float)))
    many = rng.permutation(np.repeat(np.arange(50), weights))
    two = TwoClassProblem.of_node(node_of(X[many], y[many]))
    for field in ("X", "sides", "weights", "attributes", "shift", "scale"):
        np.testing.assert_array_equal(getattr(one, field), getattr(two, field))
    assert len(one.X) == len(np.unique(np.column_stack([X, y]), axis=0))
    assert one.attributes.tolist() == [0, 1]
    assert TwoClassProblem.of_node(node_of(np.ones((4, 2)), [0, 1, 0, 1])) is None


@settings(max_examples=50, deadline=None)
@given(seed=st.integers(0, 2**31 - 1), n=st.integers(2, 30), n_classes=st.integers(2, 4), min_leaf=st.integers(1, 4))
def test_the_axis_parallel_split_is_the_best(seed, n, n_classes, min_leaf):
    rng = np.random.default_rng(seed)
    X, y = rng.integers(0, 6, (n, 3)).astype(float), rng.integers(0, n_classes, n)
    weights = rng.integers(1, 4, n).astype(float)
    node = node_of(X, y, weights, min_leaf)
    best = naive.best_axis_gain(X, y, weights, node.n_classes, "info_gain", min_leaf)
    test = best_axis_split(node)
    if test is None:
        assert best is None or best < 1e-9
        return
    right = test.branches(X) == 1
    assert min(right.sum(), (~right).sum()) >= min_leaf
    counts = np.array([naive.class_weights(y, weights, side, node.n_classes) for side in (~right, right)])
    assert information_gained(counts) == pytest.approx(best, abs=1e-9)


# ------------------------------------------------------------------------------------------------ estimator


@pytest.mark.parametrize("prune", ["holdout", "cv", None])
def test_weights_are_repetitions_and_order_does_not_matter(noisy, prune):
    X, y = np.round(noisy[0], 1), noisy[1]
    rng = np.random.default_rng(0)
    times = rng.integers(0, 4, len(y))
    times = times if prune is None else np.minimum(times, 1)  # pruning weighs evidence
    clf = MSMTClassifier(prune=prune, random_state=0)
    weighted = clf.fit(X, y, sample_weight=3.0 * times).predict_proba(X)
    many = rng.permutation(np.repeat(np.arange(len(y)), times))
    np.testing.assert_array_equal(clf.fit(X[many], y[many]).predict_proba(X), weighted)


def test_class_weight_does_not_move_the_first_plane(noisy):
    X, y = noisy
    one, two = (MSMTClassifier(max_depth=1, prune=None, class_weight=w).fit(X, y) for w in (None, {0: 1, 1: 9}))
    # Each class counts alike in the program.
    np.testing.assert_allclose(one.tree_.coefficients, two.tree_.coefficients, rtol=1e-4)


def test_limits_and_awkward_data(noisy):
    X, y = noisy
    clf = MSMTClassifier(prune=None, min_samples_leaf=20).fit(X, y)
    assert np.bincount(clf.apply(X))[np.unique(clf.apply(X))].min() >= 20
    assert MSMTClassifier(prune=None, max_leaf_nodes=4).fit(X, y).get_n_leaves() == 4
    assert MSMTClassifier(prune=None).fit([[1.0, 2.0]] * 5, [0, 1, 1, 1, 0]).get_n_leaves() == 1
    wide = np.random.default_rng(0).normal(size=(8, 30))
    assert MSMTClassifier(prune=None).fit(wide, [0, 1] * 4).score(wide, [0, 1] * 4) == 1.0
    X, y = load_iris(return_X_y=True)
    for scale in (1e-300, 1e300):
        assert MSMTClassifier(prune=None).fit(X * scale, y).score(X * scale, y) == 1.0
    holes = np.where(np.random.default_rng(0).random(X.shape) < 0.1, np.nan, X)
    assert MSMTClassifier(prune=None).fit(holes, y).score(holes, y) > 0.95


def test_text_and_parameters(pol):
    assert " x2 > " in str(MSMTClassifier().fit(*pol).tree_)
    with pytest.raises(ValueError, match="'max_depth' parameter of MSMTClassifier"):
        MSMTClassifier(max_depth=-1).fit([[0.0], [1.0]], [0, 1])


@pytest.mark.parametrize(
    ("make", "accuracy", "leaves"), [(make_ls10, 0.985, 2), (make_pol, 0.985, 18), (make_rcb, 0.98, 10)]
)
def test_the_papers_artificial_data(make, accuracy, leaves):
    X, y = make(random_state=7)
    test = np.arange(len(y)) % 5 == 0
    clf = MSMTClassifier(prune=None).fit(X[~test], y[~test])
    assert clf.score(X[test], y[test]) >= accuracy
    assert clf.get_n_leaves() <= leaves


def test_iris():
    X, y = load_iris(return_X_y=True)
    assert cross_val_score(MSMTClassifier(random_state=0), X, y, cv=5).mean() > 0.92
