"""Bad data files: each gives the right answer or a `FileProblem` that says where, never anything else."""

import gzip
import io
import subprocess
import sys

import numpy as np
import polars as pl
import pytest

from oc1.files.problems import FileProblem
from oc1.files.tables import ModelInputs, ReadOptions, read_table, scan_table, write_table
from oc1.files.tables.frames import probe

PLAIN = ReadOptions()


@pytest.fixture
def put(tmp_path):
    def put(content, name="data.csv"):
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return put


def complaint(path, options=PLAIN, **more):
    with pytest.raises(FileProblem) as caught:
        read_table(path, options, **more)
    assert str(caught.value).startswith(str(path))
    assert str(caught.value).isprintable()
    return caught.value


def place(error):
    return error.line, error.column


# ---------------------------------------------------------------------------------------------------- rows


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("a,b,c\n1,2,x\n1,x\n", 3, "2 fields, but the header has 3"),
        ("a,b,c\n1,2,x\n\n1,2,3,x\n", 4, "4 fields, but the header has 3"),
        ("a,b,c\n1,2,x\n1,2,3,x\n1,x\n", 3, "4 fields"),  # as many separators as there should be
        ("a,b,c\n1,2,x\n1,x\n1,2,3,x\n", 3, "2 fields"),
        ("1,2,x\n1,2,x\n1,x\n", 3, "2 fields, but other lines have 3"),
        ("1,x\n1,2,x\n1,2,x\n", 1, "2 fields, but other lines have 3"),
        ('a,b,c\n1,2,"x,\ny"\n1,"p,q"\n', 4, "2 fields"),
        ("a,b\n1,2,x\n3,4,y\n", 2, "row names"),
    ],
)
def test_ragged_rows(put, text, line, words):
    error = complaint(put(text))
    assert error.line == line
    assert words in error.problem


def test_ragged_rows_of_oc1(put):
    assert complaint(put("1 2 a\n3\t4 b\n5 c\n", "x.data")).line == 3


def test_a_late_ragged_row_is_found_in_a_stream(put):
    path = put("x,y\n" + "1,2\n" * 500 + "1\n" + "1,2\n" * 100)
    with pytest.raises(FileProblem) as caught:
        list(scan_table(path, ModelInputs(2, ("x", "y")), labelled=False, batch_bytes=64))
    assert caught.value.line == 502


@pytest.mark.parametrize("content", [b"", b"   ", b"\n\n \t \n", b"\xef\xbb\xbf", b"\r\n\r\n"])
@pytest.mark.parametrize("name", ["x.csv", "x.tsv", "x.data", "x.arff", "x"])
def test_empty_files(put, content, name):
    assert "empty" in complaint(put(content, name)).problem


def test_an_empty_parquet_file(put):
    assert "empty" in complaint(put(b"", "x.parquet")).problem


@pytest.mark.parametrize("text", ["a,b,class\n", "a,b,class", "\n\na,b,class\n\n \n"])
def test_only_a_header(put, text):
    assert "no rows" in complaint(put(text)).problem
    with pytest.raises(FileProblem, match="no rows"):
        list(scan_table(put(text), ModelInputs(2, ("a", "b")), labelled=False))


def test_an_empty_gzip_file(put):
    assert "empty" in complaint(put(b"", "x.csv.gz")).problem
    assert "empty" in complaint(put(gzip.compress(b""), "x.csv.gz")).problem


# ---------------------------------------------------------------------------------------------------- cells


@pytest.mark.parametrize("cell", ["abc", "1_000", "0x10", "1e", "--1", "1 2", "1.2.3", "5%", "\uff11\uff12", "true"])
def test_text_in_a_number(put, cell):
    error = complaint(put(f"a,b,class\n1,2,x\n1,{cell},y\n"))
    assert (error.line, error.column, error.name) == (3, 2, "b")
    assert f"{cell!r} is not a number" in error.problem
    assert "--one-hot" in error.problem
    with pytest.raises(FileProblem, match="line 3, column 2"):
        list(scan_table(error.path, ModelInputs(2, ("a", "b")), labelled=True))


