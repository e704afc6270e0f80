"""Forests of oblique trees."""

import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive.forest import decrease, mean_answer
from sklearn.datasets import load_diabetes, load_iris
from sklearn.inspection import permutation_importance
from sklearn.utils.estimator_checks import parametrize_with_checks

from oc1 import (
    OC1Classifier,
    OC1EnsembleClassifier,
    OC1ForestClassifier,
    OC1ForestRegressor,
    OC1Regressor,
    load_model,
    save_model,
)


@pytest.fixture(scope="module")
def iris():
    X, y = load_iris(return_X_y=True)
    return X[::2], np.array(["setosa", "versicolor", "virginica"])[y[::2]]


@parametrize_with_checks([OC1ForestClassifier(n_estimators=5), OC1ForestRegressor(n_estimators=5)])
def test_scikit_learns_checks(estimator, check):
    check(estimator)


# ---------------------------------------------------------------------------------------------------- one tree


@st.composite
def problems(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**31)))
    n, d = draw(st.integers(2, 60)), draw(st.integers(1, 4))
    kind = draw(st.sampled_from(["whole", "normal", "far"]))
    X = rng.integers(0, 5, (n, d)).astype(float) if kind == "whole" else rng.normal(size=(n, d))
    X = 1e9 + X if kind == "far" else X
    if draw(st.booleans()):
        X[rng.random((n, d)) < 0.2] = np.nan
    y = rng.integers(0, draw(st.integers(2, 4)), n)
    weights = rng.integers(1, 4, n).astype(float) if draw(st.booleans()) else np.ones(n)
    return X, y, weights


def rows_of_nodes(tree, X):
    return tree.decision_path(X).toarray().astype(bool).T


@settings(max_examples=40, deadline=None)
@given(
    problems(),
    st.sampled_from(["gini", "entropy", "squared_error"]),
    st.integers(0, 2),
    st.integers(1, 3),
)
def test_trees_are_what_they_say(problem, criterion, n_linear, min_leaf):
    """Every node has the examples that prediction sends there, and its gain is the decrease that its test makes."""
    X, y, weights = problem
    options = {"n_estimators": 2, "max_features": None, "min_samples_leaf": min_leaf, "min_samples_split": 2}
    options["random_state"] = 0
    if criterion == "squared_error":
        model = OC1ForestRegressor(n_linear=min(n_linear, 1), **options)
    else:
        model = OC1ForestClassifier(n_linear=n_linear, criterion=criterion, **options)
    model.fit(X, y, sample_weight=weights)
    weights = weights * weights.sum() / (weights**2).sum()
    for member in model.estimators_:
        tree, own = member.tree_, rows_of_nodes(member.tree_, X)
        np.testing.assert_allclose(tree.counts.sum(axis=1), own @ weights, rtol=1e-6)
        for node in range(tree.n_nodes):
            rows = np.flatnonzero(own[node])
            if tree.is_leaf[node]:
                assert len(rows) >= min(min_leaf, len(y))
                continue
            right = own[tree.children[node, 1]][rows]
            made = decrease(y[rows], weights[rows], right, criterion)
            assert min(right.sum(), (~right).sum()) >= min_leaf
            np.testing.assert_allclose(tree.gains[node], made, rtol=1e-5, atol=1e-8)


def test_linear_tests_find_oblique_concepts():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 4))
    y = (X @ [1.0, -1.0, 2.0, 0.5] > 0).astype(int)
    oblique, axis = (OC1ForestClassifier(n_estimators=20, n_linear=n, random_state=0) for n in (2, 0))
    assert oblique.fit(X[:300], y[:300]).score(X[300:], y[300:]) > axis.fit(X[:300], y[:300]).score(X[300:], y[300:])
    assert (np.diff(oblique.estimators_[0].tree_.terms) > 1).any()
    assert (np.diff(axis.estimators_[0].tree_.terms) <= 1).all()


# ---------------------------------------------------------------------------------------------------- the forest


