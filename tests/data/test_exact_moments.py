"""Means and spreads are exact: against fractions, in any order, in any division of the rows."""

import math
import os
import pickle
import subprocess
import sys
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from oc1.data.exact_moments import ROWS_AT_ONCE, ExactMoments, exact_moments
from oc1.data.search_space import MAX_SAMPLED_ROWS, SearchSpace, centre_of, filled, sample_positions

LARGEST = np.finfo(float).max
finite = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False),
    st.floats(-10, 10),
    st.sampled_from([0.0, -0.0, 5e-324, -5e-324, 2.2e-308, LARGEST, -LARGEST, 1.0, -1.0, 0.1]),
)
weights_of_any_size = st.one_of(
    st.integers(0, 5).map(float),
    st.floats(0, 10),
    st.sampled_from([5e-324, 1e-310, 2.0**27 + 1, 1 / 3, LARGEST]),
)


@st.composite
def tables(draw, values=finite, weights=weights_of_any_size):
    """Draw (X with NaN, weights or None)."""
    n, d = draw(st.integers(0, 8)), draw(st.integers(1, 2))
    X = np.array(draw(st.lists(values | st.just(math.nan), min_size=n * d, max_size=n * d))).reshape(n, d)
    if draw(st.booleans()):
        return X, None
    return X, np.array(draw(st.lists(weights, min_size=n, max_size=n)))


def fractions_of(x, w):
    known = [(Fraction(b), Fraction(a)) for a, b in zip(x.tolist(), w.tolist(), strict=True) if not math.isnan(a)]
    total = sum(b for b, _ in known)
    mean = sum(b * a for b, a in known) / total if total else Fraction(0)
    variance = sum(b * (a - mean) ** 2 for b, a in known) / total if total else Fraction(0)
    return mean, variance


def is_root(value, square):
    """Tell whether no float is nearer to the root."""
    half = Fraction(math.ulp(value)) / 2
    below = (Fraction(math.nextafter(value, -1.0)) + Fraction(value)) / 2
    return (value == 0 or below**2 <= square) and square <= (Fraction(value) + half) ** 2


def dump(moments):
    """Return all bits of moments: floats as they are, signs of zeros included."""
    return repr([moments.lowest.tolist(), moments.highest.tolist(), moments.sums.tolist()])


@given(tables())
@example((np.array([[LARGEST], [LARGEST], [-LARGEST]]), np.array([LARGEST, 1.0, 5e-324])))
@example((np.array([[LARGEST], [-LARGEST]]), None))
@example((np.array([[5e-324], [0.0], [0.0]]), None))
@example((np.array([[3.0], [3.0]]), np.array([0.0, 0.0])))
def test_the_nearest_floats_to_mean_and_deviation(table):
    X, weights = table
    moments = exact_moments(X, weights)
    for m in range(X.shape[1]):
        x, w = X[:, m], np.ones(len(X)) if weights is None else weights
        mean, variance = fractions_of(x, w)
        assert moments.means[m] == float(mean)
        assert is_root(moments.deviations[m], variance)
        known = x[~np.isnan(x)]
        assert moments.lowest[m] == known.min(initial=np.inf)
        assert moments.highest[m] == known.max(initial=-np.inf)
        assert moments.sums[3, m] == sum(map(Fraction, w[np.isnan(x)].tolist()))


@given(tables(), st.data())
def test_order_and_division_of_the_rows_change_nothing(table, data):
    X, weights = table
    n = len(X)
    order = np.array(data.draw(st.permutations(range(n))), dtype=np.int64)
    cuts = sorted(data.draw(st.lists(st.integers(0, n), max_size=4)))
    parts = np.split(order, cuts)  # some are empty
    places = [exact_moments(X[rows], None if weights is None else weights[rows]) for rows in parts]
    whole = exact_moments(X, weights)
    assert dump(sum(places[1:], places[0])) == dump(whole)
    assert dump(exact_moments(X, None if weights is None else weights[order], order, n_jobs=2)) == dump(whole)


@given(tables(weights=st.integers(0, 3).map(float)))
def test_a_weight_of_two_counts_as_twice_the_row(table):
    X, weights = table
    weights = np.ones(len(X)) if weights is None else weights
    weighted, repeated = exact_moments(X, weights), exact_moments(np.repeat(X, weights.astype(int), axis=0))
    assert weighted.sums.tolist() == repeated.sums.tolist()
    assert weighted.means.tobytes() == repeated.means.tobytes()
    assert weighted.deviations.tobytes() == repeated.deviations.tobytes()


@given(tables(weights=weights_of_any_size.filter(bool)), finite)
def test_filling_the_sums_is_filling_the_rows(table, value):
    X, weights = table
    fill = np.full(X.shape[1], value)
    assert dump(exact_moments(X, weights).filled(fill)) == dump(exact_moments(filled(X, fill), weights))


