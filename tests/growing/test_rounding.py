"""Short numbers: every example stays on its side, and about as far from the plane."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oc1.growing.linear_tests import LinearTest
from oc1.growing.rounding import MAX_DIGITS, MAX_MOVE, round_test, short_number


def halving(X, plane, share=0.5):
    """A test with some share of the examples on its left."""
    plane = np.asarray(plane, dtype=float)
    return LinearTest.of_plane(plane, np.quantile(X @ plane, share), X)


def significant_digits(value):
    return len(np.format_float_scientific(abs(value), trim="-").split("e")[0].replace(".", "").rstrip("0"))


def examples(seed, n=120, d=5):
    """Examples with features in all units."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)) * 10.0 ** rng.integers(-3, 4, d), rng


def describe(test):
    return test.features.tolist(), test.coefficients.tolist(), test.threshold


cases = pytest.mark.parametrize("seed", range(12))


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 200), st.integers(1, 6), st.floats(0.02, 0.98))
def test_every_example_stays_on_its_side(seed, n, d, share):
    X, rng = examples(seed, n, d)
    test = halving(X, rng.normal(size=d) / X.std(axis=0), share)
    rounded = round_test(test, X, X.std(axis=0))
    np.testing.assert_array_equal(rounded.branches(X), test.branches(X))
    assert rounded.features.tolist() == test.features.tolist()
    assert (np.sign(rounded.coefficients) == np.sign(test.coefficients)).all()


def test_examples_that_only_the_exact_plane_makes_equal_stay_on_their_side():
    X = np.array([[1.0, 0.0], [0.0, 3.0], *([-10.0 - i, 0.0] for i in range(30)), [0.8, 0.0]])
    test = LinearTest(np.array([0, 1], np.int32), np.array([1.0, 1 / 3]), 0.93)
    assert X[0] @ test.coefficients == X[1] @ test.coefficients
    np.testing.assert_array_equal(round_test(test, X, np.ones(2)).branches(X), test.branches(X))


@cases
def test_numbers_are_short_and_stored_as_they_are_printed(seed):
    X, rng = examples(seed, n=60)
    scale = X.std(axis=0)
    test = halving(X, rng.normal(size=5) / scale)
    rounded = round_test(test, X, scale)
    leading = np.argmax(np.abs(rounded.coefficients) * scale[rounded.features])
    assert abs(rounded.coefficients[leading]) == 1.0
    assert max(significant_digits(c) for c in rounded.coefficients) <= MAX_DIGITS
    values = X[:, rounded.features] @ rounded.coefficients
    below, above = values[values <= rounded.threshold].max(), values[values > rounded.threshold].min()
    assert rounded.gap == pytest.approx(above - below)
    # All but a few examples are about as far from the plane as before.
    leading = test.coefficients / abs(test.coefficients[leading])
    exact = X[:, test.features] @ leading
    moved = np.abs(values - exact)
    near = MAX_MOVE * np.median(np.abs(exact - test.threshold * leading[0] / test.coefficients[0]))
    assert np.mean(moved <= near * (1 + 1e-6)) >= 0.95


@cases
def test_what_is_short_stays_as_it_is(seed):
    X, rng = examples(seed)
    scale = X.std(axis=0)
    once = round_test(halving(X, rng.normal(size=5) / scale), X, scale)
    twice = round_test(once, X, scale)
    digits = [sum(map(significant_digits, test.coefficients)) for test in (once, twice)]
    assert digits[1] <= digits[0]
    np.testing.assert_array_equal(twice.branches(X), once.branches(X))


def test_a_short_test_is_returned_as_given():
    X = np.array([[0.0, 0.1], [0.2, 0.1], [0.1, 0.6], [0.5, 0.4]])
    test = LinearTest(np.array([0, 1], np.int32), np.array([1.0, 1.0]), 0.5)
    assert describe(round_test(test, X, np.ones(2))) == ([0, 1], [1.0, 1.0], 0.5)


@cases
def test_examples_may_come_in_any_order_and_more_than_once(seed):
    X, rng = examples(seed)
    scale = X.std(axis=0)
    test = halving(X, rng.normal(size=5) / scale)
    rounded = round_test(test, X, scale)
    shuffled = rng.permutation(np.repeat(np.arange(len(X)), rng.integers(1, 4, len(X))))
    assert describe(round_test(test, X[shuffled], scale)) == describe(rounded)


