import errno
import os

import matplotlib
import numpy as np
import pytest
from matplotlib.collections import PathCollection, PolyCollection
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch, PathPatch, Rectangle

from oc1 import OC1Classifier, OC1EnsembleClassifier, OC1Regressor
from oc1.baselines import LMDTClassifier
from oc1.files.problems import FileProblem
from oc1.plotting import (
    cut_polygon,
    plot_importances,
    plot_partition,
    plot_projection,
    plot_pruning_path,
    plot_tree,
    save,
    tree_regions,
)
from oc1.plotting.equations import lines_of_test
from oc1.plotting.style import class_area
from oc1.tree.summaries import NodeExamples, summarise_nodes


@pytest.fixture
def axes():
    return Figure(figsize=(8, 6)).subplots()


@pytest.fixture(scope="module")
def rough(noisy):
    """A tree with some depth on four attributes."""
    X, y = noisy
    return OC1Classifier(prune=None, n_restarts=3, max_depth=4, random_state=0).fit(X, y), X, y


def shown_points(axes):
    return np.concatenate([own.get_offsets() for own in axes.collections if isinstance(own, PathCollection)])


# ---------------------------------------------------------------------------------------------------- partition


def test_a_slice_is_where_the_tree_sends_its_points(rough):
    tree = rough[0].tree_
    at = np.array([0.3, -0.2, 0.5, 0.1])
    box = (-2.0, 2.0, -1.5, 1.5)
    polygons, segments = tree_regions(tree, box, (2, 0), at)
    rng = np.random.default_rng(0)
    visited = 0
    for leaf in np.flatnonzero(tree.is_leaf):
        if len(polygons[leaf]):
            s, t = (rng.dirichlet(np.ones(len(polygons[leaf])), size=20) @ polygons[leaf]).T
            points = np.tile(at, (20, 1))
            points[:, 2], points[:, 0] = s, t
            assert (tree.apply(points) == leaf).all()
            visited += 1
    assert visited > 3
    assert len(segments) >= visited - 1


def test_a_pair_of_attributes_shows_all_examples_and_the_lines_of_the_slice(axes, rough):
    model, X, y = rough
    assert plot_partition(model, X, y, features=("x3", 0), at={"x2": 1.0, 3: 0.5}, ax=axes) is axes
    assert sorted(map(tuple, shown_points(axes))) == sorted(map(tuple, X[:, [2, 0]]))
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("x3", "x1")
    words = ["x2 = 1", "x4 = 0.5"]  # the more important one first
    words = words if model.feature_importances_[1] >= model.feature_importances_[3] else words[::-1]
    assert axes.get_title() == f"a slice: the other attributes are held at {', '.join(words)}"
    box = (*axes.get_xlim(), *axes.get_ylim())
    fill = model.tree_.fill
    segments = tree_regions(model.tree_, box, (2, 0), [fill[0], 1.0, fill[2], 0.5])[1]
    assert {tuple(line.get_xydata().ravel()) for line in axes.lines} == {tuple(s.ravel()) for s in segments.values()}
    assert {int(text.get_text()) for text in axes.texts} == set(segments)
    legend = axes.get_legend()
    axes.figure.draw_without_rendering()
    assert [text.get_text() for text in legend.get_texts()] == ["0", "1"]
    assert legend.get_window_extent().x0 > axes.bbox.x1  # it covers nothing


def test_examples_without_classes_or_with_gaps(axes, rough):
    model, X, _ = rough
    X = X.copy()
    X[:7, 1] = np.nan
    plot_partition(model, X, features=(0, 1), ax=axes)
    assert len(shown_points(axes)) == len(X) - 7
    assert axes.get_legend() is None


