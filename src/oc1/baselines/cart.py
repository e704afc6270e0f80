"""CART with axis-parallel splits (Breiman, Friedman, Olshen & Stone 1984): the paper's CART-AP."""

from __future__ import annotations

from numbers import Integral
from typing import ClassVar

from joblib import effective_n_jobs
from sklearn.utils._param_validation import StrOptions

from ..growing.grower import GrowthOptions
from ..impurity import MEASURES, get_measure
from ..learners.base import TreeClassifier, grow_tree


class CARTClassifier(TreeClassifier):
    """Axis-parallel decision tree by CART (Breiman et al. 1984), as the paper used it: CART-AP.

    The splits are those of OC1-AP, ``OC1Classifier(splits="axis")``; what differs is the pruning, by default cost
    complexity in ten-fold cross-validation with the 0-SE rule, so that all examples help to grow the tree. Surrogate
    splits are not part of it: missing values count as the attribute's mean.

    Parameters
    ----------
    criterion : {"twoing", "gini", "info_gain", "max_minority", "sum_minority", "sum_of_variances"} or callable, \
            default="twoing"
        The impurity measure.
    max_depth, min_samples_split, min_samples_leaf, max_leaf_nodes, min_impurity_decrease
        See `OC1Classifier`.
    prune : {"cv", "holdout", None}, default="cv"
        Cost-complexity pruning: by cross-validation in ten folds, with a part of the examples kept back, or none.
    prune_fraction, prune_se, ccp_alpha, class_weight, smoothing, random_state, n_jobs, verbose
        See `OC1Classifier`. The random state deals the folds and settles ties.

    Attributes
    ----------
    tree_, unpruned_tree_, pruning_path_, classes_, n_features_in_, feature_names_in_, feature_importances_
        See `OC1Classifier`.
    n_hyperplanes_ : int
        Attributes searched, over all nodes of all trees that were grown (eleven with ``prune="cv"``).

    Examples
    --------
    >>> from oc1.baselines import CARTClassifier
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> print(CARTClassifier(max_depth=2, prune=None, random_state=2).fit(X, y).tree_)
    x3 > 2.45
    |-- no:  0  [50 0 0]
    `-- yes: x4 > 1.75
        |-- no:  1  [0 49 5]
        `-- yes: 2  [0 1 45]
    """

    _parameter_constraints: ClassVar[dict] = {
        **TreeClassifier._parameter_constraints,
        "criterion": [StrOptions(set(MEASURES)), callable],
        "n_jobs": [Integral, None],
    }

    def __init__(
        self,
        *,
        criterion="twoing",
        max_depth=None,
        min_samples_split=2,
        min_samples_leaf=1,
        max_leaf_nodes=None,
        min_impurity_decrease=0.0,
        prune="cv",
        prune_fraction=0.1,
        prune_se=0.0,
        ccp_alpha=0.0,
        class_weight=None,
        smoothing=0.0,
        random_state=None,
        n_jobs=None,
        verbose=0,
    ):
        self.criterion = criterion
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.max_leaf_nodes = max_leaf_nodes
        self.min_impurity_decrease = min_impurity_decrease
        self.prune = prune
        self.prune_fraction = prune_fraction
        self.prune_se = prune_se
        self.ccp_alpha = ccp_alpha
        self.class_weight = class_weight
        self.smoothing = smoothing
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _grow(self, data, rows, weights):
        options = GrowthOptions(
            measure=get_measure(self.criterion, len(data.classes)),
            splits="axis",
            max_depth=self.max_depth,
            min_samples_split=self.min_samples_split,
            min_samples_leaf=self.min_samples_leaf,
            max_leaf_nodes=self.max_leaf_nodes,
            min_impurity_decrease=self.min_impurity_decrease,
            n_jobs=effective_n_jobs(self.n_jobs),
        )
        return grow_tree(data, rows, weights, options, self.verbose)
