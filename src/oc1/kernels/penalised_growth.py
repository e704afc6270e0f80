"""Growing a subtree as the default does: axis-parallel splits, linear classifiers and OC1's search compete.

What a candidate is worth, and when a node stays a leaf: see `oc1.growing.penalised`.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import types

from . import layout
from ._apart import compiled_apart
from ._jit import allocating, fix_type, kernel, numba_type, pointer, signature
from .class_views import clear, sum_of
from .layout import NO_SPLIT
from .line_search import LINE_SEARCH
from .linear_fits import LINEAR_CLASSIFIER
from .margins import attribute_of, compute_margins
from .newton import LOGISTIC
from .node_search import SEARCH_RUNS, open_node, stays_leaf
from .records import AxisSplit, Criterion, Examples, Node, Settings, Workspace, vector
from .split import Placed, axis_threshold, divide, oblique_test, place_test, worthwhile_gain

#: What choosing an attribute costs, in coefficients for each doubling of the attributes to choose from.
COEFFICIENTS_PER_DOUBLING = 0.4
#: The share of it that a linear classifier pays, which is judged by examples that it has not seen.
LEFT_OUT_SHARE = 0.25
#: An oblique split must have this many times the merit of an axis-parallel one, which is easier to read.
MIN_OBLIQUE_MERIT = 1.1
#: The search combines at least this number of attributes, if there are as many.
MIN_SEARCHED_ATTRIBUTES = 8
# Kinds of candidates.
NOTHING, AXIS, LINEAR, SEARCHED = range(4)


class Rules(NamedTuple):
    """What is tried at a node, and when it stays a leaf."""

    penalty: float  # of a coefficient, in weight
    unit: float  # the weight of one example
    linear: bool  # whether linear classifiers are tried
    min_linear: int  # examples that a node must have for that
    n_random: int  # random starts of the search beside the given ones; -1: no search
    to_purity: bool  # by linear classifiers that fit closely, until leaves are pure: for trees that are pruned
    splits_ties: bool  # also where no split gains anything: the second of two attributes that interact may


class Methods(NamedTuple):
    """The functions by which a split is chosen, which are called through pointers."""

    look: Any  # SEARCH_RUNS: the search of a node
    line: Any  # LINE_SEARCH
    classify: Any  # LINEAR_CLASSIFIER
    logistic: Any  # LOGISTIC
    least_squares: Any  # LOGISTIC


class Candidate(NamedTuple):
    """A split that could be made."""

    kind: int
    value: float  # its Twoing value
    worth: float  # ... less what chance accounts for
    merit: float  # what is gained for each example that goes astray; the value itself where trees are grown to purity
    is_pure: bool  # no class is on both sides


fix_type(Rules)
fix_type(Methods, SEARCH_RUNS, LINE_SEARCH, LINEAR_CLASSIFIER, LOGISTIC, LOGISTIC)


@kernel
def grow_penalised(source, examples, criterion, settings, rules, choose, methods, max_splits, plane, nodes, work):
    """Grow the subtree of the first of `nodes`, or as much of it as `max_splits` and the room in `nodes` allow.

    `choose` is the pointer `compiled_choice` and `plane` has room for d + 1 numbers. Returns (number of nodes, number
    of terms, hyperplanes considered), as `grow.grow` does.
    """
    table, d = nodes.table, examples.shift.size
    n_nodes, n_terms, considered, splits, row = 1, 0, 0, 0, 0
    missing = table[:, layout.MISSING]
    while row < n_nodes and splits < max_splits and work.line.stream[1] == 0:
        start, stop = table[row, layout.START], table[row, layout.STOP]
        node = open_node(examples, start, stop, nodes.counts[row], criterion.code, work)
        if stays_leaf(node, table[row, layout.DEPTH], settings, criterion.min_leaf):
            table[row, layout.STATUS] = layout.LEAF
            row += 1
            continue
        if n_nodes + 2 > table.shape[0] or n_terms + d > nodes.features.size:
            break
        kind, axis, more = choose(examples, node, criterion, settings, rules, methods, nodes.seeds[row], plane, work)
        considered += more
        features, coefficients = nodes.features[n_terms:], nodes.coefficients[n_terms:]
        placed = Placed(NO_SPLIT, 0, 0.0, 0.0)
        while kind != NOTHING and placed.score == NO_SPLIT:
            centred, missing[row] = kind != LINEAR, layout.BY_FILL
            if kind == AXIS:
                m = axis.attribute
                features[0], coefficients[0], missing[row] = m, 1.0, axis.missing
                size, threshold = 1, axis_threshold(axis.threshold, examples.shift[m], examples.scale[m])
            else:
                size, threshold = oblique_test(plane, examples.shift, examples.scale, features, coefficients)
            used, weights = features[:size], coefficients[:size]
            placed = place_test(
                source, examples, node, criterion, used, weights, threshold, centred, missing, row, work
            )
            # What a rounded plane does not part, the best attribute may.
            kind = AXIS if kind != AXIS and axis.attribute >= 0 else NOTHING
        gain = worthwhile_gain(placed.score, node, criterion.code, settings, work.line.counts)
        if rules.splits_ties and placed.score > NO_SPLIT and settings.min_decrease == 0.0:
            gain = max(gain, 0.0)
        if gain < 0.0:
            table[row, layout.STATUS] = layout.LEAF
            row += 1
            continue
        divide(examples, node, placed, gain, nodes, row, n_nodes, n_terms, work)
        n_nodes, n_terms, splits, row = n_nodes + 2, n_terms + placed.n_terms, splits + 1, row + 1
    return n_nodes, n_terms, considered


@kernel
def classify_node(examples, start, stop, counts, code, unit, max_terms, methods, plane, work):
    """Write the plane of a linear classifier of a node; return its Twoing value and the share it misplaces."""
    node = open_node(examples, start, stop, counts, code, work)
    return methods.classify(examples, node, unit, False, max_terms, methods.logistic, methods.least_squares, plane)


def choose(examples, node, criterion, settings, rules, methods, seed, plane, work):
    """Choose the split of a node; return (its kind, the best axis-parallel one, hyperplanes considered).

    The plane of an oblique one goes to `plane`.
    """
    d, k, n = examples.shift.size, node.totals.size, node.labels.size
    total, n_varying, considered = sum_of(node.totals), 0, 0
    for m in range(d):
        n_varying += examples.scale[m] > 0.0
    price, left = rules.penalty / total, np.zeros(k)
    least = k * price / 3.0
    axis = AxisSplit(NO_SPLIT, -1, 0.0, layout.BY_FILL)
    best = Candidate(NOTHING, 0.0, 0.0, 0.0, False)
    if settings.axis:
        first, last = np.int64(-1), np.int64(0)
        axis = methods.look(examples, node, criterion, settings, methods.line, seed, layout.BOTH, first, last, work)
        considered += d
    axis_value = 0.0
    if axis.attribute >= 0:
        left_of_axis(examples, node, axis, work.rates[:n], left)
        chance = (1.0 + cost_of_choice(1, n_varying)) * price
        candidate = found_by_search(AXIS, left, node.totals, price, chance, rules.to_purity)
        axis_value = candidate.value
        if candidate.worth > least:
            best = candidate
        elif rules.to_purity:  # better than nothing
            best = Candidate(AXIS, candidate.value, 0.0, 0.0, False)
    if (n_varying < 2 and settings.axis) or (rules.n_random < 0 and not rules.linear):
        return best.kind, axis, considered
    linear_plane, value = np.zeros(d + 1), 0.0
    if rules.linear and n >= rules.min_linear:
        value, astray = methods.classify(
            examples,
            node,
            rules.unit,
            rules.to_purity,
            settings.max_terms,
            methods.logistic,
            methods.least_squares,
            linear_plane,
        )
        considered += 1
        # Judged by examples that the plane has not seen; but its attributes were chosen with them.
        chance = LEFT_OUT_SHARE * cost_of_choice(n_terms_of(linear_plane), n_varying) * price
        worth = value if rules.to_purity else value - chance
        merit = worth if rules.to_purity else worth / (astray + rules.unit / total)
        candidate = Candidate(LINEAR, value, worth, merit, astray == 0.0)
        if worth > (0.0 if rules.to_purity else least) and is_better(candidate, best, axis_value, settings.axis_bias):
            best = candidate
            copy(linear_plane, plane)
    if rules.n_random < 0 or n < settings.min_oblique:
        return best.kind, axis, considered
    attributes = searched_attributes(linear_plane, axis, examples, settings.max_terms)
    chance, share = (attributes.size + 1.0 + cost_of_choice(attributes.size, n_varying)) * price, 0.5
    for c in range(k):
        share = max(share, node.totals[c] / total)
    ideal = 4.0 * share * (1.0 - share) - chance  # what a perfect plane, found by search, would be worth
    if attributes.size > 0 and ideal > least and (best.kind == NOTHING or ideal > best.merit * chance / 3.0):
        given = np.zeros((2, d + 1))
        n_given = 0
        if axis.attribute >= 0:
            given[0, axis.attribute], given[0, d], n_given = 1.0, -axis.threshold, 1
        if value > 0.0:
            copy(linear_plane, given[n_given])
            n_given += 1
        how = from_given(settings, n_given + rules.n_random, n_given, attributes.size + 1)
        considered += search_among(
            examples, node, criterion, how, methods, seed, attributes, given, left, linear_plane, work
        )
        candidate = found_by_search(SEARCHED, left, node.totals, price, chance, rules.to_purity)
        if candidate.worth > least and is_better(candidate, best, axis_value, settings.axis_bias):
            best = candidate
            copy(linear_plane, plane)
    return best.kind, axis, considered


@allocating
def cost_of_choice(n_terms, n_varying):
    """Return what choosing some of the attributes costs a split, in coefficients."""
    return COEFFICIENTS_PER_DOUBLING * n_terms * np.log2(max(n_varying, 1) / max(n_terms, 1))


@allocating
def n_terms_of(plane):
    """Return how many attributes a plane has."""
    count = 0
    for m in range(plane.size - 1):
        count += plane[m] != 0.0
    return count


@allocating
def copy(plane, out):
    """Copy a plane."""
    for m in range(plane.size):
        out[m] = plane[m]


@allocating
def is_better(candidate, best, axis_value, axis_bias):
    """Whether an oblique candidate is worth more than the best so far."""
    if best.kind != NOTHING and not candidate.merit > best.merit * (MIN_OBLIQUE_MERIT if best.kind == AXIS else 1.0):
        return False
    return axis_bias == 1.0 or candidate.is_pure or candidate.value > axis_bias * axis_value


@allocating
def found_by_search(kind, left, totals, price, chance, to_purity):
    """Return what a split that was found by search is worth, where `chance` accounts for some of its value."""
    total, n_left = sum_of(totals), sum_of(left)
    if not 0.0 < n_left < total:
        return Candidate(NOTHING, 0.0, 0.0, 0.0, False)
    norm, astray = 0.0, 0.0
    for c in range(left.size):
        norm += abs(left[c] - totals[c] * (n_left / total))
        astray += min(left[c], totals[c] - left[c])
    value = norm * norm / (n_left * (total - n_left))
    # Chance hides some that go astray; but where no class is on both sides, there are none.
    hidden = (chance if astray > 0.0 else price) / 3.0
    worth = value - chance
    merit = value if to_purity else worth / (astray / total + hidden)
    return Candidate(kind, value, worth, merit, astray == 0.0)


@allocating
def search_among(examples, node, criterion, settings, methods, seed, attributes, given, left, plane, work):
    """Search planes on some attributes; write the purest to `plane` and what is on its left to `left`.

    The first runs begin at the `given` planes. Returns the hyperplanes considered.
    """
    d, n, size = examples.shift.size, node.labels.size, attributes.size
    columns = np.ones((size + 1, n), np.float32)
    for i in range(size):
        column = attribute_of(examples, attributes[i], node.start, columns[i])
        for j in range(n):
            columns[i, j] = column[j]
    nowhere, none_missing, zeros = np.empty(0, np.int64), np.empty((0, 0), np.uint8), np.zeros(size)
    own = Examples(columns, node.labels, node.weights, nowhere, none_missing, zeros, zeros, np.ones(size))
    place = Node(np.int64(0), node.labels, node.weights, node.totals, node.ranks, node.present, node.bounds)
    n_runs = settings.n_runs
    runs = np.zeros((n_runs, layout.PLANE + size + 1))
    for run in range(settings.n_given):
        for i in range(size):
            runs[run, layout.PLANE + i] = given[run, attributes[i]]
        runs[run, layout.PLANE + size] = given[run, d]
    first_move = np.int64(work.moves[0, layout.NEXT_MOVE]) if work.moves.shape[0] > 0 else 0
    room = Workspace(
        work.line,
        work.margins,
        work.rates,
        work.projections,
        work.classes,
        work.totals,
        np.zeros(size + 1),
        np.zeros(size + 1),
        runs,
        work.moves,
    )
    methods.look(own, place, criterion, settings, methods.line, seed, layout.BOTH, np.int64(0), n_runs, room)
    spread_moves(work.moves, first_move, attributes, d)
    best, considered = 0, 0
    for run in range(n_runs):
        considered += np.int64(runs[run, layout.CLIMBED]) + np.int64(runs[run, layout.JUMPED])
        if runs[run, layout.SCORE] > runs[best, layout.SCORE]:
            best = run
        if runs[run, layout.PURE] != 0.0:
            break
    margins = work.margins[:n]
    compute_margins(own, np.int64(0), runs[best, layout.PLANE :], margins, work.rates[:n])
    left_of_plane(node, margins, left)
    clear(plane)
    for i in range(size):
        plane[attributes[i]] = runs[best, layout.PLANE + i]
    plane[d] = runs[best, layout.PLANE + size]
    return considered


@allocating
def from_given(settings, n_runs, n_given, n_swept):
    """Return the settings of a search whose first runs begin at given planes."""
    return Settings(
        settings.min_leaf,
        settings.min_weight,
        settings.axis,
        settings.min_oblique,
        np.int64(max(n_runs, 1)),
        settings.order,
        settings.whole_rounds,
        np.int64(n_swept),
        settings.n_perturbations,
        settings.n_jumps,
        settings.stagnation,
        settings.falls_at_ties,
        settings.min_rows_to_meet,
        settings.axis_bias,
        settings.max_depth,
        settings.min_split,
        settings.min_decrease,
        settings.total,
        settings.max_terms,
        settings.two_stages,
        np.int64(0),
        np.int64(n_given),
    )


@allocating
def searched_attributes(plane, axis, examples, max_terms):
    """Return the attributes that the search may combine: that of the best axis-parallel split, those of a plane, more.

    At least a few, if there are, and not more than `max_terms`.
    """
    d = examples.shift.size
    used, size = np.zeros(d, np.bool_), 0
    if axis.attribute >= 0 and examples.scale[axis.attribute] > 0.0:
        used[axis.attribute], size = True, 1
    for fill_up in range(2):
        for m in range(d):
            wanted = size < MIN_SEARCHED_ATTRIBUTES if fill_up == 1 else plane[m] != 0.0
            if wanted and size < max_terms and not used[m] and examples.scale[m] > 0.0:
                used[m] = True
                size += 1
    attributes, place = np.empty(size, np.int64), 0
    for m in range(d):
        if used[m]:
            attributes[place], place = m, place + 1
    return attributes


@allocating
def spread_moves(moves, first, attributes, d):
    """Bring the planes of noted moves, which have the searched attributes only, to all attributes."""
    if moves.shape[0] == 0:
        return
    plane = np.zeros(d + 1)
    for row in range(first, min(np.int64(moves[0, layout.NEXT_MOVE]), moves.shape[0])):
        clear(plane)
        for i in range(attributes.size):
            plane[attributes[i]] = moves[row, layout.MOVED_PLANE + i]
        plane[d] = moves[row, layout.MOVED_PLANE + attributes.size]
        which = np.int64(moves[row, layout.MOVED_WHICH])
        if which >= 0:
            moves[row, layout.MOVED_WHICH] = attributes[which] if which < attributes.size else d
        for m in range(d + 1):
            moves[row, layout.MOVED_PLANE + m] = plane[m]


@allocating
def left_of_axis(examples, node, axis, buffer, left):
    """Add up the weights of the classes on the left of an axis-parallel split."""
    column, threshold = attribute_of(examples, axis.attribute, node.start, buffer), np.float32(axis.threshold)
    for c in range(left.size):
        left[c] = 0.0
        for j in range(node.bounds[c], node.bounds[c + 1]):
            goes_left = column[j] <= threshold
            if axis.missing != layout.BY_FILL and examples.missing[axis.attribute, examples.rows[node.start + j]] != 0:
                goes_left = axis.missing == layout.MISSING_LEFT
            if goes_left:
                left[c] += node.weights[j] if node.weights.size > 0 else 1.0


@allocating
def left_of_plane(node, margins, left):
    """Add up the weights of the classes on the left of a plane, from the margins."""
    for c in range(left.size):
        left[c] = 0.0
        for j in range(node.bounds[c], node.bounds[c + 1]):
            if not margins[j] > 0.0:
                left[c] += node.weights[j] if node.weights.size > 0 else 1.0


CHOOSE = signature(
    types.Tuple((types.int64, numba_type(AxisSplit), types.int64)),
    Examples,
    Node,
    Criterion,
    Settings,
    Rules,
    Methods,
    types.uint64,
    vector,
    Workspace,
)


@compiled_apart(seconds=8)
def compiled_choice():
    """Return the choice of a split as a pointer."""
    return pointer(CHOOSE, choose, allocates=True, compiles=False)
