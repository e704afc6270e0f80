"""OC1's search for regression trees."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import RegressorMixin, clone
from sklearn.utils._param_validation import StrOptions

from ..data.ranges import target_unit
from ..data.search_space import SearchSpace
from ..data.training import Training
from ..growing.linear_tests import LinearTest
from ..growing.nodes import GrownNode, build_tree
from ..growing.options import MIN_LARGE_ROWS
from ..growing.splitters import NodeExamples, Splitter
from ..growing.subspaces import split_on_subspace, subspace_size
from ..kernels import regression as _regression
from ..kernels.records import Workspace
from ..tree.pruning import PruningSequence, pruning_path, smallest_within
from ..tree.regression import RegressionTree
from .by_splitter import SplitterTree
from .constraints import ConstrainedTree
from .parameters import at_least, parameter
from .trees import CategoricalTree, CostComplexityTree, automatic_pruning

CRITERIA = ("squared_error", "absolute_error")
#: Ridge of the least squares that a search starts from, in units of the variance of a standardised attribute.
RIDGE = 1e-3


def _losses(absolute: bool, residuals: np.ndarray) -> np.ndarray:
    return np.abs(residuals) if absolute else residuals**2


def weighted_median(y: np.ndarray, weights: np.ndarray) -> float:
    """Return the median of weighted numbers: midway where half of the weight is on either side."""
    order = np.argsort(y, kind="stable")
    below = np.cumsum(weights[order])
    half = 0.5 * below[-1]
    low, high = np.searchsorted(below, half, side="left"), np.searchsorted(below, half, side="right")
    return float(0.5 * (y[order[low]] + y[order[min(high, len(y) - 1)]]))


@dataclass(frozen=True)
class RegressionStatistics:
    """The weight, the prediction and the loss of a node; what a split gains is the loss that it saves per example."""

    absolute: bool
    repeats: bool  # whether a weight is a number of equal examples, as whole numbers are taken to be

    def units(self, weights: np.ndarray) -> np.ndarray:
        """Return how many examples each one stands for, for the limits."""
        return np.round(weights) if self.repeats else np.ones(len(weights))

    def compute(self, y: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Return weight, prediction and weighted sum of the loss."""
        if y.min() == y.max():
            return np.array([weights.sum(), y[0], 0.0])
        value = weighted_median(y, weights) if self.absolute else np.average(y, weights=weights)
        return np.array([weights.sum(), value, weights @ _losses(self.absolute, y - value)])

    def weight(self, node: np.ndarray) -> float:
        """Return the weight of a node's examples."""
        return float(node[0])

    def size(self, weights: np.ndarray) -> float:
        """Return how many examples those of these weights stand for."""
        return float(self.units(weights).sum())

    def is_pure(self, node: np.ndarray) -> bool:
        """Whether all numbers are equal."""
        return bool(node[2] == 0)

    def gain(self, node: np.ndarray, children: np.ndarray) -> float:
        """Return the loss that a split saves, for an example of the node."""
        saved = node[2] - children[:, 2].sum()
        return float(saved / node[0]) if saved > 1e-12 * node[2] else 0.0