def test_a_plane_of_a_node(axes, rough):
    model, X, y = rough
    node = int(np.flatnonzero(~model.tree_.is_leaf)[1])
    plot_partition(model, X, y, node=node, ax=axes)
    rows, places, goes_right = NodeExamples.make(model, X, y).projected(node)
    shown = shown_points(axes)
    assert sorted(shown[:, 0]) == sorted(places)
    threshold = model.tree_.thresholds[node]
    assert ((shown[:, 0] > threshold).sum()) == goes_right.sum()
    assert [line.get_xdata()[0] for line in axes.lines] == [threshold]
    assert axes.get_title() == f"node {node}: {len(rows)} examples"
    # The second direction is at right angles to the first in standardised attributes, and so says something new.
    assert np.ptp(shown[:, 1]) > 0
    assert axes.get_xlim()[0] < shown[:, 0].min() <= shown[:, 0].max() < axes.get_xlim()[1]


def test_partitions_of_numbers_votes_and_machines(noisy):
    X, y = noisy
    plane, values = X[:, :2], X[:, 0] - 2 * X[:, 1]
    figure = Figure()
    first, second, third = figure.subplots(1, 3)
    plot_partition(OC1Regressor(max_depth=2, random_state=0).fit(plane, values), plane, values, ax=first)
    assert len(figure.axes) == 4  # a scale of numbers
    assert len(first.lines) == 3
    vote = OC1EnsembleClassifier(OC1Classifier(n_restarts=1), n_estimators=2, random_state=0).fit(X, y)
    plot_partition(vote, X, y, features=(0, 1), ax=second)
    machines = LMDTClassifier(random_state=0).fit(X, y)
    plot_partition(machines, X, y, features=(0, 1), ax=third)
    assert len(second.images) == len(third.images) == 1
    image = np.asarray(third.images[0].get_array())
    box = third.images[0].get_extent()
    cell = (box[1] - box[0]) / image.shape[1], (box[3] - box[2]) / image.shape[0]
    points = np.tile(machines.tree_.fill, (50, 1))
    across, up = np.random.default_rng(0).integers(image.shape[0], size=(2, 50))
    points[:, 0], points[:, 1] = box[0] + (across + 0.5) * cell[0], box[2] + (up + 0.5) * cell[1]
    assert (machines.predict(points) == machines.classes_[image[up, across]]).all()


def test_a_partition_without_examples_reaches_where_they_were(axes, rcb):
    X, y = rcb
    plot_partition(OC1Classifier(random_state=0).fit(X, y), ax=axes)
    (left, right), (bottom, top) = axes.get_xlim(), axes.get_ylim()
    inside = ([left, bottom] < X).all(axis=1) & ([right, top] > X).all(axis=1)
    assert inside.mean() > 0.95
    assert len(axes.lines) >= 7


def test_categories_are_held_but_not_drawn(axes):
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    size, weight, grade = rng.normal(size=300), rng.normal(size=300), rng.integers(3, size=300)
    X = pandas.DataFrame({"size": size, "grade": np.array(["low", "mid", "top"])[grade], "weight": weight})
    y = size + weight + grade > 1
    model = OC1Classifier(categorical_features=["grade"], random_state=0).fit(X, y)
    low, top = (Figure().subplots() for _ in range(2))
    plot_partition(model, X, y, features=("size", "weight"), at={"grade": "low"}, ax=low)
    plot_partition(model, X, y, features=("size", "weight"), at={"grade": "top"}, ax=top)
    assert not np.array_equal(low.lines[0].get_xydata(), top.lines[0].get_xydata())
    with pytest.raises(ValueError, match="but grade is categorical"):
        plot_partition(model, X, y, features=("size", "grade"), ax=axes)
    with pytest.raises(ValueError, match="grade has no category 'none'"):
        plot_partition(model, X, y, features=("size", "weight"), at={"grade": "none"}, ax=axes)


