"""What forests for classes and for numbers share: growing the trees, out-of-bag answers, prediction."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple, Self

import joblib
import numpy as np
import numpy.typing as npt
from joblib import Parallel, delayed
from sklearn.base import _fit_context
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, RealNotInt, StrOptions
from sklearn.utils.validation import check_is_fitted

from ..data.categories import category_values, labels_of, learn_and_encode, replace_by_codes
from ..data.ranges import check_attributes
from ..data.sparse_input import as_dense
from ..data.training import Training
from ..growing.forest import grow_trees, times_drawn
from ..growing.options import NEVER
from ..growing.progress import fit_bar
from ..growing.subspaces import SUBSPACE_SIZES, subspace_size
from ..kernels.forest_records import ForestData, ForestRules
from ..tree.forest import Forest
from .base import BaseOC1Estimator, standard_scale, unchanged_on_failure
from .parameters import as_number, at_least, number_or_share, parameter

#: ``max_features="auto"`` is the square root of the number of attributes times this.
AUTO_TIMES = 2.0
#: Shares of the trees that are handed out at a time, for each thread or worker.
PARTS_PER_JOB = 4


class _Shared(NamedTuple):
    """What all trees of a forest have in common."""

    fill: np.ndarray
    scale: np.ndarray
    feature_names: tuple[str, ...]
    codes: Any
    labels: Any  # what the categories are called


@dataclass(kw_only=True, eq=False, repr=False)
class BaseForest(BaseOC1Estimator):
    """Base of the forests. For the parameters see `oc1.OC1ForestClassifier`."""

    n_estimators: int = parameter(100, at_least(1))
    max_depth: int | None = parameter(None, at_least(0), None)
    min_samples_split: float = parameter(4, *number_or_share(2))
    min_samples_leaf: float = parameter(1, *number_or_share(1, "neither"))
    min_impurity_decrease: float = parameter(0.0, at_least(0, Real))
    max_features: float | str | None = parameter(
        "auto", *number_or_share(1), StrOptions({*SUBSPACE_SIZES, "auto"}), None
    )
    n_linear: int = parameter(2, at_least(0))
    bootstrap: bool = parameter(False, "boolean")
    max_samples: float | None = parameter(None, Interval(RealNotInt, 0, 1, closed="right"), at_least(1), None)
    oob_score: bool = parameter(False, "boolean")
    warm_start: bool = parameter(False, "boolean")
    categorical_features: npt.ArrayLike | None = parameter(None, "array-like", StrOptions({"from_dtype"}), None)
    random_state: int | np.random.RandomState | None = parameter(None, "random_state")
    n_jobs: int | None = parameter(None, Integral, None)
    verbose: int = parameter(0, "verbose")

    #: How the trees answer together, for conversion: see `oc1.learners.reduction`.
    _task: ClassVar[str]

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that missing values and sparse matrices are welcome."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = tags.input_tags.sparse = True
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_forest")

    # ------------------------------------------------------------------------------------------------ fitting

    @_fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    def fit(self, X: npt.ArrayLike, y: npt.ArrayLike, sample_weight: npt.ArrayLike | None = None) -> Self:
        """Grow the trees.

        Parameters
        ----------
        X : array-like or sparse matrix (n_samples, n_features)
            Numbers; NaN where a value is missing. A sparse matrix is written out: it must fit into memory.
        y : array-like (n_samples,)
            Class labels, or the numbers to predict.
        sample_weight : array-like (n_samples,), optional
            A weight of 2 is the same as including the example twice, 0 the same as leaving it out (without
            `bootstrap`; the parameters ``min_samples_...`` count rows).

        Returns
        -------
        self
        """
        with unchanged_on_failure(self), fit_bar(type(self).__name__):
            self._learn(X, y, sample_weight)
            self.__dict__.pop("source_", None)  # of a model that was loaded from a file
        return self

    def _learn(self, X: npt.ArrayLike, y: npt.ArrayLike, sample_weight: npt.ArrayLike | None) -> None:
        """Check the input, grow what is missing of the trees, and keep them."""
        self._check_parameters()
        is_warm = self.warm_start and hasattr(self, "_forest")
        n_grown = self._forest.n_trees if is_warm else 0
        if n_grown > self.n_estimators:
            raise ValueError(
                f"n_estimators={self.n_estimators} must be at least the {n_grown} trees that there are: "
                "with warm_start=True a fit only adds trees"
            )
        data = self._validate_again(X, y, sample_weight) if is_warm else self._validate(X, y, sample_weight)
        examples, rules = self._examples(data), self._rules(data)
        if n_grown < self.n_estimators:
            trees = self._in_units(self._grow(examples, rules, range(n_grown, self.n_estimators)), data)
            self._forest: Forest = Forest.joined([self._forest, trees]) if is_warm else trees
        self.__dict__.pop("_members", None)
        if self.oob_score:
            n_samples = len(data.y) if sample_weight is None else len(np.asarray(sample_weight))
            kept = np.arange(n_samples) if self._kept is None else np.flatnonzero(self._kept)
            self._score_out_of_bag(data, examples, rules, kept, n_samples)
        self.__dict__.pop("_kept", None)

    def _check_parameters(self) -> None:
        if self.oob_score and not self.bootstrap:
            raise ValueError("oob_score=True needs bootstrap=True: otherwise every tree sees every example")
        if self.max_samples is not None and not self.bootstrap:
            raise ValueError(
                f"max_samples={self.max_samples} needs bootstrap=True: otherwise every tree sees every one"
            )

    def _validate(self, X: npt.ArrayLike, y: npt.ArrayLike, sample_weight: npt.ArrayLike | None) -> Training:
        """Check the input of a first fit; keep what all trees share."""
        X, categories = learn_and_encode(X, self.categorical_features)
        checked, labels = self._validated(X, y)
        checked = as_dense(checked)
        target, classes = self._encode_target(labels)
        weights = self._weights(sample_weight, checked, labels)
        self._kept = None if weights is None else weights > 0
        self._seed = int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))
        names = tuple(str(name) for name in getattr(self, "feature_names_in_", ()))
        n_jobs = joblib.effective_n_jobs(self.n_jobs)
        data = Training.make(checked, target, weights, classes, names, self._seed, categories, n_jobs)
        assert data.moments is not None
        check_attributes(data.moments.lowest, data.moments.highest, names)
        self.categories_ = category_values(data.categories)
        numbers: Training = data
        codes: Any = ()
        if data.categories:
            numbers, codes = data.with_codes(np.arange(data.n_examples), data.weights)
        scale = standard_scale(numbers, np.arange(data.n_examples), data.weights)
        self._shared = _Shared(numbers.fill, scale, names, codes, labels_of(data.categories))
        return numbers

    def _validate_again(self, X: npt.ArrayLike, y: npt.ArrayLike, sample_weight: npt.ArrayLike | None) -> Training:
        """Check the input of a fit that adds trees: it must be of the same kind."""
        checked, labels = self._checked(X), np.asarray(y)
        if len(labels) != len(checked):
            raise ValueError(f"X has {len(checked)} rows, but y has {len(labels)}")
        target, classes = self._encode_target(labels)
        if len(classes) and not np.array_equal(classes, self.classes_):
            raise ValueError("with warm_start=True the classes must stay the same")
        weights = self._weights(sample_weight, checked, labels)
        self._kept = None if weights is None else weights > 0
        shared = self._shared
        data = Training.make(checked, target, weights, classes, shared.feature_names, self._seed)
        return data._replace(X=replace_by_codes(data.X, shared.codes) if shared.codes else data.X, fill=shared.fill)

    @abstractmethod
    def _encode_target(self, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return (class indices, classes), or (numbers, nothing)."""

    @abstractmethod
    def _examples(self, data: Training) -> ForestData:
        """Return the examples as the kernels take them."""

    def _rules(self, data: Training) -> ForestRules:
        """Return how the trees are grown."""
        n, weights = data.n_examples, data.weights
        return ForestRules(
            n_drawn=self.max_features_,
            n_linear=self.n_linear,
            entropy=False,
            n_bootstrap=self._n_drawn(n),
            balanced=False,
            max_depth=NEVER if self.max_depth is None else self.max_depth,
            min_split=as_number(self.min_samples_split, 2, n),
            split_by_weight=weights is None or bool((weights == np.round(weights)).all()),
            min_leaf=as_number(self.min_samples_leaf, 1, n),
            min_decrease=float(self.min_impurity_decrease),
        )

    @property
    def max_features_(self) -> int:
        """Number of attributes that a node draws."""
        d = int(self.n_features_in_)
        if self.max_features == "auto":
            return max(1, min(d, int(AUTO_TIMES * np.sqrt(d))))
        return subspace_size(self.max_features, d)

    def _n_drawn(self, n: int) -> int:
        """Return how many examples a tree draws; 0 if it sees all."""
        if not self.bootstrap:
            return 0
        if self.max_samples is None:
            return n
        if isinstance(self.max_samples, int | np.integer):
            if self.max_samples > n:
                raise ValueError(f"max_samples={self.max_samples} is more than there are ({n})")
            return int(self.max_samples)
        return max(1, round(self.max_samples * n))

    def _grow(self, examples: ForestData, rules: ForestRules, numbers: Sequence[int]) -> Forest:
        """Grow the trees of these numbers, on threads, or wherever joblib is told to."""
        n_parts = min(len(numbers), PARTS_PER_JOB * joblib.effective_n_jobs(self.n_jobs))
        ends = np.linspace(0, len(numbers), n_parts + 1).astype(int).tolist()
        parts = [numbers[first:last] for first, last in pairwise(ends)]
        grown = Parallel(n_jobs=self.n_jobs, prefer="threads", verbose=self.verbose)(
            delayed(grow_trees)(examples, rules, self._seed, part) for part in parts
        )
        return Forest.joined(grown)

    def _in_units(self, trees: Forest, data: Training) -> Forest:
        """Return trees with their predictions in the user's units."""
        return trees

    def _out_of_bag(
        self, data: Training, examples: ForestData, rules: ForestRules, kept: np.ndarray, n_samples: int
    ) -> np.ndarray:
        """Return the mean answer of the trees that did not see each example; NaN where all did."""
        shared, outputs = self._shared, self._forest.outputs
        sums, n_trees = np.zeros((len(kept), outputs.shape[1])), np.zeros(len(kept))
        for number in range(self._forest.n_trees):
            unseen = np.flatnonzero(times_drawn(examples, rules, self._seed, number) == 0)
            leaves = self._forest.apply(data.X[unseen], shared.fill, (), number, number + 1)[:, 0]
            sums[unseen] += outputs[self._forest.roots[number] + leaves]
            n_trees[unseen] += 1.0
        if not n_trees.any():
            raise ValueError("no example is out of bag; give more trees or a smaller max_samples")
        means = np.full((n_samples, outputs.shape[1]), np.nan)
        with np.errstate(invalid="ignore"):
            means[kept] = sums / n_trees[:, None]
        return means

    @abstractmethod
    def _score_out_of_bag(
        self, data: Training, examples: ForestData, rules: ForestRules, kept: np.ndarray, n_samples: int
    ) -> None:
        """Judge the forest on each example by the trees that did not see it."""

    # ------------------------------------------------------------------------------------------------ the trees

    @property
    def estimators_(self) -> list[Any]:
        """The trees as fitted estimators; they are made when they are first asked for."""
        check_is_fitted(self)
        if "_members" not in self.__dict__:
            self._members = [self._member(tree) for tree in self._trees()]
        return self._members

    @property
    def estimators_features_(self) -> list[np.ndarray]:
        """The attributes that each tree uses: all of them."""
        return [np.arange(self.n_features_in_)] * self._forest.n_trees

    def _trees(self) -> list[Any]:
        shared = self._shared
        common = {
            "fill": shared.fill,
            "classes": getattr(self, "classes_", np.empty(0)),
            "feature_names": shared.feature_names,
            "codes": shared.codes,
            "categories": shared.labels,
            "scale": shared.scale,
        }
        return [self._forest.tree(number, **common) for number in range(self._forest.n_trees)]

    @abstractmethod
    def _new_member(self) -> Any:
        """Return an estimator that is to hold one tree."""

    def _member(self, tree: Any) -> Any:
        """Return one tree as a fitted estimator, which takes category numbers as the trees of a vote do."""
        model, values = self._new_member(), None
        if self.categories_ is not None:
            values = [None if own is None else np.arange(len(own), dtype=float) for own in self.categories_]
        fitted = {
            "n_features_in_": self.n_features_in_,
            "tree_": tree,
            "unpruned_tree_": tree,
            "n_hyperplanes_": 0,
            "categories_": values,
            "_scale": self._shared.scale,
            "_pruning_path": None,
            "_sketch": {},
        }
        model.__dict__.update(fitted)
        return model

    def _take_trees(self, trees: Sequence[Any]) -> None:
        """Become the forest of trees that were read from a file."""
        first = trees[0]
        labels = tuple(first.categories)
        self._forest = Forest.of_trees(trees)
        self._shared = _Shared(first.fill, first.scale, tuple(first.feature_names), tuple(first.codes), labels)

    def get_depth(self) -> int:
        """Return the depth of the deepest tree."""
        check_is_fitted(self)
        return int(self._forest.depths.max())

    def get_n_leaves(self) -> int:
        """Return the number of leaves of all trees together."""
        check_is_fitted(self)
        return int(self._forest.is_leaf.sum())

    @property
    def feature_importances_(self) -> np.ndarray:
        """Mean of the trees' importances; sums to 1, or is all zero where no tree has a test."""
        check_is_fitted(self)
        return self._forest.importances(self._shared.scale)

    # ------------------------------------------------------------------------------------------------ prediction

    def _means(self, X: npt.ArrayLike) -> np.ndarray:
        """Return the mean of what the trees say of each row."""
        rows, shared = self._checked(X), self._shared
        sums = self._forest.sums(rows, shared.fill, shared.codes, joblib.effective_n_jobs(self.n_jobs))
        return np.asarray(sums / self._forest.n_trees)

    def apply(self, X: npt.ArrayLike) -> np.ndarray:
        """Return the number of the leaf that each example ends up in, for each tree.

        Parameters
        ----------
        X : array-like or sparse matrix (n_samples, n_features)

        Returns
        -------
        int array (n_samples, n_estimators)
        """
        rows = self._checked(X)
        return self._forest.apply(rows, self._shared.fill, self._shared.codes)

    def decision_path(self, X: npt.ArrayLike) -> tuple[Any, np.ndarray]:
        """Return the nodes that each example passes through.

        Parameters
        ----------
        X : array-like or sparse matrix (n_samples, n_features)

        Returns
        -------
        indicator : sparse matrix (n_samples, number of nodes of all trees)
        n_nodes_ptr : int array (n_estimators + 1,)
            The columns ``n_nodes_ptr[i]`` to ``n_nodes_ptr[i + 1]`` are those of tree i.
        """
        from scipy import sparse

        rows = self._checked(X)
        paths = [tree.decision_path(rows) for tree in self._trees()]
        return sparse.hstack(paths).tocsr(), self._forest.roots.copy()
