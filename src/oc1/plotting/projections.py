"""How the examples of a node lie about its test."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Patch

from ..tree.linear import Tree
from ..tree.regression import RegressionTree
from ..tree.summaries import NodeExamples, label_of, scale_of, threshold_of, tree_of
from ..tree.text import equation_sides
from .equations import checked_node, left_side, wrapped
from .style import COLOURS, add_legend, class_area, new_axes, plain, shortened

#: Bars of a histogram.
BINS = 40


def plot_projection(model: Any, node: int, X, y=None, *, ax: Axes | None = None) -> Axes:
    """Draw where the examples of a node lie along what its test adds up, and where the threshold is.

    For classes that is a histogram, the classes one upon another. Numbers to predict are drawn against the projection,
    with what each side predicts if nothing more were asked.

    Parameters
    ----------
    model : fitted tree learner, or a tree
    node : int
        Number of a node that has a test.
    X : array-like (n_samples, n_features)
        Examples, as the model takes them; those that reach the node are shown.
    y : array-like (n_samples,)
        Their classes or numbers.
    ax : matplotlib Axes, optional
        None: those of a new figure.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from oc1 import OC1Classifier
    >>> from oc1.datasets import make_pol
    >>> X, y = make_pol(300, random_state=0)
    >>> ax = plot_projection(OC1Classifier(random_state=0).fit(X, y), 0, X, y, ax=Figure().subplots())
    >>> ax.get_ylabel()
    'examples'
    """
    tree = checked_node(tree_of(model), node)
    threshold = threshold_of(tree, node)
    if threshold is None:
        raise ValueError(f"node {node} asks only whether a value is missing: there is no projection to show")
    examples = NodeExamples.make(model, X, y)
    rows, places, goes_right = examples.projected(node)
    ax = new_axes(7.5, 4.5) if ax is None else ax
    histogram = examples.histogram(node, BINS)
    edges = histogram.edges
    if isinstance(tree, RegressionTree) and y is not None:
        values = np.asarray(y, dtype=float)
        if len(values) != len(examples.X):
            raise ValueError(f"X has {len(examples.X)} rows, but y has {len(values)}")
        _draw_numbers(ax, tree, node, places, values[rows], edges, threshold)
    else:
        floor = np.zeros(len(edges) - 1)
        for k, counts in enumerate(histogram.counts.T):
            if counts.any():
                style = class_area(k) if len(tree.classes) else {"facecolor": "0.45", "linewidth": 0}
                ax.bar(edges[:-1], counts, np.diff(edges), floor, align="edge", **style)
                floor = floor + counts
        present = np.flatnonzero(histogram.counts.sum(axis=0)).tolist()
        if len(tree.classes):
            add_legend(ax, [Patch(**class_area(k)) for k in present], tree.classes[present])
        ax.set(ylabel="examples", ylim=(0, 1.06 * max(floor.max(), 1)))
    ax.axvline(threshold, color="black", linewidth=1.3)
    for child, answer, side in ((0, "no", ~goes_right), (1, "yes", goes_right)):
        label = shortened(label_of(tree, int(tree.children[node, child])), 20)
        count = f"{answer}: {side.sum()} examples"
        arrow = f"{count} \N{RIGHTWARDS ARROW}" if child else f"\N{LEFTWARDS ARROW} {count}"
        words = plain(f"mostly {label}" if len(tree.classes) else f"predicts {label}")
        ax.set_title(f"{arrow}\n{words}", loc="right" if child else "left", size=9)
    lines = wrapped([*left_side(tree, node, scale_of(model, examples)), _threshold_words(tree, node)], 70)
    margin = 0.02 * (edges[-1] - edges[0])
    ax.set(xlim=(edges[0] - margin, edges[-1] + margin), xlabel="\n".join(map(plain, lines)))
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def _threshold_words(tree: Tree, node: int) -> str:
    sides = equation_sides(tree, node)
    return sides[-1] if len(sides) == 2 else f"> {tree.thresholds[node]:.3g}"


def _draw_numbers(
    ax: Axes, tree: RegressionTree, node: int, places: np.ndarray, values: np.ndarray, edges: np.ndarray,
    threshold: float,
) -> None:  # fmt: skip
    """Draw numbers against projections, and what the two sides predict."""
    size = float(np.clip(6000 / max(len(values), 1), 7, 40))
    ax.scatter(
        places, values, s=size, color=COLOURS[0], edgecolor="black", linewidth=0.3, rasterized=len(values) > 3000
    )
    for child, ends in zip(tree.children[node], ((edges[0], threshold), (threshold, edges[-1])), strict=True):
        ax.plot(ends, [tree.values[child]] * 2, color=COLOURS[5], linewidth=2)
    ax.set_ylabel("number to predict")
