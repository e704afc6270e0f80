"""What a C header is called and computes with, and how numbers and tables are written in it."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from .fixed_point import BEYOND_FLOATS
from .text import wrapped

#: What the shares of the classes add up to in a file of integers.
ONE = 1 << 15


class Style:
    """The names and types of a header.

    Attributes
    ----------
    name, big : str
        What its names, and those of constants, begin with.
    bits : int
        Of the integers of ``numbers="fixed"``.
    is_fixed, is_float : bool
        Whether it computes with integers, or with floats.
    input, sum, share : str
        The types of attributes, of sums, and of the shares of classes.
    row : str
        The parameter that is a row.
    marker : str
        What stands for a missing value among integers, and for an unknown category.
    """

    def __init__(self, name: str, numbers: str, bits: int) -> None:
        self.name, self.big, self.bits = name, name.upper(), bits
        self.is_fixed, self.is_float = numbers == "fixed", numbers == "float"
        own_types = f"int{bits}_t", f"int{2 * bits}_t", "uint16_t"
        self.input, self.sum, self.share = own_types if self.is_fixed else (numbers,) * 3
        self.row = f"const {self.input} x[{self.big}_N_FEATURES]"
        self.marker = f"{self.big}_{'MISSING' if self.is_fixed else 'UNKNOWN'}"

    def number(self, value: float) -> str:
        """Write a number in full: it is read back as the same one."""
        if self.is_fixed:
            return str(int(value))
        if not self.is_float:
            return repr(float(value))
        if abs(value) > np.finfo(np.float32).max:
            raise ValueError(BEYOND_FLOATS)
        return f"{np.float32(value)!s}f"

    def numbers_table(self, kind: str, name: str, values: np.ndarray) -> str:
        """Write a table of a function, of the type `kind`."""
        return table(kind, name, map(self.number, values.ravel().tolist()))


def table(kind: str, name: str, values: Iterable[str], *, indent: str = "    ", size: str = "") -> str:
    """Write a table whose values are written already."""
    body = wrapped(values, ", ", indent + "    ")
    return f"{indent}static const {kind} {name}[{size}] = {{\n{indent}    {body}\n{indent}}};"


def integers(name: str, values: np.ndarray) -> str:
    """Write a table of integers, of the smallest type that C promises to hold them."""
    most = int(np.abs(values).max(initial=0))
    kind = "signed char" if most < 1 << 7 else "short" if most < 1 << 15 else "long"
    return table(kind, name, [str(int(value)) for value in values])
