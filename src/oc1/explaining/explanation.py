"""Why a model answers as it does for one example, and what would change its answer."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..tree.notebooks import ShownInNotebooks, whole_page, write_text
from ..tree.printable import printable
from ..tree.structure import TreeStructure
from ..tree.summaries import without_names
from .changes import Change, smallest_change, smallest_single_change
from .example import Example
from .regions import leading_to
from .steps import Look, Step, steps_of


class NewValue(NamedTuple):
    """An attribute that changes.

    Attributes
    ----------
    name : str
    before, after : float or str
        A number, or the name of a category.
    is_unusual : bool
        Whether the new number is more than four standard deviations away from the average of the training examples.
    """

    name: str
    before: float | str
    after: float | str
    is_unusual: bool


@dataclass(frozen=True)
class NamedChange:
    """A change of an example that leads to another answer.

    Attributes
    ----------
    answer : str
        The other answer.
    distance : float
        The size of the change: the root of the sum of squared steps, in standard deviations of the attributes in the
        training data. A different category counts as one standard deviation.
    values : tuple of NewValue
        The attributes that change, the largest step first.
    is_on_boundary : bool
        Whether the example is on a boundary, so that any change in this direction is enough.
    """

    answer: str
    distance: float
    values: tuple[NewValue, ...]
    is_on_boundary: bool = False


@dataclass(frozen=True)
class Votes:
    """How the trees of a vote answer.

    Attributes
    ----------
    counts : tuple of (str, int)
        Each class with the number of trees that vote for it, the largest first.
    tree : int or None
        The tree that is explained, counted from 1: of those that agree with the vote, the one that adds up the fewest
        terms on its way. None if there is no tree of this package among them, or C4.5 divides the example in all.
    needed : int or None
        The number of trees that would have to vote for another class to change the answer.
    """

    counts: tuple[tuple[str, int], ...]
    tree: int | None
    needed: int | None


@dataclass(frozen=True, repr=False)
class Explanation(ShownInNotebooks):
    """Why a model answers as it does for one example, and what would change its answer.

    ``print`` it for text, or let a notebook show it.

    Attributes
    ----------
    answer : str
        The predicted class, or number.
    predicts_classes : bool
    steps : tuple of Step
        What happens at each node on the way, from the root on.
    leaf : Look or None
        Where the way ends; None for a vote without trees.
    change : NamedChange or None
        The smallest change that leads to another class (for numbers: to another leaf). None if there is none, and for
        votes.
    single_change : NamedChange or None
        The smallest change of one attribute that does.
    missing : tuple of str
        The attributes that the tree uses and whose values are missing. They stay so in all changes.
    votes : Votes or None
        How the trees of a vote answer; the steps are then those of one of them.
    knows_averages : bool
        Whether averages and standard deviations of the training examples are known. Where they are not, distances are
        in the units of the attributes, and nothing is said to speak for or against an answer.
    is_within_ranges : bool
        Whether changes were sought within ranges of the attributes only.
    """

    answer: str
    predicts_classes: bool
    steps: tuple[Step, ...]
    leaf: Look | None
    change: NamedChange | None
    single_change: NamedChange | None
    missing: tuple[str, ...] = ()
    votes: Votes | None = None
    knows_averages: bool = True
    is_within_ranges: bool = False

    def __str__(self) -> str:
        """Return sentences for a terminal of 80 columns."""
        from .words import text

        return printable(text(self))

    def __repr__(self) -> str:
        """Return the same sentences, for a console."""
        return str(self)

    def to_dict(self) -> dict[str, Any]:
        """Return the explanation as a plain dictionary of lists, texts and numbers, which JSON can hold."""
        plain: dict[str, Any] = _plain(asdict(self))
        return plain

    def to_html(self) -> str:
        """Return a piece of HTML without scripts, in light and dark."""
        from .page import to_html

        return to_html(self)

    def _repr_html_(self) -> str:
        return self.to_html()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the explanation to a file: HTML (.html), JSON (.json), or else text.

        Parameters
        ----------
        path : path
            An existing file is replaced once the new one is whole.
        """
        write_text(path, self.as_file(Path(path).suffix))

    def as_file(self, ending: str) -> str:
        """Return what is written to a file with an ending such as ".html"."""
        if ending.lower() in (".html", ".htm"):
            from .words import headline

            return whole_page(headline(self), self.to_html())
        if ending.lower() == ".json":
            return json.dumps(self.to_dict(), ensure_ascii=False, indent=2, allow_nan=False) + "\n"
        return f"{self}\n"


def explain_tree(model: Any, row: np.ndarray, ranges: np.ndarray | None = None) -> Explanation:
    """Explain what a fitted tree says of one checked row; changes stay within `ranges` (2, n_features), if given."""
    tree: TreeStructure = model.tree_
    unknown = _unknown_at(tree, row) if model._divides_missing else None
    if unknown is not None:
        raise ValueError(
            f"C4.5 sends an example down several branches where a value is not known, here of {unknown!r}, so there is "
            "no single way to explain: give a value that occurs in the training data"
        )
    example = Example.make(tree, row, ranges)
    leaf = example.leaf
    said = tree.majority if tree.predicts_classes else tree.outputs()[:, 0]
    goals = leading_to(tree, tree.is_leaf & (said != said[leaf]))
    change = smallest_change(example, goals)
    single = change if change is not None and len(change.features) == 1 else smallest_single_change(example, goals)
    return Explanation(
        answer=tree.label(leaf),
        predicts_classes=tree.predicts_classes,
        steps=tuple(steps_of(example)),
        leaf=Look.of(tree, leaf),
        change=_named(example, change),
        single_change=_named(example, single),
        missing=tuple(tree.feature_name(m) for m in tree.used_features.tolist() if example.is_missing[m]),
        knows_averages=example.knows_averages,
        is_within_ranges=ranges is not None,
    )


