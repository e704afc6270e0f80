"""What all trees have in common: nodes, their children, what they saw, and how to count, walk and prune them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy import sparse

#: Version of the dictionaries that trees turn into.
FORMAT = 1


@dataclass(frozen=True, eq=False)
class TreeStructure:
    """Nodes, their children and what they saw: all that pruning and counting need to know of a tree.

    Nodes are numbered in preorder: the root is 0, and children come after their parents. What a node asks is up to the
    subclasses.

    Attributes
    ----------
    children : int32 array (n_nodes, n_branches)
        Children of each node, from the first branch on; -1 where there is none (all of them at leaves).
    counts : float64 array (n_nodes, n_classes)
        Weight of the training examples of each class.
    gains : float64 array (n_nodes,)
        Purity gained by each test (0 for leaves).
    fill : float64 array (n_features,)
        What missing values count as.
    classes : array (n_classes,)
        Labels, for printing.
    feature_names : tuple of str
    """

    children: np.ndarray
    counts: np.ndarray
    gains: np.ndarray
    fill: np.ndarray
    classes: np.ndarray
    feature_names: tuple[str, ...]

    @property
    def n_nodes(self) -> int:
        """Number of nodes, leaves included."""
        return len(self.children)

    @property
    def is_leaf(self) -> np.ndarray:
        """Whether each node is a leaf."""
        return self.children[:, 0] < 0

    @property
    def n_leaves(self) -> int:
        """Number of leaves: the paper's tree size."""
        return int(self.is_leaf.sum())

    @property
    def depths(self) -> np.ndarray:
        """Depth of each node; the root's is 0."""
        depths = np.zeros(self.n_nodes, dtype=np.int64)
        parents = self.parents
        for node in range(1, self.n_nodes):  # preorder: children come after their parents
            depths[node] = depths[parents[node]] + 1
        return depths

    @property
    def max_depth(self) -> int:
        """Depth of the deepest leaf."""
        return int(self.depths.max())

    @property
    def parents(self) -> np.ndarray:
        """Parent of each node, -1 for the root."""
        parents = np.full(self.n_nodes, -1, dtype=np.int64)
        nodes, branches = np.nonzero(self.children >= 0)
        parents[self.children[nodes, branches]] = nodes
        return parents

    @property
    def costs(self) -> np.ndarray:
        """Cost of each node as a leaf, for pruning, a share from 0 to 1: of weight that is misclassified."""
        return (self.counts.sum(axis=1) - self.counts.max(axis=1)) / self.counts[0].sum()

    @property
    def impurities(self) -> np.ndarray:
        """Impurity of each node times its share of the examples, as scikit-learn prunes by: Gini."""
        sizes = self.counts.sum(axis=1)
        return (sizes - (self.counts**2).sum(axis=1) / np.maximum(sizes, np.finfo(float).tiny)) / sizes[0]

    @property
    def majority(self) -> np.ndarray:
        """Most frequent class of each node, as an index."""
        return self.counts.argmax(axis=1)

    @property
    def probabilities(self) -> np.ndarray:
        """Share of each class at each node."""
        return self.smoothed_probabilities(0.0)

    def smoothed_probabilities(self, smoothing: float) -> np.ndarray:
        """Return the share of each class at each node with so many more examples of every class."""
        counts = self.counts + smoothing
        return counts / counts.sum(axis=1, keepdims=True)

    def apply(self, X: np.ndarray, n_jobs: int = 1) -> np.ndarray:
        """Return the leaf that each row of a float array ends in; large inputs are shared among `n_jobs` threads."""
        raise NotImplementedError

    def importances(self, scale: np.ndarray) -> np.ndarray:
        """Return the gain of the tests by attribute; `scale` makes coefficients comparable."""
        raise NotImplementedError

    def cut(self, nodes: np.ndarray) -> Self:
        """Return a new tree in which the marked nodes (a boolean for each) are leaves."""
        raise NotImplementedError

    def decision_path(self, X: np.ndarray) -> sparse.csr_matrix:
        """Return a sparse matrix (rows, nodes) that marks the nodes each row passes through."""
        parents, leaves = self.parents, self.apply(X)
        paths = {}
        for leaf in np.unique(leaves):
            path = [leaf]
            while parents[path[-1]] >= 0:
                path.append(parents[path[-1]])
            paths[leaf] = path[::-1]
        columns = [paths[leaf] for leaf in leaves]
        starts = np.concatenate([[0], np.cumsum([len(path) for path in columns])]).astype(np.int64)
        indices = np.concatenate(columns) if columns else np.empty(0, dtype=np.int64)
        ones = np.ones(len(indices), dtype=np.int64)
        return sparse.csr_matrix((ones, indices, starts), shape=(X.shape[0], self.n_nodes))

    def sum_upwards(self, at_leaves: np.ndarray) -> np.ndarray:
        """Add up values given at the leaves (zero elsewhere) so that each node has the sum over its subtree."""
        totals = np.array(at_leaves, dtype=float)
        parents = self.parents
        for node in range(self.n_nodes - 1, 0, -1):
            totals[parents[node]] += totals[node]
        return totals

    def _cut_structure(self, nodes: np.ndarray) -> tuple[np.ndarray, np.ndarray, dict[str, Any]]:
        """Return, for `cut`, which nodes stay, which of those are leaves, and the fields that all trees have."""
        keep = np.ones(self.n_nodes, dtype=bool)
        parents = self.parents
        for node in range(1, self.n_nodes):
            keep[node] = keep[parents[node]] and not nodes[parents[node]]
        leaf = (self.is_leaf | nodes)[keep]
        number = np.append(np.cumsum(keep) - 1, -1)  # -1 stays -1
        return (
            keep,
            leaf,
            {
                "children": np.where(leaf[:, None], -1, number[self.children[keep]]).astype(np.int32),
                "counts": self.counts[keep],
                "gains": np.where(leaf, 0.0, self.gains[keep]),
                "fill": self.fill,
                "classes": self.classes,
                "feature_names": self.feature_names,
            },
        )

    def __str__(self) -> str:
        """Print the tree as text, in the user's names and units."""
        from .text import text

        return text(self)
