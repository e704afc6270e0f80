"""The nearest point of an intersection of half-spaces."""

from __future__ import annotations

import numpy as np
from scipy.optimize import nnls

#: Half-spaces whose intersection is farther away than this many times the farthest of them count as disjoint.
MAX_RATIO = 1e6


def nearest_point(normals: np.ndarray, offsets: np.ndarray) -> np.ndarray | None:
    """Return the point with ``normals @ point >= offsets`` that is nearest to the origin; None if there is none.

    A least distance problem, solved by non-negative least squares (Lawson & Hanson 1974, chapter 23).

    Parameters
    ----------
    normals : float64 array (n_half_spaces, n_dimensions)
        Of length 1.
    offsets : float64 array (n_half_spaces,)
        Distances of the boundaries from the origin, negative where it is inside.

    Examples
    --------
    >>> nearest_point(np.eye(2), np.array([3.0, -1.0])).tolist()
    [3.0, 0.0]
    >>> nearest_point(np.array([[1.0], [-1.0]]), np.array([2.0, -1.0])) is None
    True
    """
    unit = offsets.max(initial=0.0)
    if unit <= 0:  # the origin is inside of them all
        return np.zeros(normals.shape[1])
    near = offsets > -MAX_RATIO * unit  # the others hold wherever the nearest point may be
    normals, offsets = normals[near], offsets[near]
    system = np.vstack([normals.T, offsets / unit])
    target = np.zeros(len(system))
    target[-1] = 1.0
    forces, _ = nnls(system, target, maxiter=30 * len(offsets))
    gap = 1.0 - system[-1] @ forces  # 1 / (1 + squared distance)
    if gap < 1.0 / MAX_RATIO**2:
        return None
    pressed = np.flatnonzero(forces > 0)
    # The point itself is found anew from its boundaries: the residual of the problem above would lose digits.
    return np.asarray(np.linalg.lstsq(normals[pressed], offsets[pressed], rcond=None)[0])
