"""Options from docstrings."""

import inspect
from typing import Annotated, get_args

import typer
from typer.testing import CliRunner

from oc1.cli.options import documented, numpydoc_entries


def bake(
    data: Annotated[str, typer.Argument()],
    hot: bool = False,
    crust: bool = True,
    depth: Annotated[int, typer.Option("--depth", "-d", min=1)] = 3,
    plain: int = 0,
) -> None:
    """Bake a tree.

    Parameters
    ----------
    data : FLOUR
        What it is
        made of.
    hot : bool
        At once.
    crust : bool
        With a crust.
    depth : int
        Of the pan.
    """


def test_entries_are_types_and_texts_by_name():
    assert numpydoc_entries(bake.__doc__)["data"] == ("FLOUR", "What it is made of.")
    assert numpydoc_entries("Nothing here.") == {}


def test_options_have_the_texts_of_the_docstring():
    options = {one.name: one for one in documented(bake)}
    assert list(options) == list(inspect.signature(bake).parameters)
    declared = {name: get_args(one.annotation)[1] for name, one in options.items() if name != "plain"}
    texts = ["What it is made of.", "At once.", "With a crust.", "Of the pan."]
    assert [one.help for one in declared.values()] == texts
    assert (declared["data"].metavar, declared["depth"].metavar, declared["depth"].min) == ("FLOUR", "N", 1)
    assert options["plain"].annotation is int


def test_what_is_false_by_default_is_a_flag():
    app = typer.Typer()

    def run(**values):
        typer.echo(values)

    run.__signature__ = inspect.Signature(
        [one.replace(kind=inspect.Parameter.KEYWORD_ONLY) for one in documented(bake)]
    )
    app.command()(run)
    done = CliRunner().invoke(app, ["wheat", "--hot", "--no-crust", "-d", "5"])
    assert "'hot': True, 'crust': False, 'depth': 5" in done.output
    assert CliRunner().invoke(app, ["wheat", "--no-hot"]).exit_code == 2


def test_declarations_that_commands_share_are_left_as_they_are():
    shared = typer.Option("--depth", help="Shared.")

    def other(depth: Annotated[int, shared] = 1) -> None:
        """Do it.

        Parameters
        ----------
        depth : int
            Own.
        """

    (one,) = documented(other)
    assert (get_args(one.annotation)[1].help, shared.help) == ("Own.", "Shared.")
