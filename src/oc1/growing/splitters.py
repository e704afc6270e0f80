"""Growing with a splitter: a learner that is not OC1's search brings the rule that splits one node, and nothing else.

The compiled `grower` finds OC1's splits and axis-parallel ones; the other systems of the paper are slower by
nature, and a loop over nodes in Python costs them little. All else is shared: limits, pruning, prediction, text.
"""

from __future__ import annotations

import heapq
import itertools
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from ..kernels import _kernels
from .linear_tests import LinearTest, Split
from .nodes import GrownNode
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
        A split must leave so many examples on each side.
    seed : int
        Comes from the fit's seed and the node's path: all randomness of a splitter must come from it.
    """

    X: np.ndarray
    y: np.ndarray
    weights: np.ndarray
    n_classes: int
    min_leaf: int
    seed: int

    @property
    def counts(self) -> np.ndarray:
        """Weight of each class."""
        return np.bincount(self.y, weights=self.weights, minlength=self.n_classes)


class Notes(Protocol):
    """What a tree notes of each node: an array, and what can be read from it."""

    def take(self, y: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Return the notes of a node with these examples."""

    def weight(self, notes: np.ndarray) -> float:
        """Return the weight of a node's examples."""

    def size(self, weights: np.ndarray) -> float:
        """Return how many examples those of these weights are for the limits."""

    def is_pure(self, notes: np.ndarray) -> bool:
        """Whether nothing is left to split."""

    def gain(self, node: np.ndarray, children: np.ndarray) -> float:
        """Return what a split gains, for an example of the node, 0 if nothing; a row of notes for each child."""


