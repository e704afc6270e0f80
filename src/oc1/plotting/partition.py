"""Parts of a picture of a plane that a model divides: the examples, the answers on a grid, the numbers of lines."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap

from ..tree.wording import feature_name
from .regions import Box
from .style import MAX_VECTORS, class_style, plain, tint

#: Points along each side of the grid on which a model that is not a tree of linear tests is asked.
GRID = 400


def paint_grid(ax: Axes, ask: Callable[[np.ndarray], np.ndarray], box: Box, classes: np.ndarray) -> None:
    """Tint a box by the classes that a model gives to the points of a grid."""
    left, right, bottom, top = box
    horizontal, vertical = np.linspace(left, right, GRID + 1), np.linspace(bottom, top, GRID + 1)
    centres = [(edges[1:] + edges[:-1]) / 2 for edges in (horizontal, vertical)]
    answers = ask(np.stack(np.meshgrid(*centres), axis=-1).reshape(-1, 2))
    image = np.searchsorted(classes, answers).reshape(GRID, GRID)
    colours = ListedColormap([tint(class_style(number)[0]) for number in range(len(classes))])
    limits: dict[str, Any] = {"vmin": -0.5, "vmax": len(classes) - 0.5, "extent": box, "aspect": ax.get_aspect()}
    ax.imshow(image, cmap=colours, origin="lower", interpolation="nearest", zorder=0, **limits)


def refuse_categories(model: Any, tree: Any, among: Sequence[int] | None = None) -> None:
    """Raise a ValueError if an attribute (or one of those given) is categorical."""
    own = getattr(tree, "codes", ()) or getattr(model, "categories_", None) or ()
    for m, values in enumerate(own):
        if values is not None and (among is None or m in among):
            name = feature_name(getattr(tree, "feature_names", ()), m)
            raise ValueError(
                f"a partition can only be drawn for numbers, but {name} is categorical: its values have no place in a "
                "plane; plot_tree shows such a tree"
            )


def scatter(ax: Axes, X: np.ndarray, numbers: np.ndarray, classes: np.ndarray) -> dict[int, Any]:
    """Draw points, each class in its colour and shape.

    Parameters
    ----------
    ax : matplotlib Axes
    X : array (n_samples, 2)
    numbers : int array (n_samples,)
        Classes of the points, as indices of `classes`.
    classes : array (n_classes,)

    Returns
    -------
    dict
        What is drawn of each class that has points, by its number.
    """
    drawn = {}
    for number in np.unique(numbers).tolist():
        colour, marker = class_style(number)
        style = point_style(len(X)) | {"marker": marker, "label": f"class {plain(classes[number])}"}
        drawn[number] = ax.scatter(X[numbers == number, 0], X[numbers == number, 1], color=colour, **style)
    return drawn


def point_style(n_points: int) -> dict[str, Any]:
    """Return how points are drawn if there are this many; very many are a raster, also in files of vectors."""
    size = float(np.clip(6000 / max(n_points, 1), 7, 55))
    is_raster = n_points > MAX_VECTORS
    return {"s": size, "edgecolor": "black", "linewidth": 0.3, "zorder": 2, "rasterized": is_raster}


def box_around(X: np.ndarray) -> Box:
    """Return where points are, and a little more."""
    low, high = X.min(axis=0), X.max(axis=0)
    margin = np.where(high > low, 0.05 * (high - low), 0.5)
    (left, bottom), (right, top) = low - margin, high + margin
    return float(left), float(right), float(bottom), float(top)


def number_lines(ax: Axes, segments: dict[int, np.ndarray], box: Box) -> None:
    """Write the numbers of nodes on their lines, near the middle but away from other numbers and from ends of lines."""
    size = np.array([box[1] - box[0], box[3] - box[2]])
    taken = [end for segment in segments.values() for end in segment]

    def distance(place: np.ndarray) -> float:
        return min(float(np.linalg.norm((place - other) / size)) for other in taken)

    def length(node: int) -> float:
        return float(np.linalg.norm((segments[node][1] - segments[node][0]) / size))

    for node in sorted(segments, key=length):  # short lines have the least choice
        start, end = segments[node]
        places = [start + (0.5 + side * step) * (end - start) for step in np.linspace(0, 0.4, 9) for side in (1, -1)]
        place = next((place for place in places if distance(place) > 0.07), max(places, key=distance))
        taken.append(place)
        frame = {"boxstyle": "round,pad=0.2", "facecolor": "white", "edgecolor": "black", "linewidth": 0.6}
        words: dict[str, Any] = {"size": 8, "weight": "bold", "color": "black", "bbox": frame}
        ax.annotate(str(node), tuple(place), ha="center", va="center", zorder=6, **words)