@pytest.mark.parametrize("kind", ["double", "float32", "missing"])
def test_the_answer_is_the_mean_of_the_trees(iris, kind):
    X, y = iris
    X = X.astype(np.float32) if kind == "float32" else X.copy()
    if kind == "missing":
        X[::5, 2] = np.nan
    forest = OC1ForestClassifier(n_estimators=12, random_state=0).fit(X, y)
    np.testing.assert_array_equal(forest.predict_proba(X), mean_answer(forest, X))
    np.testing.assert_array_equal(forest.predict(X), forest.classes_[forest.predict_proba(X).argmax(axis=1)])
    np.testing.assert_array_equal(forest.apply(X), np.column_stack([model.apply(X) for model in forest.estimators_]))
    path, starts = forest.decision_path(X)
    assert path.shape == (len(X), starts[-1])
    assert (path.sum(axis=1) >= len(forest.estimators_)).all()
    shares = [model.feature_importances_ for model in forest.estimators_]
    np.testing.assert_allclose(forest.feature_importances_, np.mean(shares, axis=0))
    assert forest.get_n_leaves() == sum(model.get_n_leaves() for model in forest.estimators_)
    assert forest.get_depth() == max(model.get_depth() for model in forest.estimators_)
    assert all(type(model) is OC1Classifier for model in forest.estimators_)


def test_numbers(iris):
    X, y = load_diabetes(return_X_y=True)
    forest = OC1ForestRegressor(n_estimators=10, bootstrap=True, oob_score=True, random_state=0).fit(X, y)
    np.testing.assert_array_equal(forest.predict(X), mean_answer(forest, X)[:, 0])
    tree = forest.estimators_[0].tree_
    own = rows_of_nodes(tree, X)
    assert type(forest.estimators_[0]) is OC1Regressor
    assert 0.2 < forest.oob_score_ < forest.score(X, y)
    large = OC1ForestRegressor(n_estimators=3, random_state=0).fit(X, y * 2.0**150)
    small = OC1ForestRegressor(n_estimators=3, random_state=0).fit(X, y)
    np.testing.assert_allclose(large.predict(X), small.predict(X) * 2.0**150)
    whole = OC1ForestRegressor(n_estimators=3, random_state=0).fit(X, y).estimators_[0].tree_
    own = rows_of_nodes(whole, X)
    np.testing.assert_allclose(whole.values, [y[rows].mean() for rows in own])
    np.testing.assert_allclose(whole.losses, [((y[rows] - y[rows].mean()) ** 2).sum() for rows in own], atol=1e-6)


@pytest.mark.parametrize("options", [{}, {"bootstrap": True, "oob_score": True}])
def test_same_seed_same_forest_on_any_number_of_threads(iris, options):
    X, y = iris
    one, *others = (
        OC1ForestClassifier(n_estimators=25, random_state=3, n_jobs=n, **options).fit(X, y) for n in (1, 2, 3)
    )
    for other in others:
        np.testing.assert_array_equal(one.apply(X), other.apply(X))
        np.testing.assert_array_equal(one._forest.coefficients, other._forest.coefficients)
        np.testing.assert_array_equal(one.predict_proba(np.tile(X, (20, 1))), other.predict_proba(np.tile(X, (20, 1))))


def test_warm_start_adds_trees(iris):
    X, y = iris
    whole = OC1ForestClassifier(n_estimators=9, random_state=1).fit(X, y)
    grown = OC1ForestClassifier(n_estimators=4, random_state=1, warm_start=True).fit(X, y)
    first = grown.estimators_[0].tree_
    np.testing.assert_array_equal(grown.set_params(n_estimators=9).fit(X, y).apply(X), whole.apply(X))
    assert len(grown.estimators_) == 9
    np.testing.assert_array_equal(grown.estimators_[0].tree_.thresholds, first.thresholds)
    with pytest.raises(ValueError, match="must be at least the 9 trees"):
        grown.set_params(n_estimators=5).fit(X, y)
    with pytest.raises(ValueError, match="the classes must stay the same"):
        grown.set_params(n_estimators=12).fit(X, np.where(y == "setosa", "other", y))
    assert len(grown.estimators_) == 9


