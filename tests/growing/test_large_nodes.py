"""Trees whose nodes are searched in rounds: what they must not depend on, and that all options hold."""

import naive
import numpy as np
import pytest
from counted_node import own_gini

from oc1 import OC1Classifier
from oc1.data import sampling
from oc1.data import search_space as scaling
from oc1.datasets import make_ls10, make_pol, make_rcb
from oc1.impurity import MEASURES


@pytest.fixture
def fit(monkeypatch):
    """Return a function that fits a tree whose nodes count as large from so many examples on."""

    def fit(X, y, large=400, sampled=150, sample_weight=None, **options):
        monkeypatch.setattr(OC1Classifier, "_large", large)
        monkeypatch.setattr(scaling, "MAX_SAMPLED_ROWS", sampled)
        monkeypatch.setattr(sampling, "MAX_RANKED_EXAMPLES", large)
        return OC1Classifier(**{"n_restarts": 5, "random_state": 0} | options).fit(X, y, sample_weight=sample_weight)

    return fit


def assert_same_tree(one, other):
    assert one.tree_.n_nodes > 1
    for name in ("children", "terms", "features", "coefficients", "thresholds", "counts", "gains", "missing"):
        np.testing.assert_array_equal(getattr(one.tree_, name), getattr(other.tree_, name))


def three_classes(n=1200, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, np.clip(np.floor(X @ [1.0, -0.7, 0.2] + 0.2 * rng.normal(size=n) + 1.5), 0, 2).astype(int)


@pytest.mark.parametrize("prune", ["auto", "holdout", None], ids=str)
@pytest.mark.parametrize("weighted", [False, True], ids=["alike", "weighted"])
@pytest.mark.parametrize("splits", ["axis", "auto"])
def test_trees_of_large_nodes_do_not_depend_on_threads(fit, prune, weighted, splits):
    X, y = three_classes()
    weights = np.random.default_rng(1).random(len(y)) + 0.1 if weighted else None
    options = {"prune": prune, "splits": splits, "max_depth": 4, "sample_weight": weights}
    one, *others = (fit(X, y, n_jobs=n_jobs, **options) for n_jobs in (1, 2, 3))
    for other in others:
        assert_same_tree(one, other)


@pytest.mark.parametrize("make", [make_ls10, make_pol, make_rcb])
@pytest.mark.parametrize("prune", ["auto", None], ids=str)
def test_trees_of_large_nodes_are_as_accurate(fit, make, prune):
    X, y = make(3000, random_state=0)
    unseen = make(5000, random_state=1)
    scores = [fit(X, y, large=large, sampled=600, prune=prune).score(*unseen) for large in (1000, 10**9)]
    assert scores[0] > scores[1] - 0.01


@pytest.mark.parametrize("prune", ["auto", None], ids=str)
@pytest.mark.parametrize(
    "options",
    [
        *({"criterion": name} for name in sorted(MEASURES)),
        {"criterion": own_gini},
        {"order": "best"},
        {"order": "random"},
        {"max_terms": 2},
        {"axis_bias": 1.5},
        {"splits": "axis"},
        {"splits": "oblique"},
        {"n_restarts": 0},
        {"n_jumps": 0},
        {"min_samples_leaf": 60},
        {"max_leaf_nodes": 6},
        {"normalize": "positive"},
    ],
    ids=lambda options: "-".join(f"{k}={v if isinstance(v, (str, int, float)) else 'own'}" for k, v in options.items()),
)
def test_all_options_do_in_large_nodes_what_they_do_in_small_ones(fit, options, prune):
    X, y = three_classes()
    unseen = three_classes(3000, seed=1)
    options = {"prune": prune, "max_depth": 4} | options
    large, small = (fit(X, y, large=n, **options) for n in (400, 10**9))
    assert large.score(*unseen) > small.score(*unseen) - 0.03
    # What the tree says of its nodes is true.
    nodes = large.unpruned_tree_
    paths = large.decision_path(X).toarray().astype(bool)
    for node in range(large.tree_.n_nodes):
        here = np.bincount(y[paths[:, node]], minlength=3)
        np.testing.assert_array_equal(large.tree_.counts[node], here)
        if nodes.n_nodes == large.tree_.n_nodes and not nodes.is_leaf[node] and options.get("criterion") in MEASURES:
            left, right = (np.bincount(y[paths[:, child]], minlength=3) for child in nodes.children[node])
            assert nodes.gains[node] == pytest.approx(naive.gain(options["criterion"], left, right), rel=1e-6)
    if "max_terms" in options:
        assert np.diff(large.tree_.terms).max() == options["max_terms"]
    if "min_samples_leaf" in options:
        assert large.tree_.counts.sum(axis=1).min() >= options["min_samples_leaf"]
    if options.get("splits") == "axis":
        assert np.diff(large.tree_.terms).max() == 1


@pytest.mark.parametrize("splits", ["axis", "auto"])
def test_missing_values_of_large_nodes_get_their_direction(fit, splits):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1500, 3))
    y = (X[:, 0] > 0.3).astype(int)
    X[(y == 1) & (rng.random(1500) < 0.4), 0] = np.nan  # only the second class has holes: they belong on its side
    X[rng.random(1500) < 0.1, 1] = np.nan
    options = {"splits": splits, "missing": "direction", "prune": None}
    one, two = (fit(X, y, n_jobs=n_jobs, **options) for n_jobs in (1, 2))
    assert_same_tree(one, two)
    assert one.tree_.n_nodes == 3
    assert one.tree_.missing[0] == 1
    assert one.score(X, y) == 1.0


