"""The fast line search equals the slow one, for every measure, on awkward data."""

import naive
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import njit

from oc1.impurity import MEASURES, category_numbers, get_measure
from oc1.kernels.layout import NO_SPLIT
from oc1.kernels.line_search import compiled_line_search
from oc1.kernels.random import mix, uniform
from oc1.kernels.records import Criterion, Node, Workspace


@njit
def run_line_search(line, node, criterion, margins, rates, current, ties, buffers):
    return line(node, criterion, margins, rates, current, ties, buffers)


def search(margins, rates, labels, weights, measure, current=NO_SPLIT, ties=True, min_leaf=1, seed=0):
    """Group the examples by class as the kernels want them, and search along the line."""
    order = np.argsort(labels, kind="stable")
    margins, rates, labels = margins[order], rates[order], labels[order].astype(np.int32)
    weights = np.empty(0) if weights is None else weights[order]
    present = np.unique(labels).astype(np.int64)
    n_classes = int(labels.max()) + 1
    totals = np.bincount(labels, weights=weights if weights.size else None, minlength=n_classes)[present].astype(float)
    buffers = Workspace.make(len(labels), n_classes, 1, 1).line
    buffers.places[present] = np.arange(len(present))
    buffers.stream[0] = seed
    bounds = np.append(np.searchsorted(labels, present), len(labels)).astype(np.int64)
    node = Node(0, labels, weights, totals, category_numbers(totals), present, bounds)
    criterion = Criterion(measure.code, min_leaf, *measure.pointers())
    return run_line_search(compiled_line_search(), node, criterion, margins, rates, current, ties, buffers)


@st.composite
def lines(draw):
    """Margins and rates with ties, zeros, both signs; 2 to 30 classes; weights or none; small and larger nodes."""
    n = draw(st.integers(2, 120))
    n_classes = draw(st.integers(2, 30))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    kind = draw(st.sampled_from(["integers", "normal", "axis", "clustered"]))
    if kind == "integers":
        margins, rates = rng.integers(-3, 4, n), rng.integers(-2, 3, n)
    elif kind == "normal":
        margins, rates = rng.normal(size=n) * 10.0 ** rng.integers(-6, 7), rng.normal(size=n)
    elif kind == "axis":
        margins, rates = rng.integers(-5, 6, n), np.ones(n)
    else:
        margins, rates = np.where(rng.random(n) < 0.1, 1e4, 1 + 1e-4 * rng.random(n)), np.ones(n)
    labels = rng.integers(0, n_classes, n)
    if draw(st.booleans()):
        labels = np.where(rng.random(n) < 0.8, margins > 0, labels).astype(int)
    labels[0], labels[-1] = 0, n_classes - 1
    weights = draw(st.sampled_from([None, "integer", "real"]))
    if weights is not None:
        weights = rng.integers(1, 5, n).astype(float) if weights == "integer" else rng.random(n) + 0.01
    return margins.astype(np.float32), rates.astype(np.float32), labels, weights, n_classes, draw(st.integers(1, 4))


@pytest.mark.parametrize("name", sorted(MEASURES))
@settings(max_examples=120, deadline=None)
@given(line=lines())
def test_line_search_equals_the_naive_one(name, line):
    margins, rates, labels, weights, n_classes, min_leaf = line
    mass = np.ones(len(labels)) if weights is None else weights
    best = naive.line_search(margins, rates, labels, mass, n_classes, name, min_leaf)
    score, alpha = search(margins, rates, labels, weights, MEASURES[name], min_leaf=min_leaf)
    if best is None:
        assert score == NO_SPLIT
        return
    assert score == pytest.approx(best, rel=1e-9, abs=1e-12)
    right = naive.goes_right(margins, rates, alpha)
    sides = [naive.class_weights(labels, mass, side, n_classes) for side in (~right, right)]
    assert min(right.sum(), (~right).sum()) >= min_leaf
    assert naive.gain(name, *sides) == pytest.approx(best, rel=1e-9, abs=1e-12)
    # Of equally good positions, the preferred one.
    others = [naive.goes_right(margins, rates, step) for step in naive.positions(margins, rates)]
    allowed = [right for right in others if min(right.sum(), (~right).sum()) >= min_leaf]
    pairs = [[naive.class_weights(labels, mass, side, n_classes) for side in (~right, right)] for right in allowed]
    equal = [naive.preference(name, *pair) for pair in pairs if naive.gain(name, *pair) >= best * (1 - 1e-11) - 1e-16]
    assert naive.preference(name, *sides) >= max(equal) - 1e-9


