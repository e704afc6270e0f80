"""The base classes of tree learners: a fit in four steps, prediction, and the common parameters.

``fit`` validates the input, grows a tree, prunes it and finishes it: one method each, which a learner inherits or
overrides. A learner that brings nothing but a splitter derives from `SplitterClassifier` (`by_splitter`).
"""

from __future__ import annotations

from abc import abstractmethod
from copy import copy
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any, ClassVar, NamedTuple, Self

import joblib
import numpy as np
import numpy.typing as npt
from sklearn.base import clone
from sklearn.utils import Bunch
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from ..data.categories import category_values, labels_of
from ..data.search_space import SearchSpace
from ..data.training import Training
from ..growing.engines import LocalEngine
from ..growing.grower import make_grower
from ..growing.nodes import GrownNode, build_tree
from ..growing.options import MIN_LARGE_ROWS, GrowthOptions, TreeSetup
from ..growing.progress import Reporter
from ..growing.splitters import Limits
from ..tree import pruning
from ..tree.sketch import MAX_SKETCHED, Sketch, sketch_tests
from ..tree.structure import TreeStructure
from .base import MAX_SMOOTHING, BaseOC1Classifier, GrowingEstimator
from .explainable import ExplainableTree
from .parameters import as_number, at_least, number_or_share, parameter
from .targets import encode_classes, with_class_weight

#: Folds of ``prune="cv"``.
PRUNING_FOLDS = 10
#: Up to this number of examples, ``prune="auto"`` is cross-validation.
MAX_EXAMPLES_FOR_CV = 2000


class Grown(NamedTuple):
    """What growing returns."""

    tree: TreeStructure
    n_hyperplanes: int  # considered in all
    scale: np.ndarray  # of each attribute, to compare coefficients
    root: GrownNode | None = None  # the nodes that the tree was made of, where they are kept


class Pruned(NamedTuple):
    """What pruning returns."""

    tree: TreeStructure
    alpha: float = 0.0  # the price of a leaf at which the tree is best
    n_hyperplanes: int = 0  # considered for trees that were grown to judge this one
    path: np.ndarray | None = None  # the pruning path, where subtrees were judged


def automatic_pruning(n_examples: float) -> str:
    """Return what ``prune="auto"`` stands for where trees are pruned."""
    return "cv" if n_examples <= MAX_EXAMPLES_FOR_CV else "holdout"


def standard_scale(data: Training, rows: np.ndarray, weights: np.ndarray | None) -> np.ndarray:
    """Return the standard deviations of the attributes, which make coefficients comparable."""
    own_weights = None if weights is None else weights[rows]
    return SearchSpace.make(data.X, rows, data.fill, own_weights, "standard").scale


