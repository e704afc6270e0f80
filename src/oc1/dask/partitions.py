"""From Dask collections to checked and encoded partitions, which stay on the workers.

Each partition is checked where it is, and numbers its own classes and categories. The client hears what these are,
unites them and sends every partition the numbers that hold for all. What results is, row by row, what a local fit
learns from. Arrays that can be learnt from as they are stay as they are: nothing of ours holds them, too, so that Dask
counts them once, and can write them to disk.
"""

from __future__ import annotations

from functools import partial
from operator import attrgetter
from typing import Any, NamedTuple

import dask
import numpy as np
import pandas as pd
from dask.utils import is_arraylike, is_dataframe_like
from distributed import Future
from sklearn.utils import check_array, column_or_1d, compute_sample_weight

from ..data.categories import (
    Categories,
    Codes,
    encode,
    exact_class_weights,
    explain_text,
    find_categorical,
    learn_categories,
    number_by_response,
    replace_by_codes,
    unite_categories,
)
from .inputs import delayed_rows
from .session import Session


class Partition(NamedTuple):
    """One partition: checked and encoded. The client has futures of these arrays; workers get the arrays."""

    X: Any  # float64 or float32 (n, d), NaN where missing; category numbers in categorical columns
    y: Any  # int32 (n): class numbers
    weights: Any  # float64 (n): empty if all examples count alike
    first: int = 0  # the number of its first example among all

    def weights_of(self, rows: np.ndarray) -> np.ndarray | None:
        """Return the weights of some rows, None if all examples count alike."""
        return self.weights[rows] if self.weights.size else None


NO_WEIGHTS = np.empty(0)


class Prepared(NamedTuple):
    """The training data of a fit, on the workers, and what is known of them."""

    partitions: list[Partition]  # in the order of the rows, empty ones too
    classes: np.ndarray  # sorted
    class_counts: np.ndarray  # int64 (n_partitions, n_classes): rows; examples of weight 0 are left out
    categories: Categories  # empty if no attribute is categorical


class _Summary(NamedTuple):
    """What the client must know of a partition that was loaded."""

    problem: Exception | None = None
    n_rows: int = 0
    dtype: np.dtype[Any] = np.dtype(np.float32)
    labels: np.ndarray = np.empty(0)  # the partition's own classes, sorted
    label_counts: np.ndarray = np.empty(0, dtype=np.int64)
    categories: Categories = ()  # of the columns that may be categorical


class _Stage(NamedTuple):
    """A partition on its way, on a worker, and what the client must know of it."""

    partition: Partition  # X is None if it can stay as it was given
    summary: Any


def prepare(
    session: Session,
    X: Any,
    y: Any,
    sample_weight: Any = None,
    class_weight: dict[Any, float] | str | None = None,
    categorical_features: Any = None,
) -> Prepared:
    """Check and encode Dask collections on the workers.

    Parameters
    ----------
    session : Session
        What keeps the futures.
    X : dask Array (n_samples, n_features) or dask DataFrame
    y : dask Array (n_samples,), dask Series, or dask DataFrame of one column
    sample_weight : like y, optional
    class_weight, categorical_features
        As in `OC1Classifier`.

    Returns
    -------
    Prepared
    """
    meta, rows = delayed_rows(X, y, sample_weight)
    maybe_categorical = _maybe_categorical(meta, categorical_features)
    loaded, given, summaries = _load_all(session, X, meta, rows, maybe_categorical)
    known = _known_classes(summaries)
    class_numbers = [np.searchsorted(known, one.labels).astype(np.int32) for one in summaries]
    totals = np.zeros(len(known), dtype=np.int64)
    for own, summary in zip(class_numbers, summaries, strict=True):
        totals[own] += summary.label_counts
    tables, united = _unite(summaries, set(find_categorical(meta, categorical_features).tolist()), meta)
    factors = None if class_weight is None else weight_of_classes(class_weight, known, totals)
    dtype = np.result_type(*(summary.dtype for summary in summaries if summary.n_rows))
    encode_one = partial(_encode, n_classes=len(known), factors=factors, categories=united, dtype=dtype)
    encoded = [session.submit(encode_one, *own) for own in zip(loaded, given, class_numbers, tables, strict=True)]
    answers = session.ask([(attrgetter("summary"), one) for one in encoded])
    session.release(loaded)
    class_counts = np.array([counts for counts, *_ in answers], dtype=np.int64).reshape(len(answers), len(known))
    if not class_counts.any():
        raise ValueError("class_weight and sample_weight leave no example: all weights are zero")
    firsts = [0, *np.cumsum(class_counts.sum(axis=1))[:-1].tolist()]
    numbers, categories = _order_categories(united, [responses for _, responses, _ in answers])
    has_weights = sample_weight is not None or class_weight is not None
    partitions = [
        Partition(
            own_X if stays else session.submit(_X_of, one, numbers),
            session.submit(attrgetter("partition.y"), one),
            session.submit(attrgetter("partition.weights"), one) if has_weights else NO_WEIGHTS,
            first,
        )
        for one, own_X, (*_, stays), first in zip(encoded, given, answers, firsts, strict=True)
    ]
    session.release(encoded)
    session.release(own_X for own_X, (*_, stays) in zip(given, answers, strict=True) if own_X is not None and not stays)
    session.flush()
    return Prepared(partitions, known, class_counts, categories)


