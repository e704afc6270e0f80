"""The space in which hyperplanes are searched: attributes shifted and scaled, in float32, one contiguous row each.

Random starts, jumps and the order of perturbations depend on the scale of the attributes, so the search works on
standardised ones (``"standard"``) and its answer does not change when an attribute is shifted or scaled; ``"positive"``
makes all attributes positive, as the paper has it, by a shift of those with negative values, as in the authors'
program, and is kept to repeat the paper. A fitted tree speaks in the user's units.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..kernels.histograms import gather_columns
from ..kernels.records import flat_view
from .exact_moments import ExactMoments, exact_moments, in_threads

NORMALIZATIONS = ("standard", "positive")
#: Rows, evenly spread, whose values say where an attribute is centred.
MAX_SAMPLED_ROWS = 20_000
#: Where attributes are shifted only if they have negative values: one is shifted, too, whose values differ by less than
#: this share of their size, and all are scaled if their values are larger or smaller than float32 easily multiplies.
MIN_SPREAD = 2.0**-12
MAX_UNSCALED = 1e12
#: Rows to copy that make another thread worthwhile.
MIN_ROWS_PER_THREAD = 50_000


def sample_positions(n_rows: int) -> np.ndarray:
    """Return the positions, evenly spread, of the rows that show where the values of attributes lie."""
    if n_rows <= MAX_SAMPLED_ROWS:
        return np.arange(n_rows)
    return np.linspace(0, n_rows - 1, MAX_SAMPLED_ROWS).astype(np.int64)


def centre_of(values: np.ndarray) -> np.ndarray:
    """Return the median of the different values of each column; nothing is missing."""
    shift = np.zeros(values.shape[1])
    for m in range(values.shape[1] if len(values) else 0):
        different = np.unique(values[:, m])
        # Halved, so that the sum does not overflow; adding 0.0 turns -0.0 into 0.0.
        shift[m] = 0.5 * different[(len(different) - 1) // 2] + 0.5 * different[len(different) // 2] + 0.0
    return shift


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
        moments: ExactMoments | None = None,
    ) -> SearchSpace:
        """Find the search space of the given rows of X, which have these weights; NaN counts as the fill value.

        If their moments are known, they need not be added up.
        """
        moments = exact_moments(X, weights, rows, n_jobs) if moments is None else moments
        return cls.of_moments(moments.filled(fill), filled(X[rows[sample_positions(len(rows))]], fill), normalize)

    @classmethod
    def of_moments(cls, moments: ExactMoments, sample: np.ndarray, normalize: str) -> SearchSpace:
        """Find the search space of rows from their moments and from the rows at `sample_positions`, both filled."""
        lowest, highest = moments.lowest, moments.highest
        varies = lowest < highest
        if normalize == "standard":
            # Centred where most of the different values are: around zero float32 tells values apart that a wild value
            # or a marker such as -99999 makes close.
            shift, scale = centre_of(sample), moments.deviations
            varies &= scale >= np.finfo(np.float64).tiny  # below, 1 / scale is infinite
        else:
            # As the authors' program: attributes with negative values are shifted, none is scaled. But float32 must be
            # able to hold the values, and to tell them apart.
            sizes = np.maximum(np.abs(lowest), np.abs(highest))
            is_narrow = 0.5 * highest - 0.5 * lowest < 0.5 * MIN_SPREAD * sizes  # halved: a difference could overflow
            shift, largest = np.where((lowest < 0.0) | is_narrow, lowest, 0.0), sizes[varies].max(initial=0.0)
            scale = np.full(len(shift), 1.0 if 1.0 / MAX_UNSCALED <= largest <= MAX_UNSCALED else largest)
        return cls(np.where(varies, shift, 0.0), np.where(varies, scale, 0.0))

    def plane_of(self, features: np.ndarray, coefficients: np.ndarray, threshold: float) -> np.ndarray:
        """Return a test in the user's units as a plane of this space, ``plane . (x, 1) > 0``."""
        plane = np.zeros(len(self.scale) + 1)
        plane[features] = coefficients * self.scale[features]
        plane[-1] = coefficients @ self.shift[features] - threshold
        return plane

    def test_of(self, plane: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
        """Return a plane as a test in the user's units: features (at least one), coefficients, threshold.

        As `kernels.split.oblique_test` writes it: the first coefficient is positive, and the largest one is 1 on the
        attributes of this space.
        """
        features = np.flatnonzero((plane[:-1] != 0.0) & (self.scale > 0.0))
        coefficients = plane[features] / self.scale[features]
        threshold = float(coefficients @ self.shift[features]) - plane[-1]
        factor = np.sign(plane[features[0]]) / np.abs(plane[features]).max()
        return features.astype(np.int32), coefficients * factor, float(threshold * factor)

    def columns(self, X: np.ndarray, rows: np.ndarray, fill: np.ndarray, n_jobs: int = 1) -> np.ndarray:
        """Copy the given rows of X into the search space: float32, a row for each attribute and a last one of ones."""
        columns = np.empty((X.shape[1] + 1, len(rows)), dtype=np.float32)
        columns[-1] = 1.0
        view, places = flat_view(X), np.ascontiguousarray(rows, dtype=np.int64)
        n_parts = min(n_jobs, 1 + len(rows) // MIN_ROWS_PER_THREAD)
        bounds = np.linspace(0, len(rows), n_parts + 1).astype(int).tolist()

        def convert(part: int) -> None:
            with np.errstate(all="ignore"):  # for NUMBA_DISABLE_JIT
                gather_columns(*view, places, fill, self.shift, self.scale, *bounds[part : part + 2], columns)

        in_threads(convert, n_parts, n_parts)
        return columns


def filled(X: np.ndarray, fill: np.ndarray) -> np.ndarray:
    """Return X with the attributes' fill values in place of NaN, in float64."""
    return np.where(np.isnan(X), fill, X).astype(np.float64, copy=False)
