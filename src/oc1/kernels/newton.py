"""Compiled: ridge logistic regression by Newton's method, with the margins of left-out examples.

Nodes are many and small, so that calls into numpy would take longer than the arithmetic; large products go to BLAS.
"""

from functools import cache

import numpy as np
from numba import types

from ._jit import Compiled, allocating, kernel, pointer, signature
from .records import matrix, vector

#: A Newton step that changes no coefficient by more, as a share of the largest, is the last one.
SETTLED = 1e-2
MAX_STEPS = 30
#: Least weight of an example in a Newton step.
FLAT = 1e-6
#: An example never decides its own margin alone.
MAX_LEVERAGE = 0.99
#: The system is added up in float32, which takes half the time: so much of its diagonal may be rounding. (The gradient
#: is exact, and so is the plane in the end.)
ROUNDED = 1e-6
#: The constant is not to be shrunk, but the system should have a solution.
CONSTANT_RIDGE = 1e-6


@allocating
def loss_of(margins, right, weights):
    """Return the logistic loss of margins."""
    total = 0.0
    for j in range(margins.size):
        m = -margins[j] if right[j] else margins[j]
        total += weights[j] * (max(m, 0.0) + np.log1p(np.exp(-abs(m))))
    return total


@allocating
def add_up(Z, weights, curvature, penalty, system):
    """Add up the lower half of the system in float64."""
    for i in range(system.shape[0]):
        for m in range(i + 1):
            system[i, m] = penalty[i] if i == m else 0.0
    for j in range(Z.shape[0]):
        for i in range(system.shape[0]):
            share = weights[j] * curvature[j] * Z[j, i]
            for m in range(i + 1):
                system[i, m] += share * Z[j, m]


@allocating
def factor(system, penalty):
    """Turn a symmetric matrix into its Cholesky factor (lower half, in place); return whether it is good.

    Without rounding, each pivot would be at least the penalty.
    """
    is_good = True
    for i in range(system.shape[0]):
        for j in range(i + 1):
            total = system[i, j]
            for k in range(j):
                total -= system[i, k] * system[j, k]
            is_good &= i != j or total > 0.5 * penalty[i]
            system[i, j] = np.sqrt(max(total, 1e-300)) if i == j else total / system[j, j]
    return is_good


@allocating
def solve(lower, out):
    """Solve the system of a Cholesky factor, in place."""
    size = out.size
    for i in range(size):
        for k in range(i):
            out[i] -= lower[i, k] * out[k]
        out[i] /= lower[i, i]
    for i in range(size - 1, -1, -1):
        for k in range(i + 1, size):
            out[i] -= lower[k, i] * out[k]
        out[i] /= lower[i, i]


@allocating
def project(Z, plane, margins):
    """Compute the margins of a plane."""
    for j in range(Z.shape[0]):
        total = 0.0
        for m in range(Z.shape[1]):
            total += Z[j, m] * plane[m]
        margins[j] = total


@allocating
def objective_of(margins, right, weights, penalty, plane):
    """Return the loss and the price of the plane."""
    total = loss_of(margins, right, weights)
    for m in range(plane.size):
        total += 0.5 * penalty[m] * plane[m] * plane[m]
    return total


@allocating
def factor_sum(half, Z, weights, curvature, penalty, system):
    """Write the Cholesky factor of the system of examples to `system`.

    `half` has the examples, each times the root of its weight and curvature.
    """
    gram = np.dot(half.T, half)
    for i in range(penalty.size):
        for m in range(penalty.size):
            system[i, m] = gram[i, m]
        system[i, i] += penalty[i] + ROUNDED * system[i, i]
    if not factor(system, penalty):  # attributes that all but agree
        add_up(Z, weights, curvature, penalty, system)
        factor(system, penalty)


@allocating
def spreads_of(Z, lower):
    """Return what each example would move its own margin by, for each unit of its slope: z' S^-1 z."""
    n, size = Z.shape
    flat, inverse = np.empty((size, n), np.float32), np.empty((size, size), np.float32)
    column, spreads = np.empty(size), np.zeros(n)
    for m in range(size):
        for i in range(size):
            column[i] = 1.0 if i == m else 0.0
        solve(lower, column)
        for i in range(size):
            inverse[i, m] = column[i]
        for j in range(n):
            flat[m, j] = Z[j, m]
    products = np.dot(flat.T, inverse)
    for j in range(n):
        for m in range(size):
            spreads[j] += products[j, m] * Z[j, m]
    return spreads


def fit_logistic(Z, right, weights, ridge, plane, left_out):
    """Improve a plane until it is that of the regression; write the left-out margins; return their loss.

    `Z` is contiguous, its last column that of the constant; `right` says which examples belong on the right. Loops,
    because expressions of arrays take seconds to compile; all products have arguments of the same types, so that they
    are compiled once.
    """
    n, size = Z.shape
    half, system = np.empty((n, size), np.float32), np.empty((size, size))
    step, trial, penalty = np.empty(size), np.empty(size), np.empty(size)
    margins, curvature, slope = np.empty(n), np.empty(n), np.empty(n)
    for m in range(size):
        penalty[m] = ridge if m < size - 1 else CONSTANT_RIDGE
    project(Z, plane, margins)
    value = objective_of(margins, right, weights, penalty, plane)
    for _ in range(MAX_STEPS):
        for m in range(size):
            step[m] = penalty[m] * plane[m]
        for j in range(n):
            share = 1.0 / (1.0 + np.exp(-margins[j]))
            curvature[j] = max(share * (1.0 - share), FLAT)
            slope[j] = share - (1.0 if right[j] else 0.0)
            root = np.sqrt(weights[j] * curvature[j])
            for m in range(size):
                half[j, m] = root * Z[j, m]
                step[m] += weights[j] * slope[j] * Z[j, m]
        factor_sum(half, Z, weights, curvature, penalty, system)
        solve(system, step)
        largest, further = 0.0, np.inf
        for m in range(size):
            largest = max(largest, abs(step[m]))
        while 1e-9 < largest < np.inf:  # shorter, until it helps
            for m in range(size):
                trial[m] = plane[m] - step[m]
            project(Z, trial, margins)
            further = objective_of(margins, right, weights, penalty, trial)
            if further <= value:
                break
            largest *= 0.5
            for m in range(size):
                step[m] *= 0.5
        if further <= value:
            value = further
            for m in range(size):
                plane[m] = trial[m]
        else:
            project(Z, plane, margins)
        longest = 1.0
        for m in range(size):
            longest = max(longest, abs(plane[m]))
        if not largest > SETTLED * longest:
            break
    # The last step was short: its system is that of the plane.
    spreads = spreads_of(Z, system)
    for j in range(n):
        leverage = min(spreads[j] * curvature[j], MAX_LEVERAGE)
        left_out[j] = margins[j] + spreads[j] * slope[j] / (1.0 - leverage)
    return loss_of(left_out, right, weights)


LOGISTIC = signature(float, matrix, types.boolean[::1], vector, float, vector, vector)


@cache
def compiled_logistic() -> Compiled:
    """Return the fit as a pointer, for kernels that call it."""
    return pointer(LOGISTIC, fit_logistic, allocates=True)


@kernel
def fit(logistic, Z, right, weights, ridge, plane, left_out):
    """Call the fit from Python, without compiling it a second time."""
    return logistic(Z, right, weights, ridge, plane, left_out)
