"""Fitting all tests of a tree together (see `oc1.growing.soft_trees`): whether to do so, and the tree that it gives.

With few examples for each coefficient it is always done. It is also done where there are many and the tree is right
about all but a few: the ridge is then next to nothing, and the planes come to lie in the middle between the classes.
Otherwise, trees that were grown on parts of the examples, and are tested on the rest, tell.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from ..data.sampling import weight_of_one
from ..data.training import Training
from ..growing.blas import one_blas_thread
from ..growing.soft_trees import SoftFit
from ..growing.tao import examples_of, with_tests
from ..kernels._notice import announce_compiling
from ..kernels.soft_tree import compiled_soft_fit
from ..tree import pruning
from ..tree.linear import Tree
from ..tree.structure import TreeStructure

if TYPE_CHECKING:
    from .base import CostComplexityTree, Grown

#: With fewer examples for each term, the tests are always fitted together.
MIN_EXAMPLES_PER_TERM = 15
#: A tree that misclassifies no larger share of the examples has parted the classes: it is not challenged, and with more
#: than this number of examples for each term its tests are put in the middle between them.
MAX_ERROR_WHERE_PARTED, MAX_EXAMPLES_PER_TERM = 0.002, 50
#: The ridge (see `SoftFit`), and that of such a tree.
RIDGE, RIDGE_WHERE_PARTED = 0.1, 1e-4
#: Trees are compared on the first three of five folds of this number of examples at most; a contest takes all folds.
MAX_ROWS, N_FOLDS, FOLDS = 4000, 5, 3
#: Standard errors by which those whose tests were fitted together must lead, and the steps of such a fit.
MIN_LEAD, TRIAL_STEPS = 0.3, 20
#: Sums of examples closer than this are equal.
EQUAL = 1e-9


def foresee() -> None:
    """Say that tests will be fitted together: that kernel is then compiled beside those that are needed first."""
    compiled_soft_fit()


def n_counted(data: Training) -> float:
    """Return the number of examples; one that weighs twice as much as others counts twice."""
    return data.mass(data.everything) / weight_of_one(data.weights)


@dataclass
class SoftTrial:
    """Trees that are tested on examples that they have not seen, with their tests as grown and fitted together."""

    n_judged: float = 0.0
    n_right: float = 0.0
    n_right_softened: float = 0.0
    n_per_term: float = np.inf  # examples that the trees were grown on, the fewest

    def enter(self, tree: Tree, data: Training, rest: np.ndarray, fold: np.ndarray) -> None:
        """Try a tree that was grown on the rest of the examples on a fold."""
        X, y, weights = _part(tree, data, fold)
        weights = np.ones(len(y)) if weights is None else weights / weight_of_one(data.weights)
        as_grown = weights @ (tree.majority[tree.apply(data.X[data.part(fold)[0]])] == y)
        self.n_judged, self.n_right = self.n_judged + weights.sum(), self.n_right + as_grown
        if not has_oblique_tests(tree):
            self.n_right_softened += as_grown
            return
        with one_blas_thread(), announce_compiling():
            soft = SoftFit(tree, *_part(tree, data, rest), RIDGE).fit(TRIAL_STEPS)
            self.n_right_softened += weights @ (soft.predict(X) == y)
        self.n_per_term = min(self.n_per_term, n_counted(data) / tree.n_terms)

    @property
    def is_better(self) -> bool:
        """Whether tests are better if they are fitted together; clearly so, unless examples for each term are few."""
        min_lead = 0.0 if self.n_per_term < MIN_EXAMPLES_PER_TERM else MIN_LEAD
        n_wrong = max(self.n_judged - self.n_right, 1.0)
        return bool(self.n_right_softened > self.n_right - EQUAL + min_lead * np.sqrt(n_wrong))


def has_parted(tree: TreeStructure) -> bool:
    """Whether a tree is right about all but a few of the examples that it was grown on."""
    return bool(tree.costs[tree.is_leaf].sum() <= MAX_ERROR_WHERE_PARTED)


def has_oblique_tests(tree: Tree) -> bool:
    """Whether a tree has tests to be fitted together: several ones, and not all of one attribute only."""
    return bool(2 < tree.n_leaves <= tree.n_terms and not len(tree.missing))


def choose_ridge(
    model: CostComplexityTree, tree: Tree, data: Training, price: float, is_softened: bool | None
) -> float | None:
    """Return the ridge with which the tests of a tree are to be fitted together; None if they are not.

    Parameters
    ----------
    model : CostComplexityTree
        Grows trees of this kind.
    tree : Tree
        Grown on all examples, and pruned.
    data : Training
    price : float
        Of a leaf, at which the tree was pruned.
    is_softened : bool or None
        What a contest of trees has shown; None if there was none.
    """
    n_per_term = n_counted(data) / max(tree.n_terms, 1)
    if tree.n_terms >= tree.n_leaves > 1 and has_parted(tree) and n_per_term >= MAX_EXAMPLES_PER_TERM:
        return RIDGE_WHERE_PARTED
    if not has_oblique_tests(tree):
        return None
    if n_per_term < MIN_EXAMPLES_PER_TERM:
        return RIDGE
    if is_softened is None:
        trial, sample = SoftTrial(), sample_of(data)
        for rest, fold in islice(sample.deal_folds(N_FOLDS), FOLDS):
            trial.enter(pruned_at(model._grow(sample, rest), price), sample, rest, fold)
        is_softened = trial.is_better
    return RIDGE if is_softened else None


def is_sampled(data: Training) -> bool:
    """Whether trees are compared on a sample of the examples."""
    return data.n_examples > MAX_ROWS


def sample_of(data: Training) -> Training:
    """Return at most `MAX_ROWS` examples, drawn by their content."""
    if not is_sampled(data):
        return data
    rows = np.flatnonzero(data.hold_out(MAX_ROWS / data.n_examples)[1])
    weights = None if data.weights is None else data.weights[rows]
    return data._replace(X=data.X[rows], y=data.y[rows], weights=weights, on_device=None)


def pruned_at(grown: Grown, price: float) -> Any:
    """Return the subtree that is best at a price of a leaf; the tree itself where leaves cost nothing."""
    if price == 0.0:
        return grown.tree
    sequence = pruning.prune_sequence(grown.tree)
    return sequence.subtree(sequence.step_of(price))


def softened(tree: Tree, data: Training, ridge: float, max_terms: int | None, **rules: Any) -> Tree:
    """Return the tree with all tests fitted together; for the `rules` see `oc1.growing.tao.with_tests`."""
    with one_blas_thread(), announce_compiling():
        soft = SoftFit(tree, *examples_of(tree, data.X, data.y, data.weights), ridge)
        soft.fit().exchange_terms(max_terms)
    return with_tests(tree, soft.tests(), data.X, data.y, data.weights, **rules)


def _part(tree: Tree, data: Training, share: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """Return some examples as the tests of a tree see them."""
    rows, weights = data.part(share)
    return examples_of(tree, data.X[rows], data.y[rows], None if weights is None else weights[rows])
