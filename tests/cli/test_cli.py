"""The command line: every command, its files, its JSON, its errors."""

import gzip
import inspect
import json
import os
import re
import signal
import subprocess
import sys
import time

import numpy as np
import polars as pl
import pytest
from sklearn.datasets import load_iris
from typer.testing import CliRunner

from oc1 import OC1Classifier, load_model
from oc1.cli.app import COMMANDS, app
from oc1.cli.options import PARAMETERS, RENAMED
from oc1.learners.registry import LEARNERS, parameters_of

NAMES = ["sepal_len", "sepal_wid", "petal_len", "petal_wid"]


def run(*arguments, code=0):
    done = CliRunner().invoke(app, [str(argument) for argument in arguments])
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    assert done.exit_code == code, done.stderr
    return done


def iris_frame():
    iris = load_iris()
    frame = pl.DataFrame(iris.data, schema=NAMES)
    return frame.with_columns(species=pl.Series(iris.target_names[iris.target].tolist()))


@pytest.fixture
def iris(tmp_path, monkeypatch):
    """A folder with iris.csv in which the commands run."""
    monkeypatch.chdir(tmp_path)
    iris_frame().write_csv("iris.csv")
    return tmp_path


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """A model of iris."""
    folder = tmp_path_factory.mktemp("iris")
    iris_frame().write_csv(folder / "iris.csv")
    run("train", folder / "iris.csv", "-o", folder / "iris.json")
    return folder / "iris.json"


# ------------------------------------------------------------------------------------------------ all commands


@pytest.mark.parametrize("command", sorted(COMMANDS))
def test_help_has_an_example(command):
    text = run(command, "--help").stdout
    assert re.search(rf"Examples?: oc1 {command}", text)


def test_every_parameter_of_oc1_is_an_option():
    given = {option.name for option in PARAMETERS} | set(RENAMED)
    assert given == set(inspect.signature(OC1Classifier).parameters)
    for option in PARAMETERS:
        default = inspect.signature(OC1Classifier).parameters[option.name].default
        if option.default and isinstance(default, int | float | str) and not isinstance(default, bool):
            assert type(default)(option.default) == default, option.name
        if option.choices and isinstance(default, str):
            assert default in option.choices


def test_choices_are_those_of_the_learner():
    for option in PARAMETERS:
        constraint = OC1Classifier._parameter_constraints[option.name][0]
        if hasattr(constraint, "options") and option.choices:
            assert set(option.choices) - {"none"} == set(constraint.options), option.name


def test_version():
    assert run("--version").stdout.startswith("oc1 0.")


