"""``oc1 cv``."""

import json
import re

import polars as pl
import pytest
from command_line import iris_frame, run

from oc1.learners.registry import parameters_of


def test_cross_validation_side_by_side(iris):
    done = run("cv", "iris.csv", "-l", "oc1", "-l", "axis", "-l", "c45", "--repeats", 2)
    assert "150 examples, 3 classes; 2 x 5-fold cross-validation" in done.stdout
    assert re.findall(r"^(oc1|axis|c45) ", done.stdout, re.MULTILINE) == ["oc1", "axis", "c45"]
    figures = json.loads(run("cv", "iris.csv", "-l", "oc1", "-l", "c45", "--repeats", 2, "--json").stdout)
    assert len(figures["records"]) == 2 * 2 * 5
    assert 0.9 < figures["learners"][0]["accuracy"] < 1.0
    assert figures["learners"][1]["p_value"] is not None
    parallel = json.loads(run("cv", "iris.csv", "-l", "oc1", "-l", "c45", "--repeats", 2, "--json", "-j", 2).stdout)
    assert [own["accuracy"] for own in parallel["learners"]] == [own["accuracy"] for own in figures["learners"]]


def test_leave_one_out(iris):
    iris_frame().filter(pl.int_range(pl.len()) % 5 == 0).write_csv("few.csv")
    done = run("cv", "few.csv", "-l", "c45", "--leave-one-out", "-v")
    assert "30 examples, 3 classes; leave-one-out" in done.stdout
    assert done.stdout.count("/1 correct") == 30


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["-l", "regressor", "-l", "oc1"], "predicts numbers"),
        (["-l", "wood"], "unknown name 'wood'"),
        (["--n-jumps", "3", "-l", "c45"], "none of the learners c45 has a parameter 'n_jumps'"),
        (["--folds", "60"], "no class has 60 examples"),
    ],
)
def test_wrong_use_of_cv(options, message, iris):
    assert message in run("cv", "iris.csv", *options, code=2).stderr


def test_regression(iris):
    rows = [f"{m % 17},{m % 5},{3 * (m % 17) - (m % 5) + 0.25}" for m in range(150)]
    (iris / "n.csv").write_text("\n".join(["a,b,price", *rows]))
    done = run("cv", "n.csv", "-l", "regressor", "--repeats", 2, "-v")
    assert "150 examples; 2 x 5-fold cross-validation" in done.stdout
    assert done.stdout.count("mean absolute error") == 2 * 5
    assert max(map(len, done.stdout.splitlines())) <= 80
    figures = json.loads(run("cv", "n.csv", "-l", "regressor", "--json").stdout)
    assert figures["learners"][0]["r2"] > 0.9
    assert len(figures["records"]) == 5
    assert "use fewer --folds" in run("cv", "n.csv", "-l", "regressor", "-k", 151, code=2).stderr
    assert "oc1 cv --learner regressor" in run("compare", "n.csv", "-l", "regressor", code=2).stderr
    assert "is not a number" in run("cv", "iris.csv", "-l", "regressor", code=1).stderr


def test_parameters_are_for_those_that_have_them(iris):
    figures = json.loads(run("cv", "iris.csv", "-l", "axis", "-l", "c45", "--ccp-alpha", 1.0, "--json").stdout)
    assert figures["learners"][0]["leaves"] == 1.0
    assert figures["learners"][1]["leaves"] > 1.0 or "ccp_alpha" in parameters_of("c45")
