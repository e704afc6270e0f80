"""The functions of a C header that users call: leaves, classes, numbers, and shares of classes."""

from __future__ import annotations

import math

import numpy as np

from ...learners.reduction import ReducedModel
from .fixed_point import highest
from .style import ONE, Style, integers
from .text import function


def write_answers(style: Style, plain: ReducedModel) -> list[str]:
    """Write the functions that users call."""
    return _of_votes(style, plain) if plain.task == "vote" else _of_a_tree(style, plain)


# ---------------------------------------------------------------------------------------------------- a single tree


def _of_a_tree(style: Style, plain: ReducedModel) -> list[str]:
    tree = plain.trees[0]
    nodes = np.flatnonzero(tree.tree.is_leaf)
    place = f"{style.name}_place(x)"

    def look_up(head: str, what: str, name: str, table: str) -> str:
        return function(f"{head}({style.row})", what, [table, f"    return {name}[{place}];"])

    what = "The number of the leaf, as apply() counts."
    leaf = look_up(f"int {style.name}_leaf", what, "leaf", integers("leaf", nodes))
    if plain.task == "number":
        values, what, parts = tree.leaves[nodes, 0], "The predicted number.", [leaf]
        if style.is_fixed:
            scale, values = _fixed_values(values, style.bits)
            what = f"The predicted number times {style.big}_SCALE."
            parts.append(f"#define {style.big}_SCALE {scale!r}")
        table = style.numbers_table(style.input, "value", values)
        return [*parts, look_up(f"{style.input} {style.name}_predict", what, "value", table)]
    label = integers("label", tree.votes[nodes])
    shares = tree.leaves[nodes]
    body = [
        style.numbers_table(style.share, "share", _fixed_shares(shares) if style.is_fixed else shares),
        f"    const long first = (long){place} * {style.big}_N_CLASSES;",
        "    int c;",
        f"    for (c = 0; c < {style.big}_N_CLASSES; ++c) p[c] = share[first + c];",
    ]
    return [
        leaf,
        look_up(f"int {style.name}_predict", "The class of the row.", "label", label),
        _probabilities(style, "The share of each class.", body),
    ]


def _probabilities(style: Style, what: str, body: list[str]) -> str:
    head = f"void {style.name}_probabilities({style.row}, {style.share} p[{style.big}_N_CLASSES])"
    return function(head, what, body)


def _fixed_values(values: np.ndarray, bits: int) -> tuple[float, np.ndarray]:
    """Return a power of two, and numbers times it as integers."""
    largest = float(np.abs(values).max())
    exponent = bits - 1 - math.frexp(largest)[1] if largest > 0 else 0
    scale = 2.0 ** min(max(exponent, -1000), 1000)
    if largest * scale > highest(bits):  # rounded up to the power of two itself
        scale /= 2
    return scale, np.clip(np.rint(values * scale), -highest(bits), highest(bits))


def _fixed_shares(shares: np.ndarray) -> np.ndarray:
    """Round the shares of each row to integers that add up to `ONE`: what is left over goes to the largest rests."""
    scaled = shares * ONE
    whole = np.floor(scaled)
    left = (ONE - whole.sum(axis=1)).astype(int)
    order = np.argsort(-(scaled - whole), axis=1, kind="stable")
    rank = np.argsort(order, axis=1, kind="stable")
    return np.asarray(whole + (rank < left[:, None]), dtype=int)


# ---------------------------------------------------------------------------------------------------- a vote


def _of_votes(style: Style, plain: ReducedModel) -> list[str]:
    n_classes = f"{style.big}_N_CLASSES"
    count = function(
        f"void {style.name}_votes({style.row}, int votes[{n_classes}])",
        "How many trees vote for each class.",
        [
            "    int c;",
            f"    for (c = 0; c < {n_classes}; ++c) votes[c] = 0;",
            *(f"    ++votes[{style.name}_tree{number}(x)];" for number in range(len(plain.trees))),
        ],
    )
    predict = function(
        f"int {style.name}_predict({style.row})",
        "The class with most votes, the first of equals.",
        [
            f"    int votes[{n_classes}], c, best = 0;",
            f"    {style.name}_votes(x, votes);",
            f"    for (c = 1; c < {n_classes}; ++c)",
            "        if (votes[c] > votes[best]) best = c;",
            "    return best;",
        ],
    )
    return [count, predict, _probabilities(style, "The share of the votes for each class.", _vote_shares(style, plain))]


def _vote_shares(style: Style, plain: ReducedModel) -> list[str]:
    if style.is_fixed:
        shares = (np.arange(len(plain.trees) + 1) + plain.smoothing) / plain.total_votes
        # The shares of rounded votes must not add up to more than they should.
        tables = [style.numbers_table(style.share, "share", np.floor(shares * ONE * (1 - 1e-15)))]
        share = "share[votes[c]]"
    else:
        voices = f"({style.input})votes[c]"
        smoothed = f"({voices} + {style.number(plain.smoothing)})" if plain.smoothing else voices
        tables, share = [], f"{smoothed} / {style.number(plain.total_votes)}"
    return [
        *tables,
        f"    int votes[{style.big}_N_CLASSES], c;",
        f"    {style.name}_votes(x, votes);",
        f"    for (c = 0; c < {style.big}_N_CLASSES; ++c) p[c] = {share};",
    ]
