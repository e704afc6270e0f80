"""The paper's experiments, run: ``oc1 reproduce table1``.

An experiment of `definitions` becomes tasks, one fit on one fold each (`oc1.evaluation.protocol`). Every record goes
to a journal at once, so that an interrupted run can be continued. `results` writes what came of it.
"""

from __future__ import annotations

import hashlib
import signal
import threading
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from .. import __version__
from ..evaluation.protocol import (
    SIZES,
    FoldRecord,
    FoldTask,
    ImpossibleRecord,
    corrected_t_test,
    make_tasks,
    run_tasks,
    summarise,
)
from ..growing.progress_bar import progress_bar
from .data import ARTIFICIAL, DataSet, MissingData, load
from .definitions import FULL_SIZE, Experiment
from .journal import Journal, journal_path
from .results import Entry, write_results

FOLDS = 5


class Interrupted(Exception):
    """The user stopped the run; the message says how far it came."""


def reproduce(
    experiment: Experiment,
    out: Path,
    *,
    data: Path | None = None,
    repeats: int = 10,
    n_jobs: int = 1,
    seed: int = 0,
    n_samples: int = FULL_SIZE,
    fresh: bool = False,
    only: Sequence[str] | None = None,
    say: Callable[[str], None] = print,
) -> Entry:
    """Run an experiment, or what is left of it, and write its results and report.

    Parameters
    ----------
    experiment : Experiment
        One of `make_experiments`.
    out : Path
        The folder for the journal, ``results.json``, ``timings.json``, ``report.html`` and the Markdown table.
    data : Path, optional
        A folder of CSV files; without it the installed packages are used. Data sets that are missing are skipped.
    repeats : int, default=10
    n_jobs : int, default=1
        Processes; the results do not depend on it.
    seed : int, default=0
        The same seed gives the same results, and the same artificial data.
    n_samples : int, default=2000
        Points in the artificial sets. Results of fewer, or of fewer repeats than the experiment has, say so.
    fresh : bool, default=False
        Start over instead of continuing with the journal.
    only : list of str, optional
        The data sets to run now; what the journal holds for the others is reported as well.
    say : callable, optional
        Takes lines for the user.

    Returns
    -------
    dict, the entry of ``results.json``

    Raises
    ------
    ValueError
        If a data set is not the expected one, no set is available, or `only` names one that is not in the experiment.
    Interrupted
        If the user stopped it (Ctrl-C). What was done is kept.
    """
    if unknown := [name for name in only or () if name not in experiment.data]:
        raise ValueError(f"{experiment.name} has no data set {unknown[0]!r}; it has {', '.join(experiment.data)}")
    sets, skipped = _load_all(experiment, data, seed, n_samples, say)
    run = _fingerprint(experiment, sets, repeats, seed, n_samples)
    path = journal_path(out, experiment.name, run)
    if fresh:
        path.unlink(missing_ok=True)
    tasks = _make_tasks(experiment, sets, repeats, seed)
    journal = Journal(path, run, _record_check(tasks))
    _run(experiment, [task for task in tasks if only is None or task.data in only], journal, n_jobs, say)
    unfinished = {_cell(task) for task in tasks if task.key not in journal.records}
    records = [journal.records[task.key] for task in tasks if _cell(task) not in unfinished]
    if unasked := set(sets) - {record.data for record in records} - set(only or sets):
        skipped.append(f"{', '.join(sorted(unasked))}: not among the sets asked for")
    entry = _entry(experiment, run, records, skipped)
    write_results(out, experiment, entry, records, say)
    return entry


def _load_all(
    experiment: Experiment, folder: Path | None, seed: int, n_samples: int, say: Callable[[str], None]
) -> tuple[dict[str, DataSet], list[str]]:
    """Return the data sets that are there, and why others are not."""
    if folder is not None and not folder.is_dir():
        raise ValueError(f"--data {folder}: there is no such folder")
    sets, skipped = {}, []
    for name in experiment.data:
        try:
            sets[name] = load(name, folder, seed, n_samples)
        except MissingData as missing:
            skipped.append(str(missing))
            say(str(missing))
    if not sets:
        raise ValueError(f"{experiment.name}: none of its data sets is available: {', '.join(experiment.data)}")
    return sets, skipped


def _fingerprint(
    experiment: Experiment, sets: dict[str, DataSet], repeats: int, seed: int, n_samples: int
) -> dict[str, Any]:
    """Return everything that the results depend on."""
    run = {
        "name": experiment.name,
        "version": __version__,
        "code": code_digest(),
        "seed": seed,
        "repeats": repeats,
        "folds": FOLDS,
        "data": {name: one.checksum for name, one in sets.items()},
        "learners": {
            f"{cell.data} / {cell.learner}": {
                name: repr(value) for name, value in sorted(cell.estimator.get_params().items())
            }
            for cell in experiment.cells
            if cell.data in sets
        },
    }
    if any(name in ARTIFICIAL for name in sets):
        run["n_samples"] = n_samples
    return run


