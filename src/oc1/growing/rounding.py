"""Readable numbers: the shortest coefficients and threshold that leave every example of a node on its side."""

from __future__ import annotations

import math

import numpy as np

from ..tree.linear import project
from .linear_tests import LinearTest

#: Significant digits of coefficients, at most; tests that need more are left alone.
MAX_DIGITS = 6
#: Rounding moves all but a few examples by at most this share of their median distance from the plane, and the
#: threshold by no more.
MAX_MOVE, CLOSE_SHARE = 0.05, 0.95
#: The threshold keeps this share of the gap between its neighbours free on both sides.
CLEARANCE = 0.2


def round_test(test: LinearTest, X: np.ndarray, scale: np.ndarray) -> LinearTest:
    """Return the test with the shortest numbers that leave every example on its side, and about as far from the plane.

    The term that matters most gets the coefficient 1 or -1.

    Parameters
    ----------
    test : LinearTest
        In the user's units.
    X : float64 array (n, n_features)
        The examples of the node, without missing values.
    scale : float array (n_features,)
        Of each feature, to compare coefficients.

    Returns
    -------
    LinearTest
        The given one where nothing can be gained, or where numbers overflow.
    """
    with np.errstate(all="ignore"):
        right = project(X, test.features, test.coefficients) > test.threshold
        if len(test.features) == 0 or right.all() or not right.any():
            return test
        leading = test.coefficients / abs(
            test.coefficients[np.argmax(np.abs(test.coefficients * scale[test.features]))]
        )
        threshold = test.threshold * float(leading[0] / test.coefficients[0])
        exact = project(X, test.features, leading)
        different = np.unique(exact, return_index=True)[1]  # for distances, twice counts once
        max_move = MAX_MOVE * float(np.median(np.abs(exact[different] - threshold)))
        for digits in range(1, MAX_DIGITS + 1):
            coefficients = np.array([float(f"{value:.{digits - 1}e}") for value in leading.tolist()])
            values = project(X, test.features, coefficients)
            below, above = float(values[~right].max()), float(values[right].min())
            if not (below < threshold < above and np.isfinite(above - below) and coefficients.all()):
                continue
            n_close = np.count_nonzero(np.abs(values - exact)[different] <= max_move)
            if n_close > CLOSE_SHARE * (len(different) - 1):
                lowest, highest = max(below, threshold - max_move), min(above, threshold + max_move)
                short = short_number(threshold, lowest, highest)
                return LinearTest(test.features, coefficients, short, above - below)
    return test


def short_number(threshold: float, below: float, above: float) -> float:
    """Return the shortest decimal number in the middle part of a gap; the given one if none is shorter."""
    gap = above - below
    lowest, highest = below + CLEARANCE * gap, above - CLEARANCE * gap
    if not below < lowest <= highest < above:
        return threshold
    if lowest <= 0.0 <= highest:
        return 0.0
    largest = math.floor(math.log10(max(-lowest, highest)))
    for place in range(largest + 1, max(largest - 17, -300), -1):
        for value in (threshold, below + 0.5 * gap):
            short = float(f"{round(value / 10.0**place)}e{place}")
            if lowest <= short <= highest:
                return short
    return threshold
