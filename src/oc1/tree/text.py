"""A fitted tree as text, in the user's names and units."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .printable import printable
from .wording import MaxTerms, feature_name, looks_like, number, percent, wrapped

if TYPE_CHECKING:
    from .structure import TreeStructure

#: Deeper subtrees are not written: each level indents all lines below it.
MAX_DEPTH = 200
#: Characters of a line, and how many a test has at least, however deep it is.
WIDTH, MIN_ROOM = 80, 24
#: What stands before the second line of a test.
CONTINUED = "  "


def code_lists(tree: TreeStructure, digits: int = 3) -> list[str]:
    """Write the codes of each categorical attribute that stands in a combination, in their order."""
    if not tree.codes:
        return []
    tests = [tree.node_functions(node).features.tolist() for node in np.flatnonzero(~tree.is_leaf).tolist()]
    lines = []
    for feature in sorted({feature for features in tests if len(features) > 1 for feature in features}):
        codes, labels = tree.codes[feature], tree.categories[feature]
        if codes is not None and labels is not None:
            words = [
                f"{label} {number(code, digits)}" for code, label in sorted(zip(codes.tolist(), labels, strict=True))
            ]
            words.append(f"missing {number(tree.fill[feature], digits)}")
            lines.append(f"code({tree.feature_name(feature)}): {', '.join(words)}")
    return lines


def with_printable_names(tree: TreeStructure) -> TreeStructure:
    """Return a tree whose names can be printed: they may come from a file, and hold control characters."""

    def shown(names: Sequence[str]) -> tuple[str, ...]:
        return tuple(printable(name, kept="") for name in names)

    classes = tree.classes
    if classes.dtype.kind in "OU":
        classes = np.array([printable(str(label), kept="") for label in classes], dtype=object)
    categories = tuple(None if own is None else shown(own) for own in tree.categories)
    return replace(tree, feature_names=shown(tree.feature_names), classes=classes, categories=categories)


def attribute_names(model: Any) -> list[str]:
    """Return the names of a fitted estimator's attributes, ``x1``, ``x2``, ... where it has none."""
    names = [str(name) for name in getattr(model, "feature_names_in_", ())]
    return [feature_name(names, feature) for feature in range(model.n_features_in_)]


def text(
    model: Any,
    digits: int = 3,
    *,
    max_terms: MaxTerms = "auto",
    max_depth: int = MAX_DEPTH,
    node: int = 0,
    numbered: bool = False,
    width: int = WIDTH,
    paint: Callable[[str, int], str] | None = None,
) -> str:
    """Write a tree, or all trees of an ensemble, as text.

    Parameters
    ----------
    model : Tree, MachineTree or fitted estimator of this package
    digits : int, default=3
        Significant digits of coefficients and thresholds.
    max_terms : int, "auto" or None, default="auto"
        Terms of a test that are written, the largest ones. "auto": all of up to 8 terms, else 6. None: all.
    max_depth : int, default=200
        Tests more than this number of levels below the first one are not written, but the number of leaves below them.
    node : int, default=0
        Where to begin: the number of a node.
    numbered : bool, default=False
        Whether tests have the numbers of their nodes before them, like ``#0``.
    width : int, default=80
        Characters of a line; longer tests go on in the next one.
    paint : callable, optional
        Takes the name of a class and its number; returns the name with a colour.

    Returns
    -------
    str
        One line for each test and each leaf. A leaf shows its class, and the share of that class among its training
        examples. The terms of a test are ordered by their share of it: coefficient times spread of the attribute. A
        branch of a linear machine shows its class and its function: an example takes the branch with the largest
        function. A test on a single categorical attribute shows the categories for which the answer is yes; in linear
        combinations, categories appear as codes, which are listed below the tree. A test that has learned where to send
        missing values says "or missing" or "and not missing", or only tests whether a value is "missing".

    Examples
    --------
    >>> import numpy as np
    >>> from oc1 import OC1Classifier
    >>> X = np.array([[0.0, 1.0], [1.0, 1.0], [2.0, 0.0], [3.0, 1.0]])
    >>> print(text(OC1Classifier(splits="axis", prune=None, random_state=0).fit(X, ["a", "a", "b", "b"])))
    x1 > 1.5
    |-- no:  a  100% of 2
    `-- yes: b  100% of 2
    """
    if hasattr(model, "fit"):
        from sklearn.utils.validation import check_is_fitted  # not for a tree of its own

        check_is_fitted(model)
    if hasattr(model, "estimators_"):
        options: dict[str, Any] = {"max_terms": max_terms, "max_depth": max_depth, "numbered": numbered}
        options |= {"width": width, "paint": paint}
        return "\n\n".join(f"tree {i}\n{text(one, digits, **options)}" for i, one in enumerate(model.estimators_, 1))
    tree: TreeStructure = with_printable_names(getattr(model, "tree_", model))
    style = _Style(digits, max_terms, numbered, width, paint)
    lines = []
    leaf, n_leaves = tree.is_leaf, tree.leaves_below
    stack = [(node, 0, "", "")]  # node, its depth, what stands before it, what stands before the nodes below it
    while stack:
        node, depth, before, indent = stack.pop()
        if depth > max_depth and not leaf[node]:
            lines.append(f"{before}... ({n_leaves[node]} leaves)")
            continue
        lines += _lines_of_node(tree, node, before, indent, style)
        if not leaf[node]:
            below = _branches(tree, node, style)
            last = len(below) - 1
            for branch in range(last, -1, -1):
                corner, bar = ("`-- ", "    ") if branch == last else ("|-- ", "|   ")
                child = tree.children[node, branch]
                stack.append((child, depth + 1, indent + corner + below[branch], indent + bar))
    return "\n".join(lines + code_lists(tree, digits))


class _Style(NamedTuple):
    """How a tree is written: see the parameters of `text`."""

    digits: int
    max_terms: MaxTerms
    numbered: bool
    width: int
    paint: Callable[[str, int], str] | None


def _lines_of_node(tree: TreeStructure, node: int, before: str, indent: str, style: _Style) -> list[str]:
    """Write a node; what is too long for a line goes on below it, behind the lines of the tree."""
    if tree.is_leaf[node]:
        return [before + _leaf(tree, node, style)]
    room = max(style.width - len(before) - len(CONTINUED), MIN_ROOM)
    own_number = [f"#{node}"] if style.numbered else []
    first, *others = wrapped([*own_number, *tree.question(node, style.digits, style.max_terms)], room)
    # The first branch hangs below: its line goes through.
    further = (indent + "|").ljust(len(before) + len(CONTINUED)) if others else ""
    return [before + first, *(further + line for line in others)]


def _leaf(tree: TreeStructure, node: int, style: _Style) -> str:
    """Write a leaf: what it predicts, and from which examples."""
    label, share, weight = looks_like(tree, node)
    size = number(weight, max(4, len(str(int(weight)))))
    if not tree.predicts_classes:
        return f"{tree.label(node, style.digits)}  from {size}"
    if style.paint is not None:
        label = style.paint(label, int(tree.majority[node]))
    return f"{label}  {percent(share)} of {size}"


def _branches(tree: TreeStructure, node: int, style: _Style) -> list[str]:
    """Write what leads to each branch of an inner node."""
    names, functions = tree.branch_names(node), tree.branch_functions(node, style.digits, style.max_terms)
    if not functions:
        return [f"{name}: ".ljust(5) for name in names]
    return [f"{name} ({words}): " for name, words in zip(names, functions, strict=True)]
