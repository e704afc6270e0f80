"""Finding out how data files are laid out: format, separator, decimal sign, header."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePath

from ..problems import FilePath, FileProblem
from ..source import ByteSource

#: Texts that mean a missing value, in small letters.
MISSING_MARKERS = frozenset({"", "?", "na", "n/a", "nan", "null", "none"})
#: By format, the endings of names.
ENDINGS = {
    "csv": (".csv",),
    "tsv": (".tsv", ".tab"),
    "parquet": (".parquet", ".pq"),
    "feather": (".feather", ".arrow", ".ipc"),
    "xlsx": (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods"),
    "arff": (".arff",),
    "oc1": (".data", ".dat", ".oc1"),
}
#: Bytes at the start of a file that are looked at.
HEAD_BYTES = 1 << 20
#: No line (or quoted text of several lines) may be longer, so that a damaged file cannot fill the memory.
MAX_RECORD_BYTES = 64 << 20
MAX_COLUMNS = 100_000

_NOT_TEXT = {
    b"\xff\xfe": "is written in UTF-16; save it as UTF-8, or use --encoding utf-16",
    b"\xfe\xff": "is written in UTF-16; save it as UTF-8, or use --encoding utf-16",
    b"PK\x03\x04": "is a zip archive or a spreadsheet; a spreadsheet has a name that ends in .xlsx, or --format xlsx",
    b"PAR1": "is a Parquet file, not text: use --format parquet, and unpack it if it is compressed by gzip",
    b"ARROW1": "is a Feather file, not text: use --format feather, and unpack it if it is compressed by gzip",
}
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|[+-]?(inf|infinity)", re.IGNORECASE | re.ASCII)


def shown(text: str) -> str:
    """Return a user's text as it may stand in a message: quoted, short, without control characters."""
    return repr(text if len(text) <= 60 else text[:59] + "…")


def shown_name(name: str | None) -> str | None:
    """Return a column's name as it may stand in a message, without quotes."""
    return None if name is None else shown(name)[1:-1]


def listed(names: Sequence[str], limit: int = 6) -> str:
    """Return the first few names as they may stand in a message."""
    texts = [shown(name) for name in names[:limit]]
    n_more = len(names) - limit
    return ", ".join(texts) + (f" and {n_more} other{'s' * (n_more > 1)}" if n_more > 0 else "")


def is_number(text: str) -> bool:
    """Return whether a cell is written as a number (also an infinite one)."""
    return _NUMBER.fullmatch(text) is not None


def whole_number(text: str) -> int | None:
    """Return the whole number that a text stands for, if any: "1" and "1.0", not "1.5", nor "01", which is a code."""
    if not is_number(text) or re.match(r"[+-]?0\d", text):
        return None
    if re.fullmatch(r"[+-]?\d{1,18}", text, re.ASCII):
        return int(text)
    number = float(text)
    return int(number) if number.is_integer() and abs(number) <= 2**53 else None


#: A number as written where the comma is the decimal sign: points may separate groups of three digits.
_COMMA_NUMBER = re.compile(r"[+-]?([1-9]\d{0,2}(\.\d{3})+(,\d*)?|\d+,\d*|,\d+)([eE][+-]?\d+)?", re.ASCII)
_POINT_DECIMALS = rb"(?![1-9]\d{0,2}(?:\.\d{3})+(?:[^\d.]|$))\d*\.\d+(?:[eE][+-]?\d+)?"
_COMMA_DECIMALS = rb"(?:[1-9]\d{0,2}(?:\.\d{3})+|\d*),\d+(?:[eE][+-]?\d+)?"


def with_point(text: str) -> str:
    """Return a number that has a decimal comma with a point instead, any other text as it is.

    Examples
    --------
    >>> with_point("1.234,5"), with_point("1.234"), with_point("a,5")
    ('1234.5', '1234', 'a,5')
    """
    return text.replace(".", "").replace(",", ".") if _COMMA_NUMBER.fullmatch(text) else text


# ---------------------------------------------------------------------------------------------------- text


