"""The records that kernels take, with their Numba types, and the constants that their columns go by.

How the training examples lie in memory
---------------------------------------
::

                    node A               node B        ...
              class 0 | class 1     class 0 | class 1
    columns[0]  x x x | x x           x x   | x           one contiguous float32 row for each attribute,
    columns[1]  x x x | x x           x x   | x           in search space (see `oc1.data.search_space`)
    columns[d]  1 1 1 | 1 1           1 1   | 1           the constant's column
    labels      0 0 0 | 1 1           0 0   | 1
    rows        which row of the user's array each example is

A node is the range ``start:stop`` of every row. Inside a node the examples are grouped by class, and the stable
partition keeps them so: counting needs no look at a label.

A kernel is compiled again for each type of array, so the user's array comes in one of two (`flat_view`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import typeof, types
from numba.extending import typeof_impl

from . import layout
from ._jit import Compiled, fix_type
from .layout import NO_SPLIT

vector, matrix = types.float64[::1], types.float64[:, ::1]
# What a criterion that is not built into the kernels must bring along, as pointers (see `criteria`): a function that
# scores a position, and one that scores the edges of buckets and bounds what is inside.
SCORE_FUNCTION = types.float64(
    matrix, types.float64, types.float64, vector, types.int64[::1], types.int64, types.uint64[::1]
)
BOUND_FUNCTION = types.float64(vector, types.float64, types.int64, types.int64, matrix, matrix, matrix)


class Criterion(NamedTuple):
    """What makes a split good."""

    code: int
    min_leaf: int  # examples that each side must have
    score: Compiled  # SCORE_FUNCTION
    bound: Compiled  # BOUND_FUNCTION
    min_weight: float = NO_SPLIT  # that each side must have; rounded sums of weights may be below 0
    by_lot: bool = False  # whether a lot settles all ties, and `criteria.preference` none


class Settings(NamedTuple):
    """How a node is searched and a subtree grown: the options of a fit."""

    min_leaf: int  # examples that each side of a split must have (kernels take it from the criterion)
    min_weight: float  # weight that it must have (the same)
    axis: bool  # whether axis-parallel splits are looked for
    min_oblique: int  # nodes with fewer examples get no oblique split
    n_runs: int  # oblique runs; 0 for none
    order: int
    whole_rounds: bool  # in turn, go over the swept coefficients until a round changes nothing, and over no others
    n_swept: int  # coefficients in a round (of runs from random planes, if not whole): the constant may be left out
    n_perturbations: int
    n_jumps: int
    stagnation: float
    max_stagnant: int  # moves to equally good planes, until P_move has fallen to 0
    falls_at_ties: bool  # whether P_move falls at each tie, or only where the search moves to an equally good plane
    min_rows_to_meet: int  # from this number of examples on, a run that gets where others were goes no further
    axis_bias: float
    max_depth: int
    min_split: int
    min_decrease: float
    max_errors: float  # a node stays a leaf if no more weight is of other classes than its largest
    total: float  # weight of all examples of the tree
    max_terms: int  # attributes that an oblique split may have
    two_stages: int  # from this number of examples on, a node is searched in two stages, which threads can share
    axis_starts: int  # how many runs start from the best attribute: 0 or 1
    n_given: int  # how many of the next ones start from the planes that `Workspace.runs` holds


class Source(NamedTuple):
    """The user's array, in which tests are evaluated."""

    values: np.ndarray  # float (n_samples * d): flat and read-only; see `flat_view`
    row_step: int
    column_step: int
    fill: np.ndarray  # float64 (d): what missing values count as

    @classmethod
    def of(cls, X: np.ndarray, fill: np.ndarray) -> Source:
        """Make it of an array. Kernels trust the width that `fill` says, so it is checked here."""
        if X.ndim != 2 or X.shape[1] != len(fill):
            raise ValueError(f"X must have {len(fill)} columns, but its shape is {X.shape}")
        return cls(*flat_view(X), fill)


