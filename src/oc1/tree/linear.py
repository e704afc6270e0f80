"""A binary tree of linear tests as flat arrays, which are walked by compiled code."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np

from ..data.categories import replace_by_codes
from ..kernels import _kernels
from . import validation
from .structure import FORMAT, TreeStructure

#: Fewer rows than this are not worth a thread.
MIN_ROWS_PER_THREAD = 50_000


def project(X: np.ndarray, features: np.ndarray, coefficients: np.ndarray) -> np.ndarray:
    """Return ``sum(coefficients * x[features])`` of each row, added up in the order in which `Tree.apply` does."""
    values = np.zeros(len(X))
    for feature, coefficient in zip(features, coefficients, strict=True):
        values += coefficient * X[:, feature]
    return values


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

        n_parts = min(n_jobs, max(1, len(out) // MIN_ROWS_PER_THREAD))
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
        data = validation.tree_record(data, "tests", FORMAT, validation.LINEAR, ("codes", "categories", "missing"))
        return cls(**validation.linear_tree(data))


_ARRAYS = ("children", "terms", "features", "coefficients", "thresholds", "counts", "gains", "gaps", "fill")
