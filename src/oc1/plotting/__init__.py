"""Plots of fitted trees.

`plot_tree`, `plot_partition`, `plot_projection`, `plot_pruning_path` and `plot_importances` take a fitted model, draw
into the given `ax` or a new figure, and return the axes. `save` writes a figure to a file.
"""

from .curves import plot_importances, plot_pruning_path
from .partition import scatter
from .projections import plot_projection
from .regions import Cut, cut_polygon, tree_regions
from .slices import plot_partition
from .style import class_style, save
from .trees import plot_tree

__all__ = [
    "Cut",
    "class_style",
    "cut_polygon",
    "plot_importances",
    "plot_partition",
    "plot_projection",
    "plot_pruning_path",
    "plot_tree",
    "save",
    "scatter",
    "tree_regions",
]
