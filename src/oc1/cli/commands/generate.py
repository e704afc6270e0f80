"""``oc1 generate``: the paper's artificial data."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..options import OutputFile, Seed, choice
from ..screen import check_choice, check_output, note

if TYPE_CHECKING:
    import numpy as np

#: The number of classes of each data set.
SETS = {"ls10": 2, "pol": 2, "rcb": 8}
#: Formats that can be written.
FORMATS = ("csv", "tsv", "parquet", "arff", "oc1")


def generate(
    what: Annotated[str, typer.Argument()],
    out: OutputFile = None,
    n: Annotated[int, typer.Option("-n", "--examples", min=1, metavar="N")] = 2000,
    noise: Annotated[float, typer.Option(min=0.0, max=1.0, metavar="SHARE")] = 0.0,
    format: Annotated[str | None, choice(FORMATS, "--format")] = None,
    header: bool = True,
    seed: Seed = 0,
) -> None:
    """Generate artificial data: LS10, POL or RCB from the paper.

    Example: oc1 generate rcb -n 2000 --noise 0.05 -o rcb.csv

    Parameters
    ----------
    what : ls10|pol|rcb
        A data set of the paper.
    out : FILE
        (default: the name of the data set, with .csv)
    n : int
        Number of points.
    noise : float
        Fraction of the points that get a different class at random.
    format : NAME
        csv, tsv, parquet, arff, oc1 (default: from the file's name)
    header : bool
        Write a line of column names first (CSV, TSV).
    """
    check_choice("data set", what, SETS)
    out = Path(f"{what}.csv") if out is None else out
    if out != Path("-"):
        check_output(out)

    import numpy as np
    import polars as pl

    from ... import datasets
    from ...files.tables import RowWriter, write_table

    X, y = getattr(datasets, f"make_{what}")(n, random_state=seed)
    names = [f"x{m + 1}" for m in range(X.shape[1])]
    labels = 1 + with_noise(y - 1, SETS[what], noise, np.random.default_rng(seed))
    columns = dict(zip(names, X.T, strict=True)) | {"class": labels}
    if out == Path("-"):
        with RowWriter(None, format or "csv", header) as writer:
            writer.write(pl.DataFrame(columns))
        return
    write_table(out, columns, format, header=header)
    note(f"{n} examples, {len(names)} attributes, {SETS[what]} classes; written to {out}")


def with_noise(y: np.ndarray, n_classes: int, share: float, rng: np.random.Generator) -> np.ndarray:
    """Give exactly this share of the examples another class, each of the others equally likely."""
    y = y.copy()
    wrong = rng.choice(len(y), round(share * len(y)), replace=False)
    y[wrong] = (y[wrong] + rng.integers(1, n_classes, len(wrong))) % n_classes
    return y
