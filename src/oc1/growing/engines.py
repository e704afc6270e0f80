"""Engines: who holds the examples of a tree and counts them. This process does here; a cluster does in `oc1.dask`.

A new engine is one file: an `Engine`, whose root and what it is divided into are `EngineExamples`. Nodes with many
examples are searched in rounds of questions that the examples answer by counting (see `oc1.growing.large_nodes`); what
has become small can be handed over to a grower that has a `LocalEngine`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from itertools import pairwise
from operator import add
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

from ..data.exact_moments import ExactMoments
from ..data.sampling import weight_of_one
from ..data.search_space import SearchSpace, sample_positions
from ..kernels import layout
from ..kernels.histograms import Lines, NodeSlice
from ..kernels.records import Examples, Source
from .calls import Histograms, count_lines, find_near, map_on, project_rows
from .focus import Nearby, Questions
from .linear_tests import LinearTest, midway
from .nodes import Expansion, NodeTable, PendingNode
from .options import RootStatistics, TreeSetup

if TYPE_CHECKING:
    from .large_nodes import LargeNode

#: Examples that a thread counts at a time.
MAX_ROWS_PER_PIECE = 65_536
#: Large nodes whose work threads share at the same time: some of it is not shared.
MAX_LARGE_TOGETHER = 4
#: Classes that are looked for one after the other.
MAX_CLASSES_ONE_BY_ONE = 4
#: Where no missing value gets a learned direction.
NO_MISSING = np.zeros((0, 0), dtype=np.uint8)


class EngineExamples(Protocol):
    """The examples of one node, wherever they are, and the questions that they answer."""

    @property
    def size(self) -> int:
        """How many there are."""

    @property
    def class_weights(self) -> np.ndarray:
        """Weight of each class of the data."""

    @property
    def class_sizes(self) -> np.ndarray:
        """Number of examples of each class that is present."""

    @property
    def missing_attributes(self) -> np.ndarray:
        """Which attributes are missing in some example, and get a learned direction then."""

    def sample(self) -> LocalExamples:
        """Return an even sample, in this process: the examples at `sample_positions`."""

    def count_lines(self, lines: Lines, half: int) -> Histograms:
        """Count the classes that are present, by bucket along some lines."""

    def near(self, questions: Questions) -> list[Nearby]:
        """Return, for each plane, the examples near it, in this process, and what is on its left."""

    def place(self, test: LinearTest) -> Placed:
        """Look how a test in the user's units divides the examples."""

    def divide(self, large: LargeNode, test: LinearTest, centred: bool) -> Expansion:
        """Divide the node by a test whose threshold is to be `centred` or not; or leave it a leaf.

        `divide_by_counts` does that with nothing but `place` and a function that parts the examples.
        """

    def release(self) -> None:
        """Let go of what is held for these examples only."""


class Engine(Protocol):
    """Holds the examples of one tree.

    Attributes
    ----------
    is_local : bool
        Whether all examples are in this process: then the tree can be grown node by node, best first.
    setup : TreeSetup
    max_local_rows : int
        Examples that a node, or a sample of one, has in this process, at most.
    pool : ThreadPoolExecutor or None
        Threads that share the work of a node.
    n_large_together, n_small_together : int
        How many nodes are grown at the same time, and how many of at least `min_together_rows` examples. 1: one after
        the other in the calling thread. Where not all examples are in this process, the large ones come first.
    """

    is_local: bool
    setup: TreeSetup
    max_local_rows: int
    pool: ThreadPoolExecutor | None
    n_large_together: int
    n_small_together: int
    min_together_rows: int

    def root(self) -> EngineExamples:
        """Return all examples."""

    def hand_over(self, node: PendingNode) -> tuple[NodeTable, int] | None:
        """Have the whole subtree of a node grown elsewhere, if it is small; return it and how many hyperplanes it took.

        None: it is to be searched here, with the examples where they are.
        """

    def stop(self) -> None:
        """Let all threads fail that still ask for something: one has failed."""


class Placed(NamedTuple):
    """How a test divides examples: its neighbours on both sides, and what is on the left."""

    below: float
    above: float
    counts: np.ndarray  # int64 (k)
    sums: np.ndarray  # float64 (k); the weights, or the counts again

    def __add__(self, other: Placed) -> Placed:  # type: ignore[override]
        below, above = max(self.below, other.below), min(self.above, other.above)
        return Placed(below, above, self.counts + other.counts, self.sums + other.sums)


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


