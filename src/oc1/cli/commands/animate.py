"""``oc1 animate``: the search at a node, step by step."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..options import Categorical, Data, Json, OneHot, Seed, Weights
from ..parameters import make_estimator
from ..screen import UsageError, check_output, in_background, note, print_json

if TYPE_CHECKING:
    from ...files.tables import ReadOptions

ENDINGS = (".html", ".htm")


def animate(
    data: Data,
    out: Annotated[Path, typer.Option("--output", "-o")],
    options: ReadOptions,
    parameters: dict[str, Any],
    node: str = "Root",
    fps: Annotated[float, typer.Option(min=0.1, max=60)] = 8.0,
    max_frames: Annotated[int, typer.Option(min=2)] = 300,
    weights: Weights = None,
    one_hot: OneHot = False,
    categorical: Categorical = False,
    seed: Seed = 0,
    json: Json = False,
) -> None:
    """Show the search for a node's split, step by step.

    Every position of the hyperplane is shown, jumps in a different colour, and the impurity after it. Two attributes
    are drawn as a plane; for more, a histogram shows the examples along the test. Here the default is --prune none: a
    search as in the paper, from an axis-parallel split and from random hyperplanes. (With --prune auto, as in oc1
    train, linear classifiers are fitted instead, and there is no search to show unless the examples are very many.)

    Example: oc1 animate rcb.csv -o search.html

    Parameters
    ----------
    out : FILE
        An .html page.
    node : PATH
        Root, or the path to a node: l where a test fails, r where it passes.
    fps : float
        Steps per second.
    max_frames : int
        Longer searches are thinned out; starts, jumps and improvements stay.
    """
    if out.suffix.lower() not in ENDINGS:
        raise UsageError(f"--output {out}: an animation is an .html file")
    check_output(out, data)
    settings = make_estimator("oc1", {"prune": None} | parameters, random_state=seed).get_params()

    from ...animation.page import write_page
    from ...animation.recording import record_search
    from ..predictor import with_names
    from ..training import read_training_table

    options = replace(options, weights=weights)
    table = read_training_table(data, options, one_hot=one_hot, categorical=categorical)
    if table.categorical:
        settings["categorical_features"] = "from_dtype"
    X = with_names(table.X, table.feature_names)
    record = in_background(lambda: record_search(X, table.y, table.weights, node=node, **settings), "searching")
    n_frames = write_page(record, out, fps=fps, max_frames=max_frames)
    best = record.steps[record.best[-1]]
    n_jumps = sum(step.kind == "jump" for step in record.steps)
    if json:
        figures = {"runs": record.n_runs, "moves": record.n_moves, "jumps": n_jumps, "frames": n_frames}
        print_json({"file": str(out), "node": record.node, **figures, "impurity": best.after, "best_run": best.run})
        return
    note(
        f"{record.n_runs} runs, {record.n_moves} positions, {n_jumps} jumps; best impurity {best.after:.5g} in run "
        f"{best.run}; {n_frames} frames written to {out}"
    )
