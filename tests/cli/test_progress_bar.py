"""The bar: shown after a while, where someone looks, and gone afterwards."""

import io
import time

from waiting import comes_true

from oc1.growing import progress_bar as _progress


class Terminal(io.StringIO):
    def isatty(self):
        return True


def open_terminal(monkeypatch):
    """Put a terminal in the place of stderr (in a fixture, pytest would take it away again)."""
    screen = Terminal()
    monkeypatch.setattr("sys.stderr", screen)
    monkeypatch.setenv("TERM", "xterm-256color")
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
    with _progress.progress_bar("folds [red]", 4) as bar:
        assert comes_true(lambda: "folds [red]" in terminal.getvalue())
        bar.update(3)
        assert comes_true(lambda: "75%" in terminal.getvalue())


def test_nobody_looks_no_bar(monkeypatch):
    monkeypatch.setattr(_progress, "PATIENCE", 0.0)
    screen = io.StringIO()
    monkeypatch.setattr("sys.stderr", screen)
    with _progress.progress_bar("folds", 3) as bar:
        time.sleep(0.1)
        bar.advance()
    assert screen.getvalue() == ""
