"""All tests of a tree fitted at once, as those of a soft tree (see `oc1.kernels.soft_tree`).

Growing chooses a test before anything below it is known, and for the examples of its node only. Here the shape of the
tree is given, its tests become soft, and their coefficients are moved together until the classes are as likely as they
can be, less a ridge penalty. Then the tests are made hard again. In a soft tree all examples have a say, also those
that are on their side anyway: the planes end up where there is room.

The tests keep their number of terms. But which attributes they use is looked at again: each test may try those of all
others, and the terms with the smallest coefficients go.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..data.sampling import weight_of_one
from ..data.search_space import SearchSpace, sample_positions
from ..kernels import _apart
from ..kernels.soft_tree import SoftTree, compiled_soft_fit, fit
from ..tree.linear import Tree
from ..tree.structure import descend
from .linear_tests import LinearTest

#: The median size of the margins at a node to begin with; the best one is taken.
SHARPNESSES = (0.5, 1.0, 2.0, 4.0, 8.0, 16.0)
#: Examples, divided among the classes as they are in all, that are added to each leaf: no class is impossible.
ADDED_EXAMPLES = 0.5
#: Steps of a fit.
MAX_STEPS = 40
#: Where terms are dropped: the share that is kept at a time, and the steps between.
KEPT_SHARE = 0.7
STEPS_BETWEEN = 15


class SoftFit:
    """A tree whose tests are being fitted together.

    Parameters
    ----------
    tree : Tree
        No test of it has learned where missing values go.
    X : float array (n, d)
        Examples as the tests of the tree see them: nothing is missing, categories are codes.
    y : int array (n,)
        Class indices.
    weights : array (n,) or None
        None if all count alike.
    ridge : float
        Weight of half the squared length of the planes, relative to the sum of the losses.
    """

    def __init__(self, tree: Tree, X: np.ndarray, y: np.ndarray, weights: np.ndarray | None, ridge: float):
        self.ridge = ridge
        self.tree, self.attributes = tree, tree.used_features
        rows = sample_positions(len(y))
        X, y = np.ascontiguousarray(X[np.ix_(rows, self.attributes)]), y[rows]
        weights = None if weights is None else weights[rows]
        self.space = SearchSpace.make(X, np.arange(len(y)), np.zeros(X.shape[1]), weights, "standard")
        self.Z = self._standardised(X)
        self.y = y.astype(np.int64)
        self.weights = np.ones(len(y)) if weights is None else weights / weight_of_one(weights)
        self.planes = np.zeros((tree.n_nodes, X.shape[1] + 1))
        for node in np.flatnonzero(~tree.is_leaf).tolist():
            features, coefficients, threshold = tree.test(node)
            self.planes[node] = self.space.plane_of(np.searchsorted(self.attributes, features), coefficients, threshold)
        self.uses = (self.planes[:, :-1] != 0.0) & (self.space.scale > 0.0)
        self.spreads = spreads_of(self.Z, self.weights)
        self._ends = _ends_of(tree.children)
        self._shares = np.zeros((tree.n_nodes, len(tree.classes)))
        leaves = self._route(self.Z)
        # Examples of one leaf beside each other: what none of a block reaches is not looked at.
        order = np.argsort(leaves, kind="stable")
        self.Z, self.y, self.weights = self.Z[order], self.y[order], self.weights[order]
        self.columns = self.Z.T.astype(np.float32, order="C")
        self._sharpen(leaves[order])

    def _sharpen(self, leaves: np.ndarray) -> None:
        """Give the margins a size, and the leaves their shares of the classes."""
        total = np.bincount(self.y, self.weights, minlength=self._shares.shape[1])
        in_leaves = np.zeros_like(self._shares)
        np.add.at(in_leaves, (leaves, self.y), self.weights)
        self._shares = in_leaves + ADDED_EXAMPLES * total / total.sum()
        self._shares /= self._shares.sum(axis=1, keepdims=True)
        for node in np.flatnonzero(~self.tree.is_leaf).tolist():
            here = (leaves >= node) & (leaves < self._ends[node])
            margins = self.Z[here] @ self.planes[node, :-1] + self.planes[node, -1]
            if len(margins):
                self.planes[node] /= quantiles(np.abs(margins), self.weights[here], 0.5)[0] or 1.0
        planes = self.planes
        losses = [self._fit(0, sharpness * planes) for sharpness in SHARPNESSES]
        self.planes = SHARPNESSES[int(np.argmin(losses))] * planes

    def _fit(self, max_steps: int, planes: np.ndarray) -> float:
        """Improve planes, whose terms are those in use; return the loss."""
        nodes, features = map(np.ascontiguousarray, np.nonzero(self.uses))  # numpy's are parts of one array
        starts = np.concatenate([[0], np.cumsum(self.uses.sum(axis=1))])
        right = self.tree.children[:, 1].astype(np.int64)
        penalties = self.spreads[features] ** 2
        shape = right, self._ends, starts, features
        soft = SoftTree(self.columns, self.y, self.weights, *shape, penalties, self._shares.astype(np.float32))
        parameters = np.concatenate([planes[nodes, features], planes[:, -1]])
        _apart.start()
        with np.errstate(all="ignore"):  # for NUMBA_DISABLE_JIT
            loss = fit(compiled_soft_fit(), soft, self.ridge, max_steps, parameters)
        planes[:] = 0.0
        planes[nodes, features], planes[:, -1] = parameters[: len(nodes)], parameters[len(nodes) :]
        return float(loss)

    def fit(self, max_steps: int = MAX_STEPS) -> SoftFit:
        """Move all tests together, from where they are; return self."""
        self._fit(max_steps, self.planes)
        return self

    def exchange_terms(self, max_terms: int | None = None) -> SoftFit:
        """Let the tests try the attributes of all others; as many terms are left in the end, those that matter most.

        Parameters
        ----------
        max_terms : int, optional
            No test has more.
        """
        n_terms, most = int(self.uses.sum()), self.uses.shape[1] if max_terms is None else max_terms
        if n_terms == np.count_nonzero(self.space.scale > 0.0) * np.count_nonzero(~self.tree.is_leaf) and (
            self.uses.sum(axis=1).max() <= most
        ):
            return self  # every test has all attributes
        self.uses[~self.tree.is_leaf] = self.space.scale > 0.0
        self._fit(MAX_STEPS, self.planes)
        n_left, longest = int(self.uses.sum()), int(self.uses.sum(axis=1).max())
        while n_left > n_terms or longest > most:
            n_left, longest = max(n_terms, int(KEPT_SHARE * n_left)), max(most, int(KEPT_SHARE * longest))
            self.uses = most_important(self.planes[:, :-1] * self.spreads, self.uses, n_left, longest)
            self.planes[:, :-1][~self.uses] = 0.0
            self._fit(STEPS_BETWEEN, self.planes)
        self._fit(MAX_STEPS, self.planes)
        return self

    def leaves(self, X: np.ndarray) -> np.ndarray:
        """Return the leaf in which each row ends, with hard tests."""
        return self._route(self._standardised(np.ascontiguousarray(X[:, self.attributes])))

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Return the class of each row, by the examples in its leaf: what the tree will say with hard tests."""
        counts = 1e-9 * self._shares  # where nobody is left
        np.add.at(counts, (self._route(self.Z), self.y), self.weights)
        return np.asarray(counts.argmax(axis=1)[self.leaves(X)])

    def tests(self) -> list[tuple[LinearTest, bool] | None]:
        """Return the test of each inner node in the user's units, and whether its branches change places.

        (The first coefficient of a test is positive.) None where a plane has become meaningless.
        """
        made: list[tuple[LinearTest, bool] | None] = []
        for plane in self.planes:
            features = np.flatnonzero((plane[:-1] != 0.0) & (self.space.scale > 0.0))
            if len(features) and np.isfinite(plane).all():
                test = LinearTest.of_search_plane(plane, self.space)
                made.append((replace(test, features=self.attributes[test.features]), bool(plane[features[0]] < 0.0)))
            else:
                made.append(None)
        return made

    def _standardised(self, X: np.ndarray) -> np.ndarray:
        columns = self.space.columns(X, np.arange(len(X)), np.zeros(X.shape[1]))
        return columns[:-1].T.astype(np.float64, order="C")

    def _route(self, Z: np.ndarray) -> np.ndarray:
        def goes_right(node: int, rows: np.ndarray) -> np.ndarray:
            return np.asarray(Z[rows] @ self.planes[node, :-1] + self.planes[node, -1] > 0.0)

        return descend(self.tree.children, len(Z), goes_right)


