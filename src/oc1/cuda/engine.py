"""The engine of a tree whose examples are on a GPU (see `oc1.growing.engines`).

The GPU holds the user's array, to place tests in the user's units, and the columns of the search, in the order of the
nodes. What is counted there is whole numbers, in any order; samples, and the examples near a plane, are copied to the
processor, which climbs on them. A node that is no longer large is copied as a whole, and its subtree is grown by the
processor's threads, while the GPU counts others. So the tree is the one that the processor alone would grow.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property, partial, reduce
from itertools import pairwise
from operator import add
from typing import Any

import numpy as np

from ..data.exact_moments import ExactMoments
from ..data.search_space import sample_positions
from ..growing.calls import Histograms, count_sides
from ..growing.engines import (
    MAX_LARGE_TOGETHER,
    NO_MISSING,
    LocalExamples,
    Placed,
    divide_by_counts,
    missing_mask,
    prepared,
)
from ..growing.focus import Nearby, Questions
from ..growing.large_nodes import LargeNode
from ..growing.linear_tests import LinearTest
from ..growing.nodes import Expansion, NodeTable, PendingNode
from ..growing.options import TreeSetup
from ..kernels.histograms import Lines
from ..kernels.records import Examples, Source
from .device import DeviceSlice

#: Examples that a test is placed on at a time; 16 times as many values are copied to the GPU at a time.
MAX_ROWS_PER_PIECE = 2**22
#: Weights are whole numbers on the GPU, in a unit in which they add up to this at most.
MAX_TOTAL = 2.0**62
#: Memory for each example beside the values: its row, its side, and what is at hand while a node is divided.
BYTES_PER_EXAMPLE = 4 + 1 + 24


class CudaEngine:
    """The examples of a tree are on a GPU.

    Parameters
    ----------
    device : Device
    X : float array (n_samples, n_features), may hold NaN
        In this process.
    on_device : array or None
        The same values, if they are on the GPU already.
    y, weights, rows, setup, moments
        As for `oc1.growing.engines.LocalEngine`.
    """

    is_local = True  # small nodes are

    def __init__(
        self,
        device: Any,
        X: np.ndarray,
        on_device: Any,
        y: np.ndarray,
        weights: np.ndarray | None,
        rows: np.ndarray,
        setup: TreeSetup,
        moments: ExactMoments | None = None,
    ):
        options, fill = setup.options, setup.fill
        rows, own_weights, setup = prepared(X, y, weights, rows, setup, moments)
        self.device, self.X, self.y, self.setup, self.n_jobs = device, X, y, setup, options.n_jobs
        self.source, self.host_weights = Source.of(X, fill), weights
        self.missing = missing_mask(X, setup.coded) if options.missing == "direction" else NO_MISSING
        self.max_local_rows = len(rows)
        self.n_small_together, self.n_large_together = options.n_jobs, min(options.n_jobs, MAX_LARGE_TOGETHER)
        self.pool = ThreadPoolExecutor(options.n_jobs) if options.n_jobs > 1 else None
        self.min_together_rows = options.min_shared_rows(len(fill))
        check_memory(device, X, on_device, len(rows), own_weights is not None, self.missing.size > 0)
        self._fill_device(X if on_device is None else on_device, on_device is None, rows, own_weights)
        self._root = self.make_node(0, np.bincount(y[rows], minlength=setup.n_classes))

    def _fill_device(self, X: Any, is_copied: bool, rows: np.ndarray, weights: np.ndarray | None) -> None:
        """Bring the values, and what is known of the examples, to the GPU."""
        device, xp = self.device, self.device.xp
        self.table = copy_table(X, xp) if is_copied else X
        self.rows = xp.asarray(rows.astype(np.int32))
        self.columns = device.gather_columns(self.table, self.rows, self.setup.fill, self.setup.statistics.space)
        self.weights, self.unit = None, 1.0
        if weights is not None:
            self.unit = weight_unit(self.setup)
            self.weights = whole_weights(weights, self.unit, xp)
        self.mask = xp.asarray(np.ascontiguousarray(self.missing[:, rows])) if self.missing.size else None

    def root(self) -> CudaExamples | LocalExamples:
        """Return all examples."""
        return self._root

    def make_node(self, start: int, sizes: np.ndarray) -> CudaExamples | LocalExamples:
        """Return the examples from a place on, of which there are so many of each class; small nodes are copied."""
        node = CudaExamples(self, start, sizes)
        is_small = node.size < self.setup.options.min_large_rows
        return node.copied(slice(start, node.stop)) if is_small else node

    def gathered(self, node: PendingNode) -> PendingNode:
        """Nodes are grown as they are."""
        return node

    def hand_over(self, node: PendingNode) -> tuple[NodeTable, int] | None:
        """Nothing is handed over: small nodes are in this process."""

    def stop(self) -> None:
        """Nobody else need be told that a thread has failed."""


def weight_unit(setup: TreeSetup) -> float:
    """Return the unit in which the weights of a tree are whole numbers: a power of two."""
    return float(2.0 ** np.ceil(np.log2(setup.statistics.total / MAX_TOTAL)))


def whole_weights(weights: np.ndarray, unit: float, xp: Any) -> Any:
    """Copy weights to the GPU, as whole numbers."""
    return xp.asarray(np.rint(weights / unit).astype(np.int64))


def find_near(device: Any, part: DeviceSlice, questions: Questions) -> tuple[Histograms, list[Any]]:
    """Count the classes on the left of planes, and find the places, on the GPU, of the examples near them."""
    left = count_sides(partial(device.count_lines, part), questions.planes)
    first, last = int(part.bounds[0]), int(part.bounds[-1])
    places = [
        device.find_near(part.columns, first, last, plane, width) if width >= 0.0 else device.xp.arange(0)
        for plane, width in zip(*questions, strict=True)
    ]
    return left, places


def copy_table(X: np.ndarray, xp: Any) -> Any:
    """Copy an array, which may be a file, to the GPU, piece by piece and in its order."""
    if X.flags.f_contiguous and not X.flags.c_contiguous:
        return copy_table(X.T, xp).T
    table = xp.empty(X.shape, dtype=X.dtype)
    n_rows = max(1, MAX_ROWS_PER_PIECE * 16 // max(1, X.shape[1]))
    for first in range(0, len(X), n_rows):
        table[first : first + n_rows] = xp.asarray(np.ascontiguousarray(X[first : first + n_rows]))
    return table


def check_memory(device: Any, X: np.ndarray, on_device: Any, n_rows: int, is_weighted: bool, has_mask: bool) -> None:
    """Raise an error if the examples do not fit on the GPU, before anything is copied."""
    d = X.shape[1]
    per_row = 4 * d + BYTES_PER_EXAMPLE + 8 * is_weighted + d * has_mask
    needed = n_rows * per_row + (X.nbytes if on_device is None else 0)
    if needed > device.free_bytes:
        raise MemoryError(
            f"{n_rows:,} examples of {d} attributes need {needed / 2**30:.1f} GiB of the GPU's memory, "
            f"and {device.free_bytes / 2**30:.1f} GiB are free: use device='cpu', or oc1.dask on several machines"
        )


@dataclass(frozen=True, eq=False)
class CudaExamples:
    """The examples of a node: a range of the engine's arrays, grouped by class."""

    engine: CudaEngine
    start: int
    sizes: np.ndarray  # int64 (n_classes)

    @property
    def size(self) -> int:
        """Number of examples."""
        return int(self.sizes.sum())

    @property
    def stop(self) -> int:
        """Where the next node begins."""
        return self.start + self.size

    @cached_property
    def bounds(self) -> np.ndarray:
        """Where the examples of each class that is present begin, and the last ones end."""
        return self.start + np.concatenate([[0], np.cumsum(self.class_sizes)])

    @property
    def class_sizes(self) -> np.ndarray:
        """Number of examples of each class that is present."""
        return self.sizes[self.sizes > 0]

    @cached_property
    def class_weights(self) -> np.ndarray:
        """Weight of each class of the data."""
        weights = self.sizes.astype(np.float64)
        if self.engine.weights is not None:
            weights[self.sizes > 0] = self._by_class(self.engine.weights[self.start : self.stop]) * self.engine.unit
        return weights

    @property
    def missing_attributes(self) -> np.ndarray:
        """Which attributes are missing in some example, and get a learned direction then."""
        if self.engine.mask is None:
            return np.zeros(self.engine.X.shape[1], dtype=bool)
        return self._host(self.engine.mask[:, self.start : self.stop].any(axis=1))

    def _host(self, array: Any) -> np.ndarray:
        """Copy an array from the GPU."""
        return np.asarray(array.get() if hasattr(array, "get") else array)

    def _by_class(self, values: Any, first: int | None = None) -> np.ndarray:
        """Add up values of examples, from a place on, for each class that is present."""
        xp, first = self.engine.device.xp, self.start if first is None else first
        ends = np.clip(self.bounds - first, 0, len(values)).tolist()
        return self._host(xp.stack([values[begin:end].sum(dtype=np.int64) for begin, end in pairwise(ends)]))

    def _pieces(self) -> Iterator[tuple[int, int]]:
        """Yield the examples in ranges."""
        for first in range(self.start, self.stop, MAX_ROWS_PER_PIECE):
            yield first, min(first + MAX_ROWS_PER_PIECE, self.stop)

    # ------------------------------------------------------------------------------------------------ copies

    def copied(self, places: Any) -> LocalExamples:
        """Return some examples, by their places in ascending order or a range of them, in this process."""
        engine, setup = self.engine, self.engine.setup
        rows = self._host(engine.rows[places]).astype(np.int64)
        columns = np.ones((engine.columns.shape[0] + 1, len(rows)), dtype=np.float32)
        columns[:-1] = self._host(engine.columns[:, places])
        weights = np.empty(0) if engine.host_weights is None else engine.host_weights[rows].astype(np.float64)
        labels, space = engine.y[rows].astype(np.int32), setup.statistics.space
        arrays = Examples(columns, labels, weights, rows, engine.missing, setup.fill, space.shift, space.scale)
        return LocalExamples(engine, arrays, 0, len(rows))  # type: ignore[arg-type]

    def sample(self) -> LocalExamples:
        """Return an even sample, in this process."""
        return self.copied(self.engine.device.xp.asarray(self.start + sample_positions(self.size)))

    # ------------------------------------------------------------------------------------------------ questions

    def count_lines(self, lines: Lines, half: int) -> Histograms:
        """Count the classes that are present, by bucket along some lines."""
        counted: Histograms = self.engine.device.count_lines(self._slice, lines, half)
        return counted

    @property
    def _slice(self) -> DeviceSlice:
        engine = self.engine
        return DeviceSlice(engine.columns, self.bounds, engine.weights, engine.unit, engine.mask)

    def near(self, questions: Questions) -> list[Nearby]:
        """Return, for each plane, the examples near it, in this process, and what is on its left."""
        left, places = find_near(self.engine.device, self._slice, questions)
        return [Nearby(self.copied(own), *sides) for own, *sides in zip(places, *left, strict=True)]

    def _projected(self, test: LinearTest, first: int, last: int) -> Any:
        engine = self.engine
        return engine.device.project(engine.table, engine.rows[first:last], engine.setup.fill, test)

    def place(self, test: LinearTest) -> Placed:
        """Look how a test in the user's units divides the node."""
        xp = self.engine.device.xp

        def place(first: int, last: int) -> Placed:
            values = self._projected(test, first, last)
            left = values <= test.threshold
            below, above = xp.where(left, values, -xp.inf).max(), xp.where(left, xp.inf, values).min()
            counts = self._by_class(left, first)
            sums = counts.astype(np.float64)
            if self.engine.weights is not None:
                sums = self._by_class(self.engine.weights[first:last] * left, first) * self.engine.unit
            return Placed(float(below), float(above), counts, sums)

        return reduce(add, (place(first, last) for first, last in self._pieces()))

    def divide(self, large: LargeNode, test: LinearTest, centred: bool) -> Expansion:
        """Divide the node by a test; or leave it a leaf."""
        return divide_by_counts(large, test, centred, self.parted)

    def parted(self, test: LinearTest) -> list[CudaExamples | LocalExamples]:
        """Bring the examples into the order of a test's sides, each side in the order in which it was; return both."""
        engine, xp = self.engine, self.engine.device.xp
        left = xp.concatenate([self._projected(test, *piece) <= test.threshold for piece in self._pieces()])
        sizes = np.zeros_like(self.sizes)
        sizes[self.sizes > 0] = self._by_class(left)
        order = xp.concatenate([xp.flatnonzero(left), xp.flatnonzero(~left)])
        masks = [] if engine.mask is None else [*engine.mask]
        weights = [] if engine.weights is None else [engine.weights]
        for array in [engine.rows, *engine.columns, *weights, *masks]:
            array[self.start : self.stop] = array[self.start : self.stop].take(order)
        children = (self.start, sizes), (self.start + int(sizes.sum()), self.sizes - sizes)
        return [engine.make_node(*child) for child in children]

    def release(self) -> None:
        """Nothing is held but for the engine's arrays."""
