"""What the page of a model knows, as plain lists, texts and numbers.

Numbers that an example's way depends on are exact; those that are only drawn are rounded.
"""

from __future__ import annotations

from copy import copy
from typing import Any

import numpy as np

from ..data.categories import labels_of
from ..learners.base import TreeEstimator
from ..learners.reduction import ReducedTree, reduce_model
from ..tree.machine import MachineTree
from ..tree.pruning import PruningSequence, prune_sequence
from ..tree.regression import RegressionTree
from ..tree.summaries import Histogram, NodeExamples
from ..tree.text import equation_sides

#: At most so many examples can be tried by a button, and so many are drawn on the map of a model on two attributes.
TRIED, DRAWN = 200, 2000
#: Bars of a histogram.
BINS = 24
#: A larger unpruned tree is left out: the path begins at the pruned one then.
MOST_NODES = 6000
#: Numbers in the histograms of all trees together, more or less; where there are more, those of the largest nodes stay.
MOST_NUMBERS = 250_000


def page_data(model: Any, X=None, y=None, *, source: Any = None, title: str | None = None) -> dict[str, Any]:
    """Return all that the page of a model shows; the parameters are those of `explore`."""
    if X is not None and y is None:
        raise ValueError("y is needed with X: the classes (or numbers) of the examples")
    whole, sequences = _with_paths(model)
    plain = reduce_model(whole)
    values = getattr(model, "categories_", None)
    checked: Any = None if X is None else _without_names(model, X)._checked(X)
    numbers: Any = None if X is None else _class_indices(model, y, len(checked))
    trees = []
    members, columns = _members(whole)
    budget = MOST_NUMBERS
    for number, own in enumerate(plain.trees):
        member = members[number]
        examples = None
        if checked is not None:
            labels = None if plain.task == "number" else _member_labels(model, member, numbers)
            rows = np.arange(len(checked)) if labels is None else np.flatnonzero(labels >= 0)
            known = None if labels is None else member.classes_[labels[rows]]
            # A tree takes the category numbers of its own model; the members of a vote are given those of the vote.
            taker = _without_names(member, checked) if plain.task == "vote" else member.tree_
            examples = NodeExamples.make(taker, checked[rows][:, columns[number]], known)
        record, budget = _tree_record(own, member, columns[number], plain.classes, examples, budget)
        if sequences:
            record |= _path_record(model, sequences[number], checked, y if plain.task == "number" else numbers)
        trees.append(record)
    predicted = getattr(source, "target", None)
    return {
        "title": title or predicted or type(model).__name__,
        "learner": type(model).__name__,
        "task": plain.task,
        "target": predicted,
        "classes": [str(label) for label in plain.classes.tolist()],
        "smoothing": plain.smoothing if plain.task == "vote" else float(getattr(model, "smoothing", 0.0)),
        "attributes": _attributes(plain.feature_names, values, checked, source, members, columns),
        "trees": trees,
        "examples": [] if checked is None else _drawn(checked, y, model),
        "points": _points(checked, y if plain.task == "number" else numbers, values),
        "n": None if checked is None else len(checked),
        "notes": list(plain.notes),
    }


# ---------------------------------------------------------------------------------------------------- the model


def _members(model: Any) -> tuple[list, list[np.ndarray]]:
    """Return the trees of a model and the columns that each of them sees."""
    if isinstance(model, TreeEstimator):
        return [model], [np.arange(model.n_features_in_)]
    return list(model.estimators_), list(model.estimators_features_)


def _with_paths(model: Any) -> tuple[Any, list[tuple[PruningSequence, int, np.ndarray | None]]]:
    """Return a model whose tree is the one that pruning began with, and the path from there on.

    The path has the sequence, the step of the model's own tree (-1: the whole), and the scores that chose it.
    """
    if not isinstance(model, TreeEstimator) or not hasattr(model, "tree_"):
        return model, []
    tree, unpruned = model.tree_, getattr(model, "unpruned_tree_", model.tree_)
    if unpruned is not tree and unpruned.n_nodes <= MOST_NODES:
        sequence = prune_sequence(unpruned)
        alike = np.flatnonzero(sequence.n_leaves == tree.n_leaves)
        found = -1 if _same(unpruned, tree) else None
        if found is None:
            found = next((int(step) for step in alike if _same(sequence.subtree(int(step)), tree)), None)
        if found is not None:
            whole = copy(model)
            whole.tree_ = unpruned
            path = getattr(model, "pruning_path_", None)
            scores = None
            if path is not None and len(path) == len(sequence.alphas):
                scores = np.asarray(path[path.dtype.names[2]], dtype=float)
            return whole, [(sequence, found, scores)]
    return model, [(prune_sequence(tree), -1, None)]


