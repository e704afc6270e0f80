"""Opening a data file as the user wants it, and which of its columns are what."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePath

import numpy as np
import polars as pl

from .arff import read_declarations
from .parquet import ParquetReader
from .parsing import DelimitedReader, Part, find_layout, missing_markers, not_finite
from .sniffing import FORMATS, ByteSource, TextBlocks, find_format, is_number, shown


@dataclass(frozen=True)
class ReadOptions:
    """What the user says about a data file.

    Parameters
    ----------
    format : {"csv", "tsv", "parquet", "arff", "oc1"}, optional
        By default found by the ending of the name (before .gz), or else by looking.
    header : bool, optional
        Whether the first row holds names. By default it does in CSV and TSV if all its cells are text, or if there is
        text above a column of numbers: a file of nothing but text is taken to have a header. OC1's format has none.
    target : str, optional
        Name or index (from 0; negative from the end) of the column with the labels. The last one by default.
    weights : str, optional
        Name or index of a column of example weights.
    ignore : tuple of str
        Names or indices of columns that are not attributes.
    missing : tuple of str
        Further texts that mean a missing value, besides an empty cell, ``?``, NA, N/A, nan, null and none.
    """

    format: str | None = None
    header: bool | None = None
    target: str | None = None
    weights: str | None = None
    ignore: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()


# ---------------------------------------------------------------------------------------------------- opening


def open_reader(
    path: str | os.PathLike, options: ReadOptions, batch_bytes: int, content: bytes | None = None
) -> DelimitedReader | ParquetReader:
    """Open a data file, or `content` in its place, and find out its layout."""
    if options.format is not None and options.format not in FORMATS:
        raise ValueError(f"format must be one of {', '.join(FORMATS)}, got {shown(options.format)}")
    missing = missing_markers(options.missing)
    source = ByteSource(path, content)
    try:
        if not source.is_gzip and _is_parquet(path, source, options.format):
            bytes_or_path = source.read() if os.fspath(path) == "-" else os.fspath(path)
            source.close()
            if not source.total and not (isinstance(bytes_or_path, bytes) and bytes_or_path):
                raise source.problem("is empty")
            return ParquetReader(bytes_or_path, source.path, source.total, missing, batch_bytes)
        blocks = TextBlocks(source)
        format = options.format or find_format(path, blocks.head)
        if format == "parquet":
            raise source.problem("is gzip'ed, but no Parquet file")
        if format == "arff":
            layout = read_declarations(blocks, missing)
        else:
            layout = find_layout(blocks, format, options.header, missing)
        return DelimitedReader(blocks, layout, batch_bytes)
    except BaseException:
        source.close()
        raise


def _is_parquet(path: str | os.PathLike, source: ByteSource, format: str | None) -> bool:
    if format is not None or os.fspath(path) == "-":
        return format == "parquet"
    if PurePath(os.fspath(path)).suffix.lower() in (".parquet", ".pq"):
        return True
    return find_format(path, b"") == "oc1" and source.peek(4) == b"PAR1"


# ---------------------------------------------------------------------------------------------------- columns


@dataclass(frozen=True)
class Roles:
    """Which columns of a file are what, by number."""

    target: int | None
    weights: int | None
    attributes: list[int]


def find_column(reader, wanted: str, what: str) -> int:
    """Return the number of the column with a name, or else an index."""
    names, n_columns = reader.names, reader.n_columns
    if names is not None and wanted in names:
        return names.index(wanted)
    if re.fullmatch(r"\s*[+-]?\d{1,9}\s*", wanted, re.ASCII):
        index = int(wanted)
        if not -n_columns <= index < n_columns:
            raise reader.problem(f"has {n_columns} columns, so that there is none with index {index} for {what}")
        return index % n_columns
    if names is None:
        raise reader.problem(f"has no header, so that {what} can only be given by index, not as {shown(wanted)}")
    raise reader.problem(f"has no column {shown(wanted)} for {what}; its columns are {listed(names)}")


def listed(names: Sequence[str], limit: int = 6) -> str:
    """Return the first few names as they may stand in a message."""
    texts = [shown(name) for name in names[:limit]]
    return ", ".join(texts) + (f" and {len(names) - limit} others" if len(names) > limit else "")


def find_roles(reader, options: ReadOptions, labelled: bool, target: int | None = None) -> Roles:
    """Return what each column is; `target` is where the labels are if the user does not say."""
    if options.target is not None:
        target = find_column(reader, options.target, "the target")
    elif labelled and target is None:
        target = reader.n_columns - 1
    weights = None if options.weights is None else find_column(reader, options.weights, "the weights")
    ignored = {find_column(reader, text, "a column to ignore") for text in options.ignore}
    if target is not None and (target == weights or (labelled and target in ignored)):
        other = "the weights" if target == weights else "ignored"
        raise reader.problem(f"column {target + 1} cannot be the target and {other}; say which column is the target")
    attributes = [m for m in range(reader.n_columns) if m not in {target, weights} | ignored]
    return Roles(target, weights, attributes)


# ---------------------------------------------------------------------------------------------------- checks


def numeric_markers(options: ReadOptions) -> list[float]:
    """Return the numbers among the texts that mean a missing value."""
    return [float(text) for text in options.missing if is_number(text.strip())]


def checked_numbers(part: Part, columns: list[int], markers: list[float]) -> np.ndarray:
    """Return columns of numbers as an array; refuse infinite ones."""
    if not columns:
        return np.empty((part.frame.height, 0))
    X = np.ascontiguousarray(part.frame.select(str(m) for m in columns).to_numpy(order="c"), dtype=np.float64)
    for marker in markers:
        X[np.equal(X, marker)] = np.nan
    infinite = np.isinf(X)
    if infinite.any():
        row, k = (int(place[0]) for place in np.nonzero(infinite))
        raise part.complain(row, columns[k], not_finite(part.cell(row, columns[k])))
    return X


def first_null(column: pl.Series) -> int:
    """Return the first row with a missing value."""
    return int(column.is_null().arg_true()[0])


def indicators(column: pl.Series, values: Sequence[str]) -> np.ndarray:
    """Return a 0/1 column for each value, all NaN where it is missing."""
    result = np.empty((len(column), len(values)))
    for k, value in enumerate(values):
        result[:, k] = (column == value).cast(pl.Float64).to_numpy()
    return result


def whole_number(text: str) -> int | None:
    """Return the whole number that a text stands for, if any: "1" and "1.0", not "1.5", nor "01", which is a code."""
    if not is_number(text) or re.match(r"[+-]?0\d", text):
        return None
    if re.fullmatch(r"[+-]?\d{1,18}", text, re.ASCII):
        return int(text)
    number = float(text)
    return int(number) if number.is_integer() and abs(number) <= 2**53 else None
