"""Tables out."""

import os

import numpy as np
import polars as pl
import pytest

from oc1.files.problems import FileProblem
from oc1.files.tables import RowWriter

FRAME = pl.DataFrame({"a": np.random.default_rng(0).normal(size=10_000)})


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is full")
@pytest.mark.parametrize("format", ["csv", "parquet", "jsonl"])
def test_a_full_disk_is_explained(format):
    with pytest.raises(FileProblem) as caught, RowWriter("/dev/full", format) as writer:
        writer.write(FRAME)
    assert str(caught.value) == "/dev/full: cannot be written: No space left on device"


def test_no_room_for_the_parts_of_a_parquet_file_is_explained(tmp_path):
    with RowWriter(tmp_path / "out.parquet") as writer:
        os.rmdir(writer._folder)
        with pytest.raises(FileProblem) as caught:
            writer.write(FRAME)
        writer._parts.clear()
    assert str(caught.value).startswith(f"{tmp_path / 'out.parquet'}: cannot be written: No such file or directory")
