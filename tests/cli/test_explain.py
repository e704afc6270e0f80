"""``oc1 explain``."""

import json

import pytest
from command_line import NAMES, iris_frame, run

from oc1 import load_model


def test_explain_counts_rows_as_the_file_does(model, iris):
    frame, loaded = iris_frame(), load_model(model)
    for row in (1, 71, 150):
        expected = loaded.explain(frame.select(NAMES)[row - 1], within=frame.select(NAMES))
        assert run("explain", model, "iris.csv", "--row", row).stdout == f"{expected}\n"
        assert json.loads(run("explain", model, "iris.csv", "--row", row, "--json").stdout) == expected.to_dict()
    frame.select(*reversed(NAMES)).write_csv("bare.csv")  # other columns, no labels
    assert (
        run("explain", model, "bare.csv", "--row", 71).stdout == run("explain", model, "iris.csv", "--row", 71).stdout
    )


def test_explanations_are_written_to_files(model, iris):
    for name, begins in (("why.html", "<!DOCTYPE html>"), ("why.json", "{"), ("why.txt", "Called versicolor")):
        assert f"written to {name}" in run("explain", model, "iris.csv", "--row", 70, "-o", name).stderr
        assert (iris / name).read_text(encoding="utf-8").startswith(begins)


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["--row", 151], 1, "has 150 examples, so there is no --row 151"),
        (["--row", 0], 2, "--row"),
        (["-o", "why.pdf"], 2, "must end in .html, .json, .txt"),
        (["-o", "iris.csv"], 2, "must end in"),
    ],
)
def test_what_cannot_be_explained_is_said(model, iris, arguments, code, words):
    assert words in run("explain", model, "iris.csv", *arguments, code=code).stderr
