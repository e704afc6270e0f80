"""``oc1 train``."""

import json
import os
import re
import signal
import subprocess

import numpy as np
import polars as pl
import pytest
from command_line import NAMES, iris_frame, run, start
from sklearn.datasets import load_iris
from waiting import MAX_WAIT_SECONDS, obeying_ctrl_c

from oc1 import OC1Classifier, load_model
from oc1.learners.registry import LEARNERS


def test_train_writes_the_model_and_says_what_it_is_worth(iris):
    done = run("train", "iris.csv", "-o", "flowers.json")
    data = load_iris()
    X, y = pl.DataFrame(data.data, schema=NAMES), data.target_names[data.target]
    own = OC1Classifier(random_state=0).fit(X, y)
    is_right = own.predict(X) == y
    assert str(own.tree_) in done.stdout
    assert "leaves      3, depth 2" in done.stdout
    assert f"training accuracy: {is_right.mean():.2%} ({is_right.sum()} of 150 examples)" in done.stdout
    assert "held-out accuracy, of a tree grown on the other 120 examples" in done.stdout
    n_right = is_right[y == "versicolor"].sum()
    assert re.search(rf"versicolor +50 +{n_right} +{2 * n_right}\.00% +10 +\d+ +\d+\.\d\d%", done.stdout)
    assert done.stderr.endswith("model written to flowers.json\n")
    assert os.listdir(iris).count("flowers.json") == 1
    assert load_model("flowers.json").tree_.to_dict() == own.tree_.to_dict()


def test_train_says_what_cross_validation_chose_from(iris):
    shares = r"axis-parallel [\d.]+%, oblique [\d.]+%, oblique and fitted together [\d.]+%"
    for options, expected in (
        ([], rf"(axis-parallel|oblique); accuracy by cross-validation: {shares}"),
        (["--splits", "axis"], r"axis-parallel; accuracy by cross-validation: [\d.]+%"),
    ):
        said = run("train", "iris.csv", *options).stdout
        assert re.search(rf"splits +{expected}\n\n", re.sub(r"\n {12}", " ", said))
        assert max(map(len, said.split("training accuracy")[0].splitlines())) < 80
    assert "splits " not in run("train", "iris.csv", "--prune", "cv").stdout


def test_train_as_json(iris):
    figures = json.loads(run("train", "iris.csv", "--json", "-v").stdout)
    assert figures["model"] == "iris.json"
    assert (figures["leaves"], figures["depth"]) == (3, 2)
    assert figures["training"]["accuracy"] == pytest.approx(figures["training"]["correct"] / 150)
    assert figures["held_out"]["examples"] == 30
    assert [own["class"] for own in figures["held_out"]["classes"]] == ["setosa", "versicolor", "virginica"]


@pytest.mark.parametrize("learner", sorted(set(LEARNERS) - {"regressor", "forest-regressor"}))
def test_every_learner_can_be_trained_shown_tested_and_used(learner, iris):
    # msmt and others take their time on more
    iris_frame().filter(pl.int_range(pl.len()) % 3 == 0).write_csv("few.csv")
    run("train", "few.csv", "-l", learner, "-o", "few.json", "--holdout", 0)
    assert "leaves" in run("show", "few.json").stdout
    scores = json.loads(run("test", "few.json", "iris.csv", "--json").stdout)
    assert scores["accuracy"] > 0.85
    run("classify", "few.json", "iris.csv", "-o", "out.csv")
    out, fitted = pl.read_csv("out.csv"), load_model("few.json")
    X = iris_frame().select(NAMES)
    assert out["prediction"].to_list() == fitted.predict(X).tolist()
    np.testing.assert_array_equal(out.drop("prediction").to_numpy(), fitted.predict_proba(X))