def code_digest() -> str:
    """Return a digest of all code that results come from: between releases the version says nothing about it."""
    package = Path(__file__).resolve().parents[1]
    files = sorted(path for path in package.rglob("*.py") if path.parent.name != "experiments")
    parts = (path.relative_to(package).as_posix().encode() + b"\0" + path.read_bytes() for path in files)
    return hashlib.sha256(b"\0".join(parts)).hexdigest()


def _make_tasks(experiment: Experiment, sets: dict[str, DataSet], repeats: int, seed: int) -> list[FoldTask]:
    """Return all fits, in the order of the cells."""
    tasks = []
    for name, one in sets.items():
        learners = {cell.learner: cell.estimator for cell in experiment.cells if cell.data == name}
        tasks += make_tasks(FoldTask, learners, one.X, one.y, repeats=repeats, folds=FOLDS, seed=seed, data=name)
    order = [(cell.data, cell.learner) for cell in experiment.cells]
    return sorted(tasks, key=lambda task: (order.index(_cell(task)), task.repeat, task.fold))


def _cell(one: FoldTask | FoldRecord) -> tuple[str, str]:
    return one.data, one.learner


def _record_check(tasks: list[FoldTask]) -> Callable[[FoldRecord], None]:
    """Return a function that refuses records that are not of these tasks."""
    sizes = {task.key: len(task.test) for task in tasks}

    def check(record: FoldRecord) -> None:
        n_test = sizes.get(record.key)
        if n_test is None:
            raise ImpossibleRecord(f"there is no fold {record.fold} of repeat {record.repeat} of {_cell(record)}")
        if record.n_test != n_test:
            raise ImpossibleRecord(f"the fold has {n_test} examples, not {record.n_test}")

    return check


def _run(
    experiment: Experiment, tasks: list[FoldTask], journal: Journal, n_jobs: int, say: Callable[[str], None]
) -> None:
    """Run the tasks that are not in the journal."""
    todo = [task for task in tasks if task.key not in journal.records]
    todo.sort(key=lambda task: task.repeat)  # so that the remaining time can be estimated early
    n_done = len(tasks) - len(todo)
    if n_done:
        say(f"{experiment.name}: {n_done} of {len(tasks)} folds are already in {journal.path}")
    try:
        with warnings.catch_warnings(), progress_bar(experiment.name, len(tasks), n_done) as bar:
            # joblib's, when the user stops a run: our message says it all.
            warnings.filterwarnings("ignore", message=".*tasks which were still being processed")
            for record in _start(todo, n_jobs):
                journal.append(record)
                bar.advance()
    except KeyboardInterrupt:
        n_done = sum(task.key in journal.records for task in tasks)
        raise Interrupted(
            f"{experiment.name}: interrupted after {n_done} of {len(tasks)} folds; run the same command to continue"
        ) from None


def _start(tasks: list[FoldTask], n_jobs: int) -> Iterator[FoldRecord]:
    """Start the tasks in processes that leave Ctrl-C to this one: they would answer it with tracebacks."""
    if threading.current_thread() is not threading.main_thread():
        return run_tasks(tasks, n_jobs)  # only the main thread may set signals
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)  # which the processes inherit
    try:
        return run_tasks(tasks, n_jobs)
    finally:
        signal.signal(signal.SIGINT, before)


def _entry(experiment: Experiment, run: dict[str, Any], records: list[FoldRecord], skipped: list[str]) -> Entry:
    """Return all results of a run, except for the times, which differ from run to run."""
    summaries = {(summary.data, summary.learner): summary for summary in summarise(records)}
    shown = list(dict.fromkeys(record.data for record in records))
    cells = []
    for cell in experiment.cells:
        if summary := summaries.get((cell.data, cell.learner)):
            paper = None if cell.paper is None else asdict(cell.paper)
            values = {name: value for name, value in asdict(summary).items() if name != "seconds"}
            cells.append(values | {"paper": paper})
    tests = [
        {"data": name, "a": a, "b": b, "difference": test.difference, "p_value": test.p_value}
        for a, b in experiment.pairs
        for name in shown
        if {(name, a), (name, b)} <= summaries.keys()
        for test in [corrected_t_test(records, a, b, name)]
    ]
    kept = ("data", "learner", "repeat", "fold", "n_test", "n_correct", *SIZES)
    return {
        "title": experiment.title,
        "claim": experiment.claim,
        "run": run,
        "is_quick": run["repeats"] < experiment.repeats or run.get("n_samples", FULL_SIZE) < FULL_SIZE,
        "skipped": skipped,
        "cells": cells,
        "tests": tests,
        "record_fields": kept,
        "records": [[getattr(record, name) for name in kept] for record in records],
    }
