"""A binary tree of linear tests as flat arrays, which are walked by compiled code."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from .node_arrays import BinaryNodeArrays
from .structure import BranchRule, NodeFunctions, TreeStructure
from .wording import MaxTerms, make_terms, shares_of, write_membership, write_number, write_terms


def project(X: np.ndarray, features: np.ndarray, coefficients: np.ndarray) -> np.ndarray:
    """Return ``sum(coefficients * x[features])`` of each row, added up in the order in which `Tree.apply` does."""
    values = np.zeros(len(X))
    with np.errstate(over="ignore", invalid="ignore"):
        for feature, coefficient in zip(features, coefficients, strict=True):
            values += coefficient * X[:, feature]
    return values


@dataclass(frozen=True, eq=False, repr=False)
class Tree(BinaryNodeArrays, TreeStructure):
    """A binary tree whose tests are linear combinations of attributes, in the user's units.

    Node t sends an example right if ``sum(coefficients[i] * x[features[i]]) > thresholds[t]``, for i in
    ``terms[t]:terms[t + 1]``, else left; an axis-parallel test has one term with coefficient 1. The terms of a test are
    in the order of the attributes, and the sum is taken in that order. Missing values (NaN) count as ``fill`` of their
    attribute, unless an axis-parallel test has learned where to send them. A node's left child is the next node.

    The names of scikit-learn's trees (``children_left``, ``feature``, ``threshold``, ``impurity``, ``value``, ...) are
    there, too: see `oc1.tree.node_arrays`.

    Attributes
    ----------
    children, counts, gains, fill, classes, feature_names, codes, categories
        See `TreeStructure`.
    missing : int8 array (n_nodes,)
        Where each test sends missing values: -1 left, 1 right, 0 as ``fill`` says. A test that sends them right and has
        the largest float as its threshold asks only whether a value is missing. Empty if all are 0.
    terms : int64 array (n_nodes + 1,)
        Where the terms of each node begin.
    features : int32 array (n_terms,)
    coefficients : float64 array (n_terms,)
    thresholds : float64 array (n_nodes,)
    gaps : float64 array (n_nodes,)
        Distance between the nearest training examples on the two sides of each test (0 for leaves).
    """

    kind: ClassVar[str] = "tests"
    has_thresholds: ClassVar[bool] = True
    _OFFSETS: ClassVar[str] = "terms"
    _PARTS: ClassVar[tuple[str, ...]] = ("features", "coefficients")
    _TESTS: ClassVar[tuple[str, ...]] = ("thresholds",)

    terms: npt.NDArray[np.int64]
    features: npt.NDArray[np.int32]
    coefficients: npt.NDArray[np.float64]
    thresholds: npt.NDArray[np.float64]
    gaps: npt.NDArray[np.float64]

    @property
    def terms_of_nodes(self) -> np.ndarray:
        """Number of coefficients of each test."""
        return np.diff(self.terms)

    def test(self, node: int) -> tuple[np.ndarray, np.ndarray, float]:
        """Return (features, coefficients, threshold) of an inner node's test."""
        span = slice(self.terms[node], self.terms[node + 1])
        return self.features[span], self.coefficients[span], float(self.thresholds[node])

    def answers(self, node: int, X: np.ndarray) -> np.ndarray:
        """Return the branch that each row takes at an inner node, -1 where a value is missing."""
        features, coefficients, threshold = self.test(node)
        values = project(X, features, coefficients)
        return np.where(np.isnan(values), -1, values > threshold)

    def _apply(self, X: np.ndarray, n_jobs: int) -> np.ndarray:
        """Return the leaf that each row of a float array ends in; large inputs are shared among `n_jobs` threads."""
        from .forest import Forest  # which is made of trees

        return Forest.of_tree(self).apply(X, self.fill, self.codes, n_jobs=n_jobs)[:, 0]

    def importances(self, scale: np.ndarray) -> np.ndarray:
        """Return the gain of the tests by attribute, shared by the size of the coefficients times `scale`."""
        importances = np.zeros(len(self.fill))
        for node in np.flatnonzero(~self.is_leaf).tolist():
            features, coefficients, _ = self.test(node)
            shares = shares_of(coefficients * scale[features])
            importances[features] += self.gains[node] * self.counts[node].sum() * shares
        return importances

    def node_functions(self, node: int) -> NodeFunctions:
        """Return the test of an inner node as a function and a threshold."""
        features, coefficients, _ = self.test(node)
        return NodeFunctions(features, coefficients[None, :], self.thresholds[node : node + 1])

    def branch_rule(self, node: int, branch: int) -> BranchRule:
        """Return what sends an example without missing values left (0) or right (1) at an inner node."""
        features, coefficients, threshold = self.test(node)
        if len(features) == 1 and self.is_categorical(int(features[0])):
            goes_right = coefficients[0] * np.asarray(self.codes[features[0]]) > threshold
            return BranchRule.of_categories(int(features[0]), goes_right == bool(branch))
        sign = 1.0 if branch else -1.0
        return BranchRule(features, sign * coefficients[None, :], np.array([sign * threshold]), np.array([branch == 1]))

    def _tests_on_columns(self, columns: np.ndarray, n_columns: int) -> dict[str, np.ndarray]:
        return {"features": np.asarray(columns, dtype=np.int32)[self.features]}

    @property
    def used_features(self) -> np.ndarray:
        """The attributes that any test uses, in order."""
        return np.unique(self.features)

    def threshold_of(self, node: int) -> float | None:
        """Return the threshold of a node; None for leaves and for tests that only ask whether a value is missing."""
        only_missing = len(self.missing) and self.missing[node] > 0 and self.thresholds[node] == np.finfo(float).max
        return None if self.children[node, 0] < 0 or only_missing else float(self.thresholds[node])

    def equation_words(self, node: int, digits: int = 3, max_terms: MaxTerms = None) -> list[str]:
        """Write the terms of a test and the comparison, like ``0.37 a``, ``− 1.2 b``, ``> 0.4``; or categories."""
        features, coefficients, threshold = self.test(node)
        if len(features) == 1 and self.is_categorical(int(features[0])):
            return [write_membership(self, node)]
        words = write_terms(make_terms(self, features, coefficients), digits, max_terms)
        if self.threshold_of(node) is None:
            return [*words, "missing"]
        side = int(self.missing[node]) if len(self.missing) else 0
        suffix = {-1: " and not missing", 0: "", 1: " or missing"}[side]
        return [*words, f"> {write_number(threshold, digits, self.gaps[node])}{suffix}"]

    def branch_names(self, node: int) -> list[str]:
        """Return what the branches of an inner node are called."""
        return ["no", "yes"]

    def conditions(self, node: int) -> list[str]:
        """Write what is true of the examples that take each branch of an inner node."""
        test = self.equation(node)
        several = test.endswith((" or missing", " and not missing"))
        return [f"not ({test})", f"({test})" if several else test]
