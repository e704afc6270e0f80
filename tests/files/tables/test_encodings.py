"""Tables in UTF-8 and in other encodings."""

import gzip

import pytest
from command_line import run

from oc1.files.problems import FileProblem
from oc1.files.tables import ModelInputs, ReadOptions, read_table, scan_table

TEXT = "höhe,größe,art\n1.5,2,Bär\n2.5,3,Möwe\n" + "4,5,Bär\n" * 50
ARFF = "@relation tiere\n@attribute höhe numeric\n@attribute größe numeric\n@attribute art {Bär, Möwe}\n@data\n"


@pytest.mark.parametrize("name", ["t.csv", "t.tsv", "t.csv.gz", "t.arff", "t.data"])
@pytest.mark.parametrize("encoding", ["latin-1", "cp1252", "utf-16", "utf-16-le", "utf-32", "utf-8-sig", "cp437"])
def test_other_encodings(tmp_path, name, encoding):
    path, options, names = tmp_path / name, ReadOptions(encoding=encoding), ("höhe", "größe")
    _, rows = TEXT.split("\n", 1)
    content = {".arff": ARFF + rows, ".data": rows}.get(path.suffix, TEXT)
    if name == "t.tsv":
        content = content.replace(",", "\t")
    data = content.encode(encoding)
    path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    for batch_bytes in (16, 1 << 20):
        table = read_table(path, options, batch_bytes=batch_bytes)
        assert table.y.tolist()[:3] == ["Bär", "Möwe", "Bär"]
        assert table.X.shape == (52, 2)
        assert table.feature_names == (None if name == "t.data" else names)
        inputs = ModelInputs(2, table.feature_names, target="art")
        batches = list(scan_table(path, inputs, options, labelled=True, batch_bytes=batch_bytes))
        assert [label for batch in batches for label in batch.y] == table.y.tolist()


@pytest.mark.parametrize(("content", "line"), [(TEXT, 1), ("a,b,art\n1,2,Bär\n", 2), (ARFF + "1,2,Bär\n", 2)])
def test_what_is_not_utf8_is_refused(tmp_path, content, line):
    path = tmp_path / ("t.arff" if content.startswith("@") else "t.csv")
    path.write_bytes(content.encode("latin-1"))
    with pytest.raises(FileProblem, match=rf"line {line}: is not UTF-8 here; .* --encoding"):
        read_table(path)


@pytest.mark.parametrize(
    ("encoding", "message"),
    [
        ("klingon", "cannot be read: the encoding 'klingon' is not known"),
        ("hex", "cannot be read: the encoding 'hex' is not known"),
        ("a\0b", "is not known"),
        ("ascii", "is not text in the encoding ascii"),
        ("utf-16", "is not text in the encoding utf-16"),
    ],
)
def test_wrong_encodings(tmp_path, encoding, message):
    path = tmp_path / "t.csv"
    path.write_bytes(TEXT.encode()[:-1])
    with pytest.raises(FileProblem, match=message):
        read_table(path, ReadOptions(encoding=encoding))


def test_parquet_has_no_encoding(tmp_path):
    path = tmp_path / "t.parquet"
    path.write_bytes(b"PAR1")
    with pytest.raises(FileProblem, match="needs no encoding"):
        read_table(path, ReadOptions(encoding="latin-1"))


def test_commands_take_an_encoding(tmp_path):
    path, model = tmp_path / "t.csv", tmp_path / "m.json"
    path.write_bytes(TEXT.encode("latin-1"))
    assert "--encoding" in run("train", path, "-o", model, code=1).stderr
    run("train", path, "-o", model, "--encoding", "latin-1", "--learner", "axis")
    assert "Bär" in run("classify", model, path, "--encoding", "latin-1").stdout
    assert "Möwe" in run("test", model, path, "--encoding", "latin-1").stdout
