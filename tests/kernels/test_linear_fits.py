"""Compiled linear classifiers of a node: they are what slow ones are, short where they may be, and honest."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive import linear_fits as slow
from numba import njit

from oc1.kernels.class_views import REST, look_at, moments_of, most_different, numbers, spread_of
from oc1.kernels.groupings import N_BY_MERIT, discriminants, promising_groupings, short_discriminant
from oc1.kernels.least_squares import compiled_least_squares
from oc1.kernels.linear_fits import compiled_linear_classifier, eliminate, regress
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
def call(classifier, examples, node, fits_closely, max_terms, logistic, least_squares, plane):
    """Call the compiled function, which has no way in from Python."""
    return classifier(examples, node, 1.0, fits_closely, max_terms, logistic, least_squares, plane)


@njit
def view_of(examples, node):
    """Return all examples with all attributes, and their moments."""
    mean, scale, between = spread_of(examples, node, 1)
    view = look_at(examples, node, 1.0, 1, most_different(scale, between, 99), mean, scale)
    means, within = moments_of(view)
    return view, means, within


@njit
def look(examples, node, max_terms):
    """Return the groupings that are promising, and the discriminant of few terms for the last class."""
    view, means, within = view_of(examples, node)
    slopes, levels = discriminants(view, means, within)
    found = promising_groupings(view, means, within, slopes, levels, max_terms)
    n_terms = min(max_terms, view.attributes.size)
    return found, short_discriminant(view, means, within, np.int64(node.totals.size - 1), np.int64(REST), n_terms)


@njit
def drop(examples, node, fit, is_logistic, n_kept):
    """Fit class 1 against class 0 and drop terms; return the plane, left-out margins, and what is left."""
    view, _, _ = view_of(examples, node)
    rows, attributes = numbers(0, view.Z.shape[0]), numbers(0, view.Z.shape[1])
    plane, left_out = np.zeros(attributes.size + 1), np.empty(rows.size)
    for _ in range(5):  # until it is settled indeed
        regress(view, rows, np.int64(1), attributes, 1.0, fit, plane, left_out)
    kept, rest = eliminate(view, rows, attributes, plane, 1.0, is_logistic, n_kept)
    return plane, left_out, kept, rest


def classify(X, y, weights=None, fits_closely=False, max_terms=99):
    """Return the plane, its value and what it misplaces."""
    plane = np.empty(X.shape[1] + 1)
    fits = compiled_logistic(), compiled_least_squares()
    value, astray = call(compiled_linear_classifier(), *node_of(X, y, weights), fits_closely, max_terms, *fits, plane)
    return plane, value, astray


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 5), st.integers(2, 6))
def test_groupings_are_those_that_slow_discriminants_separate_best(seed, k, d):
    X, y, weights = classes(90, d, k, seed)
    found, _ = look(*node_of(X, y, weights), 99)
    values = slow.grouping_values(slow.standardised(X, weights), y, weights)
    best = tuple(found[N_BY_MERIT])  # the first by its Twoing value
    assert values[best] >= max(values.values()) - 1e-3


@pytest.mark.parametrize("k", [2, 4])
@pytest.mark.parametrize("n_terms", [1, 2, 4])
def test_discriminants_of_few_terms_are_those_of_a_slow_search(k, n_terms):
    X, y, weights = classes(200, 6, k, seed=k)
    _, (chosen, plane) = look(*node_of(X, y, weights), n_terms)
    order, slopes = slow.short_discriminant(slow.standardised(X, weights), y == k - 1, weights, n_terms)
    assert chosen.tolist() == order
    np.testing.assert_allclose(plane[:-1], slopes, rtol=1e-4)


@pytest.mark.parametrize("n_kept", [1, 3, 5])
def test_terms_of_least_squares_are_dropped_as_a_slow_search_would(n_kept):
    """Their loss is quadratic indeed, so what remains is what fitting anew would give."""
    X, y, weights = classes(150, 6, 2, seed=4, noise=4.0)
    _, _, kept, rest = drop(*node_of(X, y, weights), compiled_least_squares(), False, n_kept)
    chosen, coefficients = slow.backward(slow.standardised(X, weights), y, weights, n_kept)
    assert kept.tolist() == chosen
    # The plane is that of logits: a multiple.
    np.testing.assert_allclose(rest[:-1] / rest[0], coefficients / coefficients[0], rtol=1e-3)


def test_terms_of_a_logistic_regression_are_dropped_by_its_second_derivatives():
    X, y, weights = classes(300, 5, 2, seed=7, noise=6.0)
    Z = slow.standardised(X, weights)
    plane, _, kept, rest = drop(*node_of(X, y, weights), compiled_logistic(), True, 4)
    chosen, coefficients = slow.without_one(Z, plane, weights)
    assert kept.tolist() == chosen
    np.testing.assert_allclose(rest, coefficients, rtol=1e-2, atol=1e-3)


def test_least_squares_judge_each_example_without_it():
    """Against fits without the example: their values, turned into logits as those of all together."""
    X, y, weights = classes(40, 3, 2, seed=8, noise=3.0)
    ones = np.ones_like(weights)
    _, left_out, *_ = drop(*node_of(X, y, None), compiled_least_squares(), False, 3)
    np.testing.assert_allclose(left_out, slow.left_out_logits(slow.standardised(X, ones), y), rtol=1e-3, atol=1e-3)


def test_a_plane_that_is_to_fit_closely_is_judged_by_how_it_parts_the_examples():
    X, y, weights = classes(150, 4, 4, seed=3)
    plane, value, astray = classify(X, y, weights, fits_closely=True)
    left = np.bincount(y, weights * (X @ plane[:-1] + plane[-1] <= 0), minlength=4)
    totals = np.bincount(y, weights)
    assert value == pytest.approx(slow.twoing(left, totals), rel=1e-6)
    assert astray == pytest.approx(np.minimum(left, totals - left).sum() / totals.sum())


def test_other_planes_are_judged_by_examples_that_they_have_not_seen():
    """Many attributes part a few examples well, and know nothing."""
    values = []
    for seed in range(10):
        X, y = np.random.default_rng(seed).normal(size=(40, 16)), np.arange(40) // 20
        values.append([classify(X, y, fits_closely=True)[1], classify(X, y)[1], classify(X, y)[2]])
    close, honest, astray = np.mean(values, axis=0)
    assert close > honest + 0.2
    assert honest < 0.2
    assert astray > 0.2


def test_a_classifier_that_is_always_wrong_is_worth_nothing():
    """Without the example, most others are of the other class: in noise, what is left out is often misjudged."""
    values = [classify(np.random.default_rng(s).normal(size=(100, 2)), np.arange(100) // 50)[1] for s in range(20)]
    assert max(values) < 0.2


@pytest.mark.parametrize("max_terms", [1, 2, 3, 99])
def test_planes_are_as_short_as_they_may_be(max_terms):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(300, 10))
    y = np.sort((X[:, 2] - X[:, 7] + 0.3 * rng.normal(size=300) > 0).astype(int))
    order = np.argsort(X[:, 2] - X[:, 7] + 0.3 * rng.normal(size=300), kind="stable")
    plane, value, _ = classify(X[order], y, max_terms=max_terms)
    used = np.flatnonzero(plane[:-1])
    assert len(used) <= max_terms
    if max_terms > 1:
        assert set(used) >= {2, 7}
        assert len(used) < 8
        assert value > 0.5


def test_names_and_weights_of_the_classes_do_not_turn_a_plane():
    X, y, weights = classes(100, 3, 2, seed=5)
    plane, value, astray = classify(X, y, weights)
    swapped, other_value, other_astray = classify(X[::-1].copy(), 1 - y[::-1], weights[::-1].copy())
    np.testing.assert_allclose(plane, swapped, atol=1e-4)
    assert (value, astray) == pytest.approx((other_value, other_astray), abs=1e-3)
    repeated = np.repeat(np.arange(100), weights.astype(int))
    again, again_value, _ = classify(X[repeated], y[repeated])
    np.testing.assert_allclose(plane, again, atol=1e-3)
    assert value == pytest.approx(again_value, abs=1e-6)


def test_constant_attributes_have_no_part():
    X, y, _ = classes(60, 3, 2, seed=6)
    X[:, 1] = 5.0
    plane, value, _ = classify(X, y)
    assert plane[1] == 0.0
    assert value > 0.3
    assert classify(np.ones((10, 2)), np.arange(10) // 5)[1] == 0.0
