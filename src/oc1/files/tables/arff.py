"""ARFF files: their declarations, and their rows made into rows of CSV."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial

from ..problems import FileProblem
from .parsing import decode
from .sniffing import MAX_COLUMNS, MAX_RECORD_BYTES, Layout, TextBlocks, checked_names, is_number, shown

_WORD = r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|[^\s,'"{}%]+"""
_ATTRIBUTE = re.compile(rf"@attribute\s+({_WORD})\s*(.*)", re.IGNORECASE)
_CELL = re.compile(r"""(?:\s*('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")\s*|([^,'"{}%]*))(?:(,)|%.*$|$)""")
_ESCAPED = re.compile(r"\\(.)")
#: What makes a row more than numbers and words with commas between them.
_SPECIAL = re.compile(rb"['\"{}%\\]")
_NUMERIC = ("numeric", "real", "integer")


def read_declarations(blocks: TextBlocks, missing: frozenset[str]) -> Layout:
    """Return the layout of an ARFF file from what comes before its rows.

    Parameters
    ----------
    blocks : TextBlocks
    missing : frozenset of str
        Texts that mean a missing value, in small letters.
    """
    problem = blocks.source.problem
    found = None
    while (found := re.search(rb"^[ \t]*@data\b[^\n]*(\n|\Z)", blocks.head, re.IGNORECASE | re.MULTILINE)) is None:
        if blocks.ended or len(blocks.head) > MAX_RECORD_BYTES:
            raise problem("has no @data line, as an ARFF file must" if blocks.head.strip() else "is empty")
        blocks.head += blocks.read(max(len(blocks.head), 1 << 20))
    names, values = [], []
    for line, row in enumerate(decode(blocks.head[: found.start()], 1, problem).split("\n"), start=1):
        row = row.strip()
        if not row or row.startswith("%") or row.lower().startswith("@relation"):
            continue
        name, allowed = _attribute(row, partial(problem, line=line))
        names.append(name)
        values.append(allowed)
    if not names:
        raise problem("declares no attributes")
    if len(names) > MAX_COLUMNS:
        raise problem(f"has {len(names):,} columns; the most that can be read are {MAX_COLUMNS:,}")
    line = blocks.head.count(b"\n", 0, found.end()) + 1
    blocks.head = blocks.head[found.end() :]
    return Layout(
        separator=",",
        quoted=True,
        names=checked_names(names, problem),
        n_columns=len(names),
        line=line,
        missing=missing,
        clean=partial(_as_csv, problem),
        text=frozenset(m for m, allowed in enumerate(values) if _is_text(allowed)),
        values={m: frozenset(allowed) for m, allowed in enumerate(values) if allowed},
        is_typed=True,
    )


def _is_text(allowed: tuple[str, ...] | None) -> bool:
    """Return whether an attribute is text: a string, or nominal with values that are not all numbers."""
    return allowed is not None and not (allowed and all(map(is_number, allowed)))


def _attribute(row: str, problem: Callable[..., FileProblem]) -> tuple[str, tuple[str, ...] | None]:
    """Return name and values of one declaration: () for any text, None for numbers."""
    match = _ATTRIBUTE.fullmatch(row)
    if match is None:
        raise problem(f"{shown(row)} does not declare an attribute")
    name, type = _bare(match[1]), match[2].strip()
    word = type.split("%")[0].strip().lower()
    if word in _NUMERIC:
        return name, None
    if word == "string":
        return name, ()
    if type.startswith("{"):
        close = type.rfind("}")
        cells = _cells(type[1:close]) if close > 0 else None
        if cells is None:
            raise problem(f"the values of attribute {shown(name)} are not written as {{a, b, c}}")
        return name, tuple(cells)
    raise problem(f"attribute {shown(name)} has the type {shown(word)}; use numeric, string or {{a, b, c}}")


def _bare(word: str) -> str:
    if word[:1] in ("'", '"'):
        return _ESCAPED.sub(r"\1", word[1:-1]).strip()
    return word.strip()


def _cells(text: str) -> list[str] | None:
    r"""Return the cells of a row, None if it is not well written.

    Examples
    --------
    >>> _cells(r"1, 'it\'s', b % a comment")
    ['1', "it's", 'b']
    """
    cells, start = [], 0
    while True:
        match = _CELL.match(text, start)
        if match is None:
            return None
        cells.append(_bare(match[1] or match[2]))
        if not match[3]:
            return cells
        start = match.end()


def _as_csv(problem: Callable[..., FileProblem], data: bytes, line: int) -> bytes:
    """Return rows of ARFF as rows of CSV, as many as before: commas between cells, ``"`` around them where needed."""
    if not _SPECIAL.search(data):
        return data
    rows = []
    for number, row in enumerate(map(str.strip, data.decode("utf-8").split("\n")), start=line):
        if row.startswith("{"):
            raise problem("sparse rows, in braces, cannot be read; write all values of each row", line=number)
        cells = [] if not row or row.startswith("%") else _cells(row)
        if cells is None:
            raise problem(f"{shown(row)} is malformed: check its quotes and braces", line=number)
        rows.append(",".join(map(_quoted, cells)))
    return "\n".join(rows).encode()


def _quoted(cell: str) -> str:
    return '"' + cell.replace('"', '""') + '"' if any(mark in cell for mark in ',"\n') or not cell else cell
