"""Data files: what is written is read, in every format and layout, in one batch or many."""

import gzip
import io
import sys

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from oc1.files.problems import FileProblem
from oc1.files.tables import ModelInputs, ReadOptions, RowWriter, label_indices, read_table, scan_table, write_table

FEW = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
FINITE = st.floats(allow_nan=False, allow_infinity=False)
#: Texts that mean themselves in every layout.
LABELS = st.text("abcxyzäß€-_", min_size=1, max_size=6).map(lambda text: "l" + text)
ANY_TEXT = st.text(st.characters(exclude_categories=["Cs", "Cc"]) | st.sampled_from("\n,;\t\"' "), max_size=8).map(
    lambda text: "t" + text.strip() + "t"
)


@st.composite
def tables(draw, labels=LABELS):
    n_rows, n_columns = draw(st.integers(1, 12)), draw(st.integers(1, 5))
    cell = FINITE | st.integers(-99, 99).map(float) | st.just(np.nan)
    X = np.array(
        draw(st.lists(st.lists(cell, min_size=n_columns, max_size=n_columns), min_size=n_rows, max_size=n_rows))
    )
    return X, np.array(draw(st.lists(labels, min_size=n_rows, max_size=n_rows)), dtype=object)


def as_columns(X, y):
    return {f"x{m}": X[:, m] for m in range(X.shape[1])} | {"class": y}


def same(table, X, y):
    np.testing.assert_array_equal(table.X, X)
    assert table.X.dtype == np.float64
    assert table.X.flags["C_CONTIGUOUS"]
    assert table.y.tolist() == y.tolist()


# ---------------------------------------------------------------------------------------------------- round trips


@FEW
@given(
    tables(), st.sampled_from(["t.csv", "t.tsv", "t.parquet", "t.arff", "t.data", "t.csv.gz", "t.arff.gz", "t.dat.gz"])
)
def test_what_is_written_is_read(tmp_path, data, name):
    X, y = data
    write_table(tmp_path / name, as_columns(X, y))
    table = read_table(tmp_path / name)
    same(table, X, y)
    named = ".da" not in name
    assert table.feature_names == (tuple(f"x{m}" for m in range(X.shape[1])) if named else None)
    assert table.target == ("class" if named else None)


@settings(FEW, max_examples=150)
@given(
    tables(ANY_TEXT),
    st.sampled_from(",;\t"),
    st.sampled_from(["\n", "\r\n", "\r"]),
    st.sampled_from([b"", b"\xef\xbb\xbf"]),
    st.booleans(),
    st.booleans(),
    st.sampled_from(["", "\n", "\n \n"]),
    st.integers(1, 80),
)
def test_every_layout_in_any_batches(tmp_path, data, separator, end, mark, header, blanks, tail, batch_bytes):
    X, y = data
    blank = " " if blanks else ""

    def quoted(text):
        return '"' + text.replace('"', '""') + '"'

    rows = [[f"x{m}" for m in range(X.shape[1])] + ["class"]] if header else []
    rows += [
        [blank + ("?" if np.isnan(v) else repr(float(v))) + blank for v in row] + [quoted(label)]
        for row, label in zip(X, y, strict=True)
    ]
    text = "\n".join(separator.join(row) for row in rows) + tail
    path = tmp_path / ("t.tsv" if separator == "\t" else "t.csv")
    path.write_bytes(mark + text.replace("\n", end).encode())
    # A file of one row and a header can look as if it had none, and a text may hold what looks like a separator.
    options = ReadOptions(header=header)
    clear = separator == "\t" or not any(mark in "".join(y) for mark in ",;\t\n")
    if clear or X.shape[1] > 1:
        same(read_table(path, options), X, y)
        same(read_table(path, options, batch_bytes=batch_bytes), X, y)
        batches = list(scan_table(path, ModelInputs(X.shape[1], None), options, labelled=True, batch_bytes=batch_bytes))
        np.testing.assert_array_equal(np.vstack([batch.X for batch in batches]), X)
        assert np.concatenate([batch.y for batch in batches]).tolist() == y.tolist()
        assert [batch.first_row for batch in batches] == np.cumsum([0] + [len(b.X) for b in batches])[:-1].tolist()


