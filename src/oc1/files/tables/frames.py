"""Files that hold frames, Parquet and Feather, in chunks."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from functools import partial
from typing import Any

import polars as pl

from ..problems import FileProblem
from .apart import run_apart
from .parsing import Chunk, parse_numbers, tidy_text
from .sniffing import checked_names, shown, shown_name


class FrameReader:
    """A Parquet or Feather file, in chunks; the same methods as `DelimitedReader`.

    Parameters
    ----------
    source : str or bytes
    path : str
        As it stands in messages.
    total : int
        Bytes of the file.
    missing : frozenset of str
        Texts that mean a missing value, in small letters.
    batch_bytes : int
        Roughly the size of a chunk.
    format : {"parquet", "feather"}
    """

    decimal = None

    def __init__(
        self, source: str | bytes, path: str, total: int, missing: frozenset[str], batch_bytes: int, format: str
    ) -> None:
        self._path, self._missing, self._format, self.total = path, missing, format, total
        place, content = (source, b"") if isinstance(source, str) else ("-", source)
        done = run_apart(f"{__name__}:probe", format, place, content=content)
        if done.returncode:
            said = done.stderr.decode("utf-8", "replace").strip().rpartition("\n")[2]
            reason = shown(said)[1:-1] if done.returncode == 1 else "it is damaged"
            raise self.problem(f"cannot be read as {format.title()}: {reason}")
        self._lazy = _scan(format, source)
        schema = self._lazy.collect_schema()
        self._n_rows: int = self._lazy.select(pl.len()).collect().item()
        self.names: tuple[str, ...] | None = checked_names(list(schema.names()), self.problem)
        self.n_columns, self._types = len(schema), list(schema.dtypes())
        self.is_typed, self.text = True, frozenset(m for m, type in enumerate(self._types) if _is_text(type))
        self._batch_rows = max(1, batch_bytes // (8 * max(1, self.n_columns)))

    def problem(self, text: str, **place: Any) -> FileProblem:
        """Return a complaint about this file."""
        return FileProblem(self._path, text, **place)

    def no_rows(self) -> FileProblem:
        """Return the complaint about a file without rows."""
        return self.problem("has no rows")

    def close(self) -> None:
        """Do nothing: polars closes the file."""

    def chunks(self, kinds: dict[int, str]) -> Iterator[Chunk]:
        """Yield the rows in chunks; `kinds` says "number" or "text" for each column that is wanted."""
        for m in kinds:
            type = self._types[m]
            if not (_is_text(type) or type.is_numeric() or type in (pl.Boolean, pl.Null)):
                raise self.problem(f"holds {type}, not numbers or text", name=self._name(m))
        lazy = self._lazy.select(pl.nth(m).alias(str(m)) for m in kinds)
        n_read = 0
        for frame in lazy.collect_batches(chunk_size=self._batch_rows):
            if frame.is_empty():
                continue
            complain = partial(self._complain, n_read)
            n_read += frame.height
            texts = {m: tidy_text(frame[str(m)], self._missing) for m in kinds if m in self.text or kinds[m] == "text"}
            to_parse = {m: own for m, own in texts.items() if kinds[m] == "number"}
            numbers = parse_numbers(to_parse, self._missing, complain)
            plain = {str(m): frame[str(m)].cast(pl.Float64, strict=False) for m in kinds if m not in texts}
            columns = plain | {str(m): own for m, own in texts.items()} | numbers
            n_bytes = self.total * n_read // max(1, self._n_rows)
            yield Chunk(pl.DataFrame(columns), n_bytes, complain, partial(_cell, frame))

    def _name(self, column: int) -> str | None:
        return shown_name(self.names[column]) if self.names else None

    def _complain(self, offset: int, row: int, column: int, problem: str) -> FileProblem:
        return self.problem(problem, row=offset + row + 1, column=column + 1, name=self._name(column))


def _scan(format: str, source: str | bytes) -> pl.LazyFrame:
    return pl.scan_parquet(source, glob=False) if format == "parquet" else pl.scan_ipc(source, glob=False)


def probe(format: str, path: str) -> None:
    """Read a file to its end, in a process of its own: some damaged ones make polars abort, or end too early."""
    try:
        lazy = _scan(format, sys.stdin.buffer.read() if path == "-" else path)
        n_rows = lazy.select(pl.len()).collect().item()
        if sum(frame.height for frame in lazy.collect_batches()) != n_rows:
            sys.exit("it is damaged")
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError, ValueError, OverflowError) as error:
        sys.exit(str(error).strip().split("\n")[0])


def _cell(frame: pl.DataFrame, row: int, column: int) -> str:
    return str(frame[str(column)][row])


def _is_text(type: pl.DataType) -> bool:
    return type in (pl.String, pl.Categorical, pl.Enum)
