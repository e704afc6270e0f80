"""A tree with any number of branches at a node, which asks linear machines."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from .printable import MINUS
from .structure import BranchRule, NodeFunctions, TreeStructure, descend
from .wording import MaxTerms, make_terms, write_number, write_terms


def evaluate(X: np.ndarray, functions: np.ndarray) -> np.ndarray:
    """Return the value of each function (a row of coefficients, the constant last) at each row of X.

    They are added up attribute by attribute: a matrix product would round differently for other rows beside it.
    """
    values = np.repeat(functions[None, :, -1], len(X), axis=0)
    with np.errstate(over="ignore", invalid="ignore"):
        for feature in np.flatnonzero(functions[:, :-1].any(axis=0)):
            values += X[:, feature, None] * functions[:, feature]
    return values


@dataclass(frozen=True, eq=False, repr=False)
class MachineTree(TreeStructure):
    """A tree whose nodes are linear machines, in the user's units.

    A node has a linear function of the attributes for each branch, and an example takes the branch whose function is
    largest, the first where several are. Missing values (NaN) count as ``fill`` of their attribute.

    Attributes
    ----------
    children, counts, gains, fill, classes, feature_names
        See `TreeStructure`.
    machines : int64 array (n_nodes + 1,)
        Where the functions of each node begin; leaves have none.
    functions : float64 array (n_functions, n_features + 1)
        Coefficients of the attributes, and the constant.
    labels : int32 array (n_functions,)
        The class, as an index, for which each function stands. (The branch may hold others, too.)
    gaps : float64 array (n_nodes,)
        By how much the largest function exceeds the next at the training example where it does so least (0 for leaves).
    """

    kind: ClassVar[str] = "machines"
    has_thresholds: ClassVar[bool] = False
    _OFFSETS: ClassVar[str] = "machines"
    _PARTS: ClassVar[tuple[str, ...]] = ("functions", "labels")

    machines: npt.NDArray[np.int64]
    functions: npt.NDArray[np.float64]
    labels: npt.NDArray[np.int32]
    gaps: npt.NDArray[np.float64]

    @property
    def terms_of_nodes(self) -> np.ndarray:
        """Number of coefficients in the functions of each node, without those that are 0."""
        before = np.concatenate([[0], np.cumsum(np.count_nonzero(self.functions[:, :-1], axis=1))])
        return np.diff(before[self.machines]).astype(np.int64)

    def machine(self, node: int) -> tuple[np.ndarray, np.ndarray]:
        """Return (functions, labels) of an inner node, a row for each branch."""
        span = slice(self.machines[node], self.machines[node + 1])
        return self.functions[span], self.labels[span]

    def _apply(self, X: np.ndarray, n_jobs: int) -> np.ndarray:
        """Return the leaf that each row of a float array ends in (in one thread, whatever `n_jobs`)."""
        X = np.where(np.isnan(X), self.fill, X)

        def largest(node: int, rows: np.ndarray) -> np.ndarray:
            return np.asarray(evaluate(X[rows], self.machine(node)[0]).argmax(axis=1))

        return descend(self.children, len(X), largest)

    def importances(self, scale: np.ndarray) -> np.ndarray:
        """Return the gain of the machines by attribute, shared by the dispersion of its coefficients times `scale`."""
        importances = np.zeros(len(self.fill))
        for node in np.flatnonzero(~self.is_leaf):
            functions, _ = self.machine(int(node))
            sizes = functions[:, :-1].std(axis=0) * scale
            if sizes.sum() > 0:
                importances += self.gains[node] * self.counts[node].sum() * sizes / sizes.sum()
        return importances

    def node_functions(self, node: int) -> NodeFunctions:
        """Return the functions of an inner node's machine, one for each branch."""
        functions, _ = self.machine(node)
        used = np.flatnonzero(functions[:, :-1].any(axis=0))
        return NodeFunctions(used, functions[:, used], functions[:, -1])

    def branch_rule(self, node: int, branch: int) -> BranchRule:
        """Return what makes the function of a branch the largest, the first where several are."""
        functions, _ = self.machine(node)
        others = np.delete(np.arange(len(functions)), branch)
        used = np.flatnonzero(functions[:, :-1].any(axis=0))
        ahead = functions[branch] - functions[others]
        return BranchRule(used, ahead[:, used], -ahead[:, -1], others < branch)

    def _tests_on_columns(self, columns: np.ndarray, n_columns: int) -> dict[str, np.ndarray]:
        functions = np.zeros((len(self.functions), n_columns + 1))
        functions[:, columns], functions[:, -1] = self.functions[:, :-1], self.functions[:, -1]
        return {"functions": functions}

    @property
    def used_features(self) -> np.ndarray:
        """The attributes that any function uses, in order."""
        return np.flatnonzero(self.functions[:, :-1].any(axis=0))

    def equation_words(self, node: int, digits: int = 3, max_terms: MaxTerms = None) -> list[str]:
        """Write the classes whose functions an inner node compares."""
        *names, last = self.branch_names(node)
        return ["largest of", *(f"{name}," for name in names), last]

    def question(self, node: int, digits: int = 3, max_terms: MaxTerms = None) -> list[str]:
        """Write what an inner node asks, where its branches are written below it."""
        return ["largest of"]

    def branch_names(self, node: int) -> list[str]:
        """Return the class for which each branch of an inner node stands."""
        return [str(name) for name in self.classes[self.machine(node)[1]]]

    def branch_functions(self, node: int, digits: int = 3, max_terms: MaxTerms = None) -> list[str]:
        """Write the function of each branch of an inner node, like ``0.37 petal_len − petal_wid + 0.4``.

        The constant gets more digits where it needs them to keep the examples in their branches.
        """
        written = []
        for row in self.machine(node)[0]:
            features, constant = np.flatnonzero(row[:-1]), row[-1]
            words = write_terms(make_terms(self, features, row[features]), digits, max_terms)
            number = write_number(abs(constant), digits, self.gaps[node])
            written.append(f"{' '.join(words)} {MINUS if constant < 0 else '+'} {number}")
        return written

    def conditions(self, node: int) -> list[str]:
        """Write what is true of the examples that take each branch of an inner node."""
        return [f"{name} is largest" for name in self.branch_names(node)]
