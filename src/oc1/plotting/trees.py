"""A tree as boxes and links."""

from __future__ import annotations

import textwrap
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.colors import Normalize
from matplotlib.patches import FancyBboxPatch, Rectangle
from numpy.typing import ArrayLike

from ..tree.structure import TreeStructure
from ..tree.summaries import Histogram, NodeSummary, scale_of, summarise_nodes, tree_of
from ..tree.text import code_lists
from ..tree.wording import MaxTerms
from .equations import checked_max_terms, lines_of_test
from .fonts import with_fonts
from .layout import place_nodes, width_of, write
from .style import (
    MAX_WORDS,
    add_legend,
    axes_or_new,
    class_layers,
    class_legend,
    folded,
    ink,
    legend_columns,
    node_colour,
    shortened,
    shown_classes,
)

#: Characters in a line of the codes of categories, which are written below a tree.
NOTE_WIDTH = 60
#: Characters in a line of a test, and of the name of a leaf's class.
LINE_WIDTH, LEAF_WIDTH = 27, 36
#: Sizes of the parts of a node: a line of text, the bar of class counts, the histogram, and what is around them.
LINE, BAR, PLOT, PLOT_WIDTH, MARGIN = 12.0, 6.0, 42.0, 132.0, 5.0
#: How large a unit of the picture is, and the longest side of a new figure.
INCHES_PER_UNIT, MAX_INCHES = 1 / 68, 150.0


class NodeBox(NamedTuple):
    """What is drawn of a node.

    Attributes
    ----------
    summary : NodeSummary
    lines : list of str
        Below the number and the count.
    is_stub : bool
        Whether a subtree is left out here.
    """

    summary: NodeSummary
    lines: list[str]
    is_stub: bool

    @property
    def header(self) -> tuple[str, str]:
        """The number, and how many examples there are."""
        count = np.format_float_positional(sum(self.summary.counts), precision=4, trim="-")
        return str(self.summary.node), "1 example" if count == "1" else f"{count} examples"

    @property
    def histogram(self) -> Histogram | None:
        """The histogram, if it is to be drawn."""
        return None if self.is_stub else self.summary.histogram

    @property
    def size(self) -> tuple[float, float]:
        """Width and height."""
        number, count = self.header
        widths = [width_of(line, self.summary.is_leaf) for line in self.lines]
        widths.append(width_of(number, bold=True) + 12 + width_of(count))
        height = LINE * (1 + len(self.lines)) + 3 + BAR
        if self.histogram is not None:
            widths.append(PLOT_WIDTH)
            height += PLOT + 6
        return max(widths) + 2 * MARGIN, height + 2 * MARGIN


