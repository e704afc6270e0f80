"""The heart: the best step along a direction.

The examples have margins V and rates r; for which alpha is the split ``V + alpha r > 0`` purest? Example j crosses at
``t = -V / r``: to the right ("up") where r > 0, to the left ("down") where r < 0. Instead of sorting, the crossings are
counted in buckets (a monotone function of t, so a bucket edge is a real position), the purity is evaluated at the edges
and bounded from above inside each bucket, and only buckets that can still beat the best are opened and sorted. The
answer is exact; the cost is linear.

Axis-parallel splits are the same question: the margins are the attribute, the rates are all one.
"""

from functools import cache
from typing import NamedTuple

import numpy as np
from numba import types

from . import layout
from ._jit import Compiled, inlined, inner, pointer, signature, spliced
from .bounds import bound_twoing, pair_gain, score_buckets_norm, score_buckets_pair
from .criteria import better, has_preference, has_room, pair_factor, preference, score_position, slack
from .crossings import count_buckets, find_crossings, locate_crossings
from .layout import NO_SPLIT
from .random import lot, random_bits
from .records import Criterion, LineBuffers, Node

#: Nodes up to this size are sorted whole: bounding buckets does not pay there.
SMALL_NODE = 16
#: Half the number of buckets is this times the root of examples over classes: more examples pay for finer buckets, more
#: classes for coarser ones (benchmarks/bench_kernels.py).
HALF_BUCKETS = 2.0

#: Buckets of `sort_all`, whose codes go up to twice as many.
MAX_SORTED = 1 << 14

_LOW32, _SHIFT32 = np.uint64(0xFFFFFFFF), np.uint64(32)


class Line(NamedTuple):
    """What the steps of one line search share."""

    total: float  # weight of all examples
    n_buckets: int
    sorted_whole: bool  # no bounds, all buckets are one
    weight_row: int  # row of the histogram that has the weights of all classes
    is_pair: bool  # two classes under a built-in criterion: `pair_gain` with the next two
    q0: float
    q1: float
    salt: np.uint64  # settles equally good positions


class Position(NamedTuple):
    """A position on the line: between two crossings, or at the edge of a bucket."""

    score: float
    preference: float  # settles which of equally good positions is taken; where that is equal, too, the lot does
    lot: np.uint64
    below: float  # the crossings next to it
    above: float
    edge: int  # -1 if it is between two crossings of an opened bucket


def line_search(node, criterion, margins, rates, current, ties, buffers):
    """Find the step alpha for which the split ``margins + alpha * rates > 0`` is purest; return (score, alpha).

    Only positions that beat the score `current` count, or equal it where `ties` is true; (NO_SPLIT, 0) if there is
    none. Among equally good positions `preference` decides, and where that is equal, one is drawn from the stream.
    """
    line = lay_out(node, criterion, margins, rates, buffers)
    best_edge = score_edges(line, node, criterion, margins.size, buffers)
    opened = open_buckets(line, node, criterion, best_edge, current, ties, buffers)
    if opened < 0:
        return NO_SPLIT, 0.0
    sort_opened(line.n_buckets, opened, margins.size, buffers)
    best = walk_opened(line, node, criterion, opened, margins.size, buffers)
    best = try_edges(line, best, best_edge, node, criterion, buffers)
    if best.score == NO_SPLIT or not (better(best.score, current) or (ties and best.score >= current - slack(current))):
        return NO_SPLIT, 0.0
    below, above = best.below, best.above
    if best.edge >= 0:
        below, above = neighbours_of_edge(line, best.edge, node.totals.size, margins.size, buffers)
    return best.score, step_between(below, above)


LINE_SEARCH = signature(
    types.UniTuple(types.float64, 2), Node, Criterion, types.float32[::1], types.float32[::1], float, bool, LineBuffers
)


@cache
def compiled_line_search() -> Compiled:
    """Return the line search as a pointer, compiled when first asked for."""
    return pointer(LINE_SEARCH, line_search)