def test_without_arguments_there_is_help():
    done = CliRunner().invoke(app, [])
    assert "Usage: oc1" in done.output


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion(shell):
    variables = {"_OC1_COMPLETE": f"complete_{shell}", "COMP_WORDS": "oc1 tr", "COMP_CWORD": "1"}
    variables |= {"_TYPER_COMPLETE_ARGS": "oc1 tr", "_TYPER_COMPLETE_FISH_ACTION": "get-args"}
    done = subprocess.run(
        [sys.executable, "-c", "from oc1.__main__ import main; main()"],
        env={**os.environ, **variables}, capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert "train" in done.stdout
    assert "classify" not in done.stdout


def test_without_typer_the_command_says_what_to_install():
    code = "import sys; sys.modules['typer'] = None; from oc1.__main__ import main; main()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 1
    assert done.stderr == (
        'error: the command line needs typer, rich and polars; install them with: pip install "oc1[cli]"\n'
    )


# ------------------------------------------------------------------------------------------------ train


def test_train_writes_the_model_and_says_what_it_is_worth(iris):
    done = run("train", "iris.csv", "-o", "flowers.json")
    assert "petal_wid > 0.8" in done.stdout
    assert "leaves      3, depth 2" in done.stdout
    assert "training accuracy: 98.67% (148 of 150 examples)" in done.stdout
    assert "held-out accuracy, of a tree grown on the other 120 examples" in done.stdout
    assert re.search(r"versicolor +50 +49 +98\.00% +10 +\d+ +\d+\.\d\d%", done.stdout)
    assert done.stderr == "model written to flowers.json\n"
    assert os.listdir(iris).count("flowers.json") == 1
    fitted = load_model("flowers.json")
    data = load_iris()
    own = OC1Classifier(random_state=0).fit(pl.DataFrame(data.data, schema=NAMES), data.target_names[data.target])
    assert fitted.tree_.to_dict() == own.tree_.to_dict()


def test_train_as_json(iris):
    figures = json.loads(run("train", "iris.csv", "--json", "-v").stdout)
    assert figures["model"] == "iris.json"
    assert (figures["leaves"], figures["depth"]) == (3, 2)
    assert figures["training"]["accuracy"] == pytest.approx(148 / 150)
    assert figures["held_out"]["examples"] == 30
    assert [own["class"] for own in figures["held_out"]["classes"]] == ["setosa", "versicolor", "virginica"]


@pytest.mark.parametrize("learner", sorted(set(LEARNERS) - {"regressor"}))
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
    run("classify", "numbers.json", "numbers.csv", "-o", "out.csv")
    expected = load_model("numbers.json").predict(iris_frame().select(NAMES[:3]))
    np.testing.assert_array_equal(pl.read_csv("out.csv")["prediction"].to_numpy(), expected)


def test_parameters_reach_the_learner(iris):
    run(
        "train", "iris.csv", "-o", "a.json", "--n-restarts", 7, "--prune", "none", "--no-refine", "--starts", "axis",
        "--starts", "lda", "--criterion", "gini", "--class-weight", "setosa=2", "--seed", 5, "--max-terms", 2,
        "--class-weight", "virginica=0.5", "-P", "min_samples_leaf=3",
    )  # fmt: skip
    given = load_model("a.json").get_params()
    assert (given["n_restarts"], given["prune"], given["refine"]) == (7, None, False)
    assert (list(given["starts"]), given["criterion"], given["random_state"]) == (["axis", "lda"], "gini", 5)
    assert given["class_weight"] == {"setosa": 2.0, "virginica": 0.5}
    assert (given["min_samples_leaf"], given["max_terms"]) == (3, 2)
    run("train", "iris.csv", "-o", "b.json", "-l", "vote", "-P", "n_estimators=3", "--holdout", 0)
    assert len(load_model("b.json").estimators_) == 3


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--learner", "forest"], "--learner 'forest' is not known; it is one of oc1, axis"),
        (
            ["--learner", "c45", "--n-restarts", "3"],
            "the learner 'c45' has no parameter 'n_restarts'; it has confidence",
        ),
        (["-P", "wings"], "--param takes NAME=VALUE, got 'wings'"),
        (["-P", "wings=2"], "the learner 'oc1' has no parameter 'wings'"),
        (["--n-restarts", "-1"], "The 'n_restarts' parameter of OC1Classifier must be an int in the range [0, inf)"),
        (["--n-restarts", "many"], "valid integer"),
        (["--criterion", "beauty"], "--criterion 'beauty' is not known; it is one of twoing, gini"),
        (["--class-weight", "setosa"], "--class-weight takes 'balanced' or LABEL=WEIGHT, got 'setosa'"),
        (["-o", "nowhere/iris.json"], "there is no folder nowhere"),
        (["-o", "iris.csv"], "a model file ends in .json"),
        (["--holdout", "150"], "--holdout 150 of 150 examples leaves nothing"),
        (["--one-hot", "--categorical"], "cannot both be"),
        (["--format", "xls"], "--format 'xls' is not known; it is one of csv"),
        (["--holdout", "inf"], "leaves nothing to learn from"),
        (["--jobs", "0"], "give a number of cores"),
        (["--starts", "nowhere"], "--starts 'nowhere' is not known; it is one of axis"),
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
    assert "takes no categories" in run("train", "colours.csv", "--categorical", "-l", "c45", code=2).stderr


def test_a_test_file_gives_the_held_out_accuracy(iris):
    iris_frame().sample(40, seed=0).write_csv("more.csv")
    figures = json.loads(run("train", "iris.csv", "--test", "more.csv", "--json").stdout)
    assert figures["held_out"]["examples"] == 40


def test_target_weights_and_ignored_columns(iris):
    frame = iris_frame().with_columns(id=pl.int_range(pl.len()), twice=pl.lit(2.0))
    frame.select("species", "id", *NAMES, "twice").write_csv("more.csv")
    run("train", "more.csv", "--target", "species", "--ignore", "id", "--weights", "twice", "-o", "a.json")
    fitted = load_model("a.json")
    assert fitted.feature_names_in_.tolist() == NAMES
    assert fitted.tree_.counts[0].tolist() == [100, 100, 100]
    run("train", "more.csv", "--target", "0", "--ignore", "1", "--weights", "-1", "-o", "b.json")
    assert load_model("b.json").tree_.to_dict() == fitted.tree_.to_dict()


# ------------------------------------------------------------------------------------------------ classify, test, show


def test_classify_to_stdout_and_to_files(model, iris):
    expected = load_model(model).predict(iris_frame().select(NAMES))
    header, *lines = run("classify", model, "iris.csv").stdout.splitlines()
    assert header == "prediction,p_setosa,p_versicolor,p_virginica"
    assert [line.split(",")[0] for line in lines] == expected.tolist()
    rows = [json.loads(line) for line in run("classify", model, "iris.csv", "--json").stdout.splitlines()]
    assert [row["prediction"] for row in rows] == expected.tolist()
    for name in ("out.csv", "out.tsv", "out.parquet", "out.jsonl", "out.csv.gz"):
        assert "150 examples classified" in run("classify", model, "iris.csv", "-o", name).stderr
    assert pl.read_parquet("out.parquet")["prediction"].to_list() == expected.tolist()
    assert gzip.decompress((iris / "out.csv.gz").read_bytes()) == (iris / "out.csv").read_bytes()
    bare = run("classify", model, "iris.csv", "--no-probabilities", "--leaf").stdout.splitlines()
    assert bare[0] == "prediction,leaf"
    leaves = load_model(model).apply(iris_frame().select(NAMES))
    assert [int(line.split(",")[1]) for line in bare[1:]] == leaves.tolist()


def test_columns_are_found_by_name(model, iris):
    frame = iris_frame()
    frame.select(*reversed(NAMES), extra=pl.lit("x")).write_csv("shuffled.csv")
    assert run("classify", model, "shuffled.csv").stdout == run("classify", model, "iris.csv").stdout
    frame.select(NAMES[:3]).write_csv("short.csv")
    assert "'petal_wid'" in run("classify", model, "short.csv", code=1).stderr


def test_test_prints_accuracy_and_confusion(model, iris):
    done = run("test", model, "iris.csv")
    assert "accuracy: 98.67% (148 of 150 examples)" in done.stdout
    assert re.search(r"virginica +0 +1 +49", done.stdout)
    figures = json.loads(run("test", model, "iris.csv", "--json", "--misclassified", "wrong.csv").stdout)
    assert figures["confusion"] == [[50, 0, 0], [0, 49, 1], [0, 1, 49]]
    wrong = pl.read_csv("wrong.csv")
    assert len(wrong) == 2
    assert iris_frame()["species"][wrong["row"].to_list()].to_list() == wrong["class"].to_list()


def test_unknown_classes_count_as_wrong(model, iris):
    iris_frame().with_columns(pl.col("species").replace("setosa", "rose")).write_csv("roses.csv")
    done = run("test", model, "roses.csv")
    assert "accuracy: 65.33% (98 of 150 examples)" in done.stdout
    assert re.search(r"rose \(unknown\) +50 +0 +0", done.stdout)
    assert "the model knows no class 'rose'" in done.stderr


def test_integer_classes_that_begin_at_zero(iris):
    data = load_iris()
    pl.DataFrame(data.data, schema=NAMES).with_columns(species=pl.Series(data.target)).write_csv("numbers.csv")
    run("train", "numbers.csv")
    assert load_model("numbers.json").classes_.tolist() == [0, 1, 2]
    assert json.loads(run("test", "numbers.json", "numbers.csv", "--json").stdout)["accuracy"] > 0.98


def test_show(model):
    text = run("show", model).stdout
    assert text.startswith("petal_wid > 0.8\n")
    assert "trained on  150 examples of 'species'" in text
    figures = json.loads(run("show", model, "--json").stdout)
    assert figures["leaves"] == 3
    assert figures["trees"][0]["format"] == 1
    assert "0.3 sepal_len" in run("show", model, "--digits", 1).stdout


def test_models_that_are_none(iris):
    (iris / "model.json").write_text("{}")
    assert run("show", "model.json", code=1).stderr.startswith("error: model.json: ")
    (iris / "model.pkl").write_bytes(b"\x80\x04\x95")
    assert "is a pickle, which is never read" in run("classify", "model.pkl", "iris.csv", code=1).stderr
    assert run("test", "none.json", "iris.csv", code=1).stderr.startswith("error: none.json: ")


# ------------------------------------------------------------------------------------------------ cv, compare


def test_cross_validation_side_by_side(iris):
    done = run("cv", "iris.csv", "-l", "oc1", "-l", "axis", "-l", "c45", "--repeats", 2)
    assert "150 examples, 3 classes; 2 x 5-fold cross-validation" in done.stdout
    assert re.findall(r"^(oc1|axis|c45) ", done.stdout, re.MULTILINE) == ["oc1", "axis", "c45"]
    figures = json.loads(run("cv", "iris.csv", "-l", "oc1", "-l", "c45", "--repeats", 2, "--json").stdout)
    assert len(figures["records"]) == 2 * 2 * 5
    assert 0.94 < figures["learners"][0]["accuracy"] < 1.0
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
        (["-l", "regressor"], "predicts numbers"),
        (["-l", "forest"], "'forest' is not known"),
        (["--n-jumps", "3", "-l", "c45"], "none of the learners c45 has a parameter 'n_jumps'"),
        (["--folds", "60"], "no class has as many as 60 examples"),
    ],
)
def test_wrong_use_of_cv(options, message, iris):
    assert message in run("cv", "iris.csv", *options, code=2).stderr


