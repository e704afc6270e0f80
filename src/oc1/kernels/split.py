"""Tests in the user's units: written from a plane of the search, evaluated, placed among the examples, and applied."""

from typing import NamedTuple

import numpy as np

from . import layout
from ._jit import inlined, inner, kernel, spliced
from .criteria import has_room, score_norm, score_position
from .layout import NO_SPLIT
from .node_search import open_node
from .random import mix


class Placed(NamedTuple):
    """A test that was tried on a node; what is on its left is in ``work.line.counts[0]``."""

    score: float  # NO_SPLIT where a side has too few examples
    n_terms: int
    threshold: float
    gap: float  # between the neighbours of the threshold


@inlined
def project(source, at, features, coefficients, first, last, missing, node):
    """Compute a node's linear combination for the row that begins at `at`.

    A missing value counts as its fill, or is beyond all others where ``missing[node]`` gives it a side.

    Training and prediction add up in the same order (as does `oc1.tree.linear.project`), so an example goes the same
    way in both.
    """
    values, column_step, fill = source.values, source.column_step, source.fill
    value = 0.0
    if last - first == fill.size:
        for i in range(first, last):
            value += coefficients[i] * values[at + (i - first) * column_step]
    else:
        for i in range(first, last):
            value += coefficients[i] * values[at + features[i] * column_step]
    if np.isnan(value):
        if missing[node] != layout.BY_FILL:
            return missing[node] * np.inf
        value = 0.0
        for i in range(first, last):
            x = np.float64(values[at + features[i] * column_step])
            value += coefficients[i] * (fill[features[i]] if np.isnan(x) else x)
    return value


@kernel
def project_rows(source, rows, features, coefficients, missing, out):
    """Compute a test's linear combination for some rows; `missing` holds the side of missing values, or `BY_FILL`."""
    for j in range(rows.size):
        at = rows[j] * source.row_step
        out[j] = project(source, at, features, coefficients, np.int64(0), features.size, missing, np.int64(0))


@inner
def oblique_test(plane, shift, scale, features, coefficients):
    """Write a plane of the search as a test in the user's units; return (number of terms, threshold).

    The first coefficient is positive, and the largest one is 1 on the search's attributes. No terms where a number
    overflows.
    """
    d = shift.size
    largest, sign, threshold, n_terms = 0.0, 0.0, -plane[d], 0
    for m in range(d):
        if plane[m] != 0.0 and scale[m] > 0.0:
            if sign == 0.0:
                sign = 1.0 if plane[m] > 0.0 else -1.0
            largest = max(largest, abs(plane[m]))
    for m in range(d):
        if plane[m] != 0.0 and scale[m] > 0.0:
            features[n_terms] = m
            coefficients[n_terms] = plane[m] / scale[m]
            threshold += coefficients[n_terms] * shift[m]
            coefficients[n_terms] *= sign / largest
            if not abs(coefficients[n_terms]) < np.inf:
                return 0, 0.0
            n_terms += 1
    threshold *= sign / largest if largest > 0.0 else 1.0
    return (n_terms, threshold) if abs(threshold) < np.inf else (0, 0.0)


@inner
def axis_threshold(at, shift, scale):
    """Return a threshold of the search space in the user's units."""
    threshold = shift + at * scale
    if threshold - shift > at * scale:
        threshold = np.nextafter(threshold, -np.inf)  # rounded up, it could be the value above it
    return threshold


@spliced
def place_test(source, examples, node, criterion, features, coefficients, threshold, centred, missing, row, work):
    """Try a test on a node: project its rows and, if `centred`, put the threshold midway between its two neighbours.

    A test that sends the missing values to one side and all others to the other (see `project`) becomes the test
    whether a value is missing: it sends them to the right, and no known value is above its threshold.
    """
    n, projections, counts = node.labels.size, work.projections[0], work.line.counts
    below, above, count = -np.inf, np.inf, 0
    for j in range(n):
        at = examples.rows[node.start + j] * source.row_step
        value = project(source, at, features, coefficients, np.int64(0), features.size, missing, row)
        projections[j] = value
        if value > threshold:
            above = min(above, value)
        else:
            below = max(below, value)
            count += 1
    if missing[row] != layout.BY_FILL and (below == -np.inf or above == np.inf):
        # All known values are on one side, the missing ones on the other or nowhere.
        count, below, above, threshold, missing[row] = (
            0,
            layout.ABOVE_ALL,
            layout.ABOVE_ALL,
            layout.ABOVE_ALL,
            layout.MISSING_RIGHT,
        )
        for j in range(n):
            if abs(projections[j]) == np.inf:
                projections[j] = np.inf
            else:
                count += 1
    score, gap = NO_SPLIT, 0.0
    if features.size > 0 and count >= criterion.min_leaf and n - count >= criterion.min_leaf:
        gap = above - below
        if centred:
            threshold = below + 0.5 * gap
            if not (threshold >= below and threshold < above):
                threshold = below
        total, n_left = 0.0, 0.0
        for c in range(node.totals.size):
            counts[0, c] = 0.0
            total += node.totals[c]
        for j in range(n):
            if not projections[j] > threshold:
                weight = node.weights[j] if node.weights.size > 0 else 1.0
                counts[0, work.line.places[node.labels[j]]] += weight
                n_left += weight
        if has_room(count, n - count, n_left, total - n_left, criterion):
            score = score_position(counts, n_left, total, node, criterion, work.line.stream)
    return Placed(score, features.size, threshold, gap)


