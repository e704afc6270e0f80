"""Sums that other programs must add up as the model does: the terms of tests, one by one."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any


def linear(
    start: Iterable[str], coefficients: Iterable[float], values: Iterable[str], write: Callable[[Any], str]
) -> list[str]:
    """Write the terms of a linear combination, to be joined by spaces; minus is plus of the negative, to the bit.

    Examples
    --------
    >>> " ".join(linear(["5.0"], [2.0, -1.0], ["a", "b"], repr))
    '5.0 + 2.0 * a - b'
    """
    terms = list(start)
    for coefficient, value in zip(coefficients, values, strict=True):
        product = value if coefficient in (1, -1) else f"{write(abs(coefficient))} * {value}"
        sign = "-" if coefficient < 0 else "+"
        terms.append(f"{sign} {product}" if terms else product if coefficient >= 0 else f"-{product}")
    return terms
