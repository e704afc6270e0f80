"""Compiled: the search for the hyperplane of a regression node.

The line search asks the question of `line_search`, for which alpha the split ``V + alpha r > 0`` is best, with sums of
the numbers to predict in place of counts of classes. Example j crosses at ``t = -V / r``; the crossings are sorted, and
one sweep over them keeps up what is on the left.

- Squared error: with numbers y whose mean is zero, a split saves ``s^2 (1 / w_left + 1 / w_right)``, where s is the
  weighted sum of y on the left: one addition and one division an example.
- Absolute error: the errors around the medians of both sides come from a Fenwick tree over the ranks of y that holds
  weights and weighted sums of the left; those of the right are the rest. A change, and a median, take log n steps.
  Positions that cannot beat the best one yet are only passed: an example of weight w saves w times its largest
  distance to any number at most.

Both are exact. A *score* is the loss that a split saves; larger is better.

A plane is ``V = plane . (x, 1) > 0`` on columns, float32 rows of one attribute each and a last one of ones.
"""

from typing import NamedTuple

import numpy as np

from . import layout
from ._jit import allocating, kernel
from .criteria import better, slack
from .layout import NO_SPLIT
from .line_search import order_bits, sort_keys, step_between
from .margins import add_multiple, follow
from .random import uniform

SQUARED, ABSOLUTE = 0, 1
#: Up to this number, keys are sorted by comparing them.
MAX_KEYS_COMPARED = 40

_S1, _S32, _LOW31, _LOW8, _ONE = np.uint64(1), np.uint64(32), np.uint64(0x7FFFFFFF), np.uint64(0xFF), np.uint64(1)


class Response(NamedTuple):
    """The numbers to predict at a node, and how a split of them is scored."""

    code: int  # SQUARED or ABSOLUTE
    min_leaf: int  # examples that a side must hold
    min_weight: float  # and weight
    parts: np.ndarray  # float64 (n, 3): weight, weighted number, and how many examples each stands for
    ranks: np.ndarray  # int64 (n); these three only for the absolute error
    values: np.ndarray  # float64 (n): the numbers by rank
    whole: np.ndarray  # float64 (n + 1, 2): a Fenwick tree of all weights and weighted sums
    weight: float
    total: float
    loss: float
    n_examples: float


class Work(NamedTuple):
    """Buffers of a search."""

    plane: np.ndarray  # float64 (d + 1)
    direction: np.ndarray  # float64 (d + 1): of a jump
    margins: np.ndarray  # float32 (n)
    rates: np.ndarray  # float32 (n): of a jump
    left: np.ndarray  # float64 (n + 1, 2), for the absolute error
    keys: np.ndarray  # uint64 (n)
    spare: np.ndarray  # uint64 (n)
    stream: np.ndarray  # uint64 (1)
    met: np.ndarray  # float64 (2 * n_runs): where each run stood before its jumps, and at its end


@allocating
def make_work(size, n, code, n_runs, seed):
    """Allocate the buffers for planes of some size, and n examples."""
    return Work(
        np.zeros(size),
        np.zeros(size),
        np.empty(n, np.float32),
        np.empty(n, np.float32),
        np.empty((n + 1 if code == ABSOLUTE else 0, 2)),
        np.empty(n, np.uint64),
        np.empty(n, np.uint64),
        np.full(1, seed, np.uint64),
        np.full(2 * max(n_runs, 1), NO_SPLIT),
    )


@allocating
def sorted_keys(keys, spare, n):
    """Sort the first n keys by their upper 32 bits; return the array that holds them, which is one of the two."""
    if n <= MAX_KEYS_COMPARED:
        sort_keys(keys, 0, n)
        return keys
    # By bytes, the lowest first.
    places = np.zeros((4, 256), np.int64)
    for i in range(n):
        high = keys[i] >> _S32
        for byte in range(4):
            places[byte, np.int64((high >> np.uint64(8 * byte)) & _LOW8)] += 1
    for byte in range(4):
        shift = np.uint64(32 + 8 * byte)
        if places[byte, np.int64((keys[0] >> shift) & _LOW8)] == n:
            continue
        place = 0
        for value in range(256):
            count = places[byte, value]
            places[byte, value] = place
            place += count
        for i in range(n):
            value = np.int64((keys[i] >> shift) & _LOW8)
            spare[places[byte, value]] = keys[i]
            places[byte, value] += 1
        keys, spare = spare, keys
    return keys


