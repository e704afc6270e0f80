"""Compiled: thermal training of a linear machine (see `oc1.baselines.lmdt`).

A machine is a matrix with a row of weights for each class; it gives an example to the class whose row has the largest
product with the example, the first of them where several are largest. The last attribute of every example is 1.
"""

import numpy as np

from ._jit import allocating, kernel
from .random import random_bits


@allocating
def draw(state, bound):
    """Return a random whole number below a bound."""
    return np.int64(random_bits(state) % np.uint64(bound))


@allocating
def shuffle(order, state):
    """Put an array into random order."""
    for i in range(len(order) - 1, 0, -1):
        j = draw(state, i + 1)
        order[i], order[j] = order[j], order[i]


@allocating
def choice(machine, x):
    """Return the class to which a machine gives an example."""
    best, largest = 0, -np.inf
    for c in range(machine.shape[0]):
        value = 0.0
        for m in range(machine.shape[1]):
            value += machine[c, m] * x[m]
        if value > largest:
            best, largest = c, value
    return best


@allocating
def error_size(machine, x, own, given, epsilon):
    """Return how far an example of class `own` is inside the region of the class it was given to."""
    product, square = 0.0, 0.0
    for m in range(len(x)):
        product += (machine[given, m] - machine[own, m]) * x[m]
        square += x[m] * x[m]
    return product / (2.0 * square) + epsilon


@allocating
def magnitude(machine):
    """Return the sum of the lengths of a machine's rows."""
    total = 0.0
    for c in range(machine.shape[0]):
        square = 0.0
        for m in range(machine.shape[1]):
            square += machine[c, m] * machine[c, m]
        total += np.sqrt(square)
    return total


@allocating
def score(machine, X, y, weights, sizes, min_leaf, epsilon, beta):
    """Judge a machine: return minus the entropy that is left, times the weight, and how many errors can be corrected.

    The first is minus infinity if the machine does not divide the examples, or leaves too few of them on a branch.
    """
    k = machine.shape[0]
    given_weights = np.zeros((k, k))
    given_sizes = np.zeros(k, np.int64)
    n_correctable = 0
    for e in range(len(y)):
        given = choice(machine, X[e])
        given_weights[given, y[e]] += weights[e]
        given_sizes[given] += sizes[e]
        if given != y[e] and error_size(machine, X[e], y[e], given, epsilon) <= beta:
            n_correctable += 1
    n_branches, purity = 0, 0.0
    for branch in range(k):
        if given_sizes[branch] == 0:
            continue
        if given_sizes[branch] < min_leaf:
            return -np.inf, n_correctable
        n_branches += 1
        total = 0.0
        for c in range(k):
            total += given_weights[branch, c]
        for c in range(k):
            if given_weights[branch, c] > 0:
                purity += given_weights[branch, c] * np.log2(given_weights[branch, c] / total)
    return purity if n_branches > 1 else -np.inf, n_correctable


@kernel(allocates=True)
def train(
    X, y, weights, sizes, n_classes, min_leaf, beta, epsilon, beta_factor, beta_decrement, min_beta, small, patience,
    max_passes, state,
):  # fmt: skip
    """Train a machine from zero weights; return the last one, the best at the end of a pass, its score, corrections.

    An example comes up ``weights / mean(weights)`` times a pass, a broken number up or down at random, in random order.
    """
    n, width = X.shape
    machine, best = np.zeros((n_classes, width)), np.zeros((n_classes, width))
    best_score = -np.inf
    order, presented = np.arange(n), np.empty(n, np.int64)
    total = 0.0
    for e in range(n):
        total += weights[e]
    size, grew, n_corrections, n_small = 0.0, False, 0, 0
    for _ in range(max_passes):
        shuffle(order, state)
        n_presented, due = 0, 0.5
        for e in order:
            due += weights[e] * n / total
            while due >= 1.0 and n_presented < n:
                presented[n_presented] = e
                n_presented += 1
                due -= 1.0
        shuffle(presented[:n_presented], state)
        for e in presented[:n_presented]:
            x, own = X[e], y[e]
            given = choice(machine, x)
            if given == own:
                continue
            error = error_size(machine, x, own, given, epsilon)
            if error > beta:
                continue
            correction = beta * beta / (beta + error)
            length = 0.0
            for m in range(width):
                machine[own, m] += correction * x[m]
                machine[given, m] -= correction * x[m]
                length += x[m] * x[m]
            n_corrections += 1
            before, size = size, magnitude(machine)
            if size < before and grew:
                beta = beta_factor * beta - beta_decrement
            grew = size > before
            n_small = n_small + 1 if 2.0 * correction * np.sqrt(length) < small * size else 0
            if beta < min_beta or n_small >= patience:
                break
        purity, n_correctable = score(machine, X, y, weights, sizes, min_leaf, epsilon, beta)
        if purity > best_score + 1e-9 * total:  # by more than rounding
            best_score = purity
            for c in range(n_classes):
                for m in range(width):
                    best[c, m] = machine[c, m]
        if n_correctable == 0 or beta < min_beta or n_small >= patience:
            break
    return machine, best, best_score, n_corrections