@dataclass(kw_only=True, eq=False, repr=False)
class TreeEstimator(ExplainableTree, GrowingEstimator):
    """Base of the tree learners, for classes or numbers. For the parameters see `oc1.OC1Classifier`."""

    max_depth: int | None = parameter(None, at_least(0), None)
    min_samples_split: float = parameter(2, *number_or_share(2))
    min_samples_leaf: float = parameter(1, *number_or_share(1, "neither"))
    max_leaf_nodes: int | None = parameter(None, at_least(1), None)
    min_impurity_decrease: float = parameter(0.0, at_least(0, Real))
    ccp_alpha: float = parameter(0.0, at_least(0, Real))
    random_state: int | np.random.RandomState | None = parameter(None, "random_state")
    verbose: int = parameter(0, "verbose")

    # ------------------------------------------------------------------------------------------------ fitting

    def _learn_in_numbers(self, data: Training) -> None:
        """Learn with numbers of examples in the place of shares."""
        n_examples = self._n_counted(data)
        limits = {"min_samples_split": 2, "min_samples_leaf": 1}
        numbers = {name: as_number(getattr(self, name), least, n_examples) for name, least in limits.items()}
        model, parameters = copy(self).set_params(**numbers), self.get_params(deep=False)
        model._learn(data)
        self.__dict__.update({name: value for name, value in vars(model).items() if name not in parameters})

    def _n_counted(self, data: Training) -> float:
        """Return how many examples there are, as ``min_samples_...`` count them."""
        return data.n_examples

    def _learn(self, data: Training) -> None:
        """Grow, prune and finish the tree."""
        growing, held = self._keep_back(data)
        grown = self._grow(data, growing)
        pruned = self._prune(data, grown, held)
        self._finish(data, grown, pruned)

    def _keep_back(self, data: Training) -> tuple[np.ndarray, np.ndarray | None]:
        """Return the shares of the examples to grow on, and of those kept back for pruning (None: none are)."""
        return data.everything, None

    def _grow(self, data: Training, share: np.ndarray) -> Grown:
        """Grow on a part of the examples, with the codes that it gives to the categories; the tree carries them."""
        rows, weights = data.part(share)
        if not data.categories:
            return self._grow_tree(data, rows, weights)
        numbers, codes = data.with_codes(rows, weights)
        grown = self._grow_tree(numbers, rows, weights)
        tree: Any = grown.tree
        return grown._replace(tree=replace(tree, codes=codes, categories=labels_of(data.categories)))

    @abstractmethod
    def _grow_tree(self, data: Training, rows: np.ndarray, weights: np.ndarray | None) -> Grown:
        """Grow an unpruned tree on the given rows; `weights` are those of all examples, None if they count alike."""

    def _prune(self, data: Training, grown: Grown, held: np.ndarray | None) -> Pruned:
        """Prune the tree; `held` is the share of each example that was kept back."""
        return Pruned(grown.tree)

    def _finish(self, data: Training, grown: Grown, pruned: Pruned) -> None:
        """Keep what was learnt."""
        tree: Any = pruning.cut_at(pruned.tree, self.ccp_alpha)
        unpruned: Any = grown.tree
        self.tree_: TreeStructure = replace(tree, scale=grown.scale)
        self.unpruned_tree_ = self.tree_ if unpruned is tree else replace(unpruned, scale=grown.scale)
        self.n_hyperplanes_ = grown.n_hyperplanes + pruned.n_hyperplanes
        self._scale = grown.scale
        if hasattr(self, "categorical_features"):
            self.categories_ = category_values(data.categories)
        self._pruning_path = pruned.path
        self._sketch: Sketch = sketch_tests(self.tree_, *data.some(MAX_SKETCHED))

    @property
    def pruning_path_(self) -> np.recarray:
        """The cost-complexity sequence; it is computed when it is first asked for, unless the tree was pruned by it."""
        check_is_fitted(self)
        if self._pruning_path is None:
            sequence = pruning.prune_sequence(self.unpruned_tree_)
            self._pruning_path = self._path(sequence, np.full(len(sequence.alphas), np.nan))
        return self._pruning_path.view(np.recarray)  # kept as a plain array, which skops can store

    def _path(self, sequence: pruning.PruningSequence, means: np.ndarray) -> np.ndarray:
        """Return a sequence as a table, with what each subtree is worth (NaN where nothing was judged)."""
        return pruning.pruning_path(sequence, means)

    def _limits(self) -> Limits:
        """Return when a node stays a leaf."""
        return self._from_parameters(Limits)

    def cost_complexity_pruning_path(
        self, X: npt.ArrayLike, y: npt.ArrayLike, sample_weight: npt.ArrayLike | None = None
    ) -> Bunch:
        """Grow a tree without pruning and return the values of ``ccp_alpha`` at which it becomes smaller.

        As in scikit-learn, but equal values are listed once.

        Parameters
        ----------
        X : array-like or sparse matrix (n_samples, n_features)
        y : array-like (n_samples,)
        sample_weight : array-like (n_samples,), optional

        Returns
        -------
        Bunch
            ``ccp_alphas``, starting at 0, and ``impurities``: for each alpha, the impurity of the leaves of the pruned
            tree (Gini, or the mean loss), weighted by their shares of the examples.
        """
        whole = self._unpruned_copy().fit(X, y, sample_weight=sample_weight)
        ccp_alphas, impurities = pruning.impurity_path(whole.tree_)
        return Bunch(ccp_alphas=ccp_alphas, impurities=impurities)

    def _unpruned_copy(self) -> Self:
        """Return an estimator whose tree is this one's before anything is cut."""
        copy: Self = clone(self)
        return copy.set_params(prune=None, ccp_alpha=0.0)  # type: ignore[no-any-return]

    # ------------------------------------------------------------------------------------------------ prediction

    def apply(self, X: npt.ArrayLike) -> np.ndarray:
        """Return the number of the leaf that each example ends up in.

        Parameters
        ----------
        X : array-like or sparse matrix (n_samples, n_features)

        Returns
        -------
        int array (n_samples,)
        """
        checked = self._checked_rows(X)
        return self.tree_.apply(checked, joblib.effective_n_jobs(getattr(self, "n_jobs", None)))

    def decision_path(self, X: npt.ArrayLike) -> Any:
        """Return the nodes that each example passes through.

        Parameters
        ----------
        X : array-like or sparse matrix (n_samples, n_features)

        Returns
        -------
        sparse matrix (n_samples, n_nodes)
        """
        checked = self._checked_rows(X)
        return self.tree_.decision_path(checked)

    def get_depth(self) -> int:
        """Return the depth of the deepest leaf."""
        check_is_fitted(self)
        return self.tree_.max_depth

    def get_n_leaves(self) -> int:
        """Return the number of leaves: the paper's tree size."""
        check_is_fitted(self)
        return self.tree_.n_leaves

    #: What the model does differently once it is converted, a sentence each.
    _conversion_notes: ClassVar[tuple[str, ...]] = ()

    def _tree_for_conversion(self) -> TreeStructure:
        """Return the tree that a program without this package can follow."""
        return self.tree_

    @property
    def feature_importances_(self) -> np.ndarray:
        """Gain of the splits by attribute; sums to 1 (or is all zero for a single leaf)."""
        check_is_fitted(self)
        return self.tree_.relative_importances(self._scale)


