"""Model files: what is written is read, and nothing else is."""

import gzip
import json
import math
import os
import pickle
import random
import subprocess
import sys
from functools import cached_property
from pathlib import Path

import joblib
import mutations
import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from waiting import MAX_WAIT_SECONDS

from oc1 import OC1Classifier, OC1EnsembleClassifier, OC1Regressor
from oc1.baselines import CARTClassifier, LMDTClassifier
from oc1.datasets import make_rcb
from oc1.files.inputs import FileColumns
from oc1.files.models import storage as models
from oc1.files.models.building import REMOVED_PARAMETERS
from oc1.files.models.decoding import UNKNOWN
from oc1.files.models.record import Score
from oc1.files.models.storage import Source, load_model, read_model, save_model
from oc1.files.problems import FileProblem
from oc1.learners.registry import LEARNERS

FOLDER = Path(__file__).parents[2] / "data"


def round_trip(model, tmp_path, ending=".json", **options):
    path = tmp_path / f"model{ending}"
    save_model(model, path, **options)
    return load_model(path)


def assert_same(one, other, where="model"):
    """Compare everything two fitted objects hold, with types, to the last bit."""
    if isinstance(one, str):
        one, other = str(one), str(other)  # np.str_ in the trees of votes
    assert type(one) is type(other), where
    if isinstance(one, np.ndarray):
        assert one.dtype == other.dtype, where
        assert one.shape == other.shape, where
        if one.dtype.kind == "O":
            assert_same(one.tolist(), other.tolist(), where)
        else:
            if one.dtype.kind == "f":  # NaN has a sign, too
                one, other = (np.where(np.isnan(own), np.nan, own) for own in (one, other))
            assert one.tobytes() == other.tobytes(), where
    elif isinstance(one, list | tuple):
        assert len(one) == len(other), where
        for i, pair in enumerate(zip(one, other, strict=True)):
            assert_same(*pair, f"{where}[{i}]")
    elif isinstance(one, dict):
        assert list(one) == list(other), where
        for name in one:
            assert_same(one[name], other[name], f"{where}.{name}")
    elif hasattr(one, "__dict__"):
        # Small histograms for notebooks are not in files, and what is computed when asked for need not be there.
        computed = {name for name in dir(type(one)) if isinstance(getattr(type(one), name, None), cached_property)}
        kept = (sorted(vars(own).keys() - {"_sketch", "_kept_walk", *computed}) for own in (one, other))
        fields = [{name: vars(own)[name] for name in names} for own, names in zip((one, other), kept, strict=True)]
        assert_same(*fields, where)
    else:
        assert one == other, where


def inputs(model):
    """Return rows for one of the models of `mutations`, with missing values."""
    frame, _ = mutations.examples()
    if model.n_features_in_ == 1:
        return np.array([[0.3], [np.nan]])
    return frame if hasattr(model, "feature_names_in_") else frame[["size", "other"]].to_numpy()


# ---------------------------------------------------------------------------------------------------- there and back


@pytest.mark.parametrize(
    "name", [*LEARNERS, "categorical", "numbers by category", "directions", "categorical vote", "bag"]
)
@pytest.mark.parametrize("ending", [".json", ".json.gz"])
def test_every_learner_comes_back_the_same(fitted, name, ending, tmp_path):
    model = fitted[name]
    again = round_trip(model, tmp_path, ending)
    X = inputs(model)
    assert_same(again, model)
    assert again.predict(X).tobytes() == model.predict(X).tobytes()
    if hasattr(model, "predict_proba"):
        assert again.predict_proba(X).tobytes() == model.predict_proba(X).tobytes()
    np.testing.assert_array_equal(again.feature_importances_, model.feature_importances_)
    assert getattr(again, "n_hyperplanes_", 0) == getattr(model, "n_hyperplanes_", 0)  # forests do not count them
    assert again.get_depth() == model.get_depth()
    if hasattr(model, "tree_"):
        np.testing.assert_array_equal(again.apply(X), model.apply(X))
        assert (again.decision_path(X) != model.decision_path(X)).nnz == 0
        assert str(again.tree_) == str(model.tree_)
    if isinstance(X, np.ndarray):
        single = X.astype(np.float32)
        assert again.predict(single).tobytes() == model.predict(single).tobytes()


@pytest.mark.parametrize("name", ["oc1", "axis", "c45", "vote", "categorical vote", "regressor"])
def test_what_is_loaded_fits_as_the_original(fitted, name, tmp_path):
    model = fitted[name]
    frame, y = mutations.examples()
    X = inputs(model)
    y = frame["size"] if name == "regressor" else y
    again = round_trip(model, tmp_path)
    one, other = (clone(own).set_params(random_state=3).fit(X, y) for own in (model, again))
    assert_same(one, other)


