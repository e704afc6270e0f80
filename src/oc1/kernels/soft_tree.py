"""A tree whose tests answer with probabilities, and all of whose tests are fitted at once.

An example goes right at a node with the probability ``s(margin)``, s the logistic function, and what the tree says of
its class is the mean over all leaves, each by the probability of reaching it. So the likelihood of the classes is a
smooth function of all coefficients of all tests together (a hierarchical mixture of experts, Jordan & Jacobs 1994,
whose experts are the class shares of the leaves). It is maximised by the limited-memory BFGS method.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import types

from ._apart import compiled_apart
from ._jit import allocating, fix_type, kernel, ordering, pointer, signature, summing
from .margins import add_multiple
from .records import vector

#: Examples that are looked at together.
BLOCK = 64
#: Subtrees that no example of a block reaches with a larger probability are not looked at.
MIN_REACH = np.float32(1e-4)
#: No class is impossible anywhere.
MIN_LIKELIHOOD = 1e-30
#: Numbers of examples are float32, twice as many of which are computed side by side: so constants must be, too.
ZERO, ONE = np.float32(0.0), np.float32(1.0)
#: Of `to_probabilities`: a number to whose last bits whole numbers are added, those of the exponential series, and
#: where the exponent of a float begins.
WHOLE, LOG_2, PER_LOG_2 = np.float32(1.5 * 2.0**23), np.float32(np.log(2.0)), np.float32(1.0 / np.log(2.0))
HALF, SIXTH, PER_4, PER_5, PER_6 = map(np.float32, (1 / 2, 1 / 6, 1 / 24, 1 / 120, 1 / 720))
BIAS, SHIFT = np.int32(127), np.int32(23)
MAX_EXPONENT = np.float32(80.0)
#: Pairs of steps and changes of the gradient that BFGS remembers.
N_REMEMBERED = 8
#: It ends where a step lowers the loss by a smaller share of it. A step is halved at most this number of times.
SETTLED_SHARE = 1e-6
MAX_HALVINGS = 20
#: What a step must lower the loss by, as a share of what the slope promises.
MIN_FALL = 1e-4

indices, floats, floats_2d = types.int64[::1], types.float32[::1], types.float32[:, ::1]


class SoftTree(NamedTuple):
    """The examples, and the shape of the tree.

    Nodes are in preorder; the coefficients of all tests are ``parameters[starts[i]:starts[i + 1]]`` for node i and
    belong to ``features`` at the same places, and the constant of node i is ``parameters[len(features) + i]``.
    """

    columns: Any  # float32 (d, n): standardised attributes
    labels: Any  # int64 (n)
    weights: Any  # float64 (n)
    right: Any  # int64 (n_nodes): right child, -1 for leaves; the left one is the next node
    ends: Any  # int64 (n_nodes): the first node after the subtree
    starts: Any  # int64 (n_nodes + 1)
    features: Any  # int64 (n_terms)
    penalties: Any  # float64 (n_terms): of the square of each coefficient, to be multiplied by the ridge
    shares: Any  # float32 (n_nodes, n_classes): of the classes in the leaves


class Room(NamedTuple):
    """Numbers for each node and each example of a block; the next three for each example, the last for each node."""

    reach: Any  # float32 (n_nodes, BLOCK): probability of reaching a node
    value: Any  # ... of the right class there
    side: Any  # ... of going right
    pull: Any  # float32 (BLOCK)
    powers: Any  # float32 (BLOCK)
    bits: Any  # int32 (BLOCK): the same bytes
    visited: Any  # int64 (n_nodes)


fix_type(SoftTree, floats_2d, indices, vector, indices, indices, indices, indices, vector, floats_2d)
fix_type(Room, floats_2d, floats_2d, floats_2d, floats, floats, types.int32[::1], indices)


@allocating
def soft_loss(tree, parameters, ridge, gradient, room):
    """Return the negative log-likelihood and the ridge penalty; write the gradient.

    Examples are looked at in blocks, so that sums run over several at a time.
    """
    n_terms, loss = tree.features.size, 0.0
    for i in range(parameters.size):
        penalty = ridge * tree.penalties[i] if i < n_terms else 0.0
        gradient[i] = penalty * parameters[i]
        loss += 0.5 * penalty * parameters[i] * parameters[i]
    for first in range(0, tree.labels.size, BLOCK):
        size = min(BLOCK, tree.labels.size - first)
        n_visited = descend_softly(tree, first, size, parameters, room)
        for k in range(n_visited - 1, -1, -1):
            i = room.visited[k]
            right = tree.right[i]
            for j in range(size):
                side = room.side[i, j]
                room.value[i, j] = (ONE - side) * room.value[i + 1, j] + side * room.value[right, j]
        for j in range(size):
            likelihood, weight = max(np.float64(room.value[0, j]), MIN_LIKELIHOOD), tree.weights[first + j]
            loss -= weight * np.log(likelihood)
            room.pull[j] = weight / likelihood
        for k in range(n_visited):
            i = room.visited[k]
            right = tree.right[i]
            slope = room.side[i]
            for j in range(size):
                spread = slope[j] * (ONE - slope[j])
                slope[j] = room.pull[j] * room.reach[i, j] * spread * (room.value[right, j] - room.value[i + 1, j])
            for t in range(tree.starts[i], tree.starts[i + 1]):
                gradient[t] -= sum_products(slope, tree.columns[tree.features[t], first : first + size])
            gradient[n_terms + i] -= sum_first(slope, size)
    return loss


@allocating
def descend_softly(tree, first, size, parameters, room):
    """Send a block of examples down and give leaves their value; return how many inner nodes it visits, in preorder."""
    n_terms, n_visited, i = tree.features.size, 0, 0
    for j in range(size):
        room.reach[0, j] = ONE
    while i < tree.right.size:
        if largest_of(room.reach[i, :size]) < MIN_REACH:
            for j in range(size):
                room.value[i, j] = 0.0
            i = tree.ends[i]
            continue
        right = tree.right[i]
        if right < 0:
            for j in range(size):
                room.value[i, j] = tree.shares[i, tree.labels[first + j]]
        else:
            margins, constant = room.side[i, :size], np.float32(parameters[n_terms + i])
            for j in range(size):
                margins[j] = constant
            for t in range(tree.starts[i], tree.starts[i + 1]):
                add_multiple(margins, np.float32(parameters[t]), tree.columns[tree.features[t], first : first + size])
            to_probabilities(margins, room.powers, room.bits)
            for j in range(size):
                room.reach[i + 1, j] = room.reach[i, j] * (ONE - margins[j])
                room.reach[right, j] = room.reach[i, j] * margins[j]
            room.visited[n_visited] = i
            n_visited += 1
        i += 1
    return n_visited


@ordering
def to_probabilities(margins, powers, bits):
    """Replace margins by the logistic function of them.

    ``exp(x)`` is ``2**k * exp(x - k log 2)``, k a whole number. Where 1.5 * 2**23 is added, k stands in the last bits
    of the sum, from where it is moved to those of an exponent; the rest is a polynomial, right to six digits. So all
    examples of a block are computed side by side, which calls of `np.exp` are not.
    """
    for j in range(margins.size):
        x = max(-MAX_EXPONENT, min(MAX_EXPONENT, -margins[j]))
        powers[j] = x * PER_LOG_2 + WHOLE
        margins[j] = x - (powers[j] - WHOLE) * LOG_2
    for j in range(margins.size):
        bits[j] = np.int32(np.int32(bits[j] + BIAS) << SHIFT)
    for j in range(margins.size):
        r = margins[j]
        rest = SIXTH + r * (PER_4 + r * (PER_5 + r * PER_6))
        margins[j] = ONE / (ONE + powers[j] * (ONE + r * (ONE + r * (HALF + r * rest))))


@ordering
def largest_of(values):
    """Return the largest value."""
    largest = ZERO
    for j in range(values.size):
        largest = max(largest, values[j])
    return largest


@summing
def sum_products(slope, values):
    """Return the inner product of some values and as many slopes."""
    total = ZERO
    for j in range(values.size):
        total += slope[j] * values[j]
    return total


@summing
def sum_first(values, size):
    """Return the sum of the first values."""
    total = ZERO
    for j in range(size):
        total += values[j]
    return total


@allocating
def dot(left, right):
    """Return the inner product."""
    total = 0.0
    for i in range(left.size):
        total += left[i] * right[i]
    return total


@allocating
def quasi_newton_direction(gradient, steps, changes, n_pairs, newest, direction):
    """Write the direction of descent: the two loops of limited-memory BFGS over the remembered pairs."""
    alphas = np.empty(n_pairs)
    for i in range(gradient.size):
        direction[i] = -gradient[i]
    for k in range(n_pairs):
        at = (newest - k) % N_REMEMBERED
        alphas[k] = dot(steps[at], direction) / dot(steps[at], changes[at])
        for i in range(direction.size):
            direction[i] -= alphas[k] * changes[at, i]
    if n_pairs > 0:
        scale = dot(steps[newest], changes[newest]) / dot(changes[newest], changes[newest])
    else:  # a first step of length 1 at most
        scale = 1.0 / max(1.0, np.sqrt(dot(gradient, gradient)))
    for i in range(direction.size):
        direction[i] *= scale
    for k in range(n_pairs - 1, -1, -1):
        at = (newest - k) % N_REMEMBERED
        beta = dot(changes[at], direction) / dot(steps[at], changes[at])
        for i in range(direction.size):
            direction[i] += (alphas[k] - beta) * steps[at, i]


def fit_soft(tree, ridge, max_steps, parameters):
    """Improve the parameters, by at most so many steps (with 0, none); return the loss."""
    size, n_nodes = parameters.size, tree.right.size
    shape = (n_nodes, BLOCK)
    reach, value, side = np.empty(shape, np.float32), np.empty(shape, np.float32), np.empty(shape, np.float32)
    pull, powers, visited = np.empty(BLOCK, np.float32), np.empty(BLOCK, np.float32), np.empty(n_nodes, np.int64)
    room = Room(reach, value, side, pull, powers, powers.view(np.int32), visited)
    gradient, further, trial, direction = np.empty(size), np.empty(size), np.empty(size), np.empty(size)
    steps, changes = np.zeros((N_REMEMBERED, size)), np.zeros((N_REMEMBERED, size))
    n_pairs, newest = 0, -1
    loss = soft_loss(tree, parameters, ridge, gradient, room)
    for _ in range(max_steps):
        quasi_newton_direction(gradient, steps, changes, n_pairs, newest, direction)
        slope, length, lower = dot(gradient, direction), 1.0, np.inf
        if not slope < 0.0:
            break
        for _ in range(MAX_HALVINGS):
            for i in range(size):
                trial[i] = parameters[i] + length * direction[i]
            lower = soft_loss(tree, trial, ridge, further, room)
            if lower <= loss + MIN_FALL * length * slope:
                break
            length *= 0.5
        if not lower < loss:
            break
        newest = (newest + 1) % N_REMEMBERED
        for i in range(size):
            steps[newest, i], changes[newest, i] = trial[i] - parameters[i], further[i] - gradient[i]
            parameters[i], gradient[i] = trial[i], further[i]
        n_pairs = min(n_pairs + 1, N_REMEMBERED)
        if not dot(steps[newest], changes[newest]) > 0.0:  # not convex here: begin anew
            n_pairs = 0
        is_settled = loss - lower <= SETTLED_SHARE * lower
        loss = lower
        if is_settled:
            break
    return loss


FIT_SOFT = signature(float, SoftTree, float, int, vector)


@compiled_apart(seconds=4)
def compiled_soft_fit():
    """Return the fit as a pointer."""
    return pointer(FIT_SOFT, fit_soft, allocates=True, compiles=False)


@kernel
def fit(soft_fit, tree, ridge, max_steps, parameters):
    """Call the fit from Python, without compiling it a second time."""
    return soft_fit(tree, ridge, max_steps, parameters)
