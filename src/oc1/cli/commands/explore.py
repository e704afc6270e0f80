"""``oc1 explore``: a model as a page to look at and try."""

from __future__ import annotations

import webbrowser
from typing import TYPE_CHECKING, Annotated

import typer

from ..options import Model, OutputFile
from ..screen import check_output, note

if TYPE_CHECKING:
    from ...files.tables import ReadOptions


def explore(
    model: Model,
    options: ReadOptions,
    data: Annotated[str | None, typer.Argument()] = None,
    out: OutputFile = None,
    open: bool = False,
) -> None:
    """Write an interactive HTML page of a model.

    Click on nodes, prune, and follow an example through the tree. The page is a single file that works offline. With
    DATA, it shows the distribution of the examples along each test; at most 200 of them (2,000 for two attributes) are
    stored in the page.

    Example: oc1 explore iris.json iris.csv -o iris.html

    Parameters
    ----------
    data : [DATA]
        Labelled examples, for histograms and to follow through the tree.
    out : FILE
        (default: the model's name with .html)
    open : bool
        Open the page in a browser.
    """
    from ...explore import explore as make_page
    from ...files.models.storage import read_model
    from ..predictor import Predictor

    stored = read_model(model)
    out = out or model.with_suffix(".html")
    check_output(out, model, data)
    X, y = None, None
    if data is not None:
        X, y = Predictor.of(stored.model, stored.source).read_known(data, options)
    page = make_page(stored.model, X, y, source=stored.source, title=model.stem)
    page.save(out)
    note(f"written to {out} ({len(page.encode()) / 1e6:.2f} MB)")
    if open and not webbrowser.open(out.resolve().as_uri()):
        note(f"note: there is no browser to open it in; open {out.resolve()} in one yourself")
