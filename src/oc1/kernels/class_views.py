"""The examples of a node as linear classifiers see them: standardised, grouped by class, with means and covariance.

There are loops in place of array expressions, which take long to compile.
"""

from typing import NamedTuple

import numpy as np

from ._jit import allocating

#: What is added to the variances within classes, as a share of an attribute's own variance.
SHRINKAGE = 0.05


class View(NamedTuple):
    """Examples of a node with some of their attributes, standardised, grouped by class."""

    Z: np.ndarray  # (n, s)
    weights: np.ndarray  # (n): 1 on average
    bounds: np.ndarray  # (k + 1): where the examples of each class begin
    totals: np.ndarray  # (k): weight of each class
    attributes: np.ndarray  # (s)


@allocating
def sum_of(values):
    """Return a sum."""
    total = 0.0
    for i in range(values.size):
        total += values[i]
    return total


@allocating
def clear(plane):
    """Make a plane that is none."""
    for m in range(plane.size):
        plane[m] = 0.0


@allocating
def numbers(first, last):
    """Return the whole numbers of a range."""
    out = np.empty(last - first, np.int64)
    for i in range(out.size):
        out[i] = first + i
    return out


@allocating
def look_at(examples, node, unit, step, attributes, mean, scale):
    """Return some of a node's examples, every `step`-th of each class, as a `View`."""
    k, size = node.totals.size, attributes.size
    bounds = np.zeros(k + 1, np.int64)
    for c in range(k):
        bounds[c + 1] = bounds[c] + (node.bounds[c + 1] - node.bounds[c] + step - 1) // step
    n = bounds[k]
    Z, weights, totals = np.empty((n, size)), np.ones(n), np.zeros(k)
    for i in range(size):
        m = attributes[i]
        column = examples.columns[m, node.start : node.start + node.labels.size]
        for c in range(k):
            for j in range(bounds[c + 1] - bounds[c]):
                Z[bounds[c] + j, i] = (column[node.bounds[c] + j * step] - mean[m]) / scale[m]
    for c in range(k):
        for j in range(bounds[c + 1] - bounds[c]):
            if node.weights.size > 0:
                weights[bounds[c] + j] = node.weights[node.bounds[c] + j * step] / unit
            totals[c] += weights[bounds[c] + j]
    return View(Z, weights, bounds, totals, attributes)


@allocating
def spread_of(examples, node, step):
    """Return, for each attribute: mean, standard deviation (0 if it is constant), and the share between the classes."""
    d, k = examples.shift.size, node.totals.size
    mean, scale, between = np.zeros(d), np.zeros(d), np.zeros(d)
    total, unused = 0.0, node.weights.size == 0
    for c in range(k):
        for j in range(node.bounds[c], node.bounds[c + 1], step):
            total += 1.0 if unused else node.weights[j]
    for m in range(d):
        column = examples.columns[m, node.start : node.start + node.labels.size]
        squares = 0.0
        for c in range(k):
            own, own_total = 0.0, 0.0
            for j in range(node.bounds[c], node.bounds[c + 1], step):
                weight = 1.0 if unused else node.weights[j]
                own += weight * column[j]
                own_total += weight
                squares += weight * np.float64(column[j]) * column[j]
            mean[m] += own
            between[m] += own * own / own_total if own_total > 0.0 else 0.0
        mean[m] /= total
        variance = max(squares / total - mean[m] * mean[m], 0.0)
        scale[m] = np.sqrt(variance)
        between[m] = (between[m] / total - mean[m] * mean[m]) / variance if variance > 0.0 else 0.0
        # The columns are rounded to float32: less than this is no spread.
        if scale[m] <= 1e-6 * abs(mean[m]):
            scale[m], between[m] = 0.0, 0.0
    return mean, scale, between


@allocating
def most_different(scale, between, max_attributes):
    """Return the attributes that vary, those that differ most between the classes if there are too many."""
    d, n_varying = scale.size, 0
    for m in range(d):
        n_varying += scale[m] > 0.0
    size, used = min(n_varying, max_attributes), np.zeros(d, np.bool_)
    chosen = np.empty(size, np.int64)
    for _ in range(size):
        best = -1
        for m in range(d):
            if scale[m] > 0.0 and not used[m] and (best < 0 or between[m] > between[best]):
                best = m
        used[best] = True
    place = 0
    for m in range(d):
        if used[m]:
            chosen[place], place = m, place + 1
    return chosen


@allocating
def moments_of(view):
    """Return the means of the classes, and the covariance within them."""
    n, size = view.Z.shape
    k, total = view.totals.size, 0.0
    means, rest, within = np.zeros((k, size)), np.empty((n, size), np.float32), np.empty((size, size))
    for c in range(k):
        total += view.totals[c]
        for j in range(view.bounds[c], view.bounds[c + 1]):
            for i in range(size):
                means[c, i] += view.weights[j] * view.Z[j, i] / view.totals[c]
        for j in range(view.bounds[c], view.bounds[c + 1]):
            root = np.sqrt(view.weights[j])
            for i in range(size):
                rest[j, i] = root * (view.Z[j, i] - means[c, i])
    gram = np.dot(rest.T, rest)
    for i in range(size):
        for m in range(size):
            within[i, m] = gram[i, m] / total
        within[i, i] += SHRINKAGE
    return means, within
