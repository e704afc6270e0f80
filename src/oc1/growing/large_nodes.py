"""OC1's search of a large node in rounds: all runs advance together, and each round asks one question of the examples.

The question is how many examples of each class cross in which bucket, along some lines that lead away from some
hyperplanes (see `histograms`). Such counts are small and add up, so it does not matter where the examples are: an
`Engine` that answers can be threads on one array, the partitions of a cluster, or a graphics card. Everything else, all
decisions and all randomness, is here, and sees nothing but counts and an even sample of the examples. So the same seed
finds the same hyperplane, whatever the engine and however the examples are divided among its parts.

A run is a generator: it yields the lines that it wants counted and is sent the counts. `answer` collects what all runs
want, asks the engine once, and hands out the counts; one such exchange is a round. A run does not wait for an answer
that it can guess: coefficients are usually settled at the end, so it asks for the next ones, too, more of them the
longer nothing moved, and throws away what a move made useless. The result is that of one coefficient after the other.

Buckets are finest where the line leaves its hyperplane, since a good one is seldom moved far. The purity at the edges
of buckets is known exactly, and bounded from above inside them. Where more could be found inside than the *tolerance*,
the line is counted once more with buckets that are fine there, up to three times. The tolerance is what one of the
node's examples is worth, on the right side instead of the wrong one: among a million, a millionth of the purity of an
ideal split. A coefficient that gains less is not moved. In noise, where many places are almost equally good, three
finer counts may not tell which is best; what is missed then was never more than some fifteen examples' worth. Nothing
is looked for inside the two outermost buckets, where a line turns the hyperplane by almost a right angle.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, Protocol

import numpy as np

from ..impurity import Measure, raise_failure
from ..kernels import _kernels
from ..kernels._kernels import BY_FILL, NOTHING
from .splitters import derived_seed

#: Half the number of buckets is about this times the root of examples over classes, a power of two up to the most.
HALF, MOST_HALF, LEAST_HALF = 0.7, 2048, 64
#: How often a line may be counted again with finer buckets.
ZOOMS = 3
#: The finest buckets hold this share of the examples, as far as a sample tells.
NEAR = 0.01
#: Differences that are worth less than so many examples, on the right side instead of the wrong one, do not count.
TOLERANCE = 1.0
#: Runs that are behind the best one by so many standard errors after climbing on the sample are given up.
BEHIND = 3.0
#: Planes at an angle whose cosine is larger are the same.
SAME = 0.9995
#: So many different runs, at most, go on with all examples.
MOST_RUNS = 6
#: Numbers in the counts of one round, at most, if several runs ask for more than one line each.
CELLS = 2**18
#: How far the middle of an attribute's buckets is from its median, in spreads. (No edge is so far from another one.)
BESIDE = 0.01 * np.sqrt(2.0)
#: A step that leads past all crossings.
BEYOND = 1e29


class Lines(NamedTuple):
    """Lines to be counted, as `oc1.kernels.histograms.count_lines` takes them."""

    planes: np.ndarray  # float32 (n_planes, d + 1)
    plane_of: np.ndarray  # int64 (q)
    directions: np.ndarray  # float32 (q, d + 1)
    which: np.ndarray  # int64 (q)
    sides: np.ndarray  # int64 (q)
    centres: np.ndarray  # float32 (q)
    scales: np.ndarray  # float32 (q)


class Counted(NamedTuple):
    """Examples by class and bucket (see `oc1.kernels.histograms.count_lines`), or on the left of planes."""

    counts: np.ndarray  # int (q, k, 4 * half + 2), or (q, k)
    sums: np.ndarray  # their weights; empty if all count alike

    def __add__(self, other: Counted) -> Counted:  # type: ignore[override]
        # Where there are no examples, it is not known that others have weights.
        sums = self.sums + other.sums if self.sums.size and other.sums.size else max(self.sums, other.sums, key=np.size)
        return Counted(self.counts + other.counts, sums)


class Engine(Protocol):
    """Holds the examples of one node, wherever they are, and counts them.

    Attributes
    ----------
    at_once : int
        How many lines a run had better ask for, if it does not know which of them it needs. The answer is the same.
    """

    at_once: int

    def count_lines(self, lines: Lines, half: int) -> Counted:
        """Count the classes that are present at the node, by bucket along some lines."""

    def count_sides(self, planes: np.ndarray, sides: np.ndarray) -> Counted:
        """Count the classes that are present on the left of each plane; the sums are the counts if all count alike."""


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


class Judge:
    """Scores splits of one node by class counts; larger is better (see `oc1.kernels._kernels`).

    Parameters
    ----------
    sizes, totals : arrays (k,)
        Numbers of examples and weights of the classes that are present.
    present : int array (k,)
        Their labels.
    measure : Measure
    rate, bound : compiled functions
        Those of the measure.
    min_leaf : int
    n_classes : int, optional
        How many classes the data have: a user's measure is given counts of all of them.
    """

    def __init__(
        self, sizes, totals, present, measure: Measure, rate: Any, bound: Any, min_leaf: int, n_classes: int = 0
    ):
        self.sizes, self.totals = np.asarray(sizes, dtype=np.float64), np.asarray(totals, dtype=np.float64)
        self.present, self.measure, self.min_leaf = np.asarray(present, dtype=np.int64), measure, min_leaf
        self._rate, self._bound = rate, bound
        k = len(self.totals)
        order = np.lexsort((np.arange(k), -self.totals))
        self._ranks = np.empty(k)
        self._ranks[order] = np.arange(1, k + 1)
        self._pairs, self._stream = np.zeros((5, max(k, n_classes))), np.zeros(2, dtype=np.uint64)
        half = 2.0 ** np.round(np.log2(HALF * np.sqrt(self.sizes.sum() / k)))
        self.half = int(np.clip(half, LEAST_HALF, MOST_HALF))

    def lines(self, counted: Counted) -> tuple[np.ndarray, np.ndarray]:
        """Return the scores at the edges of each line's buckets, and bounds of what is inside them."""
        q, k, width = counted.counts.shape
        n_buckets = (width - 2) // 2
        scores, bounds = np.empty((q, n_buckets + 1)), np.empty((q, n_buckets))
        room = np.empty((k + 2, width)), np.empty((k + 2, n_buckets + 1)), np.empty((2, n_buckets + 1))
        with np.errstate(all="ignore"):  # for NUMBA_DISABLE_JIT
            _kernels.score_lines(
                counted.counts, counted.sums, self.sizes, self.totals, self._ranks, self.present, self.measure.code,
                self.min_leaf, self._rate, self._bound, *room, self._pairs, self._stream, scores, bounds,
            )  # fmt: skip
        self._check()
        return scores, bounds

    def sides(self, counts: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Return the scores of splits with these numbers and weights of the classes on their left."""
        scores = np.empty(len(counts))
        with np.errstate(all="ignore"):
            _kernels.score_sides(
                weights.astype(np.float64), counts.astype(np.float64), self.sizes, self.totals, self._ranks,
                self.present, self.measure.code, self.min_leaf, self._rate, self._pairs, self._stream, scores,
            )  # fmt: skip
        self._check()
        return scores

    @cached_property
    def tolerance(self) -> float:
        """What an example is worth: smaller differences are not looked for. 0 where a user's measure has no scale."""
        if self.measure.code == _kernels.CUSTOM:
            return 0.0
        order = np.argsort(-self.totals, kind="stable")
        left = np.tri(len(order) - 1, len(order), dtype=bool)[:, np.argsort(order)]
        scores = self.sides(left * self.sizes, left * self.totals)
        return TOLERANCE * float(scores.max(initial=0.0) / self.sizes.sum())

    def standard_error(self, score: float, left: np.ndarray) -> float:
        """Return how far a score is from what more examples would tell, for these class weights on its left."""
        astray = np.minimum(left, self.totals - left).sum() / self.totals.sum()
        return abs(score) * float(np.sqrt(max(astray, 1.0 / self.sizes.sum()) / self.sizes.sum()))

    def is_pure(self, left: np.ndarray) -> bool:
        """Whether each side would hold one class only."""
        here, there = left > 0.0, self.totals - left > 1e-9 * self.totals
        return int(here.sum()) == 1 and int(there.sum()) == 1

    def _check(self) -> None:
        if self._stream[1]:
            raise_failure(self.measure.impurity, self.measure.name, self._pairs[3], self._pairs[4])


# ---------------------------------------------------------------------------------------------------- rounds

#: Yields lines to be counted, is sent the counts, returns a result.
Asking = Generator[list[Line], Counted, Any]


def answer(askers: Sequence[Asking], engine: Engine, half: int) -> list[Any]:
    """Let all askers advance together, a round at a time, until they have their results."""
    results: list[Any] = [None] * len(askers)
    waiting: dict[int, list[Line]] = {}

    def go_on(number: int, counted: Counted | None) -> None:
        try:
            waiting[number] = next(askers[number]) if counted is None else askers[number].send(counted)
        except StopIteration as stop:
            waiting.pop(number, None)
            results[number] = stop.value

    for number in range(len(askers)):
        go_on(number, None)
    while waiting:
        round_of = list(waiting.items())
        counted = engine.count_lines(packed([line for _, lines in round_of for line in lines]), half)
        first = 0
        for number, lines in round_of:
            own = slice(first, first + len(lines))
            go_on(number, Counted(counted.counts[own], counted.sums[own]))
            first += len(lines)
    return results


# ---------------------------------------------------------------------------------------------------- one line


@dataclass
class Best:
    """The best position that is known on a line."""

    score: float = NOTHING
    alpha: float = 0.0
    current: float = NOTHING  # the score that had to be beaten
    is_pure: bool = False  # whether that one leaves one class on each side
    least: float = 0.0  # by which it had to be beaten

    @property
    def improves(self) -> bool:
        """Whether it is better than the current one, if there is one, by more than the tolerance."""
        return NOTHING < self.current < self.score - self.least - 1e-10 * abs(self.current)


def search_lines(
    lines: Sequence[Line], judge: Judge, salt: int, first: int, from_plane: bool, every: bool = False
) -> Asking:
    """Find the best position on each line, within the tolerance.

    With `from_plane`, the score of the plane from which the lines lead away is to be beaten. The first line on which it
    is will be taken, and nothing more is asked about the lines after it, unless `every` line is wanted. Otherwise the
    best of all lines is wanted. Equally good positions are settled by `salt` and the number of the line, that of the
    first being `first`.
    """
    found = [Best(least=judge.tolerance) for _ in lines]
    spans = [(-np.inf, np.inf)] * len(lines)
    layouts = dict(enumerate(lines))
    for zoom in range(ZOOMS + 1):
        counted = yield list(layouts.values())
        scores, bounds = judge.lines(counted)
        half = bounds.shape[1] // 2
        edges = {}
        for row, (number, line) in enumerate(layouts.items()):
            best = found[number]
            edges[number] = line.edges(half)
            if from_plane and zoom == 0:
                best.current, best.is_pure = scores[row, half], judge.is_pure(_left_of(counted, row, half))
            crossing = counted.counts[row].sum(axis=0)
            crossing = crossing[: 2 * half] + crossing[2 * half : 4 * half]
            position = _best_edge(
                scores[row],
                crossing,
                edges[number],
                spans[number],
                line,
                derived_seed(salt, 8 * (first + number) + zoom),
            )
            if position is not None and position[0] > best.score:
                best.score, best.alpha = position
        overall = max(best.score for best in found)
        narrower = {}
        for row, (number, line) in enumerate(layouts.items()):
            best = found[number]
            if best.improves:
                if every:
                    continue
                break  # good enough to move on: what is left is found from there, and later lines are of no use
            bar = max(best.score, best.current) if from_plane else overall
            low, high = spans[number]
            inside = (edges[number][1:] > low) & (edges[number][:-1] < high)
            inside[[0, -1]] = False  # no end: nothing finer can be asked for there
            open_ones = np.flatnonzero(inside & (bounds[row] > bar + judge.tolerance + 1e-10 * abs(bar)))
            if judge.measure.code == _kernels.CUSTOM and len(open_ones):
                open_ones = _beside(edges[number], best.alpha, open_ones) if best.score > NOTHING else open_ones[:0]
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


def _best_edge(scores, crossing, edges, span, line: Line, salt: int) -> tuple[float, float] | None:
    """Return (score, alpha) of the best edge inside a span; edges with nothing between them are one position."""
    allowed = (scores > NOTHING) & (edges >= span[0]) & (edges <= span[1])
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


def _left_of(counted: Counted, row: int, edge: int) -> np.ndarray:
    """Return the class weights on the left of an edge."""
    own = (counted.sums if counted.sums.size else counted.counts)[row]
    n_buckets = (own.shape[1] - 2) // 2
    ups, downs = own[:, edge:n_buckets].sum(axis=1), own[:, n_buckets : n_buckets + edge].sum(axis=1)
    return ups + downs + own[:, 2 * n_buckets]


# ---------------------------------------------------------------------------------------------------- runs


class Sketch:
    """A thin sample of the node, to see how far crossings are from a hyperplane.

    Parameters
    ----------
    columns : float32 array (d + 1, m)
        Examples in search space, and a last row of ones.
    """

    def __init__(self, columns: np.ndarray):
        self.columns = columns[:, :: max(1, columns.shape[1] // 2000)].astype(np.float64)

    def line(self, plane: np.ndarray, direction: np.ndarray, which: int) -> Line:
        """Return a line whose buckets are finest at its plane."""
        with np.errstate(all="ignore"):
            near = np.abs(plane @ self.columns) / np.abs(direction @ self.columns)
        near = near[np.isfinite(near)]
        place = int(NEAR * len(near))
        scale = np.partition(near, place)[place] if len(near) else 1.0
        # A power of two: how the sample was added up does not show in it.
        scale = 2.0 ** np.round(np.log2(np.clip(scale, 1e-12, 1e12)))
        return Line(plane, direction, which, 0.0, float(scale))

    def attribute(self, m: int, side: int) -> Line:
        """Return the line of all splits by one attribute."""
        x = self.columns[m]
        low, middle, high = np.quantile(x, [0.25, 0.5, 0.75], method="nearest")
        spread = 0.5 * (high - low) or 0.25 * np.ptp(x) or 1.0
        unit = np.eye(len(self.columns))
        # A little beside it: many examples may share that value, and at an edge rounding could put them on either side.
        centre = -float(middle + BESIDE * spread)
        return Line(unit[m], unit[-1], len(self.columns) - 1, centre, float(spread), side)


def best_attribute(
    engine: Engine, judge: Judge, sketch: Sketch, attributes: Sequence[tuple[int, int]], seed: int
) -> tuple[float, int, float, int]:
    """Return (score, attribute, threshold, side of the missing values) of the best axis-parallel split.

    Attributes come with the side to which they send missing values, twice where it is to be learned. NOTHING and -1 if
    there is no split.
    """
    lines = [sketch.attribute(m, side) for m, side in attributes]
    found: list[Best] = []
    for some in range(0, len(lines), room_for_lines(judge, 1)):
        part = lines[some : some + room_for_lines(judge, 1)]
        found += answer([search_lines(part, judge, seed, some, False)], engine, judge.half)[0]
    best = max((one.score for one in found), default=NOTHING)
    if best == NOTHING:
        return NOTHING, -1, 0.0, BY_FILL
    equal = [i for i, one in enumerate(found) if one.score >= best - 1e-10 * abs(best) - 1e-18]
    chosen = equal[derived_seed(seed, len(lines)) % len(equal)]
    return best, attributes[chosen][0], -found[chosen].alpha, attributes[chosen][1]


def room_for_lines(judge: Judge, n_runs: int) -> int:
    """Return how many lines a run may ask for at once."""
    return max(1, CELLS // (n_runs * len(judge.totals) * (4 * judge.half + 2)))


@dataclass(frozen=True)
class Climbing:
    """How runs climb (see `oc1.kernels._kernels.Plan`)."""

    order: int
    n_perturbations: int
    n_jumps: int
    at_once: int  # lines to be asked for after one has moved,
    room: int  # and at most


class Climbed(NamedTuple):
    """Where a run ended."""

    plane: np.ndarray
    considered: int


def climb(start: np.ndarray, judge: Judge, sketch: Sketch, how: Climbing, seed: int) -> Asking:
    """Improve a plane: single coefficients until nothing changes, then random directions, as long as one helps.

    The orders and the jumps are those of `search`, but equally good positions are not moved to: among so
    many examples they are rare.
    """
    plane, considered, jumped = _unit(start), 0, 0
    units = np.eye(len(plane))
    climbs: Callable = {_kernels.SEQUENTIAL: _in_turn, _kernels.BEST: _best_first, _kernels.RANDOM: _at_random}[
        how.order
    ]
    while True:
        plane, more, pure = yield from climbs(plane, units, judge, sketch, how, derived_seed(seed, 2 * jumped))
        considered += more
        if how.n_jumps == 0 or pure:
            break
        rng = np.random.default_rng(derived_seed(seed, 2 * jumped + 1))
        directions = rng.uniform(-1.0, 1.0, (how.n_jumps, len(plane)))
        helped = False
        for some in range(0, how.n_jumps, how.room):
            lines = [sketch.line(plane, direction, -1) for direction in directions[some : some + how.room]]
            found = yield from search_lines(lines, judge, derived_seed(seed, 2 * jumped + 1), some, True)
            for line, best in zip(lines, found, strict=True):
                considered += 1
                if best.improves:
                    plane, helped = _moved(line, best), True
                    break
            if helped:
                break
        jumped += 1
        if not helped:
            break
    return Climbed(plane, considered)


def _in_turn(plane, units, judge, sketch, how, seed) -> Asking:
    """Search one coefficient after the other, until each has been searched since another one moved."""
    size, turn, settled, considered, at_once = len(plane), 0, 0, 0, how.at_once
    while settled < size:
        several = [(turn + i) % size for i in range(min(at_once, size - settled))]
        lines = [sketch.line(plane, units[m], m) for m in several]
        found = yield from search_lines(lines, judge, seed, considered, True)
        if found[0].is_pure:
            return plane, considered, True
        at_once = min(2 * at_once, how.room)
        for m, line, best in zip(several, lines, found, strict=True):
            considered, settled, turn = considered + 1, settled + 1, m + 1
            if best.improves:
                plane, settled, at_once = _moved(line, best), 0, how.at_once
                break
    return plane, considered, False


def _best_first(plane, units, judge, sketch, how, seed) -> Asking:
    """Search all coefficients and move the one that gains most, as long as one gains."""
    considered = 0
    while True:
        lines = [sketch.line(plane, unit, m) for m, unit in enumerate(units)]
        found: list[Best] = []
        for some in range(0, len(lines), how.room):
            part = lines[some : some + how.room]
            found += yield from search_lines(part, judge, seed, considered + some, True, every=True)
        considered += len(lines)
        best = max(range(len(lines)), key=lambda m: found[m].score)
        if not found[best].improves:
            return plane, considered, found[0].is_pure
        plane = _moved(lines[best], found[best])


def _at_random(plane, units, judge, sketch, how, seed) -> Asking:
    """Search coefficients that are drawn at random, a given number of times."""
    drawn = np.random.default_rng(seed).integers(len(plane), size=how.n_perturbations)
    considered, at_once = 0, how.at_once
    while considered < len(drawn):
        several = drawn[considered : considered + at_once]
        lines = [sketch.line(plane, units[m], int(m)) for m in several]
        found = yield from search_lines(lines, judge, seed, considered, True)
        at_once = min(2 * at_once, how.room)
        for line, best in zip(lines, found, strict=True):
            considered += 1
            if best.improves:
                plane, at_once = _moved(line, best), how.at_once
                break
    return plane, considered, False


def _unit(plane: np.ndarray) -> np.ndarray:
    length = np.sqrt(plane @ plane)
    return plane / length if length > 0.0 else plane


def _moved(line: Line, best: Best) -> np.ndarray:
    return _unit(line.plane + best.alpha * line.direction)


def promising(
    planes: np.ndarray, scores: np.ndarray, left: np.ndarray, judge: Judge, most: int = MOST_RUNS
) -> list[int]:
    """Return which runs are worth going on with, best first, by their scores on a sample with these totals.

    Those are left out that are clearly behind, and those that stand where a better one does.
    """
    order = [int(i) for i in np.argsort(-scores, kind="stable") if scores[i] > NOTHING]
    kept: list[int] = []
    for i in order:
        behind = BEHIND * judge.standard_error(scores[order[0]], left[order[0]])
        unit = _unit(planes[i])
        if scores[i] < scores[order[0]] - behind or len(kept) == most:
            break
        if not any(abs(unit @ _unit(planes[other])) > SAME for other in kept):
            kept.append(i)
    return kept
