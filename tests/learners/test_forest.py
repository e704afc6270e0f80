"""Forests of oblique trees."""

from sklearn.utils.estimator_checks import parametrize_with_checks

from oc1 import OC1ForestClassifier, OC1ForestRegressor


@parametrize_with_checks([OC1ForestClassifier(n_estimators=5), OC1ForestRegressor(n_estimators=5)])
def test_scikit_learns_checks(estimator, check):
    check(estimator)
