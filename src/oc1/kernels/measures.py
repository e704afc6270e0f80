"""Compiled scores of the measures that the kernels take as pointers: information gain, the minorities, a user's own.

Each brings a function that scores one position (`_kernels.RATE`) and one that scores the edges of all buckets and
bounds the scores inside them from above (`_kernels.BOUND`). They are compiled when they are first used.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
from numba import cfunc, njit

from ._kernels import BOUND, INFO_GAIN, MAX_MINORITY, NOTHING, RATE, SUM_MINORITY


@njit(error_model="numpy")
def entropy_term(x):
    """Return x log2 x, which is 0 at 0 (and for the tiny negatives that rounding leaves of zero)."""
    return x * np.log2(x) if x > 0.0 else 0.0


def rate_nothing(counts, n_left, n, totals, present, code, stream):
    """Stand in where the kernels need no pointer."""
    return NOTHING


def bound_nothing(totals, n, code, n_buckets, histogram, left, edges):
    """Stand in where the kernels need no bounds."""
    return 0.0


def rate_counts(counts, n_left, n, totals, present, code, stream):
    """Score information gain, sum minority or max minority."""
    k = totals.size
    if code == INFO_GAIN:
        value = entropy_term(n) - entropy_term(n_left) - entropy_term(n - n_left)
        for c in range(k):
            value += entropy_term(counts[0, c]) + entropy_term(totals[c] - counts[0, c]) - entropy_term(totals[c])
        return value / n
    most_left, most_right, most = 0.0, 0.0, 0.0
    for c in range(k):
        most_left = max(most_left, counts[0, c])
        most_right = max(most_right, totals[c] - counts[0, c])
        most = max(most, totals[c])
    if code == SUM_MINORITY:
        return (most_left + most_right - most) / n
    return (n - most - max(n_left - most_left, n - n_left - most_right)) / n


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
        edges[0, b] = (value - entropy_term(n_left) - entropy_term(n - n_left)) / n
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
        if code == SUM_MINORITY:
            edges[0, b] = (here_left + here_right - most) / n
            edges[1, b] = (high_left + high_right - most) / n + 1e-12
        else:
            edges[0, b] = (n - most - max(n_left - here_left, n - n_left - here_right)) / n
            edges[1, b] = (n - most - max(n_low - low_left, n - n_high - low_right)) / n + 1e-12
    return 0.0


def rate_by(function: Callable) -> Callable:
    """Make the score of a compiled user's measure.

    The measure gets copies of the counts; those for which it gave no number are kept for the error message. Inside a
    kernel an exception would be lost, so it counts as no number.
    """

    def rate(counts, n_left, n, totals, present, code, stream):
        for c in range(counts.shape[1]):
            counts[1, c] = 0.0
            counts[2, c] = 0.0
        for c in range(totals.size):
            # Running sums of weights leave crumbs where nothing is left.
            left, right = counts[0, c], totals[c] - counts[0, c]
            counts[1, present[c]] = left if left > 1e-12 * totals[c] else 0.0
            counts[2, present[c]] = right if right > 1e-12 * totals[c] else 0.0
        if stream[1] == 0:
            for c in range(counts.shape[1]):
                counts[3, c] = counts[1, c]
                counts[4, c] = counts[2, c]
        value = np.nan
        try:
            value = function(counts[1], counts[2])
        except Exception:  # the only form that Numba compiles
            value = np.nan
        if np.isnan(value):
            stream[1] = 1
            return NOTHING
        return max(-value, NOTHING)

    return cfunc(RATE, error_model="numpy")(rate)


@cache
def pointers(code: int) -> tuple[Callable, Callable]:
    """Return the two functions of the measure with this code, compiled."""
    if code == INFO_GAIN:
        rate, bound = rate_counts, bound_entropy
    elif code in (SUM_MINORITY, MAX_MINORITY):
        rate, bound = rate_counts, bound_minority
    else:
        rate, bound = rate_nothing, bound_nothing
    return cfunc(RATE, cache=True, error_model="numpy")(rate), cfunc(BOUND, cache=True, error_model="numpy")(bound)
