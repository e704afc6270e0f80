"""Telling the user that kernels are being compiled: in one line; in a terminal it says what, and for how long."""

from __future__ import annotations

import gc
import shutil
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

from numba.core import event

#: Seconds between two looks at the clock.
INTERVAL = 0.5
MESSAGE = "oc1: compiling kernels (once on this machine, up to a minute; later runs use the cache)"
SHORT_MESSAGE = "oc1: compiling kernels, once on this machine"

#: Who else draws on the terminal, and must not be disturbed.
screens_in_use: set[object] = set()


@cache
def tell_compiling() -> None:
    """Tell the user, once, that kernels are being compiled; in a terminal the line is a moving one (see `Ticker`)."""
    if not sys.stderr.isatty():
        print(MESSAGE, file=sys.stderr)


class Ticker:
    """A line in the terminal with what is being compiled, and for how long already; it is gone in the end."""

    def __init__(self, what: str) -> None:
        self.what = what
        self._begun, self._stopped, self._width = time.monotonic(), threading.Event(), 0
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        while True:
            if not screens_in_use:
                self._write(f"{SHORT_MESSAGE}: {self.what}, {time.monotonic() - self._begun:.0f} s")
            if self._stopped.wait(INTERVAL):
                return

    def _write(self, line: str) -> None:
        line = line[: shutil.get_terminal_size().columns - 1]  # what is folded cannot be written over
        sys.stderr.write(f"\r{line.ljust(self._width)}")
        sys.stderr.flush()
        self._width = len(line)

    def stop(self) -> None:
        """Remove the line."""
        self._stopped.set()
        self._thread.join()
        if self._width:
            self._write("")
            sys.stderr.write("\r")
            sys.stderr.flush()


class _Announcer(event.Listener):
    def __init__(self) -> None:
        self.paused_gc = False
        self.ticker: Ticker | None = None
        self._lock = threading.Lock()

    def on_start(self, event: Any) -> None:
        dispatcher = event.data.get("dispatcher")
        if not getattr(dispatcher, "__module__", "").startswith("oc1."):
            return
        with self._lock:
            if gc.isenabled():
                # The compiler makes millions of objects that live on; looking through them takes a second.
                self.paused_gc = True
                gc.disable()
            tell_compiling()
            if sys.stderr.isatty():
                what = getattr(dispatcher, "__name__", "")
                self.ticker = self.ticker or Ticker(what)
                self.ticker.what = what

    def on_end(self, event: Any) -> None:
        pass


@contextmanager
def announce_compiling() -> Iterator[None]:
    """Tell the user, on stderr, if a kernel of this package is compiled inside the block."""
    announcer = _Announcer()
    try:
        with event.install_listener("numba:compile", announcer):
            yield
    finally:
        if announcer.ticker is not None:
            announcer.ticker.stop()
        if announcer.paused_gc:
            gc.enable()
