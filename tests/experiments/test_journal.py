import errno
import json
import os
from dataclasses import asdict, replace

import pytest

from oc1.evaluation.protocol import FoldRecord, ImpossibleRecord
from oc1.experiments.journal import Journal, journal_path
from oc1.files.problems import FileProblem

RECORD = FoldRecord("d", "a", 0, 1, 20, 15, 3, 2, None, 2, 0.25)


def test_a_journal_gives_back_what_was_written(tmp_path):
    journal = Journal(tmp_path / "sub" / "j.jsonl", {"seed": 0})
    journal.append(RECORD)
    journal = Journal(tmp_path / "sub" / "j.jsonl", {"seed": 0})
    assert journal.records == {RECORD.key: RECORD}


def test_a_record_is_in_the_file_when_append_returns(tmp_path):
    journal = Journal(tmp_path / "j.jsonl", {})
    journal.append(RECORD)
    assert json.loads((tmp_path / "j.jsonl").read_text().splitlines()[-1]) == asdict(RECORD)


def test_a_journal_of_an_earlier_version_is_read(tmp_path):
    path = tmp_path / "j.jsonl"
    path.write_text(  # by version d072fbb
        '{"fingerprint": {"name": "tiny", "seed": 0}}\n'
        '{"data": "POL", "depth": 3, "fold": 2, "hyperplanes": 57, "learner": "OC1 paper", "leaves": 5, '
        '"n_correct": 399, "n_test": 400, "repeat": 1, "seconds": 0.0123, "terms": 8}\n'
        '{"data": "POL", "depth": null, "fold": 0, "hyperplanes": null, "learner": "5-NN", "leaves": null, '
        '"n_correct": 398, "n_test": 400, "repeat": 0, "seconds": 0.5, "terms": null}\n'
    )
    journal = Journal(path, {"name": "tiny", "seed": 0})
    assert list(journal.records.values()) == [
        FoldRecord("POL", "OC1 paper", 1, 2, 400, 399, 5, 3, 57, 8, 0.0123),
        FoldRecord("POL", "5-NN", 0, 0, 400, 398, None, None, None, None, 0.5),
    ]


@pytest.mark.parametrize("n_lines", [0, 1, 2])
def test_a_journal_cut_at_any_byte_goes_on(tmp_path, n_lines):
    path = tmp_path / "j.jsonl"
    later = [RECORD, FoldRecord("d", "a", 0, 2, 20, 15, 3, 2, None, 2, 0.25)]
    journal = Journal(path, {"seed": 0})
    for record in later:
        journal.append(record)
    whole = path.read_bytes()
    lines = whole.splitlines(keepends=True)
    start = sum(map(len, lines[:n_lines]))
    for cut in range(start, start + len(lines[n_lines])):
        path.write_bytes(whole[:cut])
        journal = Journal(path, {"seed": 0})
        assert list(journal.records.values()) == later[: max(0, n_lines - 1)]
        for record in later[len(journal.records) :]:
            journal.append(record)
    assert path.read_bytes() == whole


def test_a_journal_of_another_run_is_refused_and_kept(tmp_path):
    path = tmp_path / "j.jsonl"
    journal = Journal(path, {"seed": 0, "repeats": 10})
    journal.append(RECORD)
    before = path.read_bytes()
    with pytest.raises(ValueError, match=r"j.jsonl: holds the results of another run \(other repeats\)"):
        Journal(path, {"seed": 0, "repeats": 1})
    assert path.read_bytes() == before
    path.write_bytes(before + b"nonsense\n")
    with pytest.raises(FileProblem, match=r"j.jsonl, line 3: not a line of a journal; delete"):
        Journal(path, {"seed": 0, "repeats": 10})


@pytest.mark.parametrize("line", [{"fingerprint": {"x" * 5000: 1}}, asdict(RECORD) | {"seconds": "x" * 5000}])
def test_what_is_quoted_from_a_damaged_journal_is_cut(tmp_path, line):
    path = tmp_path / "j.jsonl"
    Journal(path, {})
    with path.open("a") as file:
        file.write(json.dumps(line) + "\n")
    with pytest.raises(FileProblem, match=r"xxx\.\.\.$") as caught:
        Journal(path, {})
    assert len(str(caught.value)) < 1000


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"n_correct": 21}, "21 of 20 examples are correct"),
        ({"n_correct": -1}, "n_correct is -1"),
        ({"n_test": 20.0}, "n_test is 20.0"),
        ({"n_test": None}, "n_test is None"),
        ({"fold": True}, "fold is True"),
        ({"repeat": "0"}, "repeat is '0'"),
        ({"leaves": 0}, "leaves is 0"),
        ({"depth": 1.5}, "depth is 1.5"),
        ({"hyperplanes": -3}, "hyperplanes is -3"),
        ({"seconds": -0.1}, "seconds is -0.1"),
        ({"seconds": float("nan")}, "seconds is nan"),
        ({"seconds": "long"}, "seconds is 'long'"),
        ({"fold": 7}, "no such fold"),
    ],
)
def test_impossible_content_is_refused_with_its_line(tmp_path, change, reason):
    def check(record):
        if record.fold > 4:
            raise ImpossibleRecord("no such fold")

    path = tmp_path / "j.jsonl"
    Journal(path, {}).append(RECORD)
    with path.open("a") as file:
        file.write(json.dumps(asdict(RECORD) | {"repeat": 1} | change) + "\n")
    before = path.read_bytes()
    with pytest.raises(FileProblem, match=rf"j.jsonl, line 3: not a line of a journal \({reason}\); delete"):
        Journal(path, {}, check=check)
    assert path.read_bytes() == before


def test_a_fold_cannot_have_two_results(tmp_path):
    path = tmp_path / "j.jsonl"
    journal = Journal(path, {})
    journal.append(RECORD)
    journal.append(replace(RECORD, seconds=9.0))
    assert len(Journal(path, {}).records) == 1
    journal.append(replace(RECORD, n_correct=16))
    with pytest.raises(FileProblem, match=r"line 4: .*the same fold has another result above"):
        Journal(path, {})


def test_journals_of_one_run_can_be_joined(tmp_path):
    paths = [tmp_path / name for name in ("a.jsonl", "b.jsonl")]
    for fold, path in enumerate(paths):
        Journal(path, {"seed": 0}).append(replace(RECORD, fold=fold))
    paths[0].write_bytes(paths[0].read_bytes() + paths[1].read_bytes())
    assert [record.fold for record in Journal(paths[0], {"seed": 0}).records.values()] == [0, 1]
    Journal(tmp_path / "c.jsonl", {"seed": 1})
    paths[0].write_bytes(paths[0].read_bytes() + (tmp_path / "c.jsonl").read_bytes())
    with pytest.raises(FileProblem, match="results of another run"):
        Journal(paths[0], {"seed": 0})


def test_a_full_disk_leaves_no_half_line(tmp_path, monkeypatch):
    path = tmp_path / "j.jsonl"
    journal = Journal(path, {})
    before = path.read_bytes()

    def full(handle):
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", full)
        with pytest.raises(FileProblem, match=r"j.jsonl: cannot be written: No space left on device"):
            journal.append(RECORD)
    assert path.read_bytes() == before
    assert journal.records == {}


def test_runs_that_differ_have_journals_of_their_own(tmp_path):
    paths = {journal_path(tmp_path, "t", {"seed": seed}) for seed in (0, 1, 0)}
    assert len(paths) == 2
