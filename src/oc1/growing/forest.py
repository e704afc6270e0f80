"""Forests: trees that are grown side by side, each in one call of compiled code."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..data.training import Training
from ..kernels.forest_records import SQUARES, SUM, WEIGHT, ForestData, ForestRules, Work
from ..kernels.forest_tree import grow_tree, sample_of_tree
from ..tree.forest import Forest


def forest_data(data: Training, labels: np.ndarray, numbers: np.ndarray, n_classes: int) -> ForestData:
    """Return training data as the kernels take them, a row for each attribute."""
    n = data.n_examples
    weights = np.ones(n) if data.weights is None else np.asarray(data.weights, dtype=np.float64)
    columns = np.ascontiguousarray(data.X.T, dtype=np.float64)
    has_missing = np.isnan(columns.sum(axis=1)) & np.isnan(columns).any(axis=1)
    own_labels = np.ascontiguousarray(labels, dtype=np.int32)
    return ForestData(columns, has_missing, data.fill, own_labels, numbers, weights, np.arange(n), n_classes)


def grow_trees(data: ForestData, rules: ForestRules, seed: int, numbers: Sequence[int]) -> Forest:
    """Grow the trees of these numbers in the buffers of one thread."""
    work, is_number, trees = Work.make(data, rules), data.n_classes == 0, []
    with np.errstate(all="ignore"):  # for NUMBA_DISABLE_JIT
        for number in numbers:
            n_nodes, n_terms = grow_tree(data, rules, work, seed, number)
            trees.append(taken(work, n_nodes, n_terms, is_number))
    return Forest.joined(trees)


def taken(work: Work, n_nodes: int, n_terms: int, is_number: bool) -> Forest:
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