@FEW
@given(tables(), st.data())
def test_oc1_format_with_any_separators(tmp_path, data, more):
    X, y = data
    between = st.sampled_from([" ", "\t", ",", "  ", " ,", ", ", " \t", "\t,  "])
    around = st.sampled_from(["", " ", "\t", "  "])
    text = ""
    for row, label in zip(X, y, strict=True):
        text += more.draw(st.sampled_from(["", "\n", " \t\n"])) + more.draw(around)
        for value in row:
            text += ("?" if np.isnan(value) else repr(float(value))) + more.draw(between)
        text += label + more.draw(around) + "\n"
    path = tmp_path / "t.data"
    path.write_text(text)
    same(read_table(path), X, y)
    same(read_table(path, batch_bytes=more.draw(st.integers(1, 60))), X, y)


def test_values_are_exact_and_streams_agree_with_tables(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 4)) * 10.0 ** rng.integers(-300, 300, size=(3000, 4))
    columns = as_columns(X, rng.integers(0, 3, 3000))
    for name in ("t.csv", "t.csv.gz", "t.parquet", "t.data", "t.arff"):
        write_table(tmp_path / name, columns)
        inputs = ModelInputs(4, ("x2", "x0", "x3", "x1"), target="class")
        if name == "t.data":
            inputs = ModelInputs(4, None)
        order = [0, 1, 2, 3] if name == "t.data" else [2, 0, 3, 1]
        batches = list(scan_table(tmp_path / name, inputs, labelled=True, batch_bytes=5000))
        assert len(batches) > 10
        np.testing.assert_array_equal(np.vstack([batch.X for batch in batches]), X[:, order])
        assert np.concatenate([batch.y for batch in batches]).astype(int).tolist() == columns["class"].tolist()
        size = (tmp_path / name).stat().st_size
        assert batches[-1].n_bytes == size
        table = read_table(tmp_path / name)
        np.testing.assert_array_equal(table.X, X)
        assert table.y.dtype == np.int64


# ---------------------------------------------------------------------------------------------------- layouts


@pytest.fixture
def put(tmp_path):
    def put(text, name="data.csv"):
        (tmp_path / name).write_text(text)
        return tmp_path / name

    return put


@pytest.mark.parametrize(
    ("text", "header"),
    [
        ("5.1,3.5,setosa\n4.9,3,setosa\n", False),
        ("a,b,class\n5.1,3.5,setosa\n", True),
        ("a,?,class\n1,2,x\n", True),
        ("1,?,class\n1,2,x\n", False),
        ("2020,2021,class\n1,2,3\n", True),
        ("1,2,3\n4,5,6\n", False),
        (',"b",class\n1,2,x\n', True),
    ],
)
def test_headers_are_recognised(put, text, header):
    path = put(text)
    n_columns = text.split("\n")[0].count(",") + 1
    rows = sum(len(batch.X) for batch in scan_table(path, ModelInputs(n_columns - 1, None), labelled=True))
    assert rows == text.count("\n") - header
    assert (read_table(path, categories="keep").feature_names is not None) == header


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        (["0", "1", "0"], [0, 1, 0]),
        (["1.0", "2.0", "1"], [1, 2, 1]),
        (["-1", "+1", "1"], [-1, 1, 1]),
        (["01", "1", "2"], ["01", "1", "2"]),
        (["1.5", "2", "1"], ["1.5", "2", "1"]),
        (["a", "1", "b"], ["a", "1", "b"]),
        (["true", "false", "true"], ["true", "false", "true"]),
        (["12345678901234567890", "1", "2"], ["12345678901234567890", "1", "2"]),
    ],
)
def test_labels(put, labels, expected):
    y = read_table(put("".join(f"1,{label}\n" for label in labels)), ReadOptions(header=False)).y
    assert y.tolist() == expected
    assert y.dtype.kind in "iU"


def test_targets_weights_and_ignored_columns(put):
    path = put("id,x,kind,w,z\nk1,1,a,0.5,2\nk2,3,b,0,4\n")
    options = ReadOptions(target="kind", weights="w", ignore=("id",))
    table = read_table(path, options)
    assert table.X.tolist() == [[1, 2], [3, 4]]
    assert table.y.tolist() == ["a", "b"]
    assert table.weights.tolist() == [0.5, 0]
    assert (table.feature_names, table.target) == (("x", "z"), "kind")
    same_table = read_table(path, ReadOptions(target="2", weights="-2", ignore=("0",)))
    assert same_table.X.tolist() == table.X.tolist()
    by_position = ModelInputs(2, None)
    (batch,) = scan_table(path, by_position, options, labelled=False)
    assert batch.X.tolist() == table.X.tolist()
    assert batch.y is None
    # A name wins over an index.
    assert read_table(put("1,0,a\n5,6,7\n"), ReadOptions(target="1", header=True)).y.tolist() == [5]


