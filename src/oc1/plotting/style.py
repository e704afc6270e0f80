"""What all pictures share: colours, words, legends, new axes, and files."""

from __future__ import annotations

import io
import textwrap
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap, Normalize, to_rgb, to_rgba
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.patches import Patch
from matplotlib.patheffects import withStroke
from matplotlib.textpath import TextPath

from ..files.atomic import write_file
from ..files.problems import explained
from ..tree.structure import TreeStructure
from .fonts import families_for, with_fonts

#: The palette of Okabe and Ito, which colour-blind people can tell apart; its first two differ in grey, too.
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", "#767676")
MARKERS = ("o", "^", "s", "v", "D", "P", "X", "*")
DPI = 150
#: Longer pictures cannot be drawn.
MAX_PIXELS = 2**16
#: The endings of picture files, and what keeps the date out of them.
UNDATED: dict[str, dict[str, Any] | None] = {".png": None, ".svg": {"Date": None}, ".pdf": {"CreationDate": None}}
#: Patterns of areas: the colours begin again after eight classes.
HATCHES = ("", "////", "....", "xxxx", "\\\\\\\\", "oo", "++", "**")
#: Characters of the names of classes and attributes where room is scarce: in a line, and in all.
MAX_NAME, MAX_WORDS = 30, 90
#: Rows of a legend beside a picture before another column begins.
LEGEND_ROWS = 13
#: More examples than this are a raster, also in files of vectors.
MAX_VECTORS = 3000
#: Area of a marker in a legend, in square points.
LEGEND_MARKER = 36.0
#: How areas and bars are filled that stand for numbers instead of classes.
GREY: dict[str, Any] = {"facecolor": "0.45", "linewidth": 0}
#: Of more classes, only the most frequent ones are told apart; no more areas would look different.
MAX_SHOWN_CLASSES = len(COLOURS) * len(HATCHES)


def tint(colour: str, strength: float = 0.28) -> tuple[float, ...]:
    """Mix a colour with white."""
    return tuple(1 - strength * (1 - part) for part in to_rgb(colour))


#: The colours of numbers, from small to large.
SHADES = LinearSegmentedColormap.from_list("numbers", [tint(COLOURS[0], 0.05), to_rgb(COLOURS[0])])


