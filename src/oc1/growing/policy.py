"""Which split a node gets.

Nodes whose examples the kernels have at hand are grown by them, whole subtrees at a time: `oc1.kernels.grow` calls
`find_purest` (the paper's Figure 6) or `find_informative` (the default, `oc1.kernels.choice`). Here is what they do
with larger nodes, in rounds (`oc1.growing.large_nodes`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..kernels.choice import PRICE_OF_A_TERM
from ..kernels.layout import BY_FILL, NO_SPLIT, PLANE, SCORE
from .calls import NodeKernels
from .large_nodes import LargeNode
from .linear_tests import LinearTest
from .nodes import Expansion, NodeTable, PendingNode

#: A subtree of fewer examples is grown by one call into the kernels; larger nodes are split one by one, so that the
#: work can be interrupted and shared.
MIN_SINGLE_ROWS = 4000
#: As many splits as there are.
ALL_SPLITS = 2**62


class Candidate(NamedTuple):
    """A plane, in search space, that could split a large node."""

    plane: np.ndarray | None  # (n_features + 1), None if there is none
    is_linear: bool = False  # a linear classifier's own: its threshold was not searched for
    missing: int = BY_FILL  # side of the missing values of an axis-parallel one


class Policy:
    """Splits nodes until they are pure.

    Parameters
    ----------
    kernels : NodeKernels
    """

    def __init__(self, kernels: NodeKernels):
        self.kernels, self.options, self.settings = kernels, kernels.options, kernels.settings

    def grow(self, node: PendingNode) -> Expansion:
        """Grow a node, as far as one call goes: whole subtrees where they are small."""
        # One by one also where moves are told: those of a node must not be mixed with those of others.
        is_single = node.size >= min(MIN_SINGLE_ROWS, self.options.min_large_rows) or self.kernels.reporter.n_moves > 0
        return self.split(node) if is_single else self.kernels.grow(node, ALL_SPLITS)

    def split(self, node: PendingNode) -> Expansion:
        """Split one node and no further."""
        is_large = node.size >= self.options.min_large_rows
        has_many_runs = self.settings.n_runs > 0 and not self.options.is_informative
        if not is_large and not (has_many_runs and node.size >= self.settings.two_stages):
            return self.kernels.grow(node)
        if self.kernels.stays_leaf(node):
            return Expansion(NodeTable.leaf(node), [])
        if not is_large:  # threads share the runs
            searched = self.kernels.search(node, self.settings, self.settings.axis)
            return self.kernels.grow(node, searched=searched)
        large = LargeNode(node, self.kernels)
        if self.options.is_informative:
            return self._split_by_information(large)
        return large.split_by_purest(large.search(self.settings, self.settings.axis), self.settings)

    def _split_by_information(self, large: LargeNode) -> Expansion:
        """Split a large node by the test that gains most information after its price (see `oc1.kernels.choice`)."""
        kernels, settings = self.kernels, self.settings
        unit = kernels.setup.statistics.unit
        totals = large.node.class_weights[large.node.class_weights > 0.0] / unit
        threshold_price = float(np.log(totals.sum()))
        best, best_merit, axis_gain = Candidate(None), -np.inf, 0.0

        def consider(plane: np.ndarray, is_linear: bool = False, missing: int = BY_FILL) -> float:
            nonlocal best, best_merit
            gain = information(large.left_weights(plane, missing) / unit, totals)
            price = PRICE_OF_A_TERM * (np.count_nonzero(plane[:-1]) - 1) + threshold_price * (not is_linear)
            if gain - price > best_merit and gain >= self.options.axis_bias * axis_gain:
                best, best_merit = Candidate(plane, is_linear, missing), gain - price
            return gain

        is_combined = kernels.is_oblique and large.node.size >= settings.min_oblique
        linear_planes = kernels.linear_planes(large.sample) if is_combined else []
        # Where no classifier combines features, one by itself will do.
        axis = large.search(settings._replace(n_runs=0), True).axis if settings.axis or not linear_planes else None
        plane = None if axis is None else axis.plane(kernels.n_features)
        if axis is not None and plane is not None:
            kernels.count(kernels.n_varying)
            axis_gain = consider(plane, missing=axis.missing)
        for linear in linear_planes:
            consider(linear, is_linear=True)
        if is_combined and best.plane is not None:
            # So many examples say where exactly a plane should be: OC1's search goes on from the best one.
            searched = large.search(settings._replace(n_runs=1, n_given=1), False, [best.plane])
            kernels.count(searched.considered)
            run = searched.best
            if run[SCORE] > NO_SPLIT and np.count_nonzero(run[PLANE:-1]) <= settings.max_terms:
                consider(run[PLANE:].copy())
        if best.plane is None:
            return large.leaf()
        test = LinearTest.of_search_plane(best.plane, kernels.space, best.missing)
        return large.split_by_test(test, centred=not best.is_linear)


def information(left: np.ndarray, totals: np.ndarray) -> float:
    """Return the nats of information that a split gives on its examples, from the class weights on its left."""

    def entropy(counts: np.ndarray) -> float:
        n = counts.sum()
        return float(n * np.log(n) - (counts[counts > 0.0] * np.log(counts[counts > 0.0])).sum()) if n > 0.0 else 0.0

    return entropy(totals) - entropy(left) - entropy(np.maximum(totals - left, 0.0))
