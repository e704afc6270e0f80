"""Counting by bucket and by side, in any pieces, equals looking at one example after the other."""

from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from types import SimpleNamespace

import naive
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oc1.data.search_space import SearchSpace
from oc1.growing import engines
from oc1.growing.engines import LocalEngine, Stretch, count_lines, count_sides, place_test, project_rows
from oc1.growing.large_nodes import Line, packed
from oc1.growing.linear_tests import LinearTest
from oc1.kernels import histograms as _counting

HALF = 8


@st.composite
def stretches(draw):
    """Examples with ties, zeros, wild values, blocks that end anywhere, classes that may be empty, weights, holes."""
    n = draw(st.one_of(st.integers(1, 60), st.sampled_from([1023, 1024, 1025, 2100])))
    d, k = draw(st.integers(1, 4)), draw(st.integers(2, 8))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    kind = draw(st.sampled_from(["integers", "normal", "wild"]))
    columns = np.ones((d + 1, n), dtype=np.float32)
    if kind == "integers":
        columns[:d] = rng.integers(-2, 3, (d, n))
    elif kind == "normal":
        columns[:d] = rng.normal(size=(d, n))
    else:
        columns[:d] = rng.normal(size=(d, n)) * 10.0 ** rng.integers(-15, 16, (d, n))
    bounds = np.sort(np.concatenate([[0, n], rng.integers(0, n + 1, k - 1)])).astype(np.int64)
    weights = draw(st.sampled_from(["none", "whole", "real"]))
    weights = {"none": np.empty(0), "whole": rng.integers(1, 5, n).astype(float), "real": rng.random(n)}[weights]
    holes = (rng.random((d, n)) < 0.3).astype(np.uint8) if draw(st.booleans()) else np.zeros((0, 0), np.uint8)
    return Stretch(columns, bounds, weights, holes), rng


def draw_lines(stretch, rng, n_lines):
    """Lines of all kinds: along one coefficient, the constant, anything; some share a plane."""
    d = len(stretch.columns) - 1
    units = np.eye(d + 1)
    lines = []
    for _ in range(n_lines):
        plane = lines[-1].plane if lines and rng.random() < 0.4 else rng.integers(-2, 3, d + 1) * rng.random(d + 1)
        centre = float(rng.choice([0.0, 0.0, 1.0, rng.normal()]))
        scale = float(rng.choice([1e-12, 0.25, 1.0, 1e12]))
        which = int(rng.integers(-1, d + 1))
        direction = units[which] if which >= 0 else rng.integers(-1, 2, d + 1).astype(float)
        lines.append(Line(plane, direction, which, centre, scale))
        if rng.random() < 0.3:
            m = rng.integers(d)
            lines.append(Line(units[m], units[d], d, centre, scale, int(rng.choice([-1, 1]))))
    return lines


def labels_and_weights(stretch):
    sizes = np.diff(stretch.bounds)
    labels = np.repeat(np.arange(len(sizes)), sizes)
    return labels, stretch.weights if stretch.weights.size else np.ones(len(labels))


def naive_codes(stretch, line, half):
    margins = naive.combined(stretch.columns, line.plane)
    rates = stretch.columns[line.which] if line.which >= 0 else naive.combined(stretch.columns, line.direction)
    codes = naive.bucket_codes(margins, rates, line.centre, line.scale, half)
    if line.side and stretch.holes.size:
        missing = stretch.holes[np.flatnonzero(line.plane[:-1])[0]] != 0
        codes[missing] = 4 * half + (line.side > 0)
    return codes


@settings(max_examples=120, deadline=None)
@given(problem=stretches(), n_lines=st.integers(1, 4), half=st.sampled_from([1, 4, 64]))
def test_counts_by_bucket_equal_the_naive_ones(problem, n_lines, half):
    stretch, rng = problem
    lines = draw_lines(stretch, rng, n_lines)
    counted = count_lines(stretch, packed(lines), half)
    labels, weights = labels_and_weights(stretch)
    assert counted.sums.size == 0 or stretch.weights.size
    for q, line in enumerate(lines):
        codes = naive_codes(stretch, line, half)
        counts, sums = naive.tally(codes, labels, weights, 4 * half + 2, len(stretch.bounds) - 1)
        np.testing.assert_array_equal(counted.counts[q], counts)
        if stretch.weights.size:
            np.testing.assert_allclose(counted.sums[q], sums, rtol=1e-12)


@settings(max_examples=120, deadline=None)
@given(problem=stretches(), n_planes=st.integers(1, 4))
def test_counts_by_side_equal_the_naive_ones(problem, n_planes):
    stretch, rng = problem
    lines = draw_lines(stretch, rng, n_planes)
    planes, sides = np.array([line.plane for line in lines]), np.array([line.side for line in lines])
    counts, sums = count_sides(stretch, planes, sides)
    labels, weights = labels_and_weights(stretch)
    k = len(stretch.bounds) - 1
    for p, plane in enumerate(planes):
        left = ~(naive.combined(stretch.columns, plane) > 0)
        if sides[p] and stretch.holes.size:
            left[stretch.holes[np.flatnonzero(plane[:-1])[0]] != 0] = sides[p] < 0
        np.testing.assert_array_equal(counts[p], np.bincount(labels[left], minlength=k))
        if stretch.weights.size:
            np.testing.assert_allclose(sums[p], naive.class_weights(labels, weights, left, k), rtol=1e-12)


