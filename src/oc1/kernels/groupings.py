"""Which classes a linear classifier of a node should tell apart: a pair of them, or one and the rest.

A plane of discriminant analysis (equal covariances) takes no more than the means of the classes and one matrix, so one
is made for each grouping, and judged by how it parts the examples of all classes. Where the number of terms is limited,
discriminants of so few terms are compared.
"""

import numpy as np

from ._jit import allocating
from .class_views import REST, SHRINKAGE, all_margins, judge, judge_sides, sum_of
from .margins import add_multiple
from .newton import factor, solve

#: Pairs are made of this number of classes at most, the largest ones.
MAX_PAIRED_CLASSES = 40
#: Groupings that are found: the best ones by what their discriminants gain for each example that goes astray, and the
#: best ones by their Twoing value.
N_BY_MERIT, N_BY_VALUE = 2, 1


@allocating
def discriminants(view, means, within):
    """Return, for each class, the weights of the attributes in its discriminant, and what they make of the means."""
    k, size = means.shape
    lower, slopes, levels = within.copy(), means.copy(), np.zeros((k, k))
    factor(lower, np.full(size, SHRINKAGE))
    for c in range(k):
        solve(lower, slopes[c])
    for c in range(k):
        for other in range(k):
            for i in range(size):
                levels[c, other] += slopes[c, i] * means[other, i]
    return slopes, levels


@allocating
def middle_of(view, levels, right, other):
    """Return where a discriminant is midway between the means of its two groups."""
    if other != REST:
        return 0.5 * (levels[right, right] - levels[other, other])
    rest = sum_of(view.totals) - view.totals[right]
    return 0.5 * levels[right, right] * (1.0 - view.totals[right] / rest)


@allocating
def start_at(view, slopes, levels, right, other, plane):
    """Write the discriminant of a grouping, which is near the logistic regression, to `plane`."""
    size, total, own = view.attributes.size, sum_of(view.totals), view.totals[right]
    factor_, against = (total / (total - own), total - own) if other == REST else (1.0, view.totals[other])
    for i in range(size):
        plane[i] = factor_ * (slopes[right, i] - (0.0 if other == REST else slopes[other, i]))
    plane[size] = -factor_ * middle_of(view, levels, right, other) + np.log(own / against)


@allocating
def short_discriminant(view, means, within, right, other, n_terms):
    """Return a discriminant of few terms, (attributes, plane): each attribute is the one it gains most by."""
    size, total, own = view.attributes.size, sum_of(view.totals), view.totals[right]
    chosen, difference, rest = np.empty(n_terms, np.int64), np.empty(size), within.copy()
    middle, shrink = np.empty(size), own / (total - own)
    for i in range(size):
        against = -means[right, i] * shrink if other == REST else means[other, i]
        difference[i], middle[i] = means[right, i] - against, 0.5 * (means[right, i] + against)
    for c in range(view.totals.size if other == REST else 0):  # the others are one group: so their means spread it
        for i in range(size if c != right else 0):
            apart = view.totals[c] / total * (means[c, i] + means[right, i] * shrink)
            for m in range(size):
                rest[i, m] += apart * (means[c, m] + means[right, m] * shrink)
    whole, apart, open_ = rest.copy(), difference.copy(), np.ones(size, np.bool_)
    for place in range(n_terms):
        best, pick = -1.0, 0
        for i in range(size):
            if open_[i] and apart[i] * apart[i] > best * rest[i, i]:
                best, pick = apart[i] * apart[i] / rest[i, i], i
        chosen[place], open_[pick] = pick, False
        for i in range(size):  # what the others add to it
            if open_[i]:
                share = rest[i, pick] / rest[pick, pick]
                apart[i] -= share * apart[pick]
                for m in range(size):
                    if open_[m]:
                        rest[i, m] -= share * rest[pick, m]
                rest[i, i] = max(rest[i, i], 1e-9)
    lower, plane, slopes = np.empty((n_terms, n_terms)), np.empty(n_terms + 1), np.empty(n_terms)
    for i in range(n_terms):
        slopes[i] = difference[chosen[i]]
        for m in range(n_terms):
            lower[i, m] = whole[chosen[i], chosen[m]]
    factor(lower, np.full(n_terms, SHRINKAGE))
    solve(lower, slopes)
    plane[n_terms] = np.log(own / (total - own if other == REST else view.totals[other]))
    for i in range(n_terms):
        plane[i] = slopes[i]
        plane[n_terms] -= slopes[i] * middle[chosen[i]]
    return chosen, plane


