"""All tests of a tree fitted at once."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oc1 import OC1Classifier
from oc1.growing.soft_trees import SoftFit, most_important, spreads_of
from oc1.growing.tao import with_tests


def clouds(n_classes=6, n_each=40, d=5, seed=0):
    """Return classes around random centres."""
    rng = np.random.default_rng(seed)
    y = np.repeat(np.arange(n_classes), n_each)
    return 1.5 * rng.normal(size=(n_classes, d))[y] + rng.normal(size=(len(y), d)), y


@pytest.fixture(scope="module")
def grown():
    """Return a tree as it was grown, and its examples."""
    X, y = clouds()
    return OC1Classifier(refine=False, rounding=False, random_state=0).fit(X, y).tree_, X, y


def test_before_a_fit_it_says_what_the_tree_says(grown):
    tree, X, y = grown
    soft = SoftFit(tree, X, y, None, 0.1)
    np.testing.assert_array_equal(soft.predict(X), tree.majority[tree.apply(X)])
    np.testing.assert_array_equal(soft.leaves(X), tree.apply(X))


@pytest.mark.parametrize("max_terms", [None, 3, 1])
def test_terms_are_exchanged_and_do_not_become_more(grown, max_terms):
    tree, X, y = grown
    soft = SoftFit(tree, X, y, None, 0.1).fit().exchange_terms(max_terms)
    n_terms = soft.uses.sum(axis=1)
    assert n_terms.sum() <= tree.n_terms
    assert n_terms[~tree.is_leaf].min() >= 1
    assert n_terms.max() <= (max_terms or X.shape[1])
    assert not soft.planes[:, :-1][~soft.uses].any()


@pytest.mark.parametrize("weighted", [False, True])
def test_the_tree_with_hard_tests_says_what_the_soft_one_said(grown, weighted):
    tree, X, y = grown
    weights = np.random.default_rng(1).uniform(0.5, 2.0, len(y)) if weighted else None
    soft = SoftFit(tree, X, y, weights, 0.1).fit()
    made = with_tests(tree, soft.tests(), X, y, weights)
    np.testing.assert_array_equal(made.majority[made.apply(X)], soft.predict(X))
    first = made.coefficients[made.terms[:-1][~made.is_leaf]]
    assert (first > 0).all()
    assert made.counts[0].sum() == pytest.approx(len(y) if weights is None else weights.sum())


def test_branches_that_too_few_take_are_removed(grown):
    tree, X, y = grown
    soft = SoftFit(tree, X, y, None, 0.1).fit()
    made = with_tests(tree, soft.tests(), X, y, None, min_samples_leaf=30)
    assert made.n_leaves < tree.n_leaves
    assert np.bincount(made.apply(X), minlength=made.n_nodes)[made.is_leaf].min() >= 30


def test_wild_values_do_not_decide_how_far_an_attribute_spreads():
    Z = np.random.default_rng(0).normal(size=(1000, 3))
    Z[:10, 1] = 500.0
    Z[:, 1] /= Z[:, 1].std()
    Z[:, 2] = np.arange(1000) < 20
    spreads = spreads_of(Z, np.ones(len(Z)))
    assert spreads[0] == pytest.approx(1.0, abs=0.1)
    assert spreads[1] < 0.1
    assert spreads[2] == 1.0


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
