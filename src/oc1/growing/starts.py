"""Where the search of a node may begin: directions that other methods of discrimination give, each by its name.

A method looks at a node through a `NodeView` and yields hyperplanes ``Z @ plane > 0``. Most separate two groups, so
with more than two classes they are asked to separate one class from the rest.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from .linear_models import LeastSquares, LinearFit, ridge_logistic

#: The ridge that logistic regression begins with; others are tried in factors of ten, as long as the left-out loss
#: falls to at most this share of what it was.
RIDGE = 1.0
MIN_RIDGE, MAX_RIDGE = 1e-3, 1e2
MAX_LOSS_SHARE = 0.98
#: The ridge of least squares, for all groupings.
LEAST_SQUARES_RIDGE = 10.0
#: Number of groupings, the best by least squares, that logistic regression is fitted to.
MAX_PROMISING_GROUPINGS = 2
#: The two starts that the search makes itself.
AXIS, RANDOM = "axis", "random"
#: The factor that brings planes of least squares near those of logistic regression.
LEAST_SQUARES_TO_LOGISTIC = 5.0
#: Linear classifiers are tried if least squares reaches this share of the best attribute's Twoing value.
MIN_SHARE_OF_AXIS_VALUE = 0.25


def twoing(left: np.ndarray, totals: np.ndarray) -> float:
    """Return the Twoing value of a split, from the class weights on its left and in all."""
    n, n_left = totals.sum(), left.sum()
    if not 0.0 < n_left < n:
        return 0.0
    return float(np.abs(left - totals * (n_left / n)).sum() ** 2 / (n_left * (n - n_left)))


@dataclass
class NodeView:
    """The examples of a node, as the makers of starts see them.

    Attributes
    ----------
    Z : float64 array (n, d + 1)
        Attributes standardised over the node, and a last column of ones.
    y : int array (n,)
        Classes, as places among those present.
    weights : float64 array (n,)
    mean, scale : arrays (d,)
        By which the attributes of the search space were standardised.
    axis : array (d + 1) or None
        The best axis-parallel split.
    """

    Z: np.ndarray
    y: np.ndarray
    weights: np.ndarray
    mean: np.ndarray
    scale: np.ndarray
    axis: np.ndarray | None = None
    fits: list[tuple[LinearFit, np.ndarray]] = field(default_factory=list)  # with their groups, as they are made

    def to_search(self, plane: np.ndarray) -> np.ndarray:
        """Bring a plane on the node's standardised attributes to search space."""
        out = plane.copy()
        out[:-1] = np.divide(plane[:-1], self.scale, out=np.zeros(len(self.scale)), where=self.scale > 0.0)
        out[-1] -= out[:-1] @ self.mean
        return out / np.sqrt(out @ out) if out.any() else out

    def from_search(self, plane: np.ndarray) -> np.ndarray:
        """Bring a plane of the search space to the node's standardised attributes."""
        out = plane.copy()
        out[:-1] *= self.scale
        out[-1] += plane[:-1] @ self.mean
        return out

    def starts(self, names: tuple[str, ...]) -> list[np.ndarray]:
        """Return the planes, in search space, that some kinds of starts bring."""
        return [self.to_search(plane) for name in names for plane in LINEAR_STARTS[name](self)]

    @cached_property
    def totals(self) -> np.ndarray:
        """Weight of each class."""
        return np.bincount(self.y, weights=self.weights)

    @cached_property
    def least_squares(self) -> LeastSquares:
        """Least squares of this node."""
        return LeastSquares(self.Z, self.weights, LEAST_SQUARES_RIDGE)

    def left_weights(self, margins: np.ndarray) -> np.ndarray:
        """Return the class weights on the left of a hyperplane, from the margins."""
        return np.bincount(self.y, weights=self.weights * (margins <= 0.0), minlength=len(self.totals))

    def value(self, margins: np.ndarray, right: np.ndarray | None = None) -> float:
        """Return the Twoing value of a hyperplane, from the margins.

        Twoing does not mind if all is on the wrong side, as it often is for examples left out of a fit to noise. So
        where it is known which classes belong on the right, a split that sends them to the left is worth nothing.
        """
        left = self.left_weights(margins)
        if right is not None:
            more = left - self.totals * (left.sum() / self.totals.sum())  # than an even division would send there
            if not more[~right].sum() > 0.0:
                return 0.0
        return twoing(left, self.totals)

    @cached_property
    def groups(self) -> list[np.ndarray]:
        """The groupings of the classes, as an array of booleans each (whether a class belongs on the right)."""
        one_against_the_rest = np.eye(len(self.totals), dtype=bool)
        return list(one_against_the_rest if len(self.totals) > 2 else one_against_the_rest[1:])

    @cached_property
    def promising(self) -> list[np.ndarray]:
        """The groupings that least squares, judged by leaving one out, separates best; best first."""
        order = np.argsort(-self._values, kind="stable")[:MAX_PROMISING_GROUPINGS]
        return [self.groups[i] for i in order]

    @cached_property
    def _values(self) -> np.ndarray:
        """What least squares makes of each grouping."""
        return np.array([self.value(self.least_squares.margins(right[self.y])[1], right) for right in self.groups])

    @property
    def is_linear(self) -> bool:
        """Whether linear classifiers have a chance: not where one attribute separates two classes far better."""
        if self.axis is None or len(self.totals) > 2:
            return True
        return bool(self._values[0] >= MIN_SHARE_OF_AXIS_VALUE * self.value(self.Z @ self.axis))


def _logistic(node: NodeView) -> Iterator[np.ndarray]:
    """Fit logistic regression to the grouping that it separates best, with the ridge of the least left-out loss."""
    trials = []
    for right in node.promising if node.is_linear else []:
        start = LEAST_SQUARES_TO_LOGISTIC * node.least_squares.margins(right[node.y])[0]
        trials.append((right, ridge_logistic(node.Z, right[node.y], node.weights, RIDGE, start)))
    if not trials:
        return
    right, best = max(trials, key=lambda trial: (round(node.value(trial[1].left_out, trial[0]), 9), -trial[1].loss))
    for factor in (10.0, 0.1):  # the larger one first: it takes fewer steps
        ridge = RIDGE
        while 1.01 * ridge * factor > MIN_RIDGE and ridge * factor < 1.01 * MAX_RIDGE:
            further = ridge_logistic(node.Z, right[node.y], node.weights, ridge * factor, best.plane)
            if not further.loss < MAX_LOSS_SHARE * best.loss:
                break
            best, ridge = further, ridge * factor
        if ridge != RIDGE:
            break
    node.fits.append((best, right))
    yield best.plane


def _least_squares(node: NodeView) -> Iterator[np.ndarray]:
    for right in node.promising[:1] if node.is_linear else []:
        fit = node.least_squares.fit(right[node.y])
        node.fits.append((fit, right))
        yield fit.plane


LINEAR_STARTS: dict[str, Callable[[NodeView], Iterator[np.ndarray]]] = {
    "logistic": _logistic,
    "least_squares": _least_squares,
}
#: All starts by name.
STARTS = (AXIS, *LINEAR_STARTS, RANDOM)
