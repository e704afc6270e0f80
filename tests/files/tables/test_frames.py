"""Feather files; Parquet files are read in `test_reading`."""

import subprocess
import sys
from contextlib import suppress

import numpy as np
import polars as pl
import pytest

from oc1.files.problems import FileProblem
from oc1.files.tables import ModelInputs, read_table, scan_table
from oc1.files.tables.apart import run_apart


def test_feather_files(tmp_path):
    frame = pl.DataFrame({"a": [1.5, None, 3.0], "b": [1, 2, 3], "class": ["x", "y", "x"]})
    for name in ("t.feather", "t.arrow", "t"):
        frame.write_ipc(tmp_path / name, compression="zstd")
        table = read_table(tmp_path / name)
        np.testing.assert_array_equal(table.X, [[1.5, 1], [np.nan, 2], [3, 3]])
        assert (table.feature_names, table.y.tolist()) == (("a", "b"), ["x", "y", "x"])
        (batch,) = scan_table(tmp_path / name, ModelInputs(1, ("b",), target="class"), labelled=True)
        assert batch.X.tolist() == [[1], [2], [3]]
    (tmp_path / "t.feather").write_bytes((tmp_path / "t").read_bytes()[:100])
    with pytest.raises(FileProblem, match="cannot be read as Feather"):
        read_table(tmp_path / "t.feather")


@pytest.mark.parametrize("changes", [{793: 74, 30: 3}, {1065: 64, 408: 33}, {1047: 51, 12: 68}])
def test_damage_that_makes_polars_abort_is_a_problem_of_the_file(tmp_path, changes):
    path = tmp_path / "t.parquet"
    pl.DataFrame({"a": [1.5, 2.5, 3.5], "b": ["x", "y", "x"], "c": ["p", "q", "p"]}).write_parquet(path)
    content = bytearray(path.read_bytes())
    for place, byte in changes.items():  # where polars 2.1 aborts; other versions may say what is wrong, or read it
        content[place % len(content)] = byte
    path.write_bytes(content)
    with suppress(FileProblem):
        assert len(read_table(path, categories="keep").y) == 3


def test_a_crash_of_the_reading_process_is_a_problem_of_the_file(tmp_path, monkeypatch):
    path = tmp_path / "t.parquet"
    pl.DataFrame({"a": [1.5], "c": ["p"]}).write_parquet(path)
    crashed = subprocess.CompletedProcess([], -6, b"", b"")
    monkeypatch.setattr("oc1.files.tables.frames.run_apart", lambda *_, **__: crashed)
    with pytest.raises(FileProblem, match="cannot be read as Parquet: it is damaged"):
        read_table(path)
    assert run_apart("os:abort").returncode not in (0, 1)


def test_the_reading_process_takes_no_modules_from_the_folder_of_the_data(tmp_path, monkeypatch):
    (tmp_path / "polars.py").write_text("import os; os.abort()")
    pl.DataFrame({"a": [1.5], "c": ["p"]}).write_parquet(tmp_path / "t.parquet")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.path", [path for path in sys.path if path])
    assert len(read_table("t.parquet").y) == 1