@pytest.mark.parametrize("weight", [None, np.nextafter(2.0**23, 0.0)])
def test_chunks_of_many_rows_add_up(weight):
    n = 2 * ROWS_AT_ONCE + 3
    x, w = np.nextafter(2.0**33, 0.0), Fraction(1 if weight is None else weight)  # all digits are large
    moments = exact_moments(np.full((n, 1), x), None if weight is None else np.full(n, weight))
    assert moments.sums[:, 0].tolist() == [n * w, n * w * Fraction(x), n * w * Fraction(x) ** 2, 0]
    assert (moments.means[0], moments.deviations[0]) == (x, 0.0)


def test_layouts_and_single_precision():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3)).astype(np.float32)
    X[::7, 1] = np.nan
    expected = dump(exact_moments(X.astype(np.float64)))
    assert dump(exact_moments(X)) == dump(exact_moments(np.asfortranarray(X))) == expected
    X.flags.writeable = False
    assert dump(exact_moments(X, np.ones(300, dtype=np.float32))) == expected


def test_small_to_send():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1000, 50)) * 10.0 ** rng.integers(-5, 5, 50)
    moments = exact_moments(X, rng.random(1000))
    assert len(pickle.dumps(moments)) < 1000 * 50
    assert dump(pickle.loads(pickle.dumps(moments))) == dump(moments)


PLAIN = """
import json, sys
import numpy as np
from oc1.kernels import exact_sums
rng = np.random.default_rng(0)
values, weights = rng.normal(size=50), rng.random(50)
values[3:6] = np.nan, 5e-324, np.finfo(float).max
answers = []
for own in (weights, np.empty(0)):
    sums = np.zeros(exact_sums.SHAPE, dtype=np.int64)
    lowest, highest = exact_sums.add_values(values, own, sums)
    answers.append([float(lowest), float(highest), sums[sums != 0].tolist()])
print(json.dumps(answers))
"""


def test_the_plain_code_does_the_same():
    runs = [
        subprocess.run(
            [sys.executable, "-c", PLAIN], env={**os.environ, "NUMBA_DISABLE_JIT": off}, capture_output=True, check=True
        ).stdout
        for off in "01"
    ]
    assert runs[0] == runs[1]


def test_sampled_positions_are_even_and_include_both_ends():
    assert sample_positions(7).tolist() == list(range(7))
    assert len(sample_positions(0)) == 0
    positions = sample_positions(3 * MAX_SAMPLED_ROWS)
    assert (len(positions), positions[0], positions[-1]) == (MAX_SAMPLED_ROWS, 0, 3 * MAX_SAMPLED_ROWS - 1)
    assert set(np.diff(positions)) <= {2, 3, 4}


def test_centre_is_the_median_of_different_values():
    values = np.array([[1.0, LARGEST], [1.0, LARGEST], [2.0, -1.0], [9.0, LARGEST / 2]])
    assert centre_of(values).tolist() == [2.0, LARGEST / 2]
    assert centre_of(values[[0, 2]]).tolist() == [1.5, LARGEST / 2 - 0.5]
    assert centre_of(np.empty((0, 2))).tolist() == [0.0, 0.0]


@pytest.mark.parametrize("normalize", ["standard", "positive"])
@pytest.mark.parametrize("weighted", [False, True])
def test_search_space_of_places_is_that_of_all_rows(normalize, weighted):
    rng = np.random.default_rng(1)
    n = MAX_SAMPLED_ROWS + 5000
    X = np.column_stack([rng.normal(3, 2, n), np.full(n, 7.0), rng.integers(0, 5, n), rng.exponential(size=n) * 1e300])
    X[rng.random(X.shape) < 0.1] = np.nan
    weights = rng.random(n) if weighted else None
    fill = exact_moments(X, weights).means
    rows = rng.permutation(n)[: n - 100]
    own_weights = None if weights is None else weights[rows]
    whole = SearchSpace.make(X, rows, fill, own_weights, normalize, n_jobs=2)
    places = [
        exact_moments(X[part], None if weights is None else weights[part])
        for part in np.array_split(rng.permutation(rows), 5)
    ]
    moments = sum(places[1:], places[0]).filled(fill)
    sample = filled(X[rows[sample_positions(len(rows))]], fill)
    assert isinstance(moments, ExactMoments)
    together = SearchSpace.of_moments(moments, sample, normalize)
    assert together.shift.tobytes() == whole.shift.tobytes()
    assert together.scale.tobytes() == whole.scale.tobytes()
    known = filled(X[rows], fill)
    assert (whole.scale > 0).tolist() == [True, False, True, True]
    if normalize == "standard":
        known = known[:, [0, 2]]
        spread = np.sqrt(np.average((known - np.average(known, 0, own_weights)) ** 2, 0, own_weights))
        assert np.allclose(whole.scale[[0, 2]], spread, rtol=1e-12)
        assert np.allclose(whole.shift[[0, 2]], [3, 2], atol=0.1)
    else:
        # Attributes that are nowhere negative stay where they are.
        assert whole.shift[[0, 2, 3]].tolist() == np.minimum(known.min(axis=0), 0.0)[[0, 2, 3]].tolist()
        assert whole.scale[[0, 2, 3]].tolist() == [known.max()] * 3
