"""``oc1 reproduce``: the paper's experiments."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from ..options import Dask, Jobs, Seed, on_workers
from ..screen import INTERRUPTED, UsageError, check_choice, fail, note, say

#: What this command could run once.
MOVED = dict.fromkeys(("further", "suite"), "python benchmarks/compare.py trees")
MOVED["peers"] = "python benchmarks/compare.py peers"


def reproduce(
    what: Annotated[list[str] | None, typer.Argument()] = None,
    data: Path | None = None,
    out: Annotated[Path, typer.Option("--output", "-o", "--out")] = Path("oc1-results"),
    sets: Annotated[list[str] | None, typer.Option("--set")] = None,
    repeats: Annotated[int | None, typer.Option("--repeats", "-r", min=1)] = None,
    quick: bool = False,
    fresh: bool = False,
    seed: Seed = 0,
    jobs: Jobs = 1,
    dask: Dask = None,
    list_: Annotated[bool, typer.Option("--list")] = False,
) -> None:
    """Reproduce the paper's tables and figures, beside its values.

    To resume an interrupted run, give the same command again.

    Example: oc1 reproduce table1 --data data --repeats 10 --jobs 2 -o results

    Parameters
    ----------
    what : EXPERIMENT...
        table1, table2, figures, ...; all: everything in the paper.
    data : DIR
        Folder of CSV files to use instead of installed packages.
    out : DIR
        Folder for the results.
    sets : NAME
        Only run this data set; may be given several times.
    repeats : int
        Number of cross-validations (default: 10; --quick: 1).
    quick : bool
        One repeat, and artificial data of 500 points. The results say so.
    fresh : bool
        Start over instead of continuing a run.
    list_ : bool
        List the experiments.
    """
    from ...experiments import definitions
    from ...experiments.reproduce import Interrupted
    from ...experiments.reproduce import reproduce as run
    from ...experiments.results import draw_figures

    experiments = definitions.make_experiments()
    if list_:
        for name, experiment in experiments.items():
            say(f"{name:12} {experiment.title}")
        say("figures      the paper's figures")
        return
    names = _chosen(what or [], experiments)
    n_samples = 500 if quick else definitions.FULL_SIZE
    run_one = partial(run, data=data, n_jobs=jobs, seed=seed, n_samples=n_samples, fresh=fresh, only=sets)

    def run_all() -> None:
        for name in names:
            if name == "figures":
                for path in draw_figures(out, seed, note):
                    say(str(path))
                continue
            n_repeats = repeats or (1 if quick else experiments[name].repeats)
            run_one(experiments[name], out, repeats=n_repeats, say=note)
            say((out / f"{name}.md").read_text(encoding="utf-8"))

    try:
        on_workers(dask, run_all, kept="; run the same command to continue")
    except Interrupted as interrupted:
        fail(str(interrupted), INTERRUPTED, mark="")
    note(f"report: {out / 'report.html'}")


def _chosen(given: list[str], experiments: dict[str, Any]) -> list[str]:
    """Return the names of the experiments that were asked for."""
    known = [*experiments, "figures", "all"]
    if not given:
        raise UsageError(f"name an experiment: {', '.join(known)}")
    for name in given:
        if name in MOVED:
            raise UsageError(f"{name!r} goes beyond the paper: {MOVED[name]}, in the repository, runs it")
        check_choice("experiment", name, known)
    if "all" in given:
        return [*experiments, "figures"]
    return list(dict.fromkeys(given))
