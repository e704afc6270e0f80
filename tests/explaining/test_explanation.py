"""Explanations of fitted models: they agree with `predict`, and every kind of model has one or a clear error."""

import json
import re
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.linear_model import LogisticRegression

from oc1 import OC1Classifier, OC1EnsembleClassifier, OC1Regressor, load_model, save_model
from oc1.baselines import C45Classifier, LMDTClassifier
from oc1.explaining import regions
from oc1.explaining.explanation import _votes_needed
from oc1.explaining.half_spaces import nearest_point
from oc1.tree.printable import MINUS

CATEGORIES = ["red", "green", "blue", "grey"]


def coloured(n=300, seed=0):
    """Return a frame of a colour and two numbers, and classes that depend on all of them."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"colour": rng.choice(CATEGORIES, n), "a": rng.normal(size=n), "b": rng.normal(size=n)})
    y = np.where(frame.a + 0.7 * frame.b + (frame.colour == "red") - (frame.colour == "blue") > 0.2, "good", "bad")
    return frame, y


def changed(frame, values):
    """Return a one-row frame with the values of a change."""
    other = frame.copy()
    for own in values:
        other[own.name] = own.after
    return other


def check(model, frame):
    """The explanation of a one-row frame agrees with predict; its changes lead to another answer, 1% less do not."""
    explanation = model.explain(frame)
    predicted = model.predict(frame)[0]
    if explanation.predicts_classes:
        assert explanation.answer == str(predicted)
    for change in (explanation.change, explanation.single_change):
        if change is None:
            continue
        other = model.predict(changed(frame, change.values))[0]
        assert other != predicted
        if explanation.predicts_classes:
            assert change.answer == str(other)
        less = [
            own if isinstance(own.after, str) else own._replace(after=own.before + 0.99 * (own.after - own.before))
            for own in change.values
        ]
        # On a boundary any step is enough, and there is no smallest one.
        if any(not isinstance(own.after, str) for own in less) and not change.is_on_boundary:
            assert model.predict(changed(frame, less))[0] == predicted
    if explanation.single_change is not None:
        assert len(explanation.single_change.values) == 1
        assert explanation.change.distance <= explanation.single_change.distance * 1.006
    text = str(explanation)
    assert max(map(len, text.splitlines())) <= 80
    assert json.loads(json.dumps(explanation.to_dict(), allow_nan=False))["answer"] == explanation.answer
    assert explanation.to_html() == explanation._repr_html_()
    return explanation


@pytest.mark.parametrize(
    "model",
    [
        OC1Classifier(random_state=0),
        OC1Classifier(splits="axis", prune=None, random_state=0),
        OC1Classifier(splits="oblique", preset="paper", prune=None, random_state=0),
        LMDTClassifier(random_state=0),
        C45Classifier(),
        OC1Regressor(random_state=0),
    ],
    ids=lambda model: f"{type(model).__name__}-{getattr(model, 'splits', '')}",
)
def test_every_kind_of_tree_agrees_with_predict(model, noisy):
    X, y = noisy
    frame = pd.DataFrame(X, columns=["north", "east", "south", "west"])
    target = X @ [1, 2, 0, -1] if isinstance(model, OC1Regressor) else np.array(["low", "high"])[y]
    model.fit(frame, target)
    named = 0
    for i in range(0, 400, 16):
        explanation = check(model, frame.iloc[[i]])
        named += explanation.change is not None
        path = np.flatnonzero(model.decision_path(frame.iloc[[i]]).toarray()[0])
        assert [step.look.node for step in explanation.steps] + [explanation.leaf.node] == path.tolist()
    assert named == 25


@pytest.mark.parametrize(
    "model",
    [
        OC1Classifier(categorical_features=["colour"], splits="oblique", random_state=0),
        OC1Classifier(categorical_features=["colour"], splits="axis", prune=None, random_state=0),
        C45Classifier(categorical_features=["colour"]),
        C45Classifier(categorical_features=["colour"], subset=True),
    ],
    ids=["oblique", "axis", "branches", "groups"],
)
def test_categories_change_to_other_categories(model):
    frame, y = coloured()
    model.fit(frame, y)
    explanations = [check(model, frame.iloc[[i]]) for i in range(0, 300, 12)]
    changes = [change for one in explanations for change in (one.change, one.single_change) if change is not None]
    values = [own for change in changes for own in change.values if isinstance(own.after, str)]
    assert values
    assert all(own.before in CATEGORIES and own.after in CATEGORIES and own.before != own.after for own in values)
    assert any(step.kind in ("categories", "sum") for one in explanations for step in one.steps)


def test_missing_values_stay_missing_and_are_told():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(400, 3)), columns=list("abc"))
    y = np.where(X.a + X.b > 0, "yes", "no")
    X[rng.uniform(size=X.shape) < 0.15] = np.nan
    for options in ({"splits": "oblique"}, {"missing": "direction", "splits": "axis", "prune": None}):
        model = OC1Classifier(random_state=0, **options).fit(X, y)
        told = 0
        for i in np.flatnonzero(X.isna().any(axis=1))[:25]:
            row = X.iloc[[i]]
            explanation = check(model, row)
            holes = [name for name in "abc" if np.isnan(row[name].iloc[0])]
            assert set(explanation.missing) <= set(holes)
            if explanation.change is not None:
                assert not {own.name for own in explanation.change.values} & set(holes)
            if any(step.unknown for step in explanation.steps):
                told += 1
                assert "is not known" in str(explanation)
        assert told > 5


def test_c45_says_that_it_divides_examples():
    frame, y = coloured()
    model = C45Classifier(categorical_features=["colour"]).fit(frame, y)
    hole = frame.iloc[[0]].assign(a=np.nan)
    with pytest.raises(ValueError, match="several branches where a value is not known, here of 'a'"):
        model.explain(hole)
    with pytest.raises(ValueError, match="'colour'"):
        model.explain(frame.iloc[[0]].assign(colour="pink"))
    vote = OC1EnsembleClassifier(C45Classifier(categorical_features=["colour"]), 3, random_state=0).fit(frame, y)
    assert "None of these trees" in str(vote.explain(hole))


def test_votes_are_counted_and_one_tree_is_told():
    iris = load_iris(as_frame=True)
    model = OC1EnsembleClassifier(n_estimators=7, bootstrap=True, max_features=0.5, random_state=0)
    model.fit(iris.data, iris.target_names[iris.target])
    for i in (0, 70, 83, 106, 133):
        row = iris.data.iloc[[i]]
        explanation = model.explain(row)
        shares = dict(zip(model.classes_, 7 * model.predict_proba(row)[0], strict=True))
        assert dict(explanation.votes.counts) == {label: round(n) for label, n in shares.items() if n}
        assert explanation.answer == model.predict(row)[0] == explanation.leaf.label
        assert explanation.change is explanation.single_change is None
        assert f"by {explanation.votes.counts[0][1]} of 7 trees" in str(explanation)
    with_text = OC1EnsembleClassifier(OC1Classifier(categorical_features=[0]), 3, random_state=0).fit(*coloured())
    assert with_text.explain(coloured()[0].iloc[[0]]).answer in ("good", "bad")
    others = OC1EnsembleClassifier(LogisticRegression(max_iter=1000), 3, random_state=0).fit(iris.data, iris.target)
    assert "None of these trees" in str(others.explain(iris.data.iloc[0]))


def test_votes_needed():
    assert _votes_needed(np.array([5, 2, 0]), 0) == 2  # 3 and 4
    assert _votes_needed(np.array([2, 5]), 1) == 2
    assert _votes_needed(np.array([3, 5]), 1) == 1  # 4 and 4: the first wins
    assert _votes_needed(np.array([5, 3]), 0) == 2
    assert _votes_needed(np.array([4]), 0) is None


def test_an_example_can_be_given_in_many_ways():
    iris = load_iris(as_frame=True)
    X, y = iris.data, iris.target_names[iris.target]
    model = OC1Classifier(random_state=0).fit(X, y)
    expected = str(model.explain(X.iloc[[110]]))
    row = X.iloc[110]
    backwards = dict(reversed(row.to_dict().items()))
    for given in (row, row.to_numpy(), row.tolist(), [row.tolist()], backwards, pl.from_pandas(X)[110], row[::-1]):
        assert str(model.explain(given)) == expected
    with pytest.raises(ValueError, match="takes one example, got 2"):
        model.explain(X.iloc[:2])
    with pytest.raises(ValueError, match="takes one example, got 150"):
        model.explain(X.to_numpy())
    with pytest.raises(ValueError, match="no value for 'sepal width"):
        model.explain({"sepal length (cm)": 1.0})
    with pytest.raises(ValueError, match="3 features"):
        model.explain([1.0, 2.0, 3.0])
    nameless = OC1Classifier(random_state=0).fit(X.to_numpy(), y)
    with pytest.raises(ValueError, match="does not know the names"):
        nameless.explain(backwards)
    for given in (row, backwards):
        with pytest.raises(ValueError, match="not fitted"):
            OC1Classifier().explain(given)


def test_a_tree_without_tests_and_one_class():
    explanation = OC1Classifier().fit([[0.0], [1.0]], ["only", "only"]).explain([3.0])
    assert (explanation.answer, explanation.steps, explanation.change) == ("only", (), None)
    assert "no test" in str(explanation)
    assert "no test" in explanation.to_html()


def test_an_example_on_a_threshold_is_on_the_boundary():
    model = OC1Classifier(prune=None).fit(np.array([[0.0], [1.0], [2.0], [3.0]]), ["left", "left", "right", "right"])
    explanation = model.explain([1.5])
    assert explanation.answer == "left"
    assert explanation.change.is_on_boundary
    assert model.predict([[explanation.change.values[0].after]])[0] == "right"
    assert "exactly on a boundary" in str(explanation)


def test_files_of_the_original_know_no_averages(tmp_path, pol):
    model = OC1Classifier(random_state=0).fit(*pol)
    save_model(model, tmp_path / "pol.dt")
    again = load_model(tmp_path / "pol.dt").explain(pol[0][0])
    assert not again.knows_averages
    assert "average" not in str(again)
    assert "units of the attributes" in str(again)


def test_the_first_look_and_the_direction_are_right():
    """A patient is called malignant for what speaks for malignant."""
    cancer = load_breast_cancer(as_frame=True)
    X, y = cancer.data, cancer.target_names[cancer.target]
    model = OC1Classifier(random_state=0).fit(X, y)
    for i in np.flatnonzero(y == "malignant")[:10]:
        explanation = model.explain(X.iloc[i])
        step = explanation.steps[0]
        assert "At first it looks benign (62.7% of 569 training examples)." in " ".join(str(explanation).split())
        for own in step.evidence:
            other = X.iloc[[i]].copy()
            other[own.name] = own.average
            # With the average in its place, the example is nearer to the other side just if the value spoke for this.
            nearer = model.explain(other).steps[0]
            sign = 1 if nearer.speaks_for == step.speaks_for else -1
            assert step.distance - sign * nearer.distance == pytest.approx(own.push, abs=1e-6)


class _Tags(HTMLParser):
    def __init__(self):
        super().__init__()
        self.tags = set()

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        assert not any(name.startswith("on") or "url(" in (value or "") for name, value in attrs)


def test_hostile_and_long_names_are_shown_and_not_run(tmp_path):
    rng = np.random.default_rng(0)
    names = ["<script>alert(1)</script>", "\x1b[31m" + "long " * 60, "12"]
    X = pd.DataFrame(rng.normal(size=(200, 3)), columns=names)
    y = np.where(X.sum(axis=1) > 0, "<b onclick='x'>", "1")
    model = OC1Classifier(random_state=0).fit(X, y)
    explanation = model.explain(X.iloc[[0]])
    tags = _Tags()
    explanation.save(tmp_path / "page.html")
    tags.feed((tmp_path / "page.html").read_text(encoding="utf-8"))
    allowed = {
        "html",
        "head",
        "meta",
        "title",
        "style",
        "body",
        "div",
        "p",
        "ol",
        "li",
        "table",
        "tr",
        "td",
        "th",
        "span",
    }
    assert tags.tags <= allowed
    assert "\x1b" not in str(explanation)
    assert max(map(len, str(explanation).splitlines())) <= 80
    explanation.save(tmp_path / "page.txt")
    assert (tmp_path / "page.txt").read_text(encoding="utf-8") == f"{explanation}\n"
    explanation.save(tmp_path / "page.json")
    assert json.loads((tmp_path / "page.json").read_text(encoding="utf-8")) == explanation.to_dict()


def test_a_wide_tree_is_searched_by_distance(monkeypatch):
    """Of thousands of leaves only those nearby are looked at."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(6000, 6)), rng.integers(0, 3, 6000)
    model = OC1Classifier(splits="axis", prune=None, random_state=0).fit(X, y)
    solved = []
    monkeypatch.setattr(regions, "nearest_point", lambda *given: solved.append(1) or nearest_point(*given))
    model.explain(X[0])
    assert model.get_n_leaves() > 1500
    assert 0 < len(solved) < 300


