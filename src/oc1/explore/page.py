"""What the page of a model knows, as plain lists, texts and numbers.

Numbers that an example's way depends on are exact; those that are only drawn are rounded.
"""

from __future__ import annotations

from collections.abc import Iterable
from copy import copy
from typing import Any, NamedTuple

import numpy as np

from ..data.categories import labels_of
from ..learners.reduction import ReducedModel, ReducedTree, reduce_model
from ..tree.pruning import PruningSequence, judged_by, path_to
from ..tree.summaries import Histogram, NodeExamples, class_numbers, without_names
from ..tree.wording import digits_needed

#: Examples that a button offers to try, and those that are drawn on the map of a model on two attributes.
MAX_TRIED, MAX_DRAWN = 200, 2000
#: Bars of a histogram.
BINS = 24
#: A larger unpruned tree is left out: the path then begins at the pruned one.
MAX_NODES = 6000
#: Numbers in the histograms of all trees together, more or less; where there are more, those of the largest nodes stay.
MAX_NUMBERS = 250_000


def page_data(
    model: Any, X: Any = None, y: Any = None, *, source: Any = None, title: str | None = None
) -> dict[str, Any]:
    """Return all that the page of a model shows; the parameters are those of `explore`."""
    if X is not None and y is None:
        raise ValueError("y is needed with X: the classes (or numbers) of the examples")
    whole, path = _with_path(model)
    reduced = reduce_model(whole)
    values = getattr(model, "categories_", None)
    checked: Any = None if X is None else (model if hasattr(X, "columns") else without_names(model))._checked(X)
    answers: Any = y  # class indices, or numbers
    if checked is not None and len(reduced.classes):
        answers = class_numbers(reduced.classes, y, len(checked))
    trees, budget = [], MAX_NUMBERS
    for own in reduced.trees:
        examples = None if checked is None else _examples(own, reduced, checked, answers)
        record, budget = _tree_record(own, reduced.classes, examples, budget)
        if path is not None:
            record["path"] = _path_record(model, path, checked, answers)
        trees.append(record)
    source = getattr(model, "source_", None) if source is None else source
    predicted, held_out = getattr(source, "target", None), getattr(source, "held_out", None)
    return {
        "title": title or predicted or type(model).__name__,
        "learner": type(model).__name__,
        "task": reduced.task,
        "target": predicted,
        "heldOut": None if held_out is None else [held_out.measure, _rounded(held_out.value), held_out.n_examples],
        "classes": [str(label) for label in reduced.classes.tolist()],
        "smoothing": reduced.smoothing,
        "attributes": _attributes(reduced, values, checked, source),
        "trees": trees,
        "examples": [] if checked is None else _drawn(checked, y, model),
        "points": _points(checked, answers, values),
        "n": None if checked is None else len(checked),
        "notes": list(reduced.notes),
    }


# ---------------------------------------------------------------------------------------------------- the model


class _Path(NamedTuple):
    """The way from a whole tree to the root alone: the step of the model's own tree (-1: none yet), and its scores."""

    sequence: PruningSequence
    chosen: int
    scores: np.ndarray | None


def _with_path(model: Any) -> tuple[Any, _Path | None]:
    """Return a model whose tree is the one that pruning began with, and the pruning path from there on."""
    tree = getattr(model, "tree_", None)
    if tree is None:
        return model, None
    unpruned = getattr(model, "unpruned_tree_", tree)
    sequence, chosen = path_to(tree, unpruned if unpruned.n_nodes <= MAX_NODES else tree)
    if sequence.tree is tree:
        return model, _Path(sequence, chosen, None)
    whole = copy(model)
    whole.tree_ = unpruned
    path, scores = getattr(model, "pruning_path_", None), None
    if path is not None and np.array_equal(path["leaves"], sequence.n_leaves):
        scores = np.asarray(path[path.dtype.names[-1]], dtype=float)
    return whole, _Path(sequence, chosen, scores)


# ---------------------------------------------------------------------------------------------------- trees


def _examples(own: ReducedTree, reduced: ReducedModel, X: np.ndarray, answers: np.ndarray) -> NodeExamples:
    """Send the examples down one tree, those of classes that it knows: a tree of a vote may not have seen all."""
    # A tree takes the category numbers of its own model; the members of a vote are given those of the vote.
    taker = without_names(own.learner) if reduced.is_one_of_many else own.learner.tree_
    if not len(reduced.classes):
        return NodeExamples.make(taker, X[:, own.columns], None)
    labels = reduced.classes[answers]
    rows = np.isin(labels, own.learner.classes_)
    return NodeExamples.make(taker, X[rows][:, own.columns], labels[rows])


