"""The OC1 learner as a scikit-learn classifier."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar

import numpy.typing as npt
from joblib import effective_n_jobs
from sklearn.base import clone
from sklearn.utils._param_validation import Interval, StrOptions

from ..data.search_space import NORMALIZATIONS
from ..data.training import Training
from ..growing.options import MIN_LARGE_ROWS, NEVER, PAPER_RULES, STARTS, GrowthOptions, SearchRules
from ..growing.progress import Reporter
from ..growing.tao import refine
from ..impurity import NAMES, ImpurityFunction, get_measure
from ..kernels import layout
from ..tree.linear import Tree
from .base import CategoricalTree, Grown, Pruned, automatic_pruning
from .constraints import ConstrainedTree
from .contest import Entrant, hold_contest
from .on_device import DeviceTree
from .parameters import at_least, parameter
from .softening import choose_ridge, foresee, has_parted, is_sampled, pruned_at, softened

if TYPE_CHECKING:
    from sklearn.model_selection import BaseCrossValidator

    from .sparsity import SparsityPath

ORDERS = {"sequential": layout.SEQUENTIAL, "best": layout.BEST, "random": layout.RANDOM}
#: What "auto" stands for, by preset. (Section 4.1 of the paper: attributes in the positive quadrant, a tenth of the
#: examples kept back for pruning. Its 20 restarts, 5 jumps and coefficients in turn are the defaults anyway.)
PRESETS = {
    None: {"normalize": "standard", "prune": "auto"},
    "paper": {"normalize": "positive", "prune": "holdout"},
}
#: How closely the search keeps to the paper, by preset.
RULES = {None: SearchRules(), "paper": PAPER_RULES}
#: The starts of the paper, and those that did best when the complexity penalty chooses among the results.
PAPER_STARTS = ("axis", "random")
PENALISED_STARTS = STARTS
#: The kinds of trees that compete with ``splits="auto"``. All but the first are grown to purity and pruned.
KINDS = ("best", "axis", "linear")


@dataclass(kw_only=True, eq=False, repr=False)
class OC1Classifier(CategoricalTree, ConstrainedTree, DeviceTree):
    """Oblique decision tree by the randomized hill climbing of OC1 (Murthy, Kasif & Salzberg 1994).

    At each node, the best axis-parallel split is found. Then hyperplanes are improved one coefficient at a time from
    several starting points, with random jumps out of local minima. In the paper, the purest split wins, and part of
    the examples is held out to prune the tree (``preset="paper"``). By default, linear classifiers are among the
    starting points, the split with the highest value after a penalty for its complexity wins, and a node where no
    split is worth its penalty becomes a leaf: see `oc1.growing.penalised`.

    Parameters
    ----------
    preset : {"paper"} or None, default=None
        What "auto" means for `normalize` and `prune`, and how closely the search keeps to the paper. "paper" gives the
        settings of the paper's section 4.1: ``normalize="positive"`` and ``prune="holdout"``, and therefore neither
        linear starting points nor a complexity penalty. (Its 20 restarts, 5 jumps and sequential order are the defaults
        anyway.) Values other than "auto" take precedence over the preset. The search follows Figures 6 and 8 to the
        letter (see `oc1.growing.options.SearchRules`).
    criterion : {"twoing", "gini", "info_gain", "entropy", "log_loss", "max_minority", "sum_minority", \
            "sum_of_variances"} or callable, default="twoing"
        The impurity measure. A function ``f(left, right) -> float`` of the class weights on the two sides (float arrays
        in the order of ``classes_``; smaller values mean purer) is compiled by Numba and runs at native speed.
        "entropy" and "log_loss" are scikit-learn's names of "info_gain".
    splits : {"auto", "best", "axis", "linear", "oblique"}, default="auto"
        The kind of tree. "best": at each node, an axis-parallel split, a linear classifier or a split of OC1's search,
        whichever is worth most. "axis": axis-parallel splits only (OC1-AP). "linear": axis-parallel splits and linear
        classifiers that tell two classes, or one class and the rest, apart, without a search, until the leaves are
        pure; then the tree is pruned. "oblique": as "best", but without axis-parallel splits. "auto": the first three
        compete by five-fold cross-validation (on at most 4000 examples), and "best" stays unless another is clearly
        more accurate. It means "best" where the complexity penalty does not apply (see `prune`), with more than
        100,000 examples, and together with `sparsity`, `max_leaf_nodes` or `axis_bias`.
    normalize : {"auto", "standard", "positive"}, default="auto"
        Search on standardised attributes, which makes the tree independent of their units, or on attributes as they
        are, those with negative values shifted into the positive quadrant, as in the authors' program. "auto":
        "positive" with ``preset="paper"``, else "standard".
    n_restarts : int, default=20
        Number of searches per node (the paper's R). The first starts from the best axis-parallel split, the others from
        random hyperplanes; 0 still searches once. (With the complexity penalty, a quarter as many start from random
        hyperplanes, half as many at nodes with 100,000 examples or more.)
    n_jumps : int, default=5
        Number of random directions tried at each local minimum (the paper's J).
    starts : list of str or None, default=None
        Starting points of the search at a node: "axis" (the best axis-parallel split), "linear" (a linear classifier
        that tells two classes, or one class and the rest, apart) and "random".
        None: all of them where the complexity penalty applies (see `prune`), else the paper's "axis" and "random".
    complexity_penalty : float, default=3.0
        Penalty on the Twoing value of a split, for each coefficient that the search has chosen, because that much could
        be due to chance. It is divided by the number of examples at the node. A larger penalty gives smaller trees.
        Only used with ``prune="auto"``.
    rounding : bool or None, default=None
        Round coefficients and thresholds to as few digits as possible without loss, at nodes with up to 20,000
        examples. None: where the complexity penalty applies.
    sparsity : float or None, default=None
        Drop terms of a split as long as it loses no more than this fraction of its purity. None: drop none.
    refine : bool or None, default=None
        Refit the tests of the grown and pruned tree. True: each test in turn learns to send every example to the
        subtree that classifies it correctly, as long as the training error falls; branches that have no effect are
        removed. None: where the complexity penalty applies, for up to 100,000 examples and ``min_samples_split=2``,
        all tests are fitted together, as those of a soft tree, where there are few examples for each term, where the
        tree is right about nearly all of them, or where cross-validation speaks for it; otherwise as with True.
    order : {"sequential", "best", "random"}, default="sequential"
        Which coefficient is perturbed next: each in turn until none changes; the one that improves the split most; or a
        random one, `n_perturbations` times.
    n_perturbations : int, default=50
        Number of perturbations for ``order="random"`` (the paper's R-50).
    stagnation : float, default=1.0
        Probability of a move to an equally pure position (the paper's P_stag). It falls by a tenth at each such move,
        with ``preset="paper"`` at each tie, and is restored when the impurity improves.
    axis_bias : float, default=1.0
        An oblique split is chosen only if its impurity times this is below that of the axis-parallel split. (A
        criterion of your own must then not be negative.)
    min_samples_oblique : int or None, default=None
        Nodes with fewer examples only get axis-parallel splits. None: twice the number of attributes.
    max_terms : int or None, default=None
        Maximum number of attributes per split, to keep tests readable. Where the complexity penalty applies, linear
        classifiers select the attributes that separate their classes best, and the search combines no more. Otherwise,
        starting from the best split found, the least important attribute is dropped (CART's rule) and the remaining
        coefficients are improved, until few enough are left. None: no limit.
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
        How the size of the tree is decided: by the complexity penalty ("auto"), by cost-complexity pruning on held-out
        examples ("holdout") or by ten-fold cross-validation ("cv"), or not at all (None). With "auto", all examples are
        used to grow the tree; trees to which the penalty does not apply (``splits="axis"``, ``normalize="positive"``,
        ``complexity_penalty=0``) are pruned by cross-validation up to 2000 examples, otherwise on held-out examples.
        With ``preset="paper"``, "auto" means "holdout". The other values grow the tree by purity alone, until the
        leaves are pure, before they prune.
    prune_fraction : float, default=0.1
        Fraction of the examples to hold out for ``prune="holdout"``.
    prune_se : float, default=0.0
        Choose the smallest tree within this number of standard errors of the best. Weights count as numbers of
        examples here.
    ccp_alpha : float, default=0.0
        Cost of a leaf, in Gini impurity, for a final cost-complexity pruning, with any `prune`. This is scikit-learn's
        ``ccp_alpha``, on the same scale; ``cost_complexity_pruning_path`` lists the values that make a difference.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, as in scikit-learn.
    smoothing : float, default=0.0
        Number of examples of each class to add to the counts of a leaf for its probabilities. 0 gives the shares of the
        classes, 1 is Laplace's rule, (count + 1) / (n + n_classes). Predictions do not change. Weights count as numbers
        of examples here.
    random_state : int, RandomState instance or None, default=None
        The same seed gives the same tree, for any `n_jobs`.
    n_jobs : int or None, default=None
        Number of threads, for growing the tree and for predicting large inputs. None means one, -1 all cores.
    device : {"cpu", "cuda", "auto"}, default="cpu"
        Who counts the examples of nodes with 100,000 of them or more: the processor; or a GPU, which needs
        CuPy (``pip install 'oc1[cuda]'``). "auto" takes the GPU if there is one. The tree is the same, but for rounding
        where examples have weights that are not whole numbers. Arrays of CuPy and PyTorch that are on the GPU can be
        given as they are. Smaller nodes are grown by the processor, on `n_jobs` threads.
    verbose : int, default=0
        1 prints a line for each inner node; 2 also prints each move of the search with the impurity before and after
        (and uses one thread).

    Attributes
    ----------
    tree_ : Tree
        The fitted tree; ``print(clf.tree_)`` shows it.
    splits_ : str
        The kind of tree: `splits`, or the winner with ``splits="auto"``.
    cv_accuracies_ : dict of str to float
        With ``splits="auto"``, the accuracy of each kind of tree in the folds that it took part in: those that fall
        far behind leave the contest early. Empty where no contest was held.
    unpruned_tree_ : Tree
        The tree as it was grown.
    pruning_path_ : record array with the fields ``alpha``, ``leaves``, ``accuracy``
        The cost-complexity sequence from the full tree to the root. The accuracy is measured on held-out examples or by
        cross-validation (NaN without pruning).
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
    splits: str = parameter("auto", StrOptions({"auto", *KINDS, "oblique"}))
    normalize: str = parameter("auto", StrOptions({"auto", *NORMALIZATIONS}))
    n_restarts: int = parameter(20, at_least(0))
    n_jumps: int = parameter(5, at_least(0))
    starts: Sequence[str] | str | None = parameter(None, list, tuple, str, None)
    complexity_penalty: float = parameter(3.0, at_least(0, Real))
    rounding: bool | None = parameter(None, "boolean", None)
    sparsity: float | None = parameter(None, Interval(Real, 0, 1, closed="left"), None)
    refine: bool | None = parameter(None, "boolean", None)
    order: str = parameter("sequential", StrOptions(set(ORDERS)))
    n_perturbations: int = parameter(50, at_least(1))
    stagnation: float = parameter(1.0, Interval(Real, 0, 1, closed="both"))
    axis_bias: float = parameter(1.0, at_least(1, Real))
    min_samples_oblique: int | None = parameter(None, at_least(2), None)
    max_terms: int | None = parameter(None, at_least(1), None)
    missing: str = parameter("mean", StrOptions({"mean", "direction"}))
    prune: str | None = parameter("auto", StrOptions({"auto", "holdout", "cv"}), None)
    n_jobs: int | None = parameter(None, Integral, None)

    _large: ClassVar[int] = MIN_LARGE_ROWS  # see `GrowthOptions`

    def _setting(self, name: str) -> str | None:
        """Return a parameter, or what the preset says where it is "auto"."""
        value = getattr(self, name)
        return PRESETS[self.preset][name] if value == "auto" else value

    @property
    def _is_penalised(self) -> bool:
        """Whether the complexity penalty applies: it says which split is made."""
        classical = self.splits == "axis" or self._setting("normalize") != "standard"
        is_wanted = self._setting("prune") == "auto" or self.splits == "linear"
        return is_wanted and not classical and self.complexity_penalty > 0.0

    @property
    def _rounds(self) -> bool:
        return self._is_penalised if self.rounding is None else self.rounding

    @property
    def _is_grown_to_purity(self) -> bool:
        return self.splits == "linear" and self._is_penalised

    def _options(self, n_classes: int) -> GrowthOptions:
        penalised, rules = self._is_penalised, RULES[self.preset]
        if self.splits == "linear" and not penalised:
            raise ValueError("splits='linear' needs normalize='standard' and a complexity_penalty above 0")
        usual_starts = PENALISED_STARTS if penalised else PAPER_STARTS
        return self._from_parameters(
            GrowthOptions,
            splits="best" if self.splits in ("auto", "linear") else self.splits,
            to_purity=self._is_grown_to_purity,
            # One of few attributes may gain nothing by itself, and still be where another one can go on.
            splits_ties=self.preset is None and (self._setting("prune") is not None or self.max_features is not None),
            measure=get_measure(self.criterion, n_classes),
            order=ORDERS[self.order],
            stagnation=float(self.stagnation),
            axis_bias=float(self.axis_bias),
            normalize=self._setting("normalize"),
            starts=known_starts(usual_starts if self.starts is None else self.starts),
            complexity_penalty=float(self.complexity_penalty) if penalised else 0.0,
            rounding=self._rounds,
            n_jobs=effective_n_jobs(self.n_jobs),
            rules=rules,
            min_large_rows=self._large if rules.samples_large_nodes else NEVER,
        )

    def _learn(self, data: Training) -> None:
        self.splits_, self.cv_accuracies_ = "best" if self.splits == "auto" else self.splits, {}
        if not (data.varies and data.n_examples <= self._large and self._holds_contest):
            super()._learn(data)
            return
        may_soften = self.refine is None and self.min_samples_split == 2
        if may_soften:
            foresee()
        # A tree that tells the classes apart is not challenged. Where the contest is about a sample, it comes first:
        # the tree of all examples would take longer.
        first = None if is_sampled(data) else self._grow(data, data.everything)
        if first is not None and has_parted(first.tree):
            self._finish(data, first, Pruned(first.tree))
            return
        entrants = {kind: Entrant(self._kind(kind), kind != "best", may_soften and kind != "axis") for kind in KINDS}
        outcome = hold_contest(entrants, data, self.n_jobs)
        self.splits_, self.cv_accuracies_ = outcome.winner, outcome.accuracies
        if self.verbose:
            figures = ", ".join(f"{kind} {accuracy:.1%}" for kind, accuracy in outcome.accuracies.items())
            Reporter(self.verbose).write(f"kinds of trees, by cross-validation: {figures}; chosen: {outcome.winner}")
        n_hyperplanes = outcome.n_hyperplanes
        if outcome.winner == "best":
            grown = first or self._grow(data, data.everything)
        else:
            n_hyperplanes += first.n_hyperplanes if first else 0
            grown = clone(self).set_params(splits=outcome.winner)._grow(data, data.everything)
        # The price of a leaf is 0 for trees that are not pruned.
        price = outcome.price if entrants[outcome.winner].is_pruned else 0.0
        pruned = Pruned(pruned_at(grown, price), price, n_hyperplanes, is_softened=outcome.is_softened)
        self._finish(data, grown, pruned)

    def _kind(self, splits: str) -> OC1Classifier:
        """Return a copy for one kind of tree in a contest, where random starts and short numbers only take time."""
        plain: dict[str, Any] = {"n_restarts": 0, "rounding": False, "n_jobs": None, "verbose": 0}
        return clone(self).set_params(splits=splits, **plain)  # type: ignore[no-any-return]

    @property
    def _holds_contest(self) -> bool:
        """Whether different kinds of trees compete: that is wanted, and all can keep to the parameters."""
        are_able = self.sparsity is None and self.max_leaf_nodes is None and self.axis_bias == 1.0
        return self.splits == "auto" and self._is_penalised and are_able

    def _pruning_method(self, data: Training) -> str | None:
        if self._is_penalised and not self._is_grown_to_purity:
            return None
        prune = self._setting("prune")
        return automatic_pruning(data.n_examples) if prune == "auto" else prune

    def _unpruned_copy(self) -> OC1Classifier:
        return clone(self).set_params(ccp_alpha=0.0) if self._is_penalised else super()._unpruned_copy()

    def _finish(self, data: Training, grown: Grown, pruned: Pruned) -> None:
        super()._finish(data, grown, pruned._replace(tree=self._refined(pruned, data)))

    def _refined(self, pruned: Pruned, data: Training) -> Tree:
        """Return the tree with its tests fitted together or, where that is no better, in turn; if that is wanted."""
        tree: Any = pruned.tree
        # It works on a copy of the examples: where these are many, it must be asked for. And those that change sides
        # could leave too few for a split.
        is_small = data.n_examples <= self._large and self.min_samples_split == 2
        usual = self._is_penalised and self.prune is not None and is_small and not len(tree.missing)
        if not (usual if self.refine is None else self.refine):
            return tree  # type: ignore[no-any-return]
        rules: dict[str, Any] = {
            "min_samples_leaf": int(self.min_samples_leaf),
            "min_weight_leaf": self.min_weight_fraction_leaf * data.mass(data.everything),
            "criterion": self.criterion,
            "rounding": self._rounds,
        }
        trial = self._kind(self.splits_), tree, data, pruned.alpha, pruned.is_softened
        ridge = choose_ridge(*trial) if self.refine is None and data.varies else None
        if ridge is not None:
            return softened(tree, data, ridge, self.max_terms, **rules)
        widen, max_terms = not self._is_penalised, self.max_terms
        examples = data.X, data.y, data.weights
        return refine(tree, *examples, alpha=pruned.alpha, widen=widen, max_terms=max_terms, **rules)

    def sparsity_path(
        self,
        X: npt.ArrayLike,
        y: npt.ArrayLike,
        sample_weight: npt.ArrayLike | None = None,
        *,
        max_terms: npt.ArrayLike | None = None,
        cv: int | BaseCrossValidator | Iterable[Any] | None = 5,
    ) -> SparsityPath:
        """Return what short tests cost: accuracy by cross-validation, and terms in the tree, by `max_terms`.

        The estimator itself is not fitted; its other parameters apply to all trees. For a picture see
        `oc1.plotting.plot_sparsity_path`.

        Parameters
        ----------
        X : array-like or sparse matrix (n_samples, n_features)
        y : array-like (n_samples,)
        sample_weight : array-like (n_samples,), optional
            Used for growing and for the accuracy.
        max_terms : array-like of int, optional
            The limits to try. The number of attributes, or more, means no limit. None: 1, 2, 3, 5, 8, ... (each the sum
            of the two before it), and no limit.
        cv : int, cross-validation generator or iterable, default=5
            The folds, the same for all limits: as in scikit-learn, a number of stratified folds, a splitter, or pairs
            of arrays of rows to learn from and rows to test on.

        Returns
        -------
        SparsityPath
            Arrays with a value for each limit: ``max_terms``, ``accuracy``, ``standard_error``, ``n_leaves`` and
            ``n_terms``, the number of terms in the whole tree. Print it for a table.

        Examples
        --------
        >>> from oc1 import OC1Classifier
        >>> from oc1.datasets import make_pol
        >>> X, y = make_pol(500, random_state=0)
        >>> path = OC1Classifier(random_state=0).sparsity_path(X, y)
        >>> path.max_terms.tolist(), path.accuracy[1] > path.accuracy[0]
        ([1, 2], True)
        """
        from .sparsity import sparsity_path  # scikit-learn's model selection takes a tenth of a second to import

        return sparsity_path(self, X, y, sample_weight, max_terms, cv)


def known_starts(given: Sequence[str] | str) -> tuple[str, ...]:
    """Return the names of starts, one or several; raise an error that lists the known ones."""
    names = (given,) if isinstance(given, str) else tuple(given)
    unknown = [name for name in names if name not in STARTS]
    if unknown or not names:
        what = f"{unknown[0]!r} is not one of them" if unknown else "none is given"
        raise ValueError(f"starts must name some of {', '.join(map(repr, STARTS))}: {what}")
    return tuple(dict.fromkeys(names))
