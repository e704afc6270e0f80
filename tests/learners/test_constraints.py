"""Limits as scikit-learn's trees have them: shares of the examples, weight in leaves, attributes drawn for a node."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from pairwise import pairwise
from sklearn.datasets import load_wine
from sklearn.tree import DecisionTreeClassifier

from oc1 import OC1Classifier, OC1EnsembleClassifier, OC1Regressor, baselines

QUICK = {"n_restarts": 2, "n_jumps": 1, "random_state": 0}
LEARNERS = [
    OC1Classifier(**QUICK),
    OC1Classifier(splits="axis", prune=None, random_state=0),
    OC1Classifier(preset="paper", **QUICK),
    OC1Regressor(**QUICK),
]


@pytest.fixture(scope="module")
def wine():
    X, y = load_wine(return_X_y=True)
    return X, y, np.random.default_rng(0).random(len(y))


# ---------------------------------------------------------------------------------------------------- shares


@pytest.mark.parametrize("learner", [*LEARNERS, baselines.C45Classifier(), baselines.CARTClassifier(random_state=0)])
def test_a_share_of_the_examples_is_the_number_rounded_up(learner, wine):
    X, y, _ = wine
    for shares, numbers in (((0.3, 0.1), (54, 18)), ((1.0, 0.001), (178, 1)), ((0.001, 0.25), (2, 45))):
        by_share, by_number = (
            learner.set_params(min_samples_split=split, min_samples_leaf=leaf).fit(X, y).tree_.to_dict()
            for split, leaf in (shares, numbers)
        )
        assert by_share == by_number
    learner.set_params(min_samples_split=0.3).fit(X, y)
    assert learner.min_samples_split == 0.3  # a fit leaves parameters alone


def test_a_product_that_is_rounded_up_is_still_the_number_that_is_meant():
    # 0.07 * 100 is 7.000000000000001.
    X, y = np.arange(100.0)[:, None], np.repeat([0, 1], [7, 93])
    assert OC1Classifier(min_samples_leaf=0.07).fit(X, y).get_n_leaves() == 2


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"min_samples_split": 1}, r"int in the range \[2, inf\) or a float in the range \(0.0, 1.0\]"),
        ({"min_samples_split": 1.5}, "min_samples_split"),
        ({"min_samples_leaf": 0}, r"int in the range \[1, inf\) or a float in the range \(0.0, 1.0\)"),
        ({"min_samples_leaf": 1.0}, "min_samples_leaf"),
        ({"min_weight_fraction_leaf": 0.6}, r"min_weight_fraction_leaf.*\[0.0, 0.5\]"),
        ({"max_features": 0}, "max_features"),
        ({"max_features": "cbrt"}, "max_features.*'sqrt'"),
    ],
)
@pytest.mark.parametrize("learner", [OC1Classifier, OC1Regressor])
def test_bad_limits_are_refused(learner, parameters, words):
    with pytest.raises(ValueError, match=words):
        learner(**parameters).fit([[0.0], [1.0]], [0, 1])


def test_limits_beyond_compiled_numbers_make_a_leaf(wine):
    X, y, _ = wine
    assert OC1Classifier(min_samples_split=2**70).fit(X, y).get_n_leaves() == 1


# ---------------------------------------------------------------------------------------------------- weight in leaves


@pytest.mark.parametrize(
    ("learner", "weighted", "fraction", "further"),
    pairwise(LEARNERS, [False, True], [0.03, 0.2, 0.5], [{}, {"max_features": 3}, {"max_leaf_nodes": 4}]),
)
def test_every_leaf_has_its_share_of_the_weight(learner, weighted, fraction, further, wine):
    X, y, weights = wine
    weights = weights if weighted else None
    usual = {"max_features": None, "max_leaf_nodes": None, "min_samples_split": 2, "min_samples_leaf": 1}
    model = learner.set_params(**usual | further, min_weight_fraction_leaf=fraction)
    model.fit(X, y, sample_weight=weights)
    grown = model.unpruned_tree_
    share = grown.weighted_n_node_samples / grown.weighted_n_node_samples[0]
    assert share.min() >= fraction * (1 - 1e-12)
    model.set_params(min_weight_fraction_leaf=0.0)


def test_the_weight_in_a_leaf_is_that_of_scikit_learn():
    rng = np.random.default_rng(0)
    X, y = np.arange(200.0)[:, None], rng.integers(0, 2, 200)
    weights = rng.random(200)
    for fraction in (0.1, 0.2, 0.3):
        limits = {"criterion": "gini", "max_depth": 1, "min_weight_fraction_leaf": fraction}
        own = OC1Classifier(splits="axis", prune=None, **limits).fit(X, y, sample_weight=weights)
        other = DecisionTreeClassifier(**limits).fit(X, y, sample_weight=weights)
        assert own.tree_.threshold[0] == other.tree_.threshold[0]


def test_the_default_keeps_to_the_weight_in_a_leaf():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(300, 3))
    y = ((X[:, 0] + 0.3 * rng.normal(size=300) > 0) ^ (X[:, 1] > 1)).astype(int)
    weights = rng.random(300)
    for splits in ("auto", "axis", "oblique"):
        model = OC1Classifier(splits=splits, min_weight_fraction_leaf=0.15, **QUICK)
        tree = model.fit(X, y, sample_weight=weights).tree_
        assert tree.n_leaves > 1
        leaves = tree.apply(X)
        assert np.bincount(leaves, weights)[tree.is_leaf].min() >= 0.15 * weights.sum() * (1 - 1e-6)


# ---------------------------------------------------------------------------------------------------- attributes


@pytest.mark.parametrize(
    ("given", "expected"),
    [(None, 13), ("sqrt", 3), ("log2", 3), (1, 1), (20, 13), (0.5, 6), (0.01, 1), (1.0, 13)],
)
@pytest.mark.parametrize("learner", [LEARNERS[1], LEARNERS[3]])
def test_the_number_of_attributes_is_that_of_scikit_learn(learner, given, expected, wine):
    X, y, _ = wine
    learner.set_params(max_features=given, max_depth=1).fit(X, y)
    assert learner.max_features_ == expected
    theirs = DecisionTreeClassifier(max_features=given, max_depth=1).fit(X, y).max_features_
    assert learner.max_features_ == min(theirs, X.shape[1])
    learner.set_params(max_features=None, max_depth=None)


@pytest.mark.parametrize("learner", LEARNERS)
def test_all_attributes_are_the_default(learner, wine):
    X, y, _ = wine
    with_all, without = (learner.set_params(max_features=own).fit(X, y).tree_ for own in (13, None))
    assert with_all.to_dict() == without.to_dict()


@pytest.mark.parametrize("size", [1, 2, 4])
@pytest.mark.parametrize("learner", LEARNERS)
def test_a_test_has_no_more_attributes_than_were_drawn(learner, size, wine):
    X, y, _ = wine
    X = X[:, :6]
    trees = [learner.set_params(max_features=size, random_state=seed).fit(X, y).unpruned_tree_ for seed in range(6)]
    assert max(np.diff(tree.terms).max() for tree in trees) <= size
    assert len({tuple(tree.test(0)[0].tolist()) for tree in trees}) > 1  # another seed, other attributes
    learner.set_params(max_features=None, random_state=0)


@pytest.mark.parametrize("parameters", [{}, {"prune": None}, {"splits": "axis", "prune": None}, {"max_leaf_nodes": 5}])
def test_attributes_are_drawn_from_the_nodes_own_stream(parameters, wine):
    X, y, weights = wine
    X = X.copy()
    X[::7, 3] = np.nan
    trees = [
        OC1Classifier(max_features=3, missing="direction", n_jobs=n_jobs, **QUICK | parameters)
        .fit(X, y, sample_weight=weights)
        .tree_.to_dict()
        for n_jobs in (1, 2, 1)
    ]
    assert trees[0] == trees[1] == trees[2]


@pytest.mark.parametrize("learner", LEARNERS)
def test_the_counts_are_those_of_the_examples_in_the_leaves(learner, wine):
    X, y, _ = wine
    tree = learner.set_params(max_features=2, prune=None).fit(X, y).tree_
    assert_array_equal(
        np.bincount(tree.apply(X), minlength=tree.node_count)[tree.is_leaf], tree.n_node_samples[tree.is_leaf]
    )
    learner.set_params(max_features=None)


def test_more_attributes_are_drawn_where_the_first_give_no_split():
    rng = np.random.default_rng(0)
    X = np.hstack([np.zeros((60, 20)), rng.normal(size=(60, 1)), np.ones((60, 20))])
    y = (X[:, 20] > 0).astype(int)
    for seed in range(3):
        model = OC1Classifier(max_features=1, random_state=seed).fit(X, y)
        assert model.score(X, y) == 1.0
        assert OC1Regressor(max_features=1, random_state=seed).fit(X, y).score(X, y) > 0.9


def test_interactions_are_found_one_attribute_at_a_time():
    grid = np.indices((10, 10)).reshape(2, -1).T
    y = (grid[:, 0] < 5) == (grid[:, 1] < 5)
    assert OC1Classifier(random_state=0).fit(grid, y).score(grid, y) == 1.0
    assert OC1Classifier(max_features=1, prune=None, random_state=0).fit(grid, y).score(grid, y) == 1.0


def test_categories_take_part(wine):
    rng = np.random.default_rng(0)
    colours = rng.choice(["red", "green", "blue"], 200)
    X = np.column_stack([colours, rng.normal(size=200), rng.normal(size=200)]).astype(object)
    y = colours == "red"
    model = OC1Classifier(max_features=1, categorical_features=[0], random_state=0).fit(X, y)
    assert model.score(X, y) == 1.0


def test_large_nodes_draw_attributes_too(monkeypatch):
    monkeypatch.setattr(OC1Classifier, "_large", 500)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1500, 5))
    y = (X[:, 0] + X[:, 1] + 0.5 * X[:, 2] > 0).astype(int)
    tree = OC1Classifier(max_features=2, max_depth=3, **QUICK).fit(X, y).tree_
    assert np.diff(tree.terms).max() <= 2
    assert tree.costs[tree.is_leaf].sum() < 0.25


def test_random_subspaces_make_a_vote_of_different_trees(wine):
    X, y, _ = wine
    base = OC1Classifier(splits="axis", prune=None, max_features="sqrt")
    vote = OC1EnsembleClassifier(base, n_estimators=5, random_state=0).fit(X, y)
    assert len({str(model.tree_) for model in vote.estimators_}) == 5
