"""Numbers at the edge of what doubles hold: scaled by powers of two where only ratios matter, refused elsewhere.

The search multiplies weights with one another and squares targets. Those of a common size stay as they are; others are
scaled so that the largest is ordinary. A power of two changes no digit of a number, so a fit on scaled weights or
targets is the fit on the original ones.
"""

from __future__ import annotations

import math

import numpy as np

#: Weights up to 2 to this power, or down to its reciprocal, are ordinary, and so are targets up to the square of that.
MAX_WEIGHT_EXPONENT = 60
#: A weight that is not zero must not be smaller than the largest by more than 2 to this power.
MAX_RATIO_EXPONENT = 300
#: Targets beyond this power of two are refused: their losses could not be given in the user's units.
MAX_TARGET_EXPONENT = 400


def ordinary_weights(weights: np.ndarray) -> np.ndarray:
    """Return weights, scaled by a power of two if they are extreme.

    Large weights stay whole numbers, which count examples; small ones become fractions.

    Examples
    --------
    >>> ordinary_weights(np.array([3.0, 0.0])), ordinary_weights(np.array([2.0**-200, 0.0, 2.0**-201]))
    (array([3., 0.]), array([0.5 , 0.  , 0.25]))
    """
    largest, least = weights.max(), weights.min(where=weights > 0, initial=np.inf)
    if largest > 0 and np.ldexp(largest, -MAX_RATIO_EXPONENT) > least:
        raise ValueError(f"the weights of the examples differ too much: from {least:.3g} to {largest:.3g}")
    exponent = math.frexp(largest)[1]
    if abs(exponent) <= MAX_WEIGHT_EXPONENT:
        return weights
    return np.asarray(np.ldexp(weights, 53 - exponent if exponent > 0 else -exponent))


def target_unit(y: np.ndarray) -> float:
    """Return the power of two by which targets are divided before the search, 1 unless they are extreme."""
    largest = float(np.abs(y).max())
    exponent = math.frexp(largest)[1] if largest > 0 else 0
    if abs(exponent) > MAX_TARGET_EXPONENT:
        advice = "divide" if exponent > 0 else "multiply"
        raise ValueError(f"the numbers in y are up to {largest:.3g}, beyond what can be squared: {advice} them first")
    return 1.0 if abs(exponent) <= 2 * MAX_WEIGHT_EXPONENT else 2.0**exponent


def check_attributes(lowest: np.ndarray, highest: np.ndarray, names: tuple[str, ...]) -> None:
    """Refuse attributes that vary only in numbers below the smallest normal double, whose reciprocals are infinite."""
    largest = np.maximum(np.abs(lowest), np.abs(highest))
    for m in np.flatnonzero((lowest < highest) & (largest < np.finfo(np.float64).tiny)):
        which = repr(names[m]) if names else f"number {m + 1}"
        raise ValueError(f"the attribute {which} has no value beyond {largest[m]:.3g}, too small: multiply it first")