@allocating
def add_to(tree, rank, weight, y):
    """Add weight at a rank of a Fenwick tree of (weights, weighted sums)."""
    i = rank + 1
    while i < tree.shape[0]:
        tree[i, 0] += weight
        tree[i, 1] += weight * y
        i += i & -i


@allocating
def median_loss(tree, whole, sign, weight, total, values):
    """Return the absolute error around the median, of what a tree holds or of the rest of the whole (sign -1).

    `weight` and `total` are the weight and the weighted sum of it, `values` the numbers by rank.
    """
    n, place, below, sum_below, step = values.size, 0, 0.0, 0.0, 1
    while 2 * step <= n:
        step *= 2
    while step > 0:
        i = place + step
        if i <= n:
            w, s = tree[i, 0], tree[i, 1]
            if sign < 0:
                w, s = whole[i, 0] - w, whole[i, 1] - s
            if 2.0 * (below + w) < weight:
                place, below, sum_below = i, below + w, sum_below + s
        step //= 2
    median = values[min(place, n - 1)]
    return median * below - sum_below + (total - sum_below) - median * (weight - below)


@allocating
def score_left(response, left, weight_left, sum_left):
    """Score a split by what is on its left: weight, weighted sum and, for the absolute error, a Fenwick tree."""
    weight, total, whole, values = response.weight, response.total, response.whole, response.values
    if response.code == SQUARED:
        return sum_left * sum_left * weight / (weight_left * (weight - weight_left))
    return (
        response.loss
        - median_loss(left, whole, 1, weight_left, sum_left, values)
        - median_loss(left, whole, -1, weight - weight_left, total - sum_left, values)
    )


@allocating
def has_room(response, n_left, weight_left):
    """Whether both sides of a split have examples enough, and weight enough."""
    return (
        n_left >= response.min_leaf
        and response.n_examples - n_left >= response.min_leaf
        and weight_left >= response.min_weight
        and response.weight - weight_left >= response.min_weight
    )


@allocating
def line_search(margins, rates, response, current, work):
    """Find the step alpha for which ``margins + alpha * rates > 0`` is best; return (score, alpha).

    Only positions that beat the score `current` count; (NO_SPLIT, 0) if there is none.
    """
    parts, ranks, values, left = response.parts, response.ranks, response.values, work.left
    absolute, n = response.code == ABSOLUTE, margins.size
    weight_left, sum_left, n_left, n_keys = 0.0, 0.0, 0.0, 0
    for i in range(left.shape[0]):
        left[i, 0] = 0.0
        left[i, 1] = 0.0
    for j in range(n):
        t = -margins[j] / rates[j]
        up = rates[j] > 0
        if abs(t) < layout.FAR:
            work.keys[n_keys] = (order_bits(t) << _S32) | (np.uint64(j) << _S1) | np.uint64(up)
            n_keys += 1
        else:
            up = not margins[j] > 0
        if up:  # on the left, before all crossings
            weight_left += parts[j, 0]
            sum_left += parts[j, 1]
            n_left += parts[j, 2]
            if absolute:
                left[ranks[j] + 1, 0] += parts[j, 0]
                left[ranks[j] + 1, 1] += parts[j, 1]
    for i in range(1, left.shape[0]):
        above = i + (i & -i)
        if above <= n:
            left[above, 0] += left[i, 0]
            left[above, 1] += left[i, 1]
    if n_keys == 0:
        return NO_SPLIT, 0.0
    keys = sorted_keys(work.keys, work.spare, n_keys)
    best, step = NO_SPLIT, 0.0
    bar, room = current, 0.0  # what is to be beaten, and by how much the score is below it at least
    before, after = -np.inf, 0.0
    for i in range(-1, n_keys):
        if i >= 0:
            j = np.int64((keys[i] >> _S1) & _LOW31)
            sign = -1.0 if keys[i] & _ONE == _ONE else 1.0
            weight_left += sign * parts[j, 0]
            sum_left += sign * parts[j, 1]
            n_left += sign * parts[j, 2]
            before = after
            if absolute:
                y = values[ranks[j]]
                add_to(left, ranks[j], sign * parts[j, 0], y)
                room -= parts[j, 0] * max(y - values[0], values[n - 1] - y)
        after = np.inf
        if i + 1 < n_keys:
            j = np.int64((keys[i + 1] >> _S1) & _LOW31)
            after = np.float64(-margins[j] / rates[j])
        if not before < after or room > 0.0 or not has_room(response, n_left, weight_left):
            continue
        here = score_left(response, left, weight_left, sum_left)
        if better(here, bar):
            best, bar, step = here, here, step_between(before, after)
        if absolute:
            room = bar - here
    return best, step


