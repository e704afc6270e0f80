"""Cost-complexity pruning (Breiman et al. 1984, chapter 3): the sequence of subtrees, and the choice among them.

The cost of a node is its share of misclassified training weight, or its loss as a share of the root's in a regression
tree. As alpha, the price of a leaf, grows, the tree collapses node by node; each node has a *step* of the sequence at
which it becomes a leaf, and that is all that is needed to score every subtree of the sequence in one pass.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from .structure import TreeStructure

#: Costs closer than this are equal: they are sums of shares, rounded.
EQUAL = 1e-12


@dataclass(frozen=True)
class PruningSequence:
    """The nested subtrees of a tree, from the whole (step 0) to the root alone.

    Attributes
    ----------
    tree : TreeStructure
    alphas : array (n_steps,)
        The price of a leaf at which each subtree becomes the best one.
    n_leaves, n_terms : int arrays (n_steps,)
    steps : int array (n_nodes,)
        The step at which each node becomes a leaf; 0 for the tree's own leaves.
    """

    tree: TreeStructure
    alphas: np.ndarray
    n_leaves: np.ndarray
    n_terms: np.ndarray
    steps: np.ndarray

    def leaves_of(self, leaves: np.ndarray, alphas: np.ndarray) -> np.ndarray:
        """Return, for some leaves of the whole tree, the nodes that are leaves in their place at each price.

        Parameters
        ----------
        leaves : int array (n,)
        alphas : array (n_alphas,)

        Returns
        -------
        int array (n, n_alphas)
        """
        steps = np.array([self.step_of(alpha) for alpha in alphas])
        stands_for = np.empty((self.tree.n_nodes, len(steps)), dtype=np.int64)
        stands_for[0] = 0
        parents = self.tree.parents
        for node in range(1, self.tree.n_nodes):
            stands_for[node] = np.where(self.steps[parents[node]] <= steps, stands_for[parents[node]], node)
        return np.asarray(stands_for[leaves])

    def subtree(self, step: int) -> TreeStructure:
        """Return one subtree of the sequence."""
        return self.tree.cut(self.steps <= step)

    def step_of(self, alpha: float) -> int:
        """Return the step whose subtree is best at a price."""
        return int(np.searchsorted(self.alphas, alpha + EQUAL, side="right") - 1)

    def sum_over_leaves(self, at_nodes: np.ndarray) -> np.ndarray:
        """Add up, for every subtree, the values of the nodes that are its leaves; one row for each node."""
        # A node is a leaf of the subtrees from its own step until an ancestor collapses.
        until = np.full(len(at_nodes), len(self.alphas))
        parents = self.tree.parents
        for node in range(1, len(at_nodes)):
            until[node] = min(until[parents[node]], self.steps[parents[node]])
        change = np.zeros((len(self.alphas) + 1, *at_nodes.shape[1:]))
        live = self.steps < until
        np.add.at(change, self.steps[live], at_nodes[live])
        np.subtract.at(change, until[live], at_nodes[live])
        return np.cumsum(change, axis=0)[:-1]

    def with_whole(self, at_nodes: np.ndarray) -> np.ndarray:
        """Add up as `sum_over_leaves`, for the whole tree first where step 0 has cut what costs nothing."""
        sums = self.sum_over_leaves(at_nodes)
        is_leaf = self.tree.is_leaf
        return np.concatenate([[at_nodes[is_leaf].sum(axis=0)], sums]) if (self.steps[~is_leaf] == 0).any() else sums


class PruningPath(NamedTuple):
    """The way from the tree that pruning began with to its root, and the step of the tree that was chosen.

    Attributes
    ----------
    sequence : PruningSequence
    chosen : int
        -1 if nothing was cut.
    """

    sequence: PruningSequence
    chosen: int


def path_to(tree: TreeStructure, unpruned: TreeStructure) -> PruningPath:
    """Find a tree on the pruning path of another; if it is not there, because its tests are new, take its own path."""
    if unpruned is not tree:
        sequence = prune_sequence(unpruned)
        if unpruned.asks_the_same(tree):
            return PruningPath(sequence, -1)
        for step in np.flatnonzero(sequence.n_leaves == tree.n_leaves).tolist():
            if sequence.subtree(step).asks_the_same(tree):
                return PruningPath(sequence, step)
    return PruningPath(prune_sequence(tree), -1)


def prune_sequence(
    tree: TreeStructure, costs: np.ndarray | None = None, prices: np.ndarray | None = None
) -> PruningSequence:
    """Compute the cost-complexity sequence of a tree; all nodes at the smallest alpha are cut in one step.

    Parameters
    ----------
    tree : TreeStructure
    costs : array (n_nodes,), optional
        Cost of each node as a leaf, from 0 to 1. None: ``tree.costs``.
    prices : array (n_nodes,), optional
        What the split of each inner node costs, in leaves. None: one leaf, as a split of two branches makes one more.
    """
    is_leaf = tree.is_leaf
    shares = tree.costs if costs is None else costs
    # Lists: single numbers of arrays are slow to get at.
    cost: list[float] = shares.tolist()
    below: list[float] = tree.sum_upwards(np.where(is_leaf, shares, 0.0)).tolist()
    if prices is None:
        prices = np.maximum((tree.children >= 0).sum(axis=1) - 1.0, 0.0)
    price: list[float] = tree.sum_upwards(np.where(is_leaf, 0.0, prices)).tolist()
    parents, children, alive = tree.parents.tolist(), tree.children.tolist(), (~is_leaf).tolist()
    steps = np.where(is_leaf, 0, -1).tolist()

    def strength_of(node: int) -> float:
        """Return the price of a leaf at which the subtree is no better than a leaf."""
        return (cost[node] - below[node]) / price[node]

    link = [strength_of(node) if inner else np.inf for node, inner in enumerate(alive)]
    heap = [(link[node], node) for node, inner in enumerate(alive) if inner]
    heapq.heapify(heap)
    alphas = [0.0]
    while heap:
        strength, node = heapq.heappop(heap)
        if not alive[node] or strength != link[node]:
            continue
        if strength > alphas[-1] + EQUAL:
            alphas.append(strength)
        # Collapse: everything below is gone, everything above changes.
        stack = [node]
        while stack:
            gone = stack.pop()
            if alive[gone]:
                alive[gone] = False
                steps[gone] = len(alphas) - 1
                stack.extend(child for child in children[gone] if child >= 0)
        lost, saved = cost[node] - below[node], price[node]
        above = node
        while above >= 0:
            below[above] += lost
            price[above] -= saved
            if alive[above]:
                link[above] = strength_of(above)
                heapq.heappush(heap, (link[above], above))
            above = parents[above]
    own_steps, n_steps = np.array(steps), len(alphas)
    n_branches, n_terms = (tree.children >= 0).sum(axis=1), tree.terms_of_nodes

    def sum_of_inner(numbers: np.ndarray) -> np.ndarray:
        """Add up numbers of the nodes that are inner nodes at each step."""
        ended = np.bincount(own_steps, numbers, n_steps)
        return np.asarray(np.rint(ended.sum() - np.cumsum(ended)), dtype=np.int64)

    n_leaves = 1 + sum_of_inner(np.maximum(n_branches - 1, 0))
    return PruningSequence(tree, np.array(alphas), n_leaves, sum_of_inner(n_terms), own_steps)


def _by_impurity(tree: TreeStructure) -> tuple[PruningSequence, float]:
    """Return the sequence by impurity as a share of the root's, and the root's."""
    whole = float(tree.impurities[0])
    return prune_sequence(tree, tree.impurities / whole if whole > 0 else np.zeros(tree.n_nodes)), whole


def judged_by(model: Any) -> str:
    """Say how the accuracies on the pruning path of a model were measured."""
    prune = getattr(model, "prune", None)
    if prune == "auto":
        is_of_paper = getattr(model, "preset", None) is not None
        prune = "holdout" if is_of_paper else "cv" if getattr(model, "cv_accuracies_", None) else None
    return {"holdout": "on examples held out", "cv": "cross-validated"}.get(prune or "", "estimated for pruning")


def impurity_path(tree: TreeStructure) -> tuple[np.ndarray, np.ndarray]:
    """Return the alphas of the sequence by impurity, as scikit-learn has them, and the impurity of each subtree."""
    sequence, whole = _by_impurity(tree)
    return sequence.alphas * whole, sequence.sum_over_leaves(tree.impurities)


def cut_at(tree: TreeStructure, alpha: float) -> TreeStructure:
    """Return the subtree that is best at a price of a leaf in impurity: scikit-learn's ``ccp_alpha``."""
    if alpha == 0:
        return tree
    sequence, whole = _by_impurity(tree)
    return sequence.subtree(sequence.step_of(alpha / whole if whole > 0 else 0.0))


