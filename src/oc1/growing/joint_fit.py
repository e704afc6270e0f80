"""All tests of a tree fitted together, as those of a soft tree, and then made hard again.

Growing chooses a test before anything below it is known, and for the examples of its node only. Here the shape of the
tree and the classes of its leaves are given. A test is soft: an example goes right with the probability
``s(margin)``, s the logistic function, and each leaf is almost sure of its class. So the likelihood of the classes is a
smooth function of all coefficients of all tests together (a hierarchical mixture of experts, Jordan & Jacobs 1994),
which L-BFGS maximises, less a ridge penalty.

The tests keep their number of terms in all. But which features they use is looked at again: each test may try those of
all others, and the terms with the smallest coefficients go.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.optimize import minimize

from ..data.search_space import SearchSpace
from ..tree.linear import Tree
from .linear_tests import LinearTest
from .rebuild import TestOf, examples_of

#: The penalty on half the squared coefficients of standardised features.
RIDGE = 0.1
#: Factors by which all margins grow in the end, each with a fit after it: the soft tests come close to hard ones.
ANNEALING = (3.0,)
#: The probability, shared by all classes, that a leaf leaves to others than its own.
DOUBT = 0.02
#: The standard deviation of the margins of each test to begin with.
FIRST_SPREAD = 3.0
#: Steps of a fit, and of those between which terms are dropped.
MAX_STEPS, STEPS_BETWEEN = 60, 15
#: The share of the terms that is kept at a time.
KEPT_SHARE = 0.7
#: Tests are fitted to this number of examples at most, and so many are looked at together.
MAX_ROWS, BLOCK = 10_000, 2_000


class JointFit:
    """A tree whose tests are fitted together.

    Parameters
    ----------
    tree : Tree
        No test of it has learned where missing values go.
    X : float array (n_samples, n_features)
        As `Tree.apply` takes it. The order of the rows decides how sums are rounded.
    y : int array (n_samples,)
        Class indices.
    weights : array (n_samples,) or None
        1 on average; None if all count alike.
    max_terms : int, optional
        No test gets more terms.
    """

    def __init__(
        self,
        tree: Tree,
        X: np.ndarray,
        y: np.ndarray,
        weights: np.ndarray | None,
        max_terms: int | None = None,
        max_steps: int = MAX_STEPS,
    ):
        step = 1 + (len(y) - 1) // MAX_ROWS
        X, y, weights = X[::step], y[::step], None if weights is None else weights[::step]
        X, y, weights = examples_of(tree, X, y, weights)
        self.tree, self.features, self.max_steps = tree, tree.used_features, max_steps
        self.max_terms = len(self.features) if max_terms is None else max_terms
        X = np.ascontiguousarray(X[:, self.features])
        rows, nothing = np.arange(len(y)), np.zeros(X.shape[1])
        self.space = SearchSpace.make(X, rows, nothing, weights, "standard")
        self.columns = self.space.columns(X, rows, nothing)  # float32, the last is that of the constant
        self.weights = np.ones(len(y), np.float32) if weights is None else weights.astype(np.float32)
        self.inner = np.flatnonzero(~tree.is_leaf)
        n_classes = tree.counts.shape[1]
        leaf_shares = np.full((tree.n_nodes, n_classes), DOUBT / n_classes, np.float32)
        leaf_shares[np.arange(tree.n_nodes), tree.majority] += np.float32(1.0 - DOUBT)
        self.leaf_shares, self.labels = leaf_shares, y
        self.levels = _levels(tree)
        self.planes = np.zeros((len(self.inner), len(self.columns)))
        for i, node in enumerate(self.inner.tolist()):
            features, coefficients, threshold = tree.test(node)
            plane = self.space.plane_of(np.searchsorted(self.features, features), coefficients, threshold)
            spread = float(np.std(plane.astype(np.float32) @ self.columns))
            self.planes[i] = plane * (FIRST_SPREAD / spread if spread > 0.0 else 1.0)
        self.ridge = RIDGE
        self._fit()

    def _fit(self) -> None:
        """Fit all tests with all features; then drop terms until there are as many as before."""
        n_terms, varies = int(np.count_nonzero(self.planes[:, :-1])), self.space.scale > 0.0
        self.uses = np.broadcast_to(varies, (len(self.inner), len(varies))).copy()
        self._improve(self.max_steps)
        n_left, longest = int(self.uses.sum()), int(self.uses.sum(axis=1).max())
        while n_left > n_terms or longest > self.max_terms:
            n_left, longest = max(n_terms, int(KEPT_SHARE * n_left)), max(self.max_terms, int(KEPT_SHARE * longest))
            self.uses = most_important(self.planes[:, :-1], self.uses, n_left, longest)
            self.planes[:, :-1][~self.uses] = 0.0
            self._improve(STEPS_BETWEEN)
        self._improve(self.max_steps)
        for factor in ANNEALING:
            self.planes *= factor
            self.ridge /= factor**2
            self._improve(self.max_steps)

    def _improve(self, max_steps: int) -> None:
        """Take steps from where the planes are, with the terms that are in use."""
        free = np.column_stack([self.uses, np.ones(len(self.uses), dtype=bool)])

        def loss(parameters: np.ndarray) -> tuple[float, np.ndarray]:
            planes = np.zeros_like(self.planes)
            planes[free] = parameters
            value, gradient = self.loss(planes)
            return value, gradient[free]

        found = minimize(loss, self.planes[free], jac=True, method="L-BFGS-B", options={"maxiter": max_steps})
        if np.isfinite(found.x).all():
            self.planes[free] = found.x

    def loss(self, planes: np.ndarray) -> tuple[float, np.ndarray]:
        """Return the negative log-likelihood with the ridge penalty, and its gradient."""
        gradient = self.ridge * planes
        gradient[:, -1] = 0.0
        value = 0.5 * self.ridge * float((planes[:, :-1] ** 2).sum())
        narrow = planes.astype(np.float32)
        for first in range(0, len(self.labels), BLOCK):
            block = slice(first, first + BLOCK)
            columns, labels, weights = self.columns[:, block], self.labels[block], self.weights[block]
            goes_right = 1.0 / (1.0 + np.exp(np.clip(-(narrow @ columns), -60.0, 60.0)))
            reach = np.ones((self.tree.n_nodes, len(labels)), np.float32)
            for nodes, tests, left, right in self.levels:
                reach[right] = reach[nodes] * goes_right[tests]
                reach[left] = reach[nodes] - reach[right]
            likelihood = self.leaf_shares[:, labels]  # at each node, of the examples' own classes
            slopes = np.empty_like(goes_right)
            for nodes, tests, left, right in reversed(self.levels):
                side, gained = goes_right[tests], likelihood[right] - likelihood[left]
                likelihood[nodes] = likelihood[left] + side * gained
                slopes[tests] = reach[nodes] * gained * side * (1.0 - side)
            value -= float(weights @ np.log(likelihood[0]))
            gradient -= (slopes * (weights / likelihood[0])) @ columns.T
        return value, gradient

    def tests(self) -> list[TestOf | None]:
        """Return the test of each node in the user's units; None where there is none."""
        tests: list[TestOf | None] = [None] * self.tree.n_nodes
        for node, plane in zip(self.inner.tolist(), self.planes, strict=True):
            features = np.flatnonzero((plane[:-1] != 0.0) & (self.space.scale > 0.0))
            if len(features) and np.isfinite(plane).all():
                test = LinearTest.of_search_plane(plane, self.space)
                test = replace(test, features=self.features[test.features])
                tests[node] = TestOf(test, bool(plane[features[0]] < 0.0))
        return tests