def test_partitions_that_cannot_be(axes, rough):
    model, X, y = rough
    for wanted, words in [
        ({"features": ("x1", "size")}, "there is no attribute 'size'"),
        ({"features": (0, 4)}, "with indices 0 to 3"),
        ({"features": (0, 0)}, "two different attributes"),
        ({"features": "x1"}, "must be two different attributes, got .x1"),
        ({"node": 0, "features": (0, 1)}, "either node, or features"),
        ({"node": 99}, "there is no node 99"),
        ({"node": int(np.flatnonzero(model.tree_.is_leaf)[0])}, "is a leaf: it has no test"),
        ({"features": (0, 1), "at": [1, 2]}, "at must be 4 numbers"),
        ({"features": (0, 1), "at": {"x3": np.nan}}, "finite"),
    ]:
        with pytest.raises(ValueError, match=words):
            plot_partition(model, X, y, ax=axes, **wanted)
    with pytest.raises(ValueError, match="give X and y"):
        plot_partition(model, node=0, ax=axes)
    with pytest.raises(ValueError, match="does not know"):
        plot_partition(model, X, y + 5, features=(0, 1), ax=axes)


def test_without_features_it_is_a_slice_along_the_two_that_matter_most(rough, noisy):
    model, X, y = rough
    others, pair = np.split(np.argsort(model.feature_importances_, kind="stable"), 2)
    vote = OC1EnsembleClassifier(OC1Classifier(n_restarts=1), n_estimators=2, random_state=0).fit(*noisy)
    for own in (model, model.tree_, vote):
        ax = plot_partition(own, X, y, ax=Figure().subplots())
        if own is not vote:
            assert {ax.get_xlabel(), ax.get_ylabel()} == {f"x{m + 1}" for m in pair}
        title = ax.get_title().replace("\n", " ")
        assert title.startswith("a slice: the other attributes are held at their averages: x")
    ax = plot_partition(model, X, y, ax=Figure().subplots())
    assert all(f"x{m + 1} = " in ax.get_title() for m in others)
    one = OC1Classifier(splits="axis").fit(X[:, :1], y)
    with pytest.raises(ValueError, match="the model has 1 numeric attribute; plot_tree"):
        plot_partition(one, X[:, :1], y)


# ---------------------------------------------------------------------------------------------------- trees


def boxes_of(axes):
    return np.array([patch.get_bbox().extents for patch in axes.patches if isinstance(patch, FancyBboxPatch)])


def check_layout(axes):
    """Boxes keep apart and inside the axes, and everything but the answers on links is inside one of them."""
    boxes = boxes_of(axes)
    for i, (left, bottom, right, top) in enumerate(boxes):
        others = np.delete(boxes, i, axis=0)
        apart = (others[:, 0] > right) | (others[:, 2] < left) | (others[:, 1] > top) | (others[:, 3] < bottom)
        assert apart.all()
    (left, right), (bottom, top) = axes.get_xlim(), axes.get_ylim()
    assert (boxes[:, :2] > [left, bottom]).all()
    assert (boxes[:, 2:] < [right, top]).all()
    things = [p.get_path().get_extents().extents for p in axes.patches if isinstance(p, PathPatch)]
    things += [p.get_bbox().extents for p in axes.patches if isinstance(p, Rectangle)]
    things += [p.get_extents().extents for own in axes.collections for p in own.get_paths()]
    inside = [((boxes[:, :2] <= t[:2] + 1e-6) & (boxes[:, 2:] >= t[2:] - 1e-6)).all(axis=1).sum() for t in things]
    assert set(inside) <= {0, 1}
    return inside.count(0)


