"""Fitted models as small pieces of HTML."""

import re
from types import SimpleNamespace

import numpy as np
import pytest
from converted_models import WITH_CATEGORIES, fitted
from reading_html import Tags
from sklearn import config_context
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer

from oc1 import OC1Classifier, OC1EnsembleClassifier, OC1Regressor
from oc1.datasets import make_rcb
from oc1.tree.colours import class_colour, number_colour
from oc1.tree.html import HEIGHT, small_html
from oc1.tree.sketch import MAX_NODES
from oc1.tree.wording import number

KINDS = ["oblique", "directed", "leaf", "nasty", "vote", "subspaces", "regression", "lmdt", "c45", "large"]


def first_tree(model):
    return getattr(model, "estimators_", [model])[0].tree_


@pytest.mark.parametrize("name", [*KINDS, *WITH_CATEGORIES])
def test_a_notebook_shows_the_tree(name):
    model = fitted(name)
    shown = model._repr_html_()
    assert shown == small_html(model) == model._repr_mimebundle_()["text/html"]
    tags = [tag for tag, _ in Tags(shown).tags]
    assert "script" not in tags
    tree = first_tree(model)
    assert tags.count("li") == (tree.n_nodes if tree.n_nodes <= MAX_NODES else tags.count("li"))
    assert tags.count("li") <= MAX_NODES
    assert ("first levels" in shown) == (tree.n_nodes > MAX_NODES)


@pytest.mark.parametrize("name", ["oblique", "lmdt", "c45", "regression"])
def test_a_tree_of_its_own_is_shown_without_histograms(name):
    tree = fitted(name).tree_
    tags = [tag for tag, _ in Tags(tree._repr_html_()).tags]
    assert tags.count("li") == min(tree.n_nodes, tags.count("li"))
    assert "svg" not in tags


def test_a_notebook_shows_no_tree_before_there_is_one():
    model = clone(fitted("oblique"))
    assert "oc1-tree" not in model._repr_html_()
    assert "sk-" in model._repr_html_()
    with config_context(display="text"):
        assert not hasattr(fitted("oblique"), "_repr_html_")
        assert list(fitted("oblique")._repr_mimebundle_()) == ["text/plain"]


def test_texts_are_escaped():
    X, y = make_rcb(100, random_state=0)
    model = OC1Classifier(splits="axis").fit(X, np.array(["<script>alert(1)</script>", "b"])[(y > 4).astype(int)])
    shown = model._repr_html_()
    assert "<script" not in shown
    assert "&lt;script&gt;alert(1)" in shown


def test_a_long_test_shows_its_largest_terms_its_threshold_and_on_request_all():
    cancer = load_breast_cancer(as_frame=True)
    model = OC1Classifier(random_state=0).fit(cancer.data, cancer.target)
    shown = model._repr_html_()
    features, _, threshold = model.tree_.test(0)
    visible, folded = shown.split("<details>")[0], shown.split("<details>")[1].split("</details>")[0]
    assert f">&gt; {number(threshold)}</span>" in visible  # a word of its own, which nothing can cut
    assert "more (" in visible
    assert folded.count("<tr>") == len(features) > 8
    shares = [float(share) for share in re.findall(r"([\d.]+)%</td>", folded)]
    assert shares == sorted(shares, reverse=True)
    assert sum(shares) == pytest.approx(100, abs=0.5)


def test_histograms_are_of_the_training_examples():
    X, y = make_rcb(300, random_state=0)
    model = OC1Classifier(random_state=0).fit(X, y)
    pictures = re.findall(r"<svg.*?</svg>", model._repr_html_())
    assert len(pictures) == np.sum(~model.tree_.is_leaf)
    for picture in pictures:
        bars = re.findall(r"M[\d.]+ ([\d.]+)h[\d.]+v([\d.]+)", picture)
        assert all(float(top) >= 0 and float(top) + float(height) <= HEIGHT + 0.2 for top, height in bars)
    root = pictures[0]
    assert all(class_colour(k) in root for k in range(8))


def test_numbers_are_paler_where_they_are_smaller():
    X = np.arange(40.0)[:, None]
    model = OC1Regressor(max_depth=1, random_state=0).fit(X, np.where(X[:, 0] > 20, 5.0, 1.0))
    shown = model._repr_html_()
    assert shown.index(number_colour(0.0)) < shown.index(number_colour(1.0))


def test_a_score_on_held_out_examples_is_shown():
    X, y = make_rcb(100, random_state=0)
    model = OC1Classifier(splits="axis", random_state=0).fit(X, y)
    assert "held-out" not in model._repr_html_()
    model.source_ = SimpleNamespace(held_out=SimpleNamespace(measure="accuracy", value=0.875, n_examples=40))
    assert "in 87.5% of 40 held-out examples" in model._repr_html_()
    model.source_.held_out.measure = "r2"
    assert "R² 0.875 on 40 held-out examples" in model._repr_html_()


def test_a_vote_shows_its_first_tree():
    X, y = make_rcb(100, random_state=0)
    vote = OC1EnsembleClassifier(OC1Classifier(splits="axis"), 3, random_state=0).fit(X, y)
    assert "vote of 3 trees" in vote._repr_html_()
    assert f"first of them: {vote.estimators_[0].get_n_leaves()} leaves" in vote._repr_html_()


def test_classes_have_colours_of_their_own():
    assert len({class_colour(k) for k in range(32)}) == 32
