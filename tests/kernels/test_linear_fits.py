"""Compiled linear classifiers of a node: they are what slow ones are, and short where they may be."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from naive import linear_fits as slow
from numba import njit

from oc1.kernels.class_views import look_at, moments_of, most_different, numbers, spread_of
from oc1.kernels.groupings import groupings
from oc1.kernels.linear_fits import MAX_PLANES, compiled_linear_classifiers, eliminate, regress
from oc1.kernels.newton import compiled_logistic
from oc1.kernels.records import Examples, Node

NO_WEIGHTS = np.empty(0)


def classes(n=120, d=5, k=3, seed=0, noise=1.0):
    """Classes around different means, in order; and weights."""
    rng = np.random.default_rng(seed)
    y = np.sort(np.arange(n) % k)
    X = rng.normal(size=(k, d))[y] * 2 + noise * rng.normal(size=(n, d))
    return X.astype(np.float32).astype(float), y, rng.integers(1, 4, n).astype(float)


def node_of(X, y, weights=None):
    """Return examples and their node as the kernels take them."""
    columns = np.ones((X.shape[1] + 1, len(X)), np.float32)
    columns[:-1] = X.T
    own = NO_WEIGHTS if weights is None else weights
    totals, present = np.bincount(y, weights).astype(float), np.unique(y)
    bounds = np.searchsorted(y, np.arange(len(present) + 1))
    node = Node(0, y.astype(np.int32), own, totals, np.zeros(len(totals)), present, bounds)
    return Examples.of_columns(columns, node.labels, own), node


@njit
def call(classify, examples, node, max_terms, logistic, planes):
    """Call the compiled function, which has no way in from Python."""
    return classify(examples, node, 1.0, max_terms, logistic, planes)


@njit
def view_of(examples, node):
    """Return all examples with all features, and their moments."""
    mean, scale, between = spread_of(examples, node, 1)
    view = look_at(examples, node, 1.0, 1, most_different(scale, between, 99), mean, scale)
    means, within = moments_of(view)
    return view, means, within


@njit
def group(examples, node):
    """Return the groupings of the classes."""
    view, means, within = view_of(examples, node)
    return groupings(view, means, within)


@njit
def drop(examples, node, logistic, n_kept):
    """Fit class 1 against class 0 and drop terms; return the plane, and what is left."""
    view, _, _ = view_of(examples, node)
    is_right, features = np.zeros(view.Z.shape[0], np.bool_), numbers(0, view.Z.shape[1])
    is_right[view.bounds[1] :] = True
    plane = np.zeros(features.size + 1)
    for _ in range(5):  # until it is settled indeed
        regress(view, is_right, features, logistic, plane)
    kept, rest = eliminate(view, features, plane, n_kept)
    return plane, kept, rest


def classify(X, y, weights=None, max_terms=99):
    """Return the planes."""
    planes = np.zeros((MAX_PLANES, X.shape[1] + 1))
    n_planes = call(compiled_linear_classifiers(), *node_of(X, y, weights), max_terms, compiled_logistic(), planes)
    return planes[:n_planes]


def separates(plane, X, y):
    """The share of the examples of two groups that a plane has on their own side."""
    right = (X @ plane[:-1] + plane[-1] > 0) == (y == 1)
    return max(right.mean(), 1 - right.mean())


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.integers(3, 6), st.integers(2, 6))
def test_classes_are_grouped_at_the_widest_gap_and_the_largest_against_the_rest(seed, k, d):
    X, y, weights = classes(90, d, k, seed)
    found = group(*node_of(X, y, weights))
    assert found.shape == (2, k)
    right, vague = slow.widest_gap(slow.standardised(X, weights), y, weights)
    assert np.flatnonzero(found[1]).tolist() == [np.bincount(y, weights).argmax()]
    assume(vague < 0.8)  # the power method stops after some steps
    own = set(np.flatnonzero(found[0]).tolist())
    assert own in (right, set(range(k)) - right)


def test_two_classes_are_one_grouping():
    X, y, weights = classes(k=2)
    assert group(*node_of(X, y, weights)).tolist() == [[False, True]]
    assert len(classify(X, y, weights)) == 1
    assert len(classify(*classes(k=3))) == 2


def test_terms_of_a_logistic_regression_are_dropped_by_its_second_derivatives():
    X, y, weights = classes(300, 5, 2, seed=7, noise=6.0)
    Z = slow.standardised(X, weights)
    plane, kept, rest = drop(*node_of(X, y, weights), compiled_logistic(), 4)
    chosen, coefficients = slow.without_one(Z, plane, weights)
    assert kept.tolist() == chosen
    np.testing.assert_allclose(rest, coefficients, rtol=1e-2, atol=1e-3)


@pytest.mark.parametrize("n_kept", [1, 3, 5])
def test_several_terms_are_dropped_one_after_the_other(n_kept):
    X, y, weights = classes(300, 6, 2, seed=5, noise=6.0)
    plane, kept, rest = drop(*node_of(X, y, weights), compiled_logistic(), n_kept)
    assert len(kept) == n_kept == len(rest) - 1
    assert (np.diff(kept) > 0).all()
    assert np.isfinite(rest).all()
    assert len(plane) == 7


@pytest.mark.parametrize("max_terms", [1, 2, 3, 99])
def test_planes_are_as_short_as_they_may_be(max_terms):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(300, 10))
    value = X[:, 2] - X[:, 7] + 0.3 * rng.normal(size=300)
    order = np.argsort(value, kind="stable")
    X, y = X[order], (value[order] > 0).astype(int)
    (plane,) = classify(X, y, max_terms=max_terms)
    used = np.flatnonzero(plane[:-1])
    assert 1 <= len(used) <= max_terms
    if max_terms > 1:
        assert set(used) >= {2, 7}
        assert len(used) < 8
        assert separates(plane, X, y) > 0.85


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 3), st.integers(1, 6))
def test_no_plane_is_longer_than_it_may_be(seed, k, max_terms):
    X, y, weights = classes(60, 6, k, seed, noise=3.0)
    planes = classify(X, y, weights, max_terms)
    assert 1 <= len(planes) <= MAX_PLANES
    assert (np.count_nonzero(planes[:, :-1], axis=1) <= max_terms).all()
    np.testing.assert_allclose(np.linalg.norm(planes, axis=1), 1.0)
    assert all(plane[np.flatnonzero(plane)[0]] > 0.0 for plane in planes)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 4))
def test_names_of_the_classes_do_not_turn_a_plane(seed, k):
    X, y, weights = classes(100, 3, k, seed)
    planes = classify(X, y, weights)
    renamed = np.random.default_rng(seed).permutation(k)[y]
    order = np.argsort(renamed, kind="stable")
    others = classify(X[order], renamed[order], weights[order])
    totals = np.sort(np.bincount(y, weights))
    assume(totals[-1] > totals[-2])  # or another class is called the largest
    np.testing.assert_allclose(planes[-1], others[-1], atol=2e-3)
    _, vague = slow.widest_gap(slow.standardised(X, weights), y, weights)
    if k == 2 or vague < 0.8:
        np.testing.assert_allclose(planes, others, atol=2e-3)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 4))
def test_units_and_shifts_of_the_features_do_not_turn_a_plane(seed, k):
    X, y, weights = classes(100, 4, k, seed, noise=2.0)
    _, vague = slow.widest_gap(slow.standardised(X, weights), y, weights)
    assume(k == 2 or vague < 0.8)
    rng = np.random.default_rng(seed)
    units, shifts = 10.0 ** rng.uniform(-4, 4, 4), rng.uniform(-5, 5, 4)
    planes, moved = classify(X, y, weights), classify(X * units + shifts * units, y, weights)
    moved[:, -1] += moved[:, :-1] @ (shifts * units)
    moved[:, :-1] *= units
    moved /= np.linalg.norm(moved, axis=1, keepdims=True)
    np.testing.assert_allclose(planes, moved, atol=2e-3)


def test_a_weight_of_two_is_an_example_twice():
    X, y, weights = classes(100, 3, 2, seed=5)
    repeated = np.repeat(np.arange(100), weights.astype(int))
    np.testing.assert_allclose(classify(X, y, weights), classify(X[repeated], y[repeated]), atol=1e-3)


def test_constant_features_have_no_part():
    X, y, _ = classes(60, 3, 2, seed=6)
    X[:, 1] = 5.0
    (plane,) = classify(X, y)
    assert plane[1] == 0.0
    assert separates(plane, X, y) > 0.75
    assert len(classify(np.ones((10, 2)), np.arange(10) // 5)) == 0
    assert len(classify(X[:, [0, 1]], y)) == 0  # nothing to combine
