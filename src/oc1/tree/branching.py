"""A tree whose tests ask for one attribute: a threshold, or a branch for each group of categories (C4.5)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from .structure import BranchRule, NodeFunctions, TreeStructure, descend
from .wording import MaxTerms


@dataclass(frozen=True, eq=False, repr=False)
class BranchTree(TreeStructure):
    """A tree whose nodes ask for a number or for a category, with any number of branches.

    Rows hold category numbers in categorical columns. A node either sends an example to the second branch if its value
    exceeds a threshold, else to the first; or it has a table that says which branch each category takes. Where a value
    is missing, or its category did not occur at the node, the example takes the branch that most of the training
    examples took.

    Attributes
    ----------
    children, counts, gains, fill, classes, feature_names, codes, categories
        See `TreeStructure`. The code of a category is its number.
    features : int32 array (n_nodes,)
        The attribute that each node asks for (0 for leaves).
    thresholds : float64 array (n_nodes,)
        Where the attribute is a number.
    tables : int64 array (n_nodes + 1,)
        Where the table of each node begins; only tests of categories have one.
    branches : int32 array (n_entries,)
        The branch that each category takes; -1 if it did not occur at the node.
    gaps : float64 array (n_nodes,)
        All 0: thresholds are values of the data.
    """

    kind: ClassVar[str] = "branches"
    has_thresholds: ClassVar[bool] = False
    _OFFSETS: ClassVar[str] = "tables"
    _PARTS: ClassVar[tuple[str, ...]] = ("branches",)
    _TESTS: ClassVar[tuple[str, ...]] = ("features", "thresholds")

    features: npt.NDArray[np.int32]
    thresholds: npt.NDArray[np.float64]
    tables: npt.NDArray[np.int64]
    branches: npt.NDArray[np.int32]
    gaps: npt.NDArray[np.float64]

    @property
    def terms_of_nodes(self) -> np.ndarray:
        """Number of terms of each test: it asks for one attribute."""
        return (~self.is_leaf).astype(np.int64)

    def table(self, node: int) -> np.ndarray:
        """Return the branch that each category takes at a node; empty where the node asks for a number."""
        return self.branches[self.tables[node] : self.tables[node + 1]]

    def answers(self, node: int, X: np.ndarray) -> np.ndarray:
        """Return the branch that each row takes at an inner node, -1 where that is not known."""
        x, table = X[:, self.features[node]], self.table(node)
        if len(table) == 0:
            return np.where(np.isnan(x), -1, x > self.thresholds[node])
        known = (x >= 0) & (x < len(table))
        return np.where(known, table[np.where(known, x, 0).astype(np.int64)], -1)

    def _apply(self, X: np.ndarray, n_jobs: int) -> np.ndarray:
        """Return the leaf that each row of a float array ends in (in one thread, whatever `n_jobs`)."""
        X, sizes = np.asarray(X, dtype=np.float64), self.counts.sum(axis=1)

        def choose(node: int, rows: np.ndarray) -> np.ndarray:
            below = self.children[node][self.children[node] >= 0]
            branches = self.answers(node, X[rows])
            return np.where(branches < 0, sizes[below].argmax(), branches)

        return descend(self.children, len(X), choose)

    def importances(self, scale: np.ndarray) -> np.ndarray:
        """Return the gain of the tests by attribute."""
        inner = ~self.is_leaf
        gains = (self.gains * self.counts.sum(axis=1))[inner]
        return np.bincount(self.features[inner], weights=gains, minlength=len(self.fill))

    def node_functions(self, node: int) -> NodeFunctions:
        """Return the attribute of an inner node as a function."""
        return NodeFunctions(self.features[node : node + 1], np.ones((1, 1)), self.thresholds[node : node + 1])

    def branch_rule(self, node: int, branch: int) -> BranchRule:
        """Return what sends an example to a branch of an inner node: its category, or its side of a threshold."""
        table = self.table(node)
        if len(table):
            return BranchRule.of_categories(int(self.features[node]), table == branch)
        sign = 1.0 if branch else -1.0
        bound = sign * self.thresholds[node : node + 1]
        return BranchRule(self.features[node : node + 1], np.array([[sign]]), bound, np.array([branch == 1]))

    def _tests_on_columns(self, columns: np.ndarray, n_columns: int) -> dict[str, np.ndarray]:
        return {"features": np.asarray(columns, dtype=np.int32)[self.features]}

    @property
    def used_features(self) -> np.ndarray:
        """The attributes that any test uses, in order."""
        return np.unique(self.features[~self.is_leaf])

    def equation_words(self, node: int, digits: int = 3, max_terms: MaxTerms = None) -> list[str]:
        """Write what an inner node asks: ``age`` and ``> 30``, or the name of a categorical attribute alone."""
        name = self.feature_name(int(self.features[node]))
        if len(self.table(node)):
            return [name]
        return [name, f"> {np.format_float_positional(self.thresholds[node], trim='-')}"]

    def branch_names(self, node: int) -> list[str]:
        """Return the categories that take each branch of an inner node."""
        table = self.table(node)
        if len(table) == 0:
            return ["no", "yes"]
        labels = np.array(self.categories[self.features[node]], dtype=object)
        return [", ".join(sorted(labels[table == branch])) for branch in range(table.max() + 1)]

    def conditions(self, node: int) -> list[str]:
        """Write what is true of the examples that take each branch of an inner node."""
        question, names = self.equation(node), self.branch_names(node)
        if len(self.table(node)) == 0:
            return [f"not ({question})", question]
        return [f"{question} in {{{name}}}" for name in names]
