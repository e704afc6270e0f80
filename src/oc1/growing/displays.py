"""Where a progress bar is drawn: on a terminal, by rich, or in the output of a notebook's cell."""

from __future__ import annotations

import contextvars
import html
import sys
import threading
import time
from typing import Any, Protocol

#: Seconds between two pictures of the bar in a notebook.
INTERVAL = 1.0


class Display(Protocol):
    """Shows how far something has come, from when it is made until it is stopped."""

    def update(self, done: int, total: int | None) -> None:
        """Say how far it has come; the total is None as long as it is not known."""

    def stop(self) -> None:
        """Remove the bar."""


class TerminalDisplay:
    """A bar of rich's on stderr; ImportError if rich is not installed."""

    def __init__(self, title: str, done: int, total: int | None) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn
        from rich.progress import TimeRemainingColumn as Remaining

        from ..kernels._notice import screens_in_use

        self._in_use = screens_in_use
        words = TextColumn("{task.description}", markup=False)
        columns = (words, BarColumn(), TaskProgressColumn(), TimeElapsedColumn(), Remaining())
        self._progress = Progress(*columns, console=Console(stderr=True), transient=True)
        self._task = self._progress.add_task(title, total=total, completed=done)
        self._in_use.add(self)
        self._progress.start()

    def update(self, done: int, total: int | None) -> None:
        """Say how far it has come."""
        self._progress.update(self._task, completed=done, total=total)

    def stop(self) -> None:
        """Remove the bar."""
        self._progress.stop()
        self._in_use.discard(self)


class NotebookDisplay:
    """A bar in the output of the cell that runs, drawn anew every second.

    Parameters
    ----------
    title : str
    done : int
    total : int or None
    context : contextvars.Context
        That of the cell. Other threads have none, and their output could turn up under another cell.
    """

    def __init__(self, title: str, done: int, total: int | None, context: contextvars.Context) -> None:
        from IPython.display import DisplayHandle

        self._title, self._done, self._total, self._context = title, done, total, context
        self._started = time.monotonic()
        self._handle: Any = DisplayHandle()
        self._draw(self._handle.display)
        self._stopped = threading.Event()
        self._painter = threading.Thread(target=self._paint, daemon=True)
        self._painter.start()

    def update(self, done: int, total: int | None) -> None:
        """Say how far it has come."""
        self._done, self._total = done, total

    def stop(self) -> None:
        """Remove the bar."""
        self._stopped.set()
        self._painter.join()
        self._context.run(self._handle.update, {"text/plain": "", "text/html": ""}, raw=True)

    def _paint(self) -> None:
        while not self._stopped.wait(INTERVAL):
            self._draw(self._handle.update)

    def _draw(self, show: Any) -> None:
        done, total, title = self._done, self._total, html.escape(self._title)
        share, length = "", ""
        if total is not None and done < total:  # once all trees have grown, no one knows how long the rest takes
            share, length = f"{done / total:.0%}, ", f' max="{total}" value="{done}"'
        words = f"{share}{time.monotonic() - self._started:.0f} s"
        shown = {
            "text/plain": f"{self._title}: {words}",
            "text/html": f'<div style="font: 13px/1.5 system-ui, sans-serif">{title} <progress{length} '
            f'style="width: 16em; max-width: 40%; vertical-align: -.15em"></progress> {words}</div>',
        }
        self._context.run(show, shown, raw=True)


def in_notebook() -> bool:
    """Whether this process is the kernel of a notebook."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return hasattr(shell, "kernel")
