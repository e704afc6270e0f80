"""Files that hold frames, Parquet and Feather, in chunks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, TypeVar

import polars as pl

from ..problems import FileProblem
from .parsing import Chunk, parse_numbers, tidy_text
from .sniffing import checked_names, shown, shown_name

Result = TypeVar("Result")


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
        scan = pl.scan_parquet if format == "parquet" else pl.scan_ipc
        self._lazy = self._guarded(lambda: scan(source, glob=False))
        schema = self._guarded(self._lazy.collect_schema)
        self._n_rows: int = self._guarded(lambda: self._lazy.select(pl.len()).collect().item())
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

    def _guarded(self, read: Callable[[], Result]) -> Result:
        try:
            return read()
        except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError, ValueError, OverflowError) as error:
            reason = str(error).strip().split("\n")[0]
            raise self.problem(f"cannot be read as {self._format.title()}: {shown(reason)[1:-1]}") from None

    def chunks(self, kinds: dict[int, str]) -> Iterator[Chunk]:
        """Yield the rows in chunks; `kinds` says "number" or "text" for each column that is wanted."""
        for m in kinds:
            type = self._types[m]
            if not (_is_text(type) or type.is_numeric() or type in (pl.Boolean, pl.Null)):
                raise self.problem(f"holds {type}, not numbers or text", name=self._name(m))
        lazy = self._lazy.select(pl.nth(m).alias(str(m)) for m in kinds)
        n_read = 0
        for frame in self._frames(lazy):
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

    def _frames(self, lazy: pl.LazyFrame) -> Iterator[pl.DataFrame]:
        batches = self._guarded(lambda: iter(lazy.collect_batches(chunk_size=self._batch_rows)))
        while (frame := self._guarded(lambda: next(batches, None))) is not None:
            if frame.height:
                yield frame


def _cell(frame: pl.DataFrame, row: int, column: int) -> str:
    return str(frame[str(column)][row])


def _is_text(type: pl.DataType) -> bool:
    return type in (pl.String, pl.Categorical, pl.Enum)
