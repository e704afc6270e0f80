"""What an engine answers is so for any number of threads, and where the user's array is used as it is."""

from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import naive
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oc1.data.search_space import SearchSpace
from oc1.growing import engines
from oc1.growing.calls import count_lines, count_sides
from oc1.growing.engines import LocalExamples, place_test
from oc1.growing.linear_tests import LinearTest
from oc1.growing.rounds import Line, packed
from oc1.kernels.histograms import NodeSlice
from oc1.kernels.records import Examples

HALF = 8


def local_examples(weighted=False, missing=False, n=700, d=3, k=3):
    """A node in the middle of an engine's arrays."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(n, d)).astype(np.float32)
    if missing:
        X[rng.random(X.shape) < 0.2] = np.nan
    y = rng.integers(0, k, n)
    start, stop = 50, 650
    rows = rng.permutation(n)
    rows[start:stop] = rows[start:stop][np.argsort(y[rows[start:stop]], kind="stable")]
    space = SearchSpace(np.full(d, 0.5), np.full(d, 2.0))
    fill = np.full(d, 0.25)
    arrays = Examples(
        shift=space.shift,
        columns=space.columns(X, rows, fill),
        scale=space.scale,
        labels=y[rows].astype(np.int32),
        weights=rng.random(n) + 0.1 if weighted else np.empty(0),
        rows=rows.astype(np.int64),
        missing=np.isnan(X.T).astype(np.uint8) if missing else np.zeros((0, 0), np.uint8),
        fill=fill,
    )
    statistics = SimpleNamespace(space=space)
    engine = SimpleNamespace(X=X, setup=SimpleNamespace(n_classes=k, statistics=statistics), pool=None, n_jobs=1)
    return LocalExamples(engine, arrays, start, stop)


def questions(d):
    rng = np.random.default_rng(2)
    units = np.eye(d + 1)
    planes = rng.normal(size=(2, d + 1))
    lines = [Line(plane, units[m], m, 0.0, 0.5) for plane in planes for m in range(d + 1)]
    lines.append(Line(planes[1], rng.normal(size=d + 1), -1, 0.0, 0.5))
    lines += [Line(units[m], units[d], d, 0.1, 0.5, side) for m in range(d) for side in (-1, 1)]
    return packed(lines)


@pytest.mark.parametrize("weighted", [False, True], ids=["alike", "weighted"])
@pytest.mark.parametrize("missing", [False, True], ids=["known", "missing"])
def test_local_examples_are_counted_by_any_number_of_threads(monkeypatch, weighted, missing):
    held = local_examples(weighted, missing)
    arrays = held.arrays
    lines = questions(held.engine.X.shape[1])
    own = slice(held.start, held.stop)
    bounds = np.append(np.searchsorted(arrays.labels[own], np.arange(3)), held.size)
    mask = np.ascontiguousarray(arrays.missing[:, arrays.rows[own]]) if missing else arrays.missing
    node = NodeSlice(np.ascontiguousarray(arrays.columns[:, own]), bounds, arrays.weights[own], mask)
    sides = lines.sides[np.unique(lines.plane_of, return_index=True)[1]]
    expected = count_lines(node, lines, HALF)
    monkeypatch.setattr(engines, "MAX_ROWS_PER_PIECE", 97)
    answers = []
    for n_jobs in (1, 2, 3):
        with ThreadPoolExecutor(n_jobs) as pool:
            held = local_examples(weighted, missing)
            held.engine.pool, held.engine.n_jobs = pool if n_jobs > 1 else None, n_jobs
            answers.append((*held.count_lines(lines, HALF), *count_sides(held.count_lines, lines.planes, sides)))
    counts, sums, left, left_sums = answers[0]
    assert counts.dtype == np.int64
    np.testing.assert_array_equal(counts, expected[0])
    np.testing.assert_allclose(sums, expected[1], rtol=1e-12)
    assert weighted or (left == left_sums).all()
    for other in answers[1:]:
        for one, same in zip(answers[0], other, strict=True):
            np.testing.assert_array_equal(one, same)
    np.testing.assert_array_equal(held.class_sizes, np.diff(bounds))
    np.testing.assert_array_equal(held.missing_attributes, [missing] * 3)
    np.testing.assert_allclose(held.left_weights(lines.planes[0], 0), left_sums[0], rtol=1e-5)


def test_samples_and_copies_are_the_same_examples():
    held = local_examples(weighted=True, n=700)
    whole = local_examples(weighted=True).arrays.columns[:, held.start : held.stop]
    for other in (held.sample(), held.copy()):
        assert other.size == held.size
        np.testing.assert_array_equal(other.arrays.columns, whole)
        np.testing.assert_array_equal(other.rows, held.rows)
        np.testing.assert_array_equal(other.weights, held.weights)
        np.testing.assert_array_equal(other.class_weights, held.class_weights)


@pytest.mark.parametrize("weighted", [False, True], ids=["alike", "weighted"])
@pytest.mark.parametrize("missing", [-1, 0, 1])
def test_local_examples_place_a_test(weighted, missing):
    held = local_examples(weighted, missing=True)
    X, fill = held.engine.X, held.arrays.fill
    features = np.array([1]) if missing else np.array([0, 2])
    test = LinearTest(features.astype(np.int32), np.array([1.0, -0.5])[: len(features)], 0.2, missing=missing)
    placed = held.place(test)
    rows = held.rows
    known = np.where(np.isnan(X[rows]), fill, X[rows].astype(float))
    values = known[:, features] @ test.coefficients
    if missing:
        values[np.isnan(X[rows, 1])] = np.inf * missing
    left = ~(values > 0.2)
    labels = held.labels
    weights = held.weights if weighted else np.ones(len(labels))
    np.testing.assert_array_equal(placed.counts, np.bincount(labels[left], minlength=3))
    np.testing.assert_allclose(placed.sums, naive.class_weights(labels, weights, left, 3), rtol=1e-12)
    assert placed.below == pytest.approx(values[left].max())
    assert placed.above == pytest.approx(values[~left].min())


@settings(max_examples=60, deadline=None)
@given(
    values=st.lists(st.sampled_from([-2.0, -1.0, 0.0, 0.5, 1.0, 3.0]), min_size=1, max_size=80),
    cuts=st.lists(st.floats(0, 1), min_size=2, max_size=2),
    threshold=st.sampled_from([-1e9, 0.0, 0.5, 1e9]),
    weighted=st.booleans(),
)
def test_how_tests_divide_pieces_adds_up(values, cuts, threshold, weighted):
    values, n = np.array(values), len(values)
    cut, border = (int(share * n) for share in cuts)
    bounds = np.array([0, border, n])
    weights = np.arange(n) + 0.5 if weighted else np.empty(0)

    def placed(first, last):
        return place_test(values[first:last], threshold, np.clip(bounds, first, last), weights)

    whole, both = placed(0, n), placed(0, cut) + placed(cut, n)
    assert (whole.below, whole.above) == (both.below, both.above)
    np.testing.assert_array_equal(whole.counts, both.counts)
    np.testing.assert_allclose(whole.sums, both.sums, rtol=1e-12)
    assert whole.below <= threshold < whole.above
