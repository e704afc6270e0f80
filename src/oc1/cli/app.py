"""The ``oc1`` command and its subcommands, each in a file of `oc1.cli.commands`."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from importlib import import_module
from typing import Annotated, Any

import typer

from .. import __version__
from .options import documented, read_options
from .parameters import LEARNER_OPTIONS, learner_parameters
from .screen import reporting_errors, stop_when_terminated

#: Each is a function in a file of its name, in the order of the help.
COMMANDS: dict[str, Callable[..., None]] = {
    name: getattr(import_module(f".commands.{name}", __package__), name)
    for name in (
        *(
            "train",
            "classify",
            "explain",
            "test",
            "cv",
            "compare",
            "show",
            "convert",
            "plot",
            "explore",
            "animate",
            "generate",
        ),
        *("reproduce", "warmup", "demo"),
    )
}
#: Parameters of commands that stand for several options: the functions that make them of these, and the options.
OPTION_GROUPS: dict[str, tuple[Callable[..., Any], list[inspect.Parameter]]] = {
    "options": (read_options, documented(read_options, "Data file")),
    "parameters": (learner_parameters, LEARNER_OPTIONS),
}

app = typer.Typer(
    name="oc1",
    help="OC1: small, accurate, readable oblique decision trees (Murthy, Kasif & Salzberg 1994).",
    epilog="Example: oc1 generate rcb -o rcb.csv; oc1 train rcb.csv; oc1 show rcb.json. See oc1 COMMAND --help.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def with_option_groups(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command that has the options of its `OPTION_GROUPS` in place of the parameters of these names."""
    own = documented(command)
    groups = {one.name: OPTION_GROUPS[one.name] for one in own if one.name in OPTION_GROUPS}

    def run(**values: Any) -> None:
        for name, (make, options) in groups.items():
            values[name] = make(**{option.name: values.pop(option.name) for option in options})
        command(**values)

    options = [one for one in own if one.name not in groups] + [one for _, group in groups.values() for one in group]
    keywords = [option.replace(kind=inspect.Parameter.KEYWORD_ONLY) for option in options]
    run.__signature__ = inspect.Signature(keywords)  # type: ignore[attr-defined]
    return run


def _help(docstring: str) -> str:
    """Return a docstring without its parameters, a line for each paragraph: the terminal's width is not known here."""
    text, _, _ = inspect.cleandoc(docstring).partition("\n\nParameters\n")
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in text.split("\n\n"))


for name, command in COMMANDS.items():
    register = app.command(name, no_args_is_help=name not in ("warmup", "demo"), help=_help(command.__doc__ or ""))
    register(reporting_errors(with_option_groups(command)))


def _print_version(asked: bool) -> None:
    if asked:
        typer.echo(f"oc1 {__version__}")
        raise typer.Exit


@app.callback()
def before(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Do what every command begins with."""
    stop_when_terminated()
