"""Counting by bucket and by side, in any pieces, equals looking at one example after the other."""

from itertools import pairwise

import naive
import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from oc1.growing.calls import count_lines, count_sides, project_rows
from oc1.growing.linear_tests import LinearTest
from oc1.growing.rounds import Line, packed
from oc1.kernels.histograms import NodeSlice

HALF = 8


@st.composite
def node_slices(draw):
    """Examples with ties, zeros, wild values, blocks that end anywhere, empty classes, weights, missing values."""
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
    mask = (rng.random((d, n)) < 0.3).astype(np.uint8) if draw(st.booleans()) else np.zeros((0, 0), np.uint8)
    return NodeSlice(columns, bounds, weights, mask), rng


class Counted:
    """Examples that count themselves."""

    def __init__(self, part):
        self.part = part

    def count_lines(self, lines, half):
        return count_lines(self.part, lines, half)


def draw_lines(part, rng, n_lines):
    """Lines of all kinds: along one coefficient, the constant, anything; some share a plane."""
    d = len(part.columns) - 1
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


def labels_and_weights(part):
    sizes = np.diff(part.bounds)
    labels = np.repeat(np.arange(len(sizes)), sizes)
    return labels, part.weights if part.weights.size else np.ones(len(labels))


def naive_codes(part, line, half):
    margins = naive.combined(part.columns, line.plane)
    rates = part.columns[line.which] if line.which >= 0 else naive.combined(part.columns, line.direction)
    codes = naive.bucket_codes(margins, rates, line.centre, line.scale, half)
    if line.side and part.missing_mask.size:
        missing = part.missing_mask[np.flatnonzero(line.plane[:-1])[0]] != 0
        codes[missing] = 4 * half + (line.side > 0)
    return codes


@settings(max_examples=120, deadline=None)
@given(problem=node_slices(), n_lines=st.integers(1, 4), half=st.sampled_from([1, 4, 64]))
def test_counts_by_bucket_equal_the_naive_ones(problem, n_lines, half):
    part, rng = problem
    lines = draw_lines(part, rng, n_lines)
    counted = count_lines(part, packed(lines), half)
    labels, weights = labels_and_weights(part)
    assert counted.sums.size == 0 or part.weights.size
    for q, line in enumerate(lines):
        codes = naive_codes(part, line, half)
        counts, sums = naive.tally(codes, labels, weights, 4 * half + 2, len(part.bounds) - 1)
        np.testing.assert_array_equal(counted.counts[q], counts)
        if part.weights.size:
            np.testing.assert_allclose(counted.sums[q], sums, rtol=1e-12)


@settings(max_examples=120, deadline=None)
@given(problem=node_slices(), n_planes=st.integers(1, 4))
def test_counts_by_side_equal_the_naive_ones(problem, n_planes):
    part, rng = problem
    lines = draw_lines(part, rng, n_planes)
    planes, sides = np.array([line.plane for line in lines]), np.array([line.side for line in lines])
    counts, sums = count_sides(Counted(part).count_lines, planes, sides)
    labels, weights = labels_and_weights(part)
    k = len(part.bounds) - 1
    for p, plane in enumerate(planes):
        left = ~(naive.combined(part.columns, plane) > 0)
        if sides[p] and part.missing_mask.size:
            left[part.missing_mask[np.flatnonzero(plane[:-1])[0]] != 0] = sides[p] < 0
        np.testing.assert_array_equal(counts[p], np.bincount(labels[left], minlength=k))
        if part.weights.size:
            np.testing.assert_allclose(sums[p], naive.class_weights(labels, weights, left, k), rtol=1e-12)


@settings(max_examples=80, deadline=None)
@given(problem=node_slices(), where=st.tuples(*[st.floats(0, 1)] * 4))
def test_counts_of_pieces_add_up(problem, where):
    part, rng = problem
    lines = packed(draw_lines(part, rng, 3))
    n = part.columns.shape[1]
    start, *cuts, stop = sorted(int(share * (n + 1)) for share in where)
    cuts = [start, *cuts, stop]
    planes, sides = lines.planes, lines.sides[np.unique(lines.plane_of, return_index=True)[1]]

    def counted(first, last):
        piece = part._replace(bounds=np.clip(part.bounds, first, min(last, n)))
        return *count_lines(piece, lines, HALF), *count_sides(Counted(piece).count_lines, planes, sides)

    whole = counted(start, stop)
    parts = [counted(first, last) for first, last in pairwise(cuts)]
    for total, *own in zip(whole, *parts, strict=True):
        if total.dtype == np.float64:
            np.testing.assert_allclose(np.add.reduce(own), total, rtol=1e-12)
        else:
            np.testing.assert_array_equal(np.add.reduce(own), total)


@settings(max_examples=120, deadline=None)
@given(problem=node_slices(), half=st.sampled_from([1, 4, 64, 2048]))
def test_crossings_lie_between_the_edges_of_their_buckets(problem, half):
    part, rng = problem
    for line in draw_lines(part, rng, 3):
        if line.side:
            continue
        margins = naive.combined(part.columns, line.plane)
        rates = part.columns[line.which] if line.which >= 0 else naive.combined(part.columns, line.direction)
        edges = line.edges(half)
        assert len(edges) == 2 * half + 1
        assert (np.diff(edges) > 0).all()
        assert edges[half] == line.centre
        each = part._replace(bounds=np.arange(len(margins) + 1))  # a class for each example
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


def test_projections_are_those_of_prediction():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(700, 3)).astype(np.float32)
    X[rng.random(X.shape) < 0.2] = np.nan
    rows, fill = rng.permutation(700), np.full(3, 0.25)
    test = LinearTest(np.array([0, 2], dtype=np.int32), np.array([0.3, -1.7]), 0.0)
    known = np.where(np.isnan(X), fill, X.astype(float))[rows]
    np.testing.assert_array_equal(project_rows(X, rows, fill, test), 0.3 * known[:, 0] + -1.7 * known[:, 2])
