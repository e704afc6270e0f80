"""The policy of the default: a split is made where it is worth more than its complexity costs.

At a node there are up to three candidates: the best axis-parallel split, a linear classifier (see
`oc1.kernels.linear_fits`), and the purest hyperplane of OC1's search, which begins at the other two among others. The
purest fits the training examples best, but a search over d + 1 coefficients finds something in noise, too. What a
candidate is *worth* is its Twoing value less what chance accounts for: for the searched ones ``complexity_penalty / n``
times the number of coefficients; for the linear classifier next to nothing, since each example is judged by the plane
that was fitted without it. Where no candidate is worth more than ``complexity_penalty / 3n`` for each class, the node
stays a leaf: no example need be kept back for pruning, and no time goes into the noise at the bottom.

Twoing prefers splits into halves, also where one class can be told from all others almost without fault, and examples
that go astray at the top are lost. So the candidate is taken that is worth most for each example it misplaces.

Subtrees whose examples the kernels have at hand are grown by them as a whole (`oc1.kernels.penalised_growth`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..kernels import layout
from ..kernels.layout import BY_FILL, NO_SPLIT, PLANE, SCORE
from ..kernels.linear_fits import MAX_ROWS_PER_FIT
from ..kernels.penalised_growth import COEFFICIENTS_PER_DOUBLING, LEFT_OUT_SHARE, MIN_OBLIQUE_MERIT, Rules
from ..kernels.records import AxisSplit
from .calls import NodeKernels
from .linear_tests import LinearTest
from .nodes import Expansion, NodeTable, PendingNode
from .options import AXIS, RANDOM
from .purest import ALL_SPLITS, MIN_SINGLE_ROWS, best_axis
from .simplifying import round_numbers
from .small_nodes import SearchableNode, searchable

#: Beside the best attribute and a linear classifier, few random starts find as much as many.
RESTARTS_PER_RANDOM_START = 4
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


def twoing(left: np.ndarray, totals: np.ndarray) -> float:
    """Return the Twoing value of a split, from the class weights on its left and in all."""
    n, n_left = totals.sum(), left.sum()
    if not 0.0 < n_left < n:
        return 0.0
    return float(np.abs(left - totals * (n_left / n)).sum() ** 2 / (n_left * (n - n_left)))


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
        n_random = self.options.n_restarts // RESTARTS_PER_RANDOM_START if RANDOM in self.options.starts else 0
        self._rules = Rules(
            penalty=self._penalty,
            unit=statistics.unit,
            linear=self.options.has_linear_start,
            min_linear=self.options.min_samples_oblique or 0,
            n_random=-1 if self.options.to_purity else n_random,
            to_purity=self.options.to_purity,
            splits_ties=self.options.to_purity,
        )

    def grow(self, node: PendingNode) -> Expansion:
        """Grow a node, as far as one call goes: whole subtrees where they are small."""
        # One by one also where moves are told: those of a node must not be mixed with those of others.
        is_single = node.size >= min(MIN_SINGLE_ROWS, self.options.min_large_rows) or self.reporter.n_moves > 0
        return self.split(node) if is_single else self._grow_small(node, ALL_SPLITS)

    def split(self, node: PendingNode) -> Expansion:
        """Split one node."""
        is_small = node.size < self.options.min_large_rows
        return self._grow_small(node, 1) if is_small else self._split_large(node)

    def _grow_small(self, node: PendingNode, max_splits: int) -> Expansion:
        """Grow a node whose examples the kernels have at hand."""
        if self.options.sparsity is not None:
            return self._split_large(node)
        grown = self.kernels.grow_penalised(node, self._rules, max_splits)
        if self.options.simplifies:
            self._round_tests(node, grown.table)
        return grown

    def _round_tests(self, node: PendingNode, table: NodeTable) -> None:
        """Give the tests of a grown table short numbers; every example stays on its side."""
        nodes, examples = table.nodes, node.examples
        for row in np.flatnonzero(nodes.table[:, layout.STATUS] == layout.INNER):
            start, stop = nodes.table[row, [layout.START, layout.STOP]]
            if stop - start > MAX_ROWS_PER_FIT or nodes.table[row, layout.MISSING] != BY_FILL:
                continue
            first, n_terms = nodes.table[row, [layout.FIRST_TERM, layout.N_TERMS]]
            terms = slice(first, first + n_terms)
            test = LinearTest(nodes.features[terms], nodes.coefficients[terms], float(nodes.reals[row, 0]))
            short = round_numbers(test, examples.part(start, stop).values, scale=self.kernels.space.scale)
            if short is not test:
                nodes.coefficients[terms] = short.coefficients
                nodes.reals[row, [0, 2]] = short.threshold, short.gap

    def _split_large(self, node: PendingNode) -> Expansion:
        """Split one node by a search in rounds."""
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
        if self.options.has_linear_start and is_fitted:
            linear = self._linear_candidate(looked, price)
            given += [] if linear is None else [linear.plane]
            best = better(linear)
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
        chance = (1.0 + self._cost_of_choice(1)) * price
        return self._tell("axis-parallel split", valued(looked, plane, price, chance, axis.missing))

    def _cost_of_choice(self, n_terms: int) -> float:
        """Return what choosing some of the attributes costs a split, in coefficients."""
        return float(COEFFICIENTS_PER_DOUBLING * n_terms * np.log2(self.kernels.n_varying / n_terms))

    def _linear_candidate(self, looked: SearchableNode, price: float) -> Candidate | None:
        """Return the linear classifier that leaving one out speaks for, if there is one."""
        fit, sample = self.kernels.linear_classifier(looked.sample), looked.sample.class_weights
        n_terms = int(np.count_nonzero(fit.plane[:-1]))
        if n_terms == 0:
            return None
        min_leaf, min_weight = self.settings.min_leaf, self.settings.min_weight
        if min_leaf > 1 or min_weight > NO_SPLIT:
            left = looked.left_weights(fit.plane, BY_FILL).sum()
            lighter = min(left, looked.node.class_weights.sum() - left)
            if lighter / self._rules.unit < min_leaf or lighter < min_weight:
                return None
        # Judged by examples that the plane has not seen; but its attributes were chosen with them.
        worth = fit.value - LEFT_OUT_SHARE * self._cost_of_choice(n_terms) * price
        astray = fit.astray + self._rules.unit / sample.sum()
        return self._tell("linear classifier", Candidate(fit.plane, fit.value, worth, astray, True))

    def _searched_candidate(self, looked: SearchableNode, price: float, given: list[np.ndarray]) -> Candidate | None:
        """Return the purest hyperplane of OC1's search."""
        # Beside linear starts, half as many random ones find as much.
        n_random = self.options.n_restarts if RANDOM in self.options.starts else 0
        n_further = n_random // 2 if self.options.has_linear_start else n_random - len(given)
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
