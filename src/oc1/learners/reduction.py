"""A fitted model reduced to what is needed to follow it elsewhere: trees, what their leaves say, how they answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..tree.structure import TreeStructure
from ..tree.text import attribute_names


@dataclass(frozen=True)
class ReducedTree:
    """One tree, on the columns of the whole model.

    Attributes
    ----------
    tree : TreeStructure
        Its tests are on the model's columns; it has no ``codes``: see the next attribute.
    codes : dict of int to dict
        For each categorical column the number that stands for each value; missing and unknown values count as ``fill``.
    leaves : array (n_nodes, n_outputs)
        What each node says if it is a leaf: the probabilities of the classes, or (1 column) the predicted number.
    votes : int array (n_nodes,)
        The class, as an index of the model's classes, that each node votes for; the most probable one, the first of
        equals. All 0 for numbers.
    learner : fitted tree learner
        Whose tree this is.
    columns : int array
        The columns of the model that the learner sees.
    """

    tree: TreeStructure
    codes: dict[int, dict[Any, float]]
    leaves: np.ndarray
    votes: np.ndarray
    learner: Any
    columns: np.ndarray


@dataclass(frozen=True)
class ReducedModel:
    """A model as its trees.

    A single tree answers with the class of its leaf (``votes``) and the probabilities there (``leaves``). In a vote
    each tree has one voice for its ``votes``; the class with most voices wins, the first of equals, and the
    probabilities are ``(voices + smoothing) / (number of trees + smoothing * number of classes)``. The trees of a
    forest say what is in their ``leaves``: it is added up in their order and divided by their number; the most
    probable class wins ("shares"), or the result is the number ("mean").

    Attributes
    ----------
    trees : tuple of ReducedTree
    task : {"class", "vote", "shares", "number", "mean"}
    classes : array (n_classes,)
        Empty for numbers.
    feature_names : tuple of str
        ``x1``, ``x2``, ... if the model knows no names.
    smoothing : float
        Of the votes; that of a single tree is in its ``leaves``.
    notes : tuple of str
        Where the converted model does not do what the model does.
    """

    trees: tuple[ReducedTree, ...]
    task: str
    classes: np.ndarray
    feature_names: tuple[str, ...]
    smoothing: float
    notes: tuple[str, ...] = ()

    @property
    def has_numbers(self) -> bool:
        """Whether it predicts numbers, not classes."""
        return self.task in ("number", "mean")

    @property
    def is_forest(self) -> bool:
        """Whether what the trees say is averaged."""
        return self.task in ("shares", "mean")

    @property
    def is_one_of_many(self) -> bool:
        """Whether several trees answer together: a vote or a forest."""
        return self.is_forest or self.task == "vote"

    @property
    def total_votes(self) -> float:
        """What the smoothed votes for all classes add up to."""
        return len(self.trees) + self.smoothing * len(self.classes)


def reduce_model(model: Any) -> ReducedModel:
    """Reduce a fitted tree, vote or forest of this package to its trees.

    Parameters
    ----------
    model : fitted estimator of this package
        Or a tree as a file has it (see `oc1.files.models.record`), which takes no scikit-learn.

    Returns
    -------
    ReducedModel

    Examples
    --------
    >>> from oc1 import OC1Classifier
    >>> from oc1.datasets import make_pol
    >>> plain = reduce_model(OC1Classifier(random_state=0).fit(*make_pol(random_state=0)))
    >>> plain.task, plain.feature_names, len(plain.trees)
    ('class', ('x1', 'x2'), 1)
    """
    is_recorded = hasattr(model, "_tree_for_conversion") and not hasattr(model, "fit")
    if not is_recorded:
        _check_estimator(model)
    names = tuple(attribute_names(model))
    is_vote = hasattr(model, "estimators_")
    members = model.estimators_ if is_vote else [model]
    columns = model.estimators_features_ if is_vote else [np.arange(len(names))]
    classes = getattr(model, "classes_", np.empty(0))
    task = getattr(model, "_task", "vote") if is_vote else "class" if len(classes) else "number"
    values = getattr(model, "categories_", None) if is_vote else None
    trees = tuple(_reduce_tree(*pair, classes, names, values) for pair in zip(members, columns, strict=True))
    notes = tuple(dict.fromkeys(note for member in members for note in member._conversion_notes))
    return ReducedModel(trees, task, classes, names, float(getattr(model, "smoothing", 0.0)), notes)


def _check_estimator(model: Any) -> None:
    """Refuse what is not a fitted tree or vote of trees of this package."""
    from sklearn.utils.validation import check_is_fitted

    from .base import BaseOC1Estimator
    from .trees import TreeEstimator

    if not isinstance(model, BaseOC1Estimator):
        raise TypeError(f"only models of this package can be converted, not {type(model).__name__}")
    check_is_fitted(model)
    for member in getattr(model, "estimators_", ()):
        if not isinstance(member, TreeEstimator):
            raise TypeError(f"a vote of {type(member).__name__} cannot be converted: it is not of this package")


def _reduce_tree(
    learner: Any, columns: np.ndarray, classes: np.ndarray, names: tuple[str, ...], values: Any
) -> ReducedTree:
    """Reduce one tree, which sees some of the columns; `values` are the categories that a vote gives numbers to."""
    tree: TreeStructure = learner._tree_for_conversion()
    leaves, votes = tree.outputs(getattr(learner, "smoothing", 0.0)), np.zeros(tree.n_nodes, dtype=np.int64)
    if tree.predicts_classes:  # a tree of a vote may not have seen all of them
        place = np.searchsorted(classes, tree.classes)
        leaves, shares = np.zeros((tree.n_nodes, len(classes))), leaves
        leaves[:, place] = shares
        votes = place[tree.majority]
    codes = {}
    if tree.codes:
        for own_column, (known, numbers) in enumerate(zip(learner.categories_, tree.codes, strict=True)):
            if known is not None:
                column = int(columns[own_column])
                called = known if values is None or values[column] is None else values[column][known.astype(int)]
                codes[column] = dict(zip(called.tolist(), numbers.tolist(), strict=True))
    return ReducedTree(tree.on_columns(columns, names, classes), codes, leaves, votes, learner, columns)
