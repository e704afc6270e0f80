"""The space in which hyperplanes are searched: attributes shifted and scaled, in float32, one contiguous row each.

Random starts, jumps and the order of perturbations depend on the scale of the attributes, so the search works on
standardised ones (``"standard"``) and its answer does not change when an attribute is shifted or scaled; ``"positive"``
is the paper's own normalization, a shift into the positive quadrant, kept to repeat the paper. A fitted tree speaks in
the user's units.
"""

from __future__ import annotations

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
    """The attributes as the search sees them, ``(x - shift) / scale``, with a last row of ones."""

    columns: np.ndarray  # float32 (n_features + 1, n_samples)
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
        """Copy the given rows of X into a search space; NaN becomes the attribute's fill value."""
        n_features = X.shape[1]
        columns = np.ones((n_features + 1, len(rows)), dtype=np.float32)
        shift, scale = np.zeros(n_features), np.zeros(n_features)

        def convert(m: int) -> None:
            x = np.asarray(X[:, m], dtype=np.float64)[rows]
            x[np.isnan(x)] = fill[m]
            values = np.unique(x)
            columns[m] = 0.0
            if len(values) == 1:
                return
            # Divided by the largest, so that no square overflows.
            largest = max(abs(values[0]), abs(values[-1]))
            x /= largest
            if normalize == "standard":
                # Centred where most of the different values are: around zero float32 tells values apart that a wild
                # value or a marker such as -99999 makes close.
                centre = float(np.median(values / largest))
                unit = np.sqrt(np.average((x - np.average(x, weights=weights)) ** 2, weights=weights))
                if not unit > 0:
                    return
            else:
                centre, unit = values[0] / largest, 1.0
            columns[m] = (x - centre) / unit
            shift[m], scale[m] = centre * largest, unit * largest

        if n_jobs == 1:
            for m in range(n_features):
                convert(m)
        else:
            with ThreadPoolExecutor(n_jobs) as pool:
                list(pool.map(convert, range(n_features)))
        if normalize == "positive" and scale.max(initial=0.0) > 0:
            # One scale for all attributes: the paper only shifts them.
            common = scale.max()
            columns[:-1] *= (scale / common)[:, None].astype(np.float32)
            scale = np.where(scale > 0, common, 0.0)
        return cls(columns, shift, scale)