def _same(tree: Any, other: Any) -> bool:
    """Whether two trees ask the same."""
    names = ("children", "functions") if isinstance(tree, MachineTree) else (
        "children", "features", "coefficients", "thresholds"
    )  # fmt: skip
    return all(np.array_equal(getattr(tree, name), getattr(other, name)) for name in names)


def _without_names(model: Any, X: Any) -> Any:
    """Return a model that does not ask for the names of columns which have none."""
    if hasattr(X, "columns") or not hasattr(model, "feature_names_in_"):
        return model
    other = copy(model)
    del other.feature_names_in_
    return other


def _class_indices(model: Any, y: Any, n: int) -> np.ndarray | None:
    labels = np.asarray(y).tolist()
    if len(labels) != n:
        raise ValueError(f"there are {n} examples, but {len(labels)} labels")
    if not hasattr(model, "classes_"):
        return None
    number_of = {label: number for number, label in enumerate(model.classes_.tolist())}
    for label in labels:
        if label not in number_of:
            raise ValueError(f"the model knows no class {label!r:.60}")
    return np.array([number_of[label] for label in labels], dtype=np.int64)


def _member_labels(model: Any, member: Any, numbers: np.ndarray) -> np.ndarray:
    """Return class indices as one tree of a vote has them: -1 for classes that it has not seen."""
    own = {label: number for number, label in enumerate(member.classes_.tolist())}
    return np.array([own.get(label, -1) for label in model.classes_.tolist()])[numbers]


# ---------------------------------------------------------------------------------------------------- trees


def _tree_record(
    own: ReducedTree, member: Any, columns: np.ndarray, classes: np.ndarray, examples: NodeExamples | None, budget: int
) -> tuple[dict[str, Any], int]:
    """Return one tree for the page, and how many numbers may still be spent on histograms."""
    tree, original = own.tree, member.tree_
    inner = np.flatnonzero(~tree.is_leaf).tolist()
    place = None if isinstance(original, RegressionTree) else np.searchsorted(classes, original.classes)
    scale = np.zeros(len(tree.fill))
    scale[columns] = getattr(member, "_scale", np.ones(len(columns)))
    histograms: dict[int, Any] = {}
    averages: dict[int, Any] = {}
    if examples is not None:
        for node in sorted(inner, key=lambda node: (-original.counts[node].sum(), node)):
            if isinstance(tree, MachineTree) or _asks_for_missing(tree, own, node) or budget <= 0:
                continue
            histograms[node] = _histogram_record(examples.histogram(node, BINS), place)
            budget -= sum(map(len, histograms[node]["c"])) + 8
            features = original.test(node)[0]
            if len(features) > 1:
                averages[node] = _averages(examples, node, features)
                budget -= 2 * len(features)
    return {
        "children": [[int(child) for child in row if child >= 0] for row in tree.children],
        "tests": [_test_record(own, original, node) if not leaf else 0 for node, leaf in enumerate(tree.is_leaf)],
        "counts": [_sparse(row, place) for row in original.counts],
        "majority": own.votes.tolist(),
        "values": original.values.tolist() if isinstance(original, RegressionTree) else None,
        "fill": [_number(value) for value in tree.fill],
        "average": _fills_averages(member),
        "scale": [_rounded(value) for value in scale],
        "smoothing": float(getattr(member, "smoothing", 0.0)),
        "columns": [int(column) for column in columns] if len(columns) < len(tree.fill) else None,
        "codes": {str(column): _by_label(codes) for column, codes in own.codes.items()},
        "histograms": histograms,
        "averages": averages,
    }, budget


def _fills_averages(member: Any) -> bool:
    """Whether missing values count as averages; files of the original know neither averages nor scales."""
    return bool(member.tree_.fill.any() or (np.asarray(getattr(member, "_scale", 1.0)) != 1).any())


def _averages(examples: NodeExamples, node: int, features: np.ndarray) -> list[Any]:
    """Return the average of each attribute of a test over the examples at its node that have a value."""
    rows = examples.rows(node)
    known = ~examples.is_missing[np.ix_(rows, features)]
    sums = (examples.X[np.ix_(rows, features)] * known).sum(axis=0)
    counts = known.sum(axis=0).tolist()
    return [_rounded(value / n, 4) if n else None for value, n in zip(sums.tolist(), counts, strict=True)]