def _load_all(
    session: Session, X: Any, meta: Any, rows: list[tuple[Any, ...]], maybe_categorical: np.ndarray
) -> tuple[list[Future[Any]], list[Any], list[_Summary]]:
    """Check all partitions; return futures of them, of those X that can stay as they were given, and summaries."""
    may_stay = is_arraylike(X) and meta.dtype in (np.float32, np.float64) and not len(maybe_categorical)
    columns = list(meta.columns) if is_dataframe_like(meta) else meta.shape[1]
    load = partial(_load, columns=columns, maybe_categorical=maybe_categorical, may_stay=may_stay)
    loading = dask.delayed(load, pure=False, traverse=False)
    loaded, stayed = session.compute(
        [loading(number, *parts) for number, parts in enumerate(rows)], [own_X for own_X, *_ in rows if may_stay]
    )
    summaries: list[_Summary] = session.ask([(attrgetter("summary"), one) for one in loaded])
    for summary in summaries:
        if summary.problem is not None:
            raise summary.problem
    if not any(summary.n_rows for summary in summaries):
        raise ValueError("X has no rows: at least one is needed")
    return loaded, [*stayed] if may_stay else [None] * len(rows), summaries


def _maybe_categorical(meta: Any, categorical_features: Any) -> np.ndarray:
    """Return the columns that are categorical, or may be: a column of objects is if there is text in it."""
    columns = find_categorical(meta, categorical_features)
    if isinstance(categorical_features, str) and is_dataframe_like(meta):
        objects = np.flatnonzero([str(dtype) == "object" for dtype in meta.dtypes])
        columns = np.union1d(columns, objects)
    return columns


# ---------------------------------------------------------------------------------------------------- on the workers


def _load(
    number: int, X: Any, y: Any, weights: Any, columns: Any, maybe_categorical: np.ndarray, may_stay: bool
) -> _Stage:
    """Check a partition; its classes and categories get its own numbers. What is wrong is noted, for the client."""
    where = f"partition {number} of X"
    try:
        checked, categories = _checked(where, X, columns, maybe_categorical)
        labels, numbers, counts = _number_labels(f"partition {number} of y", y)
        own_weights = NO_WEIGHTS
        if weights is not None:
            own_weights = _checked_weights(f"partition {number} of sample_weight", weights)
        for name, values in (("y", numbers), ("sample_weight", numbers if weights is None else own_weights)):
            if len(values) != len(checked):
                raise ValueError(f"{where} has {len(checked)} rows, that of {name} has {len(values)}")
    except (TypeError, ValueError) as error:
        return _Stage(Partition(None, None, NO_WEIGHTS), _Summary(_plain(error)))
    own = Partition(None if may_stay and checked is X else checked, numbers, own_weights)
    return _Stage(own, _Summary(None, len(checked), checked.dtype, labels, counts, categories))


