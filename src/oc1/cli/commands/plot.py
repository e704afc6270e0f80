"""``oc1 plot``: pictures of a model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from ..options import Model, completing, with_reading
from ..screen import Refusal, check_output, note, refusing

PICTURES = ("tree", "partition", "projection", "pruning", "importance")
#: Larger trees are cut where --max-depth is not given.
MOST_NODES = 127
ENDINGS = (".svg", ".png", ".pdf")


@refusing
@with_reading
def plot(
    model: Model,
    data: Annotated[
        str | None, typer.Argument(metavar="DATA", help="Labelled examples to show, in any format that train reads.")
    ] = None,
    what: Annotated[
        str,
        typer.Option("--what", "-w", metavar="NAME", help=", ".join(PICTURES), autocompletion=completing(PICTURES)),
    ] = "tree",
    out: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="SVG, PNG or PDF, by its ending. (default: WHAT.svg)"),
    ] = None,
    features: Annotated[
        str | None,
        typer.Option("--features", metavar="A,B", help="Two attributes for a partition: names, or indices from 0."),
    ] = None,
    node: Annotated[
        int | None,
        typer.Option(
            "--node", min=0, help="Node of a projection, or whose plane a partition shows. (default: 0, none)"
        ),
    ] = None,
    max_depth: Annotated[
        int | None,
        typer.Option("--max-depth", min=0, help="Draw a tree no deeper. (default: as far as it can be read)"),
    ] = None,
    options: Any = None,
) -> None:
    """Draw a model: its tree, how it divides the plane, a node's examples, the pruning path, attribute importance.

    With DATA a tree shows at each node how the examples lie about its test. A partition of more than two attributes
    needs --features or --node; a projection needs DATA.

    Example: oc1 plot iris.json iris.csv -o tree.svg
    """
    if what not in PICTURES:
        raise Refusal(f"--what {what!r} is not known; it is one of {', '.join(PICTURES)}")
    path = Path(f"{what}.svg") if out is None else out
    if path.suffix.lower() not in ENDINGS:
        raise Refusal(f"--output {path} must end in .svg, .png or .pdf")
    check_output(path, model, data)
    _refuse_idle(what, {"--features": features, "--node": node, "--max-depth": max_depth})
    if what == "projection" and data is None:
        raise Refusal("--what projection shows examples: DATA is needed")
    if what == "partition" and node is not None and (data is None or features is not None):
        raise Refusal("--node shows the plane of its examples: it takes DATA, and no --features")
    from ...files.models.storage import read_model

    stored = read_model(model)
    fitted = stored.model
    if what in ("tree", "projection", "pruning") and not hasattr(fitted, "tree_"):
        raise Refusal(f"--what {what}: a vote has no single tree; importance and, of two attributes, partition show it")
    X, y = None, None
    if data is not None and what in ("tree", "partition", "projection"):
        from ..examples import examples_of

        X, y = examples_of(fitted, stored.source, data, options)

    import matplotlib

    matplotlib.use("Agg")  # nothing is shown on a screen
    from matplotlib import pyplot

    from ... import plotting

    if what == "tree":
        ax = plotting.plot_tree(fitted, X, y, max_depth=_readable_depth(fitted.tree_, max_depth))
    elif what == "partition":
        ax = plotting.plot_partition(fitted, X, y, features=_pair(features, fitted), node=node)
    elif what == "projection":
        ax = plotting.plot_projection(fitted, 0 if node is None else node, X, y)
    elif what == "pruning":
        ax = plotting.plot_pruning_path(fitted)
    else:
        ax = plotting.plot_importances(fitted)
    figure: Any = ax.figure
    try:
        plotting.save(figure, path)
    finally:
        pyplot.close(figure)
    note(f"written to {path}")


#: The pictures that options are for.
USES = {"--features": ("partition",), "--node": ("partition", "projection"), "--max-depth": ("tree",)}


def _refuse_idle(what: str, given: dict[str, Any]) -> None:
    """Refuse options that the picture has no use for."""
    for option, value in given.items():
        if value is not None and what not in USES[option]:
            raise Refusal(f"{option} is for --what {' and '.join(USES[option])}, not {what}")


def _readable_depth(tree: Any, asked: int | None) -> int | None:
    """Return how deep to draw a tree: as asked for, else as deep as a picture can be read."""
    import numpy as np

    if asked is not None or tree.n_nodes <= MOST_NODES:
        return asked
    sizes = np.cumsum(np.bincount(tree.depths))
    depth = max(int(np.searchsorted(sizes, MOST_NODES, side="right")) - 1, 1)
    note(f"note: the tree has {tree.n_leaves} leaves; its first {depth} levels are drawn (see --max-depth)")
    return depth


def _pair(features: str | None, model: Any) -> list[str | int] | None:
    """Return the attributes that were typed, names before indices."""
    if features is None:
        return None
    names = {str(name) for name in getattr(model, "feature_names_in_", ())}
    words = [word.strip() for word in features.split(",")]
    if len(words) != 2:
        raise Refusal(f"--features takes two attributes, A,B; got {features!r}")
    return [int(word) if word not in names and word.isdecimal() else word for word in words]
