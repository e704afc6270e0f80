"""The paper's tables and figures, repeated, and what goes beyond them: ``oc1 reproduce table1``.

`reproduce` runs one experiment of `plans` on the data of `data` by the protocol of `oc1.evaluation`, keeps every fold
in a journal, and writes the results and the report.
"""

from __future__ import annotations

import hashlib
import json
import os
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import numpy as np

from .. import __version__
from ..evaluation.protocol import FoldRecord, FoldTask, Summary, corrected_t_test, make_tasks, run_tasks, summarise
from ..growing.progress_bar import progress_bar
from . import report
from .contest import standings
from .data import ARTIFICIAL, DataSet, MissingData, load
from .journal import Journal, journal_path
from .peers import Peer, why_missing
from .plans import Plan, make_plans
from .trials import TrialRecord, run_trials

__all__ = ["draw_figures", "make_plans", "reproduce"]

FOLDS = 5
#: Seconds that a fit may take in a contest.
LIMIT = 60.0


class Interrupted(Exception):
    """The run was stopped by the user; the message says how far it came."""


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def reproduce(
    plan: Plan,
    out: Path,
    *,
    data: Path | None = None,
    repeats: int = 10,
    n_jobs: int = 1,
    seed: int = 0,
    n_samples: int = 2000,
    fresh: bool = False,
    only: Sequence[str] | None = None,
    limit: float = LIMIT,
    say: Callable[[str], None] = _say,
) -> dict:
    """Run an experiment, or what is left of it, and write its results and report.

    Parameters
    ----------
    plan : Plan
        One of `make_plans`.
    out : Path
        The folder for the journal, ``results.json``, ``timings.json``, ``report.html`` and the Markdown table.
    data : Path, optional
        A folder of CSV files; without it the installed packages are asked. A set that is not there is skipped.
    repeats : int, default=10
    n_jobs : int, default=1
        Processes; the results do not depend on it.
    seed : int, default=0
        The same seed gives the same results, and the same artificial data.
    n_samples : int, default=2000
        Points in the artificial sets.
    fresh : bool, default=False
        Start over instead of going on with the journal.
    only : list of str, optional
        The data sets to run now; what the journal has of the others is reported as well.
    limit : float, default=60
        Seconds that a fit may take in a contest with other packages' learners. There a learner that fails is reported
        as such, and one whose package is not installed is left out: a run with the same `out` in another environment
        adds it.
    say : callable, optional
        Takes lines for the user; by default they go to stderr.

    Returns
    -------
    dict
        The entry of ``results.json``.

    Raises
    ------
    ValueError
        If a data set is not the one expected, or no set is there, or `only` names one that the plan has not.
    Interrupted
        If the user stopped it (Ctrl-C). What was done is kept.
    """
    if unknown := [name for name in only or () if name not in plan.data]:
        raise ValueError(f"{plan.name} has no data set {unknown[0]!r}; it has {', '.join(plan.data)}")
    sets, skipped = _load_all(plan, data, seed, n_samples, say)
    if not sets:
        raise ValueError(f"{plan.name}: none of its data sets is there: {', '.join(plan.data)}")
    run = {
        "name": plan.name,
        "version": __version__,
        "code": _code(),
        "seed": seed,
        "repeats": repeats,
        "folds": FOLDS,
        "data": {name: one.checksum for name, one in sets.items()},
        "learners": {
            f"{cell.data} / {cell.learner}": _parameters(cell.estimator)
            for cell in plan.cells
            if cell.data in sets and cell.estimator is not None
        },
    }
    if any(name in ARTIFICIAL for name in sets):
        run["n_samples"] = n_samples
    if plan.ours:
        run["limit"] = limit
    path = journal_path(out, plan.name, run)
    if fresh:
        path.unlink(missing_ok=True)
    tasks = _tasks(plan, sets, repeats, seed)
    missing = _missing_packages(tasks)
    now = [task for task in tasks if (only is None or task.data in only) and _package(task) not in missing]
    with Journal(path, run, TrialRecord if plan.ours else FoldRecord) as journal:
        failures = {_cell(record): _failure(record) for record in journal.records.values() if _failure(record)}
        todo = [task for task in now if task.key not in journal.records and _cell(task) not in failures]
        if len(todo) < len(now):
            say(f"{plan.name}: {len(now) - len(todo)} of {len(now)} folds are already in {path}")
        # As they are started, because a learner that failed on a fold is not asked for the others.
        going = (task for task in todo if _cell(task) not in failures)
        try:
            with warnings.catch_warnings(), progress_bar(plan.name, len(now), len(now) - len(todo)) as bar:
                # joblib's, when the user stops a run: ours says it all.
                warnings.filterwarnings("ignore", message=".*tasks which were still being processed")
                for record in run_trials(going, n_jobs, limit) if plan.ours else _start(todo, n_jobs):
                    journal.append(record)
                    if _failure(record):
                        failures[_cell(record)] = _failure(record)
                    bar.advance()
        except KeyboardInterrupt:
            done = sum(task.key in journal.records for task in now)
            raise Interrupted(
                f"{plan.name}: interrupted after {done} of {len(now)} folds; the same command goes on from there"
            ) from None
        unfinished = {_cell(task) for task in tasks if task.key not in journal.records or _cell(task) in failures}
        whole = sorted((task for task in tasks if _cell(task) not in unfinished), key=_order(plan))
        records = [journal.records[task.key] for task in whole]
    for package, why in missing.items():
        if any(_package(task) == package and _cell(task) in unfinished for task in tasks):
            skipped.append(f"{why}: left out; the same --out in an environment that has it adds its results")
            say(skipped[-1])
    shown = {record.data for record in records}
    if unasked := [name for name in sets if only is not None and name not in only and name not in shown]:
        skipped.append(f"{', '.join(unasked)}: not among the sets asked for")
    entry = _entry(plan, run, records, skipped)
    if plan.ours:
        entry["contest"] = standings(records, plan.ours, FOLDS)
        entry["failures"] = {" / ".join(cell): reason for cell, reason in sorted(failures.items())}
    _write(out, plan, entry, _timings(records), say)
    return entry


