"""Commands on damaged models and tables answer, or say what is wrong in one sentence.

``benchmarks/fuzz_models.py`` does the same with as many files as one likes, and with limits of time and memory.
"""

import mutations
import pytest


@pytest.fixture(scope="module")
def files():
    return mutations.valid_files(), mutations.valid_tables()


def test_every_command_works_on_what_is_not_damaged(files, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (_, model), tables = files[0][0], dict(files[1])
    given = {"model.json": model, "table.csv": tables[".csv"]}
    for words in ("classify model.json table.csv -t class", "show model.json", "convert model.json --to sql"):
        assert mutations.run_command(mutations.Command(tuple(words.split()), given)) == "worked"


def test_damaged_files(files, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    outcomes = {mutations.run_command(mutations.command(*files, number, seed=3)) for number in range(40)}
    assert outcomes == {"refused", "worked"}


def test_damaged_journals():
    assert {mutations.journal_outcome(number) for number in range(100)} == {"refused", "worked"}