def _test_record(own: ReducedTree, original: Any, node: int) -> dict[str, Any]:
    tree: Any = own.tree
    if isinstance(tree, MachineTree):
        functions, labels = tree.machine(node)
        used = np.flatnonzero(functions[:, :-1].any(axis=0))
        return {
            "f": used.tolist(),
            "w": functions[:, used].tolist(),
            "b": functions[:, -1].tolist(),
            "k": np.searchsorted(tree.classes, original.classes[labels]).tolist(),
        }
    features, coefficients, threshold = tree.test(node)
    record: dict[str, Any] = {"f": features.tolist(), "c": coefficients.tolist(), "t": threshold}
    direction = int(own.missing[node])
    if direction:
        record["m"] = direction
    if _asks_for_missing(tree, own, node):
        record["q"] = 1
    elif len(features) == 1 and int(features[0]) in own.codes:
        record["s"] = " ".join(equation_sides(original, node))
    digits = _digits(threshold, float(original.gaps[node]))
    if digits > 3:
        record["d"] = digits
    return record


def _asks_for_missing(tree: Any, own: ReducedTree, node: int) -> bool:
    return own.missing[node] > 0 and tree.thresholds[node] == np.finfo(float).max


def _digits(value: float, gap: float) -> int:
    """Return how many digits a threshold must show to stay between the examples."""
    digits = 3
    while digits < 17 and abs(float(f"{value:.{digits}g}") - value) > 0.25 * gap:
        digits += 1
    return digits


def _by_label(codes: dict[Any, float]) -> dict[str, float]:
    (labels,) = labels_of((tuple(codes),))
    assert labels is not None
    return dict(zip(labels, codes.values(), strict=True))


def _sparse(counts: np.ndarray, place: np.ndarray | None) -> list:
    """Return counts as [class, weight, class, weight, ...]; the weight alone where numbers are predicted."""
    if place is None:
        return [0, _plain_number(counts[0])]
    return [part for k in np.flatnonzero(counts) for part in (int(place[k]), _plain_number(counts[k]))]


def _histogram_record(histogram: Histogram, place: np.ndarray | None) -> dict[str, Any]:
    """Return a histogram with, for each bar that is not empty, [bar, class, count, class, count, ...]."""
    bars = []
    for number, row in enumerate(histogram.counts):
        if row.any():
            where = np.flatnonzero(row)
            own = [part for k in where for part in (int(place[k]) if place is not None else 0, int(row[k]))]
            bars.append([number, *own])
    edges = histogram.edges
    return {"e": [_rounded(edges[0]), _rounded(edges[-1])], "n": [histogram.n_left, len(edges) - 1], "c": bars}


# ---------------------------------------------------------------------------------------------------- pruning path


def _path_record(
    model: Any, path: tuple[PruningSequence, int, np.ndarray | None], X: np.ndarray | None, y: Any
) -> dict[str, Any]:
    """Return the pruning path: step 0 is the whole tree, and each inner node has the step at which it becomes a leaf.

    Cost-complexity pruning begins by cutting what costs nothing; here that is a step of its own.
    """
    sequence, chosen, judged = path
    tree = sequence.tree
    inner = ~tree.is_leaf
    extra = int(bool((sequence.steps[inner] == 0).any()))
    scores = {}
    if isinstance(tree, RegressionTree):
        name, whole = "error", tree.losses[tree.is_leaf].sum()
        scores["training"] = (sequence.sum_over_leaves(tree.losses), whole, tree.counts[0, 0])
        if X is not None:
            sums = _squares(tree, X, np.asarray(y, dtype=float))
            scores["data"] = (sequence.sum_over_leaves(sums), sums[tree.is_leaf].sum(), len(X))
    else:
        name, right = "accuracy", tree.counts.max(axis=1)
        scores["training"] = (sequence.sum_over_leaves(right), right[tree.is_leaf].sum(), tree.counts[0].sum())
        if X is not None:
            leaves = tree.apply(X)
            whole = float((tree.majority[leaves] == y).sum())
            scores["data"] = (sequence.correct(X, y, None), whole, len(X))
    record: dict[str, Any] = {
        "score": name,
        "steps": np.where(inner, sequence.steps + extra, 0).tolist(),
        "leaves": [tree.n_leaves] * extra + sequence.n_leaves.tolist(),
        "chosen": chosen + extra if chosen >= 0 else 0,
    }
    for key, (sums, whole, n) in scores.items():
        record[key] = [_rounded(float(value) / float(n)) for value in [*([whole] * extra), *sums]]
    if judged is not None and np.isfinite(judged).all() and name == "accuracy":
        record["judged"] = [None] * extra + [_rounded(value) for value in judged]
        record["judgedBy"] = "cross-validated" if getattr(model, "prune", None) == "cv" else "of examples held out"
    return {"path": record}