def test_parameters_are_for_those_that_have_them(iris):
    figures = json.loads(run("cv", "iris.csv", "-l", "axis", "-l", "c45", "--ccp-alpha", 1.0, "--json").stdout)
    assert figures["learners"][0]["leaves"] == 1.0
    assert figures["learners"][1]["leaves"] > 1.0 or "ccp_alpha" in parameters_of("c45")


def test_compare(iris):
    done = run("compare", "iris.csv", "--repeats", 1, "--learner", "c45")
    assert "logistic regression" in done.stdout
    assert "C4.5" in done.stdout
    assert "findings" in json.loads(run("compare", "iris.csv", "--repeats", 1, "--json").stdout)


# ------------------------------------------------------------------------------------------------ generate


@pytest.mark.parametrize(("name", "width", "classes"), [("ls10", 10, 2), ("pol", 2, 2), ("rcb", 2, 8)])
def test_the_sets_of_the_paper(name, width, classes, iris):
    run("generate", name, "-n", 500)
    frame = pl.read_csv(f"{name}.csv")
    assert frame.shape == (500, width + 1)
    assert frame["class"].n_unique() == classes
    assert frame.columns == [*(f"x{m + 1}" for m in range(width)), "class"]
    run("generate", name, "-n", 500, "-o", "again.csv")
    assert (iris / "again.csv").read_bytes() == (iris / f"{name}.csv").read_bytes()
    run("generate", name, "-n", 500, "-o", "other.csv", "--seed", 1)
    assert (iris / "other.csv").read_bytes() != (iris / f"{name}.csv").read_bytes()