@pytest.mark.parametrize(
    "labels",
    [
        np.array([3, 7, 9]),
        np.array([3, 7, 9], dtype=np.int32),
        np.array([0, 200, 255], dtype=np.uint8),
        np.array([2**63, 2**63 + 1, 2**64 - 1], dtype=np.uint64),
        np.array([1.0, 2.0, 4.0]),
        np.array([1.0, 2.0, 4.0], dtype=np.float32),
        np.array(["a", "ü", "\u4e2d \x1b \n"]),
        np.array(["a", "b", "\ud800"], dtype=object),
        np.array([False, True, True]),
    ],
    ids=lambda labels: labels.dtype.str,
)
@pytest.mark.parametrize(
    "learner", [OC1Classifier(splits="axis"), LMDTClassifier(), OC1EnsembleClassifier(n_estimators=2)]
)
def test_labels_keep_their_type(labels, learner, rcb, tmp_path):
    X, y = rcb
    model = clone(learner).set_params(random_state=0).fit(X[:150], labels[y[:150] % 3])
    again = round_trip(model, tmp_path)
    answers = again.predict(X)
    assert answers.dtype == model.predict(X).dtype
    assert_same(again.classes_, model.classes_)
    assert (answers == model.predict(X)).all()


def test_categories_of_all_types(tmp_path):
    rng = np.random.default_rng(1)
    values = ["red", 1, 2.5, False, "1", -3]
    column = np.array([values[i] for i in rng.integers(len(values), size=200)], dtype=object)
    X = pd.DataFrame({"a": column, "b": rng.normal(size=200)})
    y = (X["b"] > 0) ^ X["a"].isin(["red", 1])
    model = OC1Classifier(categorical_features=["a"], random_state=0).fit(X, y)
    again = round_trip(model, tmp_path)
    assert_same(again, model)
    assert (again.predict_proba(X) == model.predict_proba(X)).all()
    dates = X.assign(
        a=pd.Series(pd.date_range("2020-01-01", periods=4)).sample(200, replace=True, random_state=0).values
    )
    model.fit(dates, y)
    with pytest.raises(ValueError, match=r"cannot be stored as JSON: categories\[0\]: a category must be"):
        save_model(model, tmp_path / "dates.json")


def test_parameters_survive(pol, tmp_path):
    X, y = pol
    given = {
        "class_weight": {1: 2.0, 2: 1},
        "max_depth": np.int64(3),
        "axis_bias": np.float32(1.5),
        "categorical_features": np.array([], dtype=int),
        "preset": "paper",
        "n_jobs": -1,
        "verbose": False,
    }
    model = OC1Classifier(random_state=np.int64(5), **given).fit(X, y)
    again = round_trip(model, tmp_path)
    found = again.get_params()
    assert found.pop("categorical_features") == []
    for name, value in found.items():
        assert value == model.get_params()[name], name
    assert type(found["max_depth"]) is int
    assert found["class_weight"] == {1: 2.0, 2: 1}
    assert set(map(type, found["class_weight"])) == {int}
    assert clone(again).fit(X, y).tree_.to_dict() == model.tree_.to_dict()
    model.set_params(categorical_features=()).fit(X, y)
    assert type(round_trip(model, tmp_path).categorical_features) is tuple


def test_votes_of_votes(pol, tmp_path):
    X, y = pol
    model = OC1EnsembleClassifier(OC1EnsembleClassifier(CARTClassifier(max_depth=2), 2), 2, random_state=0).fit(X, y)
    again = round_trip(model, tmp_path)
    assert (again.predict_proba(X) == model.predict_proba(X)).all()
    assert_same(again, model)


def test_columns_of_zeros_and_ones_are_kept_if_they_are_attributes(tmp_path):
    path, one_hot = tmp_path / "model.json", {"colour": ("red", "grün")}
    frame = pd.DataFrame({"colour=red": [0.0, 1.0, 0.0, 1.0], "colour=grün": [1.0, 0.0, 1.0, 0.0]})
    model = OC1Classifier(random_state=0).fit(frame, [0, 1, 0, 1])
    save_model(model, path, source=Source(one_hot=one_hot))
    assert read_model(path).source.one_hot == one_hot
    for wrong in ({"colour": ("grün", "red")}, {"shape": ("red", "grün")}, one_hot | {"x": ("y",)}):
        with pytest.raises(ValueError, match=r"source\.one_hot: the 0/1 columns are not attributes of the model"):
            save_model(model, path, source=Source(one_hot=wrong))


