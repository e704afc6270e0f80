"""All tests of a tree fitted together, and the tree that is made of them."""

from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive import soft_tree as slow

from oc1 import OC1Classifier
from oc1.data.training import Training
from oc1.growing import joint_fit, rebuild, soft_tree
from oc1.growing.joint_fit import JointFit, most_important
from oc1.impurity import MEASURES


def clouds(n_classes=4, n_each=40, d=4, seed=0):
    """Return classes around random centres."""
    rng = np.random.default_rng(seed)
    y = np.repeat(np.arange(n_classes), n_each)
    return 1.2 * rng.normal(size=(n_classes, d))[y] + rng.normal(size=(len(y), d)), y


@cache
def grown(seed=0, **shape):
    """Return a tree as the default grows it, and its examples."""
    X, y = clouds(seed=seed, **shape)
    data = Training.make(X, y, None, np.unique(y), (), seed=0)
    tree, _ = OC1Classifier(random_state=0, max_leaf_nodes=9)._grow_kind("oblique", data, data.everything)
    return tree, X, y


def weights_of(y):
    """Return weights of 1 on average."""
    weights = np.random.default_rng(1).uniform(0.3, 2.0, len(y))
    return weights / weights.mean()


@pytest.mark.parametrize(("seed", "weighted"), [(0, False), (1, True), (2, False), (3, True)])
def test_the_loss_is_that_of_a_slow_soft_tree_and_its_gradient_that_of_differences(seed, weighted, monkeypatch):
    monkeypatch.setattr(soft_tree, "BLOCK_SIZE", 0)  # several blocks, the last one short
    tree, X, y = grown(seed)
    weights = weights_of(y) if weighted else None
    fit = JointFit(tree, X, y, weights)
    assert len(fit.blocks) > 1
    rng = np.random.default_rng(seed)
    planes, logits = rng.normal(size=fit.planes.shape), rng.normal(size=fit.logits.shape)
    Z, own = fit.columns[:-1].T.astype(float), fit.weights.astype(float)

    def loss(planes, logits):
        by_node = dict(zip(fit.soft_tree.inner.tolist(), planes, strict=True))
        by_leaf = dict(zip(fit.soft_tree.leaves.tolist(), logits.tolist(), strict=True))
        return slow.loss(tree, Z, y, own, by_node, by_leaf, fit.prior, fit.ridge)

    value, *gradients = fit.loss(planes, logits)
    assert value == pytest.approx(loss(planes, logits), rel=1e-5)
    for which, gradient in enumerate(gradients):
        for place in zip(*(rng.integers(size, size=6) for size in gradient.shape), strict=True):
            step = [np.zeros_like(planes), np.zeros_like(logits)]
            step[which][place] = 1e-5
            difference = loss(planes + step[0], logits + step[1]) - loss(planes - step[0], logits - step[1])
            assert gradient[place] == pytest.approx(difference / 2e-5, rel=1e-3, abs=1e-3 * np.abs(gradient).max())


def test_the_fit_lowers_the_loss(monkeypatch):
    tree, X, y = grown()
    fitted = JointFit(tree, X, y, None)
    monkeypatch.setattr(joint_fit, "MAX_STEPS", 1)
    begun = JointFit(tree, X, y, None)
    assert fitted.loss(fitted.planes, fitted.logits)[0] < begun.loss(begun.planes, begun.logits)[0]


@pytest.mark.parametrize(("seed", "max_terms"), list(enumerate([None, 3, 2, 1])))
def test_terms_do_not_become_more(seed, max_terms):
    tree, X, y = grown(seed)
    fit = JointFit(tree, X, y, None, max_terms)
    n_terms = fit.uses.sum(axis=1)
    assert n_terms.sum() <= tree.n_terms
    assert 1 <= n_terms.min() <= n_terms.max() <= (max_terms or X.shape[1])
    assert not fit.planes[:, :-1][~fit.uses].any()
    tests = fit.tests()
    assert len(tests) == tree.n_nodes
    assert all((test is None) == bool(leaf) for test, leaf in zip(tests, tree.is_leaf, strict=True))
    made = rebuild.rebuild(tree, tests, X, y, None)
    assert made.n_terms <= tree.n_terms
    assert made.n_leaves <= tree.n_leaves
    assert made.terms_of_nodes.max() <= (max_terms or X.shape[1])


