"""What every tree learner of the package shares: checking the input, pruning, prediction, and the common parameters.

A learner is a subclass that says how a tree is grown (`_grow`).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import replace
from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple

import numpy as np
from joblib import effective_n_jobs
from sklearn.base import BaseEstimator, ClassifierMixin, _fit_context, clone
from sklearn.utils import Bunch, check_random_state, compute_sample_weight
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from ..data import sampling
from ..data.categories import Categories, code_categories, encode, explain_text, labels_of, learn_and_encode, renumber
from ..data.categories import replace_by_codes as coded
from ..data.search_space import SearchSpace, attribute_means
from ..growing.grower import GrowthOptions, TreeGrower
from ..growing.nodes import GrownNode, build_tree
from ..growing.penalised import CarefulGrower
from ..growing.progress import Reporter
from ..growing.splitters import ClassWeights, Limits, Notes, Splitter, grow_with
from ..kernels._compiling import announce_compiling
from ..tree import pruning
from ..tree.html import small_html
from ..tree.structure import TreeStructure

#: Folds of ``prune="cv"``.
PRUNING_FOLDS = 10


class Training(NamedTuple):
    """The checked training data of one fit."""

    X: np.ndarray  # float64 or float32 (n, d), may hold NaN
    y: np.ndarray  # int (n): class indices; float64 (n): numbers to predict
    weights: np.ndarray | None  # None if all examples count alike
    fill: np.ndarray  # what missing values count as
    classes: np.ndarray
    feature_names: tuple[str, ...]
    seed: int
    categories: Categories = ()  # empty if no attribute is categorical; else X holds category numbers
    coded: tuple[bool, ...] = ()  # which attributes hold the codes of categories; empty if none do

    # Parts of the examples, for growing and for judging, are said by the share (0 to 1) of each that belongs to them.

    @property
    def n_examples(self) -> int:
        """Number of examples."""
        return len(self.y)

    @property
    def varies(self) -> bool:
        """Whether there is something to learn: more than one class, or different numbers."""
        return bool(np.ptp(self.y) > 0)

    @property
    def everything(self) -> np.ndarray:
        """All of the examples."""
        return np.ones(len(self.y))

    def hold_out(self, fraction: float) -> tuple[np.ndarray, np.ndarray]:
        """Draw a part to be kept back; return (the others, that part)."""
        return sampling.hold_out(self.X, self._labels, self.weights, fraction, self.seed)

    def deal_folds(self, n_folds: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Deal the examples into folds; yield (the others, that fold) for each."""
        return sampling.deal_folds(self.X, self._labels, self.weights, n_folds, self.seed)

    def mass(self, share: np.ndarray) -> float:
        """Return the weight of a part."""
        return float(share.sum() if self.weights is None else (self.weights * share).sum())

    def part(self, share: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
        """Return the rows that have a share, and all weights times their shares (None if all count alike)."""
        return np.flatnonzero(share), None if self.weights is None else self.weights * share

    @property
    def _labels(self) -> np.ndarray:
        # Numbers too are drawn by what they are, not by their size.
        return np.unique(self.y, return_inverse=True)[1]


class Grown(NamedTuple):
    """What growing returns."""

    tree: TreeStructure
    n_hyperplanes: int
    scale: np.ndarray  # of each attribute, to compare coefficients


def grow_tree(
    data: Training, rows: np.ndarray, weights: np.ndarray | None, options: GrowthOptions, verbose: int
) -> Grown:
    """Grow a tree by the compiled search; the arguments are those of `TreeClassifier._grow`."""
    kind = CarefulGrower if options.is_careful else TreeGrower
    grower = kind(
        data.X, data.y, weights, rows, data.fill, len(data.classes), options, data.seed,
        Reporter(verbose, data.feature_names), data.coded,
    )  # fmt: skip
    tree = build_tree(grower.grow(), data.fill, data.classes, data.feature_names)
    scale = grower.scale if options.normalize == "standard" else standard_scale(data, rows, weights)
    return Grown(tree, grower.n_hyperplanes, scale)


def standard_scale(data: Training, rows: np.ndarray, weights: np.ndarray | None) -> np.ndarray:
    """Return the standard deviations of the attributes, which make coefficients comparable."""
    own_weights = None if weights is None else weights[rows]
    return SearchSpace.make(data.X, rows, data.fill, own_weights, "standard").scale


def seeded(estimator, seed: int):
    """Return a copy of the estimator in which every ``random_state``, also of the parts of a pipeline, is the seed."""
    model = clone(estimator)
    names = [name for name in model.get_params() if name == "random_state" or name.endswith("__random_state")]
    return model.set_params(**dict.fromkeys(names, seed))


class CarefulEstimator(BaseEstimator):
    """What trees and votes of trees share: a failed fit changes nothing, and prediction checks its input."""

    @abstractmethod
    def _fit(self, X, y, sample_weight):
        """Check the input and fit."""

    def _fit_or_restore(self, *arguments):
        """Fit; a fit that fails leaves the estimator as it was."""
        before = self.__dict__.copy()
        try:
            return self._fit(*arguments)
        except BaseException:
            self.__dict__.clear()
            self.__dict__.update(before)
            raise

    def _checked(self, X) -> np.ndarray:
        check_is_fitted(self)
        if getattr(self, "categories_", None) is not None:
            X = encode(X, self.categories_, type(self).__name__)
        return self._validated(X, reset=False)

    def _validated(self, X, *y, reset=True):
        try:
            return validate_data(
                self, X, *y, dtype=[np.float64, np.float32], ensure_all_finite="allow-nan", reset=reset
            )  # fmt: skip
        except ValueError as error:
            if "could not convert" in str(error):
                explain_text(X, hasattr(self, "categorical_features"))
            raise

    def _repr_html_inner(self):
        """Return what a notebook shows: the tree, once there is one."""
        if not (hasattr(self, "tree_") or hasattr(self, "estimators_")):
            return super()._repr_html_inner()
        return small_html(self)

    def _repr_mimebundle_(self, **kwargs):
        """Return what a notebook shows, as text and, unless scikit-learn's ``display`` is "text", as HTML."""
        bundle = super()._repr_mimebundle_(**kwargs)
        if "text/html" in bundle:
            bundle["text/html"] = self._repr_html_inner()
        return bundle


class CarefulClassifier(ClassifierMixin, CarefulEstimator):
    """What trees and votes of trees for classes share."""

    @abstractmethod
    def predict_proba(self, X):
        """Return the share of each class."""

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


class TreeEstimator(CarefulEstimator):
    """Base of the package's tree learners, for classes or numbers."""

    _parameter_constraints: ClassVar[dict] = {
        "max_depth": [Interval(Integral, 0, None, closed="left"), None],
        "min_samples_split": [Interval(Integral, 2, None, closed="left")],
        "min_samples_leaf": [Interval(Integral, 1, None, closed="left")],
        "max_leaf_nodes": [Interval(Integral, 1, None, closed="left"), None],
        "min_impurity_decrease": [Interval(Real, 0, None, closed="left")],
        "prune": [StrOptions({"holdout", "cv"}), None],
        "prune_fraction": [Interval(Real, 0, 1, closed="neither")],
        "prune_se": [Interval(Real, 0, None, closed="left")],
        "ccp_alpha": [Interval(Real, 0, None, closed="left")],
        "random_state": ["random_state"],
        "verbose": ["verbose"],
    }

    def __sklearn_tags__(self):
        """Tell scikit-learn that missing values are welcome."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    def cost_complexity_pruning_path(self, X, y, sample_weight=None):
        """Grow a tree without pruning and return the prices of a leaf, ``ccp_alpha``, at which it becomes smaller.

        As in scikit-learn, but equal prices are listed once.

        Parameters
        ----------
        X : array-like (n_samples, n_features)
        y : array-like (n_samples,)
        sample_weight : array-like (n_samples,), optional

        Returns
        -------
        Bunch
            ``ccp_alphas``, from 0 on, and ``impurities``, the impurity of the leaves (Gini, or the mean loss) of the
            tree that each of them leaves, weighted by their shares of the examples.
        """
        whole = self._unpruned_copy().fit(X, y, sample_weight=sample_weight)
        ccp_alphas, impurities = pruning.impurity_path(whole.tree_)
        return Bunch(ccp_alphas=ccp_alphas, impurities=impurities)

    def _unpruned_copy(self):
        """Return an estimator whose tree is this one's before anything is cut."""
        return clone(self).set_params(prune=None, ccp_alpha=0.0)

    @abstractmethod
    def _grow(self, data: Training, rows: np.ndarray, weights: np.ndarray | None) -> Grown:
        """Grow an unpruned tree on the given rows; `weights` are those of all examples, None if they count alike."""

    def _learn(self, X, y, weights, classes, categories: Categories = ()):
        """Grow and prune on checked data."""
        if weights is not None and not weights.all():
            kept = weights > 0
            if not kept.any():
                raise ValueError("class_weight and sample_weight leave no example: all weights are zero")
            X, y, weights = X[kept], y[kept], weights[kept]
        if categories:
            X, categories = renumber(X, categories, y, weights)
        seed = int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))
        names = tuple(str(name) for name in getattr(self, "feature_names_in_", ()))
        return self._learn_from(
            Training(X, y, weights, attribute_means(X, weights), classes, names, seed, categories)
        )  # fmt: skip

    def _learn_from(self, data: Training):
        """Grow and prune, and keep what was learnt."""
        unpruned, pruned, path, n_hyperplanes, scale = self._grow_and_prune(data)
        self.tree_: Any = pruning.cut_at(pruned, self.ccp_alpha)
        self.unpruned_tree_ = unpruned
        self.pruning_path_ = path
        self.n_hyperplanes_ = n_hyperplanes
        self._scale = scale
        if hasattr(self, "categorical_features"):
            known = [None if own is None else np.array(own, dtype=object) for own in data.categories]
            self.categories_ = known or None
        return self

    def _grow_part(self, data: Training, share: np.ndarray) -> Grown:
        """Grow on a part of the examples, with the codes that it gives to the categories; the tree carries them."""
        rows, weights = data.part(share)
        if not data.categories:
            return self._grow(data, rows, weights)
        codes, means = code_categories(data.X, data.categories, data.y, len(data.classes), rows, weights)
        fill = np.where([own is None for own in codes], data.fill, means)
        is_coded = tuple(own is not None for own in codes)
        numbers = data._replace(X=coded(data.X, codes), fill=fill, categories=(), coded=is_coded)
        grown = self._grow(numbers, rows, weights)
        tree: Any = grown.tree
        return grown._replace(tree=replace(tree, codes=codes, categories=labels_of(data.categories)))

    def _judge_part(self, data: Training, sequence: pruning.PruningSequence, share: np.ndarray) -> np.ndarray:
        """Return what each subtree of a sequence is worth on a part of the examples."""
        rows, weights = data.part(share)
        return self._judge(sequence, data.X[rows], data.y[rows], None if weights is None else weights[rows])

    def _pruning(self, data: Training) -> str | None:
        """Return how the tree is pruned."""
        return self.prune

    def _finished(self, tree: TreeStructure, data: Training, alpha: float) -> TreeStructure:
        """Return the pruned tree, or what is made of it; `alpha` is the price of a leaf at which it is best."""
        return tree

    @abstractmethod
    def _judge(self, sequence: pruning.PruningSequence, X: np.ndarray, y: np.ndarray, weights: np.ndarray | None):
        """Return what each subtree of the sequence is worth on examples, as sums over them: a row for each subtree."""

    @abstractmethod
    def _choose(self, means: np.ndarray, n_examples: float) -> int:
        """Return the step of the best subtree by what `_judge` returned for each, per example."""

    @abstractmethod
    def _path(self, sequence: pruning.PruningSequence, means: np.ndarray) -> np.recarray:
        """Return the sequence as a table; the means are NaN where nothing was judged."""

    def _grow_and_prune(self, data: Training):
        """Return (whole tree, pruned tree, pruning path, hyperplanes considered, scale of the attributes)."""
        prune, n_hyperplanes = self._pruning(data), 0
        draws = prune is not None and data.varies  # with one class there is nothing to prune

        def grow(share) -> Grown:
            nonlocal n_hyperplanes
            grown = self._grow_part(data, share)
            n_hyperplanes += grown.n_hyperplanes
            return grown

        everything = data.everything
        growing, held = data.hold_out(self.prune_fraction) if prune == "holdout" and draws else (everything, None)
        unpruned, _, scale = grow(growing)
        sequence = pruning.prune_sequence(unpruned)
        step, means = 0, np.full(len(sequence.alphas), np.nan)
        held_mass = 0.0 if held is None else data.mass(held)
        if held is not None and held_mass > 0.0:
            means = self._judge_part(data, sequence, held) / held_mass
            step = self._choose(means, held_mass)
        elif prune == "cv" and draws:
            trials = ((pruning.prune_sequence(grow(rest).tree), fold) for rest, fold in data.deal_folds(PRUNING_FOLDS))
            judged = [
                pruning.correct_at(sequence, other, self._judge_part(data, other, fold)) for other, fold in trials
            ]
            mass = data.mass(everything)
            means = np.sum(judged, axis=0) / mass
            step = self._choose(means, mass)
        pruned = sequence.subtree(step) if prune is not None else unpruned
        pruned = self._finished(pruned, data, float(sequence.alphas[step]))
        return unpruned, pruned, self._path(sequence, means), n_hyperplanes, scale

    def _leaves(self, X) -> np.ndarray:
        X = self._checked(X)
        return self.tree_.apply(X, effective_n_jobs(getattr(self, "n_jobs", None)))

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
        X = self._checked(X)
        return self.tree_.decision_path(X)

    def get_depth(self):
        """Return the depth of the deepest leaf."""
        check_is_fitted(self)
        return self.tree_.max_depth

    def get_n_leaves(self):
        """Return the number of leaves: the paper's tree size."""
        check_is_fitted(self)
        return self.tree_.n_leaves

    #: What the model does differently once it is converted, a sentence each.
    _conversion_notes: ClassVar[tuple[str, ...]] = ()

    def _tree_for_conversion(self) -> TreeStructure:
        """Return the tree that a program without this package can follow."""
        return self.tree_

    @property
    def feature_importances_(self):
        """Gain of the splits by attribute; adds up to 1 (or is all zero for a single leaf)."""
        check_is_fitted(self)
        importances = self.tree_.importances(self._scale)
        total = importances.sum()
        return importances / total if total > 0 else importances


