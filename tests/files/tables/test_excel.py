"""Spreadsheets."""

import time

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


def test_without_the_engine_a_sentence_says_what_to_install(workbook, monkeypatch, tmp_path):
    (tmp_path / "fastexcel.py").write_text("raise ImportError")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(FileProblem, match="pip install fastexcel"):
        read_table(workbook(["a", "b"], [1, 2]))


def test_numbers_stay_what_they_are_beside_texts_with_commas(workbook):
    rows = [["a", "b", "class"], [124.456, "3,5", "x"], [222.512, "4,5", "y"]]
    table = read_table(workbook(*rows), categories="keep")
    assert table.X["a"].to_list() == [124.456, 222.512]
    assert table.X["b"].to_list() == ["3,5", "4,5"]
    with pytest.raises(FileProblem) as caught:
        read_table(workbook(*rows))
    assert caught.value.problem.startswith(
        "'3,5' is not a number; use --one-hot"
    )  # and not --decimal, which is for text


def test_a_cell_in_the_far_corner_takes_no_memory(tmp_path):
    path = tmp_path / "corner.xlsx"
    with xlsxwriter.Workbook(path) as book:
        sheet = book.add_worksheet()
        sheet.write(0, 0, 1)
        sheet.write(1_048_575, 16_383, 1)
    started = time.monotonic()
    with pytest.raises(FileProblem, match="its sheet is too large"):
        read_table(path)
    assert time.monotonic() - started < 60
