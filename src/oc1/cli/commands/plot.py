"""``oc1 plot``: pictures of a model."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..options import Model, OutputFile, choice
from ..screen import UsageError, check_output, check_used, note

if TYPE_CHECKING:
    from ...files.tables import ReadOptions

PICTURES = ("tree", "partition", "projection", "pruning", "importance")
#: Larger trees are cut off if --max-depth is not given.
MAX_NODES_DRAWN = 127
ENDINGS = (".svg", ".png", ".pdf")
#: The pictures that use an option.
USES = {
    "--features": ("partition",),
    "--node": ("partition", "projection"),
    "--max-depth": ("tree",),
    "--max-terms": ("tree", "partition", "projection"),
}


def plot(
    model: Model,
    options: ReadOptions,
    data: Annotated[str | None, typer.Argument()] = None,
    what: Annotated[str, choice(PICTURES, "--what", "-w")] = "tree",
    out: OutputFile = None,
    features: str | None = None,
    node: Annotated[int | None, typer.Option(min=0)] = None,
    max_depth: Annotated[int | None, typer.Option(min=0)] = None,
    max_terms: Annotated[int | None, typer.Option(min=1)] = None,
    title: str | None = None,
    dpi: Annotated[float, typer.Option(min=10, max=2400)] = 150,
) -> None:
    """Plot a tree, a partition, a node, the pruning, or importances.

    With DATA, a tree shows at each node the distribution of the examples along its test, and the pruning path shows
    their accuracy against the number of leaves. A partition of more than two attributes is a slice along the two that
    matter most, unless --features or --node say otherwise; a projection needs DATA.

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
    max_terms : int
        Terms of a test that are written, those with the largest shares. (default: all of up to 8, else 6)
    title : TEXT
        Written above the picture.
    dpi : float
        Dots per inch of a PNG file.
    """
    path = Path(f"{what}.svg") if out is None else out
    if path.suffix.lower() not in ENDINGS:
        raise UsageError(f"--output {path} must end in .svg, .png or .pdf")
    check_output(path, model, data)
    given = {"--features": features, "--node": node, "--max-depth": max_depth, "--max-terms": max_terms}
    check_used("--what", what, given, USES)
    if what == "projection" and data is None:
        raise UsageError("--what projection shows examples, so it needs DATA")
    if what == "partition" and node is not None and (data is None or features is not None):
        raise UsageError("--node shows the plane of the node's examples: it needs DATA, and excludes --features")
    from ...files.models.storage import read_model

    stored = read_model(model)
    fitted = stored.model
    if what in ("tree", "projection", "pruning") and not hasattr(fitted, "tree_"):
        raise UsageError(
            f"--what {what}: a vote or forest has no single tree; use importance, or partition with two attributes"
        )
    X, y = None, None
    if data is not None and what != "importance":
        from ..predictor import Predictor

        X, y = Predictor.of(fitted, stored.source).read_known(data, options)

    import matplotlib

    matplotlib.use("Agg")  # nothing is shown on a screen
    from ... import plotting

    terms: dict[str, Any] = {"max_terms": max_terms or "auto"}
    draw: dict[str, Callable[[], Any]] = {
        "tree": lambda: plotting.plot_tree(fitted, X, y, max_depth=_readable_depth(fitted.tree_, max_depth), **terms),
        "partition": lambda: plotting.plot_partition(
            fitted, X, y, features=None if node is not None else _pair(features, fitted), node=node, **terms
        ),
        "projection": lambda: plotting.plot_projection(fitted, node or 0, X, y, **terms),
        "pruning": lambda: plotting.plot_pruning_path(fitted, X, y),
        "importance": lambda: plotting.plot_importances(fitted),
    }
    _write(draw[what], path, title, dpi, fitted)
    note(f"written to {path}")


def _write(draw: Callable[[], Any], path: Path, title: str | None, dpi: float, model: Any) -> None:
    """Draw a picture and write it; a note names letters that no font has."""
    import logging
    import warnings

    from matplotlib import pyplot

    from ...plotting import save
    from ...plotting.fonts import letters_without_font
    from ...plotting.style import entitle

    logging.getLogger("matplotlib.font_manager").setLevel(logging.ERROR)  # a font without bold letters is good enough
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing from font", UserWarning)  # the note says it better
        figure = draw().figure
        try:
            if title:
                entitle(figure, title)
            save(figure, path, dpi)
        finally:
            pyplot.close(figure)
    names = [*getattr(model, "feature_names_in_", ()), *getattr(model, "classes_", ()), title or ""]
    if letters := letters_without_font(map(str, names)):
        shown = f"{', '.join(letters[:10])}{' ...' if len(letters) > 10 else ''}"
        note(f"note: no font on this machine has {shown}: install one that does, such as Noto Sans")


def _readable_depth(tree: Any, asked: int | None) -> int | None:
    """Return how deep to draw a tree: as asked for, else as deep as the picture stays readable."""
    import numpy as np

    if asked is not None or tree.n_nodes <= MAX_NODES_DRAWN:
        return asked
    sizes = np.cumsum(np.bincount(tree.depths))
    depth = max(int(np.searchsorted(sizes, MAX_NODES_DRAWN, side="right")) - 1, 1)
    note(f"note: the tree has {tree.n_leaves} leaves; its first {depth} levels are drawn (see --max-depth)")
    return depth


def _pair(features: str | None, model: Any) -> list[str | int]:
    """Return the attributes that were typed, names before indices; else those that matter most, with a note."""
    if features is None:
        from ...plotting.equations import names_of
        from ...plotting.slices import main_pair

        names, pair = names_of(model), main_pair(model)
        if len(names) > 2:
            note(
                f"note: a slice along {names[pair[0]]} and {names[pair[1]]}, which matter most; the others are held at "
                "their averages (see --features, --node)"
            )
        return list(pair)
    known = {str(name) for name in getattr(model, "feature_names_in_", ())}
    words = [word.strip() for word in features.split(",")]
    if len(words) != 2:
        raise UsageError(f"--features takes two attributes, A,B; got {features!r}")
    return [int(word) if word not in known and word.isdecimal() else word for word in words]
