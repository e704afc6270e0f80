"""The pruning path: how good subtrees are, and how much there is to read in them."""

from copy import deepcopy

import numpy as np
import pytest
from matplotlib.figure import Figure
from sklearn.datasets import load_wine

from oc1 import OC1Classifier
from oc1.plotting import plot_pruning_path


@pytest.fixture
def axes():
    return Figure(figsize=(7, 4.5), layout="constrained").subplots()


@pytest.fixture(scope="module")
def wine():
    """Examples of which about every fifth is noise."""
    X, y = load_wine(return_X_y=True)
    rng = np.random.default_rng(0)
    return X, np.where(rng.uniform(size=len(y)) < 0.2, rng.integers(0, 3, size=len(y)), y)


@pytest.fixture(scope="module")
def oblique(wine):
    model = OC1Classifier(splits="oblique", random_state=0).fit(*wine)
    assert model.tree_.n_terms > model.tree_.n_leaves
    return model


def legend_of(axes):
    return [text.get_text() for text in axes.get_legend().get_texts()]


def axis_of_terms(axes):
    """Return the axes on the right, None without."""
    return next((own for own in axes.figure.axes if own is not axes), None)


def test_a_root_alone_is_right_about_the_most_frequent_class(oblique):
    counts = oblique.unpruned_tree_.counts[0]
    assert oblique.pruning_path_.leaves[-1] == 1
    assert oblique.pruning_path_.accuracy[-1] == pytest.approx(counts.max() / counts.sum(), abs=0.01)


def test_the_path_of_the_default_shows_leaves_terms_and_accuracy(axes, oblique):
    plot_pruning_path(oblique, ax=axes)
    path, tree = oblique.pruning_path_, oblique.tree_
    words = [f"the tree: {tree.n_leaves} leaves, {tree.n_terms} terms", "cross-validated", "terms (axis on the right)"]
    assert legend_of(axes) == words
    (line,) = axis_of_terms(axes).lines
    assert line.get_xdata().tolist() == path.leaves.tolist()
    assert line.get_ydata().tolist() == path.terms.tolist()
    judged = next(own for own in axes.lines if own.get_label() == "cross-validated")
    assert judged.get_ydata().tolist() == path.accuracy.tolist()
    axes.figure.draw_without_rendering()


def test_terms_of_axis_parallel_trees_go_without_saying(axes, wine):
    model = OC1Classifier(splits="axis", prune="cv", random_state=0).fit(*wine)
    assert model.pruning_path_.terms.tolist() == (model.pruning_path_.leaves - 1).tolist()
    plot_pruning_path(model, ax=axes)
    assert axis_of_terms(axes) is None
    assert "term" not in " ".join(legend_of(axes))


def test_a_path_without_terms_shows_those_of_the_tree(axes, oblique):
    """Model files of before have such paths."""
    model = deepcopy(oblique)
    model.pruning_path_["terms"] = -1
    plot_pruning_path(model, ax=axes)
    (line,) = axis_of_terms(axes).lines
    assert (line.get_xdata()[0], line.get_ydata()[0]) == (model.tree_.n_leaves, model.tree_.n_terms)
    assert line.get_ydata()[-1] == 0


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"prune": "cv"}, "cross-validated"),
        ({"prune": "holdout"}, "on examples held out"),
        ({"preset": "paper"}, "on examples held out"),
        ({"splits": "axis"}, "cross-validated"),
        ({"normalize": "positive"}, "estimated for pruning"),
    ],
)
def test_it_says_how_the_accuracy_was_measured(axes, wine, parameters, words):
    settings = {"n_restarts": 1, "n_jumps": 0, "random_state": 0} | parameters
    plot_pruning_path(OC1Classifier(**settings).fit(*wine), ax=axes)
    assert words in legend_of(axes)
