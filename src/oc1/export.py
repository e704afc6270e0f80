"""A fitted tree as text, in the user's names and units."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from .tree import Tree


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
    words: list[str] = []
    for feature, coefficient in zip(features, coefficients, strict=True):
        name = feature_name(tree, int(feature))
        size = f"{abs(coefficient):.{digits}g} {name}" if abs(coefficient) != 1.0 else name
        if not words:
            words.append(f"-{size}" if coefficient < 0 else size)
        else:
            words.append(f"{'-' if coefficient < 0 else '+'} {size}")
    while digits < 17 and abs(float(f"{threshold:.{digits}g}") - threshold) > 0.25 * tree.gaps[node]:
        digits += 1
    return f"{' '.join(words)} > {threshold:.{digits}g}"


def feature_name(tree: Tree, feature: int) -> str:
    """Return an attribute's name, ``x1``, ``x2``, ... where it has none."""
    return tree.feature_names[feature] if tree.feature_names else f"x{feature + 1}"


def text(model: Any, digits: int = 3) -> str:
    """Print a tree as text.

    Parameters
    ----------
    model : Tree or fitted classifier of this package
    digits : int, default=3
        Significant digits of coefficients and thresholds.

    Returns
    -------
    str
        One line for each test and each leaf; a leaf shows its class and the weight of the training examples of each
        class.

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
    tree: Tree = getattr(model, "tree_", model)
    majority, leaf = tree.majority, tree.is_leaf

    def describe(node: int) -> str:
        if leaf[node]:
            counts = " ".join(np.format_float_positional(c, precision=4, trim="-") for c in tree.counts[node])
            return f"{tree.classes[majority[node]]}  [{counts}]"
        return equation(tree, node, digits)

    lines = [describe(0)]
    stack = [(child, "", side) for side, child in ((1, tree.children[0, 1]), (0, tree.children[0, 0])) if child >= 0]
    while stack:
        node, indent, side = stack.pop()
        branch = "`-- yes: " if side else "|-- no:  "
        lines.append(indent + branch + describe(node))
        if not leaf[node]:
            deeper = indent + ("    " if side else "|   ")
            stack.append((tree.children[node, 1], deeper, 1))
            stack.append((tree.children[node, 0], deeper, 0))
    return "\n".join(lines)
