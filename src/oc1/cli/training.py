"""What the commands that train have in common: reading the examples, fitting, scoring."""

from __future__ import annotations

import os
import platform
import time
from dataclasses import replace
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal

import numpy as np
import polars as pl
from sklearn.base import clone
from sklearn.model_selection import train_test_split
from sklearn.utils import _safe_indexing

from .. import __version__
from ..evaluation.scores import Confusion, Residuals
from ..files.tables import ReadOptions, Table, label_indices, read_table
from ..files.tables.sniffing import is_number, shown_name
from .screen import UsageError, note

#: Fewer rows than this may be numbered by chance.
MIN_NUMBERED_ROWS = 10
#: A target with more different numbers than this may be one to predict as a number, if all are whole, if some are not.
MAX_WHOLE_CLASSES, MAX_DECIMAL_CLASSES = 20, 10
#: More classes than this, and than half the number of examples, are taken for numbers.
MAX_CLASSES = 50


def read_training_table(
    data: str, options: ReadOptions, *, one_hot: bool = False, categorical: bool = False, numbers: bool = False
) -> Table:
    """Read examples to learn from, and say what is found.

    Text columns are refused unless it is said what to do with them.
    """
    if one_hot and categorical:
        raise UsageError("use either --one-hot or --categorical, not both")
    categories: Literal["refuse", "one_hot", "keep"] = "one_hot" if one_hot else "keep" if categorical else "refuse"
    table = read_table(data, options, numbers=numbers, categories=categories)
    describe(table, options)
    return table


def describe(table: Table, options: ReadOptions) -> None:
    """Say which column is the target, and what was left out or looks as if it should be."""
    name = f"column {table.file_columns.target + 1}" if table.target is None else shown_name(table.target)
    guessed = ", the last" if table.target is None else ", the last column (--target takes another)"
    note(f"target: {name}{guessed if options.target is None else ''}")
    for own in table.left_out:
        column = f"column {own.column + 1}" if own.name is None else f"column {shown_name(own.name)}"
        known = f"{own.n_different:,} different texts in {own.n_rows:,} rows"
        note(f"note: {column} is left out: {known} (names, identifiers or remarks, it seems)")
    for name in _row_numbers(table):
        note(f"note: column {shown_name(name)} numbers the rows; if that is all it does, use --ignore {name}")


def _row_numbers(table: Table) -> list[str]:
    """Return the attributes that count the rows of the file, from 0 or 1."""
    n = len(table.y)
    if table.feature_names is None or n < MIN_NUMBERED_ROWS:
        return []
    names = [(m, name) for m, name in enumerate(table.feature_names) if name not in table.categorical]
    counts = np.arange(n, dtype=np.float64)
    return [name for m, name in names if any(np.array_equal(table.X[:, m], counts + first) for first in (0, 1))]


def check_kind_of_target(table: Table) -> None:
    """Refuse numbers that are not whole as classes where the user names no learner; say that whole ones are classes."""
    labels = np.unique(table.y)
    is_whole = labels.dtype.kind == "i"
    n_usual = MAX_WHOLE_CLASSES if is_whole else MAX_DECIMAL_CLASSES
    if len(labels) <= n_usual or not (is_whole or all(is_number(str(label)) for label in labels)):
        return
    target = "the target" if table.target is None else f"the target {shown_name(table.target)}"
    found = f"{target} has {len(labels)} different {'whole numbers' if is_whole else 'numbers'}"
    advice = "to predict a number, use --learner regressor"
    if not is_whole:
        raise UsageError(f"{found}; {advice}; if they are classes, say so with --learner oc1")
    note(f"note: {found}, which are taken for classes; {advice}")


def check_classes(table: Table, class_weight: Any = None) -> None:
    """Refuse a target that does not look like classes, and weights of classes that do not occur."""
    y = np.asarray(table.y)
    n, labels = len(y), np.unique(y).tolist()
    if len(labels) > max(MAX_CLASSES, n / 2):
        raise UsageError(
            f"the target has {len(labels)} different values in {n} examples: use --learner regressor to predict "
            "numbers, or name the column of the class with --target"
        )
    for label in class_weight if isinstance(class_weight, dict) else ():
        if label not in labels:
            raise UsageError(f"--class-weight names {label!r}, but there is no such class")


