"""The pruning path, and which attributes matter."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from ..tree.pruning import judged_by, path_to
from ..tree.structure import TreeStructure
from ..tree.summaries import checked_rows, class_numbers, tree_of
from .equations import checked_targets, names_of
from .fonts import with_fonts
from .style import COLOURS, axes_or_new, folded

#: The colour of the tree that was chosen.
CHOSEN = COLOURS[5]


def plot_pruning_path(
    model: Any, X: ArrayLike | None = None, y: ArrayLike | None = None, *, ax: Axes | None = None
) -> Axes:
    """Plot the accuracy (or error) of the subtrees that pruning chooses from against their size; mark the chosen tree.

    Given examples, it is that of the subtrees on these, and on the training data. In any case it is what was measured
    on held-out examples or by cross-validation, if the tree was pruned that way. If nothing is known of how good the
    subtrees are, the plot shows the cost of a leaf at which each of them becomes the best one.

    If tests have several terms, a dotted line and the axis on the right show how many the tests of a subtree have in
    all.

    Parameters
    ----------
    model : fitted tree learner
    X : array-like (n_samples, n_features), optional
        Examples, in the form the model accepts; best such as the model has not seen.
    y : array-like (n_samples,), optional
        Their classes or targets; needed with X.
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
    >>> model = OC1Classifier(prune="holdout", random_state=0).fit(X, y)
    >>> plot_pruning_path(model, ax=Figure().subplots()).get_ylabel()
    'accuracy'
    """
    tree = tree_of(model)
    curves = [] if X is None else _measured(model, tree, X, y)
    path = getattr(model, "pruning_path_", None)
    if path is not None and len(path) > 1:
        score = path.dtype.names[-1]
        if not np.isnan(path[score]).all() and (X is None or score == "accuracy"):
            curves.append(_Curve(judged_by(model), path["leaves"], path[score], score))
        elif not curves:
            curves.append(
                _Curve("", path["leaves"], path["alpha"], "price of a leaf (alpha) at which it comes to this")
            )
    if not curves:
        why = "it is not stored with this model" if tree.n_leaves > 1 else "the tree was grown as a single leaf"
        raise ValueError(f"there is no pruning path to show: {why}")
    ax = axes_or_new(ax, 7, 4.5)
    leaves, terms = _terms_of_path(tree, path)
    is_oblique = bool((terms >= leaves).any())
    words = [_counted(tree.n_leaves, "leaf", "leaves"), *[_counted(tree.n_terms, "term", "terms")] * is_oblique]
    ax.axvline(tree.n_leaves, color=CHOSEN, linewidth=1.2, zorder=1, label=f"the tree: {', '.join(words)}")
    for curve, colour, marker in zip(curves, (COLOURS[0], "0.55", COLOURS[2]), ("o", "s", "^"), strict=False):
        style: dict[str, Any] = {"color": colour, "marker": marker, "label": curve.name or None}
        ax.plot(curve.leaves, curve.heights, markersize=4, linewidth=1.2, **style)
        here = curve.leaves == tree.n_leaves
        ax.plot(curve.leaves[here], curve.heights[here], marker, linestyle="", color=CHOSEN, markersize=8, zorder=3)
    first = curves[0]
    if first.score == "accuracy":
        ax.yaxis.set_major_formatter(lambda share, _: f"{100 * share:.4g}%")
    elif not first.name:
        least = float(first.heights[first.heights > 0].min(initial=np.inf))
        if first.heights.max() > 30 * least:
            ax.set_yscale("symlog", linthresh=least)
    if first.leaves.max() > 30:
        _use_log_scale(ax, (2, 5))
    else:
        ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.set(xlabel="leaves", ylabel=first.score)
    ax.spines[["top", "right"]].set_visible(False)
    if is_oblique:
        _add_terms(ax, leaves, terms)
    ax.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), frameon=False, ncols=2 if len(curves) > 2 else 3)
    return ax


def _counted(n: int, one: str, more: str) -> str:
    return f"{n} {one if n == 1 else more}"


def _terms_of_path(tree: TreeStructure, path: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    """Return the numbers of leaves and of terms of the subtrees; where the path does not know, those of the tree's."""
    if path is not None and len(path) > 1 and path["terms"].min() >= 0:
        return path["leaves"], path["terms"]
    sequence = path_to(tree, tree).sequence
    return sequence.n_leaves, sequence.n_terms


