"""The regression tree: its line search against the naive one, estimator manners, invariances, what it finds."""

import pickle

import naive
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import njit
from sklearn.base import clone
from sklearn.datasets import load_diabetes, make_friedman1
from sklearn.tree import DecisionTreeRegressor
from sklearn.utils.estimator_checks import parametrize_with_checks

from oc1 import OC1Regressor
from oc1.kernels import regression as _regression
from oc1.kernels.records import Workspace
from oc1.learners.regressor import weighted_median
from oc1.tree.linear import Tree
from oc1.tree.pruning import prune_sequence
from oc1.tree.regression import RegressionTree
from oc1.tree.text import text
from oc1.tree.wording import number


@njit
def search_line(margins, rates, y, weights, units, code, min_leaf, buffers):
    response = _regression.prepare_response(y, weights, units, code, min_leaf, -np.inf)
    return _regression.line_search(margins, rates, response, _regression.NO_SPLIT, buffers)


def best_step(margins, *arguments):
    """Return (score, alpha) of the best split along a line."""
    return search_line(margins, *arguments, Workspace.make(len(margins), 1, 1, 0).line)


CRITERIA = {"squared_error": _regression.SQUARED, "absolute_error": _regression.ABSOLUTE}
QUICK = {"n_restarts": 3, "random_state": 0}


@parametrize_with_checks([OC1Regressor(n_restarts=2, n_jumps=2)])
def test_scikit_learns_checks(estimator, check):
    check(estimator)


@pytest.mark.slow
@parametrize_with_checks(
    [OC1Regressor(prune="holdout", criterion="absolute_error", splits="oblique", n_restarts=2, n_jumps=1)]
)
def test_scikit_learns_checks_of_other_parameters(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def regions():
    """Three levels over oblique regions, and some noise."""
    rng = np.random.default_rng(1)
    X = rng.uniform(-1, 1, (400, 3))
    level = np.where(X @ [1.0, -1.0, 0.4] > 0.1, 4.0, np.where(X @ [1.0, 1.0, 0.0] > 0, 1.0, -1.0))
    return X, level + 0.1 * rng.normal(size=400)


# ------------------------------------------------------------------------------------------------ line search


@settings(max_examples=150, deadline=None)
@given(
    seed=st.integers(0, 2**31 - 1),
    n=st.integers(2, 90),
    levels=st.sampled_from([2, 5, 1000]),
    y_levels=st.sampled_from([2, 4, 1000]),
    zeros=st.booleans(),
    weighted=st.booleans(),
    min_leaf=st.sampled_from([1, 3]),
    criterion=st.sampled_from(sorted(CRITERIA)),
)
def test_the_sweep_equals_the_naive_one(seed, n, levels, y_levels, zeros, weighted, min_leaf, criterion):
    rng = np.random.default_rng(seed)
    margins = (rng.integers(-levels, levels + 1, n) / levels).astype(np.float32)
    rates = (rng.integers(-levels, levels + 1, n) / levels).astype(np.float32)
    if not zeros:
        rates[rates == 0] = 1
    y = rng.integers(-y_levels, y_levels + 1, n).astype(float)
    weights = rng.integers(1, 5, n) / 2.0 if weighted else np.ones(n)
    y -= np.average(y, weights=weights)
    expected = naive.regression_line_search(margins, rates, y, weights, criterion, min_leaf)
    score, alpha = best_step(margins, rates, y, weights, np.ones(n), CRITERIA[criterion], min_leaf)
    if expected is None:
        assert score == _regression.NO_SPLIT
        return
    loss = naive.regression_loss(criterion, y, weights)
    assert score == pytest.approx(expected, abs=1e-9 * max(loss, 1))
    # The step leads to a split of that score.
    right = naive.goes_right(margins, rates, alpha)
    sides = sum(naive.regression_loss(criterion, y[side], weights[side]) for side in (right, ~right))
    assert loss - sides == pytest.approx(expected, abs=1e-9 * max(loss, 1))


@pytest.mark.parametrize("criterion", sorted(CRITERIA))
def test_large_sweeps_equal_the_naive_one(criterion):
    rng = np.random.default_rng(0)
    margins, rates = rng.normal(size=(2, 300)).astype(np.float32)
    y = np.where(margins + 0.4 * rates > 0.2, 1.0, 0.0) + rng.normal(size=300)
    y -= y.mean()
    expected = naive.regression_line_search(margins, rates, y, np.ones(300), criterion, 5)
    score, _ = best_step(margins, rates, y, np.ones(300), np.ones(300), CRITERIA[criterion], 5)
    assert score == pytest.approx(expected)


@given(st.lists(st.tuples(st.integers(-5, 5), st.integers(1, 4)), min_size=1, max_size=12))
def test_the_median_of_weighted_numbers(pairs):
    y, times = np.array(pairs, dtype=float).T
    assert weighted_median(y, times) == np.median(y.repeat(times.astype(int)))


def test_axis_parallel_splits_are_those_of_scikit_learn():
    X, y = make_friedman1(300, 6, random_state=0)
    ours = OC1Regressor(splits="axis", prune=None, max_depth=5).fit(X, y)
    theirs = DecisionTreeRegressor(min_samples_leaf=5, max_depth=5, random_state=0).fit(X, y)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X))
    np.testing.assert_allclose(ours.feature_importances_, theirs.feature_importances_)


