"""Files in parts. Text is cut between rows, checked and parsed by polars.

A piece is parsed as it is if a count of its separators and line ends agrees and polars has nothing against it. Only
when something is off it is gone through row by row, to leave out blank lines or to find the cell to complain about.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from queue import Empty, Queue
from threading import Event, Thread
from typing import TypeVar

import numpy as np
import polars as pl

from ..problems import FileProblem
from .sniffing import (
    LONGEST_RECORD,
    MISSING,
    MOST_COLUMNS,
    Layout,
    TextBlocks,
    checked_names,
    find_separator,
    has_header,
    is_number,
    shown,
)

Item = TypeVar("Item")

_NEWLINE, _QUOTE = ord("\n"), ord('"')
_QUOTED = re.compile(r'"([^"]*(?:""[^"]*)*)"')


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
class Part:
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
    complain: Callable[[int, int, str], FileProblem]
    cell: Callable[[int, int], str]


# ---------------------------------------------------------------------------------------------------- rows


def _outside_quotes(data: bytes) -> np.ndarray:
    quotes = np.frombuffer(data, np.uint8) == _QUOTE
    return (np.cumsum(quotes, dtype=np.uint8) & 1) == 0


def _count(data: bytes, byte: int, where: np.ndarray | None) -> int:
    """Return how often a byte occurs (at some places); in blocks that stay in the processor's cache.

    (`bytes.count` takes five times as long, and holds the lock of the interpreter.)
    """
    array, size, count = np.frombuffer(data, np.uint8), 1 << 18, 0
    for start in range(0, len(data), size):
        found = array[start : start + size] == byte
        if where is not None:
            found &= where[start : start + size]
        count += int(np.count_nonzero(found))
    return count


def _last_row_end(data: bytes) -> int:
    """Return where the last whole row ends, 0 if there is none; line ends inside quotes are none."""
    ends = np.flatnonzero((np.frombuffer(data, np.uint8) == _NEWLINE) & _outside_quotes(data))
    return int(ends[-1]) + 1 if len(ends) else 0


def iterate_rows(data: bytes, separator: str, quoted: bool) -> Iterator[tuple[int, bytes]]:
    """Yield the rows that are not blank, each with the number of lines before it."""
    blanks = b" " if separator == "\t" else b" \t"
    if not quoted or b'"' not in data:
        for line, row in enumerate(data.split(b"\n")):
            if row.strip(blanks):
                yield line, row
        return
    ends = np.flatnonzero((np.frombuffer(data, np.uint8) == _NEWLINE) & _outside_quotes(data)).tolist()
    start, line = 0, 0
    for end in [*ends, len(data)]:
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
    cells, start = [], 0
    while True:
        match = _QUOTED.match(text, start)
        if match and text[match.end() : match.end() + 1] in ("", separator):
            cells.append(match[1].replace('""', '"').strip())
            end = match.end()
        else:
            end = text.find(separator, start)
            end = len(text) if end < 0 else end
            cells.append(text[start:end].strip())
        if end >= len(text):
            return cells
        start = end + 1


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
    blocks: TextBlocks, format: str, header: bool | None, missing: frozenset[str], separator: str | None = None
) -> Layout:
    """Return how a file in CSV, TSV or OC1's format is written, from its first lines."""
    problem, head = blocks.source.problem, blocks.head
    clean = squeeze_blanks if format == "oc1" else None
    quoted = clean is None
    if clean is not None:
        head, separator, header = clean(head), ",", bool(header)
    if separator is None:
        separator = "\t" if format == "tsv" else find_separator(head)
    if not blocks.ended:  # the last line may be cut off
        head = head[: _last_row_end(head) if quoted else head.rfind(b"\n") + 1]
    rows: list[tuple[int, list[str]]] = []
    limit = 100
    for line, row in iterate_rows(head, separator, quoted):
        rows.append((line, split_row(row, separator, quoted)))
        limit = max(3, min(100, 200_000 // len(rows[0][1])))
        if len(rows) >= limit:
            break
    if not rows:
        raise problem("is empty")
    first_line, first = rows[0]
    cells = [row for _, row in rows]
    header = has_header(cells, missing) if header is None else header
    n_columns = len(first) if header else Counter(map(len, cells)).most_common(1)[0][0]
    if n_columns > MOST_COLUMNS:
        raise problem(f"has {n_columns:,} columns; the most that can be read are {MOST_COLUMNS:,}")
    names = checked_names(first, problem, first_line + 1) if header else None
    start, line = 0, 1
    if header:  # the place in the text as it was before cleaning, which leaves the number of lines alone
        line = (rows[1][0] if len(rows) > 1 else first_line + 1) + 1
        for _ in range(line - 1):
            end = blocks.head.find(b"\n", start) + 1
            start = end or len(blocks.head)
    return Layout(separator, quoted, names, n_columns, start, line, missing, clean)


# ---------------------------------------------------------------------------------------------------- parsing


@dataclass(frozen=True)
class _Piece:
    """Whole lines of a file, the first of which has the number `line`; `rows` are the same without blank lines."""

    data: bytes
    rows: bytes
    line: int
    n_bytes: int


def ahead(items: Iterator[Item], depth: int = 1) -> Iterator[Item]:
    """Yield what an iterator yields, while a thread already fetches the next `depth` items.

    Whoever stops early does not wait for the thread, which may itself be waiting for input that never comes.
    """
    fetched: Queue = Queue(maxsize=depth)
    unwanted = Event()

    def fetch() -> None:
        try:
            for item in items:
                fetched.put((item, None))
                if unwanted.is_set():
                    return
            fetched.put((None, StopIteration()))
        except BaseException as problem:
            fetched.put((None, problem))

    Thread(target=fetch, daemon=True).start()
    try:
        while True:
            item, problem = fetched.get()
            if isinstance(problem, StopIteration):
                return
            if problem is not None:
                raise problem
            yield item
    finally:
        unwanted.set()
        with suppress(Empty):
            while True:
                fetched.get_nowait()  # the thread may be waiting for room


class DelimitedReader:
    """A text file of rows and columns, in parts.

    Parameters
    ----------
    blocks : TextBlocks
    layout : Layout
    batch_bytes : int
        Roughly the size of a part.
    """

    def __init__(self, blocks: TextBlocks, layout: Layout, batch_bytes: int) -> None:
        self.source, self.layout = blocks.source, layout
        self.names, self.n_columns, self.text = layout.names, layout.n_columns, layout.text
        self.total = self.source.total
        self._blocks, self._batch_bytes = blocks, max(1, batch_bytes // layout.bulk)
        # Texts for missing values are given to polars only once they are met, since each one makes it slower.
        self._nulls: list[str] = []
        self._declared = frozenset().union(*(layout.values or {}).values())

    def problem(self, text: str, **place) -> FileProblem:
        """Return a complaint about this file."""
        return self.source.problem(text, **place)

    def parts(self, kinds: dict[int, str]) -> Iterator[Part]:
        """Yield the rows in parts; `kinds` says "number" or "text" for each column that is wanted.

        The next piece is read and checked while one is parsed.
        """
        for piece in ahead(self._pieces()):
            part = self._parse(piece, kinds)
            if part.frame.height:
                yield part

    def close(self) -> None:
        """Close the file."""
        self.source.close()

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
                if len(rest) > LONGEST_RECORD:
                    what = "a quoted text or a line" if self.layout.quoted else "a line"
                    raise self.problem(f"{what} begins here that is longer than {LONGEST_RECORD >> 20} MiB", line=line)
                size = max(size, len(rest))  # as much again
                continue
            size = self._batch_bytes
            yield self._checked(data if data.endswith(b"\n") else data + b"\n", line)
            line += _count(data, _NEWLINE, None)

    def _next_rows(self, rest: bytes, block: bytes, is_last: bool) -> tuple[bytes, bytes]:
        """Return the rows that are whole, and what is left; large blocks are copied as seldom as can be."""
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

    def _parse(self, piece: _Piece, kinds: dict[int, str]) -> Part:
        data = piece.rows
        if not data:
            return self._part(pl.DataFrame(), piece)
        types = {str(m): pl.Float64 if kinds.get(m) == "number" else pl.String for m in range(self.n_columns)}
        try:
            frame = self._read(data, types, sorted(kinds))
        except pl.exceptions.PolarsError:
            self._check_rows(data, piece.line)
            frame = self._read(data, dict.fromkeys(types, pl.String), sorted(kinds))
        frame = frame.select(str(m) for m in kinds)
        part = self._part(frame, piece)
        texts = {
            name: self._tidy(frame[name], int(name), part) for name, type in frame.schema.items() if type == pl.String
        }
        found = {}
        for name, column in texts.items():
            if kinds[int(name)] == "number":
                numbers = column.cast(pl.Float64, strict=False)
                bad = (numbers.is_null() & column.is_not_null()).arg_true()
                if len(bad):
                    found[int(name)] = (int(bad[0]), column[int(bad[0])])
                texts[name] = numbers
        if found:
            order = sorted(found, key=lambda m: (found[m][0], m))
            if self.layout.typed:
                raise part.complain(found[order[0]][0], order[0], not_a_number(found[order[0]][1]))
            raise TextFound({m: part.complain(found[m][0], m, not_a_number(found[m][1])) for m in order})
        return self._part(frame.with_columns(**texts), piece) if texts else part

    def _part(self, frame: pl.DataFrame, piece: _Piece) -> Part:
        separator, quoted = self.layout.separator, self.layout.quoted

        def place(row: int) -> tuple[int, bytes]:
            return next(islice(iterate_rows(piece.data, separator, quoted), row, None))

        def complain(row: int, column: int, problem: str) -> FileProblem:
            line = piece.line + place(row)[0]
            return self.problem(problem, line=line, column=column + 1, name=self.layout.name(column))

        def cell(row: int, column: int) -> str:
            return split_row(place(row)[1], separator, quoted)[column]

        return Part(frame, piece.n_bytes, complain, cell)

    def _read(self, data: bytes, types: dict, columns: list[int]) -> pl.DataFrame:
        quote = '"' if self.layout.quoted and b'"' in data else None
        return pl.read_csv(
            data,
            has_header=False,
            separator=self.layout.separator,
            quote_char=quote,
            schema=types,
            columns=columns,
            null_values=self._nulls or None,
        )

    def _tidy(self, column: pl.Series, m: int, part: Part) -> pl.Series:
        """Return a column of text without blanks around it, and null where it is missing."""
        changes: dict[str, str | None] = {}
        allowed = (self.layout.values or {}).get(m)
        for text in column.unique().to_list():
            if text is not None:
                bare = text.strip()
                new = None if bare.lower() in self.layout.missing and bare not in (allowed or ()) else bare
                if new is not None and allowed is not None and new not in allowed:
                    row = int((column == text).arg_true()[0])
                    raise part.complain(row, m, f"{shown(new)} is not among the values declared for this attribute")
                if new != text:
                    changes[text] = new
                if new is None and text and len(self._nulls) < 4 and text not in self._declared | {*self._nulls}:
                    self._nulls.append(text)
        return column.replace(list(changes), list(changes.values())) if changes else column

    # ------------------------------------------------------------------------------------------ checks

    def _checked(self, data: bytes, line: int) -> _Piece:
        self._check_characters(data, line)
        if self.layout.clean is not None:
            data = self.layout.clean(data, line)
        return _Piece(data, self._straightened(data, line), line, self.source.n_bytes)

    def _check_characters(self, data: bytes, line: int) -> None:
        place = data.find(b"\0")
        if place >= 0:
            raise self.problem("is no text file in UTF-8: it has a zero byte", line=line + data.count(b"\n", 0, place))
        if not data.isascii():
            try:
                data.decode("utf-8")
            except UnicodeDecodeError as error:
                line += data.count(b"\n", 0, error.start)
                raise self.problem("is not UTF-8 here; save it as UTF-8", line=line) from None

    def _straightened(self, data: bytes, line: int) -> bytes:
        """Return the rows without blank lines between them, if each has as many cells as there are columns."""
        layout = self.layout
        outside = None
        if layout.quoted and b'"' in data:
            self._check_quotes(data, line)
            outside = _outside_quotes(data)
        n_rows, n_separators = _count(data, _NEWLINE, outside), _count(data, ord(layout.separator), outside)
        if layout.n_columns > 1 and n_separators == n_rows * (layout.n_columns - 1):
            return data
        self._check_rows(data, line)
        rows = [row for _, row in iterate_rows(data, layout.separator, layout.quoted)]
        return b"\n".join(rows) + b"\n" if rows else b""

    def _check_rows(self, data: bytes, line: int) -> None:
        """Raise a `FileProblem` at the first row with too few or too many cells."""
        layout = self.layout
        separator = layout.separator.encode()
        for before, row in iterate_rows(data, layout.separator, layout.quoted):
            if layout.quoted and b'"' in row:
                n_cells = len(split_row(row, layout.separator, True))
            else:
                n_cells = row.count(separator) + 1
            if n_cells != layout.n_columns:
                raise self.problem(self._ragged(n_cells), line=line + before)

    def _ragged(self, n_cells: int) -> str:
        n_columns = self.layout.n_columns
        if self.names is None:
            return f"{n_cells} fields, but other lines have {n_columns}"
        hint = "; has a column of row names no name?" if n_cells == n_columns + 1 else ""
        return f"{n_cells} fields, but the header has {n_columns}{hint}"

    def _check_quotes(self, data: bytes, line: int) -> None:
        """Raise a `FileProblem` unless quotes stand around whole cells."""
        array = np.frombuffer(data, np.uint8)
        places = np.flatnonzero(array == _QUOTE)
        fine = np.zeros(256, dtype=bool)
        fine[[_NEWLINE, _QUOTE, ord(self.layout.separator)]] = True
        opening, closing = places[::2], places[1::2]
        before = np.where(opening > 0, array[opening - 1], _NEWLINE)
        bad = np.concatenate([opening[~fine[before]], closing[~fine[array[closing + 1]]]])
        if len(bad):
            problem, place = (
                "a quote inside a field; put the field in quotes, and write the quote twice",
                int(bad.min()),
            )
        elif len(places) % 2:
            problem, place = "a quote opens here that nothing closes", int(places[-1])
        else:
            return
        raise self.problem(problem, line=line + data.count(b"\n", 0, place))


def not_a_number(text: str) -> str:
    """Return the complaint about text in a column of numbers."""
    hint = "; write decimals with a point" if re.fullmatch(r"[+-]?\d+,\d+", text, re.ASCII) else ""
    return f"{shown(text)} is not a number{hint}"


def not_finite(text: str) -> str:
    """Return the complaint about a number that is not finite."""
    too_large = is_number(text) and "inf" not in text.lower()
    return f"{shown(text)} is {'too large a' if too_large else 'not a finite'} number"


def missing_markers(further: tuple[str, ...]) -> frozenset[str]:
    """Return all texts that mean a missing value, in small letters."""
    return MISSING | {text.strip().lower() for text in further}