def _plain(error: Exception, where: str = "") -> TypeError | ValueError:
    """Return an error as one that can be sent, with the place before its message."""
    return (TypeError if isinstance(error, TypeError) else ValueError)(f"{where}{error}")


def _checked(where: str, X: Any, columns: Any, maybe_categorical: np.ndarray) -> tuple[np.ndarray, Categories]:
    """Return the values as numbers, and the partition's own categories."""
    if isinstance(columns, list):
        if list(X.columns) != columns:
            raise ValueError(f"{where} has columns {list(X.columns)}, the others have {columns}")
    elif X.shape[1] != columns:
        raise ValueError(f"{where} has {X.shape[1]} columns, the others have {columns}")
    try:
        categories = learn_categories(X, maybe_categorical) if len(maybe_categorical) else ()
        checked = _as_float(X, categories)
    except (TypeError, ValueError) as error:
        raise _plain(error, f"{where}: ") from None
    infinite = np.isinf(checked)
    if infinite.any():
        m = int(infinite.any(axis=0).argmax())
        called = f"column {columns[m]!r}" if isinstance(columns, list) else f"column {m}"
        raise ValueError(f"{where} has an infinite value in {called}")
    return checked, categories


def _as_float(X: Any, categories: Categories) -> np.ndarray:
    how = {"ensure_all_finite": False, "ensure_min_samples": 0, "input_name": "X"}
    try:
        encoded = encode(X, categories) if categories else X
        return np.asarray(check_array(encoded, dtype=[np.float64, np.float32], **how))
    except ValueError as error:
        if "could not convert" in str(error):
            explain_text(X, True)
        raise


