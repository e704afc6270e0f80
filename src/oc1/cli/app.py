"""The ``oc1`` command and its subcommands."""

from __future__ import annotations

from typing import Annotated

import typer

from .. import __version__
from .commands.animate import animate
from .commands.convert import convert
from .commands.explore import explore
from .commands.generate import generate
from .commands.plot import plot
from .commands.predict import classify, examine
from .commands.reproduce import demo, reproduce, warmup
from .commands.show import show
from .commands.train import train
from .commands.validate import compare, cv
from .screen import stop_when_terminated

app = typer.Typer(
    name="oc1",
    help="OC1: small, accurate, readable oblique decision trees (Murthy, Kasif & Salzberg 1994).",
    epilog="Example: oc1 generate rcb -o rcb.csv; oc1 train rcb.csv; oc1 show rcb.json. oc1 COMMAND --help says more.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _unwrapped(text: str | None) -> str:
    """Return a docstring with a line for each paragraph: the width of a terminal is not known here."""
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in (text or "").split("\n\n"))


COMMANDS = {
    "train": train,
    "classify": classify,
    "test": examine,
    "cv": cv,
    "compare": compare,
    "show": show,
    "convert": convert,
    "plot": plot,
    "explore": explore,
    "animate": animate,
    "generate": generate,
    "reproduce": reproduce,
    "warmup": warmup,
    "demo": demo,
}
for name, command in COMMANDS.items():
    app.command(name, no_args_is_help=command not in (warmup, demo), help=_unwrapped(command.__doc__))(command)


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
