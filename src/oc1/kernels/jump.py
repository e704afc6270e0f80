"""Random jumps: out of a local minimum, where no single coefficient helps."""

import numpy as np

from . import layout
from ._jit import spliced
from .layout import NO_SPLIT
from .margins import compute_margins, follow
from .perturb import current_impurity, note_move
from .random import uniform


@spliced
def jump(search, run, score):
    """Move along random directions until one helps, `n_jumps` times at most; return (score, directions considered).

    The score is the one that was given if none helped.
    """
    work, node = search.work, search.node
    n = node.labels.size
    margins, rates = work.margins[:n], work.rates[:n]
    tried, helped = 0, False
    while tried < search.settings.n_jumps and not helped:
        for m in range(work.direction.size):
            work.direction[m] = 2.0 * uniform(work.line.stream) - 1.0
        compute_margins(search.examples, node.start, work.direction, rates)
        best, alpha = search.line(node, search.criterion, margins, rates, score, False, work.line)
        tried += 1
        helped = best > NO_SPLIT
        if helped:
            before = current_impurity(search)
            for m in range(work.plane.size):
                work.plane[m] += alpha * work.direction[m]
            follow(work.plane, margins, rates, alpha)
            note_move(search, run, np.int64(layout.A_JUMP), before)
            score = best
    return score, tried