def _squares(tree: RegressionTree, X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return the sum of squared errors of each node as a leaf, over the examples that reach it."""
    leaves, n = tree.apply(X), tree.n_nodes
    sizes, sums, squares = (
        tree.sum_upwards(np.bincount(leaves, weights=weights, minlength=n)) for weights in (np.ones(len(y)), y, y * y)
    )
    return np.maximum(squares - 2 * tree.values * sums + tree.values**2 * sizes, 0.0)


# ---------------------------------------------------------------------------------------------------- examples


def _attributes(names, values, X, source, members, columns) -> list[dict[str, Any]]:
    ranges = list(getattr(source, "ranges", ()) or ())
    records = []
    for m, name in enumerate(names):
        record: dict[str, Any] = {"name": str(name)}
        if values is not None and values[m] is not None:
            (record["categories"],) = (list(own or ()) for own in labels_of((tuple(values[m]),)))
        else:
            record["low"], record["high"], seen = _range(m, X, ranges, members, columns)
            if not seen:
                record["rough"] = 1
        records.append(record)
    return records


def _range(m: int, X: np.ndarray | None, ranges: list, members: list, columns: list) -> tuple[Any, Any, bool]:
    """Return where an attribute's values lie, in the examples or the training data, and True; else a guess to draw."""
    if X is not None and np.isfinite(X[:, m]).any():
        return _rounded(np.nanmin(X[:, m])), _rounded(np.nanmax(X[:, m])), True
    if ranges and np.isfinite(ranges[m]).all():
        return _rounded(ranges[m][0]), _rounded(ranges[m][1]), True
    for member, own in zip(members, columns, strict=True):
        if m in own:
            k = int(np.flatnonzero(own == m)[0])
            middle, spread = float(member.tree_.fill[k]), 2.5 * float(getattr(member, "_scale", np.ones(len(own)))[k])
            return _rounded(middle - spread, 3), _rounded(middle + spread, 3), False
    return None, None, False


def _chosen_rows(n: int, most: int) -> np.ndarray:
    return np.arange(n) if n <= most else np.sort(np.random.default_rng(0).permutation(n)[:most])


def _drawn(checked: np.ndarray, y: Any, model: Any) -> list[list]:
    """Return some examples as the page takes them, the answer last."""
    values = getattr(model, "categories_", None)
    answers = np.asarray(y).tolist()
    rows = []
    for i in _chosen_rows(len(checked), TRIED).tolist():
        row: list = [_number(value) for value in checked[i]]
        for m, own in enumerate(values if values is not None else ()):
            if own is not None and row[m] is not None:
                (labels,) = labels_of(((own[int(row[m])],),))
                assert labels is not None
                row[m] = labels[0]
        rows.append([*row, str(answers[i]) if hasattr(model, "classes_") else _number(float(answers[i]))])
    return rows


def _points(X: np.ndarray | None, y: Any, values: Any) -> list[list]:
    """Return points for the map of a model on two attributes."""
    if X is None or X.shape[1] != 2 or values is not None:
        return []
    known = np.flatnonzero(np.isfinite(X).all(axis=1))
    rows = known[_chosen_rows(len(known), DRAWN)]
    answers = np.asarray(y)[rows].tolist()
    return [[_rounded(a), _rounded(b), answer] for (a, b), answer in zip(X[rows].tolist(), answers, strict=True)]


# ---------------------------------------------------------------------------------------------------- numbers


def _number(value: float) -> float | int | None:
    """Return a number exactly, None for what JSON cannot hold."""
    return _plain_number(value) if np.isfinite(value) else None


def _plain_number(value: float) -> float | int:
    value = float(value)
    return int(value) if value.is_integer() and abs(value) < 2**53 else value


def _rounded(value: float, digits: int = 5) -> float | int | None:
    """Return a number that is only shown."""
    return _number(float(f"{value:.{digits}g}"))
