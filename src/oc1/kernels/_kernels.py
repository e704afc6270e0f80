"""The compiled functions: line search, hill climb, growing, apply.

They live in one file because Numba does not renew the cached code of a function when a function that it calls in
*another* file changes. (`_measures` is called through pointers only.) ``NUMBA_DISABLE_JIT=1`` runs the same code
slowly, for debugging.

How the training examples lie in memory
---------------------------------------
::

                    node A               node B        ...
              class 0 | class 1     class 0 | class 1
    columns[0]  x x x | x x           x x   | x           one contiguous float32 row for each attribute,
    columns[1]  x x x | x x           x x   | x           in search space (see ``oc1.data.search_space``)
    columns[d]  1 1 1 | 1 1           1 1   | 1           the constant's column
    labels      0 0 0 | 1 1           0 0   | 1
    rows        which row of the user's array each example is

A node is the range ``start:stop`` of every row. Inside a node the examples are grouped by class, and the stable
partition keeps them so: counting needs no look at a label.

Large float32 arrays that come in column order are not copied: ``columns`` is then the user's own array, without a
column for the constant, and an attribute is gathered by ``rows`` and brought to search space each time it is looked at
(`gather`). Nodes that have become small get columns of their own (see `oc1.growing.grower`).

How a line search works
-----------------------
The examples have margins V and rates r; for which alpha is the split ``V + alpha r > 0`` purest? Example j
crosses at ``t = -V / r``: to the right ("up") where r > 0, to the left ("down") where r < 0. Instead of sorting,
the crossings are counted in buckets (a monotone function of t, so a bucket edge is a real position), the
purity is evaluated at the edges and bounded from above inside each bucket, and only buckets that can
still beat the best are opened and sorted. The answer is exact; the cost is linear.

Axis-parallel splits are the same question: the margins are the attribute, the rates are all one.

A purity *score* is a gain: larger is better, and 0 is a useless split (see ``oc1.impurity`` for the measures).

Compile time
------------
A function is compiled on its own and once more inside each of its callers, so the largest two, the search of a node and
the line search, are called through pointers. A kernel is compiled again for each type of array, so the user's array
comes in one of two (`flat_view`). Arrays are filled by loops, because a slice assignment also compiles the code that
words its error message.
"""

from functools import cache, partial
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numba import cfunc, config, njit, typeof, types

# Codes of the measures. Twoing, Gini and variances are built in; the others come as pointers (see `_measures`).
TWOING, GINI, VARIANCES, INFO_GAIN, SUM_MINORITY, MAX_MINORITY, CUSTOM = range(7)
# Codes of the orders in which coefficients are perturbed.
SEQUENTIAL, BEST, RANDOM = range(3)

MAX_BUCKETS = 1024
#: Nodes up to this size are sorted whole: bounding buckets does not pay there.
SMALL_NODE = 16
#: Half the number of buckets is so many times the root of examples over classes: more examples pay for finer buckets,
#: more classes for coarser ones (benchmarks/bench_kernels.py).
HALF = 2.0
#: Examples looked at to find the scale of the buckets.
SAMPLE = 20
#: Crossings beyond this are never reached by a finite step.
FAR = np.float32(1e30)
#: At nodes with fewer examples, equal scores do not say that two runs stand at the same place: there are few scores.
MEETING = 250
#: So many runs must have jumped in vain from a place before others that come there do not try. (With one, POL 20:20 has
#: 5.1 leaves instead of 5.0 on one draw in forty.)
DEAD_END = 3
#: Rows that go down a tree together, and nodes that ask all of them.
BLOCK = 256
TOP = 31
#: The score of no split at all: finite, so that differences from it are numbers.
NOTHING = -1e300
#: The threshold of a test that asks only whether a value is missing: no known value is above it.
ABOVE_ALL = np.finfo(np.float64).max
# Where an axis-parallel test sends missing values; by fill: as if they were the attribute's fill value.
MISSING_LEFT, BY_FILL, MISSING_RIGHT = -1, 0, 1

# What a measure that is not built into the kernels must bring along, as pointers (see `_measures`): a function
# that scores a position, and one that scores the edges of buckets and bounds what is inside.
_vector, _matrix = types.float64[::1], types.float64[:, ::1]
RATE = types.float64(_matrix, types.float64, types.float64, _vector, types.int64[::1], types.int64, types.uint64[::1])
BOUND = types.float64(_vector, types.float64, types.int64, types.int64, _matrix, _matrix, _matrix)

_options: dict[str, Any] = {"error_model": "numpy", "nogil": True, "no_cfunc_wrapper": True}
# Kernels work in buffers that the caller keeps alive; without reference counts they take a tenth less time to compile.
_uncounted: dict[str, Any] = {"_nrt": False}
_no_way_in: dict[str, Any] = {"no_cpython_wrapper": True}
_compiled = njit(**_options, **_uncounted, cache=True)
_allocating = njit(**_options, cache=True)
# What only other kernels call needs no way in from Python, which would take as long to compile as the function
# itself. (Such a function must not be called from Python: the tests wrap it.)
_inner = njit(**_options, **_uncounted, **_no_way_in)
# For what runs at every position of a line: a call that is not inlined hands over some forty words.
_inlined = njit(**_options, **_uncounted, **_no_way_in, forceinline=True)


# The records below are only for Python: kernels take them as plain tuples, because a class of ours in a kernel's
# signature would make Numba's cache unreadable to a release that has renamed it.


class Plan(NamedTuple):
    """How to grow: the options of a fit."""

    measure: int
    min_leaf: int
    axis: bool  # whether axis-parallel splits are looked for
    min_oblique: int  # nodes with fewer examples get no oblique split
    n_runs: int  # oblique runs; 0 for none
    order: int
    n_swept: int  # coefficients in a sequential round of runs from random planes: with the constant, or without it
    n_perturbations: int
    n_jumps: int
    stagnation: float
    axis_bias: float
    max_depth: int
    min_split: int
    min_decrease: float
    total: float  # weight of all examples of the tree
    max_terms: int  # attributes that an oblique split may have
    shared: int  # from so many examples on, the search of a node is in two stages, which threads can share
    axis_starts: int  # how many runs start from the best attribute: 0 or 1
    n_given: int  # how many of the next ones start from the planes that `Scratch.runs` holds

    @classmethod
    def sample(cls):
        """Return a plan whose values have the types that the kernels expect."""
        return cls(0, 0, False, 0, 0, 0, 0, 0, 0, 0.0, 0.0, 0, 0, 0.0, 0.0, 0, 0, 0, 0)


class Examples(NamedTuple):
    """The training examples: as the user gave them, and as the search sees them (see above)."""

    values: np.ndarray  # float (n_samples * d): the user's array, flat and read-only; see `flat_view`
    row_step: int
    column_step: int
    fill: np.ndarray  # float64 (d): what missing values count as
    shift: np.ndarray  # float64 (d): of the search space
    scale: np.ndarray  # float64 (d)
    columns: np.ndarray  # float32 (d + 1, n); or (d, n_samples): the user's own array, see above
    labels: np.ndarray  # int32 (n)
    weights: np.ndarray  # float64 (n), or empty if all count alike
    rows: np.ndarray  # int64 (n)
    holes: np.ndarray  # uint8 (d, n_samples): which values are missing and get a learned direction; (0, 0) if none do


class Scratch(NamedTuple):
    """Buffers made once a thread, for n examples, k classes and d attributes; B is MAX_BUCKETS."""

    lines: np.ndarray  # float32 (3, n): margins, rates of a jump (or of a gathered attribute), crossings
    codes: np.ndarray  # uint16 (n): bucket, or bucket + number of buckets for those that go down
    keys: np.ndarray  # uint64 (n): opened crossings: order-preserving bits of t, then the position
    projections: np.ndarray  # float64 (2, n): of a test in the user's units; room for a partition
    histogram: np.ndarray  # float64 (k + 2, 2 B + 2): ups, downs, and those that never cross; see `count_buckets`
    left: np.ndarray  # float64 (k + 2, B + 1): what is on the left of each edge
    edges: np.ndarray  # float64 (2, B + 1): scores at edges, bounds inside buckets
    slots: np.ndarray  # int64 (B + 2): where an opened bucket's keys go, -1 if closed
    classes: np.ndarray  # int64 (3, k + 1): label -> place among those present; label of each place; group bounds
    totals: np.ndarray  # float64 (2, k): weights and category numbers of the classes present
    counts: np.ndarray  # float64 (5, k): left weights; the pair given to a user's measure; the pair that made it fail
    planes: np.ndarray  # float64 (2, d + 1): running plane, direction
    runs: np.ndarray  # float64 (n_runs, PLANE + d + 1): what each run found; see the columns below
    stream: np.ndarray  # uint64 (2): random stream of the running search; whether a user's measure failed
    moves: np.ndarray  # float64 (room, MOVED_PLANE + d + 1): how the search went; see the columns below

    @classmethod
    def make(cls, n, k, d, n_runs, n_moves=0, n_divided=0):
        """Allocate the buffers, with room for so many moves to be noted and for dividing more than n examples."""
        return cls(
            lines=np.empty((3, n), np.float32),
            codes=np.empty(n, np.uint16),
            keys=np.empty(n, np.uint64),
            projections=np.empty((2, max(n, n_divided))),
            histogram=np.empty((k + 2, 2 * MAX_BUCKETS + 2)),
            left=np.empty((k + 2, MAX_BUCKETS + 1)),
            edges=np.empty((2, MAX_BUCKETS + 1)),
            slots=np.empty(MAX_BUCKETS + 2, np.int64),
            classes=np.zeros((3, k + 1), np.int64),
            totals=np.zeros((2, k)),
            counts=np.zeros((5, k)),
            planes=np.zeros((2, d + 1)),
            runs=np.zeros((n_runs, PLANE + d + 1)),
            stream=np.zeros(2, np.uint64),
            moves=np.zeros((n_moves, MOVED_PLANE + d + 1)),
        )