def _number_labels(where: str, y: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the different labels, sorted, the number of each example's among them (int32), and how many there are."""
    values = column_or_1d(y, warn=False)
    if values.dtype.kind not in "biufUO":
        raise TypeError(f"{where} has labels of type {values.dtype}: they must be text or whole numbers")
    numbers, found = pd.factorize(values)
    labels = np.asarray(found, dtype=values.dtype)
    if (numbers < 0).any():
        raise ValueError(f"{where} has a missing label")
    if labels.dtype == object and not all(isinstance(label, str) for label in labels):
        kinds = " and ".join(sorted({type(label).__name__ for label in labels}))
        raise ValueError(f"{where} has labels of type {kinds}: they must be all text, or numbers of a numeric dtype")
    if labels.dtype.kind == "f" and len(odd := labels[np.isinf(labels) | (labels != np.round(labels))]):
        raise ValueError(f"{where} has the label {odd[0]!s}: numbers that are not whole are continuous, not classes")
    order = np.argsort(labels)
    numbers = np.argsort(order)[numbers].astype(np.int32)
    return labels[order], numbers, np.bincount(numbers, minlength=len(labels))


def _checked_weights(where: str, weights: Any) -> np.ndarray:
    checked = np.asarray(column_or_1d(weights, warn=False), dtype=np.float64)
    for problem, rows in (
        ("is not a finite number", ~np.isfinite(checked)),
        ("is negative", checked < 0),
        ("is too large, above 1e18", checked > 1e18),
        ("is too small, below 1e-18", (checked > 0) & (checked < 1e-18)),
    ):
        if rows.any():
            raise ValueError(f"{where} has a weight that {problem} ({checked[rows][0]})")
    return checked


def _encode(
    loaded: _Stage,
    given: Any,
    class_numbers: np.ndarray,
    tables: list[np.ndarray | None],
    n_classes: int,
    factors: np.ndarray | None,
    categories: Categories,
    dtype: np.dtype[Any],
) -> _Stage:
    """Give classes and categories their numbers among all, make the weights final, leave out what weighs nothing.

    `factors` are what ``class_weight`` gives to each class. The summary has the number of examples of each class, the
    weight of each class in each category by column, and whether X can stay as it was given.
    """
    X, y, weights = loaded.partition[:3]
    X, y = (given if X is None else X).astype(dtype, copy=False), class_numbers[y]
    if factors is not None:
        weights = (weights if len(weights) else 1.0) * factors[y]
    if not weights.all():
        kept = weights > 0
        X, y, weights = X[kept], y[kept], weights[kept]
    if tables:
        X = replace_by_codes(X, tables)
    counting = weights if len(weights) else np.ones(len(y))
    responses = {
        m: exact_class_weights(X[:, m], len(own), y, n_classes, counting)
        for m, own in enumerate(categories)
        if own is not None
    }
    own = Partition(None if X is given else X, y, weights)
    return _Stage(own, (np.bincount(y, minlength=n_classes), responses, X is given))


def _X_of(encoded: _Stage, numbers: Codes) -> Any:
    """Return the values, with the final numbers of their categories."""
    return replace_by_codes(encoded.partition.X, numbers) if numbers else encoded.partition.X


# ---------------------------------------------------------------------------------------------------- on the client


def _known_classes(summaries: list[_Summary]) -> np.ndarray:
    """Return the sorted classes of all partitions."""
    found = [(number, summary.labels) for number, summary in enumerate(summaries) if len(summary.labels)]
    with_text, with_numbers = (
        [number for number, labels in found if (labels.dtype.kind in "OU") == is_text] for is_text in (True, False)
    )
    if with_text and with_numbers:
        raise ValueError(
            f"labels are text in partition {with_text[0]} of y and numbers in partition {with_numbers[0]}: "
            "make them all one type"
        )
    return np.unique(np.concatenate([labels for _, labels in found]))


def weight_of_classes(class_weight: dict[Any, float] | str, classes: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Return the factor that ``class_weight`` gives to each class.

    Parameters
    ----------
    class_weight : "balanced" or dict
    classes : array (n_classes,)
    counts : int array (n_classes,)
        Examples of each class.
    """
    if isinstance(class_weight, str):
        factors = counts.sum() / (len(classes) * counts)
    else:
        factors = compute_sample_weight(class_weight, classes)
    if not (np.isfinite(factors).all() and factors.min() >= 0):
        raise ValueError(f"class_weight must be finite and not negative, got {class_weight!r}")
    return np.asarray(factors)


def _unite(summaries: list[_Summary], certain: set[int], meta: Any) -> tuple[list[list[np.ndarray | None]], Categories]:
    """Return what replaces the category numbers of each partition, by column, and the categories of all partitions.

    A column that may be categorical is if that is certain, or if there is text in it. Others get their numbers back.
    """
    united = tuple(
        own if m in certain or any(isinstance(value, str) for value in own or ()) else None
        for m, own in enumerate(unite_categories([summary.categories for summary in summaries]))
    )
    place_of = [{value: place for place, value in enumerate(own or ())} for own in united]

    def table(number: int, m: int, own: tuple[Any, ...] | None) -> np.ndarray | None:
        if own is None:
            return None
        if united[m] is None:
            return _as_numbers(own, number, meta.columns[m])
        return np.array([place_of[m][value] for value in own], dtype=np.float64)

    tables = [[table(number, m, own) for m, own in enumerate(one.categories)] for number, one in enumerate(summaries)]
    return tables, united


def _order_categories(united: Categories, responses: list[dict[int, np.ndarray]]) -> tuple[Codes, Categories]:
    """Return the final numbers of the categories, and the categories in this order; nothing if there are none."""
    if not any(own is not None for own in united):
        return (), ()
    totals: list[Any] = [None] * len(united)
    for m in responses[0]:
        sums = np.sum([own[m] for own in responses], axis=0).astype(np.float64)
        totals[m] = (sums, sums.sum(axis=1))
    return number_by_response(united, totals)


def _as_numbers(values: tuple[Any, ...], number: int, name: Any) -> np.ndarray:
    try:
        numbers = np.array(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"partition {number} of X: column {name!r} holds values that are not numbers") from None
    if np.isinf(numbers).any():
        raise ValueError(f"partition {number} of X has an infinite value in column {name!r}")
    return numbers
