"""What a C header is called and computes with, and how numbers and tables are written in it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from .fixed_point import BEYOND_FLOATS
from .text import wrapped

#: What the shares of the classes add up to in a file of integers.
ONE = 1 << 15


@dataclass(frozen=True)
class Style:
    """The names and types of a header.

    Attributes
    ----------
    name : str
        What its names begin with.
    numbers : {"double", "float", "fixed"}
    bits : int
        Of the integers of "fixed".
    """

    name: str
    numbers: str
    bits: int

    @property
    def big(self) -> str:
        """What the names of constants begin with."""
        return self.name.upper()

    @property
    def is_fixed(self) -> bool:
        """Whether it computes with integers."""
        return self.numbers == "fixed"

    @property
    def is_float(self) -> bool:
        """Whether it computes with floats."""
        return self.numbers == "float"

    @property
    def input(self) -> str:
        """The type of attributes."""
        return f"int{self.bits}_t" if self.is_fixed else self.numbers

    @property
    def sum(self) -> str:
        """The type of sums."""
        return f"int{2 * self.bits}_t" if self.is_fixed else self.numbers

    @property
    def share(self) -> str:
        """The type of the shares of classes."""
        return "uint16_t" if self.is_fixed else self.numbers

    @property
    def row(self) -> str:
        """The parameter that is a row."""
        return f"const {self.input} x[{self.big}_N_FEATURES]"

    @property
    def marker(self) -> str:
        """What stands for a missing value among integers, and for an unknown category."""
        return f"{self.big}_MISSING" if self.is_fixed else f"{self.big}_UNKNOWN"

    def number(self, value: float) -> str:
        """Write a number in full: it is read back as the same one."""
        if self.is_fixed:
            return str(int(value))
        if not self.is_float:
            return repr(float(value))
        if abs(value) > np.finfo(np.float32).max:
            raise ValueError(BEYOND_FLOATS)
        return f"{np.float32(value)!s}f"

    def numbers_table(self, kind: str, name: str, values: np.ndarray, size: str = "") -> str:
        """Write a table of a function, of the type `kind`."""
        return table(kind, name, map(self.number, values.ravel().tolist()), size=size)


def table(kind: str, name: str, values: Iterable[str], *, indent: str = "    ", size: str = "") -> str:
    """Write a table whose values are written already."""
    body = wrapped(values, ", ", indent + "    ")
    return f"{indent}static const {kind} {name}[{size}] = {{\n{indent}    {body}\n{indent}}};"


def integers(name: str, values: np.ndarray) -> str:
    """Write a table of integers, of the smallest type that C promises to hold them."""
    most = int(np.abs(values).max(initial=0))
    kind = "signed char" if most < 1 << 7 else "short" if most < 1 << 15 else "long"
    return table(kind, name, [str(int(value)) for value in values])
