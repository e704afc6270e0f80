"""Tables out: whole, or row by row as results come in. A file is written completely or not at all."""

from __future__ import annotations

import gzip
import io
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

import numpy as np
import polars as pl

from ..atomic import replacing, write_file
from ..problems import FilePath, FileProblem, explained
from .sniffing import find_format, shown

#: What `RowWriter` writes.
ROW_FORMATS = ("csv", "tsv", "jsonl", "parquet")


class RowWriter:
    """Write frames one after the other, as a context manager.

    Parameters
    ----------
    path : str, path-like or None
        Compressed if its name ends in .gz. None is standard output.
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

    def __init__(self, path: FilePath | None, format: str | None = None, header: bool = True) -> None:
        self.path, self.format, self._header = path, format or _row_format(path), header
        if self.format not in ROW_FORMATS:
            raise ValueError(f"format must be one of {', '.join(ROW_FORMATS)}, got {shown(self.format)}")
        self._shown_path = "standard output" if path is None else path
        self._stack = ExitStack()
        self._parts: list[Path] = []

    def __enter__(self) -> Self:
        with _written(self._shown_path), ExitStack() as stack:
            self._file: IO[bytes] = self._open(stack)
            self._stack = stack.pop_all()
        return self

    def _open(self, stack: ExitStack) -> IO[bytes]:
        if self.path is None:
            file: IO[bytes] = sys.stdout.buffer
            stack.callback(file.flush)
        else:
            file = stack.enter_context(replacing(self.path))
        if self.format == "parquet":
            # Polars writes a Parquet file in one go, so parts are put aside until the end.
            self._folder = Path(tempfile.mkdtemp(prefix="oc1-"))
            stack.callback(shutil.rmtree, self._folder, ignore_errors=True)
            stack.push(self._join_parts)
        elif self.path is not None and os.fspath(self.path).lower().endswith(".gz"):
            packed = gzip.GzipFile(filename="", fileobj=file, mode="wb", compresslevel=6, mtime=0)
            file = stack.enter_context(packed)  # type: ignore[arg-type]
        return file

    def write(self, frame: pl.DataFrame) -> None:
        """Write some rows; every frame must have the same columns."""
        with _written(self._shown_path):
            if self.format == "parquet":
                self._parts.append(self._folder / f"{len(self._parts):08d}.parquet")
                frame.write_parquet(self._parts[-1])
                return
            # Not straight to the file: polars would hide why it could not be written.
            buffer = io.BytesIO()
            if self.format == "jsonl":
                frame.write_ndjson(buffer)
            else:
                separator = "\t" if self.format == "tsv" else ","
                frame.write_csv(buffer, include_header=self._header, separator=separator)
            rest = buffer.getbuffer()
            while rest:  # a closed pipe takes a part, and only then says so
                rest = rest[self._file.write(rest) :]
            self._header = False

    def _join_parts(self, kind: type[BaseException] | None, *error: Any) -> None:
        if kind is None and self._parts:
            pl.scan_parquet(self._parts, glob=False).sink_parquet(self._file)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with _written(self._shown_path):
            self._stack.__exit__(kind, error, trace)


@contextmanager
def _written(path: FilePath) -> Iterator[None]:
    """Explain what the system has against writing a file, also where polars says it in words of its own."""
    with explained(path, "written"):
        try:
            yield
        except pl.exceptions.PolarsError as error:
            found = re.search(r"([^:]+) \(os error \d+\)", str(error))
            raise OSError(found[1].strip() if found else str(error)) from None


def _row_format(path: FilePath | None) -> str:
    name = "" if path is None else os.fspath(path).lower().removesuffix(".gz")
    if name.endswith((".jsonl", ".ndjson", ".json")):
        return "jsonl"
    found = find_format(name, b"")
    return found if found in ROW_FORMATS else "csv"


def write_table(path: FilePath, columns: dict[str, Any], format: str | None = None, header: bool = True) -> None:
    """Write a whole table.

    Parameters
    ----------
    path : str or path-like
        Compressed if its name ends in .gz (Parquet is not).
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
        write_file(path, (_as_oc1(path, frame) if format == "oc1" else _as_arff(frame)).encode())
    else:
        raise ValueError(f"cannot write {format} files; the format must be csv, tsv, parquet, arff or oc1")


def _column(values: Any) -> pl.Series:
    values = np.asarray(values)
    if values.dtype.kind in "OU":
        return pl.Series([None if value is None else str(value) for value in values.tolist()], dtype=pl.String)
    return pl.Series(values, nan_to_null=values.dtype.kind == "f")


def _as_oc1(path: FilePath, frame: pl.DataFrame) -> str:
    for text in {text for column in frame.select(pl.col(pl.String)) for text in column.drop_nulls()}:
        if not text or any(mark in text for mark in " \t,\n\r"):
            raise FileProblem(path, f"OC1's format cannot hold the text {shown(text)}: empty, or with blanks or commas")
    return _rows(frame, " ")


def _as_arff(frame: pl.DataFrame) -> str:
    header, frame = "@relation table\n\n", frame.cast({pl.Boolean: pl.String})
    for name, type in frame.schema.items():
        kind = "numeric"
        if type == pl.String:
            words = {value: _arff_word(value) for value in sorted(frame[name].drop_nulls().unique().to_list())}
            kind = "{" + ",".join(words.values()) + "}" if words else "string"
            frame = frame.with_columns(pl.col(name).replace(words))
        header += f"@attribute {_arff_word(name)} {kind}\n"
    return header + "\n@data\n" + _rows(frame, ",")


def _rows(frame: pl.DataFrame, separator: str) -> str:
    return frame.write_csv(include_header=False, separator=separator, null_value="?", quote_style="never")


def _arff_word(text: str) -> str:
    plain = text.isascii() and text.replace("_", "").replace("-", "").replace(".", "").isalnum()
    return text if plain else "'" + text.replace("\\", "\\\\").replace("'", "\\'").replace("\n", " ") + "'"
