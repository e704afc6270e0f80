"""Coefficients improved in turn without randomness, and attributes dropped one by one (CART's way).

CART-LC is made of these two, and OC1 uses them where the number of attributes of a split is limited (`max_terms`).
A plane is ``V = plane . (x, 1) > 0`` on the columns of `records.Examples`, which must be our own; ``used`` marks the
attributes it may have.
"""

from functools import cache
from typing import NamedTuple

import numpy as np
from numba import types

from ._jit import allocating, fix_type, kernel, pointer, signature
from .criteria import better
from .layout import NO_SPLIT
from .line_search import LINE_SEARCH
from .margins import add_multiple, compute_margins
from .records import Criterion, Examples, Node, Workspace, vector


class Descent(NamedTuple):
    """How coefficients are improved (Figure 4 of the paper)."""

    always: bool  # add the best multiple also where it does not improve the split
    signed: bool  # False: all examples are taken to cross in one direction, so that a move may worsen the split
    max_cycles: int
    epsilon: float  # the last cycle is the one that changes the score by no more


fix_type(Descent)


@kernel(allocates=True)
def descend(examples, node, criterion, line, gammas, how, plane, used, work):
    """Improve a plane by cycles over its coefficients (Figure 4 of the paper); return (score, hyperplanes considered).

    For each attribute and each gamma the best multiple of ``x + gamma`` is looked for, and the best of these is added.
    At the end of a cycle the constant is adjusted. The plane becomes the best one that stood at the end of a cycle.
    """
    d, n = plane.size - 1, node.labels.size
    margins, rates = work.margins[:n], work.rates[:n]
    ones = examples.columns[d, node.start : node.start + n]
    score = adjust_constant(examples, node, criterion, line, plane, work)
    considered = 1
    best_plane, best_score = plane.copy(), score
    for _ in range(how.max_cycles):
        before = score
        for m in range(d):
            if used[m] == 0.0:
                continue
            column = examples.columns[m, node.start : node.start + n]
            best, best_alpha, best_gamma = NO_SPLIT if how.always else score, 0.0, 0.0
            for g in range(gammas.size):
                for j in range(n):
                    rates[j] = column[j] + np.float32(gammas[g])
                    if not how.signed:
                        rates[j] = margins[j] / rates[j]
                origin, directions = (margins, rates) if how.signed else (rates, ones)
                here, alpha = line(node, criterion, origin, directions, best, False, work.line)
                considered += 1
                if here > NO_SPLIT:
                    best, best_alpha, best_gamma = here, alpha, gammas[g]
            if best_alpha != 0.0:
                plane[m] += best_alpha
                plane[d] += best_alpha * best_gamma
                score = best
                for j in range(n):
                    margins[j] += np.float32(best_alpha) * (column[j] + np.float32(best_gamma))
        here, alpha = line(node, criterion, margins, ones, NO_SPLIT if how.always else score, False, work.line)
        considered += 1
        if here > NO_SPLIT:
            plane[d] += alpha
            score = here
            for j in range(n):
                margins[j] += np.float32(alpha)
        if better(score, best_score):
            best_plane, best_score = plane.copy(), score
        if abs(score - before) <= how.epsilon:
            break
    for m in range(plane.size):
        plane[m] = best_plane[m]
    return best_score, considered


@allocating
def adjust_constant(examples, node, criterion, line, plane, work):
    """Compute a plane's margins and move its constant to the best place; return the score."""
    n = node.labels.size
    margins = work.margins[:n]
    ones = examples.columns[plane.size - 1, node.start : node.start + n]
    compute_margins(examples, node.start, plane, margins)
    score, alpha = line(node, criterion, margins, ones, NO_SPLIT, False, work.line)
    plane[plane.size - 1] += alpha
    for j in range(n):
        margins[j] += np.float32(alpha)
    return score


@kernel(allocates=True)
def eliminate(examples, node, criterion, line, max_terms, share, again, plane, used, work):
    """Drop attributes from a plane; return (score, hyperplanes considered).

    What an attribute is worth is what the score loses without it, the constant adjusted. The one of least worth goes,
    as long as there are more than `max_terms`, or its worth is below a share of the largest worth. If `again`, the
    others are improved after each.
    """
    d, n = plane.size - 1, node.labels.size
    margins, rest = work.margins[:n], work.rates[:n]
    ones = examples.columns[d, node.start : node.start + n]
    score = adjust_constant(examples, node, criterion, line, plane, work)
    considered = 1
    n_used = 0
    for m in range(d):
        used[m] = 1.0 if plane[m] != 0.0 else 0.0
        n_used += plane[m] != 0.0
    while n_used > 1:
        compute_margins(examples, node.start, plane, margins)
        dropped, most, least, step = -1, NO_SPLIT, np.inf, 0.0
        for m in range(d):
            if used[m] == 0.0:
                continue
            for j in range(n):
                rest[j] = margins[j]
            add_multiple(rest, -np.float32(plane[m]), examples.columns[m, node.start : node.start + n])
            here, alpha = line(node, criterion, rest, ones, NO_SPLIT, False, work.line)
            considered += 1
            least = min(least, here)
            if dropped < 0 or better(here, most):
                dropped, most, step = m, here, alpha
        if n_used <= max_terms and not better(share * (score - least), score - most):
            break
        plane[dropped] = 0.0
        plane[d] += step
        used[dropped] = 0.0
        score = most
        n_used -= 1
        if again:
            how = Descent(False, True, np.int64(20), 0.0)
            score, more = descend(examples, node, criterion, line, np.zeros(1), how, plane, used, work)
            considered += more
    return score, considered


SHORTEN = signature(
    types.Tuple((types.float64, types.int64)), Examples, Node, Criterion, int, LINE_SEARCH, vector, Workspace
)


def shorten(examples, node, criterion, max_terms, line, plane, work):
    """Bring the plane of a node down to `max_terms` attributes."""
    return eliminate(examples, node, criterion, line, max_terms, 0.0, True, plane, work.direction, work)


def leave(examples, node, criterion, max_terms, line, plane, work):
    """Stand in where planes may have all attributes."""
    return NO_SPLIT, 0


@cache
def shortening(needed):
    """Return, as a pointer, the function that shortens the plane of a node, or one that does nothing."""
    return pointer(SHORTEN, shorten if needed else leave, allocates=needed)