# ------------------------------------------------------------------------------------------------ what it finds


def test_oblique_regions_are_found(regions):
    X, y = regions
    for criterion in CRITERIA:
        model = OC1Regressor(criterion=criterion, random_state=0).fit(X[:300], y[:300])
        assert model.score(X[300:], y[300:]) > 0.9
        assert model.get_n_leaves() <= 12
    axis = OC1Regressor(splits="axis", random_state=0).fit(X[:300], y[:300])
    assert axis.score(X[300:], y[300:]) < 0.9


def test_numbers_without_structure_give_one_leaf():
    X, y = np.random.default_rng(0).normal(size=(200, 3)), np.random.default_rng(1).normal(size=200)
    assert OC1Regressor(prune_se=1.0, **QUICK).fit(X, y).get_n_leaves() == 1


@pytest.mark.parametrize("criterion", sorted(CRITERIA))
def test_leaves_predict_the_mean_or_the_median(regions, criterion):
    X, y = regions
    weights = np.random.default_rng(0).integers(1, 4, len(y)).astype(float)
    model = OC1Regressor(criterion=criterion, prune=None, max_depth=3, **QUICK).fit(X, y, sample_weight=weights)
    leaves = model.apply(X)
    for leaf in np.unique(leaves):
        here = leaves == leaf
        own, w = y[here], weights[here]
        middle = np.median(own.repeat(w.astype(int))) if criterion == "absolute_error" else np.average(own, weights=w)
        assert model.tree_.values[leaf] == pytest.approx(middle)
        assert model.tree_.losses[leaf] == pytest.approx(naive.regression_loss(criterion, own, w))
        assert model.tree_.counts[leaf, 0] == w.sum()
    np.testing.assert_array_equal(model.predict(X), model.tree_.values[leaves])


# ------------------------------------------------------------------------------------------------ pruning


@pytest.mark.parametrize("criterion", sorted(CRITERIA))
def test_the_losses_of_subtrees_are_those_of_their_predictions(regions, criterion):
    X, y = regions
    model = OC1Regressor(criterion=criterion, prune=None, min_samples_leaf=20, **QUICK).fit(X[:200], y[:200])
    sequence = prune_sequence(model.tree_)
    sums = model._sum_scores(sequence, X[200:], y[200:], None)
    assert len(sequence.alphas) > 3
    for step, (total, squares) in enumerate(sums):
        subtree = sequence.subtree(step)
        assert isinstance(subtree, RegressionTree)
        residuals = np.abs(y[200:] - subtree.values[subtree.apply(X[200:])])
        losses = residuals if criterion == "absolute_error" else residuals**2
        assert total == pytest.approx(losses.sum())
        assert squares == pytest.approx((losses**2).sum())


