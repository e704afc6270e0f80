"""What workers do with the examples of one node that are in their partitions.

A `Portion` is never changed: a node that is divided gives its children portions of their own, and is forgotten. So
Dask can make one again that was lost with its worker, from the partition and the tests that led there. The portions of
a node that are on one worker are one list, so that a round is a task for each worker and not for each partition; and so
large that Dask does not think of moving it to a worker that has less to do.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import reduce
from itertools import pairwise
from operator import add
from typing import Any, NamedTuple

import numpy as np
from distributed import get_worker

from ..data.categories import exact_class_weights
from ..data.exact_moments import ExactMoments, exact_moments
from ..data.sampling import are_whole, place_hashes
from ..data.search_space import SearchSpace
from ..growing.engines import Placed, Stretch, count_lines, count_sides, place_test, project_rows
from ..growing.grower import NO_HOLES, Ground, GrowthOptions, TreeGrower, holes_of
from ..growing.large_nodes import Counted, Lines
from ..growing.linear_tests import LinearTest
from ..growing.nodes import NodeTable
from ..growing.penalised import CarefulGrower
from ..kernels._kernels import BY_FILL, Examples, flat_view
from ..tree.pruning import PruningSequence
from .partitions import Partition


class Share(NamedTuple):
    """Which examples belong to a part: all, those whose hash is in a range, or all others.

    The hash of an example is that of its number among all (see `oc1.data.sampling`).
    """

    seed: int = 0
    fraction: float | None = None  # the hash is below this part of all hashes
    fold: int = -1  # the hash leaves this remainder,
    n_folds: int = 0  # divided by this
    others: bool = False

    def rows(self, first: int, n: int) -> np.ndarray:
        """Return which of n examples, the first of which is number `first`, belong to the part."""
        if self.fraction is None and self.n_folds == 0:
            return np.arange(n)
        hashes = place_hashes(first, n, self.seed)
        if self.fraction is not None:
            inside = hashes < self.fraction * 2.0**64
        else:
            inside = hashes % np.uint64(self.n_folds) == self.fold
        return np.flatnonzero(inside != self.others)


class Portion(NamedTuple):
    """The examples of one node in one partition, grouped by class."""

    rows: np.ndarray  # int32 (n): of the partition
    bounds: np.ndarray  # int64 (n_classes + 1): where the examples of each class begin and end
    columns: np.ndarray  # float32 (d, n): in search space
    weights: np.ndarray  # float64 (n), or empty if all count alike
    holes: np.ndarray  # uint8 (d, n): missing values that get a learned direction; (0, 0) if none do

    def stretch(self, present: np.ndarray) -> Stretch:
        """Return the examples as the engine counts them; all are of the classes present."""
        return Stretch(self.columns, self.bounds[np.append(present, len(self.bounds) - 1)], self.weights, self.holes)


class Tally(NamedTuple):
    """How many examples of each class a portion has."""

    counts: np.ndarray  # int64 (n_classes)
    sums: np.ndarray  # float64 (n_classes): their weights
    holes: np.ndarray  # bool (d): which attributes are missing somewhere


def on_all_threads(task: Callable, *lists: Sequence) -> list:
    """Do the same with each portion of a worker, on all its threads: what takes long releases Python's lock."""
    try:
        n_threads = min(get_worker().state.nthreads, len(lists[0]))
    except ValueError:  # not on a worker
        n_threads = 1
    if n_threads < 2:
        return list(map(task, *lists))
    with ThreadPoolExecutor(n_threads) as pool:
        return list(pool.map(task, *lists))


# ---------------------------------------------------------------------------------------------------- all examples


def grouped_rows(partition: Partition, first: int, share: Share) -> np.ndarray:
    """Return the rows that belong to a part, grouped by class."""
    rows = share.rows(first, len(partition.y))
    return rows[np.argsort(partition.y[rows], kind="stable")]


class Facts(NamedTuple):
    """What is known of a part of the examples in one partition; adds up over partitions."""

    moments: ExactMoments
    counts: np.ndarray  # int64 (n_classes)
    weight: float
    is_whole: bool  # whether all weights are whole numbers

    @property
    def unit(self) -> float:
        """The weight of one example, as `oc1.data.sampling.weight_of_one` has it."""
        return 1.0 if self.is_whole else self.weight / float(self.counts.sum())

    def __add__(self, other: Facts) -> Facts:  # type: ignore[override]
        return Facts(
            self.moments + other.moments, self.counts + other.counts, self.weight + other.weight,
            self.is_whole and other.is_whole,
        )  # fmt: skip


