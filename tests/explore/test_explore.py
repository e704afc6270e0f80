"""The page of a model, without a browser."""

import base64
import hashlib
import json
import re

import numpy as np
import pytest
from converted_models import NASTY, fitted, frame
from reading_html import Tags

from oc1 import OC1Classifier, OC1EnsembleClassifier
from oc1.datasets import make_rcb
from oc1.explore import explore
from oc1.explore.page import page_data
from oc1.files.models.record import Source

QUICK = ["oblique", "directed", "leaf", "nasty", "vote", "subspaces", "regression", "lmdt", "c45", "large"]


def embedded(page):
    """Return the data in a page."""
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)[1])


# ---------------------------------------------------------------------------------------------------- the page


@pytest.mark.parametrize("name", QUICK)
def test_the_page_is_whole_and_alone(name):
    page = explore(fitted(name))
    tags = Tags(page).tags
    assert [own for tag, own in tags if "src" in own or "href" in own] == []
    assert page == explore(fitted(name))  # the same model gives the same page
    assert not re.search(r"\{\{\w+\}\}", page)


def test_only_the_scripts_and_styles_of_the_page_may_run():
    page = explore(fitted("nasty"))
    policy = next(own["content"] for tag, own in Tags(page).tags if own.get("http-equiv") == "Content-Security-Policy")
    for tag, kind in (("script", "script-src"), ("style", "style-src")):
        (content,) = re.findall(rf"<{tag}>(.*?)</{tag}>", page, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert f"{kind} 'sha256-{digest}'" in policy
    assert "unsafe" not in policy
    assert "default-src 'none'" in policy


@pytest.mark.parametrize("name", [name for name in QUICK if name not in ("lmdt", "vote", "subspaces")])
def test_tests_are_exact(name):
    """Those of the tree as it was grown or, where it was refined after that, of the tree itself."""
    (record,) = embedded(explore(fitted(name)))["trees"]

    def tests_of(tree):
        tests = [0 if tree.is_leaf[node] else tree.test(node) for node in range(tree.n_nodes)]
        return [test and (test[0].tolist(), test[1].tolist(), test[2]) for test in tests]

    shown = [test and (test["f"], test["c"], test["t"]) for test in record["tests"]]
    assert shown in (tests_of(fitted(name).unpruned_tree_), tests_of(fitted(name).tree_))


@pytest.mark.parametrize("kind", ["numbers", "categories", "votes"])
def test_histograms_count_the_examples_that_pass(kind):
    if kind == "numbers":
        X, y = make_rcb(400, random_state=0)
        model = member = OC1Classifier(random_state=0, n_restarts=3).fit(X, y)
        paths = model.decision_path(X)
    elif kind == "categories":
        (X, y), model = frame(), fitted("categories")
        member, paths = model, model.decision_path(X)
    else:
        base = OC1Classifier(categorical_features=["select", "X", "list"], prune=None, n_restarts=2)
        X, y = frame()
        model = OC1EnsembleClassifier(base, 2, max_features=3, random_state=0).fit(X, y)
        member = model.estimators_[0]
        paths = member.decision_path(model._checked(X)[:, model.estimators_features_[0]])
    data = page_data(model, X, y)
    paths = paths.toarray().astype(bool)
    assert len(data["trees"][0]["histograms"]) == (~member.tree_.is_leaf).sum()
    for node, histogram in data["trees"][0]["histograms"].items():
        seen = np.zeros(len(model.classes_))
        left = 0
        for bar in histogram["c"]:
            for k, n in zip(bar[1::2], bar[2::2], strict=True):
                seen[k] += n
                left += n if bar[0] < histogram["n"][0] else 0
        assert seen.tolist() == [np.sum(y[paths[:, node]] == label) for label in model.classes_]
        assert left == paths[:, member.tree_.children[node, 0]].sum()


def test_averages_are_those_of_the_examples_at_a_node():
    X, y = make_rcb(400, random_state=0)
    model = OC1Classifier(random_state=0, n_restarts=3).fit(X, y)
    X[::7, 0] = np.nan
    (record,) = page_data(model, X, y)["trees"]
    paths = model.decision_path(X).toarray().astype(bool)
    several = [node for node, test in enumerate(record["tests"]) if test and len(test["f"]) > 1]
    assert several
    assert list(record["averages"]) == sorted(several, key=lambda node: (-model.tree_.counts[node].sum(), node))
    for node, averages in record["averages"].items():
        expected = np.nanmean(X[paths[:, node]], axis=0)
        assert averages == pytest.approx(expected[record["tests"][node]["f"]].tolist(), rel=1e-3)
    assert page_data(model)["trees"][0]["averages"] == {}


def test_the_path_ends_at_the_root_and_marks_the_model(noisy):
    X, y = noisy
    for prune in (None, "holdout", "cv"):
        model = OC1Classifier(splits="axis", prune=prune, random_state=0).fit(X, y)
        (record,) = page_data(model, X, y)["trees"]
        path, tree = record["path"], model.unpruned_tree_
        assert path["leaves"][0] == tree.n_leaves
        assert path["leaves"][-1] == 1
        assert np.all(np.diff(path["leaves"]) < 0)
        assert path["leaves"][path["chosen"]] == model.tree_.n_leaves
        assert path["data"][path["chosen"]] == pytest.approx(model.score(X, y), abs=1e-4)
        words = {"holdout": "on examples held out", "cv": "cross-validated"}
        assert path.get("judgedBy") == words.get(prune)
        if prune is not None:
            assert path["judged"][-len(model.pruning_path_) :] == pytest.approx(model.pruning_path_.accuracy, abs=1e-4)
        steps = np.array(path["steps"])
        for step, leaves in enumerate(path["leaves"]):
            assert tree.cut(steps <= step).n_leaves == leaves if step else tree.n_leaves == leaves


def test_the_path_of_a_tree_with_other_tests_than_grown_is_its_own(noisy):
    model = OC1Classifier(random_state=0).fit(*noisy)
    (record,) = page_data(model, *noisy)["trees"]
    path = record["path"]
    assert (path["leaves"][0], path["chosen"], path["leaves"][-1]) == (model.tree_.n_leaves, 0, 1)
    assert "judged" not in path


def test_few_examples_are_in_the_page():
    X, y = make_rcb(5000, random_state=0)
    model = OC1Classifier(splits="axis", max_depth=2).fit(X[:500], y[:500])
    data = page_data(model, X, y)
    assert len(data["examples"]) == 200
    assert len(data["points"]) == 2000
    assert data["n"] == 5000
    known = set(map(tuple, X.tolist()))
    assert all(tuple(row[:2]) in known for row in data["examples"])


def test_names_ranges_and_target_come_from_where_they_are_known():
    X, y = make_rcb(200, random_state=0)
    model = OC1Classifier(splits="axis", max_depth=2).fit(X, y)
    data = page_data(model, source=Source(target="corner", ranges=((-1.0, 2.0), (-3.0, 4.0))))
    assert data["title"] == data["target"] == "corner"
    assert [own["low"] for own in data["attributes"]] == [-1, -3]
    data = page_data(model)
    assert data["title"] == "OC1Classifier"
    # To draw the plane there must be some range, but it is not shown as known.
    assert all(own["low"] < own["high"] and own["rough"] for own in data["attributes"])
    assert not any("rough" in own for own in page_data(model, X, y)["attributes"])


def test_categories_are_known_by_their_text():
    data = page_data(fitted("categories"), *frame())
    assert set(data["attributes"][0]["categories"]) == {"it's", "b", 'c"', "Ω", ""}
    assert set(data["trees"][0]["codes"]["0"]) == {"it's", "b", 'c"', "Ω", ""}
    texts = {row[0] for row in data["examples"]}
    assert texts <= {"it's", "b", 'c"', "Ω", "", None}


def test_hostile_texts_cannot_leave_the_data():
    pd = pytest.importorskip("pandas")
    X, y = make_rcb(100, random_state=0)
    names = ["</script><script>alert(1)</script>", "\ud800 lone"]
    columns = pd.Index(names, dtype=object)  # texts of Arrow could not hold a lone surrogate
    model = OC1Classifier(splits="axis").fit(pd.DataFrame(X, columns=columns), np.array(NASTY)[y - 1])
    page = explore(model, title="<b>&'\"")
    assert page.count("<script") == 2
    assert "<title>&lt;b&gt;&amp;&#x27;&quot;</title>" in page
    assert [own["name"] for own in embedded(page)["attributes"]] == names
    page.encode("utf-8")


def test_wrong_examples_are_refused():
    X, y = make_rcb(100, random_state=0)
    model = OC1Classifier(splits="axis", max_depth=1).fit(X, y)
    with pytest.raises(ValueError, match="y is needed"):
        explore(model, X)
    with pytest.raises(ValueError, match="the class 'north', which the model does not know"):
        explore(model, X, ["north"] * len(X))
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        explore(model, X, y[:3])
    with pytest.raises(ValueError, match="features"):
        explore(model, X[:, :1], y)
    with pytest.raises(TypeError, match="package"):
        explore(object())


# ---------------------------------------------------------------------------------------------------- the command


@pytest.fixture
def files(tmp_path):
    """A model and its data as files."""
    pytest.importorskip("polars")
    pytest.importorskip("typer")
    from oc1.files.models.storage import save_model

    X, y = make_rcb(150, random_state=0)
    lines = [f"{a},{b},c{label}" for (a, b), label in zip(X.tolist(), y.tolist(), strict=True)]
    (tmp_path / "rcb.csv").write_text("\n".join(["left,right,corner", *lines]))
    pd = pytest.importorskip("pandas")
    named = pd.DataFrame(X, columns=["left", "right"])
    model = OC1Classifier(splits="axis", random_state=0).fit(named, [f"c{label}" for label in y])
    save_model(model, tmp_path / "rcb.json", source=Source(target="corner"))
    return tmp_path


def run(*arguments):
    from typer.testing import CliRunner

    from oc1.cli.app import app

    return CliRunner().invoke(app, [str(own) for own in arguments])


def test_the_command_writes_a_page(files):
    result = run("explore", files / "rcb.json", files / "rcb.csv")
    assert result.exit_code == 0, result.output
    assert "rcb.html" in result.stderr
    data = embedded((files / "rcb.html").read_text())
    assert data["title"] == "rcb"
    assert data["n"] == 150
    assert [own["name"] for own in data["attributes"]] == ["left", "right"]
    assert len(data["trees"][0]["histograms"]) > 0
    assert run("explore", files / "rcb.json", "-o", files / "other.html").exit_code == 0
    assert embedded((files / "other.html").read_text())["n"] is None
    assert sorted(path.suffix for path in files.iterdir()) == [".csv", ".html", ".html", ".json"]


def test_the_command_leaves_out_unknown_classes(files):
    with open(files / "rcb.csv", "a") as file:
        file.write("\n0.5,0.5,nowhere\n")
    result = run("explore", files / "rcb.json", files / "rcb.csv")
    assert result.exit_code == 0
    assert "1 examples left out" in result.stderr
    assert "'nowhere'" in result.stderr


def test_the_command_refuses_what_cannot_be(files):
    result = run("explore", files / "rcb.json", files / "rcb.csv", "-o", files / "rcb.csv")
    assert result.exit_code == 2
    assert "one of the input files" in result.stderr
    result = run("explore", files / "rcb.json", files / "rcb.csv", "--target", "left")
    assert result.exit_code == 1
    assert result.stderr.startswith("error: ")
    assert not (files / "rcb.html").exists()
