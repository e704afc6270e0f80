"""What is said while kernels are compiled."""

import io
from types import SimpleNamespace

import pytest
from numba.core import event
from waiting import comes_true

from oc1.kernels import _notice
from oc1.kernels._notice import MESSAGE, announce_compiling, screens_in_use, tell_compiling


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setattr(_notice, "INTERVAL", 0.01)
    tell_compiling.cache_clear()
    yield
    tell_compiling.cache_clear()


def compile_something(module="oc1.kernels.newton"):
    dispatcher = SimpleNamespace(__module__=module, __name__="fit_logistic")
    event.start_event("numba:compile", data={"dispatcher": dispatcher})
    event.end_event("numba:compile", data={"dispatcher": dispatcher})


def test_where_nobody_watches_one_line_is_written(monkeypatch):
    screen = io.StringIO()
    monkeypatch.setattr("sys.stderr", screen)
    for _ in range(2):
        with announce_compiling():
            compile_something()
            compile_something()
    assert screen.getvalue() == f"{MESSAGE}\n"


def test_a_terminal_shows_what_is_compiled_until_it_is_done(monkeypatch):
    screen = Terminal()
    monkeypatch.setattr("sys.stderr", screen)
    with announce_compiling():
        compile_something()
        assert comes_true(lambda: "fit_logistic, 0 s" in screen.getvalue())
        assert comes_true(lambda: screen.getvalue().count("\r") > 3)
    assert "\n" not in screen.getvalue()
    assert screen.getvalue().endswith(" \r")


def test_other_things_on_the_screen_are_not_disturbed(monkeypatch):
    screen, bar = Terminal(), object()
    monkeypatch.setattr("sys.stderr", screen)
    screens_in_use.add(bar)
    try:
        with announce_compiling():
            compile_something()
    finally:
        screens_in_use.discard(bar)
    assert screen.getvalue() == ""


def test_other_packages_compile_without_a_word(monkeypatch):
    screen = Terminal()
    monkeypatch.setattr("sys.stderr", screen)
    with announce_compiling():
        compile_something("umap.layouts")
    assert screen.getvalue() == ""
