"""Which classes a linear classifier of a node tells from which: two groups of them.

Of several classes, two groupings are tried: at the widest gap along the first discriminant, and the largest class
against all others.
"""

import numpy as np

from ._jit import allocating
from .class_views import SHRINKAGE, numbers, sum_of
from .newton import factor, solve

#: Steps of the power method, which finds the first discriminant.
POWER_STEPS = 50


@allocating
def along_discriminant(view, means, within):
    """Return where the mean of each class lies along the first linear discriminant."""
    k, size = means.shape
    lower, slopes, between = within.copy(), means.copy(), np.zeros((k, k))
    factor(lower, np.full(size, SHRINKAGE))
    for c in range(k):
        solve(lower, slopes[c])
    for c in range(k):
        for other in range(k):
            for i in range(size):
                between[c, other] += slopes[c, i] * means[other, i]
    # The means are those of standardised features: their mean is 0, so `between` is all that the discriminants need.
    first = 0
    for c in range(k):
        first = c if between[c, c] > between[first, first] else first
    places, further = between[first].copy(), np.empty(k)
    for _ in range(POWER_STEPS):
        largest = 0.0
        for c in range(k):
            further[c] = 0.0
            for other in range(k):
                further[c] += between[c, other] * view.totals[other] * places[other]
            largest = max(largest, abs(further[c]))
        for c in range(k):
            places[c] = further[c] / largest if largest > 0.0 else 0.0
    return places


@allocating
def in_order(places):
    """Return the classes in the order of their places; `np.argsort` takes a second to compile."""
    order = numbers(0, places.size)
    for i in range(1, order.size):
        c, at = order[i], i
        while at > 0 and places[order[at - 1]] > places[c]:
            order[at] = order[at - 1]
            at -= 1
        order[at] = c
    return order


@allocating
def groupings(view, means, within):
    """Return groupings of the classes, a row each: whether a class belongs on the right."""
    k = view.totals.size
    if k == 2:
        sides = np.zeros((1, k), np.bool_)
        sides[0, 1] = True
        return sides
    sides, places = np.zeros((2, k), np.bool_), along_discriminant(view, means, within)
    order = in_order(places)
    total, below, widest, first = sum_of(view.totals), 0.0, -1.0, 1
    for i in range(k - 1):
        below += view.totals[order[i]]
        width = (places[order[i + 1]] - places[order[i]]) * min(below, total - below)
        if width > widest:
            widest, first = width, i + 1
    largest = 0
    for c in range(k):
        sides[0, order[c]] = c >= first
        largest = c if view.totals[c] > view.totals[largest] else largest
    sides[1, largest] = True
    return sides
