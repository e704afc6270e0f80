"""Charts of results: accuracies beside the paper's, and accuracy against the number of restarts."""

from __future__ import annotations

import math
import textwrap
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from ..plotting.style import COLOURS, plain, save

#: Numbers written on a logarithmic axis of restarts.
TICKS = (1, 2, 5, 10, 20, 50)
#: Whose accuracies are shown: where the bar is, its colour and that of the number in it.
BARS = {"paper": (-0.21, COLOURS[1], "black"), "ours": (0.21, COLOURS[0], "white")}


def _by_data(rows: list[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    return {data: [row for row in rows if row["data"] == data] for data in dict.fromkeys(row["data"] for row in rows)}


def _floor(lowest: float, highest: float) -> float:
    """Return where an axis of accuracies starts so that the differences between its bars can be seen."""
    return max(0.0, math.floor(lowest - max(1.0, 0.5 * (highest - lowest))))


def bar_chart(cells: list[dict[str, Any]], path: Path) -> None:
    """Draw the accuracies of learners beside the paper's, one panel for each data set, and write the picture.

    Parameters
    ----------
    cells : list of dict
        With the keys ``data``, ``learner``, ``accuracy``, ``accuracy_sd`` and ``paper``, a dictionary that has the
        paper's accuracy in the same way. Accuracies are in percent; a deviation that is not known is None.
    path : Path
        Ends in ``.png`` or ``.svg``. Its folder is made if missing; a file there is overwritten.
    """
    groups = _by_data(cells)
    n_columns = min(2, len(groups))
    n_rows = -(-len(groups) // n_columns)
    widest = max(len(group) for group in groups.values())
    figure = Figure(figsize=(n_columns * max(4.0, 0.85 * widest + 1), 3.3 * n_rows + 0.4), layout="constrained")
    panels = figure.subplots(n_rows, n_columns, squeeze=False).ravel()
    for ax in panels[len(groups) :]:
        ax.axis("off")
    for ax, (data, group) in zip(panels, groups.items(), strict=False):
        known = ([cell["paper"] for cell in group], group)
        accuracies, deviations = (
            np.array([[cell[name] or 0.0 for cell in own] for own in known]) for name in ("accuracy", "accuracy_sd")
        )
        high = (accuracies + deviations).max()
        floor = _floor((accuracies - deviations).min(), high)
        for (who, (shift, colour, ink)), own, error in zip(BARS.items(), accuracies, deviations, strict=True):
            look: dict[str, Any] = {"color": colour, "edgecolor": "black", "linewidth": 0.6, "capsize": 3}
            bars = ax.bar(np.arange(len(own)) + shift, own - floor, 0.4, floor, yerr=error, label=who, **look)
            ax.bar_label(bars, [f"{value:.1f}" for value in own], label_type="center", rotation=90, size=9, color=ink)
        ax.set(xlim=(-0.6, widest - 0.4), ylim=(floor, high + 0.08 * (high - floor)), title=plain(data))
        ax.set_xticks(range(len(group)), [textwrap.fill(plain(cell["learner"]), 12) for cell in group], size=9)
        ax.set_ylabel("accuracy (%)" + (f", axis starts at {floor:g}" if floor else ""))
        ax.spines[["right", "top"]].set_visible(False)
    place: dict[str, Any] = {"loc": "outside upper center", "ncols": 2, "frameon": False}
    figure.legend(*panels[0].get_legend_handles_labels(), title="accuracy; error bars: one standard deviation", **place)
    save(figure, path)


def restarts_curve(points: list[dict[str, Any]], path: Path) -> None:
    """Draw accuracy and leaves against the number of restarts, one column for each data set, and write the picture.

    Parameters
    ----------
    points : list of dict
        With the keys ``data``, ``restarts``, ``accuracy``, ``accuracy_sd`` (in percent) and ``leaves``, by restarts.
    path : Path
        Ends in ``.png`` or ``.svg``. Its folder is made if missing; a file there is overwritten.
    """
    groups = _by_data(points)
    n_columns = min(4, len(groups))
    n_blocks = -(-len(groups) // n_columns)
    figure = Figure(figsize=(max(4.5, 3.0 * n_columns), 4.6 * n_blocks), layout="constrained")
    panels = figure.subplots(2 * n_blocks, n_columns, squeeze=False)
    for ax in panels.flat:
        ax.axis("off")
    for i, (data, group) in enumerate(groups.items()):
        restarts, accuracy, deviation, leaves = (
            np.array([point[key] for point in group], dtype=float)
            for key in ("restarts", "accuracy", "accuracy_sd", "leaves")
        )
        upper, lower = panels[2 * (i // n_columns) : 2 * (i // n_columns) + 2, i % n_columns]
        upper.errorbar(restarts, accuracy, np.nan_to_num(deviation), color=COLOURS[0], marker="o", capsize=3)
        lower.plot(restarts, leaves, color=COLOURS[5], marker="s")
        for ax in (upper, lower):
            ax.axis("on")
            ax.set_xscale("log")
            ax.grid(alpha=0.3)
            ax.set_xticks(TICKS, map(str, TICKS))
            ax.minorticks_off()
        upper.set_title(plain(data))
        lower.set(xlabel="restarts (logarithmic)", ylim=(0, 1.1 * leaves.max()))
        lower.yaxis.set_major_locator(MaxNLocator(6, integer=True))
        if i % n_columns == 0:
            upper.set_ylabel("accuracy (%)\n± standard deviation")
            lower.set_ylabel("leaves")
    save(figure, path)