def _cell(one: FoldTask | FoldRecord) -> tuple[str, str]:
    return one.data, one.learner


def _failure(record: FoldRecord) -> str:
    return record.failure if isinstance(record, TrialRecord) else ""


def _package(task: FoldTask) -> str:
    """Return the package that a task needs besides this one."""
    return task.estimator.package if isinstance(task.estimator, Peer) else ""


def _missing_packages(tasks: Iterable[FoldTask]) -> dict[str, str]:
    """Return why packages cannot be used, for those that cannot."""
    packages = dict.fromkeys(_package(task) for task in tasks)
    reasons = {package: why_missing(package) for package in packages if package}
    return {package: why for package, why in reasons.items() if why is not None}


def _timings(records: list[FoldRecord]) -> dict[str, Any]:
    """Return the median seconds of a fit for each cell; in a contest also its time as a multiple of the yardstick."""
    timings: dict[str, Any] = {f"{one.data} / {one.learner}": one.seconds for one in summarise(records)}
    ratios: dict[str, list[float]] = {}
    for record in records:
        if isinstance(record, TrialRecord):
            ratio = record.seconds / record.yardstick_seconds
            ratios.setdefault(f"{record.data} / {record.learner}", []).append(ratio)
    return {
        name: {"seconds": seconds, "ratio": float(np.median(ratios[name]))} if name in ratios else seconds
        for name, seconds in timings.items()
    }


