"""The ``oc1`` command and its subcommands, each in a file of `oc1.cli.commands`."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Sequence
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .. import __version__
from .options import documented, read_options
from .screen import reporting_errors, stop_when_terminated

#: Each command is a function in a file of its name, in the order of the help.
NAMES = (
    *("train", "classify", "explain", "test", "cv", "compare", "show", "convert", "plot", "explore", "animate"),
    *("generate", "reproduce", "warmup", "demo"),
)
#: Parameters of commands that stand for several options.
OPTION_GROUPS = ("options", "parameters")

if TYPE_CHECKING:
    app: typer.Typer
    COMMANDS: dict[str, Callable[..., None]]


def command_named(name: str) -> Callable[..., None]:
    """Return the function of a command."""
    return getattr(import_module(f".commands.{name}", __package__), name)  # type: ignore[no-any-return]


@cache
def option_group(name: str) -> tuple[Callable[..., Any], list[inspect.Parameter]]:
    """Return the function that makes a parameter of several options, and the options."""
    if name == "options":
        return read_options, documented(read_options)
    from .parameters import LEARNER_OPTIONS, learner_parameters

    return learner_parameters, LEARNER_OPTIONS


def with_option_groups(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command that has the options of its `OPTION_GROUPS` in place of the parameters of these names."""
    own = documented(command)
    groups = {one.name: option_group(one.name) for one in own if one.name in OPTION_GROUPS}

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


def _print_version(asked: bool) -> None:
    if asked:
        typer.echo(f"oc1 {__version__}")
        raise typer.Exit


def before(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Do what every command begins with."""
    stop_when_terminated()


def make_app(names: Sequence[str] = NAMES) -> typer.Typer:
    """Return the command line with some of the commands: declaring all of them takes longer than to run a short one."""
    made = typer.Typer(
        name="oc1",
        help="OC1: small, accurate, readable oblique decision trees (Murthy, Kasif & Salzberg 1994).",
        epilog="Example: oc1 generate rcb -o rcb.csv; oc1 train rcb.csv; oc1 show rcb.json. See oc1 COMMAND --help.",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,  # boxes and columns leave too little of 80 columns to the words
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    made.callback()(before)
    for name in names:
        command = command_named(name)
        has_defaults = name in ("warmup", "demo")
        register = made.command(name, no_args_is_help=not has_defaults, help=_help(command.__doc__ or ""))
        register(reporting_errors(with_option_groups(command)))
    return made


def app_for(arguments: Sequence[str]) -> typer.Typer:
    """Return the command line with what some arguments need: the command that they begin with, or all."""
    is_named = bool(arguments) and arguments[0] in NAMES and "_OC1_COMPLETE" not in os.environ
    return make_app(arguments[:1]) if is_named else make_app()


def __getattr__(name: str) -> Any:
    """Make the whole command line when it is asked for."""
    if name not in ("app", "COMMANDS"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = make_app() if name == "app" else {own: command_named(own) for own in NAMES}
    return globals()[name]
