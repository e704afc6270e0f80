from math import comb

import matplotlib
import numpy as np
import pytest
from matplotlib.figure import Figure
from matplotlib.lines import AxLine
from matplotlib.patches import FancyBboxPatch

from oc1 import OC1Classifier
from oc1.datasets import load_figure5
from oc1.experiments import figures
from oc1.plotting import save


@pytest.mark.parametrize("m", [0, 1, 2])
def test_the_best_coefficient_is_the_best_of_all(m):
    rng = np.random.default_rng(m)
    X = rng.uniform(0.1, 1, size=(40, 3))
    y = rng.integers(3, size=len(X))
    plane = rng.normal(size=4)
    found = figures.search_coefficient(plane, m, X, y)

    def split(value):
        moved = plane.copy()
        moved[m] = value
        return X @ moved[:-1] + moved[-1] > 0

    for value in (found.best, 0.0, plane[m]):
        assert (split(value) == (value > found.crossings)).all()

    def impurity(side):
        return sum(n.sum() - (n**2).sum() / n.sum() for n in map(np.bincount, (y[side], y[~side])) if n.sum()) / len(y)

    assert found.impurities.min() == pytest.approx(impurity(split(found.best)))
    tried = [impurity(split(value)) for value in np.linspace(*np.quantile(found.crossings, [0, 1]), 500)]
    assert impurity(split(found.best)) <= min(tried) + 1e-12
    with pytest.raises(ValueError, match="must all be positive"):
        figures.search_coefficient(plane, m, -X, y)


@pytest.mark.parametrize("seed", range(3))
def test_figure1_shows_an_axis_parallel_tree_and_its_regions(seed, monkeypatch):
    scores, draw = [], figures._draw
    monkeypatch.setattr(figures, "_draw", lambda ax, *args: (scores.append(args[0].score(*args[1:3])), draw(ax, *args)))
    tree, plane = figures.figure1(seed).axes
    lines = np.array([line.get_xydata() for line in plane.lines])
    assert len(lines) == 3
    assert np.isclose(np.diff(lines, axis=1), 0).any(axis=2).all()
    numbers = sorted(int(text.get_text()) for text in plane.texts)
    boxes = [patch for patch in tree.patches if isinstance(patch, FancyBboxPatch)]
    assert numbers == list(range(len(boxes)))  # each node is found in both
    assert scores == [1.0]


@pytest.mark.parametrize("n", [2, 3, 4, 6])
def test_oblique_splits_are_all_ways_to_divide_points_by_a_line(n):
    rng = np.random.default_rng(n)
    X = rng.normal(size=(n, 2))
    ends, sides = figures.oblique_splits(X, 1e-6)
    assert len(ends) == len(sides) == 4 * comb(n, 2)
    different = np.unique(sides, axis=0)
    assert len(different) == 1 + comb(n, 2)  # a division and its mirror image are one
    slopes, heights = rng.normal(size=(2, 5000))
    above = X[:, 1] > np.outer(slopes, X[:, 0]) + heights[:, None]
    seen = np.unique(above != above[:, :1], axis=0)
    assert {tuple(row) for row in seen} <= {tuple(row) for row in different}


def test_figure3_counts_the_splits_it_draws():
    two, four = figures.figure3().axes
    for ax, title in ((two, "2 points: 4 axis-parallel splits, 4 oblique ones"), (four, "4 points: 8 axis-parallel")):
        assert ax.get_title().startswith(title)
    assert "24 oblique ones,\nwhich divide the points in 7 ways" in four.get_title()
    assert "in 2 ways" in two.get_title()
    for ax, n_axis, n_oblique in ((two, 4, 4), (four, 8, 24)):
        drawn = [line for line in ax.lines if len(line.get_xdata())]
        assert sum(line.get_linestyle() == ":" for line in drawn) == n_axis
        assert sum(isinstance(line, AxLine) for line in drawn) == n_oblique


def test_figure2_shows_a_staircase_and_figure5_a_way_out():
    oblique, axis = figures.figure2(0).axes
    assert oblique.get_title() == "Oblique tree: 3 leaves"
    assert len(axis.lines) > 3 * len(oblique.lines)
    steps = np.array([line.get_xydata() for line in axis.lines[:-2]])
    assert (np.isclose(np.diff(steps, axis=1), 0).any(axis=2)).all()
    for seed in range(3):
        stuck, free = figures.figure5(seed).axes
        assert "1 of 8 examples on the wrong side" in stuck.get_title()
        assert "0 of 8" in free.get_title()
        assert any("preset='paper'" in text.get_text() for text in stuck.figure.legends[0].get_texts())


@pytest.mark.parametrize(
    ("preset", "n_jumps", "low", "high"), [("paper", 1, 3, 10), ("paper", 20, 60, 75), (None, 1, 12, 20)]
)
def test_how_often_a_jump_gets_away_in_figure5(preset, n_jumps, low, high):
    X, y = load_figure5()
    options = {"preset": preset, "n_restarts": 0, "n_jumps": n_jumps, "stagnation": 0, "max_depth": 1, "prune": None}
    away = [OC1Classifier(random_state=seed, **options).fit(X, y).score(X, y) == 1 for seed in range(400)]
    assert low <= 100 * np.mean(away) <= high


@pytest.mark.parametrize("name", figures.FIGURES)
def test_nothing_sticks_out_of_a_figure(name):
    for seed in range(3):
        figure = figures.FIGURES[name](seed)
        figure.draw_without_rendering()
        drawn = figure.get_tightbbox()
        width, height = figure.get_size_inches()
        assert drawn.x0 >= 0
        assert drawn.y0 >= 0
        assert drawn.x1 <= width
        assert drawn.y1 <= height


@pytest.mark.slow
def test_all_figures_are_written_and_the_same_each_time(tmp_path):
    before = dict(matplotlib.rcParams)
    paths = figures.draw_all(tmp_path / "new" / "folder", seed=1)
    assert [path.name for path in paths] == [f"figure{n}.png" for n in (1, 2, 3, 5, 7, 9)]
    first = [path.read_bytes() for path in paths]
    assert all(content.startswith(b"\x89PNG") and 10_000 < len(content) < 500_000 for content in first)
    figures.draw_all(tmp_path / "new" / "folder", seed=1)
    assert [path.read_bytes() for path in paths] == first
    vector = [tmp_path / "a.svg", tmp_path / "b.svg"]
    for path in vector:
        save(figures.figure7(1), path)
    assert vector[0].read_bytes() == vector[1].read_bytes()
    assert b"<svg" in vector[0].read_bytes()
    assert dict(matplotlib.rcParams) == before
    with pytest.raises(ValueError, match=r"must end in .png, .svg or .pdf, got 'figure.jpeg'"):
        save(Figure(), tmp_path / "figure.jpeg")