@pytest.mark.parametrize("max_depth", [None, 0, 2])
def test_every_node_has_a_box_with_bar_and_histogram(axes, rough, max_depth):
    model, X, y = rough
    assert plot_tree(model, X, y, ax=axes, max_depth=max_depth) is axes
    tree = model.tree_
    shown = tree.depths <= (99 if max_depth is None else max_depth)
    tested = shown & ~tree.is_leaf & (tree.depths < (99 if max_depth is None else max_depth))
    boxes = boxes_of(axes)
    assert len(boxes) == shown.sum()
    assert check_layout(axes) == shown.sum() - 1  # the answers
    frames = [own for own in axes.patches if isinstance(own, Rectangle) and own.get_facecolor()[3] == 0]
    assert len(frames) == shown.sum()
    drawn = [own for own in axes.collections if isinstance(own, PolyCollection)]
    histograms = [own.histogram for own in summarise_nodes(model, X, y) if tested[own.node]]
    assert len(drawn) == sum(int(own.counts.any(axis=0).sum()) for own in histograms)
    assert sum(len(own.get_paths()) for own in drawn) == sum(int((own.counts > 0).sum()) for own in histograms)
    assert len(axes.lines) == 2 * tested.sum() + shown.sum() - 1  # base and threshold; links
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["0", "1"]


def test_a_tree_without_examples_has_no_histograms(axes, rough):
    plot_tree(rough[0], ax=axes)
    assert not axes.collections
    assert len(boxes_of(axes)) == rough[0].tree_.n_nodes


def test_the_bar_shows_the_shares_of_the_classes(axes, rcb):
    X, y = rcb
    model = OC1Classifier(random_state=0).fit(X, y)
    plot_tree(model, ax=axes, max_depth=0)
    bars = [own for own in axes.patches if isinstance(own, Rectangle) and own.get_facecolor()[3] > 0]
    widths = np.array([own.get_width() for own in bars])
    assert widths / widths.sum() == pytest.approx(model.tree_.counts[0] / model.tree_.counts[0].sum())


def test_trees_of_numbers_machines_and_many_classes(rcb):
    X, y = rcb
    axes = [Figure().subplots() for _ in range(3)]
    model = OC1Regressor(max_depth=2, random_state=0).fit(X, X @ [1, 2])
    plot_tree(model, X, ax=axes[0])
    assert axes[0].get_legend() is None
    machines = LMDTClassifier(random_state=0).fit(X, y)
    plot_tree(machines, X, y, ax=axes[1])
    letters = np.array(list("ABCDEFGHIJKLMNOPQRSTUVWXYZ"))[(X @ [25.99, 0]).astype(int)]
    many = OC1Classifier(splits="axis", prune=None, max_depth=3).fit(X, letters)
    plot_tree(many, X, letters, ax=axes[2])
    for ax, own in zip(axes, (model, machines, many), strict=True):
        assert len(boxes_of(ax)) == own.tree_.n_nodes
        check_layout(ax)
    legend = axes[2].get_legend()
    axes[2].figure.draw_without_rendering()
    assert len(legend.get_texts()) == 26
    assert legend.get_window_extent().y1 <= axes[2].bbox.y0


def test_of_very_many_classes_the_most_frequent_are_told_apart():
    labels = np.repeat(np.arange(100), np.where(np.arange(100) % 2, 4, 2))  # the odd ones are frequent
    X = labels[:, None] + 0.0
    model = OC1Classifier(splits="axis", prune=None, max_depth=1).fit(X, labels)
    tree, projection = Figure().subplots(), Figure().subplots()
    plot_tree(model, X, labels, ax=tree)
    plot_projection(model, 0, X, labels, ax=projection)
    expected = [*map(str, sorted([*range(1, 100, 2), *range(0, 28, 2)])), "36 others"]
    for ax in (tree, projection):
        assert [text.get_text() for text in ax.get_legend().get_texts()] == expected
    bars = [own for own in tree.patches if isinstance(own, Rectangle) and own.get_facecolor()[3] > 0]
    # All are in the root; of each side, what it has of them.
    assert len(bars) == 65 + 64 + 2
    root = [own.get_width() for own in bars[:65]]
    assert root[-1] / sum(root) == pytest.approx(36 * 2 / 300)
    assert sum(bar.get_height() for bar in projection.patches if isinstance(bar, Rectangle)) == len(X)