def test_numbers_to_predict(put):
    table = read_table(put("x,y\n1,0.5\n2,1e3\n"), numbers=True)
    assert table.y.dtype == np.float64
    assert table.y.tolist() == [0.5, 1000]


def test_one_hot_and_kept_categories(put):
    path = put("size,colour,class\n1,red,x\n?,blue,y\n3,?,x\n4, red ,y\n")
    with pytest.raises(FileProblem, match=r"line 2, column 2 \(colour\): 'red' is not a number; use --one-hot"):
        read_table(path)
    for batch_bytes in (5, 1000):
        table = read_table(path, categories="one_hot", batch_bytes=batch_bytes)
        assert table.feature_names == ("size", "colour=blue", "colour=red")
        assert table.one_hot == {"colour": ("blue", "red")}
        np.testing.assert_array_equal(table.X, [[1, 0, 1], [np.nan, 1, 0], [3, np.nan, np.nan], [4, 0, 1]])
        kept = read_table(path, categories="keep", batch_bytes=batch_bytes)
        assert kept.categorical == ("colour",)
        assert kept.X["colour"].to_list() == ["red", "blue", None, "red"]
        assert kept.X["size"].dtype == pl.Float64
    new = put("colour,size\ngreen,1\n?,2\nblue,3\n", "new.csv")
    (batch,) = scan_table(new, ModelInputs(3, table.feature_names, one_hot=table.one_hot), labelled=False)
    np.testing.assert_array_equal(batch.X, [[1, 0, 0], [2, np.nan, np.nan], [3, 1, 0]])
    (batch,) = scan_table(new, ModelInputs(2, ("size", "colour"), categorical=("colour",)), labelled=False)
    assert batch.X.columns == ["size", "colour"]
    assert batch.X["colour"].to_list() == ["green", None, "blue"]


def test_one_hot_without_names(put):
    table = read_table(put("1,red,x\n2,blue,y\n"), categories="one_hot")
    assert table.feature_names is None
    assert table.one_hot == {"1": ("blue", "red")}
    (batch,) = scan_table(put("3,red\n", "new.csv"), ModelInputs(3, None, one_hot=table.one_hot), labelled=False)
    assert batch.X.tolist() == [[3, 0, 1]]
    kept = read_table(put("red,1,x\nblue,2,y\n"), categories="keep")
    assert kept.categorical == ("0",)
    (batch,) = scan_table(put("red,1\n", "new.csv"), ModelInputs(2, None, categorical=("0",)), labelled=False)
    assert batch.X.rows() == [("red", 1.0)]


def test_text_that_appears_late_makes_the_whole_column_text(put):
    path = put("a,class\n" + "1,x\n2,y\n" * 50 + "b,x\n")
    table = read_table(path, categories="keep", batch_bytes=20)
    assert table.X["a"].to_list() == ["1", "2"] * 50 + ["b"]


def test_labels_are_found_by_the_name_they_had(put):
    inputs = ModelInputs(1, ("x",), target="class")
    (batch,) = scan_table(put("class,id,x\na,7,1\n"), inputs, labelled=True)
    assert batch.y.tolist() == ["a"]
    (batch,) = scan_table(put("x,kind\n1,b\n"), inputs, labelled=True)
    assert batch.y.tolist() == ["b"]


def test_arff(put):
    text = """% a comment
@RELATION 'some thing'
@Attribute 'a b' REAL
@attribute "c" {p, 'it\\'s', "q r"} % note
@attribute d integer
@attribute n {0, 1}
@attribute class {yes, 'no, thanks'}
@DATA
% rows
1.5, p, 2, 0, yes
?,'it\\'s',3,1,'no, thanks' % note

7,"q r",0,0,'no, thanks'
0,p,0,0,yes
"""
    for batch_bytes in (1, 10_000):
        table = read_table(put(text, "t.arff"), categories="keep", batch_bytes=batch_bytes)
        assert table.feature_names == ("a b", "c", "d", "n")
        assert table.categorical == ("c",)
        assert table.X["c"].to_list() == ["p", "it's", "q r", "p"]
        np.testing.assert_array_equal(table.X["a b"].fill_null(np.nan), [1.5, np.nan, 7, 0])
        assert table.X["n"].to_list() == [0, 1, 0, 0]
        assert table.y.tolist() == ["yes", "no, thanks", "no, thanks", "yes"]
    with pytest.raises(FileProblem, match=r"line 10, column 2 \(c\): 'p' is not a number"):
        read_table(put(text, "t.arff"))


