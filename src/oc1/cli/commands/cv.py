"""``oc1 cv``: learners side by side on the same folds."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ...growing.progress_bar import progress_bar
from ...learners.registry import LEARNERS
from ..options import Categorical, Dask, Data, Folds, Jobs, Json, OneHot, Repeats, Seed, choice, on_workers
from ..parameters import make_estimator
from ..screen import UsageError, note, print_json, print_table, say

if TYPE_CHECKING:
    from ...evaluation.protocol import FoldRecord
    from ...files.tables import ReadOptions

CLASSIFIERS = [name for name in LEARNERS if name != "regressor"]


def cv(
    data: Data,
    options: ReadOptions,
    parameters: dict[str, Any],
    learner: Annotated[list[str] | None, choice(CLASSIFIERS, "--learner", "-l")] = None,
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
    p-value of the difference from the first learner (corrected paired t-test).

    Example: oc1 cv iris.csv --learner oc1 --learner axis --learner c45 --repeats 10

    Parameters
    ----------
    learner : NAME
        oc1, axis, vote, cart, cart-lc, c45, lmdt, sadt, msmt, perceptron; may be given several times (default: oc1).
    leave_one_out : bool
        As many folds as examples.
    verbose : int
        Show each fold.
    """
    names = list(dict.fromkeys(learner or ["oc1"]))
    check_learners(names, parameters)
    contestants = {name: make_estimator(name, parameters, strict=False) for name in names}

    import numpy as np

    from ...evaluation.comparison import table_cells
    from ...evaluation.protocol import cross_validate
    from ..training import check_classes, for_categories, read_training_table

    table = read_training_table(data, options, one_hot=one_hot, categorical=categorical)
    if table.categorical:
        contestants = {name: for_categories(name, own) for name, own in contestants.items()}
    check_classes(table)
    y = np.asarray(table.y)
    classes, counts = np.unique(y, return_counts=True)
    n = int(counts.sum())
    if leave_one_out:
        folds, repeats = n, 1
    else:
        _check_folds(folds, classes, counts)
    with progress_bar("folds", len(names) * folds * repeats) as bar:

        def on_record(record: FoldRecord) -> None:
            if verbose and not json:
                fold = f"{record.learner}: repeat {record.repeat + 1}, fold {record.fold + 1}"
                say(f"{fold}: {record.n_correct}/{record.n_test} correct, {record.leaves} leaves")
            bar.advance()

        def run() -> list[FoldRecord]:
            return cross_validate(
                contestants, table.X, y, repeats=repeats, folds=folds, seed=seed, n_jobs=jobs, on_record=on_record
            )

        records = on_workers(dask, run)
    learners = _results(records, names[0])
    if json:
        settings = {"data": data, "examples": n, "folds": folds, "repeats": repeats, "seed": seed}
        shares = [as_shares(row, "accuracy", "accuracy_sd") for row in learners]
        kept = [] if leave_one_out else [asdict(one) for one in records]
        print_json(settings | {"learners": shares, "records": kept})
        return
    how = "leave-one-out" if leave_one_out else f"{repeats} x {folds}-fold cross-validation"
    say(f"{n} examples, {len(classes)} classes; {how}")
    header = ["learner", "accuracy %", "leaves", "depth", "seconds per fit", f"p, against {names[0]}"]
    print_table(header, [table_cells(row, digits=2) for row in learners])


def _results(records: list[FoldRecord], first: str) -> list[dict[str, Any]]:
    """Return a row for each learner, with the p-value of its difference from the first."""
    from ...evaluation.protocol import corrected_t_test, summarise

    rows = [asdict(one) for one in summarise(records)]
    for row in rows:
        is_first = row["learner"] == first
        row["p_value"] = None if is_first else corrected_t_test(records, row["learner"], first).p_value
        del row["data"]
    return rows


def _check_folds(folds: int, classes: Any, counts: Any) -> None:
    if counts.max() < folds:
        raise UsageError(f"no class has {folds} examples; use fewer --folds, or --leave-one-out")
    if counts.min() < folds:
        rarest = classes[counts.argmin()]
        note(f"note: class {rarest!s} has only {counts.min()} examples: some folds have none")


def as_shares(row: dict[str, Any], *names: str) -> dict[str, Any]:
    """Return a row with shares in place of percentages: programs get shares from all commands."""
    return row | {name: None if row[name] is None else row[name] / 100 for name in names}


def check_learners(names: list[str], parameters: dict[str, Any]) -> None:
    """Refuse learners that do not exist or are not classifiers, and parameters that none of them has."""
    from ...learners.registry import parameters_of

    if "regressor" in names:
        raise UsageError("--learner regressor predicts numbers; only classifiers can be cross-validated here")
    for name in names:
        make_estimator(name, {})
    known = {key for name in names for key in parameters_of(name)}
    for key in parameters:
        if key not in known:
            raise UsageError(f"none of the learners {', '.join(names)} has a parameter {key!r}")
