"""A newcomer's script in a fresh environment: install, make data, compare, train, look, test, use, convert."""

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from oc1 import load_model

ROOT = Path(__file__).parent.parent
SCRIPT = ROOT / "examples" / "newcomer.sh"


def test_the_script_is_the_one_in_the_readme():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    commands = [line.partition("#")[0].strip() for line in SCRIPT.read_text().splitlines() if line.startswith("oc1 ")]
    assert len(commands) >= 10
    for command in commands:
        assert command in readme


def test_the_script_runs_in_a_fresh_environment(tmp_path):
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    environment = {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "NUMBA_CACHE_DIR")}
    done = subprocess.run(
        ["sh", str(SCRIPT), str(ROOT)], cwd=tmp_path, env={**environment, "PATH": path}, capture_output=True, text=True,
        timeout=1200,
    )  # fmt: skip
    if re.search(r"No matching distribution|Could not find a version|Connection|Temporary failure", done.stderr):
        pytest.skip("no package index can be reached: nothing can be installed")
    assert done.returncode == 0, done.stderr
    made = {"rcb.csv", "rcb.json", "more.csv", "classes.csv", "rcb.onnx", "rcb.h", "rcb.py", "rcb.sql"}
    assert {name for name in os.listdir(tmp_path) if name != ".venv"} == made
    assert re.search(r"^oc1 +99\.\d+ +8\.\d", done.stdout, re.MULTILINE)
    assert re.search(r"^c45 +9\d\.\d+", done.stdout, re.MULTILINE)
    assert "held-out accuracy" in done.stdout
    answers, points = pl.read_csv(tmp_path / "classes.csv"), pl.read_csv(tmp_path / "more.csv")
    assert (answers["prediction"] == points["class"]).mean() > 0.98
    model = load_model(tmp_path / "rcb.json")
    np.testing.assert_array_equal(answers.drop("prediction").to_numpy(), model.predict_proba(points.drop("class")))
    namespace: dict = {}
    exec((tmp_path / "rcb.py").read_text(), namespace)  # our own file
    assert [namespace["predict"](row) for row in points.drop("class").rows()] == answers["prediction"].to_list()
