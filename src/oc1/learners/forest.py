"""Forests of oblique trees: many unpruned trees, each test out of a few drawn at random, whose answers are averaged."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from sklearn.base import RegressorMixin
from sklearn.metrics import r2_score
from sklearn.utils._param_validation import Interval, StrOptions

from ..data.ranges import target_unit
from ..data.training import Training
from ..growing.forest import forest_data
from ..growing.subspaces import SUBSPACE_SIZES
from ..kernels.forest_records import ForestData, ForestRules
from ..tree.forest import Forest
from .base import BaseOC1Classifier
from .base_forest import BaseForest
from .classifier import OC1Classifier
from .parameters import number_or_share, parameter
from .regressor import OC1Regressor
from .targets import encode_classes, with_class_weight


@dataclass(kw_only=True, eq=False, repr=False)
class OC1ForestClassifier(BaseOC1Classifier, BaseForest):
    """A forest of oblique trees that predicts classes: the mean of their probabilities.

    Each node draws some attributes, and a threshold along each of them and along a few linear discriminants of them, as
    extremely randomised trees do, and takes the purest test. Trees are not pruned. See :doc:`/forests` for when a
    forest pays.

    Parameters
    ----------
    n_estimators : int, default=100
        Number of trees.
    criterion : {"gini", "entropy", "log_loss"}, default="gini"
        What makes a test pure; the last two are the same.
    max_depth : int or None, default=None
        Depth of the deepest leaf.
    min_samples_split, min_samples_leaf : int or float, default=4 and 1
        Examples that a node must have to be split, and that each side of a test must have; a float is a share of all.
        Rows are counted, whatever they weigh.
    min_impurity_decrease : float, default=0.0
        As in scikit-learn: a test must lower the impurity by this, weighted by the node's share of the examples.
    max_features : int or float, {"auto", "sqrt", "log2"} or None, default="auto"
        How many attributes that vary a node draws: a number, a share, a function of their number, or all. "auto" is
        twice the square root of their number: because thresholds are random, too, trees differ enough.
    n_linear : int, default=2
        Linear discriminants that a node tries, each of two of its classes. (Between two classes there is one.) 0: tests
        of single attributes only.
    bootstrap : bool, default=False
        Whether to grow each tree on examples drawn with replacement.
    max_samples : int, float or None, default=None
        How many examples to draw with `bootstrap`: a number, a share, or as many as there are.
    oob_score : bool, default=False
        Whether to compute the out-of-bag accuracy, from the trees that did not see each example; needs `bootstrap`.
    warm_start : bool, default=False
        Whether a further fit keeps the trees and adds those that are missing up to `n_estimators`.
    class_weight : dict, {"balanced", "balanced_subsample"} or None, default=None
        Weights of the classes by label. "balanced" makes all classes count alike, "balanced_subsample" does so in the
        sample of each tree.
    categorical_features : array-like, "from_dtype" or None, default=None
        Which attributes are categorical, as in `OC1Classifier`. Their values are ordered by the share of the classes.
    random_state : int, RandomState instance or None, default=None
        The same seed gives the same forest, for any `n_jobs`.
    n_jobs : int or None, default=None
        Number of threads that grow trees, or predict. (With ``joblib.parallel_config``, processes; with
        `oc1.dask.on_cluster`, workers of a cluster.)
    verbose : int, default=0
        1 shows joblib's progress.

    Attributes
    ----------
    estimators_ : list of OC1Classifier
        The trees. They are made when first asked for.
    classes_ : array (n_classes,)
    categories_ : list with an array or None for each attribute, or None
        The values of the categorical attributes; None if there are none.
    n_features_in_ : int
    feature_names_in_ : array (n_features_in_,)
        Only if the attributes have names.
    feature_importances_ : array (n_features_in_,)
        Mean over the trees. `sklearn.inspection.permutation_importance` works as well, and is fairer to attributes
        with few values.
    oob_score_ : float
        Out-of-bag accuracy, over the examples that at least one tree did not see. Only with `oob_score`.
    oob_decision_function_ : array (n_samples, n_classes)
        Out-of-bag probabilities; NaN for examples that all trees saw. Only with `oob_score`.

    Examples
    --------
    >>> from oc1 import OC1ForestClassifier
    >>> from oc1.datasets import make_rcb
    >>> X, y = make_rcb(500, random_state=0)
    >>> clf = OC1ForestClassifier(n_estimators=10, random_state=0).fit(X, y)
    >>> clf.predict(X[:3]).tolist() == y[:3].tolist()
    True
    """

    criterion: str = parameter("gini", StrOptions({"gini", "entropy", "log_loss"}))
    class_weight: dict[Any, float] | str | None = parameter(
        None, dict, StrOptions({"balanced", "balanced_subsample"}), None
    )

    _task: ClassVar[str] = "shares"

    def _encode_target(self, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        indices, classes = encode_classes(y)
        if not self._is_warm:
            self.classes_ = classes
        return indices, classes

    def _weights(self, sample_weight: npt.ArrayLike | None, X: np.ndarray, y: np.ndarray) -> np.ndarray | None:
        own = None if self.class_weight == "balanced_subsample" else self.class_weight
        return with_class_weight(super()._weights(sample_weight, X, y), own, y)

    def _examples(self, data: Training) -> ForestData:
        return forest_data(data, data.y, np.empty(0), len(data.classes))

    def _rules(self, data: Training) -> ForestRules:
        return (
            super()
            ._rules(data)
            ._replace(entropy=self.criterion != "gini", balanced=self.class_weight == "balanced_subsample")
        )

    def _new_member(self) -> OC1Classifier:
        model = OC1Classifier(prune=None)
        model.__dict__.update(classes_=self.classes_, splits_="oblique", cv_accuracies_={})
        return model

    def _score_out_of_bag(self, data: Training, known: np.ndarray, means: np.ndarray, of_all: np.ndarray) -> None:
        self.oob_decision_function_ = of_all
        self.oob_score_ = float((means.argmax(axis=1) == data.y[known]).mean())

    def predict_proba(self, X: npt.ArrayLike) -> np.ndarray:
        """Return the mean of the trees' probabilities: the shares of the classes in their leaves.

        Parameters
        ----------
        X : array-like or sparse matrix (n_samples, n_features)

        Returns
        -------
        array (n_samples, n_classes)
            In the order of ``classes_``.
        """
        return self._means(X)

    def predict(self, X: npt.ArrayLike) -> np.ndarray:
        """Return the most probable class, the first one in a tie.

        Parameters
        ----------
        X : array-like or sparse matrix (n_samples, n_features)

        Returns
        -------
        array (n_samples,)
        """
        means = self._means(X)
        return np.asarray(self.classes_[means.argmax(axis=1)])


@dataclass(kw_only=True, eq=False, repr=False)
class OC1ForestRegressor(RegressorMixin, BaseForest):
    """A forest of oblique trees that predicts numbers: the mean of what they predict.

    Each node draws some attributes, and a threshold along each of them and along the least-squares regression on them,
    and takes the test that leaves the least squared error. Trees are not pruned.

    Parameters
    ----------
    n_estimators : int, default=100
        Number of trees.
    criterion : {"squared_error"}, default="squared_error"
        What a test is to lower.
    max_depth, min_samples_split, min_samples_leaf, min_impurity_decrease, max_features, n_linear, bootstrap, \
