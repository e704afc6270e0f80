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
from dask.utils import is_arraylike, is_dataframe_like, is_series_like
from distributed import Future
from numpy.typing import ArrayLike
from sklearn.utils import check_array, column_or_1d, compute_sample_weight
from sklearn.utils.validation import _get_feature_names

from ..data.categories import (
    Categories,
    encode,
    exact_class_weights,
    explain_text,
    find_categorical,
    is_missing,
    learn_categories,
    number_by_response,
    replace_by_codes,
    unite_categories,
)
from .session import Session


class Partition(NamedTuple):
    """One partition: checked and encoded. The client has futures of these arrays; workers get the arrays."""

    X: Any  # float64 or float32 (n, d), NaN where missing; category numbers in categorical columns
    y: Any  # int32 (n): class numbers
    weights: Any  # float64 (n): empty if all examples count alike


NO_WEIGHTS = np.empty(0)


class Prepared(NamedTuple):
    """The training data of a fit, on the workers, and what is known of them."""

    partitions: list[Partition]  # in the order of the rows, empty ones too
    classes: np.ndarray  # sorted
    class_counts: np.ndarray  # int64 (n_partitions, n_classes): rows; examples of weight 0 are left out
    feature_names: np.ndarray | None
    n_features: int
    dtype: np.dtype[Any]  # of X
    has_weights: bool
    categories: Categories  # empty if no attribute is categorical


class _Summary(NamedTuple):
    """What the client must know of a partition that was loaded."""

    problem: tuple[type[Exception], str] | None = None
    n_rows: int = 0
    dtype: np.dtype[Any] = np.dtype(np.float32)
    labels: np.ndarray = np.empty(0)  # the partition's own classes, sorted
    label_counts: np.ndarray = np.empty(0, dtype=np.int64)
    categories: Categories = ()  # of the columns that may be categorical
    with_text: tuple[int, ...] = ()  # those among them that hold text


class _Loaded(NamedTuple):
    """A checked partition that numbers its own classes and categories."""

    partition: Partition  # X is None if it can stay as it was given
    summary: _Summary


class _Encoded(NamedTuple):
    """A partition whose classes have the numbers that hold for all."""

    partition: Partition  # X is None if it is what was given
    class_counts: np.ndarray
    responses: tuple[np.ndarray | None, ...]  # weight of each class in each of its own categories


class _Encoding(NamedTuple):
    """What holds for all partitions."""

    n_classes: int
    factors: np.ndarray | None  # that ``class_weight`` gives to each class
    columns: np.ndarray  # those that are categorical
    dtype: np.dtype[Any]


