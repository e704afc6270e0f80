"""Growing with a splitter: a learner that is not OC1's search brings the rule that splits one node, and nothing else.

The compiled `grower` finds OC1's splits and axis-parallel ones; the other systems of the paper are slower by
nature, and a loop over nodes in Python costs them little. All else is shared: limits, pruning, prediction, text.
"""

from __future__ import annotations

import heapq
import itertools
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import ClassVar, Protocol

import numpy as np

from ..data.search_space import filled
from ..data.training import Training
from ..impurity import category_numbers, information_gained
from ..kernels.records import Node
from .linear_tests import LinearTest, Split
from .nodes import GrownNode, derived_seed
from .progress import Reporter, advance


@dataclass(frozen=True)
class NodeExamples:
    """The training examples of one node, as a splitter gets them.

    Attributes
    ----------
    X : float64 array (n, n_features)
        Missing values are filled, unless the splitter ``keeps_missing``.
    y : int array (n,)
        Class indices; or a float array of the numbers to predict.
    weights : float64 array (n,)
    n_classes : int
        Of the whole tree; not all need occur here.
    min_leaf : int
        The smallest number of examples that a split may leave on a side.
    min_weight : float
        The smallest weight of these.
    seed : int
        Comes from the fit's seed and the node's path: all randomness of a splitter must come from it.
    """

    X: np.ndarray
    y: np.ndarray
    weights: np.ndarray
    n_classes: int
    min_leaf: int
    seed: int
    min_weight: float = -np.inf

    @property
    def counts(self) -> np.ndarray:
        """Weight of each class."""
        return np.bincount(self.y, weights=self.weights, minlength=self.n_classes)

    def grouped(self) -> tuple[np.ndarray, Node]:
        """Return the order that groups the examples by class, and what compiled searches need to know of them in it."""
        order = np.argsort(self.y, kind="stable")
        labels = self.y[order]
        present, first = np.unique(labels, return_index=True)
        totals, bounds = self.counts[present], np.append(first, len(labels))
        own_labels, weights = labels.astype(np.int32), self.weights[order]
        return order, Node(0, own_labels, weights, totals, category_numbers(totals), present, bounds)