def test_nodes_below_a_depth_need_no_summary(rough):
    model, X, y = rough
    every = summarise_nodes(model, X, y)
    some = summarise_nodes(model, X, y, max_depth=2)
    assert [own.node for own in some] == [own.node for own in every if own.depth <= 2]
    assert [own.sentence for own in some] == [own.sentence for own in every if own.depth <= 2]


def test_areas_differ():
    assert len({(area["facecolor"], area["hatch"]) for area in map(class_area, range(64))}) == 64


def test_new_axes_are_large_enough(rough):
    pyplot = pytest.importorskip("matplotlib.pyplot")
    model, X, y = rough
    ax = plot_tree(model, X, y)
    small = plot_tree(model, X, y, max_depth=1)
    assert (ax.figure.get_size_inches() > small.figure.get_size_inches()).all()
    assert ax is not small
    pyplot.close(ax.figure)
    pyplot.close(small.figure)


def test_long_tests_are_cut_to_their_most_important_terms():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 12)) * np.linspace(1, 100, 12)
    y = (X / np.linspace(1, 100, 12)) @ ([5, 4, 3, 2.5, 2] + 7 * [0.5]) > 0
    model = OC1Classifier(random_state=0, max_depth=1, prune=None).fit(X, y)
    terms = summarise_nodes(model)[0].terms
    assert len(terms) > 9
    words = " ".join(lines_of_test(model.tree_, 0, model._scale, 27))
    best = sorted(terms, key=lambda term: -term[2])[:6]
    assert all(f"{name} " in words for name, _, _ in best)
    assert f"… {len(terms) - 6} more (" in words
    shorter = OC1Classifier(random_state=0, max_depth=1, prune=None).fit(X[:, :3], y)
    words = " ".join(lines_of_test(shorter.tree_, 0, shorter._scale, 27))
    assert words == summarise_nodes(shorter)[0].equation


def test_odd_names_are_shown_as_they_are(axes):
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    X = pandas.DataFrame(rng.normal(size=(100, 2)), columns=["_a $x^2$ \n b", "{" * 70])
    y = np.where(X.to_numpy().sum(axis=1) > 0, "_yes $1$", "<no> _2_")
    model = OC1Classifier(random_state=0).fit(X, y)
    plot_tree(model, X, y, ax=axes)
    assert [text.get_text().replace("\\", "") for text in axes.get_legend().get_texts()] == ["<no> _2_", " _yes $1$"]
    check_layout(axes)
    axes.figure.draw_without_rendering()
    other = plot_partition(model, X, y, ax=Figure().subplots())
    assert other.get_xlabel() == r"_a \$x^2\$   b"
    other.figure.draw_without_rendering()
    plot_importances(model, ax=Figure().subplots()).figure.draw_without_rendering()
    plot_projection(model, 0, X, y, ax=Figure().subplots()).figure.draw_without_rendering()


# ---------------------------------------------------------------------------------------------------- other pictures


def test_bars_of_a_projection_are_the_examples(axes, rough):
    model, X, y = rough
    node = int(np.flatnonzero(~model.tree_.is_leaf)[-1])
    assert plot_projection(model, node, X, y, ax=axes) is axes
    rows, _, goes_right = NodeExamples.make(model, X, y).projected(node)
    bars = [patch for patch in axes.patches if isinstance(patch, Rectangle)]
    assert sum(bar.get_height() for bar in bars) == len(rows)
    threshold = model.tree_.thresholds[node]
    right = sum(bar.get_height() for bar in bars if bar.get_x() >= threshold)
    assert right == goes_right.sum()
    ends = np.array([(bar.get_x(), bar.get_x() + bar.get_width()) for bar in bars])
    assert ((ends[:, 0] >= threshold) | (ends[:, 1] <= threshold + 1e-9)).all()
    assert axes.lines[0].get_xdata()[0] == threshold
    assert f"no: {len(rows) - right:.0f} examples" in axes.get_title("left")
    assert f"yes: {right:.0f} examples" in axes.get_title("right")


