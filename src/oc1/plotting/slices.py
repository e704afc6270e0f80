"""A partition of any number of attributes: in the plane of two of them, or of a node's own test."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.decomposition import PCA
from sklearn.utils.validation import check_is_fitted

from ..tree.printable import MINUS
from ..tree.structure import TreeStructure
from ..tree.summaries import NodeExamples, checked_rows, class_numbers, scale_of, tree_of, without_names
from ..tree.wording import MaxTerms, number, wrapped
from .equations import checked_max_terms, checked_targets, checked_threshold, left_side, names_of
from .fonts import with_fonts
from .partition import box_around, number_lines, paint_grid, point_style, refuse_categories, scatter
from .regions import Box, tree_regions
from .style import SHADES, add_legend, area_style, axes_or_new, folded, node_colour, plain, shortened

#: How far the picture reaches from the middle without examples, in standard deviations.
REACH = 3.0


def plot_partition(
    model: Any,
    X: ArrayLike | None = None,
    y: ArrayLike | None = None,
    *,
    features: Sequence[str | int] | None = None,
    node: int | None = None,
    ax: Axes | None = None,
    at: Mapping[Any, Any] | ArrayLike | None = None,
    max_terms: MaxTerms = "auto",
) -> Axes:
    """Plot how a model divides a plane, with examples.

    Regions are tinted in the colour of their class (darker for larger numbers), and each line is drawn inside the
    region of its node and labelled with the node's number. If there are more than two attributes, the picture is either
    a slice along two `features`, the most important ones if none are given, with the others fixed at the values in
    `at`: the regions are exact there, but the examples drawn over it may lie outside the plane. Or it is the plane of a
    `node`: the horizontal axis is the sum of its test, and the vertical axis is the orthogonal direction in which the
    node's examples differ most; only those examples are shown.

    Parameters
    ----------
    model : fitted tree or ensemble of this package, or a tree
        Ensembles and trees of linear machines are evaluated on a grid.
    X : array-like (n_samples, n_features), optional
        Examples, in the form the model accepts.
    y : array-like (n_samples,), optional
        Their classes or targets. Without them, the examples are grey.
    features : pair of str or int, optional
        Names or indices of two attributes. None: the two that matter most, see `feature_importances_`.
    node : int, optional
        Needs X and y.
    ax : matplotlib Axes, optional
        None: those of a new figure.
    at : dict from attributes to values, or array-like (n_features,), optional
        Values of the other attributes. By default, the value that replaces missing values: the mean.
    max_terms : int, "auto" or None, default="auto"
        Terms of a node's test that are written, those with the largest shares. "auto": all of up to 8, else 6.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from oc1 import OC1Classifier
    >>> from oc1.datasets import make_pol
    >>> X, y = make_pol(300, random_state=0)
    >>> model = OC1Classifier(random_state=0).fit(X, y)
    >>> ax = plot_partition(model, X, y, ax=Figure().subplots())
    >>> len(ax.lines) == model.get_n_leaves() - 1
    True
    """
    if node is not None:
        if features is not None or at is not None:
            raise ValueError("a node brings its own plane: give either node, or features and at")
        return with_fonts(_plot_node_plane(model, node, X, y, ax, checked_max_terms(max_terms)))
    return with_fonts(_plot_attributes(model, X, y, features, at, ax))


def _plot_attributes(
    model: Any, X: ArrayLike | None, y: ArrayLike | None, features: Sequence[str | int] | None, at: Any, ax: Axes | None
) -> Axes:
    if isinstance(model, BaseEstimator):
        check_is_fitted(model)
    tree = None if hasattr(model, "estimators_") else tree_of(model)
    names = names_of(model)
    pair = main_pair(model) if features is None else _pair(names, features)
    # A vote is asked for answers, which it gives for categories, not for their codes.
    refuse_categories(model, tree, None if tree is None else pair)
    middle = _held(names, _fill_of(model, tree), at, tree)
    points = np.empty((0, 2)) if X is None else _points(model, tree, X, pair)
    colours = Colours.make(model, tree, y, len(points))
    known = np.flatnonzero(~np.isnan(points).any(axis=1))
    box = box_around(points[known]) if len(known) else _box_without_examples(model, tree, pair, middle)
    ax = axes_or_new(ax, 7.5, 6)
    if tree is not None and tree.has_thresholds:
        polygons, segments = tree_regions(tree, box, pair, middle)
        for leaf in np.flatnonzero(tree.is_leaf).tolist():
            if len(polygons[leaf]):
                style: dict[str, Any] = {"facecolor": node_colour(tree, leaf, colours.norm), "edgecolor": "white"}
                hatch = area_style(tree, int(tree.majority[leaf])).get("hatch")  # where colours begin again
                ax.fill(*polygons[leaf].T, hatch=hatch or None, linewidth=0, zorder=0, **style)
        for segment in segments.values():
            ax.plot(*segment.T, color="black", linewidth=1.3, solid_capstyle="butt", zorder=3)
        number_lines(ax, segments, box)
    else:
        asked = without_names(model)

        def ask(grid: np.ndarray) -> np.ndarray:
            places = np.tile(middle, (len(grid), 1))
            places[:, pair] = grid
            if tree is None:
                return np.asarray(asked.predict(places))
            return np.asarray(tree.classes[tree.majority[tree.apply(places)]])

        paint_grid(ax, ask, box, colours.classes)
    colours.scatter(ax, points[known], known)
    across, up = (folded(names[m], 60, 180) for m in pair)
    ax.set(xlim=box[:2], ylim=box[2:], xlabel=across, ylabel=up)
    if len(names) > 2:
        words = _slice_words(model, tree, names, pair, middle, at)
        ax.set_title("\n".join(map(plain, wrapped(words, 80))), size=9)
    return ax


def main_pair(model: Any) -> tuple[int, int]:
    """Return the two attributes that a partition shows if none are named: the numeric ones that matter most."""
    tree = None if hasattr(model, "estimators_") else tree_of(model)
    names = names_of(model)
    if len(names) == 2:
        return 0, 1
    numeric = [m for m in _by_importance(model, tree) if tree is None or not tree.is_categorical(m)]
    if len(numeric) < 2:
        raise ValueError(
            f"a partition is drawn in two dimensions, and the model has {len(numeric) or 'no'} numeric "
            f"attribute{'s' * (len(numeric) != 1)}; plot_tree shows such a tree"
        )
    return numeric[0], numeric[1]


def _by_importance(model: Any, tree: TreeStructure | None) -> list[int]:
    """Return all attributes, the most important ones first."""
    if isinstance(model, BaseEstimator):
        importances = model.feature_importances_
    else:
        assert tree is not None
        importances = tree.importances(scale_of(model))
    return [int(m) for m in np.argsort(-importances, kind="stable")]


def _slice_words(
    model: Any, tree: TreeStructure | None, names: list[str], pair: tuple[int, int], middle: np.ndarray, at: Any
) -> list[str]:
    """Say that a picture is a slice, and where the attributes that matter most are held."""
    others = [m for m in _by_importance(model, tree) if m not in pair]
    words = [f"{shortened(names[m], 40)} = {number(middle[m])}" for m in others[:4]]
    if len(others) > 4:
        words.append(f"and {len(others) - 4} more")
    where = "held at" if at is not None else "held at its average:" if len(others) == 1 else "held at their averages:"
    start = f"a slice: the other {'attribute is' if len(others) == 1 else 'attributes are'} {where}"
    return [*start.split(), *(f"{word}," for word in words[:-1]), words[-1]]


def _plot_node_plane(
    model: Any, node: int, X: ArrayLike | None, y: ArrayLike | None, ax: Axes | None, max_terms: MaxTerms
) -> Axes:
    tree = tree_of(model)
    if X is None or y is None:
        raise ValueError("the plane of a node is that of its examples: give X and y")
    if len(tree.fill) == 1:
        raise ValueError("the tree has one attribute, which makes no plane; plot_projection shows its tests")
    threshold = checked_threshold(tree, node)
    examples = NodeExamples.make(model, X, y)
    rows, places, _ = examples.projected(node)
    scale = scale_of(model, examples)
    heights, direction = _main_direction(tree, node, examples.X[rows], scale)
    points = np.column_stack([places, heights])
    left, right, bottom, top = box_around(np.vstack([points, [threshold, 0.0]]))
    colours = Colours.make(model, tree, y, len(examples.X))
    ax = axes_or_new(ax, 7.5, 6)
    no, yes = (node_colour(tree, int(child), colours.norm) for child in tree.children[node])
    ax.axvspan(left, threshold, color=no, linewidth=0, zorder=0)
    ax.axvspan(threshold, right, color=yes, linewidth=0, zorder=0)
    ax.axvline(threshold, color="black", linewidth=1.3, zorder=3)
    colours.scatter(ax, points, rows)
    across = wrapped(left_side(tree, node, scale, max_terms=max_terms), 60)
    largest = np.argsort(-np.abs(direction), kind="stable")[:3]
    names = names_of(model)
    parts = [f"{MINUS if direction[m] < 0 else '+'} {shortened(names[m])}" for m in largest if abs(direction[m]) > 0.1]
    along = " ".join(parts).removeprefix("+ ")
    ax.set(xlim=(left, right), ylim=(bottom, top), xlabel="\n".join(map(plain, across)))
    ax.set_ylabel("where they differ most" + ("\n" + folded(f"(mainly {along})", 60, 180) if parts else ""))
    ax.set_title(f"node {node}: {len(rows)} examples", size=10)
    return ax


def _main_direction(tree: TreeStructure, node: int, X: np.ndarray, scale: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the first principal component of standardised examples at right angles to a test, and its direction."""
    scale = np.where(scale > 0, scale, 1.0)
    features, (coefficients,), _ = tree.node_functions(node)
    normal = np.zeros(len(scale))
    normal[features] = coefficients * scale[features]
    normal /= np.linalg.norm(normal) or 1.0
    Z = (X - tree.fill) / scale
    Z = Z - np.outer(Z @ normal, normal)
    if not len(Z) or not Z.std(axis=0).max() > 1e-6:
        return np.zeros(len(Z)), np.zeros(len(scale))
    components = PCA(1).fit(Z)
    return components.transform(Z)[:, 0], components.components_[0]