def test_sides_are_named_after_what_they_speak_for():
    iris = load_iris(as_frame=True)
    model = OC1Classifier(random_state=0).fit(iris.data, iris.target_names[iris.target])
    first, second = model.explain(iris.data.iloc[110]).steps
    assert first.speaks_for.labels == ("versicolor", "virginica")  # equally many of both
    assert first.speaks_against.labels == ("setosa",)
    assert (second.speaks_for.labels, second.speaks_against.labels) == (("virginica",), ("versicolor",))
    words = " ".join(str(model.explain(iris.data.iloc[110])).split())
    assert "At first it looks like any of 3 classes (33.3% each of 150 training examples)" in words
    assert "that speaks for versicolor or virginica" in words


def test_a_side_of_two_classes_is_named_after_both():
    wine = load_wine(as_frame=True)
    model = OC1Classifier(random_state=0).fit(wine.data, wine.target_names[wine.target])
    for row in (0, 170):  # of two classes that are on the same side of the first test
        first = model.explain(wine.data.iloc[row]).steps[0]
        assert set(first.speaks_for.labels) == {"class_0", "class_2"}
        assert first.speaks_against.labels == ("class_1",)
    assert "looks like class_0" in " ".join(str(model.explain(wine.data.iloc[0])).split())


def test_terms_stay_whole_where_a_line_ends():
    cancer = load_breast_cancer(as_frame=True)
    model = OC1Classifier(random_state=0).fit(cancer.data, cancer.target)
    told = str(model.explain(cancer.data.iloc[2]))
    assert max(map(len, told.splitlines())) < 80
    assert not re.search(rf"[+>{MINUS}]$|[+{MINUS}] [\d.]+$", told, re.MULTILINE)