def test_the_first_of_several_texts_is_blamed(put):
    assert place(complaint(put("1,2,3,a\n1,2,q,a\n1,r,3,b\n"))) == (2, 3)


@pytest.mark.parametrize("cell", ["inf", "-inf", "Infinity", "1e400", "-1E999", " inf "])
def test_infinite_numbers(put, cell):
    error = complaint(put(f"a,b,class\n1,2,x\n\n1,{cell},y\n"))
    assert place(error) == (4, 2)
    assert repr(cell.strip()) in error.problem


@pytest.mark.parametrize("cell", ["nan", "NaN", "NAN", "?", "NA", "na", "N/A", "n/a", "null", "NULL", "None", "", "  "])
@pytest.mark.parametrize("blank", ["", " "])
def test_missing_values(put, cell, blank):
    table = read_table(put(f"a,b,class\n1,2,x\n1,{blank}{cell}{blank},y\n"))
    np.testing.assert_array_equal(table.X, [[1, 2], [1, np.nan]])


def test_decimal_signs_must_not_be_mixed(put):
    error = complaint(put("a;b;class\n1,5;2.5;x\n2,5;3;y\n"))
    assert place(error) == (2, 1)
    assert "use --decimal , for decimal commas" in error.problem
    error = complaint(put("a;b;class\n1,5;2;x\n2,5;3.5;y\n"), ReadOptions(decimal=","))
    assert place(error) == (3, 2)
    assert "'3.5' is not a number with a decimal comma" in error.problem


def test_99999_is_a_number_unless_it_is_said_to_be_missing(put):
    path = put("a,b,class\n1,99999,x\n99999.0,2,y\n9.9999e4,3,99999\n")
    assert read_table(path).X.max() == 99999
    path = put("a,b,class\n1,99999,x\n99999.0,2,y\n9.9999e4,3,z\n")
    np.testing.assert_array_equal(
        read_table(path, ReadOptions(missing=("99999",))).X, [[1, np.nan], [np.nan, 2], [np.nan, 3]]
    )
    np.testing.assert_array_equal(read_table(put("1,-,x\n2,3,y\n"), ReadOptions(missing=("-",))).X[0], [1, np.nan])


def test_missing_targets(put):
    error = complaint(put("a,class\n1,x\n1,\n2,?\n3,y\n4, NA\n"))
    assert place(error) == (3, 2)
    assert "missing in 3 rows" in error.problem
    error = complaint(put("a,y\n1,0.5\n1,\n"), numbers=True)
    assert place(error) == (3, 2)
    with pytest.raises(FileProblem, match="line 3, column 2"):
        list(scan_table(error.path, ModelInputs(1, ("a",)), labelled=True))


@pytest.mark.parametrize(
    ("cell", "words"), [("-1", "negative"), ("", "missing"), ("w", "not a number"), ("inf", "inf")]
)
def test_bad_weights(put, cell, words):
    path = put(f"a,w,class\n1,1,x\n2,{cell},y\n")
    for categories in ("refuse", "one_hot"):
        error = complaint(path, ReadOptions(weights="w"), categories=categories)
        assert place(error) == (3, 2)
        assert words in error.problem


def test_a_text_target_is_not_a_number_to_predict(put):
    assert place(complaint(put("a,y\n1,0.5\n1,high\n"), numbers=True, categories="keep")) == (3, 2)


def test_a_slip_does_not_make_a_column_categorical(put):
    rows = "".join(f"{k},x\n" for k in range(50))
    error = complaint(put(f"a,class\n{rows}1O,y\n"), categories="one_hot")
    assert place(error) == (52, 1)


def test_too_many_texts_for_one_hot(put):
    rows = "".join(f"t{k},x\n" * 2 for k in range(1500))
    error = complaint(put("a,class\n" + rows), categories="one_hot")
    assert "1,500" in error.problem


# ---------------------------------------------------------------------------------------------------- bytes


def test_utf16_is_refused(put):
    for encoding in ("utf-16", "utf-16-le", "utf-16-be"):
        error = complaint(put("a,b\n1,x\n".encode(encoding)))
        assert "UTF-16" in error.problem or "zero byte" in error.problem


