"""OC1's search for trees that predict numbers."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from sklearn.base import RegressorMixin, _fit_context
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import _check_sample_weight

from ..data.categories import learn_and_encode
from ..data.search_space import SearchSpace
from ..growing.linear_tests import LinearTest
from ..growing.nodes import GrownNode, build_tree
from ..growing.splitters import NodeExamples
from ..kernels import regression as _regression
from ..tree.pruning import PruningSequence, pruning_path, smallest_within
from ..tree.regression import RegressionTree
from .base import GrownBySplitter, Training

CRITERIA = ("squared_error", "absolute_error")
#: Ridge of the least squares that a search starts from, in units of the variance of a standardised attribute.
RIDGE = 1e-3
#: Up to so many examples, ``prune="auto"`` is cross-validation.
FEW_EXAMPLES = 2000


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
class ResponseNotes:
    """A tree for numbers notes the weight, the prediction and the loss of each node; a split gains loss per example."""

    absolute: bool
    repeats: bool  # whether a weight is a number of equal examples, as whole numbers are taken to be

    def units(self, weights: np.ndarray) -> np.ndarray:
        """Return how many examples each one stands for, for the limits."""
        return np.round(weights) if self.repeats else np.ones(len(weights))

    def take(self, y: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Return weight, prediction and weighted sum of the loss."""
        if y.min() == y.max():
            return np.array([weights.sum(), y[0], 0.0])
        value = weighted_median(y, weights) if self.absolute else np.average(y, weights=weights)
        return np.array([weights.sum(), value, weights @ _losses(self.absolute, y - value)])

    def weight(self, notes: np.ndarray) -> float:
        """Return the weight of a node's examples."""
        return float(notes[0])

    def size(self, weights: np.ndarray) -> float:
        """Return how many examples those of these weights stand for."""
        return float(self.units(weights).sum())

    def is_pure(self, notes: np.ndarray) -> bool:
        """Whether all numbers are equal."""
        return bool(notes[2] == 0)

    def gain(self, node: np.ndarray, children: np.ndarray) -> float:
        """Return the loss that a split saves, for an example of the node."""
        saved = node[2] - children[:, 2].sum()
        return float(saved / node[0]) if saved > 1e-12 * node[2] else 0.0


@dataclass
class RegressionSplitter:
    """The search of `_regression` at each node, on attributes that are standardised there."""

    space: SearchSpace
    notes: ResponseNotes
    splits: str
    n_restarts: int
    n_jumps: int
    min_samples_oblique: int
    keeps_missing: bool = False
    n_hyperplanes: int = 0

    def split(self, node: NodeExamples) -> LinearTest | None:
        """Return the best split of a node."""
        n, d = node.X.shape
        weights, units = node.weights, self.notes.units(node.weights)
        scale = np.where(self.space.scale > 0, self.space.scale, np.inf)
        Z = 2.0 * ((0.5 * node.X - 0.5 * self.space.shift) / scale)  # halved: a difference could overflow
        centre = np.average(Z, axis=0, weights=weights)
        Z -= centre
        spread = np.sqrt(np.average(Z**2, axis=0, weights=weights))
        spread[(spread == 0) | (np.ptp(node.X, axis=0) == 0)] = np.inf
        Z /= spread
        y = node.y - np.average(node.y, weights=weights)
        y /= np.abs(y).max()
        oblique = self.splits == "oblique" or (
            self.splits == "best" and d > 1 and units.sum() >= self.min_samples_oblique
        )
        columns = np.ones((d + 1, n), dtype=np.float32)
        columns[:d] = Z.T
        start = np.zeros(d)
        if oblique:
            moments = (Z * weights[:, None]).T @ Z / weights.sum()
            start = np.linalg.solve(moments + RIDGE * np.eye(d), Z.T @ (weights * y) / weights.sum())
        axis_score, attribute, at, score, plane, loss, considered = _regression.search(
            columns, y, weights, units, _regression.ABSOLUTE if self.notes.absolute else _regression.SQUARED,
            node.min_leaf, self.splits != "oblique", start,
            max(1, self.n_restarts) if oblique else 0, self.n_jumps, np.uint64(node.seed),
        )  # fmt: skip
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
                own_threshold += direction @ self.space.shift
            if np.isfinite(direction).all() and np.isfinite(own_threshold):
                return LinearTest.of_plane(direction, own_threshold, node.X)
        return None

    def _pays(self, n_terms: int, n: float, axis_loss: float, loss: float) -> bool:
        """Whether a test of so many attributes saves more than they cost by the Bayesian information criterion.

        The errors count as normal for the squared loss, as Laplace's for the absolute one.
        """
        if not loss < axis_loss:
            return False
        power = 2.0 if self.notes.absolute else 1.0
        return loss <= 1e-12 * axis_loss or power * n * np.log(axis_loss / loss) > (n_terms - 1) * np.log(n)


