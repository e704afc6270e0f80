"""Where the search of a node may begin: directions that other methods of discrimination give, each by its name.

A method looks at a node through a `NodeView` and yields hyperplanes ``Z @ plane > 0``. Most separate two groups, so
with more than two classes they are asked for several groupings of the classes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit

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
#: Steps of gradient descent for the start "smooth".
MAX_SMOOTH_STEPS = 20


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
    groupings : tuple of str
        Names of `GROUPINGS`.
    rng : numpy.random.Generator
    mean, scale : arrays (d,)
        By which the attributes of the search space were standardised.
    axis : array (d + 1) or None
        The best axis-parallel split.
    parent : array (d + 1) or None
        The parent's hyperplane.
    """

    Z: np.ndarray
    y: np.ndarray
    weights: np.ndarray
    groupings: tuple[str, ...]
    rng: np.random.Generator
    mean: np.ndarray
    scale: np.ndarray
    axis: np.ndarray | None = None
    parent: np.ndarray | None = None
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
        return [self.to_search(plane) for name in names for plane in STARTS[name](self)]

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
        k = len(self.totals)
        if k == 2:
            return [np.array([False, True])]
        found: dict[bytes, np.ndarray] = {}
        for name in self.groupings:
            for right in GROUPINGS[name](self):
                if right.any() and not right.all():
                    found.setdefault((right ^ right[0]).tobytes(), right)
        return list(found.values())

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


def _one_against_the_rest(node: NodeView) -> Iterator[np.ndarray]:
    yield from np.eye(len(node.totals), dtype=bool)


def _superclasses(node: NodeView) -> Iterator[np.ndarray]:
    """Group the classes as the best axis-parallel split sends most of each: Twoing's own superclasses."""
    if node.axis is not None:
        yield node.left_weights(node.Z @ node.axis) * 2.0 < node.totals


def _at_random(node: NodeView) -> Iterator[np.ndarray]:
    for _ in range(2 * len(node.totals)):
        yield node.rng.random(len(node.totals)) < 0.5


GROUPINGS: dict[str, Callable[[NodeView], Iterator[np.ndarray]]] = {
    "one_vs_rest": _one_against_the_rest,
    "twoing": _superclasses,
    "random": _at_random,
}


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


def _lda(node: NodeView) -> Iterator[np.ndarray]:
    """Find Fisher's direction for each promising grouping, with the pooled covariance of the classes."""
    shares = node.weights / node.weights.sum()
    means = np.array([np.average(node.Z[node.y == c], axis=0, weights=shares[node.y == c]) for c in _classes(node)])
    inside = node.Z - means[node.y]
    covariance = (inside * shares[:, None]).T @ inside
    covariance[np.diag_indices_from(covariance)] += 1e-6
    for right in node.promising:
        sides = [np.average(means[side], axis=0, weights=node.totals[side]) for side in (right, ~right)]
        yield _between(np.linalg.solve(covariance, sides[0] - sides[1]), sides)


def _means(node: NodeView) -> Iterator[np.ndarray]:
    """Find the plane midway between the means of the two groups, at right angles to the line through them."""
    for right in node.promising:
        here = right[node.y]
        sides = [np.average(node.Z[side], axis=0, weights=node.weights[side]) for side in (here, ~here)]
        yield _between(sides[0] - sides[1], sides)


def _svm(node: NodeView) -> Iterator[np.ndarray]:
    """Fit a linear support vector machine to the most promising grouping."""
    from sklearn.svm import LinearSVC

    for right in node.promising[:1]:
        machine = LinearSVC(dual=False, tol=1e-3, max_iter=200)
        machine.fit(node.Z[:, :-1], right[node.y], sample_weight=node.weights)
        yield np.append(machine.coef_[0], machine.intercept_[0])


def _smooth(node: NodeView) -> Iterator[np.ndarray]:
    """Take a few steps of gradient on Twoing with soft sides, from least squares."""
    one_hot = np.eye(len(node.totals))[node.y] * node.weights[:, None]
    n = node.totals.sum()

    def loss(plane: np.ndarray) -> tuple[float, np.ndarray]:
        soft = expit(-(node.Z @ plane))  # share of each example on the left
        left = one_hot.T @ soft
        n_left = left.sum()
        deviation = left - node.totals * n_left / n
        signs, size = np.sign(deviation), np.abs(deviation).sum()
        product = max(n_left * (n - n_left), 1e-12)
        # d value / d left_c, with n_left the sum of all left_c
        by_class = 2.0 * size * (signs - (signs @ node.totals) / n) / product
        by_class -= size**2 * (n - 2.0 * n_left) / product**2
        slope = -(one_hot @ by_class) * soft * (1.0 - soft)
        return -size * size / product, -(node.Z.T @ slope)

    for right in node.promising[:1]:
        start = node.least_squares.fit(right[node.y]).plane
        found = minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": MAX_SMOOTH_STEPS})
        if np.isfinite(found.x).all():
            yield found.x


def _householder(node: NodeView) -> Iterator[np.ndarray]:
    """Find the best axis-parallel split after a reflection that makes a class's main direction an axis (HHCART)."""
    best, best_value = None, 0.0
    identity = np.eye(node.Z.shape[1] - 1)
    for c in _classes(node):
        own = node.Z[node.y == c, :-1]
        if len(own) < 2:
            continue
        direction = np.linalg.eigh(np.cov(own.T, aweights=node.weights[node.y == c]).reshape(identity.shape))[1][:, -1]
        mirror = direction - identity[0]
        length = mirror @ mirror
        axes = identity - 2.0 * np.outer(mirror, mirror) / length if length > 1e-12 else identity
        for column, axis in zip((node.Z[:, :-1] @ axes).T, axes.T, strict=True):
            # Midway between each two classes' means is enough of a threshold: the search goes on from here.
            centres = np.sort(np.bincount(node.y, weights=column * node.weights) / node.totals)
            for threshold in 0.5 * (centres[1:] + centres[:-1]):
                value = node.value(column - threshold)
                if value > best_value:
                    best, best_value = np.append(axis, -threshold), value
    if best is not None:
        yield best


def _classes(node: NodeView) -> range:
    return range(len(node.totals))


def _between(direction: np.ndarray, sides: list[np.ndarray]) -> np.ndarray:
    """Return the plane at right angles to a direction, midway between two points."""
    plane = direction.copy()
    plane[-1] = 0.0
    plane[-1] = -0.5 * float(plane @ (sides[0] + sides[1]))
    return plane


#: What each start brings, by name; random planes are made by the search itself.
STARTS: dict[str, Callable[[NodeView], Iterator[np.ndarray]]] = {
    AXIS: lambda node: iter(() if node.axis is None else (node.axis,)),
    "logistic": _logistic,
    "least_squares": _least_squares,
    "lda": _lda,
    "svm": _svm,
    "means": _means,
    "smooth": _smooth,
    "householder": _householder,
    "parent": lambda node: iter(() if node.parent is None else (node.parent,)),
}
