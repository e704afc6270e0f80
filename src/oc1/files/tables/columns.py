"""Opening a data file as the user wants it, and which of its columns are what."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from ..inputs import InputColumn
from ..problems import FilePath
from ..source import ByteSource
from .arff import read_declarations
from .excel import sheet_as_text
from .frames import FrameReader
from .names import find_name, nearest_first
from .parsing import Chunk, DelimitedReader, find_layout
from .sniffing import (
    ENDINGS,
    MISSING_MARKERS,
    TextBlocks,
    find_format,
    is_number,
    listed,
    shown,
    with_point,
)

Reader = DelimitedReader | FrameReader


@dataclass(frozen=True)
class ReadOptions:
    """What the user says about a data file.

    Parameters
    ----------
    format : {"csv", "tsv", "parquet", "feather", "xlsx", "arff", "oc1"}, optional
        By default found by the ending of the name (before .gz), or else by looking.
    header : bool, optional
        Whether the first row holds names. By default it does in CSV and TSV if all its cells are text, or if there is
        text above a column of numbers: a file of nothing but text is taken to have a header. OC1's format has none.
    target : str, optional
        Name or index (from 0; negative from the end) of the column with the labels. The last one by default.
    weights : str, optional
        Name or index of a column of example weights.
    ignore : tuple of str
        Names or indices of columns that are not attributes; a text may be several of them, with commas between.
    missing : tuple of str
        Further texts that mean a missing value, besides an empty cell, ``?``, NA, N/A, nan, null and none.
    encoding : str, optional
        Of a text file, such as ``"latin-1"`` or ``"utf-16"``. UTF-8 by default.
    decimal : {".", ","}, optional
        The decimal sign of a CSV or TSV file. By default it is found by looking.
    """

    format: str | None = None
    header: bool | None = None
    target: str | None = None
    weights: str | None = None
    ignore: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    encoding: str | None = None
    decimal: str | None = None


# ---------------------------------------------------------------------------------------------------- opening


def open_reader(path: FilePath, options: ReadOptions, batch_bytes: int, content: bytes | None = None) -> Reader:
    """Open a data file, or `content` in its place, and find out its layout."""
    if options.format is not None and options.format not in ENDINGS:
        raise ValueError(f"format must be one of {', '.join(ENDINGS)}, got {shown(options.format)}")
    missing = MISSING_MARKERS | {text.strip().lower() for text in options.missing}
    source = ByteSource(path, content, options.encoding)
    try:
        format = options.format or ("" if source.is_gzip else find_format(path, source.peek(6)))
        if format in ("parquet", "feather", "xlsx") and not source.is_gzip:
            return _open_binary(source, path, format, options, missing, batch_bytes)
        blocks = TextBlocks(source)
        format = options.format or find_format(path, blocks.head)
        if format == "oc1" and options.format is None and options.decimal == ",":
            format = "csv"  # in OC1's own format, commas separate
        if format in ("parquet", "feather", "xlsx"):
            raise source.problem(f"is compressed by gzip, but is not {_CALLED[format]}")
        if format == "arff":
            layout = read_declarations(blocks, missing)
        else:
            layout = find_layout(blocks, format, options.header, missing, options.decimal)
        if options.decimal == "," and format in ("arff", "oc1"):
            raise source.problem(f"is in {format.upper()} format, where commas separate fields, not decimals")
        return DelimitedReader(blocks, layout, batch_bytes)
    except BaseException:
        source.close()
        raise


_CALLED = {"parquet": "a Parquet file", "feather": "a Feather file", "xlsx": "a spreadsheet"}


def _open_binary(
    source: ByteSource, path: FilePath, format: str, options: ReadOptions, missing: frozenset[str], batch_bytes: int
) -> Reader:
    """Open a file that is not text."""
    for what, given in (("encoding", options.encoding), ("decimal sign", options.decimal)):
        if given is not None:
            raise source.problem(f"is {_CALLED[format]}, which needs no {what}")
    data = source.read() if os.fspath(path) == "-" or format == "xlsx" else b""
    source.close()
    if not (source.total or data):
        raise source.problem("is empty")
    if format == "xlsx":
        blocks = TextBlocks(ByteSource(path, sheet_as_text(data, source.problem)))
        return DelimitedReader(blocks, find_layout(blocks, "xlsx", options.header, missing), batch_bytes)
    return FrameReader(data or os.fspath(path), source.path, source.total, missing, batch_bytes, format)


# ---------------------------------------------------------------------------------------------------- columns


@dataclass(frozen=True)
class Roles:
    """Which columns of a file are what, by number."""

    target: int | None
    weights: int | None
    attributes: list[int]


def find_column(reader: Reader, wanted: str, what: str) -> int:
    """Return the number of the column with a name, or else an index."""
    names, n_columns = reader.names, reader.n_columns
    place = None if names is None else find_name(wanted.strip(), names)
    if place is not None:
        return place
    if re.fullmatch(r"\s*[+-]?\d{1,9}\s*", wanted, re.ASCII):
        index = int(wanted)
        if not -n_columns <= index < n_columns:
            raise reader.problem(
                f"has {n_columns} column{'' if n_columns == 1 else 's'}, so there is none with index {index} for {what}"
            )
        return index % n_columns
    if names is None:
        raise reader.problem(f"has no header, so {what} can only be given by index, not as {shown(wanted)}")
    order = nearest_first(wanted, names)
    raise reader.problem(f"has no column {shown(wanted)} for {what}; its columns are {listed(order)}")


def find_ignored(reader: Reader, options: ReadOptions) -> list[int]:
    """Return the numbers of the columns that the user wants left out."""
    texts: list[str] = []
    for text in options.ignore:
        is_name = reader.names is not None and find_name(text.strip(), reader.names) is not None
        texts += [text] if is_name else [part for part in text.split(",") if part.strip()]
    return [find_column(reader, text, "a column to ignore") for text in texts]


def find_roles(reader: Reader, options: ReadOptions, labelled: bool, target: int | None = None) -> Roles:
    """Return what each column is; `target` is where the labels are if the user does not say."""
    if options.target is not None:
        target = find_column(reader, options.target, "the target")
    elif labelled and target is None:
        target = reader.n_columns - 1
    weights = None if options.weights is None else find_column(reader, options.weights, "the weights")
    ignored = {*find_ignored(reader, options)}
    if target is not None and (target == weights or (labelled and target in ignored)):
        other = "the weights" if target == weights else "ignored"
        raise reader.problem(f"column {target + 1} cannot be the target and {other}; say which column is the target")
    attributes = [m for m in range(reader.n_columns) if m not in {target, weights} | ignored]
    return Roles(target, weights, attributes)


# ---------------------------------------------------------------------------------------------------- values


def checked_numbers(chunk: Chunk, columns: list[int], options: ReadOptions) -> np.ndarray:
    """Return columns of numbers as an array, NaN where they are missing; refuse infinite ones."""
    X = np.ascontiguousarray(chunk.frame.select(str(m) for m in columns).to_numpy(order="c"), dtype=np.float64)
    X = X.reshape(chunk.frame.height, len(columns))
    for marker in options.missing:
        number = marker.strip() if is_number(marker.strip()) else with_point(marker.strip())
        if is_number(number):
            X[np.equal(X, float(number))] = np.nan
    infinite = np.isinf(X)
    if infinite.any():
        row, place = np.argwhere(infinite)[0].tolist()
        column = columns[place]
        text = chunk.cell(row, column)
        too_large = is_number(text) and "inf" not in text.lower()
        raise chunk.complain(row, column, f"{shown(text)} is {'too large a' if too_large else 'not a finite'} number")
    return X


def plain_labels(labels: pl.Series, reader: Reader) -> pl.Series:
    """Return labels with decimal points in those that are numbers, however the file writes them."""
    if reader.decimal != ",":
        return labels
    texts = labels.unique().drop_nulls().to_list()
    changes = {text: with_point(text) for text in texts if with_point(text) != text}
    return labels.replace(list(changes), list(changes.values())) if changes else labels


def assemble(columns: Sequence[InputColumn], numbers: np.ndarray, texts: Iterable[pl.Series]) -> Any:
    """Return the attributes as an array, or as a frame if some of them stay text.

    Parameters
    ----------
    columns : sequence of InputColumn
    numbers : array (n, d) of float64
        The columns of numbers, in order.
    texts : iterable of polars.Series
        The other columns, in order. A missing value is NaN in all of its 0/1 columns; a column without any value is
        NaN as well.
    """
    if numbers.shape[1] == len(columns):
        return numbers
    pieces: list[Any] = []
    next_number, next_text = iter(numbers.T), iter(texts)
    for column in columns:
        own: Any = next(next_number if column.kind == "number" else next_text)
        if column.kind == "one_hot":
            indicators = [(own == value).cast(pl.Float64).to_numpy() for value in column.values]
            pieces += indicators or [np.full(len(own), np.nan)]
        else:
            pieces.append(own)
    if any(column.kind == "text" for column in columns):
        return pl.DataFrame(dict(zip([name for column in columns for name in column.names], pieces, strict=True)))
    return np.ascontiguousarray(np.column_stack(pieces))
