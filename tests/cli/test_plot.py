import re

import matplotlib.font_manager
import matplotlib.image
import numpy as np
import pytest
from typer.testing import CliRunner

from oc1 import OC1Classifier, OC1EnsembleClassifier, OC1Regressor, save_model
from oc1.cli.app import app
from oc1.files.models.record import Source


def run(*words, code=0):
    result = CliRunner().invoke(app, ["plot", *map(str, words)], catch_exceptions=False)
    assert result.exit_code == code, result.output
    return result.output


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Models of flowers with three attributes, of a plane, of numbers, and a vote, with their data."""
    folder = tmp_path_factory.mktemp("pictures")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 3)).round(3)
    y = np.where(X @ [1, -1, 0.5] > 0, "b_1", "$a$")
    names = ["len", "wid", "size"]

    def write(name, model, X, y, names):
        import pandas

        frame = pandas.DataFrame(X, columns=names)
        save_model(model.fit(frame, y), folder / f"{name}.json", source=Source(target="kind"))
        frame.assign(kind=y).to_csv(folder / f"{name}.csv", index=False)

    quick = {"n_restarts": 2, "random_state": 0}
    write("flowers", OC1Classifier(prune="holdout", **quick), X, y, names)
    write("plane", OC1Classifier(**quick), X[:, :2], y, names[:2])
    write("numbers", OC1Regressor(max_depth=2, random_state=0), X, X @ [1, -1, 0.5], names)
    write("vote", OC1EnsembleClassifier(OC1Classifier(n_restarts=1), n_estimators=2), X[:, :2], y, names[:2])
    return folder


@pytest.mark.parametrize(
    "words",
    [
        "flowers.json flowers.csv",
        "flowers.json --max-depth 1",
        "flowers.json flowers.csv --what partition --features len,2",
        "flowers.json flowers.csv --what partition --node 0",
        "flowers.json flowers.csv --what projection --max-terms 1",
        "flowers.json flowers.csv --what pruning --title Accuracy",
        "numbers.json numbers.csv --what pruning",
        "flowers.json --max-terms 2 --dpi 80",
        "flowers.json flowers.csv --what projection",
        "flowers.json --what pruning",
        "flowers.json --what importance",
        "plane.json plane.csv --what partition",
        "plane.json --what partition",
        "numbers.json numbers.csv",
        "numbers.json numbers.csv --what projection --node 0",
        "vote.json vote.csv --what partition",
        "vote.json --what importance",
    ],
)
def test_pictures_are_written(folder, tmp_path, words):
    files = [folder / word if word.endswith((".json", ".csv")) else word for word in words.split()]
    out = tmp_path / "picture.svg"
    assert run(*files, "-o", out) == f"written to {out}\n"
    assert b"<svg" in out.read_bytes()


def test_a_partition_of_more_attributes_is_a_slice_and_says_so(folder, tmp_path):
    output = run(folder / "flowers.json", folder / "flowers.csv", "-w", "partition", "-o", tmp_path / "slice.svg")
    words = " ".join(output.split())
    assert re.search(r"note: a slice along (len and wid|wid and len), which matter most; the others are held", words)


def test_a_title_and_dots_per_inch(folder, tmp_path):
    sizes = []
    for dpi, title in ((50, None), (100, None), (50, "A title " * 30)):
        out = tmp_path / "tree.png"
        run(folder / "plane.json", "-o", out, "--dpi", dpi, *(["--title", title] if title else []))
        sizes.append(matplotlib.image.imread(out).shape[:2])
    assert sizes[1] == pytest.approx([2 * side for side in sizes[0]], abs=2)
    assert sizes[2] == sizes[0]


def test_letters_without_a_font_are_named(folder, tmp_path, monkeypatch):
    letter = "\U00014402"  # an Anatolian hieroglyph
    usual = [font for font in matplotlib.font_manager.fontManager.ttflist if font.name.startswith("DejaVu")]
    monkeypatch.setattr(matplotlib.font_manager.fontManager, "ttflist", usual)
    output = run(folder / "plane.json", "-o", tmp_path / "tree.svg", "--title", f"a {letter}")
    assert f"note: no font on this machine has {letter}: install one" in " ".join(output.split())
    assert "Glyph" not in output


@pytest.mark.parametrize(("ending", "start"), [("png", b"\x89PNG"), ("pdf", b"%PDF")])
def test_the_ending_says_the_format(folder, tmp_path, ending, start):
    out = tmp_path / f"tree.{ending}"
    run(folder / "plane.json", "-o", out)
    assert out.read_bytes().startswith(start)


def test_the_name_of_the_picture_is_the_default(folder, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run(folder / "plane.json", "--what", "importance")
    assert [path.name for path in tmp_path.iterdir()] == ["importance.svg"]


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        ("flowers.json --what flower", 2, "unknown name 'flower'; choose from tree, partition"),
        ("flowers.json -o tree.gif", 2, "must end in .svg, .png or .pdf"),
        ("flowers.json --what projection", 2, "so it needs DATA"),
        ("flowers.json --what partition --node 1", 2, "it needs DATA"),
        ("flowers.json --what importance --max-terms 3", 2, "--max-terms is for --what tree, partition and projection"),
        ("flowers.json --dpi 9", 2, "equal to 10"),
        ("flowers.json flowers.csv --what partition --features len", 2, "two attributes, A,B"),
        ("flowers.json flowers.csv --what partition --features len,weight", 1, "there is no attribute 'weight'"),
        ("flowers.json flowers.csv --what projection --node 99", 1, "there is no node 99"),
        ("flowers.json --node 0", 2, "--node is for --what partition and projection, not tree"),
        ("flowers.json --what pruning --max-depth 1", 2, "--max-depth is for --what tree"),
        ("vote.json", 2, "a vote or forest has no single tree"),
        ("flowers.json none.csv", 1, "no such file"),
        ("none.json", 1, "no such file"),
    ],
)
def test_what_cannot_be_drawn_is_said_in_a_sentence(folder, tmp_path, monkeypatch, words, code, says):
    monkeypatch.chdir(tmp_path)
    files = [folder / word if word.endswith((".json", ".csv")) else word for word in words.split()]
    output = run(*files, code=code)
    assert says in " ".join(output.split())
    assert not list(tmp_path.iterdir())


def test_categories_from_a_file(tmp_path):
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    grade, size, weight = rng.integers(3, size=200), rng.normal(size=200), rng.normal(size=200)
    frame = pandas.DataFrame({"grade": np.array(["low", "mid", "top"])[grade], "size": size, "weight": weight})
    y = np.where(grade + size + weight > 1, "yes", "no")
    model = OC1Classifier(categorical_features=["grade"], n_restarts=2, random_state=0).fit(frame, y)
    save_model(model, tmp_path / "m.json", source=Source(target="kind"))
    frame.assign(kind=y).to_csv(tmp_path / "d.csv", index=False)
    run(tmp_path / "m.json", tmp_path / "d.csv", "-o", tmp_path / "t.svg")
    run(tmp_path / "m.json", tmp_path / "d.csv", "--what", "projection", "-o", tmp_path / "t.svg")
    run(
        tmp_path / "m.json", tmp_path / "d.csv", "--what", "partition", "--features", "size,weight", "-o",
        tmp_path / "t.svg",
    )  # fmt: skip


def test_large_trees_are_cut_where_they_cannot_be_read(tmp_path):
    X = np.random.default_rng(0).normal(size=(500, 2))
    y = np.random.default_rng(1).integers(2, size=500)
    save_model(OC1Classifier(prune=None, splits="axis").fit(X, y), tmp_path / "deep.json")
    out = tmp_path / "tree.svg"
    assert "levels are drawn (see --max-depth)" in run(tmp_path / "deep.json", "-o", out)
    assert "levels" not in run(tmp_path / "deep.json", "--max-depth", 3, "-o", out)


def test_examples_of_unknown_classes_are_left_out(folder, tmp_path):
    (tmp_path / "other.csv").write_text("len,wid,size,kind\n1,2,3,b_1\n1,2,3,c\n")
    output = run(folder / "flowers.json", tmp_path / "other.csv", "-o", tmp_path / "known.svg")
    assert "1 examples left out: the model does not know class 'c'" in output
