"""Fitted models as JSON."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from ... import __version__
from ...learners.registry import learner_class
from ...tree.validation import InvalidField, cut
from ..inputs import FileColumns
from .building import build_estimator
from .decoding import decode_document
from .record import FORMAT, FORMAT_VERSION, Source

#: Objects that fit on a line of this length are written on one.
MAX_LINE_LENGTH = 100


def encode_model(model: Any, source: Source) -> bytes:
    """Return the file of a fitted model; warn of parameters that cannot be stored.

    Parameters
    ----------
    model : fitted estimator of this package
    source : Source

    Raises
    ------
    ValueError
        The file could not be read again.
    """
    left_out: dict[str, None] = {}
    document = {
        "format": FORMAT,
        "version": FORMAT_VERSION,
        "package": __version__,
        "source": _encode_source(source),
        **_encode_model(model, left_out),
    }
    try:  # nothing is written that could not be read: a parameter may have been changed after the fit
        build_estimator(decode_document(document)[0])
    except (InvalidField, RecursionError) as error:
        raise ValueError(f"the model cannot be stored as JSON: {error}") from None
    for message in left_out:
        warnings.warn(message, UserWarning, stacklevel=3)
    # Half of a surrogate pair has no UTF-8, but its escape is JSON.
    return (_lay_out(document) + "\n").encode("utf-8", "backslashreplace")


def _encode_source(source: Source) -> dict[str, Any]:
    return {
        "target": source.target,
        "one_hot": {name: list(values) for name, values in source.one_hot.items()},
        "ranges": [_with_nulls(pair) for pair in source.ranges],
        "n_examples": None if source.n_examples is None else int(source.n_examples),
        "file": source.file,
        "date": source.date,
        "versions": source.versions,
        "training": None if source.training is None else source.training._asdict(),
        "held_out": None if source.held_out is None else source.held_out._asdict(),
        "columns": None if source.columns is None else _columns(source.columns),
    }


def _lay_out(value: Any, indent: str = "") -> str:
    """Return JSON with one line for each field, but short objects and all arrays of values on one line."""
    is_nested = isinstance(value, dict) or (isinstance(value, list) and any(isinstance(one, dict) for one in value))
    line = json.dumps(value, ensure_ascii=False, allow_nan=False) if not is_nested or len(value) <= 4 else ""
    if not is_nested or 0 < len(line) <= MAX_LINE_LENGTH:
        return line
    inner, brackets = indent + " ", "[]"
    parts = [_lay_out(one, inner) for one in (value.values() if isinstance(value, dict) else value)]
    if isinstance(value, dict):
        brackets = "{}"
        parts = [f"{json.dumps(name, ensure_ascii=False)}: {part}" for name, part in zip(value, parts, strict=True)]
    return brackets[0] + ",".join(f"\n{inner}{part}" for part in parts) + f"\n{indent}{brackets[1]}"


def _columns(columns: FileColumns) -> dict[str, Any]:
    return {"n_columns": columns.n_columns, "target": columns.target, "attributes": list(columns.attributes)}


def _with_nulls(values: Iterable[float]) -> list[float | None]:
    return [None if np.isnan(value) else float(value) for value in values]


def _class_name(model: Any, problem: str = "only models of this package can be stored, not {}") -> str:
    """Return the name of a model's class, which must be a learner of the package."""
    name = type(model).__name__
    try:
        is_ours = type(model) is learner_class(name)
    except KeyError:
        is_ours = False
    if not is_ours:
        advice = ": give what its .to_local() returns" if hasattr(model, "to_local") else ""
        raise TypeError(problem.format(name) + advice)
    return name


