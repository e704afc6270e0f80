"""The parameters of learners: some as options of their own, all as ``-P NAME=VALUE``."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Annotated, Any

import typer

from ..learners import registry
from .options import choice, documented
from .screen import UsageError

NUMBER, SHARE, TEXT = int | None, float | None, str | None


def _option(name: str, kind: Any, help: str, choices: Sequence[str] = ()) -> inspect.Parameter:
    """Declare a parameter of `OC1Classifier` as an option."""
    flag = "--" + name.replace("_", "-")
    option = choice(choices, flag) if choices else typer.Option(flag, metavar="N" if kind == NUMBER else "X")
    option.help = help
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=Annotated[kind, option])


#: What people set most, in the order of the help. (A test compares choices and defaults with the class.)
OPTIONS = [
    _option("splits", TEXT, "Tests: auto, axis, oblique. (default: auto)", ("auto", "axis", "oblique")),
    _option("max_terms", NUMBER, "Attributes in a test, at most. (default: no limit)"),
    _option("max_depth", NUMBER, "Depth of the tree, at most; the root has depth 0. (default: no limit)"),
    _option("min_samples_leaf", NUMBER, "Examples on each side of a test, at least. (default: 1)"),
    _option(
        "prune",
        TEXT,
        "How the size is chosen: auto, holdout, cv (cross-validation), none. (default: auto)",
        ("auto", "holdout", "cv", "none"),
    ),
    _option("ccp_alpha", SHARE, "Cost of a leaf, in Gini impurity, for a final pruning. (default: 0.0)"),
    _option(
        "criterion",
        TEXT,
        "Impurity: twoing, gini, info_gain, entropy, log_loss, max_minority, sum_minority, sum_of_variances. "
        "(default: twoing)",
        ("twoing", "gini", "info_gain", "entropy", "log_loss", "max_minority", "sum_minority", "sum_of_variances"),
    ),
    _option("n_restarts", NUMBER, "Searches at a node, the paper's R. (default: 20)"),
    _option("n_jumps", NUMBER, "Random directions at a local minimum, the paper's J. (default: 5)"),
    _option("preset", TEXT, "paper: search and prune as in the paper.", ("paper",)),
    _option("missing", TEXT, "Missing values: mean, direction. (default: mean)", ("mean", "direction")),
]


def learner_parameters(
    class_weight: Annotated[list[str] | None, typer.Option("--class-weight")] = None,
    param: Annotated[list[str] | None, typer.Option("--param", "-P")] = None,
    **given: Any,
) -> dict[str, Any]:
    """Return the parameters given for the learner; to a command, these options are one parameter (see `app`).

    Parameters
    ----------
    class_weight : LABEL=W
        Weight of a class, for each a time; or balanced.
    param : NAME=VALUE
        Any parameter of the learner, for each a time: -P smoothing=1. A name that is none lists all.
    """
    chosen = {name: None if value == "none" else value for name, value in given.items() if value is not None}
    if class_weight:
        chosen["class_weight"] = "balanced" if class_weight == ["balanced"] else dict(map(_class_weight, class_weight))
    pairs = dict(map(_pair, param or ()))
    for name in pairs.keys() & chosen.keys():
        raise UsageError(f"{name} is given twice: as an option and with --param")
    return chosen | pairs


#: The options of `learner_parameters`.
LEARNER_OPTIONS = [*OPTIONS, *documented(learner_parameters)[:-1]]


def make_estimator(name: str, parameters: dict[str, Any], *, strict: bool = True, **usual: Any) -> Any:
    """Return the learner of a name, not fitted; refuse values that it does not accept.

    Parameters
    ----------
    name : str
        As given with ``--learner``.
    parameters : dict
        Given by the user.
    strict : bool, default=True
        Whether a parameter that the learner does not have is an error; if not, it is left out.
    **usual
        Used where the learner has such a parameter, and the user gives none.
    """
    known = registry.parameters_of(name)
    for key, value in registry.LEARNERS[name].fixed.items():
        if parameters.get(key, value) != value:
            raise UsageError(f"the learner {name!r} has {key}={value!r}: another value makes it another learner")
    if strict and (unknown := [key for key in parameters if key not in known]):
        raise UsageError(f"the learner {name!r} has no parameter {unknown[0]!r}; it has {', '.join(known)}")
    wanted = usual | parameters
    estimator = registry.make_learner(name, **{key: value for key, value in wanted.items() if key in known})
    estimator._validate_params()  # before anything is read; the message lists what is accepted
    return estimator


def _class_weight(text: str) -> tuple[Any, float]:
    label, _, weight = text.rpartition("=")
    try:
        return _literal(label), float(weight)
    except ValueError:
        raise UsageError(f"--class-weight takes 'balanced' or LABEL=WEIGHT, got {text!r}") from None


def _pair(text: str) -> tuple[str, Any]:
    name, sign, value = text.partition("=")
    if not sign or not name.isidentifier():
        raise UsageError(f"--param takes NAME=VALUE, got {text!r}")
    return name, _literal(value)


def _literal(text: str) -> Any:
    """Return the number, truth value or None that a text stands for, else the text."""
    words = {"none": None, "true": True, "false": False}
    if text.lower() in words:
        return words[text.lower()]
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
