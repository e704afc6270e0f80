"""Models in the place of functions, as shap wants them."""

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_iris

from oc1 import OC1Classifier, OC1EnsembleClassifier, OC1Regressor


@pytest.fixture(scope="module")
def iris():
    return load_iris(return_X_y=True, as_frame=True)


def test_a_model_is_a_function_of_examples(iris):
    X, y = iris
    for clf in (OC1Classifier(splits="axis"), OC1EnsembleClassifier(OC1Classifier(splits="axis"), n_estimators=3)):
        clf.set_params(random_state=0).fit(X, y)
        np.testing.assert_array_equal(clf(X), clf.predict_proba(X))
    X, y = load_diabetes(return_X_y=True)
    regressor = OC1Regressor(max_depth=1).fit(X, y)
    np.testing.assert_array_equal(regressor(X), regressor.predict(X))


@pytest.mark.parametrize("names", [True, False])
def test_shap_values_add_up_to_the_prediction(iris, names):
    shap = pytest.importorskip("shap")
    X, y = iris if names else (iris[0].to_numpy(), iris[1])
    clf = OC1Classifier(random_state=0).fit(X, y)
    values = shap.Explainer(clf, X)(X[::50])
    np.testing.assert_allclose(values.base_values + values.values.sum(axis=1), clf.predict_proba(X[::50]), atol=1e-9)
