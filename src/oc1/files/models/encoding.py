"""Fitted models as JSON."""

from __future__ import annotations

import json
import warnings
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from ... import __version__
from ...learners.ensemble import OC1EnsembleClassifier
from ...learners.registry import learner_class
from ...tree.validation import LABEL_TYPES, InvalidField, cut
from .building import built
from .decoding import decoded_document
from .record import FORMAT, VERSION, Source

#: Values that fit on a line of this length are written on one.
LINE = 100


def written_json(model: Any, source: Source) -> bytes:
    """Return the file of a fitted model; warn of parameters that cannot be stored."""
    left_out: dict[str, None] = {}
    document = {
        "format": FORMAT,
        "version": VERSION,
        "package": __version__,
        "source": _encoded_source(source),
        **_encoded_model(model, left_out),
    }
    try:
        built(decoded_document(document)[0])
    except (InvalidField, RecursionError) as error:
        raise ValueError(f"the model cannot be stored as JSON: {error}") from None
    for message in left_out:
        warnings.warn(message, UserWarning, stacklevel=3)
    # Half of a surrogate pair has no UTF-8, but its escape is JSON.
    return (_laid_out(document) + "\n").encode("utf-8", "backslashreplace")


def _laid_out(value: Any, indent: str = "") -> str:
    """Write JSON with one line for each field, but short objects and all arrays of values on one."""
    nested = isinstance(value, dict) or (isinstance(value, list) and any(isinstance(one, dict) for one in value))
    line = json.dumps(value, ensure_ascii=False, allow_nan=False) if not nested or len(value) <= 4 else ""
    if not nested or 0 < len(line) <= LINE:
        return line
    inner = indent + " "
    if isinstance(value, dict):
        parts = [
            f"{inner}{json.dumps(name, ensure_ascii=False)}: {_laid_out(one, inner)}" for name, one in value.items()
        ]
        return "{\n" + ",\n".join(parts) + f"\n{indent}}}"
    return "[\n" + ",\n".join(inner + _laid_out(one, inner) for one in value) + f"\n{indent}]"


def _encoded_source(source: Source) -> dict[str, Any]:
    return {
        "target": source.target,
        "one_hot": {name: list(values) for name, values in source.one_hot.items()},
        "ranges": [_with_nulls(pair) for pair in source.ranges],
        "n_examples": None if source.n_examples is None else int(source.n_examples),
    }


def _with_nulls(values: Any) -> list[float | None]:
    return [None if np.isnan(value) else float(value) for value in values]


def _class_of(model: Any) -> type:
    """Return a model's class, which must be a learner of the package."""
    try:
        known = learner_class(type(model).__name__)
    except KeyError:
        known = None
    if type(model) is not known:
        raise TypeError(f"only models of this package can be stored, not {type(model).__name__}")
    return type(model)


