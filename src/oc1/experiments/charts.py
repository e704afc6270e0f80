"""Charts of results: accuracies beside the paper's, and accuracy against the number of restarts."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.ticker import FixedLocator, MaxNLocator, NullLocator, ScalarFormatter

from ..plotting.style import COLOURS, plain, save


def _by_data(rows: list[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    if not rows:
        raise ValueError("there is nothing to draw: no results were given")
    groups: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        groups.setdefault(row["data"], []).append(row)
    return groups


def _floor(lowest: float, highest: float) -> float:
    """Return where an axis of accuracies starts so that the differences between its bars can be seen."""
    return max(0.0, math.floor(lowest - max(1.0, 0.5 * (highest - lowest))))


def bar_chart(cells: list[dict[str, Any]], path: Path) -> None:
    """Draw the accuracies of learners beside the paper's, one panel for each data set, and write the picture.

    Parameters
    ----------
    cells : list of dict
        With the keys ``data``, ``learner``, ``accuracy``, ``accuracy_sd`` and ``paper``, a dictionary or None that has
        the paper's accuracy in the same way. Accuracies are in percent; None is unknown.
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
    bars = {"paper": (-0.21, COLOURS[1], "black"), "ours": (0.21, COLOURS[0], "white")}
    for ax, (data, group) in zip(panels, groups.items(), strict=False):
        values = [
            (place, who, found.get("accuracy"), found.get("accuracy_sd"))
            for place, cell in enumerate(group)
            for who, found in (("paper", cell["paper"] or {}), ("ours", cell))
        ]
        known = [(value, deviation or 0.0) for *_, value, deviation in values if value is not None]
        low = min((value - deviation for value, deviation in known), default=0.0)
        high = max((value + deviation for value, deviation in known), default=100.0)
        floor = _floor(low, high)
        for place, who, value, deviation in values:
            shift, colour, ink = bars[who]
            text, ink = ("no value", "grey") if value is None else (f"{value:.1f}", ink)
            above = {"xytext": (0, 4), "textcoords": "offset points", "ha": "center"}
            ax.annotate(text, (place + shift, floor), rotation=90, size=9, color=ink, **above)
            if value is not None:
                ax.bar(place + shift, value - floor, 0.4, bottom=floor, color=colour, edgecolor="black", linewidth=0.6)
                if deviation is not None:
                    ax.errorbar(place + shift, value, deviation, color="black", capsize=3, linewidth=1)
        ax.set(xlim=(-0.6, widest - 0.4), ylim=(floor, high + 0.08 * (high - floor)), title=plain(data))
        ax.set_xticks(range(len(group)), [textwrap.fill(plain(cell["learner"]), 12) for cell in group], size=9)
        ax.set_ylabel("accuracy (%)" + (f", axis starts at {floor:g}" if floor else ""))
        ax.spines[["right", "top"]].set_visible(False)
    handles = [Rectangle((0, 0), 1, 1, facecolor=colour, edgecolor="black") for _, colour, _ in bars.values()]
    title = "accuracy; error bars: one standard deviation"
    figure.legend(handles, [*bars], title=title, loc="outside upper center", ncols=2, frameon=False)
    save(figure, path)


def restarts_curve(points: list[dict[str, Any]], path: Path) -> None:
    """Draw accuracy and leaves against the number of restarts, one column for each data set, and write the picture.

    Parameters
    ----------
    points : list of dict
        With the keys ``data``, ``restarts``, ``accuracy``, ``accuracy_sd`` (in percent) and ``leaves``.
    path : Path
        Ends in ``.png`` or ``.svg``. Its folder is made if missing; a file there is overwritten.
    """
    groups = _by_data(points)
    if min(point["restarts"] for point in points) < 1:
        raise ValueError("the axis of restarts is logarithmic: numbers of restarts must be at least 1")
    n_columns = min(4, len(groups))
    n_blocks = -(-len(groups) // n_columns)
    figure = Figure(figsize=(max(4.5, 3.0 * n_columns), 4.6 * n_blocks), layout="constrained")
    panels = figure.subplots(2 * n_blocks, n_columns, squeeze=False)
    for ax in panels.flat:
        ax.axis("off")
    for i, (data, group) in enumerate(groups.items()):
        group = sorted(group, key=lambda point: point["restarts"])
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
            ax.xaxis.set_major_locator(FixedLocator(_few(restarts)))
            ax.xaxis.set_major_formatter(ScalarFormatter())
            ax.xaxis.set_minor_locator(NullLocator())
        upper.set_title(plain(data))
        lower.set(xlabel="restarts (logarithmic)", ylim=(0, 1.1 * leaves.max()))
        lower.yaxis.set_major_locator(MaxNLocator(6, integer=True))
        if i % n_columns == 0:
            upper.set_ylabel("accuracy (%)\n± standard deviation")
            lower.set_ylabel("leaves")
    save(figure, path)


def _few(values: Iterable[float]) -> list[float]:
    """Leave out values that would be written over one another on a logarithmic axis."""
    kept: list[float] = []
    for value in sorted(values):
        if not kept or value >= 1.4 * kept[-1]:
            kept.append(value)
    return kept
