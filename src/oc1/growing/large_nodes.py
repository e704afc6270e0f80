"""Nodes with so many examples that they are searched in rounds of questions.

The questions are how many examples of each class lie where (see `oc1.growing.rounds`), and which of them are near some
planes. The answers are small, so it does not matter where the examples are: an engine that answers can be threads on
one array, or the partitions of a cluster. Runs climb on an even sample first, then the best of them close to the plane
that they have found (see `oc1.growing.focus`).
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from ..kernels import layout
from ..kernels.layout import CLIMBED, JUMPED, NO_SPLIT, PLANE, PURE, SCORE
from ..kernels.records import AxisSplit, Settings
from .attributes import Sketch, best_attribute
from .calls import NodeKernels, Searched, count_sides, map_on
from .engines import EngineExamples
from .focus import Focus, Nearby
from .linear_tests import LinearTest
from .nodes import Expansion, NodeTable, PendingNode, derived_seed
from .rounds import Scorer

#: Runs that are behind the best one by this number of standard errors after climbing on the sample are given up.
MAX_ERRORS_BEHIND = 3.0
#: Planes at an angle whose cosine is larger are the same.
SAME_COSINE = 0.9995
#: Different runs that go on with all examples, at most, and how often the best one does.
MAX_RUNS, MAX_STEPS = 6, 3


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
        """The settings for the sample."""
        return self._on(self.sample, self.kernels.settings)

    def _on(self, sample: PendingNode, settings: Settings) -> Settings:
        """Return the settings for a sample: it is searched, and each side of a split has fewer examples."""
        min_leaf = max(1, settings.min_leaf * sample.size // self.node.size)
        min_weight = settings.min_weight
        if min_weight > NO_SPLIT:
            min_weight *= sample.class_weights.sum() / self.node.class_weights.sum()
        return settings._replace(min_leaf=min_leaf, min_weight=min_weight, min_split=2)

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
        on_sample = self._on(self.sample, settings)
        found = self.kernels.search(self.sample, on_sample, bool(settings.axis_starts), given)
        runs = found.runs
        n_made = len(found.made)
        planes = runs[:n_made, PLANE:].copy()
        runs[:, SCORE], runs[:, PURE] = NO_SPLIT, 0.0
        runs[n_made:, [CLIMBED, JUMPED]] = 0.0
        kept = self._promising(planes)
        if kept:
            self._go_on(runs, planes, kept, settings, seed)
        return Searched(axis, runs)

    def _go_on(self, runs: np.ndarray, planes: np.ndarray, kept: list[int], settings: Settings, seed: int) -> None:
        """Go on with some runs on all examples; put into `runs` where they end.

        All of them climb on a focused sample. Then the best one goes on, as long as it gets purer.
        """
        focus, ends = Focus(self.node, self.sample.examples), planes[kept]
        known = focus.ask(ends, with_examples=True)
        scores, going_on = self._scores(known), list(range(len(kept)))

        def climb(i: int) -> np.ndarray:
            node = focus.focused(ends[i], known[i], derived_seed(seed, kept[i] + 1 + step))
            return self.kernels.climb_from(ends[i], node, self._on(node, settings))

        for step in range(MAX_STEPS):
            climbed = np.array(map_on(self.kernels.pool, climb, going_on))
            further = focus.ask(climbed[:, PLANE:], with_examples=step + 1 < MAX_STEPS)
            improved = []
            for i, run, told, score in zip(going_on, climbed, further, self._scores(further), strict=True):
                runs[kept[i], CLIMBED] += run[[CLIMBED, JUMPED]].sum()
                if score > scores[i] + self.scorer.tolerance:
                    ends[i], known[i], scores[i] = run[PLANE:], told, score
                    improved.append(i)
            best = int(scores.argmax())
            if best not in improved or self.scorer.is_pure(known[best].sums):
                break
            going_on = [best]
        impurity, totals = self.kernels.options.measure.impurity, self.scorer.totals
        ended = (f"{i + 1} to {impurity(own.sums, totals - own.sums):.6g}" for i, own in zip(kept, known, strict=True))
        self._tell(f"on all examples, runs {', '.join(ended)}" if self.kernels.reporter.n_moves else "")
        for i, own, score, plane in zip(kept, known, scores, ends, strict=True):
            runs[i, SCORE], runs[i, PURE], runs[i, PLANE:] = score, float(self.scorer.is_pure(own.sums)), plane

    def _scores(self, answers: list[Nearby]) -> np.ndarray:
        """Return how pure planes are, by what is on their left."""
        return self.scorer.sides(np.array([own.counts for own in answers]), np.array([own.sums for own in answers]))

    def _tell(self, line: str) -> None:
        if self.kernels.reporter.n_moves:
            self.kernels.reporter.write(f"  {line}")

    def _promising(self, planes: np.ndarray) -> list[int]:
        """Return the runs that are worth going on with, by how they do on the sample."""
        counts, weights = count_sides(self.sample.examples.count_lines, planes)
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
        left: np.ndarray = count_sides(self.examples.count_lines, plane[None], np.array([missing])).sums[0]
        return left

    # ------------------------------------------------------------------------------------------------ splitting

    def split_by_test(self, test: LinearTest, centred: bool = True) -> Expansion:
        """Split by a test."""
        return self.examples.divide(self, test, centred)

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


def promising(planes: np.ndarray, scores: np.ndarray, left: np.ndarray, scorer: Scorer) -> list[int]:
    """Return which runs are worth going on with, best first, by their scores on a sample with these totals.

    Those are left out that are clearly behind, and those that stand where a better one does.
    """
    order = [int(i) for i in np.argsort(-scores, kind="stable") if scores[i] > NO_SPLIT]
    kept: list[int] = []
    for i in order:
        behind = MAX_ERRORS_BEHIND * scorer.standard_error(scores[order[0]], left[order[0]])
        if scores[i] < scores[order[0]] - behind or len(kept) == MAX_RUNS:
            break
        if not any(abs(_unit(planes[i]) @ _unit(planes[other])) > SAME_COSINE for other in kept):
            kept.append(i)
    return kept


def _unit(plane: np.ndarray) -> np.ndarray:
    length = np.sqrt(plane @ plane)
    return plane / length if length > 0.0 else plane
