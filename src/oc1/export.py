"""A fitted tree as text, in the user's names and units."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

if TYPE_CHECKING:
    from .tree import Tree, TreeStructure


def equation(tree: Tree, node: int, digits: int = 3) -> str:
    """Write the test of a node, like ``0.37 petal_len - 1.2 petal_wid > 0.4``.

    Parameters
    ----------
    tree : Tree
    node : int
    digits : int, default=3
        Significant digits of the numbers; the threshold gets more where it needs them to stay between the examples.
    """
    features, coefficients, threshold = tree.test(node)
    words = _terms(tree, features, coefficients, digits)
    return f"{' '.join(words)} > {_rounded(threshold, digits, tree.gaps[node])}"


def functions(tree: Any, node: int, digits: int = 3) -> list[str]:
    """Write the functions of a node, one for each branch, like ``0.37 petal_len - petal_wid + 0.4``.

    Parameters
    ----------
    tree : MachineTree
    node : int
    digits : int, default=3
        Significant digits of the numbers; the constant gets more where it needs them to keep the examples in their
        branches.
    """
    written = []
    for row in tree.machine(node)[0]:
        features, constant = np.flatnonzero(row[:-1]), row[-1]
        words = _terms(tree, features, row[features], digits)
        number = _rounded(abs(constant), digits, tree.gaps[node])
        written.append(f"{' '.join(words)} {'-' if constant < 0 else '+'} {number}")
    return written


def _rounded(value: float, digits: int, gap: float) -> str:
    """Write a number with as many significant digits as it takes to stay within a quarter of a gap."""
    while digits < 17 and abs(float(f"{value:.{digits}g}") - value) > 0.25 * gap:
        digits += 1
    return f"{value:.{digits}g}"


def _terms(tree: TreeStructure, features: np.ndarray, coefficients: np.ndarray, digits: int) -> list[str]:
    words: list[str] = []
    for feature, coefficient in zip(features, coefficients, strict=True):
        name = feature_name(tree, int(feature))
        size = f"{abs(coefficient):.{digits}g} {name}" if abs(coefficient) != 1.0 else name
        if not words:
            words.append(f"-{size}" if coefficient < 0 else size)
        else:
            words.append(f"{'-' if coefficient < 0 else '+'} {size}")
    return words


def feature_name(tree: TreeStructure, feature: int) -> str:
    """Return an attribute's name, ``x1``, ``x2``, ... where it has none."""
    return tree.feature_names[feature] if tree.feature_names else f"x{feature + 1}"


def text(model: Any, digits: int = 3) -> str:
    """Print a tree, or all trees of a vote, as text.

    Parameters
    ----------
    model : Tree, MachineTree or fitted classifier of this package
    digits : int, default=3
        Significant digits of coefficients and thresholds.

    Returns
    -------
    str
        One line for each test and each leaf; a leaf shows its class and the weight of the training examples of each
        class. A branch of a linear machine shows the class and the function that stand for it: an example takes the
        branch whose function is the largest.

    Examples
    --------
    >>> import numpy as np
    >>> from oc1 import OC1Classifier
    >>> X = np.array([[0.0, 1.0], [1.0, 1.0], [2.0, 0.0], [3.0, 1.0]])
    >>> print(text(OC1Classifier(splits="axis", prune=None, random_state=0).fit(X, ["a", "a", "b", "b"])))
    x1 > 1.5
    |-- no:  a  [2 0]
    `-- yes: b  [0 2]
    """
    if isinstance(model, BaseEstimator):
        check_is_fitted(model)
    if hasattr(model, "estimators_"):
        return "\n\n".join(f"tree {i}\n{text(one, digits)}" for i, one in enumerate(model.estimators_, 1))
    tree: Any = getattr(model, "tree_", model)
    majority, leaf = tree.majority, tree.is_leaf
    asks_machines = hasattr(tree, "machine")

    def describe(node: int) -> str:
        if leaf[node]:
            counts = " ".join(np.format_float_positional(c, precision=4, trim="-") for c in tree.counts[node])
            return f"{tree.classes[majority[node]]}  [{counts}]"
        return "largest of" if asks_machines else equation(tree, node, digits)

    def answers(node: int) -> list[str]:
        """Write what leads to each branch of an inner node."""
        if not asks_machines:
            return ["no:  ", "yes: "]
        names = tree.classes[tree.machine(node)[1]]
        return [f"{name} ({words}): " for name, words in zip(names, functions(tree, node, digits), strict=True)]

    lines = []
    stack = [(0, "", "")]  # node, what stands before it, what stands before the nodes below it
    while stack:
        node, before, indent = stack.pop()
        lines.append(before + describe(node))
        if not leaf[node]:
            below = answers(node)
            last = len(below) - 1
            for branch in range(last, -1, -1):
                corner, bar = ("`-- ", "    ") if branch == last else ("|-- ", "|   ")
                stack.append((tree.children[node, branch], indent + corner + below[branch], indent + bar))
    return "\n".join(lines)
