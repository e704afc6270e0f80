"""Benchmarks whose figures stand in the documents run, on tiny sizes."""

import os
import subprocess
import sys
from pathlib import Path

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
