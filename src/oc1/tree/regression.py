"""A tree of linear tests whose leaves predict numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from . import validation
from .linear import Tree
from .structure import FORMAT

#: The kind of a tree that predicts numbers, in its dictionary.
KIND = "regression"


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
            "kind": KIND,
            "values": self.values.tolist(),
            "losses": self.losses.tolist(),
        }

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> RegressionTree:
        """Make a tree from what `to_dict` returned; a ValueError says what is wrong with anything else."""
        fields = (*validation.LINEAR, *validation.REGRESSION)
        data = validation.tree_record(data, KIND, FORMAT, fields, ("codes", "categories", "missing"))
        return cls(**validation.regression_tree(data))
