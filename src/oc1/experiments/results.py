"""The files that a run leaves in its folder: results, timings, tables, charts, figures and the page of all."""

from __future__ import annotations

import json
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

from ..evaluation.protocol import FoldRecord, summarise
from ..files.atomic import locked, write_file
from ..files.problems import FileProblem
from . import report
from .definitions import Experiment, make_experiments
from .journal import LOCK

#: What an experiment gave, in JSON's types: see `oc1.experiments.reproduce`.
Entry = dict[str, Any]


def write_results(
    out: Path, experiment: Experiment, entry: Entry, records: list[FoldRecord], say: Callable[[str], None]
) -> None:
    """Write the results beside those of other experiments in the folder, and the report of all."""
    times = {f"{one.data} / {one.learner}": one.seconds for one in summarise(records)}
    with locked(out / LOCK):  # another process may add another experiment
        _update(out / "results.json", experiment.name, entry)
        _update(out / "timings.json", experiment.name, times)
        write_file(out / f"{experiment.name}.md", report.markdown(entry, times).encode())
        _draw_charts(out, experiment, entry, say)
        _write_page(out)


def _read(path: Path) -> dict[str, Any]:
    """Return the experiments in a file, nothing if there is no file."""
    try:
        content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    except ValueError:
        raise FileProblem(path, "is not valid JSON; delete it and run again (the journals are kept)") from None
    return content


def _update(path: Path, name: str, entry: Any) -> None:
    """Put an entry into a file of one JSON object, one experiment a line."""
    everything = _read(path) | {name: entry}
    order = [known for known in make_experiments() if known in everything]
    order += sorted(everything.keys() - set(order))
    lines = ",\n".join(f"{json.dumps(one)}: {json.dumps(everything[one], sort_keys=True)}" for one in order)
    write_file(path, f"{{\n{lines}\n}}\n".encode())


def _write_page(out: Path) -> None:
    """Write ``report.html`` and ``claims.md`` from what the folder holds."""
    # Earlier versions also ran experiments beyond the paper, which have tables of their own. They stay in the file.
    entries = _read(out / "results.json").items()
    results = {name: entry for name, entry in entries if not entry.keys() & {"contest", "source"}}
    pictures = {name: sorted(out.glob(f"{name}-chart*.png")) for name in results}
    pictures["figures"] = sorted((out / "figures").glob("*.png"))
    page = report.page(results, _read(out / "timings.json"), pictures)
    write_file(out / "report.html", page.encode())
    if claims := report.claims_markdown(results):
        write_file(out / "claims.md", claims.encode())


def _drawing(module: str, say: Callable[[str], None]) -> Any:
    """Return the module that draws charts or figures, or None if matplotlib is not installed."""
    try:
        return import_module(f".{module}", __package__)
    except ImportError as error:
        say(f'no pictures ({error}): pip install "oc1[experiments]"')
        return None


def _draw_charts(out: Path, experiment: Experiment, entry: Entry, say: Callable[[str], None]) -> None:
    """Draw our accuracies beside the paper's, or accuracy against restarts, for the page."""
    compared = [cell for cell in entry["cells"] if (cell["paper"] or {}).get("accuracy") is not None]
    charts = _drawing("charts", say) if compared or experiment.is_curve else None
    if charts and compared:
        charts.bar_chart(compared, out / f"{experiment.name}-chart.png")
    if charts and experiment.is_curve:
        n_restarts = {(cell.data, cell.learner): cell.estimator.n_restarts for cell in experiment.cells}
        points = [cell | {"restarts": n_restarts[cell["data"], cell["learner"]]} for cell in entry["cells"]]
        for curve in ("paper", "defaults"):
            own = [point for point in points if point["learner"].endswith("paper") == (curve == "paper")]
            charts.restarts_curve(own, out / f"{experiment.name}-chart-{curve}.png")


def draw_figures(out: Path, seed: int, say: Callable[[str], None]) -> list[Path]:
    """Draw pictures like the paper's figures into ``out/figures`` and put them on the page; return their paths."""
    figures = _drawing("figures", say)
    drawn: list[Path] = figures.draw_all(out / "figures", seed) if figures else []
    if drawn:
        with locked(out / LOCK):
            _write_page(out)
    return drawn
