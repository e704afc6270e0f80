"""Files that are there whole or not at all."""

import errno
import os
import threading

import pytest

from oc1.files.atomic import locked, replacing, write_file
from oc1.files.problems import FileProblem


def test_errors_name_the_file_that_was_asked_for(tmp_path, monkeypatch):
    with pytest.raises(FileProblem) as caught, replacing(tmp_path / "no" / "file.txt"):
        pass
    assert str(caught.value) == f"{tmp_path / 'no' / 'file.txt'}: cannot be written: No such file or directory"
    with pytest.raises(FileProblem, match="is a folder"), replacing(tmp_path):
        pass

    def full(handle):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(FileProblem) as caught:
        write_file(tmp_path / "file.txt", b"text")
    assert str(caught.value) == f"{tmp_path / 'file.txt'}: cannot be written: No space left on device"
    assert os.listdir(tmp_path) == []


def test_errors_about_another_file_stay_as_they_are(tmp_path):
    with pytest.raises(FileNotFoundError, match="other"), replacing(tmp_path / "file.txt"):
        open(tmp_path / "other")  # noqa: SIM115
    assert os.listdir(tmp_path) == []


def test_only_one_has_the_lock(tmp_path):
    order = []
    with locked(tmp_path / ".lock"):

        def wait():
            with locked(tmp_path / ".lock"):
                order.append("second")

        thread = threading.Thread(target=wait)
        thread.start()
        thread.join(0.2)
        order.append("first")
    thread.join()
    assert order == ["first", "second"]