@cases
def test_powers_of_ten_as_units_change_no_side(seed):
    X, rng = examples(seed)
    scale = X.std(axis=0)
    test = halving(X, rng.normal(size=5) / scale)
    units = 10.0 ** rng.integers(-3, 4, 5)
    moved = LinearTest(test.features, test.coefficients / units, test.threshold)
    other = round_test(moved, X * units, scale * units)
    np.testing.assert_array_equal(other.branches(X * units), moved.branches(X * units))
    assert other.features.tolist() == round_test(test, X, scale).features.tolist()


@given(st.integers(-300, 300), st.integers(-300, 300), st.integers(0, 1000))
def test_extreme_units_do_no_harm(a, b, seed):
    rng = np.random.default_rng(seed)
    units = 10.0 ** np.array([a, b], dtype=float)
    X = rng.normal(size=(20, 2))
    test = halving(X, [1.0, 0.97])
    with np.errstate(all="ignore"):
        test = LinearTest(test.features, test.coefficients / units, test.threshold)
        rounded = round_test(test, X * units, units)
        assert np.isfinite(rounded.coefficients).all()
        assert np.isfinite(rounded.threshold)
        np.testing.assert_array_equal(rounded.branches(X * units), test.branches(X * units))


@pytest.mark.parametrize("scale", [1e-300, 1.0, 1e300])
def test_two_examples(scale):
    X = np.array([[0.1, 0.3], [0.4, 0.35]]) * scale
    test = LinearTest(np.array([0, 1], np.int32), np.array([1.0, 0.123456]), 0.3 * scale)
    rounded = round_test(test, X, np.full(2, scale))
    assert rounded.branches(X).tolist() == [0, 1]
    assert np.abs(rounded.coefficients).max() == 1.0


def test_neighbours_without_a_number_between_them():
    X = np.array([[1.0], [1.0], [np.nextafter(1.0, 2.0)], [2.0]])
    test = LinearTest(np.array([0], np.int32), np.array([1.0]), 1.0)
    assert round_test(test, X, np.ones(1)).branches(X).tolist() == [0, 0, 1, 1]


@pytest.mark.parametrize("threshold", [-5.0, 5.0])
def test_a_test_that_splits_nothing_is_left_alone(threshold):
    X = np.array([[0.0], [1.0], [2.0]])
    test = LinearTest(np.array([0], np.int32), np.array([0.5]), threshold)
    assert round_test(test, X, np.ones(1)) is test
    nothing = LinearTest(np.empty(0, np.int32), np.empty(0), 0.0)
    assert round_test(nothing, X, np.ones(1)) is nothing


def test_wide_margins_stay_wide():
    X = np.random.default_rng(0).uniform(-1, 1, size=(2000, 2))
    X = X[np.abs(X @ [1.0, 0.55]) > 0.1]
    test = LinearTest(np.array([0, 1], np.int32), np.array([1.0, 0.5512]), 0.0)
    rounded = round_test(test, X, np.ones(2))
    assert rounded.coefficients.tolist() == [1.0, 0.55]  # 0.6 separates the examples too, by half the gap
    coarse = LinearTest(test.features, np.array([1.0, 0.6]), 0.0)
    np.testing.assert_array_equal(coarse.branches(X), test.branches(X))


@given(st.floats(-1e6, 1e6), st.floats(1e-9, 1e3), st.floats(0.0, 1.0))
def test_a_short_number_lies_in_the_middle_part_of_its_gap(below, gap, place):
    above = below + gap
    threshold = below + place * (above - below)
    short = short_number(threshold, below, above)
    middle = below + 0.2 * (above - below) <= short <= above - 0.2 * (above - below)
    assert middle or short == threshold
    if middle and short:  # no number with a digit less would do
        unit = 10.0 ** (np.floor(np.log10(abs(short))) - significant_digits(short) + 2)
        shorter = np.round(0.5 * (below + above) / unit) * unit
        assert not below + 0.201 * gap < shorter < above - 0.201 * gap