def test_numbers_can_be_predicted(iris):
    iris_frame().select(*NAMES[:3], target=pl.col("petal_wid")).write_csv("numbers.csv")
    done = run("train", "numbers.csv", "-l", "regressor")
    assert re.search(r"held-out, of a tree .*: R2 0\.9", done.stdout)
    assert json.loads(run("test", "numbers.json", "numbers.csv", "--json").stdout)["r2"] > 0.9
    source = load_model("numbers.json").source_
    assert (source.file, source.target, source.held_out.measure) == ("numbers.csv", "target", "r2")
    assert source.training.value > source.held_out.value > 0.9
    run("classify", "numbers.json", "numbers.csv", "-o", "out.csv")
    expected = load_model("numbers.json").predict(iris_frame().select(NAMES[:3]))
    np.testing.assert_array_equal(pl.read_csv("out.csv")["prediction"].to_numpy(), expected)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--learner", "wood"], "unknown name 'wood'; choose from oc1, axis"),
        (
            ["--learner", "c45", "--n-restarts", "3"],
            "the learner 'c45' has no parameter 'n_restarts'; it has confidence",
        ),
        (["-P", "wings"], "--param takes NAME=VALUE, got 'wings'"),
        (["-P", "wings=2"], "the learner 'oc1' has no parameter 'wings'; it has "),
        (
            ["-P", "order=worst"],
            "'order' parameter of OC1Classifier must be a str among {",
        ),
        (["--n-restarts", "-1"], "The 'n_restarts' parameter of OC1Classifier must be an int in the range [0, "),
        (["--n-restarts", "many"], "valid integer"),
        (["--criterion", "beauty"], "unknown name 'beauty'; choose from twoing, gini"),
        (["--class-weight", "setosa"], "--class-weight takes 'balanced' or LABEL=WEIGHT, got 'setosa'"),
        (["-o", "nowhere/iris.json"], "there is no folder nowhere"),
        (["-o", "iris.csv"], "a model file ends in .json"),
        (["--holdout", "150"], "--holdout 150 of 150 examples leaves nothing"),
        (["--one-hot", "--categorical"], "use either --one-hot or --categorical, not both"),
        (["--format", "xls"], "unknown name 'xls'; choose from csv"),
        (["--holdout", "inf"], "leaves nothing to learn from"),
        (["--jobs", "0"], "give a number of cores"),
        (["--splits", "best"], "unknown name 'best'; choose from auto, axis, oblique"),
        (["--class-weight", "rose=2"], "--class-weight names 'rose', but there is no such class"),
        (["-l", "axis", "--splits", "oblique"], "the learner 'axis' has splits='axis'"),
        (["--max-depth", "2", "-P", "max_depth=3"], "max_depth is given twice"),
        (["-o", "."], "a model file ends in .json"),
    ],
)
def test_wrong_use_of_train(options, message, iris):
    done = run("train", "iris.csv", *options, code=2)
    assert message in re.sub(r"\s+", " ", re.sub("[│╭╮╰╯─]", " ", done.stderr))
    assert os.listdir(iris) == ["iris.csv"]


def test_a_problem_is_one_sentence_with_its_place(iris):
    lines = (iris / "iris.csv").read_text().splitlines()
    lines[2] = lines[2].replace("3.0", "three")
    (iris / "bad.csv").write_text("\n".join(lines))
    done = run("train", "bad.csv", code=1)
    assert done.stderr.startswith("error: bad.csv, line 3, column 2 (sepal_wid): 'three' is not a number")
    assert done.stderr.count("\n") == 1
    assert done.stdout == ""
    assert sorted(os.listdir(iris)) == ["bad.csv", "iris.csv"]
    assert run("train", "none.csv", code=1).stderr.startswith("error: none.csv: ")


def test_verbose_shows_nodes_and_moves(iris):
    nodes = run("train", "iris.csv", "-v", "--holdout", 0, "--prune", "none").stdout
    assert "depth 0: 150 examples [50 50 50], petal_" in nodes
    assert " -> " not in nodes
    assert re.search(
        r"run 1: petal_wid \d+\.\d+ -> \d+\.\d+", run("train", "iris.csv", "-vv", "--prune", "none").stdout
    )


def test_text_columns(iris):
    frame = iris_frame().with_columns(
        colour=pl.when(pl.col("petal_wid") > 1).then(pl.lit("red")).otherwise(pl.lit("blue"))
    )
    frame.select("colour", *NAMES[:2], "species").write_csv("colours.csv")
    refused = run("train", "colours.csv", code=1).stderr
    assert "colours.csv, line 2, column 1 (colour): 'blue' is not a number" in refused
    assert "--one-hot" in refused
    for option in ("--one-hot", "--categorical"):
        run("train", "colours.csv", option, "-o", "colours.json")
        assert json.loads(run("test", "colours.json", "colours.csv", "--json").stdout)["accuracy"] > 0.7
        run("classify", "colours.json", "colours.csv", "-o", "out.csv")
        assert len(pl.read_csv("out.csv")) == 150
    assert "does not take categories" in run("train", "colours.csv", "--categorical", "-l", "cart", code=2).stderr