def divide_by_counts(
    large: LargeNode, test: LinearTest, centred: bool, part: Callable[[LinearTest], Sequence[EngineExamples]]
) -> Expansion:
    """Divide a node by a test, as `kernels.split` does, where nothing but counts of its examples is known."""
    examples: EngineExamples = large.node.examples
    placed = examples.place(test)
    if test.missing != layout.BY_FILL and (placed.below == -np.inf or placed.above == np.inf):
        # All known values are on one side: only whether a value is missing is asked.
        test = replace(test, threshold=float(layout.ABOVE_ALL), missing=layout.MISSING_RIGHT, gap=0.0)
        placed = examples.place(test)
    else:
        threshold = midway(placed.below, placed.above) if centred else test.threshold
        test = replace(test, threshold=threshold, gap=placed.above - placed.below)
    gain = large.scorer.gain(placed.counts, placed.sums, large.kernels.settings)
    if gain < 0.0 or not len(test.features):
        return Expansion(NodeTable.leaf(large.node), [])
    return NodeTable.divided(large.node, test, gain, part(test))


# ---------------------------------------------------------------------------------------------------- this process


class LocalEngine:
    """The examples are in arrays of this process, which are reordered as the tree grows.

    Parameters
    ----------
    X : float array (n_samples, n_features), may hold NaN
    y : int array (n_samples,)
        Class indices.
    weights : float array (n_samples,) or None
        None if all examples count alike.
    rows : int array
        Which examples to grow on.
    setup : TreeSetup
    moments : ExactMoments, optional
        Of these examples, if they are known.
    """

    is_local = True

    def __init__(
        self,
        X: np.ndarray,
        y: np.ndarray,
        weights: np.ndarray | None,
        rows: np.ndarray,
        setup: TreeSetup,
        moments: ExactMoments | None = None,
    ):
        options, fill = setup.options, setup.fill
        rows, own_weights, setup = prepared(X, y, weights, rows, setup, moments)
        space = setup.statistics.space
        self.X, self.setup, self.n_jobs = X, setup, options.n_jobs
        self.max_local_rows, self.n_small_together = len(rows), options.n_jobs
        self.n_large_together = min(options.n_jobs, MAX_LARGE_TOGETHER)
        self.pool = ThreadPoolExecutor(options.n_jobs) if options.n_jobs > 1 else None
        self.min_together_rows = options.min_shared_rows(len(fill))
        self.source = Source.of(X, fill)
        self._arrays = Examples(
            columns=space.columns(X, rows, fill, options.n_jobs),
            labels=y[rows].astype(np.int32),
            weights=np.empty(0) if own_weights is None else own_weights.astype(np.float64),
            rows=rows.astype(np.int64),
            missing=missing_mask(X, setup.coded) if options.missing == "direction" else NO_MISSING,
            fill=fill,
            shift=space.shift,
            scale=space.scale,
        )

    def root(self) -> LocalExamples:
        """Return all examples."""
        return LocalExamples(self, self._arrays, 0, self.max_local_rows)

    def hand_over(self, node: PendingNode) -> None:
        """Nothing is handed over: all nodes are grown here."""

    def stop(self) -> None:
        """Nobody else need be told that a thread has failed."""