@allocating
def insert(score, right, other, best, found):
    """Insert a grouping into a list of the best ones, if it belongs there."""
    place = best.size
    while place > 0 and score > best[place - 1]:
        place -= 1
    if place < best.size:
        for later in range(best.size - 1, place, -1):
            best[later], found[later, 0], found[later, 1] = best[later - 1], found[later - 1, 0], found[later - 1, 1]
        best[place], found[place, 0], found[place, 1] = score, right, other


@allocating
def n_heavier(totals, light):
    """Return how many classes have at least some weight."""
    count = 0
    for c in range(totals.size):
        count += totals[c] >= light
    return count


@allocating
def project_all(view, slopes):
    """Return what each discriminant makes of each example, a row for each class."""
    n, size = view.Z.shape
    projections, column = np.zeros((slopes.shape[0], n)), np.empty(n)
    for i in range(size):
        for j in range(n):
            column[j] = view.Z[j, i]
        for c in range(slopes.shape[0]):
            add_multiple(projections[c], slopes[c, i], column)
    return projections


@allocating
def weigh_left(view, ahead, behind, middle, counts_alike, left):
    """Write the weight of each class where one discriminant is not ahead of another one by more than `middle`."""
    for c in range(view.totals.size):
        first, last = view.bounds[c], view.bounds[c + 1]
        if counts_alike:  # whole numbers are added up on several lanes
            n_left = 0
            for j in range(first, last):
                n_left += not ahead[j] - behind[j] - middle > 0.0
            left[c] = n_left
        else:
            left[c] = 0.0
            for j in range(first, last):
                left[c] += 0.0 if ahead[j] - behind[j] - middle > 0.0 else view.weights[j]


@allocating
def promising_groupings(view, means, within, slopes, levels, max_terms):
    """Return the groupings, (class on the right, class on the left or REST), that discriminants separate best."""
    n, size = view.Z.shape
    k, total, light, counts_alike = view.totals.size, sum_of(view.totals), 0.0, True
    projections, nothing, margins, left = project_all(view, slopes), np.zeros(n), np.empty(n), np.empty(k)
    for j in range(n):
        counts_alike &= view.weights[j] == 1.0
    while n_heavier(view.totals, light) > MAX_PAIRED_CLASSES:
        light = 1.1 * light + 1.0
    best, found = np.zeros(N_BY_MERIT + N_BY_VALUE), np.full((N_BY_MERIT + N_BY_VALUE, 2), np.int64(REST - 1))
    for right in range(k):
        for other in range(REST, right):
            is_pair = other != REST
            if k == 2 and (is_pair or right == 0):
                continue  # one grouping says it all
            if is_pair and min(view.totals[right], view.totals[other]) < light:
                continue
            if max_terms < size:
                attributes, plane = short_discriminant(view, means, within, right, other, max_terms)
                all_margins(view, attributes, plane, margins)
                value, astray = judge(view, margins, right, other, left)
            else:
                behind, middle = projections[other] if is_pair else nothing, middle_of(view, levels, right, other)
                weigh_left(view, projections[right], behind, middle, counts_alike, left)
                value, astray = judge_sides(view.totals, right, other, left)
            insert(value / (astray + 1.0 / total), right, other, best[:N_BY_MERIT], found[:N_BY_MERIT])
            insert(value, right, other, best[N_BY_MERIT:], found[N_BY_MERIT:])
    return found
