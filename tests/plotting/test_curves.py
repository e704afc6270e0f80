import numpy as np
import pytest
from matplotlib.figure import Figure

from oc1.learners.sparsity import SparsityPath
from oc1.plotting import plot_sparsity_path


@pytest.fixture
def axes():
    return Figure(figsize=(7, 4.5), layout="constrained").subplots()


def path_of(accuracy, n_terms, n_features=13, errors=0.01):
    limits = np.array([1, 2, 3, 5, 13])[-len(accuracy) :]
    n_leaves = np.full(len(limits), 3.0)
    errors = np.full(len(limits), errors)
    return SparsityPath(limits, np.array(accuracy), errors, n_leaves, np.array(n_terms, dtype=float), n_features)


def test_the_frontier_is_a_line_and_the_limits_are_written_at_the_points(axes):
    path = path_of([0.83, 0.80, 0.88, 0.86, 0.95], [12, 10, 20, 30, 40])
    assert plot_sparsity_path(path, ax=axes) is axes
    frontier, others = (line for line in axes.lines if line.get_label().startswith(("no other", "another")))
    assert frontier.get_xdata().tolist() == [10, 12, 20, 40]
    assert frontier.get_ydata().tolist() == [0.80, 0.83, 0.88, 0.95]
    assert (others.get_xdata().tolist(), others.get_ydata().tolist()) == ([30], [0.86])
    written = {text.get_text(): text.xy for text in axes.texts}
    places = zip(path.n_terms.tolist(), path.accuracy.tolist(), strict=True)
    assert written == dict(zip(["1", "2", "3", "5", "no limit"], places, strict=True))
    assert axes.get_xscale() == "log"
    bars = next(own for own in axes.collections if hasattr(own, "get_segments"))
    assert [bar[:, 1].tolist() for bar in bars.get_segments()] == [
        pytest.approx([share - 0.01, share + 0.01]) for share in path.accuracy
    ]
    axes.figure.draw_without_rendering()


def test_points_in_the_same_place_share_a_label(axes):
    plot_sparsity_path(path_of([0.9, 0.95, 0.95], [5, 8, 8]), ax=axes)
    assert [text.get_text() for text in axes.texts] == ["3", "5, no limit"]
    assert len(axes.get_legend().get_texts()) == 1


@pytest.mark.parametrize("errors", [0.0, np.nan])
def test_single_leaves_and_single_folds_can_be_drawn(axes, errors):
    plot_sparsity_path(path_of([0.6, 0.6, 0.6], [0, 0, 500], errors=errors), ax=axes)
    axes.figure.draw_without_rendering()
    low, high = axes.get_xlim()
    assert 0 < low < 1 < 500 < high
