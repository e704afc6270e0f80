"""One example as a tree sees it, and what of it may change."""

from __future__ import annotations

from typing import NamedTuple, Self

import numpy as np

from ..data.categories import replace_by_codes
from ..tree.structure import TreeStructure

#: Farther from the average than this many standard deviations, a value is called unusual.
UNUSUAL = 4.0


class Example(NamedTuple):
    """One example as a tree sees it.

    Attributes
    ----------
    tree : TreeStructure
    row : float64 array (n_features,)
        As `TreeStructure.apply` takes it: category numbers, NaN where a value is missing.
    numbers : float64 array (n_features,)
        What the tests add up: codes for categories, and what missing values count as.
    is_missing : bool array (n_features,)
        Categories that the model does not know are missing, too.
    scale : float64 array (n_features,)
        What distances are measured in: the standard deviation of each attribute, 1 where it is 0 or not known.
    knows_averages : bool
        Whether averages and standard deviations of the training examples are known; old files do not have them.
    low, high : float64 array (n_features,)
        Where changed values must lie; infinite where they may be anything. The example itself lies there.
    """

    tree: TreeStructure
    row: np.ndarray
    numbers: np.ndarray
    is_missing: np.ndarray
    scale: np.ndarray
    knows_averages: bool
    low: np.ndarray
    high: np.ndarray

    @classmethod
    def make(cls, tree: TreeStructure, row: np.ndarray, ranges: np.ndarray | None = None) -> Self:
        """Look at a row with the eyes of a tree; changed values shall lie in `ranges` (2, n_features), where known."""
        row = np.array(row, dtype=np.float64)
        numbers = replace_by_codes(row[None, :], tree.codes)[0] if tree.codes else row
        is_missing = np.isnan(numbers)
        scale = np.asarray(tree.scale) if len(tree.scale) else np.ones(len(row))
        low, high = np.full((2, len(row)), np.nan) if ranges is None else ranges
        return cls(
            tree=tree,
            row=row,
            numbers=np.where(is_missing, tree.fill, numbers),
            is_missing=is_missing,
            scale=np.where(np.isfinite(scale) & (scale > 0), scale, 1.0),
            knows_averages=len(tree.scale) > 0,
            low=np.where(np.isnan(low), -np.inf, np.fmin(low, row)),
            high=np.where(np.isnan(high), np.inf, np.fmax(high, row)),
        )

    @property
    def leaf(self) -> int:
        """The leaf that the example ends in."""
        return int(self.tree.apply(self.row[None, :])[0])

    @property
    def path(self) -> list[int]:
        """The nodes that the example passes through, from the root to its leaf."""
        parents, path = self.tree.parents, [self.leaf]
        while parents[path[-1]] >= 0:
            path.append(int(parents[path[-1]]))
        return path[::-1]

    def fixed_branch(self, node: int) -> int | None:
        """Return the branch that a missing value decides on at a node whatever else changes; None if it does not."""
        features, coefficients, constants = self.tree.node_functions(node)
        if len(features) != 1 or not self.is_missing[features[0]]:
            return None
        if self.tree.directions[node] != 0:
            return int(self.tree.directions[node] > 0)
        if self.tree.has_thresholds:
            return int(coefficients[0, 0] * self.numbers[features[0]] > constants[0])
        return None

    def is_unusual(self, feature: int, value: float) -> bool:
        """Whether a number is more than four standard deviations away from the average, and may be anything."""
        if np.isfinite(self.low[feature]) or np.isfinite(self.high[feature]):
            return False
        with np.errstate(over="ignore"):
            far = abs(value - self.tree.fill[feature]) > UNUSUAL * self.scale[feature]
        return self.knows_averages and bool(far)

    def distance(self, rows: np.ndarray) -> np.ndarray:
        """Return how far other rows are: the root of the sum of squared differences, divided by `scale`.

        A different category counts as one standard deviation. Values that are missing here must be missing there.
        """
        with np.errstate(over="ignore"):
            steps = np.where(self.is_missing, 0.0, (rows - self.row) / self.scale)
        for feature in range(len(self.row)):
            if self.tree.is_categorical(feature):
                steps[:, feature] = steps[:, feature] != 0
        return np.asarray(np.sqrt((steps**2).sum(axis=1)))
