"""``oc1 classify``."""

import gzip
import json
import os
import signal
import subprocess

import polars as pl
from command_line import NAMES, iris_frame, run, start
from waiting import MAX_WAIT_SECONDS, comes_true, obeying_ctrl_c

from oc1 import load_model


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


def test_a_stopped_classification_leaves_nothing(model, iris):
    # The data come through a pipe that stays open, so that it cannot end by itself.
    with obeying_ctrl_c():
        process = start("classify", str(model), "-", "-o", "out.csv", stdin=subprocess.PIPE)
    process.stdin.write((iris / "iris.csv").read_text())
    process.stdin.flush()
    assert comes_true(lambda: any(name.endswith(".part") for name in os.listdir(iris)))
    process.send_signal(signal.SIGINT)
    process.wait(timeout=MAX_WAIT_SECONDS)
    process.stdin.close()
    assert process.returncode == 130
    assert os.listdir(iris) == ["iris.csv"]


def test_output_that_nobody_reads_is_no_error(model, iris):
    pl.concat([iris_frame()] * 700).write_csv("many.csv")
    process = start("classify", str(model), "many.csv")
    assert process.stdout.readline().startswith("prediction")
    process.stdout.close()
    assert process.stderr.read() == ""
    assert process.wait(timeout=MAX_WAIT_SECONDS) == 1


def test_classify_reads_stdin(model, iris):
    process = start("classify", str(model), "-", stdin=subprocess.PIPE)
    out, errors = process.communicate((iris / "iris.csv").read_text(), timeout=MAX_WAIT_SECONDS)
    assert process.returncode == 0, errors
    assert len(out.splitlines()) == 151


def test_attributes_cannot_be_left_out(model, iris):
    assert "cannot be left out" in run("classify", model, "iris.csv", "--ignore", "petal_wid", code=1).stderr
