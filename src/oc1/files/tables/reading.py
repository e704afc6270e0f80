"""Tables of examples: read whole to train on, or as a stream to classify, from CSV, TSV, Parquet, ARFF or OC1 files."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import polars as pl

from ..problems import FileProblem
from .columns import (
    ReadOptions,
    Roles,
    checked_numbers,
    find_roles,
    first_null,
    indicators,
    numeric_markers,
    open_reader,
    whole_number,
)
from .parsing import Part, TextFound
from .sniffing import ByteSource, is_number, shown, shown_name
from .streams import Batch, Inputs, label_indices, scan_table
from .writing import RowWriter, write_table

__all__ = [
    "Batch", "FileProblem", "Inputs", "ReadOptions", "RowWriter", "Table", "label_indices", "read_table", "scan_table",
    "write_table",
]  # fmt: skip

#: A text column with more values than this cannot become 0/1 columns.
MOST_VALUES = 1000


@dataclass(frozen=True)
class Table:
    """A whole table of examples.

    Parameters
    ----------
    X : array (n, d) of float64, or polars.DataFrame
        NaN is missing. A frame of Float64 and String columns if text columns are kept.
    y : array (n,) or None
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
    """

    X: Any
    y: np.ndarray | None
    weights: np.ndarray | None
    feature_names: tuple[str, ...] | None
    target: str | None
    one_hot: dict[str, tuple[str, ...]]
    categorical: tuple[str, ...]


def read_table(
    path: str | os.PathLike,
    options: ReadOptions = ReadOptions(),  # noqa: B008
    *,
    labelled: bool = True,
    numbers: bool = False,
    categories: Literal["refuse", "one_hot", "keep"] = "refuse",
    progress: Callable[[int, int], None] | None = None,
    batch_bytes: int = 16 << 20,
) -> Table:
    r"""Read a whole table.

    Parameters
    ----------
    path : str or path-like
        "-" is standard input (CSV unless the options say otherwise).
    options : ReadOptions
    labelled : bool, default=True
        Whether there is a target. If not, all columns are attributes, but for one that `options` names as the target.
    numbers : bool, default=False
        Whether the target is a number to predict rather than a class.
    categories : {"refuse", "one_hot", "keep"}, default="refuse"
        What to do with columns of text.
    progress : callable (bytes read, bytes in all), optional
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
    # What comes from standard input is kept, since a text column found late means to begin anew.
    content = _everything(path) if os.fspath(path) == "-" else None
    text: dict[int, FileProblem] = {}
    while True:
        reader = open_reader(path, options, batch_bytes, content)
        try:
            return _read(reader, options, labelled, numbers, categories, progress, text)
        except TextFound as found:
            if categories == "refuse":
                raise _refusal(next(iter(found.columns.values()))) from None
            text |= found.columns
        finally:
            reader.close()


def _everything(path: str | os.PathLike) -> bytes:
    source = ByteSource(path)
    return source.read()


def _refusal(problem: FileProblem) -> FileProblem:
    hint = f"{problem.problem}; use --one-hot or --categorical for text columns, or --ignore it"
    return FileProblem(problem.path, hint, line=problem.line, column=problem.column, name=problem.name)


def _read(reader, options, labelled, numbers, categories, progress, found_text: dict[int, FileProblem]) -> Table:
    roles = find_roles(reader, options, labelled)
    if not roles.attributes:
        raise reader.problem(
            "has no column besides the target, so that there are no attributes; is the separator right?"
        )
    text = (set(found_text) | reader.text) & set(roles.attributes)
    kinds = {m: "text" if m in text else "number" for m in roles.attributes}
    if roles.weights is not None:
        kinds[roles.weights] = "number"
    target = roles.target
    if labelled and target is not None:
        kinds[target] = "number" if numbers else "text"
    numeric = [m for m in roles.attributes if m not in text]
    markers = numeric_markers(options)
    blocks: list[np.ndarray] = []
    texts: list[pl.DataFrame] = []
    targets: list[pl.Series] = []
    weights: list[np.ndarray] = []
    absent, n_absent = None, 0
    parts = reader.parts(kinds)
    while True:
        try:
            part = next(parts, None)
        except TextFound as found:  # text is no way out for columns that must be numbers
            fixed = [m for m in found.columns if m not in roles.attributes]
            if fixed:
                raise found.columns[fixed[0]] from None
            raise
        if part is None:
            break
        if text and categories == "refuse":
            row, m, cell = _first_text(part, sorted(text))
            if m is not None:
                raise _refusal(part.complain(row, m, f"{shown(cell)} is not a number"))
        blocks.append(checked_numbers(part, numeric, markers))
        texts.append(part.frame.select(str(m) for m in sorted(text)))
        if roles.weights is not None:
            weights.append(_checked_weights(part, roles.weights))
        if labelled and target is not None:
            labels = part.frame[str(target)]
            if numbers:
                labels = pl.Series(checked_numbers(part, [target], markers)[:, 0], nan_to_null=True)
            if labels.null_count():
                n_absent += labels.null_count()
                absent = absent or part.complain(first_null(labels), target, "")
            targets.append(labels)
        if progress is not None:
            progress(part.n_bytes, reader.total)
    if not blocks:
        raise reader.problem("has a header, but no rows" if reader.names else "has no rows")
    if absent is not None:
        row = absent.problem.partition(":")[0]  # Parquet has rows, not lines
        where = "here" if absent.line else f"in {row}"
        say = (
            f"the target is missing {where}"
            if n_absent == 1
            else f"the target is missing in {n_absent} rows, first {where}"
        ) + " (texts such as NA, null and none count as missing)"
        raise FileProblem(absent.path, say, line=absent.line, column=absent.column, name=absent.name)
    y = None
    if labelled:
        joined = pl.concat(targets)
        y = joined.to_numpy().astype(np.float64) if numbers else _as_labels(joined)
    X, names, one_hot, categorical = _assemble(reader, roles, numeric, blocks, texts, categories, found_text)
    return Table(
        X=X,
        y=y,
        weights=np.concatenate(weights) if weights else None,
        feature_names=names,
        target=reader.names[roles.target] if reader.names and roles.target is not None else None,
        one_hot=one_hot,
        categorical=categorical,
    )


