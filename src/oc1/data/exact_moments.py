"""Means and spreads of attributes without rounding: the same, bit for bit, in any order and any division of the rows.

The sums behind them are whole numbers (see `oc1.kernels.exact_sums`), so what the parts of the data add up to does not
depend on the parts, and an example of weight 2 counts as two. Only a mean or a standard deviation is rounded, once.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from math import isqrt, prod
from typing import TypeVar

import numpy as np

from ..kernels._jit import announce_compiling
from ..kernels.exact_sums import MISSING, MOST_VALUES, SHAPE, SMALLEST, add_values

NO_WEIGHTS = np.empty(0)  # all examples count alike

Result = TypeVar("Result")


@dataclass(frozen=True)
class ExactSums:
    """What the values of one attribute add up to: whole numbers, in units of powers of the smallest float, 2**-1074.

    Attributes
    ----------
    n_known : int
        Number of values that are not missing.
    n_missing : int
    lowest, highest : float
        Of the known values; infinite if there are none.
    known : int
        Weight of the known values, in smallest floats.
    missing : int
        Weight of the missing values, in smallest floats.
    total : int
        Sum of weight * value, in squares of the smallest float.
    squares : int
        Sum of weight * value**2, in cubes of the smallest float.
    """

    n_known: int = 0
    n_missing: int = 0
    lowest: float = np.inf
    highest: float = -np.inf
    known: int = 0
    missing: int = 0
    total: int = 0
    squares: int = 0

    def __add__(self, other: ExactSums) -> ExactSums:
        return ExactSums(
            self.n_known + other.n_known,
            self.n_missing + other.n_missing,
            min(self.lowest, other.lowest),
            max(self.highest, other.highest),
            self.known + other.known,
            self.missing + other.missing,
            self.total + other.total,
            self.squares + other.squares,
        )

    def filled(self, value: float) -> ExactSums:
        """Return the sums with a value in place of the missing ones."""
        if not self.n_missing:
            return self
        value = float(value) + 0.0  # not -0.0
        numerator, denominator = value.as_integer_ratio()
        whole = (numerator << -SMALLEST) // denominator
        n, weight = self.n_missing, self.missing
        fillings = ExactSums(n, 0, value, value, weight, 0, weight * whole, weight * whole * whole)
        return replace(self, n_missing=0, missing=0) + fillings

    @property
    def mean(self) -> float:
        """The float nearest to the mean of the known values; 0 if there are none."""
        return self.total / (self.known << -SMALLEST) if self.known else 0.0

    @property
    def deviation(self) -> float:
        """The float nearest to the standard deviation of the known values; 0 if there are none."""
        if not self.squares:
            return 0.0
        # In larger units, which makes the numbers a tenth as long.
        unit = _trailing_zeros(self.known | self.total | self.squares)
        known, total, squares = self.known >> unit, self.total >> unit, self.squares >> unit
        unit = min(_trailing_zeros(total**2 | squares) // 2, -SMALLEST)
        total, squares = total >> unit, squares >> 2 * unit
        return _root(known * squares - total**2, known**2 << 2 * (-SMALLEST - unit))


@dataclass(frozen=True)
class ExactMoments:
    """The exact sums of each attribute over the rows of one place; the sum of two is that of the rows of both.

    Attributes
    ----------
    attributes : tuple of ExactSums
    """

    attributes: tuple[ExactSums, ...]

    def __add__(self, other: ExactMoments) -> ExactMoments:
        if len(self.attributes) != len(other.attributes):
            raise ValueError(f"{len(self.attributes)} attributes and {len(other.attributes)} do not add up")
        return ExactMoments(tuple(a + b for a, b in zip(self.attributes, other.attributes, strict=True)))

    def filled(self, fill: np.ndarray) -> ExactMoments:
        """Return the sums with the attributes' fill values in place of missing ones."""
        return ExactMoments(tuple(a.filled(value) for a, value in zip(self.attributes, fill.tolist(), strict=True)))

    @property
    def lowest(self) -> np.ndarray:
        """The lowest known value of each attribute."""
        return np.array([a.lowest for a in self.attributes])

    @property
    def highest(self) -> np.ndarray:
        """The highest known value of each attribute."""
        return np.array([a.highest for a in self.attributes])

    @property
    def means(self) -> np.ndarray:
        """The mean of each attribute over its known values, 0 where all are missing."""
        return np.array([a.mean for a in self.attributes])

    @property
    def deviations(self) -> np.ndarray:
        """The standard deviation of each attribute over its known values, 0 where all are missing."""
        return np.array([a.deviation for a in self.attributes])


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
        Threads, over attributes.

    Returns
    -------
    ExactMoments
    """
    with announce_compiling():
        return ExactMoments(tuple(in_threads(partial(_sums_of, X, weights, rows), X.shape[1], n_jobs)))


def in_threads(task: Callable[[int], Result], n_tasks: int, n_jobs: int) -> list[Result]:
    """Call a task with each number from 0 to `n_tasks` - 1, in threads; return the results."""
    if n_jobs == 1:
        return [task(number) for number in range(n_tasks)]
    with ThreadPoolExecutor(n_jobs) as pool:
        return list(pool.map(task, range(n_tasks)))


def _sums_of(X: np.ndarray, weights: np.ndarray | None, rows: np.ndarray | None, m: int) -> ExactSums:
    sums = ExactSums()
    n_rows = len(X) if rows is None else len(rows)
    bins, used = np.zeros(SHAPE, dtype=np.int64), np.empty((prod(SHAPE), 3), dtype=np.int64)
    for start in range(0, n_rows, MOST_VALUES):
        part = slice(start, start + MOST_VALUES)
        values = np.ascontiguousarray(X[part if rows is None else rows[part], m], dtype=np.float64)
        own_weights = NO_WEIGHTS if weights is None else np.ascontiguousarray(weights[part], dtype=np.float64)
        n_known, lowest, highest, n_used = add_values(values, own_weights, bins, used)
        totals = [0, 0, 0, 0]
        for power, place, digits in used[:n_used].tolist():
            totals[power] += digits << place
        # Not -0.0, because which zero is met first should not matter.
        lowest, highest = float(lowest) + 0.0, float(highest) + 0.0
        n_missing = len(values) - n_known
        sums += ExactSums(n_known, n_missing, lowest, highest, totals[0], totals[MISSING], totals[1], totals[2])
    return sums


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
