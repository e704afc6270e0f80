"""Scores at the edges of buckets, and bounds of what is inside them (see `line_search`).

A bucket is opened only if something inside it could beat the best split that is known, so these bounds decide how much
is sorted; they never change the answer. ``histogram`` and ``left`` are those of `crossings.count_buckets`; the results
go to ``edges[0]``, the scores, and ``edges[1]``, the bounds.
"""

import numpy as np

from . import layout
from ._jit import inlined, inner

#: A score below this is nothing but rounding.
NOISE = 1e-14


@inlined
def without_noise(score):
    """Return a score, 0 where it is nothing but rounding."""
    return score if abs(score) > NOISE else 0.0


@inlined
def pair_gain(left0, left1, q0, q1, n):
    """Return the squared deviation of class 0 on the left over the product of the sides (0 where one is empty)."""
    deviation = left0 * q0 - left1 * q1
    n_left = left0 + left1
    spread = n_left * (n - n_left)
    return deviation * deviation / spread if spread > 0.0 else 0.0


@inner
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


@inner
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
    if code == layout.TWOING:
        reach, farthest = 2.0, 4.0
    elif code == layout.GINI:
        reach, farthest = np.sqrt(2.0), 2.0
    else:
        reach, farthest = max(high - mean, mean - low), (high - low) ** 2
    # Class by class, so that the loops over edges run in vector registers.
    for b in range(n_buckets + 1):
        edges[0, b] = 0.0
    for c in range(k):
        share = totals[c] / n
        if code == layout.TWOING:
            for b in range(n_buckets + 1):
                edges[0, b] += abs(left[c, b] - share * left[all_row, b])
        elif code == layout.GINI:
            for b in range(n_buckets + 1):
                deviation = left[c, b] - share * left[all_row, b]
                edges[0, b] += deviation * deviation
        else:
            for b in range(n_buckets + 1):
                edges[0, b] += ranks[c] * (left[c, b] - share * left[all_row, b])
    for b in range(n_buckets + 1):
        edges[0, b] = np.sqrt(edges[0, b]) if code == layout.GINI else abs(edges[0, b])
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


@inner
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


@inlined
def entropy_term(x):
    """Return x log2 x, which is 0 at 0 (and for the tiny negatives that rounding leaves of zero)."""
    return x * np.log2(x) if x > 0.0 else 0.0


def bound_none(totals, n, code, n_buckets, histogram, left, edges):
    """Stand in where the kernels need no bounds."""
    return 0.0


def bound_entropy(totals, n, code, n_buckets, histogram, left, edges):
    """Bound information gain term by term: every class at its better end, the sides at their best balance."""
    k = totals.size
    base = entropy_term(n)
    for c in range(k):
        base -= entropy_term(totals[c])
    for b in range(n_buckets + 1):
        value, limit = base, base
        n_left, low, high = 0.0, 0.0, 0.0
        for c in range(k):
            at = left[c, b]
            here = entropy_term(at) + entropy_term(totals[c] - at)
            value += here
            n_left += at
            if b < n_buckets:
                up, down = histogram[c, b], histogram[c, n_buckets + b]
                low += at - up
                high += at + down
                if up > 0.0:
                    here = max(here, entropy_term(at - up) + entropy_term(totals[c] - at + up))
                if down > 0.0:
                    here = max(here, entropy_term(at + down) + entropy_term(totals[c] - at - down))
                limit += here
        edges[0, b] = without_noise((value - entropy_term(n_left) - entropy_term(n - n_left)) / n)
        middle = min(max(0.5 * n, low), high)
        edges[1, b] = (limit - entropy_term(middle) - entropy_term(n - middle)) / n + 1e-12  # for rounding
    return 0.0


def bound_minority(totals, n, code, n_buckets, histogram, left, edges):
    """Bound the minorities, whose parts are monotone in the counts of their side."""
    k = totals.size
    most = 0.0
    for c in range(k):
        most = max(most, totals[c])
    for b in range(n_buckets + 1):
        # Sides at the edge, then the smallest and the largest that each can be inside the bucket.
        n_left, n_low, n_high = 0.0, 0.0, 0.0
        here_left, low_left, high_left = 0.0, 0.0, 0.0
        here_right, low_right, high_right = 0.0, 0.0, 0.0
        for c in range(k):
            at, all_ = left[c, b], totals[c]
            low = at - (histogram[c, b] if b < n_buckets else 0.0)
            high = at + (histogram[c, n_buckets + b] if b < n_buckets else 0.0)
            n_left += at
            n_low += low
            n_high += high
            here_left, here_right = max(here_left, at), max(here_right, all_ - at)
            low_left, low_right = max(low_left, low), max(low_right, all_ - high)
            high_left, high_right = max(high_left, high), max(high_right, all_ - low)
        if code == layout.SUM_MINORITY:
            edges[0, b] = without_noise((here_left + here_right - most) / n)
            edges[1, b] = (high_left + high_right - most) / n + 1e-12
        else:
            edges[0, b] = without_noise((n - most - max(n_left - here_left, n - n_left - here_right)) / n)
            edges[1, b] = (n - most - max(n_low - low_left, n - n_high - low_right)) / n + 1e-12
    return 0.0
