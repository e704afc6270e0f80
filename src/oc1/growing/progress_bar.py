"""A progress bar: one line of stderr, for what takes longer than two seconds, where there is someone to look at it."""

from __future__ import annotations

import contextvars
import shutil
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

#: Seconds before a bar is shown, and between two pictures of it.
PATIENCE, INTERVAL = 2.0, 0.5
#: Characters of the bar itself.
LENGTH = 30

#: The bars that there are, shown or not.
_bars: set[Bar] = set()


class Bar:
    """How far something has come, on a terminal or in the output of a notebook's cell, until it is stopped.

    Parameters
    ----------
    title : str
    total : int or None
        None if it is not known (yet).
    done : int, default=0
        How much was done before.
    """

    def __init__(self, title: str, total: int | None, done: int = 0) -> None:
        self.title, self.total, self.done = title, total, done
        self._stopped = threading.Event()
        # By the clock, not by the next step: the first one may take longer than anyone wants to wait for a sign. In
        # the context of a notebook's cell, as the output of other threads could turn up under another cell.
        painter = threading.Thread(target=contextvars.copy_context().run, args=(self._paint,), daemon=True)
        self._painter = painter if sys.stderr.isatty() or in_notebook() else None
        if self._painter is not None:
            self._painter.start()
        _bars.add(self)

    def advance(self, steps: int = 1) -> None:
        """Move on by some steps."""
        self.done += steps

    def update(self, done: int, total: int | None = None) -> None:
        """Say how far it has come."""
        self.done, self.total = done, self.total if total is None else total

    def stop(self) -> None:
        """Remove the bar."""
        self._stopped.set()
        _bars.discard(self)
        if self._painter is not None:
            self._painter.join()

    def _paint(self) -> None:
        started, before = time.monotonic(), self.done
        width, pause = 0, PATIENCE
        while not self._stopped.wait(pause):
            line = self._line(time.monotonic() - started, before)[: shutil.get_terminal_size().columns - 1]
            print(f"\r{line.ljust(width)}", end="", file=sys.stderr, flush=True)
            width, pause = len(line), INTERVAL
        if width:
            print(f"\r{' ' * width}\r", end="", file=sys.stderr, flush=True)

    def _line(self, seconds: float, before: int) -> str:
        done, total = self.done, self.total
        if total is None or done >= total:  # once all trees have grown, no one knows how long the rest takes
            return f"{self.title} {seconds:.0f} s"
        rest = f", {seconds * (total - done) / (done - before):.0f} s left" if done > before else ""
        drawn = ("#" * (LENGTH * done // total)).ljust(LENGTH, ".")
        return f"{self.title} [{drawn}] {done / total:.0%}, {seconds:.0f} s{rest}"


@contextmanager
def progress_bar(title: str, total: int | None, done: int = 0) -> Iterator[Bar]:
    """Give a bar that is shown after two seconds, on a terminal or in a notebook."""
    bar = Bar(title, total, done)
    try:
        yield bar
    finally:
        bar.stop()


def has_bar() -> bool:
    """Whether something has a progress bar already, shown or not yet."""
    return bool(_bars)


def in_notebook() -> bool:
    """Whether this process is the kernel of a notebook."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return hasattr(shell, "kernel")
