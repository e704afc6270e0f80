"""Whole tables of examples, to train on."""

from __future__ import annotations

import os
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

import numpy as np
import polars as pl

from ..inputs import FileColumns, InputColumn
from ..problems import FilePath, FileProblem
from ..source import ByteSource
from .columns import Reader, ReadOptions, Roles, assemble, checked_numbers, find_roles, open_reader, plain_labels
from .parsing import Chunk, TextFound
from .sniffing import is_number, shown, shown_name, whole_number, with_point

#: A text column with more values than this cannot become 0/1 columns.
MAX_ONE_HOT_VALUES = 1000
#: A text column is left out if it has at least so many different texts, in more than half of the rows that have one.
MIN_IDENTIFIERS = 10


class LeftOut(NamedTuple):
    """A text column that is not used because most of its texts are different: names, identifiers, remarks."""

    column: int  # from 0
    name: str | None
    n_different: int
    n_rows: int  # that have a value


@dataclass(frozen=True)
class Table:
    """A whole table of examples.

    Parameters
    ----------
    X : array (n, d) of float64, or polars.DataFrame
        NaN is missing. A frame of Float64 and String columns if text columns are kept.
    y : array (n,)
        Labels: int64 if all are whole numbers, else text; or float64 numbers to predict.
    weights : array (n,) or None
    feature_names : tuple of str or None
        None if the file has no names.
    target : str or None
        What the target is called.
    one_hot : dict of str to tuple of str
        Text columns that became 0/1 columns ``name=value``, and their values in order. Without names: by the number of
        the attribute, from 0.
    categorical : tuple of str
        Text columns that are kept: names, or numbers of the attribute from 0.
    left_out : tuple of LeftOut
        Text columns with mostly different texts, which are not used.
    file_columns : FileColumns
        Which columns of the file are what.
    """

    X: Any
    y: np.ndarray
    weights: np.ndarray | None
    feature_names: tuple[str, ...] | None
    target: str | None
    one_hot: dict[str, tuple[str, ...]]
    categorical: tuple[str, ...]
    left_out: tuple[LeftOut, ...]
    file_columns: FileColumns


def read_table(
    path: FilePath,
    options: ReadOptions = ReadOptions(),  # noqa: B008
    *,
    numbers: bool = False,
    categories: Literal["refuse", "one_hot", "keep"] = "refuse",
    batch_bytes: int = 16 << 20,
) -> Table:
    r"""Read a whole table.

    A text column with ten or more different texts, in more than half of the rows that have one, is left out, unless
    most of the texts are numbers.

    Parameters
    ----------
    path : str or path-like
        "-" is standard input (CSV unless the options say otherwise).
    options : ReadOptions
    numbers : bool, default=False
        Whether the target is a number to predict rather than a class.
    categories : {"refuse", "one_hot", "keep"}, default="refuse"
        What to do with other columns of text.
    batch_bytes : int
        How much is parsed at a time.

    Raises
    ------
    FileProblem
        Whatever is wrong with the file, with line and column.

    Examples
    --------
    >>> import tempfile
    >>> path = tempfile.mkdtemp() + "/two.csv"
    >>> with open(path, "w") as file:
    ...     _ = file.write("height,width,kind\n1.5,?,a\n2.5,3,b\n")
    >>> table = read_table(path)
    >>> table.X, table.y, table.feature_names
    (array([[1.5, nan],
           [2.5, 3. ]]), array(['a', 'b'], dtype='<U1'), ('height', 'width'))
    """
    # What comes from standard input is kept, since text found late in a column means starting over.
    content = None
    if os.fspath(path) == "-":
        with closing(ByteSource(path)) as source:
            content = source.read()
    text: dict[int, FileProblem] = {}
    while True:
        with closing(open_reader(path, options, batch_bytes, content)) as reader:
            roles = find_roles(reader, options, labelled=True)
            if not roles.attributes:
                problem = "has no column besides the target, so there are no attributes; is the separator right?"
                raise reader.problem(problem)
            try:
                return _read(reader, roles, options, numbers, categories, text)
            except TextFound as found:
                for m, found_here in found.columns.items():
                    if reader.is_typed or m not in roles.attributes:
                        raise found_here from None  # text is not an option for columns that must be numbers
                text |= found.columns