class OC1Regressor(RegressorMixin, GrownBySplitter):
    """Oblique regression tree by the randomized hill climbing of OC1 (Murthy, Kasif & Salzberg 1994).

    At each node the best axis-parallel split is found, then hyperplanes are improved one coefficient at a time from
    several starts, with random jumps out of local minima. The best hyperplane is taken where it saves so much more
    loss than the best axis-parallel split that its further coefficients pay by the Bayesian information criterion.

    Parameters
    ----------
    criterion : {"squared_error", "absolute_error"}, default="squared_error"
        The loss that splits and pruning reduce; leaves predict the mean, or the median. The search is exact for both;
        a fit takes about twice as long for the absolute error.
    splits : {"best", "axis", "oblique"}, default="best"
        Whichever kind pays (see above); axis-parallel only; oblique only.
    n_restarts : int, default=5
        Searches at a node (the paper's R). The first starts from the best axis-parallel split, the second from the
        ridge regression of the node's examples, the others from random hyperplanes; 0 still searches once.
    n_jumps : int, default=5
        Random directions tried at each local minimum (the paper's J).
    min_samples_oblique : int or None, default=None
        Nodes with fewer examples are split axis-parallel only. None: twice the number of attributes.
    max_depth : int or None, default=None
        Deepest level of a leaf; the root is level 0.
    min_samples_split : int, default=2
        Nodes with fewer examples are leaves.
    min_samples_leaf : int, default=5
        No split leaves fewer examples than this on a side. (A number is never quite like another, so a tree without
        this limit grows a leaf for each example, which takes longer and is pruned away again.)
    max_leaf_nodes : int or None, default=None
        Grow best-first until there are so many leaves.
    min_impurity_decrease : float, default=0.0
        A node is split only if the loss saved per example, times its share of the examples, is at least this.
    categorical_features : None, "from_dtype", or array-like of int, str or bool, default=None
        Which columns hold categories (texts or numbers without an order); see `OC1Classifier`. In each tree, the mean
        response of a category, drawn to the mean of all for rare ones, takes the place of the attribute.
    prune : {"auto", "holdout", "cv", None}, default="auto"
        Cost-complexity pruning: with a part of the examples kept back, by cross-validation in ten folds on all of them,
        or none. "auto" is "cv" for up to 2000 examples, for which it is more accurate and quick enough, else
        "holdout".
    prune_fraction : float, default=0.1
        Share of the examples kept back for ``prune="holdout"``.
    prune_se : float, default=0.0
        Take the smallest tree whose mean loss is within so many of its standard errors of the best. Weights count as
        numbers of examples here.
    ccp_alpha : float, default=0.0
        The price of a leaf, in mean loss, at which the tree is cut after that, with any `prune`: scikit-learn's
        ``ccp_alpha``, on the same scale. ``cost_complexity_pruning_path`` lists those that make a difference.
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
        The cost-complexity sequence from the whole tree to the root. Alpha is the mean loss that a leaf must save
        (scikit-learn's ``ccp_alpha``), the loss is the mean on the examples kept back (or cross-validated; NaN without
        pruning).
    categories_ : list with an array or None for each attribute, or None
        The values of the categorical attributes, the most frequent first; None if there are no such attributes.
    n_features_in_ : int
    feature_names_in_ : array (n_features_in_,)
        Only if the attributes have names.
    feature_importances_ : array (n_features_in_,)
        Loss saved by the splits, shared among their attributes by the size of the standardised coefficients; adds up
        to 1.
    n_hyperplanes_ : int
        Hyperplanes considered while growing: one for each line search and for each starting point.

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

    _parameter_constraints: ClassVar[dict] = {
        **GrownBySplitter._parameter_constraints,
        "prune": [StrOptions({"auto", "holdout", "cv"}), None],
        "criterion": [StrOptions(set(CRITERIA))],
        "splits": [StrOptions({"best", "axis", "oblique"})],
        "n_restarts": [Interval(Integral, 0, None, closed="left")],
        "n_jumps": [Interval(Integral, 0, None, closed="left")],
        "min_samples_oblique": [Interval(Integral, 2, None, closed="left"), None],
        "categorical_features": ["array-like", StrOptions({"from_dtype"}), None],
    }

    def __init__(
        self,
        *,
        criterion="squared_error",
        splits="best",
        n_restarts=5,
        n_jumps=5,
        min_samples_oblique=None,
        max_depth=None,
        min_samples_split=2,
        min_samples_leaf=5,
        max_leaf_nodes=None,
        min_impurity_decrease=0.0,
        categorical_features=None,
        prune="auto",
        prune_fraction=0.1,
        prune_se=0.0,
        ccp_alpha=0.0,
        random_state=None,
        verbose=0,
    ):
        self.criterion = criterion
        self.splits = splits
        self.n_restarts = n_restarts
        self.n_jumps = n_jumps
        self.min_samples_oblique = min_samples_oblique
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.max_leaf_nodes = max_leaf_nodes
        self.min_impurity_decrease = min_impurity_decrease
        self.categorical_features = categorical_features
        self.prune = prune
        self.prune_fraction = prune_fraction
        self.prune_se = prune_se
        self.ccp_alpha = ccp_alpha
        self.random_state = random_state
        self.verbose = verbose

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y, sample_weight=None):
        """Grow and prune the tree.

        Parameters
        ----------
        X : array-like (n_samples, n_features)
            Numbers; NaN where a value is missing (it counts as the attribute's mean).
        y : array-like (n_samples,)
            The numbers to predict.
        sample_weight : array-like (n_samples,), optional
            A weight of 2 is the same as giving the example twice, 0 as leaving it out. (The parameters
            ``min_samples_...`` count rows where the weights are not whole numbers.)

        Returns
        -------
        self
        """
        return self._fit_or_restore(X, y, sample_weight)

    def _fit(self, X, y, sample_weight):
        X, categories = learn_and_encode(X, self.categorical_features)
        X, y = self._validated(X, y)
        weights = None
        if sample_weight is not None:
            weights = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
        return self._learn(X, np.asarray(y, dtype=np.float64), weights, np.empty(0), categories)

    def _notes(self, data: Training) -> ResponseNotes:
        whole = data.weights is None or bool((data.weights == np.round(data.weights)).all())
        return ResponseNotes(self.criterion == "absolute_error", whole)

    def _splitter(self, data, rows):
        own_weights = None if data.weights is None else data.weights[rows]
        n_features = data.X.shape[1]
        return RegressionSplitter(
            SearchSpace.make(data.X, rows, data.fill, own_weights, "standard"),
            self._notes(data),
            self.splits,
            self.n_restarts,
            self.n_jumps,
            2 * n_features if self.min_samples_oblique is None else self.min_samples_oblique,
        )

    def _build(self, root: GrownNode, data: Training) -> RegressionTree:
        tree = build_tree(root, data.fill, data.classes, data.feature_names)
        weights, values, losses = tree.counts.T
        return RegressionTree(**{**vars(tree), "counts": weights[:, None]}, values=values, losses=losses)

    def _pruning(self, data):
        if self.prune != "auto":
            return self.prune
        n_examples = len(data.y) if data.weights is None else self._notes(data).size(data.weights)
        return "cv" if n_examples <= FEW_EXAMPLES else "holdout"

    def _judge(self, sequence: PruningSequence, X, y, weights):
        """Return, for every subtree, the weighted sums of the loss and of its square."""
        tree: Any = sequence.tree
        path = tree.decision_path(X)
        rows = np.repeat(np.arange(len(y)), np.diff(path.indptr))
        losses = _losses(self.criterion == "absolute_error", y[rows] - tree.values[path.indices])
        own = np.ones(len(rows)) if weights is None else weights[rows]
        sums = [np.bincount(path.indices, weights=own * part, minlength=tree.n_nodes) for part in (losses, losses**2)]
        return sequence.sum_over_leaves(np.column_stack(sums))

    def _choose(self, means, n_examples):
        losses, squares = means.T
        best = losses.argmin()
        error = np.sqrt(max(squares[best] - losses[best] ** 2, 0.0) / n_examples)
        return smallest_within(losses, self.prune_se * error + 1e-9 * losses[-1])

    def _path(self, sequence, means):
        tree: Any = sequence.tree
        path = pruning_path(sequence, means.reshape(len(means), -1)[:, 0], "loss")
        path["alpha"] *= tree.losses[0] / tree.counts[0, 0]
        return path

    def predict(self, X):
        """Return the number predicted for each example: the mean (or the median) of its leaf.

        Parameters
        ----------
        X : array-like (n_samples, n_features)

        Returns
        -------
        array (n_samples,)
        """
        leaves = self._leaves(X)
        return self.tree_.values[leaves]