def test_out_of_bag(iris):
    X, y = iris
    weights = np.where(np.arange(len(y)) % 5 == 0, 0.0, 1.0)
    forest = OC1ForestClassifier(n_estimators=30, bootstrap=True, oob_score=True, random_state=0)
    shares = forest.fit(X, y, sample_weight=weights).oob_decision_function_
    assert shares.shape == (len(y), 3)
    assert np.isnan(shares[weights == 0]).all()
    known = ~np.isnan(shares[:, 0])
    np.testing.assert_allclose(shares[known].sum(axis=1), 1.0)
    np.testing.assert_allclose(forest.oob_score_, (forest.classes_[shares[known].argmax(axis=1)] == y[known]).mean())
    # One tree: what is out of bag is what it did not draw, and its counts are how often the others were drawn.
    one = OC1ForestClassifier(n_estimators=1, bootstrap=True, oob_score=True, random_state=0).fit(X, y)
    unseen = ~np.isnan(one.oob_decision_function_[:, 0])
    np.testing.assert_array_equal(one.oob_decision_function_[unseen], one.predict_proba(X[unseen]))
    assert one.estimators_[0].tree_.counts[0].sum() == len(y)
    assert 0.2 < unseen.mean() < 0.55


def test_class_weights(iris):
    X, y = iris
    kept = np.r_[np.flatnonzero(y != "setosa"), np.flatnonzero(y == "setosa")[:4]]
    X, y = X[kept], y[kept]
    balanced = OC1ForestClassifier(n_estimators=3, class_weight="balanced", random_state=0).fit(X, y)
    for model in balanced.estimators_:
        counts = model.tree_.counts[0]
        np.testing.assert_allclose(counts, counts.mean(), rtol=1e-6)
    sampled = OC1ForestClassifier(n_estimators=3, class_weight="balanced_subsample", bootstrap=True, random_state=0)
    for model in sampled.fit(X, y).estimators_:
        counts = model.tree_.counts[0]
        np.testing.assert_allclose(counts[counts > 0], len(y) / (counts > 0).sum())


def test_categories_and_files(tmp_path):
    rng = np.random.default_rng(0)
    colour = rng.choice(["red", "green", "blue", "grey"], 200)
    frame = pd.DataFrame({"size": rng.normal(size=200), "colour": colour, "age": rng.normal(size=200)})
    y = np.isin(colour, ["red", "grey"]) ^ (frame["size"] > 0.5)
    options = {"n_estimators": 6, "categorical_features": "from_dtype", "random_state": 0, "bootstrap": True}
    options["oob_score"] = True
    for forest, target in (
        (OC1ForestClassifier(**options), y.to_numpy()),
        (OC1ForestRegressor(**options), y.to_numpy() + frame["age"].to_numpy()),
    ):
        forest.fit(frame, target)
        assert forest.score(frame, target) > 0.9
        save_model(forest, tmp_path / "forest.json")
        loaded = load_model(tmp_path / "forest.json")
        answers = [
            own.predict_proba(frame) if hasattr(own, "classes_") else own.predict(frame) for own in (forest, loaded)
        ]
        np.testing.assert_array_equal(*answers)
        assert loaded.oob_score_ == forest.oob_score_
        assert loaded.get_params() == forest.get_params()
        np.testing.assert_array_equal(loaded.feature_importances_, forest.feature_importances_)
        again = loaded.set_params(warm_start=True, n_estimators=8).fit(frame, target)
        np.testing.assert_array_equal(
            again.apply(frame), forest.set_params(n_estimators=8).fit(frame, target).apply(frame)
        )


def test_permutation_importance(iris):
    X, y = iris
    forest = OC1ForestClassifier(n_estimators=10, random_state=0).fit(X, y)
    found = permutation_importance(forest, X, y, n_repeats=3, random_state=0).importances_mean
    assert found[2:].max() > found[:2].max()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"oob_score": True}, "needs bootstrap=True"),
        ({"max_samples": 0.5}, "needs bootstrap=True"),
        ({"max_samples": 1000, "bootstrap": True}, "more than there are"),
    ],
)
def test_wrong_parameters(iris, options, message):
    with pytest.raises(ValueError, match=message):
        OC1ForestClassifier(**options).fit(*iris)


