"""Short splits (`max_terms`), and stepwise selection of attributes by scikit-learn."""

import numpy as np
import pytest
from sklearn.feature_selection import SequentialFeatureSelector

from oc1 import OC1Classifier
from oc1.datasets import make_ls10
from oc1.growing import options, policy


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("max_terms", [1, 2, 4])
def test_splits_are_no_longer_than_asked(ls10, max_terms, n_jobs):
    X, y = ls10
    clf = OC1Classifier(max_terms=max_terms, prune=None, n_restarts=3, n_jobs=n_jobs, random_state=0).fit(X, y)
    assert np.diff(clf.tree_.terms).max() == max_terms
    assert clf.score(X, y) == 1.0


def test_more_terms_make_smaller_trees(ls10):
    X, y = ls10
    leaves = [
        OC1Classifier(max_terms=max_terms, prune=None, n_restarts=5, random_state=0).fit(X, y).get_n_leaves()
        for max_terms in (1, 3, None)
    ]
    assert leaves[0] > leaves[1] > leaves[2]


def test_threads_do_not_matter(noisy, monkeypatch):
    X, y = noisy
    monkeypatch.setattr(policy, "MIN_SINGLE_ROWS", 20)
    monkeypatch.setattr(options, "MIN_SHARED_ROWS", 50)
    for seed in range(6):
        clf = OC1Classifier(max_terms=2, prune=None, n_restarts=3, random_state=seed)
        trees = [clf.set_params(n_jobs=n_jobs).fit(X, y).tree_.to_dict() for n_jobs in (1, 2, 3)]
        assert trees[0] == trees[1] == trees[2]


def test_the_right_attributes_stay():
    X, _ = make_ls10(500, random_state=3)
    y = (2 * X[:, 2] - X[:, 7] > 0.5).astype(int)
    clf = OC1Classifier(max_terms=2, prune=None, random_state=0).fit(X, y)
    assert set(clf.tree_.test(0)[0]) == {2, 7}
    assert clf.get_n_leaves() <= 6


def test_as_many_terms_as_attributes_changes_nothing(noisy):
    X, y = noisy
    trees = [
        OC1Classifier(max_terms=max_terms, n_restarts=3, random_state=0).fit(X, y).tree_.to_dict()
        for max_terms in (None, 4, 99)
    ]
    assert trees[0] == trees[1] == trees[2]


@pytest.mark.parametrize("direction", ["forward", "backward"])
def test_stepwise_selection_finds_the_attributes_that_matter(direction):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 5))
    y = (X[:, 1] - X[:, 3] > 0).astype(int)
    selector = SequentialFeatureSelector(
        OC1Classifier(n_restarts=2, prune=None, random_state=0), n_features_to_select=2, direction=direction, cv=3
    )
    np.testing.assert_array_equal(selector.fit(X, y).get_support(indices=True), [1, 3])
