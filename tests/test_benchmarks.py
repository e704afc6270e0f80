"""Benchmarks whose figures stand in the documents run, on tiny sizes."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow
BENCHMARKS = Path(__file__).parents[1] / "benchmarks"


def test_the_work_at_a_node_is_counted():
    # In a process of its own: the kernels must be plain Python.
    code = (
        "import bench_complexity as own; own.N_EXAMPLES, own.N_ATTRIBUTES, own.SEEDS = (15, 30), (2, 3), range(1); "
        "own.main()"
    )
    path = os.pathsep.join([str(BENCHMARKS), *filter(None, sys.path)])
    environment = {**os.environ, "PYTHONPATH": path}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    header, _, *lines = done.stdout.splitlines()
    rows = [[int(cell.replace(",", "")) for cell in line.strip("| ").split(" | ")] for line in lines[:4]]
    assert header.count("|") == len(rows[0]) + 1
    assert [(n, d) for n, d, *_ in rows] == [(15, 2), (30, 2), (15, 3), (30, 3)]
    for n, _, searches, looked_at, n_sorted, operations, *_ in rows:
        assert searches > 0
        assert looked_at == n * searches
        assert n_sorted > 0
        assert operations > looked_at
    assert [line.split(":")[0] for line in lines[4:]] == ["searches", "operations", "paper"]


def test_scikit_learns_own_tests_run_with_our_classes():
    # In a process of its own: scikit-learn's classes are replaced.
    script, chosen = BENCHMARKS / "sklearn_tree_tests.py", "test_xor or test_multioutput or test_friedman_mse"
    command = [sys.executable, script, "classifier", "-v", "-k", chosen]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    rows = {line.split()[0]: line.split()[1:4] for line in done.stdout.splitlines() if line.startswith("test_")}
    assert rows["test_xor"] == ["1", "0", "0"]
    assert rows["test_multioutput"] == ["0", "0", "2"]
    assert "test_multioutput (2): several targets at once" in done.stdout
    assert "test_friedman_mse_deprecation: elsewhere" in done.stdout