def test_sparse_rows_of_arff_are_refused(put):
    text = "@relation r\n@attribute a numeric\n@attribute class {b, c}\n@data\n1,b\n{0 2, 1 c}\n"
    with pytest.raises(FileProblem, match=r"line 6: sparse rows, in braces, cannot be read"):
        read_table(put(text, "t.arff"))


def test_declared_values_of_arff_are_not_missing(put):
    text = "@relation r\n@attribute a numeric\n@attribute class {NA, b}\n@data\nNA,b\n1,NA\n2,b\nNA,NA\n"
    for batch_bytes in (1, 8, 1000):
        table = read_table(put(text, "t.arff"), batch_bytes=batch_bytes)
        assert table.y.tolist() == ["b", "NA", "b", "NA"]
        np.testing.assert_array_equal(table.X[:, 0], [np.nan, 1, 2, np.nan])


def test_parquet_types(tmp_path):
    frame = pl.DataFrame(
        {
            "i": pl.Series([1, None], dtype=pl.Int8),
            "b": [True, False],
            "s": pl.Series(["p", "q"], dtype=pl.Categorical),
            "f": pl.Series([0.5, float("nan")], dtype=pl.Float32),
            "label": [True, False],
        }
    )
    frame.write_parquet(tmp_path / "t.parquet")
    table = read_table(tmp_path / "t.parquet", categories="one_hot")
    np.testing.assert_array_equal(table.X, [[1, 1, 1, 0, 0.5], [np.nan, 0, 0, 1, np.nan]])
    assert table.y.tolist() == ["true", "false"]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("t.txt", "1 2 x\n3 4 y\n"),
        ("t.txt", "1,2,x\n3,4,y\n"),
        ("t", "1;2;x\n3;4;y\n"),
        ("t", "1\t2\tx\n3\t4\ty\n"),
        ("t", "1 2,x\n3\t4 y\n"),
        ("t.data", "1,2,x\n3,4,y\n"),
        ("t.data", '1;2;"x"\n3;4;y\n'),
        ("t", "@relation r\n@attribute a real\n@attribute b real\n@attribute c {x,y}\n@data\n1,2,x\n3,4,y\n"),
        ("t.csv", '"1","2","x"\n"3",4,y'),
        ("t.CSV", "a;b;c\n1;2;x\n3;4;y"),
    ],
)
def test_formats_are_found_by_looking(put, name, text):
    table = read_table(put(text, name))
    same(table, np.array([[1.0, 2], [3, 4]]), np.array(["x", "y"]))


def test_gzip_is_recognised_whatever_the_name(tmp_path):
    (tmp_path / "t.csv").write_bytes(gzip.compress(b"1,x\n") + gzip.compress(b"2,y\n"))
    assert read_table(tmp_path / "t.csv").X.tolist() == [[1], [2]]


def test_the_work_grows_with_the_columns_and_not_with_their_square(put):
    def calls(n_columns):
        names = [f"x{m}" for m in range(n_columns)]
        path = put(",".join(names) + ",class\n" + ("0.5," * n_columns + "a\n") * 3)
        n_calls = 0

        def count(frame, event, argument):
            nonlocal n_calls
            n_calls += event in ("call", "c_call")

        sys.setprofile(count)
        try:
            X = read_table(path).X
            (batch,) = scan_table(path, ModelInputs(n_columns, tuple(names)), labelled=True)
        finally:
            sys.setprofile(None)
        assert X.shape == batch.X.shape == (3, n_columns)
        return n_calls

    calls(10)  # modules are imported
    assert calls(4000) < 6 * calls(1000)


def test_standard_input(monkeypatch):
    def give(content):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))

    give(b"x,class\n1,a\n")
    assert read_table("-").y.tolist() == ["a"]
    give(b"1 a\n")
    assert read_table("-", ReadOptions(format="oc1"), categories="keep").X.tolist() == [[1]]
    give(gzip.compress(b"x,class\n1,a\n"))
    assert [batch.X.tolist() for batch in scan_table("-", ModelInputs(1, ("x",)), labelled=False)] == [[[1]]]
    buffer = io.BytesIO()
    pl.DataFrame({"x": [1.0], "class": ["a"]}).write_parquet(buffer)
    give(buffer.getvalue())
    assert read_table("-", ReadOptions(format="parquet")).y.tolist() == ["a"]


