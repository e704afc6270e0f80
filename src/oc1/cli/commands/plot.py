"""``oc1 plot``: pictures of a model."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..options import Model, OutputFile, choice
from ..screen import UsageError, check_choice, check_output, check_used, note

if TYPE_CHECKING:
    from ...files.tables import ReadOptions

PICTURES = ("tree", "partition", "projection", "pruning", "importance")
#: Larger trees are cut off if --max-depth is not given.
MAX_NODES_DRAWN = 127
ENDINGS = (".svg", ".png", ".pdf")
#: The pictures that use an option.
USES = {"--features": ("partition",), "--node": ("partition", "projection"), "--max-depth": ("tree",)}


def plot(
    model: Model,
    options: ReadOptions,
    data: Annotated[str | None, typer.Argument()] = None,
    what: Annotated[str, choice(PICTURES, "--what", "-w")] = "tree",
    out: OutputFile = None,
    features: str | None = None,
    node: Annotated[int | None, typer.Option(min=0)] = None,
    max_depth: Annotated[int | None, typer.Option(min=0)] = None,
) -> None:
    """Plot a model: its tree, how it divides the plane, a node's examples, the pruning path, attribute importances.

    With DATA, a tree shows at each node the distribution of the examples along its test. A partition of more than two
    attributes needs --features or --node; a projection needs DATA.

    Example: oc1 plot iris.json iris.csv -o tree.svg

    Parameters
    ----------
    data : DATA
        Labelled examples to show, in any format that train reads.
    out : FILE
        SVG, PNG or PDF, by its suffix. (default: WHAT.svg)
    features : A,B
        Two attributes for a partition: names, or indices from 0.
    node : int
        Node of a projection, or node whose plane a partition shows. (default: 0, none)
    max_depth : int
        Draw a tree to this depth. (default: as deep as is readable)
    """
    check_choice("--what", what, PICTURES)
    path = Path(f"{what}.svg") if out is None else out
    if path.suffix.lower() not in ENDINGS:
        raise UsageError(f"--output {path} must end in .svg, .png or .pdf")
    check_output(path, model, data)
    check_used("--what", what, {"--features": features, "--node": node, "--max-depth": max_depth}, USES)
    if what == "projection" and data is None:
        raise UsageError("--what projection shows examples, so it needs DATA")
    if what == "partition" and node is not None and (data is None or features is not None):
        raise UsageError("--node shows the plane of the node's examples: it needs DATA, and excludes --features")
    from ...files.models.storage import read_model

    stored = read_model(model)
    fitted = stored.model
    if what in ("tree", "projection", "pruning") and not hasattr(fitted, "tree_"):
        raise UsageError(f"--what {what}: a vote has no single tree; use importance, or partition with two attributes")
    X, y = None, None
    if data is not None and what in ("tree", "partition", "projection"):
        from ..predictor import Predictor

        X, y = Predictor.of(fitted, stored.source).read_known(data, options)

    import matplotlib

    matplotlib.use("Agg")  # nothing is shown on a screen
    from matplotlib import pyplot

    from ... import plotting

    draw: dict[str, Callable[[], Any]] = {
        "tree": lambda: plotting.plot_tree(fitted, X, y, max_depth=_readable_depth(fitted.tree_, max_depth)),
        "partition": lambda: plotting.plot_partition(fitted, X, y, features=_pair(features, fitted), node=node),
        "projection": lambda: plotting.plot_projection(fitted, node or 0, X, y),
        "pruning": lambda: plotting.plot_pruning_path(fitted),
        "importance": lambda: plotting.plot_importances(fitted),
    }
    figure = draw[what]().figure
    try:
        plotting.save(figure, path)
    finally:
        pyplot.close(figure)
    note(f"written to {path}")


def _readable_depth(tree: Any, asked: int | None) -> int | None:
    """Return how deep to draw a tree: as asked for, else as deep as the picture stays readable."""
    import numpy as np

    if asked is not None or tree.n_nodes <= MAX_NODES_DRAWN:
        return asked
    sizes = np.cumsum(np.bincount(tree.depths))
    depth = max(int(np.searchsorted(sizes, MAX_NODES_DRAWN, side="right")) - 1, 1)
    note(f"note: the tree has {tree.n_leaves} leaves; its first {depth} levels are drawn (see --max-depth)")
    return depth


def _pair(features: str | None, model: Any) -> list[str | int] | None:
    """Return the attributes that were typed, names before indices."""
    if features is None:
        return None
    names = {str(name) for name in getattr(model, "feature_names_in_", ())}
    words = [word.strip() for word in features.split(",")]
    if len(words) != 2:
        raise UsageError(f"--features takes two attributes, A,B; got {features!r}")
    return [int(word) if word not in names and word.isdecimal() else word for word in words]