def _first_text(part: Part, columns: list[int]) -> tuple[int, int | None, str]:
    """Return row, column and content of the first cell of text."""
    best: tuple[int, int | None, str] = (part.frame.height, None, "")
    for m in columns:
        rows = part.frame[str(m)].is_not_null().arg_true()
        if len(rows) and int(rows[0]) < best[0]:
            best = int(rows[0]), m, part.frame[str(m)][int(rows[0])]
    return best


def _checked_weights(part: Part, column: int) -> np.ndarray:
    weights = checked_numbers(part, [column], [])[:, 0]
    bad = np.flatnonzero(~(weights >= 0))
    if len(bad):
        row = int(bad[0])
        what = "is missing" if np.isnan(weights[row]) else f"{shown(part.cell(row, column))} is negative"
        raise part.complain(row, column, f"the weight {what}")
    return weights


def _assemble(reader, roles: Roles, numeric: list[int], blocks, texts, categories: str, found_text):
    """Return X, its names, and which columns became 0/1 columns or stayed text."""
    numbers = np.concatenate(blocks) if len(blocks) > 1 else blocks[0]
    blocks.clear()
    named = reader.names is not None
    titles = {m: reader.names[m] if named else str(k) for k, m in enumerate(roles.attributes)}
    if len(numeric) == len(roles.attributes):
        return numbers, tuple(titles.values()) if named else None, {}, ()
    columns = pl.concat(texts)
    for m, problem in found_text.items():
        _refuse_slips(columns[str(m)], problem)
    place = {m: k for k, m in enumerate(numeric)}
    if categories == "keep":
        frame = pl.DataFrame(
            {titles[m]: numbers[:, place[m]] if m in place else columns[str(m)] for m in roles.attributes}
        )
        categorical = tuple(titles[m] for m in roles.attributes if m not in place)
        return frame, tuple(titles.values()) if named else None, {}, categorical
    one_hot, names, pieces = {}, [], []
    for m in roles.attributes:
        if m in place:
            names.append(titles[m])
            pieces.append(numbers[:, [place[m]]])
            continue
        column = columns[str(m)]
        values = tuple(sorted(column.drop_nulls().unique().to_list()))
        if not values:
            names.append(titles[m])
            pieces.append(np.full((len(column), 1), np.nan))
            continue
        if len(values) > MOST_VALUES:
            problem = f"has {len(values):,} different texts, too many for 0/1 columns; --ignore it?"
            raise reader.problem(problem, column=m + 1, name=shown_name(reader.names[m]) if named else None)
        one_hot[titles[m]] = values
        names += [f"{titles[m]}={value}" for value in values]
        pieces.append(indicators(column, values))
    if named and len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise reader.problem(f"the 0/1 columns would give two attributes the name {shown(twice)}")
    return np.hstack(pieces), tuple(names) if named else None, one_hot, ()


def _refuse_slips(column: pl.Series, problem: FileProblem) -> None:
    """Raise `problem`, about the first text of a column, if nearly all that the column holds are numbers."""
    values = column.drop_nulls().unique().to_list()
    n_texts = sum(not is_number(value) for value in values)
    if len(values) >= 20 and n_texts <= len(values) // 10:
        raise FileProblem(
            problem.path,
            f"{problem.problem}, but nearly all others of its column are",
            line=problem.line,
            column=problem.column,
            name=problem.name,
        )


def _as_labels(column: pl.Series) -> np.ndarray:
    """Return labels as whole numbers if all are, else as text."""
    values = column.unique(maintain_order=True)
    codes = column.cast(pl.Enum(values)).to_physical().to_numpy()
    texts = values.to_list()
    numbers = [whole_number(text) for text in texts]
    if all(number is not None for number in numbers):
        return np.array(numbers, dtype=np.int64)[codes]
    longest = max(map(len, texts))
    return np.array(texts, dtype=str if longest <= 256 else object)[codes]
