import re
import warnings

import numpy as np
import pytest

from oc1 import OC1Classifier, OC1EnsembleClassifier, OC1Regressor
from oc1.baselines import C45Classifier, LMDTClassifier
from oc1.files.models import dt
from oc1.files.models.storage import load_model, read_model, save_model
from oc1.files.problems import FileProblem

OLD = """Training set: hills.data, Dimensions: 2, Categories: 3

Root Hyperplane: Left = [5,0,1], Right = [0,4,4]
1.000000 x[1] + 2.000000 x[2] + -4.000000 = 0

r Hyperplane: Left = [0,4,0], Right = [0,0,4]
-1.000000 x[2] + 1.500000 = 0
"""


def read(text):
    return read_model("hills.dt", text if isinstance(text, bytes) else text.encode()).model


# ---------------------------------------------------------------------------------------------------- there and back


@pytest.mark.parametrize("options", [{}, {"splits": "axis", "prune": None}, {"splits": "oblique", "prune": None}])
@pytest.mark.parametrize("scale", [1.0, 1e-200, 1e150])
def test_round_trips_are_exact(rcb, options, scale, tmp_path):
    X, y = rcb
    X = X * scale
    model = OC1Classifier(random_state=0, n_restarts=2, **options).fit(X, y)
    path = tmp_path / "rcb.dt"
    save_model(model, path)
    again = load_model(path)
    assert again.predict_proba(X).tobytes() == model.predict_proba(X).tobytes()
    np.testing.assert_array_equal(again.apply(X), model.apply(X))
    for name in ("children", "counts", "terms", "features", "coefficients", "thresholds"):
        np.testing.assert_array_equal(getattr(again.tree_, name), getattr(model.tree_, name), err_msg=name)
    assert again.classes_.tolist() == list(range(1, 9))
    assert read_model(path).source.n_examples == 600
    assert "e" not in path.read_text().split("Categories")[1].replace("Hyperplane", "").replace("Left", "")
    save_model(again, tmp_path / "rcb2.dt")
    assert (tmp_path / "rcb2.dt").read_text().split(",", 1)[1] == path.read_text().split(",", 1)[1]
    save_model(again, tmp_path / "rcb.json")
    assert (load_model(tmp_path / "rcb.json").predict_proba(X) == model.predict_proba(X)).all()


def test_what_is_loaded_is_a_fitted_classifier():
    model = read(OLD)
    assert model.get_params() == OC1Classifier().get_params()
    assert (model.get_depth(), model.get_n_leaves(), model.n_hyperplanes_) == (2, 3, 0)
    assert model.feature_importances_.sum() == pytest.approx(1)
    assert model.pruning_path_.leaves.tolist() == [3]
    assert model.decision_path(np.zeros((1, 2))).shape == (1, 5)
    assert "x1" in str(model.tree_)
    assert model.unpruned_tree_.n_leaves == 3
    assert model.predict([[np.nan, np.nan]]) == model.predict([[0.0, 0.0]])
    assert model.fit([[0.0], [1.0], [2.0], [3.0]], ["a", "a", "b", "b"]).predict([[3.0]]) == ["b"]


def test_negative_is_left_and_zero_is_right():
    model = read(OLD)
    assert model.predict([[0.0, 0.0], [4.0, 0.0], [0.0, 2.0], [3.99, 0.0]]).tolist() == [1, 3, 2, 1]
    assert model.predict([[10.0, 1.5]]).tolist() == [3]  # on the second plane
    assert model.predict_proba([[0.0, 0.0]]).tolist() == [[5 / 6, 0, 1 / 6]]
    assert model.tree_.counts[0].tolist() == [5, 4, 5]


