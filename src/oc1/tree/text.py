"""A fitted tree as text, in the user's names and units."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from .linear import Tree
    from .structure import TreeStructure

#: A set of categories is written in so many words at most.
MOST_CATEGORIES = 8


def equation(tree: Tree, node: int, digits: int = 3) -> str:
    """Write the test of a node, like ``0.37 petal_len - 1.2 petal_wid > 0.4``.

    Parameters
    ----------
    tree : Tree
    node : int
    digits : int, default=3
        Significant digits of the numbers; the threshold gets more where it needs them to stay between the examples.
    """
    return " ".join(equation_sides(tree, node, digits))


def equation_sides(tree: Tree, node: int, digits: int = 3) -> list[str]:
    """Write the two sides of a test, like ``0.37 petal_len - 1.2 petal_wid`` and ``> 0.4``; a set has one side only."""
    features, coefficients, threshold = tree.test(node)
    if len(features) == 1 and _is_categorical(tree, int(features[0])):
        return [_membership(tree, node)]
    words = _terms(tree, features, coefficients, digits)
    side = tree.missing[node] if len(tree.missing) else 0
    if side > 0 and threshold == np.finfo(float).max:
        return [*words, "missing"]
    suffix = {-1: " and not missing", 0: "", 1: " or missing"}[int(side)]
    return [" ".join(words), f"> {_rounded(threshold, digits, tree.gaps[node])}{suffix}"]


def write_test(tree: Any, features: np.ndarray, coefficients: np.ndarray, threshold: float, digits: int = 3) -> str:
    """Write a test that is not in a tree yet; of `tree` only the ``feature_names`` are used."""
    return f"{' '.join(_terms(tree, features, coefficients, digits))} > {threshold:.{digits}g}"


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


def _weight(count: float) -> str:
    return np.format_float_positional(count, precision=4, trim="-")


def _rounded(value: float, digits: int, gap: float) -> str:
    """Write a number with as many significant digits as it takes to stay within a quarter of a gap."""
    while digits < 17 and abs(float(f"{value:.{digits}g}") - value) > 0.25 * gap:
        digits += 1
    return f"{value:.{digits}g}"


def _terms(tree: TreeStructure, features: np.ndarray, coefficients: np.ndarray, digits: int) -> list[str]:
    words: list[str] = []
    for feature, coefficient in zip(features, coefficients, strict=True):
        name = feature_name(tree, int(feature))
        if _is_categorical(tree, int(feature)):
            name = f"code({name})"
        factor = f"{abs(coefficient):.{digits}g}"
        size = name if factor == "1" else f"{factor} {name}"
        if not words:
            words.append(f"-{size}" if coefficient < 0 else size)
        else:
            words.append(f"{'-' if coefficient < 0 else '+'} {size}")
    return words


def _is_categorical(tree: Any, feature: int) -> bool:
    codes = getattr(tree, "codes", ())
    return bool(codes) and codes[feature] is not None


def _membership(tree: Tree, node: int) -> str:
    """Write a test on a categorical attribute alone, like ``colour in {red, green}``."""
    feature = int(tree.test(node)[0][0])

    def passing(node: int) -> np.ndarray:
        """Say which categories answer yes."""
        _, coefficients, threshold = tree.test(node)
        return coefficients[0] * tree.codes[feature] > threshold

    # Categories that a test further up has sent elsewhere are not worth a word.
    possible = np.ones(len(tree.codes[feature]), dtype=bool)
    parents, below = tree.parents, node
    while (above := int(parents[below])) >= 0:
        if tree.test(above)[0].tolist() == [feature]:
            possible &= passing(above) == (tree.children[above, 1] == below)
        below = above
    labels = np.array(tree.categories[feature], dtype=object)
    yes, no = (sorted(labels[possible & side]) for side in (passing(node), ~passing(node)))
    if not yes:
        return f"{feature_name(tree, feature)} missing"
    word, chosen = ("not in", no) if len(yes) > MOST_CATEGORIES and len(no) < len(yes) else ("in", yes)
    if len(chosen) > MOST_CATEGORIES:
        chosen = [*chosen[: MOST_CATEGORIES - 1], f"{len(chosen) - MOST_CATEGORIES + 1} more"]
    return f"{feature_name(tree, feature)} {word} {{{', '.join(chosen)}}}"


def code_lists(tree: Any, digits: int = 3) -> list[str]:
    """Write the codes of each categorical attribute that stands in a combination, in their order."""
    tests = [tree.test(node)[0] for node in np.flatnonzero(~tree.is_leaf)] if getattr(tree, "codes", ()) else []
    combined = {int(feature) for features in tests if len(features) > 1 for feature in features}
    lines = []
    for feature in sorted(combined):
        if _is_categorical(tree, feature):
            known = sorted(zip(tree.codes[feature].tolist(), tree.categories[feature], strict=True))
            words = [f"{label} {code:.{digits}g}" for code, label in known]
            words.append(f"missing {tree.fill[feature]:.{digits}g}")
            lines.append(f"code({feature_name(tree, feature)}): {', '.join(words)}")
    return lines


def feature_name(tree: TreeStructure, feature: int) -> str:
    """Return an attribute's name, ``x1``, ``x2``, ... where it has none."""
    return tree.feature_names[feature] if tree.feature_names else f"x{feature + 1}"


def attribute_names(model: Any) -> list[str]:
    """Return the names of a fitted estimator's attributes, ``x1``, ``x2``, ... where it has none."""
    names = getattr(model, "feature_names_in_", None)
    return [f"x{m + 1}" for m in range(model.n_features_in_)] if names is None else [str(name) for name in names]


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
        branch whose function is the largest. A test on a categorical attribute alone shows the categories that answer
        yes; in a combination stand their codes, which are listed below the tree. A test that has learned where missing
        values go says "or missing", "and not missing", or asks only whether a value is "missing".

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
    if hasattr(model, "fit"):
        from sklearn.utils.validation import check_is_fitted  # not for a tree of its own

        check_is_fitted(model)
    if hasattr(model, "estimators_"):
        return "\n\n".join(f"tree {i}\n{text(one, digits)}" for i, one in enumerate(model.estimators_, 1))
    tree: Any = getattr(model, "tree_", model)
    majority, leaf = tree.majority, tree.is_leaf
    asks_machines = hasattr(tree, "machine")

    def describe(node: int) -> str:
        if leaf[node]:
            if hasattr(tree, "values"):
                return f"{tree.values[node]:.{digits}g}  [{_weight(tree.counts[node, 0])}]"
            counts = " ".join(_weight(count) for count in tree.counts[node])
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
    return "\n".join(lines + code_lists(tree, digits))
