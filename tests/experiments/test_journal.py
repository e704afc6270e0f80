import json
from dataclasses import asdict

import pytest

from oc1.evaluation.protocol import FoldRecord
from oc1.experiments.journal import Journal, journal_path

RECORD = FoldRecord("d", "a", 0, 1, 20, 15, 3, 2, None, 0.25)


def test_a_journal_gives_back_what_was_written(tmp_path):
    journal = Journal(tmp_path / "sub" / "j.jsonl", {"seed": 0})
    journal.append(RECORD)
    journal = Journal(tmp_path / "sub" / "j.jsonl", {"seed": 0})
    assert journal.records == {RECORD.key: RECORD}


def test_a_record_is_in_the_file_when_append_returns(tmp_path):
    journal = Journal(tmp_path / "j.jsonl", {})
    journal.append(RECORD)
    assert json.loads((tmp_path / "j.jsonl").read_text().splitlines()[-1]) == asdict(RECORD)


@pytest.mark.parametrize("n_lines", [0, 1, 2])
def test_a_journal_cut_at_any_byte_goes_on(tmp_path, n_lines):
    path = tmp_path / "j.jsonl"
    later = [RECORD, FoldRecord("d", "a", 0, 2, 20, 15, 3, 2, None, 0.25)]
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
    with pytest.raises(ValueError, match=r"j.jsonl holds the results of another run \(other repeats\)"):
        Journal(path, {"seed": 0, "repeats": 1})
    assert path.read_bytes() == before
    path.write_bytes(before + b"nonsense\n")
    with pytest.raises(ValueError, match="line 3: not a line of a journal"):
        Journal(path, {"seed": 0, "repeats": 10})


def test_runs_that_differ_have_journals_of_their_own(tmp_path):
    paths = {journal_path(tmp_path, "t", {"seed": seed}) for seed in (0, 1, 0)}
    assert len(paths) == 2