class NodeStatistics(Protocol):
    """What a tree keeps of the examples of each node: an array of numbers, and what can be read from it."""

    def compute(self, y: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Return the statistics of a node with these examples."""

    def weight(self, node: np.ndarray) -> float:
        """Return the weight of a node's examples."""

    def size(self, weights: np.ndarray) -> float:
        """Return how many examples those of these weights are for the limits."""

    def is_pure(self, node: np.ndarray) -> bool:
        """Whether nothing is left to split."""

    def gain(self, node: np.ndarray, children: np.ndarray) -> float:
        """Return what a split gains, for an example of the node, 0 if nothing; a row of statistics for each child."""


@dataclass(frozen=True)
class ClassificationStatistics:
    """The weight of each class at a node; a split gains information, in bits."""

    n_classes: int

    def compute(self, y: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Return the weight of each class."""
        return np.bincount(y, weights=weights, minlength=self.n_classes)

    def weight(self, node: np.ndarray) -> float:
        """Return the weight of a node's examples."""
        return float(node.sum())

    def size(self, weights: np.ndarray) -> float:
        """Return the number of examples."""
        return len(weights)

    def is_pure(self, node: np.ndarray) -> bool:
        """Whether there is one class only."""
        return bool(np.count_nonzero(node) < 2)

    def gain(self, node: np.ndarray, children: np.ndarray) -> float:
        """Return the information that a split gives."""
        information = information_gained(children)
        return information if information > 1e-14 else 0.0


@dataclass
class Splitter(ABC):
    """Finds the split of one node.

    Attributes
    ----------
    keeps_missing : bool
        Whether it wants missing values as NaN. Examples that a split cannot place then go down all branches, in
        fractions (C4.5).
    to_purity : bool
        Whether splits that gain nothing are made, too, until leaves are pure.
    n_hyperplanes : int
        How many hyperplanes it has considered so far.
    """

    keeps_missing: ClassVar[bool] = False
    to_purity: ClassVar[bool] = False
    n_hyperplanes: int = field(default=0, init=False)

    @abstractmethod
    def split(self, node: NodeExamples) -> Split | None:
        """Return the split of a node, None to leave it a leaf. The node holds two classes at least."""


@dataclass(frozen=True)
class Limits:
    """When a node stays a leaf."""

    max_depth: int | None = None
    min_samples_split: int = 2
    min_samples_leaf: int = 1
    min_weight_fraction_leaf: float = 0.0
    max_leaf_nodes: int | None = None
    min_impurity_decrease: float = 0.0


def divide(split: Split, X: np.ndarray, weights: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Return, for each branch of a split, which examples take it and their weights there.

    Examples that the split cannot place go down all branches, in fractions as large as the branches.
    """
    branches = split.branches(X)
    known = branches >= 0
    mass = np.bincount(branches[known], weights=weights[known], minlength=split.n_branches)
    for branch in range(split.n_branches):
        here = (branches == branch) | ~known
        yield here, (weights * np.where(known, 1.0, mass[branch] / mass.sum()))[here]


class SplitterGrower:
    """Grows trees whose nodes a splitter splits.

    Parameters
    ----------
    splitter : Splitter
    data : Training
        With numbers, or the codes of categories, in all columns.
    rows : int array
        The examples to grow on.
    weights : float array (n_samples,) or None
        Of all examples; None if they count alike.
    limits : Limits
    statistics : NodeStatistics, optional
        What is kept of a node, and what a split gains. None: the weights of the classes, and information.
    reporter : Reporter, optional
    """

    def __init__(
        self,
        splitter: Splitter,
        data: Training,
        rows: np.ndarray,
        weights: np.ndarray | None,
        limits: Limits,
        statistics: NodeStatistics | None = None,
        reporter: Reporter | None = None,
    ):
        X = np.asarray(data.X[rows], dtype=np.float64)
        self.X = X if splitter.keeps_missing else filled(X, data.fill)
        self.y, self.seed = data.y[rows], data.seed
        self.weights = np.ones(len(rows)) if weights is None else np.asarray(weights[rows], dtype=np.float64)
        self.total = self.weights.sum()
        fraction = limits.min_weight_fraction_leaf
        self.min_weight = fraction * self.total if fraction > 0.0 else -np.inf
        self.n_classes = len(data.classes)
        self.splitter, self.limits = splitter, limits
        self.statistics = ClassificationStatistics(self.n_classes) if statistics is None else statistics
        self.reporter = Reporter(0) if reporter is None else reporter

    def grow(self) -> GrownNode:
        """Grow a tree, best first: the split that gains most is kept, as long as its leaves still fit in."""
        root = self.node(np.arange(len(self.y)), self.weights, 0, derived_seed(self.seed, 0))
        advance(started=len(self.y))
        self.expand(root)
        order, n_leaves = itertools.count(), 1
        heap = [(0.0, next(order), root)]
        while heap:
            _, _, node = heapq.heappop(heap)
            max_leaves = self.limits.max_leaf_nodes
            if max_leaves is not None and n_leaves + len(node.children) - 1 > max_leaves:
                node.split, node.gain, node.children = None, 0.0, []
            n_leaves += max(0, len(node.children) - 1)
            for child in node.children:
                self.expand(child)
                heapq.heappush(heap, (-child.gain * self.statistics.weight(child.counts), next(order), child))
        return root

    def node(self, rows: np.ndarray, weights: np.ndarray, depth: int, seed: int) -> GrownNode:
        """Make a node, not split yet."""
        return GrownNode(rows, weights, depth, seed, self.statistics.compute(self.y[rows], weights))

    def expand(self, node: GrownNode) -> None:
        """Split a node, if it may be split and the split keeps to the limits; report progress."""
        if self._may_be_split(node):
            self._split(node)
        if not node.children:
            advance(settled=len(node.rows))

    def _may_be_split(self, node: GrownNode) -> bool:
        limits, size = self.limits, self.statistics.size(node.weights)
        deep_enough = limits.max_depth is not None and node.depth >= limits.max_depth
        enough = size >= max(limits.min_samples_split, 2 * limits.min_samples_leaf)
        return enough and not deep_enough and not self.statistics.is_pure(node.counts)

    def _split(self, node: GrownNode) -> None:
        X, y, min_leaf = self.X[node.rows], self.y[node.rows], self.limits.min_samples_leaf
        examples = NodeExamples(X, y, node.weights, self.n_classes, min_leaf, node.seed, self.min_weight)
        split = self.splitter.split(examples)
        if split is None:
            return
        branches = split.branches(X)
        parts = [node.weights[branches == branch] for branch in range(split.n_branches)]
        if min(map(self.statistics.size, parts)) < min_leaf or min(part.sum() for part in parts) < self.min_weight:
            return
        children = [
            self.node(node.rows[here], weights, node.depth + 1, derived_seed(node.seed, number))
            for number, (here, weights) in enumerate(divide(split, X, node.weights), start=1)
        ]
        gain = self.statistics.gain(node.counts, np.array([child.counts for child in children]))
        decrease = gain * self.statistics.weight(node.counts) / self.total
        if not (gain > 0 or self.splitter.to_purity) or decrease < self.limits.min_impurity_decrease:
            return
        node.split, node.gain, node.children = split, gain, children
        if isinstance(split, LinearTest):
            test = split.features, split.coefficients, split.threshold
            self.reporter.linear_node(node.depth, node.counts, len(node.rows), *test, gain)
        else:
            self.reporter.node(node.depth, node.counts, len(node.rows), f"{split.n_branches} branches", gain)
