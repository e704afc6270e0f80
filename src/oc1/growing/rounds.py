"""Questions about large nodes: lines on which crossings are counted, and the best position of a line.

A question is how many examples of each class cross in which bucket, along some lines that lead away from some
hyperplanes (see `oc1.kernels.histograms`). One such question for all lines that are of interest is a round.

The purity at the edges of buckets is known exactly, and bounded from above inside them. Where more could be found
inside than the *tolerance*, the line is counted once more with buckets that are fine there, up to three times. The
tolerance is what one of the node's examples is worth, on the right side instead of the wrong one: among a million, a
millionth of the purity of an ideal split. In noise, where many places are almost equally good, three finer counts may
not tell which is best; what is missed then was never more than some fifteen examples' worth. Nothing is looked for
inside the two outermost buckets, which have no end.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..impurity import Measure, category_numbers
from ..kernels import layout
from ..kernels.histogram_scores import score_lines, score_sides
from ..kernels.histograms import Lines
from ..kernels.layout import BY_FILL, NO_SPLIT
from ..kernels.records import Criterion, Node, Settings, Workspace
from ..kernels.split import worthwhile_gain
from .calls import Histograms, check_measure
from .nodes import derived_seed

if TYPE_CHECKING:
    from .engines import EngineExamples

#: Half the number of buckets is about this times the root of examples over classes, a power of two within these limits.
HALF_PER_ROOT = 0.7
MIN_HALF, MAX_HALF = 64, 2048
#: How often a line may be counted again with finer buckets.
MAX_ZOOMS = 3
#: Smaller differences do not count: in examples that are on the right side instead of the wrong one.
TOLERANCE_IN_EXAMPLES = 1.0
#: Numbers in the histograms of one round, at most, if there is more than one line.
MAX_CELLS = 2**18
#: A step that leads past all crossings.
BEYOND = 1e29


class Line(NamedTuple):
    """A line of hyperplanes, ``plane + alpha * direction``, and where its buckets are fine."""

    plane: np.ndarray  # float64 (d + 1)
    direction: np.ndarray  # float64 (d + 1)
    which: int  # the one coefficient that changes, or -1
    centre: float = 0.0
    scale: float = 1.0
    side: int = BY_FILL  # of the missing values of the plane's only attribute

    def edges(self, half: int) -> np.ndarray:
        """Return where the buckets begin and end; the outermost two have no end.

        A crossing at an edge below the centre is in the bucket before it, at any other edge in the one after it.
        """
        inner = np.arange(half)
        away = self.scale * inner / (half - inner)
        return np.concatenate([[-np.inf], self.centre - away[:0:-1], self.centre + away, [np.inf]])


def packed(lines: Sequence[Line]) -> Lines:
    """Return lines as the engine takes them."""
    numbers: dict[bytes, int] = {}
    plane_of = np.array([numbers.setdefault(line.plane.tobytes(), len(numbers)) for line in lines], dtype=np.int64)
    planes = np.array([lines[first].plane for first in np.unique(plane_of, return_index=True)[1]])
    return Lines(
        planes.astype(np.float32),
        plane_of,
        np.array([line.direction for line in lines], dtype=np.float32),
        np.array([line.which for line in lines], dtype=np.int64),
        np.array([line.side for line in lines], dtype=np.int64),
        np.array([line.centre for line in lines], dtype=np.float32),
        np.array([line.scale for line in lines], dtype=np.float32),
    )


# ---------------------------------------------------------------------------------------------------- purity


class Scorer:
    """Scores the splits of a large node by class counts, larger is better, and says what differences count.

    Parameters
    ----------
    sizes, totals : arrays (k,)
        Numbers of examples and weights of the classes that are present.
    present : int array (k,)
        Their labels.
    measure : Measure
    min_leaf : int
        Examples that a side must have.
    n_classes : int, optional
        How many classes the data have: a user's measure is given counts of all of them.
    min_weight : float, optional
        Weight that a side must have.
    """

    def __init__(
        self,
        sizes: np.ndarray,
        totals: np.ndarray,
        present: np.ndarray,
        measure: Measure,
        min_leaf: int,
        n_classes: int = 0,
        min_weight: float = NO_SPLIT,
    ):
        self.sizes, self.totals, self.measure = sizes.astype(np.float64), totals.astype(np.float64), measure
        self._criterion = Criterion(measure.code, min_leaf, *measure.pointers(), min_weight)
        nowhere, nobody = np.empty(0, np.int64), np.empty(0, np.int32)
        ranks, labels = category_numbers(self.totals), present.astype(np.int64)
        self._node = Node(0, nobody, np.empty(0), self.totals, ranks, labels, nowhere)
        self._work = Workspace.make(0, max(len(self.totals), n_classes), 0, 0)

    def lines(self, counted: Histograms) -> tuple[np.ndarray, np.ndarray]:
        """Return the scores at the edges of each line's buckets, and bounds of what is inside them."""
        q, k, width = counted.counts.shape
        n_buckets = (width - 2) // 2
        scores, bounds = np.empty((q, n_buckets + 1)), np.empty((q, n_buckets))
        buffers = self._work.line._replace(
            histogram=np.empty((k + 2, width)),
            left=np.empty((k + 2, n_buckets + 1)),
            edges=np.empty((2, n_buckets + 1)),
        )
        with np.errstate(all="ignore"):
            score_lines(*counted, self.sizes, self._node, self._criterion, buffers, scores, bounds)
        check_measure(self.measure, self._work)
        return scores, bounds

    def sides(self, counts: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Return the scores of splits with these numbers and weights of the classes on their left."""
        scores = np.empty(len(counts))
        left = weights.astype(np.float64), counts.astype(np.float64)
        with np.errstate(all="ignore"):
            score_sides(*left, self.sizes, self._node, self._criterion, self._work.line, scores)
        check_measure(self.measure, self._work)
        return scores

    def gain(self, counts: np.ndarray, weights: np.ndarray, settings: Settings) -> float:
        """Return what a split gains that has these classes on its left; -1 if it is not worth making."""
        score = self.sides(counts[None], weights[None])[0]
        return float(worthwhile_gain(score, self._node, self.measure.code, settings, self._work.line.counts))

    @cached_property
    def half(self) -> int:
        """Half the number of buckets on a line."""
        half = 2.0 ** np.round(np.log2(HALF_PER_ROOT * np.sqrt(self.sizes.sum() / len(self.totals))))
        return int(np.clip(half, MIN_HALF, MAX_HALF))

    @property
    def max_lines(self) -> int:
        """How many lines may be asked for at once."""
        return max(1, MAX_CELLS // (len(self.totals) * (4 * self.half + 2)))

    @cached_property
    def tolerance(self) -> float:
        """What an example is worth: smaller differences are not looked for. 0 where a user's measure has no scale."""
        if self.measure.code == layout.CUSTOM:
            return 0.0
        order = np.argsort(-self.totals, kind="stable")
        left = np.tri(len(order) - 1, len(order), dtype=bool)[:, np.argsort(order)]
        scores = self.sides(left * self.sizes, left * self.totals)
        return TOLERANCE_IN_EXAMPLES * float(scores.max(initial=0.0) / self.sizes.sum())

    def standard_error(self, score: float, left: np.ndarray) -> float:
        """Return how far a score is from what more examples would tell, for these class weights on its left."""
        astray = np.minimum(left, self.totals - left).sum() / self.totals.sum()
        return abs(score) * float(np.sqrt(max(astray, 1.0 / self.sizes.sum()) / self.sizes.sum()))

    def is_pure(self, left: np.ndarray) -> bool:
        """Whether each side would hold one class only."""
        here, there = left > 0.0, self.totals - left > 1e-9 * self.totals
        return int(here.sum()) == 1 and int(there.sum()) == 1


# ---------------------------------------------------------------------------------------------------- lines


@dataclass
class Best:
    """The best position that is known on a line."""

    score: float = NO_SPLIT
    alpha: float = 0.0


def search_lines(lines: Sequence[Line], examples: EngineExamples, scorer: Scorer, salt: int, first: int) -> list[Best]:
    """Find the best position of some lines, within the tolerance; those of lines that are clearly worse are less exact.

    Equally good positions are settled by `salt` and the number of the line, that of the first being `first`.
    """
    found = [Best() for _ in lines]
    spans = [(-np.inf, np.inf)] * len(lines)
    layouts = dict(enumerate(lines))
    for zoom in range(MAX_ZOOMS + 1):
        counted = examples.count_lines(packed(list(layouts.values())), scorer.half)
        scores, bounds = scorer.lines(counted)
        half = bounds.shape[1] // 2
        edges = {number: line.edges(half) for number, line in layouts.items()}
        for row, (number, line) in enumerate(layouts.items()):
            crossing = counted.counts[row].sum(axis=0)
            crossing = crossing[: 2 * half] + crossing[2 * half : 4 * half]
            stream = derived_seed(salt, 8 * (first + number) + zoom)
            position = _best_edge(scores[row], crossing, edges[number], spans[number], line, stream)
            if position is not None and position[0] > found[number].score:
                found[number] = Best(*position)
        overall, narrower = max(best.score for best in found), {}
        for row, (number, line) in enumerate(layouts.items()):
            low, high = spans[number]
            inside = (edges[number][1:] > low) & (edges[number][:-1] < high)
            inside[[0, -1]] = False  # no end: nothing finer can be asked for there
            open_ones = np.flatnonzero(inside & (bounds[row] > overall + scorer.tolerance + 1e-10 * abs(overall)))
            if scorer.measure.code == layout.CUSTOM and len(open_ones):
                best = found[number]
                open_ones = _beside(edges[number], best.alpha, open_ones) if best.score > NO_SPLIT else open_ones[:0]
            if len(open_ones) == 0:
                continue
            low, high = edges[number][open_ones[0]], edges[number][open_ones[-1] + 1]
            if high - low > 4e-7 * max(abs(low), abs(high)):
                spans[number] = (low, high)
                narrower[number] = line._replace(centre=0.5 * (low + high), scale=0.5 * (high - low))
        layouts = narrower
        if not layouts:
            break
    return found


def _best_edge(
    scores: np.ndarray, crossing: np.ndarray, edges: np.ndarray, span: tuple[float, float], line: Line, salt: int
) -> tuple[float, float] | None:
    """Return (score, alpha) of the best edge inside a span; edges with nothing between them are one position."""
    allowed = (scores > NO_SPLIT) & (edges >= span[0]) & (edges <= span[1])
    endless = line.side != BY_FILL
    if not endless:
        # Past all crossings is a position only where it is known how far away they are.
        allowed[0] &= crossing[0] == 0
        allowed[-1] &= crossing[-1] == 0
    if not allowed.any():
        return None
    score = scores[allowed].max()
    equal = np.flatnonzero(allowed & (scores >= score - 1e-10 * abs(score) - 1e-18))
    filled = np.concatenate([[0], np.cumsum(crossing > 0)])[equal]
    groups = np.split(equal, np.flatnonzero(np.diff(filled)) + 1)
    group = groups[salt % len(groups)]
    low, high = edges[group[0]], edges[group[-1]]
    if np.isinf(low) and np.isinf(high):
        if not endless:
            return None
        return score, BEYOND if low > 0 else -BEYOND
    if np.isinf(low):
        return score, high - max(abs(high), 1.0)
    if np.isinf(high):
        return score, low + max(abs(low), 1.0)
    return score, low + 0.5 * (high - low)


def _beside(edges: np.ndarray, alpha: float, open_ones: np.ndarray) -> np.ndarray:
    """Return the open buckets next to a position."""
    at = np.searchsorted(edges, alpha)
    return open_ones[(open_ones >= at - 2) & (open_ones <= at + 1)]
