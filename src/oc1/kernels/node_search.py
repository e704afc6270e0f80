"""OC1's search for the best split of a node (Figure 6 of the paper)."""

from functools import cache
from typing import NamedTuple

import numpy as np
from numba import types

from . import layout
from ._jit import Compiled, inlined, inner, kernel, pointer, signature, spliced
from .axis_scan import scan_axes
from .criteria import score_margins, slack
from .jump import jump
from .layout import NO_SPLIT
from .line_search import LINE_SEARCH
from .margins import compute_margins
from .perturb import climb, current_impurity, note_move
from .random import mix, uniform
from .records import AxisSplit, Criterion, Examples, Node, Settings, Workspace

#: This number of runs must have jumped in vain from a place before others that come there do not try. (With one, POL
#: 20:20 has 5.1 leaves instead of 5.0 on one draw in forty.)
N_FAILED_BEFORE_GIVING_UP = 3


class Search(NamedTuple):
    """Everything that the steps of a node's search share."""

    examples: Examples
    node: Node
    criterion: Criterion
    settings: Settings
    line: Compiled  # the line search, LINE_SEARCH
    work: Workspace


def search_runs(examples, node, criterion, settings, line, seed, stage, first_run, last_run, work):
    """Figure 6: look at the attributes one by one, then improve hyperplanes from several starts; all in `work.runs`.

    Run -1 looks at the attributes, run 0 starts from the best of them, others from given planes, the rest at random
    ones (see the last fields of `Settings`). Every run has its own random stream and its own row in ``work.runs``, and
    after one that leaves both sides pure, none is made.

    At large nodes, all runs climb before any jumps, in two stages. Then a run needs to know of the others only where
    they stood in between, so the runs of each stage can be made in any order.

    Returns the best axis-parallel split, which has attribute -1 if run -1 is not in the range.
    """
    search = Search(examples, node, criterion, settings, line, work)
    axis = AxisSplit(NO_SPLIT, -1, 0.0, layout.BY_FILL)
    if first_run < 0:
        work.line.stream[0] = mix(seed, np.uint64(3))
        axis = scan_axes(search)
    for run in range(max(first_run, 0), last_run):
        # Streams 1 and 2 are the children's, 4 is that of the elimination of attributes.
        work.line.stream[0] = mix(seed, np.uint64(2 * run + 5 + (stage == layout.JUMP)))
        if improve(search, run, axis, stage):
            break
    return axis


@inner
def improve(search, run, axis, stage):
    """Make one run: perturb coefficients until nothing changes, then jump; after a jump that helps, begin again.

    Returns whether the hyperplane leaves both sides pure.
    """
    work, settings, runs = search.work, search.settings, search.work.runs
    margins = work.margins[: search.node.labels.size]
    only_jumps = stage == layout.JUMP
    n_swept = start_plane(search, run, axis, only_jumps)
    p_move, considered, score = settings.stagnation, 0, runs[run, layout.SCORE]
    if only_jumps:
        runs[run, layout.JUMPED] = 0.0
        if others_were_here(search, run, run, score, stage):
            return False
    compute_margins(search.examples, search.node.start, work.plane, margins)
    climbing, is_first = not only_jumps, not only_jumps
    if is_first:
        score, _ = score_margins(search.node, search.criterion, margins, work.line.counts, work.line.stream)
        considered = 1
        note_move(search, run, np.int64(layout.A_START), current_impurity(search))
    while True:
        if climbing:
            score, p_move, more = climb(search, run, n_swept, score, p_move)
            considered += more
            if is_first:
                runs[run, layout.FIRST_SCORE], is_first = score, False
            if not may_jump(search, run, score, stage):
                break
        before = score
        score, more = jump(search, run, score)
        considered += more
        if score == before:
            break
        climbing, p_move = True, settings.stagnation
    # The moves have rounded the margins a little: count once more from the plane itself.
    compute_margins(search.examples, search.node.start, work.plane, margins)
    score, pure = score_margins(search.node, search.criterion, margins, work.line.counts, work.line.stream)
    runs[run, layout.SCORE] = score
    runs[run, layout.PURE] = (2.0 if only_jumps else 1.0) if pure else 0.0
    if only_jumps:
        runs[run, layout.JUMPED] = considered
    else:
        runs[run, layout.CLIMBED], runs[run, layout.JUMPED] = considered, 0.0
    for m in range(work.plane.size):
        runs[run, layout.PLANE + m] = work.plane[m]
    return pure