def _load_all(plan: Plan, folder: Path | None, seed: int, n_samples: int, say) -> tuple[dict[str, DataSet], list[str]]:
    if folder is not None and not folder.is_dir():
        raise ValueError(f"--data {folder}: there is no such folder")
    sets, skipped = {}, []
    for name in plan.data:
        try:
            sets[name] = load(name, folder, seed, n_samples)
        except MissingData as missing:
            skipped.append(str(missing))
            say(str(missing))
        else:
            if name == "iris" and sets[name].source == "scikit-learn":
                say("iris is scikit-learn's, two rows of which differ from the UCI file")
    return sets, skipped


def _code() -> str:
    """Return a digest of all code that results come from: between releases the version says nothing about it."""
    package = Path(__file__).resolve().parents[1]
    files = sorted(path for path in package.rglob("*.py") if path.parent.name != "experiments")
    parts = (path.relative_to(package).as_posix().encode() + b"\0" + path.read_bytes() for path in files)
    return hashlib.sha256(b"\0".join(parts)).hexdigest()


def _parameters(estimator) -> dict[str, str]:
    return {name: repr(value) for name, value in sorted(estimator.get_params().items())}


def _tasks(plan: Plan, sets: dict[str, DataSet], repeats: int, seed: int) -> list[FoldTask]:
    """Return all fits, one repeat after the other, so that the time left can be told early."""
    tasks = []
    for name, one in sets.items():
        cells = [cell for cell in plan.cells if cell.data == name and cell.estimator is not None]
        contestants = {cell.learner: cell.estimator for cell in cells}
        tasks += make_tasks(contestants, one.X, one.y, repeats=repeats, folds=FOLDS, seed=seed, data=name)
    return sorted(tasks, key=lambda task: task.repeat)


def _order(plan: Plan) -> Callable[[FoldTask], tuple[int, int, int]]:
    places = {(cell.data, cell.learner): number for number, cell in enumerate(plan.cells)}
    return lambda task: (places[task.data, task.learner], task.repeat, task.fold)


def _start(tasks: list[FoldTask], n_jobs: int) -> Iterator[FoldRecord]:
    """Start the tasks in processes that leave Ctrl-C to this one: they would answer it with tracebacks."""
    if threading.current_thread() is not threading.main_thread():
        return run_tasks(tasks, n_jobs)  # only the main thread may set signals
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)  # which the processes inherit
    try:
        return run_tasks(tasks, n_jobs)
    finally:
        signal.signal(signal.SIGINT, before)


def _entry(plan: Plan, run: dict, records: list[FoldRecord], skipped: list[str]) -> dict:
    """Return all that came of a run, but for the times: those differ from run to run."""
    summaries = {(summary.data, summary.learner): summary for summary in summarise(records)}
    shown = {summary.data for summary in summaries.values()}
    cells = []
    for cell in plan.cells:
        summary = summaries.get((cell.data, cell.learner))
        if summary is None and (cell.estimator is not None or cell.data not in shown):
            continue
        values = asdict(summary) if summary else dict.fromkeys(field.name for field in fields(Summary))
        values = values | {"data": cell.data, "learner": cell.learner}
        del values["seconds"]
        cells.append(values | {"paper": None if cell.paper is None else asdict(cell.paper)})
    tests = [
        {"data": name, "a": a, "b": b, "difference": test.difference, "p_value": test.p_value}
        for a, b in plan.pairs
        for name in dict.fromkeys(record.data for record in records)
        if {(name, a), (name, b)} <= summaries.keys()
        for test in [corrected_t_test(records, a, b, name)]
    ]
    kept = ("data", "learner", "repeat", "fold", "n_test", "n_correct", "leaves", "depth", "hyperplanes")
    return {
        "title": plan.title,
        "claim": plan.claim,
        "run": run,
        "skipped": skipped,
        "cells": cells,
        "tests": tests,
        "record_fields": kept,
        "records": [[getattr(record, name) for name in kept] for record in records],
    } | ({} if plan.source == "paper" else {"source": plan.source})