def for_categories(name: str, estimator: Any) -> Any:
    """Return the learner of a name set up for a frame whose text columns are categories."""
    if hasattr(estimator, "categorical_features"):
        return estimator.set_params(categorical_features="from_dtype")
    if name != "vote":
        raise UsageError(f"the learner {name!r} does not take categories; use --one-hot")
    base = estimator._base().set_params(categorical_features="from_dtype")
    return estimator.set_params(estimator=base, n_choices=None)


def named_columns(table: Table) -> Table:
    """Return the table with names x1, x2, ... if it has text columns but the file has no names."""
    if table.feature_names is not None or not (table.categorical or table.one_hot):
        return table
    if table.categorical:
        X = pl.DataFrame(table.X).rename(_column_name)
        categorical = tuple(map(_column_name, table.categorical))
        return replace(table, X=X, feature_names=tuple(X.columns), categorical=categorical)
    n_columns = table.X.shape[1] - sum(map(len, table.one_hot.values())) + len(table.one_hot)
    names: list[str] = []
    for column in map(str, range(n_columns)):
        values = table.one_hot.get(column)
        names += [_column_name(column)] if values is None else [f"{_column_name(column)}={value}" for value in values]
    one_hot = {_column_name(column): values for column, values in table.one_hot.items()}
    return replace(table, feature_names=tuple(names), one_hot=one_hot)


def _column_name(index: str) -> str:
    return f"x{int(index) + 1}" if index.isdigit() else index


def score(fitted: Any, X: Any, y: Any) -> Confusion | Residuals:
    """Return how a model does on examples."""
    predicted, labels = fitted.predict(X), np.asarray(y)
    if not hasattr(fitted, "classes_"):
        residuals = Residuals()
        residuals.add(labels.astype(float), predicted)
        return residuals
    confusion = Confusion(fitted.classes_.tolist())
    confusion.add(label_indices(labels, fitted.classes_), np.searchsorted(fitted.classes_, predicted), labels)
    return confusion


def fit(estimator: Any, table: Table) -> Any:
    """Return a copy of the estimator, fitted to examples."""
    return clone(estimator).fit(table.X, table.y, sample_weight=table.weights)


def hold_out(table: Table, share: float, seed: int, *, by_class: bool) -> tuple[Table, Table]:
    """Divide examples into those to learn from and those to test on, class by class where wanted and possible."""
    y = np.asarray(table.y)
    n = len(y)
    if not np.isfinite(share) or not 1 <= round(share * n if share < 1 else share) < n:
        raise UsageError(f"--holdout {share:g} of {n} examples leaves nothing to learn from, or nothing to test on")
    n_held = int(np.ceil(share * n)) if share < 1 else int(share)
    counts = np.unique(y, return_counts=True)[1]
    by_class = by_class and counts.min() >= 2 and min(n_held, n - n_held) >= len(counts)
    rows, held = train_test_split(np.arange(n), test_size=n_held, random_state=seed, stratify=y if by_class else None)
    return _part(table, rows), _part(table, held)


def _part(table: Table, rows: np.ndarray) -> Table:
    weights = None if table.weights is None else table.weights[rows]
    return replace(table, X=_safe_indexing(table.X, rows), y=np.asarray(table.y)[rows], weights=weights)


def origin(data: str) -> dict[str, Any]:
    """Return the file, the date and the versions of a training, as `oc1.files.models.Source` names them.

    ``SOURCE_DATE_EPOCH`` in the environment sets the date, for files that can be made again bit for bit.
    """
    seconds = int(os.environ.get("SOURCE_DATE_EPOCH", time.time()))
    packages = {"oc1": __version__, **{name: version(name) for name in ("numpy", "numba", "scikit-learn")}}
    return {
        "file": None if data == "-" else Path(data).name,
        "date": datetime.fromtimestamp(seconds, UTC).date().isoformat(),
        "versions": packages | {"python": platform.python_version()},
    }


def value_ranges(X: np.ndarray) -> tuple[tuple[float, float], ...]:
    """Return the smallest and the largest value of each attribute; NaN where all are missing."""
    return tuple(zip(np.fmin.reduce(X, axis=0).tolist(), np.fmax.reduce(X, axis=0).tolist(), strict=True))
