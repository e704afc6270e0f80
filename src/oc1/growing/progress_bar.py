"""A progress bar for what takes longer than two seconds, where there is someone to look at it."""

from __future__ import annotations

import contextvars
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial

from .displays import Display, NotebookDisplay, TerminalDisplay, in_notebook

#: Seconds before a bar is shown.
PATIENCE = 2.0

#: The bars that there are, shown or not.
_bars: set[Bar] = set()


class Bar:
    """How far something has come; shown when it has lasted a while.

    Parameters
    ----------
    title : str
    total : int or None
        None if it is not known (yet).
    done : int, default=0
        How much was done before.
    make_display : callable, optional
        Takes title, done and total, and shows them. None: there is no one to look at it.
    """

    def __init__(
        self,
        title: str,
        total: int | None,
        done: int = 0,
        make_display: Callable[[str, int, int | None], Display] | None = None,
    ) -> None:
        self.title, self.total, self.done = title, total, done
        self._make_display = make_display
        self._display: Display | None = None
        self._stopped = False
        self._lock = threading.Lock()
        # By the clock, not by the next step: the first one may take longer than anyone wants to wait for a sign.
        self._clock = threading.Timer(PATIENCE, self._start)
        self._clock.daemon = True
        if make_display is not None:
            self._clock.start()
        _bars.add(self)

    def advance(self, steps: int = 1) -> None:
        """Move on by some steps."""
        self.update(self.done + steps)

    def update(self, done: int, total: int | None = None) -> None:
        """Say how far it has come."""
        with self._lock:
            self.done, self.total = done, self.total if total is None else total
            if self._display is not None:
                self._display.update(self.done, self.total)

    def _start(self) -> None:
        with self._lock, suppress(ImportError):
            if not self._stopped and self._make_display is not None:
                self._display = self._make_display(self.title, self.done, self.total)

    def stop(self) -> None:
        """Remove the bar."""
        self._clock.cancel()
        _bars.discard(self)
        with self._lock:
            self._stopped = True
            if self._display is not None:
                self._display.stop()
                self._display = None


@contextmanager
def progress_bar(title: str, total: int | None, done: int = 0) -> Iterator[Bar]:
    """Give a bar that is shown after two seconds, in a notebook, or if stderr is a terminal and rich is installed."""
    make_display: Callable[[str, int, int | None], Display] | None = None
    if in_notebook():
        make_display = partial(NotebookDisplay, context=contextvars.copy_context())
    elif sys.stderr.isatty():
        make_display = TerminalDisplay
    bar = Bar(title, total, done, make_display)
    try:
        yield bar
    finally:
        bar.stop()


def has_bar() -> bool:
    """Whether something has a progress bar already, shown or not yet."""
    return bool(_bars)