def test_noise_changes_so_many_classes(iris):
    run("generate", "rcb", "-n", 400, "-o", "clean.csv")
    run("generate", "rcb", "-n", 400, "-o", "noisy.csv", "--noise", 0.25)
    clean, noisy = pl.read_csv("clean.csv"), pl.read_csv("noisy.csv")
    assert clean.drop("class").equals(noisy.drop("class"))
    assert (clean["class"] != noisy["class"]).sum() == 100


@pytest.mark.parametrize("name", ["d.csv", "d.tsv", "d.parquet", "d.data", "d.csv.gz"])
def test_generated_files_can_be_read_in_every_format(name, iris):
    run("generate", "pol", "-n", 300, "-o", name)
    assert json.loads(run("train", name, "-o", "m.json", "--json").stdout)["leaves"] == 5


def test_points_labelled_by_a_model(model, iris):
    run("generate", model, "-n", 200, "-o", "flowers.csv")
    frame = pl.read_csv("flowers.csv")
    assert frame.columns == [*NAMES, "species"]
    assert frame["petal_len"].min() >= 1.0
    assert frame["petal_len"].max() <= 6.9
    assert json.loads(run("test", model, "flowers.csv", "--json").stdout)["accuracy"] == 1.0
    run("generate", model, "-n", 200, "-o", "wide.csv", "--low", -10, "--high", 10)
    assert pl.read_csv("wide.csv")["petal_len"].min() < 0
    run("convert", model, "-o", "iris.dt")
    run("generate", "iris.dt", "-n", 50, "-o", "old.csv")
    assert pl.read_csv("old.csv").drop("class").max_horizontal().max() <= 1.0


