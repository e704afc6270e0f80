"""The pruning path, what short tests cost, and which attributes matter."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from ..learners.sparsity import SparsityPath
from ..tree.pruning import path_to
from ..tree.structure import TreeStructure
from ..tree.summaries import checked_rows, class_numbers, tree_of
from .equations import checked_targets, names_of
from .fonts import with_fonts
from .style import COLOURS, axes_or_new, folded, halo

#: The colour of the tree that was chosen.
CHOSEN = COLOURS[5]


def plot_pruning_path(
    model: Any, X: ArrayLike | None = None, y: ArrayLike | None = None, *, ax: Axes | None = None
) -> Axes:
    """Plot the accuracy (or error) of the subtrees that pruning chooses from against their size; mark the chosen tree.

    Given examples, it is that of the subtrees on these, and on the training data. In any case it is what was measured
    on held-out examples or by cross-validation, if the tree was pruned that way. If nothing is known of how good the
    subtrees are, the plot shows the cost of a leaf at which each of them becomes the best one.

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
        score = path.dtype.names[2]
        if not np.isnan(path[score]).all() and (X is None or score == "accuracy"):
            how = "cross-validated" if getattr(model, "prune", None) == "cv" else "on examples held out"
            curves.append(_Curve(how, path["leaves"], path[score], score))
        elif not curves:
            curves.append(
                _Curve("", path["leaves"], path["alpha"], "price of a leaf (alpha) at which it comes to this")
            )
    if not curves:
        why = "it is not stored with this model" if tree.n_leaves > 1 else "the tree was grown as a single leaf"
        raise ValueError(f"there is no pruning path to show: {why}")
    ax = axes_or_new(ax, 7, 4.5)
    words = "1 leaf" if tree.n_leaves == 1 else f"{tree.n_leaves} leaves"
    ax.axvline(tree.n_leaves, color=CHOSEN, linewidth=1.2, zorder=1, label=f"the tree: {words}")
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
    ax.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), frameon=False, ncols=2 if len(curves) > 2 else 3)
    return ax


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


def plot_sparsity_path(path: SparsityPath, *, ax: Axes | None = None) -> Axes:
    """Plot accuracy against the number of terms in the tree, for different limits on the terms of a test.

    The limit is written at each point; bars show the standard errors. A line connects the points that are worth
    choosing from: no other is as accurate with fewer terms.

    Parameters
    ----------
    path : SparsityPath
        From ``OC1Classifier.sparsity_path``.
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
    >>> ax = plot_sparsity_path(OC1Classifier(random_state=0).sparsity_path(X, y), ax=Figure().subplots())
    >>> [text.get_text() for text in ax.texts]
    ['1', 'no limit']
    """
    ax = axes_or_new(ax, 7, 4.5)
    # Where all trees are single leaves, there are no terms: such a point is drawn at the left end.
    terms, heights, best = np.maximum(path.n_terms, 1.0), path.accuracy, path.on_frontier
    errors = np.nan_to_num(path.standard_error)
    ax.errorbar(terms, heights, yerr=errors, fmt="none", ecolor=COLOURS[0], alpha=0.5, capsize=3, zorder=1)
    style: dict[str, Any] = {"color": COLOURS[0], "marker": "o", "markersize": 6}
    order = np.flatnonzero(best)[np.argsort(terms[best], kind="stable")]
    ax.plot(terms[order], heights[order], **style, label="no other is as accurate with fewer terms")
    if not best.all():
        ax.plot(terms[~best], heights[~best], **style, linestyle="", markerfacecolor="white", label="another is")
    # Labels keep away from the line, which rises to the right, and from the bars.
    labels: dict[tuple[float, float], list[str]] = {}
    for x, y, label in zip(terms.tolist(), heights.tolist(), path.labels, strict=True):
        labels.setdefault((x, y), []).append(label)
    above: dict[str, Any] = {"xytext": (-5, 4), "horizontalalignment": "right"}
    below: dict[str, Any] = {"xytext": (5, -4), "verticalalignment": "top"}
    for (x, y), own in labels.items():
        where = above if (x, y) in zip(terms[best], heights[best], strict=True) else below
        ax.annotate(", ".join(own), (x, y), **where, textcoords="offset points", path_effects=halo(), zorder=4)
    _use_log_scale(ax, (2, 5) if terms.max() > 20 * terms.min() else (1.5, 2, 3, 4, 5, 6, 8))
    ax.yaxis.set_major_formatter(lambda share, _: f"{100 * share:.4g}%")
    ax.set(xlabel="terms in the whole tree (at the points: terms per test, at most)", ylabel="cross-validated accuracy")
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2, frameon=False)
    return ax


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
