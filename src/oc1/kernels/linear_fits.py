"""Linear classifiers for one node, compiled: logistic regressions with as few terms as leaving one out speaks for.

For each grouping of the classes (`groupings`), a ridge logistic regression (`newton`) says by itself what it would make
of each example without having seen it. It is shortened: the terms that it can best do without are dropped, as long as
the left-out loss does not rise.
"""

from functools import cache

import numpy as np

from ._jit import Compiled, allocating, kernel, pointer, signature
from .class_views import look_at, moments_of, most_different, numbers, spread_of, sum_of
from .groupings import groupings
from .newton import CONSTANT_RIDGE, FLAT, LOGISTIC, ROUNDED, factor, solve
from .node_search import open_node
from .records import Examples, Node, matrix

#: Linear classifiers are fitted to about this number of examples at most: more hardly move a plane.
MAX_ROWS_PER_FIT = 10_000
#: ... and to this number of features, but not more than one for each two samples: those that differ most between the
#: classes.
MAX_FEATURES_PER_FIT = 64
#: The penalty on half the squared coefficients of standardised features.
RIDGE = 1.0
#: A fifth of the terms is dropped at a time, at least one. After this number of times in vain, no more are dropped.
MAX_FAILED_LENGTHS = 3
#: Groupings of the classes, at most.
MAX_PLANES = 2


@allocating
def regress(view, is_right, features, logistic, plane):
    """Improve a plane on some features until it is that of the logistic regression; return the left-out loss."""
    n, size = view.Z.shape[0], features.size
    Z, left_out = np.ones((n, size + 1)), np.empty(n)
    for j in range(n):
        for i in range(size):
            Z[j, i] = view.Z[j, features[i]]
    return logistic(Z, is_right, view.weights, RIDGE, plane, left_out)


@allocating
def eliminate(view, features, plane, n_kept):
    """Return the features that a regression can least do without, and its plane without the others.

    The loss is near its least, so it is all but quadratic: its second derivatives say what the loss would be without a
    term if all others were fitted anew, and how they would change. The least important term goes, again and again.
    """
    size, n = features.size, view.Z.shape[0]
    half, lower = np.empty((n, size + 1), np.float32), np.empty((size + 1, size + 1))
    inverse = np.zeros((size + 1, size + 1))
    penalty, rest, open_ = np.full(size + 1, RIDGE), plane.copy(), np.ones(size, np.bool_)
    penalty[size] = CONSTANT_RIDGE
    for j in range(n):
        margin = plane[size]
        for i in range(size):
            margin += plane[i] * view.Z[j, features[i]]
        share = 1.0 / (1.0 + np.exp(-margin))
        root = np.sqrt(view.weights[j] * max(share * (1.0 - share), FLAT))
        for i in range(size):
            half[j, i] = root * view.Z[j, features[i]]
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
            kept[place], remaining[place], place = features[i], rest[i], place + 1
    remaining[n_kept] = rest[size]
    return kept, remaining


@allocating
def shortened(view, is_right, plane, loss, max_terms, logistic):
    """Return the plane, (features, coefficients), of the least left-out loss; the shortest of equals."""
    features = numbers(0, view.attributes.size)
    failed, least, best_features, best_plane = 0, loss, features, plane
    while features.size > 1 and (failed < MAX_FAILED_LENGTHS or features.size > max_terms):
        n_kept = max(1, min(features.size - 1, features.size * 4 // 5))
        features, plane = eliminate(view, features, plane, n_kept)
        loss = regress(view, is_right, features, logistic, plane)
        failed += 1
        if loss <= least or best_features.size > max_terms:
            failed, least, best_features, best_plane = 0, loss, features, plane
    return best_features, best_plane


def linear_classifiers(examples, node, unit, max_terms, logistic, planes):
    """Write the planes of linear classifiers of a node, in search space, to the first rows of `planes`.

    Returns how many there are. `unit` is the weight of one example.
    """
    n, n_planes = node.labels.size, 0
    step = 1 + (n - 1) // MAX_ROWS_PER_FIT
    mean, scale, between = spread_of(examples, node, step)
    most = max(2, np.int64(sum_of(node.totals) / unit) // 2)
    features = most_different(scale, between, min(MAX_FEATURES_PER_FIT, most))
    if features.size < 2:
        return 0
    view = look_at(examples, node, unit, step, features, mean, scale)
    means, within = moments_of(view)
    sides, is_right = groupings(view, means, within), np.empty(view.Z.shape[0], np.bool_)
    for g in range(sides.shape[0]):
        own, plane = 0.0, np.zeros(features.size + 1)
        for c in range(sides.shape[1]):
            own += view.totals[c] if sides[g, c] else 0.0
            for j in range(view.bounds[c], view.bounds[c + 1]):
                is_right[j] = sides[g, c]
        plane[features.size] = np.log(own / (sum_of(view.totals) - own))
        loss = regress(view, is_right, numbers(0, features.size), logistic, plane)
        chosen, fitted = shortened(view, is_right, plane, loss, max_terms, logistic)
        if write_plane(features, chosen, fitted, mean, scale, planes[n_planes]):
            n_planes += 1
    return n_planes


@allocating
def write_plane(features, chosen, fitted, mean, scale, plane):
    """Write a plane on standardised features as one of the search space; return whether it is one.

    It has unit length, and its first coefficient is positive: what the classes are called must not matter.
    """
    d, length, sign = plane.size - 1, 0.0, 0.0
    for m in range(d + 1):
        plane[m] = 0.0
    plane[d] = fitted[chosen.size]
    for i in range(chosen.size):
        m = features[chosen[i]]
        plane[m] = fitted[i] / scale[m]
        plane[d] -= plane[m] * mean[m]
    for m in range(d + 1):
        length += plane[m] * plane[m]
        if sign == 0.0 and m < d and plane[m] != 0.0:
            sign = 1.0 if plane[m] > 0.0 else -1.0
    if not 0.0 < length < np.inf or sign == 0.0:
        return False
    for m in range(d + 1):
        plane[m] *= sign / np.sqrt(length)
    return True


LINEAR_CLASSIFIERS = signature(int, Examples, Node, float, int, LOGISTIC, matrix)


@cache
def compiled_linear_classifiers() -> Compiled:
    """Return the function as a pointer."""
    return pointer(LINEAR_CLASSIFIERS, linear_classifiers, allocates=True)


@kernel(allocates=True)
def classify_node(examples, start, stop, counts, code, unit, max_terms, classify, logistic, planes, work):
    """Write the planes of linear classifiers of a node; return how many there are."""
    node = open_node(examples, start, stop, counts, code, work)
    return classify(examples, node, unit, max_terms, logistic, planes)