def test_a_large_node_may_ask_whether_a_value_is_missing(fit):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1000, 2))
    y = rng.integers(0, 2, 1000)
    X[y == 1, 0] = np.nan
    clf = fit(X, y, splits="axis", missing="direction", prune=None)
    assert clf.tree_.n_nodes == 3
    assert clf.score(X, y) == 1.0


def test_an_atom_beside_other_values_is_not_torn_away(fit):
    # Most values of the only attribute are one number; those just below belong with it, all above do not.
    for seed in range(10):
        rng = np.random.default_rng(seed)
        atom = rng.normal()
        away = rng.exponential(size=2000) * np.where(rng.random(2000) < 0.15, -1.0, 1.0)
        x = np.where(rng.random(2000) < 0.6, atom, atom + away)
        y = (x > atom).astype(int)
        clf = fit(x[:, None], y, splits="axis", prune=None)
        assert clf.score(x[:, None], y) > 0.999


def test_an_example_of_weight_two_is_as_good_as_two(fit):
    X, y = three_classes()
    weights = 1 + np.arange(len(y)) % 2
    weighted = fit(X, y, prune=None, max_depth=2, sample_weight=weights)
    twice = fit(np.repeat(X, weights, axis=0), np.repeat(y, weights), prune=None, max_depth=2)
    # Samples and buckets go by the number of rows: the trees are as pure, not the same.
    np.testing.assert_array_equal(weighted.tree_.counts[0], twice.tree_.counts[0])
    assert weighted.tree_.gains[0] == pytest.approx(twice.tree_.gains[0], rel=0.01)


def test_a_class_absent_from_a_large_node_is_no_trouble_for_a_users_measure(fit):
    def costs(left, right):
        price = np.array([1.0, 2.0, 3.0, 4.0, 5.0])
        a, b = left * price, right * price
        return a.sum() - a.max() + b.sum() - b.max()

    rng = np.random.default_rng(0)
    X = rng.normal(size=(2500, 2))
    y = np.clip(np.floor(X[:, 0] + 0.5 * X[:, 1] + 2.5), 0, 4).astype(int)
    trees = [fit(X, y, large=large, prune=None, criterion=costs, max_depth=3) for large in (400, 10**9)]
    assert trees[0].score(X, y) > trees[1].score(X, y) - 0.02


def test_a_node_is_split_also_where_its_sample_has_fewer_examples_than_a_split_needs(fit):
    X, y = three_classes()
    large, small = (fit(X, y, large=n, sampled=150, min_samples_split=500) for n in (400, 10**9))
    assert large.tree_.n_leaves > 1
    assert large.score(X, y) > small.score(X, y) - 0.03


@pytest.mark.parametrize("n_constant", [0, 1])
@pytest.mark.parametrize("prune", ["auto", None])
def test_where_there_is_nothing_to_combine_one_feature_splits_a_large_node(fit, prune, n_constant):
    x = np.random.default_rng(0).normal(size=(1000, 1))
    X, y = np.hstack([x, np.ones((1000, n_constant))]), (x[:, 0] > 0.3).astype(int)
    clf = fit(X, y, splits="oblique", prune=prune)
    assert clf.get_n_leaves() == 2
    assert clf.score(X, y) > 0.99
