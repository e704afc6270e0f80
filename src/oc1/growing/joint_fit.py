"""All tests of a tree fitted together, as those of a soft tree, and then made hard again.

Growing chooses a test before anything below it is known, and for the samples of its node only. Here the shape of the
tree is given. A test is soft: a sample goes right with the probability ``s(margin)``, s the logistic function, and each
leaf has a share of each class. So the likelihood of the classes is a smooth function of all coefficients and shares
together (a hierarchical mixture of experts, Jordan & Jacobs 1994), which L-BFGS maximises, less a ridge penalty.

The tests keep their number of terms in all. But which features they use is looked at again: each test may try those of
all others, and the terms with the smallest coefficients go.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.optimize import minimize
from scipy.special import log_softmax

from ..data.search_space import SearchSpace
from ..kernels.linear_fits import MAX_ROWS_PER_FIT
from ..tree.linear import Tree
from .linear_tests import LinearTest
from .rebuild import TestOf, examples_of
from .soft_tree import SoftTree

#: The penalty on half the squared coefficients of standardised features.
RIDGE = 0.1
#: In the end, the factors by which all margins and the ridge change, each with a fit after it: the soft tests come
#: close to hard ones, and closer still where classes do not overlap.
SHARPENING = ((3.0, 1 / 9), (1.0, 1 / 100))
#: Samples that each leaf has in addition to its own, divided among the classes as all samples are.
PRIOR = 1.0
#: The standard deviation of the margins of each test to begin with.
FIRST_SPREAD = 3.0
#: Steps of each fit, at most.
MAX_STEPS = 30
#: A fit ends where a step lowers the loss by less than this share of it.
SETTLED = 1e-4
#: The share of the terms that is kept at a time.
KEPT_SHARE = 0.7


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
    ):
        step = 1 + (len(y) - 1) // MAX_ROWS_PER_FIT
        X, y, weights = examples_of(tree, X[::step]), y[::step], None if weights is None else weights[::step]
        self.tree, self.features = tree, tree.used_features
        self.max_terms = len(self.features) if max_terms is None else max_terms
        X = np.ascontiguousarray(X[:, self.features])
        rows, nothing = np.arange(len(y)), np.zeros(X.shape[1])
        self.space = SearchSpace.make(X, rows, nothing, weights, "standard")
        self.columns = self.space.columns(X, rows, nothing)  # float32, the last is that of the constant
        self.weights = np.ones(len(y), np.float32) if weights is None else weights.astype(np.float32)
        self.soft_tree = SoftTree(tree.children)
        classes = np.eye(tree.counts.shape[1], dtype=np.float32)
        self.blocks = [
            (self.columns[:, block].copy(), y[block], classes[y[block]], self.weights[block])
            for block in self.soft_tree.blocks(len(y))
        ]
        totals = np.bincount(y, self.weights, len(classes))
        self.prior = PRIOR * totals / totals.sum()
        self.logits = np.log(tree.counts[self.soft_tree.leaves] + self.prior + 1e-9)
        self.planes = np.zeros((len(self.soft_tree.inner), len(self.columns)))
        for i, node in enumerate(self.soft_tree.inner.tolist()):
            features, coefficients, threshold = tree.test(node)
            plane = self.space.plane_of(np.searchsorted(self.features, features), coefficients, threshold)
            spread = float(np.std(plane.astype(np.float32) @ self.columns))
            self.planes[i] = plane * (FIRST_SPREAD / spread if spread > 0.0 else 1.0)
        self.ridge = RIDGE
        self._fit()

    def _fit(self) -> None:
        """Fit all tests with all features; then drop terms until there are as many as before."""
        n_terms, varies = int(np.count_nonzero(self.planes[:, :-1])), self.space.scale > 0.0
        self.uses = np.broadcast_to(varies, (len(self.planes), len(varies))).copy()
        self._improve()
        n_left, longest = int(self.uses.sum()), int(self.uses.sum(axis=1).max())
        while n_left > n_terms or longest > self.max_terms:
            n_left, longest = max(n_terms, int(KEPT_SHARE * n_left)), max(self.max_terms, int(KEPT_SHARE * longest))
            self.uses = most_important(self.planes[:, :-1], self.uses, n_left, longest)
            self.planes[:, :-1][~self.uses] = 0.0
            self._improve()
        for growth, relief in SHARPENING:
            self.planes *= growth
            self.ridge *= relief
            self._improve()

    def _improve(self) -> None:
        """Take steps from where the planes are, with the terms that are in use."""
        free = np.column_stack([self.uses, np.ones(len(self.uses), dtype=bool)])
        n_free, shape = int(free.sum()), self.logits.shape

        def loss(parameters: np.ndarray) -> tuple[float, np.ndarray]:
            planes = np.zeros_like(self.planes)
            planes[free] = parameters[:n_free]
            value, of_planes, of_logits = self.loss(planes, parameters[n_free:].reshape(shape))
            return value, np.concatenate([of_planes[free], of_logits.ravel()])

        begin = np.concatenate([self.planes[free], self.logits.ravel()])
        found = minimize(loss, begin, jac=True, method="L-BFGS-B", options={"maxiter": MAX_STEPS, "ftol": SETTLED})
        if np.isfinite(found.x).all():
            self.planes[free], self.logits = found.x[:n_free], found.x[n_free:].reshape(shape)

    def loss(self, planes: np.ndarray, logits: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
        """Return the negative log-likelihood with the ridge penalty and the prior, and its gradients.

        Parameters
        ----------
        planes : float array (n_tests, d + 1)
        logits : float array (n_leaves, n_classes)
            Their softmax is the share of each class in each leaf.
        """
        log_shares = log_softmax(logits, axis=1)
        shares = np.exp(log_shares)
        of_planes, in_leaves = self.ridge * planes, np.zeros_like(shares)
        of_planes[:, -1] = 0.0
        value = 0.5 * self.ridge * float((planes[:, :-1] ** 2).sum()) - float((self.prior * log_shares).sum())
        narrow, narrow_shares = planes.astype(np.float32), shares.astype(np.float32)
        for columns, labels, classes, weights in self.blocks:
            own = narrow_shares.take(labels, axis=1)
            likelihood, slopes, at_leaves = self.soft_tree.mean(self.soft_tree.margins(narrow, columns), own)
            value -= float(weights @ np.log(likelihood))
            slopes *= weights / likelihood
            of_planes -= slopes @ columns.T
            own *= at_leaves
            in_leaves += own @ (classes * (weights / likelihood)[:, None])
        in_leaves += self.prior
        return value, of_planes, shares * in_leaves.sum(axis=1, keepdims=True) - in_leaves

    def tests(self) -> list[TestOf | None]:
        """Return the test of each node in the user's units; None where there is none."""
        tests: list[TestOf | None] = [None] * self.tree.n_nodes
        for node, plane in zip(self.soft_tree.inner.tolist(), self.planes, strict=True):
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
