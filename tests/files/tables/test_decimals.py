"""Numbers with decimal commas."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oc1.files.problems import FileProblem
from oc1.files.tables import ModelInputs, ReadOptions, read_table, scan_table
from oc1.files.tables.parsing import _with_points
from oc1.files.tables.sniffing import find_decimal, with_point

CELLS = st.text("0123456789.,-+e ", max_size=12)


@given(st.lists(CELLS, min_size=1, max_size=20))
def test_compiled_and_plain_code_read_the_same_numbers(cells):
    def number(text):
        if "." in with_point(text) and with_point(text) == text:
            return None  # a point that groups nothing
        try:
            return pl.Series([with_point(text)]).cast(pl.Float64, strict=False)[0]
        except ValueError:
            return None

    parsed = _with_points(pl.Series("cell", cells)).cast(pl.Float64, strict=False).to_list()
    assert parsed == [number(cell) for cell in cells]


@pytest.mark.parametrize("separator", [";", "\t"])
@given(st.lists(st.floats(-1e7, 1e7).map(lambda value: round(value, 2)), min_size=1, max_size=30))
def test_numbers_come_back(tmp_path_factory, separator, values):
    path = tmp_path_factory.mktemp("decimals") / ("t.csv" if separator == ";" else "t.tsv")
    texts = [f"{value:,.2f}".translate(str.maketrans(".,", ",.")) for value in values]
    path.write_text(f"a{separator}class\n" + "".join(f"{text}{separator}x\n" for text in texts))
    table = read_table(path)
    assert (table.X[:, 0].tolist(), table.feature_names) == (values, ("a",))


def test_a_german_export(tmp_path):
    path = tmp_path / "export.csv"
    path.write_bytes("\ufeffLänge;Datum;Art\r\n1.234,5;01.02.2024;ä\r\n;02.02.2024;ö\r\n-0,5;03.02.2024;ä\r\n".encode())
    table = read_table(path, categories="keep")
    np.testing.assert_array_equal(table.X["Länge"].to_numpy(), [1234.5, np.nan, -0.5])
    assert (table.y.tolist(), table.X["Datum"][0]) == (["ä", "ö", "ä"], "01.02.2024")


def test_labels_are_the_same_however_they_are_written(tmp_path):
    comma, point = tmp_path / "comma.csv", tmp_path / "point.csv"
    comma.write_text("a;y\n1,5;1,0\n2,5;2,5\n")
    point.write_text("a,y\n1.5,1.0\n2.5,2.5\n")
    assert read_table(comma).y.tolist() == read_table(point).y.tolist() == ["1.0", "2.5"]
    assert read_table(comma, numbers=True).y.tolist() == [1.0, 2.5]
    batches = [list(scan_table(path, ModelInputs(1, ("a",), target="y"), labelled=True)) for path in (comma, point)]
    assert batches[0][0].y.tolist() == batches[1][0].y.tolist() == ["1.0", "2.5"]


def test_missing_markers_may_have_commas(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a;y\n1,5;x\n-9,9;y\n")
    np.testing.assert_array_equal(read_table(path, ReadOptions(missing=("-9,9",))).X, [[1.5], [np.nan]])


@pytest.mark.parametrize(
    ("text", "separator", "sign"),
    [
        (b"a;b\n1,5;2", ";", ","),
        (b'"1,5"\t"2"', "\t", ","),
        (b"1,5;0.123", ";", "."),
        (b"1,5;3.123", ";", ","),
        (b"1,5;3.1234", ";", "."),
        (b"1,5;12.03.2024", ";", ","),
        (b"x1,5;2", ";", "."),
        (b"1.5;2", ";", "."),
        (b'"1,5",2', ",", "."),
    ],
)
def test_the_decimal_sign_is_found_by_looking(text, separator, sign):
    assert find_decimal(text, separator) == sign


def test_the_decimal_sign_may_be_said(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text('a,b,class\n"1,5",2,x\n"2,5",3,y\n')
    assert read_table(path, ReadOptions(decimal=",")).X.tolist() == [[1.5, 2], [2.5, 3]]
    path.write_text("a;b;class\n1,5;2;x\n")
    with pytest.raises(FileProblem, match="'1,5' is not a number"):
        read_table(path, ReadOptions(decimal="."))


def test_text_files_of_spreadsheets(tmp_path):
    path = tmp_path / "t.txt"
    path.write_text("a\tb\tclass\n1,5\t2\tx\n2,5\t3\ty\n")
    assert read_table(path).X.tolist() == [[1.5, 2], [2.5, 3]]
    path.write_text("1,5\t2\tx\n2,5\t3\ty\n")  # OC1's own format: commas separate, too
    assert read_table(path).X.tolist() == [[1, 5, 2], [2, 5, 3]]
    assert read_table(path, ReadOptions(decimal=",")).X.tolist() == [[1.5, 2], [2.5, 3]]


def test_formats_without_decimal_commas(tmp_path):
    for name, text in (("t.arff", "@relation t\n@attribute a numeric\n@data\n1\n"), ("t.parquet", "PAR1")):
        (tmp_path / name).write_text(text)
        with pytest.raises(FileProblem, match=r"commas separate fields|needs no decimal sign"):
            read_table(tmp_path / name, ReadOptions(decimal=","))
    (tmp_path / "t.csv").write_text("1 2\n")
    with pytest.raises(FileProblem, match="OC1 format, where commas separate"):
        read_table(tmp_path / "t.csv", ReadOptions(decimal=",", format="oc1"))