def test_equality_stays_on_its_side(tmp_path):
    model = OC1Classifier(splits="axis", prune=None, random_state=0).fit([[1.0], [2.0], [3.0], [4.0]], [1, 1, 2, 2])
    save_model(model, tmp_path / "cut.dt")
    again = load_model(tmp_path / "cut.dt")
    edges = [[2.5], [np.nextafter(2.5, 3)], [np.nextafter(2.5, 2)]]
    assert again.predict(edges).tolist() == model.predict(edges).tolist() == [1, 2, 1]


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace("\n", "\r\n"),
        lambda text: text.replace("\n", "\r"),
        lambda text: text.replace(" ", "\t"),
        lambda text: text.replace(" ", "   "),
        lambda text: "\n\n" + text.replace("\n", "\n\n") + "\n",
        lambda text: text.rstrip(),
        lambda text: "\ufeff" + text,
        lambda text: text.replace(",", " , "),
        lambda text: text.replace("5,0,1", "5 0 1").replace("0,4,0", " 0, 4,0 "),
        lambda text: text.replace("1.000000 x", "x"),
        lambda text: text.replace("+ -4.000000", "- 4"),
        lambda text: text.replace("-1.000000 x[2]", "- x[2]"),
        lambda text: text.replace(" + ", "+").replace(" x", "x").replace(" = ", "="),
        lambda text: text.replace("2.000000 x", "+2e0*x").replace("-4.000000", "-.4E+1"),
        lambda text: text.replace("1.000000 x[1] + 2.000000 x[2]", "2 x[2] + 1 x[1]"),
        lambda text: text.replace("+ -4.000000", "\n + -4.000000"),
        lambda text: text.replace("= 0\n", "= 0.0\n"),
        lambda text: text.replace("r Hyper", "R hyper").replace("Root", "root"),
        lambda text: text.replace("hills.data", "a, Dimensions: 7, b"),
        lambda text: text.replace("hills.data", ""),
        lambda text: text.encode().replace(b"hills", b"h\xfcgel"),
        lambda text: "\n".join(text.split("\n")[i] for i in (0, 5, 6, 1, 2, 3)),
    ],
)  # fmt: skip
def test_spellings(change):
    X = np.random.default_rng(0).normal(size=(50, 2)) * 4
    np.testing.assert_array_equal(read(change(OLD)).predict_proba(X), read(OLD).predict_proba(X))


def test_content_says_what_it_is():
    assert read_model("hills.dt.unpruned", OLD.encode()).model.get_n_leaves() == 3


# ---------------------------------------------------------------------------------------------------- writing


def test_labels_are_told(tmp_path):
    X = [[0.0], [1.0], [2.0], [3.0]]
    model = OC1Classifier(splits="axis", prune=None, random_state=0).fit(X, ["setosa", "setosa", "big\x1b", "big\x1b"])
    with pytest.warns(UserWarning, match=r"class 1 is 'big\\x1b', class 2 is 'setosa'"):
        save_model(model, tmp_path / "model.dt")
    assert load_model(tmp_path / "model.dt").predict(X).tolist() == [2, 2, 1, 1]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        save_model(model.fit(X, [1, 1, 2, 2]), tmp_path / "model.dt")


def test_weights_are_written_as_decimals(tmp_path):
    X, y = [[0.0], [1.0], [2.0], [3.0]], [1, 1, 2, 2]
    model = OC1Classifier(splits="axis", prune=None, random_state=0).fit(X, y, sample_weight=[0.1, 0.25, 1e-7, 3.0])
    save_model(model, tmp_path / "model.dt")
    (sides,) = re.findall(r"Left = \[0,(\d+\.\d+)\], Right = \[(\d+\.\d+),0\]", (tmp_path / "model.dt").read_text())
    assert float(sides[0]) / float(sides[1]) == pytest.approx(3.0000001 / 0.35, rel=1e-6)
    assert (load_model(tmp_path / "model.dt").tree_.counts[1:] == model.tree_.counts[1:]).all()


