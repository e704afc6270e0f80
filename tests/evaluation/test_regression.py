"""Cross-validation of regressors."""

import numpy as np
import pytest
from sklearn.dummy import DummyRegressor
from sklearn.linear_model import LinearRegression
from sklearn.metrics import mean_absolute_error, r2_score
from sklearn.model_selection import KFold, cross_val_predict
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeRegressor

from oc1.evaluation.protocol import derive_seed
from oc1.evaluation.regression import cross_validate_regressors, summarise_regression


@pytest.fixture(scope="module")
def examples():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(53, 3))
    return X, X @ [1.0, -2.0, 0.5] + rng.normal(size=53)


def test_scores_are_those_of_pooled_predictions(examples):
    X, y = examples
    (summary,) = summarise_regression(
        cross_validate_regressors({"linear": LinearRegression()}, X, y, repeats=1, seed=3)
    )
    folds = KFold(5, shuffle=True, random_state=derive_seed(3, 0))
    predicted = cross_val_predict(LinearRegression(), X, y, cv=folds)
    assert summary.r2 == pytest.approx(r2_score(y, predicted))
    assert summary.absolute_error == pytest.approx(mean_absolute_error(y, predicted))
    assert summary.root_squared_error == pytest.approx(np.sqrt(np.mean((y - predicted) ** 2)))
    assert (summary.r2_sd, summary.leaves, summary.repeats) == (None, None, 1)


def test_learners_share_folds_and_processes_change_nothing(examples):
    contestants = {"tree": DecisionTreeRegressor(max_depth=2), "mean": DummyRegressor()}
    alone, together = ([*cross_validate_regressors(contestants, *examples, repeats=2, n_jobs=n)] for n in (1, 2))
    assert [(r.key, r.squared_error) for r in alone] == [(r.key, r.squared_error) for r in together]
    tree, mean = summarise_regression(alone)
    assert tree.r2 > mean.r2
    assert tree.r2_sd > 0
    assert 1 < tree.leaves <= 4


def test_leave_one_out_and_equal_targets(examples):
    X, y = examples
    (summary,) = summarise_regression(
        cross_validate_regressors({"linear": LinearRegression()}, X, y, repeats=1, folds=len(y))
    )
    assert 0 < summary.r2 < 1
    (summary,) = summarise_regression(cross_validate_regressors({"mean": DummyRegressor()}, X, np.ones(53), repeats=1))
    assert np.isnan(summary.r2)


def test_wrong_use(examples):
    with pytest.raises(ValueError, match="'5-NN' is not a scikit-learn regressor"):
        cross_validate_regressors({"5-NN": KNeighborsClassifier()}, *examples)
    with pytest.raises(ValueError, match="from 2 to 53 folds"):
        cross_validate_regressors({"mean": DummyRegressor()}, *examples, folds=54)
