"""Text columns with mostly different texts, and models that were trained without some columns."""

import numpy as np
import pytest

from oc1.files.inputs import FileColumns
from oc1.files.problems import FileProblem
from oc1.files.tables import ModelInputs, ReadOptions, read_table, scan_table


def write(path, texts, header=True):
    rows = [f"{text},{m % 7},{'ab'[m % 2]}" for m, text in enumerate(texts)]
    path.write_text("\n".join(["name,x,class"] * header + rows))
    return path


@pytest.mark.parametrize("categories", ["refuse", "one_hot", "keep"])
@pytest.mark.parametrize(
    ("texts", "is_left_out"),
    [
        ([f"P{m}" for m in range(10)], True),
        ([f"P{m}" for m in range(9)], False),
        ([f"P{m // 2}" for m in range(40)], False),
        ([f"P{min(m, 20)}" for m in range(40)], True),
        ([f"P{m}" if m % 4 == 0 else "?" for m in range(60)], True),
        ([m + 0.5 if m % 3 else f"P{m}" for m in range(15)], False),
    ],
)
def test_the_rule(tmp_path, texts, is_left_out, categories):
    path = write(tmp_path / "t.csv", texts)
    if categories == "refuse" and not is_left_out:
        with pytest.raises(FileProblem, match="use --one-hot or --categorical"):
            read_table(path)
        return
    table = read_table(path, categories=categories)
    assert [own.name for own in table.left_out] == ["name"] * is_left_out
    if is_left_out:
        known = [text for text in texts if text != "?"]
        assert table.left_out[0] == (0, "name", len({*known}), len(known))
        assert (table.feature_names, table.X.shape) == (("x",), (len(texts), 1))


def test_a_slip_in_a_column_of_numbers_is_no_name(tmp_path):
    path = write(tmp_path / "t.csv", [*range(30), "1O"])
    for categories in ("refuse", "one_hot", "keep"):
        with pytest.raises(FileProblem, match="'1O' is not a number, but nearly all other values of its column are"):
            read_table(path, categories=categories)


@pytest.mark.parametrize("categories", ["refuse", "one_hot", "keep"])
@pytest.mark.parametrize("decimal", [None, "."])
def test_numbers_with_the_other_decimal_sign_are_no_names(tmp_path, categories, decimal):
    path = tmp_path / "t.csv"
    path.write_text("a;b;class\n" + "".join(f"{m},5;{m}.25;{'xy'[m % 2]}\n" for m in range(15)))
    with pytest.raises(FileProblem, match=r"line 2, column 1 \(a\): '0,5' is not a number; use --decimal ,"):
        read_table(path, ReadOptions(decimal=decimal), categories=categories)
    with pytest.raises(FileProblem, match=r"line 2, column 2 \(b\): '0.25' is not a number with a decimal comma"):
        read_table(path, ReadOptions(decimal=","), categories=categories)


def test_something_must_be_left(tmp_path):
    with pytest.raises(FileProblem, match="has no attributes but text"):
        read_table(write(tmp_path / "t.csv", [f"P{m}" for m in range(20)]), ReadOptions(ignore=("x",)))


def test_files_without_names_may_still_have_the_columns(tmp_path):
    path = write(tmp_path / "t.csv", [f"P{m}" for m in range(20)], header=False)
    table = read_table(path)
    assert table.file_columns == FileColumns(3, 2, (1,))
    inputs = ModelInputs(1, None, file_columns=table.file_columns)
    for labelled in (True, False):
        (batch,) = scan_table(path, inputs, labelled=labelled)
        np.testing.assert_array_equal(batch.X, table.X)
        assert (batch.y is not None) == labelled
    unlabelled = tmp_path / "u.csv"
    unlabelled.write_text("".join(line.rpartition(",")[0] + "\n" for line in path.read_text().splitlines()))
    (batch,) = scan_table(unlabelled, inputs, labelled=False)
    np.testing.assert_array_equal(batch.X, table.X)
    unlabelled.write_text("".join(f"{x[0]}\n" for x in table.X))
    (batch,) = scan_table(unlabelled, inputs, labelled=False)
    np.testing.assert_array_equal(batch.X, table.X)


def test_the_target_is_where_it_was(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,9,1,2\nb,9,3,4\n")
    inputs = ModelInputs(2, None, file_columns=FileColumns(4, 0, (2, 3)))
    (batch,) = scan_table(path, inputs, labelled=True)
    assert (batch.X.tolist(), batch.y.tolist()) == ([[1, 2], [3, 4]], ["a", "b"])
    (batch,) = scan_table(path, inputs, labelled=False)
    assert batch.X.tolist() == [[1, 2], [3, 4]]
    with pytest.raises(FileProblem, match="but the model wants 2"):
        list(scan_table(path, inputs, ReadOptions(target="2"), labelled=True))
