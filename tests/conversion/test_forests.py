"""Forests, converted: the same answers, to the last bit."""

import ctypes
import shutil
import subprocess

import numpy as np
import pytest
from converted_models import CATEGORICAL, frame, mixed_rows, numbers, rows_for

from oc1 import OC1ForestClassifier, OC1ForestRegressor
from oc1.conversion import to_c, to_onnx, to_python, to_sql


@pytest.fixture(scope="module")
def forests():
    X, y = numbers()
    classes = OC1ForestClassifier(n_estimators=5, random_state=0).fit(X, y)
    assert classes._forest.missing.any()
    return classes, OC1ForestRegressor(n_estimators=5, max_depth=6, random_state=0).fit(X, y + 0.1)


def test_python(forests):
    for forest in forests:
        rows, names = rows_for(forest, 300), _module(forest)
        assert [names["predict"](row) for row in rows.tolist()] == forest.predict(rows).tolist()
    classes = _module(forests[0])
    shares = [classes["predict_proba"](row) for row in rows.tolist()]
    assert shares == forests[0].predict_proba(rows).tolist()


def _module(forest):
    names = {}
    exec(to_python(forest), names)
    return names


def test_python_with_categories():
    data, labels = frame()
    forest = OC1ForestClassifier(n_estimators=4, categorical_features=CATEGORICAL, random_state=0).fit(data, labels)
    rows, names = mixed_rows(200), _module(forest)
    known = rows.astype(object).where(rows.notna(), None)
    assert [names["predict"](row) for row in known.to_dict("records")] == forest.predict(rows).tolist()


def test_onnx(forests):
    onnxruntime = pytest.importorskip("onnxruntime", reason='pip install "oc1[onnx]" onnxruntime')
    for forest in forests:
        rows = rows_for(forest, 300, huge=False)
        answers = onnxruntime.InferenceSession(to_onnx(forest)).run(None, {"X": rows})
        np.testing.assert_array_equal(answers[0], forest.predict(rows))
        if hasattr(forest, "classes_"):
            np.testing.assert_array_equal(answers[1], forest.predict_proba(rows))


@pytest.mark.skipif(shutil.which("gcc") is None, reason="needs gcc")
@pytest.mark.parametrize("kind", ["double", "float", "fixed"])
def test_c(forests, kind, tmp_path):
    for number, forest in enumerate(forests):
        X = numbers()[0]
        file = to_c(forest, numbers=kind, data=X)
        source, library = tmp_path / f"{number}.c", tmp_path / f"{number}.so"
        word = "int32_t" if kind == "fixed" else kind
        source.write_text(f"{file.text}\nvoid ask({word} *x, {word} *y) {{ y[0] = ({word})oc1_tree_predict(x); }}\n")
        subprocess.run(["gcc", "-std=c99", "-shared", "-fPIC", "-o", library, source], check=True)
        if kind == "fixed" and number == 0:
            assert file.n_different <= 0.02 * len(X)
        if kind != "double":
            continue
        ask = ctypes.CDLL(str(library)).ask
        said = []
        for row in np.ascontiguousarray(X):
            answer = ctypes.c_double()
            ask(row.ctypes.data_as(ctypes.c_void_p), ctypes.byref(answer))
            said.append(answer.value)
        wanted = forest.predict(X)
        np.testing.assert_array_equal(said, np.searchsorted(forest.classes_, wanted) if number == 0 else wanted)


def test_sql(forests):
    with pytest.raises(ValueError, match="a forest averages the probabilities"):
        to_sql(forests[0])
    import sqlite3

    forest = forests[1]
    rows = numbers()[0][:100]
    with sqlite3.connect(":memory:") as connection:
        connection.execute("CREATE TABLE data (x1 REAL, x2 REAL, x3 REAL)")
        cells = [[None if np.isnan(value) else value for value in row] for row in rows.tolist()]
        connection.executemany("INSERT INTO data VALUES (?, ?, ?)", cells)
        found = [one[-1] for one in connection.execute(to_sql(forest, table="data"))]
    np.testing.assert_allclose(found, forest.predict(rows), rtol=1e-14)
