"""Estimator manners, invariances, awkward data, and the paper's figures in small."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from oc1 import OC1Classifier
from oc1.datasets import make_ls10, make_pol, make_rcb

QUICK = {"n_restarts": 3, "random_state": 0}


def check_but_for_repetitions(estimator, check):
    """Make a check of scikit-learn; a tree that is pruned may find that a weight of 2 is not two samples.

    Where it is pruned, the effective number of samples is evidence, and copies add to it. (On some data the tree is the
    same.)
    """
    try:
        check(estimator)
    except AssertionError:
        if estimator.prune is not None and "check_sample_weight_equivalence" in str(check):
            pytest.xfail("weights are ratios: their effective number of samples is evidence, not their sum")
        raise


@parametrize_with_checks([OC1Classifier()])
def test_scikit_learns_checks(estimator, check):
    check_but_for_repetitions(estimator, check)


@pytest.mark.slow
@parametrize_with_checks(
    [
        OC1Classifier(prune=None, n_restarts=2),
        OC1Classifier(preset="paper", prune=None, n_restarts=2),
        OC1Classifier(prune="cv", splits="oblique", criterion="info_gain", normalize="positive", n_restarts=2),
    ]
)
def test_scikit_learns_checks_of_other_parameters(estimator, check):
    check_but_for_repetitions(estimator, check)


# ------------------------------------------------------------------------------------------------ manners


@pytest.mark.parametrize("load", [load_iris, load_wine])
def test_the_coefficient_that_matters_most_is_one(load):
    X, y = load(return_X_y=True)
    tree = OC1Classifier(splits="oblique", **QUICK).fit(X, y).tree_
    n_oblique = 0
    for node in np.flatnonzero(~tree.is_leaf):
        features, coefficients, _ = tree.test(node)
        assert abs(coefficients[np.argmax(np.abs(coefficients) * X.std(axis=0)[features])]) == 1.0
        n_oblique += len(features) > 1
    assert n_oblique


def test_pipeline_grid_clone_and_pickle():
    X, y = load_iris(return_X_y=True)
    search = GridSearchCV(
        make_pipeline(StandardScaler(), OC1Classifier(**QUICK)),
        {"oc1classifier__criterion": ["gini", "info_gain"], "oc1classifier__n_jumps": [0, 5]},
        cv=3,
    ).fit(X, y)
    assert search.best_score_ > 0.9
    model = OC1Classifier(**QUICK).fit(X, y)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    assert str(again.tree_) == str(model.tree_)
    assert clone(model).get_params() == model.get_params()
    assert not hasattr(clone(model), "tree_")


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_frames_with_names(frame):
    iris = load_iris(as_frame=True)
    X = frame(dict(iris.data))
    clf = OC1Classifier(**QUICK).fit(X, iris.target_names[iris.target])
    assert list(clf.feature_names_in_) == iris.feature_names
    assert any(name in str(clf.tree_) for name in iris.feature_names)
    assert set(clf.predict(X)) <= {"setosa", "versicolor", "virginica"}
    with pytest.raises(ValueError, match="feature names"):
        clf.predict(frame({f"other {i}": iris.data.iloc[:, i] for i in range(4)}))


@pytest.mark.parametrize("labels", [["b", "a"], [7, -3], [2.0, 1.0], [True, False], [np.str_("x"), np.str_("y")]])
def test_labels_of_all_kinds(labels):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 2))
    y = np.array(labels)[(X[:, 0] > 0).astype(int)]
    clf = OC1Classifier(**QUICK).fit(X, y)
    assert clf.score(X, y) > 0.9
    np.testing.assert_array_equal(clf.classes_, np.unique(y))
    assert clf.predict(X).dtype == np.unique(y).dtype


def test_arrays_of_all_kinds():
    X, y = load_iris(return_X_y=True)
    base = OC1Classifier(**QUICK).fit(X, y)
    locked = X.copy()
    locked.flags.writeable = False
    for other in (np.asfortranarray(X), X.tolist(), locked, np.repeat(X, 2, axis=1)[:, ::2]):
        clf = OC1Classifier(**QUICK).fit(other, y)
        assert clf.tree_.to_dict() == base.tree_.to_dict()
        np.testing.assert_array_equal(clf.predict(other), base.predict(X))
    np.testing.assert_array_equal(X, load_iris().data)  # untouched
    single = OC1Classifier(**QUICK).fit(X.astype(np.float32), y)
    assert single.score(X.astype(np.float32), y) > 0.95
    whole = (10 * X).astype(int)
    assert OC1Classifier(**QUICK).fit(whole, y).score(whole, y) > 0.95


def test_probabilities_and_importances(noisy):
    X, y = noisy
    clf = OC1Classifier(**QUICK).fit(X, y)
    proba = clf.predict_proba(X)
    np.testing.assert_allclose(proba.sum(axis=1), 1)
    np.testing.assert_array_equal(clf.classes_[proba.argmax(axis=1)], clf.predict(X))
    np.testing.assert_allclose(np.exp(clf.predict_log_proba(X)), proba)
    importances = clf.feature_importances_
    assert importances.sum() == pytest.approx(1)
    assert importances.min() >= 0
    rescaled = OC1Classifier(**QUICK).fit(X * [1e3, 1, 1e-3, 1], y)
    np.testing.assert_allclose(rescaled.feature_importances_, importances, rtol=1e-3)
    assert importances[:2].min() > importances[2:].max()  # the attributes that matter most for the class


def test_smoothing_is_laplaces_rule_and_changes_no_prediction(noisy):
    X, y = noisy
    clf = OC1Classifier(prune=None, max_depth=3, **QUICK).fit(X, y + (X[:, 0] > 1))
    counts = clf.tree_.counts[clf.apply(X)]
    np.testing.assert_allclose(clf.predict_proba(X), counts / counts.sum(axis=1, keepdims=True))
    answers = clf.predict(X)
    clf.set_params(smoothing=1.0)
    np.testing.assert_allclose(clf.predict_proba(X), (counts + 1) / (counts.sum(axis=1, keepdims=True) + 3))
    assert counts.min() == 0 < clf.predict_proba(X).min()
    np.testing.assert_array_equal(clf.predict(X), answers)
    tie = OC1Classifier(smoothing=1.0, prune=None).fit([[1.0]] * 4, ["b", "a", "b", "a"])
    assert tie.predict([[1.0]]) == "a"
    assert tie.predict_proba([[1.0]]).tolist() == [[0.5, 0.5]]


@pytest.mark.parametrize("normalize", ["standard", "positive"])
def test_attributes_that_do_not_matter_are_not_important(normalize):
    X, y = make_ls10(500, random_state=0)
    X = np.column_stack([X, np.random.default_rng(0).normal(size=500)])
    X[:, 5:] *= 1e3  # importances are about standardised attributes, in whatever units
    importances = OC1Classifier(normalize=normalize, random_state=0).fit(X, y).feature_importances_
    assert importances.sum() == pytest.approx(1)
    assert importances[10] < 0.5 * importances[:10].min()
    assert importances[:10].max() < 3 * importances[:10].min()


def test_weights_are_repetitions(noisy):
    X, y = noisy
    times = np.random.default_rng(0).integers(0, 4, len(y))
    # Not where a tree is pruned: copies are not the same evidence as further samples.
    for parameters in ({"prune": None, "criterion": "info_gain"}, {"prune": None, "preset": "paper"}):
        # Not by the size of a node, which is a number of rows.
        parameters["min_samples_oblique"] = 2
        weighted = OC1Classifier(**QUICK, **parameters).fit(X, y, sample_weight=times)
        repeated = OC1Classifier(**QUICK, **parameters).fit(X.repeat(times, axis=0), y.repeat(times))
        np.testing.assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X), atol=1e-6)


def test_class_weight_shifts_the_balance(noisy):
    X, y = noisy
    shares = [
        (OC1Classifier(max_depth=2, prune=None, class_weight={0: 1, 1: w}, **QUICK).fit(X, y).predict(X) == 1).mean()
        for w in (0.05, 1, 20)
    ]
    assert shares[0] < shares[1] < shares[2]
    balanced = OC1Classifier(class_weight="balanced", prune=None, **QUICK).fit(X, y)
    assert balanced.tree_.counts[0, 0] == pytest.approx(balanced.tree_.counts[0, 1])


def test_parameters_of_pruning_are_obeyed(noisy):
    X, y = noisy
    usual = OC1Classifier(splits="axis", random_state=0)
    for prune in ("cv", "holdout"):
        sizes = [clone(usual).set_params(prune=prune, prune_se=se).fit(X, y).get_n_leaves() for se in (0.0, 1.0)]
        assert sizes[0] > sizes[1]
    for fraction in (0.1, 0.3):
        held = clone(usual).set_params(prune="holdout", prune_fraction=fraction).fit(X, y)
        assert held.unpruned_tree_.counts[0].sum() == pytest.approx((1 - fraction) * len(y), abs=2)


# ------------------------------------------------------------------------------------------------ invariances


def leaves_as_groups(clf, X):
    """The partition of the examples, without the numbering of the leaves."""
    groups = {}
    for row, leaf in enumerate(clf.apply(X)):
        groups.setdefault(leaf, []).append(row)
    return {tuple(rows) for rows in groups.values()}


@pytest.mark.parametrize(
    "parameters", [{}, {"prune": None}, {"prune": "cv"}, {"splits": "axis"}, {"criterion": "gini", "order": "best"}]
)
@pytest.mark.parametrize("make", [make_rcb, make_ls10])
def test_units_order_and_names_do_not_matter(make, parameters):
    X, y = make(300, random_state=1)
    parameters = {**QUICK, **parameters}
    clf = OC1Classifier(**parameters).fit(X, y)
    groups = leaves_as_groups(clf, X)
    rng = np.random.default_rng(0)
    scale, shift = 10 ** rng.uniform(-4, 4, X.shape[1]), rng.uniform(-100, 100, X.shape[1])
    moved = X * scale + shift * scale
    assert leaves_as_groups(OC1Classifier(**parameters).fit(moved, y), moved) == groups
    order = rng.permutation(len(y))
    assert leaves_as_groups(OC1Classifier(**parameters).fit(X[order], y[order]), X) == groups
    renamed = np.array(list("hgfedcba"))[y - 1]
    assert leaves_as_groups(OC1Classifier(**parameters).fit(X, renamed), X) == groups


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 2**31 - 1), exponent=st.integers(-30, 30), shift=st.integers(-1000, 1000))
def test_powers_of_two_and_whole_shifts_are_exact(seed, exponent, shift):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 50, (60, 2)).astype(float)
    y = rng.integers(0, 3, 60)
    clf = OC1Classifier(prune=None, **QUICK).fit(X, y)
    moved = (X + shift) * 2.0**exponent
    assert leaves_as_groups(OC1Classifier(prune=None, **QUICK).fit(moved, y), moved) == leaves_as_groups(clf, X)


# ------------------------------------------------------------------------------------------------ awkward data


def test_missing_values_count_as_the_mean(noisy):
    X, y = noisy
    holes = X.copy()
    holes[np.random.default_rng(0).random(X.shape) < 0.2] = np.nan
    clf = OC1Classifier(prune=None, **QUICK).fit(holes, y)
    np.testing.assert_allclose(clf.tree_.fill, np.nanmean(holes, axis=0))
    filled = np.where(np.isnan(holes), clf.tree_.fill, holes)
    same = OC1Classifier(prune=None, **QUICK).fit(filled, y)
    np.testing.assert_array_equal(clf.apply(holes), same.apply(filled))
    np.testing.assert_array_equal(clf.predict([[np.nan] * 4]), same.predict([clf.tree_.fill]))


def test_attributes_missing_throughout_or_constant(noisy):
    X, y = noisy
    for extra in (np.full(len(y), np.nan), np.full(len(y), 0.1), np.full(len(y), 1e300)):
        wide = np.column_stack([X, extra])
        clf = OC1Classifier(prune=None, **QUICK).fit(wide, y)
        assert clf.score(wide, y) == 1.0
        assert 4 not in clf.tree_.features


def test_degenerate_sets():
    one = OC1Classifier().fit([[1.0, 2.0]] * 5, ["only"] * 5)
    assert one.get_n_leaves() == 1
    assert one.predict([[0.0, 0.0]]).tolist() == ["only"]
    same = OC1Classifier(prune=None).fit([[1.0, 2.0]] * 5, [0, 1, 1, 1, 0])
    assert same.get_n_leaves() == 1
    np.testing.assert_allclose(same.predict_proba([[1.0, 2.0]]), [[0.4, 0.6]])
    contradictory = np.array([[0.0], [0.0], [1.0], [1.0], [1.0]])
    clf = OC1Classifier(prune=None).fit(contradictory, [0, 1, 1, 1, 0])
    assert clf.get_n_leaves() == 2
    wide = np.random.default_rng(0).normal(size=(6, 50))  # n < 2 d
    assert OC1Classifier(prune=None).fit(wide, [0, 1] * 3).score(wide, [0, 1] * 3) == 1.0
    two = OC1Classifier().fit([[0.0], [1.0]], [0, 1])
    assert two.predict([[-1.0], [0.4], [0.6], [2.0]]).tolist() == [0, 0, 1, 1]


@pytest.mark.parametrize("scale", [1e-300, 1e-30, 1e30, 1e300])
def test_huge_and_tiny_values(scale):
    X, y = load_iris(return_X_y=True)
    clf = OC1Classifier(prune=None, **QUICK).fit(X * scale, y)
    assert clf.score(X * scale, y) == 1.0
    positive = OC1Classifier(prune=None, normalize="positive", **QUICK).fit(X * scale, y)
    assert positive.score(X * scale, y) == 1.0


def test_one_wild_value_does_not_spoil_an_attribute():
    X, y = load_iris(return_X_y=True)
    X = X.copy()
    X[0] = 1e12
    clf = OC1Classifier(prune=None, **QUICK).fit(X, y)
    assert clf.score(X, y) > 0.98


def test_training_examples_keep_their_side_in_prediction():
    for X, y in (load_wine(return_X_y=True), load_breast_cancer(return_X_y=True)):
        for dtype in (np.float64, np.float32):
            clf = OC1Classifier(prune=None, **QUICK).fit(X.astype(dtype), y)
            leaves = clf.apply(X.astype(dtype))
            counts = np.zeros_like(clf.tree_.counts)
            np.add.at(counts, (leaves, y), 1)
            leaf = clf.tree_.is_leaf
            np.testing.assert_array_equal(counts[leaf], clf.tree_.counts[leaf])


# ------------------------------------------------------------------------------------------------ bad input


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"criterion": "purity"}, "'criterion' parameter of OC1Classifier must be a str among"),
        ({"splits": "both"}, "'splits' parameter.*'oblique'"),
        ({"normalize": None}, "'normalize' parameter.*'positive'"),
        ({"n_restarts": -1}, "'n_restarts' parameter.*an int in the range"),
        ({"n_restarts": 2.5}, "'n_restarts'.*an int"),
        ({"n_jumps": -1}, "'n_jumps'"),
        ({"order": "Sequential"}, "'order' parameter.*'sequential'"),
        ({"n_perturbations": 0}, "'n_perturbations'"),
        ({"stagnation": 1.5}, "'stagnation'"),
        ({"max_stagnant": 0}, "'max_stagnant'"),
        ({"axis_bias": 0.5}, "'axis_bias'"),
        ({"min_samples_leaf": 0}, "'min_samples_leaf'"),
        ({"max_leaf_nodes": 0}, "'max_leaf_nodes'"),
        ({"prune": "none"}, "'prune' parameter.*'holdout'"),
        ({"prune_fraction": 1.0}, "'prune_fraction'"),
        ({"prune_se": -1}, "'prune_se'"),
        ({"ccp_alpha": -0.1}, "'ccp_alpha'"),
        ({"smoothing": -1}, "'smoothing'"),
        ({"class_weight": "even"}, "'class_weight'"),
    ],
)
def test_bad_parameters(parameters, words):
    clf = OC1Classifier(**parameters)
    with pytest.raises(ValueError, match=words):
        clf.fit([[0.0], [1.0]], [0, 1])
    assert not hasattr(clf, "tree_")


@pytest.mark.parametrize(
    ("X", "y", "words"),
    [
        ([[0.0], [np.inf]], [0, 1], "infinity"),
        ([0.0, 1.0], [0, 1], "2D array"),
        ([[0.0], [1.0]], [0, 1, 1], "inconsistent numbers of samples"),
        ([[0.0], [1.0]], [0.3, 1.7], "Unknown label type: continuous"),
        ([[0.0], [1.0]], [[0, 1], [1, 0]], "1d array|multilabel"),
        ([["a"], ["b"]], [0, 1], "could not convert string to float"),
        (np.empty((0, 2)), [], "minimum of 1 is required"),
        ([[0.0], [1.0]], [np.nan, 1.0], "NaN"),
    ],
)
def test_bad_data(X, y, words):
    clf = OC1Classifier()
    with pytest.raises(ValueError, match=words):
        clf.fit(X, y)
    assert not hasattr(clf, "tree_")


def test_a_failed_fit_leaves_the_old_tree(noisy):
    X, y = noisy
    clf = OC1Classifier(**QUICK).fit(X, y)
    before = clf.tree_
    with pytest.raises(ValueError, match="at least one non-zero"):
        clf.fit(X, y, sample_weight=np.zeros(len(y)))
    assert clf.tree_ is before
    with pytest.raises(ValueError, match=r"[Nn]egative"):
        clf.fit(X, y, sample_weight=-np.ones(len(y)))


def test_prediction_needs_a_fit_and_the_right_width(noisy):
    X, y = noisy
    clf = OC1Classifier(**QUICK)
    for method in ("predict", "predict_proba", "apply", "decision_path"):
        with pytest.raises(Exception, match="not fitted"):
            getattr(clf, method)(X)
    for method in ("get_depth", "get_n_leaves"):
        with pytest.raises(Exception, match="not fitted"):
            getattr(clf, method)()
    clf.fit(X, y)
    with pytest.raises(ValueError, match="2 features, but OC1Classifier is expecting 4"):
        clf.predict(X[:, :2])


# ------------------------------------------------------------------------------------------------ science, in small


@pytest.mark.parametrize(
    ("make", "accuracy", "leaves"), [(make_ls10, 0.99, 4), (make_pol, 0.992, 5.2), (make_rcb, 0.988, 8.5)]
)
def test_the_papers_artificial_data(make, accuracy, leaves):
    X, y = make(random_state=7)
    clf = OC1Classifier(n_restarts=20, n_jumps=20, prune=None, random_state=0)
    scores, sizes = [], []
    for fold in range(3):
        test = np.arange(len(y)) % 5 == fold
        clf.fit(X[~test], y[~test])
        scores.append(clf.score(X[test], y[test]))
        sizes.append(clf.get_n_leaves())
    assert np.mean(scores) >= accuracy
    assert np.mean(sizes) <= leaves


def test_randomization_helps_as_in_table_2():
    X, y = make_pol(random_state=3)
    sizes = [
        OC1Classifier(prune=None, n_restarts=r, n_jumps=j, random_state=0).fit(X, y).get_n_leaves()
        for r, j in ((0, 0), (20, 20))
    ]
    assert sizes[1] == 5 < sizes[0]


@pytest.mark.parametrize("order", ["sequential", "best", "random"])
def test_every_order_finds_the_stripes(order):
    X, y = make_pol(random_state=5)
    clf = OC1Classifier(prune=None, order=order, n_restarts=20, n_jumps=20, random_state=0).fit(X, y)
    assert clf.get_n_leaves() <= 6


def test_iris_and_cancer_by_cross_validation():
    X, y = load_iris(return_X_y=True)
    assert cross_val_score(OC1Classifier(random_state=0), X, y, cv=5).mean() > 0.92
    X, y = load_breast_cancer(return_X_y=True)
    assert cross_val_score(OC1Classifier(random_state=0), X, y, cv=5).mean() > 0.92


# ------------------------------------------------------------------------------------------------ once wrong


def test_mixed_weights_lose_no_example():
    clf = OC1Classifier(prune=None, random_state=0)
    assert clf.fit([[0.0], [1.0], [2.0]], [0, 1, 0], sample_weight=[1e10, 1e10, 1]).predict([[2.0]]) == 0
    clf.fit([[2.0], [2.0], [2.0], [0.0], [0.0]], [0, 0, 0, 0, 1], sample_weight=[1, 1, 1, 1e12, 1e12])
    np.testing.assert_allclose(clf.predict_proba([[2.0]]), [[1, 0]])
    for criterion in ("gini", "twoing"):
        clf = OC1Classifier(prune=None, splits="axis", criterion=criterion)
        assert clf.fit([[0.0], [1.0], [2.0]], [0, 1, 0], sample_weight=[1, 1e-6, 1]).predict([[1.0]]) == 1


def hellinger(left, right):
    shares = np.sqrt(left / left.sum()) - np.sqrt(right / right.sum())
    return -(shares**2).sum()


def guarded_hellinger(left, right):
    shares = np.sqrt(left / (left.sum() + 1e-12)) - np.sqrt(right / (right.sum() + 1e-12))
    return -(shares**2).sum()


def test_a_users_measure_with_weights_limits_and_importances():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2))
    y = np.digitize(X[:, 0] + 0.3 * X[:, 1], [-0.5, 0.5])
    weights = rng.uniform(0.1, 3, 200)
    clf = OC1Classifier(criterion=hellinger, prune=None, **QUICK).fit(X, y, sample_weight=weights)
    assert clf.score(X, y) == 1.0
    assert clf.feature_importances_.sum() == pytest.approx(1)
    assert OC1Classifier(criterion=guarded_hellinger, prune=None, **QUICK).fit(X, y).score(X, y) == 1.0
    assert OC1Classifier(criterion=hellinger, min_impurity_decrease=10, prune=None).fit(X, y).get_n_leaves() == 1
    assert OC1Classifier(criterion=hellinger, max_leaf_nodes=3, prune=None, **QUICK).fit(X, y).score(X, y) > 0.9


def test_a_marker_for_missing_values_hides_nothing():
    rng = np.random.default_rng(0)
    x = rng.uniform(0, 1, 1000)
    y = (x * 20).astype(int) % 2
    missing = rng.random(1000) < 0.6
    X = np.where(missing, -1e6, x)[:, None]
    y = np.where(missing, 0, y)
    assert OC1Classifier(prune=None, random_state=0).fit(X, y).score(X, y) == 1.0


def test_a_failed_fit_changes_nothing_at_all(noisy):
    X, y = noisy
    clf = OC1Classifier(**QUICK).fit(X, y)
    clf.criterion = len
    with pytest.raises(ValueError, match="'len' failed for left counts"):
        clf.fit(np.column_stack([X, X]), y)
    assert clf.predict(X).shape == y.shape


def test_negative_class_weights_are_refused(noisy):
    X, y = noisy
    with pytest.raises(ValueError, match="class_weight must be finite and not negative"):
        OC1Classifier(class_weight={0: -1, 1: 1}).fit(X, y)