@spliced
def start_plane(search, run, axis, goes_on):
    """Set the plane from which a run starts; return the number of coefficients in a round over them."""
    work, settings = search.work, search.settings
    size = work.plane.size
    from_axis = run < settings.axis_starts and axis.attribute >= 0
    given = settings.axis_starts <= run < settings.axis_starts + settings.n_given
    for m in range(size):
        if goes_on or given:
            work.plane[m] = work.runs[run, layout.PLANE + m]
        elif from_axis:
            work.plane[m] = 1.0 if m == axis.attribute else -axis.threshold if m == size - 1 else 0.0
        else:
            work.plane[m] = 2.0 * uniform(work.line.stream) - 1.0
    return size if from_axis or given else settings.n_swept


@spliced
def may_jump(search, run, score, stage):
    """Whether a run that has climbed to the top is to jump: it could help, and no other run has tried it from there."""
    work = search.work
    if stage == layout.CLIMB or search.settings.n_jumps == 0:
        return False
    if others_were_here(search, run, search.settings.n_runs if stage == layout.JUMP else run, score, stage):
        return False
    margins = work.margins[: search.node.labels.size]
    _, pure = score_margins(search.node, search.criterion, margins, work.line.counts, work.line.stream)
    return not pure


@spliced
def others_were_here(search, run, n_others, score, stage):
    """Whether others have done here what a run could do: one has jumped away, or several have jumped in vain."""
    runs = search.work.runs
    if search.node.labels.size < search.settings.min_rows_to_meet:
        return False
    left, stayed = 0, 0
    for other in range(n_others):
        if other != run:
            if stage == layout.BOTH and abs(runs[other, layout.SCORE] - score) <= slack(score):
                stayed += 1
            elif abs(runs[other, layout.FIRST_SCORE] - score) <= slack(score):
                left += 1
    return left > 0 or stayed >= N_FAILED_BEFORE_GIVING_UP


SEARCH_RUNS = signature(
    AxisSplit, Examples, Node, Criterion, Settings, LINE_SEARCH, types.uint64, int, int, int, Workspace
)


@cache
def compiled_search() -> Compiled:
    """Return the search of a node as a pointer, compiled when first asked for."""
    return pointer(SEARCH_RUNS, search_runs)


@spliced
def open_node(examples, start, stop, node_counts, code, work):
    """Return a node as a line search sees it; the places of its classes go to ``work.line.places``."""
    labels, classes, totals = examples.labels, work.classes, work.totals
    k = 0
    for c in range(node_counts.size):
        if node_counts[c] > 0.0:
            # The groups are in the order of the labels: look for the beginning of this one by halving.
            low, high = start, stop
            while low < high:
                middle = (low + high) // 2
                if labels[middle] < c:
                    low = middle + 1
                else:
                    high = middle
            work.line.places[c], classes[0, k], classes[1, k] = k, c, low - start
            totals[0, k], totals[1, k] = node_counts[c], 0.0
            k += 1
    classes[1, k] = stop - start
    if code == layout.VARIANCES:
        for c in range(k):
            totals[1, c] = 1.0
            for other in range(k):
                if totals[0, other] > totals[0, c] or (totals[0, other] == totals[0, c] and other < c):
                    totals[1, c] += 1.0
    return Node(
        start,
        labels[start:stop],
        examples.weights[start:stop],
        totals[0, :k],
        totals[1, :k],
        classes[0, :k],
        classes[1, : k + 1],
    )


@inlined
def stays_leaf(node, depth, settings, min_leaf):
    """Whether a node is not to be split, whatever a search would find."""
    n, largest, total = node.labels.size, 0.0, 0.0
    for c in range(node.totals.size):
        largest = max(largest, node.totals[c])
        total += node.totals[c]
    if total - largest <= settings.max_errors:
        return True
    return node.totals.size < 2 or depth >= settings.max_depth or n < settings.min_split or n < 2 * min_leaf


@kernel
def search_node(
    examples, criterion, settings, look, line, start, stop, depth, node_counts, seed, stage, first_run, last_run, work
):
    """Make those of a range of runs that `grow` would make for this node, so that several threads can share them."""
    node = open_node(examples, start, stop, node_counts, criterion.code, work)
    if stays_leaf(node, depth, settings, criterion.min_leaf):
        return AxisSplit(NO_SPLIT, -1, 0.0, layout.BY_FILL)
    if stop - start < settings.min_oblique:
        last_run = min(last_run, 0)
    return look(examples, node, criterion, settings, line, seed, stage, first_run, last_run, work)
