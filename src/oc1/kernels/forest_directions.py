"""Fitted directions along which a node of a forest looks for a threshold.

A direction is the linear discriminant of two classes drawn at random, or, for numbers, the least-squares
regression on them: one Cholesky factor of the covariances of the attributes drawn, and one solution for each direction.
The covariances are those within all classes of the node together, which are better known than those of two.
"""

import numpy as np

from ._jit import allocating, inner, summing
from .newton import factor, solve
from .random import uniform

#: What is added to the variances, which are 1: attributes of small nodes may agree.
RIDGE = 1e-3


@inner
def below(stream, n):
    """Draw a whole number below n."""
    return min(np.int64(uniform(stream) * n), n - 1)


@summing
def dot(a, b, n):
    """Return the sum of products of n numbers."""
    total = 0.0
    for i in range(n):
        total += a[i] * b[i]
    return total


@allocating
def standardise(work, n_drawn, n, weight):
    """Bring the drawn attributes of a node to mean 0 and variance 1."""
    for q in range(n_drawn):
        own, standard, first = work.values[q], work.standard[q], work.values[q, 0]
        for i in range(n):
            standard[i] = own[i] - first
        mean = dot(standard, work.weights, n) / weight
        for i in range(n):
            standard[i] -= mean
            work.products[i] = standard[i] * work.weights[i]
        variance = dot(work.products, standard, n) / weight
        work.spread[q] = np.sqrt(variance) if variance > 0.0 else 1.0
        for i in range(n):
            standard[i] /= work.spread[q]


@allocating
def prepare(work, n_drawn, n, weight, totals, is_number):
    """Find what the directions of a node need: sums by class (or with the numbers), and the covariances."""
    standardise(work, n_drawn, n, weight)
    for c in range(work.sums.shape[0]):
        for q in range(n_drawn):
            work.sums[c, q] = 0.0
    for q in range(n_drawn):
        standard = work.standard[q]
        for i in range(n):
            work.products[i] = standard[i] * work.weights[i]
        if is_number:
            work.sums[0, q] = dot(work.products, work.numbers, n)
        else:
            for i in range(n):
                work.sums[work.labels[i], q] += work.products[i]
        for j in range(q + 1):
            work.system[q, j] = dot(work.products, work.standard[j], n) / weight
        work.system[q, q] += RIDGE
        work.penalty[q] = RIDGE
    if not is_number:
        for q in range(n_drawn):
            for j in range(q + 1):
                between = 0.0
                for c in range(totals.size):
                    if totals[c] > 0.0:
                        between += work.sums[c, q] * work.sums[c, j] / totals[c]
                work.system[q, j] -= between / weight
    factor(work.system[:n_drawn, :n_drawn], work.penalty)


@allocating
def fit_direction(work, n_drawn, totals, n_present, is_number):
    """Write a fitted direction to `work.direction`, in the units of the attributes."""
    if is_number:
        for q in range(n_drawn):
            work.direction[q] = work.sums[0, q]
    else:
        first, second = below(work.stream, n_present), below(work.stream, n_present - 1)
        second += second >= first
        one, other = class_at(totals, first), class_at(totals, second)
        for q in range(n_drawn):
            work.direction[q] = work.sums[one, q] / totals[one] - work.sums[other, q] / totals[other]
    solve(work.system[:n_drawn, :n_drawn], work.direction[:n_drawn])
    for q in range(n_drawn):
        work.direction[q] /= work.spread[q]


@inner
def class_at(totals, number):
    """Return the class that has that number among those of the node."""
    for c in range(totals.size):
        if totals[c] > 0.0:
            if number == 0:
                return c
            number -= 1
    return totals.size - 1


@inner
def is_usable(direction, n_drawn):
    """Whether all coefficients are numbers, and some are not 0: values may differ too much in size to be combined."""
    total = 0.0
    for q in range(n_drawn):
        total += abs(direction[q])
    return 0.0 < total < np.inf
