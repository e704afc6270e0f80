"""``oc1 generate``: the paper's artificial data, or points labelled by a model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from ..options import FORMATS, Seed, completing
from ..screen import Refusal, check_output, note, refusing

SETS = ("ls10", "pol", "rcb")
#: Points are drawn between numbers no larger than this: their difference must be a number, too.
LARGEST = 1e300


@refusing
def generate(
    what: Annotated[
        str,
        typer.Argument(
            metavar="ls10|pol|rcb|MODEL",
            help="A set of the paper, or a model file whose classes the points get.",
            autocompletion=completing(SETS),
        ),
    ],
    out: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="(default: the set's name + .csv)")
    ] = None,
    n: Annotated[int, typer.Option("-n", "--examples", min=1, help="How many points.")] = 2000,
    noise: Annotated[
        float, typer.Option(min=0.0, max=1.0, help="Share of the points that get another class, drawn at random.")
    ] = 0.0,
    low: Annotated[
        float | None, typer.Option(help="Smallest value of the attributes (default: 0, or as in training).")
    ] = None,
    high: Annotated[
        float | None, typer.Option(help="Largest value of the attributes (default: 1, or as in training).")
    ] = None,
    format: Annotated[
        str | None,
        typer.Option(
            metavar="csv|tsv|parquet|arff|oc1",
            help="(default: by the name of the file)",
            autocompletion=completing(FORMATS),
        ),
    ] = None,
    header: Annotated[bool, typer.Option(help="Write the names of the columns first (CSV, TSV).")] = True,
    seed: Seed = 0,
) -> None:
    """Make artificial data: LS10, POL or RCB of the paper, or random points labelled by a model.

    Examples: oc1 generate rcb -n 2000 -o rcb.csv; oc1 generate iris.json -n 500 --noise 0.05 -o flowers.csv
    """
    import numpy as np
    import polars as pl

    from ...files.tables.reading import write_table

    is_model = what not in SETS
    if is_model and not Path(what).suffix and not Path(what).exists():
        raise Refusal(f"{what!r} is neither one of {', '.join(SETS)} nor a model file")
    if is_model and out is None:
        raise Refusal("give --output: a model has no data file of its own")
    out = Path(f"{what}.csv") if out is None else out
    if out != Path("-"):
        check_output(out, what if is_model else None)
    for option, value in (("--low", low), ("--high", high)):
        if value is not None and not abs(value) <= LARGEST:
            raise Refusal(f"{option} {value:g} is not a number to draw between")
    rng = np.random.default_rng(seed)
    if not is_model:
        if low is not None or high is not None:
            raise Refusal(f"--low and --high are for models: the points of {what} lie between 0 and 1")
        X, y, classes, names, target = _from_paper(what, n, seed)
    else:
        X, y, classes, names, target = _from_model(what, n, low, high, rng)
    y = with_noise(y, len(classes), noise, rng)
    columns = {name: X[:, m] for m, name in enumerate(names)}
    if out == Path("-"):
        from ...files.tables.reading import RowWriter

        with RowWriter(None, format or "csv", header) as writer:
            writer.write(pl.DataFrame({**columns, target: classes[y]}))
        return
    write_table(out, {**columns, target: classes[y]}, format, header=header)
    note(f"{n} examples, {len(names)} attributes, {len(classes)} classes; written to {out}")


def _from_paper(what: str, n: int, seed: int):
    """Return points, class indices, classes, names of the attributes and of the target."""
    import numpy as np

    from ... import datasets

    X, labels = getattr(datasets, f"make_{what}")(n, random_state=seed)
    classes = np.arange(1, 9) if what == "rcb" else np.array([1, 2])
    return X, labels - 1, classes, [f"x{m + 1}" for m in range(X.shape[1])], "class"


def _from_model(path: str, n: int, low: float | None, high: float | None, rng: Any):
    """Return points drawn evenly, with the classes that a model gives them."""
    import numpy as np

    from ...files.models.storage import read_model
    from ...tree.text import attribute_names
    from ..predictor import Predictor

    stored = read_model(path)
    model = stored.model
    if not hasattr(model, "classes_"):
        raise Refusal(f"{path} predicts numbers; points are labelled by models of classes")
    if getattr(model, "categories_", None) is not None:
        raise Refusal(f"{path} has categorical attributes; points can be drawn for numbers only")
    if stored.source.one_hot:
        raise Refusal(f"{path} has 0/1 columns made of text; points can be drawn for numbers only")
    d, known = model.n_features_in_, stored.source.ranges
    least = np.nan_to_num([own[0] for own in known] or [0.0] * d, nan=0.0) if low is None else np.full(d, low)
    most = np.nan_to_num([own[1] for own in known] or [1.0] * d, nan=1.0) if high is None else np.full(d, high)
    if (least > most).any():
        raise Refusal(f"--low {least.max():g} is above --high {most.min():g}")
    X = rng.uniform(least, most, size=(n, d))
    y = Predictor.of(model, stored.source).indices(X)
    return X, y, model.classes_, attribute_names(model), stored.source.target or "class"


def with_noise(y, n_classes: int, share: float, rng: Any):
    """Give exactly this share of the examples another class, each of the others equally likely."""
    if share == 0.0 or n_classes < 2:
        return y
    y = y.copy()
    wrong = rng.choice(len(y), round(share * len(y)), replace=False)
    y[wrong] = (y[wrong] + rng.integers(1, n_classes, len(wrong))) % n_classes
    return y
