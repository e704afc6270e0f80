"""``oc1 explore``: a model as a page to look at and try."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from .options import Format, Header, Ignore, Marker, Model, Target, reading
from .predicting import as_numbers, inputs_of
from .screen import Refusal, note, refusing


@refusing
def explore(
    model: Model,
    data: Annotated[
        str | None,
        typer.Argument(metavar="[DATA]", help="File of labelled examples, for histograms and examples to try."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="(default: the model's name with .html)"),
    ] = None,
    target: Target = None,
    format: Format = None,
    header: Header = None,
    ignore: Ignore = None,
    missing_marker: Marker = None,
) -> None:
    """Write a page that shows a model: click on nodes, prune, and follow an example through the tree.

    The page is one file that needs no network. With DATA it shows how the examples lie about each test; at most 200 of
    them (2,000 points, for two attributes) are in the page.

    Example: oc1 explore iris.json iris.csv -o iris.html
    """
    from ..explore import explore as make_page
    from ..files.atomic import replacing
    from ..files.models import read_model

    stored = read_model(model)
    out = out or model.with_suffix(".html")
    for given in (str(model), *([data] if data not in (None, "-") else [])):
        if out.resolve() == Path(str(given)).resolve():
            raise Refusal(f"--output {out} is one of the files that are read")
    if data is None:
        page = make_page(stored.model, source=stored.source, title=model.stem)
    else:
        options = reading(target, format, header, ignore, missing_marker)
        X, y = _examples(stored.model, stored.source, data, options)
        page = make_page(stored.model, X, y, source=stored.source, title=model.stem)
    with replacing(out, "w", encoding="utf-8", newline="\n") as file:
        file.write(page)
    note(f"written to {out} ({len(page.encode()) / 1e6:.2f} MB)")


def _examples(model: Any, source: Any, data: str, options: Any) -> tuple[Any, Any]:
    """Return the examples of a file whose class the model knows, and their classes (or numbers)."""
    import numpy as np
    import polars as pl

    from ..files.problems import FileProblem
    from ..files.tables import label_indices, scan_table

    rows: list[Any] = []
    answers: list[np.ndarray] = []
    n_unknown, unknown = 0, None
    for batch in scan_table(data, inputs_of(model, source), options, labelled=True):
        if not hasattr(model, "classes_"):
            rows.append(batch.X)
            answers.append(as_numbers(batch.y, data, batch.first_row))
            continue
        labels = np.asarray(batch.y)
        numbers = label_indices(labels, model.classes_)
        known = np.flatnonzero(numbers >= 0)
        if len(known) < len(numbers):
            n_unknown += len(numbers) - len(known)
            unknown = unknown or str(labels[numbers < 0][0])
        rows.append(batch.X[known])
        answers.append(model.classes_[numbers[known]])
    y = np.concatenate(answers) if answers else np.empty(0)
    if not len(y):
        raise FileProblem(data, "has no example of a class that the model knows")
    if n_unknown:
        note(f"note: {n_unknown} examples are left out: the model knows no class {unknown!r:.60}")
    return pl.concat(rows) if isinstance(rows[0], pl.DataFrame) else np.concatenate(rows), y