@pytest.mark.parametrize(
    ("arguments", "message", "code"),
    [
        (["abc"], "'abc' is neither one of ls10, pol, rcb nor a model file", 2),
        (["none.json"], "give --output", 2),
        (["none.json", "-o", "x.csv"], "none.json", 1),
        (["rcb", "--low", "3"], "--low and --high are for models", 2),
        (["rcb", "-o", "no/x.csv"], "there is no folder no", 2),
    ],
)
def test_wrong_use_of_generate(arguments, message, code, iris):
    assert message in run("generate", *arguments, code=code).stderr


# ------------------------------------------------------------------------------------------------ convert


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
    assert re.search(r"of 150 rows, \d+ get another class; \d+ could", fixed.stderr)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "give --to: it is one of json, dt, onnx"),
        (["--to", "exe"], "--to 'exe' is not known"),
        (["--to", "onnx"], "--to onnx needs --output"),
        (["--to", "c", "--numbers", "fixed"], "fixed point needs --data"),
        (["--to", "c", "--numbers", "half"], "--numbers 'half'"),
        (["--to", "c", "--bits", "8"], "--bits is 16 or 32"),
        (["--to", "c", "-o", "no/x.h"], "there is no folder no"),
        (["--to", "json", "-o", "x.dt"], "ends in .json"),
    ],
)
def test_wrong_use_of_convert(options, message, model, iris):
    assert message in run("convert", model, *options, code=2).stderr
    assert os.listdir(iris) == ["iris.csv"]


def test_c45_says_what_becomes_of_missing_values(iris):
    run("train", "iris.csv", "-l", "c45")
    assert "C4.5 divides an example with a missing value" in run("convert", "iris.json", "--to", "python").stderr


# ------------------------------------------------------------------------------------------------ whole processes


