"""What the writers of C, ONNX, Python and SQL share: labels, categories, names, and sums added up as the model does."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from numbers import Integral, Real
from typing import Any

import numpy as np

from ..learners.reduction import ReducedModel
from ..tree.validation import cut


def plain_value(value: Any, what: str) -> Any:
    """Return a label or category as a str, bool, int or float of Python's own."""
    kinds: Any = ((str, str), ((bool, np.bool_), bool), (Integral, int), (Real, float))
    for kind, own in kinds:
        if isinstance(value, kind):
            return own(value)
    raise ValueError(f"{what} {cut(value)} is neither text nor a number: it cannot be written for other programs")


def kind_of(values: Iterable[Any], what: str) -> type:
    """Return str, bool, int or float, whichever all plain values are; truth values among numbers are numbers."""
    kinds = {type(value) for value in values}
    if len(kinds) == 1:
        return kinds.pop()
    if str in kinds:
        raise ValueError(f"{what} are texts and numbers mixed, which cannot be written for other programs")
    return float if float in kinds else int


def check_text(text: str, what: str) -> str:
    """Return a text that other programs can read; half of a surrogate pair they cannot."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise ValueError(f"{what} {cut(text)} is not valid text: it cannot be written as UTF-8") from None
    return text


def labels_of(plain: ReducedModel) -> tuple[list[Any], type]:
    """Return the class labels as plain values, and what they are: str, bool, int or float."""
    labels = [plain_value(label, "the class label") for label in plain.classes.tolist()]
    kind = kind_of(labels, "the class labels")
    if kind is str:
        labels = [check_text(label, "the class label") for label in labels]
    return labels, kind


def known_categories(plain: ReducedModel) -> dict[int, dict[Any, int]]:
    """Return for each categorical column the values that any of the trees knows, each with a number from 0 on."""
    known: dict[int, dict[Any, int]] = {}
    for tree in plain.trees:
        for column, codes in tree.codes.items():
            own = known.setdefault(column, {})
            for value in codes:
                own.setdefault(plain_value(value, f"{plain.feature_names[column]!r} has the category"), len(own))
    return known


def all_different(wanted: Iterable[str], taken: Iterable[str] = (), key: Callable[[str], str] = str) -> list[str]:
    """Return names, numbered if need be, so that what `key` makes of each is not taken yet.

    Examples
    --------
    >>> all_different(["P", "q", "p"], {"p_2"}, str.casefold)
    ['P', 'q', 'p_3']
    """
    names, known = [], set(taken)
    for own in wanted:
        name, number = own, 1
        while key(name) in known:
            number += 1
            name = f"{own}_{number}"
        known.add(key(name))
        names.append(name)
    return names


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


def made_of(plain: ReducedModel) -> str:
    """Say what a model is made of."""
    trees, leaves = len(plain.trees), sum(tree.tree.n_leaves for tree in plain.trees)
    size = f"{leaves} {'leaf' if leaves == 1 else 'leaves'}"
    together = {"vote": "that vote", "shares": "whose shares are averaged", "mean": "that are averaged"}
    return f"{trees} trees {together[plain.task]}, {size}" if plain.is_one_of_many else f"a tree with {size}"
