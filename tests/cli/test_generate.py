"""``oc1 generate``."""

import json

import polars as pl
import pytest
from command_line import run


@pytest.mark.parametrize(("name", "width", "classes"), [("ls10", 10, 2), ("pol", 2, 2), ("rcb", 2, 8)])
def test_the_sets_of_the_paper(name, width, classes, iris):
    run("generate", name, "-n", 500)
    frame = pl.read_csv(f"{name}.csv")
    assert frame.shape == (500, width + 1)
    assert frame["class"].n_unique() == classes
    assert frame.columns == [*(f"x{m + 1}" for m in range(width)), "class"]
    run("generate", name, "-n", 500, "-o", "again.csv")
    assert (iris / "again.csv").read_bytes() == (iris / f"{name}.csv").read_bytes()
    run("generate", name, "-n", 500, "-o", "other.csv", "--seed", 1)
    assert (iris / "other.csv").read_bytes() != (iris / f"{name}.csv").read_bytes()


def test_noise_changes_so_many_classes(iris):
    run("generate", "rcb", "-n", 400, "-o", "clean.csv")
    run("generate", "rcb", "-n", 400, "-o", "noisy.csv", "--noise", 0.25)
    clean, noisy = pl.read_csv("clean.csv"), pl.read_csv("noisy.csv")
    assert clean.drop("class").equals(noisy.drop("class"))
    assert (clean["class"] != noisy["class"]).sum() == 100


@pytest.mark.parametrize("name", ["d.csv", "d.tsv", "d.parquet", "d.data", "d.csv.gz"])
def test_generated_files_can_be_read_in_every_format(name, iris):
    run("generate", "pol", "-n", 300, "-o", name)
    assert json.loads(run("train", name, "-o", "m.json", "--json").stdout)["training"]["accuracy"] > 0.97


@pytest.mark.parametrize(
    ("arguments", "message", "code"),
    [
        (["abc"], "unknown data set 'abc'; choose from ls10, pol, rcb", 2),
        (["rcb", "-o", "no/x.csv"], "there is no folder no", 2),
    ],
)
def test_wrong_use_of_generate(arguments, message, code, iris):
    assert message in run("generate", *arguments, code=code).stderr
