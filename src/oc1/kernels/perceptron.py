"""Compiled: training one linear threshold unit by the pocket algorithm (Gallant 1990)."""

from __future__ import annotations

import numpy as np

from ._jit import allocating, kernel
from .random import random_bits, uniform


@allocating
def error_of(unit, signed, weights, limit):
    """Return the weight of the examples that a unit gets wrong; something from `limit` on if it is that much."""
    error = 0.0
    for i in range(weights.size):
        value = 0.0
        for m in range(unit.size):
            value += unit[m] * signed[i, m]
        if not value > 0:
            error += weights[i]
            if error >= limit:
                break
    return error


@kernel(allocates=True)
def train_unit(signed, weights, max_epochs, seed):
    """Train a random unit by the perceptron rule, in a new order each epoch, until an epoch passes without an error.

    A unit that was right on a longer run of examples than the one in the pocket takes its place, if it makes fewer
    errors.

    Parameters
    ----------
    signed : float64 array (n, d + 1)
        Each example with a last value of 1, times -1 if it belongs on the negative side.
    weights : float64 array (n,)
    max_epochs : int
    seed : uint64

    Returns
    -------
    unit : float64 array (d + 1,)
    error : float
        Weight of the examples that the unit gets wrong; 0 if it has converged.
    n_updates : int
    """
    n, d = signed.shape
    stream = np.full(1, seed, dtype=np.uint64)
    order = np.arange(n)
    unit = np.empty(d)
    for m in range(d):  # not zero: from there, symmetric examples such as exclusive or lead back to it every epoch
        unit[m] = 2.0 * uniform(stream) - 1.0
    pocket = unit.copy()
    pocket_error = error_of(pocket, signed, weights, np.inf)
    run, pocket_run, n_updates = 0, 0, 0
    for _ in range(max_epochs):
        before = n_updates
        for i in range(n):
            k = i + np.int64(random_bits(stream) % np.uint64(n - i))
            order[i], order[k] = order[k], order[i]
            example = signed[order[i]]
            value = 0.0
            for m in range(d):
                value += unit[m] * example[m]
            if value > 0:
                run += 1
                continue
            if run > pocket_run:
                error = error_of(unit, signed, weights, pocket_error)
                if error < pocket_error:
                    pocket[:] = unit
                    pocket_error, pocket_run = error, run
            run = 0
            n_updates += 1
            for m in range(d):
                unit[m] += example[m]
        if n_updates == before:
            return unit, 0.0, n_updates
    return pocket, pocket_error, n_updates