@settings(max_examples=100, deadline=None)
@given(line=lines())
def test_only_what_beats_or_equals_the_current_score_counts(line):
    margins, rates, labels, weights, _, min_leaf = line
    best, _ = search(margins, rates, labels, weights, MEASURES["twoing"], min_leaf=min_leaf)
    if best == NO_SPLIT:
        return
    again, _ = search(margins, rates, labels, weights, MEASURES["twoing"], best, True, min_leaf)
    assert again == pytest.approx(best, rel=1e-9)
    assert search(margins, rates, labels, weights, MEASURES["twoing"], best, False, min_leaf)[0] == NO_SPLIT
    if best > 1e-6:
        lower, _ = search(margins, rates, labels, weights, MEASURES["twoing"], 0.5 * best, False, min_leaf)
        assert lower == pytest.approx(best, rel=1e-9)


@pytest.mark.parametrize("n", [12, 200])
def test_ties_are_drawn_evenly(n):
    # Class 0 in the middle third: splitting at either of its ends is equally pure.
    x = np.arange(n, dtype=np.float32) - np.float32(n / 2)
    labels = ((np.arange(n) >= n // 3) & (np.arange(n) < n - n // 3)).astype(int)
    ends = [search(-x, np.ones_like(x), labels, None, MEASURES["gini"], seed=seed * 7919)[1] for seed in range(400)]
    low = np.mean(np.array(ends) < 0)
    assert len(np.unique(ends)) == 2
    assert 0.4 < low < 0.6


def test_a_line_on_which_nothing_crosses():
    labels = np.array([0, 1, 0, 1])
    still = np.zeros(4, np.float32)
    assert search(np.array([1, -1, 2, 0], np.float32), still, labels, None, MEASURES["twoing"])[0] == NO_SPLIT


def test_large_nodes_with_many_classes():
    rng = np.random.default_rng(0)
    for n, n_classes in ((5000, 2), (4000, 26)):
        margins, rates = rng.normal(size=n).astype(np.float32), rng.normal(size=n).astype(np.float32)
        labels = np.clip((margins * 2 + rates + n_classes / 2 + rng.normal(size=n)).astype(int), 0, n_classes - 1)
        labels[:n_classes] = np.arange(n_classes)
        score, alpha = search(margins, rates, labels, None, MEASURES["twoing"])
        right = naive.goes_right(margins, rates, alpha)
        sides = [np.bincount(labels[side], minlength=n_classes) for side in (~right, right)]
        assert naive.gain("twoing", *sides) == pytest.approx(score)
        t = np.sort(naive.crossings(margins, rates))
        sample = rng.choice(n - 1, 300)
        for step in (t[sample].astype(float) + t[sample + 1]) / 2:
            right = naive.goes_right(margins, rates, step)
            sides = [np.bincount(labels[side], minlength=n_classes) for side in (~right, right)]
            assert naive.gain("twoing", *sides) <= score + 1e-9


@settings(max_examples=60, deadline=None)
@given(line=lines())
def test_a_user_measure_finds_what_the_built_in_one_does(line):
    margins, rates, labels, weights, n_classes, min_leaf = line
    built_in, _ = search(margins, rates, labels, weights, MEASURES["gini"], min_leaf=min_leaf)
    score, alpha = search(margins, rates, labels, weights, get_measure(own_gini, n_classes), min_leaf=min_leaf)
    if built_in == NO_SPLIT:
        assert score == NO_SPLIT
        return
    mass = np.ones(len(labels)) if weights is None else weights
    right = naive.goes_right(margins, rates, alpha)
    sides = [naive.class_weights(labels, mass, side, n_classes) for side in (~right, right)]
    assert naive.gain("gini", *sides) == pytest.approx(built_in, rel=1e-9, abs=1e-12)


def own_gini(left, right):
    n_left, n_right = left.sum(), right.sum()
    return n_left - (left**2).sum() / n_left + n_right - (right**2).sum() / n_right


def test_streams_are_uniform_and_differ():
    @njit
    def draw(stream, n):
        out = np.empty(n)
        for i in range(n):
            out[i] = uniform(stream)
        return out

    streams = [draw(np.array([mix(np.uint64(5), np.uint64(i))], np.uint64), 2000) for i in range(2)]
    for numbers in streams:
        assert 0 <= numbers.min() < 0.01
        assert 0.99 < numbers.max() < 1
        assert abs(numbers.mean() - 0.5) < 0.03
    assert abs(np.corrcoef(streams)[0, 1]) < 0.1
