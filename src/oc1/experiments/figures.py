"""Pictures like Figures 1, 2, 5, 7 and 9 of the paper."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from scipy.spatial.distance import pdist

from ..baselines import CARTLCClassifier
from ..datasets import load_figure5, make_pol, make_rcb
from ..impurity import gini
from ..learners.classifier import OC1Classifier
from ..plotting import cut_polygon, draw_partition, draw_tree, save, scatter, tree_regions
from ..plotting.regions import corners
from ..plotting.style import HALO


def _uniform_square(n_samples: int, seed: int, keep: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
    """Draw points of the unit square, only those that `keep` keeps."""
    points = np.random.default_rng(seed).uniform(size=(20 * n_samples, 2))
    return np.asarray(points[keep(points)][:n_samples])


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
        ax.plot(*cut_polygon(corners(box), one[:2], -one[2]).segment.T, label=label, **style)
    scatter(ax, X, y, np.unique(y), 60)
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
    scatter(ax, np.column_stack([found.crossings, levels]), y, np.unique(y), 60)
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