def _add_terms(ax: Axes, leaves: np.ndarray, terms: np.ndarray) -> None:
    """Draw numbers of terms, with an axis of their own on the right."""
    right = ax.twinx()
    (line,) = right.plot(leaves, terms, color="0.55", linestyle=":", linewidth=1.2)
    ax.plot([], [], color=line.get_color(), linestyle=":", linewidth=1.2, label="terms (axis on the right)")
    right.yaxis.set_major_locator(MaxNLocator(integer=True))
    right.set(ylabel="terms", ylim=(0, None))
    right.spines[["top", "left", "bottom"]].set_visible(False)
    right.spines["right"].set_color("0.55")


class _Curve(NamedTuple):
    """How good the subtrees of a tree are: the number of leaves of each, and its score."""

    name: str
    leaves: np.ndarray
    heights: np.ndarray
    score: str


def _measured(model: Any, tree: TreeStructure, X: ArrayLike, y: ArrayLike | None) -> list[_Curve]:
    """Measure the subtrees on examples, and on the training data."""
    if y is None:
        raise ValueError("y is needed with X: the classes (or numbers) of the examples")
    rows = checked_rows(model, X)
    answers = class_numbers(tree.classes, y, len(rows)) if tree.predicts_classes else checked_targets(y, len(rows))
    sequence = path_to(tree, getattr(model, "unpruned_tree_", tree)).sequence
    whole = sequence.tree
    if whole.n_leaves < 2:
        return []
    leaves = sequence.with_whole(np.ones(whole.n_nodes)).astype(int)
    n, weight = len(rows), whole.counts[0].sum()
    given = sequence.with_whole(whole.score_nodes(rows, answers)) / max(n, 1)
    trained = sequence.with_whole(whole.leaf_scores) / weight
    name = "on the example given" if n == 1 else f"on the {n:,} examples given"
    if not tree.predicts_classes:
        return [_Curve(name, leaves, np.sqrt(given), "root mean square error")]
    curves = [_Curve(name, leaves, given, "accuracy")]
    if not np.allclose(given, trained):  # as they are where the examples are those of the training
        curves.append(_Curve("on the training data", leaves, trained, "accuracy"))
    return curves


def _use_log_scale(ax: Axes, ticks: Sequence[float]) -> None:
    """Make the horizontal axis logarithmic, with plain numbers at 1 and the ticks, times powers of ten."""
    ax.set_xscale("log", subs=ticks)
    ax.xaxis.set_major_formatter("{x:g}")
    ax.xaxis.set_minor_formatter("{x:g}")
    ax.tick_params("x", which="both", length=3.5)


def plot_importances(model: Any, *, ax: Axes | None = None, top: int = 20) -> Axes:
    """Plot the importance of each attribute: its share of the gain of the tests.

    Parameters
    ----------
    model : fitted tree or ensemble of this package
    ax : matplotlib Axes, optional
        None: those of a new figure.
    top : int, default=20
        Number of attributes to draw; the others share one bar. Attributes that no test uses are left out.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from oc1 import OC1Classifier
    >>> from oc1.datasets import make_pol
    >>> X, y = make_pol(300, random_state=0)
    >>> ax = plot_importances(OC1Classifier(random_state=0).fit(X, y), ax=Figure().subplots())
    >>> len(ax.patches)
    2
    """
    if top < 1:
        raise ValueError(f"top must be at least 1, got {top}")
    if not isinstance(model, BaseEstimator):
        raise TypeError(f"a fitted tree or vote of this package is needed, got {type(model).__name__}")
    check_is_fitted(model)
    importances = model.feature_importances_
    used = [int(m) for m in np.argsort(-importances, kind="stable") if importances[m] > 0]
    if not used:
        raise ValueError("no attribute matters: the tree is a single leaf")
    names = names_of(model)
    shown, others = used[:top], used[top:]
    labels = [folded(names[m]) for m in shown]
    shares = [float(importances[m]) for m in shown]
    if others:
        labels.append("1 other" if len(others) == 1 else f"{len(others)} others")
        shares.append(float(importances[others].sum()))
    ax = axes_or_new(ax, 7, 1.2 + 0.27 * len(labels) + 0.16 * sum(label.count("\n") for label in labels))
    rows = np.arange(len(labels))
    bars = ax.barh(rows, shares, color=[COLOURS[0]] * len(shown) + ["0.6"] * bool(others), height=0.75)
    ax.bar_label(bars, [f"{share:.1%}" for share in shares], padding=3, size=8)
    ax.set_yticks(rows, labels)
    ax.set(xlabel="importance", xlim=(0, 1.12 * max(shares)), ylim=(len(rows) - 0.4, -0.6))
    ax.xaxis.set_major_formatter(lambda share, _: f"{100 * share:.3g}%")
    ax.spines[["top", "right"]].set_visible(False)
    return with_fonts(ax)
