"""Growing a subtree: node by node, until the leaves are pure or too small.

Which split a node gets is for a function to say that is called through a pointer: `find_purest`, the paper's Figure 6
(here), or `oc1.kernels.choice.find_informative`, the default.
"""

from functools import cache
from typing import NamedTuple

import numpy as np
from numba import types
from numba.core.typing.templates import Signature

from . import layout
from ._jit import Compiled, fix_type, kernel, pointer, signature, spliced
from .criteria import better, impurity_of
from .elimination import SHORTEN
from .layout import NO_SPLIT
from .line_search import LINE_SEARCH
from .node_search import SEARCH_RUNS, open_node, stays_leaf
from .random import mix
from .records import AxisSplit, Criterion, Examples, Node, Settings, Workspace, vector
from .split import Placed, axis_threshold, divide, oblique_test, place_test, worthwhile_gain

# Which test is tried when: see `choose_test`.
AXIS_FIRST, OBLIQUE, AXIS_LAST = range(3)


class Searches(NamedTuple):
    """What `find_purest` calls through pointers."""

    look: Compiled  # SEARCH_RUNS: the search of a node
    line: Compiled  # LINE_SEARCH
    shorten: Compiled  # SHORTEN: drops attributes from a plane


class Found(NamedTuple):
    """The split that a node is to get: that of a plane, or an axis-parallel one."""

    axis: AxisSplit
    score: float  # of the plane, which is tried first if this is above the score of `axis`
    is_centred: bool  # whether the plane's threshold is put midway between its neighbours
    considered: int  # hyperplanes


fix_type(Searches, SEARCH_RUNS, LINE_SEARCH, SHORTEN)
fix_type(Found)


@kernel
def grow(source, examples, criterion, settings, find, methods, max_splits, is_searched, axis, plane, nodes, work):
    """Grow the subtree of the first of `nodes`, or as much of it as `max_splits` and the room in `nodes` allow.

    Nodes that were not looked at are left PENDING. `find` says which split a node gets and writes its plane to `plane`,
    which has room for d + 1 numbers; it calls the `methods`. Where the first node has been searched already, `axis` is
    what the search returned and the oblique runs are in ``work.runs``.

    Returns (number of nodes, number of terms, hyperplanes considered).
    """
    table, d = nodes.table, examples.shift.size
    n_nodes, n_terms, considered, splits, row = 1, 0, 0, 0, 0
    while row < n_nodes and splits < max_splits and work.line.stream[1] == 0:
        start, stop = table[row, layout.START], table[row, layout.STOP]
        node = open_node(examples, start, stop, nodes.counts[row], criterion.code, work)
        if stays_leaf(node, table[row, layout.DEPTH], settings, criterion.min_leaf):
            table[row, layout.STATUS] = layout.LEAF
            row += 1
            continue
        if n_nodes + 2 > table.shape[0] or n_terms + d > nodes.features.size:
            break
        has_runs = is_searched and row == 0
        found = find(examples, node, criterion, settings, methods, nodes.seeds[row], has_runs, axis, plane, work)
        considered += found.considered
        placed = choose_test(
            source, examples, node, criterion, settings.axis_bias, found, plane, nodes, row, n_terms, work
        )
        gain = worthwhile_gain(placed.score, node, criterion.code, settings, work.line.counts)
        if gain < 0.0:
            table[row, layout.STATUS] = layout.LEAF
            row += 1
            continue
        divide(examples, node, placed, gain, nodes, row, n_nodes, n_terms, work)
        n_nodes, n_terms, splits, row = n_nodes + 2, n_terms + placed.n_terms, splits + 1, row + 1
    return n_nodes, n_terms, considered