class Examples(NamedTuple):
    """The training examples as the search sees them (see above)."""

    columns: np.ndarray  # float32 (d + 1, n)
    labels: np.ndarray  # int32 (n)
    weights: np.ndarray  # float64 (n), or empty if all count alike
    rows: np.ndarray  # int64 (n)
    missing: np.ndarray  # uint8 (d, n_samples): what is missing and gets a learned direction; (0, 0) if nothing does
    fill: np.ndarray  # float64 (d): what missing values count as
    shift: np.ndarray  # float64 (d): of the search space
    scale: np.ndarray  # float64 (d)

    @classmethod
    def of_columns(cls, columns: np.ndarray, labels: np.ndarray, weights: np.ndarray) -> Examples:
        """Make it of columns of our own, for searches that need not know where they come from."""
        nowhere, d = np.empty(0, np.int64), len(columns) - 1
        none_missing = np.empty((0, 0), np.uint8)
        return cls(columns, labels, weights, nowhere, none_missing, np.zeros(d), np.zeros(d), np.ones(d))


class Node(NamedTuple):
    """A node as a line search sees it; all but `start` are of its own examples, or of the k classes among them."""

    start: int
    labels: np.ndarray  # int32 (n)
    weights: np.ndarray  # float64 (n), or empty
    totals: np.ndarray  # float64 (k): weights of the classes present
    ranks: np.ndarray  # float64 (k): their category numbers, for the sum of variances
    present: np.ndarray  # int64 (k): their labels
    bounds: np.ndarray  # int64 (k + 1): where the examples of each class begin and end


class LineBuffers(NamedTuple):
    """Buffers of a line search, for n examples and k classes; B is layout.MAX_BUCKETS."""

    crossings: np.ndarray  # float32 (n): the step at which each example crosses
    codes: np.ndarray  # uint16 (n): bucket, or bucket + number of buckets for those that go down
    keys: np.ndarray  # uint64 (n): opened crossings: order-preserving bits of t, then the position
    histogram: np.ndarray  # float64 (k + 2, 2 B + 2): ups, downs, and those that never cross; see `count_buckets`
    left: np.ndarray  # float64 (k + 2, B + 1): what is on the left of each edge
    edges: np.ndarray  # float64 (2, B + 1): scores at edges, bounds inside buckets
    slots: np.ndarray  # int64 (B + 2): where an opened bucket's keys go, -1 if closed
    places: np.ndarray  # int64 (k + 1): label -> place among the classes present
    counts: np.ndarray  # float64 (5, k): left weights; the pair given to a user's criterion; the pair that made it fail
    stream: np.ndarray  # uint64 (2): random stream of the running search; whether a user's criterion failed


class Workspace(NamedTuple):
    """Buffers made once a thread, for n examples, k classes and d attributes."""

    line: LineBuffers
    margins: np.ndarray  # float32 (n): V of the running plane
    rates: np.ndarray  # float32 (n): of a jump
    projections: np.ndarray  # float64 (2, n): of a test in the user's units; room for a partition
    classes: np.ndarray  # int64 (2, k + 1): label of each class present; where its examples begin
    totals: np.ndarray  # float64 (2, k): weights and category numbers of the classes present
    plane: np.ndarray  # float64 (d + 1): the running plane
    direction: np.ndarray  # float64 (d + 1): in which it moves
    runs: np.ndarray  # float64 (n_runs, layout.PLANE + d + 1): what each run found; see the columns above
    moves: np.ndarray  # float64 (room, layout.MOVED_PLANE + d + 1): how the search went; see the columns above

    @classmethod
    def make(cls, n: int, k: int, d: int, n_runs: int, n_moves: int = 0) -> Workspace:
        """Allocate the buffers, with room for `n_moves` notes."""
        return cls(
            line=LineBuffers(
                crossings=np.empty(n, np.float32),
                codes=np.empty(n, np.uint16),
                keys=np.empty(n, np.uint64),
                histogram=np.empty((k + 2, 2 * layout.MAX_BUCKETS + 2)),
                left=np.empty((k + 2, layout.MAX_BUCKETS + 1)),
                edges=np.empty((2, layout.MAX_BUCKETS + 1)),
                slots=np.empty(layout.MAX_BUCKETS + 2, np.int64),
                places=np.zeros(k + 1, np.int64),
                counts=np.zeros((5, k)),
                stream=np.zeros(2, np.uint64),
            ),
            margins=np.empty(n, np.float32),
            rates=np.empty(n, np.float32),
            projections=np.empty((2, n)),
            classes=np.zeros((2, k + 1), np.int64),
            totals=np.zeros((2, k)),
            plane=np.zeros(d + 1),
            direction=np.zeros(d + 1),
            runs=np.zeros((n_runs, layout.PLANE + d + 1)),
            moves=np.zeros((n_moves, layout.MOVED_PLANE + d + 1)),
        )

    @property
    def failed_pair(self) -> np.ndarray | None:
        """The class weights for which a user's criterion gave no number, None if there are none."""
        return self.line.counts[3:5] if self.line.stream[1] else None