def test_the_path_is_on_scikit_learns_scale():
    X, y = make_friedman1(200, 5, random_state=1)
    path = OC1Regressor(splits="axis", prune=None).fit(X, y).pruning_path_
    theirs = DecisionTreeRegressor(min_samples_leaf=5, random_state=0).cost_complexity_pruning_path(X, y)
    np.testing.assert_allclose(path.alpha[-8:], theirs.ccp_alphas[-8:])
    assert np.isnan(path.loss).all()


@pytest.mark.parametrize("criterion", sorted(CRITERIA))
def test_the_price_of_a_leaf_is_scikit_learns(criterion):
    X, y = make_friedman1(150, 5, random_state=1)
    limits = {"criterion": criterion, "max_depth": 4, "min_samples_leaf": 10}
    ours, theirs = OC1Regressor(splits="axis", **limits), DecisionTreeRegressor(random_state=0, **limits)
    path, expected = (model.cost_complexity_pruning_path(X, y) for model in (ours, theirs))
    np.testing.assert_allclose(path.ccp_alphas, expected.ccp_alphas, atol=1e-12)
    np.testing.assert_allclose(path.impurities, expected.impurities)
    for alpha in path.ccp_alphas[1:] * 1.0001:  # at a price itself, rounding decides
        cut = ours.set_params(prune=None, ccp_alpha=alpha).fit(X, y)
        np.testing.assert_allclose(cut.predict(X), theirs.set_params(ccp_alpha=alpha).fit(X, y).predict(X))
        small = ours.set_params(ccp_alpha=alpha * (1e-8 if criterion == "absolute_error" else 1e-16)).fit(X, 1e-8 * y)
        assert small.get_n_leaves() == cut.get_n_leaves()


def test_pruning_and_the_rule_of_standard_errors():
    X, y = make_friedman1(400, 5, noise=3, random_state=1)
    sizes = [OC1Regressor(prune=p, **QUICK).fit(X, y).get_n_leaves() for p in (None, "holdout", "cv")]
    assert sizes[0] > max(sizes[1:])
    models = [OC1Regressor(prune_se=k, **QUICK).fit(X, y) for k in (0.0, 1.0, 100.0)]
    assert models[0].get_n_leaves() > models[1].get_n_leaves() > models[2].get_n_leaves() == 1
    path = models[0].pruning_path_
    assert models[0].get_n_leaves() == path.leaves[np.flatnonzero(path.loss <= path.loss.min() * (1 + 1e-9))[-1]]


# ------------------------------------------------------------------------------------------------ manners


def test_the_same_seed_gives_the_same_tree(regions):
    X, y = regions
    trees = [OC1Regressor(n_restarts=3, random_state=seed).fit(X, y).unpruned_tree_.to_dict() for seed in (1, 1, 2)]
    assert trees[0] == trees[1] != trees[2]


@pytest.mark.parametrize("parameters", [{}, {"criterion": "absolute_error"}, {"prune": None}, {"splits": "axis"}])
def test_weights_are_repetitions_and_units_do_not_matter(regions, parameters):
    X, y = regions
    parameters = {**QUICK, "max_depth": 4, **parameters}
    model = OC1Regressor(**parameters).fit(X, y)
    scale, shift = np.array([1e3, 1e-4, 7.0]), np.array([5.0, -30.0, 0.1])
    moved = (X + shift) * scale
    np.testing.assert_allclose(OC1Regressor(**parameters).fit(moved, y).predict(moved), model.predict(X))
    np.testing.assert_allclose(OC1Regressor(**parameters).fit(X, 1e-9 * y).predict(X), 1e-9 * model.predict(X))
    times = np.random.default_rng(0).integers(0, 3, len(y))
    weighted = OC1Regressor(**parameters).fit(X, y, sample_weight=times)
    repeated = OC1Regressor(**parameters).fit(X.repeat(times, axis=0), y.repeat(times))
    np.testing.assert_allclose(weighted.predict(X), repeated.predict(X))


