"""Options that several commands share."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Sequence
from copy import copy
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args, get_origin

import typer

from ..learners.registry import LEARNERS
from .screen import ClusterFailure, Result, UsageError, hear_interrupts

if TYPE_CHECKING:
    from ..files.tables import ReadOptions

FORMATS = ("csv", "tsv", "parquet", "feather", "xlsx", "arff", "oc1")
#: Signs of --decimal, which may also be named.
DECIMAL_SIGNS = {".": ".", ",": ",", "point": ".", "comma": ","}


def numpydoc_entries(docstring: str) -> dict[str, tuple[str, str]]:
    """Return the parameters that a docstring describes: type and text by name."""
    section = inspect.cleandoc(docstring).partition("Parameters\n----------\n")[2].partition("\n\n")[0]
    entries = re.findall(r"^(\w+) : (.*)\n((?: +.*\n?)+)", section, re.MULTILINE)
    return {name: (type_, " ".join(text.split())) for name, type_, text in entries}


def documented(command: Callable[..., Any]) -> list[inspect.Parameter]:
    """Return the parameters of a command as typer takes them, with the help texts of its docstring.

    The type that the docstring gives is shown where a value goes, unless it is one of Python's. A parameter that is
    False by default is a flag.

    Parameters
    ----------
    command : callable
    """
    entries = numpydoc_entries(command.__doc__ or "")
    # ReadOptions is not imported where commands are defined: polars would come with it.
    parameters = inspect.signature(command, eval_str=True, locals={"ReadOptions": Any}).parameters
    return [_with_help(one, *entries[name]) if name in entries else one for name, one in parameters.items()]


def _with_help(parameter: inspect.Parameter, type_: str, text: str) -> inspect.Parameter:
    is_declared = get_origin(parameter.annotation) is Annotated
    kind, *declared = get_args(parameter.annotation) if is_declared else (parameter.annotation,)
    is_flag = parameter.default is False
    option = copy(declared[0]) if declared else typer.Option(*([f"--{parameter.name.replace('_', '-')}"] * is_flag))
    option.help = text
    option.metavar = {"bool": None, "int": "N", "float": "X"}.get(type_, type_)
    return parameter.replace(annotation=Annotated[kind, option])


def choice(choices: Sequence[str], *flags: str) -> Any:
    """Declare an option that takes one of some names, or several of them."""

    def check(given: str | list[str] | None) -> Any:
        for name in [given] if isinstance(given, str) else given or ():
            if name not in choices:
                raise typer.BadParameter(f"unknown name {name!r}; choose from {', '.join(choices)}")
        return given

    def complete(incomplete: str) -> list[str]:
        return [choice for choice in choices if choice.startswith(incomplete)]

    return typer.Option(*flags, help=", ".join(choices), autocompletion=complete, callback=check, metavar="NAME")


Data = Annotated[
    str,
    typer.Argument(
        metavar="DATA", help="Examples: CSV, TSV, .xlsx, Parquet, Feather, ARFF, OC1, also .gz; - is stdin."
    ),
]
Model = Annotated[Path, typer.Argument(metavar="MODEL", help="Model file written by `oc1 train`, or a .dt file.")]
Weights = Annotated[str | None, typer.Option("--weights", metavar="NAME|INDEX", help="Column of example weights.")]
OneHot = Annotated[bool, typer.Option("--one-hot", help="Turn each value of a text column into a 0/1 column.")]
Categorical = Annotated[
    bool, typer.Option("--categorical", help="Keep text columns as categories (learners oc1, axis, vote, forest, c45).")
]
OutputFile = Annotated[Path | None, typer.Option("--output", "-o", metavar="FILE")]
Json = Annotated[bool, typer.Option("--json", help="Print machine-readable JSON.")]


def _check_jobs(jobs: int) -> int:
    if jobs == 0:
        raise typer.BadParameter("give a number of cores, or -1 for all of them")
    return jobs


Jobs = Annotated[int, typer.Option("--jobs", "-j", metavar="N", help="Cores to use; -1 for all.", callback=_check_jobs)]
Dask = Annotated[
    str | None,
    typer.Option(
        "--dask",
        metavar="ADDRESS",
        help="Run on a Dask cluster: the address of its scheduler, such as tcp://host:8786, or a scheduler file. All "
        "workers are used, regardless of --jobs.",
    ),
]
Seed = Annotated[
    int, typer.Option("--seed", "-s", min=0, max=2**32 - 1, metavar="N", help="The same seed gives the same result.")
]
LearnerName = Annotated[str | None, choice([*LEARNERS], "--learner", "-l")]
Folds = Annotated[int, typer.Option("--folds", "-k", min=2, metavar="N", help="Number of folds of a cross-validation.")]
Repeats = Annotated[
    int,
    typer.Option("--repeats", "-r", min=1, metavar="N", help="Number of cross-validations, each with its own folds."),
]


def read_options(
    target: Annotated[str | None, typer.Option("--target", "-t")] = None,
    format: Annotated[str | None, choice(FORMATS, "--format")] = None,
    header: bool | None = None,
    ignore: list[str] | None = None,
    missing_marker: list[str] | None = None,
    encoding: str | None = None,
    decimal: Annotated[str | None, choice([*DECIMAL_SIGNS], "--decimal")] = None,
) -> ReadOptions:
    """Return how a data file is to be read; to a command, these options are one parameter (see `app`).

    Parameters
    ----------
    target : NAME|INDEX
        Column of the class: its name, or its index from 0 (-1 is the last). (default: the last)
    format : NAME
        csv, tsv, parquet, feather, xlsx, arff, oc1 (default: from the file's name or content).
    header : bool
        Whether the first line has names. (default: detect)
    ignore : A,B,...
        Columns that are not attributes, by name or index.
    missing_marker : TEXT
        Another marker of missing values, besides ? NA NaN null none and empty fields.
    encoding : NAME
        Encoding of a text file, such as cp1252, latin-1 or utf-16. (default: utf-8)
    decimal : .|,
        Decimal sign of a CSV or TSV file. (default: detect)
    """
    from ..files.tables import ReadOptions

    hear_interrupts()  # the file may be a pipe
    markers = tuple(missing_marker or ())
    sign = None if decimal is None else DECIMAL_SIGNS[decimal]
    return ReadOptions(format, header, target, None, tuple(ignore or ()), markers, encoding, sign)


def on_workers(address: str | None, work: Callable[[], Result], kept: str = "") -> Result:
    """Do work that joblib runs in parallel: on the workers of a cluster, or here if there is no address.

    Parameters
    ----------
    address : str or None
        As given with ``--dask``.
    work : callable
    kept : str, default=""
        What to say about the work done so far if the cluster is lost.
    """
    if address is None:
        return work()
    from ..dask.clusters import ClusterError, find_address, on_cluster

    try:
        find_address(address)
    except ValueError as problem:
        raise UsageError(f"--dask {problem}") from None
    try:
        with on_cluster(address):
            return work()
    except ClusterError as problem:
        raise ClusterFailure(f"{problem}{kept}") from problem
