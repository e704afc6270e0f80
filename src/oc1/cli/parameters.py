"""The parameters of `OC1Classifier` as options of the command line.

Names, kinds, choices, defaults and help texts come from the class's docstring: a parameter that is added there is an
option here. (A test compares the docstring with the signature and the constraints of the class.)
"""

from __future__ import annotations

import ast
import inspect
import re
from importlib.resources import files
from typing import Annotated, Any, NamedTuple

import typer

from ..learners import registry
from .options import completing, documented, numpydoc_entries
from .screen import UsageError, check_choice

#: Parameters that have another name on the command line.
RENAMED = {"random_state": "--seed", "n_jobs": "--jobs", "verbose": "-v", "categorical_features": "--categorical"}
#: Where the help shows a parameter, if not under "Search".
PANELS = {
    "When a node stays a leaf": "max_depth min_samples_split min_samples_leaf "
    "min_weight_fraction_leaf max_leaf_nodes min_impurity_decrease",
    "Pruning and probabilities": "prune prune_fraction prune_se ccp_alpha smoothing",
    "Readable tests": "max_terms",
}
#: What is a number of examples or attributes, or a share of them.
NUMBER_OR_SHARE = "int or float"
#: Types by the first word of numpydoc's; what is not here is text.
KINDS: dict[str, Any] = {"int": int, "float": float, "dict": list[str]}


class ParameterOption(NamedTuple):
    """A parameter as an option."""

    name: str
    kind: Any
    choices: tuple[str, ...]
    help: str
    is_number: bool = False  # typed as a number of either kind, or as one of the choices

    @property
    def flag(self) -> str:
        """The option as it is typed."""
        return "--" + self.name.replace("_", "-")

    @property
    def _metavar(self) -> str | None:
        if self.name == "class_weight":
            return "balanced|LABEL=WEIGHT"
        return "NUMBER" if self.is_number else "NAME" if self.choices else None

    def declaration(self) -> inspect.Parameter:
        """Return it as typer takes it."""
        option = typer.Option(
            self.flag,
            help=self.help,
            rich_help_panel=next((panel for panel, names in PANELS.items() if self.name in names.split()), "Search"),
            metavar=self._metavar,
            autocompletion=completing(self.choices) if self.choices else None,
            show_default=False,
        )
        annotation = Annotated[self.kind | None, option]  # type: ignore[name-defined]
        return inspect.Parameter(self.name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation)

    def value(self, given: Any) -> Any:
        """Turn what was typed into the parameter."""
        if self.name == "class_weight":
            return given[0] if given == ["balanced"] else dict(map(_class_weight, given))
        if self.is_number and isinstance(number := _literal(given), int | float):
            return number
        if self.is_number and not self.choices:
            raise UsageError(f"{self.flag} takes a number or a share, got {given!r}")
        if self.choices:
            check_choice(self.flag, given, self.choices)
        return None if given == "none" else given


def _documented_options() -> dict[str, ParameterOption]:
    """Read the options from the source of the class: importing it would take every command a second."""
    module = ast.parse(files(registry.__package__).joinpath("classifier.py").read_text(encoding="utf-8"))
    classes = [node for node in module.body if isinstance(node, ast.ClassDef) and node.name == "OC1Classifier"]
    entries = numpydoc_entries(ast.get_docstring(classes[0]) or "")
    return {name: _option(name, *entry) for name, entry in entries.items() if name not in RENAMED}


def _option(name: str, type_: str, text: str) -> ParameterOption:
    """Make an option of an entry in numpydoc: ``order : {"sequential", "best"}, default="best"``, and a text."""
    type_, default = re.split(r",\s+default=", type_)
    is_number = type_.startswith(NUMBER_OR_SHARE)
    kind = str if is_number else KINDS.get(type_.split()[0].rstrip(","), str)
    names = re.search("{(.*)}", type_)
    choices = [str(one).lower() for one in ast.literal_eval(f"[{names[1]}]")] if names else []
    parts = [text.partition(". ")[0].rstrip(".") + "."]
    if kind == list[str]:
        parts.append("May be given several times.")
    elif choices:
        parts.append(f"One of: {', '.join(choices)}.")
    meaning = re.search(r"None: (.*?)\.( |$)", text)
    if default != "None" or meaning:
        shown = meaning[1] if default == "None" and meaning else default.strip('"')
        parts.append(f"(default: {shown})")
    return ParameterOption(name, kind, tuple(choices), _with_flags(" ".join(parts)), is_number)


def _with_flags(text: str) -> str:
    """Write parameters as options, and texts without the marks of reStructuredText."""
    text = re.sub(r'``(\w+)="?(.*?)"?``', lambda found: f"--{found[1].replace('_', '-')} {found[2]}", text)
    text = re.sub(r"(?<!`)`([a-z_]+)`(?!`)", lambda found: f"--{found[1].replace('_', '-')}", text)
    return text.replace("`", "").replace("None", "none")


OPTIONS = _documented_options()


def learner_parameters(
    param: Annotated[list[str] | None, typer.Option("--param", "-P")] = None, **given: Any
) -> dict[str, Any]:
    """Return the parameters given for the learner; to a command, these options are one parameter (see `app`).

    Parameters
    ----------
    param : NAME=VALUE
        Any parameter of the learner, such as -P n_estimators=25 for vote. May be given several times.
    """
    chosen = {name: OPTIONS[name].value(value) for name, value in given.items() if value is not None}
    pairs = dict(map(_pair, param or ()))
    for name in pairs.keys() & chosen.keys():
        raise UsageError(f"{name} is given twice: as an option and with --param")
    return chosen | pairs


#: The options of `learner_parameters`.
LEARNER_OPTIONS = [documented(learner_parameters)[0], *(option.declaration() for option in OPTIONS.values())]


def make_estimator(name: str, parameters: dict[str, Any], *, strict: bool = True, **usual: Any) -> Any:
    """Return the learner of a name, not fitted.

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
    check_choice("--learner", name, registry.LEARNERS)
    known = registry.parameters_of(name)
    for key, value in registry.LEARNERS[name].fixed.items():
        if parameters.get(key, value) != value:
            raise UsageError(f"the learner {name!r} has {key}={value!r}: another value makes it another learner")
    if strict and (unknown := [key for key in parameters if key not in known]):
        raise UsageError(f"the learner {name!r} has no parameter {unknown[0]!r}; it has {', '.join(known)}")
    wanted = usual | parameters
    return registry.make_learner(name, **{key: value for key, value in wanted.items() if key in known})


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