def plot_tree(
    model: Any,
    X: ArrayLike | None = None,
    y: ArrayLike | None = None,
    *,
    ax: Axes | None = None,
    max_depth: int | None = None,
    max_terms: MaxTerms = "auto",
) -> Axes:
    """Plot a tree: each node with its test, a bar of its classes and, given examples, a histogram along the test.

    The histogram of a node shows the sums that its test computes for the given examples that reach it. The line is the
    threshold; for examples to the right of it the answer is yes. The bar shows the classes of the training examples or,
    for regression, their share of all examples. Long tests are shortened to their most important terms.

    Parameters
    ----------
    model : fitted tree learner, or a tree
    X : array-like (n_samples, n_features), optional
        Examples, in the form the model accepts.
    y : array-like (n_samples,), optional
        Their classes; not needed for regression.
    ax : matplotlib Axes, optional
        None: those of a new figure, as large as the tree needs.
    max_depth : int, optional
        Nodes below this depth are not drawn; a placeholder says how many leaves they have.
    max_terms : int, "auto" or None, default="auto"
        Terms of a test that are written, those with the largest shares. "auto": all of up to 8, else 6. None: all.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from oc1 import OC1Classifier
    >>> from oc1.datasets import make_pol
    >>> X, y = make_pol(300, random_state=0)
    >>> ax = plot_tree(OC1Classifier(random_state=0).fit(X, y), X, y, ax=Figure().subplots())
    """
    if max_depth is not None and max_depth < 0:
        raise ValueError(f"max_depth must be 0 or more, got {max_depth}")
    tree, scale = tree_of(model), scale_of(model)
    shown = summarise_nodes(model, X, y, max_depth=max_depth)
    boxes = [_box(tree, own, scale, max_depth, checked_max_terms(max_terms)) for own in shown]
    sizes = np.array([box.size for box in boxes])
    number = {own.node: place for place, own in enumerate(shown)}
    children = np.array([[number.get(int(child), -1) for child in tree.children[own.node]] for own in shown])
    places = _places(children, sizes, np.array([own.depth for own in shown]))
    notes = [line for words in code_lists(tree, digits=2) for line in textwrap.wrap(words, NOTE_WIDTH)]
    low, high = _extent(places, sizes, notes)
    patches, names = class_legend(tree, tree.counts[0])
    inches = (high - low) * INCHES_PER_UNIT
    columns = legend_columns(names, inches[0] if ax is None else ax.bbox.width / ax.figure.dpi)
    n_lines = max((1 + folded(name).count("\n") for name in names), default=1)
    inches[1] += 0.2 * n_lines * np.ceil(len(names) / columns) + 0.2
    ax = axes_or_new(ax, *inches * min(1.0, MAX_INCHES / inches.max()))
    outputs = tree.outputs()[tree.is_leaf, 0]
    shades = Normalize(outputs.min(), outputs.max())
    for box, place, size, below in zip(boxes, places, sizes, children, strict=True):
        colour = node_colour(tree, box.summary.node, shades) if box.summary.is_leaf else "white"
        _draw_box(ax, tree, box, place, size, "0.93" if box.is_stub else colour)
        at = 0.7 if len(below) > 2 else 0.5  # many links are close where they begin
        for branch, child in enumerate(below):
            if child >= 0:
                start, end = place - [0, size[1] / 2], places[child] + [0, sizes[child, 1] / 2]
                answer = shortened(tree.branch_names(box.summary.node)[branch], 20)
                _draw_link(ax, start, end, at, answer)
    for row, line in enumerate(reversed(notes)):
        write(ax, ((low[0] + high[0]) / 2, low[1] + LINE * (row + 0.5)), line, facecolor=ink())
    ax.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), aspect="equal")
    ax.axis("off")
    if names:
        add_legend(ax, patches, names, columns=columns)
    return with_fonts(ax)


def _box(
    tree: TreeStructure, own: NodeSummary, scale: np.ndarray, max_depth: int | None, max_terms: MaxTerms
) -> NodeBox:
    if own.is_leaf:
        label = shortened(f"class {own.label}" if tree.predicts_classes else own.label, MAX_WORDS)
        lines = textwrap.wrap(label, LEAF_WIDTH, break_on_hyphens=False) or [label]
    elif own.depth == max_depth:
        return NodeBox(own, [f"... {tree.leaves_below[own.node]} leaves"], is_stub=True)
    else:
        lines = lines_of_test(tree, own.node, scale, LINE_WIDTH, max_terms=max_terms)
    return NodeBox(own, lines, is_stub=False)


def _places(children: np.ndarray, sizes: np.ndarray, depths: np.ndarray) -> np.ndarray:
    """Return the middle of each node; each level begins at the same height."""
    across = place_nodes(children, sizes[:, 0])
    rows = np.array([sizes[depths == depth, 1].max() for depth in range(int(depths.max()) + 1)])
    tops = -np.concatenate([[0], np.cumsum(rows[:-1] + 30)])
    return np.column_stack([across, tops[depths] - sizes[:, 1] / 2])


def _extent(places: np.ndarray, sizes: np.ndarray, notes: list[str]) -> tuple[np.ndarray, np.ndarray]:
    """Return the lower left and upper right corner of the picture."""
    low, high = (places - sizes / 2).min(axis=0) - 4, (places + sizes / 2).max(axis=0) + 4
    low[1] -= LINE * len(notes)
    widest = max((width_of(line) + 8 for line in notes), default=0.0)
    spare = np.maximum(0, [max(240.0, widest), 160.0] - (high - low)) / 2  # letters of small trees must not get huge
    return low - spare, high + spare