def test_progress(put):
    path = put("1,x\n" * 1000)
    seen = [batch.n_bytes for batch in scan_table(path, ModelInputs(1, None), labelled=True, batch_bytes=500)]
    assert len(seen) > 3
    assert seen[-1] == 4000


def test_real_data(shared_data):
    shapes = {path.stem: read_table(path).X.shape for path in shared_data.glob("iris.csv")}
    assert shapes == {"iris": (150, 4)}


# ---------------------------------------------------------------------------------------------------- labels


@pytest.mark.parametrize(
    ("labels", "classes", "expected"),
    [
        (["1", "1.0", " 1", "+1", "2", "x", "1e0"], np.array([0, 1]), [1, 1, 1, 1, -1, -1, 1]),
        (["a", " b ", "c", "A"], np.array(["a", "b"]), [0, 1, -1, -1]),
        (["1", "1.0"], np.array(["1", "a"], dtype=object), [0, -1]),
        (["1.5", "1.50", "2", "nan", "inf"], np.array([1.5, 2.0]), [0, 0, 1, -1, -1]),
        (["true", "False", "1", "0", "x"], np.array([False, True]), [1, 0, 1, 0, -1]),
        (["9007199254740993"], np.array([9007199254740992, 9007199254740993]), [1]),
        ([], np.array([1]), []),
    ],
)
def test_label_indices(labels, classes, expected):
    found = label_indices(labels, classes)
    assert found.dtype == np.int64
    assert found.tolist() == expected
    assert label_indices(np.array(labels, dtype=object), classes.tolist()).tolist() == expected


# ---------------------------------------------------------------------------------------------------- writing


@pytest.mark.parametrize("name", ["r.csv", "r.tsv", "r.jsonl", "r.parquet", "r.csv.gz", "r.jsonl.gz"])
def test_rows_written_in_pieces_are_one_file(tmp_path, name):
    rng = np.random.default_rng(0)
    frame = pl.DataFrame(
        {"label": ["a,b", 'c"', "ü"] * 50, "p": rng.normal(size=150) * 10.0 ** rng.integers(-300, 300, 150)}
    )
    with RowWriter(tmp_path / name) as writer:
        for start in range(0, 150, 40):
            writer.write(frame[start : start + 40])
        assert not (tmp_path / name).exists()
    assert [path.name for path in tmp_path.iterdir()] == [name]
    if "parquet" in name:
        again = pl.read_parquet(tmp_path / name)
    elif "jsonl" in name:
        content = (tmp_path / name).read_bytes()
        again = pl.read_ndjson(gzip.decompress(content) if name.endswith("gz") else content)
    else:
        again = pl.read_csv(tmp_path / name, separator="\t" if "tsv" in name else ",")
    assert again.equals(frame)


def test_a_closed_pipe_is_told_apart(monkeypatch):
    class Closed(io.BytesIO):
        def write(self, content):
            raise BrokenPipeError

    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(Closed()))
    frame = pl.DataFrame({"a": [1.0]})
    writer = RowWriter(None)
    writer.__enter__()
    with pytest.raises(BrokenPipeError):
        writer.write(frame)


@pytest.mark.parametrize("name", ["r.csv", "r.parquet", "r.csv.gz"])
def test_a_failure_leaves_the_old_file(tmp_path, name):
    (tmp_path / name).write_text("old")

    def write_and_fail():
        with RowWriter(tmp_path / name) as writer:
            writer.write(pl.DataFrame({"a": [1]}))
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_and_fail()
    assert (tmp_path / name).read_text() == "old"
    assert len(list(tmp_path.iterdir())) == 1


def test_rows_to_standard_output(capfdbinary, monkeypatch):
    with RowWriter(None, "tsv", header=False) as writer:
        writer.write(pl.DataFrame({"a": [1.0], "b": ["x"]}))
    assert capfdbinary.readouterr().out == b"1.0\tx\n"


def test_files_that_cannot_be_written(tmp_path):
    with pytest.raises(FileProblem, match="cannot be written: No such file"), RowWriter(tmp_path / "none" / "r.csv"):
        pass
    for name in ("none/t.csv", "none/t.data"):
        with pytest.raises(FileProblem):
            write_table(tmp_path / name, {"a": [1.0]})
    with pytest.raises(FileProblem, match="cannot hold the text 'a b'"):
        write_table(tmp_path / "t.data", {"a": np.array(["a b"])})
    assert list(tmp_path.iterdir()) == []