class TextBlocks:
    """The text of a file in blocks of bytes, with line feeds as the only line ends, and no byte-order mark."""

    def __init__(self, source: ByteSource) -> None:
        self.source, self.ended = source, False
        self.head = self.read(HEAD_BYTES)
        if self.head.startswith(b"\xef\xbb\xbf"):
            self.head = self.head[3:]
        while not self.ended and self.head.count(b"\n") < 2:  # enough for a header and a row
            self.head += self.read(HEAD_BYTES)
            if len(self.head) > MAX_RECORD_BYTES:
                raise source.problem(f"the first line is longer than {MAX_RECORD_BYTES >> 20} MiB", line=1)
        self._refuse_binary()

    def read(self, size: int) -> bytes:
        """Return about `size` bytes more, nothing at the end."""
        if self.ended:
            return b""
        block = self.source.read(size)
        self.ended = len(block) < size
        if b"\r" not in block:
            return block
        while block.endswith(b"\r"):  # its \n may be the first byte of the next block
            more = self.source.read(1)
            block += more
            if not more:
                break
        return block.replace(b"\r\n", b"\n").replace(b"\r", b"\n")

    @property
    def is_done(self) -> bool:
        """Whether nothing is left to take."""
        return self.ended and not self.head

    def take(self, size: int) -> bytes:
        """Return about `size` bytes of what is left, those of the head first."""
        block, self.head = self.head[:size], self.head[size:]
        return block if len(block) == size else block + self.read(size - len(block))

    def _refuse_binary(self) -> None:
        head, problem = self.head, self.source.problem
        for start, what in _NOT_TEXT.items():
            if head.startswith(start):
                raise problem(what)
        if head.lstrip().startswith(b"{") and b'"oc1 model"' in head[:200]:
            raise problem("is a model, not data")
        if b"\0" in head:
            line = head.count(b"\n", 0, head.index(b"\0")) + 1
            raise problem("is not a text file in UTF-8: it has a zero byte", line=line)
        if self.ended and not head.strip():
            raise problem("is empty")


# ---------------------------------------------------------------------------------------------------- formats


def find_format(path: FilePath, head: bytes) -> str:
    """Return the format of a file by its name's ending, or else by its first bytes.

    Examples
    --------
    >>> find_format("iris.csv.gz", b""), find_format("iris", b"5.1 3.5 setosa")
    ('csv', 'oc1')
    """
    name = PurePath(os.fspath(path)).name.lower()
    suffix = PurePath(name.removesuffix(".gz")).suffix
    by_name = next((format for format, endings in ENDINGS.items() if suffix in endings), None)
    if by_name not in (None, "oc1"):
        return str(by_name)
    for start, format in ((b"PAR1", "parquet"), (b"ARROW1", "feather")):
        if head.startswith(start):
            return format
    if re.search(rb"^\s*(%[^\n]*\n\s*)*@relation\b", head[:HEAD_BYTES], re.IGNORECASE):
        return "arff"
    lines = _first_lines(head)
    if b'"' in head or any(b";" in line for line in lines[:1]):
        return "csv"
    if by_name == "oc1":
        return "oc1"
    separator = find_separator(head)
    cells = [cell.strip() for line in lines for cell in line.decode("utf-8", "replace").split(separator)]
    n_first = lines[0].count(separator.encode()) + 1 if lines else 0
    if (
        separator == "\t"
        and find_decimal(head, separator) == ","
        and not any(is_number(with_point(cell)) for cell in cells[:n_first])
    ):
        return "tsv"  # a header, and decimal commas: OC1's own format has neither
    several = any(len(parts := re.split(r"[ \t,]+", cell)) > 1 and all(map(is_number, parts)) for cell in cells)
    if several or not any(separator.encode() in line for line in lines):
        return "oc1"
    return "tsv" if separator == "\t" else "csv"


def _first_lines(head: bytes, limit: int = 100) -> list[bytes]:
    """Return the first lines that are not blank, without what stands in quotes."""
    lines = re.sub(rb'"[^"]*"', b"q", head[:HEAD_BYTES]).split(b"\n")[: limit + 20]
    whole = lines[:-1] or lines
    return [line for line in whole if line.strip()][:limit]