def start(*arguments, **options):
    return subprocess.Popen(
        [sys.executable, "-m", "oc1", *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options
    )


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_a_stopped_training_leaves_nothing(how, iris):
    run("generate", "ls10", "-n", 50_000, "--noise", 0.3, "-o", "large.csv")
    process = start("train", "large.csv", "--prune", "none", "-v")
    process.stdout.readline()  # the first node: it is growing
    process.send_signal(how)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert errors.endswith("stopped; nothing was left half-written\n")
    assert sorted(os.listdir(iris)) == ["iris.csv", "large.csv"]


def test_a_stopped_classification_leaves_nothing(model, iris):
    # The data come through a pipe that stays open, so that it cannot end by itself.
    process = start("classify", str(model), "-", "-o", "out.csv", stdin=subprocess.PIPE)
    process.stdin.write((iris / "iris.csv").read_text())
    process.stdin.flush()
    limit = time.monotonic() + 60
    while not any(name.endswith(".part") for name in os.listdir(iris)) and time.monotonic() < limit:
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    process.wait(timeout=60)
    process.stdin.close()
    assert process.returncode == 130
    assert os.listdir(iris) == ["iris.csv"]


def test_output_that_nobody_reads_is_no_error(model, iris):
    run("generate", model, "-n", 100_000, "-o", "many.csv")
    process = start("classify", str(model), "many.csv")
    assert process.stdout.readline().startswith("prediction")
    process.stdout.close()
    assert process.stderr.read() == ""
    assert process.wait(timeout=60) == 1


def test_classify_reads_stdin(model, iris):
    process = start("classify", str(model), "-", stdin=subprocess.PIPE)
    out, errors = process.communicate((iris / "iris.csv").read_text(), timeout=60)
    assert process.returncode == 0, errors
    assert len(out.splitlines()) == 151


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["train", "iris.csv", "--n-restarts", "many"], "Invalid value for '--n-restarts'"),
        (["fly"], "No such command 'fly'"),
        (["train", "iris.csv", "--wings"], "No such option: --wings"),
    ],
)
def test_wrong_options_are_one_sentence(arguments, message, iris):
    process = start(*arguments)
    out, errors = process.communicate(timeout=60)
    assert (process.returncode, out, errors.count("\n")) == (2, "", 1)
    assert errors.startswith("error: ")
    assert message in errors


def test_nothing_that_is_read_is_overwritten(model, iris):
    before = model.read_bytes()
    for arguments in (
        ["classify", model, "iris.csv", "-o", iris / "iris.csv"],
        ["test", model, "iris.csv", "--misclassified", "iris.csv"],
        ["generate", model, "-o", model],
        ["convert", model, "--to", "python", "-o", model],
        ["explore", model, "iris.csv", "-o", "iris.csv"],
    ):
        assert "is one of the files that are read" in run(*arguments, code=2).stderr
    assert "must end in .csv" in run("classify", model, "iris.csv", "-o", model, code=2).stderr
    assert model.read_bytes() == before
    assert (iris / "iris.csv").stat().st_size > 1000


def test_pipes_and_links_are_written_to(model, iris):
    os.mkfifo("pipe.csv")
    process = subprocess.Popen(["cat", "pipe.csv"], stdout=subprocess.PIPE, text=True)
    run("classify", model, "iris.csv", "-o", "pipe.csv")
    assert len(process.communicate(timeout=60)[0].splitlines()) == 151
    assert not os.path.isfile("pipe.csv")
    os.symlink("loop.json", "loop.json")
    run("train", "iris.csv", "-o", "loop.json", "--holdout", 0)
    assert load_model("loop.json").get_n_leaves() == 3
    os.symlink("real.json", "link.json")
    run("train", "iris.csv", "-o", "link.json", "--holdout", 0)
    assert os.path.islink("link.json")
    assert load_model("real.json").get_n_leaves() == 3


def test_a_dash_is_stdout(model, iris):
    assert run("classify", model, "iris.csv", "-o", "-").stdout == run("classify", model, "iris.csv").stdout
    assert run("generate", "pol", "-n", 3, "-o", "-").stdout.startswith("x1,x2,class\n")
    assert not os.path.exists("-")


