"""Whether the tests of a tree are fitted together, and what that is worth."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_wine, make_classification
from sklearn.model_selection import train_test_split

from oc1 import OC1Classifier
from oc1.datasets import make_ls10
from oc1.learners import softening


def many_classes(seed):
    """Return few examples of each of many classes, and others to test on."""
    X, y = make_classification(
        2000, 8, n_informative=8, n_redundant=0, n_classes=8, n_clusters_per_class=1, class_sep=1.5, random_state=seed
    )
    return train_test_split(X, y, train_size=400, random_state=seed, stratify=y)


def test_many_classes_with_few_examples_each_are_told_apart_better():
    gained = []
    for seed in range(4):
        X, X_test, y, y_test = many_classes(seed)
        models = [OC1Classifier(refine=refine, random_state=0).fit(X, y) for refine in (False, None)]
        gained.append(models[1].score(X_test, y_test) - models[0].score(X_test, y_test))
    assert np.mean(gained) > 0.01


def spied(monkeypatch):
    """Return a list to which leaves and ridge of the trees go whose tests are fitted together in the end."""
    calls = []

    def softened(tree, data, ridge, max_terms, **rules):
        calls.append((tree.n_leaves, ridge))
        return tree

    monkeypatch.setattr("oc1.learners.classifier.softened", softened)
    return calls


def test_a_single_test_and_tests_of_one_attribute_stay_as_they_are(monkeypatch):
    calls = spied(monkeypatch)
    OC1Classifier(random_state=0).fit(*load_breast_cancer(return_X_y=True))
    X, y = load_wine(return_X_y=True)
    OC1Classifier(max_terms=1, random_state=0).fit(X, y)
    assert calls == []
    OC1Classifier(refine=False, random_state=0).fit(X, y)
    OC1Classifier(refine=True, random_state=0).fit(X, y)
    assert calls == []
    OC1Classifier(random_state=0).fit(X, y)
    assert calls == [(3, softening.RIDGE)]


def test_where_classes_are_parted_the_plane_comes_to_lie_in_the_middle(monkeypatch):
    X, y = make_ls10(2000, random_state=0)
    X_test, y_test = make_ls10(20_000, random_state=1)
    models = [OC1Classifier(refine=refine, random_state=0).fit(X, y) for refine in (False, None)]
    assert models[1].score(X_test, y_test) > models[0].score(X_test, y_test)
    calls = spied(monkeypatch)
    OC1Classifier(random_state=0).fit(X, y)
    assert calls == [(2, softening.RIDGE_WHERE_PARTED)]


@pytest.mark.parametrize("parameters", [{"max_terms": 3}, {"min_samples_leaf": 25}, {"max_depth": 2}])
def test_what_the_parameters_say_still_holds(parameters):
    X, _, y, _ = many_classes(0)
    tree = OC1Classifier(random_state=0, **parameters).fit(X, y).tree_
    assert np.diff(tree.terms).max() <= parameters.get("max_terms", X.shape[1])
    assert np.bincount(tree.apply(X))[tree.is_leaf].min() >= parameters.get("min_samples_leaf", 1)
    assert tree.max_depth <= parameters.get("max_depth", 100)


def test_a_weight_of_two_is_the_same_as_an_example_twice():
    X, X_test, y, _ = many_classes(1)
    weights = np.where(np.arange(len(y)) < 150, 2, 1)
    once = OC1Classifier(random_state=0).fit(X, y, sample_weight=weights)
    twice = OC1Classifier(random_state=0).fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    assert np.mean(once.predict(X_test) == twice.predict(X_test)) > 0.97


def test_missing_values_and_categories():
    X, X_test, y, y_test = many_classes(2)
    X[::7, 0] = np.nan
    frame, test = pd.DataFrame(X), pd.DataFrame(X_test)
    for own in (frame, test):
        own["category"] = pd.Categorical(np.where(own[1] > 0, "high", "low"))
        own.columns = own.columns.astype(str)
    model = OC1Classifier(categorical_features="from_dtype", random_state=0).fit(frame, y)
    assert model.score(test, y_test) > 0.6
