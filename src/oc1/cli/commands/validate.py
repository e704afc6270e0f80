"""``oc1 cv`` and ``oc1 compare``: learners side by side on the same folds."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any

import typer

from ...learners.registry import LEARNERS
from ..options import (
    Categorical,
    Dask,
    Data,
    Jobs,
    Json,
    OneHot,
    Param,
    Seed,
    completing,
    make,
    on_workers,
    with_parameters,
    with_reading,
)
from ..screen import Refusal, note, print_json, print_table, refusing, say
from .train import categories, check_target, with_categories

CLASSIFIERS = [name for name in LEARNERS if name != "regressor"]


def _read(data: str, options: Any, one_hot: bool, categorical: bool):
    from ...files.tables.reading import read_table

    return read_table(data, options, categories=categories(one_hot, categorical))


@refusing
@with_parameters
@with_reading
def cv(
    data: Data,
    learner: Annotated[
        list[str] | None,
        typer.Option(
            "--learner",
            "-l",
            metavar="NAME",
            help=f"{', '.join(CLASSIFIERS)}; may be given several times (default: oc1).",
            autocompletion=completing(CLASSIFIERS),
        ),
    ] = None,
    folds: Annotated[int, typer.Option("--folds", "-k", min=2, help="Folds of a cross-validation.")] = 5,
    repeats: Annotated[
        int, typer.Option("--repeats", "-r", min=1, help="Cross-validations, each with its own folds.")
    ] = 1,
    leave_one_out: Annotated[bool, typer.Option("--leave-one-out", help="As many folds as examples.")] = False,
    one_hot: OneHot = False,
    categorical: Categorical = False,
    seed: Seed = 0,
    jobs: Jobs = 1,
    dask: Dask = None,
    verbose: Annotated[int, typer.Option("--verbose", "-v", count=True, help="Show each fold.")] = 0,
    param: Param = None,
    json: Json = False,
    options: Any = None,
    parameters: dict[str, Any] | None = None,
) -> None:
    """Cross-validate learners side by side, on the same folds.

    Parameters are used by the learners that have them; one that none of them has is an error. The last column is the
    chance of a difference as large as that from the first learner if there were none (a corrected paired t-test).

    Example: oc1 cv iris.csv --learner oc1 --learner axis --learner c45 --repeats 10
    """
    import numpy as np

    from ...evaluation.protocol import corrected_t_test, cross_validate, summarise
    from ...growing.progress_bar import progress_bar

    names = list(dict.fromkeys(learner or ["oc1"]))
    _check_parameters(names, parameters or {}, param)
    contestants = {name: make(name, parameters or {}, param, strict=False) for name in names}
    table = _read(data, options, one_hot, categorical)
    if table.categorical:
        contestants = {name: _for_categories(name, own) for name, own in contestants.items()}
    check_target(table, numbers=False)
    n = len(table.y)
    classes, counts = np.unique(table.y, return_counts=True)
    if leave_one_out:
        folds, repeats = n, 1
    elif counts.min() < folds and counts.max() < folds:
        raise Refusal(f"no class has as many as {folds} examples; use fewer --folds, or --leave-one-out")
    elif counts.min() < folds:
        rarest = classes[counts.argmin()]
        note(f"note: class {rarest!s} has only {counts.min()} examples: not every fold has one")
    total = len(names) * folds * repeats
    with progress_bar("folds", total) as bar:

        def tell(record) -> None:
            if verbose and not json:
                fold = f"{record.learner}: repeat {record.repeat + 1}, fold {record.fold + 1}"
                say(f"{fold}: {record.n_correct}/{record.n_test} correct, {record.leaves} leaves")
            bar.advance()

        def run():
            return cross_validate(
                contestants, table.X, table.y, repeats=repeats, folds=folds, seed=seed, n_jobs=jobs, on_record=tell
            )

        records = on_workers(dask, run)
    cells = summarise(records)
    chances = [corrected_t_test(records, cell.learner, names[0]).p_value for cell in cells[1:]]
    if json:
        learners = [_figures(cell, chance) for cell, chance in zip(cells, [None, *chances], strict=True)]
        folds_done = [asdict(record) for record in records] if not leave_one_out else []
        print_json({"data": data, "examples": n, "folds": folds, "repeats": repeats, "seed": seed, "learners": learners,
                    "records": folds_done})  # fmt: skip
        return
    how = "leave-one-out" if leave_one_out else f"{repeats} x {folds}-fold cross-validation"
    say(f"{n} examples, {len(classes)} classes; {how}")
    rows = [_row(cell, chance) for cell, chance in zip(cells, [None, *chances], strict=True)]
    print_table(["learner", "accuracy %", "leaves", "depth", "seconds a fit", f"p, against {names[0]}"], rows)


def _row(cell: Any, chance: float | None) -> list[str]:
    deviation = "" if cell.accuracy_sd is None else f" ± {cell.accuracy_sd:.2f}"
    sizes = ["-" if size is None else f"{size:.1f}" for size in (cell.leaves, cell.depth)]
    return [cell.learner, f"{cell.accuracy:.2f}{deviation}", *sizes, f"{cell.seconds:.3f}", _chance(chance)]


def _figures(cell: Any, chance: float | None) -> dict[str, Any]:
    """Return a row for programs; accuracies are shares, as in the other commands."""
    figures = _as_shares(asdict(cell), ("accuracy", "accuracy_sd"))
    del figures["data"]
    return figures | {"p_value": chance}


def _as_shares(row: dict[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    return row | {name: None if row[name] is None else row[name] / 100 for name in names}


def _chance(p: float | None) -> str:
    return "" if p is None else "< 0.001" if p < 0.001 else f"{p:.3f}"


def _check_parameters(names: list[str], parameters: dict[str, Any], extra: list[str] | None) -> None:
    """Refuse learners and parameters that do not exist."""
    from ...learners.registry import parameters_of

    if "regressor" in names:
        raise Refusal("--learner regressor predicts numbers; cross-validation here is of classifiers")
    for name in names:
        make(name, {}, None)
    known = {key for name in names for key in parameters_of(name)}
    given = [*parameters, *(text.partition("=")[0] for text in extra or ())]
    for key in given:
        if key not in known:
            raise Refusal(f"none of the learners {', '.join(names)} has a parameter {key!r}")


def _for_categories(name: str, estimator: Any):
    if name not in ("oc1", "axis", "vote"):
        raise Refusal(f"the learner {name!r} takes no categories; use --one-hot")
    return with_categories(estimator)


@refusing
@with_reading
def compare(
    data: Data,
    folds: Annotated[int, typer.Option("--folds", "-k", min=2, help="Folds of a cross-validation.")] = 5,
    repeats: Annotated[int, typer.Option("--repeats", "-r", min=1, help="Cross-validations.")] = 3,
    learner: Annotated[
        list[str] | None,
        typer.Option(
            "--learner",
            "-l",
            metavar="NAME",
            help="A further learner to compare with.",
            autocompletion=completing(CLASSIFIERS[3:]),
        ),
    ] = None,
    one_hot: OneHot = False,
    seed: Seed = 0,
    jobs: Jobs = 1,
    dask: Dask = None,
    json: Json = False,
    options: Any = None,
) -> None:
    """Say in plain words whether oblique splits pay on these data.

    Compares oblique and axis-parallel trees, a vote of trees, scikit-learn's tree and logistic regression.

    Example: oc1 compare iris.csv --target species
    """
    from ...evaluation.comparison import compare as compare_learners

    names = list(dict.fromkeys(learner or []))
    _check_parameters(names, {}, None)
    for name in names:
        if name in ("oc1", "axis", "vote"):
            raise Refusal(f"--learner {name}: it is compared anyway")
    table = _read(data, options, one_hot, False)
    further = {LEARNERS[name].title: make(name, {}, None) for name in names}

    def run():
        return compare_learners(
            table.X, table.y, learners=further, folds=folds, repeats=repeats, random_state=seed, n_jobs=jobs
        )

    comparison = on_workers(dask, run)
    if json:
        figures = comparison.to_dict()
        rows = [_as_shares(row, ("accuracy", "accuracy_sd", "difference")) for row in figures["table"]]
        print_json(figures | {"table": rows})
    else:
        say(str(comparison))
