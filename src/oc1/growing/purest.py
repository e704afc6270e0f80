"""The paper's policy: the purest hyperplane wins, until leaves are pure."""

from __future__ import annotations

from ..kernels.layout import PLANE, SCORE
from ..kernels.penalised_growth import Rules
from ..kernels.records import AxisSplit
from .calls import NodeKernels
from .nodes import Expansion, NodeTable, PendingNode
from .options import AXIS, RANDOM
from .small_nodes import SearchableNode, searchable

#: A subtree of fewer examples is grown by one call into the kernels; larger nodes are split one by one, so that the
#: work can be interrupted and shared.
MIN_SINGLE_ROWS = 4000
#: As many splits as there are.
ALL_SPLITS = 2**62
#: The purest axis-parallel split wins.
AXIS_RULES = Rules(penalty=0.0, unit=1.0, linear=False, min_linear=0, n_random=-1, to_purity=True, splits_ties=False)


class PurestPolicy:
    """Splits each node by the purest of all runs, until leaves are pure.

    Parameters
    ----------
    kernels : NodeKernels
    """

    def __init__(self, kernels: NodeKernels):
        self.kernels, self.options, self.settings = kernels, kernels.options, kernels.settings
        self._is_plain = not (self.options.has_linear_start or self.options.simplifies)
        self._is_axis_parallel = self.settings.axis and self.settings.n_runs == 0

    def grow(self, node: PendingNode) -> Expansion:
        """Grow a node, as far as one call goes: whole subtrees where they are small."""
        # One by one also where moves are told: those of a node must not be mixed with those of others.
        is_single = node.size >= min(MIN_SINGLE_ROWS, self.options.min_large_rows) or self.kernels.reporter.n_moves > 0
        if is_single or not self._is_plain:
            return self.split(node)
        return self._grow_plain(node, ALL_SPLITS)

    def _grow_plain(self, node: PendingNode, max_splits: int) -> Expansion:
        """Grow a node by one call, with the kernel that is at hand where the default was fitted."""
        if self._is_axis_parallel:
            rules = AXIS_RULES._replace(splits_ties=self.options.splits_ties)
            return self.kernels.grow_penalised(node, rules, max_splits)
        return self.kernels.grow(node, max_splits)

    def split(self, node: PendingNode) -> Expansion:
        """Split one node and no further."""
        settings, is_large = self.settings, node.size >= self.options.min_large_rows
        is_shared = settings.n_runs > 0 and node.size >= settings.two_stages
        if self._is_plain and not (is_large or is_shared):
            return self._grow_plain(node, 1)
        if self.kernels.stays_leaf(node):
            return Expansion(NodeTable.leaf(node), [])
        looked = searchable(node, self.kernels)
        if not self._is_plain:
            return self._split_from_starts(looked)
        return looked.split_by_purest(looked.search(settings, settings.axis), settings)

    def _split_from_starts(self, looked: SearchableNode) -> Expansion:
        """Split by the purest of all runs, one of which begins at a linear classifier."""
        options, kernels = self.options, self.kernels
        is_searched = kernels.is_oblique and looked.node.size >= self.settings.min_oblique
        given = []
        if is_searched and options.has_linear_start:
            fit = kernels.linear_classifier(looked.sample)
            given = [fit.plane] if fit.plane.any() else []
        n_axis, n_random = int(AXIS in options.starts), options.n_restarts if RANDOM in options.starts else 0
        n_runs = max(n_axis + len(given), n_random, 1) if kernels.is_oblique else 0
        settings = self.settings._replace(axis_starts=n_axis, n_given=len(given), n_runs=n_runs)
        searched = looked.search(settings, settings.axis, given)
        is_small = looked.node.size < options.min_large_rows
        is_free = options.axis_bias == 1.0 and settings.max_terms >= kernels.n_features
        if is_small and options.simplifies and is_searched and is_free:
            kernels.count(searched.considered)
            if searched.best[SCORE] > searched.axis.score:
                return looked.split_by_plane(searched.best[PLANE:].copy(), is_linear=False)
        return looked.split_by_purest(searched, settings)


def best_axis(looked: SearchableNode, kernels: NodeKernels) -> AxisSplit:
    """Return the best axis-parallel split of a node, and count the attributes that were looked at."""
    kernels.count(kernels.n_varying)
    return looked.search(kernels.settings._replace(n_runs=0), True).axis
