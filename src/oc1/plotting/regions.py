"""The regions into which a tree of linear tests divides a plane."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..tree.structure import TreeStructure

Box = tuple[float, float, float, float]


class Plane(NamedTuple):
    """A plane in the space of the attributes: the points ``origin + s * across + t * up``.

    Attributes
    ----------
    origin, across, up : array (n_features,)
    """

    origin: np.ndarray
    across: np.ndarray
    up: np.ndarray

    @classmethod
    def of_attributes(cls, pair: tuple[int, int], at: np.ndarray) -> Plane:
        """Return the plane of two attributes, the others held where `at` says."""
        directions = np.zeros((2, len(at)))
        directions[[0, 1], pair] = 1.0
        origin = np.array(at, dtype=float)
        origin[list(pair)] = 0.0
        return cls(origin, *directions)

    def line(self, tree: TreeStructure, node: int) -> tuple[np.ndarray, float]:
        """Return the test of a node as a line in this plane: its normal and its threshold."""
        features, (coefficients,), (threshold,) = tree.node_functions(node)
        across, up = coefficients * self.across[features], coefficients * self.up[features]
        return np.array([across.sum(), up.sum()]), float(threshold - coefficients @ self.origin[features])


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
    tree: TreeStructure, box: Box, plane: Plane | None = None
) -> tuple[list[np.ndarray], dict[int, np.ndarray]]:
    """Return the region of each node of a tree in a plane, and the piece of its line inside that region.

    Parameters
    ----------
    tree : Tree
        Of linear tests.
    box : (left, right, bottom, top)
        The part of the plane to consider.
    plane : Plane, optional
        None: that of the two attributes of the tree.

    Returns
    -------
    polygons : list of arrays (n_corners, 2)
        One for each node; empty if the node has no part in the box.
    segments : dict of arrays (2, 2)
        The two ends of the line of each inner node whose line passes through its region.
    """
    plane = Plane.of_attributes((0, 1), np.zeros(2)) if plane is None else plane
    polygons = [np.empty((0, 2))] * tree.n_nodes
    polygons[0] = corners(box)
    segments = {}
    for node in np.flatnonzero(~tree.is_leaf).tolist():  # preorder: parents come before their children
        cut = cut_polygon(polygons[node], *plane.line(tree, node))
        no, yes = tree.children[node]
        polygons[no], polygons[yes] = cut.below, cut.above
        if len(cut.segment):
            segments[node] = cut.segment
    return polygons, segments