class TreeClassifier(CarefulClassifier, TreeEstimator):
    """Base of the package's trees for classes."""

    _parameter_constraints: ClassVar[dict] = {
        **TreeEstimator._parameter_constraints,
        "class_weight": [dict, StrOptions({"balanced"}), None],
        "smoothing": [Interval(Real, 0, None, closed="left")],
    }

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y, sample_weight=None):
        """Grow and prune the tree.

        Parameters
        ----------
        X : array-like (n_samples, n_features)
            Numbers; NaN where a value is missing (it counts as the attribute's mean, unless a parameter says
            otherwise).
        y : array-like (n_samples,)
            Class labels.
        sample_weight : array-like (n_samples,), optional
            A weight of 2 is the same as giving the example twice, 0 as leaving it out (but for the parameters
            ``min_samples_...``, which count rows).

        Returns
        -------
        self
        """
        return self._fit_or_restore(X, y, sample_weight)

    def _fit(self, X, y, sample_weight):
        X, categories = learn_and_encode(X, getattr(self, "categorical_features", None))
        X, y = self._validated(X, y)
        check_classification_targets(y)
        classes, labels = np.unique(y, return_inverse=True)
        self.classes_ = classes
        return self._learn(X, labels, self._weights(sample_weight, X, y), classes, categories)

    def _judge(self, sequence, X, y, weights):
        return sequence.correct(X, y, weights)

    def _choose(self, means, n_examples):
        return pruning.choose_step(means, n_examples, self.prune_se)

    def _path(self, sequence, means):
        return pruning.pruning_path(sequence, means)

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
        """Return the share of each class in the leaf of each example, smoothed if so asked for.

        Parameters
        ----------
        X : array-like (n_samples, n_features)

        Returns
        -------
        array (n_samples, n_classes)
            In the order of ``classes_``.
        """
        leaves = self._leaves(X)
        return self.tree_.smoothed_probabilities(self.smoothing)[leaves]


