"""The ``oc1`` command and its subcommands, each in a file of `oc1.cli.commands`."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Annotated, Any

import typer

from .. import __version__
from .commands.animate import animate
from .commands.classify import classify
from .commands.compare import compare
from .commands.convert import convert
from .commands.cv import cv
from .commands.demo import demo
from .commands.explore import explore
from .commands.generate import generate
from .commands.plot import plot
from .commands.reproduce import reproduce
from .commands.show import show
from .commands.test import evaluate
from .commands.train import train
from .commands.warmup import warmup
from .options import read_options
from .parameters import learner_parameters
from .screen import reporting_errors, stop_when_terminated

#: By name, which is that of the file.
COMMANDS: dict[str, Callable[..., None]] = {
    command.__module__.rpartition(".")[2]: command
    for command in (
        train,
        classify,
        evaluate,
        cv,
        compare,
        show,
        convert,
        plot,
        explore,
        animate,
        generate,
        reproduce,
        warmup,
        demo,
    )
}
#: Parameters of commands that stand for several options: functions that take these options, and return the value.
OPTION_GROUPS: dict[str, Callable[..., Any]] = {"options": read_options, "parameters": learner_parameters}

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
    # ReadOptions is not imported where commands are defined: polars would come with it.
    own = dict(inspect.signature(command, eval_str=True, locals={"ReadOptions": Any}).parameters)
    groups = {name: OPTION_GROUPS[name] for name in OPTION_GROUPS if own.pop(name, None)}
    options = {
        name: inspect.signature(group, eval_str=True, locals={"ReadOptions": Any}).parameters
        for name, group in groups.items()
    }

    def run(**values: Any) -> None:
        for name, group in groups.items():
            values[name] = group(**{option: values.pop(option) for option in options[name]})
        command(**values)

    everything = [*own.values(), *(option for group in options.values() for option in group.values())]
    keywords = [option.replace(kind=inspect.Parameter.KEYWORD_ONLY) for option in everything]
    run.__signature__ = inspect.Signature(keywords)  # type: ignore[attr-defined]
    return run


def _unwrapped(text: str) -> str:
    """Return a docstring with a line for each paragraph: the width of the terminal is not known here."""
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in text.split("\n\n"))


for name, command in COMMANDS.items():
    register = app.command(name, no_args_is_help=command not in (warmup, demo), help=_unwrapped(command.__doc__ or ""))
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
