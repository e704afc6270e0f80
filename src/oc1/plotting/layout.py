"""Where the nodes of a drawn tree go, and letters as shapes, which keep their place at any size of the picture."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.font_manager import FontProperties
from matplotlib.patches import PathPatch
from matplotlib.path import Path
from matplotlib.textpath import TextPath
from matplotlib.transforms import Affine2D

from .fonts import families_for
from .style import plain


def place_nodes(children: np.ndarray, widths: np.ndarray, gap: float = 12.0) -> np.ndarray:
    """Return where the middle of each node is from left to right: nodes of a level keep `gap` apart."""
    shifts = np.zeros(len(children))  # from the parent
    outlines: list[list[tuple[float, float]]] = [[] for _ in children]  # left and right end of each level below a node
    for node in range(len(children) - 1, -1, -1):  # preorder: children come after their parents
        below = [int(child) for child in children[node] if child >= 0]
        outline: list[tuple[float, float]] = []
        for child in below:
            own = outlines[child]
            shift = max((right + gap - left for (_, right), (left, _) in zip(outline, own, strict=False)), default=0.0)
            shifts[child] = shift
            moved = [(left + shift, right + shift) for left, right in own]
            both = [(ours[0], theirs[1]) for ours, theirs in zip(outline, moved, strict=False)]
            outline = both + outline[len(both) :] + moved[len(both) :]
        middle = (shifts[below[0]] + shifts[below[-1]]) / 2 if below else 0.0
        shifts[below] -= middle
        lower = [(left - middle, right - middle) for left, right in outline]
        outlines[node] = [(-widths[node] / 2, widths[node] / 2), *lower]
    places = np.zeros(len(children))
    for node, row in enumerate(children):
        below = row[row >= 0]
        places[below] = places[node] + shifts[below]
    return places


@lru_cache(maxsize=4096)
def letters(text: str, bold: bool = False) -> tuple[TextPath, float, float]:
    """Return a line of text as a shape, nine units high, and its left and right end."""
    font = FontProperties(family=families_for(text), weight="bold" if bold else "normal")
    shape = TextPath((0, 0), plain(text), size=9, prop=font)
    # The extents that matplotlib computes are exact on curves, and slow.
    across = shape.vertices[shape.codes != Path.CLOSEPOLY, 0] if len(shape.vertices) else np.zeros(1)
    return shape, float(across.min()), float(across.max())


def width_of(text: str, bold: bool = False) -> float:
    """Return the width of a line of text."""
    _, left, right = letters(text, bold)
    return right - left


def write(ax: Axes, place: Sequence[float], text: str, *, bold: bool = False, align: float = 0.5, **style: Any) -> None:
    """Write a line of text as a shape in the units of the axes, centred, or to the right (0) or left (1) of a place."""
    shape, left, right = letters(text, bold)
    moved = Affine2D().translate(place[0] - (1 - align) * left - align * right, place[1] - 3.2).transform_path(shape)
    patch = PathPatch(moved, linewidth=0, zorder=3, **({"facecolor": "black"} | style))
    patch.set_in_layout(False)  # neither the layout nor the limits ask for the extents of curves, which are slow
    ax.add_artist(patch)
