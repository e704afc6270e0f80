"""Weights are ratios: what multiplies all of them changes nothing. The order of the rows changes nothing either."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

from oc1 import OC1Classifier, OC1EnsembleClassifier, OC1ForestClassifier, OC1ForestRegressor, OC1Regressor, baselines

FACTORS = (1e-300, 1e300, 7.0, 1 / 3)
ENSEMBLES = [
    OC1ForestClassifier(n_estimators=3),
    OC1ForestClassifier(n_estimators=3, bootstrap=True, class_weight="balanced_subsample"),
    OC1ForestRegressor(n_estimators=3),
    OC1EnsembleClassifier(n_estimators=3),
    OC1EnsembleClassifier(baselines.C45Classifier(), n_estimators=3, bootstrap=True),
    OC1EnsembleClassifier(baselines.CARTClassifier(prune=None), n_estimators=3, window=0.3),
]
BASELINES = [
    baselines.C45Classifier(),
    baselines.C45Classifier(min_samples_leaf=0.1, min_samples_split=0.2),
    baselines.CARTClassifier(),
    baselines.CARTLCClassifier(),
    baselines.CARTLCClassifier(mode="breiman", prune="cv", prune_se=1.0),
    baselines.LMDTClassifier(max_passes=20),
    baselines.MSMTClassifier(),
    baselines.PerceptronTreeClassifier(max_epochs=20),
    baselines.SADTClassifier(patience=50),
]
SEARCHES = [
    OC1Classifier(),
    *(OC1Classifier(n_restarts=2, **own) for own in ({"prune": "cv"}, {"prune": None}, {"preset": "paper"})),
]


def trees_of(model):
    """Return what the trees of a model are, but for means in the place of missing values: they may end otherwise."""
    trees = [own.tree_.to_dict() for own in getattr(model, "estimators_", [model])]
    return [{name: value for name, value in own.items() if name != "fill"} for own in trees]


@pytest.fixture(scope="module")
def problem():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 3))
    y = (X @ [1.0, -1.0, 0.3] + 0.5 * rng.normal(size=90) > 0).astype(int)
    return X, y, rng.integers(0, 5, 90) * rng.choice([1.0, 0.3], 90)


@pytest.mark.parametrize("model", [*ENSEMBLES, *BASELINES, *SEARCHES], ids=str)
def test_multiplying_all_weights_changes_nothing(model, problem):
    X, y, weights = problem
    model = clone(model).set_params(random_state=0)
    known = trees_of(clone(model).fit(X, y, sample_weight=weights))
    for factor in FACTORS:
        assert trees_of(clone(model).fit(X, y, sample_weight=weights * factor)) == known, factor
    plain = trees_of(clone(model).fit(X, y))
    assert trees_of(clone(model).fit(X, y, sample_weight=np.full(len(y), 7.0))) == plain


@pytest.mark.parametrize("model", [*ENSEMBLES, *BASELINES], ids=str)
def test_shares_of_one_leave_a_tree(model, problem):
    """With weights that add up to 1, C4.5 and others once ended in a single leaf."""
    X, y, weights = problem
    model = clone(model).set_params(random_state=0).fit(X, y, sample_weight=weights / weights.sum())
    assert all(len(own["children"]) > 1 for own in trees_of(model))


@pytest.mark.parametrize("model", [*ENSEMBLES[:3], *BASELINES[:2]], ids=str)
def test_weights_far_apart_give_numbers(model, problem):
    X, y, weights = problem
    weights = np.where(weights > 0, 10.0 ** (3.5 * weights), 0.0)
    model = clone(model).set_params(random_state=0).fit(X, y, sample_weight=weights)
    answers = model.predict_proba(X) if hasattr(model, "predict_proba") else model.predict(X)
    assert np.isfinite(answers).all()
    for own in getattr(model, "estimators_", [model]):
        assert np.isfinite(own.tree_.gains).all()
        assert (own.tree_.gains >= 0).all()


@st.composite
def tied(draw):
    """Few rows with few different values."""
    rng = np.random.default_rng(draw(st.integers(0, 2**31)))
    n, d = draw(st.integers(4, 60)), draw(st.integers(1, 4))
    X = rng.integers(0, draw(st.integers(2, 6)), (n, d)) / draw(st.sampled_from([1.0, 3.0, 1e8]))
    X = X + draw(st.sampled_from([0.0, 0.1, 1e15]))
    y = rng.integers(0, draw(st.integers(2, 4)), n)
    weights = rng.uniform(0.5, 2.0, n) if draw(st.booleans()) else None
    return X, y, weights, rng.permutation(n)


@pytest.mark.parametrize(
    "model",
    [
        OC1Classifier(),
        OC1Regressor(n_restarts=1),
        OC1ForestClassifier(n_estimators=3),
        OC1ForestRegressor(n_estimators=3),
        OC1ForestClassifier(n_estimators=3, bootstrap=True),
    ],
    ids=str,
)
@settings(max_examples=15, deadline=None)
@given(tied())
def test_the_order_of_the_rows_changes_nothing(model, problem):
    X, y, weights, order = problem
    model = clone(model).set_params(random_state=0)
    known = clone(model).fit(X, y, sample_weight=weights)
    other = clone(model).fit(X[order], y[order], sample_weight=None if weights is None else weights[order])
    assert trees_of(other) == trees_of(known)
    np.testing.assert_array_equal(other.predict(X), known.predict(X))


@pytest.mark.parametrize("forest", [OC1ForestClassifier, OC1ForestRegressor])
def test_out_of_bag_answers_are_those_of_the_rows(forest, problem):
    X, y, weights = problem
    order = np.random.default_rng(1).permutation(len(y))
    name = "oob_decision_function_" if forest is OC1ForestClassifier else "oob_prediction_"
    models = [
        forest(n_estimators=5, bootstrap=True, oob_score=True, random_state=0).fit(X[rows], y[rows], weights[rows])
        for rows in (np.arange(len(y)), order)
    ]
    known, other = (getattr(model, name) for model in models)
    np.testing.assert_array_equal(known[order], other)
    assert models[0].oob_score_ == models[1].oob_score_
    assert np.isnan(known[weights == 0]).all()