@inner
def bring_left_forward(values, projections, threshold, buffer):
    """Reorder one array of a node: the examples at or below the threshold, then the others, each in their order."""
    front, back = 0, 0
    for j in range(values.size):
        if projections[j] > threshold:
            buffer[back] = values[j]
            back += 1
        else:
            values[front] = values[j]
            front += 1
    for j in range(back):
        values[front + j] = buffer[j]
    return front


@kernel
def worthwhile_gain(score, node, code, settings, counts):
    """Return the gain of a split by its score and the weights on its left, or -1 if it is not worth making.

    A split that gains nothing is made, unless something is asked of it: it may be where another one can go on.
    """
    if score == NO_SPLIT:
        return -1.0
    weight, weight_left = 0.0, 0.0
    for c in range(node.totals.size):
        weight += node.totals[c]
        weight_left += counts[0, c]
    # A user's own criterion says nothing of a node that is not split: Gini's decrease stands for its gain.
    gain = score
    if code == layout.CUSTOM:
        gain = score_norm(counts, weight_left, weight, node.totals, node.ranks, np.int64(layout.GINI))
    gain = max(gain, 0.0)
    return gain if not gain * weight / settings.total < settings.min_decrease else -1.0


@spliced
def divide(examples, node, placed, gain, nodes, row, first, n_terms, work):
    """Bring the examples of a node into the order of its children, and add these to `nodes`, from row `first` on."""
    table, weights, d = nodes.table, examples.weights, examples.shift.size
    start, stop = table[row, layout.START], table[row, layout.STOP]
    projections, buffer, threshold = work.projections[0], work.projections[1], placed.threshold
    for m in range(d):
        bring_left_forward(examples.columns[m, start:stop], projections, threshold, buffer)
    bring_left_forward(weights[start:stop], projections, threshold, buffer)
    bring_left_forward(examples.labels[start:stop], projections, threshold, buffer)
    middle = start + bring_left_forward(examples.rows[start:stop], projections, threshold, buffer)
    for side in range(2):
        child = first + side
        table[child, layout.START], table[child, layout.STOP] = (start, middle) if side == 0 else (middle, stop)
        table[child, layout.DEPTH], table[child, layout.STATUS] = table[row, layout.DEPTH] + 1, layout.PENDING
        nodes.seeds[child] = mix(nodes.seeds[row], np.uint64(side + 1))
        for c in range(nodes.counts.shape[1]):
            nodes.counts[child, c] = 0.0
    for j in range(start, stop):
        nodes.counts[first + (j >= middle), examples.labels[j]] += weights[j] if weights.size > 0 else 1.0
    table[row, layout.LEFT], table[row, layout.RIGHT], table[row, layout.STATUS] = first, first + 1, layout.INNER
    table[row, layout.FIRST_TERM], table[row, layout.N_TERMS] = n_terms, placed.n_terms
    nodes.reals[row, 0], nodes.reals[row, 1], nodes.reals[row, 2] = threshold, gain, placed.gap


@kernel
def split_node(source, examples, criterion, settings, n_given, centred, nodes, work):
    """Divide the first of `nodes` by the test that its first row and the first `n_given` terms hold, or make it a leaf.

    The threshold is put midway between its neighbours if `centred`. Returns whether the node was divided.
    """
    table, missing = nodes.table, nodes.table[:, layout.MISSING]
    row = 0
    node = open_node(
        examples, table[row, layout.START], table[row, layout.STOP], nodes.counts[row], criterion.code, work
    )
    features, coefficients = nodes.features[:n_given], nodes.coefficients[:n_given]
    threshold = nodes.reals[row, 0]
    placed = place_test(
        source, examples, node, criterion, features, coefficients, threshold, centred, missing, row, work
    )
    gain = worthwhile_gain(placed.score, node, criterion.code, settings, work.line.counts)
    table[row, layout.STATUS] = layout.LEAF
    if gain >= 0.0:
        divide(examples, node, placed, gain, nodes, row, 1, 0, work)
    return gain >= 0.0
