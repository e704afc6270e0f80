"""``oc1 train``."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from ...files.problems import FileProblem
from ..options import (
    Categorical,
    Dask,
    Data,
    Jobs,
    Json,
    LearnerName,
    OneHot,
    Param,
    Seed,
    Verbose,
    Weights,
    make,
    on_workers,
    with_parameters,
    with_reading,
)
from ..screen import Refusal, check_output, in_background, note, print_json, refusing, say
from .show import print_classes, print_scores, print_size, size_of

#: Share of the examples that is held out if nothing is said, if there are not too few.
HELD_OUT, FEW = 0.2, 10
#: So many classes, and more than half as many as examples, are no classes.
MANY_CLASSES = 50


@refusing
@with_parameters
@with_reading
def train(
    data: Data,
    out: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", metavar="FILE", help="Model file: .json, .json.gz or .dt. (default: DATA's name + .json)"
        ),
    ] = None,
    learner: LearnerName = "oc1",
    test: Annotated[
        str | None, typer.Option("--test", "-T", metavar="FILE", help="Labelled file for the held-out accuracy.")
    ] = None,
    holdout: Annotated[
        float | None,
        typer.Option(
            min=0.0,
            help="Share (or, from 1 on, number) of the examples for the held-out accuracy; 0: none. The model that is "
            f"written is fitted on all. (default: {HELD_OUT})",
        ),
    ] = None,
    weights: Weights = None,
    one_hot: OneHot = False,
    categorical: Categorical = False,
    seed: Seed = 0,
    jobs: Jobs = 1,
    dask: Dask = None,
    verbose: Verbose = 0,
    param: Param = None,
    json: Json = False,
    options: Any = None,
    parameters: dict[str, Any] | None = None,
) -> None:
    """Learn a tree from a file of examples, write it, and print what it is worth.

    The held-out accuracy is that of a tree grown without the examples that it is tested on: a fifth of them (see
    --holdout and --test). The tree that is written has seen all of DATA.

    Example: oc1 train iris.csv --target species -o iris.json
    """
    from ...files.models import Source, save_model
    from ...files.tables.reading import read_table
    from ..predictor import Predictor, named

    if dask is not None and learner != "vote":
        raise Refusal(
            f"--dask is for --learner vote, whose trees grow on the workers; for one tree ({learner!r}) of data on a "
            "cluster there is oc1.dask in Python"
        )
    estimator = make(learner, parameters or {}, param, random_state=seed, n_jobs=jobs, verbose=verbose)
    out = default_output(data) if out is None else out
    if not out.name.lower().removesuffix(".gz").endswith((".json", ".dt")):
        raise Refusal(f"--output {out}: a model file ends in .json, .json.gz or .dt")
    check_output(out, data, test)
    if test is not None and not Path(test).is_file():
        raise FileProblem(test, "there is no such file")
    if json:
        estimator.set_params(verbose=0)  # also where --param asks for more
    numbers = learner == "regressor"
    options = replace(options, weights=weights)
    table = read_table(data, options, numbers=numbers, categories=categories(one_hot, categorical))
    check_target(table, numbers, getattr(estimator, "class_weight", None))
    if table.categorical:
        if not hasattr(estimator, "categorical_features") and learner != "vote":
            raise Refusal(f"the learner {learner!r} takes no categories; use --one-hot")
        estimator = with_categories(estimator)

    n = 0 if table.y is None else len(table.y)
    if holdout is None and n < FEW:
        note(f"note: {n} examples are too few to hold some out")
    holdout = (HELD_OUT if n >= FEW else 0.0) if holdout is None else holdout
    table = with_names(table)
    extent = () if table.categorical else ranges(table.X)
    table = replace(table, X=named(table.X, table.feature_names))
    start = time.perf_counter()
    held_out = None
    if test is None and holdout > 0:
        held_out = in_background(
            lambda: on_workers(dask, lambda: hold_out(estimator, table, holdout, seed)), "held-out accuracy"
        )
    fitted = in_background(lambda: on_workers(dask, lambda: fit(estimator, table.X, table.y, table.weights)), "growing")
    seconds = time.perf_counter() - start
    training = score(fitted, table.X, table.y)
    source = Source(table.target, table.one_hot, extent, n)
    if test is not None:
        from .predict import score_file

        held_out = score_file(Predictor.of(fitted, source), test, replace(options, weights=None))
    save_model(fitted, out, source=source)
    if json:
        figures = {"model": str(out), "learner": learner, "seconds": seconds} | size_of(fitted)
        held = None if held_out is None else held_out.to_dict()
        print_json(figures | {"training": training.to_dict(), "held_out": held})
        return
    from ...tree.text import text

    say(text(fitted))
    say()
    print_size(fitted, size_of(fitted))
    say()
    print_scores("training" if numbers else "training accuracy", training)
    if held_out is not None:
        how = f"on {test}" if test else f"of a tree grown on the other {n - held_out.n} examples"
        print_scores(f"held-out, {how}" if numbers else f"held-out accuracy, {how}", held_out)
    if not numbers:
        say()
        print_classes({"training": training} | ({} if held_out is None else {"held-out": held_out}))
    note(f"model written to {out}")


def check_target(table: Any, numbers: bool, class_weight: Any = None) -> None:
    """Refuse classes that are none, and weights of classes that are not there."""
    import numpy as np

    if numbers:
        return
    n, labels = len(table.y), np.unique(table.y).tolist()
    if len(labels) > max(MANY_CLASSES, n / 2):
        raise Refusal(
            f"the target has {len(labels)} different values in {n} examples: for numbers use --learner regressor, else "
            "name the column of the class with --target"
        )
    for label in class_weight if isinstance(class_weight, dict) else ():
        if label not in labels:
            raise Refusal(f"--class-weight names {label!r}, but there is no such class")


def with_names(table: Any):
    """Return the table with names x1, x2, ... where text columns need some, and the file has none."""
    import polars as pl

    if table.feature_names is not None or not (table.categorical or table.one_hot):
        return table
    if table.categorical:
        X = pl.DataFrame(table.X).rename(lambda name: _numbered(name))
        return replace(table, X=X, feature_names=tuple(X.columns), categorical=tuple(map(_numbered, table.categorical)))
    n_columns = table.X.shape[1] - sum(map(len, table.one_hot.values())) + len(table.one_hot)
    names: list[str] = []
    for column in map(str, range(n_columns)):
        values = table.one_hot.get(column)
        names += [_numbered(column)] if values is None else [f"{_numbered(column)}={value}" for value in values]
    one_hot = {_numbered(column): values for column, values in table.one_hot.items()}
    return replace(table, feature_names=tuple(names), one_hot=one_hot)


def _numbered(index: str) -> str:
    """Return what a column without a name is called: "0" is x1."""
    title, _, rest = index.partition("=")
    return f"x{int(title) + 1}" + (f"={rest}" if rest else "") if title.isdigit() else index


def default_output(data: str) -> Path:
    """Return the name of the model file of a data file."""
    if data == "-":
        raise Refusal("data from stdin have no name: give --output")
    path = Path(data)
    name = path.name.removesuffix(".gz")
    return Path(Path(name).stem + ".json")


def categories(one_hot: bool, categorical: bool) -> Literal["refuse", "one_hot", "keep"]:
    """Return what is done with text columns, as `read_table` calls it."""
    if one_hot and categorical:
        raise Refusal("--one-hot and --categorical cannot both be")
    return "one_hot" if one_hot else "keep" if categorical else "refuse"


def with_categories(estimator: Any):
    """Return the learner set up for a frame whose text columns are categories."""
    from ...learners.classifier import OC1Classifier

    if hasattr(estimator, "categorical_features"):
        return estimator.set_params(categorical_features="from_dtype")
    base = OC1Classifier(prune=None) if estimator.estimator is None else estimator.estimator
    return estimator.set_params(estimator=base.set_params(categorical_features="from_dtype"))


def fit(estimator: Any, X, y, weights):
    """Fit a copy of the learner."""
    from sklearn.base import clone

    return clone(estimator).fit(X, y, **({} if weights is None else {"sample_weight": weights}))


def score(fitted: Any, X, y):
    """Return how a model does on examples."""
    import numpy as np

    from ...evaluation.scores import Confusion, Residuals

    if not hasattr(fitted, "classes_"):
        residuals = Residuals()
        residuals.add(np.asarray(y, dtype=float), fitted.predict(X))
        return residuals
    confusion = Confusion(fitted.classes_.tolist())
    truth = np.searchsorted(fitted.classes_, y).clip(max=len(fitted.classes_) - 1)
    truth = np.where(fitted.classes_[truth] == y, truth, -1)
    confusion.add(truth, np.searchsorted(fitted.classes_, fitted.predict(X)), np.asarray(y))
    return confusion


def hold_out(estimator: Any, table: Any, share: float, seed: int):
    """Fit without some examples, drawn class by class where there are enough, and return how it does on them."""
    import numpy as np
    from sklearn.model_selection import train_test_split
    from sklearn.utils import _safe_indexing

    n = len(table.y)
    if not np.isfinite(share) or not 1 <= round(share * n if share < 1 else share) < n:
        raise Refusal(f"--holdout {share:g} of {n} examples leaves nothing to learn from, or to test on")
    size: float | int = share if share < 1 else int(share)
    counts = np.unique(table.y, return_counts=True)[1]
    is_fine = hasattr(estimator, "predict_proba") and counts.min() >= 2
    n_held = int(np.ceil(share * n)) if share < 1 else int(share)
    stratified = table.y if is_fine and min(n_held, n - n_held) >= len(counts) else None
    rows, held = train_test_split(np.arange(n), test_size=size, random_state=seed, stratify=stratified)
    weights = None if table.weights is None else table.weights[rows]
    fitted = fit(estimator, _safe_indexing(table.X, rows), table.y[rows], weights)
    return score(fitted, _safe_indexing(table.X, held), table.y[held])


def ranges(X) -> tuple[tuple[float, float], ...]:
    """Return the smallest and the largest value of each attribute; NaN where all are missing."""
    import warnings

    import numpy as np

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # of columns without any value
        return tuple(zip(np.nanmin(X, axis=0).tolist(), np.nanmax(X, axis=0).tolist(), strict=True))