def quantiles(values: np.ndarray, weights: np.ndarray, *shares: float) -> np.ndarray:
    """Return the smallest values that these shares of the weight do not exceed."""
    order = np.argsort(values, kind="stable")
    below = np.cumsum(weights[order])
    places = np.searchsorted(below, np.array(shares) * below[-1])
    return np.asarray(values[order[np.minimum(places, len(order) - 1)]])


def spreads_of(Z: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return how far the standardised values of attributes spread, but for the wildest twentieth on both sides.

    It is 1 for normal values, and where all but a few are equal. A penalty on coefficients of wild attributes would
    otherwise forbid to look at the others closely.
    """
    low, high = np.array([quantiles(column, weights, 0.05, 0.95) for column in Z.T]).reshape(-1, 2).T
    spreads = (high - low) / 3.29  # of normal values
    return np.where(spreads > 0.0, np.minimum(spreads, 1.0), 1.0)


def most_important(planes: np.ndarray, uses: np.ndarray, n_terms: int, max_terms: int) -> np.ndarray:
    """Return which terms are left of those in use: the largest ones, and at least one of each test that has any.

    Parameters
    ----------
    planes : float array (n_nodes, d)
        Coefficients, times the spreads of their attributes.
    uses : bool array (n_nodes, d)
    n_terms : int
        Terms in all.
    max_terms : int
        Terms of each test.
    """
    sizes = np.where(uses, np.abs(planes), -1.0)
    order = np.argsort(-sizes, axis=1, kind="stable")
    ranks = np.empty_like(order)
    np.put_along_axis(ranks, order, np.arange(planes.shape[1])[None, :], axis=1)
    kept = uses & (ranks < max_terms)
    sizes = np.where(ranks == 0, np.inf, sizes)
    places = np.flatnonzero(kept)
    largest = places[np.argsort(-sizes.ravel()[places], kind="stable")[:n_terms]]
    kept[:] = False
    kept.ravel()[largest] = True
    return kept


def _ends_of(children: np.ndarray) -> np.ndarray:
    """Return for each node, in preorder, the first node after its subtree."""
    ends = np.arange(1, len(children) + 1)
    for node in range(len(children) - 1, -1, -1):
        if children[node, 1] >= 0:
            ends[node] = ends[children[node, 1]]
    return ends
