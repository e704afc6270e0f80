"""Readable splits: the linear test of a node with fewer terms, shorter coefficients and a short threshold.

The test divides the classes into two groups, those that are more frequent on the left than at the node and the others;
a simpler test is judged by how well it separates these same groups, at its best threshold. That is the Twoing value for
the given test and never more than the Twoing value for any other, so what is accepted here is at least as pure as it
looks, no class changes sides, and a look at a test costs one sort, whatever the number of classes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from ..tree.linear import project
from .linear_tests import LinearTest, midway

#: Significant digits that coefficients are rounded to at most; those that need more are left alone.
MAX_DIGITS = 3
#: ... where no example may change sides.
MAX_DIGITS_SAME_SIDES = 6
#: The gap of a test that separates its classes may shrink to this share, and by what is chance in it: among n examples,
#: planes with t terms have gaps of some (t + 1) / n, in units of `scale`.
MIN_SHARE_OF_GAP = 0.9
#: Where nothing is optimised, rounding moves all but a few examples by at most this share of their usual distance from
#: the plane, and the threshold by no more.
MAX_MOVE, CLOSE_SHARE = 0.05, 0.95
#: The threshold keeps this share of the gap free on both sides.
CLEARANCE = 0.2
#: Significant digits of coefficients that are computed here: few enough that the order in which rows were added up does
#: not show in them.
COMPUTED_DIGITS = 3
#: How unwilling coefficients are to change when they stand in for a term that is dropped; a variance in units of
#: `scale`.
RIDGE = 0.1


def simplify(
    test: LinearTest,
    X: np.ndarray,
    y: np.ndarray,
    weights: np.ndarray | None,
    n_classes: int,
    *,
    scale: np.ndarray,
    tolerance: float | None = 0.0,
    rounding: bool = True,
    min_leaf: int = 1,
) -> LinearTest:
    """Return a simpler test for the examples of a node, or the same one.

    Terms are dropped, the one first that the others can best stand in for; coefficients are rounded to the fewest
    digits, up to three, that cost nothing, that of the term that matters most becoming 1 or -1; and the threshold is
    the shortest number in the middle part of the gap between the examples on its two sides. The first coefficient is
    positive, for which the two branches of the test may have to be exchanged.

    All is decided by the purity of the test on these examples, and where the given test has no class on both sides,
    the gap must stay about as wide. The order of the rows does not matter. Units matter as far as decimal numbers do:
    which ones are short changes with them.

    Parameters
    ----------
    test : LinearTest
        In the user's units.
    X : float64 array (n, n_features)
        The examples of the node, without missing values.
    y : int array (n,)
        Class indices.
    weights : float array (n,) or None
        None if all examples count alike.
    n_classes : int
    scale : float array (n_features,)
        Of each attribute, to compare coefficients.
    tolerance : float or None, default=0.0
        The share of the test's purity (its Twoing value) that may be lost in all. 0: none; None: no term is dropped,
        and none may be lost by rounding.
    rounding : bool, default=True
        Whether coefficients are rounded and the threshold is made short.
    min_leaf : int, default=1
        The smallest number of examples on a side.

    Returns
    -------
    LinearTest
        The given one where nothing can be gained, or where numbers overflow.

    Examples
    --------
    >>> from oc1.datasets import make_pol
    >>> X, y = make_pol(200, random_state=0)
    >>> test = LinearTest(np.array([0, 1]), np.array([1.0, 0.9931]), 1.0619)
    >>> simple = simplify(test, X, y - 1, None, 2, scale=X.std(axis=0))
    >>> simple.coefficients.tolist(), simple.threshold
    ([1.0, 1.0], 1.06)
    """
    with np.errstate(all="ignore"):  # what overflows is not finite, and not accepted
        if len(test.features) == 0 or len(X) < 2:
            return test
        node = _Node.make(test, X, y, weights, n_classes, scale, min_leaf)
        start = node.place(test.features, test.coefficients, test.threshold)
        if start is None:
            return test
        lowest = (1.0 - (tolerance or 0.0)) * start.score
        best = start if tolerance is None else _drop_terms(node, start, lowest)
        if rounding:
            best = _round_coefficients(node, best, lowest)
        if best is start and not rounding:
            return test
        best = best.canonical()
        threshold = best.short_threshold() if rounding else best.middle
    return LinearTest(best.features.astype(np.int32), best.coefficients, threshold, best.above - best.below)


def round_numbers(test: LinearTest, X: np.ndarray, *, scale: np.ndarray) -> LinearTest:
    """Return the test with the shortest numbers that leave every example of a node on its side, and about where it is.

    Parameters are those of `simplify`. Nothing is optimised: this is for a test that stands where it does for a reason
    that the purity on these examples does not show.
    """
    with np.errstate(all="ignore"):
        right = project(X, test.features, test.coefficients) > test.threshold
        if len(test.features) == 0 or right.all() or not right.any():
            return test
        leading = _leading_one(test.features, test.coefficients, scale)
        threshold = test.threshold * float(leading[0] / test.coefficients[0])
        exact, different = np.unique(project(X, test.features, leading), return_index=True)  # twice counts once
        X, right = X[different], right[different]
        max_move = MAX_MOVE * float(np.median(np.abs(exact - threshold)))
        for digits in range(1, MAX_DIGITS_SAME_SIDES + 1):
            coefficients = _significant(leading, digits)
            values = project(X, test.features, coefficients)
            below, above = float(values[~right].max()), float(values[right].min())
            if not (below < threshold < above and np.isfinite(above - below) and coefficients.all()):
                continue
            if np.count_nonzero(np.abs(values - exact) <= max_move) > CLOSE_SHARE * (len(values) - 1):
                lowest, highest = max(below, threshold - max_move), min(above, threshold + max_move)
                near = _Candidate(test.features, coefficients, 0.0, lowest, highest, 0.0, threshold)
                return LinearTest(test.features, coefficients, near.short_threshold(), above - below)
    return test


@dataclass(frozen=True)
class _Candidate:
    """A test whose threshold may be anywhere from `below` to `above`, the neighbours on its two sides."""

    features: np.ndarray
    coefficients: np.ndarray
    score: float
    below: float
    above: float
    width: float  # of the gap, in units of `scale`
    threshold: float | None = None  # if it was given

    @property
    def middle(self) -> float:
        return midway(self.below, self.above) if self.threshold is None else self.threshold

    def canonical(self) -> _Candidate:
        """Return the test with a positive first coefficient."""
        if self.coefficients[0] > 0.0:
            return self
        return replace(self, coefficients=-self.coefficients, below=-self.above, above=-self.below, threshold=None)

    def short_threshold(self) -> float:
        """Return the shortest decimal number in the middle part of the gap; the given one if it is as short."""
        gap = self.above - self.below
        lowest, highest = self.below + CLEARANCE * gap, self.above - CLEARANCE * gap
        if not self.below < lowest <= highest < self.above:
            return self.middle
        if lowest <= 0.0 <= highest:
            return 0.0
        largest = math.floor(math.log10(max(-lowest, highest)))
        for place in range(largest + 1, max(largest - 17, -300), -1):
            for value in (self.middle, self.below + 0.5 * gap):
                short = float(f"{round(value / 10.0**place)}e{place}")
                if lowest <= short <= highest:
                    return short
        return self.middle


@dataclass(frozen=True)
class _Node:
    """The examples of a node, and the two groups of classes that its test tells apart."""

    X: np.ndarray
    weights: np.ndarray  # they add up to 1
    signed: np.ndarray  # the same, negative for the classes that belong on the right
    scale: np.ndarray
    min_leaf: int
    separated: bool  # whether the test has no class on both sides

    @classmethod
    def make(cls, test, X, y, weights, n_classes, scale, min_leaf) -> _Node:
        """Look which classes the test sends where."""
        weights = np.ones(len(X)) if weights is None else weights / weights.max()
        weights = weights / weights.sum()
        right = project(X, test.features, test.coefficients) > test.threshold
        on_left, on_right = (np.bincount(y[side], weights[side], n_classes) for side in (~right, right))
        more_left = on_left * on_right.sum() > on_right * on_left.sum()
        signed = np.where(more_left[y], weights, -weights)
        return cls(X, weights, signed, scale, max(1, min_leaf), not ((on_left > 0) & (on_right > 0)).any())

    def place(
        self, features: np.ndarray, coefficients: np.ndarray, threshold: float | None = None
    ) -> _Candidate | None:
        """Judge a test at a threshold or at its best one, the widest gap among equals; None if it splits nothing."""
        values = project(self.X, features, coefficients)
        if not (np.isfinite(values).all() and np.isfinite(coefficients).all() and coefficients.all()):
            return None
        order = np.argsort(values)
        values = values[order]
        # How many examples are on the left: where neighbours differ, as many as min_leaf on both sides.
        ends = 1 + np.flatnonzero(values[:-1] < values[1:])
        if threshold is not None:
            ends = ends[ends == np.searchsorted(values, threshold, side="right")]
        ends = ends[(ends >= self.min_leaf) & (ends <= len(values) - self.min_leaf)]
        if len(ends) == 0:
            return None
        left = np.cumsum(self.weights[order])[ends - 1]
        excess = np.cumsum(self.signed[order])[ends - 1] - self.signed.sum() * left
        inside = (excess > 0.0) & (left > 0.0) & (left < 1.0)
        scores = np.where(inside, excess**2 / (left * (1.0 - left)), 0.0)
        best = np.flatnonzero(scores >= scores.max() - _slack(scores.max()))
        gaps = values[ends[best]] - values[ends[best] - 1]
        widest = best[np.argmax(gaps)]
        below, above = values[ends[widest] - 1], values[ends[widest]]
        if not (scores[widest] > 0.0 and np.isfinite(above - below)):
            return None
        sizes = np.abs(coefficients * self.scale[features])
        width = (above - below) / sizes.max() / np.linalg.norm(sizes / sizes.max())
        return _Candidate(features, coefficients, float(scores[widest]), float(below), float(above), width, threshold)

    def accepts(self, candidate: _Candidate, before: _Candidate, lowest: float) -> bool:
        """Whether a test is pure enough and, where classes are separated by a gap, leaves about as wide a one."""
        by_chance = (len(before.features) + 1) / len(self.X)
        is_wide = not self.separated or candidate.width >= MIN_SHARE_OF_GAP * before.width - by_chance
        return is_wide and candidate.score >= lowest - _slack(lowest)


def _slack(score: float) -> float:
    """Return by how much scores may differ and still be called equal."""
    return 1e-10 * abs(score) + 1e-18


def _significant(values: np.ndarray, digits: int) -> np.ndarray:
    """Round to significant digits."""
    return np.array([float(f"{value:.{digits - 1}e}") for value in values.tolist()])


def _leading_one(features: np.ndarray, coefficients: np.ndarray, scale: np.ndarray) -> np.ndarray:
    """Divide by the size of the coefficient of the term that matters most."""
    return coefficients / abs(coefficients[np.argmax(np.abs(coefficients * scale[features]))])


def _drop_terms(node: _Node, start: _Candidate, lowest: float) -> _Candidate:
    """Drop as many terms as can go.

    The order is decided one by one, but they are tried in strides, long ones first: most terms of a long test can go,
    and what costs time is to try.
    """
    terms, best = _Terms.of(node, start), start
    stride = len(start.features) // 2
    while stride > 0 and terms is not None:
        fewer, found = terms, None
        for _ in range(stride):
            fewer = fewer.without_least()
        features = fewer.features
        unchanged = terms.own[np.searchsorted(terms.features, features)]
        by_least_squares = fewer.inverse @ fewer.cross
        for coefficients in (unchanged, fewer.own, by_least_squares):
            user_units = _leading_one(features, coefficients / node.scale[features], node.scale)
            candidate = node.place(features, _significant(user_units, COMPUTED_DIGITS))
            if candidate is None or not node.accepts(candidate, start, lowest):
                continue
            if found is None or (candidate.score, candidate.width) > (found.score, found.width):
                found = candidate
        if found is None:
            stride //= 2
        else:
            best, terms = found, replace(fewer, own=found.coefficients * node.scale[found.features])
            stride = min(stride, len(terms.features) - 1)
    return best


@dataclass(frozen=True)
class _Terms:
    """The terms of a test on attributes in units of their scale, and how they vary together."""

    features: np.ndarray
    own: np.ndarray  # coefficients
    inverse: np.ndarray  # of the covariances of the terms, with a ridge
    cross: np.ndarray  # covariance of each term with the group

    @classmethod
    def of(cls, node: _Node, test: _Candidate) -> _Terms | None:
        """Take the terms of a test on the examples of a node; None where numbers overflow."""
        features, scale = test.features, node.scale[test.features]
        Z = (node.X[:, features] - np.median(node.X[:, features], axis=0)) / scale
        Z -= node.weights @ Z
        covariance = (Z * node.weights[:, None]).T @ Z
        if not np.isfinite(covariance).all():
            return None
        try:
            inverse = np.linalg.inv(covariance + RIDGE * np.eye(len(features)))
        except np.linalg.LinAlgError:  # a scale that is not that of the examples
            return None
        return cls(features, test.coefficients * scale, inverse, -(node.signed @ Z))

    def without_least(self) -> _Terms:
        """Drop the term that adds least to the values of the test; the others stand in for it as they can."""
        least = np.argmin(self.own**2 / np.diag(self.inverse))
        rest = np.arange(len(self.features)) != least
        column = self.inverse[rest, least] / self.inverse[least, least]
        inverse = self.inverse[np.ix_(rest, rest)] - np.outer(column, self.inverse[least, rest])
        return _Terms(self.features[rest], self.own[rest] - self.own[least] * column, inverse, self.cross[rest])


def _round_coefficients(node: _Node, test: _Candidate, lowest: float) -> _Candidate:
    """Round to the fewest digits that cost nothing."""
    coefficients = _leading_one(test.features, test.coefficients, node.scale)
    has_one = (np.abs(test.coefficients) == 1.0).any()
    for digits in range(1, MAX_DIGITS + 1):
        if has_one and np.array_equal(_significant(test.coefficients, digits), test.coefficients):
            return test
        candidate = node.place(test.features, _significant(coefficients, digits))
        if candidate and node.accepts(candidate, test, lowest):
            return candidate
    return test
