"""Waiting for other processes: long enough for a busy machine, and over as soon as there is nothing to wait for."""

import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

#: Nothing in the tests should ever take this long.
MAX_WAIT_SECONDS = 600.0


def comes_true(condition: Callable[[], bool]) -> bool:
    """Wait until something is so; return whether it came to be."""
    deadline = time.monotonic() + MAX_WAIT_SECONDS
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True


def workers_return(cluster: Any, n_workers: int) -> bool:
    """Wait until a Dask cluster on this machine has all its workers; return whether they came.

    The nanny of a killed worker gives up if the scheduler does not answer within ten seconds: then it is replaced.
    """

    def is_whole() -> bool:
        cluster.scale(n_workers)
        time.sleep(0.1)
        return len(cluster.scheduler.workers) >= n_workers

    return comes_true(is_whole)


@contextmanager
def obeying_ctrl_c() -> Iterator[None]:
    """Let processes that are started here obey SIGINT.

    They inherit whether it is ignored, and it is where the tests were started in the background (``nohup``, ``&``).
    """
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