def find_purest(examples, node, criterion, settings, searches, seed, is_searched, axis, plane, work):
    """Search a node, unless that was done: the purest of all runs against the best axis-parallel split (Figure 6)."""
    runs, found = work.runs, axis
    n_runs = settings.n_runs if node.labels.size >= settings.min_oblique else 0
    considered = examples.shift.size if settings.axis else 0
    if not is_searched:
        first_run = np.int64(-1 if settings.axis else 0)
        found = searches.look(
            examples, node, criterion, settings, searches.line, seed, layout.BOTH, first_run, np.int64(n_runs), work
        )
    # The best run: the first of those that are equally good. After a pure one none counts, but those that climbed
    # before it jumped.
    best, best_run, climbs, counts = NO_SPLIT, -1, True, True
    for run in range(n_runs):
        if counts and better(runs[run, layout.SCORE], best):
            best, best_run = runs[run, layout.SCORE], run
        considered += np.int64(runs[run, layout.CLIMBED]) if climbs else 0
        considered += np.int64(runs[run, layout.JUMPED]) if counts else 0
        climbs = climbs and runs[run, layout.PURE] != 1.0
        counts = counts and runs[run, layout.PURE] == 0.0
    if settings.max_terms < examples.shift.size and best > found.score:
        work.line.stream[0] = mix(seed, np.uint64(4))  # of its own: who made the runs must not matter
        best, more = searches.shorten(
            examples, node, criterion, settings.max_terms, searches.line, runs[best_run, layout.PLANE :], work
        )
        considered += more
    for m in range(plane.size if best_run >= 0 else 0):
        plane[m] = runs[best_run, layout.PLANE + m]
    return Found(found, best, True, considered)


def find_signature(methods: type) -> Signature:
    """Return the signature of what finds the split of a node by calling such `methods`."""
    return signature(
        Found, Examples, Node, Criterion, Settings, methods, types.uint64, bool, AxisSplit, vector, Workspace
    )


@cache
def compiled_purest() -> Compiled:
    """Return `find_purest` as a pointer."""
    return pointer(find_signature(Searches), find_purest)


@spliced
def choose_test(source, examples, node, criterion, axis_bias, found, plane, nodes, row, n_terms, work):
    """Write the test of the better split to `nodes`, the oblique or the axis-parallel one, and place it.

    The search works on rounded numbers: what counts is how a test divides the examples themselves. The oblique test is
    tried first, and the axis-parallel one stays where it gains nothing. With a bias, the axis-parallel one is tried
    before: it is what the oblique test has to beat.
    """
    axis, missing, rival = found.axis, nodes.table[:, layout.MISSING], 0.0
    features, coefficients = nodes.features[n_terms:], nodes.coefficients[n_terms:]
    placed = Placed(NO_SPLIT, 0, 0.0, 0.0)
    for attempt in range(AXIS_FIRST if axis_bias > 1.0 else OBLIQUE, AXIS_LAST + 1):
        placed = Placed(NO_SPLIT, 0, 0.0, 0.0)
        if attempt == OBLIQUE:
            if not found.score > axis.score:
                continue
            missing[row] = layout.BY_FILL
            size, threshold = oblique_test(plane, examples.shift, examples.scale, features, coefficients)
        else:
            if axis.attribute < 0:
                continue
            m = axis.attribute
            features[0], coefficients[0], missing[row] = m, 1.0, axis.missing
            size, threshold = 1, axis_threshold(axis.threshold, examples.shift[m], examples.scale[m])
        used, weights, centred = features[:size], coefficients[:size], attempt != OBLIQUE or found.is_centred
        placed = place_test(source, examples, node, criterion, used, weights, threshold, centred, missing, row, work)
        if axis_bias == 1.0:
            if better(placed.score, axis.score) and attempt == OBLIQUE:
                break
        elif placed.score > NO_SPLIT and attempt != AXIS_LAST:
            impurity = impurity_of(placed.score, work.line.counts, node, criterion.code)
            if attempt == AXIS_FIRST:
                rival = impurity
            elif axis_bias * impurity < rival:
                break
    return placed