max_samples, oob_score, warm_start, categorical_features, random_state, n_jobs, verbose
        As in `OC1ForestClassifier`; but `max_features` is a half by default, and `n_linear` is 0 or 1: whether the
        regression is tried.

    Attributes
    ----------
    estimators_ : list of OC1Regressor
        The trees. They are made when first asked for.
    categories_, n_features_in_, feature_names_in_, feature_importances_
        As in `OC1ForestClassifier`.
    oob_score_ : float
        Out-of-bag R2, over the examples that at least one tree did not see. Only with `oob_score`.
    oob_prediction_ : array (n_samples,)
        Out-of-bag predictions; NaN for examples that all trees saw. Only with `oob_score`.

    Examples
    --------
    >>> import numpy as np
    >>> from oc1 import OC1ForestRegressor
    >>> X = np.random.default_rng(0).uniform(-1, 1, (300, 2))
    >>> y = X[:, 0] + X[:, 1]
    >>> model = OC1ForestRegressor(random_state=0).fit(X, y)
    >>> bool(abs(model.predict([[0.5, 0.25]])[0] - 0.75) < 0.05)
    True
    """

    criterion: str = parameter("squared_error", StrOptions({"squared_error"}))
    max_features: float | str | None = parameter(0.5, *number_or_share(1), StrOptions({*SUBSPACE_SIZES, "auto"}), None)
    n_linear: int = parameter(1, Interval(Integral, 0, 1, closed="both"))

    _task: ClassVar[str] = "mean"

    def _encode_target(self, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return np.asarray(y, dtype=np.float64), np.empty(0)

    def _validated(self, X: npt.ArrayLike, *y: npt.ArrayLike, reset: bool = True) -> Any:
        checked = super()._validated(X, *y, reset=reset)
        return (checked[0], np.asarray(checked[1], dtype=np.float64)) if y else checked

    def _scaling(self, data: Training) -> tuple[float, float]:
        """Return the unit and the offset of the numbers that trees are grown on.

        These are of an ordinary size and around 0: sums of their squares would lose digits.
        """
        unit = target_unit(data.y)
        return unit, float(np.mean(data.y / unit))

    def _examples(self, data: Training) -> ForestData:
        unit, offset = self._scaling(data)
        return forest_data(data, np.zeros(len(data.y), np.int32), data.y / unit - offset, 0)

    def _rules(self, data: Training) -> ForestRules:
        rules = super()._rules(data)
        return rules._replace(min_decrease=rules.min_decrease / target_unit(data.y) ** 2)

    def _in_units(self, trees: Forest, data: Training) -> Forest:
        trees, (unit, offset) = super()._in_units(trees, data), self._scaling(data)
        return trees.with_numbers((trees.values + offset) * unit, trees.losses * unit**2, trees.gains * unit**2)

    def _new_member(self) -> OC1Regressor:
        return OC1Regressor(prune=None)

    def _score_out_of_bag(self, data: Training, known: np.ndarray, means: np.ndarray, of_all: np.ndarray) -> None:
        self.oob_prediction_ = of_all[:, 0]
        self.oob_score_ = float(r2_score(data.y[known], means[:, 0]))

    def predict(self, X: npt.ArrayLike) -> np.ndarray:
        """Return the number predicted for each example: the mean of the trees' predictions.

        Parameters
        ----------
        X : array-like or sparse matrix (n_samples, n_features)

        Returns
        -------
        array (n_samples,)
        """
        return self._means(X)[:, 0]
