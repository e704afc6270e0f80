"""Spreadsheets: a sheet made into the text of a TSV file, which is then read like any other."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import polars as pl

from ..problems import FileProblem
from .apart import run_apart

#: Bytes that reading a sheet may take, besides a hundred times the size of the file. A sheet with one cell in its far
#: corner would take half a terabyte.
MAX_MEMORY = 4 << 30


def sheet_as_text(content: bytes, problem: Callable[..., FileProblem]) -> bytes:
    """Return the first sheet of a workbook as lines of cells with tabs between them, a line for each row.

    Parameters
    ----------
    content : bytes
        Of an .xlsx, .xlsm, .xlsb, .xls or .ods file.
    problem : callable
        Makes the complaint about this file.
    """
    done = run_apart(f"{__name__}:main", str(MAX_MEMORY + 100 * len(content)), content=content)
    if done.returncode not in (0, 1):
        raise problem("cannot be read as a spreadsheet: it is damaged, or its sheet is too large")
    if done.returncode == 1:
        raise problem(done.stderr.decode("utf-8", "replace").strip().rpartition("\n")[2])
    return done.stdout


def main(max_memory: str) -> None:
    """Make text of the workbook that comes from standard input."""
    with suppress(ImportError, OSError, ValueError):  # Windows has no limits, and the user's may be lower
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (int(max_memory), resource.getrlimit(resource.RLIMIT_AS)[1]))
    try:
        import fastexcel
    except ImportError:
        sys.exit("is a spreadsheet, which takes fastexcel to read: pip install fastexcel")
    try:
        book = fastexcel.read_excel(sys.stdin.buffer.read())
        options: dict[str, Any] = {"header_row": None, "skip_rows": 0, "dtype_coercion": "coerce"}
        texts, numbers = (book.load_sheet(0, dtypes=kind, **options).to_polars() for kind in ("string", "float"))
    except (fastexcel.FastExcelError, pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        reason = str(error).strip().split("\n")[0]
        sys.exit(f"cannot be read as a spreadsheet: {reason}")
    if texts.is_empty():
        sys.exit("the first sheet is empty")
    rows = pl.DataFrame([_written(*pair).alias(str(m)) for m, pair in enumerate(zip(texts, numbers, strict=True))])
    line = pl.concat_str(pl.all().fill_null(""), separator="\t")
    is_blank = pl.all_horizontal(pl.all().is_null())  # a blank line is no row
    lines = rows.select(pl.when(is_blank).then(pl.lit("")).otherwise(line)).to_series()
    sys.stdout.buffer.write("\n".join(lines).encode())


def _written(texts: pl.Series, numbers: pl.Series) -> pl.Series:
    """Return the cells of a column as they stand in a line, from what they are as text and as numbers.

    As text, numbers are rounded to nine digits after the point, so these are written anew.
    """
    frame = pl.DataFrame([texts.alias("text"), numbers.alias("number")])
    text = pl.col("text").str.replace_all(r"[\t\r\n]", " ")
    is_rounded = pl.col("text").cast(pl.Float64, strict=False) != pl.col("number")  # null where one is no number
    has_quotes = text.str.contains('"', literal=True)
    quoted = pl.concat_str(pl.lit('"'), text.str.replace_all('"', '""', literal=True), pl.lit('"'))
    exact = pl.col("number").cast(pl.String)
    return frame.select(pl.when(is_rounded).then(exact).when(has_quotes).then(quoted).otherwise(text)).to_series()
