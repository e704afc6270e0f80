"""``oc1 train``."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ...files.problems import FileProblem
from ...learners.registry import OF_MANY_TREES, OF_NUMBERS
from ..options import Categorical, Dask, Data, Jobs, Json, LearnerName, OneHot, OutputFile, Seed, Weights, on_workers
from ..parameters import make_estimator
from ..printing import print_classes, print_scores, print_size, print_tree, size_of
from ..screen import UsageError, check_output, in_background, note, print_json, say

if TYPE_CHECKING:
    from ...files.models.record import Score
    from ...files.tables import ReadOptions

#: Share of the examples that is held out by default, if there are not too few.
HELD_OUT_SHARE, MIN_EXAMPLES_TO_HOLD_OUT = 0.2, 10


def train(
    data: Data,
    options: ReadOptions,
    parameters: dict[str, Any],
    out: OutputFile = None,
    learner: LearnerName = None,
    test: Annotated[str | None, typer.Option("--test", "-T")] = None,
    holdout: Annotated[float | None, typer.Option(min=0.0)] = None,
    weights: Weights = None,
    one_hot: OneHot = False,
    categorical: Categorical = False,
    seed: Seed = 0,
    jobs: Jobs = 1,
    dask: Dask = None,
    verbose: Annotated[int, typer.Option("--verbose", "-v", count=True)] = 0,
    json: Json = False,
) -> None:
    """Train a tree on a file of examples, and say how accurate it is.

    The held-out accuracy is that of a tree grown without the examples it is tested on, a fifth of DATA (see --holdout
    and --test). The saved tree is trained on all of DATA.

    Example: oc1 train iris.csv --target species -o iris.json

    Parameters
    ----------
    out : FILE
        Model file: .json, .json.gz or .dt. (default: the name of DATA, with .json)
    test : FILE
        Labelled examples for the held-out accuracy.
    holdout : float
        Fraction (or, from 1 up, number) of the examples for the held-out accuracy; 0 for none. The saved model is
        fitted to all examples. (default: 0.2)
    learner : NAME
        oc1, axis, vote, forest, cart, cart-lc, c45, lmdt, sadt, msmt, perceptron, regressor, forest-regressor
        (default: oc1).
    verbose : int
        Show each node; -vv: each move with its impurities.
    """
    _check_dask(dask, learner or "oc1")
    verbose = parameters.pop("verbose", verbose)
    level = 0 if json else verbose
    estimator = make_estimator(learner or "oc1", parameters, random_state=seed, n_jobs=jobs, verbose=level)
    out = _checked_output(out, data, test)
    from ...files.models import Source, save_model
    from .. import training
    from ..predictor import Predictor, with_names

    is_regression = learner in OF_NUMBERS
    options = replace(options, weights=weights)
    table = training.read_training_table(data, options, one_hot=one_hot, categorical=categorical, numbers=is_regression)
    if learner is None:
        training.check_kind_of_target(table)
    if not is_regression:
        training.check_classes(table, getattr(estimator, "class_weight", None))
    learner = learner or "oc1"
    if table.categorical:
        estimator = training.for_categories(learner, estimator)
    n = len(table.y)
    share = _held_out_share(n) if holdout is None else holdout
    table = training.named_columns(table)
    ranges = () if table.categorical else training.value_ranges(table.X)
    columns = None if table.file_columns.is_usual else table.file_columns
    source = Source(table.target, table.one_hot, ranges, n, columns=columns)
    table = replace(table, X=with_names(table.X, table.feature_names))
    in_parallel = partial(_in_parallel, dask)
    start = time.perf_counter()
    held_out = None
    if test is None and share > 0:
        rest, held = training.hold_out(table, share, seed, by_class=not is_regression)
        judged = in_parallel(lambda: training.fit(estimator, rest), "held-out accuracy")
        held_out = training.score(judged, held.X, held.y)
    fitted = in_parallel(lambda: training.fit(estimator, table), "growing")
    seconds = time.perf_counter() - start
    in_training = training.score(fitted, table.X, table.y)
    if test is not None:
        from .test import score_file

        held_out = score_file(Predictor.of(fitted, source), test, options)
    origin = training.origin(data)
    source = replace(source, **origin, training=_stored(in_training), held_out=_stored(held_out))
    save_model(fitted, out, source=source)
    if json:
        figures = {"training": in_training, "held_out": held_out}
        about = {"model": str(out), "learner": learner, "seconds": seconds} | size_of(fitted)
        print_json(about | {name: None if own is None else own.to_dict() for name, own in figures.items()})
    else:
        _print_results(fitted, in_training, held_out, n, test)
        note(f"model written to {out}")


def _stored(scores: Any) -> Score | None:
    """Return the figure that stands for scores in the model file, if any: R2 of equal numbers is not defined."""
    from ...files.models.record import Score

    figures = {} if scores is None else scores.to_dict()
    measure = "r2" if "r2" in figures else "accuracy"
    value = float(figures.get(measure, "nan"))
    return None if value != value else Score(measure, value, int(figures["examples"]))


def _in_parallel(dask: str | None, work: Callable[[], Any], what: str) -> Any:
    return in_background(lambda: on_workers(dask, work), what)


def _check_dask(dask: str | None, learner: str) -> None:
    if dask is not None and learner not in OF_MANY_TREES:
        raise UsageError(
            f"--dask is for --learner {', '.join(OF_MANY_TREES)}, whose trees grow on the workers; to grow one tree "
            f"({learner!r}) from data on a cluster, use oc1.dask in Python"
        )


def _held_out_share(n: int) -> float:
    """Return the share of the examples that is held out by default."""
    if n >= MIN_EXAMPLES_TO_HOLD_OUT:
        return HELD_OUT_SHARE
    note(f"note: {n} examples are too few to hold any out")
    return 0.0


def _checked_output(out: Path | None, data: str, test: str | None) -> Path:
    """Return where the model goes, once it is known that it can be written and that the test file is there."""
    if out is None and data == "-":
        raise UsageError("data from stdin have no name: give --output")
    out = Path(Path(Path(data).name.removesuffix(".gz")).stem + ".json") if out is None else out
    if not out.name.lower().removesuffix(".gz").endswith((".json", ".dt")):
        raise UsageError(f"--output {out}: a model file ends in .json, .json.gz or .dt")
    check_output(out, data, test)
    if test is not None and not Path(test).is_file():
        raise FileProblem(test, "there is no such file")
    return out


def _print_results(fitted: Any, training: Any, held_out: Any, n: int, test: str | None) -> None:
    accuracy = " accuracy" if hasattr(fitted, "classes_") else ""
    print_tree(fitted)
    say()
    print_size(fitted, size_of(fitted))
    say()
    print_scores(f"training{accuracy}", training)
    if held_out is not None:
        tested_on = f"on {test}" if test else f"of a tree grown on the other {n - held_out.n} examples"
        print_scores(f"held-out{accuracy}, {tested_on}", held_out)
    if accuracy:
        say()
        print_classes({"training": training} | ({} if held_out is None else {"held-out": held_out}))
