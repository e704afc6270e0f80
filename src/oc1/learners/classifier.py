"""The OC1 learner as a scikit-learn classifier."""

from __future__ import annotations

from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import Any, ClassVar, cast

import numpy as np
from joblib import effective_n_jobs
from sklearn.base import clone
from sklearn.utils._param_validation import Interval, StrOptions

from ..data.search_space import NORMALIZATIONS
from ..data.training import Training
from ..growing.options import MIN_LARGE_ROWS, NEVER, PAPER_RULES, GrowthOptions, SearchRules
from ..growing.progress import Reporter
from ..growing.rebuild import rebuild
from ..impurity import NAMES, ImpurityFunction, get_measure
from ..kernels import layout
from .constraints import ConstrainedTree
from .parameters import at_least, parameter
from .selection import (
    AXIS,
    KINDS,
    MAX_ROWS,
    OBLIQUE,
    Choice,
    can_be_fitted_jointly,
    fit_jointly,
    prune_by_size,
    select,
    subtree_at,
)
from .trees import CategoricalTree, Pruned, SearchedTree, automatic_pruning

ORDERS = {"sequential": layout.SEQUENTIAL, "best": layout.BEST, "random": layout.RANDOM}
#: What "auto" stands for, by preset. (The paper: positive attributes in section 3.1, a tenth of the examples kept
#: back for pruning in 4.1. Its 20 restarts, 5 jumps and coefficients in turn are the defaults anyway.)
PRESETS = {
    None: {"normalize": "standard", "prune": "auto"},
    "paper": {"normalize": "positive", "prune": "holdout"},
}
#: How closely the search keeps to the paper, by preset.
RULES = {None: SearchRules(), "paper": PAPER_RULES}


