"""Missing values that go where an axis-parallel split has learned to send them."""

import json

import naive
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

from oc1 import OC1Classifier
from oc1.data.sampling import as_ratios
from oc1.growing import options as growth_options
from oc1.growing import policy
from oc1.impurity import MEASURES
from oc1.tree.linear import Tree
from oc1.tree.text import text

DIRECTED = {"missing": "direction", "random_state": 0}


@st.composite
def problems(draw):
    """Small data with holes, ties, constant attributes, awkward scales, weights; X in both precisions."""
    n, d = draw(st.integers(2, 40)), draw(st.integers(1, 4))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    X = rng.integers(0, draw(st.sampled_from([1, 3, 1000])), (n, d)) * 10.0 ** draw(st.sampled_from([-30, 0, 30]))
    X[rng.random(X.shape) < draw(st.sampled_from([0.05, 0.3, 0.9]))] = np.nan
    y = rng.integers(0, draw(st.integers(2, 4)), n)
    if draw(st.booleans()):
        X[y == 0, 0] = np.nan
    weights = None if draw(st.booleans()) else rng.integers(1, 4, n).astype(float)
    return X.astype(draw(st.sampled_from([np.float32, np.float64]))), y, weights


def check_every_node(clf, X, y, weights, name, min_leaf=1, exact=True):
    """Compare each node with the best split over all thresholds and both directions."""
    tree, k = clf.tree_, len(clf.classes_)
    labels = np.searchsorted(clf.classes_, y)
    weights = as_ratios(weights, counts_evidence=False)  # as the search takes them: rounded
    mass = np.ones(len(y)) if weights is None else weights
    paths = [naive.node_of(tree, x) for x in X]
    assert clf.apply(X).tolist() == [path[-1] for path in paths]
    for node in range(tree.n_nodes):
        here = np.array([node in path for path in paths])
        # Every training example ends in prediction where it was in growing. (To the default, weights are ratios.)
        unit = tree.counts[0].sum() / mass.sum()
        np.testing.assert_allclose(tree.counts[node], unit * naive.class_weights(labels, mass, here, k), rtol=1e-6)
        best = naive.best_directed_gain(X[here].astype(float), labels[here], mass[here], k, name, min_leaf)
        if tree.is_leaf[node]:
            assert not len(tree.missing) or tree.missing[node] == 0
            if exact and np.count_nonzero(tree.counts[node]) > 1:
                assert best is None or best <= 1e-9
            continue
        right = here & np.array([tree.children[node, 1] in path for path in paths])
        assert min(right.sum(), (here & ~right).sum()) >= min_leaf
        sides = [naive.class_weights(labels, mass, side, k) for side in (here & ~right, right)]
        assert tree.gains[node] == pytest.approx(naive.gain(name, *sides), rel=1e-6, abs=1e-9)
        if exact:
            assert tree.gains[node] == pytest.approx(best, rel=1e-9, abs=1e-12)
        features = tree.test(node)[0]
        if len(tree.missing) and tree.missing[node]:
            assert len(features) == 1
            assert np.isnan(X[here, features[0]]).any()


@pytest.mark.parametrize("name", sorted(MEASURES))
@settings(max_examples=40, deadline=None)
@given(problem=problems(), min_leaf=st.integers(1, 3))
def test_axis_trees_take_the_best_threshold_and_direction_everywhere(name, problem, min_leaf):
    X, y, weights = problem
    clf = OC1Classifier(criterion=name, splits="axis", prune=None, min_samples_leaf=min_leaf, **DIRECTED)
    clf.fit(X, y, sample_weight=weights)
    check_every_node(clf, X, y, weights, name, min_leaf)


@settings(max_examples=40, deadline=None)
@given(
    problem=problems(),
    options=st.sampled_from(
        [
            {},
            {"prune": "cv"},
            {"splits": "axis"},
            {"max_terms": 2},
            {"prune": None, "axis_bias": 1.5},
            {"max_leaf_nodes": 4},
            {"splits": "oblique"},
        ]
    ),
)
def test_training_and_prediction_send_rows_the_same_way(problem, options):
    X, y, weights = problem
    clf = OC1Classifier(n_restarts=2, min_samples_oblique=2, **DIRECTED, **options).fit(X, y, sample_weight=weights)
    check_every_node(clf, X, y, weights, "twoing", exact=False)


