"""Nodes whose examples the kernels have at hand: what `oc1.growing.large_nodes` does in rounds is one call here."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from ..kernels.linear_fits import MAX_ROWS_PER_FIT
from ..kernels.records import Settings
from .calls import NodeKernels, Searched
from .engines import LocalExamples
from .large_nodes import LargeNode
from .linear_tests import LinearTest
from .nodes import Expansion, PendingNode
from .simplifying import round_numbers, simplify


class SmallNode:
    """A node that is searched by the kernels; the parameters are those of `LargeNode`."""

    def __init__(self, node: PendingNode, kernels: NodeKernels):
        self.node = self.sample = node
        self.kernels = kernels
        self.examples: LocalExamples = node.examples

    def search(self, settings: Settings, with_axis: bool, given: list[np.ndarray] | None = None) -> Searched:
        """Search the node."""
        return self.kernels.search(self.node, settings, with_axis, given)

    def left_weights(self, plane: np.ndarray, missing: int) -> np.ndarray:
        """Return the weights, on the left of a plane, of the classes that are present."""
        return self.examples.left_weights(plane, missing)[self.node.class_weights > 0.0]

    def split_by_test(self, test: LinearTest) -> Expansion:
        """Split by a test."""
        return self.kernels.grow(self.node, test=test)

    def split_by_plane(self, plane: np.ndarray, is_linear: bool) -> Expansion:
        """Split by a plane, in as simple a form as costs nothing."""
        test, options = LinearTest.of_search_plane(plane, self.kernels.space), self.kernels.options
        if not options.simplifies or self.node.size > MAX_ROWS_PER_FIT:
            return self.kernels.grow(self.node, test=test, centred=not is_linear)
        examples, scale = self.examples, self.kernels.space.scale
        if is_linear and options.sparsity is None:
            test = round_numbers(test, examples.values, scale=scale)
        else:
            data = examples.values, examples.labels, examples.weights, self.kernels.n_classes
            min_leaf, tolerance, rounding = options.min_samples_leaf, options.sparsity, options.rounding
            test = simplify(test, *data, scale=scale, tolerance=tolerance, rounding=rounding, min_leaf=min_leaf)
        return self.kernels.grow(self.node, test=test, centred=False)

    def split_shortened(self, plane: np.ndarray) -> Expansion:
        """Split by a plane with too many terms, after dropping some of them."""
        settings = self.kernels.settings._replace(n_runs=1, min_oblique=0)
        return self.kernels.grow(self.node, searched=self.kernels.shortening_run(plane), settings=settings)

    def split_by_purest(self, searched: Searched, settings: Settings) -> Expansion:
        """Split by the purest hyperplane of a search."""
        return self.kernels.grow(self.node, searched=searched, settings=settings)


#: A node as a policy searches and splits it.
SearchableNode: TypeAlias = SmallNode | LargeNode


def searchable(node: PendingNode, kernels: NodeKernels) -> SearchableNode:
    """Return a node as a policy takes it."""
    is_large = node.size >= kernels.options.min_large_rows
    return LargeNode(node, kernels) if is_large else SmallNode(node, kernels)