def test_numbers_are_drawn_against_their_projection(axes, noisy):
    X, _ = noisy
    values = X @ [1, 2, 0, -1]
    model = OC1Regressor(max_depth=1, random_state=0).fit(X, values)
    plot_projection(model, 0, X, values, ax=axes)
    assert sorted(shown_points(axes)[:, 1]) == sorted(values)
    levels = sorted(line.get_ydata()[0] for line in axes.lines[:2])
    assert levels == sorted(model.tree_.values[1:])


def test_projections_that_cannot_be(axes, rough):
    model, X, y = rough
    with pytest.raises(ValueError, match="is a leaf"):
        plot_projection(model, model.tree_.n_nodes - 1, X, y, ax=axes)
    with pytest.raises(ValueError, match="the nodes 0 to"):
        plot_projection(model, -1, X, y, ax=axes)
    with pytest.raises(TypeError, match="whole number"):
        plot_projection(model, "root", X, y, ax=axes)
    with pytest.raises(ValueError, match="linear machine"):
        plot_projection(LMDTClassifier(random_state=0).fit(X, y), 0, X, y, ax=axes)


@pytest.mark.parametrize(("prune", "label"), [("cv", "accuracy"), (None, "price of a leaf")])
def test_the_pruning_path_is_drawn_and_the_tree_marked(axes, noisy, prune, label):
    model = OC1Classifier(prune=prune, n_restarts=1, random_state=0).fit(*noisy)
    assert plot_pruning_path(model, ax=axes) is axes
    mark, line, chosen, *_ = axes.lines
    path = model.pruning_path_
    assert line.get_xdata().tolist() == path["leaves"].tolist()
    assert line.get_ydata().tolist() == path["accuracy" if prune else "alpha"].tolist()
    assert mark.get_xdata()[0] == chosen.get_xdata()[0] == model.get_n_leaves()
    assert axes.get_ylabel().startswith(label)
    axes.figure.draw_without_rendering()


@pytest.mark.parametrize("prune", [None, "holdout", "cv"])
def test_with_examples_the_pruning_path_shows_their_accuracy(axes, noisy, prune):
    X, y = noisy
    model = OC1Classifier(splits="axis", prune=prune, random_state=0).fit(X[:300], y[:300])
    plot_pruning_path(model, X[300:], y[300:], ax=axes)
    chosen = axes.lines[0].get_xdata()[0]
    assert chosen == model.get_n_leaves()
    names = [text.get_text() for text in axes.get_legend().get_texts()]
    expected = ["on the 100 examples given", "on the training data"]
    expected += [] if prune is None else ["cross-validated" if prune == "cv" else "on examples held out"]
    assert sorted(names) == sorted([*expected, f"the tree: {chosen} leaves" if chosen > 1 else "the tree: 1 leaf"])
    given, trained = (next(own for own in axes.lines if own.get_label() == name) for name in expected[:2])
    sizes = given.get_xdata()
    assert (sizes[0], sizes[-1]) == (model.unpruned_tree_.n_leaves, 1)
    assert (np.diff(sizes) < 0).all()
    place = list(sizes).index(chosen)
    assert given.get_ydata()[place] == pytest.approx(model.score(X[300:], y[300:]))
    assert (np.diff(trained.get_ydata()) <= 1e-12).all()  # the fewer leaves, the fewer training examples are right
    with pytest.raises(ValueError, match="y is needed"):
        plot_pruning_path(model, X, ax=axes)


def test_with_numbers_the_pruning_path_shows_their_error(axes, noisy):
    X, _ = noisy
    values = X @ [1, 2, 0, -1]
    model = OC1Regressor(max_depth=3, random_state=0).fit(X, values)
    plot_pruning_path(model, X, values, ax=axes)
    assert axes.get_ylabel() == "root mean square error"
    line = next(own for own in axes.lines if own.get_label().startswith("on the 400"))
    place = list(line.get_xdata()).index(model.tree_.n_leaves)
    assert line.get_ydata()[place] == pytest.approx(np.sqrt(np.mean((model.predict(X) - values) ** 2)))


