"""Perturbing one coefficient of a hyperplane (Figure 8 of the paper), and the orders in which that is done."""

import numpy as np

from . import layout
from ._jit import inner, spliced
from .criteria import better
from .layout import NO_SPLIT
from .margins import attribute_of, follow
from .random import uniform


@spliced
def perturb(search, run, m, score, p_move):
    """Figure 8: move coefficient m to its best value; return (whether it moved, score, p_move)."""
    best, alpha = look(search, m, score, p_move)
    if best > NO_SPLIT:
        p_move = move(search, run, m, alpha, score, best, p_move)
        return True, best, p_move
    return False, score, p_move


@inner
def look(search, m, score, p_move):
    """Return (score, alpha) of the best value of a coefficient, if it beats a score; NO_SPLIT otherwise.

    One that is only as good as the current one counts with the probability `p_move`.
    """
    work, node = search.work, search.node
    margins = work.margins[: node.labels.size]
    rates = attribute_of(search.examples, m, node.start, work.rates[: margins.size])
    accept_equal = p_move > 0.0 and uniform(work.line.stream) < p_move
    return search.line(node, search.criterion, margins, rates, score, accept_equal, work.line)


@inner
def move(search, run, m, alpha, before, after, p_move):
    """Move a coefficient by alpha, which changes the score; return the probability of the next move to an equal one.

    A better hyperplane resets that probability; one that is only as good lowers it by a tenth of its first value.
    """
    work, stagnation = search.work, search.settings.stagnation
    margins = work.margins[: search.node.labels.size]
    work.plane[m] += alpha
    rates = attribute_of(search.examples, m, search.node.start, work.rates[: margins.size])
    follow(work.plane, margins, rates, alpha)
    note_move(work.moves, run, m, before, after, work.plane)
    return stagnation if better(after, before) else p_move - 0.1 * stagnation


@inner
def climb(search, run, n_swept, score, p_move):
    """Perturb coefficients until nothing changes, in the order of the settings.

    In turn, a coefficient is settled when it was searched since any other one moved. The first `n_swept` are swept over
    and over; the constant, if it is not among them, comes when all are settled. At random (the paper's R-50), a given
    number of them is drawn.

    Returns (score, p_move, hyperplanes considered).
    """
    if search.settings.order == layout.BEST:
        score, p_move, considered = climb_best_first(search, run, score, p_move)
    else:
        size, at_random = search.work.plane.size, search.settings.order == layout.RANDOM
        m, settled, considered = 0, 0, 0
        while considered < search.settings.n_perturbations if at_random else settled < size:
            if at_random:
                m = min(np.int64(uniform(search.work.line.stream) * size), size - 1)
            moved, score, p_move = perturb(search, run, m, score, p_move)
            considered += 1
            settled = 1 if moved else settled + 1
            m += 1
            if settled >= n_swept:
                m = size - 1
            elif m >= n_swept:
                m = 0
    return score, p_move, considered


@inner
def climb_best_first(search, run, score, p_move):
    """Search all coefficients and move the one that gains most, as long as one moves."""
    size, considered, moved = search.work.plane.size, 0, True
    while moved:
        best, best_score, best_alpha = 0, NO_SPLIT, 0.0
        for m in range(size):
            here, alpha = look(search, m, max(score, best_score), p_move)
            if better(here, best_score):
                best, best_score, best_alpha = m, here, alpha
        considered += size
        moved = best_score > NO_SPLIT
        if moved:
            p_move = move(search, run, best, best_alpha, score, best_score, p_move)
            score = best_score
    return score, p_move, considered


@inner
def note_move(moves, run, which, before, after, plane):
    """Note how the search went, where there is room for it: there is none unless someone wants to know."""
    if moves.shape[0] > 0:
        row = np.int64(moves[0, layout.NEXT_MOVE])
        if row < moves.shape[0]:
            moves[row, layout.MOVED_RUN], moves[row, layout.MOVED_WHICH] = run, which
            moves[row, layout.MOVED_FROM], moves[row, layout.MOVED_TO] = before, after
            for m in range(plane.size):
                moves[row, layout.MOVED_PLANE + m] = plane[m]
        moves[0, layout.NEXT_MOVE] = row + 1