class GrownBySplitter(TreeEstimator):
    """Base of the learners that bring a splitter (see `oc1.growing.splitters`)."""

    @abstractmethod
    def _splitter(self, data: Training, rows: np.ndarray) -> Splitter:
        """Return the rule that splits a node, for a tree on these rows."""

    def _notes(self, data: Training) -> Notes:
        """Return what the tree notes of a node."""
        return ClassWeights(len(data.classes))

    def _build(self, root: GrownNode, data: Training) -> TreeStructure:
        """Turn the grown nodes into a tree."""
        return build_tree(root, data.fill, data.classes, data.feature_names)

    def _grow(self, data, rows, weights):
        splitter = self._splitter(data, rows)
        limits = Limits(
            self.max_depth,
            self.min_samples_split,
            self.min_samples_leaf,
            self.max_leaf_nodes,
            self.min_impurity_decrease,
        )
        with announce_compiling():
            root = grow_with(
                splitter, data.X, data.y, weights, rows, data.fill, len(data.classes), limits, data.seed,
                Reporter(self.verbose, data.feature_names), self._notes(data),
            )  # fmt: skip
        return Grown(self._build(root, data), splitter.n_hyperplanes, standard_scale(data, rows, weights))


class SplitterClassifier(GrownBySplitter, TreeClassifier):
    """Base of the classifiers that bring a splitter."""

    _parameter_constraints: ClassVar[dict] = TreeClassifier._parameter_constraints
