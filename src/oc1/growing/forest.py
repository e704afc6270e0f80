"""Forests: trees that are grown side by side, each in one call of compiled code."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..data.training import Training
from ..kernels.forest_records import SQUARES, SUM, WEIGHT, ForestData, ForestRules, make_work
from ..kernels.forest_tree import grow_tree, sample_of_tree
from ..kernels.layout import ABOVE_ALL
from ..tree.forest import Forest

#: Attributes up to 2 to this power, or down to its reciprocal, are of an ordinary size.
MAX_EXPONENT = 60


def attribute_exponents(data: Training) -> np.ndarray:
    """Return the powers of two by which attributes are divided: 0, but for those of extreme size."""
    lowest, highest = np.fmin.reduce(data.X, axis=0), np.fmax.reduce(data.X, axis=0)
    exponents = np.frexp(np.fmax(-lowest, highest).astype(np.float64))[1] - 1
    return np.where(np.abs(exponents) <= MAX_EXPONENT, 0, exponents)


def forest_data(data: Training, labels: np.ndarray, numbers: np.ndarray, n_classes: int) -> ForestData:
    """Return training data as the kernels take them, a row for each attribute."""
    n, exponents = data.n_examples, attribute_exponents(data)
    weights = np.ones(n) if data.weights is None else np.asarray(data.weights, dtype=np.float64)
    columns = np.ascontiguousarray(data.X.T, dtype=np.float64)
    if exponents.any():
        columns = np.ldexp(columns, -exponents[:, None])
    fill, own_labels = np.ldexp(data.fill, -exponents), np.ascontiguousarray(labels, dtype=np.int32)
    return ForestData(columns, fill, own_labels, numbers, weights, np.arange(n), n_classes)


def in_users_units(trees: Forest, data: Training) -> Forest:
    """Return trees of `forest_data` as trees of the attributes as they are."""
    exponents, has_test = attribute_exponents(data), trees.n_terms > 0
    if not exponents.any() or not has_test.any():
        return trees
    # A test is multiplied by a power of two in the middle of those of its attributes, so that nothing overflows.
    own, first, factors = exponents[trees.features], trees.terms[:-1][has_test], np.zeros(len(has_test), dtype=np.int64)
    factors[has_test] = (np.minimum.reduceat(own, first) + np.maximum.reduceat(own, first)) // 2
    is_far = trees.thresholds == ABOVE_ALL
    return replace(
        trees,
        coefficients=np.ldexp(trees.coefficients, np.repeat(factors, trees.n_terms) - own),
        thresholds=np.where(is_far, ABOVE_ALL, np.ldexp(np.where(is_far, 0.0, trees.thresholds), factors)),
        gaps=np.ldexp(trees.gaps, factors),
    )


def grow_trees(data: ForestData, rules: ForestRules, seed: int, numbers: Sequence[int]) -> Forest:
    """Grow the trees of these numbers in the buffers of one thread."""
    work, is_number, trees = make_work(data, rules), data.n_classes == 0, []
    with np.errstate(all="ignore"):  # for NUMBA_DISABLE_JIT
        for number in numbers:
            n_nodes, n_terms = grow_tree(data, rules, work, seed, number)
            trees.append(taken(work, n_nodes, n_terms, is_number))
    return Forest.joined(trees)


def taken(work: Any, n_nodes: int, n_terms: int, is_number: bool) -> Forest:
    """Copy a tree out of the buffers."""
    statistics, nothing = work.statistics[:n_nodes], np.empty(0)
    values, losses, counts = nothing, nothing, statistics.copy()
    if is_number:
        counts = statistics[:, WEIGHT : WEIGHT + 1].copy()
        values = statistics[:, SUM] / statistics[:, WEIGHT]
        losses = np.maximum(statistics[:, SQUARES] - values * statistics[:, SUM], 0.0)
    return Forest(
        np.array([n_nodes]),
        work.children[:n_nodes].copy(),
        counts,
        work.gains[:n_nodes].copy(),
        work.thresholds[:n_nodes].copy(),
        work.gaps[:n_nodes].copy(),
        work.missing[:n_nodes].copy(),
        np.diff(work.terms[: n_nodes + 1]),
        work.features[:n_terms].copy(),
        work.coefficients[:n_terms].copy(),
        values,
        losses,
    )


def times_drawn(data: ForestData, rules: ForestRules, seed: int, number: int) -> np.ndarray:
    """Return how often each example is in the bootstrap sample of a tree."""
    times = np.empty(len(data.weights), np.int32)
    sample_of_tree(data.drawable, rules.n_bootstrap, seed, number, np.empty(1, np.uint64), times)
    return times
