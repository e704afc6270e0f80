"""A grown tree with other tests, and with what training examples make of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..data.categories import replace_by_codes
from ..impurity import ImpurityFunction, get_measure, gini, information_gained
from ..kernels.layout import CUSTOM, GINI, INFO_GAIN, TWOING
from ..tree.linear import Tree, project
from .linear_tests import LinearTest
from .nodes import GrownNode, build_tree
from .rounding import round_test

#: Tests of nodes with more examples keep their numbers: looking for shorter ones would take long.
MAX_ROWS_TO_ROUND = 20_000

Gain = Callable[[np.ndarray, np.ndarray], float]


@dataclass(frozen=True)
class TestOf:
    """The new test of a node."""

    test: LinearTest
    is_swapped: bool = False  # whether its branches change places


def rebuild(
    tree: Tree,
    tests: Sequence[TestOf | None],
    X: np.ndarray,
    y: np.ndarray,
    weights: np.ndarray | None,
    *,
    min_samples_leaf: int = 1,
    min_weight_leaf: float = 0.0,
    criterion: str | ImpurityFunction = "twoing",
) -> Tree:
    """Return a tree of the same shape with other tests, in short numbers.

    Branches that too few examples take are removed, and leaves that say the same are joined.

    Parameters
    ----------
    tree : Tree
        With a scale; no test of it has learned where missing values go.
    tests : list of TestOf or None
        For each node of the tree its test; None where it stays as it is.
    X : float array (n_samples, n_features)
        As `Tree.apply` takes it: NaN where a value is missing, category numbers where the tree has codes.
    y : int array (n_samples,)
        Class indices.
    weights : array (n_samples,) or None
        None if all count alike.
    min_samples_leaf, min_weight_leaf
        What a leaf must have.
    criterion : str or callable, default="twoing"
        The measure in which the gains of the tests are given.
    """
    X = examples_of(tree, X)
    own_weights = np.ones(len(y)) if weights is None else weights
    n_classes, gain = tree.counts.shape[1], gain_of(criterion, len(tree.classes))

    def build(node: int, rows: np.ndarray, depth: int) -> GrownNode:
        while tree.children[node, 0] >= 0:
            given = tests[node] or TestOf(LinearTest(*tree.test(node)))
            children = tree.children[node][::-1] if given.is_swapped else tree.children[node]
            is_right = project(X[rows], given.test.features, given.test.coefficients) > given.test.threshold
            sides = rows[~is_right], rows[is_right]
            if all(len(own) >= min_samples_leaf and own_weights[own].sum() >= min_weight_leaf for own in sides):
                break
            node = int(children[int(len(sides[1]) > len(sides[0]))])
        else:
            return leaf(rows, depth)
        made = [build(int(child), own, depth + 1) for child, own in zip(children, sides, strict=True)]
        if not (made[0].children or made[1].children) and made[0].counts.argmax() == made[1].counts.argmax():
            return leaf(rows, depth)
        whole, test = leaf(rows, depth), given.test
        if len(rows) <= MAX_ROWS_TO_ROUND:
            test = round_test(test, X[rows], tree.scale)
        whole.split = test.centred(project(X[rows], test.features, test.coefficients), moves=False)
        whole.gain, whole.children = gain(made[0].counts, made[1].counts), made
        return whole

    def leaf(rows: np.ndarray, depth: int) -> GrownNode:
        return GrownNode(rows, own_weights[rows], depth, 0, np.bincount(y[rows], own_weights[rows], n_classes))

    new = build_tree(build(0, np.arange(len(y)), 0), tree.fill, tree.classes, tree.feature_names)
    return replace(new, codes=tree.codes, categories=tree.categories, scale=tree.scale)


def examples_of(tree: Tree, X: np.ndarray) -> np.ndarray:
    """Return examples as the tests of the tree see them: nothing is missing, categories are codes."""
    X = replace_by_codes(X, tree.codes) if tree.codes else X.astype(np.float64)
    return np.where(np.isnan(X), tree.fill, X)


def gain_of(criterion: str | ImpurityFunction, n_classes: int) -> Gain:
    """Return what a test gains as a function of the class weights on its two sides, as the kernels give it."""
    measure = get_measure(criterion, n_classes)
    # A measure of the user's own says nothing of a node that is not split: Gini's decrease stands for its gain.
    is_gini = measure.code in (GINI, CUSTOM)
    impurity = gini if is_gini else measure.impurity

    def gain(left: np.ndarray, right: np.ndarray) -> float:
        n_left, n_right = left.sum(), right.sum()
        if measure.code == TWOING:
            apart = np.abs(left / n_left - right / n_right).sum()
            return float(apart**2 * n_left * n_right / (n_left + n_right) ** 2)
        if measure.code == INFO_GAIN:
            return information_gained(np.array([left, right]))
        decrease = impurity(left + right, np.zeros_like(left)) - impurity(left, right)
        return float(decrease if is_gini else decrease / (n_left + n_right))

    return gain