@dataclass(frozen=True)
class ClassWeights:
    """A tree for classes notes the weight of each class; a split gains information, in bits."""

    n_classes: int

    def take(self, y: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Return the weight of each class."""
        return np.bincount(y, weights=weights, minlength=self.n_classes)

    def weight(self, notes: np.ndarray) -> float:
        """Return the weight of a node's examples."""
        return float(notes.sum())

    def size(self, weights: np.ndarray) -> float:
        """Return the number of examples."""
        return len(weights)

    def is_pure(self, notes: np.ndarray) -> bool:
        """Whether there is one class only."""
        return bool(np.count_nonzero(notes) < 2)

    def gain(self, node: np.ndarray, children: np.ndarray) -> float:
        """Return the information that a split gives."""
        information = information_gained(children)
        return information if information > 1e-14 else 0.0


class Splitter(Protocol):
    """Finds the split of one node.

    Attributes
    ----------
    keeps_missing : bool
        Whether it wants missing values as NaN. Examples that a split cannot place then go down all branches, in
        fractions (C4.5).
    n_hyperplanes : int
        How many hyperplanes it has considered so far.
    """

    keeps_missing: bool
    n_hyperplanes: int

    def split(self, node: NodeExamples) -> Split | None:
        """Return the split of a node, None to leave it a leaf. The node holds two classes at least."""


@dataclass(frozen=True)
class Limits:
    """When a node stays a leaf."""

    max_depth: int | None = None
    min_samples_split: int = 2
    min_samples_leaf: int = 1
    max_leaf_nodes: int | None = None
    min_impurity_decrease: float = 0.0


def entropy(counts: np.ndarray) -> np.ndarray:
    """Return the entropy of class weights in bits, along the last axis."""
    total = counts.sum(axis=-1, keepdims=True)
    shares = np.divide(counts, total, out=np.zeros_like(counts, dtype=float), where=total > 0)
    return -(shares * np.log2(shares, out=np.zeros_like(shares), where=shares > 0)).sum(axis=-1)


def information_gained(branches: np.ndarray) -> float:
    """Return the information, in bits, that knowing the branch gives of the class; a row of class weights each."""
    sizes = branches.sum(axis=1)
    return float(entropy(branches.sum(axis=0)) - (sizes * entropy(branches)).sum() / sizes.sum())


def derived_seed(seed: int, number: int) -> int:
    """Derive an independent seed from a seed and a number."""
    with np.errstate(over="ignore"):  # for NUMBA_DISABLE_JIT
        return int(_kernels.mix(np.uint64(seed), np.uint64(number)))


def grow_with(
    splitter: Splitter,
    X: np.ndarray,
    y: np.ndarray,
    weights: np.ndarray | None,
    rows: np.ndarray,
    fill: np.ndarray,
    n_classes: int,
    limits: Limits,
    seed: int,
    reporter: Reporter | None = None,
    notes: Notes | None = None,
) -> GrownNode:
    """Grow a tree; return its root.

    Parameters are those of `oc1.growing.grower.TreeGrower`; `notes` says what is noted of a node and what a split gains
    (None: the weights of the classes, and information).
    """
    notes = ClassWeights(n_classes) if notes is None else notes
    reporter = Reporter(0) if reporter is None else reporter
    X = np.asarray(X[rows], dtype=np.float64)
    if not splitter.keeps_missing:
        X = np.where(np.isnan(X), fill, X)
    y = y[rows]
    weights = np.ones(len(rows)) if weights is None else np.asarray(weights[rows], dtype=np.float64)

    def make(rows: np.ndarray, weights: np.ndarray, depth: int, seed: int) -> GrownNode:
        return GrownNode(rows, weights, depth, seed, notes.take(y[rows], weights))

    def expand(node: GrownNode) -> None:
        split(node)
        if not node.children:
            advance(settled=len(node.rows))

    def split(node: GrownNode) -> None:
        """Split a node, if it may be split and the split keeps to the limits."""
        if (
            notes.is_pure(node.counts)
            or (limits.max_depth is not None and node.depth >= limits.max_depth)
            or notes.size(node.weights) < max(limits.min_samples_split, 2 * limits.min_samples_leaf)
        ):
            return
        own = X[node.rows]
        found = splitter.split(
            NodeExamples(own, y[node.rows], node.weights, n_classes, limits.min_samples_leaf, node.seed)
        )
        if found is None:
            return
        branches = found.branches(own)
        known = branches >= 0
        mass = np.bincount(branches[known], weights=node.weights[known], minlength=found.n_branches)
        sizes = [notes.size(node.weights[branches == branch]) for branch in range(found.n_branches)]
        if min(sizes) < limits.min_samples_leaf:
            return
        children = []
        for branch in range(found.n_branches):
            here = (branches == branch) | ~known
            share = np.where(known, 1.0, mass[branch] / mass.sum())
            seed = derived_seed(node.seed, branch + 1)
            children.append(make(node.rows[here], (node.weights * share)[here], node.depth + 1, seed))
        gain = notes.gain(node.counts, np.array([child.counts for child in children]))
        if not gain > 0 or gain * notes.weight(node.counts) / weights.sum() < limits.min_impurity_decrease:
            return
        node.split, node.gain, node.children = found, gain, children
        if isinstance(found, LinearTest):
            test = found.features, found.coefficients, found.threshold
            reporter.linear_node(node.depth, node.counts, len(node.rows), *test, gain)
        else:
            reporter.node(node.depth, node.counts, len(node.rows), f"{found.n_branches} branches", gain)

    root = make(np.arange(len(y)), weights, 0, derived_seed(seed, 0))
    advance(started=len(y))
    expand(root)
    if limits.max_leaf_nodes is None:
        stack = [root]
        while stack:
            for child in stack.pop().children:
                expand(child)
                stack.append(child)
        return root
    # Best first: keep the split that gains most, as long as its leaves still fit in.
    order, leaves = itertools.count(), 1
    heap = [(-root.gain * notes.weight(root.counts), next(order), root)]
    while heap:
        _, _, node = heapq.heappop(heap)
        if leaves + len(node.children) - 1 > limits.max_leaf_nodes:
            node.split, node.gain, node.children = None, 0.0, []
        leaves += max(0, len(node.children) - 1)
        for child in node.children:
            expand(child)
            heapq.heappush(heap, (-child.gain * notes.weight(child.counts), next(order), child))
    return root