@allocating
def prepare_response(y, weights, units, code, min_leaf, min_weight):
    """Return what the line search needs to know of the numbers to predict (see `search`)."""
    n = y.size
    parts = np.empty((n, 3))
    weight, total, loss, n_examples = 0.0, 0.0, 0.0, 0.0
    for j in range(n):
        parts[j, 0] = weights[j]
        parts[j, 1] = weights[j] * y[j]
        parts[j, 2] = units[j]
        n_examples += units[j]
        weight += parts[j, 0]
        total += parts[j, 1]
        loss += parts[j, 1] * y[j]
    size = n if code == ABSOLUTE else 0
    ranks, values, whole = np.empty(size, np.int64), np.empty(size), np.zeros((size + 1, 2))
    if code == ABSOLUTE:
        order = np.argsort(y, kind="mergesort")
        for i in range(n):
            ranks[order[i]] = i
            values[i] = y[order[i]]
        for j in range(n):
            add_to(whole, ranks[j], weights[j], y[j])
        loss = median_loss(whole, whole, 1, weight, total, values)
    return Response(code, min_leaf, min_weight, parts, ranks, values, whole, weight, total, loss, n_examples)


@allocating
def compute_margins(columns, plane, margins):
    """Compute V = plane . (x, 1)."""
    for j in range(margins.size):
        margins[j] = 0.0
    for m in range(plane.size):
        a = np.float32(plane[m])
        if a != 0:
            add_multiple(margins, a, columns[m])


@allocating
def score_margins(margins, response, left):
    """Score the split V > 0; NO_SPLIT where a side has too few."""
    parts, ranks = response.parts, response.ranks
    weight_left, sum_left, n_left = 0.0, 0.0, 0.0
    for i in range(left.shape[0]):
        left[i, 0] = 0.0
        left[i, 1] = 0.0
    for j in range(margins.size):
        if not margins[j] > 0:
            weight_left += parts[j, 0]
            sum_left += parts[j, 1]
            n_left += parts[j, 2]
            if response.code == ABSOLUTE:
                add_to(left, ranks[j], parts[j, 0], response.values[ranks[j]])
    if not has_room(response, n_left, weight_left):
        return NO_SPLIT
    return score_left(response, left, weight_left, sum_left)


