"""The slow and obvious version of everything that the kernels do. No numba here, and no cleverness."""

from __future__ import annotations

import itertools

import numpy as np

FAR = 1e30
NOISE = 1e-14


# ------------------------------------------------------------------------------------------------ measures


def entropy(counts):
    shares = counts[counts > 0] / counts.sum()
    return -(shares * np.log2(shares)).sum()


def gain(name, left, right):
    """What a split gains by a measure: larger is better, 0 is useless."""
    left, right = np.asarray(left, float), np.asarray(right, float)
    total = left + right
    n_left, n_right, n = left.sum(), right.sum(), total.sum()
    if name == "twoing":
        return n_left / n * n_right / n * np.abs(left / n_left - right / n_right).sum() ** 2
    if name == "gini":

        def index(counts):
            return 1 - ((counts / counts.sum()) ** 2).sum()

        return index(total) - n_left / n * index(left) - n_right / n * index(right)
    if name == "info_gain":
        return entropy(total) - n_left / n * entropy(left) - n_right / n * entropy(right)
    if name == "sum_minority":
        return ((n - total.max()) - (n_left - left.max()) - (n_right - right.max())) / n
    if name == "max_minority":
        return ((n - total.max()) - max(n_left - left.max(), n_right - right.max())) / n
    if name == "sum_of_variances":
        number = np.empty(len(total))
        number[np.argsort(-total, kind="stable")] = np.arange(1, len(total) + 1)

        def variance(counts):
            mean = (counts * number).sum() / counts.sum()
            return (counts * (number - mean) ** 2).sum()

        return (variance(total) - variance(left) - variance(right)) / n
    raise ValueError(name)


def preference(name, left, right):
    """How much a split is to be preferred to others with the same gain: by Gini, and where that is 0, by evenness."""
    if "minority" not in name and gain(name, left, right) > NOISE:
        return 0.0  # any will do
    gini, share = gain("gini", left, right), np.sum(left) / (np.sum(left) + np.sum(right))
    return gini if gini > NOISE else 4 * share * (1 - share) - 2


def class_weights(labels, weights, chosen, n_classes):
    return np.array([weights[chosen & (labels == c)].sum() for c in range(n_classes)])


# ------------------------------------------------------------------------------------------------ line search


def crossings(margins, rates):
    """Where each example crosses, in the float32 arithmetic of the kernels; infinite where it never does."""
    with np.errstate(all="ignore"):
        t = (-margins / rates).astype(np.float32).astype(float)
    return np.where(np.abs(t) < FAR, t, np.inf)


def positions(margins, rates):
    """All steps that give different splits: between neighbouring crossings, and beyond the first and the last."""
    t = np.unique(crossings(margins, rates))
    t = t[np.isfinite(t)].astype(float)
    if len(t) == 0:
        return []
    return [t[0] - 1, *((t[1:] + t[:-1]) / 2), t[-1] + 1]


def goes_right(margins, rates, alpha):
    """Which side each example is on at a step, by its crossing."""
    t = crossings(margins, rates)
    crossed = t < alpha
    return np.where(np.isinf(t), margins > 0, np.where(rates > 0, crossed, ~crossed))


def line_search(margins, rates, labels, weights, n_classes, name, min_leaf=1):
    """The best gain along a line, or None if no position leaves enough examples on both sides."""
    best = None
    for alpha in positions(margins, rates):
        right = goes_right(margins, rates, alpha)
        if min(right.sum(), (~right).sum()) < min_leaf:
            continue
        here = gain(
            name, class_weights(labels, weights, ~right, n_classes), class_weights(labels, weights, right, n_classes)
        )
        best = here if best is None else max(best, here)
    return best


# ------------------------------------------------------------------------------------------------ numbers to predict


def regression_loss(criterion, y, weights):
    """The smallest loss of any prediction: one of the numbers for the absolute error."""
    if criterion == "squared_error":
        return (weights * (y - np.average(y, weights=weights)) ** 2).sum()
    return min((weights * np.abs(y - value)).sum() for value in y)


def regression_line_search(margins, rates, y, weights, criterion, min_leaf=1):
    """The most loss saved along a line, or None if no position leaves enough examples on both sides."""
    best = None
    for alpha in positions(margins, rates):
        right = goes_right(margins, rates, alpha)
        if min(right.sum(), (~right).sum()) < min_leaf:
            continue
        sides = sum(regression_loss(criterion, y[side], weights[side]) for side in (right, ~right))
        here = regression_loss(criterion, y, weights) - sides
        best = here if best is None else max(best, here)
    return best


# ------------------------------------------------------------------------------------------------ growing


def best_axis_gain(X, y, weights, n_classes, name, min_leaf=1):
    """The best gain of any split ``x > threshold`` of these examples, or None."""
    best = None
    for x in X.T:
        values = np.unique(x)
        for threshold in values[:-1]:
            right = x > threshold
            if min(right.sum(), (~right).sum()) < min_leaf:
                continue
            here = gain(name, class_weights(y, weights, ~right, n_classes), class_weights(y, weights, right, n_classes))
            best = here if best is None else max(best, here)
    return best


def best_axis_preference(X, y, weights, n_classes, name, min_leaf, best):
    """The largest preference among the splits ``x > threshold`` of these examples that have the best gain."""
    found = []
    for x in X.T:
        for threshold in np.unique(x)[:-1]:
            right = x > threshold
            if min(right.sum(), (~right).sum()) >= min_leaf:
                sides = [class_weights(y, weights, side, n_classes) for side in (~right, right)]
                if gain(name, *sides) >= best - 1e-10 * best - NOISE:
                    found.append(preference(name, *sides))
    return max(found)


