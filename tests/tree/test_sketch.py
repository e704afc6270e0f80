"""Histograms of the training examples that a fitted model keeps."""

import pickle

import numpy as np
import pytest
from converted_models import fitted, frame

from oc1 import OC1Classifier, OC1Regressor
from oc1.datasets import make_rcb
from oc1.tree.sketch import BINS, MAX_NODES, MAX_SKETCHED, first_levels


@pytest.mark.parametrize("learner", [OC1Classifier, OC1Regressor])
def test_the_histograms_count_what_the_nodes_saw(learner):
    X, y = make_rcb(400, random_state=0)
    model = learner(random_state=0).fit(X, y)
    tree = model.tree_
    assert set(model._sketch) == {node for node in first_levels(tree) if not tree.is_leaf[node]}
    for node, (n_left, counts) in model._sketch.items():
        assert counts.shape == (BINS, tree.counts.shape[1])
        assert counts.sum(axis=0).tolist() == tree.counts[node].tolist()
        assert counts[:n_left].sum(axis=0).tolist() == tree.counts[tree.children[node, 0]].tolist()


def test_categories_count_too():
    model, (_, y) = fitted("categories"), frame()
    assert model._sketch[0][1].sum() == len(y)


def test_tests_without_a_threshold_have_none():
    assert fitted("lmdt")._sketch == {}
    assert fitted("leaf")._sketch == {}


def test_of_many_examples_some_are_counted():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3 * MAX_SKETCHED, 1))
    model = OC1Classifier(splits="axis", random_state=0).fit(X, X[:, 0] > 0)
    n_left, counts = model._sketch[0]
    assert counts.sum() == MAX_SKETCHED
    assert counts[:n_left, 0].sum() == pytest.approx(MAX_SKETCHED / 2, rel=0.1)


def test_a_large_tree_keeps_few():
    rng = np.random.default_rng(0)
    model = OC1Classifier(splits="axis", preset="paper", prune=None, random_state=0)
    model.fit(rng.normal(size=(500, 2)), rng.integers(20, size=500))
    assert model.tree_.n_nodes > 5 * MAX_NODES
    assert len(model._sketch) <= MAX_NODES
    assert len(pickle.dumps(model._sketch)) < 40_000
