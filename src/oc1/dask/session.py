"""What a fit has on the cluster: it asks there, counts what that costs, and leaves nothing behind."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import CancelledError
from contextlib import suppress
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any, Self

from dask.sizeof import sizeof
from dask.utils import funcname
from distributed import Client, Future

#: Answers are given up when there are more of them than this, or when a larger one has come. (Dask's client sends its
#: messages ten milliseconds apart: one that gives up the last answer would delay the next question.)
MAX_KEPT_ANSWERS, MAX_KEPT_BYTES = 64, 2**20
#: More results than these are added up on the workers, this many at a time.
MAX_CALLS_PER_SUM = 16


@dataclass
class Traffic:
    """What went on between the client and the cluster.

    Attributes
    ----------
    rounds : int
        How many times the client sent requests and waited for all results.
    tasks : int
        Tasks in these rounds.
    received : int
        Bytes of their results.
    """

    rounds: int = 0
    tasks: int = 0
    received: int = 0

    def __str__(self) -> str:
        return f"cluster: {self.rounds} rounds with {self.tasks} tasks, {self.received / 1e6:.3g} MB received"


class Session:
    """The futures of one fit, all of which are given up at the end of the ``with`` block, however it ends.

    Several threads may ask at the same time.

    Parameters
    ----------
    client : distributed.Client

    Attributes
    ----------
    traffic : Traffic
        What `ask` has done so far.
    """

    def __init__(self, client: Client):
        self.client = client
        self.traffic = Traffic()
        self._futures: dict[Any, Future[Any]] = {}
        self._shared: set[Any] = set()  # keys that the user, or another fit, may hold, too
        self._lock = threading.Lock()
        self._answered: list[Future[Any]] = []
        self._stopped = False

    def stop(self) -> None:
        """Let whoever asks from now on, in other threads, fail: nobody wants the answers."""
        self._stopped = True

    @property
    def n_threads(self) -> int:
        """Threads of all workers; at least 1."""
        threads: dict[str, int] = self.client.nthreads()
        return max(1, sum(threads.values()))

    def together(self, futures: Mapping[int, Future[Any]]) -> list[list[int]]:
        """Divide numbered futures into groups that are on the same worker."""
        where = self.client.who_has(list(futures.values()))
        on: dict[str, list[int]] = {}
        for number, future in futures.items():
            workers = where.get(future.key) or [""]  # lost just now: Dask makes it again
            on.setdefault(workers[0], []).append(number)
        return [numbers for _, numbers in sorted(on.items())]

    def __enter__(self) -> Self:
        """Begin; nothing is held yet."""
        return self

    def __exit__(self, *unused: object) -> None:
        """Give up everything; an error that the fit ended with is not hidden by a scheduler that is gone."""
        with self._lock:
            # The youngest first: what Dask is to forget must not have children that it still knows.
            futures = list(self._futures.values())[::-1]
            self._futures.clear()
        with suppress(Exception):
            if futures and self.client.status == "running":
                for future in futures:
                    future.release()
                self.client.nthreads()  # answered after all that
                # The traceback of a failed fit may keep further references to futures.
                for future in futures:
                    if future.key in self.client.futures and future.key not in self._shared:
                        self.client.cancel([future])

    def _keep(self, futures: Sequence[Future[Any]]) -> list[Future[Any]]:
        with self._lock:
            self._futures.update((future.key, future) for future in futures)
        return list(futures)

    def submit(self, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Future[Any]:
        """Run a function on a worker, near the futures among its arguments; the result stays there.

        Parameters
        ----------
        function : callable
        *args, **kwargs
            Those of the function, or options of ``Client.submit``.

        Returns
        -------
        Future
        """
        return self._keep([self.client.submit(function, *args, key=own_keys(function, 1)[0], **kwargs)])[0]

    def compute(
        self, delayed: Sequence[Any], shared: Sequence[Any] = ()
    ) -> tuple[list[Future[Any]], list[Future[Any]]]:
        """Compute delayed values, together; the results stay on the workers.

        Parameters
        ----------
        delayed : list of dask.delayed.Delayed
        shared : list of dask.delayed.Delayed
            Those that others may hold, too: what the user has persisted is there already, and stays there.

        Returns
        -------
        two lists of Future
        """
        self._shared.update(one.key for one in shared)
        futures = self._keep(self.client.compute([*delayed, *shared]))
        return futures[: len(delayed)], futures[len(delayed) :]

    def release(self, futures: Iterable[Future[Any]]) -> None:
        """Let go of futures; their data are deleted as soon as no task waits for them."""
        futures = list(futures)
        with self._lock:
            for future in futures:
                self._futures.pop(future.key, None)
        for future in futures:
            future.release()

    def ask(self, calls: Iterable[tuple[Any, ...]]) -> list[Any]:
        """Call a function on the workers, several times, and wait for all results: one round.

        Parameters
        ----------
        calls : iterable of tuples
            The same function in each, and its arguments, which may be futures (a list of futures too).

        Returns
        -------
        list
            The results, in the order of the calls.
        """
        if self._stopped:
            raise CancelledError
        calls = list(calls)
        function, columns = calls[0][0], zip(*(args for _, *args in calls), strict=True)
        futures = self._keep(self.client.map(function, *columns, key=own_keys(function, len(calls))))
        results = list(self.client.gather(futures))
        size = sum(map(sizeof, results))
        with self._lock:
            self.traffic.rounds += 1
            self.traffic.tasks += len(calls)
            self.traffic.received += size
            self._answered += futures
            is_much = size > MAX_KEPT_BYTES or len(self._answered) > MAX_KEPT_ANSWERS
        if is_much:
            self.flush()
        return results

    def total(self, calls: Iterable[tuple[Any, ...]]) -> Any:
        """Return what the results of calls add up to: one round. Many are added up on the workers first."""
        calls = list(calls)
        if len(calls) <= MAX_CALLS_PER_SUM:
            return reduce(add, self.ask(calls))
        with self._lock:
            self.traffic.tasks += len(calls)
        parts = [self.submit(*call) for call in calls]
        try:
            groups = [parts[i : i + MAX_CALLS_PER_SUM] for i in range(0, len(parts), MAX_CALLS_PER_SUM)]
            return reduce(add, self.ask((add_up, group) for group in groups))
        finally:
            self.release(parts)

    def flush(self) -> None:
        """Give up all answers that have been received."""
        with self._lock:
            done, self._answered = self._answered, []
        self.release(done)


def own_keys(function: Callable[..., Any], n_tasks: int) -> list[tuple[str, int]]:
    """Return keys for calls of a function, under a name of their own.

    Among many tasks of one name that need few others, Dask looks for the worker that has the least to do, and moves to
    it what they need.
    """
    name = f"{funcname(function)}-{uuid.uuid4().hex}"
    return [(name, number) for number in range(n_tasks)]


def add_up(parts: list[Any]) -> Any:
    """Add up results."""
    return reduce(add, parts)