def best_directed_gain(X, y, weights, n_classes, name, min_leaf=1):
    """The best gain of any split ``x > threshold`` with all missing values on either side, or None."""
    below, above = np.where(np.isnan(X), -np.inf, X), np.where(np.isnan(X), np.inf, X)
    return best_axis_gain(np.hstack([below, above]), y, weights, n_classes, name, min_leaf)


def node_of(tree, x):
    """Walk one example down a tree; return the nodes it passes."""
    path = [0]
    while tree.children[path[-1], 0] >= 0:
        node = path[-1]
        value = 0.0
        for i in range(tree.terms[node], tree.terms[node + 1]):
            feature = tree.features[i]
            value += tree.coefficients[i] * (tree.fill[feature] if np.isnan(x[feature]) else float(x[feature]))
        goes_right = value > tree.thresholds[node]
        if len(tree.missing) and tree.missing[node] and np.isnan(x[tree.features[tree.terms[node]]]):
            goes_right = tree.missing[node] > 0
        path.append(int(tree.children[node, int(goes_right)]))
    return path


# ------------------------------------------------------------------------------------------------ pruning


def subtrees(tree, node=0):
    """All ways to cut a subtree: each a tuple of the nodes that are leaves."""
    if tree.children[node, 0] < 0:
        return [(node,)]
    left, right = (subtrees(tree, child) for child in tree.children[node])
    return [(node,), *(a + b for a, b in itertools.product(left, right))]


def inner_nodes(tree, leaves):
    """The nodes above those that are leaves."""
    above = set()
    for leaf in leaves:
        node = tree.parents[leaf]
        while node >= 0:
            above.add(int(node))
            node = tree.parents[node]
    return above


def stays(tree, is_cut):
    """Which nodes are leaves once some are cut: those cut with nothing cut above."""
    above = [False] * tree.n_nodes
    for node in range(1, tree.n_nodes):
        parent = tree.parents[node]
        above[node] = above[parent] or bool(is_cut[parent])
    return np.asarray(is_cut) & ~np.array(above)


def best_subtree(tree, alpha, prices=None):
    """The smallest subtree of least cost + alpha * leaves; or, with prices of the splits, + alpha * their sum."""
    total = tree.counts[0].sum()
    cost = (tree.counts.sum(axis=1) - tree.counts.max(axis=1)) / total

    def size(leaves):
        return len(leaves) if prices is None else sum(prices[node] for node in sorted(inner_nodes(tree, leaves)))

    return min(
        (round(sum(cost[t] for t in leaves) + alpha * size(leaves), 10), len(leaves), leaves)
        for leaves in subtrees(tree)
    )[2]


# ------------------------------------------------------------------------------------------------ linear classifiers


def without_a_unit(weights, j):
    """The weights with one unit of an example's weight taken away."""
    rest = weights.copy()
    rest[j] -= 1.0
    return rest


def left_out_margins(fit, Z, right, weights):
    """The margin of each example by the plane that `fit` finds without a unit of its weight."""
    return np.array([Z[j] @ fit(Z, right, without_a_unit(weights, j)) for j in range(len(Z))])


# ------------------------------------------------------------------------------------------------ batched search


def combined(columns, plane):
    """``plane . (x, 1)`` of each example in float32, attribute by attribute as the kernels add it up."""
    margins = np.full(columns.shape[1], np.float32(plane[-1]))
    for m, a in enumerate(np.asarray(plane[:-1], np.float32)):
        if a != 0:
            margins += a * columns[m]
    return margins


def bucket_codes(margins, rates, centre, scale, half):
    """What each example counts as: one of 2 * half buckets upwards, as many downwards, never left, never right."""
    end, scale = np.float32(half), np.float32(scale)
    codes = []
    with np.errstate(all="ignore"):
        for margin, rate in zip(margins, rates, strict=True):
            t = -margin / rate
            if not abs(t) < np.float32(FAR):
                codes.append(4 * half + int(margin > 0))
                continue
            u = t - np.float32(centre)
            steps = min(int(end - end * scale / (abs(u) + scale)), half - 1)
            bucket = half + steps if u >= 0 else half - 1 - steps
            codes.append(bucket + (2 * half if rate < 0 else 0))
    return np.array(codes)


def tally(codes, labels, weights, n_codes, n_classes):
    """Numbers and weights of the examples of each class by code."""
    counts, sums = np.zeros((n_classes, n_codes), int), np.zeros((n_classes, n_codes))
    np.add.at(counts, (labels, codes), 1)
    np.add.at(sums, (labels, codes), weights)
    return counts, sums


def gains_along(margins, rates, labels, weights, n_classes, name, min_leaf=1):
    """(crossing before, crossing after, gain) of all positions on a line that leave enough examples on both sides."""
    found = []
    t = np.unique(crossings(margins, rates))
    ends = np.concatenate([[-np.inf], t[np.isfinite(t)], [np.inf]])
    for before, after in itertools.pairwise(ends):
        right = goes_right(margins, rates, after)
        if min(right.sum(), (~right).sum()) >= min_leaf:
            sides = (class_weights(labels, weights, side, n_classes) for side in (~right, right))
            found.append((before, after, gain(name, *sides)))
    return found
