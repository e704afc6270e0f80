"""Compiling large kernels in several processes at once.

The first fit on a machine compiles for a minute, and Numba compiles one function at a time. Large functions that are
called through pointers can be compiled anywhere: their types are known beforehand, and other processes leave the code
in the cache. While this process compiles what calls them, others compile some of them. What is not in the cache in the
end, for whatever reason, is compiled here.
"""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from functools import cache, wraps
from importlib import import_module
from pathlib import Path
from typing import Any

from numba import config

from ._jit import Pointer, is_cached
from ._notice import tell_compiling

#: Other processes at most: there are not many large functions.
MAX_PROCESSES = 3
#: What this process compiles beside its share, and what others need to start, in seconds.
OWN_SECONDS, START_SECONDS = 15.0, 6.0
#: Set in the other processes.
ALONE = "OC1_COMPILE_ALONE"

_lock = threading.RLock()
_pending: list[LatePointer] = []
_processes: list[subprocess.Popen[bytes]] = []


class LatePointer(Pointer):
    """A function that need not be compiled before it is called.

    Parameters
    ----------
    pointer : Pointer
        Not compiled yet.
    maker : str
        Module and name of the function that makes it.
    seconds : float
        What compiling takes, more or less.
    """

    def __init__(self, pointer: Pointer, maker: str, seconds: float):
        super().__init__(pointer.function)
        self.maker, self.seconds = maker, seconds
        self.is_here = True  # or with another process

    def __wrapper_address__(self) -> int:
        """Return where the function begins, once it is compiled."""
        if self.function._wrapper_address is None:  # type: ignore[attr-defined]
            finish()
        return super().__wrapper_address__()


def compiled_apart(seconds: float) -> Callable[[Callable[[], Any]], Callable[[], Any]]:
    """Let the pointer that a function makes, with `compiles=False`, be compiled in another process.

    Parameters
    ----------
    seconds : float
        What compiling takes, more or less.
    """

    def decorate(make: Callable[[], Any]) -> Callable[[], Any]:
        @cache
        @wraps(make)
        def made() -> Any:
            pointer = make()
            if not isinstance(pointer, Pointer):
                return pointer
            late = LatePointer(pointer, f"{make.__module__}:{make.__name__}", seconds)
            if is_cached(late.function):
                late.function.compile()
            else:
                with _lock:
                    _pending.append(late)
            return late

        return made

    return decorate


def start() -> None:
    """Let other processes compile what is pending, if that is of use."""
    if not _pending or _processes or not _can_start():
        return
    with _lock:
        n_processes = min(MAX_PROCESSES, (os.cpu_count() or 1) - 1, len(_pending) - 1)
        for share in divide(_pending, n_processes):
            for own in share:
                own.is_here = False
            _processes.append(_start_process([own.maker for own in share]))
    if _processes:
        tell_compiling()


def divide(pending: Sequence[LatePointer], n_processes: int) -> list[list[LatePointer]]:
    """Return what each process compiles, so that none takes much longer than others, or than this one."""
    loads = [OWN_SECONDS, *[START_SECONDS] * n_processes]
    shares: list[list[LatePointer]] = [[] for _ in loads]
    for own in sorted(pending, key=lambda own: -own.seconds):
        place = loads.index(min(loads))
        loads[place] += own.seconds
        shares[place].append(own)
    return [share for share in shares[1:] if share]


def _can_start() -> bool:
    """Whether other processes can be started: in ordinary Python, and not in a worker, of which there are many."""
    is_python = Path(sys.executable or "").name.lower().startswith("python") and not getattr(sys, "frozen", False)
    is_worker = ALONE in os.environ or multiprocessing.parent_process() is not None
    return is_python and not is_worker and not config.DISABLE_JIT  # type: ignore[attr-defined]


def _start_process(makers: list[str]) -> subprocess.Popen[bytes]:
    """Start a process that compiles; it ends with this one, because nobody holds its stdin any more."""
    quiet: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    command = [sys.executable, "-c", f"from {__name__} import compile_all; compile_all({makers!r})"]
    return subprocess.Popen(command, stdin=subprocess.PIPE, env={**os.environ, ALONE: "1"}, **quiet)


def compile_all(makers: list[str]) -> None:
    """Compile functions in a process of its own, as long as its stdin is open."""

    def watch() -> None:
        sys.stdin.read()
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
    for maker in makers:
        module, _, name = maker.partition(":")
        getattr(import_module(module), name)()
        finish()


def finish() -> None:
    """Compile what is pending: first what is to be compiled here, then what is not in the cache after all."""
    with _lock:
        for own in _pending:
            if own.is_here:
                own.function.compile()
        for process in _processes:
            process.wait()
        for own in _pending:
            if not own.is_here:
                own.function.compile()
        _pending.clear()
        _processes.clear()
