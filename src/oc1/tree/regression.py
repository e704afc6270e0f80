"""A tree of linear tests whose leaves predict numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from .linear import Tree
from .wording import number


@dataclass(frozen=True, eq=False, repr=False)
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

    kind: ClassVar[str] = "regression"
    _NODE_ARRAYS: ClassVar[tuple[str, ...]] = (*Tree._NODE_ARRAYS, "values", "losses")

    values: npt.NDArray[np.float64]
    losses: npt.NDArray[np.float64]

    @property
    def costs(self) -> np.ndarray:
        """Cost of each node as a leaf, for pruning: its share of the loss of the root."""
        return self.losses / self.losses[0] if self.losses[0] > 0 else np.zeros(self.n_nodes)

    @property
    def impurities(self) -> np.ndarray:
        """Impurity of each node times its share of the examples, as scikit-learn prunes by: the mean loss."""
        return np.asarray(self.losses / self.counts[0, 0])

    def outputs(self, smoothing: float = 0.0) -> np.ndarray:
        """Return the number that each node predicts as a leaf, a row each."""
        return self.values[:, None]

    @property
    def leaf_scores(self) -> np.ndarray:
        """Loss of each node as a leaf on its training examples."""
        return self.losses

    def score_nodes(self, X: np.ndarray, y: np.ndarray, weights: np.ndarray | None = None) -> np.ndarray:
        """Return the weighted sum of squared errors of each node as a leaf, over the examples that reach it."""
        y, leaves = np.asarray(y, dtype=float), self.apply(X)
        each = np.ones(len(y)) if weights is None else weights
        sizes, sums, squares = (
            self.sum_upwards(np.bincount(leaves, weights=own, minlength=self.n_nodes))
            for own in (each, each * y, each * y * y)
        )
        return np.asarray(np.maximum(squares - 2 * self.values * sums + self.values**2 * sizes, 0.0))

    def label(self, node: int, digits: int = 4) -> str:
        """Write the number that a node predicts."""
        return number(self.values[node], digits)
