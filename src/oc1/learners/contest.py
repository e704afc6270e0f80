"""Which kind of tree suits the data: a contest by cross-validation among trees that are grown in different ways.

No way of growing a tree is best on all data. A linear split at the top destroys what axis-parallel splits would find in
interactions of attributes, and many classes with few examples each are told apart by many splits that none of them, by
itself, could prove to be more than chance. So the trees compete on the same folds, with their tests as they were grown
or fitted together (see `oc1.learners.softening`), whichever is better. The first one stays unless another is clearly
better, and is not challenged where it tells the classes apart; those that fall far behind leave the contest early.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from joblib import effective_n_jobs

from ..data.exact_moments import in_threads
from ..data.sampling import weight_of_one
from ..data.training import Training
from ..growing.blas import one_blas_thread
from ..tree import pruning
from .softening import EQUAL, N_FOLDS, SoftTrial, has_parted, is_sampled, pruned_at, sample_of

if TYPE_CHECKING:
    from .base import CostComplexityTree

#: Standard errors by which another tree must lead to take the place of the first; and by which it must lead a single
#: leaf: in noise, the best of many pruned trees is ahead by chance.
MIN_LEAD, MIN_LEAD_OVER_A_LEAF = 0.5, 1.5
#: Examples, in all folds together, that a tree must be right about for each leaf that it has more: than another tree,
#: and than it would have if it were pruned further.
MIN_GAINED_PER_LEAF = 0.15
#: Standard errors behind the leader at which a tree leaves the contest, after each fold but the last; and those at
#: which the first tree does, which need not be ahead.
MAX_LAGS, MAX_LAG_OF_FIRST = (1.0, 0.5, 0.0, 0.0), 2.0
#: Prices of a leaf, as shares of the examples, that trees are pruned by.
N_PRICES = 24
MIN_EXAMPLES_PER_LEAF, MAX_SHARE_PER_LEAF = 0.25, 0.05


@dataclass
class Entrant:
    """A tree in a contest.

    Parameters
    ----------
    model : CostComplexityTree
        It grows the trees.
    is_pruned : bool
        Whether its trees are pruned, at the best of several prices of a leaf.
    is_softened : bool
        Whether the tests of its trees may be fitted together.
    """

    model: CostComplexityTree
    is_pruned: bool = True
    is_softened: bool = False
    n_leaves: list[np.ndarray] = field(default_factory=list)  # of the tree of each fold, at each price of a leaf
    correct: list[np.ndarray] = field(default_factory=list)  # in each fold, at each price of a leaf
    n_hyperplanes: int = 0
    has_parted: bool = True  # whether all its trees so far are right about all but a few of their examples
    trial: SoftTrial = field(default_factory=SoftTrial)

    def enter(self, data: Training, rest: np.ndarray, fold: np.ndarray, prices: np.ndarray) -> None:
        """Grow a tree on the rest and judge it by the fold."""
        grown = self.model._grow(data, rest)
        self.n_hyperplanes += grown.n_hyperplanes
        self.has_parted &= has_parted(grown.tree)
        rows, weights = data.part(fold)
        own_weights = None if weights is None else weights[rows]
        at_nodes = grown.tree.score_nodes(data.X[rows], data.y[rows], own_weights)
        if self.is_pruned:
            sequence = pruning.prune_sequence(grown.tree)
            steps = [sequence.step_of(price) for price in prices]
            self.correct.append(sequence.sum_over_leaves(at_nodes)[steps])
            self.n_leaves.append(sequence.n_leaves[steps])
        else:
            self.correct.append(np.full(len(prices), at_nodes[grown.tree.is_leaf].sum()))
            self.n_leaves.append(np.full(len(prices), grown.tree.n_leaves))
        if self.is_softened:
            price = prices[self.best_price(weight_of_one(data.weights))] if self.is_pruned else 0.0
            self.trial.enter(pruned_at(grown, price), data, rest, fold)

    def best_price(self, unit: float) -> int:
        """Return which price of a leaf is best."""
        gained = np.sum(self.correct, axis=0) / unit - MIN_GAINED_PER_LEAF * np.mean(self.n_leaves, axis=0)
        return int(np.flatnonzero(gained >= gained.max() - EQUAL)[-1])

    def n_right(self, unit: float) -> float:
        """Return how many examples were right, at the best price, with the tests that are better."""
        as_grown = float(np.sum(self.correct, axis=0)[self.best_price(unit)] / unit)
        return self.trial.n_right_softened if self.is_softened and self.trial.is_better else as_grown

    def size(self, unit: float) -> float:
        """Return the mean number of leaves, at the best price."""
        return float(np.mean(self.n_leaves, axis=0)[self.best_price(unit)])


@dataclass(frozen=True)
class Outcome:
    """Who won.

    Attributes
    ----------
    winner : str
    price : float
        Of a leaf, at which the winner's tree is to be pruned.
    accuracies : dict of str to float
        Accuracy in the folds that each tree has taken part in.
    n_hyperplanes : int
        Considered by all trees of the contest.
    is_softened : bool
        Whether the tests of the winner's tree are better if they are fitted together.
    """

    winner: str
    price: float
    accuracies: dict[str, float]
    n_hyperplanes: int
    is_softened: bool


def standard_error(n_right: float, other: float, n: float) -> float:
    """Return the standard error of the difference between two numbers of examples that were right, at most.

    It is the root of the number that one tree has right and the other has not.
    """
    return float(np.sqrt(max(2.0 * n - n_right - other, 1.0)))


def enter_all(entrants: Sequence[Entrant], n_jobs: int | None, *fold: Any) -> None:
    """Let all entrants enter a fold, side by side if there are several threads."""
    n_threads = min(effective_n_jobs(n_jobs), len(entrants))
    in_threads(lambda number: entrants[number].enter(*fold), len(entrants), n_threads)


def hold_contest(entrants: Mapping[str, Entrant], data: Training, n_jobs: int | None = None) -> Outcome:
    """Let trees compete; the first one wins unless another is clearly better.

    Parameters
    ----------
    entrants : dict of str to Entrant
        By name.
    data : Training
    n_jobs : int, optional
        Threads: the trees of a fold grow side by side.
    """
    # A first tree of all examples that parts the classes is not challenged. That of a sample stands for it.
    is_spared, data = is_sampled(data), sample_of(data)
    unit = weight_of_one(data.weights)
    lowest, highest = MIN_EXAMPLES_PER_LEAF * unit / data.mass(data.everything), MAX_SHARE_PER_LEAF
    prices = np.append(0.0, np.geomspace(min(lowest, highest), highest, N_PRICES))
    first, running, n_judged = next(iter(entrants)), dict(entrants), [0.0]
    for number, (rest, fold) in enumerate(data.deal_folds(N_FOLDS)):
        if is_spared and number > 0 and first in running and running[first].has_parted:
            running = {first: running[first]}
        if list(running) == [first] and not running[first].is_pruned:
            break
        n_judged.append(n_judged[-1] + data.mass(fold) / unit)
        with one_blas_thread():  # for all threads: each of them would give back what another one still needs
            enter_all(list(running.values()), n_jobs, data, rest, fold, prices)
        right = {name: entrant.n_right(unit) for name, entrant in running.items()}
        leader = max(right, key=lambda name: right[name])
        for name, own in right.items() if number < len(MAX_LAGS) else ():
            max_lag = MAX_LAG_OF_FIRST if name == first else MAX_LAGS[number]
            if name != leader and right[leader] - own >= max_lag * standard_error(right[leader], own, n_judged[-1]):
                del running[name]
    n, winner = n_judged[-1], next(iter(running))
    by_a_leaf = n * np.bincount(data.y, data.weights).max() / data.mass(data.everything)
    for name, entrant in running.items():
        own, best = entrant.n_right(unit), running[winner].n_right(unit)
        lead = own - best - MIN_GAINED_PER_LEAF * max(entrant.size(unit) - running[winner].size(unit), 0.0)
        is_clear = own - by_a_leaf > MIN_LEAD_OVER_A_LEAF * standard_error(own, by_a_leaf, n)
        if is_clear and lead > MIN_LEAD * standard_error(own, best, n):
            winner = name
    accuracies = {
        name: float(entrant.n_right(unit) / n_judged[len(entrant.correct)]) for name, entrant in entrants.items()
    }
    price = float(prices[entrants[winner].best_price(unit)])
    n_hyperplanes = sum(entrant.n_hyperplanes for entrant in entrants.values())
    is_softened = entrants[winner].is_softened and entrants[winner].trial.is_better
    return Outcome(winner, price, accuracies, n_hyperplanes, is_softened)
