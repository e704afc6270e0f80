"""Perceptron trees: the unit against the obvious check, which test a node gets, estimator manners."""

import numpy as np
import pytest
from expected_failures import repetitions_are_evidence
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_iris
from sklearn.model_selection import cross_val_score
from sklearn.utils.estimator_checks import parametrize_with_checks

from oc1.baselines.perceptron_tree import PerceptronTreeClassifier
from oc1.datasets import make_ls10, make_pol, make_rcb
from oc1.kernels.perceptron import train_unit


@pytest.mark.slow
@parametrize_with_checks([PerceptronTreeClassifier(max_epochs=100)], expected_failed_checks=repetitions_are_evidence)
def test_scikit_learns_checks(estimator, check):
    check(estimator)


# ------------------------------------------------------------------------------------------------ unit


@settings(max_examples=50, deadline=None)
@given(seed=st.integers(0, 2**31 - 1), n=st.integers(1, 60), d=st.integers(1, 5), noise=st.sampled_from([0, 1]))
def test_the_unit_makes_the_errors_that_it_says(seed, n, d, noise):
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.normal(size=(n, d)), np.ones(n)])
    sides = np.where(X @ rng.normal(size=d + 1) + noise * rng.normal(size=n) > 0, 1.0, -1.0)
    weights = rng.integers(1, 4, n).astype(float)
    unit, error, n_updates = train_unit(X * sides[:, None], weights, 50, np.uint64(seed))
    assert error == weights[sides * (X @ unit) <= 0].sum()
    assert n_updates <= 50 * n


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 2**31 - 1), d=st.integers(1, 6))
def test_it_converges_on_separable_examples_within_novikoffs_bound(seed, d):
    rng = np.random.default_rng(seed)
    truth = rng.normal(size=d + 1)
    truth /= np.linalg.norm(truth)
    X = np.column_stack([rng.normal(size=(200, d)), np.ones(200)])
    X = X[np.abs(X @ truth) > 0.1]
    if len(X) == 0:
        return
    signed = X * np.sign(X @ truth)[:, None]
    _, error, n_updates = train_unit(signed, np.ones(len(X)), 1_000_000, np.uint64(seed))
    assert error == 0
    start = np.sqrt(d + 1)  # the longest unit that it can start from
    longest = np.sqrt(start**2 + n_updates * (X**2).sum(axis=1).max())
    assert n_updates * (signed @ truth).min() <= start + longest


# ------------------------------------------------------------------------------------------------ tree


def test_a_unit_where_it_converges():
    X, y = make_ls10(300, random_state=0)
    clf = PerceptronTreeClassifier(prune=None, random_state=0).fit(X, y)
    assert clf.get_n_leaves() == 2
    assert clf.score(X, y) == 1.0


def test_an_attribute_where_it_does_not(pol):
    X, y = pol
    tree = PerceptronTreeClassifier(prune=None, max_epochs=50, random_state=0).fit(X, y).tree_
    inner = np.flatnonzero(~tree.is_leaf)
    oblique = np.diff(tree.terms)[inner] > 1
    assert 0 < oblique.sum() < len(inner)
    for node in inner[oblique]:  # two classes: a converged unit ends its branch
        assert tree.is_leaf[tree.children[node]].all()
        assert np.count_nonzero(tree.counts[tree.children[node]], axis=1).tolist() == [1, 1]


def test_exclusive_or_needs_a_unit_first():
    X, y = [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]], [0, 1, 1, 0]
    for seed in range(5):
        clf = PerceptronTreeClassifier(prune=None, random_state=seed).fit(X, y)
        assert clf.score(X, y) == 1.0
        assert clf.get_n_leaves() == 3


def test_more_epochs_more_units():
    X, y = make_ls10(600, random_state=1)
    sizes = [
        PerceptronTreeClassifier(prune=None, max_epochs=e, random_state=0).fit(X, y).get_n_leaves() for e in (2, 3000)
    ]
    assert sizes[1] == 2 < sizes[0]


def test_same_seed_same_tree(noisy):
    X, y = noisy
    one, two, other = (PerceptronTreeClassifier(max_epochs=50, random_state=s).fit(X, y) for s in (0, 0, 1))
    assert one.tree_.to_dict() == two.tree_.to_dict()
    assert one.unpruned_tree_.to_dict() != other.unpruned_tree_.to_dict()


@pytest.mark.parametrize("prune", ["holdout", "cv", None])
def test_weights_are_repetitions_and_order_does_not_matter(noisy, prune):
    X, y = np.round(noisy[0], 1), noisy[1]
    rng = np.random.default_rng(0)
    times = rng.integers(0, 4, len(y))
    times = times if prune is None else np.minimum(times, 1)  # pruning weighs evidence
    clf = PerceptronTreeClassifier(prune=prune, max_epochs=50, random_state=0)
    weighted = clf.fit(X, y, sample_weight=3.0 * times).predict_proba(X)
    many = rng.permutation(np.repeat(np.arange(len(y)), times))
    np.testing.assert_array_equal(clf.fit(X[many], y[many]).predict_proba(X), weighted)


def test_limits_and_awkward_data(noisy):
    X, y = noisy
    quick = {"prune": None, "max_epochs": 50, "random_state": 0}
    clf = PerceptronTreeClassifier(min_samples_leaf=20, **quick).fit(X, y)
    assert np.bincount(clf.apply(X))[np.unique(clf.apply(X))].min() >= 20
    assert PerceptronTreeClassifier(max_leaf_nodes=4, **quick).fit(X, y).get_n_leaves() == 4
    assert PerceptronTreeClassifier(**quick).fit([[1.0, 2.0]] * 5, [0, 1, 1, 1, 0]).get_n_leaves() == 1
    X, y = load_iris(return_X_y=True)
    for scale in (1e-300, 1e300):
        assert PerceptronTreeClassifier(**quick).fit(X * scale, y).score(X * scale, y) == 1.0
    holes = np.where(np.random.default_rng(0).random(X.shape) < 0.1, np.nan, X)
    assert PerceptronTreeClassifier(**quick).fit(holes, y).score(holes, y) > 0.95


def test_text_and_parameters(rcb):
    assert " x2 > " in str(PerceptronTreeClassifier().fit(*rcb).tree_)
    with pytest.raises(ValueError, match="'max_epochs' parameter of PerceptronTreeClassifier"):
        PerceptronTreeClassifier(max_epochs=0).fit([[0.0], [1.0]], [0, 1])


@pytest.mark.parametrize(
    ("make", "accuracy", "leaves"), [(make_ls10, 0.985, 4), (make_pol, 0.96, 60), (make_rcb, 0.98, 10)]
)
def test_the_papers_artificial_data(make, accuracy, leaves):
    X, y = make(random_state=7)
    test = np.arange(len(y)) % 5 == 0
    clf = PerceptronTreeClassifier(prune=None, random_state=0).fit(X[~test], y[~test])
    assert clf.score(X[test], y[test]) >= accuracy
    assert clf.get_n_leaves() <= leaves


def test_iris():
    X, y = load_iris(return_X_y=True)
    assert cross_val_score(PerceptronTreeClassifier(random_state=0), X, y, cv=5).mean() > 0.9
