"""Pictures like Figures 1, 2, 5, 7 and 9 of the paper, charts of results, and the drawing of partitions and trees."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap, to_rgb
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.patches import FancyBboxPatch, PathPatch, Rectangle
from matplotlib.patheffects import withStroke
from matplotlib.textpath import TextPath
from matplotlib.ticker import FixedLocator, MaxNLocator, NullLocator, ScalarFormatter
from matplotlib.transforms import Affine2D
from scipy.spatial.distance import pdist
from sklearn.utils import check_array, check_consistent_length

from ..baselines import CARTLCClassifier
from ..classifier import OC1Classifier
from ..datasets import load_figure5, make_pol, make_rcb
from ..export import equation
from ..impurity import gini
from ..tree import Tree

#: The palette of Okabe and Ito, which colour-blind people can tell apart; its first two differ in grey, too.
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", "#4D4D4D")
MARKERS = ("o", "^", "s", "v", "D", "P", "X", "*")
HALO = [withStroke(linewidth=2.5, foreground="white")]
DPI = 150
#: Points along each side of the grid on which a model that is not a tree of linear tests is asked.
GRID = 400

Box = tuple[float, float, float, float]


def class_style(number: int) -> tuple[str, str]:
    """Return the colour and the marker of the class with this number; no two of the first 64 are alike."""
    return COLOURS[number % len(COLOURS)], MARKERS[(number + number // len(COLOURS)) % len(MARKERS)]


def _tint(colour: str, strength: float = 0.28) -> tuple[float, ...]:
    return tuple(1 - strength * (1 - part) for part in to_rgb(colour))


def _plain(text: Any) -> str:
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
    polygons[0] = _corners(box)
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
    X, y = check_array(X, dtype=float), np.asarray(y)
    check_consistent_length(X, y)
    if X.shape[1] != 2:
        raise ValueError(f"a partition can only be drawn for two attributes, the data have {X.shape[1]}")
    tree = getattr(model, "tree_", model)
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

    _scatter(ax, X, y, classes, float(np.clip(6000 / len(X), 7, 55)))
    names = names or ["x1", "x2"]
    ax.set(xlim=(left, right), ylim=(bottom, top), xlabel=_plain(names[0]), ylabel=_plain(names[1]))


def _scatter(ax: Axes, X: np.ndarray, y: np.ndarray, classes: np.ndarray, size: float) -> None:
    for number, name in enumerate(classes):
        colour, marker = class_style(number)
        here = X[y == name]
        ax.scatter(
            here[:, 0], here[:, 1], s=size, color=colour, marker=marker, edgecolor="black", linewidth=0.3, zorder=2,
            label=f"class {_plain(name)}",
        )  # fmt: skip


def _corners(box: Box) -> np.ndarray:
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

    Everything, letters included, is in the units of the axes, so boxes keep apart at any size of the picture.

    Parameters
    ----------
    ax : matplotlib Axes
    tree : Tree or fitted classifier that has one
        Links to the left are for "no".
    """
    tree = getattr(tree, "tree_", tree)
    if not isinstance(tree, Tree):
        raise TypeError(f"only trees of linear tests can be drawn, got {type(tree).__name__}")
    texts = [_describe(tree, node) for node in range(tree.n_nodes)]
    widths = np.array([max(_letters(line).get_extents().width for line in lines) + 10 for lines in texts])
    heights = np.array([12.0 * len(lines) + 6 for lines in texts])
    across, depths = _place_nodes(tree.children, widths), tree.depths
    row_heights = np.array([heights[depths == depth].max() for depth in range(tree.max_depth + 1)])
    rows = -np.concatenate([[0], np.cumsum((row_heights[1:] + row_heights[:-1]) / 2 + 30)])
    places = np.column_stack([across, rows[depths]])

    for node, (lines, width, height) in enumerate(zip(texts, widths, heights, strict=True)):
        x, middle = places[node]
        colour = _tint(class_style(int(tree.majority[node]))[0]) if tree.is_leaf[node] else "white"
        frame = FancyBboxPatch(
            (x - width / 2, middle - height / 2), width, height, boxstyle="round,pad=0,rounding_size=4",
            facecolor=colour, edgecolor="black", linewidth=0.8, zorder=2,
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
    spare = np.maximum(0, [240, 160] - (high - low)) / 2  # letters of small trees must not get huge
    (left, bottom), (right, top) = low - spare, high + spare
    ax.set(xlim=(left, right), ylim=(bottom, top), aspect="equal")
    ax.axis("off")


def _describe(tree: Tree, node: int) -> list[str]:
    """Write a node in a few short lines, its number first."""
    if tree.is_leaf[node]:
        count = np.format_float_positional(tree.counts[node].sum(), precision=4, trim="-")
        examples = "1 example" if count == "1" else f"{count} examples"
        return [str(node), f"class {tree.classes[tree.majority[node]]}", examples]
    combination, threshold = equation(tree, node, digits=2).rsplit(" > ", 1)
    lines = textwrap.wrap(combination, 24, max_lines=3, placeholder=" ...") or [""]
    if len(lines[-1]) + len(threshold) < 20:
        lines[-1] += f" > {threshold}"
    else:
        lines.append(f"> {threshold}")
    return [str(node), *lines]


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
    return TextPath((0, 0), _plain(text), size=9, prop=FontProperties(weight="bold" if bold else "normal"))


def _write(ax: Axes, x: float, y: float, text: str, bold: bool = False, halo: bool = False) -> None:
    """Write a line of text, centred, as a shape in the units of the axes."""
    letters = _letters(text, bold)
    extent = letters.get_extents()
    moved = Affine2D().translate(x - (extent.x0 + extent.x1) / 2, y - 3.2).transform_path(letters)
    ax.add_patch(PathPatch(moved, facecolor="black", linewidth=0, zorder=3, path_effects=HALO if halo else None))


def _uniform_square(n_samples: int, seed: int, keep: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
    """Draw points of the unit square, only those that `keep` keeps."""
    points = np.random.default_rng(seed).uniform(size=(20 * n_samples, 2))
    return points[keep(points)][:n_samples]


def _add_legend(figure: Figure, ax: Axes) -> None:
    handles, labels = ax.get_legend_handles_labels()
    figure.legend(
        handles, labels, loc="outside lower center", ncols=8, frameon=False, handletextpad=0.3,
    )  # fmt: skip


SOLID: dict[str, Any] = {"color": "black", "linewidth": 1.5, "zorder": 4}
DASHED: dict[str, Any] = {**SOLID, "linestyle": (0, (5, 3)), "linewidth": 1.2}


def figure1(seed: int = 0) -> Figure:
    """Draw a small tree and the partition that it creates, with the same node numbers in both.

    (The paper's tree is axis-parallel; this one is oblique.)
    """

    def heights(X: np.ndarray) -> np.ndarray:
        x1, x2 = X.T
        return np.stack([0.5 * x1 + x2 - 0.75, x2 - 1.6 * x1 + 0.1, x2 + 1.1 * x1 - 0.55])

    X = _uniform_square(90, seed, lambda X: np.abs(heights(X)).min(axis=0) > 0.03)
    first, second, third = heights(X) > 0
    y = np.where(first, np.where(second, "A", "B"), np.where(third, "C", "A"))
    model = OC1Classifier(prune=None, random_state=seed).fit(X, y)
    figure = Figure(figsize=(10, 5), layout="compressed")
    left, right = figure.subplots(1, 2, width_ratios=(1.2, 1))
    draw_tree(left, model)
    left.set_title("An oblique tree ...")
    draw_partition(right, model, X, y, box=(0, 1, 0, 1), number_leaves=True)
    right.set_aspect("equal")
    right.set_title("... and its partition of the attribute space")
    _add_legend(figure, right)
    return figure


def figure2(seed: int = 0) -> Figure:
    """Draw a domain that two oblique lines define, and the staircase by which an axis-parallel tree approximates it."""
    lines = np.array([[[0, 0.55], [0.55, 0]], [[0.25, 1], [1, 0.45]]])

    def heights(X: np.ndarray) -> np.ndarray:
        return np.stack([(X - start) @ [start[1] - end[1], end[0] - start[0]] for start, end in lines])

    X = _uniform_square(300, seed, lambda X: np.abs(heights(X)).min(axis=0) > 0.01)
    first, second = heights(X) > 0
    y = np.where(first & ~second, "B", "A")
    figure = Figure(figsize=(10, 5.5), layout="compressed")
    panels = figure.subplots(1, 2)
    for ax, splits, name in zip(panels, ("best", "axis"), ("Oblique", "Axis-parallel"), strict=True):
        model = OC1Classifier(splits=splits, prune=None, random_state=seed).fit(X, y)
        draw_partition(ax, model, X, y, box=(0, 1, 0, 1), number_nodes=splits == "best")
        if splits == "axis":
            ax.plot(*lines[0].T, label="where the classes really meet", **DASHED)
            ax.plot(*lines[1].T, **DASHED)
        ax.set_aspect("equal")
        ax.set_title(f"{name} tree: {model.get_n_leaves()} leaves")
    _add_legend(figure, panels[1])
    return figure


def figure5(seed: int = 0) -> Figure:
    """Draw the split that CART-LC cannot improve, and the one that OC1 finds from there by one random jump.

    A single jump does not always succeed: the seeds from `seed` on are tried until one does.
    """
    X, y = load_figure5()
    stuck = CARTLCClassifier(max_depth=1, prune=None).fit(X, y)
    for attempt in range(100):
        jumped = OC1Classifier(n_restarts=0, n_jumps=1, max_depth=1, prune=None, random_state=seed + attempt).fit(X, y)
        if jumped.score(X, y) == 1.0:
            break
    figure = Figure(figsize=(10, 5.7), layout="compressed")
    left, right = figure.subplots(1, 2)
    box = (0.0, 10.0, -1.0, 10.0)
    (start,) = tree_regions(stuck.tree_, box)[1].values()
    right.plot(*start.T, **DASHED)
    for ax, model, story in (
        (left, stuck, "CART-LC stays at the best axis-parallel split"),
        (right, jumped, "OC1 gets away from it by one random jump"),
    ):
        draw_partition(ax, model, X, y, box=box, number_nodes=False)
        wrong = model.predict(X) != y
        ring = {"s": 200, "facecolor": "none", "edgecolor": "black", "linewidth": 1.5, "zorder": 4}
        ax.scatter(*X[wrong].T, label="on the wrong side", **ring)
        ax.set_aspect("equal")
        ax.set_title(f"{story}\n({wrong.sum()} of {len(y)} examples on the wrong side)")
    left.plot([], [], label=f"where OC1 starts (jumps tried from here: {attempt + 1})", **DASHED)
    _add_legend(figure, left)
    return figure


class LineSearch(NamedTuple):
    """The best value of one coefficient of a hyperplane, all others fixed.

    Attributes
    ----------
    crossings : array (n,)
        The U of each example: it lies above the hyperplane if the coefficient is larger.
    places : array (n_places,)
        The values worth trying: midway between different crossings.
    impurities : array (n_places,)
    best : float
        The first of the places that are purest.
    """

    crossings: np.ndarray
    places: np.ndarray
    impurities: np.ndarray
    best: float


def search_coefficient(plane: np.ndarray, m: int, X: np.ndarray, y: np.ndarray) -> LineSearch:
    """Find the value of one coefficient that splits the examples best by the Gini index (Eq. 2 and Figure 8).

    Slow and plain, to be looked at; `oc1.OC1Classifier` does not use it.

    Parameters
    ----------
    plane : array (n_features + 1,)
        Coefficients and the constant: an example is above if ``plane[:-1] . x + plane[-1] > 0``.
    m : int
        Which attribute's coefficient; its values must be positive.
    X : array (n, n_features)
    y : array (n,)
        Class labels.
    """
    if not (X[:, m] > 0).all():
        raise ValueError(f"the values of attribute {m} must all be positive")
    crossings = (plane[m] * X[:, m] - (X @ plane[:-1] + plane[-1])) / X[:, m]
    levels = np.unique(crossings)
    places = (levels[1:] + levels[:-1]) / 2
    classes, codes = np.unique(y, return_inverse=True)

    def impurity(place: float) -> float:
        return gini(*(np.bincount(codes[side], minlength=len(classes)) for side in _sides(crossings, place)))

    impurities = np.array([impurity(place) for place in places])
    return LineSearch(crossings, places, impurities, float(places[impurities.argmin()]))


def _draw_search(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, int, LineSearch]:
    """Draw a few examples until the search for one coefficient shows well; return X, y, plane, m and the search.

    It starts from the best axis-parallel split, and the coefficient is that of the other attribute.
    """
    rng = np.random.default_rng(seed)
    while True:
        X = rng.uniform(0.2, 1, size=(16, 2))
        X = X[np.argsort(X[:, 0])]
        y = np.where(X[:, 1] + 0.1 * rng.normal(size=len(X)) > 0.2 + 0.7 * X[:, 0], "A", "B")
        if len(np.unique(y)) < 2 or pdist(X).min() < 0.05:
            continue
        model = OC1Classifier(criterion="gini", splits="axis", max_depth=1, prune=None, random_state=seed).fit(X, y)
        features, coefficients, threshold = model.tree_.test(0)
        plane = np.zeros(3)
        plane[features], plane[-1] = coefficients, -threshold
        m = 1 - int(features[0])
        found = search_coefficient(plane, m, X, y)
        now = found.impurities[np.searchsorted(np.sort(found.crossings), plane[m]) - 1]
        gaps = np.diff(np.sort(found.crossings)) / np.ptp(found.crossings)
        readable = gaps.min() > 0.008 and gaps[found.impurities.argmin()] > 0.03
        if readable and 0 < found.impurities.min() < now - 0.08:
            return X, y, plane, m, found


def _sides(crossings: np.ndarray, place: float) -> tuple[np.ndarray, np.ndarray]:
    """Return which examples are above the hyperplane, and which below, for a value of the coefficient."""
    return crossings < place, crossings >= place


def figure7(seed: int = 0) -> Figure:
    """Draw the search for one coefficient: the U of each example on a line, and the best place among them."""
    X, y, plane, m, found = _draw_search(seed)
    moved = np.where(np.arange(3) == m, found.best, plane)
    figure = Figure(figsize=(11, 5), layout="constrained")
    panels = figure.subplot_mosaic(
        [["plane", "impurity"], ["plane", "axis"]], width_ratios=(1, 1.3), height_ratios=(1, 1.4)
    )
    coefficient, old_label, new_label = f"$a_{m + 1}$", "before", "after: the best value"
    ax = panels["plane"]
    box = (0.0, 1.1, 0.0, 1.1)
    for one, style, label in ((plane, DASHED, old_label), (moved, SOLID, new_label)):
        ax.plot(*cut_polygon(_corners(box), one[:2], -one[2]).segment.T, label=label, **style)
    _scatter(ax, X, y, np.unique(y), 60)
    for number, place in enumerate(X, 1):
        ax.annotate(str(number), place, xytext=(5, 4), textcoords="offset points", size=8, zorder=5, path_effects=HALO)
    ax.set(xlim=box[:2], ylim=box[2:], xlabel="x1", ylabel="x2", aspect="equal")
    ax.set_title(f"Only the coefficient {coefficient} of x{m + 1} changes: the line turns")

    order = np.argsort(found.crossings)
    spread = np.ptp(found.crossings)
    limits = found.crossings.min() - 0.06 * spread, found.crossings.max() + 0.06 * spread
    ax = panels["axis"]
    ends: list[float] = []  # where the last marker of each level is
    levels = np.zeros(len(X))
    for j in order:
        free = [level for level, end in enumerate(ends) if found.crossings[j] - end > 0.06 * spread]
        level = free[0] if free else len(ends)
        ends[level : level + 1] = [found.crossings[j]]
        levels[j] = level + 1
    ax.vlines(found.crossings, 0, levels, color="grey", linewidth=0.8, zorder=1)
    _scatter(ax, np.column_stack([found.crossings, levels]), y, np.unique(y), 60)
    for number, place in enumerate(zip(found.crossings, levels, strict=True), 1):
        ax.annotate(
            f"$U_{{{number}}}$", place, xytext=(0, 6), textcoords="offset points", size=9, ha="center", zorder=5,
            path_effects=HALO,
        )  # fmt: skip
    ax.set(xlim=limits, ylim=(0, len(ends) + 0.8), yticks=[], xlabel=f"value of {coefficient}")
    ax.spines[["left", "right", "top"]].set_visible(False)
    sides = _sides(found.crossings, found.best)
    for side, name, place, ha in zip(sides, ("above", "below"), (0.01, 0.99), ("left", "right"), strict=True):
        kinds, counts = np.unique(y[side], return_counts=True)
        ax.annotate(
            f"{name} the line: {counts.max()} {kinds[counts.argmax()]}, {side.sum() - counts.max()} other",
            (place, 1), xycoords="axes fraction", ha=ha, va="bottom", size=9,
        )  # fmt: skip
    top = panels["impurity"]
    top.sharex(ax)
    steps = np.unique(found.crossings)
    top.stairs(found.impurities, steps, baseline=None, color="black", linewidth=1.3)
    top.scatter(found.best, found.impurities.min(), color="black", zorder=3)
    top.set(ylabel="impurity (Gini)", ylim=(0, None))
    top.tick_params(labelbottom=False)
    top.set_title(f"Each {coefficient} between two U's is one split: the purest is taken")
    for panel in (top, ax):
        panel.axvline(plane[m], **DASHED)
        panel.axvline(found.best, **SOLID)
    _add_legend(figure, panels["plane"])
    return figure


def figure9(seed: int = 0) -> Figure:
    """Draw the POL and RCB data and the lines of the trees that OC1 finds for them."""
    figure = Figure(figsize=(10.5, 5.8), layout="compressed")
    panels = figure.subplots(1, 2)
    for ax, name, make in zip(panels, ("POL", "RCB"), (make_pol, make_rcb), strict=True):
        X, y = make(random_state=seed)
        model = OC1Classifier(random_state=seed).fit(X, y)
        draw_partition(ax, model, X, y, box=(0, 1, 0, 1))
        ax.set_aspect("equal")
        ax.set_title(f"{name}: {len(X)} examples, OC1's tree has {model.get_n_leaves()} leaves")
    _add_legend(figure, panels[1])
    return figure


#: What `draw_all` draws.
FIGURES = {"figure1": figure1, "figure2": figure2, "figure5": figure5, "figure7": figure7, "figure9": figure9}


def draw_all(folder: Path, seed: int = 0) -> list[Path]:
    """Draw all figures into a folder, as PNG files; return their paths.

    Parameters
    ----------
    folder : Path
        Made if missing; files there are overwritten.
    seed : int, default=0
    """
    paths = []
    for name, draw in FIGURES.items():
        paths.append(Path(folder) / f"{name}.png")
        save(draw(seed), paths[-1])
    return paths


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


def _by_data(rows: list[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    if not rows:
        raise ValueError("there is nothing to draw: no results were given")
    groups: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        groups.setdefault(row["data"], []).append(row)
    return groups


def _floor(lowest: float, highest: float) -> float:
    """Return where an axis of accuracies starts so that the differences between its bars can be seen."""
    return max(0.0, math.floor(lowest - max(1.0, 0.5 * (highest - lowest))))


def bar_chart(rows: list[dict[str, Any]], path: Path) -> None:
    """Draw the accuracies of learners beside the paper's, one panel for each data set, and write the picture.

    Parameters
    ----------
    rows : list of dict
        With the keys ``data``, ``learner``, ``ours``, ``ours_sd``, ``paper``, ``paper_sd``: accuracies in percent and
        their standard deviations; None for what is not known.
    path : Path
        Ends in ``.png`` or ``.svg``. Its folder is made if missing; a file there is overwritten.
    """
    groups = _by_data(rows)
    n_columns = min(2, len(groups))
    n_rows = -(-len(groups) // n_columns)
    widest = max(len(group) for group in groups.values())
    figure = Figure(figsize=(n_columns * max(4.0, 0.85 * widest + 1), 3.3 * n_rows + 0.4), layout="constrained")
    panels = figure.subplots(n_rows, n_columns, squeeze=False).ravel()
    for ax in panels[len(groups) :]:
        ax.axis("off")
    bars = (("paper", -0.21, COLOURS[1], "black"), ("ours", 0.21, COLOURS[0], "white"))
    for ax, (data, group) in zip(panels, groups.items(), strict=False):
        ends = [
            row[who] + sign * (row[f"{who}_sd"] or 0.0)
            for row in group for who, *_ in bars for sign in (-1, 1) if row[who] is not None
        ]  # fmt: skip
        low, high = (min(ends), max(ends)) if ends else (0.0, 100.0)
        floor = _floor(low, high)
        for place, row in enumerate(group):
            for who, shift, colour, ink in bars:
                x, value, deviation = place + shift, row[who], row[f"{who}_sd"]
                text, ink = ("no value", "grey") if value is None else (f"{value:.1f}", ink)
                ax.annotate(
                    text, (x, floor), xytext=(0, 4), textcoords="offset points", ha="center", rotation=90, size=9,
                    color=ink,
                )  # fmt: skip
                if value is not None:
                    ax.bar(x, value - floor, 0.4, bottom=floor, color=colour, edgecolor="black", linewidth=0.6)
                    if deviation is not None:
                        ax.errorbar(x, value, deviation, color="black", capsize=3, linewidth=1)
        ax.set(xlim=(-0.6, widest - 0.4), ylim=(floor, high + 0.08 * (high - floor)), title=_plain(data))
        ax.set_xticks(range(len(group)), [textwrap.fill(_plain(row["learner"]), 12) for row in group], size=9)
        ax.set_ylabel("accuracy (%)" + (f", axis starts at {floor:g}" if floor else ""))
        ax.spines[["right", "top"]].set_visible(False)
    handles = [Rectangle((0, 0), 1, 1, facecolor=colour, edgecolor="black") for _, _, colour, _ in bars]
    title = "accuracy; error bars: one standard deviation"
    figure.legend(handles, ["paper", "ours"], title=title, loc="outside upper center", ncols=2, frameon=False)
    save(figure, path)


def restarts_curve(points: list[dict[str, Any]], path: Path) -> None:
    """Draw accuracy and leaves against the number of restarts, one column for each data set, and write the picture.

    Parameters
    ----------
    points : list of dict
        With the keys ``data``, ``restarts``, ``accuracy``, ``accuracy_sd`` (in percent) and ``leaves``.
    path : Path
        Ends in ``.png`` or ``.svg``. Its folder is made if missing; a file there is overwritten.
    """
    groups = _by_data(points)
    if min(point["restarts"] for point in points) < 1:
        raise ValueError("the axis of restarts is logarithmic: numbers of restarts must be at least 1")
    n_columns = min(4, len(groups))
    n_blocks = -(-len(groups) // n_columns)
    figure = Figure(figsize=(max(4.5, 3.0 * n_columns), 4.6 * n_blocks), layout="constrained")
    panels = figure.subplots(2 * n_blocks, n_columns, squeeze=False)
    for ax in panels.flat:
        ax.axis("off")
    for i, (data, group) in enumerate(groups.items()):
        group = sorted(group, key=lambda point: point["restarts"])
        restarts, accuracy, deviation, leaves = (
            np.array([point[key] for point in group], dtype=float)
            for key in ("restarts", "accuracy", "accuracy_sd", "leaves")
        )
        upper, lower = panels[2 * (i // n_columns) : 2 * (i // n_columns) + 2, i % n_columns]
        upper.errorbar(restarts, accuracy, np.nan_to_num(deviation), color=COLOURS[0], marker="o", capsize=3)
        lower.plot(restarts, leaves, color=COLOURS[5], marker="s")
        for ax in (upper, lower):
            ax.axis("on")
            ax.set_xscale("log")
            ax.grid(alpha=0.3)
            ax.xaxis.set_major_locator(FixedLocator(_few(restarts)))
            ax.xaxis.set_major_formatter(ScalarFormatter())
            ax.xaxis.set_minor_locator(NullLocator())
        upper.set_title(_plain(data))
        lower.set(xlabel="restarts (logarithmic)", ylim=(0, 1.1 * leaves.max()))
        lower.yaxis.set_major_locator(MaxNLocator(6, integer=True))
        if i % n_columns == 0:
            upper.set_ylabel("accuracy (%)\n± standard deviation")
            lower.set_ylabel("leaves")
    save(figure, path)


def _few(values: Iterable[float]) -> list[float]:
    """Leave out values that would be written over one another on a logarithmic axis."""
    kept: list[float] = []
    for value in sorted(values):
        if not kept or value >= 1.4 * kept[-1]:
            kept.append(value)
    return kept
