"""What is known of each node of a fitted tree: its test in words, its classes, and how examples lie about its test."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils import check_array, check_consistent_length
from sklearn.utils.validation import check_is_fitted

from .linear import project
from .structure import TreeStructure
from .wording import terms_of

#: Characters of what leads to a node. Below it, the sentence begins anew with "...": a tree may be very deep.
MAX_SENTENCE_LENGTH = 4000
#: Larger numbers are made smaller before they are subtracted from each other.
HUGE = 1e300


@dataclass(frozen=True)
class Histogram:
    """How many examples of each class lie where, along the projection of a test.

    Attributes
    ----------
    edges : array (n_bins + 1,)
        The threshold is one of them, so that every bar is of one side only.
    counts : array (n_bins, n_classes)
        One column where numbers are predicted.
    threshold : float
    n_left : int
        Number of bars to the left of the threshold.
    """

    edges: np.ndarray
    counts: np.ndarray
    threshold: float
    n_left: int


@dataclass(frozen=True)
class NodeSummary:
    """What is known of a node.

    Attributes
    ----------
    node, parent, depth : int
        The parent of the root is -1.
    is_leaf : bool
    equation : str
        The test, like ``0.37 petal_len - 1.2 petal_wid > 0.4``; empty for leaves.
    terms : tuple of (attribute, coefficient, share)
        The share is that of the term's size, its coefficient times the scale of the attribute, in all of the test.
        Empty for leaves and linear machines.
    threshold : float or None
        None for leaves, linear machines, and tests that ask only whether a value is missing.
    counts : tuple of float
        Weight of the training examples of each class; where numbers are predicted, of all.
    label : str
        The most frequent class, or the predicted number.
    sentence : str
        What leads here, like ``petal_wid > 0.8 and not (0.3 a + b > 2)``; empty for the root. Of what is far above in a
        very deep tree, only "..." is left.
    histogram : Histogram or None
        Of the given examples that reach this node; those are left out that the test sends somewhere because a value is
        missing. None for leaves, where `threshold` is None, and without examples.
    """

    node: int
    parent: int
    depth: int
    is_leaf: bool
    equation: str
    terms: tuple[tuple[str, float, float], ...]
    threshold: float | None
    counts: tuple[float, ...]
    label: str
    sentence: str
    histogram: Histogram | None


def summarise_nodes(
    model: Any,
    X: ArrayLike | None = None,
    y: ArrayLike | None = None,
    *,
    bins: int = 24,
    max_depth: int | None = None,
) -> list[NodeSummary]:
    """Tell what is known of each node of a tree.

    Parameters
    ----------
    model : fitted tree learner, or a tree
    X : array-like (n_samples, n_features), optional
        Examples for the histograms, as the model takes them; category numbers for a tree with categories.
    y : array-like (n_samples,), optional
        Their classes, all of which the model must know. Not needed where numbers are predicted.
    bins : int, default=24
        Number of bars of a histogram.
    max_depth : int, optional
        Nodes below this depth are left out.

    Returns
    -------
    list of NodeSummary
        One for each node, in the order of their numbers.

    Examples
    --------
    >>> import numpy as np
    >>> from oc1 import OC1Classifier
    >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array(["a", "a", "b", "b"])
    >>> root, no, yes = summarise_nodes(OC1Classifier(prune=None).fit(X, y), X, y, bins=2)
    >>> root.equation, no.sentence, yes.sentence
    ('x1 > 1.5', 'not (x1 > 1.5)', 'x1 > 1.5')
    >>> root.histogram.counts
    array([[2, 0],
           [0, 2]])
    """
    if bins < 2:
        raise ValueError(f"bins must be at least 2, one for each side, got {bins}")
    tree = tree_of(model)
    examples = None if X is None else NodeExamples.make(model, X, y)
    scale = scale_of(model, examples)
    leaf, parents, depths = tree.is_leaf, tree.parents, tree.depths
    sentences = [""] * tree.n_nodes
    summaries = []
    nodes = range(tree.n_nodes) if max_depth is None else np.flatnonzero(depths <= max_depth).tolist()
    for node in nodes:
        conditions = [] if leaf[node] else tree.conditions(node)
        for child, condition in zip(tree.children[node], conditions, strict=False):  # preorder: children come later
            above = sentences[node] if len(sentences[node]) <= MAX_SENTENCE_LENGTH else "..."
            sentences[child] = f"{above} and {condition}" if above else condition
        threshold = tree.threshold_of(node)
        summaries.append(
            NodeSummary(
                node=node,
                parent=int(parents[node]),
                depth=int(depths[node]),
                is_leaf=bool(leaf[node]),
                equation="" if leaf[node] else tree.equation(node),
                terms=tuple(
                    (tree.feature_name(own.feature), own.coefficient, own.share)
                    for own in sorted(terms_of(tree, node, scale))
                ),
                threshold=threshold,
                counts=tuple(tree.counts[node].tolist()),
                label=tree.label(node),
                sentence=sentences[node],
                histogram=None if examples is None or threshold is None else examples.histogram(node, bins),
            )
        )
    return summaries


def tree_of(model: Any) -> TreeStructure:
    """Return the tree of a fitted learner; a tree is its own."""
    if isinstance(model, BaseEstimator):
        check_is_fitted(model)
    if hasattr(model, "estimators_"):
        raise TypeError(f"{type(model).__name__} has no single tree: give one of its estimators_")
    tree = getattr(model, "tree_", model)
    if not isinstance(tree, TreeStructure):
        raise TypeError(f"a tree of this package is needed, got {type(model).__name__}")
    return tree


def scale_of(model: Any, examples: NodeExamples | None = None) -> np.ndarray:
    """Return what makes coefficients comparable: a tree alone must take it from the examples."""
    if hasattr(model, "_scale"):
        return np.asarray(model._scale)
    if examples is None or not len(examples.X):
        return np.ones(len(tree_of(model).fill))
    return np.asarray(examples.X.std(axis=0))


class NodeExamples(NamedTuple):
    """Examples and the nodes they pass through.

    Attributes
    ----------
    tree : TreeStructure
    X : array (n_samples, n_features)
        Codes for categories, and what missing values count as.
    is_missing : bool array (n_samples, n_features)
    labels : int array (n_samples,)
        Class indices; all 0 where numbers are predicted.
    paths : sparse matrix (n_samples, n_nodes)
        By columns: which examples reach a node.
    """

    tree: TreeStructure
    X: np.ndarray
    is_missing: np.ndarray
    labels: np.ndarray
    paths: sparse.csc_matrix

    @classmethod
    def make(cls, model: Any, X: ArrayLike, y: ArrayLike | None) -> NodeExamples:
        """Check examples and send them down the tree of a model; the arguments are those of `summarise_nodes`."""
        tree = tree_of(model)
        given = checked_rows(model, X)
        if not tree.predicts_classes:
            labels = np.zeros(len(given), dtype=np.int64)
        elif y is None:
            raise ValueError("y is needed with X: the classes of the examples")
        else:
            labels = class_numbers(tree.classes, y, len(given))
        return cls.of_checked(tree, given, labels)

    @classmethod
    def of_checked(cls, tree: TreeStructure, X: np.ndarray, labels: np.ndarray) -> NodeExamples:
        """Send rows that are known to be right down a tree; the labels are class indices, or all 0."""
        paths = tree.decision_path(X).tocsc()
        paths.sort_indices()
        rows = tree.coded(X)
        is_missing = np.isnan(rows)
        return cls(tree, np.where(is_missing, tree.fill, rows), is_missing, labels, paths)

    def rows(self, node: int) -> np.ndarray:
        """Return the examples that reach a node, in their order."""
        start, stop = self.paths.indptr[node : node + 2]
        return np.asarray(self.paths.indices[start:stop])

    def projected(self, node: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the examples at a node with a threshold, their projections, and whether each goes right.

        Examples that the test sends somewhere because a value is missing have no projection, and are left out.
        """
        tree, rows = self.tree, self.rows(node)
        features, (coefficients,), _ = tree.node_functions(node)
        if tree.directions[node] != 0:
            rows = rows[~self.is_missing[rows][:, features].any(axis=1)]
        goes_right = np.isin(rows, self.rows(int(tree.children[node, 1])))
        return rows, project(self.X[rows], features, coefficients), goes_right

    def histogram(self, node: int, bins: int) -> Histogram:
        """Count the examples of each class along the projection of a node's test."""
        rows, places, goes_right = self.projected(node)
        threshold = float(self.tree.node_functions(node).constants[0])
        places = np.nan_to_num(places, nan=threshold)  # sums that overflow are drawn at the end
        low, high = float(places.min(initial=threshold)), float(places.max(initial=threshold))
        unit = 1.0 if max(-low, high) < HUGE else 64.0  # differences of larger numbers would overflow
        low, high, middle, places = low / unit, high / unit, threshold / unit, places / unit
        width = (high - low) / bins or max(abs(middle), 1.0) / bins
        n_left = int(np.clip(round((middle - low) / width), 1, bins - 1))
        left = np.linspace(min(low, middle - width), middle, n_left + 1)
        right = np.linspace(middle, max(high, middle + width), bins - n_left + 1)
        # Where an example goes is for the tree to say: on the threshold itself, no edge could.
        numbers = np.where(
            goes_right,
            n_left + np.clip(np.searchsorted(right, places, side="right") - 1, 0, len(right) - 2),
            np.clip(np.searchsorted(left, places, side="right") - 1, 0, n_left - 1),
        )
        n_classes = self.tree.counts.shape[1]
        counts = np.bincount(numbers * n_classes + self.labels[rows], minlength=bins * n_classes)
        with np.errstate(over="ignore"):
            edges = np.nan_to_num(np.concatenate([left, right[1:]]) * unit)
        return Histogram(edges, counts.reshape(bins, n_classes), threshold, n_left)


def class_numbers(classes: np.ndarray, y: ArrayLike, n_samples: int) -> np.ndarray:
    """Return the index of each label among the classes; a ValueError names one that is not among them."""
    labels = np.asarray(y).tolist()
    check_consistent_length(np.empty(n_samples), labels)
    numbers = {label: number for number, label in enumerate(classes.tolist())}
    unknown = next((label for label in labels if label not in numbers), None)
    if unknown is not None:
        raise ValueError(f"y holds the class {unknown!r:.60}, which the model does not know")
    return np.array([numbers[label] for label in labels], dtype=np.int64)


def checked_rows(model: Any, X: ArrayLike) -> np.ndarray:
    """Return rows as a fitted model, or a tree, takes them."""
    if isinstance(model, BaseEstimator):
        return np.asarray(model._checked(X))
    return tree_of(model).rows(check_array(X, dtype=[np.float64, np.float32], ensure_all_finite="allow-nan"))


def without_names(model: Any) -> Any:
    """Return a model that takes arrays although it was fitted on a frame."""
    if not hasattr(model, "feature_names_in_"):
        return model
    other = copy(model)
    del other.feature_names_in_
    return other
