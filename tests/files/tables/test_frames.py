"""Feather files; Parquet files are read in `test_reading`."""

import numpy as np
import polars as pl
import pytest

from oc1.files.problems import FileProblem
from oc1.files.tables import ModelInputs, read_table, scan_table


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
