"""A fitted tree as flat arrays: descend, count, prune, and turn into a plain dictionary and back."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
from scipy import sparse

from ..data.categories import replace_by_codes
from ..kernels import _kernels
from . import validation as schema

FORMAT = 1
#: The kind of a tree that predicts numbers, in its dictionary.
REGRESSION = "regression"
#: Fewer rows than this are not worth a thread.
ROWS_A_THREAD = 50_000


def project(X: np.ndarray, features: np.ndarray, coefficients: np.ndarray) -> np.ndarray:
    """Return ``sum(coefficients * x[features])`` of each row, added up in the order in which `Tree.apply` does."""
    values = np.zeros(len(X))
    for feature, coefficient in zip(features, coefficients, strict=True):
        values += coefficient * X[:, feature]
    return values


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


@dataclass(frozen=True, eq=False)
class Tree(TreeStructure):
    """A binary tree whose tests are linear combinations of attributes, in the user's units.

    Node t sends an example right if ``sum(coefficients[i] * x[features[i]]) > thresholds[t]``, for i in
    ``terms[t]:terms[t + 1]``, else left; an axis-parallel test has one term with coefficient 1. The terms of a test are
    in the order of the attributes, and the sum is taken in that order. Missing values (NaN) count as ``fill`` of their
    attribute, unless an axis-parallel test has learned where to send them. A node's left child is the next node.

    Attributes
    ----------
    children, counts, gains, fill, classes, feature_names
        See `TreeStructure`.
    terms : int64 array (n_nodes + 1,)
        Where the terms of each node begin.
    features : int32 array (n_terms,)
    coefficients : float64 array (n_terms,)
    thresholds : float64 array (n_nodes,)
    gaps : float64 array (n_nodes,)
        Distance between the nearest training examples on the two sides of each test (0 for leaves).
    codes : tuple with a float64 array or None for each attribute
        What stands for each category of a categorical attribute: rows hold category numbers 0, 1, ... (else they count
        as missing), and the tests are on their codes. Empty if no attribute is categorical.
    categories : tuple with a tuple of str or None for each attribute
        What the categories are called, for printing.
    missing : int8 array (n_nodes,)
        Where the test of each node sends missing values: -1 left, 1 right, 0 as ``fill`` says. A test that sends them
        right and has the largest float as its threshold asks only whether a value is missing. Empty if all are 0.
    """

    terms: np.ndarray
    features: np.ndarray
    coefficients: np.ndarray
    thresholds: np.ndarray
    gaps: np.ndarray
    codes: Any = field(default=(), kw_only=True)
    categories: Any = field(default=(), kw_only=True)
    missing: Any = field(default=(), kw_only=True)

    def test(self, node: int) -> tuple[np.ndarray, np.ndarray, float]:
        """Return (features, coefficients, threshold) of an inner node's test."""
        span = slice(self.terms[node], self.terms[node + 1])
        return self.features[span], self.coefficients[span], float(self.thresholds[node])

    def apply(self, X: np.ndarray, n_jobs: int = 1) -> np.ndarray:
        """Return the leaf that each row of a float array ends in; large inputs are shared among `n_jobs` threads."""
        if self.codes:
            X = replace_by_codes(X, self.codes)
        out = np.empty(X.shape[0], dtype=np.int64)
        view = _kernels.flat_view(X)
        top = _kernels.Top.make(self.children, self.terms, self.features, len(self.fill))
        missing = self.missing if len(self.missing) else np.zeros(self.n_nodes, dtype=np.int8)

        def walk(first: int, last: int) -> None:
            _kernels.apply(
                *view, self.fill, self.children, self.terms, self.features, self.coefficients, self.thresholds,
                missing, tuple(top), first, out[first:last],
            )  # fmt: skip

        n_parts = min(n_jobs, max(1, len(out) // ROWS_A_THREAD))
        if n_parts == 1:
            walk(0, len(out))
        else:
            ends = np.linspace(0, len(out), n_parts + 1).astype(int)
            with ThreadPoolExecutor(n_parts) as pool:
                list(pool.map(walk, ends[:-1], ends[1:]))
        return out

    def importances(self, scale: np.ndarray) -> np.ndarray:
        """Return the gain of the tests by attribute, shared by the size of the coefficients times `scale`."""
        importances = np.zeros(len(self.fill))
        for node in np.flatnonzero(~self.is_leaf):
            features, coefficients, _ = self.test(int(node))
            sizes = np.abs(coefficients * scale[features])
            share = sizes / sizes.sum() if sizes.sum() > 0 else np.full(len(sizes), 1 / len(sizes))
            importances[features] += self.gains[node] * self.counts[node].sum() * share
        return importances

    def cut(self, nodes: np.ndarray) -> Self:
        """Return a new tree in which the marked nodes (a boolean for each) are leaves."""
        keep, leaf, structure = self._cut_structure(nodes)
        sizes = np.where(leaf, 0, np.diff(self.terms)[keep])
        kept_terms = np.repeat(keep & ~(self.is_leaf | nodes), np.diff(self.terms))
        return replace(
            self,
            **structure,
            terms=np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
            features=self.features[kept_terms],
            coefficients=self.coefficients[kept_terms],
            thresholds=np.where(leaf, 0.0, self.thresholds[keep]),
            gaps=np.where(leaf, 0.0, self.gaps[keep]),
            missing=np.where(leaf, 0, self.missing[keep]).astype(np.int8) if len(self.missing) else (),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the tree as a plain dictionary of lists, strings and numbers, exact to the last bit."""
        return {
            "format": FORMAT,
            **{name: getattr(self, name).tolist() for name in _ARRAYS},
            "classes": self.classes.tolist(),
            "feature_names": list(self.feature_names),
            **(
                {
                    "codes": [None if own is None else own.tolist() for own in self.codes],
                    "categories": [None if own is None else list(own) for own in self.categories],
                }
                if self.codes
                else {}
            ),
            **({"missing": self.missing.tolist()} if len(self.missing) else {}),
        }

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Tree:
        """Make a tree from what `to_dict` returned; a ValueError says what is wrong with anything else."""
        data = schema.tree_record(data, "tests", FORMAT, schema.LINEAR, ("codes", "categories", "missing"))
        return cls(**schema.linear_tree(data))


_ARRAYS = ("children", "terms", "features", "coefficients", "thresholds", "counts", "gains", "gaps", "fill")


@dataclass(frozen=True, eq=False)
class RegressionTree(Tree):
    """A tree of linear tests whose leaves predict numbers.

    ``counts`` has one column, the weight of the training examples, and there are no ``classes``.

    Attributes
    ----------
    values : float64 array (n_nodes,)
        What each node predicts as a leaf.
    losses : float64 array (n_nodes,)
        Weighted sum of the loss of that prediction on the node's training examples.
    """

    values: np.ndarray
    losses: np.ndarray

    @property
    def costs(self) -> np.ndarray:
        """Cost of each node as a leaf, for pruning: its share of the loss of the root."""
        return self.losses / self.losses[0] if self.losses[0] > 0 else np.zeros(self.n_nodes)

    @property
    def impurities(self) -> np.ndarray:
        """Impurity of each node times its share of the examples, as scikit-learn prunes by: the mean loss."""
        return self.losses / self.counts[0, 0]

    def _cut_structure(self, nodes: np.ndarray) -> tuple[np.ndarray, np.ndarray, dict[str, Any]]:
        keep, leaf, structure = super()._cut_structure(nodes)
        return keep, leaf, {**structure, "values": self.values[keep], "losses": self.losses[keep]}

    def to_dict(self) -> dict[str, Any]:
        """Return the tree as a plain dictionary of lists, strings and numbers, exact to the last bit."""
        return {
            **super().to_dict(),
            "kind": REGRESSION,
            "values": self.values.tolist(),
            "losses": self.losses.tolist(),
        }

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> RegressionTree:
        """Make a tree from what `to_dict` returned; a ValueError says what is wrong with anything else."""
        fields = (*schema.LINEAR, *schema.REGRESSION)
        data = schema.tree_record(data, REGRESSION, FORMAT, fields, ("codes", "categories", "missing"))
        return cls(**schema.regression_tree(data))
