"""C4.5 in plain loops: splits, growing and error-based pruning with fractions of examples.

A tree is None (a leaf) or (attribute, threshold, left, right); examples are a list of (row, weight).
"""

import itertools

import numpy as np

from naive import entropy
from oc1.baselines.error_pruning import pessimistic_errors


def class_counts(examples, y):
    counts = np.zeros(y.max() + 1)
    for row, weight in examples:
        counts[y[row]] += weight
    return counts


def divide(examples, X, attribute, threshold):
    """The examples on each side; those without a value are on both, in parts."""
    sides = [
        [(row, weight) for row, weight in examples if X[row, attribute] <= threshold],
        [(row, weight) for row, weight in examples if X[row, attribute] > threshold],
    ]
    missing = [(row, weight) for row, weight in examples if np.isnan(X[row, attribute])]
    mass = [sum(weight for _, weight in side) for side in sides]
    for side, own in zip(sides, mass, strict=True):
        side += [(row, weight * own / sum(mass)) for row, weight in missing]
    return sides


def best_split(examples, X, y, min_leaf, release=5):
    """(attribute, threshold) or None, and the number of thresholds looked at."""
    total = sum(weight for _, weight in examples)
    best, looked_at = [], 0
    for attribute in range(X.shape[1]):
        known = [(row, weight) for row, weight in examples if not np.isnan(X[row, attribute])]
        values = sorted({X[row, attribute] for row, _ in known})
        known_mass = sum(weight for _, weight in known)
        least = known_mass / (y.max() + 1) / 10
        least = min_leaf if least <= min_leaf else min(least, max(min_leaf, 25))
        top, tries = None, 0
        for below, above in itertools.pairwise(values):
            sides = [
                [e for e in known if X[e[0], attribute] <= below],
                [e for e in known if X[e[0], attribute] > below],
            ]
            mass = [sum(weight for _, weight in side) for side in sides]
            if min(mass) < least - 1e-9:
                continue
            tries += 1
            gain = sum(mass) * entropy(class_counts(known, y))
            gain = (gain - sum(m * entropy(class_counts(side, y)) for m, side in zip(mass, sides, strict=True))) / total
            if top is None or gain > top[0] + 1e-12:
                information = entropy(np.array([*mass, max(0.0, total - sum(mass))]))
                top = gain, information, below + 0.5 * (above - below)
        looked_at += tries
        if top:
            gain, information, middle = top
            gain -= np.log2(tries) / total if release == 8 else 0
            if gain > 1e-12:
                best.append((gain, gain / information, attribute, middle))
    if not best:
        return None, looked_at
    average = sum(gain for gain, *_ in best) / len(best)
    winner = None
    for gain, ratio, attribute, middle in best:
        if gain >= average - 1e-3 and (winner is None or ratio > winner[0] + 1e-12):
            column = X[:, attribute]
            winner = ratio, attribute, column[column <= middle].max()
    return winner[1:], looked_at


def best_grouping(examples, X, y, attribute, min_leaf, subset):
    """(gain, ratio, groups of categories) of a symbolic attribute; None if two branches do not hold enough."""
    total = sum(weight for _, weight in examples)
    known = [(row, weight) for row, weight in examples if not np.isnan(X[row, attribute])]

    def judged(groups):
        sides = [[e for e in known if X[e[0], attribute] in group] for group in groups]
        mass = [sum(weight for _, weight in side) for side in sides]
        if sum(m >= min_leaf - 1e-9 for m in mass) < 2:
            return None
        gain = sum(mass) * entropy(class_counts(known, y))
        gain = (gain - sum(m * entropy(class_counts(side, y)) for m, side in zip(mass, sides, strict=True))) / total
        return gain, gain / entropy(np.array([*mass, max(0.0, total - sum(mass))])), groups

    best = judged([{value} for value in sorted({X[row, attribute] for row, _ in known})])
    while subset and best and len(best[2]) > 2:
        merged = []
        for one, other in itertools.combinations(best[2], 2):
            rest = [group for group in best[2] if group not in (one, other)]
            merged.append(judged([*rest, one | other]))
        top = max(filter(None, merged), key=lambda own: own[1], default=None)
        if top is None or top[1] <= best[1] + 1e-12:
            break
        best = top
    return best


def grow(examples, X, y, min_leaf, release=5):
    if np.count_nonzero(class_counts(examples, y)) < 2:
        return None
    split, _ = best_split(examples, X, y, min_leaf, release)
    if split is None:
        return None
    return (*split, *(grow(side, X, y, min_leaf, release) for side in divide(examples, X, *split)))


def expected_errors(tree, examples, X, y):
    if tree is None:
        counts = class_counts(examples, y)
        return pessimistic_errors(counts.sum(), counts.sum() - counts.max(), 0.25)
    sides = divide(examples, X, *tree[:2])
    return sum(expected_errors(branch, side, X, y) for branch, side in zip(tree[2:], sides, strict=True))


def prune(tree, examples, X, y):
    if tree is None:
        return None
    sides = divide(examples, X, *tree[:2])
    tree = (*tree[:2], *(prune(branch, side, X, y) for branch, side in zip(tree[2:], sides, strict=True)))
    mass = [sum(weight for _, weight in side) for side in sides]
    largest = tree[2] if mass[0] >= mass[1] - 1e-9 else tree[3]
    as_leaf, as_branch, as_tree = (expected_errors(t, examples, X, y) for t in (None, largest, tree))
    if as_leaf <= as_branch + 0.1 and as_leaf <= as_tree + 0.1:
        return None
    return prune(largest, examples, X, y) if as_branch <= as_tree + 0.1 else tree
