"""Linear tests in the user's units: how one is written, where its threshold goes, and what a plane becomes.

A *plane* belongs to the search space (see `oc1.data.search_space`); what a tree stores is a test on the user's numbers.
The compiled kernels write tests in the same way (see `oc1.kernels`), so that both give the same tree.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from ..data.search_space import SearchSpace
from ..kernels.layout import BY_FILL
from ..tree.linear import project


class Split(Protocol):
    """A question with several answers."""

    @property
    def n_branches(self) -> int:
        """How many answers."""

    def branches(self, X: np.ndarray) -> np.ndarray:
        """Return the branch of each row, or -1 where the question cannot be answered (a value is missing)."""


def midway(below: float, above: float) -> float:
    """Return a threshold in the middle of two neighbouring values, of which only the second is above it."""
    middle = below + 0.5 * (above - below)
    return float(middle) if below <= middle < above else float(below)


@dataclass(frozen=True)
class LinearTest:
    """A test ``sum(coefficients * x[features]) > threshold`` in the user's units: branch 1 if so, else branch 0.

    With a single attribute, `missing` may say that missing values go left (-1) or right (1); 0: see `Tree`.
    """

    features: np.ndarray
    coefficients: np.ndarray
    threshold: float
    gap: float = 0.0
    n_branches: int = 2
    missing: int = BY_FILL

    @classmethod
    def of_plane(cls, plane: np.ndarray, threshold: float, X: np.ndarray) -> LinearTest:
        """Make the test ``plane . x > threshold``, its threshold midway between the nearest rows of X on both sides.

        Terms with coefficient 0 are left out, the first coefficient becomes positive and the largest 1 in size.
        """
        features = np.flatnonzero(plane)
        if len(features) == 0:
            return cls(features.astype(np.int32), np.empty(0), threshold)
        factor = np.sign(plane[features[0]]) / np.abs(plane).max()
        coefficients, threshold = plane[features] * factor, float(threshold * factor)
        test = cls(features.astype(np.int32), coefficients, threshold)
        values = project(X, features, coefficients)
        return test.centred(values) if (values > threshold).any() and not (values > threshold).all() else test

    @classmethod
    def of_search_plane(cls, plane: np.ndarray, space: SearchSpace, missing: int = BY_FILL) -> LinearTest:
        """Return a plane of the search space, which has a term at least, as a test in the user's units."""
        # A constant attribute can only be of use where it is asked whether it is missing.
        features = np.flatnonzero((plane[:-1] != 0.0) & ((space.scale > 0.0) | (missing != BY_FILL)))
        if len(features) != 1:
            return cls(*space.test_of(plane))
        m = features[0]
        at = -plane[-1] / plane[m] * space.scale[m]
        threshold = space.shift[m] + at
        if threshold - space.shift[m] > at:
            threshold = np.nextafter(threshold, -np.inf)  # rounded up, it could be the value above it
        return cls(features.astype(np.int32), np.ones(1), float(threshold), missing=missing)

    def centred(self, values: np.ndarray, moves: bool = True) -> LinearTest:
        """Put the threshold midway between the nearest examples on its two sides, whose projections these are.

        One that is not to move only learns how far apart those are.
        """
        right = values > self.threshold
        below, above = values[~right].max(), values[right].min()
        threshold = midway(below, above) if moves else self.threshold
        return replace(self, threshold=threshold, gap=float(above - below))

    def branches(self, X: np.ndarray) -> np.ndarray:
        """Return the branch of each row, -1 where a value is missing."""
        values = project(X, self.features, self.coefficients)
        unknown = -1 if self.missing == BY_FILL else self.missing > 0
        return np.where(np.isnan(values), unknown, values > self.threshold)
