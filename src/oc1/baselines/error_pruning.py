"""C4.5's pruning, by a pessimistic estimate of the errors of a tree from its training examples alone."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import sqrt

import numpy as np

from ..growing.nodes import GrownNode
from ..growing.splitters import divide
from ..impurity import information_gained

#: A smaller tree is preferred while it is expected to make at most this many more errors, as in C4.5.
MAX_EXTRA_ERRORS = 0.1
#: Tail areas of the normal distribution and their deviates; C4.5 interpolates between them.
TAILS = (0.0, 0.001, 0.005, 0.01, 0.05, 0.10, 0.20, 0.40, 1.00)
DEVIATES = (4.0, 3.09, 2.58, 2.33, 1.65, 1.28, 0.84, 0.25, 0.00)


def pessimistic_errors(n: float, errors: float, confidence: float) -> float:
    """Return how many of n examples to expect wrong where `errors` of the training examples were.

    It is n times the upper limit that the true error rate exceeds with a probability of `confidence`. With no error
    seen that limit is exact, ``1 - confidence ** (1 / n)``; from one error on it is the normal approximation to the
    binomial with continuity correction; fractions of an error are interpolated between the two. Where nearly all is
    wrong, two thirds of the rest are added.
    """
    if errors < 1:
        none = n * (1.0 - float(confidence ** (1 / n)))
        return none if errors <= 0 else (1 - errors) * none + errors * min(n, pessimistic_errors(n, 1, confidence))
    if errors + 0.5 >= n:
        return errors + 0.67 * max(0.0, n - errors)
    square = float(np.interp(confidence, TAILS, DEVIATES)) ** 2
    seen = errors + 0.5
    return n * (seen + square / 2 + sqrt(square * (seen * (1 - seen / n) + square / 4))) / (n + square)


@dataclass(frozen=True)
class ErrorBasedPruning:
    """Bottom-up, a node becomes a leaf or is replaced by its largest branch where that is expected to err no more.

    Attributes
    ----------
    X : float64 array (n, n_features)
        The training examples that the nodes' ``rows`` refer to.
    y : int array (n,)
    confidence : float
    """

    X: np.ndarray
    y: np.ndarray
    confidence: float

    def prune(self, root: GrownNode) -> None:
        """Prune a grown tree in place."""
        nodes = root.preorder()  # taken from the end, so that all below a node comes before it
        while nodes:
            node = nodes.pop()
            if not node.children:
                continue
            largest = max(node.children, key=lambda child: child.counts.sum())
            raised = self.filled(largest, node)
            as_leaf, as_branch, as_tree = self.leaf_errors(node), self.tree_errors(raised), self.tree_errors(node)
            if as_leaf <= min(as_branch, as_tree) + MAX_EXTRA_ERRORS:
                node.split, node.gain, node.children = None, 0.0, []
            elif as_branch <= as_tree + MAX_EXTRA_ERRORS:
                node.split, node.children = raised.split, raised.children
                below = node.preorder()
                for inner in below:
                    if inner.children:
                        inner.gain = information_gained(np.array([child.counts for child in inner.children]))
                nodes.extend(below)  # which hold other examples than before

    def leaf_errors(self, node: GrownNode) -> float:
        """Return the errors to expect of a node as a leaf."""
        n = float(node.counts.sum())
        return pessimistic_errors(n, n - float(node.counts.max()), self.confidence)

    def tree_errors(self, node: GrownNode) -> float:
        """Return the errors to expect of the subtree at a node."""
        return sum(self.leaf_errors(below) for below in node.preorder() if not below.children)

    def filled(self, subtree: GrownNode, node: GrownNode) -> GrownNode:
        """Return a copy of a subtree that stands in a node's place and holds the node's examples (gains left out)."""
        top = replace(node, split=None, gain=0.0, children=[])
        todo = [(top, subtree)]
        while todo:
            copy, original = todo.pop()
            if original.split is None:
                continue
            parts = divide(original.split, self.X[copy.rows], copy.weights)
            for child, (here, weights) in zip(original.children, parts, strict=True):
                rows = copy.rows[here]
                counts = np.bincount(self.y[rows], weights=weights, minlength=len(node.counts))
                copy.children.append(GrownNode(rows, weights, copy.depth + 1, child.seed, counts))
                todo.append((copy.children[-1], child))
            copy.split = original.split
        return top
