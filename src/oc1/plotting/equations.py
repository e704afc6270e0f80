"""Names and tests as a picture has room for them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_consistent_length

from ..tree.structure import TreeStructure
from ..tree.summaries import tree_of
from ..tree.text import attribute_names
from ..tree.wording import MaxTerms, terms_of, wrapped, write_terms
from .style import shortened

#: Length of a line where names are long.
MAX_CHARACTERS = 40


def names_of(model: Any) -> list[str]:
    """Return the names of a model's attributes, x1, x2, ... where it has none."""
    if hasattr(model, "estimators_"):
        return attribute_names(model)
    tree = tree_of(model)
    return [tree.feature_name(m) for m in range(len(tree.fill))]


def checked_threshold(tree: TreeStructure, node: int) -> float:
    """Return the threshold of a node's test; a ValueError says why there is none."""
    if not isinstance(node, int | np.integer):
        raise TypeError(f"node must be a whole number, got {node!r}")
    if not 0 <= node < tree.n_nodes:
        raise ValueError(f"there is no node {node}: the tree has the nodes 0 to {tree.n_nodes - 1}")
    if tree.children[node, 0] < 0:
        raise ValueError(f"node {node} is a leaf: it has no test")
    if not tree.has_thresholds:
        raise ValueError(f"node {node} is a linear machine: its examples do not lie on two sides of a threshold")
    threshold = tree.threshold_of(node)
    if threshold is None:
        raise ValueError(f"node {node} asks only whether a value is missing: it has no threshold to show")
    return threshold


def checked_targets(y: ArrayLike, n_samples: int) -> np.ndarray:
    """Return the numbers to predict of examples; a ValueError if they are not one for each."""
    values = np.asarray(y, dtype=float)
    check_consistent_length(np.empty(n_samples), values)
    return values


def checked_max_terms(max_terms: MaxTerms) -> MaxTerms:
    """Return how many terms of a test to write; a ValueError if that is not a number from 1 on, "auto" or None."""
    if max_terms not in ("auto", None) and not (isinstance(max_terms, int | np.integer) and max_terms >= 1):
        raise ValueError(f'max_terms must be a whole number from 1 on, "auto" or None, got {max_terms!r}')
    return max_terms


def left_side(
    tree: TreeStructure, node: int, scale: np.ndarray, digits: int = 3, max_terms: MaxTerms = "auto"
) -> list[str]:
    """Write the terms of a test; if there are too many, only the most important, and how many more there are."""
    return write_terms(terms_of(tree, node, scale), digits, max_terms)


def lines_of_test(
    tree: TreeStructure, node: int, scale: np.ndarray, width: int, digits: int = 3, max_terms: MaxTerms = "auto"
) -> list[str]:
    """Write the test of a node in lines of a width."""
    if not tree.has_thresholds:
        names = [shortened(name) for name in tree.branch_names(node)]
        return wrapped(["largest of", *(f"{name}," for name in names[:-1]), names[-1]], width)
    words = tree.equation_words(node, digits)
    if not words[-1].startswith("> "):
        return wrapped(" ".join(words).split(" "), width)
    words = [*left_side(tree, node, scale, digits, max_terms), words[-1]]
    return wrapped(words, max(width, min(MAX_CHARACTERS, max(map(len, words)))))
