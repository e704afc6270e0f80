"""Text files in chunks: cut between rows, checked, and parsed by polars.

A piece of the text is parsed as it is if its separators and line ends are as many as they should be and polars accepts
it. Only if something is off is it searched row by row, to leave out blank lines or to find the cell to complain about.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import islice
from queue import Empty, Queue
from threading import Event, Thread
from typing import Any, TypeVar

import numpy as np
import polars as pl

from ..problems import FileProblem
from .sniffing import (
    MAX_COLUMNS,
    MAX_RECORD_BYTES,
    Layout,
    TextBlocks,
    checked_names,
    find_decimal,
    find_separator,
    has_header,
    shown,
    with_point,
)

Item = TypeVar("Item")
#: Says where a cell is: (row of the chunk, column, problem) -> FileProblem.
Complain = Callable[[int, int, str], FileProblem]

_NEWLINE, _QUOTE = ord("\n"), ord('"')
#: Texts that polars itself takes for missing: each one makes it slower.
_MAX_NULL_TEXTS = 4


class TextFound(Exception):
    """Columns taken for numbers hold text.

    Parameters
    ----------
    columns : dict of int to FileProblem
        What to say about the first such cell of each, in the order of the file.
    """

    def __init__(self, columns: dict[int, FileProblem]) -> None:
        super().__init__()
        self.columns = columns


@dataclass(frozen=True)
class Chunk:
    """Some rows of a file: a frame whose columns are called by their number in the file, "0", "1", ...

    Parameters
    ----------
    frame : polars.DataFrame
        Float64 and String columns.
    n_bytes : int
        Of the file, read so far.
    complain : callable (row, column, problem) -> FileProblem
        Makes an error that says where the cell is.
    cell : callable (row, column) -> str
        How a cell is written.
    """

    frame: pl.DataFrame
    n_bytes: int
    complain: Complain
    cell: Callable[[int, int], str]


# ---------------------------------------------------------------------------------------------------- columns


def tidy_text(column: pl.Series, missing: frozenset[str], allowed: frozenset[str] = frozenset()) -> pl.Series:
    """Return a column as text without blanks around it, and null where it is missing.

    Parameters
    ----------
    column : polars.Series
    missing : frozenset of str
        Texts that mean a missing value, in small letters.
    allowed : frozenset of str
        Texts that mean themselves all the same.
    """
    column = column.cast(pl.String)
    changes: dict[str, str | None] = {}
    for text in column.unique().drop_nulls().to_list():
        bare = text.strip()
        is_missing = bare.lower() in missing and bare not in allowed
        if is_missing or bare != text:
            changes[text] = None if is_missing else bare
    return column.replace(list(changes), list(changes.values())) if changes else column


def parse_numbers(columns: dict[int, pl.Series], complain: Complain, decimal: str = ".") -> dict[str, pl.Series]:
    """Return columns of text as numbers, by their names in a frame; raise `TextFound` for those that are none.

    Parameters
    ----------
    columns : dict of int to polars.Series
    complain : callable
        As in `Chunk`.
    decimal : {".", ","}
        The decimal sign.
    """
    numbers, found = {}, {}
    for m, column in columns.items():
        numbers[str(m)] = (column if decimal == "." else _with_points(column)).cast(pl.Float64, strict=False)
        bad = (numbers[str(m)].is_null() & column.is_not_null()).arg_true()
        if len(bad):
            found[m] = int(bad[0])
    if found:
        order = sorted(found, key=lambda m: (found[m], m))
        raise TextFound({m: complain(found[m], m, _not_a_number(columns[m][found[m]], decimal)) for m in order})
    return numbers


def _with_points(column: pl.Series) -> pl.Series:
    """Return numbers with decimal commas as numbers with decimal points, null where a point does not group thousands.

    The same as `with_point` of each cell, in compiled code.
    """
    text = pl.col(column.name)
    is_grouped = text.str.contains(r"^[+-]?[1-9]\d{0,2}(\.\d{3})+(,\d*)?([eE][+-]?\d+)?$")
    plain = pl.when(is_grouped).then(text.str.replace_all(".", "", literal=True)).otherwise(text)
    pointed = pl.when(~plain.str.contains(".", literal=True)).then(plain.str.replace(",", ".", literal=True))
    return column.to_frame().select(pointed).to_series()


def _not_a_number(text: str, decimal: str) -> str:
    other = {".": r"[+-]?\d+,\d+", ",": r"[+-]?\d*\.\d+"}[decimal]
    hint = ""
    if re.fullmatch(other, text, re.ASCII):
        hint = "; use --decimal , for decimal commas" if decimal == "." else " with a decimal comma; see --decimal"
    return f"{shown(text)} is not a number{hint}"


# ---------------------------------------------------------------------------------------------------- rows


def _outside_quotes(data: bytes) -> np.ndarray:
    quotes = np.frombuffer(data, np.uint8) == _QUOTE
    return (np.cumsum(quotes, dtype=np.uint8) & 1) == 0


def _count(data: bytes, byte: int, where: np.ndarray | None = None) -> int:
    """Return how often a byte occurs (at some places). `bytes.count` takes five times as long, and holds the GIL."""
    found = np.frombuffer(data, np.uint8) == byte
    return int(np.count_nonzero(found if where is None else found & where))


def _row_ends(data: bytes) -> np.ndarray:
    """Return the line ends outside quotes."""
    return np.flatnonzero((np.frombuffer(data, np.uint8) == _NEWLINE) & _outside_quotes(data))


def _last_row_end(data: bytes) -> int:
    """Return where the last whole row ends, 0 if there is none; line ends inside quotes are none."""
    ends = _row_ends(data)
    return int(ends[-1]) + 1 if len(ends) else 0


def iterate_rows(data: bytes, separator: str, quoted: bool) -> Iterator[tuple[int, bytes]]:
    """Yield the rows that are not blank, each with the number of lines before it."""
    blanks = b" " if separator == "\t" else b" \t"
    if not quoted or b'"' not in data:
        for line, row in enumerate(data.split(b"\n")):
            if row.strip(blanks):
                yield line, row
        return
    start, line = 0, 0
    for end in [*_row_ends(data).tolist(), len(data)]:
        row = data[start:end]
        if row.strip(blanks):
            yield line, row
        line += row.count(b"\n") + 1
        start = end + 1


def split_row(row: bytes, separator: str, quoted: bool) -> list[str]:
    """Return the cells of a row, without quotes and blanks around them.

    Examples
    --------
    >>> split_row(b'1, 2 ,"a ""b"", c"', ",", True)
    ['1', '2', 'a "b", c']
    """
    text = row.decode("utf-8", "replace")
    if not quoted or '"' not in text:
        return [cell.strip() for cell in text.split(separator)]
    cells = re.finditer(rf'(?:^|{separator})(?:"([^"]*(?:""[^"]*)*)"(?={separator}|\Z)|([^{separator}]*))', text)
    return [(match[2] if match[1] is None else match[1].replace('""', '"')).strip() for match in cells]


def squeeze_blanks(data: bytes, line: int = 1) -> bytes:
    r"""Return lines in OC1's own format with a comma between two cells.

    Examples
    --------
    >>> squeeze_blanks(b" 1\t 2 , 3   a \n4,5,?,b\n")
    b'1,2,3,a\n4,5,?,b\n'
    """
    data = data.replace(b"\t", b" ")
    while b"  " in data:
        data = data.replace(b"  ", b" ")
    for around in (b",", b"\n"):
        data = data.replace(b" " + around, around).replace(around + b" ", around)
    return data.strip(b" ").replace(b" ", b",")


# ---------------------------------------------------------------------------------------------------- layout


def find_layout(
    blocks: TextBlocks, format: str, header: bool | None, missing: frozenset[str], decimal: str | None = None
) -> Layout:
    """Return how a file in CSV, TSV or OC1's format is written, from its first lines and what is known of it."""
    problem, head = blocks.source.problem, blocks.head
    clean = squeeze_blanks if format == "oc1" else None
    quoted = clean is None
    if clean is not None:
        head, separator, header = clean(head), ",", bool(header)
    else:
        separator = "\t" if format == "tsv" else find_separator(head)
        decimal = decimal or find_decimal(head, separator)
    if not blocks.ended:  # the last line may be cut off
        head = head[: _last_row_end(head) if quoted else head.rfind(b"\n") + 1]
    rows = list(islice(iterate_rows(head, separator, quoted), 100))
    if not rows:
        raise problem("is empty")
    first_line, first = rows[0][0], split_row(rows[0][1], separator, quoted)
    n_looked_at = max(3, 200_000 // len(first))  # fewer of very wide rows
    cells = [split_row(row, separator, quoted) for _, row in rows[:n_looked_at]]
    if header is None:
        header = has_header([list(map(with_point, row)) for row in cells] if decimal == "," else cells, missing)
    n_columns = len(first) if header else Counter(map(len, cells)).most_common(1)[0][0]
    if n_columns > MAX_COLUMNS:
        raise problem(f"has {n_columns:,} columns; the most that can be read are {MAX_COLUMNS:,}")
    names = checked_names(first, problem, first_line + 1) if header else None
    start, line = 0, 1
    if header:  # the place in the text as it was before cleaning, which leaves the number of lines alone
        line = (rows[1][0] if len(rows) > 1 else first_line + 1) + 1
        start = sum(len(before) + 1 for before in blocks.head.split(b"\n", line - 1)[: line - 1])
        decode(blocks.head[:start], 1, problem)
    return Layout(separator, quoted, names, n_columns, start, line, missing, clean, decimal=decimal or ".")


# ---------------------------------------------------------------------------------------------------- parsing


@dataclass(frozen=True)
class _Piece:
    """Whole lines of a file, the first of which has the number `line`; `rows` are the same without blank lines."""

    data: bytes
    rows: bytes
    line: int
    n_bytes: int


def prefetch(items: Iterator[Item], depth: int = 1) -> Iterator[Item]:
    """Yield what an iterator yields, while a thread already fetches the next `depth` items.

    A consumer that stops early does not wait for the thread, which may itself be waiting for input that never comes.
    """
    fetched: Queue[Any] = Queue(maxsize=depth)
    unwanted = Event()

    def fetch() -> None:
        end: BaseException = StopIteration()
        try:
            for item in items:
                fetched.put(item)
                if unwanted.is_set():
                    return
        except BaseException as problem:
            end = problem
        fetched.put(end)

    Thread(target=fetch, daemon=True).start()
    try:
        while not isinstance(item := fetched.get(), BaseException):
            yield item
        if not isinstance(item, StopIteration):
            raise item
    finally:
        unwanted.set()
        with suppress(Empty):
            while True:
                fetched.get_nowait()  # the thread may be waiting for room


class DelimitedReader:
    """A text file of rows and columns, in chunks.

    Parameters
    ----------
    blocks : TextBlocks
    layout : Layout
    batch_bytes : int
        Roughly the size of a chunk.
    """

    def __init__(self, blocks: TextBlocks, layout: Layout, batch_bytes: int) -> None:
        self.source = blocks.source
        self.problem, self.close, self.total = self.source.problem, self.source.close, self.source.total
        self.names, self.n_columns, self.text = layout.names, layout.n_columns, layout.text
        self.layout, self.is_typed, self._blocks, self._batch_bytes = layout, layout.is_typed, blocks, batch_bytes
        self.decimal = layout.decimal
        # Texts for missing values are given to polars only once they are met, since each one makes it slower.
        self._nulls: list[str] = []
        self._declared = frozenset().union(*(layout.values or {}).values())

    def no_rows(self) -> FileProblem:
        """Return the complaint about a file without rows."""
        return self.problem("has a header, but no rows" if self.names else "has no rows")

    def chunks(self, kinds: dict[int, str]) -> Iterator[Chunk]:
        """Yield the rows in chunks; `kinds` says "number" or "text" for each column that is wanted.

        The next piece is read and checked while one is parsed.
        """
        for piece in prefetch(self._pieces()):
            if piece.rows:
                yield self._parse(piece, kinds)

    def _pieces(self) -> Iterator[_Piece]:
        blocks, line, size = self._blocks, self.layout.line, self._batch_bytes
        head, rest = blocks.head[self.layout.start :], b""
        while head or rest or not blocks.ended:
            block, head = head[:size], head[size:]
            if len(block) < size:
                more = blocks.read(size - len(block))
                block = block + more if block else more
            data, rest = self._next_rows(rest, block, is_last=blocks.ended and not head)
            if not data:
                if len(rest) > MAX_RECORD_BYTES:
                    what = "quoted text or line" if self.layout.quoted else "line"
                    raise self.problem(f"the {what} that begins here exceeds {MAX_RECORD_BYTES >> 20} MiB", line=line)
                size = max(size, len(rest))  # as much again
                continue
            size = self._batch_bytes
            yield self._checked(data if data.endswith(b"\n") else data + b"\n", line)
            line += _count(data, _NEWLINE)

    def _next_rows(self, rest: bytes, block: bytes, is_last: bool) -> tuple[bytes, bytes]:
        """Return the rows that are whole, and what is left; large blocks are copied as rarely as possible."""
        if is_last:
            return rest + block, b""
        if self.layout.quoted and (b'"' in block or b'"' in rest):
            block, rest = rest + block, b""
            end = _last_row_end(block)
        else:
            end = block.rfind(b"\n") + 1
        if end == 0:
            return b"", rest + block
        return b"".join((rest, memoryview(block)[:end])), block[end:]

    # ------------------------------------------------------------------------------------------ one piece

    def _parse(self, piece: _Piece, kinds: dict[int, str]) -> Chunk:
        # Polars would take a point for a decimal sign, too, where the comma is one.
        is_mixed = self.decimal == "," and b"." in piece.rows
        numbers = {m for m, kind in kinds.items() if kind == "number" and not is_mixed}
        types = {str(m): pl.Float64() if m in numbers else pl.String() for m in range(self.n_columns)}
        try:
            frame = self._read(piece.rows, types, kinds)
        except pl.exceptions.PolarsError:
            self._checked_rows(piece.data, piece.line)
            frame = self._read(piece.rows, dict.fromkeys(types, pl.String()), kinds)
        complain = partial(self._complain, piece)
        schema = frame.schema
        texts = {m: self._tidy(frame[str(m)], m, complain) for m in kinds if schema[str(m)] == pl.String}
        parsed = parse_numbers({m: own for m, own in texts.items() if kinds[m] == "number"}, complain, self.decimal)
        frame = frame.with_columns(**{str(m): own for m, own in texts.items()} | parsed)
        return Chunk(frame, piece.n_bytes, complain, partial(self._cell, piece))

    def _row(self, piece: _Piece, row: int) -> tuple[int, bytes]:
        return next(islice(iterate_rows(piece.data, self.layout.separator, self.layout.quoted), row, None))

    def _complain(self, piece: _Piece, row: int, column: int, problem: str) -> FileProblem:
        line = piece.line + self._row(piece, row)[0]
        return self.problem(problem, line=line, column=column + 1, name=self.layout.name(column))

    def _cell(self, piece: _Piece, row: int, column: int) -> str:
        return split_row(self._row(piece, row)[1], self.layout.separator, self.layout.quoted)[column]

    def _read(self, rows: bytes, types: dict[str, Any], kinds: dict[int, str]) -> pl.DataFrame:
        return pl.read_csv(
            rows,
            has_header=False,
            separator=self.layout.separator,
            quote_char='"' if self.layout.quoted and b'"' in rows else None,
            schema=types,
            columns=sorted(kinds),
            null_values=self._nulls or None,
            decimal_comma=self.decimal == ",",
        )

    def _tidy(self, column: pl.Series, m: int, complain: Complain) -> pl.Series:
        allowed = (self.layout.values or {}).get(m)
        tidy = tidy_text(column, self.layout.missing, allowed or frozenset())
        if tidy.null_count() > column.null_count():
            texts = column.filter(tidy.is_null() & (column != "")).unique().to_list()
            new = [text for text in texts if text not in self._declared | {*self._nulls}]
            self._nulls += new[: _MAX_NULL_TEXTS - len(self._nulls)]
        strange: Any = [] if allowed is None else (tidy.is_not_null() & ~tidy.is_in(list(allowed))).arg_true()
        if len(strange):
            row = int(strange[0])
            raise complain(row, m, f"{shown(tidy[row])} is not among the values declared for this attribute")
        return tidy

    # ------------------------------------------------------------------------------------------ checks

    def _checked(self, data: bytes, line: int) -> _Piece:
        """Return whole lines, first made sure to be text, and rows with as many cells as there are columns."""
        zero = data.find(b"\0")
        if zero >= 0:
            problem = "is not a text file in UTF-8: it has a zero byte"
            raise self.problem(problem, line=line + data.count(b"\n", 0, zero))
        if not data.isascii():
            decode(data, line, self.problem)
        layout = self.layout
        if layout.clean is not None:
            data = layout.clean(data, line)
        outside = None
        if layout.quoted and b'"' in data:
            self._check_quotes(data, line)
            outside = _outside_quotes(data)
        rows = data
        n_rows, n_separators = _count(data, _NEWLINE, outside), _count(data, ord(layout.separator), outside)
        if layout.n_columns == 1 or n_separators != n_rows * (layout.n_columns - 1):
            rows = b"".join(row + b"\n" for row in self._checked_rows(data, line))
        return _Piece(data, rows, line, self.source.n_bytes)

    def _checked_rows(self, data: bytes, line: int) -> list[bytes]:
        """Return the rows without blank lines; raise a `FileProblem` at the first with too few or too many cells."""
        layout, rows = self.layout, []
        for before, row in iterate_rows(data, layout.separator, layout.quoted):
            is_plain = not layout.quoted or b'"' not in row
            n_cells = (
                row.count(layout.separator.encode()) + 1 if is_plain else len(split_row(row, layout.separator, True))
            )
            if n_cells != layout.n_columns:
                raise self.problem(self._ragged(n_cells), line=line + before)
            rows.append(row)
        return rows

    def _ragged(self, n_cells: int) -> str:
        n_columns = self.layout.n_columns
        if self.names is None:
            return f"{n_cells} fields, but other lines have {n_columns}"
        hint = "; does a column of row names lack a name?" if n_cells == n_columns + 1 else ""
        return f"{n_cells} fields, but the header has {n_columns}{hint}"

    def _check_quotes(self, data: bytes, line: int) -> None:
        """Raise a `FileProblem` unless quotes stand around whole cells."""
        array = np.frombuffer(data, np.uint8)
        places = np.flatnonzero(array == _QUOTE)
        neighbours = [_NEWLINE, _QUOTE, ord(self.layout.separator)]
        opening, closing = places[::2], places[1::2]
        before = np.where(opening > 0, array[opening - 1], _NEWLINE)
        bad = np.concatenate([opening[~np.isin(before, neighbours)], closing[~np.isin(array[closing + 1], neighbours)]])
        if len(bad):
            problem, place = "a quote inside a field; put the field in quotes, and write the quote twice", bad.min()
        elif len(places) % 2:
            problem, place = "a quote opens here that nothing closes", places[-1]
        else:
            return
        raise self.problem(problem, line=line + data.count(b"\n", 0, int(place)))


def decode(data: bytes, line: int, problem: Callable[..., FileProblem]) -> str:
    """Return bytes as text; raise a `FileProblem` if they are not UTF-8. The first of them is in `line`."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line += data.count(b"\n", 0, error.start)
        advice = "save it as UTF-8, or say what it is with --encoding (files from Excel are often cp1252)"
        raise problem(f"is not UTF-8 here; {advice}", line=line) from None
