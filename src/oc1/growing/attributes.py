"""The best axis-parallel split of a large node, in rounds of questions (see `oc1.growing.rounds`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..kernels.layout import NO_SPLIT
from ..kernels.records import AxisSplit
from .nodes import derived_seed
from .rounds import Best, Line, Scorer, search_lines

if TYPE_CHECKING:
    from .engines import EngineExamples

#: Examples that show where the values of an attribute lie; more of them hardly tell more.
MAX_SKETCH_ROWS = 2000
#: How far the middle of an attribute's buckets is from its median, in spreads. (No edge is so far from another one.)
OFF_MEDIAN = 0.01 * np.sqrt(2.0)


class Sketch:
    """A thin sample of the node, to see where the values of its attributes lie.

    Parameters
    ----------
    columns : float32 array (d + 1, m)
        Examples in search space, and a last row of ones.
    """

    def __init__(self, columns: np.ndarray):
        self.columns = columns[:, :: max(1, columns.shape[1] // MAX_SKETCH_ROWS)].astype(np.float64)
        self.units = np.eye(len(columns))

    def attribute(self, m: int, side: int) -> Line:
        """Return the line of all splits by one attribute."""
        x = self.columns[m]
        low, middle, high = np.quantile(x, [0.25, 0.5, 0.75], method="nearest")
        spread = 0.5 * (high - low) or 0.25 * np.ptp(x) or 1.0
        # A little beside it: many examples may share that value, and at an edge rounding could put them on either side.
        centre = -float(middle + OFF_MEDIAN * spread)
        return Line(self.units[m], self.units[-1], len(self.columns) - 1, centre, float(spread), side)


def best_attribute(
    examples: EngineExamples, scorer: Scorer, sketch: Sketch, attributes: Sequence[tuple[int, int]], seed: int
) -> AxisSplit:
    """Return the best axis-parallel split.

    Attributes come with the side to which they send missing values, twice where it is to be learned.
    """
    lines = [sketch.attribute(m, side) for m, side in attributes]
    found: list[Best] = []
    step = scorer.max_lines
    for first in range(0, len(lines), step):
        found += search_lines(lines[first : first + step], examples, scorer, seed, first)
    best = max((one.score for one in found), default=NO_SPLIT)
    if best == NO_SPLIT:
        return AxisSplit()
    equal = [i for i, one in enumerate(found) if one.score >= best - 1e-10 * abs(best) - 1e-18]
    chosen = equal[derived_seed(seed, len(lines)) % len(equal)]
    return AxisSplit(best, attributes[chosen][0], -found[chosen].alpha, attributes[chosen][1])