def _draw_box(
    ax: Axes, tree: TreeStructure, box: NodeBox, place: np.ndarray, size: np.ndarray, colour: str | tuple[float, ...]
) -> None:
    left, bottom = place - size / 2
    style: dict[str, Any] = {"edgecolor": "black", "linewidth": 0.8, "linestyle": "--" if box.is_stub else "-"}
    shape = "round,pad=0,rounding_size=4"
    ax.add_patch(FancyBboxPatch((left, bottom), size[0], size[1], shape, facecolor=colour, zorder=2, **style))
    number, count = box.header
    line = bottom + size[1] - MARGIN - LINE / 2
    write(ax, (left + MARGIN, line), number, bold=True, align=0.0)
    write(ax, (left + size[0] - MARGIN, line), count, align=1.0, facecolor="0.3")
    for text in box.lines:
        line -= LINE
        write(ax, (place[0], line), text, bold=box.summary.is_leaf)
    inside = left + MARGIN, size[0] - 2 * MARGIN
    classes = shown_classes(tree.counts[0])
    _draw_bar(ax, tree, np.array(box.summary.counts), classes, *inside, bottom + MARGIN)
    if box.histogram is not None:
        _draw_histogram(ax, tree, box.histogram, classes, *inside, bottom + MARGIN + BAR + 5)


def _draw_link(ax: Axes, start: np.ndarray, end: np.ndarray, at: float, answer: str) -> None:
    """Draw a line between two boxes with a gap for the answer, whatever is behind it."""
    way, middle = end - start, start + (end - start) * at
    room = np.array([width_of(answer) / 2 + 3, 0.6 * LINE])
    gap = way * float((room / np.maximum(np.abs(way), 1e-9)).min())
    ax.plot(
        *np.transpose([start, middle - gap, [np.nan, np.nan], middle + gap, end]), color=ink(), linewidth=0.8, zorder=1
    )
    write(ax, middle, answer, facecolor=ink())


def _draw_bar(
    ax: Axes, tree: TreeStructure, counts: np.ndarray, classes: list[int], left: float, width: float, bottom: float
) -> None:
    """Draw the shares of the classes, or the share in all examples, as a bar."""
    whole = counts.sum() if tree.predicts_classes else tree.counts[0].sum()
    start = left
    for style, count in class_layers(tree, counts, classes):
        part = float(width * count / whole)
        ax.add_patch(Rectangle((start, bottom), part, BAR, zorder=3, **style))
        start += part
    ax.add_patch(Rectangle((left, bottom), width, BAR, facecolor="none", edgecolor="black", linewidth=0.4, zorder=4))


def _draw_histogram(
    ax: Axes, tree: TreeStructure, histogram: Histogram, classes: list[int], left: float, width: float, bottom: float
) -> None:
    """Draw a histogram, the classes one upon another, into a rectangle of the axes."""
    edges, counts = histogram.edges, histogram.counts
    across = left + width * (edges - edges[0]) / (edges[-1] - edges[0])
    unit, floor = PLOT / max(counts.sum(axis=1).max(), 1), np.zeros(len(counts), dtype=counts.dtype)
    for style, own in class_layers(tree, counts, classes):
        here = np.flatnonzero(own)
        start, end = across[here], across[here + 1]
        low, high = bottom + floor[here] * unit, bottom + (floor + own)[here] * unit
        corners = np.stack([start, low, start, high, end, high, end, low], axis=1).reshape(-1, 4, 2)
        ax.add_collection(PolyCollection(list(corners), zorder=3, **style), autolim=False)
        floor = floor + own
    ax.plot([left, left + width], [bottom, bottom], color="black", linewidth=0.5, zorder=4)
    middle = across[histogram.n_left]
    ax.plot([middle, middle], [bottom - 2, bottom + PLOT + 2], color="black", linewidth=1.1, zorder=4)
