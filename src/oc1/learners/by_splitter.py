"""What learners share that bring a splitter: a rule that divides a node (see `oc1.growing.splitters`)."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np

from ..data.training import Training
from ..growing.nodes import GrownNode, build_tree
from ..growing.progress import Reporter
from ..growing.splitters import ClassificationStatistics, NodeStatistics, Splitter, SplitterGrower
from ..tree.structure import TreeStructure
from .trees import CostComplexityTree, Grown, RelativeWeights, TreeEstimator, standard_scale


class SplitterTree(TreeEstimator):
    """Base of the learners that bring a splitter (see `oc1.growing.splitters`)."""

    @abstractmethod
    def _splitter(self, data: Training, rows: np.ndarray) -> Splitter:
        """Return the rule that splits a node, for a tree on these rows."""

    def _statistics(self, data: Training) -> NodeStatistics:
        """Return what the tree keeps of each node."""
        return ClassificationStatistics(len(data.classes))

    def _build(self, root: GrownNode, data: Training) -> TreeStructure:
        """Turn the grown nodes into a tree."""
        return build_tree(root, data.fill, data.classes, data.feature_names)

    def _grow_tree(self, data: Training, rows: np.ndarray, weights: np.ndarray | None) -> Grown:
        splitter, reporter = self._splitter(data, rows), Reporter(self.verbose, data.feature_names)
        limits, statistics = self._limits(), self._statistics(data)
        root = SplitterGrower(splitter, data, rows, weights, limits, statistics, reporter).grow()
        return Grown(self._build(root, data), splitter.n_hyperplanes, standard_scale(data, rows, weights), root)


class SplitterClassifier(SplitterTree, CostComplexityTree, RelativeWeights):
    """Base of the classifiers that bring a splitter and are pruned by cost-complexity."""