def test_missing_values_count_as_the_mean(regions):
    X, y = regions
    holes = X.copy()
    holes[np.random.default_rng(0).random(X.shape) < 0.2] = np.nan
    model = OC1Regressor(**QUICK).fit(holes, y)
    np.testing.assert_allclose(model.tree_.fill, np.nanmean(holes, axis=0))
    filled = np.where(np.isnan(holes), model.tree_.fill, holes)
    np.testing.assert_array_equal(model.predict(holes), model.predict(filled))


def test_text_frames_pickle_and_dictionary():
    data = load_diabetes(as_frame=True)
    model = OC1Regressor(max_depth=2, **QUICK).fit(data.data, data.target)
    written = text(model)
    assert any(name in written for name in data.feature_names)
    leaf = int(np.flatnonzero(model.tree_.is_leaf)[0])
    assert f"{number(model.tree_.values[leaf])}  from {model.tree_.counts[leaf, 0]:.0f}\n" in written
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(data.data), model.predict(data.data))
    assert clone(model).get_params() == model.get_params()
    tree = RegressionTree.from_dict(model.tree_.to_dict())
    assert tree.to_dict() == model.tree_.to_dict()
    np.testing.assert_array_equal(tree.apply(data.data.to_numpy()), model.apply(data.data))
    with pytest.raises(ValueError, match="tree of regression"):
        Tree.from_dict(model.tree_.to_dict())
    assert model.feature_importances_.sum() == pytest.approx(1)
    assert model.decision_path(data.data).shape == (442, model.tree_.n_nodes)
    assert model.n_hyperplanes_ > 0
    single = OC1Regressor(**QUICK).fit(pd.DataFrame({"a": [1.0, 2.0]}), [3.0, 3.0])
    assert single.predict(pd.DataFrame({"a": [5.0]})) == 3.0


@pytest.mark.parametrize(
    ("parameters", "limit"),
    [
        ({"max_depth": 2}, 4),
        ({"max_leaf_nodes": 3}, 3),
        ({"min_impurity_decrease": 1e6}, 1),
        ({"min_samples_split": 500}, 1),
    ],
)
def test_limits(regions, parameters, limit):
    X, y = regions
    model = OC1Regressor(prune=None, **parameters, **QUICK).fit(X, y)
    assert model.get_n_leaves() <= limit
    counts = OC1Regressor(prune=None, min_samples_leaf=30, **QUICK).fit(X, y).tree_.counts
    assert counts.min() >= 30


@pytest.mark.parametrize("scale", [1e-300, 1e300])
def test_huge_and_tiny_attributes(regions, scale):
    X, y = regions
    model = OC1Regressor(prune=None, **QUICK).fit(X * scale, y)
    assert model.score(X * scale, y) > 0.9


@pytest.mark.parametrize(
    ("parameters", "y", "words"),
    [
        ({}, [[1.0, 2.0], [2.0, 1.0]], r"y should be a 1d array, got an array of shape \(2, 2\)"),
        ({}, [np.nan, 1.0], "NaN"),
        ({"criterion": "gini"}, [0.0, 1.0], "'criterion' parameter of OC1Regressor must be a str among"),
        ({"prune": "none"}, [0.0, 1.0], "'prune' parameter"),
        ({"min_samples_leaf": 0}, [0.0, 1.0], "'min_samples_leaf'"),
    ],
)
def test_bad_input(parameters, y, words):
    model = OC1Regressor(**parameters)
    with pytest.raises(ValueError, match=words):
        model.fit([[0.0], [1.0]], y)
    assert not hasattr(model, "tree_")


def test_housing_prices(shared_data):
    data = pd.read_csv(shared_data / "housing.csv")
    X, y = data.drop(columns="medv"), data["medv"]
    test = np.arange(len(y)) % 5 == 0
    model = OC1Regressor(random_state=0).fit(X[~test], y[~test])
    assert model.score(X[test], y[test]) > 0.6
