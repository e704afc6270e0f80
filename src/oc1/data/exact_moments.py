"""Means and spreads of attributes without rounding: the same, bit for bit, in any order and any division of the rows.

The sums behind them are whole numbers (see `oc1.kernels.exact_sums`), so what the parts of the data add up to does not
depend on the parts, and an example of weight 2 counts as two. Only a mean or a standard deviation is rounded, once.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from math import isqrt, prod
from operator import add
from typing import TypeVar

import numpy as np

from ..kernels._notice import announce_compiling
from ..kernels.exact_sums import MISSING, MOST_VALUES, SHAPE, SMALLEST, add_values

NO_WEIGHTS = np.empty(0)  # all examples count alike

Result = TypeVar("Result")


@dataclass(frozen=True)
class ExactMoments:
    """What the values of each attribute add up to, over some rows; the sum of two is that of the rows of both.

    Attributes
    ----------
    lowest, highest : float arrays (d,)
        Of the known values; infinite if there are none.
    sums : object array (5, d) of int
        The number of missing values; then, in units of powers of the smallest float, 2**-1074: the weight of the known
        values and that of the missing ones (in smallest floats), the sum of weight * value (in their squares), and the
        sum of weight * value**2 (in their cubes).
    """

    lowest: np.ndarray
    highest: np.ndarray
    sums: np.ndarray

    def __add__(self, other: ExactMoments) -> ExactMoments:
        if len(self.lowest) != len(other.lowest):
            raise ValueError(f"{len(self.lowest)} attributes and {len(other.lowest)} do not add up")
        lowest, highest = np.minimum(self.lowest, other.lowest), np.maximum(self.highest, other.highest)
        return ExactMoments(lowest, highest, self.sums + other.sums)

    def filled(self, fill: np.ndarray) -> ExactMoments:
        """Return the sums with the attributes' fill values in place of missing ones."""
        n_missing, known, missing, total, squares = self.sums
        if not n_missing.any():
            return self
        ratios = (value.as_integer_ratio() for value in fill.tolist())
        whole = np.array([(numerator << -SMALLEST) // denominator for numerator, denominator in ratios], dtype=object)
        nothing = np.zeros_like(missing)
        sums = [nothing, known + missing, nothing, total + missing * whole, squares + missing * whole**2]
        is_filled = n_missing > 0
        lowest, highest = (np.where(is_filled, fill + 0.0, own) for own in (self.lowest, self.highest))  # not -0.0
        return ExactMoments(np.minimum(self.lowest, lowest), np.maximum(self.highest, highest), np.array(sums))

    @property
    def means(self) -> np.ndarray:
        """The float nearest to the mean of the known values of each attribute, 0 where all are missing."""
        _, known, _, total, _ = self.sums
        return np.array([t / (k << -SMALLEST) if k else 0.0 for k, t in zip(known, total, strict=True)])

    @property
    def deviations(self) -> np.ndarray:
        """The float nearest to the standard deviation of the known values of each attribute, 0 without any."""
        return np.array([_deviation(known, total, squares) for _, known, _, total, squares in self.sums.T])


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
    n_parts = max(1, min(n_jobs, n_rows // MOST_VALUES))
    bounds = np.linspace(0, n_rows, n_parts + 1).astype(int).tolist()
    with announce_compiling():
        return reduce(
            add, in_threads(lambda part: _add_up(X, weights, rows, *bounds[part : part + 2]), n_parts, n_parts)
        )


def exact_sum(values: np.ndarray) -> Fraction:
    """Return the sum of finite values without rounding."""
    _, _, _, total, _ = exact_moments(values[:, None]).sums[:, 0]
    return Fraction(total, 1 << -2 * SMALLEST)


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
    totals = [[0, 0, 0, 0] for _ in range(n_features)]
    n_missing = [0] * n_features
    bins, used = np.zeros(SHAPE, dtype=np.int64), np.empty((prod(SHAPE), 3), dtype=np.int64)
    for start in range(first, stop, MOST_VALUES):
        part = slice(start, min(start + MOST_VALUES, stop))
        own_weights = NO_WEIGHTS if weights is None else np.ascontiguousarray(weights[part], dtype=np.float64)
        own_rows = part if rows is None else rows[part]
        for m in range(n_features):  # of rows that are in the cache
            values = np.ascontiguousarray(X[own_rows, m], dtype=np.float64)
            n_known, low, high, n_used = add_values(values, own_weights, bins, used)
            for power, place, digits in used[:n_used].tolist():
                totals[m][power] += digits << place
            lowest[m], highest[m] = min(lowest[m], low), max(highest[m], high)
            n_missing[m] += len(values) - n_known
    # Not -0.0, because which zero is met first should not matter.
    sums = [[gone, own[0], own[MISSING], own[1], own[2]] for gone, own in zip(n_missing, totals, strict=True)]
    return ExactMoments(lowest + 0.0, highest + 0.0, np.array(sums, dtype=object).reshape(n_features, 5).T)


def _deviation(known: int, total: int, squares: int) -> float:
    if not squares:
        return 0.0
    # In larger units, which makes the numbers a tenth as long.
    unit = _trailing_zeros(known | total | squares)
    known, total, squares = known >> unit, total >> unit, squares >> unit
    unit = min(_trailing_zeros(total**2 | squares) // 2, -SMALLEST)
    total, squares = total >> unit, squares >> 2 * unit
    return _root(known * squares - total**2, known**2 << 2 * (-SMALLEST - unit))


def _trailing_zeros(number: int) -> int:
    """Return the number of zeros at the end of a number's binary digits."""
    return (number & -number).bit_length() - 1


def _root(numerator: int, denominator: int) -> float:
    """Return the float nearest to the square root of a fraction."""
    # A root of more than 60 bits, whose last bit says whether there are more, rounds as the true one does.
    bits = max(0, 64 + (denominator.bit_length() - numerator.bit_length()) // 2)
    scaled = numerator << 2 * bits
    root = isqrt(scaled // denominator)
    if root * root * denominator != scaled:
        root |= 1
    return root / (1 << bits)
