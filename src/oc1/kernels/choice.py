"""How the default splits a node: the best axis-parallel test and linear classifiers compete for information.

A split gains as many nats of information as the classes are easier to tell below it, times the examples. What was
searched for is not free: choosing a threshold among n examples costs log n nats, and each further term of a test
`PRICE_OF_A_TERM`. The test that gains most after these prices wins, and there is always one until a node is pure.
"""

from functools import cache
from typing import NamedTuple

import numpy as np
from numba import types

from . import layout
from ._jit import Compiled, allocating, fix_type, pointer, signature
from .axis_scan import scan_axes
from .class_views import sum_of
from .grow import Found, find_signature
from .layout import NO_SPLIT
from .line_search import LINE_SEARCH
from .linear_fits import LINEAR_CLASSIFIERS, MAX_PLANES
from .margins import compute_margins
from .newton import LOGISTIC
from .node_search import Search
from .random import mix
from .records import AxisSplit, Criterion, Examples, Node, Settings, Workspace

#: Nats that a test must gain for each term after the first.
PRICE_OF_A_TERM = 0.5


class Methods(NamedTuple):
    """What `find_informative` knows of the tree, and what it calls through pointers."""

    unit: float  # the weight of one example
    tries_linear: bool
    line: Compiled  # LINE_SEARCH
    scan: Compiled  # SCAN_AXES
    classify: Compiled  # LINEAR_CLASSIFIERS
    logistic: Compiled  # LOGISTIC


def find_informative(examples, node, criterion, settings, methods, seed, is_searched, axis, plane, work):
    """Choose the split of a node; the parameters are those of `oc1.kernels.grow.find_purest`."""
    n, total = node.labels.size, sum_of(node.totals)
    considered, threshold_price = 0, np.log(max(total / methods.unit, 1.0))
    axis, left = AxisSplit(NO_SPLIT, -1, 0.0, layout.BY_FILL), np.empty(node.totals.size)
    best, axis_gain = -np.inf, 0.0
    if settings.axis:
        axis = methods.scan(examples, node, criterion, settings, methods.line, seed, work)
        considered += examples.shift.size
        if axis.attribute >= 0:
            left_of_axis(examples, node, axis, left)
            axis_gain = information(left, node.totals) / methods.unit
            best = axis_gain - threshold_price
    is_oblique, is_centred = False, True
    if methods.tries_linear and n >= settings.min_oblique:
        planes = np.zeros((MAX_PLANES, plane.size))
        n_planes = methods.classify(examples, node, methods.unit, settings.max_terms, methods.logistic, planes)
        margins, constant = work.margins[:n], examples.columns[plane.size - 1, node.start : node.start + n]
        for p in range(n_planes):
            considered += 1
            compute_margins(examples, node.start, planes[p], margins)
            price = PRICE_OF_A_TERM * (n_terms_of(planes[p]) - 1)
            # The classifier's own threshold was fitted with its coefficients; a better one has to be searched for.
            for is_moved in range(2):
                if is_moved:
                    score, alpha = methods.line(node, criterion, margins, constant, NO_SPLIT, False, work.line)
                    if score == NO_SPLIT:
                        break
                    planes[p, plane.size - 1] += alpha
                    for j in range(n):
                        margins[j] += np.float32(alpha)
                    price += threshold_price
                left_of_plane(node, margins, left)
                gain = information(left, node.totals) / methods.unit
                if gain - price > best and gain > 0.0 and gain >= settings.axis_bias * axis_gain:
                    best, is_oblique, is_centred = gain - price, True, is_moved == 1
                    for m in range(plane.size):
                        plane[m] = planes[p, m]
    if not is_oblique and not settings.axis:  # where no classifier combines features, one by itself will do
        axis = methods.scan(examples, node, criterion, settings, methods.line, seed, work)
        considered += examples.shift.size
    if is_oblique:  # tried first; the axis-parallel one stays where rounding leaves nothing of it
        return Found(AxisSplit(NO_SPLIT, axis.attribute, axis.threshold, axis.missing), 1.0, is_centred, considered)
    return Found(axis, NO_SPLIT, True, considered)


@allocating
def n_terms_of(plane):
    """Return how many attributes a plane has."""
    count = 0
    for m in range(plane.size - 1):
        count += plane[m] != 0.0
    return count


@allocating
def plogp(x):
    """Return x log x."""
    return x * np.log(x) if x > 0.0 else 0.0


@allocating
def information(left, totals):
    """Return the nats of information that a split gives on its examples, from the class weights on its left."""
    n, n_left, gain = 0.0, 0.0, 0.0
    for c in range(totals.size):
        n += totals[c]
        n_left += left[c]
        gain += plogp(left[c]) + plogp(totals[c] - left[c]) - plogp(totals[c])
    return gain + plogp(n) - plogp(n_left) - plogp(n - n_left)


@allocating
def left_of_axis(examples, node, axis, left):
    """Add up the weights of the classes on the left of an axis-parallel split."""
    column = examples.columns[axis.attribute, node.start : node.start + node.labels.size]
    threshold = np.float32(axis.threshold)
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


def find_axis_split(examples, node, criterion, settings, line, seed, work):
    """Return the best axis-parallel split of a node, as a whole search of it would begin."""
    work.line.stream[0] = mix(seed, np.uint64(3))
    return scan_axes(Search(examples, node, criterion, settings, line, work))


SCAN_AXES = signature(AxisSplit, Examples, Node, Criterion, Settings, LINE_SEARCH, types.uint64, Workspace)
fix_type(Methods, float, bool, LINE_SEARCH, SCAN_AXES, LINEAR_CLASSIFIERS, LOGISTIC)


@cache
def compiled_axis_scan() -> Compiled:
    """Return `find_axis_split` as a pointer."""
    return pointer(SCAN_AXES, find_axis_split)


@cache
def compiled_informative() -> Compiled:
    """Return `find_informative` as a pointer."""
    return pointer(find_signature(Methods), find_informative, allocates=True)
