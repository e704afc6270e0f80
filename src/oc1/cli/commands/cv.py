"""``oc1 cv``: learners side by side on the same folds."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ...growing.progress_bar import progress_bar
from ...learners.registry import LEARNERS, OF_NUMBERS
from ..options import Categorical, Dask, Data, Folds, Jobs, Json, OneHot, Repeats, Seed, choice, on_workers
from ..parameters import make_estimator
from ..screen import UsageError, note, print_json, print_table, say

if TYPE_CHECKING:
    from ...evaluation.protocol import FoldRecord
    from ...files.tables import ReadOptions, Table


def cv(
    data: Data,
    options: ReadOptions,
    parameters: dict[str, Any],
    learner: Annotated[list[str] | None, choice([*LEARNERS], "--learner", "-l")] = None,
    folds: Folds = 5,
    repeats: Repeats = 1,
    leave_one_out: bool = False,
    one_hot: OneHot = False,
    categorical: Categorical = False,
    seed: Seed = 0,
    jobs: Jobs = 1,
    dask: Dask = None,
    verbose: Annotated[int, typer.Option("--verbose", "-v", count=True)] = 0,
    json: Json = False,
) -> None:
    """Cross-validate learners side by side, on the same folds.

    A parameter is used by the learners that have it; one that none of them has is an error. The last column is the
    p-value of the difference from the first learner (corrected paired t-test). For --learner regressor and
    forest-regressor, R2 and errors are shown instead of accuracies.

    Example: oc1 cv iris.csv --learner oc1 --learner axis --learner c45 --repeats 10

    Parameters
    ----------
    learner : NAME
        oc1, axis, vote, forest, cart, cart-lc, c45, lmdt, sadt, msmt, perceptron; may be given several times; or
        regressor, forest-regressor (default: oc1).
    leave_one_out : bool
        As many folds as examples.
    verbose : int
        Show each fold.
    """
    names = list(dict.fromkeys(learner or ["oc1"]))
    check_learners(names, parameters)

    from ..training import check_classes, check_kind_of_target, for_categories, read_training_table

    is_regression = names[0] in OF_NUMBERS
    table = read_training_table(data, options, one_hot=one_hot, categorical=categorical, numbers=is_regression)
    if learner is None:
        check_kind_of_target(table)
    contestants = {name: make_estimator(name, parameters, strict=False) for name in names}
    if table.categorical:
        contestants = {name: for_categories(name, own) for name, own in contestants.items()}
    if not is_regression:
        check_classes(table)
    n = len(table.y)
    folds, repeats = (n, 1) if leave_one_out else (folds, repeats)
    how = "leave-one-out" if leave_one_out else f"{repeats} x {folds}-fold cross-validation"
    settings = {"data": data, "examples": n, "folds": folds, "repeats": repeats, "seed": seed}
    n_classes = None if is_regression else _check_folds(folds, table.y, leave_one_out)
    if is_regression and folds > n:
        raise UsageError(f"there are {n} examples; use fewer --folds, or --leave-one-out")
    with progress_bar("folds", len(names) * folds * repeats) as bar:

        def on_record(record: Any) -> None:
            if verbose and not json:
                say(f"{record.learner}: repeat {record.repeat + 1}, fold {record.fold + 1}: {_outcome(record)}")
            bar.advance()

        options_of_run = {"repeats": repeats, "folds": folds, "seed": seed, "n_jobs": jobs, "on_record": on_record}
        records = on_workers(dask, lambda: _run(contestants, table, is_regression, options_of_run))
    kept = [] if leave_one_out else [asdict(one) for one in records]
    if is_regression:
        _report_regression(records, f"{n} examples; {how}", settings | {"records": kept}, json)
        return
    from ...evaluation.comparison import table_cells

    learners = _results(records, names[0])
    if json:
        shares = [as_shares(row, "accuracy", "accuracy_sd") for row in learners]
        print_json(settings | {"learners": shares, "records": kept})
        return
    say(f"{n} examples, {n_classes} classes; {how}")
    header = ["learner", "accuracy %", "leaves", "depth", "seconds per fit", f"p, against {names[0]}"]
    print_table(header, [table_cells(row, digits=2) for row in learners])


def _run(contestants: dict[str, Any], table: Table, is_regression: bool, options: dict[str, Any]) -> list[Any]:
    """Return the records of a cross-validation."""
    if is_regression:
        from ...evaluation.regression import cross_validate_regressors

        return list(cross_validate_regressors(contestants, table.X, table.y, **options))
    from ...evaluation.protocol import cross_validate

    return list(cross_validate(contestants, table.X, table.y, **options))


def _outcome(record: Any) -> str:
    """Say how one fold went."""
    if hasattr(record, "n_correct"):
        return f"{record.n_correct}/{record.n_test} correct, {record.leaves} leaves"
    return f"mean absolute error {record.absolute_error:.4g}, {record.leaves} leaves"


def _report_regression(records: list[Any], title: str, settings: dict[str, Any], json: bool) -> None:
    """Print how regressors did."""
    from ...evaluation.regression import summarise_regression

    rows = summarise_regression(records)
    if json:
        print_json(settings | {"learners": [asdict(row) for row in rows]})
        return
    say(title)
    header = ["learner", "R2", "abs. error", "rms error", "leaves", "depth", "seconds"]
    cells = []
    for row in rows:
        deviation = "" if row.r2_sd is None else f" ± {row.r2_sd:.3f}"
        errors = [f"{row.absolute_error:.4g}", f"{row.root_squared_error:.4g}"]
        sizes = ["-" if size is None else f"{size:.1f}" for size in (row.leaves, row.depth)]
        cells.append([row.learner, f"{row.r2:.3f}{deviation}", *errors, *sizes, f"{row.seconds:.3f}"])
    print_table(header, cells)


def _results(records: list[FoldRecord], first: str) -> list[dict[str, Any]]:
    """Return a row for each learner, with the p-value of its difference from the first."""
    from ...evaluation.protocol import corrected_t_test, summarise

    rows = [asdict(one) for one in summarise(records)]
    for row in rows:
        is_first = row["learner"] == first
        row["p_value"] = None if is_first else corrected_t_test(records, row["learner"], first).p_value
        del row["data"]
    return rows


def _check_folds(folds: int, y: Any, leave_one_out: bool) -> int:
    """Return the number of classes, if they have enough examples for the folds."""
    import numpy as np

    classes, counts = np.unique(y, return_counts=True)
    if leave_one_out:
        return len(classes)
    if counts.max() < folds:
        raise UsageError(f"no class has {folds} examples; use fewer --folds, or --leave-one-out")
    if counts.min() < folds:
        rarest = classes[counts.argmin()]
        note(f"note: class {rarest!s} has only {counts.min()} examples: some folds have none")
    return len(classes)


def as_shares(row: dict[str, Any], *names: str) -> dict[str, Any]:
    """Return a row with shares in place of percentages: programs get shares from all commands."""
    return row | {name: None if row[name] is None else row[name] / 100 for name in names}


def check_learners(names: list[str], parameters: dict[str, Any]) -> None:
    """Refuse learners that do not exist or do not go together, and parameters that none of them has."""
    from ...learners.registry import parameters_of

    of_numbers = [name for name in names if name in OF_NUMBERS]
    if of_numbers and len(of_numbers) < len(names):
        raise UsageError(f"--learner {of_numbers[0]} predicts numbers, and cannot be compared with classifiers")
    for name in names:
        make_estimator(name, {})
    known = {key for name in names for key in parameters_of(name)}
    for key in parameters:
        if key not in known:
            raise UsageError(f"none of the learners {', '.join(names)} has a parameter {key!r}")