def test_source_is_kept(fitted, tmp_path):
    path = tmp_path / "model.json"
    source = Source("species", {}, ((0.0, 1.5), (math.nan, math.nan)), 120)
    save_model(fitted["oc1"], path, source=source)
    stored = read_model(path)
    assert stored.source.target == "species"
    assert stored.source.ranges[0] == (0.0, 1.5)
    assert all(map(math.isnan, stored.source.ranges[1]))
    assert stored.source.n_examples == 120
    scores = {"training": Score("accuracy", 0.99, 120), "held_out": Score("r2", -0.5, 30)}
    whole = Source(
        "species", {}, (), 120, "iris.csv", "2026-11-16", {"oc1": "0.1.0"}, **scores, columns=FileColumns(4, 0, (1, 3))
    )
    save_model(fitted["oc1"], path, source=whole)
    again = load_model(path)
    assert again.source_ == read_model(path).source == whole
    save_model(again, path)  # what is known of a model stays with it, until it is fitted again
    assert load_model(path).source_ == whole
    assert not hasattr(again.fit(np.eye(2), [0, 1]), "source_")
    assert (stored.model.predict(np.eye(2)) == fitted["oc1"].predict(np.eye(2))).all()
    save_model(fitted["oc1"], path)
    assert read_model(path).source == Source()
    with pytest.raises(ValueError, match=r"source\.ranges: must be none or 2"):
        save_model(fitted["oc1"], path, source=Source(ranges=((0.0, 1.0),)))


def test_small_and_large(tmp_path):
    leaf = OC1Classifier().fit([[0.0], [1.0]], ["a", "a"])
    assert round_trip(leaf, tmp_path).predict([[3.0]]).tolist() == ["a"]
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(9000, 3)), rng.integers(2, size=9000)
    model = OC1Classifier(splits="axis", prune=None, random_state=0).fit(X, y)
    assert model.get_n_leaves() > 2000
    assert_same(round_trip(model, tmp_path), model)


def test_a_large_tree_survives(shared_data, tmp_path):
    data = pd.read_csv(shared_data / "letter.csv")
    X, y = data.iloc[:, :-1].to_numpy(float), data.iloc[:, -1].to_numpy()
    model = OC1Classifier(splits="axis", random_state=0).fit(X, y)
    path = tmp_path / "letter.json"
    save_model(model, path)
    again = load_model(path)
    assert (again.predict_proba(X) == model.predict_proba(X)).all()


def test_golden_file():
    """Written by version 0.1.0; it must load for ever."""
    stored = read_model(FOLDER / "model-v1.json")
    model = stored.model
    assert model.classes_.tolist() == ["setosa", "versicolor", "virginica"]
    assert model.feature_names_in_.tolist() == ["sepal_len", "sepal_wid", "petal_len", "petal_wid"]
    assert stored.source == Source("species", {}, ((4.3, 7.9), (2.0, 4.4), (1.0, 6.9), (0.1, 2.5)), 150)
    nan = math.nan
    X = [[5.1, 3.5, 1.4, 0.2], [6.0, 2.7, 5.1, 1.6], [6.3, 3.3, 6.0, 2.5], [nan, nan, nan, nan], [6.7, 3.0, 5.0, 1.7]]
    X = pd.DataFrame(X, columns=model.feature_names_in_)
    assert model.predict(X).tolist() == ["setosa", "virginica", "virginica", "versicolor", "versicolor"]
    assert model.predict_proba(X)[1:3].tolist() == [[0.0, 0.02, 0.98]] * 2
    assert model.apply(X).tolist() == [1, 3, 3, 4, 4]
    assert model.random_state == 0
    assert model.get_params() == OC1Classifier(normalize="standard", random_state=0).get_params()
    assert (model.splits_, model.cv_accuracies_) == ("oblique", {})
    assert model.pruning_path_.leaves.tolist() == [3, 2, 1]
    assert model.pruning_path_.terms.tolist() == [UNKNOWN] * 3


@pytest.fixture
def load_with(tmp_path):
    """Return a function that loads the golden file with other fields."""
    document = json.loads((FOLDER / "model-v1.json").read_text())

    def load(**fields):
        path = tmp_path / "changed.json"
        own = {name: document[name] | value if name == "parameters" else value for name, value in fields.items()}
        path.write_text(json.dumps(document | own))
        return load_model(path)

    return load