def _read(
    reader: Reader,
    roles: Roles,
    options: ReadOptions,
    numbers: bool,
    categories: str,
    found: dict[int, FileProblem],
) -> Table:
    """Read a table; `found` has the columns that turned out to be text, and the problem to report for each."""
    is_text, target = {*found, *reader.text}, roles.target
    assert target is not None  # the last column by default
    text, numeric = ([m for m in roles.attributes if (m in is_text) == kind] for kind in (True, False))
    kinds = dict.fromkeys(text, "text") | dict.fromkeys(numeric, "number") | {target: "number" if numbers else "text"}
    if roles.weights is not None:
        kinds[roles.weights] = "number"
    blocks: list[np.ndarray] = []
    texts: list[pl.DataFrame] = []
    labels: list[pl.Series] = []
    weights: list[np.ndarray] = []
    declared: dict[int, FileProblem] = {}  # about columns that are said to hold text
    missing: FileProblem | None = None
    for chunk in reader.chunks(kinds):
        texts.append(chunk.frame.select(str(m) for m in text))
        if categories == "refuse":
            declared = _first_texts(chunk, [m for m in text if m not in {*found, *declared}]) | declared
        blocks.append(checked_numbers(chunk, numeric, options))
        if roles.weights is not None:
            weights.append(_checked_weights(chunk, roles.weights))
        own = chunk.frame[str(target)]
        if numbers:
            own = pl.Series(checked_numbers(chunk, [target], options)[:, 0], nan_to_null=True)
        if missing is None and own.null_count():
            missing = chunk.complain(int(own.is_null().arg_true()[0]), target, "")
        labels.append(own)
    if not blocks:
        raise reader.no_rows()
    y, joined = pl.concat(labels), pl.concat(texts)
    left_out = _left_out(reader, joined, found)
    roles = replace(roles, attributes=[m for m in roles.attributes if m not in {own.column for own in left_out}])
    if categories == "refuse":
        _refuse_texts([problem for m, problem in (found | declared).items() if m in roles.attributes])
    if not roles.attributes:
        raise reader.problem("has no attributes but text that is different in most rows, which is of no use")
    if missing is not None:
        where = "here" if y.null_count() == 1 else f"in {y.null_count()} rows, the first of them here"
        raise missing.reworded(f"the target is missing {where} (texts such as NA, null and none count as missing)")
    if len(blocks) > 1:
        blocks = [np.concatenate(blocks)]
    joined = joined.drop(str(own.column) for own in left_out)
    columns = _input_columns(reader, roles, joined, categories)
    return Table(
        X=assemble(columns, blocks[0], joined),
        y=y.to_numpy().astype(np.float64) if numbers else _as_labels(plain_labels(y, reader)),
        weights=np.concatenate(weights) if weights else None,
        feature_names=tuple(name for column in columns for name in column.names) if reader.names else None,
        target=reader.names[target] if reader.names else None,
        one_hot={column.title: column.values for column in columns if column.values},
        categorical=tuple(column.title for column in columns if column.kind == "text"),
        left_out=tuple(left_out),
        file_columns=FileColumns(reader.n_columns, target, tuple(roles.attributes)),
    )


def _left_out(reader: Reader, texts: pl.DataFrame, found: dict[int, FileProblem]) -> list[LeftOut]:
    """Return the columns whose texts are mostly different; complain about slips in columns of numbers before."""
    left_out = []
    for m, column in ((int(column.name), column.drop_nulls()) for column in texts):
        values = column.unique().to_list()
        n_texts = sum(not is_number(value) for value in values)
        if m in found and len(values) >= MIN_IDENTIFIERS and all(is_number(with_point(value)) for value in values):
            raise found[m]  # about the decimal sign: all are numbers with a point or a comma
        if m in found and len(values) >= 20 and n_texts <= len(values) // 10:
            raise found[m].reworded(f"{found[m].problem}, but nearly all other values of its column are")
        if len(values) >= MIN_IDENTIFIERS and len(values) > len(column) / 2 and n_texts > len(values) / 2:
            name = None if reader.names is None else reader.names[m]
            left_out.append(LeftOut(m, name, len(values), len(column)))
    return left_out


def _first_texts(chunk: Chunk, columns: list[int]) -> dict[int, FileProblem]:
    """Return what to say about the first text of each column that has any."""
    rows = {m: chunk.frame[str(m)].is_not_null().arg_true() for m in columns}
    return {
        m: chunk.complain(int(own[0]), m, f"{shown(chunk.frame[str(m)][int(own[0])])} is not a number")
        for m, own in rows.items()
        if len(own)
    }


def _refuse_texts(problems: list[FileProblem]) -> None:
    """Raise the first problem in the order of the file."""
    if problems:
        raise _refusal(min(problems, key=lambda one: (one.line or one.row or 0, one.column or 0)))


def _refusal(problem: FileProblem) -> FileProblem:
    return problem.reworded(f"{problem.problem}; use --one-hot or --categorical for text columns, or --ignore it")


def _input_columns(reader: Reader, roles: Roles, texts: pl.DataFrame, categories: str) -> list[InputColumn]:
    """Return the attributes, with the values of those that become 0/1 columns."""
    columns, is_text = [], set(texts.columns)
    for k, m in enumerate(roles.attributes):
        title = str(k) if reader.names is None else reader.names[m]
        if str(m) not in is_text:
            columns.append(InputColumn(title, "number"))
            continue
        values = tuple(sorted(texts[str(m)].drop_nulls().unique().to_list()))
        if categories == "keep":
            columns.append(InputColumn(title, "text"))
            continue
        if len(values) > MAX_ONE_HOT_VALUES:
            problem = f"has {len(values):,} different texts, too many for 0/1 columns; --ignore it?"
            raise reader.problem(problem, column=m + 1, name=shown_name(title) if reader.names else None)
        columns.append(InputColumn(title, "one_hot", values))
    names = [name for column in columns for name in column.names]
    if reader.names is not None and len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise reader.problem(f"the 0/1 columns would give two attributes the name {shown(twice)}")
    return columns


def _checked_weights(chunk: Chunk, column: int) -> np.ndarray:
    weights = checked_numbers(chunk, [column], ReadOptions())[:, 0]
    bad = np.flatnonzero(~(weights >= 0))
    if len(bad):
        row = int(bad[0])
        what = "is missing" if np.isnan(weights[row]) else f"{shown(chunk.cell(row, column))} is negative"
        raise chunk.complain(row, column, f"the weight {what}")
    return weights


def _as_labels(column: pl.Series) -> np.ndarray:
    """Return labels as whole numbers if all are, else as text."""
    values = column.unique(maintain_order=True)
    codes = column.cast(pl.Enum(values)).to_physical().to_numpy()
    texts = values.to_list()
    numbers = [whole_number(text) for text in texts]
    if all(number is not None for number in numbers):
        return np.take(np.array(numbers, dtype=np.int64), codes)
    longest = max(map(len, texts))
    return np.take(np.array(texts, dtype=str if longest <= 256 else object), codes)
