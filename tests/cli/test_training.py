"""What is said about training data, and columns that were left out."""

import json

import polars as pl
from command_line import NAMES, iris_frame, run


def test_the_target_is_said(iris):
    assert "target: species, the last column" in run("train", "iris.csv").stderr
    assert run("train", "iris.csv", "-t", "Species").stderr.startswith("target: species\n")
    iris_frame().write_csv("bare.csv", include_header=False)
    assert "target: column 5, the last\n" in run("cv", "bare.csv", "-l", "c45").stderr


def write_numbers(path, n_values, step):
    rows = [f"{m},{m % 7},{(m % n_values) * step}" for m in range(300)]
    path.write_text("\n".join(["a,b,price", *rows]))


def test_a_sentence_names_the_regressor(iris):
    write_numbers(iris / "n.csv", 30, 0.5)
    for command in ("train", "cv"):
        said = run(command, "n.csv", code=2).stderr
        assert "the target price has 30 different numbers; to predict a number, use --learner regressor" in said
    assert "accuracy" in run("train", "n.csv", "--learner", "oc1", "--max-depth", 2).stdout
    write_numbers(iris / "n.csv", 30, 1)
    done = run("train", "n.csv", "--max-depth", 2)
    assert "30 different whole numbers, which are taken for classes" in done.stderr
    write_numbers(iris / "n.csv", 10, 0.5)
    assert "regressor" not in run("train", "n.csv", "--max-depth", 2).stderr


def test_models_predict_on_files_that_have_what_was_left_out(iris):
    frame = iris_frame().with_columns(name=pl.format("P{}", pl.int_range(pl.len())), nr=pl.int_range(pl.len()) + 1)
    frame = frame.select("name", *NAMES[:2], "nr", *NAMES[2:], "species")
    for header, ignored in ((True, "NR"), (False, "3")):
        frame.write_csv("all.csv", include_header=header)
        done = run("train", "all.csv", "--ignore", ignored, "-o", "m.json")
        which = "column name" if header else "column 1"
        assert f"note: {which} is left out: 150 different texts in 150 rows" in done.stderr
        test = json.loads(run("test", "m.json", "all.csv", "--json").stdout)
        assert test["accuracy"] > 0.95
        assert run("classify", "m.json", "all.csv").stdout.count("\n") == 151
        run("plot", "m.json", "all.csv", "-o", "m.svg")
        run("explore", "m.json", "all.csv", "-o", "m.html")


def test_a_column_that_numbers_the_rows_is_named(iris):
    iris_frame().with_row_index("nr", offset=1).write_csv("nr.csv")
    assert "column nr numbers the rows; if that is all it does, use --ignore nr" in run("train", "nr.csv").stderr
    assert "numbers the rows" not in run("train", "nr.csv", "--ignore", "nr").stderr


def test_data_options_are_alike_in_all_commands(iris):
    lines = iris_frame().with_columns(Größe=pl.col("sepal_len")).select("Größe", *NAMES, "species").write_csv()
    (iris / "de.csv").write_bytes(lines.replace(",", ";").replace(".", ",").encode("cp1252"))
    options = ["--encoding", "cp1252", "--decimal", ",", "--ignore", "GRÖSSE,sepal_wid", "--target", "Species"]
    run("train", "de.csv", *options, "-o", "m.json")
    for command in (
        ["test", "m.json", "de.csv"],
        ["classify", "m.json", "de.csv"],
        ["plot", "m.json", "de.csv", "-o", "m.svg"],
        ["explore", "m.json", "de.csv"],
        ["cv", "de.csv", "-l", "c45"],
        ["animate", "de.csv", "-o", "m.html", "--n-restarts", 1],
    ):
        run(*command, *options)
    assert "unknown name ';'" in run("test", "m.json", "de.csv", "--decimal", ";", code=2).stderr


def test_data_in_the_place_of_a_model(iris):
    iris_frame().write_parquet("iris.parquet")
    run("train", "iris.csv", "-o", "m.json")
    for name in ("iris.csv", "iris.parquet"):
        for command in (["show", name], ["classify", name, "m.json"], ["plot", name], ["convert", name, "--to", "c"]):
            said = run(*command, code=1).stderr
            assert f"{name}: is data, not a model; `oc1 train {name}` makes a model of it" in said
    assert "m.json: is a model, not data" in run("test", "m.json", "m.json", code=1).stderr