def test_what_the_format_cannot_hold(pol, tmp_path):
    X, y = pol
    colours = np.where(y == 1, "red", "green").astype(object)[:, None]
    holes = np.where(np.random.default_rng(0).random(X.shape) < 0.3, np.nan, X)
    axis = OC1Classifier(splits="axis", missing="direction", random_state=0)
    cases = {
        "single leaf": OC1Classifier(max_depth=0).fit(X, y),
        "linear machines": LMDTClassifier(random_state=0).fit(X, y),
        "OC1EnsembleClassifier": OC1EnsembleClassifier(n_estimators=2, random_state=0).fit(X, y),
        "OC1Regressor": OC1Regressor(max_depth=1, random_state=0).fit(X, X[:, 0]),
        "categorical": OC1Classifier(categorical_features=[0], random_state=0).fit(colours, y),
        "missing values": axis.fit(holes, y),
    }
    for message, model in cases.items():
        with pytest.raises(ValueError, match=rf"{message}.*\.json"):
            save_model(model, tmp_path / "model.dt")
    assert list(tmp_path.iterdir()) == []


def test_other_learners_are_written(noisy, tmp_path):
    X, y = noisy
    model = C45Classifier().fit(X, y + 1)
    save_model(model, tmp_path / "model.dt.gz")
    assert (load_model(tmp_path / "model.dt.gz").predict(X) == model.predict(X)).all()


def test_deep_trees(tmp_path):
    X = np.arange(600.0)[:, None]
    model = read(chain(500))
    assert model.get_depth() == 500
    assert model.predict(X).tolist() == [1 + int(x >= 500) for x in range(600)]
    assert read(chain(3000)).get_depth() == 3000  # deeper than Python can call itself
    save_model(model, tmp_path / "deep.dt")
    assert (load_model(tmp_path / "deep.dt").apply(X) == model.apply(X)).all()


def chain(depth):
    """Return a tree that asks x1 < 1, x1 < 2, ... and has another class only at its end."""
    lines = ["Training set: chain, Dimensions: 1, Categories: 2"]
    for i in range(depth):
        lines += [
            f"{'r' * i or 'Root'} Hyperplane: Left = [1,0], Right = [{depth - i - 1},{depth}]",
            f"x[1] - {i + 1} = 0",
        ]
    return "\n".join(lines)


# ---------------------------------------------------------------------------------------------------- damage

DAMAGE = [
    ("Training set", "Training sat", "line 1: .*must be like 'Training set"),
    ("Dimensions: 2", "Dimensions: two", "line 1: must be like"),
    ("Dimensions: 2", "Dimensions: 0", "line 1: 0 dimensions: there must be from 1 to 1,000,000"),
    ("Dimensions: 2", "Dimensions: 1000000000", "line 1: 1000000000 dimensions"),
    ("Dimensions: 2", f"Dimensions: {'9' * 9000}", "line 1: 9+ dimensions"),
    ("Categories: 3", "Categories: 0", "line 1: there must be at least one category"),
    ("Categories: 3", "Categories: 1000000000", "line 3: there are 3 counts where there are 1000000000 categories"),
    ("Root", "Rot", "line 3: must be like 'lr Hyperplane"),
    ("Root", "l", "line 1: holds no hyperplane with the label Root"),
    ("r Hyper", "rr Hyper", "line 6: there is a hyperplane 'rr', but none at 'r' above it"),
    ("r Hyper", "Root Hyper", "line 6: the hyperplane 'Root' is there twice"),
    ("[5,0,1]", "[5,0]", "line 3: there are 2 counts where there are 3 categories"),
    ("[5,0,1]", "[5,0,-1]", "line 3: '-1' is not a count"),
    ("[5,0,1]", "[5,0,nan]", "line 3: 'nan' is not a count"),
    ("[5,0,1]", "[0,0,0]", "line 3: the counts of a side must add up to more than 0"),
    ("[5,0,1]", "[5,0,1e999]", "line 3: the counts of a side must add up"),
    ("[5,0,1]", "5,0,1]", "line 3: must be like"),
    ("x[1]", "x[7]", r"line 4: there is x\[7\], but the attributes are x\[1\] to x\[2\]"),
    ("x[1]", "x[0]", r"line 4: there is x\[0\]"),
    ("x[1]", f"x[{'9' * 9000}]", r"line 4: there is x\[9+\]"),
    ("x[1]", "x[2]", r"line 4: x\[2\] is there twice"),
    ("x[1]", "y[1]", r"line 4: 'y\[1\].*' makes no sense"),
    ("x[1]", "", "line 4: a constant is there twice"),
    ("x[1] + 2", "x[1] 2", "line 4: a sign is missing between two terms"),
    ("+ -4.000000 = 0", "+ = 0", "line 4: a term is missing"),
    ("1.000000 x[1]", "1e999 x[1]", "line 4: a number is too large"),
    ("1.000000 x[1]", "1 * x[1] * 3", "line 4: a sign is missing"),
    ("-4.000000 = 0", "-4.000000 = 1", "line 4: there must be '= 0' at the end"),
    ("-4.000000 = 0", "-4.000000 = 0 = 0", "line 4: there must be '= 0' at the end"),
    ("-4.000000 = 0", "-4.000000", "line 3: the equation of this hyperplane.* is missing"),
    ("-1.000000 x[2] + 1.500000 = 0", "", "line 6: the equation of this hyperplane.* is missing"),
    ("-1.000000 x[2] + 1.500000 = 0", "1.5 = 0", "line 7: there is no attribute"),
    ("-1.000000 x[2] + 1.500000 = 0", "= 0", "line 7: there is no attribute"),
    ("-1.000000 x[2] + 1.500000 = 0", "0 x[2] + 1.5 = 0", "line 7: there is no attribute"),
    ("-1.000000 x[2]", "\x1b\x00 x[2]", "line 7: .*makes no sense"),
]