class Colours(NamedTuple):
    """The colours of classes, or of numbers.

    Attributes
    ----------
    classes : array (n_classes,)
        Empty for numbers.
    values : array (n_samples,) or None
        Class indices or numbers of the examples; None if they are not known.
    norm : matplotlib Normalize
        From numbers to places in `SHADES`.
    """

    classes: np.ndarray
    values: np.ndarray | None
    norm: Normalize

    @classmethod
    def make(cls, model: Any, tree: TreeStructure | None, y: ArrayLike | None, n_samples: int) -> Colours:
        """Check the classes or numbers of examples."""
        if not n_samples:
            y = None
        if tree is None or tree.predicts_classes:
            classes = model.classes_ if tree is None else tree.classes
            return cls(classes, None if y is None else class_numbers(classes, y, n_samples), Normalize())
        values = None if y is None else checked_targets(y, n_samples)
        seen = np.concatenate([tree.outputs()[:, 0], [] if values is None else values])
        return cls(np.empty(0), values, Normalize(seen.min(), seen.max()))

    def scatter(self, ax: Axes, points: np.ndarray, rows: np.ndarray) -> None:
        """Draw the examples of these rows, and a legend of them or a scale of numbers."""
        style = point_style(len(points))
        if self.values is None:
            ax.scatter(points[:, 0], points[:, 1], color="0.6", **style)
        elif len(self.classes):
            drawn = scatter(ax, points, self.values[rows], self.classes)
            add_legend(ax, list(drawn.values()), self.classes[list(drawn)], size=style["s"])
        else:
            ax.scatter(points[:, 0], points[:, 1], c=self.values[rows], cmap=SHADES, norm=self.norm, **style)
        if not len(self.classes):
            ax.figure.colorbar(ScalarMappable(self.norm, SHADES), ax=ax, label="number predicted")