@pytest.mark.parametrize("weighted", [False, True])
def test_the_tree_with_hard_tests_counts_the_examples_that_get_there(weighted):
    tree, X, y = grown()
    weights = weights_of(y) if weighted else None
    made = rebuild.rebuild(tree, JointFit(tree, X, y, weights).tests(), X, y, weights)
    own = np.ones(len(y)) if weights is None else weights
    path = made.decision_path(X).toarray().astype(bool)
    for node in range(made.n_nodes):
        np.testing.assert_allclose(made.counts[node], np.bincount(y[path[:, node]], own[path[:, node]], 4))
    first = made.coefficients[made.terms[:-1][~made.is_leaf]]
    assert (first > 0).all()
    leaves = made.children[~made.is_leaf]
    twins = [pair for pair in leaves.tolist() if made.is_leaf[pair].all()]
    assert all(made.majority[one] != made.majority[other] for one, other in twins)


def test_fewer_examples_than_features_and_one_test():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(12, 30)), np.arange(12) % 2
    X[:, 3] += 3.0 * y
    X[:, 7] -= 2.0 * y
    data = Training.make(X, y, None, np.unique(y), (), seed=0)
    tree, _ = OC1Classifier(splits="oblique", random_state=0)._grow_kind("oblique", data, data.everything)
    made = rebuild.rebuild(tree, JointFit(tree, X, y, None).tests(), X, y, None)
    assert made.n_terms <= tree.n_terms
    assert (made.majority[made.apply(X)] == y).mean() > 0.8


@settings(max_examples=100, deadline=None)
@given(st.integers(1, 5), st.integers(1, 6), st.integers(1, 30), st.integers(1, 6), st.integers(0, 10**6))
def test_the_largest_terms_are_left_and_one_of_each_test(n_nodes, d, n_terms, max_terms, seed):
    rng = np.random.default_rng(seed)
    planes, uses = rng.normal(size=(n_nodes, d)), rng.random((n_nodes, d)) < 0.7
    kept = most_important(planes, uses, n_terms, max_terms)
    assert not (kept & ~uses).any()
    assert kept.sum(axis=1).max() <= max_terms
    assert kept.sum() == min(n_terms, np.minimum(uses.sum(axis=1), max_terms).sum())
    if n_terms >= n_nodes:
        assert (kept.any(axis=1) == uses.any(axis=1)).all()
    for row in range(n_nodes):  # within a test, none goes that is larger than one that stays
        gone = np.abs(planes[row][uses[row] & ~kept[row]])
        assert not kept[row].any() or gone.max(initial=0.0) <= np.abs(planes[row][kept[row]]).min()


# ------------------------------------------------------------------------------------------------ the same tests again


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("is_rounded", [False, True])
def test_a_tree_rebuilt_with_its_own_tests_says_the_same(seed, is_rounded, monkeypatch):
    tree, X, y = grown(seed)
    if not is_rounded:
        monkeypatch.setattr(rebuild, "MAX_ROWS_TO_ROUND", 0)
    made = rebuild.rebuild(tree, [None] * tree.n_nodes, X, y, None)
    np.testing.assert_array_equal(made.majority[made.apply(X)], tree.majority[tree.apply(X)])
    np.testing.assert_allclose(made.counts[0], np.bincount(y))
    assert made.n_leaves <= tree.n_leaves
    if not is_rounded:
        others = clouds(seed=seed + 100, n_each=500)[0]
        np.testing.assert_array_equal(made.majority[made.apply(others)], tree.majority[tree.apply(others)])


@pytest.mark.parametrize("least", [1, 10, 30, 1000])
def test_branches_that_too_few_take_are_removed(least):
    tree, X, y = grown()
    made = rebuild.rebuild(tree, [None] * tree.n_nodes, X, y, None, min_samples_leaf=least)
    assert np.bincount(made.apply(X), minlength=made.n_nodes)[made.is_leaf].min() >= min(least, len(y))
    weights = weights_of(y)
    made = rebuild.rebuild(tree, [None] * tree.n_nodes, X, y, weights, min_weight_leaf=float(least))
    assert np.bincount(made.apply(X), weights, made.n_nodes)[made.is_leaf].min() >= min(least, len(y)) - 1e-9
    if least == 1000:
        assert made.n_leaves == 1


@pytest.mark.parametrize("name", sorted(MEASURES))
def test_gains_are_those_of_growing(name):
    X, y = clouds(seed=3)
    clf = OC1Classifier(criterion=name, splits="axis", prune=None, random_state=0).fit(X, y)
    gain, tree = rebuild.gain_of(name, 4), clf.tree_
    for node in np.flatnonzero(~tree.is_leaf):
        left, right = tree.counts[tree.children[node]]
        assert gain(left, right) == pytest.approx(tree.gains[node], rel=1e-6, abs=1e-9)
