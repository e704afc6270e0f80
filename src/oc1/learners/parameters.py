"""How estimators declare their parameters."""

from __future__ import annotations

import math
from dataclasses import field
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.utils._param_validation import Interval, RealNotInt

#: The largest whole number of compiled code.
MAX_WHOLE = 2**63 - 1


def parameter(default: Any, *allowed: Any) -> Any:
    """Declare a parameter of an estimator: its default, and what scikit-learn is to accept (types, intervals, ...)."""
    return field(default=default, metadata={"allowed": list(allowed)})


def at_least(least: int, kind: type = Integral) -> Interval:
    """Return the interval from a number on, of whole numbers (up to those of compiled code) or (`Real`) of all."""
    if kind is Integral:
        return Interval(Integral, least, MAX_WHOLE, closed="both")
    return Interval(kind, least, None, closed="left")


def number_or_share(least: int, closed: str = "right") -> tuple[Interval, Interval]:
    """Return what a limit may be: a number of examples, or a float, which is a share of them."""
    return Interval(Integral, least, None, closed="left"), Interval(RealNotInt, 0.0, 1.0, closed=closed)


def as_number(limit: float, least: int, n_examples: float) -> int:
    """Return a limit as a number of examples; a share is rounded up."""
    if isinstance(limit, int | np.integer):
        return min(int(limit), MAX_WHOLE)
    # The product may be a little more than the whole number that is meant.
    return max(least, math.ceil(limit * n_examples * (1.0 - 1e-12)))