def choose_step(accuracies: np.ndarray, n_examples: float, standard_errors: float) -> int:
    """Return the smallest subtree whose error is within some standard errors of the best (the k-SE rule)."""
    errors = 1.0 - accuracies
    best = errors.min()
    # A millionth of the weight decides nothing: with extreme weights it would be the noise of negligible examples.
    return smallest_within(errors, standard_errors * np.sqrt(max(best * (1.0 - best), 0.0) / n_examples) + 1e-6)


def smallest_within(errors: np.ndarray, margin: float) -> int:
    """Return the smallest subtree whose error is within a margin of the best."""
    return int(np.flatnonzero(errors <= errors.min() + margin)[-1])


def pruning_path(sequence: PruningSequence, scores: np.ndarray, score: str = "accuracy") -> np.ndarray:
    """Return the sequence as a table: ``alpha``, ``leaves``, ``terms`` and what the scores are called.

    An accuracy is 1 at most: sums of weights are rounded.
    """
    kinds = [("alpha", float), ("leaves", np.int64), ("terms", np.int64), (score, float)]
    path = np.empty(len(scores), dtype=kinds)
    path["alpha"], path["leaves"], path["terms"] = sequence.alphas, sequence.n_leaves, sequence.n_terms
    path[score] = np.minimum(scores, 1.0) if score == "accuracy" else scores
    return path


def correct_at(sequence: PruningSequence, other: PruningSequence, right: np.ndarray) -> np.ndarray:
    """Carry the scores of another tree's subtrees over to the steps of a sequence, for cross-validation.

    Between two alphas of the sequence one subtree is best; their geometric mean stands for the interval, and `right` is
    looked up where the other tree is best for it.
    """
    typical = np.append(np.sqrt(sequence.alphas[:-1] * sequence.alphas[1:]), np.inf)
    return right[[other.step_of(alpha) for alpha in typical]]
