"""C4.5 (Quinlan 1993): gain ratio, branches for categories, fractional examples, error-based pruning.

Release 5 is the program in the book. Release 8, of 1996, also penalises a test for the number of thresholds it was
chosen from.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations
from math import log2, sqrt
from numbers import Integral, Real
from typing import ClassVar, NamedTuple, cast

import numpy as np
import numpy.typing as npt
from sklearn.utils._param_validation import Interval, Options, StrOptions

from ..data.categories import labels_of
from ..data.sparse_input import by_blocks
from ..data.training import Training
from ..growing.linear_tests import LinearTest
from ..growing.nodes import GrownNode, structure_of
from ..growing.splitters import Limits, NodeExamples, Splitter, divide
from ..impurity import entropy, information_gained
from ..learners.base import CategoricalTree, Grown, Pruned, TreeClassifier
from ..learners.by_splitter import SplitterTree
from ..learners.parameters import at_least, parameter
from ..tree.branching import BranchTree
from ..tree.linear import Tree
from ..tree.structure import TreeStructure
from .grouping import count_below

#: Gains closer than this are equal: they are sums in some order, rounded.
EQUAL = 1e-12
#: By how much less than the average, in bits, a test may gain and still compete, as in C4.5.
GAIN_SLACK_BITS = 1e-3
#: Values of a numeric attribute that are no further apart than this are equal. (C4.5, and Weka's J48, say 1e-5. Then
#: trees would depend on the units.)
MIN_VALUE_GAP = 0.0
#: A numeric test leaves at least this share of the known examples, for each class, on each side, but no more than the
#: number below it are asked for, as in C4.5.
MIN_SIDE_SHARE = 0.1
MAX_MIN_SIDE = 25.0
#: A categorical attribute with this many categories, as a share of the training examples, does not count in the average
#: gain, as in C4.5.
MANY_CATEGORIES_SHARE = 0.3
#: A smaller tree is preferred while it is expected to make at most this many more errors, as in C4.5.
MAX_EXTRA_ERRORS = 0.1
#: Tail areas of the normal distribution and their deviates; C4.5 interpolates between them.
TAILS = (0.0, 0.001, 0.005, 0.01, 0.05, 0.10, 0.20, 0.40, 1.00)
DEVIATES = (4.0, 3.09, 2.58, 2.33, 1.65, 1.28, 0.84, 0.25, 0.00)


# ------------------------------------------------------------------------------------------------ splitting


class Cut(NamedTuple):
    """A threshold of one attribute at a node."""

    below: float  # the nearest values on the two sides
    above: float
    gain: float  # less the penalty, in release 8
    ratio: float


class Cuts(NamedTuple):
    """The thresholds of one attribute at a node that leave enough weight on each side."""

    x: np.ndarray  # the values that are known, in order
    ends: np.ndarray  # the place in x that each threshold comes after
    gains: np.ndarray  # less the penalty, in release 8
    parts: np.ndarray  # weight of the two sides, and of the missing values, for each threshold

    def best(self) -> Cut:
        """Return the first of those that gain most."""
        return self.test(int(np.argmax(self.gains >= self.gains.max() - EQUAL)))

    def test(self, number: int) -> Cut:
        """Return one of them."""
        end, gain = self.ends[number], float(self.gains[number])
        return Cut(float(self.x[end]), float(self.x[end + 1]), gain, gain / float(entropy(self.parts[number])))


def find_cuts(
    x: np.ndarray, y: np.ndarray, weights: np.ndarray, n_classes: int, min_leaf: float, release: int = 5
) -> Cuts | None:
    """Return the thresholds of an attribute, None if there is none that leaves enough weight.

    Enough is a tenth of the known examples for each class, but at least `min_leaf` and at most 25. Examples whose value
    is missing tell nothing: the gain is that of the others times their share of the weight, and in the split
    information the missing ones are a third part. Release 8 charges the bits that it takes to say which threshold was
    chosen, spread over the examples.
    """
    known = ~np.isnan(x)
    x, below = count_below(x[known], y[known], weights[known], n_classes)
    ends = np.flatnonzero(x[1:] > x[:-1] + MIN_VALUE_GAP)
    if len(ends) == 0:
        return None
    total, left = below[-1], below[ends]
    right = np.maximum(total - left, 0.0)
    min_side = max(min_leaf, min(MAX_MIN_SIDE, MIN_SIDE_SHARE * total.sum() / n_classes))
    enough = np.minimum(left.sum(axis=1), right.sum(axis=1)) >= min_side * (1 - EQUAL)
    if not enough.any():
        return None
    ends, left, right = ends[enough], left[enough], right[enough]
    n_left, n_right, n_known, n_all = left.sum(axis=1), right.sum(axis=1), total.sum(), weights.sum()
    gains = (n_known * entropy(total) - n_left * entropy(left) - n_right * entropy(right)) / n_all
    if release == 8:
        gains -= log2(len(ends)) / n_all
    parts = np.column_stack([n_left, n_right, np.full(len(ends), n_all - n_known)]).clip(0)
    return Cuts(x, ends, gains, parts)


class Grouping(NamedTuple):
    """The test of a categorical attribute at a node: a branch for each group of categories."""

    groups: list[list[int]]
    gain: float
    ratio: float

    @property
    def gains(self) -> np.ndarray:
        """The gain of the only test."""
        return np.array([self.gain])

    def best(self) -> Grouping:
        """Return the test."""
        return self

    def test(self, number: int) -> Grouping:
        """Return the test."""
        return self


@dataclass(frozen=True)
class CategorySplit:
    """Sends each category of an attribute down its branch."""

    attribute: int
    table: np.ndarray  # the branch of each category, -1 if it did not occur
    n_branches: int

    def branches(self, X: np.ndarray) -> np.ndarray:
        """Return the branch of each row, -1 where the value is missing or did not occur."""
        x = X[:, self.attribute]
        return np.where(np.isnan(x), -1, self.table[np.nan_to_num(x).astype(np.int64)])


def group_categories(counts: np.ndarray, n_all: float, min_leaf: float, subset: bool) -> tuple[Grouping | None, int]:
    """Return the test of a categorical attribute (None: there is none), and how many were looked at.

    Parameters
    ----------
    counts : float array (n_categories, n_classes)
        Weight of each class in each category.
    n_all : float
        Weight of all examples, also those whose category is missing.
    min_leaf : float
        Two branches must have at least this weight.
    subset : bool
        Whether to merge groups of categories, beginning with one for each, as long as that raises the gain ratio and
        there are more than two. The pair whose union has the highest ratio is merged.
    """
    total = counts.sum(axis=0)

    def evaluate(groups: list[list[int]]) -> Grouping | None:
        parts = np.array([counts[group].sum(axis=0) for group in groups])
        sizes = parts.sum(axis=1)
        if np.count_nonzero(sizes >= min_leaf * (1 - EQUAL)) < 2:
            return None
        gain = float((sizes.sum() * entropy(total) - (sizes * entropy(parts)).sum()) / n_all)
        information = float(entropy(np.append(sizes, max(0.0, n_all - sizes.sum()))))
        return Grouping(groups, gain, gain / information)

    best, n_tests = evaluate([[int(category)] for category in np.flatnonzero(counts.sum(axis=1))]), 1
    while subset and best is not None and len(best.groups) > 2:
        merged = []
        for i, j in combinations(range(len(best.groups)), 2):
            rest = [group for k, group in enumerate(best.groups) if k not in (i, j)]
            merged.append(evaluate([*rest, sorted(best.groups[i] + best.groups[j])]))
        n_tests += len(merged)
        top = max((one for one in merged if one is not None), key=lambda one: one.ratio, default=None)
        if top is None or top.ratio <= best.ratio + EQUAL:
            break
        best = top
    return best, n_tests


@dataclass
class GainRatioSplitter(Splitter):
    """Takes the test of highest gain ratio among those that gain no less than the average.

    Attributes
    ----------
    learner : C45Classifier
        Its limits are on weights, as C4.5 has it: examples may be fractions.
    values : list of float64 arrays
        The values of each attribute in all training examples, ascending.
    n_categories : list of int
        Of each attribute; 0 if it is a number.
    n_examples : int
        Of the whole tree.
    """

    keeps_missing: ClassVar[bool] = True

    learner: C45Classifier
    values: list[np.ndarray]
    n_categories: list[int]
    n_examples: int

    def split(self, node: NodeExamples) -> LinearTest | CategorySplit | None:
        """Return the split of a node, None to leave it a leaf."""
        own = self.learner
        if node.weights.sum() < own.min_samples_split * (1 - EQUAL):
            return None
        found: dict[int, Cuts | Grouping] = {}
        for attribute in range(node.X.shape[1]):
            tests, n_tests = (self._group if self.n_categories[attribute] else self._cut)(attribute, node)
            self.n_hyperplanes += n_tests
            if tests is not None and tests.gains.max() > EQUAL:
                found[attribute] = tests
        if not found:
            return None
        if own.n_choices == 1:
            attribute, chosen = best_test(found, self._with_many_categories())
        else:
            attribute, chosen = random_test(found, own.n_choices, node.seed)
        if isinstance(chosen, Cut):
            # No gap: a threshold that is a value of the data must be printed in full.
            return LinearTest(np.array([attribute]), np.ones(1), self._threshold(attribute, chosen))
        table = np.full(self.n_categories[attribute], -1)
        for branch, group in enumerate(chosen.groups):
            table[group] = branch
        return CategorySplit(attribute, table, len(chosen.groups))

    def _cut(self, attribute: int, node: NodeExamples) -> tuple[Cuts | None, int]:
        x, own = node.X[:, attribute], self.learner
        cuts = find_cuts(x, node.y, node.weights, node.n_classes, own.min_samples_leaf, own.release)
        return cuts, 0 if cuts is None else len(cuts.ends)

    def _group(self, attribute: int, node: NodeExamples) -> tuple[Grouping | None, int]:
        x = node.X[:, attribute]
        known, counts = ~np.isnan(x), np.zeros((self.n_categories[attribute], node.n_classes))
        np.add.at(counts, (x[known].astype(np.int64), node.y[known]), node.weights[known])
        return group_categories(counts, node.weights.sum(), self.learner.min_samples_leaf, self.learner.subset)

    def _with_many_categories(self) -> set[int]:
        """Return the attributes that do not count in the average gain: they gain much by their number of values."""
        return {m for m, n in enumerate(self.n_categories) if n >= MANY_CATEGORIES_SHARE * self.n_examples}

    def _threshold(self, attribute: int, cut: Cut) -> float:
        """Return the largest value of the training examples that does not exceed the middle of the cut."""
        middle = cut.below + 0.5 * (cut.above - cut.below)
        if not cut.below <= middle < cut.above:  # neighbouring floats, or an overflow
            return cut.below
        values = self.values[attribute]
        return float(values[np.searchsorted(values, middle, side="right") - 1]) + 0.0  # not -0


def best_test(found: dict[int, Cuts | Grouping], with_many: set[int]) -> tuple[int, Cut | Grouping]:
    """Return the attribute, with its best test, of highest gain ratio among those of average gain at least."""
    best = {m: tests.best() for m, tests in found.items()}
    average = np.mean([test.gain for m, test in best.items() if m not in with_many or with_many >= best.keys()])
    ratios = {m: test.ratio for m, test in best.items() if test.gain >= average - GAIN_SLACK_BITS}
    highest = max(ratios.values())
    attribute = next(m for m, ratio in ratios.items() if ratio >= highest - EQUAL)
    return attribute, best[attribute]


def random_test(found: dict[int, Cuts | Grouping], n_choices: int, seed: int) -> tuple[int, Cut | Grouping]:
    """Return one of the tests that gain most information, drawn at random."""
    places = [(m, number) for m, tests in found.items() for number in range(len(tests.gains))]
    gains = np.concatenate([tests.gains for tests in found.values()])
    good = np.argsort(-gains, kind="stable")[:n_choices]
    good = good[gains[good] > EQUAL]
    attribute, number = places[good[np.random.default_rng(seed).integers(len(good))]]
    return attribute, found[attribute].test(number)


# ------------------------------------------------------------------------------------------------ pruning


def pessimistic_errors(n: float, errors: float, confidence: float) -> float:
    """Return how many of n examples to expect wrong where `errors` of the training examples were.

    It is n times the upper limit that the true error rate exceeds with a probability of `confidence`. With no error
    seen that limit is exact, ``1 - confidence ** (1 / n)``; from one error on it is the normal approximation to the
    binomial with continuity correction; fractions of an error are interpolated between the two. Where nearly all is
    wrong, two thirds of the rest are added.
    """
    if errors < 1:
        none = n * (1.0 - float(confidence ** (1 / n)))
        return none if errors <= 0 else (1 - errors) * none + errors * min(n, pessimistic_errors(n, 1, confidence))
    if errors + 0.5 >= n:
        return errors + 0.67 * max(0.0, n - errors)
    square = float(np.interp(confidence, TAILS, DEVIATES)) ** 2
    seen = errors + 0.5
    return n * (seen + square / 2 + sqrt(square * (seen * (1 - seen / n) + square / 4))) / (n + square)


@dataclass(frozen=True)
class ErrorBasedPruning:
    """Bottom-up, a node becomes a leaf or is replaced by its largest branch where that is expected to err no more.

    Attributes
    ----------
    X : float64 array (n, n_features)
        The training examples that the nodes' ``rows`` refer to.
    y : int array (n,)
    confidence : float
    """

    X: np.ndarray
    y: np.ndarray
    confidence: float

    def prune(self, root: GrownNode) -> None:
        """Prune a grown tree in place."""
        nodes = root.preorder()  # taken from the end, so that all below a node comes before it
        while nodes:
            node = nodes.pop()
            if not node.children:
                continue
            largest = max(node.children, key=lambda child: child.counts.sum())
            raised = self.filled(largest, node)
            as_leaf, as_branch, as_tree = self.leaf_errors(node), self.tree_errors(raised), self.tree_errors(node)
            if as_leaf <= min(as_branch, as_tree) + MAX_EXTRA_ERRORS:
                node.split, node.gain, node.children = None, 0.0, []
            elif as_branch <= as_tree + MAX_EXTRA_ERRORS:
                node.split, node.children = raised.split, raised.children
                below = node.preorder()
                for inner in below:
                    if inner.children:
                        inner.gain = information_gained(np.array([child.counts for child in inner.children]))
                nodes.extend(below)  # which hold other examples than before

    def leaf_errors(self, node: GrownNode) -> float:
        """Return the errors to expect of a node as a leaf."""
        n = float(node.counts.sum())
        return pessimistic_errors(n, n - float(node.counts.max()), self.confidence)

    def tree_errors(self, node: GrownNode) -> float:
        """Return the errors to expect of the subtree at a node."""
        return sum(self.leaf_errors(below) for below in node.preorder() if not below.children)

    def filled(self, subtree: GrownNode, node: GrownNode) -> GrownNode:
        """Return a copy of a subtree that stands in a node's place and holds the node's examples (gains left out)."""
        top = replace(node, split=None, gain=0.0, children=[])
        todo = [(top, subtree)]
        while todo:
            copy, original = todo.pop()
            if original.split is None:
                continue
            parts = divide(original.split, self.X[copy.rows], copy.weights)
            for child, (here, weights) in zip(original.children, parts, strict=True):
                rows = copy.rows[here]
                counts = np.bincount(self.y[rows], weights=weights, minlength=len(node.counts))
                copy.children.append(GrownNode(rows, weights, copy.depth + 1, child.seed, counts))
                todo.append((copy.children[-1], child))
            copy.split = original.split
        return top


# ------------------------------------------------------------------------------------------------ prediction


def fractional_probabilities(tree: Tree | BranchTree, X: np.ndarray, smoothing: float = 0.0) -> np.ndarray:
    """Return class shares for rows with missing values: where one is asked for, the row goes down both branches.

    Its parts are as large as the branches' shares of the training examples, and the shares of the classes in the
    leaves that they reach are added up.
    """
    probabilities, mass = tree.outputs(smoothing), tree.counts.sum(axis=1)
    result = np.zeros((len(X), tree.counts.shape[1]))
    todo = [(0, np.arange(len(X)), np.ones(len(X)))]
    while todo:
        node, rows, parts = todo.pop()
        if tree.is_leaf[node]:
            result[rows] += parts[:, None] * probabilities[node]
            continue
        branches = tree.answers(node, X[rows])
        children = tree.children[node][tree.children[node] >= 0]
        for branch, child in enumerate(children.tolist()):
            here = (branches == branch) | (branches < 0)
            if here.any():
                share = np.where(branches < 0, mass[child] / mass[children].sum(), 1.0)
                todo.append((child, rows[here], (parts * share)[here]))
    return result


def build_branch_tree(root: GrownNode, data: Training) -> BranchTree:
    """Turn grown nodes, whose splits are thresholds and groups of categories, into a tree."""
    nodes = root.preorder()
    tables = [node.split.table if isinstance(node.split, CategorySplit) else np.empty(0, np.int64) for node in nodes]
    features, thresholds = np.zeros(len(nodes), dtype=np.int32), np.zeros(len(nodes))
    for i, node in enumerate(nodes):
        if isinstance(node.split, CategorySplit):
            features[i] = node.split.attribute
        elif isinstance(node.split, LinearTest):
            features[i], thresholds[i] = node.split.features[0], node.split.threshold
    return BranchTree(
        **structure_of(nodes, max(1, *(len(node.children) for node in nodes))),
        fill=data.fill,
        classes=data.classes,
        feature_names=data.feature_names,
        codes=tuple(None if own is None else np.arange(float(len(own))) for own in data.categories),
        categories=labels_of(data.categories),
        features=features,
        thresholds=thresholds,
        tables=np.cumsum([0, *map(len, tables)]).astype(np.int64),
        branches=np.concatenate(tables).astype(np.int32),
        gaps=np.zeros(len(nodes)),
    )


@dataclass(kw_only=True, eq=False, repr=False)
class C45Classifier(CategoricalTree, SplitterTree, TreeClassifier):
    """Axis-parallel decision tree by C4.5 (Quinlan 1993).

    At each node, each attribute gets the threshold with the highest information gain. Among the attributes with at
    least the average gain, the one with the highest gain ratio is tested. The grown tree is pruned by a pessimistic
    estimate of its errors, from the training examples alone. C4.5 is deterministic (but see `n_choices`).

    Missing values are not filled in. In training and in prediction, an example whose tested value is missing is split
    between both branches, in proportion to their sizes. (`apply` and `decision_path` return a single leaf, so they use
    the attribute's mean instead; so does ``tree_`` on its own.)

    Parameters
    ----------
    confidence : float, default=0.25
        Confidence level of the pessimistic estimate: the probability that the true error rate of a leaf exceeds the
        estimate. Smaller values prune more.
    release : {5, 8}, default=5
        The version of C4.5. Release 5 is the program in the book of 1993, which the paper refers to. Release 8, of
        1996, charges a numeric test for the number of thresholds that it was chosen from, ``log2(thresholds) / n`` bits
        (Quinlan 1996), and makes smaller trees; so does Weka's J48.
    categorical_features : None, "from_dtype", or array-like of int, str or bool, default=None
        Which columns hold categories; see `OC1Classifier`. A test of such a column has a branch for each category that
        occurs at the node. (C4.5 has branches for the others, too, which predict what the node would.)
    subset : bool, default=False
        Whether categories are merged into groups with a branch each, as long as that raises the gain ratio (C4.5's
        option ``-s``).
    n_choices : int, default=1
        At each node, one of this many tests that gain most information is drawn at random; 1 is C4.5. More make trees
        that differ, for a vote (see `OC1EnsembleClassifier`).
    max_depth : int or None, default=None
        Maximum depth of the tree; the root has depth 0.
    min_samples_split : int or float, default=2
        Nodes with less weight than this become leaves. (Examples have weight 1 by default.) A float is a share of the
        number of examples.
    min_samples_leaf : int or float, default=2
        Minimum weight on each side of a split, not counting examples with a missing value. As in C4.5, it is more at
        large nodes: a tenth of the examples for each class, up to 25. A float is a share of the number of examples.
    max_leaf_nodes : int or None, default=None
        Grow best-first, up to this number of leaves.
    min_impurity_decrease : float, default=0.0
        A node is split only if the information gain in bits, times its share of the examples, is at least this.
    prune : {"error", None}, default="error"
        Error-based pruning: from the bottom up, a node becomes a leaf or is replaced by its largest branch if that is
        not expected to make more errors. None: no pruning.
    ccp_alpha, smoothing
        See `OC1Classifier`.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, as in scikit-learn. Weights count as numbers of examples.
    random_state : int, RandomState instance or None, default=None
        Decides between the `n_choices` best tests; C4.5 itself is deterministic.
    verbose : int, default=0
        1 prints a line for each node.

    Attributes
    ----------
    tree_ : Tree, or BranchTree where attributes are categorical
        The fitted tree; ``print(clf.tree_)`` shows it. Its thresholds are values of the training examples.
    unpruned_tree_ : Tree or BranchTree
        The tree as it was grown. (Because of subtree raising, ``tree_`` need not be a part of it.)
    pruning_path_ : record array with the fields ``alpha``, ``leaves``, ``terms``, ``accuracy``
        The cost-complexity sequence from the full tree to the root, for comparison only: error-based pruning does not
        use it, and the accuracies are NaN.
    categories_ : list with an array or None for each attribute, or None
        The values of the categorical attributes, most frequent first; None if there are none.
    classes_ : array (n_classes,)
    n_features_in_ : int
    feature_names_in_ : array (n_features_in_,)
        Only if the attributes have names.
    feature_importances_ : array (n_features_in_,)
        Information gain of the splits on each attribute; sums to 1.
    n_hyperplanes_ : int
        Number of thresholds considered while growing: each is a hyperplane whose gain is computed.

    Notes
    -----
    The upper limits of the error rate are computed as in C4.5, with its table of the normal distribution, and reproduce
    the worked example in the book. Before pruning, C4.5 removes splits that misclassify as many training examples as a
    leaf would. Here that is left to the pruning, so ``unpruned_tree_`` still has them.

    Examples
    --------
    >>> from oc1.baselines import C45Classifier
    >>> from oc1.datasets import make_pol
    >>> X, y = make_pol(random_state=0)
    >>> clf = C45Classifier().fit(X, y)
    >>> clf.get_n_leaves() < clf.unpruned_tree_.n_leaves
    True
    """

    confidence: float = parameter(0.25, Interval(Real, 0, 1, closed="right"))
    release: int = parameter(5, Options(Integral, {5, 8}))
    subset: bool = parameter(False, "boolean")
    n_choices: int = parameter(1, at_least(1))
    min_samples_leaf: float = 2
    prune: str | None = parameter("error", StrOptions({"error"}), None)

    def _splitter(self, data: Training, rows: np.ndarray) -> Splitter:
        columns = [np.unique(np.asarray(x, dtype=np.float64)) for x in data.X[rows].T]
        values = [column[~np.isnan(column)] for column in columns]
        n_categories = [len(own or ()) for own in data.categories or [()] * len(values)]
        return GainRatioSplitter(self, values, n_categories, len(rows))

    def _grow(self, data: Training, share: np.ndarray) -> Grown:
        return self._grow_tree(data, *data.part(share))  # categories are tested as such, and need no codes

    def _build(self, root: GrownNode, data: Training) -> TreeStructure:
        return build_branch_tree(root, data) if data.categories else super()._build(root, data)

    def _limits(self) -> Limits:
        # These limits count rows; C4.5's are on weights, and the splitter's.
        return replace(super()._limits(), min_samples_split=2, min_samples_leaf=1)

    def _prune(self, data: Training, grown: Grown, held: np.ndarray | None) -> Pruned:
        if self.prune is None or grown.root is None:
            return Pruned(grown.tree)
        ErrorBasedPruning(np.asarray(data.X, dtype=np.float64), data.y, self.confidence).prune(grown.root)
        return Pruned(self._build(grown.root, data))

    def predict(self, X: npt.ArrayLike) -> np.ndarray:
        """Return the most probable class of each example.

        Parameters
        ----------
        X : array-like or sparse matrix (n_samples, n_features)

        Returns
        -------
        array (n_samples,)
        """
        shares = self._shares(X, 0.0)
        return np.asarray(self.classes_[shares.argmax(axis=1)])

    def predict_proba(self, X: npt.ArrayLike) -> np.ndarray:
        """Return the share of each class in the leaf, or leaves, of each example, after smoothing.

        Parameters
        ----------
        X : array-like or sparse matrix (n_samples, n_features)
            An example with a missing value in a test is split between the branches, so it reaches several leaves.

        Returns
        -------
        array (n_samples, n_classes)
            In the order of ``classes_``.
        """
        return self._shares(X, self._checked_smoothing())

    _divides_missing = True
    _conversion_notes = (
        (
            "C4.5 divides an example with a missing value among the branches; the converted model sends it down the "
            "branch that more of the training examples took"
        ),
    )

    def _tree_for_conversion(self) -> Tree:
        if not self.tree_.has_thresholds:
            raise TypeError("a C4.5 tree with categorical attributes cannot be converted: tests may have many answers")
        tree, inner = cast(Tree, self.tree_), ~self.tree_.is_leaf
        left, right = (tree.counts[tree.children[inner, side]].sum(axis=1) for side in (0, 1))
        missing = np.zeros(tree.n_nodes, dtype=np.int8)
        missing[inner] = np.where(right > left, 1, -1)
        return replace(tree, missing=missing)

    def _shares(self, X: npt.ArrayLike, smoothing: float) -> np.ndarray:
        return by_blocks(lambda rows: self._shares_of(rows, smoothing), self._checked_rows(X))

    def _shares_of(self, rows: np.ndarray, smoothing: float) -> np.ndarray:
        tree = cast(Tree, self.tree_)
        if not tree.has_thresholds:  # a category may not have occurred at a node
            return fractional_probabilities(tree, rows.astype(np.float64), smoothing)
        probabilities: np.ndarray = tree.outputs(smoothing)[tree.apply(rows)]
        incomplete = np.flatnonzero(np.isnan(rows[:, np.unique(tree.features)]).any(axis=1))
        if len(incomplete):
            probabilities[incomplete] = fractional_probabilities(tree, rows[incomplete].astype(np.float64), smoothing)
        return probabilities