# ---------------------------------------------------------------------------------------------------- attributes


def _index(names: list[str], attribute: Any) -> int:
    """Return the number of an attribute that is given by name or number."""
    known = names if isinstance(attribute, str) else range(len(names))
    if attribute not in known:
        words = shortened(", ".join(names), 300)
        raise ValueError(
            f"there is no attribute {attribute!r:.60}; there are {words}, with indices 0 to {len(names) - 1}"
        )
    return known.index(attribute)


def _pair(names: list[str], features: Sequence[str | int]) -> tuple[int, int]:
    wanted = [features] if isinstance(features, str) else features
    pair = [_index(names, one) for one in wanted]
    if len(pair) != 2 or pair[0] == pair[1]:
        raise ValueError(f"features must be two different attributes, got {features!r:.60}")
    return pair[0], pair[1]


def _fill_of(model: Any, tree: TreeStructure | None) -> np.ndarray:
    """Return what missing values count as; of a vote, for the last tree that sees the attribute."""
    if tree is not None:
        return tree.fill
    middle = np.zeros(model.n_features_in_)
    for one, features in zip(model.estimators_, model.estimators_features_, strict=True):
        if hasattr(one, "tree_"):
            middle[features] = one.tree_.fill
    return middle


def _held(names: list[str], middle: np.ndarray, at: Any, tree: Any) -> np.ndarray:
    """Return where all attributes are held."""
    if at is None:
        return middle
    if not isinstance(at, Mapping):
        if len(at) != len(names):
            raise ValueError(f"at must be {len(names)} numbers, one for each attribute, or a dict")
        at = dict(enumerate(at))
    held = np.array(middle, dtype=float)
    for attribute, value in at.items():
        m = _index(names, attribute)
        if isinstance(value, str) and tree is not None and tree.is_categorical(m):
            if value not in tree.categories[m]:
                raise ValueError(f"{names[m]} has no category {value!r:.60}")
            held[m] = tree.codes[m][tree.categories[m].index(value)]
        else:
            held[m] = float(value)
    if not np.isfinite(held).all():
        raise ValueError("at must hold finite numbers")
    return held


def _points(model: Any, tree: Any, X: ArrayLike, pair: tuple[int, int]) -> np.ndarray:
    """Return the examples in the plane of two attributes; NaN where a value is missing."""
    rows = checked_rows(model, X)
    return (np.asarray(rows, dtype=float) if tree is None else tree.coded(rows))[:, pair]


def _box_without_examples(model: Any, tree: Any, pair: tuple[int, int], middle: np.ndarray) -> Box:
    """Return the part of a plane where examples were in training."""
    if tree is None or not hasattr(model, "_scale"):
        raise ValueError("it takes examples to know where to look: give X")
    reach = REACH * np.where(model._scale > 0, model._scale, 1.0)
    across, up = np.stack([middle - reach, middle + reach], axis=1)[list(pair)].tolist()
    return (*across, *up)
