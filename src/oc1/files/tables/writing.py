"""Tables out: whole, or row by row as results come in. Files are there whole or not at all."""

from __future__ import annotations

import gzip
import io
import os
import shutil
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

import numpy as np
import polars as pl

from ..atomic import replacing
from ..problems import FileProblem
from .sniffing import explain_error, find_format, shown

#: What `RowWriter` writes.
ROW_FORMATS = ("csv", "tsv", "jsonl", "parquet")
_SEPARATORS = {"csv": ",", "tsv": "\t"}


class RowWriter:
    """Write frames one after the other, as a context manager.

    Parameters
    ----------
    path : str, path-like or None
        Gzip'ed if its name ends in .gz. None is standard output.
    format : {"csv", "tsv", "jsonl", "parquet"}, optional
        By default found by the ending of the name, else "csv".
    header : bool, default=True
        Whether CSV and TSV begin with names.

    Examples
    --------
    >>> import os, tempfile, polars
    >>> path = os.path.join(tempfile.mkdtemp(), "labels.csv")
    >>> with RowWriter(path) as writer:
    ...     writer.write(polars.DataFrame({"label": ["a", "b"], "p": [0.1, 1e-7]}))
    >>> print(open(path).read().strip())
    label,p
    a,0.1
    b,1e-7
    """

    def __init__(self, path: str | os.PathLike | None, format: str | None = None, header: bool = True) -> None:
        self.path, self.header = path, header
        self.format = format or _row_format(path)
        if self.format not in ROW_FORMATS:
            raise ValueError(f"format must be one of {', '.join(ROW_FORMATS)}, got {shown(self.format)}")
        self._stack = ExitStack()
        self._parts: list[Path] = []
        self._started = False

    def __enter__(self) -> Self:
        try:
            with ExitStack() as stack:
                self._file: IO[bytes] = self._open(stack)
                self._stack = stack.pop_all()
        except OSError as error:
            raise self._problem(error) from None
        return self

    def _open(self, stack: ExitStack) -> IO[bytes]:
        if self.path is None:
            file: IO[bytes] = sys.stdout.buffer
            stack.callback(file.flush)
        else:
            file = stack.enter_context(replacing(self.path))
        if self.format == "parquet":
            # Polars writes a Parquet file in one go, so that parts are put aside until the end.
            self._folder = Path(tempfile.mkdtemp(prefix="oc1-"))
            stack.callback(shutil.rmtree, self._folder, ignore_errors=True)
        elif self.path is not None and os.fspath(self.path).lower().endswith(".gz"):
            packed = gzip.GzipFile(filename="", fileobj=file, mode="wb", compresslevel=6, mtime=0)
            file = stack.enter_context(packed)  # type: ignore[arg-type]
        return file

    def write(self, frame: pl.DataFrame) -> None:
        """Write some rows; every frame must have the same columns."""
        try:
            if self.format == "parquet":
                self._parts.append(self._folder / f"{len(self._parts):08d}.parquet")
                frame.write_parquet(self._parts[-1])
            else:
                # Not straight to the file: polars would hide why it could not be written.
                buffer = io.BytesIO()
                if self.format == "jsonl":
                    frame.write_ndjson(buffer)
                else:
                    header = self.header and not self._started
                    frame.write_csv(buffer, include_header=header, separator=_SEPARATORS[self.format])
                rest = buffer.getbuffer()
                while rest:  # a closed pipe takes a part, and only then says so
                    rest = rest[self._file.write(rest) :]
        except OSError as error:
            raise self._problem(error) from None
        self._started = True

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            with self._stack:
                if error is not None:
                    raise error
                if self._parts:
                    pl.scan_parquet(self._parts, glob=False).sink_parquet(self._file)
        except BaseException as failure:
            if failure is error:
                return  # the one who raised it gets it back as it was
            raise (self._problem(failure) if isinstance(failure, OSError) else failure) from None

    def _problem(self, error: OSError) -> Exception:
        if isinstance(error, BrokenPipeError):
            return error
        return FileProblem(
            "standard output" if self.path is None else self.path, f"cannot write: {explain_error(error)}"
        )


