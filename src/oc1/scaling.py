"""The space in which hyperplanes are searched: attributes shifted and scaled, in float32, one contiguous row each.

Random starts, jumps and the order of perturbations depend on the scale of the attributes, so the search works on
standardised ones (``"standard"``) and its answer does not change when an attribute is shifted or scaled; ``"positive"``
is the paper's own normalization, a shift into the positive quadrant, kept to repeat the paper. A fitted tree speaks in
the user's units.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

NORMALIZATIONS = ("standard", "positive")


def attribute_means(X: np.ndarray, weights: np.ndarray | None) -> np.ndarray:
    """Return the (weighted) mean of each attribute over its known values; 0 where all are missing."""
    means = np.zeros(X.shape[1])
    for m in range(X.shape[1]):
        x = np.asarray(X[:, m], dtype=np.float64)
        known = ~np.isnan(x)
        if not known.any():
            continue
        w = None if weights is None else weights[known]
        # Scaled before adding, so that values near the largest float do not overflow.
        largest = np.abs(x[known]).max()
        if largest > 0:
            means[m] = np.average(x[known] / largest, weights=w) * largest
    return means


@dataclass(frozen=True)
class SearchSpace:
    """The attributes as the search sees them: ``(x - shift) / scale``."""

    shift: np.ndarray
    scale: np.ndarray  # 0 for constant attributes

    @classmethod
    def make(
        cls,
        X: np.ndarray,
        rows: np.ndarray,
        fill: np.ndarray,
        weights: np.ndarray | None,
        normalize: str,
        n_jobs: int = 1,
    ) -> SearchSpace:
        """Find the search space of the given rows of X; NaN counts as the attribute's fill value."""
        shift, scale = np.zeros(X.shape[1]), np.zeros(X.shape[1])

        def look_at(m: int) -> None:
            x = _known(X, rows, fill, m)
            values = np.unique(x)
            if len(values) == 1:
                return
            # Divided by the largest, so that no square overflows.
            largest = max(abs(values[0]), abs(values[-1]))
            if normalize == "standard":
                # Centred where most of the different values are: around zero float32 tells values apart that a wild
                # value or a marker such as -99999 makes close. (Halved, so that the mean of two does not overflow.)
                shift[m] = 2.0 * np.median(0.5 * values)
                x /= largest
                unit = np.sqrt(np.average((x - np.average(x, weights=weights)) ** 2, weights=weights))
                scale[m] = unit * largest
            else:
                shift[m], scale[m] = values[0], largest

        _each_column(look_at, X.shape[1], n_jobs)
        if normalize == "positive":
            # One scale for all attributes: the paper only shifts them.
            scale = np.where(scale > 0, scale.max(initial=0.0), 0.0)
        return cls(shift, scale)

    def plane_of(self, features: np.ndarray, coefficients: np.ndarray, threshold: float) -> np.ndarray:
        """Return a test in the user's units as a plane of this space, ``plane . (x, 1) > 0``."""
        plane = np.zeros(len(self.scale) + 1)
        plane[features] = coefficients * self.scale[features]
        plane[-1] = coefficients @ self.shift[features] - threshold
        return plane

    def test_of(self, plane: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
        """Return a plane as a test in the user's units: features (at least one), coefficients, threshold.

        As `_kernels.oblique_test` writes it: the first coefficient is positive, and the largest one is 1 on the
        attributes of this space.
        """
        features = np.flatnonzero((plane[:-1] != 0.0) & (self.scale > 0.0))
        coefficients = plane[features] / self.scale[features]
        threshold = float(coefficients @ self.shift[features]) - plane[-1]
        factor = np.sign(plane[features[0]]) / np.abs(plane[features]).max()
        return features.astype(np.int32), coefficients * factor, float(threshold * factor)

    def columns(self, X: np.ndarray, rows: np.ndarray, fill: np.ndarray, n_jobs: int = 1) -> np.ndarray:
        """Copy the given rows of X into the search space: float32, a row for each attribute and a last one of ones."""
        columns = np.ones((X.shape[1] + 1, len(rows)), dtype=np.float32)

        def convert(m: int) -> None:
            if self.scale[m] > 0:
                # Halved, because the difference of two large numbers could overflow.
                x = 0.5 * _known(X, rows, fill, m)
                columns[m] = (x - 0.5 * self.shift[m]) * (1.0 / self.scale[m]) * 2.0
            else:
                columns[m] = 0.0

        _each_column(convert, X.shape[1], n_jobs)
        return columns


def _known(X: np.ndarray, rows: np.ndarray, fill: np.ndarray, m: int) -> np.ndarray:
    """Return a float64 copy of an attribute, missing values filled."""
    x = X[rows, m].astype(np.float64)
    x[np.isnan(x)] = fill[m]
    return x


def _each_column(task: Callable[[int], None], n_columns: int, n_jobs: int) -> None:
    if n_jobs == 1:
        for m in range(n_columns):
            task(m)
    else:
        with ThreadPoolExecutor(n_jobs) as pool:
            list(pool.map(task, range(n_columns)))
