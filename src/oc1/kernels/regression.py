"""Compiled: the search for the hyperplane of a regression node.

The line search asks the question of `line_search`, for which alpha the split ``V + alpha r > 0`` is best, with sums of
the numbers to predict in place of counts of classes. Example j crosses at ``t = -V / r``; the crossings are sorted
(`sort_all`), and one sweep over them keeps up what is on the left.

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
from .criteria import better, has_room, slack
from .layout import NO_SPLIT
from .line_search import sort_all, step_between
from .margins import add_multiple, follow
from .random import uniform

SQUARED, ABSOLUTE = 0, 1

_LOW32 = np.uint64(0xFFFFFFFF)


class Response(NamedTuple):
    """The numbers to predict at a node, and how a split of them is scored."""

    code: int  # SQUARED or ABSOLUTE
    min_leaf: int  # examples that a side must hold
    min_weight: float  # and weight
    parts: np.ndarray  # float64 (n, 3): weight, weighted number, and how many examples each stands for
    ranks: np.ndarray  # int64 (n); these four only for the absolute error
    values: np.ndarray  # float64 (n): the numbers by rank
    whole: np.ndarray  # float64 (n + 1, 2): a Fenwick tree of all weights and weighted sums
    left: np.ndarray  # float64 (n + 1, 2): room for one of those on the left
    weight: float
    total: float
    loss: float
    n_examples: float


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
def score_left(response, n_left, weight_left, sum_left):
    """Score a split by what is on its left: examples, weight, weighted sum and, for the absolute error, a Fenwick tree.

    NO_SPLIT where a side has too little.
    """
    weight, total, values = response.weight, response.total, response.values
    whole, left = response.whole, response.left
    if not has_room(n_left, response.n_examples - n_left, weight_left, weight - weight_left, response):
        return NO_SPLIT
    if response.code == SQUARED:
        return sum_left * sum_left * weight / (weight_left * (weight - weight_left))
    return (
        response.loss
        - median_loss(left, whole, 1, weight_left, sum_left, values)
        - median_loss(left, whole, -1, weight - weight_left, total - sum_left, values)
    )


@allocating
def line_search(margins, rates, response, current, buffers):
    """Find the step alpha for which ``margins + alpha * rates > 0`` is best; return (score, alpha).

    Only positions that beat the score `current` count; (NO_SPLIT, 0) if there is none.
    """
    parts, ranks, values, left = response.parts, response.ranks, response.values, response.left
    keys, codes, crossings = buffers.keys, buffers.codes, buffers.crossings
    absolute, n = response.code == ABSOLUTE, margins.size
    weight_left, sum_left, n_left = 0.0, 0.0, 0.0
    n_buckets, n_keys = sort_all(margins, rates, buffers)
    if n_keys == 0:
        return NO_SPLIT, 0.0
    for i in range(left.shape[0]):
        left[i, 0] = 0.0
        left[i, 1] = 0.0
    for j in range(n):
        if codes[j] < n_buckets or codes[j] == 2 * n_buckets:  # on the left, before all crossings
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
    best, step = NO_SPLIT, 0.0
    bar, room = current, 0.0  # what is to be beaten, and by how much the score is below it at least
    before, after = -np.inf, 0.0
    for i in range(-1, n_keys):
        if i >= 0:
            j = np.int64(keys[i] & _LOW32)
            sign = -1.0 if codes[j] < n_buckets else 1.0
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
            after = np.float64(crossings[np.int64(keys[i + 1] & _LOW32)])
        if not before < after or room > 0.0:
            continue
        here = score_left(response, n_left, weight_left, sum_left)
        if better(here, bar):
            best, bar, step = here, here, step_between(before, after)
        if absolute and here > NO_SPLIT:
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
    return Response(
        code, min_leaf, min_weight, parts, ranks, values, whole, np.empty_like(whole), weight, total, loss, n_examples
    )


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
def score_margins(margins, response):
    """Score the split V > 0; NO_SPLIT where a side has too little."""
    parts, ranks, left = response.parts, response.ranks, response.left
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
    return score_left(response, n_left, weight_left, sum_left)


@kernel(allocates=True)
def search(columns, y, weights, units, code, min_leaf, min_weight, with_axis, start, n_runs, n_jumps, work):
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
    work : Workspace
        With the random stream.

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
    size = columns.shape[0]
    response = prepare_response(y, weights, units, code, min_leaf, min_weight)
    axis_score, attribute, threshold, best, considered = NO_SPLIT, -1, 0.0, NO_SPLIT, 0
    for m in range(size - 1 if with_axis else 0):
        here, alpha = line_search(columns[m], columns[size - 1], response, axis_score, work.line)
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
            plane[m] = 2.0 * uniform(work.line.stream) - 1.0
    return last if from_start else 0


@allocating
def improve(columns, response, n_jumps, run, first, work):
    """Make one run from the plane that is set: perturb coefficients in turn, then jump; return (score, considered)."""
    plane, margins, size, runs = work.plane, work.margins, work.plane.size, work.runs
    compute_margins(columns, plane, margins)
    score = score_margins(margins, response)
    considered, m, is_first = 1, first, True
    while True:
        settled = 0
        while settled < size:
            here, alpha = line_search(margins, columns[m], response, score, work.line)
            considered += 1
            settled += 1
            if here > NO_SPLIT:
                plane[m] += alpha
                follow(plane, margins, columns[m], alpha)
                score, settled = here, 1
            m = m + 1 if m + 1 < size else 0
        if is_first:
            runs[run, layout.FIRST_SCORE], is_first = score, False
        m, helped = 0, False
        if others_were_here(run, score, response, runs):
            break
        for _ in range(n_jumps):
            for i in range(size):
                work.direction[i] = 2.0 * uniform(work.line.stream) - 1.0
            compute_margins(columns, work.direction, work.rates)
            here, alpha = line_search(margins, work.rates, response, score, work.line)
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
    score = score_margins(margins, response)
    runs[run, layout.SCORE] = score
    return score, considered


@allocating
def others_were_here(run, score, response, runs):
    """Whether an earlier run stood where this one does; at small nodes, equal scores do not say so."""
    here = False
    for other in range(run):
        for column in (layout.FIRST_SCORE, layout.SCORE):
            here = here or abs(runs[other, column] - score) <= slack(score)
    return here and response.n_examples >= layout.MIN_ROWS_TO_MEET