def test_parameters_by_their_old_names(load_with):
    """Their defaults, too: "standard" was the one that a preset replaced."""
    assert load_with(parameters={"preset": "paper"}).normalize == "auto"
    assert load_with(parameters={"preset": "paper", "normalize": "positive"}).normalize == "positive"
    assert load_with().normalize == "standard"


@pytest.mark.parametrize(("splits", "now"), [("best", "auto"), ("linear", "auto"), ("axis", "axis"), ("auto", "auto")])
def test_splits_by_their_old_names(load_with, splits, now):
    assert load_with(parameters={"splits": splits}).splits == now


def test_numbers_may_still_be_predicted_with_the_best_splits(tmp_path):
    model = OC1Regressor(splits="best", max_depth=1).fit([[0.0], [1.0], [2.0]], [0.0, 0.0, 1.0])
    assert round_trip(model, tmp_path).splits == "best"


@pytest.mark.parametrize(
    ("kind", "accuracies", "expected"),
    [
        ("best", {"best": 0.9, "axis": 0.8, "linear": 0.7}, ("oblique", {})),
        ("linear", {"best": 0.8, "axis": 0.8, "linear": 0.9}, ("oblique", {})),
        ("axis", {"best": 0.8, "axis": 0.9}, ("axis", {})),
        ("linear", {}, ("oblique", {})),
        ("oblique", {}, ("oblique", {})),
        ("oblique", {"axis": 0.7, "joint": 0.9}, ("oblique", {"axis": 0.7, "joint": 0.9})),
        ("axis", {"axis": 0.7}, ("axis", {"axis": 0.7})),
    ],
)
def test_kinds_of_trees_that_are_no_more_were_oblique(load_with, kind, accuracies, expected):
    """Accuracies of such kinds say nothing of those that there are now."""
    model = load_with(kind=kind, cv_accuracies=accuracies)
    assert (model.splits_, model.cv_accuracies_) == expected


def test_a_pruning_path_may_know_its_terms(load_with, tmp_path):
    path = {"alpha": [0.0, 0.25], "leaves": [3, 1], "accuracy": [0.75, None]}
    model = load_with(pruning_path=path)
    assert model.pruning_path_.dtype.names == ("alpha", "leaves", "terms", "accuracy")
    assert model.pruning_path_.terms.tolist() == [UNKNOWN] * 2
    assert_same(round_trip(model, tmp_path), model)
    assert load_with(pruning_path=path | {"terms": [5, 0]}).pruning_path_.terms.tolist() == [5, 0]


@pytest.mark.parametrize("name", sorted(REMOVED_PARAMETERS))
def test_parameters_that_are_gone_are_passed_over(tmp_path, name):
    """Also those of a vote's base learner and of its trees."""
    X, y = make_rcb(60, random_state=0)
    vote = OC1EnsembleClassifier(OC1Classifier(max_depth=1), n_estimators=2, random_state=0).fit(X, y)
    path = tmp_path / "vote.json"
    save_model(vote, path)
    document, gone = json.loads(path.read_text()), {name: {"tuple": ["what", 1.5]}}
    document["parameters"] |= gone
    document["parameters"]["estimator"]["parameters"] |= gone
    for member in document["members"]:
        member["parameters"] |= gone
    path.write_text(json.dumps(document))
    loaded = load_model(path)
    assert not hasattr(loaded, name)
    assert repr(loaded) == repr(vote)
    np.testing.assert_array_equal(loaded.predict_proba(X), vote.predict_proba(X))


# ---------------------------------------------------------------------------------------------------- refused to write


def test_a_failed_save_leaves_the_old_file(fitted, tmp_path, monkeypatch):
    path = tmp_path / "model.json"
    save_model(fitted["oc1"], path)
    before = path.read_bytes()
    with pytest.raises(TypeError):
        save_model("text", path)

    def fail(handle):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(FileProblem, match="No space left"):
        save_model(fitted["cart"], path)
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["model.json"]
    with pytest.raises(FileProblem, match="cannot be written"):
        save_model(fitted["oc1"], tmp_path / "nowhere" / "model.json")


# ---------------------------------------------------------------------------------------------------- refused to read


def test_paths_that_cannot_be_read(tmp_path):
    with pytest.raises(FileProblem, match="there is no such file"):
        load_model(tmp_path / "none.json")
    with pytest.raises(FileProblem, match="is a folder"):
        load_model(tmp_path)
    with pytest.raises(FileProblem, match="cannot be read"):
        load_model("a\0b.json")
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe")
        with pytest.raises(FileProblem, match="not a regular file"):
            load_model(tmp_path / "pipe")
    if hasattr(os, "geteuid") and os.geteuid() != 0:
        closed = tmp_path / "closed.json"
        closed.write_text("{}")
        closed.chmod(0)
        with pytest.raises(FileProblem, match="Permission denied"):
            load_model(closed)