@dataclass(kw_only=True, eq=False, repr=False)
class CategoricalTree(TreeEstimator):
    """Base of the trees that take categorical attributes."""

    categorical_features: npt.ArrayLike | None = parameter(None, "array-like", StrOptions({"from_dtype"}), None)


@dataclass(kw_only=True, eq=False, repr=False)
class CostComplexityTree(TreeEstimator):
    """Base of the trees that are pruned by cost-complexity, on examples kept back or by cross-validation."""

    prune: str | None = parameter("holdout", StrOptions({"holdout", "cv"}), None)
    prune_fraction: float = parameter(0.1, Interval(Real, 0, 1, closed="neither"))
    prune_se: float = parameter(0.0, at_least(0, Real))

    def _pruning_method(self, data: Training) -> str | None:
        """Return how the tree is pruned: "holdout", "cv" or None."""
        return self.prune

    def _keep_back(self, data: Training) -> tuple[np.ndarray, np.ndarray | None]:
        if self._pruning_method(data) == "holdout" and data.varies:  # with one class there is nothing to prune
            return data.hold_out(self.prune_fraction)
        return super()._keep_back(data)

    def _prune(self, data: Training, grown: Grown, held: np.ndarray | None) -> Pruned:
        method, n_hyperplanes = self._pruning_method(data), 0
        if method is None:
            return Pruned(grown.tree)
        sequence = pruning.prune_sequence(grown.tree)
        if method == "cv" and data.varies:
            worth, judged_mass = [], data.mass(data.everything)
            for rest, fold in data.deal_folds(PRUNING_FOLDS):
                trial = self._grow(data, rest)
                n_hyperplanes += trial.n_hyperplanes
                other = pruning.prune_sequence(trial.tree)
                worth.append(pruning.correct_at(sequence, other, self._judge(data, other, fold)))
            means = np.sum(worth, axis=0) / judged_mass
        elif held is not None and data.mass(held) > 0.0:
            judged_mass = data.mass(held)
            means = self._judge(data, sequence, held) / judged_mass
        else:
            return Pruned(sequence.subtree(0))
        step = self._choose_step(means, judged_mass)
        alpha = float(sequence.alphas[step])
        return Pruned(sequence.subtree(step), alpha, n_hyperplanes, self._path(sequence, means))

    def _judge(self, data: Training, sequence: pruning.PruningSequence, share: np.ndarray) -> np.ndarray:
        """Return what each subtree of a sequence is worth on a part of the examples, as sums over them."""
        rows, weights = data.part(share)
        return self._sum_scores(sequence, data.X[rows], data.y[rows], None if weights is None else weights[rows])

    def _sum_scores(
        self, sequence: pruning.PruningSequence, X: np.ndarray, y: np.ndarray, weights: np.ndarray | None
    ) -> np.ndarray:
        """Return what each subtree of the sequence is worth on examples, as sums over them: a row for each subtree."""
        return sequence.sum_over_leaves(sequence.tree.score_nodes(X, y, weights))

    def _choose_step(self, means: np.ndarray, n_examples: float) -> int:
        """Return the step of the best subtree by what `_judge` returned for each, per example."""
        return pruning.choose_step(means, n_examples, self.prune_se)


