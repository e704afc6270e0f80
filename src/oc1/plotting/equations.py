"""Names and tests as a picture has room for them."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..tree.linear import Tree
from ..tree.machine import MachineTree
from ..tree.structure import TreeStructure
from ..tree.summaries import tree_of
from ..tree.text import attribute_names, equation_sides, feature_name, write_test
from .style import shortened

#: Tests with more terms than this are cut to the `MOST_IMPORTANT`.
MOST_TERMS = 9
MOST_IMPORTANT = 5
#: Lines become so long, and no longer, where names are long.
MOST_LETTERS = 40
_TIED = "\N{NO-BREAK SPACE}"


def names_of(model: Any) -> list[str]:
    """Return the names of a model's attributes, x1, x2, ... where it has none."""
    if hasattr(model, "estimators_"):
        return attribute_names(model)
    tree = tree_of(model)
    return [feature_name(tree, m) for m in range(len(tree.fill))]


def checked_node(tree: TreeStructure, node: int) -> Tree:
    """Return the tree if a node of it has a test with two sides; a ValueError says why it has not."""
    if isinstance(node, bool) or not isinstance(node, int | np.integer):
        raise TypeError(f"node must be a whole number, got {node!r}")
    if not 0 <= node < tree.n_nodes:
        raise ValueError(f"there is no node {node}: the tree has the nodes 0 to {tree.n_nodes - 1}")
    if tree.children[node, 0] < 0:
        raise ValueError(f"node {node} is a leaf: it has no test")
    if not isinstance(tree, Tree):
        raise ValueError(f"node {node} is a linear machine: its examples do not lie on two sides of a threshold")
    return tree


def term_words(tree: Tree, features: np.ndarray, coefficients: np.ndarray, digits: int) -> list[str]:
    """Write terms like ``0.37 petal_len`` and ``- 1.2 petal_wid``, each on its own."""
    words: list[str] = []
    for m in range(len(features)):
        term = write_test(tree, features[m : m + 1], coefficients[m : m + 1], 0.0, digits).rpartition(" > ")[0]
        words.append(term if not words else f"- {term[1:]}" if coefficients[m] < 0 else f"+ {term}")
    return words


def left_side(tree: Tree, node: int, scale: np.ndarray, digits: int = 3) -> list[str]:
    """Write the terms of a test; of more than `MOST_TERMS` only the most important, and how many more there are."""
    features, coefficients, _ = tree.test(node)
    if len(features) <= MOST_TERMS:
        return term_words(tree, features, coefficients, digits)
    order = np.argsort(-np.abs(coefficients * scale[features]), kind="stable")[:MOST_IMPORTANT]
    more = f"+ ... ({len(features) - len(order)} more)"
    return [*term_words(tree, features[order], coefficients[order], digits), more]


def wrapped(words: Sequence[str], width: int) -> list[str]:
    """Write words in lines, each word whole where a line has room for it."""
    tied = " ".join(word.replace(" ", _TIED) if len(word) <= width else word for word in words)
    lines = textwrap.wrap(tied, width, break_on_hyphens=False)
    return [line.replace(_TIED, " ") for line in lines]


def lines_of_test(tree: TreeStructure, node: int, scale: np.ndarray, width: int, digits: int = 3) -> list[str]:
    """Write the test of a node in lines of a width."""
    if isinstance(tree, MachineTree):
        names = [shortened(name) for name in tree.classes[tree.machine(node)[1]]]
        return wrapped(["largest of", *(f"{name}," for name in names[:-1]), names[-1]], width)
    assert isinstance(tree, Tree)
    sides = equation_sides(tree, node, digits)
    if len(sides) == 1 or not sides[-1].startswith("> "):
        return wrapped(" ".join(sides).split(" "), width)
    words = [*left_side(tree, node, scale, digits), sides[-1]]
    return wrapped(words, max(width, min(MOST_LETTERS, max(map(len, words)))))