@pytest.mark.parametrize("name", ["x.csv", "x.arff", "x.data"])
def test_bytes_that_are_no_utf8(put, name):
    start = b"@relation r\n@attribute a numeric\n@attribute c {x,y}\n@data\n" if name == "x.arff" else b""
    error = complaint(put(start + b"1,x\n2,y\n3,\xe9\n", name))
    assert error.line == start.count(b"\n") + 3
    assert "UTF-8" in error.problem


def test_zero_bytes_and_binary_files(put):
    assert complaint(put(b"a,b\n1,x\n2,\0\n")).line == 3
    assert "zero byte" in complaint(put(bytes(range(256)) * 10)).problem
    assert "zip" in complaint(put(b"PK\x03\x04" + bytes(100), "x.zip")).problem


def test_files_that_are_not_there(tmp_path):
    assert "no such file" in complaint(tmp_path / "none.csv").problem
    assert "folder" in complaint(tmp_path).problem
    (tmp_path / "x.parquet").mkdir()
    assert "folder" in complaint(tmp_path / "x.parquet").problem
    with pytest.raises(FileProblem):
        read_table("a\0b.csv")


def test_damaged_gzip(put):
    whole = gzip.compress(b"a,b\n" + b"1,x\n" * 1000)
    assert "cut off" in complaint(put(whole[:-12], "x.csv.gz")).problem
    broken = bytearray(whole)
    broken[len(whole) // 2] ^= 0xFF
    assert "damaged" in complaint(put(bytes(broken), "x.csv.gz")).problem
    assert "is not a gzip file" in complaint(put(b"a,b\n1,x\n", "x.csv.gz")).problem


@pytest.mark.parametrize(
    "content", [b"PAR1", b"junk" * 10, b"PAR1" + bytes(50) + b"PAR1", b"PAR1" + b"\xff" * 60 + b"\x10\0\0\0PAR1"]
)
def test_damaged_parquet(put, content):
    assert "Parquet" in complaint(put(content, "x.parquet")).problem


def test_parquet_that_is_not_said_to_be_one(put, tmp_path):
    write_table(tmp_path / "x.parquet", {"a": [1.0], "c": ["x"]})
    content = (tmp_path / "x.parquet").read_bytes()
    assert "Parquet" in complaint(put(content, "x.csv")).problem
    assert read_table(put(content, "unknown")).X.tolist() == [[1.0]]
    assert "gzip" in complaint(put(gzip.compress(content), "x.parquet")).problem


def test_parquet_types(tmp_path):
    pl.DataFrame({"a": [[1], [2]], "c": [0, 1]}).write_parquet(tmp_path / "x.parquet")
    assert complaint(tmp_path / "x.parquet").name == "a"
    pl.DataFrame({"a": [1.0, float("inf")], "c": [0, 1]}).write_parquet(tmp_path / "y.parquet")
    error = complaint(tmp_path / "y.parquet")
    assert (error.row, error.column, error.line) == (2, 1, None)
    assert "row 2, column 1 (a)" in str(error)
    pl.DataFrame({"a": [1.0, 2.0, 3.0], "c": [0, None, None]}).write_parquet(tmp_path / "z.parquet")
    error = complaint(tmp_path / "z.parquet")
    assert error.row == 2
    assert "missing in 2 rows, the first of them here" in error.problem
    pl.DataFrame({"a": [1.0], "c": [0]}).clear().write_parquet(tmp_path / "e.parquet")
    assert "no rows" in complaint(tmp_path / "e.parquet").problem


# ---------------------------------------------------------------------------------------------------- quotes


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ('a,class\n1,x\n2,"y\n3,z\n', 3, "a quote opens here that nothing closes"),
        ('a,class\n1,x\n2,y"z\n3,z\n', 3, "a quote inside a field"),
        ('a,class\n1,x\n2,"y"z\n3,z\n', 3, "a quote inside a field"),
        ('a,class\n1,"p\nq"\n2,y"z"\n', 4, "a quote inside a field"),
    ],
)
def test_bad_quotes(put, text, line, words):
    error = complaint(put(text))
    assert error.line == line
    assert error.problem.startswith(words)


