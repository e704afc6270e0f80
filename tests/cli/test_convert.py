"""``oc1 convert``."""

import os
import re
import subprocess
import sys

import pytest
from command_line import run
from waiting import MAX_WAIT_SECONDS

from oc1 import load_model
from oc1.conversion import to_c, to_python


def test_convert(model, iris):
    for name in ("iris.onnx", "iris.h", "iris.py", "iris.sql", "iris.dt", "copy.json", "copy.json.gz"):
        assert f"model written to {name}" in run("convert", model, "-o", name).stderr
        assert (iris / name).stat().st_size > 100
    assert load_model("copy.json.gz").tree_.to_dict() == load_model(model).tree_.to_dict()
    assert "def predict" in run("convert", model, "--to", "python").stdout
    assert "CASE WHEN" in run("convert", model, "--to", "sql").stdout
    assert "FROM" in run("convert", model, "--to", "sql", "--table", "flowers").stdout
    fixed = run(
        "convert", model, "--to", "c", "--numbers", "fixed", "--bits", 16, "--data", "iris.csv", "-o", "fixed.h"
    )
    assert re.search(r"of 150 rows, \d+ get another class by rounding", fixed.stderr)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "give --to: one of json, dt, onnx"),
        (["--to", "exe"], "unknown name 'exe'"),
        (["--to", "onnx"], "--to onnx needs --output"),
        (["--to", "c", "--numbers", "fixed"], "fixed point needs --data"),
        (["--to", "c", "--numbers", "half"], "unknown name 'half'"),
        (["--to", "c", "--bits", "8"], "--bits must be 16 or 32"),
        (["--to", "c", "-o", "no/x.h"], "there is no folder no"),
        (["--to", "json", "-o", "x.dt"], "must end in .json"),
    ],
)
def test_wrong_use_of_convert(options, message, model, iris):
    assert message in run("convert", model, *options, code=2).stderr
    assert os.listdir(iris) == ["iris.csv"]


def test_c45_says_what_becomes_of_missing_values(iris):
    run("train", "iris.csv", "-l", "c45")
    assert "C4.5 divides an example with a missing value" in run("convert", "iris.json", "--to", "python").stderr


def test_fixed_point_says_nothing_of_names(model, iris):
    done = run("convert", model, "--to", "c", "--numbers", "fixed", "--data", "iris.csv", "-o", "iris.h")
    assert "feature names" not in done.stderr


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--to", "sql", "--numbers", "float"], "--numbers is for --to c and onnx, not sql"),
        (["--to", "onnx", "--name", "x", "-o", "x.onnx"], "--name is for --to c and python, not onnx"),
        (["--to", "python", "--name", "import"], "--name 'import' is not a valid name in python"),
        (["--to", "c", "-o", "x.h.gz"], "only model files (.json, .dt) can be compressed"),
    ],
)
def test_options_that_do_nothing_are_refused(options, message, model, iris):
    assert message in run("convert", model, *options, code=2).stderr


def test_converting_a_tree_imports_no_scikit_learn(model):
    code = """
import sys
from oc1.__main__ import main
sys.argv[1:] = ["convert", sys.argv[1], "--to", "python"]
try:
    main()
except SystemExit:
    pass
print(*{"sklearn", "scipy", "numba", "pandas", "matplotlib"} & set(sys.modules), file=sys.stderr)
"""
    command = [sys.executable, "-c", code, str(model)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=MAX_WAIT_SECONDS)
    assert "def predict" in done.stdout
    assert done.stderr.split() == []


@pytest.mark.parametrize("learner", ["oc1", "regressor", "c45", "lmdt", "vote"])
def test_what_is_converted_is_the_same_as_for_the_estimator(learner, iris):
    target = ["--target", "petal_wid", "--ignore", "species"] if learner == "regressor" else []
    run("train", "iris.csv", "-l", learner, "-o", "own.json", *target)
    fitted = load_model("own.json")
    assert run("convert", "own.json", "--to", "python").stdout.rstrip("\n") == to_python(fitted).rstrip("\n")
    assert run("convert", "own.json", "--to", "c").stdout.rstrip("\n") == to_c(fitted).text.rstrip("\n")
