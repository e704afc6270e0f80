"""A tree with any number of branches at a node, which asks linear machines."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from . import validation
from .structure import FORMAT, TreeStructure

KIND = "machines"


def evaluate(X: np.ndarray, functions: np.ndarray) -> np.ndarray:
    """Return the value of each function (a row of coefficients, the constant last) at each row of X.

    They are added up attribute by attribute: a matrix product would round differently for other rows beside it.
    """
    values = np.repeat(functions[None, :, -1], len(X), axis=0)
    with np.errstate(over="ignore", invalid="ignore"):
        for feature in np.flatnonzero(functions[:, :-1].any(axis=0)):
            values += X[:, feature, None] * functions[:, feature]
    return values


@dataclass(frozen=True, eq=False)
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

    machines: np.ndarray
    functions: np.ndarray
    labels: np.ndarray
    gaps: np.ndarray

    def machine(self, node: int) -> tuple[np.ndarray, np.ndarray]:
        """Return (functions, labels) of an inner node, a row for each branch."""
        span = slice(self.machines[node], self.machines[node + 1])
        return self.functions[span], self.labels[span]

    def apply(self, X: np.ndarray, n_jobs: int = 1) -> np.ndarray:
        """Return the leaf that each row of a float array ends in (in one thread, whatever `n_jobs`)."""
        X = np.where(np.isnan(X), self.fill, X)
        out = np.empty(len(X), dtype=np.int64)
        rows = {0: np.arange(len(X))}
        for node in range(self.n_nodes):  # preorder: children come after their parents
            here = rows.pop(node)
            if self.children[node, 0] < 0:
                out[here] = node
                continue
            functions, _ = self.machine(node)
            branches = evaluate(X[here], functions).argmax(axis=1)
            for branch in range(len(functions)):
                rows[int(self.children[node, branch])] = here[branches == branch]
        return out

    def importances(self, scale: np.ndarray) -> np.ndarray:
        """Return the gain of the machines by attribute, shared by the dispersion of its coefficients times `scale`."""
        importances = np.zeros(len(self.fill))
        for node in np.flatnonzero(~self.is_leaf):
            functions, _ = self.machine(int(node))
            sizes = functions[:, :-1].std(axis=0) * scale
            if sizes.sum() > 0:
                importances += self.gains[node] * self.counts[node].sum() * sizes / sizes.sum()
        return importances

    def cut(self, nodes: np.ndarray) -> MachineTree:
        """Return a new tree in which the marked nodes (a boolean for each) are leaves."""
        keep, leaf, structure = self._cut_structure(nodes)
        sizes = np.diff(self.machines)
        kept = np.repeat(keep & ~(self.is_leaf | nodes), sizes)
        return MachineTree(
            **structure,
            machines=np.concatenate([[0], np.cumsum(np.where(leaf, 0, sizes[keep]))]).astype(np.int64),
            functions=self.functions[kept],
            labels=self.labels[kept],
            gaps=np.where(leaf, 0.0, self.gaps[keep]),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the tree as a plain dictionary of lists, strings and numbers, exact to the last bit."""
        return {
            "format": FORMAT,
            "kind": KIND,
            **{name: getattr(self, name).tolist() for name in _ARRAYS},
            "classes": self.classes.tolist(),
            "feature_names": list(self.feature_names),
        }

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> MachineTree:
        """Make a tree from what `to_dict` returned; a ValueError says what is wrong with anything else."""
        return cls(**validation.machine_tree(validation.tree_record(data, KIND, FORMAT, validation.MACHINES)))


_ARRAYS = ("children", "machines", "functions", "labels", "counts", "gains", "gaps", "fill")
