"""``oc1 animate``: the search at a node, step by step."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from ..options import Categorical, Data, Json, OneHot, Param, Seed, Weights, make, with_parameters, with_reading
from ..screen import Refusal, check_output, in_background, note, print_json, refusing
from .train import categories

ENDINGS = (".gif", ".html", ".htm")


@refusing
@with_parameters
@with_reading
def animate(
    data: Data,
    out: Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="A .gif, or an .html page.")],
    node: Annotated[
        str, typer.Option(metavar="PATH", help="Root, or the way to a node: l where a test fails, r where it passes.")
    ] = "Root",
    fps: Annotated[float, typer.Option(min=0.1, max=60, help="Steps a second.")] = 8.0,
    max_frames: Annotated[
        int, typer.Option(min=2, help="Of a longer search, starts, jumps and improvements are shown first.")
    ] = 300,
    width: Annotated[int, typer.Option(min=400, max=2400, help="Of the GIF, in pixels.")] = 900,
    weights: Weights = None,
    one_hot: OneHot = False,
    categorical: Categorical = False,
    seed: Seed = 0,
    param: Param = None,
    json: Json = False,
    options: Any = None,
    parameters: dict[str, Any] | None = None,
) -> None:
    """Show the search for the split of a node: every position of the hyperplane, jumps in another colour.

    Beside it is the impurity after each step. Two attributes are drawn as a plane; for more, a histogram shows the
    examples along the test. Here the default is --prune none: the paper's search, from an axis-parallel split and from
    random hyperplanes. With --prune auto, the complexity penalty decides whether anything is searched, as in oc1 train.

    Example: oc1 animate rcb.csv -o search.gif
    """
    from ...animation.recording import record_search
    from ...files.tables.reading import read_table
    from ..predictor import named

    if out.suffix.lower() not in ENDINGS:
        raise Refusal(f"--output {out}: an animation is a .gif or an .html file")
    check_output(out, data)
    given = parameters or {}
    is_said = "prune" in given or any(text.startswith("prune=") for text in param or ())
    settings = make("oc1", given if is_said else {"prune": "none", **given}, param, random_state=seed).get_params()
    options = replace(options, weights=weights)
    table = read_table(data, options, categories=categories(one_hot, categorical))
    if table.categorical:
        settings["categorical_features"] = "from_dtype"
    X = named(table.X, table.feature_names)
    record = in_background(lambda: record_search(X, table.y, table.weights, node=node, **settings), "searching")
    if out.suffix.lower() == ".gif":
        from ...animation.gif import write_gif

        n_frames = write_gif(record, out, fps=fps, max_frames=max_frames, width=width)
    else:
        from ...animation.page import write_page

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
