"""Fits that may fail or take too long: each in a process that can be ended, beside a yardstick on the same fold."""

from __future__ import annotations

import multiprocessing
import multiprocessing.pool
import os
import signal
import warnings
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from queue import SimpleQueue

from joblib import Parallel, delayed, effective_n_jobs, parallel_config
from sklearn.base import clone
from sklearn.tree import DecisionTreeClassifier

from ..datasets import make_pol
from ..evaluation.protocol import FoldRecord, FoldTask, end_with_parent
from .peers import Peer, package_of, package_version

#: What fit times are told as multiples of.
YARDSTICK = DecisionTreeClassifier()
#: Seconds that a new process has to import what it needs.
START_LIMIT = 300.0
#: The learners that this process has loaded.
_READY: set[str] = set()


@dataclass(frozen=True)
class TrialRecord(FoldRecord):
    """What came of a fit that may have failed.

    Attributes
    ----------
    yardstick_seconds : float
        Time that scikit-learn's tree took on the same fold, in the same process, just before.
    version : str
        Of the learner's package.
    failure : str
        Why there is no result; empty if there is one.
    """

    yardstick_seconds: float = 0.0
    version: str = ""
    failure: str = ""


def run_trials(tasks: Iterable[FoldTask], n_jobs: int, limit: float) -> Iterator[TrialRecord]:
    """Yield the records of the tasks as they come, in any order; a fit that takes longer than `limit` seconds fails."""
    # Threads that each wait for a process of their own: only so can a fit in compiled code be stopped.
    with parallel_config(backend="threading"):  # also where joblib is set to something else, such as a cluster
        benches = [_Bench() for _ in range(effective_n_jobs(n_jobs))]
    idle: SimpleQueue[_Bench] = SimpleQueue()
    for bench in benches:
        idle.put(bench)

    def attempt(task: FoldTask) -> TrialRecord:
        bench = idle.get()
        try:
            return bench.run(task, limit)
        finally:
            idle.put(bench)

    try:
        parallel = Parallel(n_jobs=len(benches), require="sharedmem", return_as="generator_unordered")
        yield from parallel(delayed(attempt)(task) for task in tasks)
    finally:
        for bench in benches:
            bench.close()


class _Bench:
    """A process that does one fit after the other; a new one takes its place when a fit had to be stopped."""

    def __init__(self) -> None:
        self._pool: multiprocessing.pool.Pool | None = None

    def run(self, task: FoldTask, limit: float) -> TrialRecord:
        if self._pool is None:
            self._pool = multiprocessing.get_context("spawn").Pool(1, _start_worker, (os.getpid(),))
        try:
            self._pool.apply_async(_prepare, (task,)).get(START_LIMIT)
            return self._pool.apply_async(_attempt, (task,)).get(limit)
        except multiprocessing.TimeoutError:
            self.close()
            return failed(task, f"no result after {limit:g} s")

    def close(self) -> None:
        if self._pool is not None:
            self._pool.terminate()
            self._pool.join()
            self._pool = None


def _start_worker(parent: int) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the process that started this one answers it
    end_with_parent(parent)


def _prepare(task: FoldTask) -> None:
    """Load what the task needs, compiled code too, so that it is not timed."""
    if task.learner in _READY:
        return
    _READY.add(task.learner)
    X, y = make_pol(100, random_state=0)
    YARDSTICK.fit(X, y)
    with suppress(Exception):  # which the fit will run into as well
        task.estimator.load() if isinstance(task.estimator, Peer) else clone(task.estimator).fit(X, y)


def _attempt(task: FoldTask) -> TrialRecord:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yardstick = replace(task, estimator=YARDSTICK).run().seconds
        try:
            record = task.run()
        except Exception as error:
            return failed(task, f"{type(error).__name__}: {error}".splitlines()[0])
    return TrialRecord(
        **asdict(record), yardstick_seconds=yardstick, version=package_version(package_of(task.estimator))
    )


def failed(task: FoldTask, reason: str) -> TrialRecord:
    """Return the record of a fit that came to nothing."""
    return TrialRecord(*task.key, 0, 0, None, None, None, None, 0.0, failure=reason)