@dataclass(kw_only=True, eq=False, repr=False)
class OC1Classifier(CategoricalTree, ConstrainedTree, SearchedTree):
    """Oblique decision tree by the randomized hill climbing of OC1 (Murthy, Kasif & Salzberg 1994).

    By default, the best axis-parallel test of a node and linear classifiers with few terms compete for information,
    until the leaves are pure. One cross-validation chooses how far the tree is pruned, whether tests may be oblique,
    and whether the tests that are left are fitted together. Of trees that are about as good, the simplest one is taken
    (see the guide, "How the default tree is made").

    In the paper, hyperplanes are improved one coefficient at a time from several starting points, with random jumps out
    of local minima; the purest split wins, and part of the examples is held out to prune the tree. That is
    ``preset="paper"``, and what ``prune`` other than "auto" asks for.

    Parameters
    ----------
    preset : {"paper"} or None, default=None
        What "auto" means for `normalize` and `prune`, and how closely the search keeps to the paper. "paper" gives the
        paper's settings (sections 3.1 and 4.1): ``normalize="positive"`` and ``prune="holdout"``. (Its 20 restarts,
        5 jumps and sequential order are the defaults anyway.) Values other than "auto" take precedence over the preset.
        The search follows Figures 6 and 8 to the letter (see `oc1.growing.options.SearchRules`). The paper says both
        that all d + 1 coefficients are perturbed in turn (Figure 6) and that the constant is not (Seq, section 3.1): it
        is perturbed, which comes nearer to Table 2.
    criterion : {"twoing", "gini", "info_gain", "entropy", "log_loss", "max_minority", "sum_minority", \
            "sum_of_variances"} or callable, default="twoing"
        The impurity measure. A function ``f(left, right) -> float`` of the class weights on the two sides (float arrays
        in the order of ``classes_``; smaller values mean purer) is compiled by Numba and runs at native speed.
        "entropy" and "log_loss" are scikit-learn's names of "info_gain".
    splits : {"auto", "axis", "oblique"}, default="auto"
        Which tests a tree may have. "auto": axis-parallel and oblique ones; with ``prune="auto"``, cross-validation
        says whether oblique ones are worth it. "axis": axis-parallel tests only (OC1-AP). "oblique": no search for
        axis-parallel tests.
    normalize : {"auto", "standard", "positive"}, default="auto"
        Search on standardised attributes, which makes the tree independent of their units, or on attributes as they
        are, those with negative values shifted into the positive quadrant, as in the authors' program. "auto":
        "positive" with ``preset="paper"``, else "standard".
    n_restarts : int, default=20
        Number of searches per node (the paper's R). The first starts from the best axis-parallel split, the others from
        hyperplanes with random coefficients, uniform between -1 and 1; 0 still searches once. This and the other
        parameters of the search act with ``preset="paper"`` and with `prune` other than "auto".
    n_jumps : int, default=5
        Number of random directions tried at each local minimum (the paper's J).
    order : {"sequential", "best", "random"}, default="sequential"
        Which coefficient is perturbed next: each in turn until none changes; the one that improves the split most; or a
        random one, `n_perturbations` times.
    n_perturbations : int, default=50
        Number of perturbations for ``order="random"`` (the paper's R-50).
    stagnation : float, default=1.0
        Probability of a move to an equally pure position (the paper's P_stag). It falls at each such move, with
        ``preset="paper"`` at each tie, and is restored when the impurity improves.
    max_stagnant : int, default=10
        Number of moves to equally pure positions, one after the other, after which that probability has fallen to 0
        (the paper's "stagnant-perturbations", s): it falls by `stagnation` divided by this.
    axis_bias : float, default=1.0
        An oblique split is chosen only if its impurity times this is below that of the axis-parallel split. (A
        criterion of your own must then not be negative.)
    min_samples_oblique : int or None, default=None
        Nodes with fewer examples only get axis-parallel splits. None: twice the number of attributes where
        the purest split wins, else no limit.
    max_terms : int or None, default=None
        Maximum number of attributes per split, to keep tests readable. With ``prune="auto"``, the terms that linear
        classifiers can best do without are dropped. Otherwise, starting from the best split found, the least important
        attribute is dropped (CART's rule) and the remaining coefficients are improved, until few enough are left. None:
        no limit.
    max_depth : int or None, default=None
        Maximum depth of the tree; the root has depth 0.
    min_samples_split : int or float, default=2
        Nodes with fewer examples become leaves. A float is a share of all examples.
    min_samples_leaf : int or float, default=1
        Minimum number of examples on each side of a split. A float is a share of all examples.
    min_weight_fraction_leaf : float, default=0.0
        Minimum weight on each side of a split, as a share of the weight of all examples.
    max_features : int or float, {"sqrt", "log2"} or None, default=None
        Number of attributes that a node looks at, drawn at random for each node: a number, a share of the attributes
        (a float), or the root or logarithm of their number. Where these give no split, others are drawn. This is for
        votes of many trees. None: all attributes.
    max_leaf_nodes : int or None, default=None
        Grow best-first, up to this number of leaves.
    min_impurity_decrease : float, default=0.0
        A node is split only if the gain, times the node's share of the examples, is at least this. The gain is the
        Twoing value, the decrease in Gini impurity, the information gain in bits, or the decrease in minority or
        variance per example.
    categorical_features : None, "from_dtype", or array-like of int, str or bool, default=None
        Which columns hold categories (text, or numbers without an order): none; the categorical and text columns of a
        data frame; these indices; these names; or a mask. In each tree, categories are ordered by response as in CART:
        for two classes by the share of the second one, for more classes along the first principal component of the
        class shares. The resulting codes, shrunk towards the mean for rare categories, replace the attribute. CART
        orders categories again at each node; here one order is used for the whole tree, so that it can take part in
        linear combinations, but categories with equal shares are never separated. Missing values, and categories not
        seen in training, count as the mean.
    missing : {"mean", "direction"}, default="mean"
        How missing values are handled: "mean" replaces them by the attribute's mean; with "direction", an axis-parallel
        split sends them to the side that makes it purer, and can also test whether a value is missing. Oblique splits,
        categories, and attributes without missing values at the node in training always use the mean.
    prune : {"auto", "holdout", "cv", None}, default="auto"
        How the size of the tree is decided: by the default's cross-validation ("auto", on standardised attributes), by
        cost-complexity pruning on held-out examples ("holdout") or by ten-fold cross-validation ("cv"), or not at all
        (None). With anything but "auto", and with ``normalize="positive"``, OC1's search finds the splits and the
        purest one wins, until the leaves are pure or their examples cannot be told apart. (Nodes are then split also
        where no split gains anything: by the one with the largest Gini gain or, where that is 0, by the most even one.)
        With ``preset="paper"``, "auto" means "holdout".
    prune_fraction : float, default=0.1
        Fraction of the examples to hold out for ``prune="holdout"``.
    prune_se : float, default=0.0
        Choose the smallest tree within this number of standard errors of the best.
    ccp_alpha : float, default=0.0
        Cost of a leaf, in Gini impurity, for a final cost-complexity pruning, with any `prune`. This is scikit-learn's
        ``ccp_alpha``, on the same scale; ``cost_complexity_pruning_path`` lists the values that make a difference.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, as in scikit-learn.
    smoothing : float, default=0.0
        Number of examples of each class to add to the counts of a leaf for its probabilities. 0 gives the shares of the
        classes, 1 is Laplace's rule, (count + 1) / (n + n_classes). Predictions do not change.
    random_state : int, RandomState instance or None, default=None
        The same seed gives the same tree, for any `n_jobs`.
    n_jobs : int or None, default=None
        Number of threads, for growing the tree and for predicting large inputs. None means one, -1 all cores.
    verbose : int, default=0
        1 prints a line for each inner node; 2 also prints each move of the search with the impurity before and after
        (and uses one thread).

    Attributes
    ----------
    tree_ : Tree
        The fitted tree; ``print(clf.tree_)`` shows it.
    splits_ : {"axis", "oblique"}
        Which tests the tree may have: what cross-validation chose with ``splits="auto"``.
    cv_accuracies_ : dict of str to float
        With ``prune="auto"``, the accuracy by cross-validation of the best "axis" and "oblique" trees, and of the
        oblique one with its tests fitted together ("joint"). Otherwise empty.
    unpruned_tree_ : Tree
        The tree as it was grown.
    pruning_path_ : record array with the fields ``alpha``, ``leaves``, ``terms``, ``accuracy``
        The cost-complexity sequence from the full tree to the root; with ``prune="auto"``, terms have a price, too. The
        accuracy is measured on held-out examples or by cross-validation (NaN without pruning).
    categories_ : list with an array or None for each attribute, or None
        The values of the categorical attributes, most frequent first; None if there are none.
    classes_ : array (n_classes,)
    n_classes_ : int
    max_features_ : int
        The number of attributes that a node looks at.
    n_features_in_ : int
    feature_names_in_ : array (n_features_in_,)
        Only if the attributes have names.
    feature_importances_ : array (n_features_in_,)
        Gain of the splits, divided among their attributes by the size of the standardised coefficients; sums to 1.
    n_hyperplanes_ : int
        Number of hyperplanes considered while growing (the third column of the paper's Table 2): one for each line
        search and each starting point.

    Examples
    --------
    >>> from oc1 import OC1Classifier
    >>> from oc1.datasets import make_pol
    >>> X, y = make_pol(random_state=0)
    >>> clf = OC1Classifier(random_state=0).fit(X, y)
    >>> clf.get_n_leaves()
    5
    """

    preset: str | None = parameter(None, StrOptions(set(PRESETS) - {None}), None)
    criterion: str | ImpurityFunction = parameter("twoing", StrOptions(set(NAMES)), callable)
    splits: str = parameter("auto", StrOptions({"auto", *KINDS}))
    normalize: str = parameter("auto", StrOptions({"auto", *NORMALIZATIONS}))
    n_restarts: int = parameter(20, at_least(0))
    n_jumps: int = parameter(5, at_least(0))
    order: str = parameter("sequential", StrOptions(set(ORDERS)))
    n_perturbations: int = parameter(50, at_least(1))
    stagnation: float = parameter(1.0, Interval(Real, 0, 1, closed="both"))
    max_stagnant: int = parameter(10, at_least(1))
    axis_bias: float = parameter(1.0, at_least(1, Real))
    min_samples_oblique: int | None = parameter(None, at_least(2), None)
    max_terms: int | None = parameter(None, at_least(1), None)
    missing: str = parameter("mean", StrOptions({"mean", "direction"}))
    prune: str | None = parameter("auto", StrOptions({"auto", "holdout", "cv"}), None)
    n_jobs: int | None = parameter(None, Integral, None)

    _large: ClassVar[int] = MIN_LARGE_ROWS  # see `GrowthOptions`
    _alpha = 0.0  # the same

    def _setting(self, name: str) -> str | None:
        """Return a parameter, or what the preset says where it is "auto"."""
        value = getattr(self, name)
        return PRESETS[self.preset][name] if value == "auto" else value

    @property
    def _is_default(self) -> bool:
        """Whether the tree is made as by default: information chooses the tests, cross-validation the tree."""
        return self._setting("prune") == "auto" and self._setting("normalize") == "standard"

    def _options(self, n_classes: int) -> GrowthOptions:
        rules = RULES[self.preset]
        return self._from_parameters(
            GrowthOptions,
            splits=AXIS
            if getattr(self, "splits_", self.splits) == AXIS
            else "oblique"
            if self.splits == "oblique"
            else "best",
            measure=get_measure(self.criterion, n_classes),
            order=ORDERS[self.order],
            stagnation=float(self.stagnation),
            axis_bias=float(self.axis_bias),
            normalize=self._setting("normalize"),
            alpha=self._alpha,
            is_informative=self._is_default,
            n_jobs=effective_n_jobs(self.n_jobs),
            rules=rules,
            min_large_rows=self._large if rules.samples_large_nodes else NEVER,
        )

    def _learn(self, data: Training) -> None:
        self.splits_, self.cv_accuracies_ = AXIS if self.splits == "axis" else OBLIQUE, {}
        data = data.with_ratios(counts_evidence=self._setting("prune") is not None)
        if not self._is_default:
            super()._learn(data)
            return
        data = data.in_canonical_order(self._large)
        rules: dict[str, Any] = {
            "min_samples_leaf": int(self.min_samples_leaf),
            "min_weight_leaf": self.min_weight_fraction_leaf * data.mass(data.everything),
            "criterion": self.criterion,
        }
        choice, is_small = Choice(self.splits_, 0.0, False, {}, 0), data.n_examples <= self._large
        if data.varies:
            kinds = KINDS if self.splits == "auto" and len(data.fill) > 1 else (self.splits_,)
            sample = data.sample(MAX_ROWS)
            own_rules = rules | {"min_weight_leaf": self.min_weight_fraction_leaf * sample.mass(sample.everything)}
            verbose, self.verbose = self.verbose, 0  # of the tree that is chosen only
            choice = select(self._grow_kind, kinds, sample, is_small, max_terms=self.max_terms, **own_rules)
            self.splits_, self.cv_accuracies_, self.verbose = choice.kind, choice.accuracies, verbose
        if self.verbose and choice.accuracies:
            figures = ", ".join(f"{kind} {accuracy:.1%}" for kind, accuracy in choice.accuracies.items())
            Reporter(self.verbose).write(f"by cross-validation: {figures}")
        self._alpha = 0.0 if is_small else choice.alpha
        grown = self._grow(data, data.everything)
        del self._alpha
        grown = grown._replace(tree=replace(cast("Any", grown.tree), scale=grown.scale))
        tree: Any = subtree_at(grown.tree, choice.alpha)
        if is_small and not tree.directions.any():
            examples = data.X, data.y, data.weights
            if choice.is_fitted_jointly and can_be_fitted_jointly(tree):
                tree = fit_jointly(tree, choice.alpha, *examples, self.max_terms, **rules)
            else:
                tree = rebuild(tree, [None] * tree.n_nodes, *examples, **rules)
        sequence = prune_by_size(grown.tree)
        path = self._path(sequence, choice.accuracies_on(sequence))
        self._finish(data, grown, Pruned(tree, choice.alpha, choice.n_hyperplanes, path))

    def _grow_kind(self, kind: str, data: Training, part: np.ndarray) -> tuple[Any, int]:
        """Grow a tree of a kind on a part of the data; return it and the number of hyperplanes considered."""
        self.splits_ = kind
        grown = self._grow(data, part)
        return replace(cast("Any", grown.tree), scale=grown.scale), grown.n_hyperplanes

    def _pruning_method(self, data: Training) -> str | None:
        prune = self._setting("prune")
        return automatic_pruning(data.n_examples) if prune == "auto" else prune

    def _unpruned_copy(self) -> OC1Classifier:
        return clone(self).set_params(ccp_alpha=0.0) if self._is_default else super()._unpruned_copy()