def test_lines_that_never_end(put, monkeypatch):
    monkeypatch.setattr("oc1.files.tables.parsing.MAX_RECORD_BYTES", 5000)
    path = put('a,class\n1,x\n2,"' + "y\n" * 20_000)
    assert complaint(path, batch_bytes=100).line == 3


# ---------------------------------------------------------------------------------------------------- columns


def test_names(put):
    assert "'a'" in complaint(put("a,b,a,class\n1,2,3,x\n")).problem
    assert read_table(put(",b,class\n1,2,x\n"), ReadOptions(header=True)).feature_names == ("column_1", "b")


def test_a_single_column(put):
    assert "no attributes" in complaint(put("class\nx\ny\n")).problem
    (batch,) = scan_table(put("a\n1\n\n2\n"), ModelInputs(1, ("a",)), labelled=False)
    assert batch.X.tolist() == [[1], [2]]


@pytest.mark.parametrize("target", ["3", "-4", "999999999999", "kind", ""])
def test_targets_that_are_not_there(put, target):
    complaint(put("a,b,class\n1,2,x\n"), ReadOptions(target=target))
    complaint(put("1,2,x\n"), ReadOptions(target=target))


def test_a_column_cannot_be_two_things(put):
    path = put("a,w,class\n1,2,x\n")
    complaint(path, ReadOptions(target="w", weights="w"))
    complaint(path, ReadOptions(ignore=("class",)))


def test_100001_columns_are_too_many(put):
    assert "columns" in complaint(put(",".join("1" * 100_001) + "\n")).problem


def test_streams_want_the_right_columns(put):
    inputs = ModelInputs(2, ("a", "b"), target="class")

    def scan(text, inputs=inputs, labelled=False):
        return list(scan_table(put(text), inputs, labelled=labelled))

    with pytest.raises(FileProblem, match="column 'b'"):
        scan("a,c\n1,2\n")
    with pytest.raises(FileProblem, match=r"has 3 columns, but the model wants 2.*--target"):
        scan("1,2,3\n")
    with pytest.raises(FileProblem, match=r"has 4 columns, but the model wants 2$"):
        scan("1,2,3,4\n")
    with pytest.raises(FileProblem, match="has 1 column besides the label, but the model wants 2"):
        scan("1,2\n", labelled=True)
    with pytest.raises(FileProblem, match="--target"):
        scan("a,b\n1,2\n", labelled=True)
    many = ModelInputs(20, tuple(f"x{k}" for k in range(20)))
    with pytest.raises(FileProblem, match="'x5' and 14 others"):
        scan("a,b\n1,2\n", many)


def test_control_characters_stay_out_of_messages(put):
    complaint(put("a\x1b[31m,class\n\x1b[2J,x\n1,y\n"), ReadOptions(header=True))
    complaint(put("\x1b[31m,class\n1,x\n"), ReadOptions(target="\x1b"))
    error = complaint(put("a,class\n" + "x" * 1000 + ",x\n1,y\n"))
    assert len(error.problem) < 200


def test_an_unknown_format_is_the_callers_mistake(put):
    with pytest.raises(ValueError, match="format must be"):
        read_table(put("1,2\n"), ReadOptions(format="xls"))


# ---------------------------------------------------------------------------------------------------- ARFF


ARFF = "@relation r\n@attribute a numeric\n@attribute 'b c' {p, 'q r'}\n@attribute class {x, y}\n"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (ARFF, None),
        ("@relation r\n@data\n1\n", None),
        ("@relation r\n@attribute a date\n@data\n1\n", 2),
        ("@relation r\n@attribute a {x, 'y}\n@data\n1\n", 2),
        ("@relation r\n@attribute\n@data\n1\n", 2),
        ("@relation r\nattribute a numeric\n@data\n1\n", 2),
        (ARFF + "@data\n1,p,x\n1,p\n", 7),
        (ARFF + "@data\n1,p,x\n1,p,x,y\n", 7),
        (ARFF + "@data\n% note\nz,p,x\n", 7),
        (ARFF + "@data\n1,p,z\n", 6),
        (ARFF + "@data\n1,'p,x\n", 6),
        (ARFF + "@data\n{0 1, 3 x}\n", 6),
        (ARFF + "@data\n{0 1, x}\n", 6),
        (ARFF + "@data\n{0 1\n", 6),
        (ARFF + "@data\n1,p,x,{5}\n", 6),
    ],
)
def test_bad_arff(put, text, line):
    assert complaint(put(text, "x.arff"), categories="keep").line == line


