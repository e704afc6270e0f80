"""Spreadsheets."""

import sys

import numpy as np
import pytest

from oc1.files.problems import FileProblem
from oc1.files.tables import ModelInputs, ReadOptions, read_table, scan_table

pytest.importorskip("fastexcel")
xlsxwriter = pytest.importorskip("xlsxwriter")


@pytest.fixture
def workbook(tmp_path):
    def workbook(*rows):
        path = tmp_path / "book.xlsx"
        with xlsxwriter.Workbook(path) as book:
            sheet = book.add_worksheet()
            for number, row in enumerate(rows):
                for place, cell in enumerate(row):
                    if cell is not None:
                        sheet.write(number, place, cell)
        return path

    return workbook


def test_numbers_have_all_their_digits(workbook):
    values = [1 / 3, 1e-12 / 7, 123456789.123456, -0.1, 5.0, 3e300]
    table = read_table(workbook(["a", "class"], *([value, "x"] for value in values)))
    np.testing.assert_allclose(table.X[:, 0], values, rtol=1e-15)  # a workbook has 16 digits
    assert table.feature_names == ("a",)


def test_missing_values_texts_and_blank_rows(workbook):
    path = workbook(
        [],
        ["Größe", "Anzahl", "Farbe", "Klasse"],
        [1.5, 1, 'a "b"', "x"],
        ["?", None, "c\nd", "y"],
        [],
        [2.25, 3, None, "x"],
    )
    table = read_table(path, categories="keep")
    assert table.X["Farbe"].to_list() == ['a "b"', "c d", None]
    np.testing.assert_array_equal(table.X.select("Größe", "Anzahl").to_numpy(), [[1.5, 1], [np.nan] * 2, [2.25, 3]])
    assert table.y.tolist() == ["x", "y", "x"]


def test_codes_stay_text(workbook):
    assert read_table(workbook(["a", "class"], [1, "01"], [2, "1"])).y.tolist() == ["01", "1"]


def test_problems_say_the_row(workbook):
    with pytest.raises(FileProblem) as caught:
        read_table(workbook(["a", "class"], [1, "x"], ["two", "y"]))
    assert (caught.value.line, caught.value.column, caught.value.name) == (3, 1, "a")


def test_a_model_reads_spreadsheets(workbook):
    path = workbook(["b", "a"], [1, 2], [3, 4])
    (batch,) = scan_table(path, ModelInputs(2, ("a", "b")), labelled=False)
    assert batch.X.tolist() == [[2, 1], [4, 3]]
    assert read_table(workbook([1, 2], [3, 4])).feature_names is None


def test_what_is_no_spreadsheet(workbook, tmp_path):
    path = tmp_path / "bad.xlsx"
    for content, problem in ((b"PK\x03\x04" + bytes(50), "cannot be read as a spreadsheet"), (b"", "is empty")):
        path.write_bytes(content)
        with pytest.raises(FileProblem, match=problem):
            read_table(path)
    with pytest.raises(FileProblem, match="is empty"):
        read_table(workbook())
    with pytest.raises(FileProblem, match="needs no encoding"):
        read_table(workbook(["a", "b"]), ReadOptions(encoding="latin-1"))


def test_without_the_engine_a_sentence_says_what_to_install(workbook, monkeypatch):
    monkeypatch.setitem(sys.modules, "fastexcel", None)
    with pytest.raises(FileProblem, match="pip install fastexcel"):
        read_table(workbook(["a", "b"], [1, 2]))
