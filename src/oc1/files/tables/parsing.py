"""Text files in chunks: cut between rows, checked, and parsed by polars.

A piece of the text goes to polars as it is if it has as many separators and line ends as it should. Only if something
is off is it read row by row, to leave out blank lines or to find the cell to complain about.
"""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from io import StringIO
from itertools import islice
from queue import Empty, Queue
from threading import Event, Thread
from typing import Any, TypeVar

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

#: Rows whose quotes stand around whole cells.
_WELL_QUOTED = r'(?:(?:"(?:[^"]++|"")*+"|[^"{0}\n]*+)[{0}\n])*+'

csv.field_size_limit(max(csv.field_size_limit(), MAX_RECORD_BYTES))


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


def parse_numbers(
    columns: dict[int, pl.Series], missing: frozenset[str], complain: Complain, decimal: str | None = None
) -> dict[str, pl.Series]:
    """Return columns of text as numbers, by their names in a frame; raise `TextFound` for those that are none.

    Parameters
    ----------
    columns : dict of int to polars.Series
    missing : frozenset of str
        Texts that mean a missing value, in small letters.
    complain : callable
        As in `Chunk`.
    decimal : {".", ","}, optional
        The decimal sign, where the user can say what it is.
    """
    numbers, found = {}, {}
    for m, column in columns.items():
        bare = column.str.strip_chars()
        numbers[str(m)] = (_with_points(bare) if decimal == "," else bare).cast(pl.Float64, strict=False)
        lost = numbers[str(m)].is_null() & column.is_not_null()
        if words := [text for text in column.filter(lost).unique().to_list() if text.strip().lower() not in missing]:
            found[m] = int((lost & column.is_in(words)).arg_true()[0])
    if found:
        order = sorted(found, key=lambda m: (found[m], m))
        texts = {m: columns[m][found[m]].strip() for m in order}
        raise TextFound({m: complain(found[m], m, _not_a_number(texts[m], decimal)) for m in order})
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


def _not_a_number(text: str, decimal: str | None) -> str:
    hint = ""
    if decimal == "." and re.fullmatch(r"[+-]?\d+,\d+", text, re.ASCII):
        hint = "; use --decimal , for decimal commas"
    elif decimal == "," and re.fullmatch(r"[+-]?\d*\.\d+", text, re.ASCII):
        hint = " with a decimal comma; see --decimal"
    return f"{shown(text)} is not a number{hint}"


# ---------------------------------------------------------------------------------------------------- rows


def iterate_rows(text: str, separator: str, quoted: bool) -> Iterator[tuple[int, list[str]]]:
    r"""Yield the cells of the rows that are not blank, each with the number of lines before it.

    Examples
    --------
    >>> list(iterate_rows('1, 2\n \n"a ""b"", c",d\n', ",", True))
    [(0, ['1', ' 2']), (2, ['a "b", c', 'd'])]
    """
    rows = csv.reader(
        StringIO(text, newline="\n"), delimiter=separator, quoting=csv.QUOTE_MINIMAL if quoted else csv.QUOTE_NONE
    )
    line = 0
    for row in rows:
        if len(row) > 1 or (row and not row[0].isspace()):
            yield line, row
        line = rows.line_num


def last_row_end(data: bytes, quoted: bool) -> int:
    """Return where the last whole row ends, 0 if there is none; line ends inside quotes are none."""
    end = len(data)
    n_quotes = data.count(b'"') if quoted else 0
    while (start := data.rfind(b"\n", 0, end)) >= 0:
        if quoted:
            n_quotes -= data.count(b'"', start, end)
        if n_quotes % 2 == 0:
            return start + 1
        end = start
    return 0