@dataclass
class RegressionSplitter(Splitter):
    """The search of `_regression` at each node, on attributes that are standardised there."""

    learner: OC1Regressor
    space: SearchSpace
    statistics: RegressionStatistics

    def split(self, node: NodeExamples) -> LinearTest | None:
        """Return the best split of a node, on the attributes that it may look at."""
        size = subspace_size(self.learner.max_features, node.X.shape[1])
        return split_on_subspace(self._split, node, size)

    def _split(self, node: NodeExamples, attributes: np.ndarray) -> LinearTest | None:
        """Return the best split of a node that has some attributes only."""
        own, (n, d) = self.learner, node.X.shape
        weights, units = node.weights, self.statistics.units(node.weights)
        shift, scale = self.space.shift[attributes], self.space.scale[attributes]
        scale = np.where(scale > 0, scale, np.inf)
        Z = 2.0 * ((0.5 * node.X - 0.5 * shift) / scale)  # halved: a difference could overflow
        centre = np.average(Z, axis=0, weights=weights)
        Z -= centre
        spread = np.sqrt(np.average(Z**2, axis=0, weights=weights))
        spread[(spread == 0) | (np.ptp(node.X, axis=0) == 0)] = np.inf
        Z /= spread
        y = node.y - np.average(node.y, weights=weights)
        y /= np.abs(y).max()
        min_oblique = 2 * d if own.min_samples_oblique is None else own.min_samples_oblique
        oblique = own.splits == "oblique" or (own.splits == "best" and d > 1 and units.sum() >= min_oblique)
        columns = np.ones((d + 1, n), dtype=np.float32)
        columns[:d] = Z.T
        start = np.zeros(d)
        if oblique:
            moments = (Z * weights[:, None]).T @ Z / weights.sum()
            start = np.linalg.solve(moments + RIDGE * np.eye(d), Z.T @ (weights * y) / weights.sum())
        n_runs = max(1, own.n_restarts) if oblique else 0
        work = Workspace.make(n, 1, d, n_runs)
        work = work._replace(line=work.line._replace(slots=np.empty(n // 2 + 4, np.int64)))  # see `sort_all`
        work.line.stream[0] = node.seed
        axis_score, attribute, at, score, plane, loss, considered = _regression.search(
            columns,
            y,
            weights,
            units,
            _regression.ABSOLUTE if self.statistics.absolute else _regression.SQUARED,
            node.min_leaf,
            node.min_weight,
            own.splits != "oblique",
            start,
            n_runs,
            own.n_jumps,
            work,
        )
        self.n_hyperplanes += considered
        tests = []
        if attribute < 0 or self._pays(int(np.count_nonzero(plane[:d])), units.sum(), loss - axis_score, loss - score):
            tests.append((plane[:d], -plane[d]))
        if attribute >= 0:
            tests.append((np.eye(d)[attribute], at))
        for direction, threshold in tests:
            direction = direction / spread
            with np.errstate(over="ignore", invalid="ignore"):
                own_threshold = threshold + direction @ centre
                direction = direction / scale
                own_threshold += direction @ shift
            if np.isfinite(direction).all() and np.isfinite(own_threshold):
                return LinearTest.of_plane(direction, own_threshold, node.X)
        return None

    def _pays(self, n_terms: int, n: float, axis_loss: float, loss: float) -> bool:
        """Whether a test of `n_terms` attributes saves more than they cost by the Bayesian information criterion.

        The errors count as normal for the squared loss, as Laplace's for the absolute one.
        """
        if not loss < axis_loss:
            return False
        power = 2.0 if self.statistics.absolute else 1.0
        return loss <= 1e-12 * axis_loss or power * n * np.log(axis_loss / loss) > (n_terms - 1) * np.log(n)


@dataclass(kw_only=True, eq=False, repr=False)
class OC1Regressor(RegressorMixin, CategoricalTree, ConstrainedTree, CostComplexityTree, SplitterTree):
    """Oblique regression tree by the randomized hill climbing of OC1 (Murthy, Kasif & Salzberg 1994).

    At each node, the best axis-parallel split is found. Then hyperplanes are improved one coefficient at a time from
    several starting points, with random jumps out of local minima. The best hyperplane is chosen if it reduces the loss
    enough to justify its additional coefficients, by the Bayesian information criterion; otherwise the best
    axis-parallel split is chosen.

    Parameters
    ----------
    criterion : {"squared_error", "absolute_error"}, default="squared_error"
        The loss that splits and pruning reduce; leaves predict the mean or the median. The search is exact for both; a
        fit takes about twice as long with the absolute error.
    splits : {"best", "axis", "oblique"}, default="best"
        The kind of splits: whichever is better (see above); axis-parallel only; or oblique only.
    n_restarts : int, default=5
        Number of searches per node (the paper's R). The first starts from the best axis-parallel split, the second from
        a ridge regression on the node's examples, the others from random hyperplanes; 0 still searches once.
    n_jumps : int, default=5
        Number of random directions tried at each local minimum (the paper's J).
    min_samples_oblique : int or None, default=None
        Nodes with fewer examples only get axis-parallel splits. None: twice the number of attributes.
    max_depth : int or None, default=None
        Maximum depth of the tree; the root has depth 0.
    min_samples_split : int or float, default=2
        Nodes with fewer examples become leaves. A float is a share of all examples.
    min_samples_leaf : int or float, default=5
        Minimum number of examples on each side of a split. A float is a share of all examples. (Targets are rarely
        equal, so without this limit a tree would grow a leaf for each example, which takes longer, only to be pruned
        again.)
    min_weight_fraction_leaf : float, default=0.0
        Minimum weight on each side of a split, as a share of the weight of all examples.
    max_features : int or float, {"sqrt", "log2"} or None, default=None
        Number of attributes that a node looks at, drawn at random for each node; see `OC1Classifier`.
    max_leaf_nodes : int or None, default=None
        Grow best-first, up to this number of leaves.
    min_impurity_decrease : float, default=0.0
        A node is split only if the decrease in loss per example, times its share of the examples, is at least this.
    categorical_features : None, "from_dtype", or array-like of int, str or bool, default=None
        Which columns hold categories (text, or numbers without an order); see `OC1Classifier`. In each tree, a category
        is replaced by its mean response, shrunk towards the overall mean for rare categories.
    prune : {"auto", "holdout", "cv", None}, default="auto"
        Cost-complexity pruning: on held-out examples, by ten-fold cross-validation, or none. "auto" means "cv" for up
        to 2000 examples, where it is more accurate and fast enough, and "holdout" for more.
    prune_fraction : float, default=0.1
        Fraction of the examples to hold out for ``prune="holdout"``.
    prune_se : float, default=0.0
        Choose the smallest tree whose mean loss is within this number of standard errors of the best. Weights count as
        numbers of examples here.
    ccp_alpha : float, default=0.0
        Cost of a leaf, in mean loss, for a final cost-complexity pruning, with any `prune`. This is scikit-learn's
        ``ccp_alpha``, on the same scale; ``cost_complexity_pruning_path`` lists the values that make a difference.
    random_state : int, RandomState instance or None, default=None
        The same seed gives the same tree.
    verbose : int, default=0
        1 prints a line for each node.

    Attributes
    ----------
    tree_ : RegressionTree
        The fitted tree; ``print(model.tree_)`` shows it. A leaf shows its prediction and the weight of its examples.
    unpruned_tree_ : RegressionTree
        The tree as it was grown.
    pruning_path_ : record array with the fields ``alpha``, ``leaves``, ``loss``
        The cost-complexity sequence from the full tree to the root. Alpha is the decrease in mean loss that a leaf must
        achieve (scikit-learn's ``ccp_alpha``); the loss is the mean on held-out examples or by cross-validation (NaN
        without pruning).
    categories_ : list with an array or None for each attribute, or None
        The values of the categorical attributes, most frequent first; None if there are none.
    max_features_ : int
        The number of attributes that a node looks at.
    n_features_in_ : int
    feature_names_in_ : array (n_features_in_,)
        Only if the attributes have names.
    feature_importances_ : array (n_features_in_,)
        Decrease in loss by the splits, divided among their attributes by the size of the standardised coefficients;
        sums to 1.
    n_hyperplanes_ : int
        Number of hyperplanes considered while growing: one for each line search and each starting point.

    Examples
    --------
    >>> import numpy as np
    >>> from oc1 import OC1Regressor
    >>> X = np.random.default_rng(0).uniform(-1, 1, (300, 2))
    >>> y = np.where(X[:, 0] + X[:, 1] > 0.2, 10.0, 4.0)
    >>> model = OC1Regressor(random_state=0).fit(X, y)
    >>> model.get_n_leaves(), model.predict([[0.9, 0.9], [-0.9, 0.2]]).tolist()
    (2, [10.0, 4.0])
    """

    criterion: str = parameter("squared_error", StrOptions(set(CRITERIA)))
    splits: str = parameter("best", StrOptions({"best", "axis", "oblique"}))
    n_restarts: int = parameter(5, at_least(0))
    n_jumps: int = parameter(5, at_least(0))
    min_samples_oblique: int | None = parameter(None, at_least(2), None)
    min_samples_leaf: float = 5
    prune: str | None = parameter("auto", StrOptions({"auto", "holdout", "cv"}), None)

    def _encode_target(self, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return np.asarray(y, dtype=np.float64), np.empty(0)

    def _learn(self, data: Training) -> None:
        data, unit = data.in_canonical_order(MIN_LARGE_ROWS), target_unit(data.y)
        if unit == 1.0:
            super()._learn(data)
            return
        # Learn from numbers of an ordinary size, and turn what was learnt back.
        of_loss = unit if self.criterion == "absolute_error" else unit**2
        model, parameters = clone(self), self.get_params(deep=False)
        model.set_params(**{name: parameters[name] / of_loss for name in ("min_impurity_decrease", "ccp_alpha")})
        model._learn(data._replace(y=data.y / unit))
        self.__dict__.update({name: value for name, value in vars(model).items() if name not in parameters})
        for name in ("tree_", "unpruned_tree_"):
            tree = getattr(model, name)
            own = {"values": tree.values * unit, "losses": tree.losses * of_loss, "gains": tree.gains * of_loss}
            setattr(self, name, replace(tree, **own))
        self._pruning_path = model.pruning_path_.view(np.ndarray).copy()
        for name in ("alpha", "loss"):
            self._pruning_path[name] *= of_loss

    def _statistics(self, data: Training) -> RegressionStatistics:
        whole = data.weights is None or bool((data.weights == np.round(data.weights)).all())
        return RegressionStatistics(self.criterion == "absolute_error", whole)

    def _splitter(self, data: Training, rows: np.ndarray) -> RegressionSplitter:
        own_weights = None if data.weights is None else data.weights[rows]
        space = SearchSpace.make(data.X, rows, data.fill, own_weights, "standard")
        return RegressionSplitter(self, space, self._statistics(data))

    def _build(self, root: GrownNode, data: Training) -> RegressionTree:
        tree = build_tree(root, data.fill, data.classes, data.feature_names)
        weights, values, losses = tree.counts.T
        return RegressionTree(**{**vars(tree), "counts": weights[:, None]}, values=values, losses=losses)

    def _n_counted(self, data: Training) -> float:
        return data.n_examples if data.weights is None else self._statistics(data).size(data.weights)

    def _pruning_method(self, data: Training) -> str | None:
        return automatic_pruning(self._n_counted(data)) if self.prune == "auto" else self.prune

    def _sum_scores(
        self, sequence: PruningSequence, X: np.ndarray, y: np.ndarray, weights: np.ndarray | None
    ) -> np.ndarray:
        """Return, for every subtree, the weighted sums of the loss and of its square."""
        tree: Any = sequence.tree
        path = tree.decision_path(X)
        rows = np.repeat(np.arange(len(y)), np.diff(path.indptr))
        losses = _losses(self.criterion == "absolute_error", y[rows] - tree.values[path.indices])
        own = np.ones(len(rows)) if weights is None else weights[rows]
        sums = [np.bincount(path.indices, weights=own * part, minlength=tree.n_nodes) for part in (losses, losses**2)]
        return sequence.sum_over_leaves(np.column_stack(sums))

    def _choose_step(self, means: np.ndarray, n_examples: float) -> int:
        losses, squares = means.T
        best = losses.argmin()
        error = np.sqrt(max(squares[best] - losses[best] ** 2, 0.0) / n_examples)
        return smallest_within(losses, self.prune_se * error + 1e-9 * losses[-1])

    def _path(self, sequence: PruningSequence, means: np.ndarray) -> np.ndarray:
        tree: Any = sequence.tree
        path = pruning_path(sequence, means.reshape(len(means), -1)[:, 0], "loss")
        path["alpha"] *= tree.losses[0] / tree.counts[0, 0]
        return path

    def predict(self, X: npt.ArrayLike) -> np.ndarray:
        """Return the number predicted for each example: the mean (or the median) of its leaf.

        Parameters
        ----------
        X : array-like or sparse matrix (n_samples, n_features)

        Returns
        -------
        array (n_samples,)
        """
        leaves = self.apply(X)
        return np.asarray(self.tree_.outputs()[leaves, 0])
