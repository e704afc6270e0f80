"""Spreadsheets: a sheet made into the text of a TSV file, which is then read like any other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import polars as pl

from ..problems import FileProblem


def sheet_as_text(content: bytes, problem: Callable[..., FileProblem]) -> bytes:
    """Return the first sheet of a workbook as lines of cells with tabs between them, a line for each row.

    Parameters
    ----------
    content : bytes
        Of an .xlsx, .xlsm, .xlsb, .xls or .ods file.
    problem : callable
        Makes the complaint about this file.
    """
    try:
        import fastexcel
    except ImportError:
        raise problem("is a spreadsheet, which takes fastexcel to read: pip install fastexcel") from None
    try:
        book = fastexcel.read_excel(content)

        def cells(type: Literal["string", "float"]) -> pl.DataFrame:
            sheet = book.load_sheet(0, header_row=None, skip_rows=0, dtypes=type, dtype_coercion="coerce")
            return sheet.to_polars()

        texts, numbers = cells("string"), cells("float")
    except (fastexcel.FastExcelError, pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        reason = str(error).strip().split("\n")[0]
        raise problem(f"cannot be read as a spreadsheet: {reason}") from None
    if texts.is_empty():
        raise problem("the first sheet is empty")
    rows = pl.DataFrame([_written(*pair).alias(str(m)) for m, pair in enumerate(zip(texts, numbers, strict=True))])
    line = pl.concat_str(pl.all().fill_null(""), separator="\t")
    is_blank = pl.all_horizontal(pl.all().is_null())  # a blank line is no row
    lines = rows.select(pl.when(is_blank).then(pl.lit("")).otherwise(line)).to_series()
    return "\n".join(lines).encode()


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
