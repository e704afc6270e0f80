"""CART with axis-parallel splits (Breiman, Friedman, Olshen & Stone 1984): the paper's CART-AP."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral

from joblib import effective_n_jobs
from sklearn.utils._param_validation import StrOptions

from ..growing.options import GrowthOptions
from ..impurity import NAMES, ImpurityFunction, get_measure
from ..learners.parameters import parameter
from ..learners.trees import RelativeWeights, SearchedTree


@dataclass(kw_only=True, eq=False, repr=False)
class CARTClassifier(RelativeWeights, SearchedTree):
    """Axis-parallel decision tree by CART (Breiman et al. 1984), as the paper used it: CART-AP.

    The splits are those of OC1-AP, ``OC1Classifier(splits="axis")``. The difference is the pruning: by default,
    cost-complexity pruning by ten-fold cross-validation with the 0-SE rule, so that all examples are used to grow the
    tree. There are no surrogate splits: missing values count as the attribute's mean.

    Parameters
    ----------
    criterion : {"twoing", "gini", "info_gain", "max_minority", "sum_minority", "sum_of_variances"} or callable, \
            default="twoing"
        The impurity measure.
    max_depth, min_samples_split, min_samples_leaf, max_leaf_nodes, min_impurity_decrease
        See `OC1Classifier`.
    prune : {"cv", "holdout", None}, default="cv"
        Cost-complexity pruning: by ten-fold cross-validation, on held-out examples, or none.
    prune_fraction, prune_se, ccp_alpha, class_weight, smoothing, random_state, n_jobs, verbose
        See `OC1Classifier`. The random state determines the folds and breaks ties.

    Attributes
    ----------
    tree_, unpruned_tree_, pruning_path_, classes_, n_features_in_, feature_names_in_, feature_importances_
        See `OC1Classifier`.
    n_hyperplanes_ : int
        Number of attributes searched, over all nodes of all trees that were grown (eleven with ``prune="cv"``).

    Examples
    --------
    >>> from oc1.baselines import CARTClassifier
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> print(CARTClassifier(max_depth=2, prune=None, random_state=2).fit(X, y).tree_)
    x3 > 2.45
    |-- no:  0  100% of 50
    `-- yes: x4 > 1.75
        |-- no:  1  90.7% of 54
        `-- yes: 2  97.8% of 46
    """

    criterion: str | ImpurityFunction = parameter("twoing", StrOptions(set(NAMES)), callable)
    prune: str | None = "cv"
    n_jobs: int | None = parameter(None, Integral, None)

    def _options(self, n_classes: int) -> GrowthOptions:
        measure, n_jobs = get_measure(self.criterion, n_classes), effective_n_jobs(self.n_jobs)
        return self._from_parameters(GrowthOptions, measure=measure, splits="axis", n_jobs=n_jobs)
