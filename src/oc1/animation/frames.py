"""Which steps of a recorded search are shown, and where they are drawn."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from .recording import COEFFICIENT, JUMP, START, Line, SearchRecord, shown

#: What the last frame shows: the split of the node.
END = "end"
#: How long a frame of each kind lasts, in steps: longer where there is more to look at.
LASTS = {START: 2, COEFFICIENT: 1, JUMP: 3, END: 8}


def chosen_steps(record: SearchRecord, most: int) -> np.ndarray:
    """Choose the steps that are shown: all, if there are not too many.

    The first and the last stay, and those that are better than all before; then starts and jumps; then of the others
    as many as there is room for. What there is no room for is thinned out evenly.

    Parameters
    ----------
    record : SearchRecord
    most : int
        How many at most, at least 2.

    Returns
    -------
    int array
        Numbers of steps, ascending.
    """
    if most < 2:
        raise ValueError(f"at least 2 frames are needed, got {most}")
    n = len(record.steps)
    needed = np.full(n, 2)
    needed[[step.kind != COEFFICIENT for step in record.steps]] = 1
    needed[record.best == np.arange(n)] = 0
    chosen = np.unique([0, n - 1])
    for group in range(3):
        others = np.setdiff1d(np.flatnonzero(needed == group), chosen)
        room = min(most - len(chosen), len(others))
        spread = others[np.linspace(0, len(others) - 1, room).round().astype(int)] if room else others[:0]
        chosen = np.union1d(chosen, spread)
    return chosen


class Frame(NamedTuple):
    """What is shown at one time: a step, or at the end the split of the node.

    Attributes
    ----------
    kind : {"start", "coefficient", "jump", "end"}
    run : int
        0 at the end.
    step : int
        Where the search is on the curve of impurities; at the end, at its best step.
    n_done : int
        How many steps have been made.
    title, test : str
    line, best_line : (float array, float)
        Coefficients and threshold, and those of the best step so far; at the end, both are the split.
    """

    kind: str
    run: int
    step: int
    n_done: int
    title: str
    test: str
    line: Line
    best_line: Line


def frames_of(record: SearchRecord, most: int) -> list[Frame]:
    """Return the frames of an animation: its steps, `most` of them at most (see `chosen_steps`), and the end."""
    steps, n = record.steps, len(record.steps)
    frames = []
    for i in chosen_steps(record, most).tolist():
        title = f"Run {steps[i].run} of {record.n_runs}, step {i + 1} of {n}: {record.describe(i)}"
        line, best_line = steps[i].line, steps[record.best[i]].line
        frames.append(Frame(steps[i].kind, steps[i].run, i, i + 1, title, record.write_test(*line), line, best_line))
    best = int(record.best[-1])
    title = f"The best: run {steps[best].run}, step {best + 1}, impurity {shown(steps[best].after)}"
    line = steps[best].line if record.split is None else record.split
    test = "the node stays a leaf" if record.split is None else f"the split of the node: {record.write_test(*line)}"
    return [*frames, Frame(END, 0, best, n, title, test, line, line)]


class ProjectionHistogram(NamedTuple):
    """Where the examples lie along a step's direction; bins and heights are on one scale for all steps of a run."""

    heights: np.ndarray  # (n_bins, n_classes): weight of the examples, as a share of the fullest bin of the run
    threshold: float  # from 0, the left end, to 1


def histograms_of(record: SearchRecord, frames: Sequence[Frame], n_bins: int = 40) -> list[ProjectionHistogram]:
    """Return the histogram of the projections for each frame."""
    projected = [_project(record, *frame.line) for frame in frames]
    runs = np.array([frame.run for frame in frames])
    n_classes = len(record.classes)
    histograms: dict[int, ProjectionHistogram] = {}
    for run in np.unique(runs):
        own = np.flatnonzero(runs == run).tolist()
        low, high = min(projected[i][0].min() for i in own), max(projected[i][0].max() for i in own)
        high = high if high > low else low + 1.0
        limits = [[low, high], [0, n_classes]]
        counts = [
            np.histogram2d(projected[i][0], record.y, [n_bins, n_classes], limits, weights=record.weights)[0]
            for i in own
        ]
        fullest = max(one.sum(axis=1).max() for one in counts)
        for i, one in zip(own, counts, strict=True):
            place = np.clip((projected[i][1] - low) / (high - low), 0.0, 1.0)
            histograms[i] = ProjectionHistogram(one / fullest, float(place))
    return [histograms[i] for i in range(len(frames))]


def _project(record: SearchRecord, coefficients: np.ndarray, threshold: float) -> tuple[np.ndarray, float]:
    """Project the examples on the direction of a test, in units of the search space; return them and the threshold."""
    size = float(np.linalg.norm(coefficients * record.space.scale)) or 1.0
    direction = coefficients / size
    return (record.X - record.space.shift) @ direction, threshold / size - float(direction @ record.space.shift)


def pieces_of(record: SearchRecord) -> list[tuple[int, int]]:
    """Return where each run begins and ends; one that goes on after others has several pieces."""
    runs = np.array([step.run for step in record.steps])
    cuts = [0, *(np.flatnonzero(np.diff(runs)) + 1).tolist(), len(runs)]
    return list(pairwise(cuts))


def impurity_range(record: SearchRecord) -> tuple[float, float]:
    """Return the impurities between which the curve is drawn.

    Random starts may be a hundred times worse than anything the search is about, or infinitely: they are above it.
    """
    impurities = record.impurities
    finite = impurities[np.isfinite(impurities)]
    low, high = finite.min(), finite.max()
    of_interest = [impurities[0], *(impurities[end - 1] for _, end in pieces_of(record))]
    top = low + 1.6 * (max(value for value in [low, *of_interest] if np.isfinite(value)) - low)
    top = min(max(top, np.quantile(finite, 0.9)), high)
    rooms = (top - low, high - low, max(abs(high), 1.0))
    room = next(room for room in rooms if room > 1e-6 * abs(high))  # less is rounding
    return float(low - 0.06 * room), float(low + 1.1 * room)
