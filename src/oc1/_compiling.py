"""Tell the user, once, when kernels are being compiled: the first fit on a machine takes some seconds longer."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from numba.core import event

_announced = False


class _Announcer(event.Listener):
    def on_start(self, event) -> None:
        global _announced
        module = getattr(event.data.get("dispatcher"), "__module__", "")
        if not _announced and module.startswith("oc1."):
            _announced = True
            print(
                "oc1: compiling kernels (once on this machine, some ten seconds; later runs use the cache)",
                file=sys.stderr,
            )

    def on_end(self, event) -> None:
        pass


@contextmanager
def announce_compiling() -> Iterator[None]:
    """Print one line to stderr if a kernel of this package is compiled inside the block."""
    with event.install_listener("numba:compile", _Announcer()):
        yield