def _unknown_at(tree: Any, row: np.ndarray) -> str | None:
    """Return an attribute because of which a tree of C4.5 divides a row, or might once it is changed; else None.

    That is one whose value is missing, or whose category did not occur at a node.
    """
    used, node = tree.used_features, 0
    unknown = used[np.isnan(row[used])].tolist()
    while not unknown and not tree.is_leaf[node]:
        branch = int(tree.answers(node, row[None, :])[0])
        unknown = tree.node_functions(node).features.tolist() if branch < 0 else []
        node = int(tree.children[node, branch])
    return tree.feature_name(unknown[0]) if unknown else None


def explain_vote(model: Any, row: np.ndarray) -> Explanation:
    """Explain what a fitted vote says of one checked row."""
    counts = model._votes(row[None, :])[0]
    order = np.argsort(-counts, kind="stable").tolist()
    labels = [str(label) for label in model.classes_.tolist()]
    shown = tuple((labels[k], int(counts[k])) for k in order if counts[k] > 0)
    votes = Votes(shown, None, _votes_needed(counts, order[0]))
    agreeing = []
    for number, (member, features) in enumerate(zip(model.estimators_, model.estimators_features_, strict=True), 1):
        part, tree = row[None, features], getattr(member, "tree_", None)
        if isinstance(tree, TreeStructure) and str(member.predict(part)[0]) == labels[order[0]]:
            checked = np.asarray(without_names(member)._checked(part))[0]
            if member._divides_missing and _unknown_at(tree, checked) is not None:
                continue
            path = Example.make(tree, checked).path
            n_terms = sum(len(tree.node_functions(node).features) for node in path[:-1])
            agreeing.append((n_terms, number, member, checked))
    if not agreeing:
        return Explanation(labels[order[0]], True, (), None, None, None, votes=votes)
    _, number, member, checked = min(agreeing, key=lambda one: one[:2])
    explained = explain_tree(member, checked)
    return replace(explained, change=None, single_change=None, votes=replace(votes, tree=number))


def _votes_needed(counts: np.ndarray, winner: int) -> int | None:
    """Return how many votes for the winner must become votes for another class before that wins; None if there is none.

    Of classes with equal numbers, the first wins.
    """
    ahead = (counts[winner] - np.delete(counts, winner)).astype(int)
    comes_first = np.delete(np.arange(len(counts)) < winner, winner)
    return min(np.where(comes_first, (ahead + 1) // 2, ahead // 2 + 1).tolist(), default=None)


def one_row(model: Any, x: Any) -> np.ndarray:
    """Return one example as a fitted model takes it, checked; an error says how to give just one.

    Parameters
    ----------
    model : fitted estimator of this package
    x : array-like (n_features,), or (1, n_features), or mapping
        Values in order, one row of a table, or the values by the names of the attributes (such as a row of a frame).
    """
    check_is_fitted(model)
    names = [str(name) for name in getattr(model, "feature_names_in_", ())]
    if hasattr(x, "to_dict") and getattr(x, "ndim", 2) == 1:  # a pandas Series
        x = x.to_dict() if names and {str(key) for key in x.index} & set(names) else x.to_numpy()
    if isinstance(x, Mapping):
        if not names:
            raise ValueError("the model does not know the names of its attributes: give the values in their order")
        lacking = [name for name in names if name not in x]
        if lacking:
            raise ValueError(f"x has no value for {lacking[0]!r}; give NaN where a value is not known")
        x = [[x[name] for name in names]]
    elif not hasattr(x, "columns"):
        values = x if hasattr(x, "shape") else np.asarray(x, dtype=object)
        x = values.reshape(1, -1) if len(values.shape) < 2 else x
    n_rows = x.shape[0] if hasattr(x, "shape") else len(x)
    if n_rows != 1:
        raise ValueError(f"explain takes one example, got {n_rows}: give one row, such as X[3] or frame.iloc[[3]]")
    taker = model if hasattr(x, "columns") else without_names(model)
    checked: np.ndarray = np.asarray(taker._checked(x))
    return checked.reshape(-1)


def ranges_of(model: Any, within: Any) -> np.ndarray | None:
    """Return the smallest and the largest value of each attribute in a table, NaN where none is known."""
    if within is None:
        return None
    rows = np.asarray((model if hasattr(within, "columns") else without_names(model))._checked(within))
    known = ~np.isnan(rows)
    ends = [np.where(known, rows, np.inf).min(axis=0), np.where(known, rows, -np.inf).max(axis=0)]
    return np.where(known.any(axis=0), ends, np.nan)


def _named(example: Example, change: Change | None) -> NamedChange | None:
    if change is None:
        return None
    tree = example.tree

    def called(row: np.ndarray, feature: int) -> float | str:
        value = float(row[feature])
        return str(tree.categories[feature][int(value)]) if tree.is_categorical(feature) else value

    values = (
        NewValue(
            tree.feature_name(m),
            called(example.row, m),
            called(change.row, m),
            not tree.is_categorical(m) and example.is_unusual(m, float(change.row[m])),
        )
        for m in change.features
    )
    return NamedChange(tree.label(change.leaf), change.distance, tuple(values), change.is_on_boundary)


def _plain(value: Any) -> Any:
    """Turn tuples into lists, named ones into dictionaries, and what JSON does not know into None."""
    if isinstance(value, dict):
        return {key: _plain(own) for key, own in value.items()}
    if hasattr(value, "_asdict"):
        return _plain(value._asdict())
    if isinstance(value, list | tuple):
        return [_plain(own) for own in value]
    if isinstance(value, float) and not np.isfinite(value):
        return None
    return value
