"""Tables that are read in batches, to be classified by a model."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import polars as pl

from .columns import (
    ReadOptions,
    checked_numbers,
    find_column,
    find_roles,
    first_null,
    indicators,
    listed,
    numeric_markers,
    open_reader,
    whole_number,
)
from .parsing import Part, TextFound
from .sniffing import is_number, shown_name


@dataclass(frozen=True)
class Inputs:
    """What a model wants to see.

    Parameters
    ----------
    n_features : int
        After text columns became 0/1 columns.
    names : tuple of str or None
        Of these attributes; None to go by position.
    one_hot, categorical, target
        As in `Table`.
    """

    n_features: int
    names: tuple[str, ...] | None
    one_hot: dict[str, tuple[str, ...]] = field(default_factory=dict)
    categorical: tuple[str, ...] = ()
    target: str | None = None


@dataclass(frozen=True)
class Batch:
    """Some rows of a table.

    Parameters
    ----------
    X : array or polars.DataFrame
        The columns a model wants, in its order.
    y : object array of str, or None
    first_row : int
        The number of the first example, from 0.
    n_bytes : int
        Of the file, read so far (packed bytes if it is gzip'ed).
    """

    X: Any
    y: np.ndarray | None
    first_row: int
    n_bytes: int


@dataclass(frozen=True)
class _Wanted:
    """One column that a model wants, before it becomes 0/1 columns."""

    title: str
    kind: Literal["number", "text", "one_hot"]
    values: tuple[str, ...] = ()


def _wanted(inputs: Inputs) -> list[_Wanted]:
    wanted: list[_Wanted] = []
    if inputs.names is None:
        n_columns = inputs.n_features - sum(map(len, inputs.one_hot.values())) + len(inputs.one_hot)
        titles = list(map(str, range(n_columns)))
    else:
        first = {f"{title}={values[0]}": title for title, values in inputs.one_hot.items() if values}
        others = {f"{title}={value}" for title, values in inputs.one_hot.items() for value in values[1:]}
        titles = [first.get(name, name) for name in inputs.names if name not in others]
    for title in titles:
        if title in inputs.one_hot:
            wanted.append(_Wanted(title, "one_hot", inputs.one_hot[title]))
        else:
            wanted.append(_Wanted(title, "text" if title in inputs.categorical else "number"))
    return wanted


def scan_table(
    path: str | os.PathLike,
    inputs: Inputs,
    options: ReadOptions = ReadOptions(),  # noqa: B008
    *,
    labelled: bool,
    batch_bytes: int = 16 << 20,
) -> Iterator[Batch]:
    """Read a table in batches, in as much memory as a few of them take.

    Columns are found by name where both the file and the model have names, in any order; other columns are passed over.
    Otherwise they go by position, and must be as many as the model wants. A text that is new to a 0/1 column gives
    zeros, a missing one NaN.

    Parameters
    ----------
    path : str or path-like
        "-" is standard input (CSV unless the options say otherwise).
    inputs : Inputs
        What the model wants to see.
    options : ReadOptions
    labelled : bool
        Whether there are labels: in the column that `options` names, or that is called as in training, or in the last.
    batch_bytes : int
        Roughly how much of the file makes a batch.

    Yields
    ------
    Batch

    Raises
    ------
    FileProblem
        Whatever is wrong with the file, with line and column.
    """
    reader = open_reader(path, options, batch_bytes)
    try:
        wanted = _wanted(inputs)
        target, columns = _matched(reader, inputs, wanted, options, labelled)
        kinds = {m: "number" if want.kind == "number" else "text" for m, want in zip(columns, wanted, strict=True)}
        if labelled and target is not None:
            kinds[target] = "text"
        markers = numeric_markers(options)
        first_row = 0
        try:
            for part in reader.parts(kinds):
                y = None
                if labelled and target is not None:
                    labels = part.frame[str(target)]
                    if labels.null_count():
                        raise part.complain(first_null(labels), target, "the label is missing")
                    y = labels.to_numpy()
                X = _inputs_of(part, columns, wanted, markers)
                yield Batch(X, y, first_row, part.n_bytes)
                first_row += part.frame.height
        except TextFound as found:
            raise next(iter(found.columns.values())) from None
        if first_row == 0:
            raise reader.problem("has a header, but no rows" if reader.names else "has no rows")
    finally:
        reader.close()


def _matched(
    reader, inputs: Inputs, wanted: list[_Wanted], options: ReadOptions, labelled: bool
) -> tuple[int | None, list[int]]:
    """Return the number of the column of labels, and those of the columns that are wanted."""
    names = reader.names
    target = None
    if names is not None and inputs.target in names and options.target is None:
        target = names.index(inputs.target)
    if names is not None and inputs.names is not None:
        titles = [want.title for want in wanted]
        absent = [title for title in titles if title not in set(names)]
        if absent:
            raise reader.problem(f"lacks what the model needs: column {listed(absent)}")
        place = {name: m for m, name in enumerate(names)}
        columns = [place[title] for title in titles]
        unwanted = [options.target] if options.target is not None and not labelled else []
        for name in [*options.ignore, *unwanted]:
            if find_column(reader, name, "column") in columns:
                raise reader.problem("is an attribute of the model, and cannot be left out", name=shown_name(name))
        target = find_roles(reader, options, labelled, target).target if labelled else None
        if target in columns:
            problem = "is an attribute of the model, not the label; say which column is the label with --target"
            raise reader.problem(problem, column=target + 1, name=shown_name(names[target]))
        return target, columns
    if not labelled and len(wanted) == reader.n_columns:
        target = None  # it is called like the target, but is needed
    roles = find_roles(reader, options, labelled, target)
    if len(roles.attributes) != len(wanted):
        has, needs = len(roles.attributes), len(wanted)
        more = has == needs + 1 and roles.target is None
        hint = "; if one of them is the label, say which with --target" if more else ""
        besides = " besides the label" if roles.target is not None else ""
        raise reader.problem(f"has {has} columns{besides}, but the model wants {needs}{hint}")
    return roles.target, roles.attributes


def _inputs_of(part: Part, columns: list[int], wanted: list[_Wanted], markers: list[float]):
    """Return the attributes of some rows as a model wants them."""
    numeric = [m for m, want in zip(columns, wanted, strict=True) if want.kind == "number"]
    numbers = checked_numbers(part, numeric, markers)
    if len(numeric) == len(columns):
        return numbers
    place = {m: k for k, m in enumerate(numeric)}
    if any(want.kind == "text" for want in wanted):
        series: dict[str, Any] = {}
        for m, want in zip(columns, wanted, strict=True):
            if want.kind == "one_hot":
                block = indicators(part.frame[str(m)], want.values)
                series |= {f"{want.title}={value}": block[:, k] for k, value in enumerate(want.values)}
            else:
                series[want.title] = numbers[:, place[m]] if m in place else part.frame[str(m)]
        return pl.DataFrame(series)
    pieces = [
        numbers[:, [place[m]]] if m in place else indicators(part.frame[str(m)], want.values)
        for m, want in zip(columns, wanted, strict=True)
    ]
    return np.hstack(pieces)


def label_indices(labels: Sequence[str] | np.ndarray, classes: Sequence | np.ndarray) -> np.ndarray:
    """Return which of a model's classes each label is, -1 for none of them.

    Numbers match however they are written, other classes by their text.

    Parameters
    ----------
    labels : sequence of str
    classes : sequence of int, str, float or bool

    Examples
    --------
    >>> label_indices(["1", " 2.0", "3"], [1, 2]), label_indices(["b", "c"], ["a", "b"])
    (array([ 0,  1, -1]), array([ 1, -1]))
    """
    classes = np.asarray(classes)
    by_text: dict[str, int] = {}
    by_number: dict[float, int] = {}
    for k, value in enumerate(classes.tolist()):
        if isinstance(value, bool):
            by_text |= {str(value).lower(): k, str(value): k, str(int(value)): k}
        elif isinstance(value, (int, float)):
            by_number[value] = k
        else:
            by_text[str(value).strip()] = k

    def find(text: str) -> int:
        text = str(text).strip()
        if text in by_text:
            return by_text[text]
        whole = whole_number(text)
        if whole is not None:
            return by_number.get(whole, -1)
        return by_number.get(float(text), -1) if is_number(text) else -1

    known: dict[str, int] = {}
    result = np.empty(len(labels), dtype=np.int64)
    for row, text in enumerate(labels):
        index = known.get(text)
        if index is None:
            index = known[text] = find(text)
        result[row] = index
    return result
