"""How the examples of a node are distributed along its test."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import ArrayLike

from ..tree.summaries import NodeExamples, scale_of, tree_of
from ..tree.wording import MaxTerms, looks_like, number, percent, wrapped
from .equations import checked_max_terms, checked_targets, checked_threshold, left_side
from .fonts import with_fonts
from .partition import point_style
from .style import (
    COLOURS,
    add_legend,
    axes_or_new,
    class_layers,
    class_legend,
    folded,
    ink,
    plain,
    shortened,
    shown_classes,
)

#: Bars of a histogram.
BINS = 40


def plot_projection(
    model: Any,
    node: int,
    X: Any,
    y: ArrayLike | None = None,
    *,
    ax: Axes | None = None,
    max_terms: MaxTerms = "auto",
) -> Axes:
    """Plot the distribution of a node's examples along the sum that its test computes, with the threshold.

    For classification this is a stacked histogram of the classes. For regression, targets are plotted against the
    projection, with what each side would predict as a leaf.

    Parameters
    ----------
    model : fitted tree learner, or a tree
    node : int
        Number of an inner node.
    X : array-like (n_samples, n_features)
        Examples, in the form the model accepts; those that reach the node are shown.
    y : array-like (n_samples,)
        Their classes or targets.
    ax : matplotlib Axes, optional
        None: those of a new figure.
    max_terms : int, "auto" or None, default="auto"
        Terms of the test that are written, those with the largest shares. "auto": all of up to 8, else 6. None: all.

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
    tree = tree_of(model)
    max_terms = checked_max_terms(max_terms)
    threshold = checked_threshold(tree, node)
    examples = NodeExamples.make(model, X, y)
    rows, places, goes_right = examples.projected(node)
    ax = axes_or_new(ax, 7.5, 4.5)
    histogram = examples.histogram(node, BINS)
    edges = histogram.edges
    if y is not None and not tree.predicts_classes:
        values = checked_targets(y, len(examples.X))[rows]
        ax.scatter(places, values, color=COLOURS[0], **point_style(len(rows)))
        for child, ends in zip(tree.children[node], ((edges[0], threshold), (threshold, edges[-1])), strict=True):
            ax.plot(ends, [float(tree.outputs()[child, 0])] * 2, color=COLOURS[5], linewidth=2)
        ax.set_ylabel("number to predict")
    else:
        floor = np.zeros(len(edges) - 1)
        weights = histogram.counts.sum(axis=0)
        for style, counts in class_layers(tree, histogram.counts, shown_classes(weights)):
            here = np.flatnonzero(counts)  # of many classes, each has few bars
            ax.bar(edges[here], counts[here], np.diff(edges)[here], floor[here], align="edge", **style)
            floor = floor + counts
        patches, names = class_legend(tree, weights)
        if tree.predicts_classes:
            add_legend(ax, patches, names)
        ax.set(ylabel="examples", ylim=(0, 1.06 * max(floor.max(), 1)))
    ax.axvline(threshold, color=ink(), linewidth=1.3)
    for child, answer, side in ((0, "no", ~goes_right), (1, "yes", goes_right)):
        label, share, _ = looks_like(tree, int(tree.children[node, child]))
        count = f"{answer}: {side.sum()} examples"
        arrow = f"{count} \N{RIGHTWARDS ARROW}" if child else f"\N{LEFTWARDS ARROW} {count}"
        often = "mostly" if share > 0.5 else "most often"
        words = f"{often} {shortened(label, 40)} ({percent(share)})" if tree.predicts_classes else f"predicts {label}"
        ax.set_title(f"{arrow}\n{folded(words, 40)}", loc="right" if child else "left", size=9)
    comparison = tree.equation_words(node)[-1]
    right_side = comparison if comparison.startswith("> ") else f"> {number(threshold)}"
    lines = wrapped([*left_side(tree, node, scale_of(model, examples), max_terms=max_terms), right_side], 70)
    margin = 0.02 * (edges[-1] - edges[0])
    ax.set(xlim=(edges[0] - margin, edges[-1] + margin), xlabel="\n".join(map(plain, lines)))
    ax.spines[["top", "right"]].set_visible(False)
    return with_fonts(ax)