@dataclass(kw_only=True, eq=False, repr=False)
class TreeClassifier(BaseOC1Classifier, TreeEstimator):
    """Base of the trees that predict classes."""

    class_weight: dict[Any, float] | str | None = parameter(None, dict, StrOptions({"balanced"}), None)
    smoothing: float = parameter(0.0, Interval(Real, 0, MAX_SMOOTHING, closed="both"))

    def _encode_target(self, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        indices, self.classes_ = encode_classes(y)
        return indices, self.classes_

    def _weights(self, sample_weight: npt.ArrayLike | None, X: np.ndarray, y: np.ndarray) -> np.ndarray | None:
        return with_class_weight(super()._weights(sample_weight, X, y), self.class_weight, y)

    def predict(self, X: npt.ArrayLike) -> np.ndarray:
        """Return the class of each example: the majority of its leaf.

        Parameters
        ----------
        X : array-like or sparse matrix (n_samples, n_features)

        Returns
        -------
        array (n_samples,)
        """
        leaves = self.apply(X)
        return np.asarray(self.classes_[self.tree_.majority[leaves]])

    def predict_proba(self, X: npt.ArrayLike) -> np.ndarray:
        """Return the share of each class in the leaf of each example, after smoothing.

        Parameters
        ----------
        X : array-like or sparse matrix (n_samples, n_features)

        Returns
        -------
        array (n_samples, n_classes)
            In the order of ``classes_``.
        """
        leaves = self.apply(X)
        return np.asarray(self.tree_.outputs(self._checked_smoothing())[leaves])


class RelativeWeights(TreeClassifier):
    """Base of the classifiers to which weights are ratios; the default of `OC1Classifier` sees to that itself."""

    def _learn(self, data: Training) -> None:
        super()._learn(data.with_ratios().in_canonical_order(MIN_LARGE_ROWS))


# ---------------------------------------------------------------------------------------------------- by OC1's search


class SearchedTree(CostComplexityTree, TreeClassifier):
    """Base of the classifiers that OC1's compiled search grows (see `oc1.growing.grower`)."""

    @abstractmethod
    def _options(self, n_classes: int) -> GrowthOptions:
        """Return how the tree is grown."""

    def _grow_tree(self, data: Training, rows: np.ndarray, weights: np.ndarray | None) -> Grown:
        setup = TreeSetup(self._options(len(data.classes)), data.fill, len(data.classes), data.coded)
        is_whole = weights is None and len(rows) == data.n_examples
        # The default measures the trees of all folds with the scale of all samples.
        moments = data.moments if is_whole or setup.options.is_informative else None
        engine = LocalEngine(data.X, data.y, weights, rows, setup, moments)
        grower = make_grower(engine, Reporter(self.verbose, data.feature_names))
        tree = build_tree(grower.grow(data.seed), data.fill, data.classes, data.feature_names)
        is_standard = setup.options.normalize == "standard"
        scale = engine.setup.statistics.space.scale if is_standard else standard_scale(data, rows, weights)
        return Grown(tree, grower.n_hyperplanes, scale)