# Stages of a search: runs without their jumps, only the jumps, or both.
CLIMB, JUMP, BOTH = range(3)
# Columns of `Scratch.runs`: the score; whether the split is pure (1 if it was so before the stage of jumps, 2 if after
# it); hyperplanes considered, and those of a stage of jumps; the score before the jumps; the plane from here on.
SCORE, PURE, CLIMBED, JUMPED, FIRST_SCORE, PLANE = range(6)
# Columns of `Scratch.moves`: the next free row (in the first row only); the run; the coefficient that moved, or one of
# the two below; the scores before and after; from here on the plane after the move.
NEXT_MOVE, MOVED_RUN, MOVED_WHICH, MOVED_FROM, MOVED_TO, MOVED_PLANE = range(6)
A_JUMP, A_START = -1, -2

# Columns of `Nodes.table`, and what `STATUS` says. (`MISSING` is where the test sends missing values.)
START, STOP, DEPTH, LEFT, RIGHT, FIRST_TERM, N_TERMS, STATUS, MISSING = range(9)
PENDING, LEAF, INNER = range(3)


class Nodes(NamedTuple):
    """The nodes that one call of `grow` makes; the first is the one it is given, children come after their parents."""

    table: np.ndarray  # int64 (room, 9): see the columns above
    reals: np.ndarray  # float64 (room, 3): threshold, gain, gap between the neighbours of the threshold
    counts: np.ndarray  # float64 (room, k)
    seeds: np.ndarray  # uint64 (room)
    features: np.ndarray  # int32 (room for terms)
    coefficients: np.ndarray  # float64 (room for terms)

    @classmethod
    def make(cls, room, n_terms, k):
        """Allocate room for so many nodes and terms."""
        return cls(
            table=np.zeros((room, 9), np.int64),
            reals=np.zeros((room, 3)),
            counts=np.zeros((room, k)),
            seeds=np.zeros(room, np.uint64),
            features=np.zeros(n_terms, np.int32),
            coefficients=np.zeros(n_terms),
        )

    def trimmed(self, n_nodes, n_terms):
        """Return a copy of the part that is in use."""
        nodes = (self.table, self.reals, self.counts, self.seeds)
        terms = (self.features, self.coefficients)
        return Nodes(*(array[:n_nodes].copy() for array in nodes), *(array[:n_terms].copy() for array in terms))


# --------------------------------------------------------------------------------------------------------------
# Random streams (splitmix64): a search gets its own stream from (seed, node path, run) inside the kernel, which
# neither numpy's generators nor Numba's global state can give.

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX2 = np.uint64(0x94D049BB133111EB)
_S27, _S30, _S31, _S11 = np.uint64(27), np.uint64(30), np.uint64(31), np.uint64(11)
_LOW32, _SHIFT32 = np.uint64(0xFFFFFFFF), np.uint64(32)


@_compiled
def mix(seed, salt):
    """Derive an independent stream from a stream and a number."""
    z = seed ^ (np.uint64(salt) * _GOLDEN + _MIX1)
    z = (z ^ (z >> _S30)) * _MIX1
    z = (z ^ (z >> _S27)) * _MIX2
    return z ^ (z >> _S31)


@_inlined
def random_bits(stream):
    """Return the next 64 random bits of a stream."""
    stream[0] += _GOLDEN
    z = stream[0]
    z = (z ^ (z >> _S30)) * _MIX1
    z = (z ^ (z >> _S27)) * _MIX2
    return z ^ (z >> _S31)


@_inlined
def uniform(stream):
    """Return the next number of a stream, uniform in [0, 1)."""
    return np.float64(random_bits(stream) >> _S11) * (1.0 / 9007199254740992.0)


@_inlined
def lot(salt, passed):
    """Return the lot that a position draws among equally good ones.

    It depends on the weight of the crossings before the position only, so the draw does not depend on how they were
    bucketed, on the order of the rows, or on whether an example has weight 2 or stands there twice.
    """
    return mix(salt, np.uint64(np.float32(passed).view(np.int32)))


# --------------------------------------------------------------------------------------------------------------
# Purity of one position


@_inlined
def slack(score):
    """Return by how much scores may differ and still be called equal."""
    return 1e-10 * abs(score) + 1e-18


@_inlined
def better(a, b):
    """Whether score a is larger than score b by more than rounding."""
    return a > b + slack(b)


@_inlined
def pair_factor(code, ranks):
    """For two classes, Twoing, Gini and variances are one measure times a factor."""
    if code == TWOING:
        return 4.0
    return 2.0 if code == GINI else (ranks[0] - ranks[1]) ** 2


@_inner
def score_norm(counts, n_left, n, totals, ranks, code):
    """Score by Twoing, Gini or variances: a squared norm of the deviations from proportional sides."""
    k = totals.size
    share = n_left / n
    norm = 0.0
    if k == 2:
        norm = counts[0, 0] - totals[0] * share
        norm = pair_factor(code, ranks) * norm * norm
    elif code == TWOING:
        for c in range(k):
            norm += abs(counts[0, c] - totals[c] * share)
        norm = norm * norm
    elif code == GINI:
        for c in range(k):
            norm += (counts[0, c] - totals[c] * share) ** 2
    else:
        for c in range(k):
            norm += ranks[c] * (counts[0, c] - totals[c] * share)
        norm = norm * norm
    return norm / (n_left * (n - n_left))


@_inner
def score_position(counts, n_left, n, totals, ranks, present, code, rate, stream):
    """Score the split that has the class weights ``counts[0]`` on its left. Both sides hold examples."""
    if code <= VARIANCES:
        return score_norm(counts, n_left, n, totals, ranks, code)
    return rate(counts, n_left, n, totals, present, code, stream)


@_inner
def score_margins(weights, bounds, totals, ranks, present, margins, code, min_leaf, rate, counts, stream):
    """Score the split V > 0; return (score, whether both sides are pure). NOTHING where a side has too few."""
    count, n, n_left, left_classes, right_classes = 0, 0.0, 0.0, 0, 0
    for c in range(totals.size):
        here, inside = 0, 0.0
        for j in range(bounds[c], bounds[c + 1]):
            if not margins[j] > 0:
                here += 1
                inside += weights[j] if weights.size > 0 else 1.0
        counts[0, c] = inside
        n += totals[c]
        n_left += inside
        count += here
        left_classes += here > 0
        right_classes += here < bounds[c + 1] - bounds[c]
    if count < min_leaf or margins.size - count < min_leaf:
        return NOTHING, False
    pure = left_classes == 1 and right_classes == 1
    return score_position(counts, n_left, n, totals, ranks, present, code, rate, stream), pure


# --------------------------------------------------------------------------------------------------------------
# Line search: crossings and buckets


