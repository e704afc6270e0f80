"""Compiled: simulated annealing of one hyperplane.

The examples are grouped by class, attributes are contiguous rows, and the class weights on each side are sums over
whole spans: nothing depends on the order of the examples, as whole weights add up exactly in any order.
"""

from __future__ import annotations

import numpy as np

from ._jit import allocating, kernel, summing
from .random import uniform

INFO_GAIN, GINI, TWOING = 0, 1, 2

#: Energies closer than this are equal: they are sums of shares, rounded.
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
def weight_on_right(weights, margins, start, stop):
    """Return the weight of the examples of a span that are on the positive side."""
    total = 0.0
    for j in range(start, stop):
        total += weights[j] if margins[j] > 0 else 0.0
    return total


@kernel(allocates=True)
def find_energy(weights, bounds, totals, margins, code, right):
    """Return (energy, whether each side holds one class only) of the split ``margins > 0``.

    The energy is the mean entropy of the sides in bits, their mean Gini index, or minus the Twoing value.
    """
    n, n_right, on_left, on_right = 0.0, 0.0, 0, 0
    for c in range(totals.size):
        right[c] = weight_on_right(weights, margins, bounds[c], bounds[c + 1])
        n += totals[c]
        n_right += right[c]
        on_right += right[c] > 0
        on_left += right[c] < totals[c]
    n_left = n - n_right
    if on_left == 0 or on_right == 0:
        n_left, n_right = n * (on_left > 0), n * (on_right > 0)
    pure = on_left == 1 and on_right == 1
    energy = 0.0
    if code == INFO_GAIN:
        for c in range(totals.size):
            for side in (right[c], totals[c] - right[c]):
                if side > 0:
                    energy -= side * np.log2(side)
        for side in (n_right, n_left):
            if side > 0:
                energy += side * np.log2(side)
        return energy / n, pure
    if code == GINI:
        for c in range(totals.size):
            if n_right > 0:
                energy -= right[c] * right[c] / n_right
            if n_left > 0:
                energy -= (totals[c] - right[c]) * (totals[c] - right[c]) / n_left
        return 1.0 + energy / n, pure
    if n_left > 0 and n_right > 0:
        for c in range(totals.size):
            energy += abs((totals[c] - right[c]) / n_left - right[c] / n_right)
    return -energy * energy * n_left / n * n_right / n, pure


@kernel(allocates=True)
def anneal(columns, weights, bounds, code, min_leaf, step, temperature, cooling, patience, seed):
    """Anneal a hyperplane from the one that cuts every axis at 1.

    Parameters
    ----------
    columns : float64 array (n_attributes, n)
        Attributes scaled to [0, 1]; the examples grouped by class.
    weights : float64 array (n,)
    bounds : int64 array (n_classes + 1,)
        Where each class begins.
    code : int
        What the energy is: INFO_GAIN, GINI or TWOING.
    min_leaf : int
        Examples that a side must hold at least, for a plane to be kept.
    step, temperature, cooling, patience
        See `SADTClassifier`.
    seed : uint64

    Returns
    -------
    plane : float64 array (n_attributes + 1,)
        The plane of least energy; its last coefficient is the constant. The positive side is the right one.
    energy : float
        Its energy; infinite if no plane had enough examples on both sides.
    n_perturbations : int
    """
    d, n = columns.shape
    stream = np.full(1, seed, dtype=np.uint64)
    plane, trial = np.ones(d + 1), np.empty(d + 1)
    plane[d] = -1.0
    margins, trial_margins = np.ones(n), np.empty(n)
    totals, right = np.empty(bounds.size - 1), np.empty(bounds.size - 1)
    for c in range(totals.size):
        totals[c] = weight_on_right(weights, margins, bounds[c], bounds[c + 1])
    best, best_energy, finished = plane.copy(), np.inf, False
    energy = np.inf
    n_perturbations, unproductive = 0, 0
    trial[:] = plane
    while True:
        find_margins(columns, trial, trial_margins)
        trial_energy, pure = find_energy(weights, bounds, totals, trial_margins, code, right)
        unproductive += 1
        draw = uniform(stream)  # always, so that a rounding error in an equal energy does not shift all later draws
        if trial_energy <= energy or draw < np.exp((energy - trial_energy) / temperature):
            if trial_energy < energy - EQUAL:
                unproductive = 0
            plane, trial = trial, plane
            margins, trial_margins = trial_margins, margins
            energy = trial_energy
            if energy < best_energy - EQUAL:
                n_right = 0
                for j in range(n):
                    n_right += margins[j] > 0
                if min(n_right, n - n_right) >= min_leaf:
                    best[:] = plane
                    best_energy = energy
                    finished = pure
        if finished or unproductive >= patience:
            return best, best_energy, n_perturbations
        temperature *= cooling
        n_perturbations += 1
        for m in range(d + 1):
            trial[m] = plane[m] + step * (2.0 * uniform(stream) - 1.0)