def facts_of(partition: Partition, first: int, share: Share, n_classes: int) -> Facts:
    """Look at a part of the examples."""
    rows = grouped_rows(partition, first, share)
    weights = partition.weights[rows] if partition.weights.size else None
    everything = len(rows) == len(partition.y)  # what adds up exactly does so in any order
    own_weights = None if weights is None else partition.weights
    return Facts(
        exact_moments(partition.X, own_weights) if everything else exact_moments(partition.X, weights, rows),
        np.bincount(partition.y[rows], minlength=n_classes),
        float(len(rows) if weights is None else weights.sum()),
        weights is None or are_whole(weights),
    )


def rows_at(partition: Partition, first: int, share: Share, places: np.ndarray) -> np.ndarray:
    """Return the values of some examples, by their places among those of a part."""
    return partition.X[grouped_rows(partition, first, share)[places]]


def mass_of(partition: Partition, first: int, share: Share) -> float:
    """Return the weight of a part."""
    rows = share.rows(first, len(partition.y))
    return float(partition.weights[rows].sum() if partition.weights.size else len(rows))


def responses_of(partition: Partition, first: int, share: Share, m: int, n_categories: int, n_classes: int):
    """Return the weight of each class in each category of an attribute, without rounding."""
    rows = share.rows(first, len(partition.y))
    weights = partition.weights[rows] if partition.weights.size else np.ones(len(rows))
    return exact_class_weights(partition.X[rows, m], n_categories, partition.y[rows], n_classes, weights)


def judged(partition: Partition, first: int, share: Share, sequence: PruningSequence) -> np.ndarray:
    """Return how many examples of a part each subtree of a sequence gets right."""
    rows = share.rows(first, len(partition.y))
    weights = partition.weights[rows] if partition.weights.size else None
    return sequence.correct(partition.X[rows], partition.y[rows], weights)


# ---------------------------------------------------------------------------------------------------- one node


def enter(
    partitions: list[Partition], firsts: list[int], share: Share, space: SearchSpace, fill: np.ndarray, n_classes: int,
    coded: Sequence[bool] | None,
) -> list[Portion]:  # fmt: skip
    """Make the portions of the root; with `coded`, missing values of the attributes that are not get a direction."""

    def make(partition: Partition, first: int) -> Portion:
        rows = grouped_rows(partition, first, share)
        columns = space.columns(partition.X, rows, fill)[:-1]
        holes = NO_HOLES
        if coded is not None:
            holes = holes_of(partition.X, coded)
            # Kept also where none are missing, so that all portions of a node are alike.
            holes = np.ascontiguousarray(holes[:, rows]) if holes.size else np.zeros(columns.shape, dtype=np.uint8)
        weights = partition.weights[rows] if partition.weights.size else partition.weights
        bounds = np.searchsorted(partition.y[rows], np.arange(n_classes + 1)).astype(np.int64)
        return Portion(rows.astype(np.int32), bounds, columns, weights, holes)

    return on_all_threads(make, partitions, firsts)


def go(
    portions: list[Portion], partitions: list[Partition], fill: np.ndarray, test: LinearTest, side: int
) -> list[Portion]:
    """Make the portions of the left (0) or right (1) child of a node that is divided by a test."""

    def make(portion: Portion, partition: Partition) -> Portion:
        there = (project_rows(partition.X, portion.rows, fill, test) > test.threshold) == bool(side)
        chosen = np.flatnonzero(there)
        return Portion(
            portion.rows[chosen],
            np.searchsorted(chosen, portion.bounds),
            portion.columns.take(chosen, axis=1),
            portion.weights[chosen] if portion.weights.size else portion.weights,
            portion.holes.take(chosen, axis=1) if portion.holes.size else portion.holes,
        )

    return on_all_threads(make, portions, partitions)


def tally(portions: list[Portion]) -> list[Tally]:
    """Count the examples of portions."""
    tallies = []
    for portion in portions:
        counts = np.diff(portion.bounds)
        sums = counts.astype(np.float64)
        if portion.weights.size:
            sums = np.array([portion.weights[first:stop].sum() for first, stop in pairwise(portion.bounds.tolist())])
        tallies.append(Tally(counts, sums, np.array([own.any() for own in portion.holes], dtype=bool)))
    return tallies


