"""Linear classifiers for one node, compiled: which classes to tell apart, by which attributes, and how well that works.

The most promising `groupings` of the classes are fitted by logistic regression (`newton`), which says by itself what it
would make of each example without having seen it. The best one is shortened: the terms that it can best do without are
dropped as long as the left-out loss falls.
"""

import numpy as np
from numba import types

from ._apart import compiled_apart
from ._jit import allocating, pointer, signature
from .class_views import (
    REST,
    all_margins,
    clear,
    judge,
    look_at,
    moments_of,
    most_different,
    numbers,
    spread_of,
    sum_of,
)
from .groupings import discriminants, promising_groupings, short_discriminant, start_at
from .newton import CONSTANT_RIDGE, FLAT, LOGISTIC, ROUNDED, factor, solve
from .records import Examples, Node, vector

#: Linear classifiers are fitted to about this number of examples at most: more hardly move a plane.
MAX_ROWS_PER_FIT = 20_000
#: ... and to this number of attributes, those that differ most between the classes.
MAX_ATTRIBUTES_PER_FIT = 64
#: ... at least this number, but not to more than one for each two examples.
MIN_ATTRIBUTES_PER_FIT = 8
#: The ridge of logistic regression. More and less is tried, by factors of ten, and taken where the left-out loss falls
#: to this share.
RIDGE, MIN_RIDGE, MAX_RIDGE = 1.0, 0.005, 200.0
MAX_LOSS_SHARE = 0.97
#: It is not tried with more examples for each attribute, where it hardly matters; but less ridge is tried where it is
#: this share of the loss.
MAX_EXAMPLES_PER_ATTRIBUTE = 50
MIN_RIDGE_SHARE = 0.1
#: Of two classes, least squares are taken where their left-out loss is this share of the logistic regression's.
#: (Several classes together are not normal, as least squares take groups to be.)
MAX_LEAST_SQUARES_SHARE = 0.95
#: The ridge of planes that are to fit the examples at hand (see `linear_classifier`).
CLOSE_RIDGE = 0.1
#: A fifth of the terms is dropped at a time, at least one. After this number of times in vain, no more are dropped.
MAX_FAILED_LENGTHS = 3


@allocating
def put_left_out(rows, left_out, margins):
    """Replace the margins of some examples by those of planes that were fitted without them."""
    for j in range(rows.size):
        margins[rows[j]] = left_out[j]


@allocating
def used_rows(view, right, other):
    """Return which examples a grouping is about."""
    if other == REST:
        return numbers(0, view.Z.shape[0])
    n_right = view.bounds[right + 1] - view.bounds[right]
    rows = np.empty(n_right + view.bounds[other + 1] - view.bounds[other], np.int64)
    for j in range(rows.size):
        rows[j] = view.bounds[right] + j if j < n_right else view.bounds[other] + j - n_right
    return rows


@allocating
def regress(view, rows, right, attributes, ridge, logistic, plane, left_out):
    """Fit a logistic regression on some attributes of some examples; return the left-out loss."""
    size = attributes.size
    Z, is_right, weights = np.ones((rows.size, size + 1)), np.empty(rows.size, np.bool_), np.empty(rows.size)
    for j in range(rows.size):
        row = rows[j]
        weights[j], is_right[j] = view.weights[row], view.bounds[right] <= row < view.bounds[right + 1]
        for i in range(size):
            Z[j, i] = view.Z[row, attributes[i]]
    return logistic(Z, is_right, weights, ridge, plane, left_out)


@allocating
def eliminate(view, rows, attributes, plane, ridge, is_logistic, n_kept):
    """Return the attributes that a regression can least do without, and its plane without the others.

    The loss is near its least, so it is all but quadratic: its second derivatives say what the loss would be without a
    term if all others were fitted anew, and how they would change. The least important term goes, again and again.
    """
    size, n = attributes.size, rows.size
    half, lower = np.empty((n, size + 1), np.float32), np.empty((size + 1, size + 1))
    inverse = np.zeros((size + 1, size + 1))
    penalty, rest, open_ = np.full(size + 1, ridge), plane.copy(), np.ones(size, np.bool_)
    penalty[size] = CONSTANT_RIDGE
    for j in range(n):
        row, margin = rows[j], plane[size]
        for i in range(size):
            margin += plane[i] * view.Z[row, attributes[i]]
        share = 1.0 / (1.0 + np.exp(-margin))
        root = np.sqrt(view.weights[row] * (max(share * (1.0 - share), FLAT) if is_logistic else 1.0))
        for i in range(size):
            half[j, i] = root * view.Z[row, attributes[i]]
        half[j, size] = root
    gram = np.dot(half.T, half)
    for i in range(size + 1):
        for m in range(size + 1):
            lower[i, m] = gram[i, m]
        lower[i, i] += penalty[i] + ROUNDED * lower[i, i]
        inverse[i, i] = 1.0
    factor(lower, penalty)
    for i in range(size + 1):
        solve(lower, inverse[i])
    for _ in range(size - n_kept):
        least, chosen = np.inf, 0
        for i in range(size):
            rise = rest[i] * rest[i] / inverse[i, i]
            if open_[i] and rise < least:
                least, chosen = rise, i
        open_[chosen] = False
        pivot, change = inverse[chosen, chosen], rest[chosen]
        for i in range(size + 1):
            if i == size or open_[i]:
                share = inverse[i, chosen] / pivot
                rest[i] -= share * change
                for m in range(size + 1):
                    if m == size or open_[m]:
                        inverse[i, m] -= share * inverse[chosen, m]
                inverse[i, i] = max(inverse[i, i], 1e-12)
    kept, remaining, place = np.empty(n_kept, np.int64), np.empty(n_kept + 1), 0
    for i in range(size):
        if open_[i]:
            kept[place], remaining[place], place = attributes[i], rest[i], place + 1
    remaining[n_kept] = rest[size]
    return kept, remaining


