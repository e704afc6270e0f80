"""The policy of the default: a split is made where it is worth more than its complexity costs.

At a node there are up to three candidates: the best axis-parallel split, a linear classifier (see `starts`), and
the purest hyperplane of OC1's search, which begins at the other two among others. The purest fits the training examples
best, but a search over d + 1 coefficients finds something in noise, too. What a candidate is *worth* is its Twoing
value less what chance accounts for: for the searched ones ``complexity_penalty / n`` times the number of
coefficients; for the linear classifier nothing, since each example is judged by the plane that was fitted without it.
Where no candidate is worth more than ``complexity_penalty / 3n`` for each class, the node stays a leaf: no example need
be kept back for pruning, and no time goes into the noise at the bottom.

Twoing prefers splits into halves, also where one class can be told from all others almost without fault, and examples
that go astray at the top are lost. So the candidate is taken that is worth most for each example it misplaces.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..kernels.layout import BY_FILL, NO_SPLIT, PLANE, SCORE
from ..kernels.records import AxisSplit
from .calls import NodeKernels
from .linear_tests import LinearTest
from .nodes import Expansion, NodeTable, PendingNode
from .purest import best_axis
from .small_nodes import SearchableNode, searchable
from .starts import AXIS, RANDOM, NodeView, twoing
from .views import view_of

#: What choosing the attribute costs an axis-parallel split, in coefficients for each doubling of the attributes.
COEFFICIENTS_PER_DOUBLING = 0.4
#: An oblique split must have this many times the merit of an axis-parallel one, which is easier to read.
MIN_OBLIQUE_MERIT = 1.1
#: With fewer examples in all the penalty is proportionally smaller: even six examples should be told apart.
MIN_ROWS_FOR_FULL_PENALTY = 50


class Candidate(NamedTuple):
    """A hyperplane in search space."""

    plane: np.ndarray
    value: float  # its Twoing value
    worth: float  # ... less what chance accounts for
    misplaced: float  # share of the examples that are not on their class's side, and what chance hides of it
    is_linear: bool = False  # a linear classifier's own: its threshold stays where it is
    is_pure: bool = False  # no class is on both sides
    missing: int = BY_FILL  # side of the missing values of an axis-parallel one

    @property
    def merit(self) -> float:
        """What is gained for each example that goes astray."""
        return self.worth / self.misplaced


def highest(totals: np.ndarray) -> float:
    """Return a Twoing value that no split of these class weights exceeds: that of two halves, if classes allow it."""
    share = max(0.5, totals.max() / totals.sum())
    return float(4.0 * share * (1.0 - share))


def misplaced(left: np.ndarray, totals: np.ndarray) -> float:
    """Return the share of the examples that are not on the side where most of their class is."""
    return float(np.minimum(left, totals - left).sum() / totals.sum())


def present_weights(looked: SearchableNode) -> np.ndarray:
    """Return the weights of the classes that are present at a node."""
    weights = looked.node.class_weights
    return weights[weights > 0.0]


def valued(looked: SearchableNode, plane: np.ndarray, price: float, chance: float, missing: int = BY_FILL) -> Candidate:
    """Return a plane that was found by search with what it is worth, where `chance` accounts for some of its value."""
    left, totals = looked.left_weights(plane, missing), present_weights(looked)
    value, astray = twoing(left, totals), misplaced(left, totals)
    # Chance hides some that go astray; but where no class is on both sides, there are none.
    hidden = (chance if astray > 0.0 else price) / 3.0
    return Candidate(plane, value, value - chance, astray + hidden, is_pure=astray == 0.0, missing=missing)


class PenalisedPolicy:
    """Splits a node by the candidate that is worth most, if one is worth a split.

    Parameters
    ----------
    kernels : NodeKernels
    """

    def __init__(self, kernels: NodeKernels):
        self.kernels, self.options, self.reporter = kernels, kernels.options, kernels.reporter
        self.settings = kernels.settings._replace(axis_starts=0)
        statistics = kernels.setup.statistics
        share = min(1.0, statistics.n_examples / MIN_ROWS_FOR_FULL_PENALTY)
        self._penalty = self.options.complexity_penalty * share * statistics.unit

    def split(self, node: PendingNode) -> Expansion:
        """Split one node."""
        best = None
        if not self.kernels.stays_leaf(node):
            looked = searchable(node, self.kernels)
            best = self._best(looked)
        if best is None:
            return Expansion(NodeTable.leaf(node), [])
        if self.settings.max_terms < np.count_nonzero(best.plane[:-1]):
            return looked.split_shortened(best.plane)
        if best.missing != BY_FILL:
            return looked.split_by_test(LinearTest.of_search_plane(best.plane, self.kernels.space, best.missing))
        return looked.split_by_plane(best.plane, best.is_linear)

    grow = split  # one call goes no further

    def _best(self, looked: SearchableNode) -> Candidate | None:
        """Return the candidate that is worth most, None if none is worth a split."""
        totals, size = present_weights(looked), looked.node.size
        price = self._penalty / totals.sum()
        least = len(totals) * price / 3.0
        axis = self._axis_candidate(looked, price)
        best = axis if axis is not None and axis.worth > least else None
        if not self.kernels.is_oblique:
            return best

        def better(candidate: Candidate | None) -> Candidate | None:
            """Return an oblique candidate if it is worth more than the best so far, otherwise that one."""
            if candidate is None or not candidate.worth > least:
                return best
            if best is not None and not candidate.merit > best.merit * (MIN_OBLIQUE_MERIT if best is axis else 1.0):
                return best
            bias = self.options.axis_bias
            is_wanted = axis is None or bias == 1.0 or candidate.is_pure or candidate.value > bias * axis.value
            return candidate if is_wanted else best

        given = [axis.plane] if axis is not None and AXIS in self.options.starts else []
        is_fitted = self.options.min_samples_oblique is None or size >= self.settings.min_oblique
        if self.options.linear_starts and is_fitted:
            view = view_of(looked.sample, self.kernels, None if axis is None else axis.plane)
            given += view.starts(self.options.linear_starts)
            self.kernels.count(len(given))
            best = better(self._linear_candidate(view, size))
        if size >= self.settings.min_oblique and self._could_be_better(best, totals, price):
            best = better(self._searched_candidate(looked, price, given))
        elif self.reporter.n_moves:
            self.reporter.write("  no search: nothing it could find would be worth more")
        return best

    def _axis_candidate(self, looked: SearchableNode, price: float) -> Candidate | None:
        axis = best_axis(looked, self.kernels) if self.settings.axis else AxisSplit()
        plane = axis.plane(self.kernels.n_features)
        if plane is None:
            return None
        chance = (1.0 + COEFFICIENTS_PER_DOUBLING * np.log2(self.kernels.n_varying)) * price
        return self._tell("axis-parallel split", valued(looked, plane, price, chance, axis.missing))

    def _linear_candidate(self, view: NodeView, size: int) -> Candidate | None:
        """Return the linear classifier with the least left-out loss."""
        if not view.fits:
            return None
        fit, right = min(view.fits, key=lambda fit: fit[0].loss)
        n_left, totals = np.count_nonzero(view.Z @ fit.plane <= 0.0), view.totals
        n_seen = len(view.y)  # all examples, or a sample
        if min(n_left, n_seen - n_left) * max(size, n_seen) < self.settings.min_leaf * n_seen:
            return None
        value = view.value(fit.left_out, right)
        astray = misplaced(view.left_weights(fit.left_out), totals) + 1.0 / totals.sum()
        return self._tell("linear classifier", Candidate(view.to_search(fit.plane), value, value, astray, True))

    def _searched_candidate(self, looked: SearchableNode, price: float, given: list[np.ndarray]) -> Candidate | None:
        """Return the purest hyperplane of OC1's search."""
        # Beside linear starts, half as many random ones find as much.
        n_random = self.options.n_restarts if RANDOM in self.options.starts else 0
        n_further = n_random // 2 if self.options.linear_starts else n_random - len(given)
        settings = self.settings._replace(n_runs=max(len(given) + n_further, 1), n_given=len(given))
        searched = looked.search(settings, False, given)
        self.kernels.count(searched.considered)
        if not searched.best[SCORE] > NO_SPLIT:
            return None
        chance = (self.kernels.n_varying + 1.0) * price
        return self._tell("purest split of the search", valued(looked, searched.best[PLANE:].copy(), price, chance))

    def _could_be_better(self, best: Candidate | None, totals: np.ndarray, price: float) -> bool:
        """Whether a perfect hyperplane, found by search, would be better."""
        chance = price * (self.kernels.n_varying + 1)
        ideal = highest(totals) - chance
        return ideal > 0.0 and (best is None or ideal > best.merit * chance / 3.0)

    def _tell(self, what: str, candidate: Candidate) -> Candidate:
        if self.reporter.n_moves:
            about = f"Twoing value {candidate.value:.4g}, less what chance accounts for {candidate.worth:.4g}"
            self.reporter.write(f"  {what}: {about}")
        return candidate
