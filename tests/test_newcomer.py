"""A newcomer's script: make data, compare, train, look, test, use, convert."""

import re
import shlex
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from command_line import run

from oc1 import load_model

ROOT = Path(__file__).parent.parent
SCRIPT = ROOT / "examples" / "newcomer.sh"


def test_the_script_is_the_one_in_the_readme():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    commands = [line.partition("#")[0].strip() for line in SCRIPT.read_text().splitlines() if line.startswith("oc1 ")]
    assert len(commands) >= 10
    for command in commands:
        assert command in readme


@pytest.mark.slow
def test_the_commands_of_the_script_work_together(tmp_path, monkeypatch):
    """In this environment; ``nox -s newcomer`` runs the script as it is, which installs the package first."""
    monkeypatch.chdir(tmp_path)
    said = {}
    for line in SCRIPT.read_text().splitlines():
        if line.startswith("oc1 "):
            _, *words = shlex.split(line, comments=True)
            said[words[0]] = run(*words).stdout
    made = {"rcb.csv", "rcb.json", "more.csv", "classes.csv", "rcb.onnx", "rcb.h", "rcb.py", "rcb.sql"}
    assert {path.name for path in tmp_path.iterdir()} == made
    assert re.search(r"^oc1 +99\.\d+ +8\.\d", said["cv"], re.MULTILINE)
    assert re.search(r"^c45 +9\d\.\d+", said["cv"], re.MULTILINE)
    assert "held-out accuracy" in said["train"]
    answers, points = pl.read_csv(tmp_path / "classes.csv"), pl.read_csv(tmp_path / "more.csv")
    assert (answers["prediction"] == points["class"]).mean() > 0.98
    model = load_model(tmp_path / "rcb.json")
    np.testing.assert_array_equal(answers.drop("prediction").to_numpy(), model.predict_proba(points.drop("class")))
    namespace: dict = {}
    exec((tmp_path / "rcb.py").read_text(), namespace)  # our own file
    assert [namespace["predict"](row) for row in points.drop("class").rows()] == answers["prediction"].to_list()