def _encoded_model(model: Any, left_out: dict[str, None]) -> dict[str, Any]:
    is_vote = isinstance(model, OC1EnsembleClassifier)
    data: dict[str, Any] = {"learner": _class_of(model).__name__}
    check_is_fitted(model)
    if is_vote:
        for member in model.estimators_:
            try:
                _class_of(member)
            except TypeError:
                name = type(member).__name__
                raise TypeError(f"a vote of {name} cannot be stored: only learners of this package can") from None
    data["parameters"] = _encoded_parameters(model, left_out)
    data["n_features"] = int(model.n_features_in_)
    names = [str(name) for name in getattr(model, "feature_names_in_", ())]
    if names:
        data["feature_names"] = names
    if hasattr(model, "classes_"):
        data["classes"] = _encoded_classes(model.classes_)
    if getattr(model, "categories_", None) is not None:
        data["categories"] = [
            None if own is None else [_encoded_category(value) for value in own] for own in model.categories_
        ]
    data["n_hyperplanes"] = int(model.n_hyperplanes_)
    if is_vote:
        if hasattr(model, "oob_score_"):
            data["oob_score"] = float(model.oob_score_)
            data["oob_decision_function"] = [_with_nulls(row) for row in model.oob_decision_function_]
        data["members"] = [
            {"features": np.asarray(features).tolist(), **_encoded_model(member, left_out)}
            for member, features in zip(model.estimators_, model.estimators_features_, strict=True)
        ]
        return data
    path = model.pruning_path_
    alpha, leaves, score = path.dtype.names
    data["scale"] = model._scale.tolist()
    data["pruning_path"] = {
        alpha: path[alpha].tolist(),
        leaves: path[leaves].tolist(),
        score: _with_nulls(path[score]),
    }
    tree = _encoded_tree(model.tree_)
    whole_tree = tree if model.unpruned_tree_ is model.tree_ else _encoded_tree(model.unpruned_tree_)
    # The tree before pruning: only what is different.
    nothing: dict[str, list] = {name: [] for name in ("codes", "categories", "missing") if name in tree}
    differences = {name: value for name, value in {**nothing, **whole_tree}.items() if tree.get(name) != value}
    if tree["feature_names"] == names:
        del tree["feature_names"]
    return {**data, "tree": tree, "unpruned_tree": differences}


def _encoded_tree(tree: Any) -> dict[str, Any]:
    data = tree.to_dict()
    del data["classes"]  # the model has them, with their type
    data["feature_names"] = [str(name) for name in data["feature_names"]]
    if (tree.counts == np.rint(tree.counts)).all() and tree.counts.max() < 2**53:
        data["counts"] = tree.counts.astype(np.int64).tolist()  # shorter
    return data


def _encoded_classes(classes: np.ndarray) -> dict[str, Any]:
    kind = "str" if classes.dtype.kind == "U" else classes.dtype.name
    values = classes.tolist()
    if kind not in LABEL_TYPES or not all(isinstance(value, LABEL_TYPES[kind]) for value in values):
        raise TypeError(f"class labels of type {classes.dtype} cannot be stored; numbers, texts and booleans can")
    return {"type": kind, "labels": [str(value) for value in values] if LABEL_TYPES[kind] is str else values}


def _encoded_category(value: Any) -> Any:
    value = value.item() if isinstance(value, np.generic) else value
    if not isinstance(value, bool | int | float | str) or (isinstance(value, float) and not np.isfinite(value)):
        raise TypeError(f"the category {cut(value)} cannot be stored; texts, finite numbers and booleans can")
    return value


class _NotStored(Exception):
    """A parameter has a value that the file cannot hold."""


def _encoded_parameters(model: Any, left_out: dict[str, None]) -> dict[str, Any]:
    data = {}
    for name, value in sorted(model.get_params(deep=False).items()):
        try:
            data[name] = _encoded_value(value, left_out)
        except _NotStored:
            left_out[
                f"{name}={cut(value)} cannot be stored and is left out: the loaded model predicts the same, but to fit "
                f"it again as before, give it again with set_params({name}=...)"
            ] = None
    return data


def _encoded_value(value: Any, left_out: dict[str, None]) -> Any:
    """Return the value of a parameter as JSON: what JSON does not know is an object whose field says what it is."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return str(value)
    if isinstance(value, int) and -(2**63) <= value < 2**63:
        return int(value)
    if isinstance(value, float) and np.isfinite(value):
        return float(value)
    if isinstance(value, tuple):
        return {"tuple": [_encoded_value(one, left_out) for one in value]}
    if hasattr(value, "__array__"):
        value = np.ravel(value).tolist()
    if isinstance(value, list):
        return [_encoded_value(one, left_out) for one in value]
    if isinstance(value, dict):
        return {"dict": [[_encoded_value(one, left_out) for one in pair] for pair in value.items()]}
    if isinstance(value, BaseEstimator):
        return {"learner": _class_of(value).__name__, "parameters": _encoded_parameters(value, left_out)}
    raise _NotStored
