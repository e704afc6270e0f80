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
    if plain.is_forest:
        return _of_a_forest(style, plain)
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


def _most(style: Style, kind: str, asked: str) -> list[str]:
    """Write the place of the largest of the numbers, one for each class, that a function gives."""
    return [
        f"    {kind} p[{style.big}_N_CLASSES];",
        "    int c, best = 0;",
        f"    {style.name}_{asked}(x, p);",
        f"    for (c = 1; c < {style.big}_N_CLASSES; ++c)",
        "        if (p[c] > p[best]) best = c;",
        "    return best;",
    ]


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
        _most(style, "int", "votes"),
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


# ---------------------------------------------------------------------------------------------------- a forest


def _of_a_forest(style: Style, plain: ReducedModel) -> list[str]:
    """Write the mean of what the leaves of all trees say, added up in the order of the trees."""
    said = [tree.leaves[tree.tree.is_leaf] for tree in plain.trees]
    kind = style.input if plain.has_numbers else style.share
    # In integers, sums of shares fit into 32 bits, and those of numbers into 64.
    total = ("int64_t" if plain.has_numbers else "uint32_t") if style.is_fixed else kind
    n_trees, parts, width = len(said), [], "1" if plain.has_numbers else f"{style.big}_N_CLASSES"
    if plain.has_numbers and style.is_fixed:
        scale, values = _fixed_values(np.concatenate(said), style.bits)
        said = np.split(values, np.cumsum([len(own) for own in said])[:-1])
        parts.append(f"#define {style.big}_SCALE {scale!r}")
    elif style.is_fixed:
        said = [_fixed_shares(own) for own in said]
    for number, own in enumerate(said):
        body = [
            style.numbers_table(kind, "said", own),
            f"    return said + (long){style.name}_tree{number}(x) * {width};",
        ]
        head = f"const {kind} *{style.name}_said{number}({style.row})"
        parts.append(function(head, f"What tree {number} says.", body))
    calls = [f"{style.name}_said{number}(x)" for number in range(n_trees)]
    mean = f"{n_trees}" if style.is_fixed else style.number(float(n_trees))
    if plain.has_numbers:
        body = [f"    {total} sum = 0;", *(f"    sum += *{call};" for call in calls)]
        what = "The predicted number" + (f" times {style.big}_SCALE." if style.is_fixed else ".")
        body.append(f"    return ({kind})(sum / {mean});")
        return [*parts, function(f"{kind} {style.name}_predict({style.row})", what, body)]
    add = [f"    s = {call};\n    for (c = 0; c < {width}; ++c) sum[c] += s[c];" for call in calls]
    body = [
        f"    {total} sum[{width}] = {{0}};",
        f"    const {kind} *s;",
        "    int c;",
        *add,
        f"    for (c = 0; c < {width}; ++c) p[c] = ({kind})(sum[c] / {mean});",
    ]
    what, choose = "The most probable class, the first of equals.", _most(style, kind, "probabilities")
    predict = function(f"int {style.name}_predict({style.row})", what, choose)
    return [*parts, _probabilities(style, "The mean of the trees' shares of each class.", body), predict]
