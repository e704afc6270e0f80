"""What workers do with the examples of one node that are in their partitions.

A `NodePart` is never changed: a node that is divided gives its children parts of their own, and is forgotten. So
Dask can make one again that was lost with its worker, from the partition and the tests that led there. The parts of
a node that are on one worker are one list, so that a round is a task for each worker and not for each partition; and so
large that Dask does not think of moving it to a worker that has less to do.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import reduce
from itertools import pairwise
from operator import add
from typing import Any, NamedTuple, TypeVar

import numpy as np
from distributed import get_worker

from ..data.categories import exact_class_weights
from ..data.exact_moments import ExactMoments, exact_moments
from ..data.sampling import are_multiples, are_whole, place_hashes
from ..growing.calls import Histograms, count_lines, find_near, project_rows
from ..growing.engines import NO_MISSING, LocalEngine, Placed, missing_mask, place_test
from ..growing.focus import Questions
from ..growing.grower import make_grower
from ..growing.linear_tests import LinearTest
from ..growing.nodes import NodeTable, PendingNode
from ..growing.options import TreeSetup
from ..kernels.histograms import Lines, NodeSlice
from ..tree.pruning import PruningSequence
from .partitions import Partition

T = TypeVar("T")


class Share(NamedTuple):
    """Which examples belong to a part: all, those whose hash is in a range, or all others.

    The hash of an example is that of its number among all (see `oc1.data.sampling`).
    """

    seed: int = 0
    fraction: float | None = None  # the hash is below this part of all hashes
    fold: int = -1  # the hash leaves this remainder,
    n_folds: int = 0  # divided by this
    others: bool = False

    def rows(self, partition: Partition) -> np.ndarray:
        """Return which examples of a partition belong to the part."""
        n = len(partition.y)
        if self.fraction is None and self.n_folds == 0:
            return np.arange(n)
        hashes = place_hashes(partition.first, n, self.seed)
        if self.fraction is not None:
            inside = hashes < self.fraction * 2.0**64
        else:
            inside = hashes % np.uint64(self.n_folds) == self.fold
        return np.flatnonzero(inside != self.others)


class NodePart(NamedTuple):
    """The examples of one node in one partition, grouped by class."""

    rows: np.ndarray  # int32 (n): of the partition
    bounds: np.ndarray  # int64 (n_classes + 1): where the examples of each class begin and end
    columns: np.ndarray  # float32 (d, n): in search space
    weights: np.ndarray  # float64 (n), or empty if all count alike
    missing_mask: np.ndarray  # uint8 (d, n): missing values that get a learned direction; (0, 0) if none do

    def at(self, chosen: np.ndarray) -> NodePart:
        """Return some of the examples."""
        return NodePart(
            self.rows[chosen],
            np.searchsorted(chosen, self.bounds),
            self.columns.take(chosen, axis=1),
            weights_at(self, chosen),
            self.missing_mask.take(chosen, axis=1) if self.missing_mask.size else self.missing_mask,
        )

    def bounds_of(self, present: np.ndarray) -> np.ndarray:
        """Return where the examples of the classes present begin and end; all are of these."""
        return np.asarray(self.bounds[np.append(present, len(self.bounds) - 1)])

    def slice(self, present: np.ndarray) -> NodeSlice:
        """Return the examples as the engine counts them; all are of the classes present."""
        return NodeSlice(self.columns, self.bounds_of(present), self.weights, self.missing_mask)


class Tally(NamedTuple):
    """How many examples of each class a part has."""

    counts: np.ndarray  # int64 (n_classes)
    sums: np.ndarray  # float64 (n_classes): their weights
    is_missing: np.ndarray  # bool (d): which attributes are missing somewhere, and get a learned direction


def on_all_threads(task: Callable[..., T], *lists: Sequence[Any]) -> list[T]:
    """Do the same with each part of a worker, on all its threads: what takes long releases Python's lock."""
    try:
        n_threads = min(get_worker().state.nthreads, len(lists[0]))
    except ValueError:  # not on a worker
        n_threads = 1
    if n_threads < 2:
        return list(map(task, *lists))
    with ThreadPoolExecutor(n_threads) as pool:
        return list(pool.map(task, *lists))


