"""The choice of a node's split by the default: information after its price, against a slow choice."""

import naive
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from naive import linear_fits as slow
from numba import njit
from scipy.stats import entropy

from oc1.growing import policy
from oc1.growing.options import GrowthOptions
from oc1.impurity import MEASURES, get_measure
from oc1.kernels.choice import PRICE_OF_A_TERM, Methods, compiled_axis_scan, compiled_informative, information
from oc1.kernels.layout import NO_SPLIT
from oc1.kernels.line_search import compiled_line_search
from oc1.kernels.linear_fits import MAX_PLANES, classify_node, compiled_linear_classifiers
from oc1.kernels.newton import compiled_logistic
from oc1.kernels.node_search import open_node
from oc1.kernels.records import AxisSplit, Criterion, Examples, Workspace


@njit
def call(find, examples, totals, criterion, settings, methods, axis, plane, work):
    """Call the compiled function, which has no way in from Python."""
    node = open_node(examples, 0, examples.labels.size, totals, criterion.code, work)
    return find(examples, node, criterion, settings, methods, np.uint64(7), False, axis, plane, work)


@njit
def call_information(left, totals):
    """Call the compiled function, which has no way in from Python."""
    return information(left, totals)


def find(X, y, weights, unit=1.0, name="twoing", tries_linear=True, **options):
    """Return what is found, its plane, and the planes of the linear classifiers."""
    d, k = X.shape[1], y.max() + 1
    columns = np.ones((d + 1, len(X)), np.float32)
    columns[:-1] = X.T
    examples, totals = Examples.of_columns(columns, y.astype(np.int32), weights), np.bincount(y, weights)
    options = GrowthOptions(get_measure(name, k), is_informative=True, **options)
    settings, measure = options.settings(d, float(weights.sum()), weights.sum() / unit), MEASURES[name]
    criterion = Criterion(measure.code, settings.min_leaf, *measure.pointers(), settings.min_weight)
    line, fits = compiled_line_search(), (compiled_linear_classifiers(), compiled_logistic())
    methods = Methods(unit, tries_linear, line, compiled_axis_scan(), *fits)
    work, plane, planes = Workspace.make(len(X), k, d, 1), np.zeros(d + 1), np.zeros((MAX_PLANES, d + 1))
    with np.errstate(all="ignore"):
        found = call(compiled_informative(), examples, totals, criterion, settings, methods, AxisSplit(), plane, work)
        place = 0, len(X), totals, measure.code
        n_planes = classify_node(examples, *place, unit, settings.max_terms, *fits, planes, work)
    return found, plane, planes[:n_planes], columns


def problem(seed, k, d, n, whole):
    """Overlapping classes in order, some by a rule on one feature and some on several."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)).astype(np.float32).astype(float)
    plane = rng.normal(size=d) * (rng.random(d) < rng.choice([0.4, 1.0]))
    value = X @ plane + rng.choice([0.1, 0.5, 2.0]) * rng.normal(size=n)
    y = np.searchsorted(np.quantile(value, np.arange(1, k) / k), value)
    order = np.argsort(y, kind="stable")
    weights = np.ones(n) if whole else rng.uniform(0.2, 3.0, n)
    return X[order], y[order], weights


@settings(max_examples=60, deadline=None)
@given(
    st.integers(0, 10**6),
    st.integers(2, 4),
    st.integers(1, 5),
    st.integers(8, 60),
    st.booleans(),
    st.sampled_from(["twoing", "gini", "info_gain"]),
    st.sampled_from([0.01, 1.0, 20.0]),
)
def test_the_split_of_most_information_after_its_price_wins(seed, k, d, n, whole, name, unit):
    X, y, weights = problem(seed, k, d, n, whole)
    weights = weights * unit
    found, plane, planes, columns = find(X, y, weights, unit, name)
    totals, threshold_price = np.bincount(y, weights), np.log(weights.sum() / unit)

    def measure(left, right):
        return naive.gain(name, left, right)

    def information_of(left):
        return slow.nats(left, totals) / unit

    # The axis-parallel split is the best one of its kind by the measure.
    lefts = [slow.best_positions(x, y, weights, measure) for x in X.T]
    gains = [measure(own[0], totals - own[0]) for own in lefts]
    axis = found.axis
    left = slow.class_totals(y, weights, X[:, axis.attribute] <= np.float32(axis.threshold))
    assert measure(left, totals - left) == pytest.approx(max(gains), rel=1e-9)
    axis_gain = information_of(left)
    candidates = [axis_gain - threshold_price]
    for own in planes:
        price = PRICE_OF_A_TERM * (np.count_nonzero(own[:-1]) - 1)
        margins = naive.combined(columns, own)
        stays = slow.class_totals(y, weights, margins <= 0)
        moved = slow.best_positions(margins, y, weights, measure)
        assume(len(moved) == 1)
        candidates += [
            information_of(own_left) - own_price
            for own_left, own_price in ((stays, price), (moved[0], price + threshold_price))
            if information_of(own_left) >= max(axis_gain, 1e-12)  # whatever its price: a bias of 1
        ]
    if found.score == NO_SPLIT:
        value = candidates[0]
    else:
        left = slow.class_totals(y, weights, naive.combined(columns, plane) <= 0)
        price = PRICE_OF_A_TERM * (np.count_nonzero(plane[:-1]) - 1) + found.is_centred * threshold_price
        value = information_of(left) - price
    assert value == pytest.approx(max(candidates), abs=1e-5)
    # Of equals, the axis-parallel one.
    assert (found.score == NO_SPLIT) == (candidates[0] >= max(candidates) - 1e-9)
    assert found.considered == d + len(planes)


def test_without_linear_classifiers_the_axis_parallel_split_wins():
    X, y, weights = problem(0, 2, 4, 60, True)
    found, _, _, _ = find(X, y, weights, tries_linear=False)
    assert (found.score, found.considered) == (NO_SPLIT, 4)
    assert find(X, y, weights, axis_bias=1e9)[0].score == NO_SPLIT
    assert find(X, y, weights, min_samples_oblique=61)[0].score == NO_SPLIT
    assert find(X, y, weights, splits="oblique")[0].score > NO_SPLIT


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 3))
def test_no_plane_has_more_terms_than_allowed(seed, max_terms):
    found, plane, _, _ = find(*problem(seed, 2, 5, 60, True), max_terms=max_terms)
    assert np.count_nonzero(plane[:-1]) <= max_terms
    assert found.axis.attribute >= 0


@pytest.mark.parametrize("gap", [0.5, 2.0])
def test_a_plane_is_not_taken_where_one_feature_says_the_same(gap):
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 30)
    X = np.column_stack([y * 2 * gap - gap + 0.1 * rng.normal(size=60), y + 0.3 * rng.normal(size=60)])
    found, _, _, _ = find(X.astype(np.float32).astype(float), y, np.ones(60))
    assert found.axis.attribute == 0


@settings(max_examples=200, deadline=None)
@given(arrays(float, (2, 5), elements=st.floats(0, 100) | st.integers(0, 5).map(float)))
def test_information_is_that_of_numpy_and_scipy(sides):
    left, totals = sides[0], sides.sum(axis=0)
    assume(totals.sum() > 1e-3)
    own = call_information(left, totals)
    assert own == pytest.approx(policy.information(left, totals), abs=1e-8)
    expected = totals.sum() * entropy(totals)
    expected -= sum(side.sum() * entropy(side) for side in sides if side.sum() > 0)
    assert own == pytest.approx(expected, abs=1e-8)
    assert own == pytest.approx(slow.nats(left, totals), abs=1e-8)
    assert own >= -1e-9
