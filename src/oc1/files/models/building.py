"""Estimators of scikit-learn from what a model file holds."""

from __future__ import annotations

from typing import Any

from ...learners.registry import learner_class
from ...tree.validation import LONGEST, InvalidField, described, items, numbers, whole, within
from .decoding import MOST_VOTES, known_learner
from .record import Fitted

#: A file cannot ask for more threads.
MOST_JOBS = 1024


def built(fitted: Fitted, votes: int = 0) -> Any:
    """Return the fitted estimator; raise `InvalidField` if its parameters are not right."""
    model = _estimator({"learner": fitted.learner, "parameters": fitted.parameters}, votes)
    attributes = dict(fitted.attributes)
    if "estimators_" in attributes:
        members = []
        for i, member in enumerate(attributes["estimators_"]):
            with within(f"members[{i}]"):
                members.append(built(member, votes + 1))
        attributes["estimators_"] = members
    model.__dict__.update(attributes)
    return model


def _estimator(data: dict[str, Any], depth: int) -> Any:
    """Return an estimator, not fitted, by the name of its class and its parameters."""
    cls: Any = learner_class(known_learner(data["learner"]))
    given = data["parameters"]
    if type(given) is not dict:
        raise InvalidField("parameters", f"must be an object, not {described(given)}")
    given = _present_names(given)
    known = cls._get_param_names()
    parameters = {}
    for name, value in given.items():
        if name not in known:
            raise InvalidField("parameters", f"{cls.__name__} has no parameter {described(name)}")
        with within("parameters"):
            parameters[name] = _decoded_value(value, name, depth)
    n_jobs = parameters.get("n_jobs")
    if n_jobs is not None and (whole(n_jobs, "parameters.n_jobs", -MOST_JOBS, MOST_JOBS) == 0):
        raise InvalidField("parameters.n_jobs", "must not be 0")
    model = cls(**parameters)
    try:
        model._validate_params()
    except (ValueError, TypeError) as error:
        words, got, value = str(error).partition(" Got ")
        raise InvalidField(
            "parameters", words + got + (value if len(value) <= LONGEST else value[:LONGEST] + "...")
        ) from None
    return model


def _present_names(parameters: dict[str, Any]) -> dict[str, Any]:
    """Return the parameters under their present names: ``complexity_penalty`` was once called ``caution``."""
    if "caution" not in parameters or "complexity_penalty" in parameters:
        return parameters
    present = {"complexity_penalty" if name == "caution" else name: value for name, value in parameters.items()}
    if present.get("preset") is not None and present.get("normalize") == "standard":
        present["normalize"] = "auto"  # the default of that time, which gave way to a preset
    return present


def _decoded_value(value: Any, where: str, depth: int) -> Any:
    if type(value) is list:
        return [_decoded_value(one, f"{where}[{i}]", depth) for i, one in enumerate(value)]
    if type(value) is int:
        return whole(value, where, -(2**63), 2**63 - 1)
    if type(value) is float:
        return float(numbers([value], where)[0])
    if type(value) is not dict:
        return value
    if value.keys() == {"tuple"}:
        return tuple(_decoded_value(items(value["tuple"], where), where, depth))
    if value.keys() == {"dict"}:
        pairs = [items(_decoded_value(pair, where, depth), where, 2) for pair in items(value["dict"], where)]
        if not all(isinstance(key, bool | int | float | str) for key, _ in pairs):
            raise InvalidField(where, "keys must be texts, numbers or booleans")
        found = dict(pairs)
        if len(found) < len(pairs):
            raise InvalidField(where, "a key is there twice")
        return found
    if value.keys() == {"learner", "parameters"}:
        if depth >= MOST_VOTES:
            raise InvalidField(where, f"learners are nested more than {MOST_VOTES} deep")
        with within(where):
            return _estimator(value, depth + 1)
    raise InvalidField(where, "is an object of no known kind")
