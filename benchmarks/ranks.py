"""Mean ranks of learners over data sets, which of them may differ by chance, and a picture of it.

As in Demšar, J. (2006), Statistical Comparisons of Classifiers over Multiple Data Sets, Journal of Machine Learning
Research 7.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from scipy import stats

from oc1.plotting.style import COLOURS, plain, save

#: Level of significance of the tests.
LEVEL = 0.05


def critical_difference(n_learners: int, n_sets: int) -> float:
    """Return how far two mean ranks must be apart to differ by more than chance, by Nemenyi's test.

    Examples
    --------
    >>> round(critical_difference(4, 14), 2)  # as in Demšar's example
    1.25
    """
    quantile = stats.studentized_range.ppf(1 - LEVEL, n_learners, np.inf) / np.sqrt(2)
    return float(quantile * np.sqrt(n_learners * (n_learners + 1) / (6 * n_sets)))


def indistinct_groups(ranks: list[float], difference: float) -> list[tuple[int, int]]:
    """Return the longest runs of ranks, in ascending order, that lie within a difference: first and last index of each.

    Examples
    --------
    >>> indistinct_groups([1.0, 1.5, 2.2, 4.0], 1.0)
    [(0, 1), (1, 2)]
    """
    groups: list[tuple[int, int]] = []
    for first, rank in enumerate(ranks):
        last = max(i for i, other in enumerate(ranks) if other - rank <= difference)
        if last > first and (not groups or last > groups[-1][1]):
            groups.append((first, last))
    return groups


def rank_diagram(ranks: dict[str, float], difference: float, n_sets: int, path: Path) -> None:
    """Draw learners by their mean ranks on a line, bars below joining those that may differ by chance, and write it.

    Parameters
    ----------
    ranks : dict of learner to mean rank
    difference : float
        The critical difference of two mean ranks.
    n_sets : int
        Number of data sets that the means are of.
    path : Path
        Ends in ``.png`` or ``.svg``. Its folder is made if missing; a file there is overwritten.
    """
    names = sorted(ranks, key=lambda name: ranks[name])
    places = [ranks[name] for name in names]
    groups = indistinct_groups(places, difference)
    n, n_left = len(names), (len(names) + 1) // 2
    top = 0.5 + 0.35 * len(groups)  # where the first name is, below the axis; names are 1 apart
    figure = Figure(figsize=(9, 1.7 + 0.35 * (top + n_left)), layout="constrained")
    ax = figure.subplots()
    line: dict[str, Any] = {"color": "black", "linewidth": 1.0}
    for i, (name, place) in enumerate(zip(names, places, strict=True)):
        is_left = i < n_left  # the better half; the worst stands highest on the right, so that no lines cross
        depth = -(top + (i if is_left else n - 1 - i))
        end = 0.9 if is_left else n + 0.1
        ax.plot([place, place, end], [0, depth, depth], **line)
        ax.plot(place, 0, "o", color=COLOURS[0], clip_on=False, zorder=3)
        text = f"{plain(name)}  {place:.2f}" if is_left else f"{place:.2f}  {plain(name)}"
        shift, side = (-4, "right") if is_left else (4, "left")
        ax.annotate(text, (end, depth), (shift, 0), textcoords="offset points", ha=side, va="center", size=10)
    bar_style: dict[str, Any] = {"color": COLOURS[5], "linewidth": 4, "solid_capstyle": "butt"}
    for i, (first, last) in enumerate(groups):
        ax.plot([places[first] - 0.03, places[last] + 0.03], [-0.35 * (i + 1)] * 2, zorder=2, **bar_style)
    ax.plot([1, 1 + difference], [1.1, 1.1], clip_on=False, **bar_style)
    ax.annotate(f"critical difference {difference:.2f}", (1, 1.1), (0, 5), textcoords="offset points", size=9)
    ax.spines[["left", "right", "bottom"]].set_visible(False)
    ax.spines["top"].set_position(("data", 0))
    ax.spines["top"].set_bounds(1, n)
    ax.xaxis.tick_top()
    ax.set(xlim=(0.9, n + 0.1), ylim=(-(top + n_left - 0.5), 1.8), yticks=[], xticks=range(1, n + 1))
    ax.set_title(
        f"Mean rank by accuracy on {n_sets} data sets (1 is best)\nbars join learners that may differ by chance"
    )
    save(figure, path)
