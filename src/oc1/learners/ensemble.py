"""Ensembles of trees: k-DT (Heath, Kasif & Salzberg 1993), whose trees differ because their search is random."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, replace
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt
from joblib import Parallel, delayed
from sklearn.base import _fit_context, clone
from sklearn.utils import check_random_state, get_tags
from sklearn.utils._param_validation import HasMethods, Interval
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from ..data.categories import Categories, category_values, labels_of, learn_and_encode
from ..data.sampling import as_ratios
from ..data.sparse_input import as_dense, by_blocks
from ..growing.progress import fit_bar
from .base import MAX_SMOOTHING, BaseOC1Classifier, seeded, unchanged_on_failure
from .classifier import OC1Classifier
from .parameters import at_least, parameter
from .registry import learner_class
from .targets import check_labels
from .trees import CategoricalTree, TreeClassifier
from .windowing import grow_in_windows

if TYPE_CHECKING:
    from ..explaining import Explanation


class _Examples(NamedTuple):
    """The checked training data."""

    X: np.ndarray
    y: np.ndarray  # labels
    weights: np.ndarray | None
    categories: Categories


@dataclass(eq=False, repr=False)
class OC1EnsembleClassifier(BaseOC1Classifier):
    """The majority vote of several trees (k-DT).

    By default, all trees see all examples and differ only in their random search. Bootstrap samples, windows and random
    subsets of attributes are optional, and any classifier in this package can be the base learner.

    Parameters
    ----------
    estimator : classifier or None, default=None
        The base learner, with its parameters. None: ``OC1Classifier(prune=None)``, because voting provides the
        smoothing that a single tree gets from pruning.
    n_estimators : int, default=11
        Number of trees.
    n_choices : int or None, default=None
        If given, and no `estimator` is, the trees are axis-parallel: each node takes one of this many tests that gain
        most information, drawn at random. (Dietterich (2000), from 20. Section 5 of the paper suggests randomness for
        axis-parallel trees, but not how.) The trees are those of ``C45Classifier(n_choices=..., prune=None)``.
    bootstrap : bool, default=False
        Whether to grow each tree on examples drawn with replacement.
    max_samples : float or int, default=1.0
        How many examples to draw for each tree with `bootstrap`: a fraction of all examples, or a number.
    window : float, int or None, default=None
        If given, each tree is grown by Quinlan's windowing (1993), which the paper's section 5 mentions as a way to
        make trees differ: on a window of this many examples, a fraction of all or a number, drawn so that all classes
        are as equally frequent as they can be. Then at least half of the examples outside that the tree gets wrong join
        the window (or as many as a fifth of the first window), and the tree is grown again, until it is right about all
        that are outside, or three times in a row is no better on all examples. The best of these trees votes. Quinlan's
        first window is a fifth of the examples.
    max_features : float or int, default=1.0
        How many attributes each tree uses: a fraction of all attributes, or a number.
    oob_score : bool, default=False
        Whether to compute the out-of-bag accuracy, from the trees that did not see each example; needs `bootstrap`.
    smoothing : float, default=0.0
        Number of votes to add for each class in ``predict_proba``; 1 is Laplace's rule. (The trees' own smoothing has
        no effect, because each tree votes for one class.)
    random_state : int, RandomState instance or None, default=None
        The same seed gives the same trees, for any `n_jobs`.
    n_jobs : int or None, default=None
        Number of trees to grow, or to predict with, at the same time. (On threads; use ``joblib.parallel_config`` for
        processes and `oc1.dask.on_cluster` for a cluster.)
    verbose : int, default=0
        1 shows joblib's progress.

    Attributes
    ----------
    estimators_ : list of classifiers
        The fitted trees.
    estimators_features_ : list of int arrays
        The attributes that each of them uses.
    categories_ : list with an array or None for each attribute, or None
        The values of the categorical attributes, if the base learner has ``categorical_features``.
    classes_ : array (n_classes,)
    n_features_in_ : int
    feature_names_in_ : array (n_features_in_,)
        Only if the attributes have names.
    feature_importances_ : array (n_features_in_,)
        Mean over the trees.
    n_hyperplanes_ : int
        Number of hyperplanes considered, for all trees.
    oob_score_ : float
        Out-of-bag accuracy, over the examples that at least one tree did not see. Only with `oob_score`.
    oob_decision_function_ : array (n_samples, n_classes)
        Shares of the out-of-bag votes; NaN for examples that all trees saw. Only with `oob_score`.

    Examples
    --------
    >>> from oc1 import OC1EnsembleClassifier
    >>> from oc1.datasets import make_rcb
    >>> X, y = make_rcb(500, random_state=0)
    >>> clf = OC1EnsembleClassifier(n_estimators=5, random_state=0).fit(X, y)
    >>> clf.predict_proba(X[:1]).tolist()
    [[0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0]]
    """

    estimator: Any = parameter(None, HasMethods(["fit", "predict"]), None)
    n_estimators: int = parameter(11, at_least(1))
    _: KW_ONLY
    n_choices: int | None = parameter(None, at_least(1), None)
    bootstrap: bool = parameter(False, "boolean")
    max_samples: float = parameter(1.0, Interval(Real, 0, 1, closed="right"), at_least(1))
    max_features: float = parameter(1.0, Interval(Real, 0, 1, closed="right"), at_least(1))
    window: float | None = parameter(None, Interval(Real, 0, 1, closed="right"), at_least(1), None)
    oob_score: bool = parameter(False, "boolean")
    smoothing: float = parameter(0.0, Interval(Real, 0, MAX_SMOOTHING, closed="both"))
    random_state: int | np.random.RandomState | None = parameter(None, "random_state")
    n_jobs: int | None = parameter(None, Integral, None)
    verbose: int = parameter(0, "verbose")

    def _base(self) -> Any:
        if self.n_choices is not None:
            return learner_class("C45Classifier")(n_choices=self.n_choices, prune=None)
        return OC1Classifier(prune=None) if self.estimator is None else self.estimator

    def __sklearn_tags__(self) -> Any:
        """Say that sparse matrices are welcome, and missing values where the base takes them."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = get_tags(self._base()).input_tags.allow_nan
        return tags

    @_fit_context(prefer_skip_nested_validation=False)  # type: ignore[untyped-decorator]
    def fit(self, X: npt.ArrayLike, y: npt.ArrayLike, sample_weight: npt.ArrayLike | None = None) -> Self:
        """Grow the trees.

        Parameters
        ----------
        X : array-like or sparse matrix (n_samples, n_features)
            Numbers; NaN where a value is missing. A sparse matrix is written out: it must fit into memory.
        y : array-like (n_samples,)
            Class labels.
        sample_weight : array-like (n_samples,), optional
            How much the examples count beside each other; multiplying all weights changes nothing. 0 is the same as
            leaving an example out.

        Returns
        -------
        self
        """
        with unchanged_on_failure(self), fit_bar(type(self).__name__):
            self._learn(self._validate(X, y, sample_weight))
            self.__dict__.pop("source_", None)  # of a model that was loaded from a file
        return self

    def _validate(self, X: npt.ArrayLike, y: npt.ArrayLike, sample_weight: npt.ArrayLike | None) -> _Examples:
        """Check the parameters and the input."""
        if self.n_choices is not None and self.estimator is not None:
            raise ValueError("n_choices is for the vote's own axis-parallel trees: leave estimator at None")
        if self.oob_score and not self.bootstrap:
            raise ValueError("oob_score=True needs bootstrap=True: otherwise every tree sees every example")
        if self.max_samples != 1.0 and not self.bootstrap:
            raise ValueError(
                f"max_samples={self.max_samples} needs bootstrap=True: otherwise every tree sees every one"
            )
        if self.window is not None and self.bootstrap:
            raise ValueError("a tree is grown on a bootstrap sample or in windows, not both")
        base = self._base()
        # The trees get category numbers; the categories are known to the vote alone.
        X, categories = learn_and_encode(X, base.categorical_features if isinstance(base, CategoricalTree) else None)
        checked, labels = self._validated(X, y)
        checked = as_dense(checked)
        check_labels(labels)
        weights = as_ratios(self._weights(sample_weight, checked, labels))
        if weights is not None and not has_fit_parameter(base, "sample_weight"):
            raise ValueError(f"{type(base).__name__} takes no sample_weight")
        return _Examples(checked, labels, weights, categories)

    def _learn(self, data: _Examples) -> None:
        """Grow the trees and keep what was learnt."""
        seeds = check_random_state(self.random_state).randint(np.iinfo(np.int32).max, size=self.n_estimators)
        grown = Parallel(n_jobs=self.n_jobs, prefer="threads", verbose=self.verbose)(
            delayed(self._grow)(data, int(seed)) for seed in seeds
        )
        self.classes_ = np.unique(data.y)
        self.estimators_, self.estimators_features_, times = map(list, zip(*grown, strict=True))
        self.categories_ = category_values(data.categories)
        self.n_hyperplanes_ = sum(getattr(model, "n_hyperplanes_", 0) for model in self.estimators_)
        if self.oob_score:
            self._score_out_of_bag(data, np.array(times) == 0)

    def _grow(self, data: _Examples, seed: int) -> tuple[Any, np.ndarray, np.ndarray | None]:
        """Grow one tree, on its own draw of examples and attributes.

        Return it, its attributes, and how often each example was drawn (None without `bootstrap`).
        """
        (n, d), weights = data.X.shape, data.weights
        rng, model = np.random.default_rng(seed), seeded(self._base(), seed)
        n_features = self._count("max_features", d)
        features = np.sort(rng.permutation(d)[:n_features]) if n_features < d else np.arange(d)
        X = data.X[:, features] if n_features < d else data.X
        if data.categories:
            model.set_params(categorical_features=[data.categories[m] is not None for m in features])
        times = None
        if self.bootstrap:
            drawn = np.arange(n) if weights is None else np.flatnonzero(weights)
            times = np.bincount(rng.choice(drawn, self._count("max_samples", n)), minlength=n)
            weights = times if weights is None else times * weights
        if self.window is None:
            fit_weighted(model, X, data.y, weights)
        else:
            model = self._grown_in_windows(model, X, data, rng)
        if isinstance(model, TreeClassifier):
            names = np.array(getattr(self, "feature_names_in_", [f"x{m + 1}" for m in range(d)]), dtype=str)
            model.tree_ = replace(model.tree_, feature_names=tuple(names[features]))
        if isinstance(model, CategoricalTree) and model.categories_ is not None:
            labels = labels_of(data.categories)
            own_labels = tuple(
                None if numbers is None else tuple(labels[m][int(number)] for number in numbers)
                for numbers, m in zip(model.categories_, features, strict=True)
            )
            model.tree_ = replace(model.tree_, categories=own_labels)
        return model, features, times

    def _grown_in_windows(self, model: Any, X: np.ndarray, data: _Examples, rng: np.random.Generator) -> Any:
        """Grow one tree in windows (see `oc1.learners.windowing`)."""
        weights = np.ones(len(X)) if data.weights is None else data.weights
        known = np.flatnonzero(weights)  # an example without weight is none
        X, y, weights = X[known], data.y[known], weights[known]

        def fit(inside: np.ndarray) -> Any:
            own = None if data.weights is None else weights[inside]
            return fit_weighted(clone(model), X[inside], y[inside], own)

        size = self._count("window", len(known))
        return grow_in_windows(fit, lambda tree: np.asarray(tree.predict(X) != y), y, weights, size, rng)

    def _score_out_of_bag(self, data: _Examples, unseen: np.ndarray) -> None:
        """Judge the vote on each example by the trees that did not see it (a row of `unseen` for each tree)."""
        votes = self._votes(data.X, unseen)
        with np.errstate(invalid="ignore"):
            self.oob_decision_function_ = votes / votes.sum(axis=1, keepdims=True)
        known = unseen.any(axis=0)
        if not known.any():
            raise ValueError("no example is out of bag; give more trees or a smaller max_samples")
        self.oob_score_ = float((self.classes_[votes[known].argmax(axis=1)] == data.y[known]).mean())

    def _count(self, name: str, n: int) -> int:
        """Return a share or a number of n as a number."""
        value: int | float = getattr(self, name)
        if isinstance(value, int | np.integer):
            if value > n:
                raise ValueError(f"{name}={value} is more than there are ({n})")
            return int(value)
        return max(1, round(value * n))

    def _votes(self, X: Any, counted: np.ndarray | None = None) -> np.ndarray:
        """Return the number of votes for each class; `counted` says which trees vote on which examples."""

        def ask(model: Any, features: np.ndarray) -> np.ndarray:
            return by_blocks(lambda rows: np.searchsorted(self.classes_, model.predict(rows)), X[:, features])

        answers = Parallel(n_jobs=self.n_jobs, prefer="threads")(
            delayed(ask)(*pair) for pair in zip(self.estimators_, self.estimators_features_, strict=True)
        )
        votes = np.zeros((X.shape[0], len(self.classes_)))
        for number, answer in enumerate(answers):
            rows = np.arange(len(votes)) if counted is None else np.flatnonzero(counted[number])
            votes[rows, answer[rows]] += 1.0
        return votes

    def predict_proba(self, X: npt.ArrayLike) -> np.ndarray:
        """Return the share of the votes for each class, after smoothing.

        Parameters
        ----------
        X : array-like or sparse matrix (n_samples, n_features)

        Returns
        -------
        array (n_samples, n_classes)
            In the order of ``classes_``.
        """
        votes, smoothing = self._votes(self._checked_rows(X)), self._checked_smoothing()
        return (votes + smoothing) / (len(self.estimators_) + smoothing * len(self.classes_))

    def predict(self, X: npt.ArrayLike) -> np.ndarray:
        """Return the class with the most votes, the first one in a tie.

        Parameters
        ----------
        X : array-like or sparse matrix (n_samples, n_features)

        Returns
        -------
        array (n_samples,)
        """
        chosen = self._votes(self._checked_rows(X)).argmax(axis=1)
        return np.asarray(self.classes_[chosen])

    def explain(self, x: Any) -> Explanation:
        """Explain the answer for one example: the votes, and the way through one tree that agrees with them.

        That tree is the one that adds up the fewest terms on the way. The smallest change that leads to another answer
        is not worked out for votes.

        Parameters
        ----------
        x : array-like (n_features,) or (1, n_features), or mapping
            Values in order, one row of a table, or values by the names of the attributes.

        Returns
        -------
        oc1.explaining.Explanation
        """
        from ..explaining import explain_vote, one_row

        return explain_vote(self, one_row(self, x))

    def get_depth(self) -> int:
        """Return the depth of the deepest tree."""
        check_is_fitted(self)
        return max(int(model.get_depth()) for model in self.estimators_)

    def get_n_leaves(self) -> int:
        """Return the number of leaves of all trees together."""
        check_is_fitted(self)
        return sum(int(model.get_n_leaves()) for model in self.estimators_)

    @property
    def feature_importances_(self) -> np.ndarray:
        """Mean of the trees' importances."""
        check_is_fitted(self)
        total = np.zeros(self.n_features_in_)
        for model, features in zip(self.estimators_, self.estimators_features_, strict=True):
            total[features] += model.feature_importances_
        return total / len(self.estimators_)


def fit_weighted(model: Any, X: np.ndarray, y: np.ndarray, weights: np.ndarray | None) -> Any:
    """Fit a model to examples with weights, or, where it takes none, to as many copies of them; return it."""
    if weights is None:
        return model.fit(X, y)
    if has_fit_parameter(model, "sample_weight"):
        return model.fit(X, y, sample_weight=weights)
    rows = np.repeat(np.arange(len(X)), weights)
    return model.fit(X[rows], y[rows])