class AxisSplit(NamedTuple):
    """The best axis-parallel split of a node, in search space."""

    score: float = NO_SPLIT
    attribute: int = -1  # -1: there is none
    threshold: float = 0.0
    missing: int = layout.BY_FILL  # side of the missing values

    def plane(self, n_features: int) -> np.ndarray | None:
        """Return the split as a plane of the search space; None if there is none."""
        if self.attribute < 0:
            return None
        plane = np.zeros(n_features + 1)
        plane[self.attribute], plane[-1] = 1.0, -self.threshold
        return plane


class Nodes(NamedTuple):
    """The nodes that one call of `grow` makes; the first is the one it is given, children come after their parents."""

    table: np.ndarray  # int64 (room, 9): see the columns above
    reals: np.ndarray  # float64 (room, 3): threshold, gain, gap between the neighbours of the threshold
    counts: np.ndarray  # float64 (room, k)
    seeds: np.ndarray  # uint64 (room)
    features: np.ndarray  # int32 (room for terms)
    coefficients: np.ndarray  # float64 (room for terms)

    @classmethod
    def make(cls, room: int, n_terms: int, k: int) -> Nodes:
        """Allocate room for nodes and terms."""
        return cls(
            table=np.zeros((room, 9), np.int64),
            reals=np.zeros((room, 3)),
            counts=np.zeros((room, k)),
            seeds=np.zeros(room, np.uint64),
            features=np.zeros(n_terms, np.int32),
            coefficients=np.zeros(n_terms),
        )

    def trimmed(self, n_nodes: int, n_terms: int) -> Nodes:
        """Return a copy of the part that is in use."""
        nodes = (self.table, self.reals, self.counts, self.seeds)
        terms = (self.features, self.coefficients)
        return Nodes(*(array[:n_nodes].copy() for array in nodes), *(array[:n_terms].copy() for array in terms))


# --------------------------------------------------------------------------------------------------- types

_one_example = Examples.of_columns(np.zeros((1, 1), np.float32), np.zeros(1, np.int32), np.zeros(1))
fix_type(Criterion, int, int, SCORE_FUNCTION, BOUND_FUNCTION, float, bool)
fix_type(Settings)
fix_type(AxisSplit)
fix_type(Node, int, types.int32[::1], vector, vector, vector, types.int64[::1], types.int64[::1])
for _record in (_one_example, Workspace.make(1, 1, 1, 1).line, Workspace.make(1, 1, 1, 1), Nodes.make(1, 1, 1)):
    fix_type(type(_record), *map(typeof, _record))
_SOURCE_TYPES = {
    np.dtype(own.name): types.NamedTuple(
        (types.Array(own, 1, "C", readonly=True), types.int64, types.int64, vector), Source
    )
    for own in (types.float64, types.float32)
}


@typeof_impl.register(Source)
def _typeof_source(value: Source, context: object) -> types.Type:
    return _SOURCE_TYPES[value.values.dtype]


# --------------------------------------------------------------------------------------------------- the user's array


def flat_view(X: np.ndarray) -> tuple[np.ndarray, int, int]:
    """Return an array as (flat read-only view, step between rows, step between columns), copied only if it runs back.

    Numba compiles a kernel for each type of array. Rows or columns first, with gaps or without, read-only or not, all
    come as one type here.
    """
    if X.size == 0 or not X.flags.aligned or any(step < 0 or step % X.itemsize for step in X.strides):
        X = np.ascontiguousarray(X)
    row_step, column_step = (step // X.itemsize for step in X.strides)
    length = 1 + (X.shape[0] - 1) * row_step + (X.shape[1] - 1) * column_step if X.size else 0
    flat = np.lib.stride_tricks.as_strided(X, (length,), (X.itemsize,), writeable=False)
    return flat, row_step, column_step