def _tree_record(
    own: ReducedTree, classes: np.ndarray, examples: NodeExamples | None, budget: int
) -> tuple[dict[str, Any], int]:
    """Return one tree for the page, and how many numbers may still be spent on histograms."""
    tree, original, columns = own.tree, own.learner.tree_, own.columns
    place = np.searchsorted(classes, original.classes) if tree.predicts_classes else np.zeros(1, dtype=np.int64)
    scale = np.zeros(len(tree.fill))
    scale[columns] = getattr(own.learner, "_scale", 1.0)
    histograms: dict[int, Any] = {}
    averages: dict[int, Any] = {}
    if examples is not None:
        inner = np.flatnonzero(~tree.is_leaf).tolist()
        for node in sorted(inner, key=lambda node: (-original.counts[node].sum(), node)):
            if tree.threshold_of(node) is None or budget <= 0:
                continue
            histograms[node] = _histogram_record(examples.histogram(node, BINS), place)
            budget -= sum(map(len, histograms[node]["c"])) + 8
            features = original.test(node)[0]
            if len(features) > 1:
                averages[node] = _averages(examples, node, features)
                budget -= 2 * len(features)
    return {
        "children": [[int(child) for child in row if child >= 0] for row in tree.children],
        "tests": [0 if leaf else _test_record(own, node) for node, leaf in enumerate(tree.is_leaf)],
        "counts": [_sparse(row, place) for row in original.counts],
        "majority": own.votes.tolist(),
        "values": None if tree.predicts_classes else own.leaves[:, 0].tolist(),
        "fill": [_number(value) for value in tree.fill],
        # Files of the original know neither averages nor scales.
        "average": bool(original.fill.any() or (scale[columns] != 1).any()),
        "scale": [_rounded(value) for value in scale],
        "smoothing": float(getattr(own.learner, "smoothing", 0.0)),
        "columns": [int(column) for column in columns] if len(columns) < len(tree.fill) else None,
        "codes": {str(m): dict(zip(_labels(codes), codes.values(), strict=True)) for m, codes in own.codes.items()},
        "histograms": histograms,
        "averages": averages,
    }, budget


def _averages(examples: NodeExamples, node: int, features: np.ndarray) -> list[Any]:
    """Return the average of each attribute of a test over the examples at its node that have a value."""
    rows = examples.rows(node)
    known = ~examples.is_missing[np.ix_(rows, features)]
    sums = (examples.X[np.ix_(rows, features)] * known).sum(axis=0)
    counts = known.sum(axis=0).tolist()
    return [_rounded(value / n, 4) if n else None for value, n in zip(sums.tolist(), counts, strict=True)]


def _test_record(own: ReducedTree, node: int) -> dict[str, Any]:
    tree, original = own.tree, own.learner.tree_
    features, coefficients, constants = (part.tolist() for part in tree.node_functions(node))
    if not tree.has_thresholds:
        labels = original.classes[original.machine(node)[1]]
        return {"f": features, "w": coefficients, "b": constants, "k": np.searchsorted(tree.classes, labels).tolist()}
    record: dict[str, Any] = {"f": features, "c": coefficients[0], "t": constants[0]}
    if direction := int(tree.directions[node]):
        record["m"] = direction
    if tree.threshold_of(node) is None:
        record["q"] = 1
    elif len(features) == 1 and features[0] in own.codes:
        record["s"] = original.equation(node)
    digits = digits_needed(constants[0], float(original.gaps[node]))
    if digits > 3:
        record["d"] = digits
    return record


def _labels(values: Iterable[Any]) -> list[str]:
    """Return what categories are called, all different."""
    (labels,) = labels_of((tuple(values),))
    return list(labels or ())


def _sparse(counts: np.ndarray, place: np.ndarray) -> list[Any]:
    """Return counts as [class, weight, class, weight, ...]."""
    return [part for k in np.flatnonzero(counts) for part in (int(place[k]), _number(counts[k]))]


def _histogram_record(histogram: Histogram, place: np.ndarray) -> dict[str, Any]:
    """Return a histogram with, for each bar that is not empty, [bar, class, count, class, count, ...]."""
    bars = [[number, *_sparse(row, place)] for number, row in enumerate(histogram.counts) if row.any()]
    edges = histogram.edges
    return {"e": [_rounded(edges[0]), _rounded(edges[-1])], "n": [histogram.n_left, len(edges) - 1], "c": bars}


# ---------------------------------------------------------------------------------------------------- pruning path


