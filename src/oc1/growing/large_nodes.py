"""Nodes with so many examples that they are searched in rounds of questions (see `oc1.growing.climbing`).

The questions are how many examples of each class lie where; such counts are small and add up, so it does not matter
where the examples are: an engine that answers can be threads on one array, the partitions of a cluster, or a graphics
card. Runs climb on an even sample first, then the best of them, together, on all examples.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from ..kernels import layout
from ..kernels.layout import CLIMBED, JUMPED, NO_SPLIT, PLANE, PURE, SCORE
from ..kernels.records import AxisSplit, Settings
from .calls import NodeKernels, Searched, count_sides
from .climbing import Climbing, Sketch, best_attribute, climb, promising
from .engines import EngineExamples
from .linear_tests import LinearTest
from .nodes import Expansion, NodeTable, PendingNode, derived_seed
from .rounds import Scorer, answer


class LargeNode:
    """A node that is searched in rounds.

    Parameters
    ----------
    node : PendingNode
    kernels : NodeKernels
        Search the sample.
    """

    def __init__(self, node: PendingNode, kernels: NodeKernels):
        self.node, self.kernels = node, kernels
        self.examples: EngineExamples = node.examples
        self.scorer = self._scorer_of(node, kernels.settings)
        sample = self.examples.sample()
        #: The same node, but with an even sample of its examples.
        self.sample = node._replace(examples=sample, class_weights=sample.class_weights)
        self._sketch = Sketch(sample.arrays.columns)

    def _scorer_of(self, node: PendingNode, settings: Settings) -> Scorer:
        present = np.flatnonzero(node.class_weights > 0.0)
        measure, n_classes = self.kernels.options.measure, self.kernels.n_classes
        limits = settings.min_leaf, n_classes, settings.min_weight
        return Scorer(node.examples.class_sizes, node.class_weights[present], present, measure, *limits)

    @property
    def _sample_settings(self) -> Settings:
        """The settings for the sample, of which fewer examples stand for those that each side of a split must have."""
        return self._on_sample(self.kernels.settings)

    def _on_sample(self, settings: Settings) -> Settings:
        min_leaf = max(1, settings.min_leaf * self.sample.size // self.node.size)
        min_weight = settings.min_weight
        if min_weight > NO_SPLIT:
            min_weight *= self.sample.class_weights.sum() / self.node.class_weights.sum()
        return settings._replace(min_leaf=min_leaf, min_weight=min_weight)

    # ------------------------------------------------------------------------------------------------ searching

    def search(self, settings: Settings, with_axis: bool, given: list[np.ndarray] | None = None) -> Searched:
        """Search the node as `NodeKernels.search` does; runs that were given up have the score NO_SPLIT."""
        seed = derived_seed(int(self.node.seed), 0)
        axis = AxisSplit()
        if with_axis:
            axis = best_attribute(self.examples, self.scorer, self._sketch, self._attributes, seed)
        if settings.n_runs == 0 or self.node.size < settings.min_oblique:
            return Searched(axis, np.zeros((0, PLANE + self.kernels.n_features + 1)))
        self._tell(f"on a sample of {self.sample.size} of {self.node.size} examples:")
        on_sample = self._on_sample(settings)
        found = self.kernels.search(self.sample, on_sample, bool(settings.axis_starts), given)
        runs = found.runs
        n_made = len(found.made)
        planes = runs[:n_made, PLANE:].copy()
        runs[:, SCORE], runs[:, PURE] = NO_SPLIT, 0.0
        runs[n_made:, [CLIMBED, JUMPED]] = 0.0
        kept = self._promising(planes)
        if kept:
            self._climb_on(runs, planes, kept, settings, seed)
        return Searched(axis, runs)

    def _climb_on(self, runs: np.ndarray, planes: np.ndarray, kept: list[int], settings: Settings, seed: int) -> None:
        """Go on with some runs on all examples; put into `runs` where they end."""
        max_lines = self.scorer.max_lines(len(kept))
        n_lines = min(max(2, self.examples.n_lines_at_once // len(kept)), max_lines)
        how = Climbing(settings, n_lines, max_lines)
        climbs = [climb(planes[i], self.scorer, self._sketch, how, derived_seed(seed, i + 1)) for i in kept]
        climbed = answer(climbs, self.examples, self.scorer.half)
        ends = np.array([run.plane for run in climbed])
        counts, weights = count_sides(self.examples, ends)
        scores = self.scorer.sides(counts, weights)
        impurity, totals = self.kernels.options.measure.impurity, self.scorer.totals
        told = (f"{i + 1} to {impurity(left, totals - left):.6g}" for i, left in zip(kept, weights, strict=True))
        self._tell(f"on all examples, runs {', '.join(told)}" if self.kernels.reporter.n_moves else "")
        for i, run, score, left in zip(kept, climbed, scores, weights, strict=True):
            runs[i, SCORE], runs[i, PURE] = score, float(self.scorer.is_pure(left))
            runs[i, CLIMBED] += run.considered
            runs[i, PLANE:] = run.plane

    def _tell(self, line: str) -> None:
        if self.kernels.reporter.n_moves:
            self.kernels.reporter.write(f"  {line}")

    def _promising(self, planes: np.ndarray) -> list[int]:
        """Return the runs that are worth going on with, by how they do on the sample."""
        counts, weights = count_sides(self.sample.examples, planes)
        scorer = self._scorer_of(self.sample, self._sample_settings)
        return promising(planes, scorer.sides(counts, weights), weights, scorer)

    @cached_property
    def _attributes(self) -> list[tuple[int, int]]:
        """The attributes that can split the node, with the sides to which they may send missing values."""
        attributes = []
        for m, is_missing in enumerate(self.examples.missing_attributes):
            if is_missing:
                attributes += [(m, layout.MISSING_LEFT), (m, layout.MISSING_RIGHT)]
            elif self.kernels.space.scale[m] > 0.0:
                attributes.append((m, layout.BY_FILL))
        return attributes

    def left_weights(self, plane: np.ndarray, missing: int) -> np.ndarray:
        """Return the weights, on the left of a plane, of the classes that are present."""
        return count_sides(self.examples, plane[None], np.array([missing])).sums[0]

    # ------------------------------------------------------------------------------------------------ splitting

    def split_by_test(self, test: LinearTest, centred: bool = True) -> Expansion:
        """Split by a test."""
        return self.examples.divide(self, test, centred)

    def split_by_plane(self, plane: np.ndarray, is_linear: bool) -> Expansion:
        """Split by a plane; the threshold of a linear classifier stays where it is."""
        return self.split_by_test(LinearTest.of_search_plane(plane, self.kernels.space), centred=not is_linear)

    def split_shortened(self, plane: np.ndarray) -> Expansion:
        """Split by a plane with too many terms, after dropping some of them."""
        test = self._few_terms(plane)
        return self.leaf() if test is None else self.split_by_test(test)

    def split_by_purest(self, searched: Searched, settings: Settings) -> Expansion:
        """Split by the purest hyperplane of a search, as the kernels do with smaller nodes."""
        axis, runs = searched
        n_features = self.kernels.n_features
        self.kernels.count(n_features * bool(settings.axis) + int(runs[:, [CLIMBED, JUMPED]].sum()))
        tests = []
        best = runs[runs[:, SCORE].argmax()] if len(runs) else None
        if best is not None and best[SCORE] > axis.score:
            tests.append(self._few_terms(best[PLANE:]))
        plane = axis.plane(n_features)
        if plane is not None:
            tests.append(LinearTest.of_search_plane(plane, self.kernels.space, axis.missing))
        test = self._purer([test for test in tests if test is not None and len(test.features)])
        return self.leaf() if test is None else self.split_by_test(test)

    def leaf(self) -> Expansion:
        """Leave the node a leaf."""
        return Expansion(NodeTable.leaf(self.node), [])

    def _purer(self, tests: list[LinearTest]) -> LinearTest | None:
        """Return the first of two tests, the oblique one, if it is purer by as much as the bias asks for."""
        if len(tests) < 2:
            return tests[0] if tests else None
        placed = [self.examples.place(test) for test in tests]
        scores = self.scorer.sides(np.array([p.counts for p in placed]), np.array([p.sums for p in placed]))
        options, totals = self.kernels.options, self.scorer.totals
        if options.axis_bias > 1.0 and scores.min() > NO_SPLIT:
            oblique, axis = (options.measure.impurity(p.sums, totals - p.sums) for p in placed)
            return tests[0] if options.axis_bias * oblique < axis else tests[1]
        return tests[0] if scores[0] > scores[1] else tests[1]

    def _few_terms(self, plane: np.ndarray) -> LinearTest | None:
        """Return a plane as a test with no more terms than are allowed, chosen by what they do on the sample."""
        if np.count_nonzero(plane[:-1]) <= self.kernels.settings.max_terms:
            return LinearTest.of_search_plane(plane, self.kernels.space)
        # The sample is brought into the order of the sides: not the one that others use.
        copied = self.sample._replace(examples=self.sample.examples.copy())
        settings = self._sample_settings._replace(n_runs=1, min_oblique=0)
        table = self.kernels.grow(copied, searched=self.kernels.shortening_run(plane), settings=settings).table
        return None if table.is_leaf else table.test
