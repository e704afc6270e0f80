"""A fitted model as one C99 header without dependencies: in doubles, in floats, or in integers."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...learners.reduction import ReducedModel, reduce_model
from .answers import write_answers
from .fixed_point import FlatTree, column_units, highest, in_floats, in_integers, to_inputs
from .head import Head
from .style import Style
from .trees import write_largest, write_tree

#: Compilers must neither fuse products into sums nor forget NaN.
SAFETY = """\
#if defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__
#error "this file needs NaN and exact sums: compile it without -ffast-math"
#endif
#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#elif defined(__GNUC__)
#pragma GCC push_options
#pragma GCC optimize("fp-contract=off")
#elif defined(_MSC_VER)
#pragma fp_contract(off)
#else
#pragma STDC FP_CONTRACT OFF
#endif"""
END_OF_SAFETY = """\
#if defined(__clang__)
#pragma STDC FP_CONTRACT DEFAULT
#elif defined(__GNUC__)
#pragma GCC pop_options
#endif"""


@dataclass(frozen=True)
class CFile:
    """A model as C, and what rounding costs.

    Attributes
    ----------
    text : str
        The header; plain ASCII.
    n_rows : int or None
        On how many rows the rounded model was tried; None for doubles, which round nothing, and if no rows were given.
    n_different : int or None
        How many of them get another class than in doubles (for numbers: end in another leaf).
    """

    text: str
    n_rows: int | None = None
    n_different: int | None = None


def to_c(
    model: Any,
    *,
    name: str = "oc1_tree",
    numbers: str = "double",
    bits: int = 32,
    data: Any = None,
) -> CFile:
    """Write a fitted tree, vote or forest as a C99 header.

    In doubles it does what the model does, bit for bit. (But C4.5 divides examples with missing values, which the
    header does not.)

    Parameters
    ----------
    model : fitted estimator of this package
    name : str, default="oc1_tree"
        What the names in the header begin with.
    numbers : {"double", "float", "fixed"}, default="double"
        What it computes with. "fixed" is for machines without floating point: integers that stand for multiples of a
        power of two, one for each attribute.
    bits : {16, 32}, default=32
        Size of those integers. Sums have twice as many bits.
    data : array-like (n_samples, n_features), optional
        Training rows, in the form in which the model takes them. They say how large the attributes become ("fixed"
        needs that), and on how many of them the header differs from the model.

    Returns
    -------
    CFile

    Examples
    --------
    >>> from oc1 import OC1Classifier
    >>> from oc1.datasets import make_pol
    >>> X, y = make_pol(random_state=0)
    >>> file = to_c(OC1Classifier(random_state=0).fit(X, y), name="pol", numbers="fixed", data=X)
    >>> print(file.text.splitlines()[2])
     * It is a tree with 5 leaves, for 2 classes.
    >>> file.n_rows, file.n_different
    (2000, 0)
    """
    if not isinstance(name, str) or not re.fullmatch("[A-Za-z][A-Za-z0-9_]{0,39}", name):  # type: ignore[redundant-expr]
        raise ValueError(
            f"name={name!r} is not a valid name in C: use up to 40 letters, digits and underscores, a letter first"
        )
    if numbers not in ("double", "float", "fixed"):
        raise ValueError(f'numbers must be "double", "float" or "fixed", got {numbers!r}')
    if bits not in (16, 32):
        raise ValueError(f"bits must be 16 or 32, got {bits!r}")
    if numbers == "fixed" and data is None:
        raise ValueError('numbers="fixed" needs data, the training rows: they say how large the attributes become')
    plain = reduce_model(model)
    rows: Any = None if data is None else np.asarray(model._checked(data), dtype=float)
    categories = _categories(model, plain)
    if numbers == "fixed" and any(len(values) > highest(bits) for values in categories.values()):
        raise ValueError(f"an attribute has too many categories for integers of {bits} bits; give bits=32")
    exact = [FlatTree.make(tree, categories) for tree in plain.trees]
    flats, units, inputs = exact, np.ones(len(plain.feature_names)), rows
    if numbers == "fixed":
        units = column_units(rows, exact, bits)
        inputs = to_inputs(rows, units, bits)
        flats = [in_integers(flat, units, bits) for flat in exact]
    elif numbers == "float":
        flats = [in_floats(flat) for flat in exact]
        with np.errstate(over="ignore", under="ignore"):
            inputs = None if rows is None else rows.astype(np.float32)
    cost: tuple[int | None, int | None] = (None, None)
    if numbers != "double" and rows is not None:
        cost = len(rows), int((_answers(plain, exact, rows) != _answers(plain, flats, inputs)).sum())
    head = Head(Style(name, numbers, bits), plain, type(model).__name__, categories, units, cost)
    return CFile(_write(head, flats), *cost)


def _categories(model: Any, plain: ReducedModel) -> dict[int, list[Any]]:
    """Return the values of each categorical column in the order of their numbers."""
    known = getattr(model, "categories_", None) or [None] * len(plain.feature_names)
    return {m: list(own.tolist()) for m, own in enumerate(known) if own is not None}


def _answers(plain: ReducedModel, flats: list[FlatTree], inputs: np.ndarray) -> np.ndarray:
    """Return the class of each row, or for numbers its leaf, or what all trees add up to."""
    leaves = [flat.leaves(inputs) for flat in flats]
    if plain.task == "number":
        return leaves[0]
    if plain.is_forest:
        means = sum(tree.leaves[own] for tree, own in zip(plain.trees, leaves, strict=True))
        return np.asarray(means[:, 0] if plain.has_numbers else means.argmax(axis=1))
    votes = [tree.votes[own] for tree, own in zip(plain.trees, leaves, strict=True)]
    return np.asarray(sum(np.eye(len(plain.classes), dtype=int)[own] for own in votes).argmax(axis=1))


def _write(head: Head, flats: list[FlatTree]) -> str:
    """Put the file together."""
    style, plain = head.style, head.plain
    guard = f"{style.big}_H_INCLUDED"
    parts = [head.description(), f"#ifndef {guard}\n#define {guard}"]
    parts += ["#include <stdint.h>" if style.is_fixed else SAFETY, head.sizes()]
    if style.is_fixed:
        parts.append(head.inputs())
    if head.categories:
        parts += head.category_numbers()
    if any(flat.is_machine for flat in flats):
        parts.append(write_largest(style))
    for number, flat in enumerate(flats):
        parts += write_tree(style, plain, number, flat)
    parts += write_answers(style, plain)
    if not style.is_fixed:
        parts.append(END_OF_SAFETY)
    parts.append(f"#endif /* {guard} */")
    return "\n\n".join(parts) + "\n"
