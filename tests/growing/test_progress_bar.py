"""The bar: shown after a while, where someone looks, and gone afterwards."""

import contextvars
import io
import sys
import time
from types import ModuleType, SimpleNamespace

import pytest
from waiting import comes_true

from oc1.growing import progress_bar as _progress
from oc1.growing.progress import advance, fit_bar


class Terminal(io.StringIO):
    def isatty(self):
        return True


def open_terminal(monkeypatch):
    """Put a terminal in the place of stderr (in a fixture, pytest would take it away again)."""
    screen = Terminal()
    monkeypatch.setattr("sys.stderr", screen)
    return screen


def test_what_is_quick_shows_no_bar(monkeypatch):
    terminal = open_terminal(monkeypatch)
    with _progress.progress_bar("folds", 3) as bar:
        for _ in range(3):
            bar.advance()
    assert terminal.getvalue() == ""


def test_what_lasts_shows_a_bar_even_before_the_first_step(monkeypatch):
    terminal = open_terminal(monkeypatch)
    monkeypatch.setattr(_progress, "PATIENCE", 0.05)
    monkeypatch.setattr(_progress, "INTERVAL", 0.02)
    with _progress.progress_bar("folds", 4) as bar:
        assert comes_true(lambda: "folds" in terminal.getvalue())
        bar.update(3)
        assert comes_true(lambda: "75%|#" in terminal.getvalue())
    drawn, removed, rest = terminal.getvalue().rsplit("\r", 2)
    assert drawn
    assert removed.isspace()
    assert rest == ""


def test_there_may_be_no_stderr(monkeypatch):
    monkeypatch.setattr("sys.stderr", None)
    with _progress.progress_bar("folds", 3) as bar:
        bar.advance()
    assert bar.done == 1


def test_nobody_looks_no_bar(monkeypatch):
    monkeypatch.setattr(_progress, "PATIENCE", 0.0)
    screen = io.StringIO()
    monkeypatch.setattr("sys.stderr", screen)
    with _progress.progress_bar("folds", 3) as bar:
        time.sleep(0.1)
        bar.advance()
    assert screen.getvalue() == ""


# ---------------------------------------------------------------------------------------------------- notebooks


@pytest.fixture
def notebook(monkeypatch):
    """Put a notebook's kernel in the place of this process; return what its cells show below them."""
    shell, kernel = ModuleType("IPython"), SimpleNamespace(kernel=None)
    shell.get_ipython = lambda: kernel
    monkeypatch.setitem(sys.modules, "IPython", shell)
    monkeypatch.setattr(_progress, "PATIENCE", 0.02)
    monkeypatch.setattr(_progress, "INTERVAL", 0.02)
    return lambda: sys.stderr.getvalue()


def test_a_notebook_shows_how_far_a_fit_has_come(notebook, monkeypatch):
    monkeypatch.setattr("sys.stderr", io.StringIO())
    with fit_bar("Trees"):
        assert comes_true(notebook)
        assert "%" not in notebook()  # nothing has been started
        advance(started=200)
        advance(settled=50)
        assert comes_true(lambda: "25%" in notebook())
        advance(settled=150)
        assert comes_true(lambda: "%" not in notebook().rpartition("\rTrees")[2])
    assert notebook().rstrip(" ").endswith("\r")


def test_the_output_belongs_to_the_cell_that_runs(notebook, monkeypatch):
    cell, shown = contextvars.ContextVar("cell"), []
    cell.set("this one")
    monkeypatch.setattr(_progress.Bar, "_paint", lambda *_: shown.append(cell.get()))
    with fit_bar("trees"):
        assert comes_true(lambda: shown)
    assert shown == ["this one"]


def test_a_notebook_shows_no_bar_for_a_short_fit(notebook, monkeypatch):
    monkeypatch.setattr("sys.stderr", io.StringIO())
    monkeypatch.setattr(_progress, "PATIENCE", 600.0)
    with fit_bar("trees"):
        advance(started=200, settled=200)
    assert notebook() == ""


def test_a_fit_inside_of_something_with_a_bar_has_none(notebook, monkeypatch):
    monkeypatch.setattr("sys.stderr", io.StringIO())
    with _progress.progress_bar("folds", 4):
        assert comes_true(notebook)
        with fit_bar("trees"):
            time.sleep(0.1)
    assert "folds" in notebook()
    assert "trees" not in notebook()
    assert not _progress.has_bar()


def test_a_program_in_a_terminal_keeps_its_screen_while_it_fits(monkeypatch):
    terminal = open_terminal(monkeypatch)
    monkeypatch.setattr(_progress, "PATIENCE", 0.0)
    with fit_bar("trees"):
        time.sleep(0.1)
    assert terminal.getvalue() == ""
