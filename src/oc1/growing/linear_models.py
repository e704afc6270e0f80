"""Ridge logistic regression, judged by leaving one out.

Training impurity is flat: many hyperplanes divide a node's examples equally well, and those with room on both sides are
right about new ones. A regularised loss finds such a plane, and what it would have said of each example *without* that
example follows from the fit itself, in one pass: no example is wasted on a test set.

The attributes come standardised, as ``Z`` with a last column of ones; the plane is ``Z @ plane > 0``.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg import qr

from ..kernels import newton as _newton

#: With more attributes than this, and than examples, the examples are rotated into fewer coordinates first.
MAX_ATTRIBUTES_UNROTATED = 500


class LinearFit(NamedTuple):
    """A hyperplane, and how it does on examples that it has not seen."""

    plane: np.ndarray  # (d + 1)
    left_out: np.ndarray  # margin of each example by the plane fitted without it
    loss: float  # logistic loss of those margins, in nats


def logistic_loss(margins: np.ndarray, right: np.ndarray, weights: np.ndarray) -> float:
    """Return the logistic loss of margins, positive ones meaning `right`."""
    return float(weights @ np.logaddexp(0.0, np.where(right, -margins, margins)))


def ridge_logistic(
    Z: np.ndarray, right: np.ndarray, weights: np.ndarray, ridge: float, start: np.ndarray | None = None
) -> LinearFit:
    """Fit a logistic regression by Newton's method.

    Parameters
    ----------
    Z : float64 array (n, d + 1), contiguous
    right : bool array (n,)
        Which examples belong on the right.
    weights : float64 array (n,)
    ridge : float
        Weight of half the squared length of the plane (without its constant) relative to the sum of the losses.
    start : array (d + 1), optional
        Where to begin: a fit with another ridge.
    """
    if is_wide(Z):
        Z, basis = narrowed(Z)
        start = None if start is None else np.append(basis.T @ start[:-1], start[-1])
        plane, left_out, loss = ridge_logistic(Z, right, weights, ridge, start)
        return LinearFit(np.append(basis @ plane[:-1], plane[-1]), left_out, loss)
    plane = np.zeros(Z.shape[1]) if start is None else start.copy()
    left_out = np.empty(len(Z))
    with np.errstate(all="ignore"):  # for NUMBA_DISABLE_JIT
        loss = _newton.fit(_newton.compiled_logistic(), Z, right, weights, float(ridge), plane, left_out)
    return LinearFit(plane, left_out, float(loss))


def is_wide(Z: np.ndarray) -> bool:
    """Whether there are enough more attributes than examples for `narrowed` to save time."""
    return Z.shape[1] - 1 > max(MAX_ATTRIBUTES_UNROTATED, len(Z))


def narrowed(Z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the examples in as many coordinates as there are examples, and the directions that these stand for.

    A ridge penalty does not mind a rotation, and the best plane has no part in directions in which no example lies: a
    fit to fewer numbers gives the same plane.
    """
    basis, coordinates = qr(Z[:, :-1].T, mode="economic", check_finite=False)
    return np.ascontiguousarray(np.column_stack([coordinates.T, Z[:, -1]])), basis
