"""Tell the user, once, when kernels are being compiled: the first fit on a machine takes some seconds longer."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from numba.core import event

_announced = False


class _Announcer(event.Listener):
    def __init__(self) -> None:
        self.paused_gc = False

    def on_start(self, event) -> None:
        global _announced
        module = getattr(event.data.get("dispatcher"), "__module__", "")
        if not module.startswith("oc1."):
            return
        if gc.isenabled():
            # The compiler makes millions of objects that live on; looking through them takes a second.
            self.paused_gc = True
            gc.disable()
        if not _announced:
            _announced = True
            print(
                "oc1: compiling kernels (once on this machine, some fifteen seconds; later runs use the cache)",
                file=sys.stderr,
            )

    def on_end(self, event) -> None:
        pass


@contextmanager
def announce_compiling() -> Iterator[None]:
    """Print one line to stderr if a kernel of this package is compiled inside the block."""
    announcer = _Announcer()
    try:
        with event.install_listener("numba:compile", announcer):
            yield
    finally:
        if announcer.paused_gc:
            gc.enable()