def most_important(planes: np.ndarray, uses: np.ndarray, n_terms: int, max_terms: int) -> np.ndarray:
    """Return which terms are left of those in use: the largest ones, and at least one of each test that has any.

    Parameters
    ----------
    planes : float array (n_tests, d)
        Coefficients of standardised features.
    uses : bool array (n_tests, d)
    n_terms : int
        Terms in all.
    max_terms : int
        Terms of each test.
    """
    sizes = np.where(uses, np.abs(planes), -1.0)
    ranks = np.argsort(np.argsort(-sizes, axis=1, kind="stable"), axis=1, kind="stable")
    kept = uses & (ranks < max_terms)
    sizes = np.where(ranks == 0, np.inf, sizes)
    places = np.flatnonzero(kept)
    largest = places[np.argsort(-sizes.ravel()[places], kind="stable")[:n_terms]]
    kept[:] = False
    kept.ravel()[largest] = True
    return kept


def _levels(tree: Tree) -> list[tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]]:
    """Return the inner nodes of each depth, from the root down: nodes, numbers of their tests, left and right child."""
    number = np.cumsum(~tree.is_leaf) - 1
    depths = tree.depths
    levels = []
    for depth in range(int(depths.max())):
        nodes = np.flatnonzero((depths == depth) & ~tree.is_leaf)
        levels.append((nodes, number[nodes], tree.children[nodes, 0], tree.children[nodes, 1]))
    return levels