def test_a_test_file_gives_the_held_out_accuracy(iris):
    iris_frame().sample(40, seed=0).write_csv("more.csv")
    figures = json.loads(run("train", "iris.csv", "--test", "more.csv", "--json").stdout)
    assert figures["held_out"]["examples"] == 40


def test_target_weights_and_ignored_columns(iris):
    frame = iris_frame().with_columns(
        id=pl.int_range(pl.len()), weight=pl.when(pl.col("species") == "virginica").then(2.0).otherwise(1.0)
    )
    frame.select("species", "id", *NAMES, "weight").write_csv("more.csv")
    run("train", "more.csv", "--target", "species", "--ignore", "id", "--weights", "weight", "-o", "a.json")
    fitted = load_model("a.json")
    assert fitted.feature_names_in_.tolist() == NAMES
    assert fitted.tree_.counts[0] / fitted.tree_.counts[0, 0] == pytest.approx([1, 1, 2])
    run("train", "more.csv", "--target", "0", "--ignore", "1", "--weights", "-1", "-o", "b.json")
    assert load_model("b.json").tree_.to_dict() == fitted.tree_.to_dict()


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_a_stopped_training_leaves_nothing(how, iris):
    run("generate", "ls10", "-n", 50_000, "--noise", 0.3, "-o", "large.csv")
    with obeying_ctrl_c():
        process = start("train", "large.csv", "--prune", "none", "-v")
    process.stdout.readline()  # the first node: it is growing
    process.send_signal(how)
    _, errors = process.communicate(timeout=MAX_WAIT_SECONDS)
    assert process.returncode == 130
    assert errors.endswith("stopped; nothing was left half-written\n")
    assert sorted(os.listdir(iris)) == ["iris.csv", "large.csv"]


def test_text_columns_of_files_without_a_header(iris):
    lines = [f"{m % 7},{'red' if m % 3 else 'blue'},{m % 5},{'a' if m % 3 else 'b'}" for m in range(60)]
    (iris / "bare.csv").write_text("\n".join(lines))
    for option in ("--one-hot", "--categorical"):
        assert "x2" in run("train", "bare.csv", option, "-o", "bare.json", "--no-header").stdout
        assert json.loads(run("test", "bare.json", "bare.csv", "--no-header", "--json").stdout)["accuracy"] == 1.0
    run("train", "bare.csv", "--one-hot", "-o", "bare.json", "--no-header")
    assert load_model("bare.json").feature_names_in_.tolist() == ["x1", "x2=blue", "x2=red", "x3"]


def test_numbers_that_are_taken_for_classes_are_refused(iris):
    lines = [f"{m},{m * 1.5}" for m in range(200)]
    (iris / "numbers.csv").write_text("\n".join(lines))
    said = run("train", "numbers.csv", code=2).stderr
    assert "the target has 200 different numbers; to predict a number, use --learner regressor" in said
    for command in ("train", "cv"):
        said = run(command, "numbers.csv", "--learner", "oc1", code=2).stderr
        assert "the target has 200 different values in 200 examples: use --learner regressor to predict numbers" in said


def test_few_examples_are_not_held_out(iris):
    (iris / "few.csv").write_text("1,a\n2,b\n")
    done = run("train", "few.csv")
    assert "2 examples are too few to hold any out" in done.stderr
    assert "leaves" in done.stdout


def test_formats_on_stdin_are_found_by_looking(iris):
    run("generate", "pol", "-n", 200, "-o", "pol.arff")
    process = start("train", "-", "-o", "pol.json", stdin=subprocess.PIPE)
    _, errors = process.communicate((iris / "pol.arff").read_text(), timeout=MAX_WAIT_SECONDS)
    assert process.returncode == 0, errors


@pytest.mark.slow
def test_ten_thousand_columns(iris):
    X = np.random.default_rng(0).normal(size=(60, 10_000)).round(3)
    y = np.where(X[:, 0] > 0, "a", "b")
    frame = pl.DataFrame(X, schema=[f"v{m}" for m in range(10_000)])
    frame.with_columns(kind=pl.Series(y.tolist())).write_csv("wide.csv")
    figures = json.loads(run("train", "wide.csv", "--json", "--holdout", 0).stdout)
    assert figures["training"]["accuracy"] > 0.9
    run("classify", "wide.json", "wide.csv", "-o", "out.csv")
    assert len(pl.read_csv("out.csv")) == 60