# ---------------------------------------------------------------------------------------------------- all examples


def grouped_rows(partition: Partition, share: Share) -> np.ndarray:
    """Return the rows that belong to a part, grouped by class."""
    rows = share.rows(partition)
    return rows[np.argsort(partition.y[rows], kind="stable")]


class PartStatistics(NamedTuple):
    """What is known of a part of the examples in one partition; adds up over partitions."""

    moments: ExactMoments
    counts: np.ndarray  # int64 (n_classes)
    weight: float
    is_whole: bool  # whether all weights are whole numbers

    @property
    def unit(self) -> float:
        """The weight of one example, as `oc1.data.sampling.weight_of_one` has it."""
        return 1.0 if self.is_whole else self.weight / float(self.counts.sum())

    def __add__(self, other: PartStatistics) -> PartStatistics:  # type: ignore[override]
        moments, is_whole = self.moments + other.moments, self.is_whole and other.is_whole
        return PartStatistics(moments, self.counts + other.counts, self.weight + other.weight, is_whole)


def statistics_of_part(partition: Partition, share: Share, n_classes: int) -> PartStatistics:
    """Look at a part of the examples."""
    rows = grouped_rows(partition, share)
    weights = partition.weights_of(rows)
    return PartStatistics(
        exact_moments(partition.X, weights, rows),
        np.bincount(partition.y[rows], minlength=n_classes),
        float(len(rows) if weights is None else weights.sum()),
        weights is None or are_whole(weights),
    )


def least_weight(partition: Partition) -> float:
    """Return the smallest weight."""
    return float(partition.weights.min()) if partition.weights.size else 1.0 if len(partition.y) else np.inf


def weight_sums(partition: Partition, unit: float) -> np.ndarray:
    """Return the sum of the weights, that of their squares, and 1 if not all are multiples of a unit."""
    weights = partition.weights if partition.weights.size else np.ones(len(partition.y))
    is_broken = len(weights) > 0 and not are_multiples(weights, unit)
    return np.array([weights.sum(), (weights**2).sum(), is_broken])


def examples_of_part(partition: Partition, share: Share) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """Return the examples of a part themselves."""
    rows = share.rows(partition)
    return partition.X[rows], partition.y[rows], partition.weights_of(rows)


def rows_at(partition: Partition, share: Share, places: np.ndarray) -> np.ndarray:
    """Return the values of some examples, by their places among those of a part."""
    return np.asarray(partition.X[grouped_rows(partition, share)[places]])


def responses_of(partition: Partition, share: Share, m: int, n_categories: int, n_classes: int) -> np.ndarray:
    """Return the weight of each class in each category of an attribute, without rounding."""
    rows = share.rows(partition)
    weights = partition.weights[rows] if partition.weights.size else np.ones(len(rows))
    return exact_class_weights(partition.X[rows, m], n_categories, partition.y[rows], n_classes, weights)


def judged(partition: Partition, share: Share, sequence: PruningSequence) -> np.ndarray:
    """Return how many examples of a part each subtree of a sequence gets right."""
    rows = share.rows(partition)
    scores = sequence.tree.score_nodes(partition.X[rows], partition.y[rows], partition.weights_of(rows))
    return sequence.sum_over_leaves(scores)


# ---------------------------------------------------------------------------------------------------- one node


def root_parts(partitions: list[Partition], share: Share, setup: TreeSetup) -> list[NodePart]:
    """Make the parts of the root."""
    space, fill = setup.statistics.space, setup.fill

    def make(partition: Partition) -> NodePart:
        rows = grouped_rows(partition, share)
        columns = space.columns(partition.X, rows, fill)[:-1]
        mask = NO_MISSING
        if setup.options.missing == "direction":
            mask = missing_mask(partition.X, setup.coded)
            # Kept also where none are missing, so that all parts of a node are alike.
            mask = np.ascontiguousarray(mask[:, rows]) if mask.size else np.zeros(columns.shape, dtype=np.uint8)
        bounds = np.searchsorted(partition.y[rows], np.arange(setup.n_classes + 1)).astype(np.int64)
        return NodePart(rows.astype(np.int32), bounds, columns, weights_at(partition, rows), mask)

    return on_all_threads(make, partitions)