def count_lines_together(portions: list[Portion], present: np.ndarray, lines: Lines, half: int) -> Counted:
    """Count the examples of several portions by class and bucket along some lines."""
    return reduce(add, on_all_threads(lambda portion: count_lines(portion.stretch(present), lines, half), portions))


def count_sides_together(
    portions: list[Portion], present: np.ndarray, planes: np.ndarray, sides: np.ndarray
) -> Counted:
    """Count the examples of several portions by class on the left of some planes."""
    return reduce(add, on_all_threads(lambda portion: count_sides(portion.stretch(present), planes, sides), portions))


def place_together(
    portions: list[Portion], partitions: list[Partition], present: np.ndarray, fill: np.ndarray, test: LinearTest
) -> Placed:
    """Look how a test divides the examples of several portions."""

    def place(portion: Portion, partition: Partition) -> Placed:
        values = project_rows(partition.X, portion.rows, fill, test)
        return place_test(values, test.threshold, portion.stretch(present).bounds, portion.weights)

    return reduce(add, on_all_threads(place, portions, partitions))


class Picked(NamedTuple):
    """Some examples, as the user gave them."""

    X: np.ndarray
    labels: np.ndarray  # int32
    weights: np.ndarray  # empty if all count alike


def pick(portions: list[Portion], partitions: list[Partition], places: list[np.ndarray | None]) -> list[Picked]:
    """Return examples of several portions: those at the given places in each, or all (None)."""
    picked = []
    for portion, partition, wanted in zip(portions, partitions, places, strict=True):
        chosen: Any = slice(None) if wanted is None else wanted
        rows = portion.rows[chosen]
        weights = portion.weights[chosen] if portion.weights.size else portion.weights
        picked.append(Picked(partition.X[rows], partition.y[rows].astype(np.int32), weights))
    return picked


def join(parts: list[Picked]) -> Picked:
    """Put examples together, in the order of their classes and then of their parts."""
    labels = np.concatenate([part.labels for part in parts])
    order = np.argsort(labels, kind="stable")
    weights = np.concatenate([part.weights for part in parts])
    X = np.concatenate([part.X for part in parts])
    return Picked(X[order], labels[order], weights[order] if weights.size else weights)


def finish(
    numbers: list[list[int]], picked: list[list[Picked]], above: NodeTable, row: int, options: GrowthOptions,
    ground: Ground, fill: np.ndarray, n_classes: int, coded: Sequence[bool],
) -> tuple[NodeTable, int]:  # fmt: skip
    """Grow the whole subtree of a node from its examples; return it and how many hyperplanes were considered.

    The examples come from several workers; `numbers` says from which partitions, to bring them in order.
    """
    in_order = sorted(
        ((number, part) for own, parts in zip(numbers, picked, strict=True)
         for number, part in zip(own, parts, strict=True)),
        key=lambda one: one[0],
    )  # fmt: skip
    X, labels, weights = join([part for _, part in in_order])
    kind: Any = CarefulGrower if options.is_careful else TreeGrower
    grower = kind(
        X, labels, weights if weights.size else None, np.arange(len(labels)), fill, n_classes, options, 0, None, coded,
        ground,
    )  # fmt: skip
    return grower.grow(above, row), grower.n_hyperplanes


def examples_of(
    picked: Picked, space: SearchSpace, fill: np.ndarray, has_holes: bool, coded: Sequence[bool]
) -> Examples:
    """Return examples as the kernels take them."""
    values, row_step, column_step = flat_view(picked.X)
    rows = np.arange(len(picked.labels))
    return Examples(
        values=values,
        row_step=row_step,
        column_step=column_step,
        fill=fill,
        shift=space.shift,
        scale=space.scale,
        columns=space.columns(picked.X, rows, fill),
        labels=picked.labels,
        weights=picked.weights,
        rows=rows,
        holes=holes_of(picked.X, coded) if has_holes else NO_HOLES,
    )


def is_missing_test(test: LinearTest, placed: Placed) -> bool:
    """Whether a test with a side for missing values has all known ones on the other side."""
    return test.missing != BY_FILL and (placed.below == -np.inf or placed.above == np.inf)
