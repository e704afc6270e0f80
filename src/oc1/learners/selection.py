"""How the default chooses its tree: one cross-validation of the pruning paths of two kinds of trees.

Trees with axis-parallel tests only, and trees that may have oblique ones, are grown on four fifths of the examples and
pruned along their paths, on which a split costs one leaf and `PRICE_OF_A_TERM` for each further term. The rest of the
examples says how many each subtree gets right. The tests of the best oblique trees are also fitted together
(`oc1.growing.joint_fit`). Of trees that are about as good, by the standard error of the difference, the simplest wins.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from ..data.training import Training
from ..growing.blas import one_blas_thread
from ..growing.joint_fit import JointFit
from ..growing.rebuild import rebuild
from ..tree import pruning
from ..tree.linear import Tree

#: What each term of a test after the first costs on the pruning path, in leaves.
PRICE_OF_A_TERM = 0.05
N_FOLDS = 5
#: Prices of a leaf that are compared, from this number of misclassified examples to this share of all.
N_ALPHAS, MIN_ERRORS, MAX_ERROR_SHARE = 28, 0.25, 0.06
#: Standard errors of the difference to the best tree within which a simpler one is as good.
EQUALLY_GOOD = 1.0
#: The choice is made on at most this number of examples, drawn by their content.
MAX_ROWS = 5_000
#: The kinds of trees, the simpler one first.
KINDS = AXIS, OBLIQUE = "axis", "oblique"
#: Shares of the examples: the others, and those of a fold.
Folds: TypeAlias = list[tuple[np.ndarray, np.ndarray]]


class Trial(NamedTuple):
    """A kind of tree in cross-validation."""

    right: np.ndarray  # float (n_examples, n_alphas): the weight of each example where it was classified right
    n_leaves: np.ndarray  # float (n_alphas): mean over the folds
    n_terms: np.ndarray

    @property
    def sizes(self) -> np.ndarray:
        """How much there is to read, in leaves."""
        return self.n_leaves + PRICE_OF_A_TERM * self.n_terms

    def simplest_of_the_best(self) -> int:
        """Return the place on the path: accuracies are noisy, so each is the mean with its neighbours."""
        padded = np.pad(self.right, ((0, 0), (1, 1)), mode="edge")
        return simplest((padded[:, :-2] + padded[:, 1:-1] + padded[:, 2:]) / 3.0, self.sizes, EQUALLY_GOOD)


class Option(NamedTuple):
    """A tree that could be chosen."""

    kind: str
    is_joint: bool  # whether its tests are fitted together
    place: int  # on the pruning path
    size: float
    right: np.ndarray  # the weight of each example where it was classified right


@dataclass(frozen=True)
class Choice:
    """What was chosen.

    Attributes
    ----------
    kind : str
        One of `KINDS`.
    alpha : float
        Price of a leaf, as a share of the examples.
    is_fitted_jointly : bool
    accuracies : dict of str to float
        Of the best tree of each kind, and of the oblique one with its tests fitted together ("joint").
    n_hyperplanes : int
        Considered for all trees.
    judged : list of (PruningSequence, array)
        The path of the tree of this kind grown without each fold, and the share of all weight that is of the fold and
        that each of its subtrees classifies right.
    """

    kind: str
    alpha: float
    is_fitted_jointly: bool
    accuracies: dict[str, float]
    n_hyperplanes: int
    judged: list[tuple[pruning.PruningSequence, np.ndarray]] = field(default_factory=list)

    def accuracies_on(self, path: pruning.PruningSequence) -> np.ndarray:
        """Return the accuracies of subtrees by cross-validation, NaN without it."""
        worth = [pruning.correct_at(path, other, right) for other, right in self.judged]
        return np.sum(worth, axis=0) if worth else np.full(len(path.alphas), np.nan)


def simplest(right: np.ndarray, sizes: np.ndarray, tolerance: float) -> int:
    """Return which of several trees is the smallest of those that are as good as the best.

    Parameters
    ----------
    right : array (n_examples, n_trees)
        The weight of each example where a tree classified it right.
    sizes : array (n_trees,)
    tolerance : float
        Standard errors of the difference within which trees are equally good.
    """
    totals = right.sum(axis=0)
    best = int(np.lexsort((sizes, -totals))[0])
    behind = right[:, [best]] - right
    is_as_good = behind.sum(axis=0) <= tolerance * np.sqrt((behind**2).sum(axis=0)) + 1e-9
    candidates = np.flatnonzero(is_as_good)
    return int(candidates[np.lexsort((-totals[candidates], np.round(sizes[candidates], 9)))[0]])


def prune_by_size(tree: Any) -> pruning.PruningSequence:
    """Return the pruning path on which leaves and terms have their prices."""
    return pruning.prune_sequence(tree, prices=1.0 + PRICE_OF_A_TERM * np.maximum(tree.terms_of_nodes - 1, 0))


def subtree_at(tree: Any, alpha: float) -> Any:
    """Return the subtree that is best at a price of a leaf."""
    sequence = prune_by_size(tree)
    return sequence.subtree(sequence.step_of(alpha))


def can_be_fitted_jointly(tree: Tree) -> bool:
    """Whether a tree has oblique tests, and none that has learned where missing values go."""
    return tree.n_terms >= tree.n_leaves > 1 and not tree.directions.any()


def fit_jointly(tree: Tree, alpha: float, X: Any, y: Any, weights: Any, max_terms: int | None, **rules: Any) -> Any:
    """Return the tree with its tests fitted together, and pruned once more; for the `rules` see `rebuild`."""
    with one_blas_thread(), np.errstate(all="ignore"):  # what overflows is not finite, and not taken
        tests = JointFit(tree, X, y, weights, max_terms).tests()
    return subtree_at(rebuild(tree, tests, X, y, weights, **rules), alpha)


def select(
    grow: Callable[[str, Training, np.ndarray], tuple[Tree, int]],
    kinds: tuple[str, ...],
    data: Training,
    may_fit_jointly: bool,
    **rules: Any,
) -> Choice:
    """Choose a kind of tree and its place on the pruning path.

    Parameters
    ----------
    grow : callable
        Grows a tree of a kind on a part of the data; returns it and the number of hyperplanes considered.
    kinds : tuple of str
    data : Training
    may_fit_jointly : bool
        Whether tests may be fitted together.
    **rules
        See `fit_jointly`.
    """
    weights = np.ones(data.n_examples) if data.weights is None else data.weights
    folds = list(data._replace(weights=None).deal_folds(N_FOLDS))  # of rows, whatever they weigh
    smallest = min(MIN_ERRORS / float(weights.sum()), MAX_ERROR_SHARE)
    alphas = np.append(0.0, np.geomspace(smallest, MAX_ERROR_SHARE, N_ALPHAS))
    paths: dict[str, list[pruning.PruningSequence]] = {}
    n_hyperplanes = 0
    for kind in kinds:
        grown = [grow(kind, data, rest) for rest, _ in folds]
        paths[kind] = [prune_by_size(tree) for tree, _ in grown]
        n_hyperplanes += sum(considered for _, considered in grown)
    trials = {kind: judge(own, data, folds, weights, alphas) for kind, own in paths.items()}
    options = []
    for kind, trial in trials.items():
        at = trial.simplest_of_the_best()
        options.append(Option(kind, False, at, trial.sizes[at], trial.right[:, at]))
    if OBLIQUE in trials and may_fit_jointly:
        at = options[-1].place
        right = judge_joint_fits(paths[OBLIQUE], data, folds, weights, float(alphas[at]), rules)
        options.append(Option(OBLIQUE, True, at, trials[OBLIQUE].sizes[at], right))
    all_right, sizes = np.column_stack([own.right for own in options]), np.array([own.size for own in options])
    best, total = options[simplest(all_right, sizes, EQUALLY_GOOD)], float(weights.sum())
    accuracies = {"joint" if own.is_joint else own.kind: float(own.right.sum() / total) for own in options}
    judged = []
    for (_, fold), path in zip(folds, paths[best.kind], strict=True):
        rows = np.flatnonzero(fold)
        right_at_nodes = path.tree.score_nodes(data.X[rows], data.y[rows], weights[rows])
        judged.append((path, path.sum_over_leaves(right_at_nodes) / total))
    return Choice(best.kind, float(alphas[best.place]), best.is_joint, accuracies, n_hyperplanes, judged)


def judge(
    paths: list[pruning.PruningSequence], data: Training, folds: Folds, weights: np.ndarray, alphas: np.ndarray
) -> Trial:
    """Judge the subtrees of a kind of trees, one grown without each fold, by the examples of the folds."""
    right, sizes = np.zeros((data.n_examples, len(alphas))), []
    for (_, fold), path in zip(folds, paths, strict=True):
        rows, tree = np.flatnonzero(fold), path.tree
        leaves = path.leaves_of(tree.apply(data.X[rows]), alphas)
        is_right = tree.majority[leaves] == data.y[rows][:, None]
        right[rows] = is_right * weights[rows][:, None]
        steps = [path.step_of(alpha) for alpha in alphas]
        sizes.append((path.n_leaves[steps], path.n_terms[steps]))
    n_leaves, n_terms = np.mean(sizes, axis=0)
    return Trial(right, n_leaves, n_terms)


def judge_joint_fits(
    paths: list[pruning.PruningSequence],
    data: Training,
    folds: Folds,
    weights: np.ndarray,
    alpha: float,
    rules: dict[str, Any],
) -> np.ndarray:
    """Return the weight of each example where the tree without its fold is right, its tests fitted together."""
    right = np.zeros(data.n_examples)
    for (rest, fold), path in zip(folds, paths, strict=True):
        tree: Any = path.subtree(path.step_of(alpha))
        others, rows = np.flatnonzero(rest), np.flatnonzero(fold)
        if can_be_fitted_jointly(tree):
            own_weights = None if data.weights is None else data.weights[others]
            examples = data.X[others], data.y[others], own_weights
            tree = fit_jointly(tree, alpha, *examples, **rules)
        right[rows] = weights[rows] * (tree.majority[tree.apply(data.X[rows])] == data.y[rows])
    return right