def squeeze_blanks(data: bytes, line: int = 1) -> bytes:
    r"""Return lines in OC1's own format with a comma between two cells.

    Examples
    --------
    >>> squeeze_blanks(b" 1\t 2 , 3   a \n4,5,?,b\n")
    b'1,2,3,a\n4,5,?,b\n'
    """
    data = re.sub(rb"[ \t]*([,\n])[ \t]*", rb"\1", data).strip(b" \t")
    return re.sub(rb"[ \t]+", b",", data)


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
        separator = "\t" if format in ("tsv", "xlsx") else find_separator(head)
    if format in ("csv", "tsv"):
        decimal = decimal or find_decimal(head, separator)
    if not blocks.ended:  # the last line may be cut off
        head = head[: last_row_end(head, quoted)]
    rows = list(islice(iterate_rows(head.decode("utf-8", "replace"), separator, quoted), 100))
    if not rows:
        raise problem("is empty")
    first_line, first = rows[0]
    n_looked_at = max(3, 200_000 // len(first))  # fewer of very wide rows
    cells = [[cell.strip() for cell in row] for _, row in rows[:n_looked_at]]
    if header is None:
        header = has_header([list(map(with_point, row)) for row in cells] if decimal == "," else cells, missing)
    n_columns = len(first) if header else Counter(map(len, cells)).most_common(1)[0][0]
    if n_columns > MAX_COLUMNS:
        raise problem(f"has {n_columns:,} columns; the most that can be read are {MAX_COLUMNS:,}")
    names = checked_names(cells[0], problem, first_line + 1) if header else None
    line = 1
    if header:  # the place in the text as it was before cleaning, which leaves the number of lines alone
        line = (rows[1][0] if len(rows) > 1 else first_line + 1) + 1
        start = sum(len(before) + 1 for before in blocks.head.split(b"\n", line - 1)[: line - 1])
        decode(blocks.head[:start], 1, problem)
        blocks.head = blocks.head[start:]
    return Layout(separator, quoted, names, n_columns, line, missing, clean, decimal=decimal)


# ---------------------------------------------------------------------------------------------------- parsing


@dataclass(frozen=True)
class _Piece:
    """Whole lines of a file, the first of which has the number `line`."""

    data: bytes
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
        From the first row on.
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

    def no_rows(self) -> FileProblem:
        """Return the complaint about a file without rows."""
        return self.problem("has a header, but no rows" if self.names else "has no rows")

    def chunks(self, kinds: dict[int, str]) -> Iterator[Chunk]:
        """Yield the rows in chunks; `kinds` says "number" or "text" for each column that is wanted.

        The next piece is read and checked while one is parsed.
        """
        layout = self.layout
        for piece in prefetch(self._pieces()):
            frame = self._parse(piece, sorted(kinds))
            if frame.is_empty():
                continue
            complain = partial(self._complain, piece)
            columns = {m: frame[str(m)] for m in kinds}
            for m in columns:
                if kinds[m] == "text" or m in layout.values:
                    columns[m] = self._tidy(columns[m], m, complain)
            texts = {m: column for m, column in columns.items() if kinds[m] == "number"}
            numbers = parse_numbers(texts, layout.missing, complain, layout.decimal)
            frame = pl.DataFrame({str(m): column for m, column in columns.items()} | numbers)
            yield Chunk(frame, piece.n_bytes, complain, partial(self._cell, piece))

    def _pieces(self) -> Iterator[_Piece]:
        blocks, line, size, rest = self._blocks, self.layout.line, self._batch_bytes, b""
        while rest or not blocks.is_done:
            data = rest + blocks.take(size)
            end = len(data) if blocks.is_done else last_row_end(data, self.layout.quoted)
            data, rest = data[:end], data[end:]
            if data:
                size = self._batch_bytes
                yield self._checked(data if data.endswith(b"\n") else data + b"\n", line)
                line += data.count(b"\n")
            elif len(rest) > MAX_RECORD_BYTES:
                what = "quoted text or line" if self.layout.quoted else "line"
                raise self.problem(f"the {what} that begins here exceeds {MAX_RECORD_BYTES >> 20} MiB", line=line)
            else:
                size = max(size, len(rest))  # as much again

    def _checked(self, data: bytes, line: int) -> _Piece:
        """Return whole lines, made sure to be text with quotes around whole cells only."""
        zero = data.find(b"\0")
        if zero >= 0:
            problem = "is not a text file in UTF-8: it has a zero byte"
            raise self.problem(problem, line=line + data.count(b"\n", 0, zero))
        decode(data, line, self.problem)
        if self.layout.clean is not None:
            data = self.layout.clean(data, line)
        if self.layout.quoted and b'"' in data:
            match = re.match(_WELL_QUOTED.format(self.layout.separator).encode(), data)
            place = match.end() if match else 0
            if place < len(data):
                is_open = re.compile(rb'"(?:[^"]++|"")*+\Z').match(data, place)
                what = "a quote inside a field; put the field in quotes, and write the quote twice"
                problem = "a quote opens here that nothing closes" if is_open else what
                raise self.problem(problem, line=line + data.count(b"\n", 0, place))
        return _Piece(data, line, self.source.n_bytes)

    # ------------------------------------------------------------------------------------------ one piece

    def _parse(self, piece: _Piece, wanted: list[int]) -> pl.DataFrame:
        """Return the wanted columns of a piece as text."""
        data, n_columns, separator = piece.data, self.n_columns, self.layout.separator
        has_quotes = self.layout.quoted and b'"' in data
        bare = re.sub(rb'"[^"]*"', b"", data) if has_quotes else data
        schema = {str(m): pl.String() for m in range(n_columns)}
        if n_columns > 1 and bare.count(separator.encode()) == bare.count(b"\n") * (n_columns - 1):
            with suppress(pl.exceptions.PolarsError):  # a longer row beside a shorter one
                quote = '"' if has_quotes else None
                return pl.read_csv(
                    data, has_header=False, separator=separator, quote_char=quote, schema=schema, columns=wanted
                )
        rows = []
        for before, row in self._rows(piece):
            if len(row) != n_columns:
                raise self.problem(self._ragged(len(row)), line=piece.line + before)
            rows.append([row[m] for m in wanted])
        return pl.DataFrame(rows, schema={str(m): pl.String() for m in wanted}, orient="row")

    def _rows(self, piece: _Piece) -> Iterator[tuple[int, list[str]]]:
        return iterate_rows(piece.data.decode("utf-8"), self.layout.separator, self.layout.quoted)

    def _complain(self, piece: _Piece, row: int, column: int, problem: str) -> FileProblem:
        before, _ = next(islice(self._rows(piece), row, None))
        return self.problem(problem, line=piece.line + before, column=column + 1, name=self.layout.name(column))

    def _cell(self, piece: _Piece, row: int, column: int) -> str:
        return next(islice(self._rows(piece), row, None))[1][column].strip()

    def _tidy(self, column: pl.Series, m: int, complain: Complain) -> pl.Series:
        allowed = self.layout.values.get(m, frozenset())
        tidy = tidy_text(column, self.layout.missing, allowed)
        strange: Any = (tidy.is_not_null() & ~tidy.is_in(list(allowed))).arg_true() if allowed else ()
        if len(strange):
            row = int(strange[0])
            raise complain(row, m, f"{shown(tidy[row])} is not among the values declared for this attribute")
        return tidy

    def _ragged(self, n_cells: int) -> str:
        n_columns = self.layout.n_columns
        if self.names is None:
            return f"{n_cells} fields, but other lines have {n_columns}"
        hint = "; does a column of row names lack a name?" if n_cells == n_columns + 1 else ""
        return f"{n_cells} fields, but the header has {n_columns}{hint}"


def decode(data: bytes, line: int, problem: Callable[..., FileProblem]) -> str:
    """Return bytes as text; raise a `FileProblem` if they are not UTF-8. The first of them is in `line`."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line += data.count(b"\n", 0, error.start)
        advice = "save it as UTF-8, or say what it is with --encoding (files from Excel are often cp1252)"
        raise problem(f"is not UTF-8 here; {advice}", line=line) from None
