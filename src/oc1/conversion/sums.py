"""Sums that other programs must add up as the model does: terms of tests one by one, voices in numpy's order."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from ..learners.reduction import ReducedModel


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


def fixed_total(plain: ReducedModel) -> float | None:
    """Return what the smoothed voices add up to, None if that depends on who has them by a bit of rounding."""
    unit = 2.0**20
    if plain.smoothing <= unit and (plain.smoothing * unit).is_integer():
        return len(plain.trees) + plain.smoothing * len(plain.classes)
    return None


def add_up(items: list[Any], add: Callable[[Any, Any], Any]) -> Any:
    """Add up items in the order in which numpy adds up a row, so that the sum has the same bits."""
    n = len(items)
    if n > 128:
        half = n // 2
        half -= half % 8
        return add(add_up(items[:half], add), add_up(items[half:], add))
    if n < 8:
        total, rest = items[0], items[1:]
    else:
        lanes = items[:8]
        for i in range(8, n - n % 8):
            lanes[i % 8] = add(lanes[i % 8], items[i])
        pairs = [add(lanes[i], lanes[i + 1]) for i in range(0, 8, 2)]
        total, rest = add(add(pairs[0], pairs[1]), add(pairs[2], pairs[3])), items[n - n % 8 :]
    for item in rest:
        total = add(total, item)
    return total


def written_sum(terms: list[str]) -> str:
    """Write a sum with brackets that make it numpy's.

    Examples
    --------
    >>> written_sum(["a", "b", "c"])
    '((a + b) + c)'
    """
    return str(add_up(terms, lambda left, right: f"({left} + {right})"))


def written_total(plain: ReducedModel, voices: list[str], write: Callable[[float], str]) -> str:
    """Write what the smoothed voices add up to: a number if it is the same for all rows, else a sum."""
    fixed = fixed_total(plain)
    return written_sum(voices) if fixed is None else write(float(fixed))