@dataclass(frozen=True, eq=False)
class LocalExamples:
    """A range of the arrays of this process."""

    engine: LocalEngine
    arrays: Examples
    start: int
    stop: int

    @property
    def size(self) -> int:
        """Number of examples."""
        return self.stop - self.start

    @property
    def rows(self) -> np.ndarray:
        """Which rows of the user's array they are."""
        return self.arrays.rows[self.start : self.stop]

    @property
    def labels(self) -> np.ndarray:
        """Their classes."""
        return self.arrays.labels[self.start : self.stop]

    @property
    def weights(self) -> np.ndarray | None:
        """Their weights, None if all count alike."""
        return self.arrays.weights[self.start : self.stop] if self.arrays.weights.size else None

    @property
    def values(self) -> np.ndarray:
        """Their attributes in the user's units, missing values filled."""
        X = np.asarray(self.engine.X[self.rows], dtype=np.float64)
        return np.where(np.isnan(X), self.arrays.fill, X)

    @property
    def class_weights(self) -> np.ndarray:
        """Weight of each class of the data."""
        return np.bincount(self.labels, weights=self.weights, minlength=self.engine.setup.n_classes).astype(np.float64)

    @cached_property
    def bounds(self) -> np.ndarray:
        """Where the examples of each class that is present begin, and the last ones end."""
        starts = np.searchsorted(self.labels, np.arange(self.engine.setup.n_classes))
        is_present = np.diff(starts, append=self.size) > 0
        return (self.start + np.append(starts[is_present], self.size)).astype(np.int64)

    @property
    def class_sizes(self) -> np.ndarray:
        """Number of examples of each class that is present."""
        return np.diff(self.bounds)

    @property
    def missing_attributes(self) -> np.ndarray:
        """Which attributes are missing in some example, and get a learned direction then."""
        if not self.arrays.missing.size:
            return np.zeros(len(self.arrays.scale), dtype=bool)
        rows = self.rows
        return np.array([own[rows].any() for own in self.arrays.missing], dtype=bool)

    def part(self, start: int, stop: int) -> LocalExamples:
        """Return another range of the same arrays."""
        return LocalExamples(self.engine, self.arrays, start, stop)

    def taken(self, chosen: np.ndarray) -> LocalExamples:
        """Return some examples, by their places, in arrays of their own, which can be reordered."""
        arrays = self.arrays
        weights = arrays.weights[chosen] if arrays.weights.size else arrays.weights
        labels, rows = arrays.labels[chosen], arrays.rows[chosen]
        columns = np.ascontiguousarray(arrays.columns[:, chosen])
        own = arrays._replace(columns=columns, labels=labels, weights=weights, rows=rows)
        return LocalExamples(self.engine, own, 0, len(rows))

    def copy(self) -> LocalExamples:
        """Return the same examples with columns of their own."""
        return self.taken(np.arange(self.start, self.stop))

    def parted(self, test: LinearTest) -> tuple[LocalExamples, LocalExamples]:
        """Bring the examples into the order of a test's sides, as `kernels.split` does; return both."""
        arrays, here = self.arrays, slice(self.start, self.stop)
        goes_right = self._projected(test) > test.threshold
        order = np.concatenate([np.flatnonzero(~goes_right), np.flatnonzero(goes_right)])

        def reorder(array: np.ndarray) -> None:
            array[here] = array[here].take(order)

        weights = [arrays.weights] if arrays.weights.size else []
        # The last column is that of the constant.
        map_on(self.engine.pool, reorder, [arrays.labels, arrays.rows, *weights, *arrays.columns[:-1]])
        middle = self.stop - int(np.count_nonzero(goes_right))
        return self.part(self.start, middle), self.part(middle, self.stop)

    def _projected(self, test: LinearTest) -> np.ndarray:
        """Return the linear combination of a test."""

        def project(first: int) -> np.ndarray:
            return project_rows(self.engine.X, rows[first : first + MAX_ROWS_PER_PIECE], self.arrays.fill, test)

        rows = self.rows
        return np.concatenate(map_on(self.engine.pool, project, range(0, self.size, MAX_ROWS_PER_PIECE)))

    def sample(self) -> LocalExamples:
        """Return an even sample."""
        return self.taken(self.start + sample_positions(self.size))

    def count_lines(self, lines: Lines, half: int) -> Histograms:
        """Count the classes by bucket along some lines, piece by piece."""

        def count(first: int) -> Histograms:
            return count_lines(self._slice(first, min(first + step, self.stop)), lines, half)

        # Whole numbers can be added up in any pieces; what weights add up to must not depend on the threads.
        is_whole = not self.arrays.weights.size
        step = max(MAX_ROWS_PER_PIECE, -(-self.size // self.engine.n_jobs)) if is_whole else MAX_ROWS_PER_PIECE
        counts, sums = reduce(add, map_on(self.engine.pool, count, range(self.start, self.stop, step)))
        return Histograms(counts.astype(np.int64), sums)

    def near(self, questions: Questions) -> list[Nearby]:
        """Return, for each plane, the examples near it and what is on its left."""

        def find(first: int) -> tuple[Histograms, list[np.ndarray]]:
            part = self._slice(first, min(first + MAX_ROWS_PER_PIECE, self.stop))
            left, places = find_near(part, *questions)
            before = 0 if part.columns is self.arrays.columns else first
            return left, [own + before for own in places]

        found = map_on(self.engine.pool, find, range(self.start, self.stop, MAX_ROWS_PER_PIECE))
        left = reduce(add, (own for own, _ in found))
        places = [np.concatenate(own) for own in zip(*(own for _, own in found), strict=True)]
        return [Nearby(self.taken(own), *sides) for own, *sides in zip(places, *left, strict=True)]

    def left_weights(self, plane: np.ndarray, missing: int) -> np.ndarray:
        """Return the weight of each class of the data on the left of a plane."""
        arrays = self.arrays
        left = np.zeros(self.engine.setup.n_classes)
        for first in range(self.start, self.stop, MAX_ROWS_PER_PIECE):
            piece = np.arange(first, min(first + MAX_ROWS_PER_PIECE, self.stop))
            goes_left = plane @ arrays.columns[:, piece] <= 0.0
            if missing != layout.BY_FILL:
                mask = arrays.missing[np.flatnonzero(plane[:-1])[0], arrays.rows[piece]]
                goes_left = np.where(mask, missing == layout.MISSING_LEFT, goes_left)
            weights = arrays.weights[piece] if arrays.weights.size else np.ones(len(piece))
            left += np.bincount(arrays.labels[piece], weights=weights * goes_left, minlength=len(left))
        return left

    def place(self, test: LinearTest) -> Placed:
        """Look how a test in the user's units divides the node."""

        def place(first: int) -> Placed:
            stop = min(first + MAX_ROWS_PER_PIECE, self.stop)
            values = project_rows(self.engine.X, self.arrays.rows[first:stop], self.arrays.fill, test)
            return place_test(values, test.threshold, np.clip(self.bounds, first, stop), self.arrays.weights)

        return reduce(add, map_on(self.engine.pool, place, range(self.start, self.stop, MAX_ROWS_PER_PIECE)))

    def divide(self, large: LargeNode, test: LinearTest, centred: bool) -> Expansion:
        """Divide the node by a test; or leave it a leaf."""
        return divide_by_counts(large, test, centred, self.parted)

    def release(self) -> None:
        """Nothing is held but for the arrays."""

    def _slice(self, first: int, last: int) -> NodeSlice:
        arrays, bounds = self.arrays, np.clip(self.bounds, first, last)
        if not arrays.missing.size:
            return NodeSlice(arrays.columns, bounds, arrays.weights, arrays.missing)
        columns = np.ascontiguousarray(arrays.columns[:, first:last])
        mask = np.ascontiguousarray(arrays.missing[:, arrays.rows[first:last]])
        return NodeSlice(columns, bounds - first, arrays.weights[first:last], mask)


def prepared(
    X: np.ndarray,
    y: np.ndarray,
    weights: np.ndarray | None,
    rows: np.ndarray,
    setup: TreeSetup,
    moments: ExactMoments | None,
) -> tuple[np.ndarray, np.ndarray | None, TreeSetup]:
    """Return the rows of a tree grouped by class, their weights, and the setup with what is to be known of them all."""
    rows = rows[grouped_by_class(y[rows], setup.n_classes)]
    own_weights = None if weights is None else weights[rows]
    if setup.known_statistics is None:
        options = setup.options
        space = SearchSpace.make(X, rows, setup.fill, own_weights, options.normalize, options.n_jobs, moments)
        unit = 1.0 if options.is_informative else weight_of_one(own_weights)
        total = float(len(rows) if own_weights is None else own_weights.sum())
        setup = setup._replace(known_statistics=RootStatistics(space, total, unit))
    return rows, own_weights, setup


def grouped_by_class(y: np.ndarray, n_classes: int) -> np.ndarray:
    """Return the order in which examples are grouped by class (see `oc1.kernels.records`)."""
    if n_classes <= MAX_CLASSES_ONE_BY_ONE:
        return np.concatenate([np.flatnonzero(y == label) for label in range(n_classes)])
    # Short numbers are sorted by counting them.
    return np.argsort(y.astype(np.uint16) if n_classes <= 2**16 else y, kind="stable")


def missing_mask(X: np.ndarray, coded: Sequence[bool] = ()) -> np.ndarray:
    """Return which values are missing, a row for each attribute; nothing where none are, or only codes."""
    mask = np.zeros(X.shape[::-1], dtype=np.uint8)
    for m in range(X.shape[1]):
        if not (coded and coded[m]):
            np.isnan(X[:, m], out=mask[m].view(bool))
    return mask if mask.any() else NO_MISSING