# ---------------------------------------------------------------------------------------------------- anything


def good_files(tmp_path):
    rng = np.random.default_rng(0)
    columns = {
        "a": rng.normal(size=12).round(3),
        "b": np.where(rng.uniform(size=12) < 0.2, np.nan, rng.integers(0, 9, 12)),
        "c": np.array(list("pqrpqrpqrpqr")),
        "class": np.array(["x", "y", "z"] * 4),
    }
    for name in ("f.csv", "f.tsv", "f.arff", "f.data", "f.parquet", "f.csv.gz"):
        write_table(tmp_path / name, columns)
        yield name, (tmp_path / name).read_bytes()
    yield "q.csv", b'\xef\xbb\xbf"a";"b";"c";class\r\n1;2;"p;q";x\r\n3;?;"r\r\ns";y\r\n'
    yield "s.arff", ARFF.encode() + b"@data\n% comment\n{0 1, 1 'q r', 2 y}\n{0 3}\n\n4,p,x\n"
    yield "noname", b"1 2,3\tx\n4 5 6 y\n"


def damaged(content, rng):
    content = bytearray(content)
    for _ in range(rng.integers(1, 4)):
        where = int(rng.integers(0, len(content) + 1))
        what = rng.integers(0, 5)
        if what == 0 and where < len(content):
            content[where] ^= 1 << int(rng.integers(0, 8))
        elif what == 1:
            del content[where : where + int(rng.integers(1, 6))]
        elif what == 2:
            content[where:where] = bytes(
                rng.choice(list(b"\"',;\t\n\r{}%@?\0\xff\xef 0e1-_x"), int(rng.integers(1, 4))).tolist()
            )
        elif what == 3:
            content = content[:where]
        else:
            other = int(rng.integers(0, len(content) + 1))
            content[where:where] = content[other : other + 20]
    return bytes(content)


def test_damaged_files_give_a_table_or_a_file_problem(tmp_path, monkeypatch):
    def run_here(_, *arguments, content=b""):  # a process for each of these files would take minutes
        try:
            probe(*arguments)
        except SystemExit as end:
            return subprocess.CompletedProcess([], 1, b"", str(end.code).encode())
        return subprocess.CompletedProcess([], 0)

    monkeypatch.setattr("oc1.files.tables.frames.run_apart", run_here)
    rng = np.random.default_rng(1)
    inputs = [ModelInputs(3, ("a", "b", "c"), categorical=("c",), target="class"), ModelInputs(2, None)]
    outcomes = {"read": 0, "refused": 0}
    for name, content in list(good_files(tmp_path)):
        read_table(tmp_path / name, categories="keep") if (tmp_path / name).exists() else None
        for trial in range(60):
            path = tmp_path / name
            path.write_bytes(damaged(content, rng))
            batch_bytes = int(rng.integers(1, 200))
            for categories in ("refuse", "one_hot", "keep"):
                try:
                    table = read_table(path, categories=categories, batch_bytes=batch_bytes)
                    assert len(table.X) == len(table.y) > 0
                    outcomes["read"] += 1
                except FileProblem as problem:
                    outcomes["refused" if str(problem).isprintable() else "garbled"] += 1
            try:
                for batch in scan_table(path, inputs[trial % 2], labelled=bool(trial % 4 < 2), batch_bytes=batch_bytes):
                    assert len(batch.X)
            except FileProblem:
                pass
    assert min(outcomes.values()) > 100


def test_standard_input_may_be_anything(monkeypatch):
    for content in (b"", b"\0", b"PAR1", b"a,b\n", b"\x1f\x8b"):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
        with pytest.raises(FileProblem, match="standard input"):
            read_table("-")
