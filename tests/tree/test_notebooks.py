"""Tables and trees as the last expression of a cell."""

import errno
import os

import numpy as np
import pytest
from reading_html import Rows

from oc1 import OC1Classifier, OC1Regressor
from oc1.baselines import C45Classifier, LMDTClassifier
from oc1.datasets import make_rcb
from oc1.tree.notebooks import html_table


def test_a_table_has_every_cell_and_escapes_it():
    cells = [["<i>", '"a" & b'], ["\ud800", "2"]]
    table = Rows(html_table("<title>", ["", "x"], cells, best=[1]))
    assert table.rows[:2] == [["", "x"], cells[0]]
    assert table.rows[2][0] == "?"
    assert table.marked == [False, False, True]


@pytest.mark.parametrize("learner", [OC1Classifier, OC1Regressor, C45Classifier, LMDTClassifier])
def test_a_tree_is_one_line_and_html(learner):
    tree = learner().fit(*make_rcb(100, random_state=0)).tree_
    line = repr(tree)
    assert line.startswith(f"<{type(tree).__name__}: {tree.n_leaves} leaves")
    assert len(line) < 80
    assert "\n" not in line
    bundle = tree._repr_mimebundle_()
    assert bundle["text/plain"] == line
    assert bundle["text/html"] == tree._repr_html_()


def test_a_single_leaf_is_one_line():
    assert repr(OC1Classifier().fit(np.zeros((4, 1)), [1, 1, 1, 1]).tree_) == "<Tree: 1 leaf, depth 0, 0 terms>"


def test_what_a_notebook_shows_goes_to_files(tmp_path):
    tree = OC1Classifier(random_state=0).fit(*make_rcb(100, random_state=0)).tree_
    tree.save(tmp_path / "tree.html")
    page = (tmp_path / "tree.html").read_text(encoding="utf-8")
    assert page.startswith("<!DOCTYPE html>")
    assert tree._repr_html_() in page
    tree.save(str(tmp_path / "tree.txt"))
    assert (tmp_path / "tree.txt").read_text(encoding="utf-8") == f"{tree}\n"
    with pytest.raises(ValueError, match=r"should end in \.html or \.txt.*save_model"):
        tree.save(tmp_path / "tree.json")


def test_an_old_file_stays_where_the_new_one_cannot_be_written(tmp_path, monkeypatch):
    model = OC1Classifier(random_state=0).fit(*make_rcb(100, random_state=0))

    def full(file):
        raise OSError(errno.ENOSPC, "No space left on device")

    for shown in (model.tree_, model.explain([0.5, 0.5])):
        path = tmp_path / "shown.txt"
        path.write_text("old", encoding="utf-8")
        path.chmod(0o640)
        with monkeypatch.context() as patch:
            patch.setattr("os.fsync", full)
            with pytest.raises(OSError, match=r"No space left on device: '.*shown\.txt'"):
                shown.save(path)
        assert path.read_text(encoding="utf-8") == "old"
        shown.save(path)
        assert path.read_text(encoding="utf-8") == f"{shown}\n"
        assert path.stat().st_mode & 0o777 == 0o640
        assert [own.name for own in tmp_path.iterdir()] == ["shown.txt"]
    with pytest.raises(FileNotFoundError, match=r"nowhere.tree\.txt"):
        model.tree_.save(tmp_path / "nowhere" / "tree.txt")


@pytest.mark.skipif(os.name == "nt", reason="links need rights there")
def test_a_link_stays_a_link(tmp_path):
    tree = OC1Classifier(random_state=0).fit(*make_rcb(100, random_state=0)).tree_
    (tmp_path / "link.txt").symlink_to(tmp_path / "tree.txt")
    tree.save(tmp_path / "link.txt")
    assert (tmp_path / "link.txt").is_symlink()
    assert (tmp_path / "tree.txt").read_text(encoding="utf-8") == f"{tree}\n"