def test_the_pruning_path_of_a_tree_alone(axes, noisy):
    X, y = noisy
    tree = OC1Classifier(splits="axis", prune=None, max_depth=3).fit(X, y).tree_
    plot_pruning_path(tree, X, y, ax=axes)
    assert axes.lines[1].get_xdata()[0] == tree.n_leaves


def test_no_path_to_show(axes, noisy):
    X, y = noisy
    with pytest.raises(ValueError, match="a single leaf"):
        plot_pruning_path(OC1Classifier().fit(X, np.zeros(len(X))), ax=axes)
    with pytest.raises(ValueError, match="not stored"):
        plot_pruning_path(OC1Classifier(max_depth=1).fit(X, y).tree_, ax=axes)
    with pytest.raises(ValueError, match="a single leaf"):
        plot_pruning_path(OC1Classifier().fit(X, np.zeros(len(X))), X, np.zeros(len(X)), ax=axes)
    with pytest.raises(ValueError, match="single leaf"):
        plot_importances(OC1Classifier().fit(X, np.zeros(len(X))), ax=axes)


@pytest.mark.parametrize("top", [1, 2, 20])
def test_importances_are_drawn_from_the_largest(axes, noisy, top):
    model = OC1EnsembleClassifier(OC1Classifier(n_restarts=1), n_estimators=2, random_state=0).fit(*noisy)
    plot_importances(model, ax=axes, top=top)
    widths = [bar.get_width() for bar in axes.patches]
    expected = np.sort(model.feature_importances_)[::-1]
    assert sum(widths) == pytest.approx(1.0)
    assert widths[:top] == pytest.approx(expected[:top].tolist())
    names = [label.get_text() for label in axes.get_yticklabels()]
    assert names[0] == f"x{model.feature_importances_.argmax() + 1}"
    assert (len(names) > top) == (top < 4)


def test_long_names_are_folded_instead_of_cut(noisy):
    pandas = pytest.importorskip("pandas")
    X, y = noisy
    names = [f"the amount of {word} that was found in the sample" for word in ("iron", "zinc", "lead", "gold")]
    labels = np.array(["a sample that is safe in every respect", "a sample that is not safe to use"])[y]
    frame = pandas.DataFrame(X, columns=names)
    model = OC1Classifier(random_state=0, n_restarts=1, max_depth=1, prune=None).fit(frame, labels)

    def words_of(text):
        return text.get_text().replace("\n", " ")

    for plot in (plot_tree, plot_partition):
        ax = plot(model, frame, labels, ax=Figure(figsize=(8, 6), layout="constrained").subplots())
        assert {words_of(text) for text in ax.get_legend().get_texts()} <= set(labels)
    ax.figure.draw_without_rendering()
    assert {ax.get_xlabel(), ax.get_ylabel()} <= set(names)
    ax = plot_importances(model, ax=Figure(layout="constrained").subplots())
    assert {words_of(text) for text in ax.get_yticklabels()} <= set(names)
    ax.figure.draw_without_rendering()
    box, figure = ax.get_tightbbox(), ax.figure.bbox
    assert box.x0 >= figure.x0
    assert box.x1 <= figure.x1


