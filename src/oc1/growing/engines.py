"""Counting the examples of a large node in this process: the engine that stands behind `large_nodes` on one machine.

The same functions count the partitions of a cluster (see `oc1.dask`), each on its worker; their answers are added up.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import reduce
from itertools import pairwise
from operator import add
from typing import NamedTuple

import numpy as np

from ..data.search_space import SearchSpace
from ..kernels import _kernels
from ..kernels import histograms as _counting
from .large_nodes import Counted, Lines
from .linear_tests import LinearTest

#: Examples that a thread counts at a time, and that are brought to search space together where no columns are kept.
PIECE = 65_536


class Stretch(NamedTuple):
    """Examples of one node, grouped by class, somewhere in arrays that may hold others before and after them.

    Attributes
    ----------
    columns : float32 array (d + 1, n)
        In search space.
    bounds : int64 array (k + 1,)
        Where the examples of each class that is present at the node begin and end.
    weights : float64 array (n,), or empty if all count alike
    holes : uint8 array (d, n), or (0, 0)
        Which values are missing and get a learned direction.
    """

    columns: np.ndarray
    bounds: np.ndarray
    weights: np.ndarray
    holes: np.ndarray


def count_lines(stretch: Stretch, lines: Lines, half: int) -> Counted:
    """Count the examples of a stretch by class and bucket along some lines."""
    shape = len(lines.which), len(stretch.bounds) - 1, 4 * half + 2
    counts = np.zeros(shape, dtype=np.int32)
    sums = np.zeros(shape if stretch.weights.size else (0, 0, 0))
    with np.errstate(all="ignore"):  # for NUMBA_DISABLE_JIT
        _counting.count_lines(*stretch, stretch.bounds[0], stretch.bounds[-1], *lines, counts, sums)
    return Counted(counts, sums)


def count_sides(stretch: Stretch, planes: np.ndarray, sides: np.ndarray) -> Counted:
    """Count the examples of a stretch by class on the left of some planes."""
    shape = len(planes), len(stretch.bounds) - 1
    counts, sums = np.zeros(shape, dtype=np.int64), np.zeros(shape if stretch.weights.size else (0, 0))
    with np.errstate(all="ignore"):
        _counting.count_sides(
            *stretch, stretch.bounds[0], stretch.bounds[-1], planes.astype(np.float32), sides, counts, sums
        )
    return Counted(counts, sums)


class Placed(NamedTuple):
    """How a test divides examples: its neighbours on both sides, and what is on the left."""

    below: float
    above: float
    counts: np.ndarray  # int64 (k)
    sums: np.ndarray  # float64 (k); the weights, or the counts again

    def __add__(self, other: Placed) -> Placed:  # type: ignore[override]
        return Placed(
            max(self.below, other.below), min(self.above, other.above), self.counts + other.counts,
            self.sums + other.sums,
        )  # fmt: skip


def project_rows(X: np.ndarray, rows: np.ndarray, fill: np.ndarray, test: LinearTest) -> np.ndarray:
    """Return the linear combination of a test for some rows, exactly as growing and prediction add it up."""
    out = np.empty(len(rows))
    with np.errstate(all="ignore"):
        _kernels.project_rows(
            *_kernels.flat_view(X), fill, np.ascontiguousarray(rows, dtype=np.int64), test.features.astype(np.int32),
            np.ascontiguousarray(test.coefficients, dtype=np.float64), np.array([test.missing]), out,
        )  # fmt: skip
    return out


def place_test(values: np.ndarray, threshold: float, bounds: np.ndarray, weights: np.ndarray) -> Placed:
    """Look how a threshold divides examples by their projections; they are grouped by class."""
    right = values > threshold
    counts, sums = [], []
    for first, stop in pairwise(bounds.tolist()):
        left = ~right[first - bounds[0] : stop - bounds[0]]
        counts.append(np.count_nonzero(left))
        sums.append(weights[first:stop][left].sum() if weights.size else counts[-1])
    below, above = values[~right].max(initial=-np.inf), values[right].min(initial=np.inf)
    return Placed(float(below), float(above), np.array(counts, dtype=np.int64), np.array(sums, dtype=np.float64))


class LocalEngine:
    """The examples of a large node in the arrays of a `TreeGrower`.

    Parameters
    ----------
    X : array (n_samples, d)
        The user's array.
    examples : Examples
    start, stop : int
        Which of them are the node's.
    present : int array (k,)
        The classes of the node.
    space : SearchSpace
    pool : ThreadPoolExecutor or None
    n_jobs : int
        Number of its threads.
    """

    at_once = 2

    def __init__(
        self, X: np.ndarray, examples: _kernels.Examples, start: int, stop: int, present: np.ndarray,
        space: SearchSpace, pool: ThreadPoolExecutor | None, n_jobs: int,
    ):  # fmt: skip
        self.X, self.examples, self.space, self.pool, self.n_jobs = X, examples, space, pool, n_jobs
        starts = np.searchsorted(examples.labels[start:stop], present)
        self.bounds = np.append(start + starts, stop).astype(np.int64)

    def count_lines(self, lines: Lines, half: int) -> Counted:
        """Count the classes by bucket along some lines."""
        counts, sums = reduce(add, self._each(lambda stretch: count_lines(stretch, lines, half)))
        return Counted(counts.astype(np.int64), sums)

    def count_sides(self, planes: np.ndarray, sides: np.ndarray) -> Counted:
        """Count the classes on the left of some planes; the sums are the counts if all count alike."""
        counts, sums = reduce(add, self._each(lambda stretch: count_sides(stretch, planes, sides)))
        return Counted(counts, sums if sums.size else counts.astype(np.float64))

    def place(self, test: LinearTest) -> Placed:
        """Look how a test in the user's units divides the node."""
        start, stop = int(self.bounds[0]), int(self.bounds[-1])
        values = project_rows(self.X, self.examples.rows[start:stop], self.examples.fill, test)
        return place_test(values, test.threshold, self.bounds, self.examples.weights)

    def _each(self, count: Callable) -> list:
        """Count piece by piece."""

        def look_at(piece: tuple[int, int]):
            return count(self._stretch(*piece))

        start, stop = int(self.bounds[0]), int(self.bounds[-1])
        # Whole numbers can be added up in any pieces; what weights add up to must not depend on the threads.
        step = max(PIECE, -(-(stop - start) // self.n_jobs)) if self._is_whole else PIECE
        pieces = [(first, min(first + step, stop)) for first in range(start, stop, step)]
        return list(map(look_at, pieces) if self.pool is None else self.pool.map(look_at, pieces))

    @property
    def _is_whole(self) -> bool:
        return self.examples.columns.shape[0] > len(self.space.scale) and not self.examples.weights.size

    def _stretch(self, first: int, last: int) -> Stretch:
        examples, bounds = self.examples, np.clip(self.bounds, first, last)
        has_columns = examples.columns.shape[0] > len(self.space.scale)
        if has_columns and not examples.holes.size:
            return Stretch(examples.columns, bounds, examples.weights, examples.holes)
        rows = examples.rows[first:last]
        if has_columns:
            columns = examples.columns[:, first:last]
        else:
            columns = self.space.columns(self.X, rows, examples.fill)[:-1]
        holes = np.ascontiguousarray(examples.holes[:, rows]) if examples.holes.size else examples.holes
        return Stretch(np.ascontiguousarray(columns), bounds - first, examples.weights[first:last], holes)