@pytest.mark.parametrize(("old", "new", "message"), DAMAGE)
def test_damage_is_told_with_its_line(old, new, message):
    assert old in OLD
    with pytest.raises(FileProblem, match=message) as caught:
        read(OLD.replace(old, new, 1))
    assert str(caught.value).startswith("hills.dt, line ")
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 250


def test_truncated_files():
    for end in range(len(OLD)):
        try:
            read(OLD[:end]).predict(np.zeros((1, 2)))
        except FileProblem:
            continue
        assert end > OLD.index("= 0")


@pytest.mark.parametrize(
    "line",
    ["," * 200_000, " " * 200_000 + ",", "l" * 200_000, "Root Hyperplane: Left = [" + " ," * 100_000, "1" * 200_000],
)
def test_no_line_takes_long(line):
    """Patterns that try again from every place would take hours."""
    for text in (line, OLD + line, OLD.replace("1.000000 x[1]", line), OLD.replace("hills", line)):
        try:
            read(text)
        except FileProblem:
            continue
        assert "hills" not in text or line not in OLD


def test_names_in_the_header_stay_on_their_line(pol, tmp_path):
    X, y = pol
    model = OC1Classifier(random_state=0, max_depth=1).fit(X, y)
    text = dt.format_tree(model, "a\nRoot\x1b, b")
    assert text.splitlines()[0] == "Training set: a Root , b, Dimensions: 2, Categories: 2"
    assert (read(text).predict(X) == model.predict(X)).all()


def test_an_equation_may_go_over_very_many_lines():
    d = 50_000
    terms = "".join(f"+ 1 x[{m}]\n" for m in range(1, d + 1))
    header = f"Training set: wide, Dimensions: {d}, Categories: 2\nRoot Hyperplane: Left = [1,0], Right = [0,1]\n"
    model = read(f"{header}{terms}= 0\n")
    assert model.tree_.features.tolist() == list(range(d))


def test_very_deep_trees_are_not_written(tmp_path, monkeypatch):
    monkeypatch.setattr(dt, "MAX_DEPTH", 1)
    with pytest.raises(ValueError, match="cannot hold more than 1 levels"):
        save_model(read(OLD), tmp_path / "deep.dt")
    monkeypatch.setattr(dt, "MAX_DEPTH", 2)
    save_model(read(OLD), tmp_path / "deep.dt")