def _row_format(path: str | os.PathLike | None) -> str:
    name = "" if path is None else os.fspath(path).lower().removesuffix(".gz")
    if name.endswith((".jsonl", ".ndjson", ".json")):
        return "jsonl"
    found = find_format(name, b"")
    return found if found in ROW_FORMATS else "csv"


def write_table(
    path: str | os.PathLike, columns: dict[str, Any], format: str | None = None, header: bool = True
) -> None:
    """Write a whole table.

    Parameters
    ----------
    path : str or path-like
        Gzip'ed if its name ends in .gz (Parquet is not).
    columns : dict of str to array
        Numbers or text, all of the same length; NaN and None are missing values.
    format : {"csv", "tsv", "parquet", "arff", "oc1"}, optional
        By default found by the ending of the name.
    header : bool, default=True
        Whether CSV and TSV begin with names.
    """
    frame = pl.DataFrame({name: _column(values) for name, values in columns.items()})
    format = format or find_format(path, b"")
    if format in ("csv", "tsv", "parquet"):
        with RowWriter(path, format, header) as writer:
            writer.write(frame)
    elif format in ("oc1", "arff"):
        lines = _oc1_lines(path, frame) if format == "oc1" else _arff_lines(frame)
        _write_text(path, "\n".join(lines) + "\n")
    else:
        raise ValueError(f"unknown format {shown(format)}")


def _column(values: Any) -> pl.Series:
    values = np.asarray(values)
    if values.dtype.kind == "O":
        return pl.Series([None if value is None else str(value) for value in values.tolist()], dtype=pl.String)
    if values.dtype.kind == "U":
        return pl.Series(values.tolist(), dtype=pl.String)
    return pl.Series(values, nan_to_null=values.dtype.kind == "f")


def _write_text(path: str | os.PathLike, text: str) -> None:
    content = text.encode()
    if os.fspath(path).lower().endswith(".gz"):
        content = gzip.compress(content, mtime=0)
    try:
        with replacing(path) as file:
            file.write(content)
    except OSError as error:
        raise FileProblem(path, f"cannot write: {explain_error(error)}") from None


def _oc1_lines(path: str | os.PathLike, frame: pl.DataFrame) -> list[str]:
    for name, type in frame.schema.items():
        if type == pl.String:
            for text in frame[name].unique().to_list():
                if text is not None and (not text or any(mark in text for mark in " \t,\n\r")):
                    raise FileProblem(path, f"OC1's format has no place for the text {shown(text)}: blanks and commas")
    rows = _texts(frame).iter_rows()
    return [" ".join("?" if cell is None else cell for cell in row) for row in rows]


def _arff_lines(frame: pl.DataFrame) -> list[str]:
    lines = ["@relation table", ""]
    for name, type in frame.schema.items():
        kind = "numeric"
        if type in (pl.String, pl.Boolean):
            values = sorted(frame[name].drop_nulls().cast(pl.String).unique().to_list())
            kind = "{" + ",".join(map(_arff_word, values)) + "}" if values else "string"
        lines.append(f"@attribute {_arff_word(name)} {kind}")
    lines += ["", "@data"]
    numeric = [type not in (pl.String, pl.Boolean) for type in frame.dtypes]
    for row in _texts(frame).iter_rows():
        cells = zip(row, numeric, strict=True)
        lines.append(",".join("?" if cell is None else cell if plain else _arff_word(cell) for cell, plain in cells))
    return lines


def _arff_word(text: str) -> str:
    plain = text.isascii() and text.replace("_", "").replace("-", "").replace(".", "").isalnum()
    return text if plain else "'" + text.replace("\\", "\\\\").replace("'", "\\'").replace("\n", " ") + "'"


def _texts(frame: pl.DataFrame) -> pl.DataFrame:
    """Return all columns as text, floats in the shortest form that is exact."""

    def text(column: pl.Series) -> pl.Series:
        if column.dtype.is_float():
            return pl.Series([None if v is None else repr(v) for v in column.to_list()], dtype=pl.String)
        return column.cast(pl.String)

    return pl.DataFrame({name: text(frame[name]) for name in frame.columns})
