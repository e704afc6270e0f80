"""A tree in other numbers than doubles: floats, or integers.

An integer test is ``sum(A * q) > T``. An input is ``q = round(x * unit)``, the unit a power of two for each attribute.
With ``a = c / unit`` the test ``sum(c * x) > t`` is the same as ``sum(a * q) > t`` but for the rounding of q; it is
multiplied by the largest number (``scale``) for which no sum can overflow, whatever the inputs, and its coefficients
are rounded to integers ``A = scale * a + error``. What those errors add up to at the attributes' means goes into T, so
that they only count by how far a row is from the means.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from ...learners.reduction import ReducedTree
from ...tree.structure import descend

BEYOND_FLOATS = 'the tree holds numbers too large or too small for a float; give numbers="double"'


def lowest(bits: int) -> int:
    """Return the integer that marks a missing value."""
    return -(1 << (bits - 1))


def highest(bits: int) -> int:
    """Return the largest input, in absolute value."""
    return (1 << (bits - 1)) - 1


@dataclass(frozen=True, eq=False)
class FlatTree:
    """How a tree finds the leaf of a row, in numbers of one type: float64, float32, or int64.

    A node has functions, ``functions[node]:functions[node + 1]``. In a tree of tests it has one, and a row goes right
    if the terms add up to more than its constant; in a tree of machines the terms are added to the constant, and the
    row takes the branch of the largest function, the first of equals.

    Attributes
    ----------
    children : int array (n_nodes, n_branches)
    is_machine : bool
    functions : int array (n_nodes + 1,)
    terms : int array (n_functions + 1,)
        Where the terms of each function begin.
    features, coefficients : arrays (n_terms,)
    constants : array (n_functions,)
    missing : int8 array (n_nodes,)
        As in `Tree`.
    fill : array (n_features,)
    codes : dict of int to array
        What stands for each category of a column, `missing_mark` where the tree does not know it.
    missing_mark : float or int
        NaN, or the lowest integer.
    """

    children: np.ndarray
    is_machine: bool
    functions: np.ndarray
    terms: np.ndarray
    features: np.ndarray
    coefficients: np.ndarray
    constants: np.ndarray
    missing: np.ndarray
    fill: np.ndarray
    codes: dict[int, np.ndarray]
    missing_mark: float | int = math.nan

    @classmethod
    def make(cls, plain: ReducedTree, categories: dict[int, list[Any]]) -> FlatTree:
        """Take a tree as it is, in doubles; `categories` lists the values of each categorical column."""
        tree, is_machine = plain.tree, not plain.tree.has_thresholds
        functions, terms = [0], [0]
        features, coefficients, constants = [np.empty(0, dtype=np.int64)], [np.empty(0)], [np.empty(0)]
        for node, leaf in enumerate(tree.is_leaf):
            if not leaf:
                used, rows, own_constants = tree.node_functions(node)
                for row in rows:
                    kept = np.flatnonzero(row) if is_machine else np.arange(len(row))
                    features.append(used[kept])
                    coefficients.append(row[kept])
                    terms.append(terms[-1] + len(kept))
                constants.append(own_constants)
            functions.append(len(terms) - 1)
        codes = {
            m: np.array([plain.codes[m].get(value, math.nan) for value in values], dtype=float)
            for m, values in categories.items()
            if m in plain.codes
        }
        fill, used = np.zeros(len(tree.fill)), tree.used_features
        fill[used] = tree.fill[used]
        flat = cls(
            children=tree.children,
            is_machine=is_machine,
            functions=np.array(functions),
            terms=np.array(terms),
            features=np.concatenate(features),
            coefficients=np.concatenate(coefficients),
            constants=np.concatenate(constants),
            missing=tree.directions,
            fill=fill,
            codes=codes,
        )
        for numbers in (flat.coefficients, flat.constants, fill):
            if not np.isfinite(numbers).all():
                raise ValueError("the tree holds numbers that are not finite, so it cannot be converted")
        return flat

    @property
    def is_leaf(self) -> np.ndarray:
        """Whether each node is a leaf."""
        return self.children[:, 0] < 0

    def parts(self, function: int) -> tuple[np.ndarray, np.ndarray]:
        """Return (features, coefficients) of a function."""
        span = slice(self.terms[function], self.terms[function + 1])
        return self.features[span], self.coefficients[span]

    def of_node(self, node: int) -> range:
        """Return the functions of a node."""
        return range(self.functions[node], self.functions[node + 1])

    def leaves(self, inputs: np.ndarray) -> np.ndarray:
        """Return the leaf of each row by the very arithmetic of the C file."""
        values = np.array(inputs, dtype=self.fill.dtype)
        for m, own in self.codes.items():
            known = (inputs[:, m] >= 0) & (inputs[:, m] < len(own))  # False for NaN
            values[:, m] = np.append(own, self.missing_mark)[np.where(known, inputs[:, m], len(own)).astype(np.int64)]
        gone = np.isnan(values) if math.isnan(self.missing_mark) else values == self.missing_mark
        values = np.where(gone, self.fill, values)

        def branches(node: int, rows: np.ndarray) -> np.ndarray:
            sums, function = self._sums(node, values[rows]), self.functions[node]
            if self.is_machine:
                return np.asarray(sums.argmax(axis=1))
            goes_right = sums[:, 0] > self.constants[function]
            if self.missing[node]:
                goes_right[gone[rows, self.parts(function)[0][0]]] = self.missing[node] > 0
            return np.asarray(goes_right)

        return descend(self.children, len(values), branches)

    def _sums(self, node: int, values: np.ndarray) -> np.ndarray:
        """Return the value of each function of a node, a column for each."""
        sums = np.zeros((len(values), len(self.of_node(node))), dtype=self.coefficients.dtype)
        with np.errstate(over="ignore", invalid="ignore"):
            for column, function in enumerate(self.of_node(node)):
                if self.is_machine:
                    sums[:, column] = self.constants[function]
                for feature, coefficient in zip(*self.parts(function), strict=True):
                    sums[:, column] += coefficient * values[:, feature]
        return sums


# ---------------------------------------------------------------------------------------------------- floats


def in_floats(flat: FlatTree) -> FlatTree:
    """Round a tree to float32."""

    def rounded(numbers: np.ndarray) -> np.ndarray:
        with np.errstate(over="ignore", under="ignore"):
            floats = numbers.astype(np.float32)
        if np.isinf(floats).any():
            raise ValueError(BEYOND_FLOATS)
        return floats

    # Nothing exceeds the largest number: such a test asks whether a value is missing, and goes on doing so.
    beyond = (flat.constants == np.finfo(float).max) & (not flat.is_machine)
    coefficients = rounded(flat.coefficients)
    if ((coefficients == 0) & (flat.coefficients != 0)).any():
        raise ValueError(BEYOND_FLOATS)
    return replace(
        flat,
        coefficients=coefficients,
        constants=rounded(np.where(beyond, np.finfo(np.float32).max, flat.constants)),
        fill=rounded(flat.fill),
        codes={m: rounded(own) for m, own in flat.codes.items()},
    )


# ---------------------------------------------------------------------------------------------------- integers


def unit_for(largest: float, bits: int) -> float:
    """Return the power of two that makes integers of numbers up to `largest`, with room for twice as much.

    Examples
    --------
    >>> unit_for(7.9, 16)  # up to 15.99
    2048.0
    """
    return 2.0 ** min(max(bits - 1 - math.frexp(2 * largest)[1], -1000), 1000) if largest > 0 else 1.0


def column_units(X: np.ndarray, flats: Sequence[FlatTree], bits: int) -> np.ndarray:
    """Return the unit of each column by the rows given; 1 for categories, which are numbers already."""
    largest = np.where(np.isnan(X), 0.0, np.abs(X)).max(axis=0)
    units = np.ones(X.shape[1])
    for m in range(len(units)):
        if not any(m in flat.codes for flat in flats):
            units[m] = unit_for(max(float(largest[m]), *(abs(float(flat.fill[m])) for flat in flats)), bits)
    return units


def to_inputs(X: np.ndarray, units: np.ndarray, bits: int) -> np.ndarray:
    """Turn measurements into the integers of the C file, as its macros do: rounded, cut off at the largest."""
    most = highest(bits)
    scaled = np.where(np.isnan(X), 0.0, X * units)
    inputs = np.trunc(np.clip(scaled + np.copysign(0.5, scaled), -most, most)).astype(np.int64)
    return np.where(np.isnan(X), lowest(bits), inputs)


def in_integers(flat: FlatTree, units: np.ndarray, bits: int) -> FlatTree:
    """Round a tree to integers with the given units of the columns.

    Inputs have `bits` bits, sums twice as many: for any inputs, no product and no sum overflows.
    """
    most, units = highest(bits), units.copy()
    # No sum of products exceeds 2 ** (2 * bits - 1) - 2 if the coefficients of a function add up to no more than this.
    room = ((1 << (2 * bits - 1)) - 2) // most
    codes = {}
    for m, own in flat.codes.items():
        units[m] = unit_for(float(np.nanmax(np.abs([*own, flat.fill[m]]))), bits)
        codes[m] = to_inputs(own, units[m], bits)
    fill = to_inputs(flat.fill, units, bits)
    coefficients = np.zeros(len(flat.features), dtype=np.int64)
    constants = np.zeros(len(flat.constants), dtype=np.int64)
    for node in np.flatnonzero(~flat.is_leaf):
        functions = flat.of_node(int(node))
        exact = {
            j: [Fraction(float(c)) / Fraction(float(units[f])) for f, c in zip(*flat.parts(j), strict=True)]
            for j in functions
        }
        scale = _scale(flat, functions, exact, room, most)
        for j in functions:
            scaled = [scale * a for a in exact[j]]
            whole = [round(a) for a in scaled]
            span = slice(flat.terms[j], flat.terms[j + 1])
            coefficients[span] = whole
            at_fill = [int(fill[feature]) for feature in flat.parts(j)[0]]
            shift = sum(((a - b) * value for a, b, value in zip(whole, scaled, at_fill, strict=True)), Fraction(0))
            constant = scale * Fraction(float(flat.constants[j]))
            if flat.is_machine:
                constants[j] = round(constant - shift)
            else:
                common = math.gcd(*whole) or 1
                coefficients[span] //= common
                reach = sum(map(abs, whole)) * most // common  # sums are between -reach and reach
                constants[j] = min(max(math.floor((constant + shift) / common), -reach - 1), reach)
    return replace(
        flat, coefficients=coefficients, constants=constants, fill=fill, codes=codes, missing_mark=lowest(bits)
    )


def _scale(flat: FlatTree, functions: range, exact: dict[int, list[Fraction]], room: int, most: int) -> Fraction:
    """Return what the functions of a node are multiplied by before they are rounded to integers."""
    if not flat.is_machine and len(exact[functions[0]]) == 1:
        return 1 / abs(exact[functions[0]][0])  # a coefficient of 1 or -1 has no error
    sizes = [sum(map(abs, exact[j]), Fraction(0)) for j in functions]
    if flat.is_machine:
        sizes = [s + abs(Fraction(float(flat.constants[j]))) / most for s, j in zip(sizes, functions, strict=True)]
    if max(sizes) == 0:
        return Fraction(1)
    # Rounding adds up to 1/2 to each coefficient, and moves the constant by up to most / 2 for each of them.
    left = room - 2 - max(len(exact[j]) for j in functions)
    if left < room // 2:
        raise ValueError(f"a test on {room - 2 - left} attributes is too long for integers of this size; give bits=32")
    largest = max(max(map(abs, exact[j]), default=Fraction(0)) for j in functions)
    scale = Fraction(left) / max(sizes)
    return min(scale, Fraction((1 << 31) - 1) / largest) if largest else scale  # coefficients are stored in 32 bits