@pytest.mark.parametrize("max_terms", [1, 3, None])
def test_the_number_of_terms_can_be_chosen(max_terms):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 12))
    y = X @ np.linspace(1, 4, 12) > 0
    model = OC1Classifier(random_state=0, max_depth=1, prune=None).fit(X, y)
    n_terms = len(model.tree_.test(0)[0])
    assert n_terms > 8
    label = plot_projection(model, 0, X, y, max_terms=max_terms, ax=Figure().subplots()).get_xlabel()
    assert label.count("x") == (n_terms if max_terms is None else max_terms)
    assert (f"{n_terms - (max_terms or 0)} more" in label) == (max_terms is not None)
    plane = plot_partition(model, X, y, node=0, max_terms=max_terms, ax=Figure().subplots()).get_xlabel()
    assert plane.count("x") == label.count("x")
    trees = [plot_tree(model, X, y, max_terms=own, ax=Figure().subplots()) for own in (max_terms, "auto")]
    heights = [float(np.diff(boxes_of(ax)[0][[1, 3]])[0]) for ax in trees]
    assert (heights[0] > heights[1]) == (max_terms is None)
    for wrong in (0, -1, 2.5, "all"):
        with pytest.raises(ValueError, match="max_terms must be"):
            plot_tree(model, max_terms=wrong, ax=Figure().subplots())


def test_a_style_of_matplotlib_reaches_what_is_on_the_background(rough):
    model, X, y = rough
    with matplotlib.rc_context({"text.color": "#123456", "figure.facecolor": "none"}):
        ax = plot_tree(model, X, y, ax=Figure().subplots(), max_depth=1)
        assert {line.get_color() for line in ax.lines} == {"#123456", "black"}  # links; what is in boxes
        assert plot_projection(model, 0, X, y, ax=Figure().subplots()).lines[0].get_color() == "#123456"


def test_dots_per_inch(tmp_path):
    image = pytest.importorskip("matplotlib.image")
    figure = Figure(figsize=(3, 2))
    for dpi in (50, 100):
        save(figure, tmp_path / "a.png", dpi)
        assert image.imread(tmp_path / "a.png").shape[:2] == (2 * dpi, 3 * dpi)
    for wrong, words in [(0, "positive"), (np.nan, "positive"), (30_000, "90000 pixels long: take fewer")]:
        with pytest.raises(ValueError, match=words):
            save(figure, tmp_path / "a.png", wrong)


@pytest.mark.parametrize("ending", [".svg", ".png", ".pdf", ".PNG"])
def test_the_same_picture_is_the_same_file(tmp_path, rough, ending):
    model, X, y = rough
    for name in ("a", "b"):
        figure = Figure(layout="constrained")
        plot_tree(model, X, y, ax=figure.subplots(), max_depth=1)
        save(figure, tmp_path / f"{name}{ending}")
    first, second = ((tmp_path / f"{name}{ending}").read_bytes() for name in "ab")
    assert len(first) > 2000
    assert first == second
    with pytest.raises(ValueError, match="must end in"):
        save(figure, tmp_path / "picture.gif")


def test_a_line_that_misses_the_plane_leaves_it_whole():
    square = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])
    cut = cut_polygon(square, np.zeros(2), np.finfo(float).max)
    assert len(cut.below) == 4
    assert len(cut.above) == 0


@pytest.mark.parametrize("ending", [".svg", ".png", ".pdf"])
def test_a_picture_is_written_whole_or_not_at_all(tmp_path, rough, monkeypatch, ending):
    path = tmp_path / f"tree{ending}"
    path.write_bytes(b"before")
    figure = Figure()
    plot_tree(rough[0], ax=figure.subplots(), max_depth=1)

    def is_full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as only_now:
        only_now.setattr(os, "fsync", is_full)
        with pytest.raises(FileProblem, match=rf"tree\{ending}: cannot be written: No space left on device") as caught:
            save(figure, path)
        assert ".part" not in str(caught.value)
    with monkeypatch.context() as only_now:
        only_now.setattr(Figure, "draw", is_full)  # it fails, or is interrupted, while it is drawn
        with pytest.raises(OSError, match="No space"):
            save(figure, path)
    assert [one.name for one in tmp_path.iterdir()] == [path.name]
    assert path.read_bytes() == b"before"
    with pytest.raises(FileProblem, match=r"a\.svg: cannot be written: "):
        save(figure, path / "a.svg")