def class_style(number: int) -> tuple[str, str]:
    """Return the colour and the marker of the class with this number, distinct for the first 64 classes."""
    return COLOURS[number % len(COLOURS)], MARKERS[(number + number // len(COLOURS)) % len(MARKERS)]


def class_area(number: int) -> dict[str, Any]:
    """Return how an area of the class with this number is filled; no two of the first 64 are alike."""
    colour, hatch = COLOURS[number % len(COLOURS)], HATCHES[number // len(COLOURS) % len(HATCHES)]
    return {"facecolor": colour, "hatch": hatch, "edgecolor": "white" if hatch else colour, "linewidth": 0}


def area_style(tree: TreeStructure, number: int) -> dict[str, Any]:
    """Return how an area of the class with this number is filled; of a tree that predicts numbers, grey."""
    return class_area(number) if tree.predicts_classes else GREY


def node_colour(tree: TreeStructure, node: int, norm: Normalize) -> tuple[float, ...]:
    """Return the pale colour of a node's class; or of its number, darker if `norm` says that it is larger."""
    if tree.predicts_classes:
        return tint(class_style(int(tree.majority[node]))[0])
    return SHADES(0.6 * float(norm(tree.outputs()[node, 0])))


def plain(text: Any) -> str:
    """Keep matplotlib from reading dollar signs as mathematics, and letters that cannot be shown out of the picture."""
    shown = "".join(letter if letter.isprintable() else " " for letter in str(text))
    return shown.replace("$", r"\$")


def shortened(text: Any, longest: int = MAX_NAME) -> str:
    """Cut a long text."""
    words = str(text)
    return words if len(words) <= longest else f"{words[: longest - 3]}..."


def folded(text: Any, width: int = MAX_NAME, longest: int = MAX_WORDS) -> str:
    """Write a long text in several plain lines; only a very long one is cut."""
    lines = textwrap.wrap(shortened(text, longest), width, break_on_hyphens=False)
    return "\n".join(map(plain, lines)) or plain(text)


def halo() -> list[withStroke]:
    """Return what sets letters off against lines behind them, in the colour of the background; none if it has none."""
    ground = to_rgba(matplotlib.rcParams["figure.facecolor"])
    return [withStroke(linewidth=2.5, foreground=ground)] if ground[3] > 0 else []


def ink() -> Any:
    """Return the colour of letters and lines on the background: a style of matplotlib may make it dark."""
    return matplotlib.rcParams["text.color"]


def axes_or_new(ax: Axes | None, width: float, height: float) -> Axes:
    """Return the given axes, or those of a new figure of this size, in inches, in which legends have room."""
    import matplotlib.pyplot as plt

    return plt.subplots(figsize=(width, height), layout="constrained")[1] if ax is None else ax


def legend_columns(names: Iterable[Any], width: float) -> int:
    """Return how many names of classes stand beside each other in a legend of a width, in inches."""
    labels = [folded(name) for name in names]
    lines = {line for label in labels for line in label.split("\n") if line.strip()}
    shapes = (TextPath((0, 0), line, size=9, prop=FontProperties(family=families_for(line))) for line in lines)
    widest = max((shape.get_extents().width / 72 for shape in shapes), default=0.0)
    columns = int(np.clip(width / (widest + 0.42), 1, 10))
    return -(-len(labels) // -(-len(labels) // columns)) if labels else 1  # as many in each row


def add_legend(
    ax: Axes, handles: Sequence[Any], names: Iterable[Any], *, columns: int | None = None, size: float = LEGEND_MARKER
) -> None:
    """Put a legend beside the axes, where it covers nothing.

    Parameters
    ----------
    ax : matplotlib Axes
    handles : what is shown for each name
    names : iterable
    columns : int, optional
        Put it below the axes, in this number of columns.
    size : float
        Area of the markers in the picture.
    """
    # A label that begins with an underscore would be left out.
    labels = [f" {name}" if name.startswith("_") else name for name in map(folded, names)]
    if columns is not None:
        place: dict[str, Any] = {"loc": "upper center", "bbox_to_anchor": (0.5, 0.0), "ncols": columns}
    else:
        place = {"loc": "upper left", "bbox_to_anchor": (1.01, 1.0), "ncols": 1 + (len(labels) - 1) // LEGEND_ROWS}
    spacing: dict[str, Any] = {"handletextpad": 0.4, "columnspacing": 1.2, "handlelength": 1.4}
    scale = (LEGEND_MARKER / size) ** 0.5
    ax.legend(list(handles), labels, frameon=False, fontsize=9, markerscale=scale, **spacing, **place)


def shown_classes(weights: np.ndarray) -> list[int]:
    """Return the classes that are told apart, given the weight of each: all, or the most frequent of very many."""
    return sorted(np.argsort(-weights, kind="stable")[:MAX_SHOWN_CLASSES].tolist())


def class_layers(tree: TreeStructure, counts: np.ndarray, shown: list[int]) -> list[tuple[dict[str, Any], np.ndarray]]:
    """Return how the area of each class is filled, and its counts, where there are any; the classes not shown are one.

    The last axis of `counts` is that of the classes.
    """
    layers = [(area_style(tree, k), counts[..., k]) for k in shown]
    layers.append((GREY, np.delete(counts, shown, axis=-1).sum(axis=-1)))
    return [(style, own) for style, own in layers if own.any()]


def class_legend(tree: TreeStructure, weights: np.ndarray) -> tuple[list[Patch], list[str]]:
    """Return areas and names for a legend of the classes that have a weight; none where numbers are predicted."""
    if not tree.predicts_classes:
        return [], []
    present = [k for k in shown_classes(weights) if weights[k]]
    patches, names = [Patch(**class_area(k)) for k in present], [str(tree.classes[k]) for k in present]
    n_others = np.count_nonzero(weights) - len(present)
    if n_others:
        patches, names = [*patches, Patch(**GREY)], [*names, f"{n_others} others"]
    return patches, names


def entitle(figure: Figure, title: str) -> None:
    """Write a title above a whole figure, in as many lines as it takes."""
    width = max(20, int(11 * figure.get_size_inches()[0]))
    with_fonts(figure.suptitle(folded(title, width, 10 * width), size=11))


def save(figure: Figure, path: Path, dpi: float = DPI) -> None:
    """Write a figure as PNG, SVG or PDF, by the suffix of the path; the same figure always gives the same file.

    Parameters
    ----------
    figure : matplotlib Figure
    path : Path
        Its folder is created if necessary. The file is written completely or not at all; an existing one is replaced.
    dpi : float, default=150
        Dots per inch of a PNG file, and of what is a raster in other files.

    Raises
    ------
    FileProblem
        If the file cannot be written; it is a ValueError.
    """
    path = Path(path)
    suffix = path.suffix.lower()
    if suffix not in UNDATED:
        raise ValueError(f"a picture's file name must end in .png, .svg or .pdf, got {path.name!r}")
    if not 0 < dpi < np.inf:
        raise ValueError(f"dpi must be a positive number, got {dpi}")
    pixels = float(max(figure.get_size_inches()) * dpi)
    if suffix == ".png" and pixels >= MAX_PIXELS:
        raise ValueError(f"with {dpi:g} dpi the picture would be {pixels:.0f} pixels long: take fewer, or SVG or PDF")
    content = io.BytesIO()
    with matplotlib.rc_context({"svg.hashsalt": "oc1"}):  # ids in an SVG file are random without it
        figure.savefig(content, format=suffix[1:], dpi=dpi, metadata=UNDATED[suffix])
    with explained(path, "written"):
        path.parent.mkdir(parents=True, exist_ok=True)
    write_file(path, content.getvalue())
