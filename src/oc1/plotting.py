"""Pictures of fitted trees: the partition of the plane, and the tree as boxes and lines."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import Any, NamedTuple

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap, to_rgb
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.patches import FancyBboxPatch, PathPatch
from matplotlib.patheffects import withStroke
from matplotlib.textpath import TextPath
from matplotlib.transforms import Affine2D
from sklearn.utils import check_array, check_consistent_length

from .export import code_lists, equation_sides, feature_name
from .tree import RegressionTree, Tree

#: The palette of Okabe and Ito, which colour-blind people can tell apart; its first two differ in grey, too.
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", "#4D4D4D")
MARKERS = ("o", "^", "s", "v", "D", "P", "X", "*")
HALO = [withStroke(linewidth=2.5, foreground="white")]
DPI = 150
#: Codes of categories are written below a tree in lines of so many letters.
NOTE_WIDTH = 60
#: Points along each side of the grid on which a model that is not a tree of linear tests is asked.
GRID = 400

Box = tuple[float, float, float, float]


def class_style(number: int) -> tuple[str, str]:
    """Return the colour and the marker of the class with this number; no two of the first 64 are alike."""
    return COLOURS[number % len(COLOURS)], MARKERS[(number + number // len(COLOURS)) % len(MARKERS)]


def _tint(colour: str, strength: float = 0.28) -> tuple[float, ...]:
    return tuple(1 - strength * (1 - part) for part in to_rgb(colour))


def plain(text: Any) -> str:
    """Keep matplotlib from reading dollar signs as mathematics."""
    return str(text).replace("$", r"\$")


class Cut(NamedTuple):
    """A convex polygon (corners in order, possibly none) cut by a line: the two parts and where the line runs in it."""

    below: np.ndarray
    above: np.ndarray
    segment: np.ndarray


def cut_polygon(polygon: np.ndarray, normal: np.ndarray, threshold: float) -> Cut:
    """Cut a convex polygon by the line ``normal . x = threshold``.

    Parameters
    ----------
    polygon : array (n_corners, 2)
        Corners in order; may be empty.
    normal : array (2,)
    threshold : float

    Returns
    -------
    Cut
        ``below`` (where ``normal . x <= threshold``), ``above``, and ``segment``, the two ends of the line in the
        polygon; each is empty if there is nothing of it.

    Examples
    --------
    >>> square = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])
    >>> cut_polygon(square, np.array([1.0, 0.0]), 0.25).below.tolist()
    [[0.0, 0.0], [0.25, 0.0], [0.25, 1.0], [0.0, 1.0]]
    """
    heights = polygon @ normal - threshold
    nothing = np.empty((0, 2))
    if not (heights > 0).any():
        return Cut(polygon, nothing, nothing)
    if not (heights < 0).any():
        return Cut(nothing, polygon, nothing)
    below, above, ends = [], [], []
    for i, (corner, height) in enumerate(zip(polygon, heights, strict=True)):
        before = heights[i - 1]
        if before * height < 0:
            crossing = polygon[i - 1] + before / (before - height) * (corner - polygon[i - 1])
            ends.append(crossing)
            below.append(crossing)
            above.append(crossing)
        if height == 0:
            ends.append(corner)
        if height <= 0:
            below.append(corner)
        if height >= 0:
            above.append(corner)
    return Cut(np.array(below), np.array(above), np.array(ends))


def tree_regions(tree: Tree, box: Box) -> tuple[list[np.ndarray], dict[int, np.ndarray]]:
    """Return the region of each node of a tree on two attributes, and the piece of its line inside that region.

    Parameters
    ----------
    tree : Tree
    box : (left, right, bottom, top)
        The part of the plane that is looked at.

    Returns
    -------
    polygons : list of arrays (n_corners, 2)
        One for each node; empty if the node has no part in the box.
    segments : dict of arrays (2, 2)
        The two ends of the line of each inner node whose line passes through its region.
    """
    polygons = [np.empty((0, 2))] * tree.n_nodes
    polygons[0] = corners(box)
    segments = {}
    for node in np.flatnonzero(~tree.is_leaf).tolist():  # preorder: parents come before their children
        features, coefficients, threshold = tree.test(node)
        normal = np.zeros(2)
        normal[features] = coefficients
        cut = cut_polygon(polygons[node], normal, threshold)
        no, yes = tree.children[node]
        polygons[no], polygons[yes] = cut.below, cut.above
        if len(cut.segment):
            segments[node] = cut.segment
    return polygons, segments


def draw_partition(
    ax: Axes, model: Any, X, y, *, box: Box | None = None, number_nodes: bool = True, number_leaves: bool = False
) -> None:
    """Draw examples with two attributes and how a model divides the plane.

    Regions are tinted in the colour of their class. For trees of linear tests each line is drawn inside the region of
    its node and carries the node's number; other models are asked on a grid. The examples have labels for a legend.

    Parameters
    ----------
    ax : matplotlib Axes
    model : Tree or fitted classifier
    X : array-like (n_samples, 2)
    y : array-like (n_samples,)
        Class labels.
    box : (left, right, bottom, top), optional
        The part of the plane that is shown. None: where the examples are, and a little more.
    number_nodes : bool, default=True
        Write node numbers on the lines.
    number_leaves : bool, default=False
        Write node numbers into the regions of leaves.
    """
    make_frame = type(X) if hasattr(X, "iloc") else None
    names = list(X.columns) if make_frame else []
    tree = getattr(model, "tree_", model)
    _refuse_categories(model, tree)
    if isinstance(tree, RegressionTree):
        raise TypeError("a partition can only be drawn for classes, and this tree predicts numbers")
    X, y = check_array(X, dtype=float), np.asarray(y)
    check_consistent_length(X, y)
    if X.shape[1] != 2:
        raise ValueError(f"a partition can only be drawn for two attributes, the data have {X.shape[1]}")
    if isinstance(tree, Tree):
        if len(tree.fill) != 2:
            raise ValueError(f"a partition can only be drawn for two attributes, the tree has {len(tree.fill)}")
        known, names = tree.classes, list(tree.feature_names) or names
    else:
        known = getattr(model, "classes_", y)
    classes = np.union1d(known, y)
    styles = [class_style(i) for i in range(len(classes))]
    left, right, bottom, top = box = box or _box_around(X)

    if isinstance(tree, Tree):
        polygons, segments = tree_regions(tree, box)
        numbers = np.searchsorted(classes, tree.classes[tree.majority])
        leaves = [node for node in np.flatnonzero(tree.is_leaf).tolist() if len(polygons[node])]
        for leaf in leaves:
            ax.fill(*polygons[leaf].T, color=_tint(styles[numbers[leaf]][0]), linewidth=0, zorder=0)
        for segment in segments.values():
            ax.plot(*segment.T, color="black", linewidth=1.3, solid_capstyle="butt", zorder=3)
        inside = {leaf: _empty_place(polygons[leaf], X) for leaf in leaves} if number_leaves else {}
        for leaf, place in inside.items():
            ax.annotate(
                str(leaf), tuple(place), ha="center", va="center", size=9, style="italic", zorder=5, path_effects=HALO
            )
        if number_nodes:
            _number_lines(ax, segments, box, list(inside.values()))
    else:
        horizontal, vertical = (np.linspace(low, high, GRID + 1) for low, high in ((left, right), (bottom, top)))
        centres = [(edges[1:] + edges[:-1]) / 2 for edges in (horizontal, vertical)]
        grid = np.stack(np.meshgrid(*centres), axis=-1).reshape(-1, 2)
        answers = model.predict(make_frame(grid, columns=names) if make_frame else grid)
        numbers = np.searchsorted(classes, answers).reshape(GRID, GRID)
        tints = ListedColormap([_tint(colour) for colour, _ in styles])
        ax.imshow(
            numbers, cmap=tints, vmin=-0.5, vmax=len(classes) - 0.5, extent=box, origin="lower",
            interpolation="nearest", aspect=ax.get_aspect(), zorder=0,
        )  # fmt: skip

    scatter(ax, X, y, classes, float(np.clip(6000 / len(X), 7, 55)))
    names = names or ["x1", "x2"]
    ax.set(xlim=(left, right), ylim=(bottom, top), xlabel=plain(names[0]), ylabel=plain(names[1]))


def _refuse_categories(model: Any, tree: Any) -> None:
    own = getattr(tree, "codes", ()) or getattr(model, "categories_", None) or ()
    for m, values in enumerate(own):
        if values is not None:
            name = feature_name(tree, m) if isinstance(tree, Tree) else f"x{m + 1}"
            raise ValueError(
                f"a partition can only be drawn for numbers, but {name} is categorical: its values have no place in a "
                "plane; draw_tree shows such a tree"
            )


def scatter(ax: Axes, X: np.ndarray, y: np.ndarray, classes: np.ndarray, size: float) -> None:
    """Draw points, each class in its colour and shape."""
    for number, name in enumerate(classes):
        colour, marker = class_style(number)
        here = X[y == name]
        ax.scatter(
            here[:, 0], here[:, 1], s=size, color=colour, marker=marker, edgecolor="black", linewidth=0.3, zorder=2,
            label=f"class {plain(name)}",
        )  # fmt: skip


def corners(box: Box) -> np.ndarray:
    """Return the corners of a box (left, right, bottom, top) in order."""
    left, right, bottom, top = box
    return np.array([[left, bottom], [right, bottom], [right, top], [left, top]], dtype=float)


def _empty_place(polygon: np.ndarray, X: np.ndarray) -> np.ndarray:
    """Return a place well inside a convex polygon that is far from the examples."""
    middle = polygon.mean(axis=0)
    places = [middle + share * (corner - middle) for share in (0.0, 0.2, 0.4) for corner in polygon]
    return max(places, key=lambda place: np.linalg.norm(X - place, axis=1).min())


def _box_around(X: np.ndarray) -> Box:
    low, high = X.min(axis=0), X.max(axis=0)
    margin = np.where(high > low, 0.05 * (high - low), 0.5)
    (left, bottom), (right, top) = low - margin, high + margin
    return float(left), float(right), float(bottom), float(top)


def _number_lines(ax: Axes, segments: dict[int, np.ndarray], box: Box, taken: list[np.ndarray]) -> None:
    """Write the numbers of nodes on their lines, near the middle but away from other numbers and from ends of lines."""
    size = np.array([box[1] - box[0], box[3] - box[2]])
    taken = [*taken, *(end for segment in segments.values() for end in segment)]

    def distance(place: np.ndarray) -> float:
        return min(float(np.linalg.norm((place - other) / size)) for other in taken)

    def length(node: int) -> float:
        return float(np.linalg.norm((segments[node][1] - segments[node][0]) / size))

    for node in sorted(segments, key=length):  # short lines have the least choice
        start, end = segments[node]
        places = [start + (0.5 + side * step) * (end - start) for step in np.linspace(0, 0.4, 9) for side in (1, -1)]
        place = next((place for place in places if distance(place) > 0.07), max(places, key=distance))
        taken.append(place)
        ax.annotate(
            str(node), tuple(place), ha="center", va="center", size=8, weight="bold", zorder=6,
            bbox={"boxstyle": "round,pad=0.2", "facecolor": "white", "edgecolor": "black", "linewidth": 0.6},
        )  # fmt: skip


def draw_tree(ax: Axes, tree: Any) -> None:
    """Draw a tree of linear tests as boxes and links, with the node numbers that `draw_partition` writes.

    Everything, letters included, is in the units of the axes, so boxes keep apart at any size of the picture. Leaves
    have the colour of their class, or are the darker the larger the number that they predict. Codes of categories that
    stand in combinations are listed below the tree.

    Parameters
    ----------
    ax : matplotlib Axes
    tree : Tree or fitted learner that has one
        Links to the left are for "no".
    """
    tree = getattr(tree, "tree_", tree)
    if not isinstance(tree, Tree):
        raise TypeError(f"only trees of linear tests can be drawn, got {type(tree).__name__}")
    texts = [_describe(tree, node) for node in range(tree.n_nodes)]
    colours = _leaf_colours(tree)
    widths = np.array([max(_letters(line).get_extents().width for line in lines) + 10 for lines in texts])
    heights = np.array([12.0 * len(lines) + 6 for lines in texts])
    across, depths = _place_nodes(tree.children, widths), tree.depths
    row_heights = np.array([heights[depths == depth].max() for depth in range(tree.max_depth + 1)])
    rows = -np.concatenate([[0], np.cumsum((row_heights[1:] + row_heights[:-1]) / 2 + 30)])
    places = np.column_stack([across, rows[depths]])

    for node, (lines, width, height) in enumerate(zip(texts, widths, heights, strict=True)):
        x, middle = places[node]
        frame = FancyBboxPatch(
            (x - width / 2, middle - height / 2), width, height, boxstyle="round,pad=0,rounding_size=4",
            facecolor=colours.get(node, "white"), edgecolor="black", linewidth=0.8, zorder=2,
        )  # fmt: skip
        ax.add_patch(frame)
        for i, line in enumerate(lines):
            _write(ax, x, middle + 12 * ((len(lines) - 1) / 2 - i), line, bold=i == 0)
        for child, answer in zip(tree.children[node], ("no", "yes"), strict=True):
            if child >= 0:
                start, end = np.array([x, middle - height / 2]), places[child] + [0, heights[child] / 2]
                ax.plot(*np.transpose([start, end]), color="black", linewidth=0.8, zorder=1)
                _write(ax, (start[0] + end[0]) / 2, (start[1] + end[1]) / 2, answer, halo=True)
    low = (places - np.column_stack([widths, heights]) / 2).min(axis=0) - 4
    high = (places + np.column_stack([widths, heights]) / 2).max(axis=0) + 4
    for line in [line for words in code_lists(tree, digits=2) for line in textwrap.wrap(words, NOTE_WIDTH)]:
        low[1] -= 12
        middle, half = (low[0] + high[0]) / 2, _letters(line).get_extents().width / 2 + 4
        _write(ax, middle, low[1] + 6, line)
        low[0], high[0] = min(low[0], middle - half), max(high[0], middle + half)
    spare = np.maximum(0, [240, 160] - (high - low)) / 2  # letters of small trees must not get huge
    (left, bottom), (right, top) = low - spare, high + spare
    ax.set(xlim=(left, right), ylim=(bottom, top), aspect="equal")
    ax.axis("off")


def _describe(tree: Tree, node: int) -> list[str]:
    """Write a node in a few short lines, its number first."""
    if tree.is_leaf[node]:
        count = np.format_float_positional(tree.counts[node].sum(), precision=4, trim="-")
        examples = "1 example" if count == "1" else f"{count} examples"
        if isinstance(tree, RegressionTree):
            return [str(node), f"{tree.values[node]:.3g}", examples]
        return [str(node), f"class {tree.classes[tree.majority[node]]}", examples]
    combination, *threshold = equation_sides(tree, node, digits=2)
    lines = textwrap.wrap(combination, 24, max_lines=3, placeholder=" ...") or [""]
    for right in threshold:
        if len(lines[-1]) + len(right) < 22:
            lines[-1] += f" {right}"
        else:
            lines.append(right)
    return [str(node), *lines]


def _leaf_colours(tree: Tree) -> dict[int, tuple[float, ...]]:
    leaves = np.flatnonzero(tree.is_leaf).tolist()
    if not isinstance(tree, RegressionTree):
        return {leaf: _tint(class_style(int(tree.majority[leaf]))[0]) for leaf in leaves}
    values = tree.values[leaves]
    heights = (values - values.min()) / (np.ptp(values) or 1.0)
    return {leaf: _tint(COLOURS[0], 0.05 + 0.5 * height) for leaf, height in zip(leaves, heights, strict=True)}


def _place_nodes(children: np.ndarray, widths: np.ndarray, gap: float = 12.0) -> np.ndarray:
    """Return where the middle of each node is from left to right: nodes of a level keep `gap` apart."""
    shifts = np.zeros(len(children))  # from the parent
    outlines: list[list[tuple[float, float]]] = [[] for _ in children]  # left and right end of each level below a node
    for node in range(len(children) - 1, -1, -1):  # preorder: children come after their parents
        below = [int(child) for child in children[node] if child >= 0]
        outline: list[tuple[float, float]] = []
        for child in below:
            own = outlines[child]
            shift = max((right + gap - left for (_, right), (left, _) in zip(outline, own, strict=False)), default=0.0)
            shifts[child] = shift
            moved = [(left + shift, right + shift) for left, right in own]
            both = [(ours[0], theirs[1]) for ours, theirs in zip(outline, moved, strict=False)]
            outline = both + outline[len(both) :] + moved[len(both) :]
        middle = (shifts[below[0]] + shifts[below[-1]]) / 2 if below else 0.0
        shifts[below] -= middle
        lower = [(left - middle, right - middle) for left, right in outline]
        outlines[node] = [(-widths[node] / 2, widths[node] / 2), *lower]
    places = np.zeros(len(children))
    for node, row in enumerate(children):
        below = row[row >= 0]
        places[below] = places[node] + shifts[below]
    return places


def _letters(text: str, bold: bool = False) -> TextPath:
    return TextPath((0, 0), plain(text), size=9, prop=FontProperties(weight="bold" if bold else "normal"))


def _write(ax: Axes, x: float, y: float, text: str, bold: bool = False, halo: bool = False) -> None:
    """Write a line of text, centred, as a shape in the units of the axes."""
    letters = _letters(text, bold)
    extent = letters.get_extents()
    moved = Affine2D().translate(x - (extent.x0 + extent.x1) / 2, y - 3.2).transform_path(letters)
    ax.add_patch(PathPatch(moved, facecolor="black", linewidth=0, zorder=3, path_effects=HALO if halo else None))


def save(figure: Figure, path: Path) -> None:
    """Write a figure as PNG or SVG, by the suffix of the path: always the same file for the same figure.

    Parameters
    ----------
    figure : matplotlib Figure
    path : Path
        Its folder is made if missing; a file there is overwritten.
    """
    path = Path(path)
    if path.suffix not in (".png", ".svg"):
        raise ValueError(f"a picture's file name must end in .png or .svg, got {path.name!r}")
    path.parent.mkdir(parents=True, exist_ok=True)
    with matplotlib.rc_context({"svg.hashsalt": "oc1"}):  # ids in an SVG file are random without it
        figure.savefig(path, dpi=DPI, metadata={"Date": None} if path.suffix == ".svg" else None)
