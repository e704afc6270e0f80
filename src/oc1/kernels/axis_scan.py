"""The best axis-parallel split of a node, with which OC1 begins."""

import numpy as np

from . import layout
from ._jit import inner, spliced
from .criteria import better, has_preference, preference
from .layout import NO_SPLIT
from .random import uniform
from .records import AxisSplit


@spliced
def scan_axes(search):
    """Return the best split by a single attribute; of equally good ones, the preferred (see `criteria`) or any.

    Where values of an attribute are missing and get a learned direction, it is searched twice: with all of them on the
    left, and with all of them on the right (before and after all known values are positions, too).
    """
    work, node, examples = search.work, search.node, search.examples
    n, d = node.labels.size, examples.shift.size
    margins, ones = work.margins[:n], examples.columns[d, node.start : node.start + n]
    best, liked, equals = AxisSplit(NO_SPLIT, -1, 0.0, layout.BY_FILL), 0.0, 0
    for m in range(d):
        learned = is_missing_somewhere(examples, m, node.start, n)
        for side in range(layout.MISSING_LEFT, layout.MISSING_RIGHT + 1):
            if (side == layout.BY_FILL) == learned:
                continue
            origin = examples.columns[m, node.start : node.start + n]
            if learned:
                send_missing(examples, m, node.start, origin, side, margins)
                origin = margins
            score, alpha = search.line(node, search.criterion, origin, ones, best.score, True, work.line)
            if score > NO_SPLIT:
                liking = preference_at(node, search.criterion, origin, -alpha, score, work.line.counts)
                if better(score, best.score) or better(liking, liked):
                    equals = 1
                elif better(liked, liking):
                    continue
                else:
                    equals += 1
                if equals == 1 or uniform(work.line.stream) * equals < 1.0:
                    best, liked = AxisSplit(score, m, -alpha, side), liking
    return best


@inner
def preference_at(node, criterion, values, threshold, score, counts):
    """Return the `preference` of the split ``values > threshold``."""
    if not has_preference(criterion, score):
        return 0.0
    n, n_left = 0.0, 0.0
    for c in range(node.totals.size):
        counts[0, c] = 0.0
        for j in range(node.bounds[c], node.bounds[c + 1]):
            if not values[j] > threshold:
                counts[0, c] += node.weights[j] if node.weights.size > 0 else 1.0
        n += node.totals[c]
        n_left += counts[0, c]
    return preference(counts, n_left, n, node.totals, criterion, score)


@spliced
def is_missing_somewhere(examples, m, start, n):
    """Whether an attribute is missing in some example of a node, and gets a learned direction there."""
    if examples.missing.shape[0] > 0:
        for j in range(start, start + n):
            if examples.missing[m, examples.rows[j]] != 0:
                return True
    return False


@spliced
def send_missing(examples, m, start, line, side, out):
    """Copy an attribute of a node's examples, with the missing values so far on one side that no step reaches them."""
    for j in range(out.size):
        known = examples.missing[m, examples.rows[start + j]] == 0
        out[j] = line[j] if known else np.float32(side) * np.float32(2.0) * layout.FAR