def _encode_model(model: Any, left_out: dict[str, None]) -> dict[str, Any]:
    data: dict[str, Any] = {"learner": _class_name(model)}
    check_is_fitted(model)
    for member in () if hasattr(model, "_forest") else getattr(model, "estimators_", ()):
        _class_name(member, "a vote of {} cannot be stored: only learners of this package can")
    data["parameters"] = _encode_parameters(model, left_out)
    data["n_features"] = int(model.n_features_in_)
    names = [str(name) for name in getattr(model, "feature_names_in_", ())]
    if names:
        data["feature_names"] = names
    if hasattr(model, "classes_"):
        data["classes"] = _encode_classes(model.classes_)
    if getattr(model, "categories_", None) is not None:
        data["categories"] = [None if own is None else [*map(_plain, own)] for own in model.categories_]
    if hasattr(model, "_forest"):
        return data | _encode_forest(model)
    data["n_hyperplanes"] = int(model.n_hyperplanes_)
    if hasattr(model, "splits_"):
        data["kind"] = model.splits_
        data["cv_accuracies"] = {kind: float(accuracy) for kind, accuracy in model.cv_accuracies_.items()}
    if hasattr(model, "estimators_"):
        return data | _encode_vote(model, left_out)
    *names_of_path, score = model.pruning_path_.dtype.names
    path = {name: model.pruning_path_[name].tolist() for name in names_of_path}
    path[score] = _with_nulls(model.pruning_path_[score])
    tree = _encode_tree(model.tree_)
    unpruned = tree if model.unpruned_tree_ is model.tree_ else _encode_tree(model.unpruned_tree_)
    # The tree before pruning: only what is different.
    nothing: dict[str, list[Any]] = {name: [] for name in ("codes", "categories", "missing") if name in tree}
    differences = {name: value for name, value in {**nothing, **unpruned}.items() if tree.get(name) != value}
    if tree["feature_names"] == names:
        del tree["feature_names"]
    return data | {
        "scale": model._scale.tolist(),
        "pruning_path": path,
        "tree": tree,
        "unpruned_tree": differences,
    }


def _encode_forest(model: Any) -> dict[str, Any]:
    trees = [_encode_tree(tree) for tree in model._trees()]
    for tree in trees:
        tree.pop("feature_names", None)  # the model has them
    data: dict[str, Any] = {"seed": model._seed, "scale": model._shared.scale.tolist(), "trees": trees}
    if hasattr(model, "oob_score_"):
        data["oob_score"] = float(model.oob_score_)
        if hasattr(model, "oob_prediction_"):
            data["oob_prediction"] = _with_nulls(model.oob_prediction_)
        else:
            data["oob_decision_function"] = [_with_nulls(row) for row in model.oob_decision_function_]
    return data


def _encode_vote(model: Any, left_out: dict[str, None]) -> dict[str, Any]:
    data: dict[str, Any] = {}
    if hasattr(model, "oob_score_"):
        data["oob_score"] = float(model.oob_score_)
        data["oob_decision_function"] = [_with_nulls(row) for row in model.oob_decision_function_]
    members = zip(model.estimators_, model.estimators_features_, strict=True)
    data["members"] = [
        {"features": np.asarray(features).tolist(), **_encode_model(member, left_out)} for member, features in members
    ]
    return data


def _encode_tree(tree: Any) -> dict[str, Any]:
    data: dict[str, Any] = tree.to_dict()
    del data["classes"]  # the model has them, with their type
    data.pop("scale", None)  # and this, for both trees
    data["feature_names"] = [str(name) for name in data["feature_names"]]
    if (tree.counts == np.rint(tree.counts)).all() and tree.counts.max() < 2**53:
        data["counts"] = tree.counts.astype(np.int64).tolist()  # shorter
    return data


def _encode_classes(classes: np.ndarray) -> dict[str, Any]:
    kind = "str" if classes.dtype.kind == "U" else classes.dtype.name
    return {"type": kind, "labels": [str(one) if isinstance(one, str) else one for one in classes.tolist()]}


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


class _NotStored(Exception):
    """A parameter has a value that the file cannot hold."""


def _encode_parameters(model: Any, left_out: dict[str, None]) -> dict[str, Any]:
    data = {}
    for name, value in sorted(model.get_params(deep=False).items()):
        try:
            data[name] = _encode_value(value, left_out)
        except _NotStored:
            left_out[
                f"{name}={cut(value)} cannot be stored and is left out: the loaded model predicts the same, but to fit "
                f"it again as before, set the parameter again with set_params({name}=...)"
            ] = None
    return data


def _encode_value(value: Any, left_out: dict[str, None]) -> Any:
    """Return the value of a parameter as JSON: what JSON does not know is an object whose field says what it is."""
    value = _plain(value)
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, int) and -(2**63) <= value < 2**63:
        return int(value)
    if isinstance(value, float) and np.isfinite(value):
        return float(value)
    if isinstance(value, tuple):
        return {"tuple": [_encode_value(one, left_out) for one in value]}
    if hasattr(value, "__array__"):
        value = np.ravel(value).tolist()
    if isinstance(value, list):
        return [_encode_value(one, left_out) for one in value]
    if isinstance(value, dict):
        return {"dict": [[_encode_value(one, left_out) for one in pair] for pair in value.items()]}
    if isinstance(value, BaseEstimator):
        return {"learner": _class_name(value), "parameters": _encode_parameters(value, left_out)}
    raise _NotStored
