"""``oc1 generate``: the paper's artificial data, or points labelled by a model."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..options import OutputFile, Seed, choice, completing
from ..screen import UsageError, check_output, note

if TYPE_CHECKING:
    import numpy as np

#: Points, their classes by index, the classes, and what the columns are called.
Points = tuple["np.ndarray", "np.ndarray", "np.ndarray", list[str], str]
SETS = ("ls10", "pol", "rcb")
#: Formats that can be written.
FORMATS = ("csv", "tsv", "parquet", "arff", "oc1")
#: Largest bound of a range to draw from: the difference of two bounds must be finite, too.
MAX_BOUND = 1e300


def generate(
    what: Annotated[str, typer.Argument(autocompletion=completing(SETS))],
    out: OutputFile = None,
    n: Annotated[int, typer.Option("-n", "--examples", min=1)] = 2000,
    noise: Annotated[float, typer.Option(min=0.0, max=1.0)] = 0.0,
    low: float | None = None,
    high: float | None = None,
    format: Annotated[str | None, choice(FORMATS, "--format")] = None,
    header: bool = True,
    seed: Seed = 0,
) -> None:
    """Generate artificial data: LS10, POL or RCB from the paper, or random points labelled by a model.

    Examples: oc1 generate rcb -n 2000 -o rcb.csv; oc1 generate iris.json -n 500 --noise 0.05 -o flowers.csv

    Parameters
    ----------
    what : ls10|pol|rcb|MODEL
        A data set of the paper, or a model file that labels random points.
    out : FILE
        (default: the name of the data set, with .csv)
    n : int
        Number of points.
    noise : float
        Fraction of the points that get a different class at random.
    low : float
        Smallest value of the attributes (default: 0, or as in the training data).
    high : float
        Largest value of the attributes (default: 1, or as in the training data).
    format : csv|tsv|parquet|arff|oc1
        (default: from the file's name)
    header : bool
        Write a line of column names first (CSV, TSV).
    """
    is_model = what not in SETS
    if is_model and not Path(what).suffix and not Path(what).exists():
        raise UsageError(f"{what!r} is neither one of {', '.join(SETS)} nor a model file")
    if is_model and out is None:
        raise UsageError("give --output: there is no default name for points labelled by a model")
    if not is_model and (low is not None or high is not None):
        raise UsageError(f"--low and --high are for models: the points of {what} lie between 0 and 1")
    for option, value in (("--low", low), ("--high", high)):
        if value is not None and not abs(value) <= MAX_BOUND:
            raise UsageError(f"{option} {value:g} is too large, or not a number")
    out = Path(f"{what}.csv") if out is None else out
    if out != Path("-"):
        check_output(out, what if is_model else None)

    import numpy as np
    import polars as pl

    from ...files.tables import RowWriter, write_table

    rng = np.random.default_rng(seed)
    X, y, classes, names, target = _from_model(what, n, low, high, rng) if is_model else _from_paper(what, n, seed)
    columns = dict(zip(names, X.T, strict=True)) | {target: classes[with_noise(y, len(classes), noise, rng)]}
    if out == Path("-"):
        with RowWriter(None, format or "csv", header) as writer:
            writer.write(pl.DataFrame(columns))
        return
    write_table(out, columns, format, header=header)
    note(f"{n} examples, {len(names)} attributes, {len(classes)} classes; written to {out}")


def _from_paper(what: str, n: int, seed: int) -> Points:
    """Return a data set of the paper."""
    import numpy as np

    from ... import datasets

    X, labels = getattr(datasets, f"make_{what}")(n, random_state=seed)
    classes = np.arange(1, 9) if what == "rcb" else np.array([1, 2])
    return X, labels - 1, classes, [f"x{m + 1}" for m in range(X.shape[1])], "class"


def _from_model(path: str, n: int, low: float | None, high: float | None, rng: np.random.Generator) -> Points:
    """Draw points uniformly and label them by a model."""
    import numpy as np

    from ...files.models.storage import read_model
    from ...tree.text import attribute_names
    from ..predictor import Predictor

    stored = read_model(path)
    model = stored.model
    if not hasattr(model, "classes_"):
        raise UsageError(f"{path} predicts numbers; only a classifier can label points")
    if getattr(model, "categories_", None) is not None:
        raise UsageError(f"{path} has categorical attributes; points can only be drawn for numbers")
    if stored.source.one_hot:
        raise UsageError(f"{path} has 0/1 columns made from text; points can only be drawn for numbers")
    d = model.n_features_in_
    ranges = np.array(stored.source.ranges or [(np.nan, np.nan)] * d)
    least = np.nan_to_num(ranges[:, 0], nan=0.0) if low is None else np.full(d, low)
    most = np.nan_to_num(ranges[:, 1], nan=1.0) if high is None else np.full(d, high)
    if (least > most).any():
        raise UsageError(f"--low {least.max():g} is above --high {most.min():g}")
    X = rng.uniform(least, most, size=(n, d))
    y = Predictor.of(model, stored.source).predict(X)
    return X, y, model.classes_, attribute_names(model), stored.source.target or "class"


def with_noise(y: np.ndarray, n_classes: int, share: float, rng: np.random.Generator) -> np.ndarray:
    """Give exactly this share of the examples another class, each of the others equally likely."""
    if n_classes < 2:
        return y
    y = y.copy()
    wrong = rng.choice(len(y), round(share * len(y)), replace=False)
    y[wrong] = (y[wrong] + rng.integers(1, n_classes, len(wrong))) % n_classes
    return y
