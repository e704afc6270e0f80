"""The impurity measures of the paper (Appendix B) as scores of a split: a gain, larger is better, 0 is useless.

`oc1.impurity` has the measures themselves. Twoing, Gini and the sum of variances are built into the kernels; the
others, and a user's own, come as pointers, each with a function that scores one position and one that scores the edges
of all buckets and bounds the scores inside them from above (see `bounds`). They are compiled when they are first used.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from . import bounds, layout
from ._jit import Compiled, inlined, inner, pointer
from .layout import NO_SPLIT
from .records import BOUND_FUNCTION, SCORE_FUNCTION


@inlined
def slack(score):
    """Return by how much scores may differ and still be called equal."""
    return 1e-10 * abs(score) + 1e-18


@inlined
def better(a, b):
    """Whether score a is larger than score b by more than rounding."""
    return a > b + slack(b)


@inlined
def has_preference(criterion, score):
    """Whether splits that a measure calls equally good are told apart by `preference`, not by lot.

    Measures that count minorities cannot tell many splits apart, and of a user's own nothing is known. No measure can
    where splits gain nothing.
    """
    return not criterion.by_lot and (criterion.code >= layout.SUM_MINORITY or score <= bounds.NOISE)


@inlined
def pair_factor(code, ranks):
    """For two classes, Twoing, Gini and variances are one measure times a factor."""
    if code == layout.TWOING:
        return 4.0
    return 2.0 if code == layout.GINI else (ranks[0] - ranks[1]) ** 2


@inlined
def has_room(n_left, n_right, weight_left, weight_right, criterion):
    """Whether both sides of a split have examples enough, and weight enough."""
    return (
        n_left >= criterion.min_leaf
        and n_right >= criterion.min_leaf
        and weight_left >= criterion.min_weight
        and weight_right >= criterion.min_weight
    )


@inner
def score_norm(counts, n_left, n, totals, ranks, code):
    """Score by Twoing, Gini or variances: a squared norm of the deviations from proportional sides."""
    k = totals.size
    share = n_left / n
    norm = 0.0
    if k == 2:
        norm = counts[0, 0] - totals[0] * share
        norm = pair_factor(code, ranks) * norm * norm
    elif code == layout.TWOING:
        for c in range(k):
            norm += abs(counts[0, c] - totals[c] * share)
        norm = norm * norm
    elif code == layout.GINI:
        for c in range(k):
            norm += (counts[0, c] - totals[c] * share) ** 2
    else:
        for c in range(k):
            norm += ranks[c] * (counts[0, c] - totals[c] * share)
        norm = norm * norm
    return norm / (n_left * (n - n_left))


@inner
def preference(counts, n_left, n, totals, criterion, score):
    """Say how much a split is to be preferred to others with the same score: by Gini's gain, larger is better.

    Where that is nothing either, as on a balanced XOR, the more even split is preferred. 0 where a lot decides.
    """
    if not has_preference(criterion, score):
        return 0.0
    gini = score_norm(counts, n_left, n, totals, totals, np.int64(layout.GINI))
    share = n_left / n
    return gini if gini > bounds.NOISE else 4.0 * share * (1.0 - share) - 2.0


@inner
def score_position(counts, n_left, n, node, criterion, stream):
    """Score the split that has the class weights ``counts[0]`` on its left. Both sides hold examples."""
    if criterion.code <= layout.VARIANCES:
        return score_norm(counts, n_left, n, node.totals, node.ranks, criterion.code)
    return criterion.score(counts, n_left, n, node.totals, node.present, criterion.code, stream)


@inner
def score_margins(node, criterion, margins, counts, stream):
    """Score the split V > 0; return (score, whether both sides are pure). NO_SPLIT where a side has too few."""
    count, n, n_left, left_classes, right_classes = 0, 0.0, 0.0, 0, 0
    weights, bounds = node.weights, node.bounds
    for c in range(node.totals.size):
        here, inside = 0, 0.0
        for j in range(bounds[c], bounds[c + 1]):
            if not margins[j] > 0:
                here += 1
                inside += weights[j] if weights.size > 0 else 1.0
        counts[0, c] = inside
        n += node.totals[c]
        n_left += inside
        count += here
        left_classes += here > 0
        right_classes += here < bounds[c + 1] - bounds[c]
    if not has_room(count, margins.size - count, n_left, n - n_left, criterion):
        return NO_SPLIT, False
    pure = left_classes == 1 and right_classes == 1
    return score_position(counts, n_left, n, node, criterion, stream), pure


@inner
def impurity_of(score, counts, node, code):
    """Turn the score of a split into the paper's impurity, for the bias towards axis-parallel splits."""
    totals, ranks = node.totals, node.ranks
    n, most, squares, mean, left_classes, right_classes = 0.0, 0.0, 0.0, 0.0, 0, 0
    for c in range(totals.size):
        n += totals[c]
        most = max(most, totals[c])
        squares += totals[c] * totals[c]
        mean += totals[c] * ranks[c]
        left_classes += counts[0, c] > 0.0
        right_classes += totals[c] - counts[0, c] > 1e-9 * totals[c]
    if code == layout.CUSTOM:
        return -score
    if left_classes <= 1 and right_classes <= 1:
        return 0.0
    if code in (layout.TWOING, layout.INFO_GAIN):
        return 1.0 / score if score > 1e-14 else np.inf
    if code == layout.GINI:
        return 1.0 - squares / (n * n) - score
    if code == layout.VARIANCES:
        variance = 0.0
        for c in range(totals.size):
            variance += totals[c] * (ranks[c] - mean / n) ** 2
        return variance - n * score
    return n - most - n * score