def _path_record(model: Any, path: _Path, X: np.ndarray | None, y: Any) -> dict[str, Any]:
    """Return the pruning path: step 0 is the whole tree, and each inner node has the step at which it becomes a leaf.

    Cost-complexity pruning begins by cutting what costs nothing; here that is a step of its own.
    """
    sequence = path.sequence
    tree, inner = sequence.tree, ~sequence.tree.is_leaf
    extra = int(bool((sequence.steps[inner] == 0).any()))
    record: dict[str, Any] = {
        "score": "accuracy" if tree.predicts_classes else "error",
        "steps": np.where(inner, sequence.steps + extra, 0).tolist(),
        "leaves": [tree.n_leaves] * extra + sequence.n_leaves.tolist(),
        "chosen": path.chosen + extra if path.chosen >= 0 else 0,
    }
    scores = {"training": (tree.leaf_scores, tree.counts[0].sum())}
    if X is not None:
        scores["data"] = (tree.score_nodes(X, y), len(X))
    for key, (at_nodes, n) in scores.items():
        record[key] = [_rounded(float(value) / float(n)) for value in sequence.with_whole(at_nodes)]
    if path.scores is not None and np.isfinite(path.scores).all() and tree.predicts_classes:
        record["judged"] = [None] * extra + [_rounded(value) for value in path.scores]
        record["judgedBy"] = judged_by(model)
    return record


# ---------------------------------------------------------------------------------------------------- examples


def _attributes(reduced: ReducedModel, values: Any, X: np.ndarray | None, source: Any) -> list[dict[str, Any]]:
    ranges = list(getattr(source, "ranges", ()) or ())
    records = []
    for m, name in enumerate(reduced.feature_names):
        record: dict[str, Any] = {"name": str(name)}
        if values is not None and values[m] is not None:
            record["categories"] = _labels(values[m])
        else:
            record |= _range(m, X, ranges, reduced)
        records.append(record)
    return records


def _range(m: int, X: np.ndarray | None, ranges: list[Any], reduced: ReducedModel) -> dict[str, Any]:
    """Return where an attribute's values lie, in the examples or the training data; else a rough guess to draw."""
    if X is not None and np.isfinite(X[:, m]).any():
        return {"low": _rounded(np.nanmin(X[:, m])), "high": _rounded(np.nanmax(X[:, m]))}
    if ranges and np.isfinite(ranges[m]).all():
        return {"low": _rounded(ranges[m][0]), "high": _rounded(ranges[m][1])}
    for own in reduced.trees:
        if m in own.columns:
            scale = getattr(own.learner, "_scale", np.ones(len(own.columns)))[own.columns.tolist().index(m)]
            middle, spread = float(own.tree.fill[m]), 2.5 * float(scale)
            return {"low": _rounded(middle - spread, 3), "high": _rounded(middle + spread, 3), "rough": 1}
    return {"low": None, "high": None, "rough": 1}


def _chosen_rows(n: int, most: int) -> np.ndarray:
    return np.arange(n) if n <= most else np.sort(np.random.default_rng(0).permutation(n)[:most])


def _drawn(checked: np.ndarray, y: Any, model: Any) -> list[list[Any]]:
    """Return some examples as the page takes them, the answer last."""
    values = getattr(model, "categories_", None)
    answers = np.asarray(y).tolist()
    rows = []
    for i in _chosen_rows(len(checked), MAX_TRIED).tolist():
        row: list[Any] = [_number(value) for value in checked[i]]
        for m, own in enumerate(values if values is not None else ()):
            if own is not None and row[m] is not None:
                row[m] = _labels([own[int(row[m])]])[0]
        rows.append([*row, str(answers[i]) if hasattr(model, "classes_") else _number(float(answers[i]))])
    return rows


def _points(X: np.ndarray | None, y: Any, values: Any) -> list[list[Any]]:
    """Return points for the map of a model on two attributes."""
    if X is None or X.shape[1] != 2 or values is not None:
        return []
    known = np.flatnonzero(np.isfinite(X).all(axis=1))
    rows = known[_chosen_rows(len(known), MAX_DRAWN)]
    answers = np.asarray(y)[rows].tolist()
    return [[_rounded(a), _rounded(b), answer] for (a, b), answer in zip(X[rows].tolist(), answers, strict=True)]


# ---------------------------------------------------------------------------------------------------- numbers


def _number(value: float) -> float | int | None:
    """Return a number exactly, None for what JSON cannot hold."""
    if not np.isfinite(value):
        return None
    return int(value) if float(value).is_integer() and abs(value) < 2**53 else float(value)


def _rounded(value: float, digits: int = 5) -> float | int | None:
    """Return a number that is only shown."""
    return _number(float(f"{value:.{digits}g}"))