class Bomb:
    def __reduce__(self):
        return os.mkdir, ("executed",)


def test_pickles_are_never_read(fitted, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        for content in (Bomb(), fitted["oc1"]):
            Path("model.pkl").write_bytes(pickle.dumps(content, protocol))
            with pytest.raises(FileProblem, match=r"is a pickle, which is never read.*oc1\.save_model"):
                load_model("model.pkl")
    for compress in (0, 3, ("gzip", 3)):
        joblib.dump(Bomb(), "model.joblib", compress=compress)
        with pytest.raises(FileProblem, match="is a pickle, which is never read"):
            load_model("model.joblib")
    assert not Path("executed").exists()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty"),
        (b" \n ", "is empty"),
        (b"{", "line 1: is not valid JSON"),
        (b'{"a": 1,\n "b" 2}', "line 2: is not valid JSON.*character 6"),
        (b"[1, 2]", "is not a model of oc1"),
        (b'{"format": 1}', "is not a model of oc1"),
        (b'{"a": NaN}', "NaN is not a number that JSON knows"),
        (b'{"a": -Infinity}', "-Infinity is not a number"),
        (b'{"a": 1, "a": 2}', "the field 'a' is there twice"),
        (b"[" * 100_000, "nested too deeply"),
        (b'{"a":' * 100_000, "nested too deeply"),
        (b"9" * 10_000, "too many digits"),
        (b'{"a": "\xff"}', "byte 7 is not UTF-8"),
        (b'{"a": "\x00"}', "is not valid JSON"),
        ("{}".encode("utf-16"), "is not UTF-8"),
        (b"PK\x03\x04 a zip file", "is not valid JSON"),
        (b"\x1f\x8b\x08\x00 broken", "cannot be unpacked"),
        (gzip.compress(b"{}", mtime=0)[:-3], "cannot be unpacked"),
        (gzip.compress(b"", mtime=0), "is empty"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",  # contents are long
)
def test_files_that_hold_no_model(content, message):
    with pytest.raises(FileProblem, match=message) as caught:
        read_model("model.json", content)
    assert str(caught.value).startswith("model.json")
    assert len(str(caught.value)) < 300


def test_no_memory_bomb(fitted, tmp_path, monkeypatch):
    monkeypatch.setattr(models, "MAX_FILE_BYTES", 100_000)
    path = tmp_path / "model.json"
    path.write_bytes(b" " * 100_001)
    with pytest.raises(FileProblem, match="larger than 100,000 bytes"):
        load_model(path)
    path.write_bytes(gzip.compress(b" " * 10_000_000))
    assert path.stat().st_size < 20_000
    with pytest.raises(FileProblem, match="larger than 100,000 bytes"):
        load_model(path)
    save_model(fitted["oc1"], path)
    load_model(path)


def test_a_byte_order_mark_is_no_harm(fitted, tmp_path):
    path = tmp_path / "model.json"
    save_model(fitted["oc1"], path)
    windows = b"\xef\xbb\xbf" + path.read_bytes().replace(b"\n", b"\r\n")
    assert_same(read_model(path, windows).model, fitted["oc1"])


# ---------------------------------------------------------------------------------------------------- at random


def test_spoilt_files_are_refused_or_work(files):
    outcomes = [mutations.outcome(*mutations.spoilt(files, number, seed=1)) for number in range(1000)]
    assert outcomes.count("refused") > 500
    assert outcomes.count("loaded") > 50


def test_spoiling_reaches_every_part(files):
    rng = random.Random(0)
    data = next(data for ending, data in files if ending == ".json")
    texts = {mutations.spoil_structure(rng, data) for _ in range(300)}
    documents = [json.loads(text) for text in texts]
    assert len(texts) > 200
    trees = [document.get("tree") for document in documents if isinstance(document, dict)]
    original = json.loads(data)["tree"]
    for name in ("children", "terms", "features", "counts"):
        assert any(isinstance(tree, dict) and tree.get(name) != original[name] for tree in trees), name


def test_reading_a_model_takes_no_scikit_learn():
    code = "import sys; import oc1.cli.predictor; assert not any(name.startswith('sklearn') for name in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=MAX_WAIT_SECONDS)