@spliced
def lay_out(node, criterion, margins, rates, buffers):
    """Decide on the buckets and count the crossings in them."""
    k, n = node.totals.size, margins.size
    total = 0.0
    for c in range(k):
        total += node.totals[c]
    half = 1
    if n > SMALL_NODE:
        half = min(max(min(np.int64(HALF_BUCKETS * np.sqrt(n / k)), n // 12), 8), layout.MAX_BUCKETS // 2)
    centre, scale = locate_crossings(margins, rates, buffers.edges)
    find_crossings(margins, rates, centre, scale, half, buffers.crossings, buffers.codes)
    count_buckets(node, buffers.codes, 2 * half, buffers.histogram, buffers.left)
    sorted_whole, weight_row = n <= SMALL_NODE or criterion.code == layout.CUSTOM, k + 1 if node.weights.size > 0 else k
    is_pair, q0, q1 = pair_shares(node, criterion, total)
    return Line(total, 2 * half, sorted_whole, weight_row, is_pair, q0, q1, random_bits(buffers.stream))


@spliced
def pair_shares(node, criterion, total):
    """Return whether there are two classes under a built-in criterion, and the factors of `pair_gain` if so."""
    k = node.totals.size
    is_pair = k == 2 and criterion.code <= layout.VARIANCES
    factor = np.sqrt(pair_factor(criterion.code, node.ranks)) / total if is_pair else 0.0
    return is_pair, factor * node.totals[k - 1], factor * node.totals[0]


@spliced
def score_buckets(node, criterion, total, weight_row, n_buckets, buffers):
    """Score the edges of buckets, and bound what is inside (see `bounds`)."""
    histogram, left, edges = buffers.histogram, buffers.left, buffers.edges
    is_pair, q0, q1 = pair_shares(node, criterion, total)
    if is_pair:
        score_buckets_pair(q0, q1, total, n_buckets, histogram, left, edges)
    elif criterion.code <= layout.VARIANCES:
        score_buckets_norm(
            node.totals, total, node.ranks, criterion.code, weight_row, n_buckets, histogram, left, edges
        )
    else:
        criterion.bound(node.totals, total, criterion.code, n_buckets, histogram, left, edges)


@spliced
def score_edges(line, node, criterion, n, buffers):
    """Score the edges of the buckets and bound what is inside; return the best score at an edge."""
    left, edges, best_edge = buffers.left, buffers.edges, NO_SPLIT
    if line.sorted_whole:
        return best_edge
    score_buckets(node, criterion, line.total, line.weight_row, line.n_buckets, buffers)
    k = node.totals.size
    for b in range(line.n_buckets + 1):
        weight = left[line.weight_row, b]
        if not has_room(left[k, b], n - left[k, b], weight, line.total - weight, criterion):
            edges[0, b] = NO_SPLIT
        best_edge = max(best_edge, edges[0, b])
    return best_edge


@spliced
def open_buckets(line, node, criterion, best_edge, current, ties, buffers):
    """Give a slot to each bucket that can still win; return the number of crossings in them, -1 if nothing can win."""
    histogram, left, edges, slots = buffers.histogram, buffers.left, buffers.edges, buffers.slots
    k, n_buckets = node.totals.size, line.n_buckets
    improves = better(best_edge, current)
    bar = max(best_edge, current)
    bar += -slack(bar) if ties or improves else slack(bar)
    opened, crossing = 0, 0
    is_twoing = not line.sorted_whole and criterion.code == layout.TWOING and k > 2
    for b in range(n_buckets):
        size = np.int64(histogram[k, b] + histogram[k, n_buckets + b])
        crossing += size
        slots[b] = -1
        if is_twoing and size > 1 and edges[1, b] + slack(edges[1, b]) >= bar:
            edges[1, b] = bound_twoing(
                b, node.totals, line.total, line.weight_row, n_buckets, histogram, left, edges[1, b], buffers.counts
            )
        if line.sorted_whole or (size > 1 and edges[1, b] + slack(edges[1, b]) >= bar):
            slots[b] = opened
            opened += size
    slots[n_buckets] = -1
    slots[n_buckets + 1] = -1
    return -1 if crossing == 0 or (opened == 0 and not best_edge >= bar) else opened


@inlined
def step_between(below, above):
    """Return the step midway between two crossings, one of which may be infinitely far away."""
    if below == -np.inf:
        return above - max(abs(above), 1.0)
    return below + max(abs(below), 1.0) if above == np.inf else below + 0.5 * (above - below)


@inlined
def order_bits(t):
    """Return the bits of a float32 so that they sort, as whole numbers, as the float does."""
    bits = np.int64(np.float32(t + np.float32(0.0)).view(np.int32))
    return np.uint64(bits + 0x80000000 if bits >= 0 else -1 - bits)


@inner
def sort_keys(keys, first, last):
    """Sort some keys in place: insertion for the usual handful, Shell's gaps before it for crowded buckets."""
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


@spliced
def sort_opened(n_buckets, opened, n, buffers):
    """Collect the crossings of opened buckets, and sort each bucket; a slot then says where its bucket ends."""
    if opened == 0:
        return
    slots = buffers.slots
    for j in range(n):
        b = np.int64(buffers.codes[j])
        b = b - n_buckets if b >= n_buckets else b
        slot = slots[b]
        if slot >= 0:
            buffers.keys[slot] = (order_bits(buffers.crossings[j]) << _SHIFT32) | np.uint64(j)
            slots[b] = slot + 1
    first = 0
    for b in range(n_buckets):
        if slots[b] >= 0:
            sort_keys(buffers.keys, first, slots[b])
            first = slots[b]


@inner
def sort_all(margins, rates, buffers):
    """Sort all crossings, for a search without bounds; return the number of buckets and that of crossings.

    A bucket has two examples, if there are slots enough.
    """
    n, slots, codes = margins.size, buffers.slots, buffers.codes
    half = min(max(n // 4, 1), slots.size // 2 - 1, MAX_SORTED // 2)
    centre, scale = locate_crossings(margins, rates, buffers.edges)
    find_crossings(margins, rates, centre, scale, half, buffers.crossings, codes)
    n_buckets, opened = 2 * half, 0
    for b in range(n_buckets + 2):
        slots[b] = 0
    for j in range(n):
        b = np.int64(codes[j])
        slots[b - n_buckets if b >= n_buckets else b] += 1
    for b in range(n_buckets):
        size = slots[b]
        slots[b] = opened
        opened += size
    slots[n_buckets] = -1
    slots[n_buckets + 1] = -1
    sort_opened(n_buckets, opened, n, buffers)
    return n_buckets, opened


@spliced
def walk_opened(line, node, criterion, opened, n, buffers):
    """Walk along the crossings of the opened buckets and return the best position.

    Sorted whole, the line is one bucket, with the positions before and after it.
    """
    labels, weights, totals, places = node.labels, node.weights, node.totals, buffers.places
    codes, keys, crossings, counts = buffers.codes, buffers.keys, buffers.crossings, buffers.counts
    histogram, left, slots = buffers.histogram, buffers.left, buffers.slots
    k, n_buckets, total = totals.size, line.n_buckets, line.total
    ends = 1 if line.sorted_whole else 0
    best, liked, best_lot, below, above = NO_SPLIT, NO_SPLIT, line.salt, 0.0, 0.0
    first, before_bucket = 0, 0.0
    for b in range(n_buckets if opened > 0 else 0):
        last = opened if line.sorted_whole else slots[b]
        passed = before_bucket
        before_bucket += histogram[line.weight_row, b] + histogram[line.weight_row, n_buckets + b]
        if last < 0 or (line.sorted_whole and b > 0):
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
            if not (before < after and has_room(left_count, n - left_count, n_left, total - n_left, criterion)):
                continue
            if line.is_pair:
                here = pair_gain(counts[0, 0], counts[0, 1], line.q0, line.q1, total)
            elif criterion.code == layout.TWOING:
                if moved > safe:
                    norm, drift, moved, safe = twoing_deviations(counts, n_left, total, totals)
                here = norm * norm / (n_left * (total - n_left))
            else:
                here = score_position(counts, n_left, total, node, criterion, buffers.stream)
            if here > NO_SPLIT and here >= best - slack(best):
                own, liking = lot(line.salt, passed), preference(counts, n_left, total, totals, criterion, here)
                if better(here, best) or wins_tie(liking, own, liked, best_lot):
                    best, liked, best_lot, below, above = here, liking, own, before, after
        first = last
    return Position(best, liked, best_lot, below, above, -1)


@inlined
def wins_tie(preference, own_lot, best_preference, best_lot):
    """Whether a position is taken rather than another one that is as good."""
    equal = abs(preference - best_preference) <= slack(best_preference)
    return own_lot > best_lot if equal else preference > best_preference


@spliced
def twoing_deviations(counts, n_left, total, totals):
    """Return the sum of Twoing, what an example on the left takes from it, 0, and the least deviation.

    The signs of the deviations go to ``counts[1]``.
    """
    norm, drift, safe = 0.0, 0.0, np.inf
    for c in range(totals.size):
        deviation = counts[0, c] - totals[c] * n_left / total
        counts[1, c] = 1.0 if deviation > 0.0 else -1.0
        norm += abs(deviation)
        drift += counts[1, c] * totals[c] / total
        safe = min(safe, abs(deviation))
    return norm, drift, 0.0, safe


@spliced
def try_edges(line, best, best_edge, node, criterion, buffers):
    """Return the best position, now also among the edges of buckets."""
    score, liked, best_lot, edge = best.score, best.preference, best.lot, -1
    histogram, left, edges, n_buckets, counts = (
        buffers.histogram,
        buffers.left,
        buffers.edges,
        line.n_buckets,
        buffers.counts,
    )
    k = node.totals.size
    if best_edge > NO_SPLIT and best_edge >= score - slack(score):
        before_bucket = 0.0
        for b in range(n_buckets + 1):
            filled = b == 0 or histogram[k, b - 1] + histogram[k, n_buckets + b - 1] > 0.0
            if filled and edges[0, b] >= best_edge - slack(best_edge):
                own, liking = lot(line.salt, before_bucket), 0.0
                if has_preference(criterion, edges[0, b]):
                    for c in range(k):
                        counts[0, c] = left[c, b]
                    weight = left[line.weight_row, b]
                    liking = preference(counts, weight, line.total, node.totals, criterion, edges[0, b])
                if better(edges[0, b], score) or wins_tie(liking, own, liked, best_lot):
                    score, liked, best_lot, edge = edges[0, b], liking, own, b
            if b < n_buckets:
                before_bucket += histogram[line.weight_row, b] + histogram[line.weight_row, n_buckets + b]
    return Position(score, liked, best_lot, best.below, best.above, edge)


@spliced
def neighbours_of_edge(line, edge, k, n, buffers):
    """Return the crossings next to an edge, which are in the nearest buckets that hold anything."""
    histogram, n_buckets = buffers.histogram, line.n_buckets
    nearest, farther = edge - 1, edge
    while farther < n_buckets and histogram[k, farther] + histogram[k, n_buckets + farther] == 0.0:
        farther += 1
    below, above = -np.inf, np.inf
    for j in range(n):
        b = np.int64(buffers.codes[j])
        b = b - n_buckets if b >= n_buckets else b
        if b == nearest:
            below = max(below, np.float64(buffers.crossings[j]))
        elif b == farther and b < n_buckets:
            above = min(above, np.float64(buffers.crossings[j]))
    return below, above