def find_separator(head: bytes) -> str:
    """Return which of semicolon, tab and comma most lines have as often as the first one.

    Examples
    --------
    >>> find_separator(b"1,5;2,5;a")
    ';'
    """
    lines = _first_lines(head)
    best, best_share = ",", 0.0
    for separator in (";", "\t", ","):
        counts = [line.count(separator.encode()) for line in lines]
        share = sum(count == counts[0] for count in counts) / len(counts) if counts and counts[0] else 0.0
        if share > best_share:
            best, best_share = separator, share
    return best


def find_decimal(head: bytes, separator: str) -> str:
    r"""Return the decimal sign: a comma if numbers are written with one and none with a point, else a point.

    Where commas separate cells, they are never taken for decimal signs. A point before three digits may separate
    thousands, and decides nothing.

    Examples
    --------
    >>> find_decimal(b"1,5;a\n1.000;b", ";"), find_decimal(b"1,5;2.5", ";"), find_decimal(b"1,5", ",")
    (',', '.', '.')
    """
    if separator == ",":
        return "."
    edge = re.escape(separator.encode())

    def has_cell(number: bytes) -> bool:
        cell = rb'(?:^|[\n%b]) *"?[+-]?%b"? *(?:[\n%b]|$)' % (edge, number, edge)
        return re.search(cell, head[:HEAD_BYTES]) is not None

    return "," if has_cell(_COMMA_DECIMALS) and not has_cell(_POINT_DECIMALS) else "."


def has_header(rows: list[list[str]], missing: frozenset[str]) -> bool:
    """Return whether the first row holds names.

    It does if all its cells are text (neither a number nor a missing value), or if there is text above a column of
    numbers. A table of nothing but text is therefore taken to have a header.

    Examples
    --------
    >>> has_header([["5.1", "setosa"], ["4.9", "setosa"]], MISSING_MARKERS)
    False
    """

    def is_text(cell: str) -> bool:
        return cell.lower() not in missing and not is_number(cell)

    first, *others = rows
    if all(map(is_text, first)):
        return True
    if others and len(first) != Counter(map(len, others)).most_common(1)[0][0]:
        return False
    for column, cell in enumerate(first):
        if is_text(cell):
            below = [row[column] for row in others if column < len(row) and row[column].lower() not in missing]
            if below and all(map(is_number, below)):
                return True
    return False


@dataclass(frozen=True)
class Layout:
    """How the rows of a text file are written.

    Parameters
    ----------
    separator : str
        One character.
    quoted : bool
        Whether ``"`` may enclose a cell.
    names : tuple of str or None
    n_columns : int
    line : int
        The number of the line where the rows begin, from 1.
    missing : frozenset of str
        In small letters.
    clean : callable (bytes, line) -> bytes, optional
        Makes the lines of another format into lines of cells, as many as before.
    text : frozenset of int
        Columns known to hold text.
    values : dict of int to frozenset of str
        For some columns, the only texts there may be.
    is_typed : bool
        Whether the file says which columns hold text, so that the others must not.
    decimal : {".", ","}, optional
        The decimal sign of numbers. None where the format has decimal points only.
    """

    separator: str
    quoted: bool
    names: tuple[str, ...] | None
    n_columns: int
    line: int
    missing: frozenset[str] = MISSING_MARKERS
    clean: Callable[[bytes, int], bytes] | None = None
    text: frozenset[int] = frozenset()
    values: Mapping[int, frozenset[str]] = field(default_factory=dict)
    is_typed: bool = False
    decimal: str | None = None

    def name(self, column: int) -> str | None:
        """Return what a column is called, as it may stand in a message."""
        return None if self.names is None else shown_name(self.names[column])


def checked_names(names: list[str], problem: Callable[..., FileProblem], line: int | None = None) -> tuple[str, ...]:
    """Return column names, with one made up where it is empty; refuse the same name twice."""
    named = [name or f"column_{m + 1}" for m, name in enumerate(names)]
    if len(set(named)) < len(named):
        twice = next(name for name, count in Counter(named).items() if count > 1)
        where = [m + 1 for m, name in enumerate(named) if name == twice]
        raise problem(f"two columns, {where[0]} and {where[1]}, have the name {shown(twice)}", line=line)
    return tuple(named)
