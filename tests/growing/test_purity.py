"""Where the purest split decides, growth ends at pure leaves, also where a split gains nothing."""

import itertools

import numpy as np
import pytest
from sklearn.base import clone

from oc1 import OC1Classifier, OC1EnsembleClassifier
from oc1.baselines import CARTClassifier, CARTLCClassifier, SADTClassifier
from oc1.datasets import make_pol
from oc1.impurity import MEASURES


def own_sum_minority(left, right):
    """Count what the majorities of the two sides misclassify."""
    return left.sum() - left.max() + right.sum() - right.max()


CRITERIA = [*sorted(MEASURES), own_sum_minority]


def all_pure(tree):
    return bool((np.count_nonzero(tree.counts[tree.is_leaf], axis=1) == 1).all())


def exclusive_or(size):
    """A board of squares, the upper left and lower right quarters of which are of one class."""
    X = np.array(list(itertools.product(range(size), repeat=2)), dtype=float)
    return X, ((X[:, 0] < size // 2) != (X[:, 1] < size // 2)).astype(int)


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("parameters", [{"splits": "axis"}, {"n_restarts": 2}, {"splits": "oblique"}])
def test_paper_trees_have_pure_leaves(criterion, parameters):
    X, y = make_pol(600, random_state=0)
    clf = OC1Classifier(preset="paper", prune=None, criterion=criterion, random_state=0, **parameters).fit(X, y)
    assert all_pure(clf.tree_)


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("size", [2, 8])
def test_a_balanced_exclusive_or_is_divided_in_the_middle(criterion, size):
    X, y = exclusive_or(size)
    for model in (
        OC1Classifier(preset="paper", splits="axis", prune=None, criterion=criterion, random_state=0),
        OC1Classifier(splits="axis", prune=None, criterion=criterion, random_state=0),
        CARTClassifier(prune=None, criterion=criterion, random_state=0),
    ):
        assert model.fit(X, y).get_n_leaves() == 4
        assert model.score(X, y) == 1.0


@pytest.mark.parametrize("model", [CARTLCClassifier(criterion="sum_minority"), SADTClassifier(patience=300)])
def test_the_other_systems_of_the_paper_go_on_until_leaves_are_pure(model):
    # Appendix B: no single split lowers the sum of minorities.
    X, y = np.arange(100.0)[:, None], np.repeat([0, 1, 0], [50, 24, 26])
    assert all_pure(model.set_params(prune=None, random_state=0).fit(X, y).tree_)


def test_votes_and_subspaces_go_on_as_well():
    X, y = exclusive_or(8)
    tree = OC1Classifier(preset="paper", splits="axis", prune=None)
    assert OC1EnsembleClassifier(tree, n_estimators=3, random_state=0).fit(X, y).score(X, y) == 1.0
    assert tree.set_params(max_features=1, random_state=0).fit(X, y).score(X, y) == 1.0


def test_the_limits_keep_their_meaning():
    X, y = exclusive_or(8)
    tree = OC1Classifier(preset="paper", splits="axis", prune=None, random_state=0)
    for limit in ({"min_impurity_decrease": 1e-6}, {"min_samples_split": 65}, {"min_samples_leaf": 33}):
        assert clone(tree).set_params(**limit).fit(X, y).get_n_leaves() == 1
    assert clone(tree).set_params(max_depth=1).fit(X, y).get_n_leaves() == 2
    assert clone(tree).set_params(max_leaf_nodes=3).fit(X, y).get_n_leaves() == 3


def test_examples_that_cannot_be_told_apart_stay_together():
    X, y = np.repeat([[0.0], [1.0]], 4, axis=0), np.tile([0, 1], 4)
    tree = OC1Classifier(preset="paper", prune=None, random_state=0).fit(X, y).tree_
    assert tree.counts[tree.is_leaf].tolist() == [[2, 2], [2, 2]]
