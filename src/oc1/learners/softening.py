"""Fitting all tests of a tree together (see `oc1.growing.soft_trees`): whether to do so, and the tree that it gives.

With few examples for each coefficient it is always done. It is also done where there are many and the tree is right
about all but a few: the ridge is then next to nothing, and the planes come to lie in the middle between the classes.
Otherwise, trees that were grown on parts of the examples, and are tested on the rest, tell.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from ..data.sampling import weight_of_one
from ..data.training import Training
from ..growing.blas import one_blas_thread
from ..growing.soft_trees import SoftFit
from ..growing.tao import examples_of, with_tests
from ..kernels._jit import announce_compiling
from ..tree.linear import Tree
from .contest import N_FOLDS, pruned_at, sample_of

if TYPE_CHECKING:
    from .base import CostComplexityTree, Grown

#: With fewer examples for each term, the tests are always fitted together.
MIN_EXAMPLES_PER_TERM = 15
#: With more than this number, a tree that misclassifies no larger share of the examples has parted the classes.
MAX_EXAMPLES_PER_TERM, MAX_ERROR_WHERE_PARTED = 50, 0.002
#: The ridge (see `SoftFit`), and that of such a tree.
RIDGE, RIDGE_WHERE_PARTED = 0.1, 1e-4
#: Folds on which trees are compared, of as many as a contest has; and by how many standard errors those whose tests
#: were fitted together must lead.
FOLDS = 3
MIN_LEAD = 0.3


def choose_ridge(
    model: CostComplexityTree, tree: Tree, data: Training, price: float, trials: Sequence[Grown]
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
    trials : sequence of Grown
        Trees that were grown on all but the first fold of `Training.deal_folds`, all but the second, and so on; those
        that are needed beyond these are grown here.
    """
    # Tests of one attribute are wanted as they are.
    if tree.n_leaves < 2 or tree.n_terms < tree.n_leaves:
        return None
    n_per_term = data.n_examples / tree.n_terms
    if n_per_term >= MAX_EXAMPLES_PER_TERM and tree.costs[tree.is_leaf].sum() <= MAX_ERROR_WHERE_PARTED:
        return RIDGE_WHERE_PARTED
    if tree.n_leaves == 2:  # a single test has nothing to be fitted together with
        return None
    is_wanted = n_per_term < MIN_EXAMPLES_PER_TERM or _is_better(model, sample_of(data), price, trials)
    return RIDGE if is_wanted else None


def _is_better(model: CostComplexityTree, data: Training, price: float, trials: Sequence[Grown]) -> bool:
    """Whether trees are clearly better on examples that they have not seen if their tests are fitted together."""
    n_judged = right = right_softened = 0.0
    for number, (rest, fold) in enumerate(islice(data.deal_folds(N_FOLDS), FOLDS)):
        grown = trials[number] if number < len(trials) else model._grow(data, rest)
        own: Any = pruned_at(grown, price) if price > 0.0 else grown.tree
        X, y, weights = _part(own, data, fold)
        weights = np.ones(len(y)) if weights is None else weights / weight_of_one(data.weights)
        n_judged += weights.sum()
        as_grown = weights @ (own.majority[own.apply(data.X[data.part(fold)[0]])] == y)
        right += as_grown
        if own.n_leaves < 2:
            right_softened += as_grown
            continue
        with one_blas_thread(), announce_compiling():
            right_softened += weights @ (SoftFit(own, *_part(own, data, rest), RIDGE).fit().predict(X) == y)
    return bool(right_softened >= right + MIN_LEAD * np.sqrt(max(n_judged - right, 1.0)))


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