@settings(max_examples=80, deadline=None)
@given(problem=stretches(), where=st.tuples(*[st.floats(0, 1)] * 4))
def test_counts_of_pieces_add_up(problem, where):
    stretch, rng = problem
    lines = packed(draw_lines(stretch, rng, 3))
    n = stretch.columns.shape[1]
    start, *cuts, stop = sorted(int(share * (n + 1)) for share in where)
    cuts = [start, *cuts, stop]
    planes, sides = lines.planes, lines.sides[np.unique(lines.plane_of, return_index=True)[1]]

    def piece(first, last):
        part = stretch._replace(bounds=np.clip(stretch.bounds, first, min(last, n)))
        return *count_lines(part, lines, HALF), *count_sides(part, planes, sides)

    whole = piece(start, stop)
    parts = [piece(first, last) for first, last in pairwise(cuts)]
    for total, *own in zip(whole, *parts, strict=True):
        if total.dtype == np.float64:
            np.testing.assert_allclose(np.add.reduce(own), total, rtol=1e-12)
        else:
            np.testing.assert_array_equal(np.add.reduce(own), total)
    # The kernels take a stretch in two ways: by where the classes end, and by where to begin and to stop.
    counts = np.zeros_like(whole[0])
    _counting.count_lines(*stretch, start, min(stop, n), *lines, counts, np.zeros_like(whole[1]))
    np.testing.assert_array_equal(counts, whole[0])


@settings(max_examples=120, deadline=None)
@given(problem=stretches(), half=st.sampled_from([1, 4, 64, 2048]))
def test_crossings_lie_between_the_edges_of_their_buckets(problem, half):
    stretch, rng = problem
    for line in draw_lines(stretch, rng, 3):
        if line.side:
            continue
        margins = naive.combined(stretch.columns, line.plane)
        rates = stretch.columns[line.which] if line.which >= 0 else naive.combined(stretch.columns, line.direction)
        edges = line.edges(half)
        assert len(edges) == 2 * half + 1
        assert (np.diff(edges) > 0).all()
        assert edges[half] == line.centre
        each = stretch._replace(bounds=np.arange(len(margins) + 1))  # a class for each example
        counts = count_lines(each, packed([line]), half).counts[0]
        bucket = counts.argmax(axis=1)
        crosses = bucket < 4 * half
        t = naive.crossings(margins, rates)
        np.testing.assert_array_equal(np.isfinite(t), crosses)
        low, high = edges[bucket[crosses] % (2 * half)], edges[bucket[crosses] % (2 * half) + 1]
        # The distance from the centre is rounded, and so is the share of the scale that makes the bucket.
        distance = np.abs(t[crosses] - line.centre)
        rounding = 4e-7 * (np.abs(t[crosses]) + abs(line.centre))
        rounding += 4e-7 * half * (distance + line.scale) * (distance / line.scale + 1.0)
        assert (low <= t[crosses] + rounding).all()
        assert (t[crosses] <= high + rounding).all()
        np.testing.assert_array_equal(rates[crosses] < 0, bucket[crosses] >= 2 * half)


# ------------------------------------------------------------------------------------------------ the local engine


