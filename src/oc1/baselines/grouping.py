"""What the learners of two-class planes share: a node as a two-class problem, and axis-parallel splits.

Equal examples are merged and the rest sorted, so that a plane depends neither on the order of the examples nor on
whether one has weight 2 or stands there twice.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass

import numpy as np

from ..growing.linear_tests import LinearTest
from ..growing.splitters import NodeExamples, Splitter
from ..impurity import entropy, information_gained

#: Information in bits: a split that gains less gains nothing.
MIN_GAIN_BITS = 1e-12


@dataclass(frozen=True)
class TwoClassProblem:
    """The different examples of a node, standardised, their classes grouped in two.

    Attributes
    ----------
    X : float64 array (n, n_attributes)
        ``(x - shift) / scale`` of the attributes that are not constant, sorted.
    sides : float64 array (n,)
        1 or -1: the group of the example's class.
    weights : float64 array (n,)
    attributes : int array (n_attributes,)
    shift, scale : float64 arrays (n_attributes,)
    """

    X: np.ndarray
    sides: np.ndarray
    weights: np.ndarray
    attributes: np.ndarray
    shift: np.ndarray
    scale: np.ndarray

    @classmethod
    def of_node(cls, node: NodeExamples) -> TwoClassProblem | None:
        """Return the problem of a node; None if all its examples have the same values."""
        attributes = np.flatnonzero(node.X.min(axis=0) < node.X.max(axis=0))
        if len(attributes) == 0:
            return None
        X, y, weights, _ = distinct_examples(node.X[:, attributes], node.y, node.weights)
        X, shift, scale = standardise(X, weights)
        sides = np.where(group_classes(X, y, weights)[y], 1.0, -1.0)
        return cls(X, sides, weights, attributes, shift, np.where(scale > 0, scale, 1.0))

    def test(self, plane: np.ndarray, node: NodeExamples) -> LinearTest | None:
        """Return the test ``plane . (x, 1) > 0`` in the user's units; None if it does not divide the node usefully."""
        coefficients = np.zeros(node.X.shape[1])
        coefficients[self.attributes] = plane[:-1] / self.scale
        if not coefficients.any():
            return None
        test = LinearTest.of_plane(coefficients, float(coefficients[self.attributes] @ self.shift - plane[-1]), node.X)
        right = test.branches(node.X) == 1
        if min(right.sum(), (~right).sum()) < node.min_leaf:
            return None
        counts = [np.bincount(node.y[s], weights=node.weights[s], minlength=node.n_classes) for s in (~right, right)]
        return test if information_gained(np.array(counts)) > MIN_GAIN_BITS else None


class TwoClassSplitter(Splitter):
    """Splits a node by a plane between two groups of its classes, or by the best axis-parallel test."""

    @abstractmethod
    def find_plane(self, problem: TwoClassProblem, seed: int) -> tuple[np.ndarray | None, bool]:
        """Return a plane, and whether it is preferred to an axis-parallel test."""

    def split(self, node: NodeExamples) -> LinearTest | None:
        """Return the split of a node, None if nothing divides it."""
        problem = TwoClassProblem.of_node(node)
        if problem is None:
            return None
        plane, is_preferred = self.find_plane(problem, node.seed)
        test = None if plane is None else problem.test(plane, node)
        if test is not None and is_preferred:
            return test
        self.n_hyperplanes += len(problem.attributes)
        # Where no single attribute helps (as in exclusive or), any plane may.
        return best_axis_split(node) or test


def distinct_examples(
    X: np.ndarray, y: np.ndarray, weights: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Sort examples and merge equal ones; return X, y, their weights, and how many rows each stands for."""
    rows = np.column_stack([X, y])
    rows, number, sizes = np.unique(rows, axis=0, return_inverse=True, return_counts=True)
    return rows[:, :-1], rows[:, -1].astype(np.int64), np.bincount(number.ravel(), weights=weights), sizes


def standardise(X: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return X with mean 0 and deviation 1, the means and the deviations (0 where X is constant, and becomes 0)."""
    largest = np.abs(X).max(axis=0)  # divided by it, no square overflows
    largest[largest == 0] = 1.0
    X = X / largest
    mean = np.average(X, axis=0, weights=weights)
    deviation = np.sqrt(np.average((X - mean) ** 2, axis=0, weights=weights))
    deviation[np.ptp(X, axis=0) == 0] = 0.0
    standard = np.divide(X - mean, deviation, out=np.zeros_like(X), where=deviation > 0)
    return standard, mean * largest, deviation * largest


def group_classes(X: np.ndarray, y: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Group the classes in two; return for each class index up to ``y.max()`` whether it is in the second group.

    The class means are projected on their first principal axis, and the line is cut between two means where that makes
    the scatter between the two groups largest.
    """
    sizes = np.bincount(y, weights=weights)
    present = np.flatnonzero(sizes)
    means = np.array([np.average(X[y == c], axis=0, weights=weights[y == c]) for c in present])
    centred = means - np.average(means, axis=0, weights=sizes[present])
    axis = np.linalg.svd(centred * np.sqrt(sizes[present])[:, None], full_matrices=False)[2][0]
    places = centred @ axis
    by_place = np.argsort(places, kind="stable")
    order = present[by_place]
    below = np.cumsum(sizes[order])[:-1]
    moment = np.cumsum((sizes[present] * places)[by_place])[:-1]  # of all classes together it is 0
    cut = int(np.argmax(moment**2 / (below * (sizes.sum() - below)))) + 1
    second = np.zeros(len(sizes), dtype=bool)
    second[order[cut:]] = True
    return second


def count_below(x: np.ndarray, y: np.ndarray, weights: np.ndarray, n_classes: int) -> tuple[np.ndarray, np.ndarray]:
    """Return an attribute's values in order, and the weight of each class up to each of them."""
    order = np.argsort(x, kind="stable")
    counts = np.zeros((len(x), n_classes))
    counts[np.arange(len(x)), y[order]] = weights[order]
    return x[order], np.cumsum(counts, axis=0)


def best_axis_split(node: NodeExamples) -> LinearTest | None:
    """Return the axis-parallel split that gains most information, the first of equal ones; None if none gains any."""
    total, n = node.counts, len(node.y)
    best, best_gain = None, MIN_GAIN_BITS
    for m, x in enumerate(node.X.T):
        x, below = count_below(x, node.y, node.weights, node.n_classes)
        places = np.arange(node.min_leaf - 1, n - node.min_leaf)
        places = places[x[places] < x[places + 1]]
        if len(places) == 0:
            continue
        left = below[places]
        right = total - left
        after = left.sum(axis=1) * entropy(left) + right.sum(axis=1) * entropy(right)
        gains = entropy(total) - after / total.sum()
        first = int(np.argmax(gains))
        if gains[first] > best_gain + MIN_GAIN_BITS:
            best, best_gain = (m, x[places[first]]), gains[first]
    if best is None:
        return None
    return LinearTest.of_plane(np.eye(node.X.shape[1])[best[0]], float(best[1]), node.X)