def test_few_examples():
    assert OC1ForestClassifier(n_estimators=2).fit([[1.0]], ["a"]).predict([[5.0]]).tolist() == ["a"]
    constant = OC1ForestRegressor(n_estimators=2).fit([[1.0, 2.0]] * 5, [1.0, 2.0, 3.0, 4.0, 5.0])
    assert constant.predict([[0.0, 0.0]]).tolist() == [3.0]
    huge = np.array([[1e200, 1.0], [-1e200, 2.0], [1e200, 3.0], [-1e200, 4.0]])
    assert (
        OC1ForestClassifier(n_estimators=20, min_samples_split=2).fit(huge, [0, 1, 0, 1]).score(huge, [0, 1, 0, 1])
        == 1.0
    )


def test_a_pickle_holds_the_trees_and_nothing_that_is_computed_from_them():
    X = np.random.default_rng(0).normal(size=(200, 4))
    forest = OC1ForestClassifier(n_estimators=5, random_state=0).fit(X, X[:, 0] > X[:, 1])
    fresh = pickle.dumps(forest)
    expected = forest.predict_proba(X)
    assert len(pickle.dumps(forest)) == len(fresh)
    np.testing.assert_array_equal(pickle.loads(fresh).predict_proba(X), expected)


@pytest.mark.parametrize("forest", [OC1ForestClassifier, OC1ForestRegressor])
def test_a_fit_that_adds_trees_checks_its_input(forest):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 2)), rng.integers(0, 2, 40)
    model = forest(n_estimators=2, warm_start=True, random_state=0).fit(X, y)
    known = model.apply(X)
    model.set_params(n_estimators=4)
    for bad_X, bad_y, message in (
        (X, np.column_stack([y, y]), "1d array"),
        (X, np.where(y == 0, np.nan, y), "NaN"),
        (X, y[:-1], "inconsistent"),
        (X[:, :1], y, "features"),
        (np.where(X > 2.0, np.inf, X), y, "infinity"),
    ):
        with pytest.raises(ValueError, match=message):
            model.fit(bad_X, bad_y)
    np.testing.assert_array_equal(model.apply(X), known)
    assert model.fit(X, y.reshape(-1)).apply(X).shape == (40, 4)


@pytest.mark.parametrize("scales", [(1e-200, 1e-200), (1e200, 1e-200), (1e300, 1.0), (1e-290, 1e-290)], ids=str)
@pytest.mark.parametrize("forest", [OC1ForestClassifier, OC1ForestRegressor])
def test_the_size_of_attributes_does_not_matter(forest, scales):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 2))
    X[rng.random(X.shape) < 0.05] = np.nan
    y = (np.nan_to_num(X) @ [1.0, -1.0] > 0).astype(int)
    scaled = X * 2.0 ** np.round(np.log2(scales))
    plain, other = (forest(n_estimators=5, random_state=0).fit(own, y) for own in (X, scaled))
    np.testing.assert_array_equal(other.apply(scaled), plain.apply(X))
    np.testing.assert_array_equal(other.predict(scaled), plain.predict(X))
    assert other.get_n_leaves() > 10
    assert np.isfinite(other._forest.coefficients).all()
    assert other._forest.coefficients.all()


@pytest.mark.parametrize("labels", [["a", 1], [1, "a"], [None, "a"]], ids=str)
@pytest.mark.parametrize("learner", [OC1Classifier, OC1ForestClassifier, OC1EnsembleClassifier], ids=str)
def test_labels_of_different_kinds_get_a_clear_error(learner, labels):
    with pytest.raises(ValueError, match=r"labels in y are of different kinds \(.*, str|of different kinds \(int, str"):
        learner().fit(np.arange(20.0)[:, None], np.array(labels * 10, dtype=object))