def _write(out: Path, plan: Plan, entry: dict, seconds: dict[str, Any], say) -> None:
    """Write the results beside those of other experiments in the folder, and the report of all."""
    results = _update(out / "results.json", plan.name, entry)
    timings = _update(out / "timings.json", plan.name, seconds)
    (out / f"{plan.name}.md").write_text(report.markdown(entry, seconds), encoding="utf-8")
    _draw_charts(out, plan, entry, say)
    write_page(out, results, timings)


def _update(path: Path, name: str, entry: dict) -> dict:
    """Put an entry into a file of one JSON object, one experiment a line; return the object."""
    try:
        everything = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    except ValueError:
        raise ValueError(f"{path} is not readable as JSON; delete it and run again (the journals are kept)") from None
    everything[name] = entry
    order = [known for known in make_plans() if known in everything]
    order += sorted(everything.keys() - set(order))
    lines = ",\n".join(f"{json.dumps(one)}: {json.dumps(everything[one], sort_keys=True)}" for one in order)
    unfinished = path.with_suffix(".tmp")
    unfinished.write_text(f"{{\n{lines}\n}}\n", encoding="utf-8")
    os.replace(unfinished, path)  # at no moment is there half a file
    return {one: everything[one] for one in order}


def write_page(out: Path, results: dict | None = None, timings: dict | None = None) -> Path:
    """Write ``report.html`` from what the folder holds; return its path."""
    if results is None:
        path = out / "results.json"
        results = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    pictures = {name: sorted(out.glob(f"{name}-chart*.png")) for name in results}
    pictures["figures"] = sorted([*(out / "figures").glob("*.png"), *(out / "figures").glob("*.svg")])
    path = out / "report.html"
    path.write_text(report.page(results, timings, pictures), encoding="utf-8")
    return path


def _drawing(say):
    """Return the modules that draw charts and figures, or None if matplotlib is not there."""
    try:
        from . import charts, figures
    except ImportError as error:
        say(f'no pictures ({error}): pip install "oc1[experiments]"')
        return None
    return charts, figures


def _draw_charts(out: Path, plan: Plan, entry: dict, say) -> None:
    """Draw our accuracies beside the paper's, or the restarts curves, for the page."""
    if plan.source != "paper":
        return
    compared = [cell for cell in entry["cells"] if (cell["paper"] or {}).get("accuracy") is not None]
    places = {(cell.data, cell.learner): cell for cell in plan.cells if cell.restarts is not None}
    if not compared and not places:
        return
    drawing = _drawing(say)
    if drawing is None:
        return
    charts, _ = drawing
    if compared:
        rows = [
            {
                "data": cell["data"],
                "learner": cell["learner"],
                "ours": cell["accuracy"],
                "ours_sd": cell["accuracy_sd"] or 0.0,
                "paper": cell["paper"]["accuracy"],
                "paper_sd": cell["paper"]["accuracy_sd"],
            }
            for cell in compared
        ]
        charts.bar_chart(rows, out / f"{plan.name}-chart.png")
    for curve in dict.fromkeys(cell.curve for cell in places.values()):
        points = [
            {
                "data": cell["data"],
                "restarts": places[cell["data"], cell["learner"]].restarts,
                "accuracy": cell["accuracy"],
                "accuracy_sd": cell["accuracy_sd"] or 0.0,
                "leaves": cell["leaves"],
            }
            for cell in entry["cells"]
            if places[cell["data"], cell["learner"]].curve == curve
        ]
        charts.restarts_curve(points, out / f"{plan.name}-chart-{curve}.png")


def draw_figures(out: Path, seed: int = 0, say: Callable[[str], None] = _say) -> list[Path]:
    """Draw pictures like the paper's figures into ``out/figures`` and put them on the page; return their paths."""
    drawing = _drawing(say)
    if drawing is None:
        return []
    _, figures = drawing
    (out / "figures").mkdir(parents=True, exist_ok=True)
    drawn = figures.draw_all(out / "figures", seed)
    timings = out / "timings.json"
    write_page(out, timings=json.loads(timings.read_text(encoding="utf-8")) if timings.exists() else None)
    return drawn