def test_text_columns_of_files_without_a_header(iris):
    lines = [f"{m % 7},{'red' if m % 3 else 'blue'},{m % 5},{'a' if m % 3 else 'b'}" for m in range(60)]
    (iris / "bare.csv").write_text("\n".join(lines))
    for option in ("--one-hot", "--categorical"):
        assert "x2" in run("train", "bare.csv", option, "-o", "bare.json", "--no-header").stdout
        assert json.loads(run("test", "bare.json", "bare.csv", "--no-header", "--json").stdout)["accuracy"] == 1.0
    run("train", "bare.csv", "--one-hot", "-o", "bare.json", "--no-header")
    assert load_model("bare.json").feature_names_in_.tolist() == ["x1", "x2=blue", "x2=red", "x3"]
    assert "made of text" in run("generate", "bare.json", "-o", "more.csv", code=2).stderr


def test_numbers_that_are_taken_for_classes_are_refused(iris):
    lines = [f"{m},{m * 1.5}" for m in range(200)]
    (iris / "numbers.csv").write_text("\n".join(lines))
    for command in ("train", "cv"):
        said = run(command, "numbers.csv", code=2).stderr
        assert "the target has 200 different values in 200 examples: for numbers use --learner regressor" in said


def test_few_examples_are_not_held_out(iris):
    (iris / "few.csv").write_text("1,a\n2,b\n")
    done = run("train", "few.csv")
    assert "2 examples are too few to hold some out" in done.stderr
    assert "leaves" in done.stdout


def test_letters_that_the_terminal_has_not(iris):
    (iris / "umlaut.csv").write_text("\n".join(["1,mäh"] * 9 + ["2,muh"] * 9), encoding="utf-8")
    process = start("train", "umlaut.csv", env={**os.environ, "PYTHONIOENCODING": "ascii"})
    out, errors = process.communicate(timeout=60)
    assert process.returncode == 0, errors
    assert "m\\xe4h" in out


def test_names_cannot_change_the_terminal(iris):
    frame = iris_frame().rename({"petal_wid": "pet\x1b[31mal"})
    frame.write_csv("red.csv")
    assert "\x1b" not in run("train", "red.csv", "-vv", "--prune", "none").stdout


def test_fixed_point_says_nothing_of_names(model, iris):
    done = run("convert", model, "--to", "c", "--numbers", "fixed", "--data", "iris.csv", "-o", "iris.h")
    assert "feature names" not in done.stderr


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--to", "sql", "--numbers", "float"], "--numbers does nothing for --to sql"),
        (["--to", "onnx", "--name", "x", "-o", "x.onnx"], "--name does nothing for --to onnx"),
        (["--to", "python", "--name", "import"], "--name 'import' is not a name"),
        (["--to", "c", "-o", "x.h.gz"], "only model files are packed"),
    ],
)
def test_options_that_do_nothing_are_refused(options, message, model, iris):
    assert message in run("convert", model, *options, code=2).stderr


def test_attributes_cannot_be_left_out(model, iris):
    assert "cannot be left out" in run("classify", model, "iris.csv", "--ignore", "petal_wid", code=1).stderr


def test_formats_on_stdin_are_found_by_looking(iris):
    run("generate", "pol", "-n", 200, "-o", "pol.arff")
    process = start("train", "-", "-o", "pol.json", stdin=subprocess.PIPE)
    _, errors = process.communicate((iris / "pol.arff").read_text(), timeout=60)
    assert process.returncode == 0, errors


def test_ten_thousand_columns(iris):
    X = np.random.default_rng(0).normal(size=(60, 10_000)).round(3)
    y = np.where(X[:, 0] > 0, "a", "b")
    frame = pl.DataFrame(X, schema=[f"v{m}" for m in range(10_000)])
    frame.with_columns(kind=pl.Series(y.tolist())).write_csv("wide.csv")
    figures = json.loads(run("train", "wide.csv", "--json", "--holdout", 0).stdout)
    assert figures["training"]["accuracy"] > 0.9
    run("classify", "wide.json", "wide.csv", "-o", "out.csv")
    assert len(pl.read_csv("out.csv")) == 60
