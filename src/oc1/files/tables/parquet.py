"""Parquet files in parts."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import polars as pl

from ..problems import FileProblem
from .parsing import Part, TextFound, not_a_number
from .sniffing import checked_names, shown, shown_name


class ParquetReader:
    """A Parquet file, in parts; the same methods as `DelimitedReader`.

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
    """

    def __init__(self, source: str | bytes, path: str, total: int, missing: frozenset[str], batch_bytes: int) -> None:
        self._path, self._missing, self.total = path, missing, total
        self._lazy = self._guarded(lambda: pl.scan_parquet(source, glob=False))
        schema = self._guarded(self._lazy.collect_schema)
        self._n_rows = self._guarded(lambda: self._lazy.select(pl.len()).collect().item())
        self.names: tuple[str, ...] | None = checked_names(list(schema.names()), self.problem)
        self.n_columns, self._types = len(schema), list(schema.dtypes())
        self.text = frozenset(m for m, type in enumerate(self._types) if _is_text(type))
        self._batch_rows = max(1, batch_bytes // (8 * max(1, self.n_columns)))

    def problem(self, text: str, **place) -> FileProblem:
        """Return a complaint about this file."""
        return FileProblem(self._path, text, **place)

    def close(self) -> None:
        """Do nothing: polars closes the file."""

    def _guarded(self, read: Callable):
        try:
            return read()
        except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError, ValueError, OverflowError) as error:
            reason = str(error).strip().split("\n")[0]
            raise self.problem(f"cannot be read as Parquet: {shown(reason)[1:-1]}") from None

    def parts(self, kinds: dict[int, str]) -> Iterator[Part]:
        """Yield the rows in parts; `kinds` says "number" or "text" for each column that is wanted."""
        assert self.names is not None
        names = self.names
        for m in kinds:
            type = self._types[m]
            if not (_is_text(type) or type.is_numeric() or type in (pl.Boolean, pl.Null)):
                raise self.problem(f"holds {type}, not numbers or text", name=shown_name(names[m]))
        lazy = self._lazy.select(pl.nth(m).alias(str(m)) for m in kinds)
        n_read = 0
        for frame in self._frames(lazy):
            offset = n_read

            def complain(row: int, column: int, problem: str, offset: int = offset) -> FileProblem:
                place = f"row {offset + row + 1}: {problem}"
                return self.problem(place, column=column + 1, name=shown_name(names[column]))

            def cell(row: int, column: int, frame: pl.DataFrame = frame) -> str:
                return str(frame[str(column)][row])

            n_read += frame.height
            part = Part(frame, self.total * n_read // max(1, self._n_rows), complain, cell)
            columns, found = {}, {}
            for m, kind in kinds.items():
                column = frame[str(m)]
                if kind == "text":
                    columns[str(m)] = self._texts(column)
                    continue
                numbers = self._guarded(lambda column=column: self._numbers(column))
                bad = (numbers.is_null() & self._texts(column).is_not_null()).arg_true() if m in self.text else []
                if len(bad):
                    found[m] = complain(int(bad[0]), m, not_a_number(str(column[int(bad[0])])))
                columns[str(m)] = numbers
            if found:
                raise TextFound(found)
            yield Part(pl.DataFrame(columns), part.n_bytes, complain, cell)

    def _frames(self, lazy: pl.LazyFrame) -> Iterator[pl.DataFrame]:
        if hasattr(lazy, "collect_batches"):
            batches = self._guarded(lambda: iter(lazy.collect_batches(chunk_size=self._batch_rows)))
            while (frame := self._guarded(lambda: next(batches, None))) is not None:
                if frame.height:
                    yield frame
        else:
            for start in range(0, self._n_rows, self._batch_rows):
                yield self._guarded(lambda start=start: lazy.slice(start, self._batch_rows).collect())

    def _numbers(self, column: pl.Series) -> pl.Series:
        if _is_text(column.dtype):
            column = self._texts(column)
        return column.cast(pl.Float64, strict=False)

    def _texts(self, column: pl.Series) -> pl.Series:
        """Return a column as text without blanks around it, and null where it is missing."""
        column = column.cast(pl.String).str.strip_chars()
        absent = [text for text in column.unique().to_list() if text is not None and text.lower() in self._missing]
        return column.replace(absent, [None] * len(absent)) if absent else column


def _is_text(type: pl.DataType) -> bool:
    return type in (pl.String, pl.Categorical, pl.Enum)
