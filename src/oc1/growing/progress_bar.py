"""A progress bar on stderr for what takes longer than two seconds, where there is someone to look at it."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

#: Seconds before a bar is shown.
PATIENCE = 2.0


class Bar:
    """How far something has come; shown when it has lasted a while.

    Parameters
    ----------
    title : str
    total : int or None
        None if it is not known (yet).
    done : int, default=0
        How much was done before.
    shown : bool, default=True
        Whether there is someone to look at it.
    """

    def __init__(self, title: str, total: int | None, done: int = 0, shown: bool = True) -> None:
        self.title, self.total, self.done = title, total, done
        self._display: Any = None
        self._stopped = False
        self._lock = threading.Lock()
        # By the clock, not by the next step: the first one may take longer than anyone wants to wait for a sign.
        self._clock = threading.Timer(PATIENCE, self._start)
        self._clock.daemon = True
        if shown:
            self._clock.start()

    def advance(self, steps: int = 1) -> None:
        """Move on by some steps."""
        self.update(self.done + steps)

    def update(self, done: int, total: int | None = None) -> None:
        """Say how far it has come."""
        with self._lock:
            self.done, self.total = done, self.total if total is None else total
            if self._display is not None:
                self._display.update(self._task, completed=self.done, total=self.total)

    def _start(self) -> None:
        try:
            from rich.console import Console
            from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn
            from rich.progress import TimeRemainingColumn as Remaining
        except ImportError:
            return
        words = TextColumn("{task.description}", markup=False)
        columns = (words, BarColumn(), TaskProgressColumn(), TimeElapsedColumn(), Remaining())
        with self._lock:
            if self._stopped:
                return
            self._display = Progress(*columns, console=Console(stderr=True), transient=True)
            self._task = self._display.add_task(self.title, total=self.total, completed=self.done)
            self._display.start()

    def stop(self) -> None:
        """Remove the bar."""
        self._clock.cancel()
        with self._lock:
            self._stopped = True
            if self._display is not None:
                self._display.stop()
                self._display = None


@contextmanager
def progress_bar(title: str, total: int | None, done: int = 0) -> Iterator[Bar]:
    """Give a bar that is shown after two seconds, if stderr is a terminal and rich is installed."""
    bar = Bar(title, total, done, shown=sys.stderr.isatty())
    try:
        yield bar
    finally:
        bar.stop()
