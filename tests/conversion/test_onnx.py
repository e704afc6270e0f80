import json
import sys

import numpy as np
import pytest
from converted_models import NUMERIC, WITH_CATEGORIES, fitted, mixed_rows, rows_for

from oc1.conversion import to_onnx
from oc1.learners.classifier import OC1Classifier

onnx = pytest.importorskip("onnx")
onnxruntime = pytest.importorskip("onnxruntime")


def run(model, inputs, **options):
    return onnxruntime.InferenceSession(to_onnx(model, **options)).run(None, inputs)


def check(model, rows, outputs):
    predicted = model.predict(rows)
    if len(outputs) == 1:
        np.testing.assert_array_equal(outputs[0], predicted)
        return
    labels, probabilities = outputs
    assert labels.dtype.kind == ("O" if predicted.dtype.kind in "UO" else predicted.dtype.kind)
    np.testing.assert_array_equal(labels, predicted)
    np.testing.assert_array_equal(probabilities, model.predict_proba(rows))
    assert probabilities.dtype == np.float64


@pytest.mark.parametrize("name", NUMERIC)
def test_gives_the_same_bits(name):
    model = fitted(name)
    rows = rows_for(model, 100_000)
    check(model, rows, run(model, {"X": rows}))


def test_a_tree_of_too_many_levels_is_refused(monkeypatch):
    model = fitted("large")
    depth = model.get_depth()
    monkeypatch.setattr("oc1.conversion.onnx.MAX_LEVELS", depth)
    assert to_onnx(model)
    monkeypatch.setattr("oc1.conversion.onnx.MAX_LEVELS", depth - 1)
    with pytest.raises(ValueError, match=f"the tree has {depth} levels; in ONNX it may have {depth - 1}"):
        to_onnx(model)


@pytest.mark.parametrize("name", ["oblique", "directed", "leaf", "lmdt", "vote", "regression"])
def test_takes_any_number_of_rows_and_floats(name):
    model = fitted(name)
    rows = rows_for(model, 300, huge=False)
    for n in (1, 2, 300):
        check(model, rows[:n], run(model, {"X": rows[:n]}))
    none = run(model, {"X": rows[:0]})
    assert none[0].shape == (0,)
    if len(none) > 1:
        assert none[1].shape == (0, len(model.classes_))
    small = np.clip(rows, -1e38, 1e38).astype(np.float32)
    check(model, small, run(model, {"X": small}, input_type="float"))


@pytest.mark.parametrize("name", WITH_CATEGORIES)
@pytest.mark.parametrize("input_type", ["double", "float"])
def test_takes_categories_by_name(name, input_type):
    model, rows = fitted(name), mixed_rows(3000)
    rows['si"ze'] = rows['si"ze'].astype(np.float32)
    session = onnxruntime.InferenceSession(to_onnx(model, input_type=input_type))
    assert [one.name for one in session.get_inputs()] == list(rows.columns)
    inputs = {}
    for column in rows:
        values = rows[column]
        if column == "select":
            values = values.where(values.notna(), "?").astype(object)
        else:
            values = values.astype(np.float32 if input_type == "float" else np.float64)
        inputs[column] = values.to_numpy()[:, None]
    check(model, rows, session.run(None, inputs))
    assert session.run(None, {key: value[:0] for key, value in inputs.items()})[1].shape == (0, 3)


def test_asks_as_often_as_the_tree_is_deep():
    model = fitted("large")
    nodes = len(onnx.load_from_string(to_onnx(model)).graph.node)
    assert model.get_n_leaves() > 200
    assert nodes < 10 * (model.get_depth() + 1)


def test_says_what_it_is_and_is_always_the_same():
    model = fitted("nasty")
    content = to_onnx(model)
    assert content == to_onnx(model)
    read = onnx.load_from_string(content)
    properties = {one.key: one.value for one in read.metadata_props}
    assert read.producer_name == "oc1"
    assert properties["learner"] == "OC1Classifier"
    assert json.loads(properties["classes"]) == model.classes_.tolist()
    assert json.loads(properties["feature_names"]) == ["x1", "x2"]
    assert {one.domain for one in read.opset_import} == {""}  # standard operators only
    assert (
        "C4.5" in {one.key: one.value for one in onnx.load_from_string(to_onnx(fitted("c45"))).metadata_props}["notes"]
    )


def test_refuses_what_it_cannot_write():
    with pytest.raises(ValueError, match="input_type must be"):
        to_onnx(fitted("leaf"), input_type="half")
    with pytest.raises(ValueError, match="64 bits"):
        to_onnx(OC1Classifier().fit([[0.0], [1.0]], np.array([1, 2**64 - 1], dtype=np.uint64)))
    model = OC1Classifier(categorical_features=[0], prune=None)
    with pytest.raises(ValueError, match="texts and numbers mixed"):
        to_onnx(model.fit(np.array([["a"], [1], ["a"], [1]], dtype=object), [0, 1, 0, 1]))


def test_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(ImportError, match=r'pip install "oc1\[onnx\]"'):
        to_onnx(fitted("leaf"))
