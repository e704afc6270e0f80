"""Means and spreads of attributes without rounding: the same, bit for bit, in any order and any division of the rows.

The sums behind them are whole numbers (see `oc1.kernels.exact_sums`), so what the parts of the data add up to does not
depend on the parts, and an example of weight 2 counts as two. Only a mean or a standard deviation is rounded, once.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, reduce
from math import isqrt
from operator import add
from typing import TypeVar

import numpy as np

from ..kernels.exact_sums import SHAPE, SMALLEST, add_values

NO_WEIGHTS = np.empty(0)  # all examples count alike
#: Rows whose attributes are added up one after the other: they fit into the cache.
ROWS_AT_ONCE = 2**15
#: Of the sums, each of which counts in powers of the smallest float.
UNITS = np.array([[Fraction(1, 1 << -SMALLEST * n_factors)] for n_factors in (1, 2, 3, 1)], dtype=object)

Result = TypeVar("Result")


@dataclass(frozen=True)
class ExactMoments:
    """What the values of each attribute add up to, over some rows; the sum of two is that of the rows of both.

    Attributes
    ----------
    lowest, highest : float arrays (d,)
        Of the known values; infinite if there are none.
    sums : object array (4, d) of Fraction
        The weight of the known values, the sums of weight * value and weight * value**2, the weight of missing values.
    """

    lowest: np.ndarray
    highest: np.ndarray
    sums: np.ndarray

    def __add__(self, other: ExactMoments) -> ExactMoments:
        lowest, highest = np.minimum(self.lowest, other.lowest), np.maximum(self.highest, other.highest)
        return ExactMoments(lowest, highest, self.sums + other.sums)

    def filled(self, fill: np.ndarray) -> ExactMoments:
        """Return the sums with the attributes' fill values in place of missing ones."""
        known, total, squares, missing = self.sums
        if not missing.any():
            return self
        whole = np.array([Fraction(value) for value in fill.tolist()], dtype=object)
        sums = [known + missing, total + missing * whole, squares + missing * whole**2, 0 * missing]
        own = np.where(missing > 0, fill + 0.0, np.nan)  # not -0.0
        return ExactMoments(np.fmin(self.lowest, own), np.fmax(self.highest, own), np.array(sums))

    @property
    def means(self) -> np.ndarray:
        """The float nearest to the mean of the known values of each attribute, 0 where all are missing."""
        known, total, _, _ = self.sums
        return np.array([float(t / k) if k else 0.0 for k, t in zip(known, total, strict=True)])

    @cached_property
    def deviations(self) -> np.ndarray:
        """The float nearest to the standard deviation of the known values of each attribute, 0 without any."""
        known, total, squares, _ = self.sums
        return np.array(
            [_root(s / k - (t / k) ** 2) if k else 0.0 for k, t, s in zip(known, total, squares, strict=True)]
        )


def exact_moments(
    X: np.ndarray, weights: np.ndarray | None = None, rows: np.ndarray | None = None, n_jobs: int = 1
) -> ExactMoments:
    """Add up the attributes of the given rows.

    Parameters
    ----------
    X : float array (n_samples, n_features)
        NaN is missing, all else is finite.
    weights : float array, optional
        Of the rows, none negative; all count 1 by default.
    rows : int array, optional
        All by default.
    n_jobs : int
        Threads, over rows.

    Returns
    -------
    ExactMoments
    """
    n_rows = len(X) if rows is None else len(rows)
    n_parts = max(1, min(n_jobs, n_rows // ROWS_AT_ONCE))
    bounds = np.linspace(0, n_rows, n_parts + 1).astype(int).tolist()
    return reduce(add, in_threads(lambda part: _add_up(X, weights, rows, *bounds[part : part + 2]), n_parts, n_parts))


def exact_sum(values: np.ndarray) -> Fraction:
    """Return the sum of finite values without rounding."""
    total: Fraction = exact_moments(values[:, None]).sums[1, 0]
    return total


def in_threads(task: Callable[[int], Result], n_tasks: int, n_jobs: int) -> list[Result]:
    """Call a task with each number from 0 to `n_tasks` - 1, in threads; return the results."""
    if n_jobs == 1:
        return [task(number) for number in range(n_tasks)]
    with ThreadPoolExecutor(n_jobs) as pool:
        return list(pool.map(task, range(n_tasks)))


def _add_up(X: np.ndarray, weights: np.ndarray | None, rows: np.ndarray | None, first: int, stop: int) -> ExactMoments:
    """Add up the attributes of some of the rows."""
    n_features = X.shape[1]
    lowest, highest = np.full(n_features, np.inf), np.full(n_features, -np.inf)
    totals = np.zeros((SHAPE[0], n_features), dtype=object)
    for start in range(first, stop, ROWS_AT_ONCE):
        part = slice(start, min(start + ROWS_AT_ONCE, stop))
        own_weights = NO_WEIGHTS if weights is None else np.ascontiguousarray(weights[part], dtype=np.float64)
        own_rows = part if rows is None else rows[part]
        for m in range(n_features):
            values = np.ascontiguousarray(X[own_rows, m], dtype=np.float64)
            sums = np.zeros(SHAPE, dtype=np.int64)
            low, high = add_values(values, own_weights, sums)
            lowest[m], highest[m] = min(lowest[m], low), max(highest[m], high)
            used = np.flatnonzero(sums.any(axis=0))
            totals[:, m] += (sums[:, used].astype(object) << used.astype(object)).sum(axis=1)
    return ExactMoments(lowest + 0.0, highest + 0.0, totals * UNITS)  # not -0.0: which zero comes first may not matter


def _root(square: Fraction) -> float:
    """Return the float nearest to the square root of a fraction."""
    numerator, denominator = square.as_integer_ratio()
    # A root of more than 60 bits, whose last bit says whether there are more, rounds as the true one does.
    bits = max(0, 64 + (denominator.bit_length() - numerator.bit_length()) // 2)
    scaled = numerator << 2 * bits
    root = isqrt(scaled // denominator)
    if root * root * denominator != scaled:
        root |= 1
    return root / (1 << bits)
