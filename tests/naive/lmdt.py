"""Thermal training of a linear machine, one example at a time."""

import numpy as np

from oc1.impurity import information_gained

MASK = 2**64 - 1


class Splitmix:
    """The generator of the kernels."""

    def __init__(self, seed):
        self.state = seed

    def below(self, bound):
        self.state = (self.state + 0x9E3779B97F4A7C15) & MASK
        z = self.state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
        return (z ^ (z >> 31)) % bound

    def shuffled(self, items):
        items = list(items)
        for i in range(len(items) - 1, 0, -1):
            j = self.below(i + 1)
            items[i], items[j] = items[j], items[i]
        return items


def dot(a, b):
    return sum((float(x) * float(y) for x, y in zip(a, b, strict=True)), 0.0)


def choice(machine, x):
    return int(np.argmax([dot(w, x) for w in machine]))


def error(machine, x, own, given_to, epsilon):
    return dot(machine[given_to] - machine[own], x) / (2 * dot(x, x)) + epsilon


def size(machine):
    return sum((np.sqrt(dot(w, w)) for w in machine), 0.0)


def train(X, y, weights, sizes, k, min_leaf, beta, epsilon, factor, decrement, min_beta, small, patience, passes, seed):
    """Yield (machine, best machine, corrections) after every pass."""
    random = Splitmix(seed)
    machine, best, best_gain = np.zeros((k, X.shape[1])), np.zeros((k, X.shape[1])), -np.inf
    history = [0.0]  # sizes of the machine
    quiet = n = 0
    order = list(range(len(y)))
    for _ in range(passes):
        order = random.shuffled(order)
        come, due = [], 0.5
        for e in order:
            due += weights[e] * len(y) / weights.sum()
            while due >= 1 and len(come) < len(y):
                come.append(e)
                due -= 1
        for e in random.shuffled(come):
            j, i = choice(machine, X[e]), int(y[e])
            if i == j or error(machine, X[e], i, j, epsilon) > beta:
                continue
            c = beta**2 / (beta + error(machine, X[e], i, j, epsilon))
            machine[i] = machine[i] + c * X[e]
            machine[j] = machine[j] - c * X[e]
            n += 1
            history.append(size(machine))
            if len(history) > 2 and history[-1] < history[-2] and history[-2] > history[-3]:
                beta = factor * beta - decrement
            quiet = quiet + 1 if 2 * c * np.sqrt(dot(X[e], X[e])) < small * history[-1] else 0
            if beta < min_beta or quiet >= patience:
                break
        chosen = np.array([choice(machine, x) for x in X])
        counts, rows = np.zeros((k, k)), np.zeros(k)
        np.add.at(counts, (chosen, y), weights)
        np.add.at(rows, chosen, sizes)
        if (rows > 0).sum() > 1 and rows[rows > 0].min() >= min_leaf:
            gain = information_gained(counts[rows > 0])
            if gain > best_gain + 1e-9:
                best, best_gain = machine.copy(), gain
        yield machine.copy(), best.copy(), n
        wrong = [e for e in range(len(y)) if chosen[e] != y[e]]
        if (
            beta < min_beta
            or quiet >= patience
            or all(error(machine, X[e], y[e], chosen[e], epsilon) > beta for e in wrong)
        ):
            return