# --------------------------------------------------------------------------------------------------- as pointers


def score_none(counts, n_left, n, totals, present, code, stream):
    """Stand in where the criterion is built into the kernels."""
    return NO_SPLIT


def score_counts(counts, n_left, n, totals, present, code, stream):
    """Score information gain, sum minority or max minority."""
    k = totals.size
    if code == layout.INFO_GAIN:
        value = bounds.entropy_term(n) - bounds.entropy_term(n_left) - bounds.entropy_term(n - n_left)
        for c in range(k):
            value += (
                bounds.entropy_term(counts[0, c])
                + bounds.entropy_term(totals[c] - counts[0, c])
                - bounds.entropy_term(totals[c])
            )
        return bounds.without_noise(value / n)
    most_left, most_right, most = 0.0, 0.0, 0.0
    for c in range(k):
        most_left = max(most_left, counts[0, c])
        most_right = max(most_right, totals[c] - counts[0, c])
        most = max(most, totals[c])
    if code == layout.SUM_MINORITY:
        return bounds.without_noise((most_left + most_right - most) / n)
    return bounds.without_noise((n - most - max(n_left - most_left, n - n_left - most_right)) / n)


def score_by(function: Callable[..., Any]) -> Compiled:
    """Make the score of a user's compiled criterion.

    The criterion gets copies of the counts; those for which it gave no number are kept for the error message. Inside a
    kernel an exception would be lost, so it counts as no number.
    """

    def score(counts, n_left, n, totals, present, code, stream):
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
            return NO_SPLIT
        return max(-value, NO_SPLIT)

    return pointer(SCORE_FUNCTION, score, allocates=True, keep=False)


@cache
def pointers(code: int) -> tuple[Compiled, Compiled]:
    """Return the two functions of the criterion with this code, compiled."""
    if code == layout.INFO_GAIN:
        score, bound = score_counts, bounds.bound_entropy
    elif code in (layout.SUM_MINORITY, layout.MAX_MINORITY):
        score, bound = score_counts, bounds.bound_minority
    else:
        score, bound = score_none, bounds.bound_none
    return pointer(SCORE_FUNCTION, score), pointer(BOUND_FUNCTION, bound)
