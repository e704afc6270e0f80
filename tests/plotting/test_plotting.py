import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch, PathPatch

from oc1 import OC1Classifier, OC1EnsembleClassifier, OC1Regressor
from oc1.baselines import LMDTClassifier
from oc1.plotting import class_style, cut_polygon, plot_partition, plot_tree, tree_regions
from oc1.plotting.partition import paint_grid

BOX = (-0.5, 1.5, -0.2, 1.1)


def area(polygon):
    if len(polygon) == 0:
        return 0.0
    x, y = polygon.T
    return 0.5 * abs(np.sum(x * np.roll(y, -1) - y * np.roll(x, -1)))


def contains(polygon, points, slack=1e-9):
    """Whether points are inside a convex polygon with corners in counterclockwise order."""
    edges = np.roll(polygon, -1, axis=0) - polygon
    away = points[:, None] - polygon
    return (edges[:, 0] * away[..., 1] - edges[:, 1] * away[..., 0] > -slack).all(axis=1)


def fitted(seed, **parameters):
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(120, 2)).round(2)
    y = rng.integers(3, size=len(X))
    return OC1Classifier(prune=None, n_restarts=2, random_state=seed, **parameters).fit(X, y), X, y


@pytest.fixture
def axes():
    return Figure().subplots()


@settings(max_examples=100, deadline=None)
@given(
    st.lists(st.tuples(st.integers(-3, 3), st.integers(-3, 3), st.integers(-4, 4)), max_size=6),
)
def test_parts_of_a_polygon_make_up_the_whole_and_lie_on_their_sides(lines):
    polygon = np.array([[0.0, 0.0], [2.0, 0.0], [2.0, 2.0], [0.0, 2.0]])
    for *normal, threshold in lines:
        cut = cut_polygon(polygon, np.array(normal, dtype=float), threshold)
        assert area(cut.below) + area(cut.above) == pytest.approx(area(polygon))
        assert (cut.below @ normal <= threshold + 1e-9).all()
        assert (cut.above @ normal >= threshold - 1e-9).all()
        assert len(cut.segment) in (0, 2)
        assert cut.segment @ normal == pytest.approx(np.full(len(cut.segment), threshold))
        polygon = max(cut.below, cut.above, key=area)


@pytest.mark.parametrize("splits", ["auto", "axis"])
@pytest.mark.parametrize("seed", range(3))
def test_regions_are_where_the_tree_sends_points(seed, splits):
    tree = fitted(seed, splits=splits)[0].tree_
    polygons, segments = tree_regions(tree, BOX)
    leaves = np.flatnonzero(tree.is_leaf)
    assert len(leaves) > 20
    assert sum(area(polygons[leaf]) for leaf in leaves) == pytest.approx(2.0 * 1.3)
    for node in np.flatnonzero(~tree.is_leaf):
        assert area(polygons[node]) == pytest.approx(sum(area(polygons[child]) for child in tree.children[node]))

    rng = np.random.default_rng(seed)
    inside = 0
    for leaf in leaves:
        corners = polygons[leaf]
        if area(corners) > 1e-6:
            points = rng.dirichlet(np.ones(len(corners)), size=50) @ corners
            inside += 1
            assert (tree.apply(points) == leaf).all()
    assert inside > 20
    points = rng.uniform([BOX[0], BOX[2]], [BOX[1], BOX[3]], size=(300, 2))
    for point, leaf in zip(points, tree.apply(points), strict=True):
        assert contains(polygons[leaf], point[None])[0]

    for node, segment in segments.items():
        features, coefficients, threshold = tree.test(node)
        assert segment[:, features] @ coefficients == pytest.approx([threshold, threshold])
        assert contains(polygons[node], segment).all()


def test_a_tree_outside_the_box_leaves_it_whole():
    tree = fitted(0)[0].tree_
    polygons, segments = tree_regions(tree, (100.0, 101.0, 100.0, 101.0))
    held = [node for node in np.flatnonzero(tree.is_leaf) if len(polygons[node])]
    assert held == np.unique(tree.apply(np.array([[100.5, 100.5]]))).tolist()
    assert not segments


def test_partition_shows_every_line_with_its_number(axes):
    model, X, y = fitted(1)
    plot_partition(model, X, y, ax=axes)
    polygons, segments = tree_regions(model.tree_, (*axes.get_xlim(), *axes.get_ylim()))
    drawn = {tuple(line.get_xydata().ravel()) for line in axes.lines}
    assert drawn == {tuple(segment.ravel()) for segment in segments.values()}
    numbers = {int(text.get_text()): text.xy for text in axes.texts}
    assert set(numbers) == set(segments)
    for node, place in numbers.items():
        assert contains(polygons[node], np.array([place]))[0]
    assert len(axes.patches) == sum(len(polygons[leaf]) > 0 for leaf in np.flatnonzero(model.tree_.is_leaf))


