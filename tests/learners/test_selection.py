"""How the default chooses its tree."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_iris

from oc1 import OC1Classifier
from oc1.data.training import Training
from oc1.datasets import make_ls10, make_pol
from oc1.learners import selection
from oc1.learners.selection import (
    AXIS,
    OBLIQUE,
    PRICE_OF_A_TERM,
    can_be_fitted_jointly,
    prune_by_size,
    select,
    simplest,
    subtree_at,
)

SEEDED = {"random_state": 0}


@settings(max_examples=200, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 60), st.integers(1, 8), st.sampled_from([0.0, 0.5, 1.0, 2.0]))
def test_the_simplest_of_the_best_is_the_smallest_that_is_as_good(seed, n, n_trees, tolerance):
    rng = np.random.default_rng(seed)
    right = (rng.random((n, n_trees)) < rng.random(n_trees)) * rng.choice([np.ones(n), rng.random(n)])[:, None]
    sizes = rng.integers(1, 5, n_trees).astype(float)
    chosen = simplest(right, sizes, tolerance)
    best = right.sum(axis=0).max()

    def is_as_good(tree):
        """Whether it is behind none of the best by more than some standard errors of the difference."""
        firsts = [other for other in range(n_trees) if right[:, other].sum() >= best - 1e-9]
        behind = [right[:, first] - right[:, tree] for first in firsts]
        return any(own.sum() <= tolerance * np.sqrt((own**2).sum()) + 1e-6 for own in behind)

    assert is_as_good(chosen)
    if tolerance == 0.0:
        assert right[:, chosen].sum() >= best - 1e-6
        equals = [tree for tree in range(n_trees) if right[:, tree].sum() >= best - 1e-9]
        assert sizes[chosen] == sizes[equals].min()
    # Of those of its size none is better.
    assert right[:, chosen].sum() >= max(right[:, t].sum() for t in range(n_trees) if sizes[t] == sizes[chosen]) - 1e-9


def test_of_equals_the_smallest_and_then_the_first_wins():
    right = np.tile(np.random.default_rng(0).random((20, 1)), (1, 4))
    assert simplest(right, np.array([3.0, 2.0, 2.0, 5.0]), 0.0) == 1
    right[:, 2] += 0.01
    assert simplest(right, np.array([3.0, 2.0, 2.0, 5.0]), 1.0) == 2
    assert simplest(right, np.array([3.0, 2.0, 9.0, 5.0]), 0.0) == 2


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from([0.0, 1.0, 2.0]))
def test_a_unit_of_the_weights_changes_no_choice(seed, tolerance):
    rng = np.random.default_rng(seed)
    right, sizes = (rng.random((30, 4)) < 0.7).astype(float), rng.integers(1, 5, 4).astype(float)
    assert simplest(right * 1024.0, sizes, tolerance) == simplest(right, sizes, tolerance)


def test_terms_have_their_price_on_the_path():
    X, y = make_ls10(300, random_state=0)
    y = np.where(np.random.default_rng(0).random(300) < 0.1, 3 - y, y)
    tree = OC1Classifier(prune=None, n_restarts=2, **SEEDED).fit(X, y).tree_
    sequence = prune_by_size(tree)
    costs = (tree.counts.sum(axis=1) - tree.counts.max(axis=1)) / 300
    for step, alpha in enumerate(sequence.alphas[1:], start=1):
        sizes, errors = [], []
        for at in (step - 1, step):
            cut = sequence.subtree(at)
            sizes.append(cut.n_leaves + PRICE_OF_A_TERM * np.maximum(cut.terms_of_nodes - 1, 0).sum())
            errors.append(sum(cut.counts[leaf].sum() - cut.counts[leaf].max() for leaf in np.flatnonzero(cut.is_leaf)))
        assert (errors[1] - errors[0]) / 300 == pytest.approx(alpha * (sizes[0] - sizes[1]), abs=1e-9)
        assert subtree_at(tree, alpha).n_leaves == sequence.n_leaves[step]
    assert costs[0] == pytest.approx(1 - max(tree.counts[0]) / 300)


def noisy_data(n=400):
    X, y = make_pol(n, random_state=0)
    y = np.where(np.random.default_rng(0).random(n) < 0.1, 3 - y, y) - 1
    return Training.make(X, y, None, np.unique(y), (), seed=0)


def test_folds_are_judged_by_trees_that_have_not_seen_them():
    data = noisy_data()
    grown = []

    def grow(kind, data, part):
        tree, considered = OC1Classifier(**SEEDED)._grow_kind(kind, data, part)
        grown.append((kind, np.flatnonzero(part), tree))
        return tree, considered

    choice = select(grow, (AXIS, OBLIQUE), data, True, max_terms=None)
    assert [kind for kind, *_ in grown] == [AXIS] * 5 + [OBLIQUE] * 5
    for first in (0, 5):
        seen = np.bincount(np.concatenate([rows for _, rows, _ in grown[first : first + 5]]), minlength=400)
        assert (seen == 4).all()
    assert set(choice.accuracies) == {AXIS, OBLIQUE, "joint"}
    # The paths of the chosen kind, judged again slowly.
    own = grown[:5] if choice.kind == AXIS else grown[5:]
    for (_, rows, tree), (path, right) in zip(own, choice.judged, strict=True):
        held = np.setdiff1d(np.arange(400), rows)
        for alpha, share in zip(path.alphas, right, strict=True):
            cut = subtree_at(tree, alpha)
            assert share == pytest.approx((cut.majority[cut.apply(data.X[held])] == data.y[held]).sum() / 400)


def test_without_an_oblique_kind_nothing_is_fitted_jointly(monkeypatch):
    monkeypatch.setattr(selection, "JointFit", None)
    choice = select(OC1Classifier(**SEEDED)._grow_kind, (AXIS,), noisy_data(), True, max_terms=None)
    assert (choice.kind, choice.is_fitted_jointly) == (AXIS, False)
    assert set(choice.accuracies) == {AXIS}


def test_which_trees_can_be_fitted_jointly():
    X, y = load_iris(return_X_y=True)
    assert not can_be_fitted_jointly(OC1Classifier(splits="axis", prune=None, **SEEDED).fit(X, y).tree_)
    assert can_be_fitted_jointly(OC1Classifier(splits="oblique", prune=None, n_restarts=2, **SEEDED).fit(X, y).tree_)
    X = np.random.default_rng(0).normal(size=(300, 3))
    y = np.where(X[:, 2] > 0.5, 2, X[:, 0] + X[:, 1] > 0.0)
    X[y == 2, 2] = np.nan  # that it is missing is a test; the classes that are left have oblique ones
    tree = OC1Classifier(missing="direction", prune=None, n_restarts=2, **SEEDED).fit(X, y).tree_
    assert len(tree.missing)
    assert tree.n_terms >= tree.n_leaves
    assert not can_be_fitted_jointly(tree)
    assert not can_be_fitted_jointly(OC1Classifier().fit([[0.0]], [0]).tree_)


def test_large_data_are_judged_by_a_sample(monkeypatch):
    monkeypatch.setattr("oc1.learners.classifier.MAX_ROWS", 200)
    sizes = []
    grow = OC1Classifier._grow

    def spy(self, data, share):
        sizes.append(data.n_examples)
        return grow(self, data, share)

    monkeypatch.setattr(OC1Classifier, "_grow", spy)
    X, y = make_pol(900, random_state=0)
    clf = OC1Classifier(**SEEDED).fit(X, y)
    assert len(sizes) == 11
    assert 100 < max(sizes[:-1]) < 300
    assert sizes[-1] == 900
    assert clf.score(X, y) > 0.95
