"""The OC1 learner as a scikit-learn classifier."""

from __future__ import annotations

from numbers import Integral, Real
from typing import ClassVar

import numpy as np
from joblib import effective_n_jobs
from sklearn.base import BaseEstimator, ClassifierMixin, _fit_context
from sklearn.utils import check_random_state, compute_sample_weight
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from . import _kernels, pruning, sampling
from .grower import GrowthOptions, TreeGrower, build_tree
from .impurity import MEASURES, get_measure
from .scaling import NORMALIZATIONS, attribute_means
from .tree import Tree

ORDERS = {"sequential": _kernels.SEQUENTIAL, "best": _kernels.BEST, "random": _kernels.RANDOM}
#: Folds of ``prune="cv"``.
PRUNING_FOLDS = 10


class OC1Classifier(ClassifierMixin, BaseEstimator):
    """Oblique decision tree by the randomized hill climbing of OC1 (Murthy, Kasif & Salzberg 1994).

    At each node the best axis-parallel split is found, then hyperplanes are improved one coefficient at a time from
    several starts, with random jumps out of local minima; the purest split wins.

    Parameters
    ----------
    criterion : {"twoing", "gini", "info_gain", "max_minority", "sum_minority", "sum_of_variances"} or callable, \
            default="twoing"
        The impurity measure. A function ``f(left, right) -> float`` of the class weights on the two sides (float arrays
        in the order of ``classes_``; smaller is purer) is compiled by Numba and runs at native speed.
    splits : {"best", "axis", "oblique"}, default="best"
        The better of both kinds; axis-parallel only (OC1-AP); oblique only.
    normalize : {"standard", "positive"}, default="standard"
        Search on standardised attributes, which makes the tree independent of their units, or on attributes shifted
        into the positive quadrant as in the paper.
    n_restarts : int, default=20
        Searches at a node (the paper's R). The first starts from the best axis-parallel split, the others from random
        hyperplanes; 0 still searches once.
    n_jumps : int, default=5
        Random directions tried at each local minimum (the paper's J).
    order : {"sequential", "best", "random"}, default="sequential"
        Which coefficient is perturbed next: each in turn until none changes; the one that improves most; or a random
        one `n_perturbations` times.
    n_perturbations : int, default=50
        Perturbations for ``order="random"`` (the paper's R-50).
    stagnation : float, default=1.0
        Probability of a move to an equally pure position (the paper's P_stag). It falls by a tenth at each such move
        and is restored when the impurity improves.
    axis_bias : float, default=1.0
        An oblique split is taken only if its impurity times this is below that of the axis-parallel one. (A criterion
        of your own must then not be negative.)
    min_samples_oblique : int or None, default=None
        Nodes with fewer examples are split axis-parallel only. None: twice the number of attributes.
    max_depth : int or None, default=None
        Deepest level of a leaf; the root is level 0.
    min_samples_split : int, default=2
        Nodes with fewer examples are leaves.
    min_samples_leaf : int, default=1
        No split leaves fewer examples than this on a side.
    max_leaf_nodes : int or None, default=None
        Grow best-first until there are so many leaves.
    min_impurity_decrease : float, default=0.0
        A node is split only if the gain, times its share of the examples, is at least this. The gain is the Twoing
        value, the decrease of Gini, the information gained in bits, or the decrease of minority or variance per
        example.
    prune : {"holdout", "cv", None}, default="holdout"
        Cost-complexity pruning: with a part of the examples kept back, by cross-validation in ten folds on all of them,
        or none.
    prune_fraction : float, default=0.1
        Share of the examples kept back for ``prune="holdout"``.
    prune_se : float, default=0.0
        Take the smallest tree within so many standard errors of the best. Weights count as numbers of examples here.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, as in scikit-learn.
    random_state : int, RandomState instance or None, default=None
        The same seed gives the same tree, for any `n_jobs`.
    n_jobs : int or None, default=None
        Threads that grow the tree, and predict for large inputs. None is one, -1 is all cores.
    verbose : int, default=0
        1 prints a line for each node.

    Attributes
    ----------
    tree_ : Tree
        The fitted tree; ``print(clf.tree_)`` shows it.
    unpruned_tree_ : Tree
        The tree as it was grown.
    pruning_path_ : record array with the fields ``alpha``, ``leaves``, ``accuracy``
        The cost-complexity sequence from the whole tree to the root; the accuracy is on the examples kept back (or
        cross-validated; NaN without pruning).
    classes_ : array (n_classes,)
    n_features_in_ : int
    feature_names_in_ : array (n_features_in_,)
        Only if the attributes have names.
    feature_importances_ : array (n_features_in_,)
        Gain of the splits, shared among their attributes by the size of the standardised coefficients; adds up to 1.
    n_hyperplanes_ : int
        Hyperplanes considered while growing (the third column of the paper's Table 2): one for each line search and for
        each starting point.

    Examples
    --------
    >>> from oc1 import OC1Classifier
    >>> from oc1.datasets import make_pol
    >>> X, y = make_pol(random_state=0)
    >>> clf = OC1Classifier(random_state=0).fit(X, y)
    >>> clf.get_n_leaves()
    5
    """

    _parameter_constraints: ClassVar[dict] = {
        "criterion": [StrOptions(set(MEASURES)), callable],
        "splits": [StrOptions({"best", "axis", "oblique"})],
        "normalize": [StrOptions(set(NORMALIZATIONS))],
        "n_restarts": [Interval(Integral, 0, None, closed="left")],
        "n_jumps": [Interval(Integral, 0, None, closed="left")],
        "order": [StrOptions(set(ORDERS))],
        "n_perturbations": [Interval(Integral, 1, None, closed="left")],
        "stagnation": [Interval(Real, 0, 1, closed="both")],
        "axis_bias": [Interval(Real, 1, None, closed="left")],
        "min_samples_oblique": [Interval(Integral, 2, None, closed="left"), None],
        "max_depth": [Interval(Integral, 0, None, closed="left"), None],
        "min_samples_split": [Interval(Integral, 2, None, closed="left")],
        "min_samples_leaf": [Interval(Integral, 1, None, closed="left")],
        "max_leaf_nodes": [Interval(Integral, 1, None, closed="left"), None],
        "min_impurity_decrease": [Interval(Real, 0, None, closed="left")],
        "prune": [StrOptions({"holdout", "cv"}), None],
        "prune_fraction": [Interval(Real, 0, 1, closed="neither")],
        "prune_se": [Interval(Real, 0, None, closed="left")],
        "class_weight": [dict, StrOptions({"balanced"}), None],
        "random_state": ["random_state"],
        "n_jobs": [Integral, None],
        "verbose": ["verbose"],
    }

    def __init__(
        self,
        *,
        criterion="twoing",
        splits="best",
        normalize="standard",
        n_restarts=20,
        n_jumps=5,
        order="sequential",
        n_perturbations=50,
        stagnation=1.0,
        axis_bias=1.0,
        min_samples_oblique=None,
        max_depth=None,
        min_samples_split=2,
        min_samples_leaf=1,
        max_leaf_nodes=None,
        min_impurity_decrease=0.0,
        prune="holdout",
        prune_fraction=0.1,
        prune_se=0.0,
        class_weight=None,
        random_state=None,
        n_jobs=None,
        verbose=0,
    ):
        self.criterion = criterion
        self.splits = splits
        self.normalize = normalize
        self.n_restarts = n_restarts
        self.n_jumps = n_jumps
        self.order = order
        self.n_perturbations = n_perturbations
        self.stagnation = stagnation
        self.axis_bias = axis_bias
        self.min_samples_oblique = min_samples_oblique
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.max_leaf_nodes = max_leaf_nodes
        self.min_impurity_decrease = min_impurity_decrease
        self.prune = prune
        self.prune_fraction = prune_fraction
        self.prune_se = prune_se
        self.class_weight = class_weight
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def __sklearn_tags__(self):
        """Tell scikit-learn that missing values are welcome."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y, sample_weight=None):
        """Grow and prune the tree.

        Parameters
        ----------
        X : array-like (n_samples, n_features)
            Numbers; NaN where a value is missing (it counts as the attribute's mean).
        y : array-like (n_samples,)
            Class labels.
        sample_weight : array-like (n_samples,), optional
            A weight of 2 is the same as giving the example twice, 0 as leaving it out (but for the parameters
            ``min_samples_...``, which count rows).

        Returns
        -------
        self
        """
        before = self.__dict__.copy()
        try:
            return self._fit(X, y, sample_weight)
        except BaseException:
            # A fit that fails leaves the estimator as it was.
            self.__dict__.clear()
            self.__dict__.update(before)
            raise

    def _fit(self, X, y, sample_weight):
        X, y = validate_data(self, X, y, dtype=[np.float64, np.float32], ensure_all_finite="allow-nan")
        check_classification_targets(y)
        classes, labels = np.unique(y, return_inverse=True)
        weights = self._weights(sample_weight, X, y)
        if weights is not None and not weights.all():
            kept = weights > 0
            if not kept.any():
                raise ValueError("class_weight and sample_weight leave no example: all weights are zero")
            X, labels, weights = X[kept], labels[kept], weights[kept]
        options = self._options(X.shape[1], len(classes))
        seed = int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))
        fill = attribute_means(X, weights)
        names = tuple(str(name) for name in getattr(self, "feature_names_in_", ()))
        considered = []

        def part(share: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
            """Return the rows that have a share, and all weights times their shares (None if all count alike)."""
            return np.flatnonzero(share), None if weights is None else weights * share

        def grow(share: np.ndarray) -> tuple[Tree, np.ndarray]:
            rows, own_weights = part(share)
            grower = TreeGrower(
                X, labels, own_weights, rows, fill, len(classes), options, seed, print if self.verbose else None
            )
            tree = build_tree(grower.grow(), fill, classes, names)
            considered.append(grower.n_hyperplanes)
            return tree, grower.scale

        def correct(sequence: pruning.PruningSequence, share: np.ndarray) -> np.ndarray:
            rows, own_weights = part(share)
            return sequence.correct(X[rows], labels[rows], None if own_weights is None else own_weights[rows])

        def mass(share: np.ndarray) -> float:
            return float(share.sum() if weights is None else (weights * share).sum())

        everything = np.ones(len(labels))
        growing, held = everything, np.zeros(len(labels))
        if self.prune == "holdout" and np.ptp(labels) > 0:  # with one class there is nothing to prune
            growing, held = sampling.hold_out(X, labels, weights, self.prune_fraction, seed)
        unpruned, scale = grow(growing)
        sequence = pruning.prune_sequence(unpruned)
        step, accuracies = 0, np.full(len(sequence.alphas), np.nan)
        if held.any():
            accuracies = correct(sequence, held) / mass(held)
            step = pruning.choose_step(accuracies, mass(held), self.prune_se)
        elif self.prune == "cv" and len(labels) > 1 and np.ptp(labels) > 0:
            folds = sampling.deal_folds(X, labels, weights, PRUNING_FOLDS, seed)
            trials = ((pruning.prune_sequence(grow(rest)[0]), fold) for rest, fold in folds)
            right = sum(pruning.correct_at(sequence, other, correct(other, fold)) for other, fold in trials)
            accuracies = right / mass(everything)
            step = pruning.choose_step(accuracies, mass(everything), self.prune_se)

        self.classes_ = classes
        self.tree_ = sequence.subtree(step) if self.prune is not None else unpruned
        self.unpruned_tree_ = unpruned
        self.pruning_path_ = pruning.pruning_path(sequence, accuracies)
        self.n_hyperplanes_ = sum(considered)
        self._scale = scale
        return self

    def _weights(self, sample_weight, X, y) -> np.ndarray | None:
        """Combine sample and class weights; None if all examples count alike."""
        if sample_weight is None and self.class_weight is None:
            return None
        weights = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
        if self.class_weight is not None:
            weights = weights * compute_sample_weight(self.class_weight, y)
            if weights.min() < 0:
                raise ValueError(f"class_weight must not be negative, got {self.class_weight!r}")
        return weights

    def _options(self, n_features: int, n_classes: int) -> GrowthOptions:
        return GrowthOptions(
            measure=get_measure(self.criterion, n_classes),
            splits=self.splits,
            n_restarts=self.n_restarts,
            n_jumps=self.n_jumps,
            order=ORDERS[self.order],
            n_perturbations=self.n_perturbations,
            stagnation=float(self.stagnation),
            axis_bias=float(self.axis_bias),
            min_samples_oblique=2 * n_features if self.min_samples_oblique is None else self.min_samples_oblique,
            max_depth=np.iinfo(np.int64).max if self.max_depth is None else self.max_depth,
            min_samples_split=self.min_samples_split,
            min_samples_leaf=self.min_samples_leaf,
            max_leaf_nodes=self.max_leaf_nodes,
            min_impurity_decrease=self.min_impurity_decrease,
            normalize=self.normalize,
            n_jobs=effective_n_jobs(self.n_jobs),
        )

    def _leaves(self, X) -> np.ndarray:
        check_is_fitted(self)
        X = validate_data(self, X, dtype=[np.float64, np.float32], ensure_all_finite="allow-nan", reset=False)
        return self.tree_.apply(X, effective_n_jobs(self.n_jobs))

    def predict(self, X):
        """Return the class of each example: the majority of its leaf.

        Parameters
        ----------
        X : array-like (n_samples, n_features)

        Returns
        -------
        array (n_samples,)
        """
        leaves = self._leaves(X)
        return self.classes_[self.tree_.majority[leaves]]

    def predict_proba(self, X):
        """Return the share of each class in the leaf of each example.

        Parameters
        ----------
        X : array-like (n_samples, n_features)

        Returns
        -------
        array (n_samples, n_classes)
            In the order of ``classes_``.
        """
        leaves = self._leaves(X)
        return self.tree_.probabilities[leaves]

    def predict_log_proba(self, X):
        """Return the logarithm of `predict_proba`.

        Parameters
        ----------
        X : array-like (n_samples, n_features)

        Returns
        -------
        array (n_samples, n_classes)
        """
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def apply(self, X):
        """Return the number of the leaf that each example ends in.

        Parameters
        ----------
        X : array-like (n_samples, n_features)

        Returns
        -------
        int array (n_samples,)
        """
        return self._leaves(X)

    def decision_path(self, X):
        """Return the nodes that each example passes through.

        Parameters
        ----------
        X : array-like (n_samples, n_features)

        Returns
        -------
        sparse matrix (n_samples, n_nodes)
        """
        check_is_fitted(self)
        X = validate_data(self, X, dtype=[np.float64, np.float32], ensure_all_finite="allow-nan", reset=False)
        return self.tree_.decision_path(X)

    def get_depth(self):
        """Return the depth of the deepest leaf."""
        check_is_fitted(self)
        return self.tree_.max_depth

    def get_n_leaves(self):
        """Return the number of leaves: the paper's tree size."""
        check_is_fitted(self)
        return self.tree_.n_leaves

    @property
    def feature_importances_(self):
        """Gain of the splits by attribute; adds up to 1 (or is all zero for a single leaf)."""
        check_is_fitted(self)
        tree = self.tree_
        importances = np.zeros(self.n_features_in_)
        for node in np.flatnonzero(~tree.is_leaf):
            features, coefficients, _ = tree.test(node)
            sizes = np.abs(coefficients * self._scale[features])
            share = sizes / sizes.sum() if sizes.sum() > 0 else np.full(len(sizes), 1 / len(sizes))
            importances[features] += tree.gains[node] * tree.counts[node].sum() * share
        total = importances.sum()
        return importances / total if total > 0 else importances
