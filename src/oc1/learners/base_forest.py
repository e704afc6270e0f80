"""What forests for classes and for numbers share: growing the trees, out-of-bag answers, prediction."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple

import joblib
import numpy as np
import numpy.typing as npt
from joblib import Parallel, delayed
from sklearn.utils._param_validation import Interval, RealNotInt, StrOptions
from sklearn.utils.validation import _num_samples, check_is_fitted

from ..data.categories import category_values, encode, labels_of, replace_by_codes
from ..data.sparse_input import as_dense
from ..data.training import Training
from ..growing.forest import grow_trees, in_users_units, times_drawn
from ..growing.options import MIN_LARGE_ROWS, NEVER
from ..growing.subspaces import SUBSPACE_SIZES, subspace_size
from ..kernels.forest_records import ForestData, ForestRules
from ..tree.forest import Forest
from .base import GrowingEstimator
from .parameters import as_number, at_least, number_or_share, parameter
from .trees import standard_scale

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
class BaseForest(GrowingEstimator):
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

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_forest")

    # ------------------------------------------------------------------------------------------------ fitting

    def _learn_in_numbers(self, data: Training) -> None:
        """Grow what is missing of the trees, and keep them."""
        is_warm = self._is_warm
        n_grown = self._forest.n_trees if is_warm else 0
        examples, rules = self._examples(data), self._rules(data)
        if n_grown < self.n_estimators:
            trees = self._in_units(self._grow(examples, rules, range(n_grown, self.n_estimators)), data)
            self._forest: Forest = Forest.joined([self._forest, trees]) if is_warm else trees
        self.__dict__.pop("_members", None)
        if self.oob_score:
            self._score_out_of_bag(data, *self._out_of_bag(data, examples, rules))
        del self._n_given

    @property
    def _is_warm(self) -> bool:
        """Whether a fit adds trees to those that there are."""
        return self.warm_start and hasattr(self, "_forest")

    def _check_parameters(self) -> None:
        if self.oob_score and not self.bootstrap:
            raise ValueError("oob_score=True needs bootstrap=True: otherwise every tree sees every example")
        if self.max_samples is not None and not self.bootstrap:
            raise ValueError(
                f"max_samples={self.max_samples} needs bootstrap=True: otherwise every tree sees every one"
            )
        if self._is_warm and self._forest.n_trees > self.n_estimators:
            raise ValueError(
                f"n_estimators={self.n_estimators} must be at least the {self._forest.n_trees} trees that there are: "
                "with warm_start=True a fit only adds trees"
            )

    def _validate(self, X: npt.ArrayLike, y: npt.ArrayLike, sample_weight: npt.ArrayLike | None) -> Training:
        """Check the input, also of a fit that adds trees: it must be of the same kind; keep what all trees share."""
        self._check_parameters()
        checked = self._checked_again if self._is_warm else super()._validate
        data = checked(X, y, sample_weight).with_ratios().in_canonical_order(MIN_LARGE_ROWS)
        self._n_given = _num_samples(y)
        if self._is_warm:
            shared: _Shared = self.__dict__["_shared"]
            return data._replace(X=replace_by_codes(data.X, shared.codes) if shared.codes else data.X, fill=shared.fill)
        self._seed, self.categories_ = data.seed, category_values(data.categories)
        everything, labels = np.arange(data.n_examples), labels_of(data.categories)
        codes: Any = ()
        if data.categories:
            data, codes = data.with_codes(everything, data.weights)
        self._shared = _Shared(
            data.fill, standard_scale(data, everything, data.weights), data.feature_names, codes, labels
        )
        return data

    def _checked_again(self, X: npt.ArrayLike, y: npt.ArrayLike, sample_weight: npt.ArrayLike | None) -> Training:
        X = X if self.categories_ is None else encode(X, self.categories_, type(self).__name__)
        checked, labels = self._validated(X, y, reset=False)
        checked = as_dense(checked)
        target, classes = self._encode_target(labels)
        if len(classes) and not np.array_equal(classes, self.classes_):
            raise ValueError("with warm_start=True the classes must stay the same")
        weights = self._weights(sample_weight, checked, labels)
        return Training.make(checked, target, weights, classes, self._shared.feature_names, self._seed)

    @abstractmethod
    def _examples(self, data: Training) -> ForestData:
        """Return the examples as the kernels take them."""

    def _rules(self, data: Training) -> ForestRules:
        """Return how the trees are grown."""
        n = data.n_examples
        return ForestRules(
            n_drawn=self.max_features_,
            n_linear=self.n_linear,
            entropy=False,
            n_bootstrap=self._n_drawn(n),
            balanced=False,
            max_depth=NEVER if self.max_depth is None else self.max_depth,
            min_split=as_number(self.min_samples_split, 2, n),
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
        """Return trees with their tests and predictions in the user's units."""
        return in_users_units(trees, data)

    def _out_of_bag(
        self, data: Training, examples: ForestData, rules: ForestRules
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the mean answers of the trees that did not see an example: (which examples, those, for all rows)."""
        shared, outputs = self._shared, self._forest.outputs
        sums, n_trees = np.zeros((data.n_examples, outputs.shape[1])), np.zeros(data.n_examples)
        for number in range(self._forest.n_trees):
            unseen = np.flatnonzero(times_drawn(examples, rules, self._seed, number) == 0)
            leaves = self._forest.apply(data.X[unseen], shared.fill, (), number, number + 1)[:, 0]
            sums[unseen] += outputs[self._forest.roots[number] + leaves]
            n_trees[unseen] += 1.0
        known = np.flatnonzero(n_trees)
        if not len(known):
            raise ValueError("no example is out of bag; give more trees or a smaller max_samples")
        means = sums[known] / n_trees[known, None]
        of_all = np.full((self._n_given, outputs.shape[1]), np.nan)
        of_all[known if data.rows is None else data.rows[known]] = means
        return known, means, of_all

    @abstractmethod
    def _score_out_of_bag(self, data: Training, known: np.ndarray, means: np.ndarray, of_all: np.ndarray) -> None:
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
