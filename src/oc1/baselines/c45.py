"""C4.5 (Quinlan 1993): gain ratio, branches for categories, fractional examples, error-based pruning.

Release 5 is the program in the book. Release 8, of 1996, also penalises a test for the number of thresholds it was
chosen from.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import cast

import numpy as np
import numpy.typing as npt
from sklearn.utils._param_validation import Interval, Options, StrOptions

from ..data.categories import labels_of
from ..data.sampling import effective_number
from ..data.sparse_input import by_blocks
from ..data.training import Training
from ..growing.linear_tests import LinearTest
from ..growing.nodes import GrownNode, structure_of
from ..growing.splitters import Limits, Splitter
from ..learners.by_splitter import SplitterTree
from ..learners.parameters import at_least, parameter
from ..learners.trees import CategoricalTree, Grown, Pruned, RelativeWeights
from ..tree.branching import BranchTree
from ..tree.linear import Tree
from ..tree.structure import TreeStructure
from .error_pruning import ErrorBasedPruning
from .gain_ratio import CategorySplit, GainRatioSplitter


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
class C45Classifier(CategoricalTree, SplitterTree, RelativeWeights):
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
        (Weights are ratios; they are made to add up to the effective number of examples.)
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
        Weights of the classes, as in scikit-learn.
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
        known = {"values": values, "n_categories": n_categories, "n_examples": len(rows)}
        return self._from_parameters(GainRatioSplitter, **known)

    def _grow(self, data: Training, share: np.ndarray) -> Grown:
        return self._grow_tree(data, *data.part(share))  # categories are tested as such, and need no codes

    def _build(self, root: GrownNode, data: Training) -> TreeStructure:
        return build_branch_tree(root, data) if data.categories else super()._build(root, data)

    def _n_counted(self, data: Training) -> float:
        # These limits are weights, which add up to the effective number of examples.
        return super()._n_counted(data) if data.weights is None else effective_number(data.weights)

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
