"""The nearest point of an intersection of half-spaces."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.optimize import nnls

#: An inequality holds if it is violated by no more than this share of the numbers that it compares, and of `LEAST`.
TOLERANCE, LEAST = 1e-10, 1e-3
#: Half-spaces whose intersection is farther away than this many times the farthest of them count as disjoint.
MAX_RATIO = 1e6


class NearestPoint(NamedTuple):
    """The point of an intersection of half-spaces that is nearest to the origin.

    Attributes
    ----------
    point : float64 array (n_dimensions,)
    active : tuple of int
        The half-spaces on whose boundaries it lies and that keep it from being nearer.
    """

    point: np.ndarray
    active: tuple[int, ...]


def nearest_point(normals: np.ndarray, offsets: np.ndarray, start: tuple[int, ...] = ()) -> NearestPoint | None:
    """Return the point with ``normals @ point >= offsets`` that is nearest to the origin; None if there is none.

    Half-spaces are taken into account one by one, always the one that the nearest point so far violates most. Each
    step is exact: it solves a least distance problem by non-negative least squares (Lawson & Hanson 1974, chapter 23).
    The distance grows with every step, so no set of half-spaces comes up twice.

    Parameters
    ----------
    normals : float64 array (n_half_spaces, n_dimensions)
        Of length 1.
    offsets : float64 array (n_half_spaces,)
        Distances of the boundaries from the origin, negative where it is inside.
    start : tuple of int
        Half-spaces to begin with, such as those that were active before another one was added.

    Examples
    --------
    >>> nearest_point(np.eye(2), np.array([3.0, -1.0])).point.tolist()
    [3.0, 0.0]
    >>> nearest_point(np.array([[1.0], [-1.0]]), np.array([2.0, -1.0])) is None
    True
    """
    point, active = np.zeros(normals.shape[1]), start
    # Each by its own numbers: a far half-space, such as the limit that a single outlier sets, does not blur the others.
    sizes, shares = np.maximum(np.abs(offsets), LEAST), np.abs(normals)
    if start:
        solved = _meet(normals, offsets, list(start))
        if solved is None:
            return None
        point, active = solved
    for _ in range(len(offsets) * (normals.shape[1] + 1) + 1):
        lacking = offsets - normals @ point - TOLERANCE * np.maximum(sizes, shares @ np.abs(point))
        worst = int(lacking.argmax()) if len(lacking) else -1
        if worst < 0 or lacking[worst] <= 0 or worst in active:
            return NearestPoint(point, active)
        solved = _meet(normals, offsets, [*active, worst])
        if solved is None:
            return None
        point, active = solved
    return NearestPoint(point, active)  # rounding errors: as near as can be told


def _meet(normals: np.ndarray, offsets: np.ndarray, chosen: list[int]) -> NearestPoint | None:
    """Return the nearest point of the chosen half-spaces."""
    own, far = normals[chosen], offsets[chosen]
    unit = far.max()
    if unit <= 0:  # the origin is inside of them all
        return NearestPoint(np.zeros(normals.shape[1]), ())
    system = np.vstack([own.T, far / unit])
    target = np.zeros(len(system))
    target[-1] = 1.0
    forces, _ = nnls(system, target)
    gap = 1.0 - system[-1] @ forces  # 1 / (1 + squared distance)
    if gap < 1.0 / MAX_RATIO**2:
        return None
    pressed = np.flatnonzero(forces > 0)
    # The point itself is found anew from its boundaries: the residual of the problem above would lose digits.
    point = np.linalg.lstsq(own[pressed], far[pressed], rcond=None)[0]
    return NearestPoint(point, tuple(chosen[i] for i in pressed))
