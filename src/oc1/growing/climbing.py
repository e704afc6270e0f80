"""OC1's hill climb at a large node: the perturbations, jumps and restarts of the kernels, in rounds.

Runs advance together, and each round asks one question of the examples (see `oc1.growing.rounds`). Everything but the
counting is here, all decisions and all randomness, and sees nothing but counts and an even sample of the examples. So
the same seed finds the same hyperplane, whatever the engine and however the examples are divided among its parts.

A run does not wait for an answer that it can guess: coefficients are usually settled at the end, so it asks for the
next ones, too, more of them the longer nothing moved, and throws away what a move made useless. The result is that of
one coefficient after the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..kernels import layout
from ..kernels.layout import NO_SPLIT
from ..kernels.records import AxisSplit, Settings
from .nodes import derived_seed
from .rounds import Asking, Best, Line, Scorer, answer, search_lines

if TYPE_CHECKING:
    from .engines import EngineExamples

#: The finest buckets hold this share of the examples, as far as a sample tells.
FINE_SHARE = 0.01
#: Examples that show how far crossings are from a hyperplane; more of them hardly tell more.
MAX_SKETCH_ROWS = 2000
#: How far the middle of an attribute's buckets is from its median, in spreads. (No edge is so far from another one.)
OFF_MEDIAN = 0.01 * np.sqrt(2.0)
#: Runs that are behind the best one by this number of standard errors after climbing on the sample are given up.
MAX_ERRORS_BEHIND = 3.0
#: Planes at an angle whose cosine is larger are the same.
SAME_COSINE = 0.9995
#: Different runs that go on with all examples, at most.
MAX_RUNS = 6


class Sketch:
    """A thin sample of the node, to see how far crossings are from a hyperplane.

    Parameters
    ----------
    columns : float32 array (d + 1, m)
        Examples in search space, and a last row of ones.
    """

    def __init__(self, columns: np.ndarray):
        self.columns = columns[:, :: max(1, columns.shape[1] // MAX_SKETCH_ROWS)].astype(np.float64)
        self.units = np.eye(len(columns))

    def line(self, plane: np.ndarray, direction: np.ndarray, which: int = -1) -> Line:
        """Return a line whose buckets are finest at its plane."""
        with np.errstate(all="ignore"):
            near = np.abs(plane @ self.columns) / np.abs(direction @ self.columns)
        near = near[np.isfinite(near)]
        place = int(FINE_SHARE * len(near))
        scale = np.partition(near, place)[place] if len(near) else 1.0
        # A power of two: how the sample was added up does not show in it.
        scale = 2.0 ** np.round(np.log2(np.clip(scale, 1e-12, 1e12)))
        return Line(plane, direction, which, 0.0, float(scale))

    def coefficient(self, plane: np.ndarray, m: int) -> Line:
        """Return the line along which one coefficient of a plane changes."""
        return self.line(plane, self.units[m], int(m))

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
    step = scorer.max_lines(1)
    for first in range(0, len(lines), step):
        found += answer([search_lines(lines[first : first + step], scorer, seed, first)], examples, scorer.half)[0]
    best = max((one.score for one in found), default=NO_SPLIT)
    if best == NO_SPLIT:
        return AxisSplit()
    equal = [i for i, one in enumerate(found) if one.score >= best - 1e-10 * abs(best) - 1e-18]
    chosen = equal[derived_seed(seed, len(lines)) % len(equal)]
    return AxisSplit(best, attributes[chosen][0], -found[chosen].alpha, attributes[chosen][1])


class Climbing(NamedTuple):
    """How runs climb."""

    settings: Settings
    n_lines: int  # lines to be asked for after one has moved,
    max_lines: int  # and at most


class Climbed(NamedTuple):
    """Where a run ended, or one part of it."""

    plane: np.ndarray
    considered: int
    is_pure: bool = False  # so that nothing is left to be gained


def climb(start: np.ndarray, scorer: Scorer, sketch: Sketch, how: Climbing, seed: int) -> Asking[Climbed]:
    """Improve a plane: perturb single coefficients until nothing changes, then jump, as long as a jump helps.

    The orders and the jumps are those of the kernels, but equally good positions are not moved to: among this many
    examples they are rare.
    """
    plane, considered, n_jumped = _unit(start), 0, 0
    perturb = perturb_best if how.settings.order == layout.BEST else perturb_one_by_one
    while True:
        plane, more, is_pure = yield from perturb(plane, scorer, sketch, how, derived_seed(seed, 2 * n_jumped))
        considered += more
        if how.settings.n_jumps == 0 or is_pure:
            return Climbed(plane, considered)
        before = plane
        plane, more, _ = yield from jump(plane, scorer, sketch, how, derived_seed(seed, 2 * n_jumped + 1))
        considered += more
        n_jumped += 1
        if plane is before:
            return Climbed(plane, considered)


def perturb_one_by_one(plane: np.ndarray, scorer: Scorer, sketch: Sketch, how: Climbing, seed: int) -> Asking[Climbed]:
    """Search one coefficient after the other: in turn, until each has been searched since another one moved; or drawn.

    Those that are drawn are a given number.
    """
    size, settled, considered, n_lines = len(plane), 0, 0, how.n_lines
    at_random, n_drawn = how.settings.order == layout.RANDOM, how.settings.n_perturbations
    order = np.random.default_rng(seed).integers(size, size=n_drawn) if at_random else np.arange(size)
    while considered < n_drawn if at_random else settled < size:
        n_left = n_drawn - considered if at_random else size - settled
        several = order[np.arange(considered, considered + min(n_lines, n_left)) % len(order)]
        lines = [sketch.coefficient(plane, m) for m in several]
        moved, n_searched, is_pure = yield from _first_move(plane, lines, scorer, seed, considered)
        if is_pure and not at_random:
            return Climbed(plane, considered, True)
        considered += n_searched
        settled, n_lines = settled + n_searched, min(2 * n_lines, how.max_lines)
        if moved is not plane:
            plane, settled, n_lines = moved, 0, how.n_lines
    return Climbed(plane, considered)


def perturb_best(plane: np.ndarray, scorer: Scorer, sketch: Sketch, how: Climbing, seed: int) -> Asking[Climbed]:
    """Search all coefficients and move the one that gains most, as long as one gains."""
    considered = 0
    while True:
        lines = [sketch.coefficient(plane, m) for m in range(len(plane))]
        found: list[Best] = []
        for first in range(0, len(lines), how.max_lines):
            part = lines[first : first + how.max_lines]
            found += yield from search_lines(part, scorer, seed, considered + first, from_plane=True, every=True)
        considered += len(lines)
        best = max(range(len(lines)), key=lambda m: found[m].score)
        if not found[best].improves:
            return Climbed(plane, considered, found[0].is_pure)
        plane = _moved(lines[best], found[best])


def jump(plane: np.ndarray, scorer: Scorer, sketch: Sketch, how: Climbing, seed: int) -> Asking[Climbed]:
    """Search random directions, until one of them leads to a better plane; otherwise return the same one."""
    directions = np.random.default_rng(seed).uniform(-1.0, 1.0, (how.settings.n_jumps, len(plane)))
    considered = 0
    while considered < how.settings.n_jumps:
        lines = [sketch.line(plane, direction) for direction in directions[considered : considered + how.max_lines]]
        moved, n_searched, _ = yield from _first_move(plane, lines, scorer, seed, considered)
        considered += n_searched
        if moved is not plane:
            return Climbed(moved, considered)
    return Climbed(plane, considered)


def _first_move(plane: np.ndarray, lines: Sequence[Line], scorer: Scorer, seed: int, first: int) -> Asking[Climbed]:
    """Move along the first of some lines that leads to a better plane; `first` is the number of the first of them."""
    found = yield from search_lines(lines, scorer, seed, first, from_plane=True)
    for considered, (line, best) in enumerate(zip(lines, found, strict=True), 1):
        if best.improves:
            return Climbed(_moved(line, best), considered, found[0].is_pure)
    return Climbed(plane, len(lines), found[0].is_pure)


def _unit(plane: np.ndarray) -> np.ndarray:
    length = np.sqrt(plane @ plane)
    return plane / length if length > 0.0 else plane


def _moved(line: Line, best: Best) -> np.ndarray:
    return _unit(line.plane + best.alpha * line.direction)


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
