"""The regions into which a tree of linear tests divides a plane."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..tree.structure import TreeStructure

Box = tuple[float, float, float, float]


class Cut(NamedTuple):
    """A convex polygon (corners in order, possibly none) cut by a line: the two parts, and the line inside it."""

    below: np.ndarray
    above: np.ndarray
    segment: np.ndarray


def cut_polygon(polygon: np.ndarray, normal: np.ndarray, threshold: float) -> Cut:
    """Cut a convex polygon by the line ``normal . x = threshold``.

    Parameters
    ----------
    polygon : array (n_corners, 2)
        Corners in order; may be empty.
    normal : array (2,)
    threshold : float

    Returns
    -------
    Cut
        ``below`` (where ``normal . x <= threshold``), ``above``, and ``segment``, the two ends of the line inside the
        polygon; each may be empty.

    Examples
    --------
    >>> square = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])
    >>> cut_polygon(square, np.array([1.0, 0.0]), 0.25).below.tolist()
    [[0.0, 0.0], [0.25, 0.0], [0.25, 1.0], [0.0, 1.0]]
    """
    heights = polygon @ normal - threshold
    nothing = np.empty((0, 2))
    if not (heights > 0).any():
        return Cut(polygon, nothing, nothing)
    if not (heights < 0).any():
        return Cut(nothing, polygon, nothing)
    below, above, ends = [], [], []
    for i, (corner, height) in enumerate(zip(polygon, heights, strict=True)):
        before = heights[i - 1]
        if before * height < 0:
            crossing = polygon[i - 1] + before / (before - height) * (corner - polygon[i - 1])
            ends.append(crossing)
            below.append(crossing)
            above.append(crossing)
        if height == 0:
            ends.append(corner)
        if height <= 0:
            below.append(corner)
        if height >= 0:
            above.append(corner)
    return Cut(np.array(below), np.array(above), np.array(ends))


def corners(box: Box) -> np.ndarray:
    """Return the corners of a box (left, right, bottom, top) in order."""
    left, right, bottom, top = box
    return np.array([[left, bottom], [right, bottom], [right, top], [left, top]], dtype=float)


def tree_regions(
    tree: TreeStructure, box: Box, pair: tuple[int, int] = (0, 1), at: ArrayLike = (0.0, 0.0)
) -> tuple[list[np.ndarray], dict[int, np.ndarray]]:
    """Return the region of each node of a tree in a plane, and the piece of its line inside that region.

    Parameters
    ----------
    tree : Tree
        Of linear tests.
    box : (left, right, bottom, top)
        The part of the plane to consider.
    pair : pair of int, default=(0, 1)
        The attributes of the plane.
    at : array-like (n_features,)
        Where the other attributes are held.

    Returns
    -------
    polygons : list of arrays (n_corners, 2)
        One for each node; empty if the node has no part in the box.
    segments : dict of arrays (2, 2)
        The two ends of the line of each inner node whose line passes through its region.
    """
    held = np.array(at, dtype=float)
    held[list(pair)] = 0.0
    polygons = [np.empty((0, 2))] * tree.n_nodes
    polygons[0] = corners(box)
    segments = {}
    for node in np.flatnonzero(~tree.is_leaf).tolist():  # preorder: parents come before their children
        features, (coefficients,), (threshold,) = tree.node_functions(node)
        normal = np.array([coefficients[features == m].sum() for m in pair])
        cut = cut_polygon(polygons[node], normal, float(threshold - coefficients @ held[features]))
        no, yes = tree.children[node]
        polygons[no], polygons[yes] = cut.below, cut.above
        if len(cut.segment):
            segments[node] = cut.segment
    return polygons, segments