@_inner
def locate_crossings(margins, rates, edges):
    """Return where most crossings are and how far apart: median and half the quartiles' distance of a few.

    They steer the speed, never the answer.
    """
    n, size = margins.size, 0
    step = max(1, n // min(SAMPLE, 4 + n // 32))
    for j in range(step // 2, n, step):
        t = -np.float64(margins[j]) / np.float64(rates[j])
        if abs(t) < FAR:
            i = size
            while i > 0 and edges[0, i - 1] > t:
                edges[0, i] = edges[0, i - 1]
                i -= 1
            edges[0, i] = t
            size += 1
    if size == 0:
        return np.float32(0.0), np.float32(1.0)
    spread = 0.5 * (edges[0, (3 * size) // 4] - edges[0, size // 4])
    return np.float32(edges[0, size // 2]), np.float32(min(max(spread, 1e-20), 1e20))


@_inner
def find_crossings(margins, rates, centre, scale, half, crossings, codes):
    """Compute where every example crosses, and its bucket among 2 * half.

    Each operation on t is monotone in floating point too, so buckets never contradict the order of crossings. Examples
    that never cross get a bucket beyond the last: the first of two if they stay on the left, the second if on the
    right.
    """
    end = np.float32(half)
    stretch = np.float32(end * scale)
    last = np.int32(half - 1)
    down = np.int32(2 * half)
    for j in range(margins.size):
        t = -margins[j] / rates[j]
        crossings[j] = t
        never = not abs(t) < FAR  # also where 0 / 0 is not a number
        u = np.float32(0.0) if never else np.float32(t - centre)
        inner = min(np.int32(end - stretch / (np.float32(abs(u)) + scale)), last)
        bucket = half + inner if u >= 0 else half - 1 - inner
        code = bucket + (down if rates[j] < 0 else 0)
        codes[j] = code if not never else 2 * down + (1 if margins[j] > 0 else 0)


@_inner
def left_of_edges(histogram, n_rows, n_buckets, left):
    """Add up what is on the left of each edge, from those that cross upwards and downwards, by bucket."""
    for c in range(n_rows):
        inside = histogram[c, 2 * n_buckets]
        for b in range(n_buckets):
            inside += histogram[c, b]
        left[c, 0] = inside
        for b in range(n_buckets):
            inside += histogram[c, n_buckets + b] - histogram[c, b]
            left[c, b + 1] = inside


@_inner
def count_buckets(weights, bounds, codes, n_buckets, histogram, left):
    """Count classes and directions by bucket, then the left weight of each class at every edge.

    After the rows of the k classes comes one with the number of examples, and, if they have weights, one with the total
    weight.
    """
    k = bounds.size - 1
    n_rows = k + 2 if weights.size > 0 else k + 1
    for c in range(n_rows):
        for b in range(2 * n_buckets + 2):
            histogram[c, b] = 0.0
    for c in range(k):
        if weights.size > 0:
            for j in range(bounds[c], bounds[c + 1]):
                histogram[c, codes[j]] += weights[j]
                histogram[k, codes[j]] += 1.0
        else:
            for j in range(bounds[c], bounds[c + 1]):
                histogram[c, codes[j]] += 1.0
        for b in range(2 * n_buckets + 2):
            histogram[n_rows - 1, b] += histogram[c, b]
    left_of_edges(histogram, n_rows, n_buckets, left)


# --------------------------------------------------------------------------------------------------------------
# Line search: scores at the edges and bounds inside the buckets


@_inlined
def pair_gain(left0, left1, q0, q1, n):
    """Return the squared deviation of class 0 on the left over the product of the sides (0 where one is empty)."""
    deviation = left0 * q0 - left1 * q1
    n_left = left0 + left1
    spread = n_left * (n - n_left)
    return deviation * deviation / spread if spread > 0.0 else 0.0


@_inner
def score_buckets_pair(q0, q1, n, n_buckets, histogram, left, edges):
    """Score two classes under Twoing, Gini or variances: convex in the counts, so four corners bound a bucket."""
    for b in range(n_buckets + 1):
        edges[0, b] = pair_gain(left[0, b], left[1, b], q0, q1, n)
    for b in range(n_buckets):
        low0, high0 = left[0, b] - histogram[0, b], left[0, b] + histogram[0, n_buckets + b]
        low1, high1 = left[1, b] - histogram[1, b], left[1, b] + histogram[1, n_buckets + b]
        edges[1, b] = max(
            max(pair_gain(low0, low1, q0, q1, n), pair_gain(high0, high1, q0, q1, n)),
            max(pair_gain(low0, high1, q0, q1, n), pair_gain(high0, low1, q0, q1, n)),
        )


@_inner
def score_buckets_norm(totals, n, ranks, code, all_row, n_buckets, histogram, left, edges):
    """Score many classes under Twoing, Gini or variances: the squared norm of the deviations over n_left n_right.

    An example that crosses changes the norm by `reach` at most, so inside a bucket the norm stays below half the sum of
    the two edges' norms and the bucket's reach. Where a side is nearly empty, the bound is how far apart two sides can
    be.
    """
    k = totals.size
    mean, low, high = 0.0, ranks[0], ranks[0]
    for c in range(k):
        mean += totals[c] * ranks[c] / n
        low, high = min(low, ranks[c]), max(high, ranks[c])
    if code == TWOING:
        reach, farthest = 2.0, 4.0
    elif code == GINI:
        reach, farthest = np.sqrt(2.0), 2.0
    else:
        reach, farthest = max(high - mean, mean - low), (high - low) ** 2
    # Class by class, so that the loops over edges run in vector registers.
    for b in range(n_buckets + 1):
        edges[0, b] = 0.0
    for c in range(k):
        share = totals[c] / n
        if code == TWOING:
            for b in range(n_buckets + 1):
                edges[0, b] += abs(left[c, b] - share * left[all_row, b])
        elif code == GINI:
            for b in range(n_buckets + 1):
                deviation = left[c, b] - share * left[all_row, b]
                edges[0, b] += deviation * deviation
        else:
            for b in range(n_buckets + 1):
                edges[0, b] += ranks[c] * (left[c, b] - share * left[all_row, b])
    for b in range(n_buckets + 1):
        edges[0, b] = np.sqrt(edges[0, b]) if code == GINI else abs(edges[0, b])
    for b in range(n_buckets):
        up, down = histogram[all_row, b], histogram[all_row, n_buckets + b]
        n_left = left[all_row, b]
        least, most = n_left - up, n_left + down  # of the left side inside the bucket
        spread = min(least * (n - least), most * (n - most))
        middle = min(max(0.5 * n, least), most)
        limit = farthest * middle * (n - middle) / (n * n)
        inside = 0.5 * (edges[0, b] + edges[0, b + 1] + reach * (up + down))
        edges[1, b] = min(limit, inside * inside / spread) if spread > 0.0 else limit
    for b in range(n_buckets + 1):
        spread = left[all_row, b] * (n - left[all_row, b])
        edges[0, b] = edges[0, b] * edges[0, b] / spread if spread > 0.0 else 0.0


@_inner
def bound_twoing(b, totals, n, all_row, n_buckets, histogram, left, loose, counts):
    """Bound Twoing inside one bucket more closely than `score_buckets_norm` does.

    As long as no deviation changes its sign, their sum is linear: it is largest where all those crossings have happened
    that add to it, and none of those that take away.
    """
    up, down, n_left = histogram[all_row, b], histogram[all_row, n_buckets + b], left[all_row, b]
    norm, drift, add, fixed = 0.0, 0.0, 0.0, True
    for c in range(totals.size):
        share = totals[c] / n
        deviation = left[c, b] - share * n_left
        counts[1, c] = 1.0 if deviation > 0.0 else -1.0
        norm += abs(deviation)
        drift += counts[1, c] * share
        fixed = fixed and abs(deviation) > up + down
    for c in range(totals.size):
        slope = counts[1, c] - drift
        add += slope * histogram[c, n_buckets + b] if slope > 0.0 else -slope * histogram[c, b]
    least, most = n_left - up, n_left + down
    spread = min(least * (n - least), most * (n - most))
    return min(loose, (norm + add) * (norm + add) / spread) if fixed and spread > 0.0 else loose


@_compiled
def score_lines(
    counts, sums, sizes, totals, ranks, present, code, min_leaf, rate, bound, histogram, left, edges, pairs, stream,
    scores, bounds,
):  # fmt: skip
    """Score the edges of the buckets of several lines, and bound what is inside, from counts (see `histograms`).

    `sizes` are the numbers of examples of the classes present, `totals` their weights. Where a user's measure scores,
    nothing is known of the insides of buckets.
    """
    k, n_buckets, weighted = totals.size, (counts.shape[2] - 2) // 2, sums.shape[0] > 0
    n, total = 0.0, 0.0
    for c in range(k):
        n += sizes[c]
        total += totals[c]
    factor = np.sqrt(pair_factor(code, ranks)) / total if k == 2 else 0.0
    n_rows = k + 2 if weighted else k + 1
    for q in range(counts.shape[0]):
        for b in range(2 * n_buckets + 2):
            histogram[k, b] = 0.0
            histogram[n_rows - 1, b] = 0.0
            for c in range(k):
                histogram[c, b] = sums[q, c, b] if weighted else counts[q, c, b]
                histogram[k, b] += counts[q, c, b]
                if weighted:
                    histogram[k + 1, b] += sums[q, c, b]
        left_of_edges(histogram, n_rows, n_buckets, left)
        if code == CUSTOM:
            for b in range(n_buckets + 1):
                n_left = 0.0
                for c in range(k):
                    pairs[0, c] = left[c, b]
                    n_left += left[c, b]
                inside = left[k, b] >= max(min_leaf, 1) and n - left[k, b] >= max(min_leaf, 1)
                if inside:
                    edges[0, b] = rate(pairs, n_left, total, totals, present, code, stream)
                edges[1, min(b, n_buckets - 1)] = np.inf
        elif k == 2 and code <= VARIANCES:
            score_buckets_pair(factor * totals[1], factor * totals[0], total, n_buckets, histogram, left, edges)
        elif code <= VARIANCES:
            score_buckets_norm(totals, total, ranks, code, n_rows - 1, n_buckets, histogram, left, edges)
        else:
            bound(totals, total, code, n_buckets, histogram, left, edges)
        for b in range(n_buckets + 1):
            has_room = left[k, b] >= min_leaf and n - left[k, b] >= min_leaf
            scores[q, b] = edges[0, b] if has_room else NOTHING
        for b in range(n_buckets):
            bounds[q, b] = edges[1, b]
            if code == TWOING and k > 2:
                bounds[q, b] = bound_twoing(
                    b, totals, total, n_rows - 1, n_buckets, histogram, left, edges[1, b], pairs
                )  # fmt: skip


@_compiled
def score_sides(left, left_sizes, sizes, totals, ranks, present, code, min_leaf, rate, pairs, stream, scores):
    """Score splits by the class weights on their left; NOTHING where a side has too few examples."""
    total, n = 0.0, 0.0
    for c in range(totals.size):
        total += totals[c]
        n += sizes[c]
    for q in range(left.shape[0]):
        n_left, count = 0.0, 0.0
        for c in range(totals.size):
            pairs[0, c] = left[q, c]
            n_left += left[q, c]
            count += left_sizes[q, c]
        scores[q] = NOTHING
        if count >= max(min_leaf, 1) and n - count >= max(min_leaf, 1):
            scores[q] = score_position(pairs, n_left, total, totals, ranks, present, code, rate, stream)


# --------------------------------------------------------------------------------------------------------------
# Line search: opening buckets


@_inlined
def order_bits(t):
    """Return the bits of a float32 so that they sort, as whole numbers, as the float does."""
    bits = np.int64(np.float32(t + np.float32(0.0)).view(np.int32))
    return np.uint64(bits + 0x80000000 if bits >= 0 else -1 - bits)


@_inner
def sort_keys(keys, first, last):
    """Sort a stretch of keys in place: insertion for the usual handful, Shell's gaps before it for crowded buckets."""
    gap = 1
    while 9 * gap < last - first:
        gap = 3 * gap + 1
    if last - first <= SMALL_NODE:
        gap = 1
    while gap > 0:
        for i in range(first + gap, last):
            key = keys[i]
            j = i - gap
            while j >= first and keys[j] > key:
                keys[j + gap] = keys[j]
                j -= gap
            keys[j + gap] = key
        gap //= 3


def line_search(
    labels, weights, bounds, totals, ranks, present, margins, rates, current, ties, code, min_leaf, rate, bound,
    crossings, codes, keys, histogram, left, edges, slots, places, counts, stream,
):  # fmt: skip
    """Find the step alpha for which the split ``margins + alpha * rates > 0`` is purest; return (score, alpha).

    Only positions that beat the score `current` count, or equal it where `ties` is true; (NOTHING, 0) if there is none.
    Among equally good positions one is drawn from the stream. `labels`, `weights` (empty for none), `margins` and
    `rates` are those of one node's examples, grouped by class as `bounds` says; `totals`, `ranks` and `present` are of
    the classes that occur; the second line of arguments are buffers (see `Scratch`).

    Arrays come one by one because taking one out of a tuple costs a reference count each time.
    """
    k, n = totals.size, margins.size
    total = 0.0
    for c in range(k):
        total += totals[c]
    pair = k == 2 and code <= VARIANCES
    factor = np.sqrt(pair_factor(code, ranks)) / total if pair else 0.0
    q0, q1 = factor * totals[k - 1], factor * totals[0]
    whole = n <= SMALL_NODE or code == CUSTOM
    half = 1 if n <= SMALL_NODE else min(max(min(np.int64(HALF * np.sqrt(n / k)), n // 12), 8), MAX_BUCKETS // 2)
    n_buckets = 2 * half
    centre, scale = locate_crossings(margins, rates, edges)
    find_crossings(margins, rates, centre, scale, half, crossings, codes)
    count_buckets(weights, bounds, codes, n_buckets, histogram, left)
    all_row = k + 1 if weights.size > 0 else k
    salt = random_bits(stream)
    best_edge = NOTHING
    if not whole:
        if pair:
            score_buckets_pair(q0, q1, total, n_buckets, histogram, left, edges)
        elif code <= VARIANCES:
            score_buckets_norm(totals, total, ranks, code, all_row, n_buckets, histogram, left, edges)
        else:
            bound(totals, total, code, n_buckets, histogram, left, edges)
        for b in range(n_buckets + 1):
            if left[k, b] < min_leaf or n - left[k, b] < min_leaf:
                edges[0, b] = NOTHING
            best_edge = max(best_edge, edges[0, b])

    # Open what can still win.
    improves = better(best_edge, current)
    bar = max(best_edge, current)
    bar += -slack(bar) if ties or improves else slack(bar)
    opened, crossing = 0, 0
    for b in range(n_buckets):
        size = np.int64(histogram[k, b] + histogram[k, n_buckets + b])
        crossing += size
        slots[b] = -1
        if not whole and code == TWOING and k > 2 and size > 1 and edges[1, b] + slack(edges[1, b]) >= bar:
            edges[1, b] = bound_twoing(b, totals, total, all_row, n_buckets, histogram, left, edges[1, b], counts)
        if whole or (size > 1 and edges[1, b] + slack(edges[1, b]) >= bar):
            slots[b] = opened
            opened += size
    if crossing == 0 or (opened == 0 and not best_edge >= bar):
        return NOTHING, 0.0
    slots[n_buckets] = -1
    slots[n_buckets + 1] = -1
    if opened > 0:
        for j in range(n):
            b = np.int64(codes[j])
            b = b - n_buckets if b >= n_buckets else b
            slot = slots[b]
            if slot >= 0:
                keys[slot] = (order_bits(crossings[j]) << _SHIFT32) | np.uint64(j)
                slots[b] = slot + 1

        first = 0
        for b in range(n_buckets):
            if slots[b] >= 0:
                sort_keys(keys, first, slots[b])
                first = slots[b]

    # Walk along the opened buckets. Sorted whole, the line is one stretch, with the positions before and after it.
    ends = 1 if whole else 0
    best, best_lot, edge, below, above = NOTHING, salt, -1, 0.0, 0.0
    first, before_bucket = 0, 0.0
    for b in range(n_buckets if opened > 0 else 0):
        last = opened if whole else slots[b]
        passed = before_bucket
        before_bucket += histogram[all_row, b] + histogram[all_row, n_buckets + b]
        if last < 0 or (whole and b > 0):
            continue
        n_left, left_count = 0.0, left[k, b]
        for c in range(k):
            counts[0, c] = left[c, b]
            n_left += counts[0, c]
        # The sum of Twoing, norm = sum |D_c| with D_c = left_c - share_c n_left, is linear as long as no D_c changes
        # sign, and an example of weight w moves each by w at most: in between, its next value costs one addition.
        norm, drift, moved, safe = 0.0, 0.0, 0.0, -1.0
        for i in range(first - ends, last - 1 + ends):
            before, after = -np.inf, np.inf
            if i >= first:
                j = np.int64(keys[i] & _LOW32)
                before = np.float64(crossings[j])
                weight = weights[j] if weights.size > 0 else 1.0
                passed += weight
                left_count += 1.0 if codes[j] >= n_buckets else -1.0
                weight = weight if codes[j] >= n_buckets else -weight
                n_left += weight
                c = places[labels[j]]
                counts[0, c] += weight
                moved += abs(weight)
                norm += weight * (counts[1, c] - drift)
            if i + 1 < last:
                after = np.float64(crossings[np.int64(keys[i + 1] & _LOW32)])
            if not before < after or left_count < min_leaf or n - left_count < min_leaf:
                continue
            if pair:
                here = pair_gain(counts[0, 0], counts[0, 1], q0, q1, total)
            elif code == TWOING:
                if moved > safe:
                    norm, drift, moved, safe = 0.0, 0.0, 0.0, np.inf
                    for c in range(k):
                        deviation = counts[0, c] - totals[c] * n_left / total
                        counts[1, c] = 1.0 if deviation > 0.0 else -1.0
                        norm += abs(deviation)
                        drift += counts[1, c] * totals[c] / total
                        safe = min(safe, abs(deviation))
                here = norm * norm / (n_left * (total - n_left))
            else:
                here = score_position(counts, n_left, total, totals, ranks, present, code, rate, stream)
            if here > NOTHING and here >= best - slack(best):
                own = lot(salt, passed)
                if better(here, best) or own > best_lot:
                    best, best_lot, below, above = here, own, before, after
        first = last
    if best_edge > NOTHING and best_edge >= best - slack(best):
        before_bucket = 0.0
        for b in range(n_buckets + 1):
            filled = b == 0 or histogram[k, b - 1] + histogram[k, n_buckets + b - 1] > 0.0
            if filled and edges[0, b] >= best_edge - slack(best_edge):
                own = lot(salt, before_bucket)
                if better(edges[0, b], best) or own > best_lot:
                    best, best_lot, edge = edges[0, b], own, b
            if b < n_buckets:
                before_bucket += histogram[all_row, b] + histogram[all_row, n_buckets + b]
    if best == NOTHING or not (better(best, current) or (ties and best >= current - slack(current))):
        return NOTHING, 0.0
    if edge >= 0:
        # The neighbours of an edge are in the nearest buckets that hold anything.
        nearest, farther = edge - 1, edge
        while farther < n_buckets and histogram[k, farther] + histogram[k, n_buckets + farther] == 0.0:
            farther += 1
        below, above = -np.inf, np.inf
        for j in range(n):
            b = np.int64(codes[j])
            b = b - n_buckets if b >= n_buckets else b
            if b == nearest:
                below = max(below, np.float64(crossings[j]))
            elif b == farther and b < n_buckets:
                above = min(above, np.float64(crossings[j]))
    if below == -np.inf:
        return best, above - max(abs(above), 1.0)
    if above == np.inf:
        return best, below + max(abs(below), 1.0)
    return best, below + 0.5 * (above - below)


# --------------------------------------------------------------------------------------------------------------
# The search at a node


@_inner
def gather(columns, m, start, rows, fill, shift, scale, line):
    """Write an attribute of a node's examples, in search space, from the user's array to `line`.

    Does nothing where the columns are our own (see the top of this file). The last attribute is the constant.
    """
    if columns.shape[0] > shift.size:
        return
    factor = 1.0 / scale[m] if m < shift.size and scale[m] > 0.0 else 0.0
    for j in range(line.size):
        if factor > 0.0:
            x = np.float64(columns[m, rows[start + j]])
            line[j] = ((fill[m] if np.isnan(x) else x) - shift[m]) * factor
        else:
            line[j] = 1.0 if m == shift.size else 0.0


@_inner
def has_holes(holes, m, start, stop, rows):
    """Whether an attribute is missing in some example of a node, and gets a learned direction there."""
    if holes.shape[0] > 0:
        for j in range(start, stop):
            if holes[m, rows[j]] != 0:
                return True
    return False


@_inner
def send_missing(holes, m, start, rows, line, side, out):
    """Copy an attribute of a node's examples, with the missing values so far on one side that no step reaches them."""
    for j in range(out.size):
        out[j] = line[j] if holes[m, rows[start + j]] == 0 else np.float32(side) * np.float32(2.0) * FAR


@_inner
def compute_margins(columns, start, rows, fill, shift, scale, plane, margins, buffer):
    """Compute V = plane . (x, 1) for the examples of a node, which begins at `start`."""
    last = shift.size
    constant = np.float32(plane[last])
    for j in range(margins.size):
        margins[j] = constant
    for m in range(last):
        a = np.float32(plane[m])
        if a != 0:
            line = columns[m, start : start + margins.size] if columns.shape[0] > last else buffer
            gather(columns, m, start, rows, fill, shift, scale, line)
            for j in range(margins.size):
                margins[j] += a * line[j]


@_inner
def move(plane, margins, rates, direction, alpha):
    """Step along a direction and bring the plane back to unit length."""
    length = 0.0
    for m in range(plane.size):
        plane[m] += alpha * direction[m]
        length += plane[m] * plane[m]
    shrink = 1.0 / np.sqrt(length) if length > 0.0 else 1.0
    for m in range(plane.size):
        plane[m] *= shrink
    keep, add = np.float32(shrink), np.float32(shrink * alpha)
    for j in range(margins.size):
        margins[j] = keep * margins[j] + add * rates[j]


@_inlined
def note_move(moves, run, which, before, after, plane):
    """Note how the search went, where there is room for it: there is none unless someone wants to know."""
    if moves.shape[0] > 0:
        row = np.int64(moves[0, NEXT_MOVE])
        if row < moves.shape[0]:
            moves[row, MOVED_RUN], moves[row, MOVED_WHICH] = run, which
            moves[row, MOVED_FROM], moves[row, MOVED_TO] = before, after
            for m in range(plane.size):
                moves[row, MOVED_PLANE + m] = plane[m]
        moves[0, NEXT_MOVE] = row + 1


@_inlined
def stands_elsewhere(runs, run, n_others, score, stage):
    """Whether others have done here what a run could do: one has jumped away, or several have jumped in vain."""
    left, stayed = 0, 0
    for other in range(n_others):
        if other != run:
            if stage == BOTH and abs(runs[other, SCORE] - score) <= slack(score):
                stayed += 1
            elif abs(runs[other, FIRST_SCORE] - score) <= slack(score):
                left += 1
    return left > 0 or stayed >= DEAD_END


def search(
    columns, labels, weights, rows, holes, fill, shift, scale, start, stop, totals, ranks, present, bounds, line, rate,
    bound, plan, seed, stage, first_run, last_run, scratch,
):  # fmt: skip
    """Search a node in a range of runs (Figures 6 and 8 of the paper).

    Run -1 looks at the attributes, one after the other; where values are missing and get a learned direction, with all
    of them on the left and with all of them on the right (before and after all known values are positions, too). Every
    other run improves a plane: single coefficients (Figure 8's Perturb) until nothing changes, then random directions
    (jumps) until one helps, which goes back to the coefficients, or `n_jumps` have failed. Run 0 starts from the best
    attribute of run -1, others from given planes, the rest at random ones (see the last fields of `Plan`). Unless the
    node is small, a run that gets where earlier ones stood goes no further, if one of them has jumped away or several
    have jumped in vain.

    At large nodes, all runs climb before any jumps, in two stages. Then a run needs to know of the others only where
    they stood in between, so the runs of each stage can be made in any order. Each run has its own random streams and
    its own row in ``scratch.runs``.

    Returns (score, attribute, threshold, side of the missing values) of run -1, in search space; NOTHING and -1 if it
    is not in the range.
    """
    code, min_leaf, _, _, n_runs, order, n_swept, n_perturbations, n_jumps, stagnation = plan[:10]
    lines, codes, keys, _, histogram, left, edges, slots, classes, _, counts, planes, runs, stream, moves = scratch
    size, n, borrowed = shift.size + 1, stop - start, columns.shape[0] == shift.size
    labels, weights = labels[start:stop], weights[start:stop]
    margins, rates_buffer, crossings = lines[0, :n], lines[1, :n], lines[2, :n]
    plane, direction, places = planes[0], planes[1], classes[0]
    axis_score, attribute, threshold, equals = NOTHING, -1, 0.0, 0
    side, best_side = BY_FILL, BY_FILL
    for run in range(first_run, last_run):
        # Streams 1 and 2 are the children's, 4 is that of the elimination of attributes.
        jumping = stage == JUMP
        stream[0] = mix(seed, np.uint64(2 * run + 5 + jumping))
        turn, rounds, jumps, settled, considered, p_move, score = 0, 0, 0, 0, 0, stagnation, NOTHING
        from_axis = run < plan[17] and attribute >= 0
        given = plan[17] <= run < plan[17] + plan[18]
        sweep, climbed = size if from_axis or given else n_swept, False
        choice, choice_score, choice_alpha = -1, NOTHING, 0.0  # of a best-first round
        if run >= 0:
            for m in range(size):
                if jumping or given:
                    plane[m] = runs[run, PLANE + m]
                elif from_axis:
                    plane[m] = 1.0 if m == attribute else -threshold if m == size - 1 else 0.0
                else:
                    plane[m] = 2.0 * uniform(stream) - 1.0
            if jumping:
                jumps, score = 1, runs[run, SCORE]
                runs[run, JUMPED] = 0.0
                if n >= MEETING and stands_elsewhere(runs, run, run, score, stage):
                    continue
            compute_margins(columns, start, rows, fill, shift, scale, plane, margins, crossings)
            if not jumping:
                considered += 1
                score, pure = score_margins(
                    weights, bounds, totals, ranks, present, margins, code, min_leaf, rate, counts, stream
                )
                note_move(moves, run, A_START, score, score, plane)
        while True:
            # Which line?
            origin, current, ties = margins, score, False
            if run < 0:
                which = size - 1
                origin, rates = margins, rates_buffer
                if not borrowed:
                    origin, rates = columns[turn, start:stop], columns[which, start:stop]
                gather(columns, turn, start, rows, fill, shift, scale, origin)
                gather(columns, which, start, rows, fill, shift, scale, rates)
                if side == BY_FILL and has_holes(holes, turn, start, stop, rows):
                    side = MISSING_LEFT
                if side != BY_FILL:
                    send_missing(holes, turn, start, rows, origin, side, margins)
                    origin = margins
                current, ties = axis_score, True
            elif jumps == 0:
                which = turn if order != RANDOM else min(np.int64(uniform(stream) * size), size - 1)
                rates = rates_buffer if borrowed else columns[which, start:stop]
                gather(columns, which, start, rows, fill, shift, scale, rates)
                ties = p_move > 0.0 and uniform(stream) < p_move
                if order == BEST:
                    current = max(score, choice_score)
            else:
                which = -1
                for m in range(size):
                    direction[m] = 2.0 * uniform(stream) - 1.0
                rates = rates_buffer
                compute_margins(columns, start, rows, fill, shift, scale, direction, rates, crossings)
            here, alpha = line(
                labels, weights, bounds, totals, ranks, present, origin, rates,
                current, ties, code, min_leaf, rate, bound,
                crossings, codes, keys, histogram, left, edges, slots, places, counts, stream,
            )  # fmt: skip
            considered += 1
            turn += 1
            if run < 0:
                # Equally good attributes are settled at random.
                if here > NOTHING:
                    equals = 1 if better(here, axis_score) else equals + 1
                    if equals == 1 or uniform(stream) * equals < 1.0:
                        axis_score, attribute, threshold, best_side = here, turn - 1, -alpha, side
                if side == MISSING_LEFT:
                    side, turn = MISSING_RIGHT, turn - 1
                    continue
                side = BY_FILL
                if turn < size - 1:
                    continue
                break
            if jumps == 0 and order == BEST:
                # Remember the best coefficient until the end of the round.
                if better(here, choice_score):
                    choice, choice_score, choice_alpha = which, here, alpha
                if turn < size:
                    continue
                which, here, alpha = choice, choice_score, choice_alpha
                rates = rates_buffer if borrowed else columns[max(which, 0), start:stop]
                gather(columns, max(which, 0), start, rows, fill, shift, scale, rates)
                choice, choice_score = -1, NOTHING

            # Move. A coefficient is settled when it has been searched since any other one moved.
            improved = better(here, score)
            settled += 1
            if here > NOTHING:
                p_move = stagnation if improved else p_move - 0.1 * stagnation
                if jumps == 0:
                    for m in range(size):
                        direction[m] = 1.0 if m == which else 0.0
                move(plane, margins, rates, direction, alpha)
                note_move(moves, run, which, score, here, plane)
                score, settled = here, 1

            # What next: another coefficient, a jump, or the end of this run?
            if jumps > 0:
                jumps += 1
                if improved:
                    turn, rounds, jumps, settled = 0, 0, 0, 0
                elif jumps > n_jumps:
                    break
                continue
            rounds += 1
            if order == SEQUENTIAL:
                again = settled < size
                if settled >= sweep:
                    turn = size - 1
                elif turn >= sweep:
                    turn = 0
            else:
                turn = 0
                again = rounds < n_perturbations if order == RANDOM else here > NOTHING
            if not again:
                jumps = 1
                if not jumping and not climbed:
                    climbed = True
                    runs[run, FIRST_SCORE] = score
                if stage == CLIMB or n_jumps == 0:
                    break
                if n >= MEETING and stands_elsewhere(runs, run, n_runs if jumping else run, score, stage):
                    break
                _, pure = score_margins(
                    weights, bounds, totals, ranks, present, margins, code, min_leaf, rate, counts, stream
                )
                if pure:
                    break

        if run < 0:
            continue
        # The moves have rounded the margins a little: count once more from the plane itself.
        compute_margins(columns, start, rows, fill, shift, scale, plane, margins, crossings)
        score, pure = score_margins(
            weights, bounds, totals, ranks, present, margins, code, min_leaf, rate, counts, stream
        )
        runs[run, SCORE] = score
        runs[run, PURE] = (2.0 if jumping else 1.0) if pure else 0.0
        runs[run, JUMPED if jumping else CLIMBED] = considered
        for m in range(size):
            runs[run, PLANE + m] = plane[m]
        if pure:
            break
    return axis_score, attribute, threshold, best_side


LINE_SEARCH = types.UniTuple(types.float64, 2)(
    types.int32[::1], _vector, types.int64[::1], _vector, _vector, types.int64[::1], types.float32[::1],
    types.float32[::1], types.float64, types.boolean, types.int64, types.int64, types.FunctionType(RATE),
    types.FunctionType(BOUND), types.float32[::1], types.uint16[::1], types.uint64[::1], _matrix, _matrix, _matrix,
    types.int64[::1], types.int64[::1], _matrix, types.uint64[::1],
)  # fmt: skip


@cache
def compiled_searches():
    """Return the search of a node and the line search as pointers, compiled when first asked for.

    Called through a pointer they are compiled once; called directly, again inside each of their callers.
    """
    if config.DISABLE_JIT:
        return search, line_search
    plan = typeof(tuple(Plan.sample()))
    scratch = typeof(tuple(Scratch.make(1, 1, 1, 1)))
    of_node = types.Tuple((types.float64, types.int64, types.float64, types.int64))(
        types.float32[:, ::1], types.int32[::1], _vector, types.int64[::1], types.uint8[:, ::1], _vector, _vector,
        _vector, types.int64, types.int64, _vector, _vector, types.int64[::1], types.int64[::1],
        types.FunctionType(LINE_SEARCH), types.FunctionType(RATE), types.FunctionType(BOUND), plan,
        types.uint64, types.int64, types.int64, types.int64, scratch,
    )  # fmt: skip
    pointer = partial(cfunc, cache=True, error_model="numpy", **_uncounted)
    return pointer(of_node)(search), pointer(LINE_SEARCH)(line_search)


# --------------------------------------------------------------------------------------------------------------
# Growing


@_inner
def find_classes(labels, start, stop, node_counts, code, classes, totals):
    """List the classes of a node: places, labels and group bounds, weights and category numbers; return how many."""
    k = 0
    for c in range(node_counts.size):
        if node_counts[c] > 0.0:
            # The groups are in the order of the labels: look for the beginning of this one by halving.
            low, high = start, stop
            while low < high:
                middle = (low + high) // 2
                if labels[middle] < c:
                    low = middle + 1
                else:
                    high = middle
            classes[0, c], classes[1, k], classes[2, k] = k, c, low - start
            totals[0, k], totals[1, k] = node_counts[c], 0.0
            k += 1
    classes[2, k] = stop - start
    if code == VARIANCES:
        for c in range(k):
            totals[1, c] = 1.0
            for other in range(k):
                if totals[0, other] > totals[0, c] or (totals[0, other] == totals[0, c] and other < c):
                    totals[1, c] += 1.0
    return k


@_inlined
def stays_leaf(k, depth, n, max_depth, min_split, min_leaf):
    """Whether a node of k classes and n examples is not to be split, whatever a search would find."""
    return k < 2 or depth >= max_depth or n < min_split or n < 2 * min_leaf


@_compiled
def search_node(
    columns, labels, weights, rows, holes, fill, shift, scale, start, stop, depth, node_counts, look, line, rate, bound,
    plan, seed, stage, first_run, last_run, scratch,
):  # fmt: skip
    """Make those of a range of runs that `grow` would make for this node, so that several threads can share them."""
    classes, totals = scratch[8], scratch[9]
    k = find_classes(labels, start, stop, node_counts, plan[0], classes, totals)
    if stays_leaf(k, depth, stop - start, plan[11], plan[12], plan[1]):
        return NOTHING, -1, 0.0, BY_FILL
    if stop - start < plan[3]:
        last_run = min(last_run, 0)
    return look(
        columns, labels, weights, rows, holes, fill, shift, scale, start, stop, totals[0, :k], totals[1, :k],
        classes[1, :k], classes[2, : k + 1], line, rate, bound, plan, seed, stage, first_run, last_run, scratch,
    )  # fmt: skip


@_inlined
def project(values, at, column_step, fill, features, coefficients, first, last, missing, node):
    """Compute a node's linear combination for the row that begins at `at`.

    A missing value counts as its fill, or is beyond all others where ``missing[node]`` gives it a side.

    Training and prediction add up in the same order (as does `project`), so an example goes the same way in
    both.
    """
    value = 0.0
    if last - first == fill.size:
        for i in range(first, last):
            value += coefficients[i] * values[at + (i - first) * column_step]
    else:
        for i in range(first, last):
            value += coefficients[i] * values[at + features[i] * column_step]
    if np.isnan(value):
        if missing[node] != BY_FILL:
            return missing[node] * np.inf
        value = 0.0
        for i in range(first, last):
            x = np.float64(values[at + features[i] * column_step])
            value += coefficients[i] * (fill[features[i]] if np.isnan(x) else x)
    return value


@_compiled
def project_rows(values, row_step, column_step, fill, rows, features, coefficients, missing, out):
    """Compute a test's linear combination for some rows; `missing` holds the side of missing values, or `BY_FILL`."""
    for j in range(rows.size):
        out[j] = project(
            values, rows[j] * row_step, column_step, fill, features, coefficients, np.int64(0), features.size, missing,
            np.int64(0),
        )  # fmt: skip


@_inner
def oblique_test(plane, shift, scale, features, coefficients):
    """Write a plane of the search as a test in the user's units; return (number of terms, threshold).

    The first coefficient is positive, and the largest one is 1 on the search's attributes. No terms where a number
    overflows.
    """
    d = shift.size
    largest, sign, threshold, n_terms = 0.0, 0.0, -plane[d], 0
    for m in range(d):
        if plane[m] != 0.0 and scale[m] > 0.0:
            if sign == 0.0:
                sign = 1.0 if plane[m] > 0.0 else -1.0
            largest = max(largest, abs(plane[m]))
    for m in range(d):
        if plane[m] != 0.0 and scale[m] > 0.0:
            features[n_terms] = m
            coefficients[n_terms] = plane[m] / scale[m]
            threshold += coefficients[n_terms] * shift[m]
            coefficients[n_terms] *= sign / largest
            if not abs(coefficients[n_terms]) < np.inf:
                return 0, 0.0
            n_terms += 1
    threshold *= sign / largest if largest > 0.0 else 1.0
    return (n_terms, threshold) if abs(threshold) < np.inf else (0, 0.0)


@_inner
def place_test(
    values, row_step, column_step, fill, labels, weights, rows, start, stop, features, coefficients, threshold,
    totals, ranks, present, code, min_leaf, rate, places, counts, stream, projections, centred, missing, node,
):  # fmt: skip
    """Try a test on a node: project its rows and, if `centred`, put the threshold midway between its two neighbours.

    A test that sends the missing values to one side and all others to the other (see `project`) becomes the test
    whether a value is missing: it sends them to the right, and no known value is above its threshold.

    Returns (score, threshold, gap between the neighbours), the score NOTHING where a side has too few examples; the
    left weights are in ``counts[0]``.
    """
    below, above, count = -np.inf, np.inf, 0
    for j in range(start, stop):
        value = project(
            values, rows[j] * row_step, column_step, fill, features, coefficients, np.int64(0), features.size,
            missing, node,
        )  # fmt: skip
        projections[j - start] = value
        if value > threshold:
            above = min(above, value)
        else:
            below = max(below, value)
            count += 1
    if missing[node] != BY_FILL and (below == -np.inf or above == np.inf):
        # All known values are on one side, the missing ones on the other or nowhere.
        count, below, above, threshold, missing[node] = 0, ABOVE_ALL, ABOVE_ALL, ABOVE_ALL, MISSING_RIGHT
        for j in range(stop - start):
            if abs(projections[j]) == np.inf:
                projections[j] = np.inf
            else:
                count += 1
    if features.size == 0 or count < min_leaf or stop - start - count < min_leaf:
        return NOTHING, threshold, 0.0
    if centred:
        threshold = below + 0.5 * (above - below)
        if not (threshold >= below and threshold < above):
            threshold = below
    n, n_left = 0.0, 0.0
    for c in range(totals.size):
        counts[0, c] = 0.0
        n += totals[c]
    for j in range(start, stop):
        if not projections[j - start] > threshold:
            weight = weights[j] if weights.size > 0 else 1.0
            counts[0, places[labels[j]]] += weight
            n_left += weight
    return score_position(counts, n_left, n, totals, ranks, present, code, rate, stream), threshold, above - below


@_inner
def impurity_of(score, counts, totals, ranks, code):
    """Turn the score of a split into the paper's impurity, for the bias towards axis-parallel splits."""
    n, most, squares, mean, left_classes, right_classes = 0.0, 0.0, 0.0, 0.0, 0, 0
    for c in range(totals.size):
        n += totals[c]
        most = max(most, totals[c])
        squares += totals[c] * totals[c]
        mean += totals[c] * ranks[c]
        left_classes += counts[0, c] > 0.0
        right_classes += totals[c] - counts[0, c] > 1e-9 * totals[c]
    if code == CUSTOM:
        return -score
    if left_classes <= 1 and right_classes <= 1:
        return 0.0
    if code in (TWOING, INFO_GAIN):
        return 1.0 / score if score > 1e-14 else np.inf
    if code == GINI:
        return 1.0 - squares / (n * n) - score
    if code == VARIANCES:
        variance = 0.0
        for c in range(totals.size):
            variance += totals[c] * (ranks[c] - mean / n) ** 2
        return variance - n * score
    return n - most - n * score


@_inner
def bring_left_forward(values, projections, threshold, buffer):
    """Reorder one array of a node: the examples at or below the threshold, then the others, each in their order."""
    front, back = 0, 0
    for j in range(values.size):
        if projections[j] > threshold:
            buffer[back] = values[j]
            back += 1
        else:
            values[front] = values[j]
            front += 1
    for j in range(back):
        values[front + j] = buffer[j]
    return front


@_compiled
def grow(examples, plan, shorten, look, line, rate, bound, scratch, nodes, max_splits, searched, axis, given, centred):
    """Grow the subtree of the first of `nodes`, or as much of it as `max_splits` and the room in `nodes` allow.

    Nodes that were not looked at are left PENDING. Where the first node has been `searched` already, `axis` is what the
    search returned and the oblique runs are in ``scratch.runs``. Where its test is `given`, the first so many terms of
    `nodes` and the threshold in its first row are that test, and nothing is searched; the threshold moves if `centred`.

    Returns (number of nodes, number of terms, hyperplanes considered).
    """
    values, row_step, column_step, fill, shift, scale, columns, labels, weights, rows, holes = examples
    # By number: unpacking a tuple of arrays whole takes longer to compile.
    code, min_leaf, with_axis, min_oblique, n_runs = plan[0], plan[1], plan[2], plan[3], plan[4]
    n_jumps, axis_bias, max_depth, min_split, min_decrease, total = (
        plan[8],
        plan[10],
        plan[11],
        plan[12],
        plan[13],
        plan[14],
    )
    projections, classes, all_totals, counts, runs, stream = (
        scratch[3], scratch[8], scratch[9], scratch[10], scratch[12], scratch[13],
    )  # fmt: skip
    table, reals, node_counts, seeds, features, coefficients = nodes
    d, places, missing = shift.size, classes[0], table[:, MISSING]
    n_nodes, n_terms, considered, splits, node = 1, 0, 0, 0, 0
    while node < n_nodes and splits < max_splits and stream[1] == 0:
        start, stop = table[node, START], table[node, STOP]
        n = stop - start
        k = find_classes(labels, start, stop, node_counts[node], code, classes, all_totals)
        if stays_leaf(k, table[node, DEPTH], n, max_depth, min_split, min_leaf):
            table[node, STATUS] = LEAF
            node += 1
            continue
        if n_nodes + 2 > table.shape[0] or n_terms + d > features.size:
            break
        totals, ranks, present, bounds = all_totals[0, :k], all_totals[1, :k], classes[1, :k], classes[2, : k + 1]

        # Search, and take the best run: the first of those that are equally good.
        is_given = node == 0 and given > 0
        own_runs = n_runs if n >= min_oblique and not is_given else 0
        axis_score, attribute, at, side = axis
        considered += d if with_axis and not is_given else 0
        best, best_run, pure = NOTHING, -1, False
        two_stages = n >= plan[16] and n_jumps > 0 and own_runs > 0
        for stage in range(CLIMB if two_stages else BOTH, JUMP + 1 if two_stages else BOTH + 1):
            if not pure and (node > 0 or not (searched or is_given)):
                found = look(
                    columns, labels, weights, rows, holes, fill, shift, scale, start, stop, totals, ranks, present,
                    bounds, line, rate, bound, plan, seeds[node], stage, -1 if with_axis and stage != JUMP else 0,
                    own_runs, scratch,
                )  # fmt: skip
                if stage != JUMP:
                    axis_score, attribute, at, side = found
            for run in range(own_runs):
                if not pure:
                    considered += np.int64(runs[run, JUMPED if stage == JUMP else CLIMBED])
                    pure = runs[run, PURE] == (2.0 if stage == JUMP else 1.0)
        for run in range(own_runs):
            if better(runs[run, SCORE], best):
                best, best_run = runs[run, SCORE], run
            if runs[run, PURE] > 0.0:
                break
        if plan[15] < d and best > axis_score:
            stream[0] = mix(seeds[node], np.uint64(4))  # of its own: who made the runs must not matter
            best, more = shorten(
                columns, labels, weights, start, stop, totals, ranks, present, bounds, line, rate, bound, plan,
                runs[best_run, PLANE:], scratch,
            )  # fmt: skip
            considered += more

        # The search works on rounded numbers: what counts is how a test divides the examples themselves. The oblique
        # test is tried first, unless the bias needs both; the axis-parallel one stays where the oblique gains nothing.
        chosen, threshold, gap, size, rival = NOTHING, 0.0, 0.0, 0, 0.0
        for attempt in range(1 if is_given else 2 if axis_bias == 1.0 else 3):
            oblique = attempt == (0 if axis_bias == 1.0 else 1)
            unwanted = not best > axis_score if oblique else chosen > NOTHING or attribute < 0
            if unwanted and not is_given:
                continue
            if is_given:
                size, threshold = given, reals[node, 0]
            elif oblique:
                missing[node] = BY_FILL
                size, threshold = oblique_test(
                    runs[best_run, PLANE:], shift, scale, features[n_terms:], coefficients[n_terms:]
                )
            else:
                size, threshold = 1, shift[attribute] + at * scale[attribute]
                if threshold - shift[attribute] > at * scale[attribute]:
                    threshold = np.nextafter(threshold, -np.inf)  # rounded up, it could be the value above it
                features[n_terms], coefficients[n_terms], missing[node] = attribute, 1.0, side
            chosen, threshold, gap = place_test(
                values, row_step, column_step, fill, labels, weights, rows, start, stop,
                features[n_terms : n_terms + size], coefficients[n_terms : n_terms + size], threshold,
                totals, ranks, present, code, min_leaf, rate, places, counts, stream, projections[0],
                centred or not is_given, missing, node,
            )  # fmt: skip
            if chosen == NOTHING or is_given:
                continue
            if axis_bias > 1.0 and attempt < 2:
                impurity = impurity_of(chosen, counts, totals, ranks, code)
                if attempt == 0:
                    rival = impurity
                    chosen = NOTHING
                elif not axis_bias * impurity < rival:
                    chosen = NOTHING
            elif oblique and not better(chosen, axis_score):
                chosen = NOTHING
        weight = 0.0
        for c in range(k):
            weight += totals[c]
        # A measure of the user's own says nothing of a node that is not split: Gini's decrease stands for its gain.
        gain, least = chosen, 1e-18 if code <= VARIANCES else 1e-14
        if code == CUSTOM and chosen > NOTHING:
            weight_left = 0.0
            for c in range(k):
                weight_left += counts[0, c]
            gain, least = max(0.0, score_norm(counts, weight_left, weight, totals, ranks, np.int64(GINI))), -1.0
        if not gain > least or gain * weight / total < min_decrease:
            table[node, STATUS] = LEAF
            node += 1
            continue

        # Divide.
        for m in range(d if columns.shape[0] > d else 0):
            bring_left_forward(columns[m, start:stop], projections[0], threshold, projections[1])
        bring_left_forward(weights[start:stop], projections[0], threshold, projections[1])
        bring_left_forward(labels[start:stop], projections[0], threshold, projections[1])
        middle = start + bring_left_forward(rows[start:stop], projections[0], threshold, projections[1])
        for side in range(2):
            child = n_nodes + side
            table[child, START], table[child, STOP] = (start, middle) if side == 0 else (middle, stop)
            table[child, DEPTH], table[child, STATUS] = table[node, DEPTH] + 1, PENDING
            seeds[child] = mix(seeds[node], np.uint64(side + 1))
        for c in range(node_counts.shape[1]):
            node_counts[n_nodes, c] = 0.0
            node_counts[n_nodes + 1, c] = 0.0
        for j in range(start, stop):
            node_counts[n_nodes + (j >= middle), labels[j]] += weights[j] if weights.size > 0 else 1.0
        table[node, LEFT], table[node, RIGHT] = n_nodes, n_nodes + 1
        table[node, FIRST_TERM], table[node, N_TERMS], table[node, STATUS] = n_terms, size, INNER
        reals[node, 0] = threshold
        reals[node, 1] = gain
        reals[node, 2] = gap
        n_nodes, n_terms, splits, node = n_nodes + 2, n_terms + size, splits + 1, node + 1
    return n_nodes, n_terms, considered


def flat_view(X):
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


class Top(NamedTuple):
    """The uppermost nodes of a tree, level by level: those that ask every row of a block, and exits.

    Exits are leaves and nodes that are too many to ask everyone; they lead back to themselves.
    """

    nodes: np.ndarray  # int64 (places): which node stands at a place
    questions: np.ndarray  # int64 (places): which question it asks
    steps: np.ndarray  # int64 (2 * places): from place p to that of its child: steps[2 p + answer]
    asking: np.ndarray  # int64 (questions): which node asks
    column_of: np.ndarray  # int64 (d): place of an attribute among those asked for, or -1
    n_columns: int
    n_levels: int

    @classmethod
    def make(cls, children, terms, features, d):
        """Find the top of a tree."""
        nodes, levels, questions, steps, asking = [0], [0], [], [], []
        for place, node in enumerate(nodes):  # the list grows while it is walked
            questions.append(len(asking))
            if children[node, 0] >= 0 and len(asking) < TOP:
                steps += [len(nodes), len(nodes) + 1]
                asking.append(node)
                nodes += children[node].tolist()
                levels += [levels[place] + 1] * 2
            else:
                steps += [place, place]
                questions[place] = 0
        asked = np.unique(np.concatenate([features[terms[node] : terms[node + 1]] for node in asking] or [[]]))
        column_of = np.full(d, -1, np.int64)
        column_of[asked.astype(np.int64)] = np.arange(len(asked))
        return cls(
            np.array(nodes), np.array(questions), np.array(steps), np.array(asking, np.int64), column_of,
            len(asked), levels[-1],
        )  # fmt: skip


def borrowed(array):
    """Return a view of a float32 array that Numba takes for a writable one, as the kernels' signature wants it.

    The kernels do not write to it; a view of its own keeps the user's array read-only if it is so.
    """

    class Holder:
        __array_interface__: ClassVar[dict] = {**array.__array_interface__, "data": (array.ctypes.data, False)}
        source = array

    return np.asarray(Holder())


@_allocating
def apply(
    values, row_step, column_step, fill, children, terms, features, coefficients, thresholds, missing, top, first_row,
    out,
):  # fmt: skip
    """Write the leaf of each row from `first_row` on to `out`. A node's terms are ``terms[node]:terms[node + 1]``.

    The uppermost nodes ask every row of a block, in vector registers, whether or not the row gets there: that costs
    less than to go and see. Below them a row is asked only what it needs, level by level, so that the steps of
    different rows do not wait for each other.
    """
    top_nodes, questions, steps, asking, column_of, n_columns, n_levels = top
    # Made here, not handed in: the compiler then knows that they do not overlap.
    columns, answers = np.empty((n_columns, BLOCK)), np.empty((max(1, asking.size), BLOCK), np.uint8)
    sums, walking = np.empty(BLOCK), np.empty(BLOCK, np.int64)
    for r in range(BLOCK):
        answers[0, r] = 0
    for begin in range(0, out.size, BLOCK):
        n = min(BLOCK, out.size - begin)
        at = (first_row + begin) * row_step
        for feature in range(fill.size):
            column = column_of[feature]
            if column >= 0:
                origin = at + feature * column_step
                for r in range(n):
                    x = np.float64(values[origin + r * row_step])
                    columns[column, r] = fill[feature] if np.isnan(x) else x
        for q in range(asking.size):
            node = asking[q]
            i, last, threshold = terms[node], terms[node + 1], thresholds[node]
            for r in range(n):
                sums[r] = 0.0
            while i + 4 <= last:
                # Four terms in one pass over the sums, in their order.
                c0, c1, c2, c3 = coefficients[i], coefficients[i + 1], coefficients[i + 2], coefficients[i + 3]
                x0, x1 = columns[column_of[features[i]]], columns[column_of[features[i + 1]]]
                x2, x3 = columns[column_of[features[i + 2]]], columns[column_of[features[i + 3]]]
                for r in range(n):
                    sums[r] = (((sums[r] + c0 * x0[r]) + c1 * x1[r]) + c2 * x2[r]) + c3 * x3[r]
                i += 4
            while i < last:
                c0, x0 = coefficients[i], columns[column_of[features[i]]]
                for r in range(n):
                    sums[r] += c0 * x0[r]
                i += 1
            for r in range(n):
                answers[q, r] = sums[r] > threshold
            if missing[node] != BY_FILL:
                origin, answer = at + features[terms[node]] * column_step, np.uint8(missing[node] == MISSING_RIGHT)
                for r in range(n):
                    answers[q, r] = answer if np.isnan(values[origin + r * row_step]) else answers[q, r]
        for r in range(n):
            walking[r] = 0
        for _ in range(n_levels):
            for r in range(n):
                place = walking[r]
                walking[r] = steps[2 * place + answers[questions[place], r]]
        left = 0
        for r in range(n):
            node = top_nodes[walking[r]]
            out[begin + r] = node
            walking[left] = begin + r
            left += np.int64(children[node, 0] >= 0)
        while left > 0:
            n, left = left, 0
            for i in range(n):
                row = walking[i]
                node = out[row]
                value = project(
                    values, (first_row + row) * row_step, column_step, fill, features, coefficients, terms[node],
                    terms[node + 1], missing, node,
                )  # fmt: skip
                node = np.int64(children[node, np.int64(value > thresholds[node])])
                out[row] = node
                walking[left] = row
                left += np.int64(children[node, 0] >= 0)