def prepare(
    session: Session,
    X: Any,
    y: Any,
    sample_weight: Any = None,
    classes: ArrayLike | None = None,
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
    classes : array-like, optional
        All classes, if they are known; a label that is none of them is an error. None: those found in y.
    class_weight, categorical_features
        As in `OC1Classifier`.

    Returns
    -------
    Prepared
    """
    meta, rows = delayed_rows(X, y, sample_weight)
    maybe_categorical = _maybe_categorical(meta, categorical_features)
    loaded, given, summaries = _load_all(session, X, meta, rows, maybe_categorical)
    known = _known_classes(summaries, classes)
    numbers, totals = _class_numbers(summaries, known)
    encoding = _Encoding(
        len(known),
        None if class_weight is None else weight_of_classes(class_weight, known, totals),
        _categorical_columns(summaries, maybe_categorical, meta, categorical_features),
        np.result_type(*(summary.dtype for summary in summaries if summary.n_rows)),
    )
    encoded = [session.submit(_encode, *own, encoding) for own in zip(loaded, given, numbers, strict=True)]
    answers = session.ask([(_counts_of, one) for one in encoded])
    session.release(loaded)
    class_counts = np.array([counts for counts, *_ in answers], dtype=np.int64).reshape(len(answers), len(known))
    if not class_counts.any():
        raise ValueError("class_weight and sample_weight leave no example: all weights are zero")

    categories: Categories = ()
    tables: list[Any] = [None] * len(encoded)
    if len(maybe_categorical):
        responses = [own for _, own, _ in answers]
        tables, categories = _category_numbers(summaries, responses, encoding.columns, meta)
    has_weights = sample_weight is not None or class_weight is not None
    partitions = [
        Partition(
            own_X if stays else session.submit(_X_of, one, table),
            session.submit(attrgetter("partition.y"), one),
            session.submit(attrgetter("partition.weights"), one) if has_weights else NO_WEIGHTS,
        )
        for one, own_X, table, (*_, stays) in zip(encoded, given, tables, answers, strict=True)
    ]
    session.release(encoded)
    session.release(own_X for own_X, (*_, stays) in zip(given, answers, strict=True) if own_X is not None and not stays)
    session.flush()
    names = _get_feature_names(meta)
    return Prepared(partitions, known, class_counts, names, meta.shape[1], encoding.dtype, has_weights, categories)


def _load_all(
    session: Session, X: Any, meta: Any, rows: list[tuple[Any, ...]], maybe_categorical: np.ndarray
) -> tuple[list[Future], list[Any], list[_Summary]]:
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
            kind, message = summary.problem
            raise kind(message)
    if not any(summary.n_rows for summary in summaries):
        raise ValueError("X has no rows: at least one is needed")
    return loaded, [*stayed] if may_stay else [None] * len(rows), summaries


# ---------------------------------------------------------------------------------------------------- collections


def delayed_rows(X: Any, y: Any, sample_weight: Any) -> tuple[Any, list[tuple[Any, ...]]]:
    """Return an empty example of X and, for each partition, its parts of X, y and the weights (or None), delayed."""
    if not dask.is_dask_collection(X) or not (is_dataframe_like(X) or is_arraylike(X)):
        raise TypeError(
            f"X must be a Dask array or a Dask dataframe, got {type(X).__name__}; for data in memory use OC1Classifier"
        )
    if is_arraylike(X):
        if X.ndim != 2:
            raise ValueError(f"X must have a row for each example and a column for each attribute, got {X.ndim}-D")
        if np.isnan(X.shape[1]):
            raise ValueError("the number of columns of X is not known: call X.compute_chunk_sizes() first")
        X = X.rechunk({1: -1}) if X.numblocks[1] > 1 else X
    meta = X._meta if is_dataframe_like(X) else np.empty((0, X.shape[1]), dtype=X.dtype)
    if meta.shape[1] == 0:
        raise ValueError("X has no columns: at least one attribute is needed")
    given = [X, _aligned("y", y, X)]
    if sample_weight is not None:
        given.append(_aligned("sample_weight", sample_weight, X))
    parts = _delayed_parts(given)
    if sample_weight is None:
        parts.append([None] * len(parts[0]))
    return meta, list(zip(*parts, strict=True))


def _delayed_parts(collections: list[Any]) -> list[list[Any]]:
    """Return the partitions of each collection, delayed, so that what all are computed from is computed once."""
    frames = [one for one in collections if not is_arraylike(one)]
    parts_of_frames: list[list[Any]] = []
    if frames:
        first, *others = frames
        how = {"align_dataframes": False, "enforce_metadata": False, "meta": first._meta}
        joined = first.map_partitions(_as_tuple, *others, **how)
        tuples = joined.to_delayed(optimize_graph=len(frames) == len(collections))
        parts_of_frames = [[one[place] for one in tuples] for place in range(len(frames))]
    # Arrays are not optimised: each would be fused with a copy of its own of what they share.
    return [
        one.to_delayed(optimize_graph=False).ravel().tolist() if is_arraylike(one) else parts_of_frames.pop(0)
        for one in collections
    ]


def _as_tuple(*parts: Any) -> tuple[Any, ...]:
    return parts


def _aligned(name: str, given: Any, X: Any) -> Any:
    """Return y or the weights with the partitions of X."""
    is_series = is_series_like(given) or is_dataframe_like(given)
    if not dask.is_dask_collection(given) or not (is_series or is_arraylike(given)):
        kind = type(given).__name__
        raise TypeError(f"{name} must be a Dask array or a Dask series, as X is a Dask collection; got {kind}")
    if given.ndim == 2 and len(given.columns if is_series else range(given.shape[1])) != 1:
        raise ValueError(f"{name} must have one column")
    if is_arraylike(given):
        given = given[:, 0] if given.ndim == 2 else given
        if is_arraylike(X) and not np.isnan([*X.chunks[0], *given.chunks[0]]).any():
            if len(given) != len(X):
                raise ValueError(f"X has {len(X)} rows, but {name} has {len(given)}")
            return given.rechunk((X.chunks[0],))
    n_partitions = given.numblocks[0] if is_arraylike(given) else given.npartitions
    n_expected = X.numblocks[0] if is_arraylike(X) else X.npartitions
    if n_partitions != n_expected:
        raise ValueError(
            f"X has {n_expected} partitions, but {name} has {n_partitions}: take both from one collection, or "
            "repartition one of them"
        )
    return given


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
) -> _Loaded:
    """Check a partition; its classes and categories get its own numbers. What is wrong is noted, for the client."""
    try:
        loaded = _checked(number, X, y, weights, columns, maybe_categorical)
        if may_stay and loaded.partition.X is X:
            return loaded._replace(partition=loaded.partition._replace(X=None))
        return loaded
    except (TypeError, ValueError) as error:
        nothing = Partition(np.empty((0, 0)), np.empty(0, dtype=np.int32), NO_WEIGHTS)
        return _Loaded(nothing, _Summary((TypeError if isinstance(error, TypeError) else ValueError, str(error))))


def _checked(number: int, X: Any, y: Any, weights: Any, columns: Any, maybe_categorical: np.ndarray) -> _Loaded:
    where = f"partition {number} of X"
    if isinstance(columns, list):
        if list(X.columns) != columns:
            raise ValueError(f"{where} has columns {list(X.columns)}, the others have {columns}")
    elif X.shape[1] != columns:
        raise ValueError(f"{where} has {X.shape[1]} columns, the others have {columns}")
    categories: Categories = ()
    with_text: list[int] = []
    try:
        if len(maybe_categorical):
            categories = learn_categories(X, maybe_categorical)
            with_text = [m for m in maybe_categorical if any(isinstance(value, str) for value in categories[m] or ())]
            X_encoded = encode(X, categories)
        else:
            X_encoded = X
        how = {"ensure_all_finite": False, "ensure_min_samples": 0, "input_name": "X"}
        checked = check_array(X_encoded, dtype=[np.float64, np.float32], **how)
    except (TypeError, ValueError) as error:
        kind, message = TypeError if isinstance(error, TypeError) else ValueError, str(error)
        if "could not convert" in message:
            try:
                explain_text(X, True)
            except ValueError as better:
                message = str(better)
        raise kind(f"{where}: {message}") from None
    infinite = np.isinf(checked)
    if infinite.any():
        m = int(infinite.any(axis=0).argmax())
        called = f"column {columns[m]!r}" if isinstance(columns, list) else f"column {m}"
        raise ValueError(f"{where} has an infinite value in {called}")
    labels, numbers, counts = _number_labels(f"partition {number} of y", y)
    own_weights = NO_WEIGHTS if weights is None else _checked_weights(f"partition {number} of sample_weight", weights)
    for name, values, expected in (("y", numbers, True), ("sample_weight", own_weights, weights is not None)):
        if expected and len(values) != len(checked):
            raise ValueError(f"{where} has {len(checked)} rows, that of {name} has {len(values)}")
    summary = _Summary(None, len(checked), checked.dtype, labels, counts, categories, tuple(with_text))
    return _Loaded(Partition(checked, numbers, own_weights), summary)


def _number_labels(where: str, y: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the different labels, sorted, the number of each example's among them (int32), and how many there are."""
    values = column_or_1d(y, warn=False)
    if len(values) == 0:
        return np.empty(0), np.empty(0, dtype=np.int32), np.empty(0, dtype=np.int64)
    if values.dtype == object:  # Python compares objects one by one: look up instead of sorting all
        texts = values.tolist()
        different = list(dict.fromkeys(texts))
        if any(map(is_missing, different)):
            raise ValueError(f"{where} has a missing label")
        if not all(isinstance(label, str) for label in different):
            kinds = sorted({type(label).__name__ for label in different})
            found = " and ".join(kinds)
            raise ValueError(
                f"{where} has labels of type {found}: they must be all text, or numbers of a numeric dtype"
            )
        labels = np.array(sorted(different), dtype=object)
        number_of = {label: number for number, label in enumerate(labels)}
        numbers = np.fromiter(map(number_of.__getitem__, texts), dtype=np.int32, count=len(texts))
    elif values.dtype.kind in "biufU":
        labels, places = np.unique(values, return_inverse=True)
        numbers = places.astype(np.int32)
    else:
        raise TypeError(f"{where} has labels of type {values.dtype}: they must be text or whole numbers")
    if labels.dtype.kind == "f":
        if np.isnan(labels).any():
            raise ValueError(f"{where} has a missing label")
        if np.isinf(labels).any() or (labels != np.round(labels)).any():
            odd = labels[np.isinf(labels) | (labels != np.round(labels))][0]
            raise ValueError(f"{where} has the label {odd!s}: numbers that are not whole are continuous, not classes")
    return labels, numbers, np.bincount(numbers, minlength=len(labels))


def _checked_weights(where: str, weights: Any) -> np.ndarray:
    checked = np.asarray(column_or_1d(weights, warn=False), dtype=np.float64)
    for problem, rows in (
        ("is not a finite number", ~np.isfinite(checked)),
        ("is negative", checked < 0),
    ):
        if rows.any():
            raise ValueError(f"{where} has a weight that {problem} ({checked[rows][0]})")
    return checked


def _encode(loaded: _Loaded, given: Any, own_numbers: np.ndarray, encoding: _Encoding) -> _Encoded:
    """Give the classes the numbers that hold for all, make the weights final, leave out examples that weigh nothing."""
    X, y, weights = loaded.partition
    X, y = (given if X is None else X).astype(encoding.dtype, copy=False), own_numbers[y]
    if encoding.factors is not None:
        weights = (weights if len(weights) else 1.0) * encoding.factors[y]
    if not weights.all():
        kept = weights > 0
        X, y, weights = X[kept], y[kept], weights[kept]
    responses: list[np.ndarray | None] = [None] * X.shape[1]
    for m in encoding.columns:
        n_categories = len(loaded.summary.categories[m] or ())
        counting = weights if len(weights) else np.ones(len(y))
        responses[m] = exact_class_weights(X[:, m], n_categories, y, encoding.n_classes, counting)
    own = Partition(None if X is given else X, y, weights)
    return _Encoded(own, np.bincount(y, minlength=encoding.n_classes), tuple(responses))


def _counts_of(encoded: _Encoded) -> tuple[np.ndarray, tuple[np.ndarray | None, ...], bool]:
    """Return the last two of an encoded partition, and whether X can stay as it was given."""
    return encoded.class_counts, encoded.responses, encoded.partition.X is None


def _X_of(encoded: _Encoded, tables: list[np.ndarray | None] | None) -> Any:
    """Return the values, with the final numbers of their categories."""
    return encoded.partition.X if tables is None else replace_by_codes(encoded.partition.X, tables)


# ---------------------------------------------------------------------------------------------------- on the client


def _known_classes(summaries: list[_Summary], classes: ArrayLike | None) -> np.ndarray:
    """Return the sorted classes: those given, or those found."""
    found = [(number, summary.labels) for number, summary in enumerate(summaries) if len(summary.labels)]
    first, first_labels = found[0]
    for number, labels in found:
        if _is_text(labels) != _is_text(first_labels):
            text, numeric = (number, first) if _is_text(labels) else (first, number)
            raise ValueError(
                f"labels are text in partition {text} of y and numbers in partition {numeric}: make them all one type"
            )
    if classes is None:
        return np.unique(np.concatenate([labels for _, labels in found]))
    known = np.unique(np.asarray(classes))
    if any(labels.dtype == object for _, labels in found):
        known = known.astype(object)
    members = set(known.tolist())
    for number, labels in found:
        for label in labels.tolist():
            if label not in members:
                raise ValueError(
                    f"partition {number} of y has the label {label!r}, which is not in classes {known.tolist()}"
                )
    return known


def _class_numbers(summaries: list[_Summary], known: np.ndarray) -> tuple[list[np.ndarray], np.ndarray]:
    """Return the numbers of each partition's own classes among all, and how many examples each class has."""
    number_of = {label: number for number, label in enumerate(known.tolist())}
    own_numbers = [np.array([number_of[label] for label in one.labels.tolist()], dtype=np.int32) for one in summaries]
    totals = np.zeros(len(known), dtype=np.int64)
    for summary, numbers in zip(summaries, own_numbers, strict=True):
        totals[numbers] += summary.label_counts
    return own_numbers, totals


def _is_text(labels: np.ndarray) -> bool:
    return labels.dtype.kind in "OU"


def weight_of_classes(class_weight: dict[Any, float] | str, classes: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Return the factor that ``class_weight`` gives to each class; 1 for classes without examples.

    Parameters
    ----------
    class_weight : "balanced" or dict
    classes : array (n_classes,)
    counts : int array (n_classes,)
        Examples of each class.
    """
    factors, present = np.ones(len(classes)), counts > 0
    if isinstance(class_weight, str):
        factors[present] = counts.sum() / (present.sum() * counts[present])
    else:
        factors[present] = compute_sample_weight(class_weight, classes[present])
    if factors.min() < 0:
        raise ValueError(f"class_weight must not be negative, got {class_weight!r}")
    return factors


def _categorical_columns(
    summaries: list[_Summary], maybe_categorical: np.ndarray, meta: Any, categorical_features: Any
) -> np.ndarray:
    """Return those columns that are categorical, now that it is known where text is."""
    with_text = {m for summary in summaries for m in summary.with_text}
    certain = set(find_categorical(meta, categorical_features).tolist())
    return np.array([m for m in maybe_categorical.tolist() if m in certain | with_text], dtype=np.int64)


def _category_numbers(
    summaries: list[_Summary], responses: list[tuple[np.ndarray | None, ...]], columns: np.ndarray, meta: Any
) -> tuple[list[list[np.ndarray | None]], Categories]:
    """Return, for each partition, the final numbers of its own categories, and the categories in this order.

    A column of objects that turned out to hold numbers gets them back.
    """
    listed = unite_categories([summary.categories for summary in summaries])
    united = tuple(own if m in columns else None for m, own in enumerate(listed))
    totals: list[Any] = [None] * len(united)
    places: list[list[Any]] = [[None] * len(united) for _ in summaries]
    for m in columns:
        values = united[m] or ()
        place_of = {value: place for place, value in enumerate(values)}
        total: Any = 0
        for summary, own_places, own in zip(summaries, places, responses, strict=True):
            own_places[m] = [place_of[value] for value in summary.categories[m] or ()]
            counts = np.zeros((len(values), own[m].shape[1]), dtype=object)
            counts[own_places[m]] = own[m]
            total = total + counts
        sums = total.astype(np.float64)
        totals[m] = (sums, sums.sum(axis=1))
    new_numbers, arranged = number_by_response(united, totals)

    def table(m: int, number: int) -> np.ndarray | None:
        own, numbers = summaries[number].categories[m], new_numbers[m]
        if own is None:
            return None
        return _as_numbers(own, number, meta.columns[m]) if numbers is None else numbers[places[number][m]]

    tables = [[table(m, number) for m in range(len(united))] for number in range(len(summaries))]
    return tables, arranged if len(columns) else ()


def _as_numbers(values: tuple[Any, ...], number: int, name: Any) -> np.ndarray:
    try:
        numbers = np.array(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"partition {number} of X: column {name!r} holds values that are not numbers") from None
    if np.isinf(numbers).any():
        raise ValueError(f"partition {number} of X has an infinite value in column {name!r}")
    return numbers