@allocating
def shortened(view, rows, right, attributes, plane, left_out, loss, ridge, fit, is_logistic):
    """Return the plane, (attributes, coefficients, left-out margins), of the least left-out loss.

    Terms are dropped from the given plane as long as that may help.
    """
    failed, least, best_attributes, best_plane, best_left_out = 0, loss, attributes, plane, left_out
    while attributes.size > 1 and failed < MAX_FAILED_LENGTHS:
        n_kept = max(1, min(attributes.size - 1, attributes.size * 4 // 5))
        attributes, plane = eliminate(view, rows, attributes, plane, ridge, is_logistic, n_kept)
        left_out = np.empty(rows.size)
        loss = regress(view, rows, right, attributes, ridge, fit, plane, left_out)
        failed += 1
        if loss <= least:
            failed, least, best_attributes, best_plane, best_left_out = 0, loss, attributes, plane, left_out
    return best_attributes, best_plane, best_left_out


@allocating
def best_grouping(view, means, within, fits_closely, max_terms, logistic):
    """Fit the promising groupings; return the best one: (right, left), attributes, plane, left-out margins and loss.

    Nothing but a class below REST on the right if there is none.
    """
    slopes, levels = discriminants(view, means, within)
    groupings = promising_groupings(view, means, within, slopes, levels, max_terms)
    size, total = view.attributes.size, sum_of(view.totals)
    attributes, margins, left = numbers(0, size), np.empty(view.Z.shape[0]), np.empty(view.totals.size)
    best, best_right, best_other, best_loss = 0.0, np.int64(REST - 1), np.int64(REST), 0.0
    best_attributes, best_plane, best_left_out = attributes, np.zeros(size + 1), np.empty(0)
    for number in range(groupings.shape[0]):
        right, other = groupings[number, 0], groupings[number, 1]
        is_new = right >= 0
        for earlier in range(number):
            is_new = is_new and not (groupings[earlier, 0] == right and groupings[earlier, 1] == other)
        if not is_new:
            continue
        rows, plane = used_rows(view, right, other), np.empty(size + 1)
        left_out = np.empty(rows.size)
        if max_terms < size:
            attributes, plane = short_discriminant(view, means, within, right, other, max_terms)
        else:
            start_at(view, slopes, levels, right, other, plane)
        ridge = CLOSE_RIDGE if fits_closely else RIDGE
        loss = regress(view, rows, right, attributes, ridge, logistic, plane, left_out)
        all_margins(view, attributes, plane, margins)
        if not fits_closely:
            put_left_out(rows, left_out, margins)
        value, astray = judge(view, margins, right, other, left)
        merit = value if fits_closely else value / (astray + 1.0 / total)
        if merit > best:
            best, best_right, best_other, best_loss = merit, right, other, loss
            best_attributes, best_plane, best_left_out = attributes, plane, left_out
    return best_right, best_other, best_attributes, best_plane, best_left_out, best_loss


@allocating
def best_ridge(view, rows, right, attributes, plane, left_out, loss, logistic):
    """Fit a regression with more ridge, or less, as long as the left-out loss falls clearly.

    Returns (plane, left-out margins, loss, ridge); those that are given have the usual ridge.
    """
    size, ridge, price, n_examples = plane.size - 1, RIDGE, 0.0, 0.0
    for j in range(rows.size):
        n_examples += view.weights[rows[j]]
    for i in range(size):
        price += 0.5 * RIDGE * plane[i] * plane[i]
    is_rare = n_examples < MAX_EXAMPLES_PER_ATTRIBUTE * size
    # With many examples for each attribute the ridge does not matter, unless it is what keeps the plane short.
    for factor_ in (10.0, 0.1):
        is_tried = is_rare or (factor_ < 1.0 and price > MIN_RIDGE_SHARE * loss)
        while is_tried and MIN_RIDGE < ridge * factor_ < MAX_RIDGE:
            further, further_left_out = plane.copy(), np.empty(rows.size)
            further_loss = regress(view, rows, right, attributes, ridge * factor_, logistic, further, further_left_out)
            is_tried = further_loss < MAX_LOSS_SHARE * loss
            if is_tried:
                plane, left_out, loss, ridge = further, further_left_out, further_loss, ridge * factor_
        if ridge != RIDGE:
            break
    return plane, left_out, loss, ridge


@allocating
def improved(view, rows, right, other, attributes, plane, left_out, loss, logistic, least_squares):
    """Return (attributes, plane, left-out margins) of a regression with another ridge, or by least squares; shorter."""
    plane, left_out, loss, ridge = best_ridge(view, rows, right, attributes, plane, left_out, loss, logistic)
    further, further_left_out = plane.copy(), np.empty(rows.size)
    fit, is_logistic, further_loss = logistic, True, 0.0
    if other != REST or view.totals.size == 2:
        further_loss = regress(view, rows, right, attributes, RIDGE, least_squares, further, further_left_out)
        is_logistic = further_loss >= MAX_LEAST_SQUARES_SHARE * loss
    if not is_logistic:
        plane, left_out, loss, ridge, fit = further, further_left_out, further_loss, RIDGE, least_squares
    return shortened(view, rows, right, attributes, plane, left_out, loss, ridge, fit, is_logistic)


def linear_classifier(examples, node, unit, fits_closely, max_terms, logistic, least_squares, plane):
    """Write the plane of the best linear classifier of a node; return its Twoing value and the share it misplaces.

    Each example is judged by the plane that was fitted without it, and the plane is a short one. With `fits_closely`,
    for trees that are grown until their leaves are pure and then pruned, what counts is how it parts the examples.

    Parameters
    ----------
    examples, node : Examples, Node
    unit : float
        The weight of one example.
    fits_closely : bool
    max_terms : int
    logistic, least_squares : LOGISTIC
    plane : float64 array (d + 1)
        In search space, where the result goes.
    """
    d, n = examples.shift.size, node.labels.size
    step = 1 + (n - 1) // MAX_ROWS_PER_FIT
    mean, scale, between = spread_of(examples, node, step)
    n_examples = sum_of(node.totals) / unit
    max_attributes = max(MIN_ATTRIBUTES_PER_FIT, np.int64(n_examples) // 2)
    attributes = most_different(scale, between, min(MAX_ATTRIBUTES_PER_FIT, max_attributes))
    clear(plane)
    if attributes.size == 0:
        return 0.0, 1.0
    view = look_at(examples, node, unit, step, attributes, mean, scale)
    means, within = moments_of(view)
    right, other, chosen, fitted, left_out, loss = best_grouping(view, means, within, fits_closely, max_terms, logistic)
    if right < 0:
        return 0.0, 1.0
    rows, margins, left = used_rows(view, right, other), np.empty(view.Z.shape[0]), np.empty(view.totals.size)
    if not fits_closely:
        chosen, fitted, left_out = improved(
            view, rows, right, other, chosen, fitted, left_out, loss, logistic, least_squares
        )
    all_margins(view, chosen, fitted, margins)
    if not fits_closely:
        put_left_out(rows, left_out, margins)
    value, astray = judge(view, margins, right, other, left)
    plane[d] = fitted[chosen.size]
    for i in range(chosen.size):
        m = attributes[chosen[i]]
        plane[m] = fitted[i] / scale[m]
        plane[d] -= plane[m] * mean[m]
    # Of unit length, and the first coefficient is positive: what the classes are called must not matter.
    length, sign = 0.0, 0.0
    for m in range(d + 1):
        length += plane[m] * plane[m]
        if sign == 0.0 and plane[m] != 0.0:
            sign = 1.0 if plane[m] > 0.0 else -1.0
    if not 0.0 < length < np.inf:
        clear(plane)
        return 0.0, 1.0
    for m in range(d + 1):
        plane[m] *= sign / np.sqrt(length)
    return value, astray


LINEAR_CLASSIFIER = signature(
    types.UniTuple(types.float64, 2), Examples, Node, float, bool, int, LOGISTIC, LOGISTIC, vector
)


@compiled_apart(seconds=18)
def compiled_linear_classifier():
    """Return the function as a pointer."""
    return pointer(LINEAR_CLASSIFIER, linear_classifier, allocates=True, compiles=False)
