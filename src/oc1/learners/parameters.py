"""How estimators declare their parameters."""

from __future__ import annotations

from dataclasses import field
from numbers import Integral
from typing import Any

from sklearn.utils._param_validation import Interval


def parameter(default: Any, *allowed: Any) -> Any:
    """Declare a parameter of an estimator: its default, and what scikit-learn is to accept (types, intervals, ...)."""
    return field(default=default, metadata={"allowed": list(allowed)})


def at_least(least: int, kind: type = Integral) -> Interval:
    """Return the interval from a number on, of whole numbers (up to those of compiled code) or (`Real`) of all."""
    if kind is Integral:
        return Interval(Integral, least, 2**63 - 1, closed="both")
    return Interval(kind, least, None, closed="left")