def local_problem(weighted=False, holes=False, n=700, d=3, k=3):
    """A node in the middle of a grower's arrays, and what is needed to look at it."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(n, d)).astype(np.float32)
    if holes:
        X[rng.random(X.shape) < 0.2] = np.nan
    y = rng.integers(0, k, n)
    start, stop = 50, 650
    rows = rng.permutation(n)
    rows[start:stop] = rows[start:stop][np.argsort(y[rows[start:stop]], kind="stable")]
    space = SearchSpace(np.full(d, 0.5), np.full(d, 2.0))
    fill = np.full(d, 0.25)
    examples = SimpleNamespace(
        columns=space.columns(X, rows, fill),
        labels=y[rows].astype(np.int32),
        weights=rng.random(n) + 0.1 if weighted else np.empty(0),
        rows=rows.astype(np.int64),
        holes=np.isnan(X.T).astype(np.uint8) if holes else np.zeros((0, 0), np.uint8),
        fill=fill,
    )
    return X, examples, start, stop, np.arange(k), space


def questions(d):
    rng = np.random.default_rng(2)
    units = np.eye(d + 1)
    planes = rng.normal(size=(2, d + 1))
    lines = [Line(plane, units[m], m, 0.0, 0.5) for plane in planes for m in range(d + 1)]
    lines.append(Line(planes[1], rng.normal(size=d + 1), -1, 0.0, 0.5))
    lines += [Line(units[m], units[d], d, 0.1, 0.5, side) for m in range(d) for side in (-1, 1)]
    return packed(lines)


@pytest.mark.parametrize("weighted", [False, True], ids=["alike", "weighted"])
@pytest.mark.parametrize("holes", [False, True], ids=["known", "holes"])
@pytest.mark.parametrize("keeps_columns", [True, False], ids=["columns", "borrowed"])
def test_local_engine_counts_its_node_on_any_number_of_threads(monkeypatch, weighted, holes, keeps_columns):
    X, examples, start, stop, present, space = local_problem(weighted, holes)
    lines = questions(X.shape[1])
    own = slice(start, stop)
    bounds = np.append(np.searchsorted(examples.labels[own], present), stop - start)
    node = Stretch(
        np.ascontiguousarray(examples.columns[:, own]), bounds, examples.weights[own],
        np.ascontiguousarray(examples.holes[:, examples.rows[own]]) if holes else examples.holes,
    )  # fmt: skip
    sides = lines.sides[np.unique(lines.plane_of, return_index=True)[1]]
    expected = *count_lines(node, lines, HALF), *count_sides(node, lines.planes, sides)
    if not keeps_columns:
        examples.columns = X.T
    monkeypatch.setattr(engines, "PIECE", 97)
    answers = []
    for n_jobs in (1, 2, 3):
        with ThreadPoolExecutor(n_jobs) as pool:
            engine = LocalEngine(X, examples, start, stop, present, space, pool if n_jobs > 1 else None, n_jobs)
            answers.append((*engine.count_lines(lines, HALF), *engine.count_sides(lines.planes, sides)))
    counts, sums, left, left_sums = answers[0]
    assert counts.dtype == np.int64
    np.testing.assert_array_equal(counts, expected[0])
    np.testing.assert_allclose(sums, expected[1], rtol=1e-12)
    np.testing.assert_array_equal(left, expected[2])
    np.testing.assert_allclose(left_sums, expected[3] if weighted else left, rtol=1e-12)
    for other in answers[1:]:
        for one, same in zip(answers[0], other, strict=True):
            np.testing.assert_array_equal(one, same)


@pytest.mark.parametrize("weighted", [False, True], ids=["alike", "weighted"])
@pytest.mark.parametrize("missing", [-1, 0, 1])
def test_local_engine_places_a_test(weighted, missing):
    X, examples, start, stop, present, space = local_problem(weighted, holes=True)
    engine = LocalEngine(X, examples, start, stop, present, space, None, 1)
    features = np.array([1]) if missing else np.array([0, 2])
    test = LinearTest(features.astype(np.int32), np.array([1.0, -0.5])[: len(features)], 0.2, missing=missing)
    placed = engine.place(test)
    rows = examples.rows[start:stop]
    known = np.where(np.isnan(X[rows]), examples.fill, X[rows].astype(float))
    values = known[:, features] @ test.coefficients
    if missing:
        values[np.isnan(X[rows, 1])] = np.inf * missing
    left = ~(values > 0.2)
    labels = examples.labels[start:stop]
    weights = examples.weights[start:stop] if weighted else np.ones(len(labels))
    np.testing.assert_array_equal(placed.counts, np.bincount(labels[left], minlength=len(present)))
    np.testing.assert_allclose(placed.sums, naive.class_weights(labels, weights, left, len(present)), rtol=1e-12)
    assert placed.below == pytest.approx(values[left].max())
    assert placed.above == pytest.approx(values[~left].min())


@settings(max_examples=60, deadline=None)
@given(problem=stretches(), cut=st.floats(0, 1), threshold=st.sampled_from([-1e9, 0.0, 0.5, 1e9]))
def test_how_tests_divide_pieces_adds_up(problem, cut, threshold):
    stretch, _ = problem
    values, n = stretch.columns[0].astype(float), stretch.columns.shape[1]
    cut = int(cut * n)

    def placed(first, last):
        return place_test(values[first:last], threshold, np.clip(stretch.bounds, first, last), stretch.weights)

    whole, both = placed(0, n), placed(0, cut) + placed(cut, n)
    assert (whole.below, whole.above) == (both.below, both.above)
    np.testing.assert_array_equal(whole.counts, both.counts)
    np.testing.assert_allclose(whole.sums, both.sums, rtol=1e-12)
    assert whole.below <= threshold < whole.above


def test_projections_are_those_of_prediction():
    X, examples, *_ = local_problem(holes=True)
    test = LinearTest(np.array([0, 2], dtype=np.int32), np.array([0.3, -1.7]), 0.0)
    out = project_rows(X, examples.rows, examples.fill, test)
    known = np.where(np.isnan(X), examples.fill, X.astype(float))[examples.rows]
    np.testing.assert_array_equal(out, 0.3 * known[:, 0] + -1.7 * known[:, 2])
