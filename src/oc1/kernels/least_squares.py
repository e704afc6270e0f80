"""Compiled: discriminant analysis of two groups by least squares, with the margins of left-out examples.

Where the groups are normal with one covariance, it needs fewer examples than logistic regression for as good a plane.
"""

import numpy as np

from ._apart import compiled_apart
from ._jit import allocating, pointer
from .newton import CONSTANT_RIDGE, LOGISTIC, MAX_LEVERAGE, factor_sum, loss_of, project, solve, spreads_of

#: Groups whose projections vary less than this, as a share of what is between them, are taken to vary as much.
MIN_SPREAD = 1e-3


@allocating
def turn_into_logits(values, right, weights, plane, left_out):
    """Scale a plane and its left-out values so that they are the logarithms of odds, if both groups are normal."""
    n_right, n_other, mean_right, mean_other, spread = 0.0, 0.0, 0.0, 0.0, 0.0
    for j in range(values.size):
        if right[j]:
            n_right += weights[j]
            mean_right += weights[j] * values[j]
        else:
            n_other += weights[j]
            mean_other += weights[j] * values[j]
    mean_right, mean_other = mean_right / n_right, mean_other / n_other
    for j in range(values.size):
        rest = values[j] - (mean_right if right[j] else mean_other)
        spread += weights[j] * rest * rest
    between = mean_right - mean_other
    slope = between / max(spread / (n_right + n_other), MIN_SPREAD * between * between)
    middle = 0.5 * (mean_right + mean_other) - np.log(n_right / n_other) / slope if slope > 0.0 else 0.0
    for j in range(values.size):
        left_out[j] = slope * (values[j] - middle)
    plane[plane.size - 1] -= middle
    for m in range(plane.size):
        plane[m] *= slope


def fit_least_squares(Z, right, weights, ridge, plane, left_out):
    """Write the plane of a discriminant analysis and the left-out margins; return their logistic loss.

    The parameters are those of `newton.fit_logistic`, but the plane that is given does not matter.
    """
    n, size = Z.shape
    half, system = np.empty((n, size), np.float32), np.empty((size, size))
    penalty, values = np.empty(size), np.empty(n)
    for m in range(size):
        penalty[m], plane[m] = ridge if m < size - 1 else CONSTANT_RIDGE, 0.0
    for j in range(n):
        root = np.sqrt(weights[j])
        for m in range(size):
            half[j, m] = root * Z[j, m]
            plane[m] += weights[j] * Z[j, m] if right[j] else 0.0
    factor_sum(half, Z, weights, np.ones(n), penalty, system)
    solve(system, plane)
    project(Z, plane, values)
    spreads = spreads_of(Z, system)
    for j in range(n):
        leverage = min(spreads[j], MAX_LEVERAGE)
        values[j] -= leverage / (1.0 - leverage) * ((1.0 if right[j] else 0.0) - values[j])
    turn_into_logits(values, right, weights, plane, left_out)
    return loss_of(left_out, right, weights)


@compiled_apart(seconds=2)
def compiled_least_squares():
    """Return the fit as a pointer, for kernels that call it."""
    return pointer(LOGISTIC, fit_least_squares, allocates=True, compiles=False)
