"""Compiled: simulated annealing of one hyperplane.

The examples are grouped by class, attributes are contiguous rows, and the class weights on each side are sums over
whole spans: nothing depends on the order of the examples, as whole weights add up exactly in any order.
"""

from __future__ import annotations

import numpy as np

from ._jit import allocating, kernel, summing
from .criteria import score_position
from .layout import NO_SPLIT
from .random import uniform

#: Gains closer than this are equal: they are sums of shares, rounded.
EQUAL = 1e-12


@allocating
def find_margins(columns, plane, margins):
    """Set the value of ``plane`` at each example; its last coefficient is the constant."""
    d = columns.shape[0]
    margins[:] = plane[d]
    for m in range(0, d - 1, 2):  # in pairs: half the passes over the margins
        a, b, x, z = plane[m], plane[m + 1], columns[m], columns[m + 1]
        for j in range(margins.size):
            margins[j] += a * x[j] + b * z[j]
    if d % 2 == 1:
        a, x = plane[d - 1], columns[d - 1]
        for j in range(margins.size):
            margins[j] += a * x[j]


@summing
def left_of(weights, margins, start, stop):
    """Return the weight of the examples of a span that are not on the positive side, and their number."""
    total, count = 0.0, 0
    for j in range(start, stop):
        is_left = not margins[j] > 0
        total += weights[j] if is_left else 0.0
        count += is_left
    return total, count


@kernel(allocates=True)
def find_gain(node, criterion, margins, counts, stream):
    """Return what the split ``margins > 0`` gains, the size of its smaller side, and whether both sides are pure."""
    bounds, n_left, n, n_examples, left_classes, right_classes = node.bounds, 0.0, 0.0, 0, 0, 0
    for c in range(node.totals.size):
        counts[0, c], here = left_of(node.weights, margins, bounds[c], bounds[c + 1])
        n += node.totals[c]
        n_left += counts[0, c]
        n_examples += here
        left_classes += here > 0
        right_classes += here < bounds[c + 1] - bounds[c]
    if left_classes == 0 or right_classes == 0:
        return 0.0, 0, False
    gain = score_position(counts, n_left, n, node, criterion, stream)
    return gain, min(n_examples, margins.size - n_examples), left_classes == 1 and right_classes == 1


@kernel(allocates=True)
def anneal(columns, node, criterion, step, temperature, cooling, patience, seed):
    """Anneal a hyperplane from the one that cuts every axis at 1.

    Parameters
    ----------
    columns : float64 array (n_attributes, n)
        Attributes scaled to [0, 1]; the examples grouped by class.
    node : Node
        The examples, with a weight each.
    criterion : Criterion
    step, temperature, cooling, patience
        See `SADTClassifier`.
    seed : uint64

    Returns
    -------
    plane : float64 array (n_attributes + 1,)
        The plane that gains most; its last coefficient is the constant. The positive side is the right one.
    gain : float
        NO_SPLIT if no plane had enough examples on both sides.
    n_perturbations : int
    """
    d, n = columns.shape
    stream = np.full(1, seed, dtype=np.uint64)
    plane, trial = np.ones(d + 1), np.ones(d + 1)
    plane[d] = trial[d] = -1.0
    margins, counts = np.empty(n), np.empty((1, node.totals.size))
    best, best_gain, finished = plane.copy(), NO_SPLIT, False
    gain = NO_SPLIT
    n_perturbations, unproductive = 0, 0
    while True:
        find_margins(columns, trial, margins)
        trial_gain, smaller, pure = find_gain(node, criterion, margins, counts, stream)
        unproductive += 1
        draw = uniform(stream)  # always, so that a rounding error in an equal gain does not shift all later draws
        if trial_gain >= gain or draw < np.exp((trial_gain - gain) / temperature):
            if trial_gain > gain + EQUAL:
                unproductive = 0
            plane, trial = trial, plane
            gain = trial_gain
            if gain > best_gain + EQUAL and smaller >= criterion.min_leaf:
                best[:] = plane
                best_gain = gain
                finished = pure
        if finished or unproductive >= patience:
            return best, best_gain, n_perturbations
        temperature *= cooling
        n_perturbations += 1
        for m in range(d + 1):
            trial[m] = plane[m] + step * (2.0 * uniform(stream) - 1.0)
