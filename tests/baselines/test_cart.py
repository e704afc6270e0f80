"""CART-AP: OC1's axis-parallel splits, pruned by cross-validation."""

import numpy as np
from expected_failures import repetitions_are_evidence
from sklearn.utils.estimator_checks import parametrize_with_checks

from oc1 import OC1Classifier
from oc1.baselines import CARTClassifier


@parametrize_with_checks([CARTClassifier()], expected_failed_checks=repetitions_are_evidence)
def test_scikit_learns_checks(estimator, check):
    check(estimator)


def test_its_splits_are_those_of_oc1_ap(noisy):
    X, y = noisy
    for options in ({}, {"criterion": "info_gain", "min_samples_leaf": 5}, {"max_leaf_nodes": 7}, {"max_depth": 3}):
        cart = CARTClassifier(prune=None, random_state=0, **options).fit(X, y)
        oc1 = OC1Classifier(splits="axis", prune=None, random_state=0, **options).fit(X, y)
        assert cart.tree_.to_dict() == oc1.tree_.to_dict()


def test_pruning_is_by_cross_validation_on_all_examples(noisy):
    X, y = noisy
    clf = CARTClassifier(random_state=0).fit(X, y)
    assert clf.unpruned_tree_.counts[0].sum() == len(y)
    assert 1 < clf.get_n_leaves() < clf.unpruned_tree_.n_leaves
    assert np.isfinite(clf.pruning_path_.accuracy).all()
    stricter = CARTClassifier(prune_se=1.0, random_state=0).fit(X, y)
    assert stricter.get_n_leaves() <= clf.get_n_leaves()
