"""Estimators of scikit-learn from what a model file holds."""

from __future__ import annotations

from typing import Any

from ...learners.registry import learner_class
from ...tree import validation as check
from ...tree.validation import LONGEST, InvalidField, described, within
from .decoding import MAX_NESTING_DEPTH, known_learner, mapping, require
from .record import ModelRecord

#: A file cannot ask for more threads.
MAX_N_JOBS = 1024
#: Parameters that files of version 1 may name and that learners no longer have. They said how a model was to be fitted;
#: what it predicts does not depend on them.
REMOVED_PARAMETERS = frozenset(
    {"caution", "complexity_penalty", "device", "groupings", "refine", "rounding", "sparsity", "starts", "thresholds"}
)
#: Values of `splits` that named a mechanism.
FORMER_SPLITS = frozenset({"best", "linear"})


def build_estimator(record: ModelRecord, depth: int = 0) -> Any:
    """Return the fitted estimator; raise `InvalidField` if its parameters are not right.

    Parameters
    ----------
    record : ModelRecord
    depth : int
        Number of votes around it.
    """
    model = _unfitted(record.learner, record.parameters, depth)
    attributes = dict(record.attributes)
    if "estimators_" in attributes:
        members = []
        for i, member in enumerate(attributes["estimators_"]):
            with within(f"members[{i}]"):
                members.append(build_estimator(member, depth + 1))
        attributes["estimators_"] = members
    trees = attributes.pop("trees_", None)
    model.__dict__.update(attributes)
    if trees is not None:
        model._take_trees(trees)
    return model


def _unfitted(learner: Any, parameters: Any, depth: int) -> Any:
    """Return an estimator by the name of its class and its parameters as the file has them."""
    cls: Any = learner_class(known_learner(learner))
    known, given = cls._get_param_names(), {}
    for name, value in _present_names(mapping(parameters, "parameters"), known).items():
        require(name in known, "parameters", f"{cls.__name__} has no parameter {described(name)}")
        with within("parameters"):
            given[name] = _decode_value(value, name, depth)
    n_jobs = given.get("n_jobs")
    if n_jobs is not None:
        check.whole(n_jobs, "parameters.n_jobs", -MAX_N_JOBS, MAX_N_JOBS)
        require(n_jobs != 0, "parameters.n_jobs", "must not be 0")
    model = cls(**given)
    try:
        model._validate_params()
    except (ValueError, TypeError) as error:
        words, got, value = str(error).partition(" Got ")
        value = value if len(value) <= LONGEST else value[:LONGEST] + "..."
        raise InvalidField("parameters", words + got + value) from None
    return model


def _present_names(parameters: dict[str, Any], known: list[str]) -> dict[str, Any]:
    """Return the parameters under their present names, without those that the learner no longer has."""
    is_oldest = "caution" in parameters
    if is_oldest and parameters.get("preset") is not None and parameters.get("normalize") == "standard":
        parameters = parameters | {"normalize": "auto"}  # the default of that time, which gave way to a preset
    if "preset" in known and parameters.get("splits") in FORMER_SPLITS:
        parameters = parameters | {"splits": "auto"}
    gone = REMOVED_PARAMETERS.difference(known)
    return {name: value for name, value in parameters.items() if name not in gone}


def _decode_value(value: Any, where: str, depth: int) -> Any:
    """Return the value of a parameter; what JSON does not know is an object whose field says what it is."""
    if type(value) is list:
        return [_decode_value(one, f"{where}[{i}]", depth) for i, one in enumerate(value)]
    if type(value) is int:
        return check.whole(value, where, -(2**63), 2**63 - 1)
    if type(value) is float:
        return float(check.numbers([value], where)[0])
    if type(value) is not dict:
        return value
    if value.keys() == {"tuple"}:
        return tuple(_decode_value(check.items(value["tuple"], where), where, depth))
    if value.keys() == {"dict"}:
        pairs = [check.items(_decode_value(pair, where, depth), where, 2) for pair in check.items(value["dict"], where)]
        is_fine = all(isinstance(key, bool | int | float | str) for key, _ in pairs)
        require(is_fine, where, "keys must be texts, numbers or booleans")
        found = dict(pairs)
        require(len(found) == len(pairs), where, "a key is there twice")
        return found
    require(value.keys() == {"learner", "parameters"}, where, "is an object of no known kind")
    require(depth < MAX_NESTING_DEPTH, where, f"learners are nested more than {MAX_NESTING_DEPTH} deep")
    with within(where):
        return _unfitted(value["learner"], value["parameters"], depth + 1)
