"""Perturbing one coefficient of a hyperplane (Figure 8 of the paper), and the orders in which that is done."""

import numpy as np

from . import layout
from ._jit import inner, spliced
from .criteria import better, impurity_of, score_margins
from .layout import NO_SPLIT
from .margins import follow
from .random import uniform


@spliced
def perturb(search, run, m, score, p_move):
    """Figure 8: move coefficient m to its best value; return (whether it moved, score, p_move)."""
    best, alpha = look(search, m, score, p_move)
    return decide(search, run, m, alpha, score, best, p_move)


@inner
def look(search, m, score, p_move):
    """Return (score, alpha) of the best value of a coefficient, if it beats a score or could be moved to as a tie.

    Who throws the coin for a tie only when there is one must ask for all of them; otherwise it is thrown before.
    """
    work, node = search.work, search.node
    margins = work.margins[: node.labels.size]
    rates = search.examples.columns[m, node.start : node.start + margins.size]
    ties = p_move > 0.0 and (search.settings.falls_at_ties or uniform(work.line.stream) < p_move)
    return search.line(node, search.criterion, margins, rates, score, ties, work.line)


@inner
def decide(search, run, m, alpha, before, after, p_move):
    """Move a coefficient by alpha, if that helps, or with probability `p_move` where it does not matter.

    A better hyperplane resets that probability; one that is only as good lowers it, so that it is 0 after
    `max_stagnant` of them.
    Returns (whether it moved, score, p_move).
    """
    if after == NO_SPLIT:
        return False, before, p_move
    work, settings, stagnation = search.work, search.settings, search.settings.stagnation
    improves = better(after, before)
    moves = improves or not settings.falls_at_ties or uniform(work.line.stream) < p_move
    if moves:
        start, n, impurity = search.node.start, search.node.labels.size, current_impurity(search)
        work.plane[m] += alpha
        follow(work.plane, work.margins[:n], search.examples.columns[m, start : start + n], alpha)
        note_move(search, run, m, impurity)
    return moves, after if moves else before, stagnation if improves else p_move - stagnation / settings.max_stagnant


@inner
def climb(search, run, n_swept, score, p_move):
    """Perturb coefficients in the order of the settings; return (score, p_move, hyperplanes considered)."""
    if search.settings.order == layout.BEST:
        return climb_best_first(search, run, score, p_move)
    if search.settings.order == layout.RANDOM:
        return climb_at_random(search, run, score, p_move)
    if search.settings.whole_rounds:
        return climb_in_rounds(search, run, score, p_move)
    return climb_until_settled(search, run, n_swept, score, p_move)


@spliced
def climb_in_rounds(search, run, score, p_move):
    """Perturb the coefficients in turn until a round changes nothing (the paper's Seq)."""
    considered, modified = 0, True
    while modified:
        modified = False
        for m in range(search.settings.n_swept):
            moved, score, p_move = perturb(search, run, m, score, p_move)
            modified = modified or moved
            considered += 1
    return score, p_move, considered


@spliced
def climb_until_settled(search, run, n_swept, score, p_move):
    """Perturb coefficients in turn until all are settled, that is, were searched since any other one moved.

    The first `n_swept` are swept over and over; the constant, if it is not among them, comes when they are settled.
    """
    size = search.work.plane.size
    m, settled, considered = np.int64(0), 0, 0  # a plain 0 would be a type of its own, for which all is compiled again
    while settled < size:
        moved, score, p_move = perturb(search, run, m, score, p_move)
        considered += 1
        settled = 1 if moved else settled + 1
        m += 1
        if settled >= n_swept:
            m = size - 1
        elif m >= n_swept:
            m = 0
    return score, p_move, considered


@spliced
def climb_at_random(search, run, score, p_move):
    """Perturb coefficients that are drawn at random, a given number of times (the paper's R-50)."""
    size, n_drawn = search.work.plane.size, search.settings.n_perturbations
    for _ in range(n_drawn):
        m = min(np.int64(uniform(search.work.line.stream) * size), size - 1)
        _, score, p_move = perturb(search, run, m, score, p_move)
    return score, p_move, n_drawn


@spliced
def climb_best_first(search, run, score, p_move):
    """Search all coefficients and move the one that gains most, as long as one moves."""
    size, considered, moved = search.work.plane.size, 0, True
    while moved:
        best, best_score, best_alpha = np.int64(0), NO_SPLIT, 0.0
        for m in range(size):
            here, alpha = look(search, m, max(score, best_score), p_move)
            if better(here, best_score):
                best, best_score, best_alpha = m, here, alpha
        considered += size
        moved, score, p_move = decide(search, run, best, best_alpha, score, best_score, p_move)
    return score, p_move, considered


@inner
def current_impurity(search):
    """Return the paper's impurity of the running plane, if there is someone who wants to know."""
    work, node = search.work, search.node
    if work.moves.shape[0] == 0:
        return 0.0
    margins, counts = work.margins[: node.labels.size], work.line.counts
    score, _ = score_margins(node, search.criterion, margins, counts, work.line.stream)
    return np.inf if score == NO_SPLIT else impurity_of(score, counts, node, search.criterion.code)


@inner
def note_move(search, run, which, before):
    """Note a move and its impurities, where there is room for it: there is none unless someone wants to know."""
    moves, plane = search.work.moves, search.work.plane
    if moves.shape[0] > 0:
        row = np.int64(moves[0, layout.NEXT_MOVE])
        if row < moves.shape[0]:
            moves[row, layout.MOVED_RUN], moves[row, layout.MOVED_WHICH] = run, which
            moves[row, layout.MOVED_FROM], moves[row, layout.MOVED_TO] = before, current_impurity(search)
            for m in range(plane.size):
                moves[row, layout.MOVED_PLANE + m] = plane[m]
        moves[0, layout.NEXT_MOVE] = row + 1
