"""What is asked about training data in a terminal, and what is said about it anywhere."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import TYPE_CHECKING

import typer

from ..files.tables import ReadOptions, Table, read_names
from ..files.tables.names import find_name, nearest_first
from ..files.tables.sniffing import is_number, listed, shown_name
from .screen import UsageError, note

if TYPE_CHECKING:
    from collections.abc import Sequence

#: Names of a last column that leave no doubt about what it is, in small letters.
TARGET_NAMES = ("class", "target", "label", "y")
#: Fewer rows than this may be numbered by chance.
MIN_NUMBERED_ROWS = 10
#: A target with more different numbers than this may be one to predict as a number, if all are whole, if some are not.
MAX_WHOLE_CLASSES, MAX_DECIMAL_CLASSES = 20, 10


def is_interactive() -> bool:
    """Return whether there is a person to ask."""
    return sys.stdin.isatty() and sys.stdout.isatty()


# ---------------------------------------------------------------------------------------------------- the target


def with_target(data: str, options: ReadOptions) -> ReadOptions:
    """Return the options with the target: in a terminal, ask for it where the last column would be a guess."""
    if options.target is not None or data == "-" or not is_interactive():
        return options
    names = read_names(data, options)
    if names is None or names[-1].casefold() in TARGET_NAMES:
        return options
    note(f"{data} has {len(names)} columns: {_named(names)}")
    return replace(options, target=_ask_name("Which one is the target, the column to predict?", names))


def _ask_name(question: str, names: Sequence[str]) -> str:
    """Return a column by its name or index, the last one if nothing is typed."""
    while True:
        given = str(typer.prompt(question, default=names[-1], err=True)).strip()
        place = find_name(given, names)
        if place is not None:
            return names[place]
        if given.removeprefix("-").isdecimal() and -len(names) <= int(given) < len(names):
            return names[int(given)]
        note(f"There is no column {shown_name(given)}; the nearest are {listed(nearest_first(given, names), 3)}.")


def _named(names: Sequence[str], limit: int = 20) -> str:
    shown = ", ".join(str(shown_name(name)) for name in names[:limit])
    return shown if len(names) <= limit else f"{shown} and {len(names) - limit} others, the last of them {names[-1]}"


def describe(table: Table, options: ReadOptions) -> None:
    """Say which column is the target, and what was left out or looks as if it should be."""
    name = f"column {table.file_columns.target + 1}" if table.target is None else shown_name(table.target)
    guessed = ", the last" if table.target is None else ", the last column (--target takes another)"
    note(f"target: {name}{guessed if options.target is None else ''}")
    for own in table.left_out:
        column = f"column {own.column + 1}" if own.name is None else f"column {shown_name(own.name)}"
        known = f"{own.n_different:,} different texts in {own.n_rows:,} rows"
        note(f"note: {column} is left out: {known} (names, identifiers or remarks, it seems)")
    for name in _row_numbers(table):
        note(f"note: column {shown_name(name)} numbers the rows; if that is all it does, use --ignore {name}")


def _row_numbers(table: Table) -> list[str]:
    """Return the attributes that count the rows of the file, from 0 or 1."""
    import numpy as np

    n = len(table.y)
    if table.feature_names is None or n < MIN_NUMBERED_ROWS:
        return []
    names = [(m, name) for m, name in enumerate(table.feature_names) if name not in table.categorical]
    counts = np.arange(n, dtype=np.float64)
    return [name for m, name in names if any(np.array_equal(table.X[:, m], counts + first) for first in (0, 1))]


# ---------------------------------------------------------------------------------------------------- regression


def wants_regression(table: Table) -> bool:
    """Return whether to predict a number where the target looks like one and the user has named no learner.

    In a terminal the user is asked. Otherwise whole numbers are classes, with a note.

    Raises
    ------
    UsageError
        There is nobody to ask, and the numbers are not whole.
    """
    import numpy as np

    labels = np.unique(table.y)
    is_whole = labels.dtype.kind == "i"
    n_usual = MAX_WHOLE_CLASSES if is_whole else MAX_DECIMAL_CLASSES
    if len(labels) <= n_usual or not (is_whole or all(is_number(str(label)) for label in labels)):
        return False
    target = "the target" if table.target is None else f"the target {shown_name(table.target)}"
    found = f"{target} has {len(labels)} different {'whole numbers' if is_whole else 'numbers'}"
    if is_interactive():
        return typer.confirm(f"T{found[1:]}. Predict a number (regression) instead of a class?", default=True, err=True)
    advice = "to predict a number, use --learner regressor"
    if is_whole:
        note(f"note: {found}, which are taken for classes; {advice}")
        return False
    raise UsageError(f"{found}; {advice}; if they are classes, say so with --learner oc1")


def as_regression(table: Table) -> Table:
    """Return the table with numbers in place of labels that look like numbers."""
    return replace(table, y=table.y.astype("float64"))
