"""Compiled: coefficients improved in turn without randomness, and attributes dropped one by one (CART's way).

CART-LC is made of these two, and OC1 uses them where a split may have only so many attributes (`max_terms`). The line
search is called through its pointer, so nothing here depends on compiled code of another file.

A plane is ``V = plane . (x, 1) > 0`` on the columns of `_kernels`; ``used`` marks the attributes it may have.
"""

from functools import cache
from typing import Any

import numpy as np
from numba import cfunc, config, njit, typeof, types

from ._kernels import BOUND, LINE_SEARCH, NOTHING, RATE, Plan, Scratch

_options: dict[str, Any] = {"error_model": "numpy", "nogil": True, "no_cfunc_wrapper": True}
_compiled = njit(**_options, cache=True)
_no_way_in: dict[str, Any] = {"no_cpython_wrapper": True}
_inner = njit(**_options, **_no_way_in)


@_inner
def better(a, b):
    """Whether score a is larger than score b by more than rounding."""
    return a > b + 1e-10 * abs(b) + 1e-18


@_inner
def best_step(origin, rates, current, node, line, rate, bound, code, min_leaf, scratch):
    """Return (score, alpha) of the purest split ``origin + alpha * rates > 0`` that beats the score `current`."""
    labels, weights, bounds, totals, ranks, present = node
    return line(
        labels, weights, bounds, totals, ranks, present, origin, rates, current, False, code, min_leaf, rate, bound,
        scratch[0][2, : labels.size], scratch[1], scratch[2], scratch[4], scratch[5], scratch[6], scratch[7],
        scratch[8][0], scratch[10], scratch[13],
    )  # fmt: skip


@_inner
def find_margins(columns, start, plane, margins):
    """Compute the margins of a node's examples."""
    for j in range(margins.size):
        margins[j] = plane[plane.size - 1]
    for m in range(plane.size - 1):
        a = np.float32(plane[m])
        if a != 0:
            for j in range(margins.size):
                margins[j] += a * columns[m, start + j]


@_compiled
def descend(
    columns, start, node, line, rate, bound, code, min_leaf, gammas, always, signed, max_cycles, epsilon, plane,
    used, scratch,
):  # fmt: skip
    """Improve a plane by cycles over its coefficients (Figure 4 of the paper); return (score, hyperplanes considered).

    For each attribute and each gamma the best multiple of ``x + gamma`` is looked for, and the best of these is added;
    `always`, or only if it improves. A search that is not `signed` takes all examples to cross in one direction, though
    those with a negative ``x + gamma`` cross in the other, so that the move may worsen the split. At the end of a cycle
    the constant is adjusted, and the last cycle is the one that changes the score by no more than epsilon. The plane
    becomes the best one that stood at the end of a cycle.
    """
    d, n = plane.size - 1, node[0].size
    margins, rates = scratch[0][0, :n], scratch[0][1, :n]
    ones = columns[d, start : start + n]
    find_margins(columns, start, plane, margins)
    score, alpha = best_step(margins, ones, NOTHING, node, line, rate, bound, code, min_leaf, scratch)
    plane[d] += alpha
    for j in range(n):
        margins[j] += np.float32(alpha)
    considered = 1
    best_plane, best_score = plane.copy(), score
    for _ in range(max_cycles):
        before = score
        for m in range(d):
            if used[m] == 0.0:
                continue
            best, best_alpha, best_gamma = NOTHING if always else score, 0.0, 0.0
            for g in range(gammas.size):
                for j in range(n):
                    rates[j] = columns[m, start + j] + np.float32(gammas[g])
                    if not signed:
                        rates[j] = margins[j] / rates[j]
                origin, directions = (margins, rates) if signed else (rates, ones)
                here, alpha = best_step(origin, directions, best, node, line, rate, bound, code, min_leaf, scratch)
                considered += 1
                if here > NOTHING:
                    best, best_alpha, best_gamma = here, alpha, gammas[g]
            if best_alpha != 0.0:
                plane[m] += best_alpha
                plane[d] += best_alpha * best_gamma
                score = best
                for j in range(n):
                    margins[j] += np.float32(best_alpha) * (columns[m, start + j] + np.float32(best_gamma))
        current = NOTHING if always else score
        here, alpha = best_step(margins, ones, current, node, line, rate, bound, code, min_leaf, scratch)
        considered += 1
        if here > NOTHING:
            plane[d] += alpha
            score = here
            for j in range(n):
                margins[j] += np.float32(alpha)
        if better(score, best_score):
            best_plane, best_score = plane.copy(), score
        if abs(score - before) <= epsilon:
            break
    for m in range(plane.size):
        plane[m] = best_plane[m]
    return best_score, considered


