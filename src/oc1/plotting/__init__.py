"""Pictures of fitted trees.

`plot_tree`, `plot_partition`, `plot_projection`, `plot_pruning_path` and `plot_importances` take a fitted model, draw
into the `ax` that is given or into a new figure, and return the axes. `save` writes a figure to a file.
"""

from .curves import plot_importances, plot_pruning_path
from .partition import GRID, draw_partition, scatter
from .projections import plot_projection
from .regions import Box, Cut, Plane, corners, cut_polygon, tree_regions
from .slices import plot_partition
from .style import COLOURS, DPI, HALO, MARKERS, class_area, class_style, plain, save, shortened, tint
from .trees import NOTE_WIDTH, _describe, draw_tree, plot_tree

__all__ = [
    "COLOURS", "DPI", "GRID", "HALO", "MARKERS", "NOTE_WIDTH", "Box", "Cut", "Plane", "_describe", "class_area",
    "class_style", "corners", "cut_polygon", "draw_partition", "draw_tree", "plain", "plot_importances",
    "plot_partition", "plot_projection", "plot_pruning_path", "plot_tree", "save", "scatter", "shortened", "tint",
    "tree_regions",
]  # fmt: skip