def with_holes(seed=0, n=300, d=5, informative=True):
    """Noisy classes, a fifth of the values missing; the first attribute more often in one class."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 200, (n, d)).astype(float)
    y = ((X[:, 0] > 100) ^ (X[:, 1] > 60) ^ (rng.random(n) < 0.1)).astype(int) + (X[:, 2] > 150)
    share = np.full(X.shape, 0.2)
    if informative:
        share[y == 1, 0] = 0.6
    return np.where(rng.random(X.shape) < share, np.nan, X), y


@pytest.mark.parametrize("options", [{}, {"splits": "axis"}, {"prune": "cv", "n_restarts": 3}])
def test_nothing_missing_gives_the_tree_of_means(options):
    X, y = with_holes()
    X = np.nan_to_num(X, nan=50.0)
    trees = [
        OC1Classifier(missing=missing, random_state=0, **options).fit(X, y).tree_ for missing in ("mean", "direction")
    ]
    assert trees[0].to_dict() == trees[1].to_dict()


def test_whether_a_value_is_missing_can_be_the_test():
    rng = np.random.default_rng(0)
    X = np.column_stack([np.full(60, 7.0), rng.normal(size=60)])  # what is known of the first attribute is constant
    y = rng.integers(0, 2, 60)
    X[y == 1, 0] = np.nan
    for options in ({}, {"splits": "axis"}, {"n_restarts": 3}, {"splits": "axis", "max_leaf_nodes": 2}):
        clf = OC1Classifier(prune="auto" if not options else None, **options, **DIRECTED).fit(X, y)
        assert clf.get_n_leaves() == 2
        assert clf.score(X, y) == 1.0
        assert text(clf).splitlines()[0] == "x1 missing"
        # Known values that training has not seen are known all the same.
        assert clf.predict([[1e300, 0.0], [-1e300, 0.0], [np.nan, 0.0]]).tolist() == [0, 0, 1]
        assert clone(clf).set_params(missing="mean", max_leaf_nodes=2).fit(X, y).score(X, y) < 1.0


def test_text_says_where_missing_values_go():
    X, y = np.array([[1.0], [2.0], [5.0], [6.0], [np.nan]] * 4), np.array([0, 0, 1, 1, 1] * 4)
    assert text(OC1Classifier(splits="axis", prune=None, **DIRECTED).fit(X, y)).splitlines()[0] == "x1 > 3.5 or missing"
    y = np.array([0, 0, 1, 1, 0] * 4)
    clf = OC1Classifier(splits="axis", prune=None, **DIRECTED).fit(X, y)
    assert text(clf).splitlines()[0] == "x1 > 3.5 and not missing"
    assert clf.tree_.gaps[0] == 3.0


def test_an_attribute_that_was_known_uses_its_mean():
    X, y = np.array([[1.0], [2.0], [5.0], [60.0]] * 4), np.array([0, 0, 1, 1] * 4)
    clf = OC1Classifier(splits="axis", prune=None, **DIRECTED).fit(X, y)
    assert clf.predict([[np.nan]]).tolist() == [1]
    assert len(clf.tree_.missing) == 0


@pytest.mark.parametrize("options", [{}, {"splits": "axis", "prune": None}])
def test_round_trips_and_cuts_keep_directions(options):
    X, y = with_holes()
    clf = OC1Classifier(**DIRECTED, **options).fit(X, y)
    tree = clf.tree_
    assert {-1, 1} <= set(tree.missing.tolist()) or not options
    again = Tree.from_dict(json.loads(json.dumps(tree.to_dict(), allow_nan=False)))
    assert again.to_dict() == tree.to_dict()
    np.testing.assert_array_equal(again.apply(X), tree.apply(X))
    marked = tree.depths == 2
    cut = tree.cut(marked)
    path = tree.decision_path(X).toarray().astype(bool)
    np.testing.assert_array_equal(cut.decision_path(X).sum(axis=1).A1, path[:, tree.depths <= 2].sum(axis=1))
    np.testing.assert_array_equal(cut.missing[cut.is_leaf], 0)
    for node in range(cut.n_nodes):
        np.testing.assert_allclose(cut.counts[node], np.bincount(y[path_of(cut, X, node)], minlength=3))


def path_of(tree, X, node):
    return tree.decision_path(X).toarray().astype(bool)[:, node]


def test_dictionaries_without_directions_load_and_wrong_ones_do_not():
    X, y = with_holes()
    old = OC1Classifier(random_state=0, prune=None).fit(X, y).tree_
    data = old.to_dict()
    assert "missing" not in data
    np.testing.assert_array_equal(Tree.from_dict(data).apply(X), old.apply(X))
    assert (np.diff(old.terms) > 1).any()
    with pytest.raises(ValueError, match="one attribute"):
        Tree.from_dict({**data, "missing": [1] * old.n_nodes})


@settings(max_examples=15, deadline=None)
@given(
    seed=st.integers(0, 1000),
    exponent=st.integers(-20, 20),
    shift=st.integers(-100, 100),
    options=st.sampled_from([{}, {"splits": "axis"}]),
)
def test_shifts_and_scales_change_nothing(seed, exponent, shift, options):
    X, y = with_holes(seed, 80, 3)
    clf = OC1Classifier(n_restarts=2, prune=None, **DIRECTED, **options)
    before = clf.fit(X, y).apply(X)
    moved = (X + shift) * 2.0**exponent
    np.testing.assert_array_equal(clf.fit(moved, y).apply(moved), before)


@pytest.mark.parametrize("options", [{}, {"prune": None}, {"splits": "axis"}, {"max_leaf_nodes": 6, "prune": None}])
def test_threads_give_the_same_tree(monkeypatch, options):
    X, y = with_holes()
    X = X.astype(np.float32)
    monkeypatch.setattr(policy, "MIN_SINGLE_ROWS", 20)
    monkeypatch.setattr(growth_options, "MIN_SHARED_ROWS", 100)
    clf = OC1Classifier(n_restarts=3, **DIRECTED, **options)
    expected = clf.fit(X, y).tree_
    assert len(expected.missing)
    assert clf.set_params(n_jobs=2).fit(X, y).tree_.to_dict() == expected.to_dict()


@pytest.mark.parametrize("splits", ["axis", "auto"])
def test_a_weight_of_two_is_an_example_twice(splits):
    X, y = with_holes(n=120)
    weights = np.random.default_rng(0).integers(1, 4, len(y))
    clf = OC1Classifier(splits=splits, prune=None, n_restarts=2, min_samples_oblique=2, **DIRECTED)
    weighted = clf.fit(X, y, sample_weight=weights).apply(X)
    assert len(clf.tree_.missing)
    repeated = clf.fit(np.repeat(X, weights, axis=0), np.repeat(y, weights)).apply(X)
    np.testing.assert_array_equal(weighted, repeated)


def test_missing_categories_count_as_their_mean():
    X, y = with_holes()
    X[:, 0] = np.where(np.isnan(X[:, 0]), np.nan, X[:, 0] // 50)
    clf = OC1Classifier(splits="axis", categorical_features=[0], prune=None, **DIRECTED).fit(X, y)
    tree = clf.tree_
    first = [tree.test(node)[0][0] for node in np.flatnonzero(tree.missing)]
    assert first
    assert 0 not in first
    assert 0 in tree.features
    assert clf.score(X, y) > 0.9


@pytest.mark.parametrize("options", [{}, {"splits": "axis"}])
def test_directions_that_tell_make_better_trees(options):
    # What is missing would be in the middle of what is known, but is not of the class of the middle.
    rng = np.random.default_rng(0)
    X = rng.integers(-10, 11, (1000, 2)).astype(float)
    y = (np.abs(X[:, 0]) > 6).astype(int)
    X[(y == 1) & (rng.random(1000) < 0.5), 0] = np.nan
    mean, directed = (
        OC1Classifier(missing=missing, random_state=0, **options).fit(X[:500], y[:500])
        for missing in ("mean", "direction")
    )
    assert directed.score(X[500:], y[500:]) == 1.0 >= mean.score(X[500:], y[500:])
    assert directed.get_n_leaves() == 3 < mean.get_n_leaves()


def test_large_trees_predict_as_the_slow_walk(monkeypatch):
    # More nodes than ask every row of a block, and more rows than a block.
    X, y = with_holes(n=900, informative=False)
    y = np.random.default_rng(0).integers(0, 2, len(y))
    clf = OC1Classifier(splits="axis", prune=None, **DIRECTED).fit(X, y)
    assert clf.get_n_leaves() > 100
    assert clf.apply(X).tolist() == [naive.node_of(clf.tree_, x)[-1] for x in X]
    for order in ("C", "F"):
        for dtype in (np.float32, np.float64):
            np.testing.assert_array_equal(clf.apply(np.array(X, dtype=dtype, order=order)), clf.apply(X))