@_compiled
def eliminate(columns, start, node, line, rate, bound, code, min_leaf, n_most, share, again, plane, used, scratch):
    """Drop attributes from a plane; return (score, hyperplanes considered).

    What an attribute is worth is what the score loses without it, the constant adjusted. The one of least worth goes,
    as long as there are more than `n_most`, or its worth is below a share of the largest worth. If `again`, the others
    are improved after each.
    """
    d, n = plane.size - 1, node[0].size
    margins, rest = scratch[0][0, :n], scratch[0][1, :n]
    ones = columns[d, start : start + n]
    find_margins(columns, start, plane, margins)
    score, alpha = best_step(margins, ones, NOTHING, node, line, rate, bound, code, min_leaf, scratch)
    plane[d] += alpha
    considered = 1
    n_used = 0
    for m in range(d):
        used[m] = 1.0 if plane[m] != 0.0 else 0.0
        n_used += plane[m] != 0.0
    while n_used > 1:
        find_margins(columns, start, plane, margins)
        dropped, most, least, step = -1, NOTHING, np.inf, 0.0
        for m in range(d):
            if used[m] == 0.0:
                continue
            a = np.float32(plane[m])
            for j in range(n):
                rest[j] = margins[j] - a * columns[m, start + j]
            here, alpha = best_step(rest, ones, NOTHING, node, line, rate, bound, code, min_leaf, scratch)
            considered += 1
            least = min(least, here)
            if dropped < 0 or better(here, most):
                dropped, most, step = m, here, alpha
        if n_used <= n_most and not better(share * (score - least), score - most):
            break
        plane[dropped] = 0.0
        plane[d] += step
        used[dropped] = 0.0
        score = most
        n_used -= 1
        if again:
            score, more = descend(
                columns, start, node, line, rate, bound, code, min_leaf, np.zeros(1), False, True, 20, 0.0, plane,
                used, scratch,
            )  # fmt: skip
            considered += more
    return score, considered


_vector = types.float64[::1]
SHORTEN = types.Tuple((types.float64, types.int64))(
    types.float32[:, ::1], types.int32[::1], _vector, types.int64, types.int64, _vector, _vector, types.int64[::1],
    types.int64[::1], types.FunctionType(LINE_SEARCH), types.FunctionType(RATE), types.FunctionType(BOUND),
    typeof(tuple(Plan.sample())), _vector, typeof(tuple(Scratch.make(1, 1, 1, 1))),
)  # fmt: skip


def shorten(
    columns, labels, weights, start, stop, totals, ranks, present, bounds, line, rate, bound, plan, plane, scratch
):
    """Bring the plane of a node down to ``plan.max_terms`` attributes."""
    node = (labels[start:stop], weights[start:stop], bounds, totals, ranks, present)
    return eliminate(
        columns, start, node, line, rate, bound, plan[0], plan[1], plan[15], 0.0, True, plane, scratch[11][1], scratch
    )


def leave(
    columns, labels, weights, start, stop, totals, ranks, present, bounds, line, rate, bound, plan, plane, scratch
):
    """Stand in where planes may have all attributes."""
    return NOTHING, 0


@cache
def shortening(needed):
    """Return, as a pointer, the function that shortens the plane of a node, or one that does nothing."""
    function = shorten if needed else leave
    return function if config.DISABLE_JIT else cfunc(SHORTEN, cache=True, error_model="numpy")(function)