def child_parts(
    parts: list[NodePart], partitions: list[Partition], fill: np.ndarray, test: LinearTest, side: int
) -> list[NodePart]:
    """Make the parts of the left (0) or right (1) child of a node that is divided by a test."""

    def make(part: NodePart, partition: Partition) -> NodePart:
        there = (project_rows(partition.X, part.rows, fill, test) > test.threshold) == bool(side)
        return part.at(np.flatnonzero(there))

    return on_all_threads(make, parts, partitions)


def weights_at(examples: Partition | NodePart, places: np.ndarray | slice) -> np.ndarray:
    """Return the weights of some of the examples; empty, too, if all count alike."""
    weights: np.ndarray = examples.weights
    return weights[places] if weights.size else weights


def tally(parts: list[NodePart]) -> list[Tally]:
    """Count the examples of parts."""
    tallies = []
    for part in parts:
        counts = np.diff(part.bounds)
        sums = counts.astype(np.float64)
        if part.weights.size:
            sums = np.array([part.weights[first:stop].sum() for first, stop in pairwise(part.bounds.tolist())])
        tallies.append(Tally(counts, sums, np.array([own.any() for own in part.missing_mask], dtype=bool)))
    return tallies


def count_lines_of_parts(parts: list[NodePart], present: np.ndarray, lines: Lines, half: int) -> Histograms:
    """Count the examples of several parts by class and bucket along some lines."""
    return reduce(add, on_all_threads(lambda part: count_lines(part.slice(present), lines, half), parts))


class NearParts(NamedTuple):
    """What several parts of a node say of some planes."""

    left: Histograms  # (q, k): the classes on the left of each plane
    picked: list[list[Partition]]  # for each plane, the examples near it, of each part


def near_parts(
    parts: list[NodePart], partitions: list[Partition], present: np.ndarray, questions: Questions
) -> NearParts:
    """Look which examples of several parts are near some planes, and what is on their left."""
    found = on_all_threads(lambda part: find_near(part.slice(present), *questions), parts)
    picked = [pick(parts, partitions, places) for places in zip(*(places for _, places in found), strict=True)]
    return NearParts(reduce(add, (left for left, _ in found)), picked)


def place_parts(
    parts: list[NodePart], partitions: list[Partition], present: np.ndarray, fill: np.ndarray, test: LinearTest
) -> Placed:
    """Look how a test divides the examples of several parts."""

    def place(part: NodePart, partition: Partition) -> Placed:
        values = project_rows(partition.X, part.rows, fill, test)
        return place_test(values, test.threshold, part.bounds_of(present), part.weights)

    return reduce(add, on_all_threads(place, parts, partitions))


def pick(parts: list[NodePart], partitions: list[Partition], places: Sequence[np.ndarray | slice]) -> list[Partition]:
    """Return examples of several parts: those at the given places in each."""
    picked = []
    for part, partition, wanted in zip(parts, partitions, places, strict=True):
        rows = part.rows[wanted]
        picked.append(Partition(partition.X[rows], partition.y[rows], weights_at(part, wanted)))
    return picked


def in_order(numbers: list[list[int]], answers: list[list[T]]) -> list[T]:
    """Bring what came from several workers into the order of the partitions; `numbers` says from which they are."""
    by_number = dict(zip(itertools.chain(*numbers), itertools.chain(*answers), strict=True))
    return [by_number[number] for number in sorted(by_number)]


def local_engine(numbers: list[list[int]], picked: list[list[Partition]], setup: TreeSetup) -> LocalEngine:
    """Return an engine for examples that were picked, wherever this is called."""
    X, labels, weights = map(np.concatenate, zip(*(own[:3] for own in in_order(numbers, picked)), strict=True))
    return LocalEngine(X, labels, weights if weights.size else None, np.arange(len(labels)), setup)


def grow_subtree(
    numbers: list[list[int]], picked: list[list[Partition]], node: PendingNode, setup: TreeSetup
) -> tuple[NodeTable, int]:
    """Grow the whole subtree of a node from its examples; return it and how many hyperplanes were considered."""
    engine = local_engine(numbers, picked, setup)
    grower = make_grower(engine)
    return grower.grow_from(node._replace(examples=engine.root())), grower.n_hyperplanes
