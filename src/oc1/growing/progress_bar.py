"""A progress bar for what takes longer than two seconds, where there is someone to look at it: drawn by tqdm."""

from __future__ import annotations

import contextvars
import sys
import threading
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

#: Seconds before a bar is shown, and between two pictures of it.
PATIENCE, INTERVAL = 2.0, 0.5
#: Of a bar whose end is known, and of one whose end is not.
FORMAT, OPEN_FORMAT = "{desc} {percentage:3.0f}%|{bar:30}| {elapsed}<{remaining}", "{desc} {elapsed}"

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
        is_terminal = sys.stderr is not None and sys.stderr.isatty()
        self._painter = painter if is_terminal or in_notebook() else None
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
        started, initial = time.time(), self.done
        if self._stopped.wait(PATIENCE):
            return
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # without ipywidgets, a notebook gets a bar of letters
            from tqdm.auto import tqdm  # only now: most work is over before it is imported
        with tqdm(desc=self.title, total=self.total, initial=initial, leave=False, bar_format=OPEN_FORMAT) as shown:
            shown.start_t = started
            while True:
                shown.n, shown.total = self.done, self.total
                # Once all trees have grown, no one knows how long the rest takes.
                shown.bar_format = OPEN_FORMAT if self.total is None or self.done >= self.total else FORMAT
                shown.refresh()
                if self._stopped.wait(INTERVAL):
                    return


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