def test_the_grid_and_the_regions_agree(axes):
    model, _, _ = fitted(2, max_depth=3)
    paint_grid(axes, model.predict, BOX, model.classes_)
    (image,) = axes.images
    shares = np.bincount(np.asarray(image.get_array()).ravel(), minlength=3) / image.get_array().size
    polygons, _ = tree_regions(model.tree_, BOX)
    exact = np.zeros(3)
    for leaf in np.flatnonzero(model.tree_.is_leaf):
        exact[model.tree_.majority[leaf]] += area(polygons[leaf]) / 2.6
    assert shares == pytest.approx(exact, abs=0.01)


@pytest.mark.parametrize("model", [LMDTClassifier(random_state=0), OC1Classifier()])
def test_many_classes_and_names(axes, model):
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    X = pandas.DataFrame(rng.uniform(size=(150, 2)), columns=["price $", "size $"])
    y = np.array(list("abcdefghijkl"))[(X.to_numpy() * [4, 3]).astype(int) @ [3, 1]]
    plot_partition(model.fit(X, y), X, y, ax=axes)
    assert [text.get_text() for text in axes.get_legend().get_texts()] == list("abcdefghijkl")
    assert axes.get_xlabel().replace("\\", "") == "price $"
    axes.figure.draw_without_rendering()


def test_styles_differ():
    assert len({class_style(number) for number in range(64)}) == 64
    assert len({class_style(number)[0] for number in range(8)}) == 8
    assert len({class_style(number)[1] for number in range(8)}) == 8


def flags(n=200):
    """A categorical attribute, whose names try to look like tests, a number, and a sum of both."""
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    effect, size = rng.integers(4, size=n), rng.normal(size=n)
    names = np.array(["low > 1", "mid > 2", "high > 3", "top > 4"])
    return pandas.DataFrame({"grade": names[effect], "size": size}), effect + size


@pytest.mark.parametrize(
    ("learner", "splits"),
    [(OC1Classifier, "auto"), (OC1Classifier, "axis"), (OC1Regressor, "best"), (OC1Regressor, "axis")],
)
def test_trees_of_categories_and_numbers(axes, learner, splits):
    X, total = flags()
    y = total if learner is OC1Regressor else total > 1
    model = learner(splits=splits, max_depth=3, random_state=0, prune=None, categorical_features=["grade"]).fit(X, y)
    plot_tree(model, ax=axes)
    assert len(frames(axes)) == model.tree_.n_nodes
    letters = [patch for patch in axes.patches if isinstance(patch, PathPatch)]
    bounds = np.array([patch.get_path().get_extents().extents for patch in letters])
    (left, right), (bottom, top) = axes.get_xlim(), axes.get_ylim()
    assert (bounds[:, :2] > [left, bottom]).all()
    assert (bounds[:, 2:] < [right, top]).all()
    below = bounds[:, 3] < frames(axes)[:, 1].min()
    assert below.any() == (splits != "axis")  # the codes


def test_a_larger_number_is_darker(axes):
    X = np.arange(30.0)[:, None]
    model = OC1Regressor(prune=None, max_depth=2).fit(X, np.repeat([5.0, 1.0, 9.0], 10))
    plot_tree(model, ax=axes)
    leaf = model.tree_.is_leaf
    shades = [patch.get_facecolor() for patch in axes.patches if isinstance(patch, FancyBboxPatch)]
    grey = np.array(shades)[leaf, :3].sum(axis=1)
    assert (grey.argsort() == (-model.tree_.values[leaf]).argsort()).all()


def test_a_vote_over_categories_has_no_partition(axes):
    X, total = flags()
    vote = OC1EnsembleClassifier(OC1Classifier(n_restarts=1, categorical_features=["grade"]), n_estimators=2)
    with pytest.raises(ValueError, match="but x1 is categorical"):
        plot_partition(vote.fit(X, total > 1), X, total > 1, ax=axes)


def frames(axes):
    return np.array([patch.get_bbox().extents for patch in axes.patches if isinstance(patch, FancyBboxPatch)])


@pytest.mark.parametrize("data", ["noisy", "rcb", "one class"])
def test_boxes_of_a_tree_do_not_overlap(axes, data, request):
    X, y = (np.eye(3), np.zeros(3)) if data == "one class" else request.getfixturevalue(data)
    model = OC1Classifier(prune=None, random_state=0, splits="axis", max_leaf_nodes=40).fit(X, y)
    plot_tree(model, ax=axes)
    boxes = frames(axes)
    assert len(boxes) == model.tree_.n_nodes
    for i, (left, bottom, right, top) in enumerate(boxes):
        others = np.delete(boxes, i, axis=0)
        apart = (others[:, 0] > right) | (others[:, 2] < left) | (others[:, 1] > top) | (others[:, 3] < bottom)
        assert apart.all()
    (left, right), (bottom, top) = axes.get_xlim(), axes.get_ylim()
    assert (boxes[:, :2] > [left, bottom]).all()
    assert (boxes[:, 2:] < [right, top]).all()
    for node, below in enumerate(model.tree_.children):
        if below[0] >= 0:  # "no" is to the left, and children are lower
            assert boxes[below[0], 0] < boxes[node, 0] + boxes[node, 2] - boxes[below[0], 2] < boxes[below[1], 2]
            assert (boxes[below, 3] < boxes[node, 1]).all()