@kernel(allocates=True)
def search(columns, y, weights, units, code, min_leaf, min_weight, with_axis, start, n_runs, n_jumps, seed):
    """Search the split of a node.

    Every attribute is looked at, then each run improves a plane: one coefficient after the other until none changes,
    then random directions (jumps) until one helps, which goes back to the coefficients, or `n_jumps` have failed. The
    first run starts from the best attribute, the next from `start`, all others at random. A run that gets where an
    earlier one stood goes no further, unless the node is small.

    Parameters
    ----------
    columns : float32 array (d + 1, n)
        Standardised attributes, and ones.
    y, weights : float64 arrays (n,)
        The numbers to predict, their weighted mean zero for the squared error.
    units : float64 array (n,)
        How many examples each of them stands for.
    code : int
        SQUARED or ABSOLUTE.
    min_leaf : int
        Examples that a side must hold at least.
    min_weight : float
        What they must weigh.
    with_axis : bool
        Whether single attributes are looked at.
    start : float64 array (d,)
        Coefficients to start a run from; not used where they are all zero.
    n_runs, n_jumps : int
    seed : uint64

    Returns
    -------
    axis_score, attribute, threshold
        Of the best split of a single attribute; NO_SPLIT and -1 if there is none.
    score, plane
        The best plane of the runs, float64 array (d + 1,).
    loss : float
        What there is to save.
    considered : int
        Hyperplanes looked at.
    """
    size, n = columns.shape
    response = prepare_response(y, weights, units, code, min_leaf, min_weight)
    work = make_work(size, n, code, n_runs, seed)
    axis_score, attribute, threshold, best, considered = NO_SPLIT, -1, 0.0, NO_SPLIT, 0
    for m in range(size - 1 if with_axis else 0):
        here, alpha = line_search(columns[m], columns[size - 1], response, axis_score, work)
        considered += 1
        if here > NO_SPLIT:
            axis_score, attribute, threshold = here, m, -alpha
    best_plane = np.zeros(size)
    for run in range(n_runs):
        first = start_plane(run, attribute, threshold, start, work)
        score, more = improve(columns, response, n_jumps, run, first, work)
        considered += more
        if better(score, best):
            best = score
            best_plane[:] = work.plane
    return axis_score, attribute, threshold, best, best_plane, response.loss, considered


@allocating
def start_plane(run, attribute, threshold, start, work):
    """Set the plane from which a run starts; return the coefficient that is perturbed first."""
    plane, last = work.plane, work.plane.size - 1
    guided = False
    for m in range(last):
        guided = guided or start[m] != 0.0
    from_axis = run == 0 and attribute >= 0
    from_start = guided and run == (1 if attribute >= 0 else 0)
    for m in range(last + 1):
        if from_axis:
            plane[m] = 1.0 if m == attribute else -threshold if m == last else 0.0
        elif from_start:
            plane[m] = start[m] if m < last else 0.0
        else:
            plane[m] = 2.0 * uniform(work.stream) - 1.0
    return last if from_start else 0


@allocating
def improve(columns, response, n_jumps, run, first, work):
    """Make one run from the plane that is set: perturb coefficients in turn, then jump; return (score, considered)."""
    plane, margins, size = work.plane, work.margins, work.plane.size
    compute_margins(columns, plane, margins)
    score = score_margins(margins, response, work.left)
    considered, m, is_first = 1, first, True
    while True:
        settled = 0
        while settled < size:
            here, alpha = line_search(margins, columns[m], response, score, work)
            considered += 1
            settled += 1
            if here > NO_SPLIT:
                plane[m] += alpha
                follow(plane, margins, columns[m], alpha)
                score, settled = here, 1
            m = m + 1 if m + 1 < size else 0
        if is_first:
            work.met[2 * run], is_first = score, False
        m, helped = 0, False
        if others_were_here(run, score, response, work.met):
            break
        for _ in range(n_jumps):
            for i in range(size):
                work.direction[i] = 2.0 * uniform(work.stream) - 1.0
            compute_margins(columns, work.direction, work.rates)
            here, alpha = line_search(margins, work.rates, response, score, work)
            considered += 1
            if here > NO_SPLIT:
                for i in range(size):
                    plane[i] += alpha * work.direction[i]
                follow(plane, margins, work.rates, alpha)
                score, helped = here, True
                break
        if not helped:
            break
    # The moves have rounded the margins a little: once more from the plane itself.
    compute_margins(columns, plane, margins)
    score = score_margins(margins, response, work.left)
    work.met[2 * run + 1] = score
    return score, considered


@allocating
def others_were_here(run, score, response, met):
    """Whether an earlier run stood where this one does; at small nodes, equal scores do not say so."""
    here = False
    for other in range(2 * run):
        here = here or abs(met[other] - score) <= slack(score)
    return here and response.n_examples >= layout.MIN_ROWS_TO_MEET
