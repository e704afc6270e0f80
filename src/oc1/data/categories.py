"""Categorical attributes: which columns they are, their values as numbers, and an order of them by response.

A fit turns the values of a categorical column into *category numbers*, which say nothing but which one it is. Each tree
then gives every category a *code*, learnt from the rows it is grown on, that orders the categories by response; from
there on the attribute is a number like any other. (CART orders the categories afresh at each node; one order for the
whole tree lets the same code take part in linear combinations.)

For two classes the code is the share of the second class: of all ways to part the categories in two, the purest is
then a cut in this order (Breiman et al. 1984, section 4.2.2). For more classes it is the projection of the class shares
on their first principal direction (Coppersmith, Hong & Hosking 1999). For numbers to predict it is their mean.
"""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np

from .sampling import weight_of_one
from .sparse_input import is_sparse

#: The number of examples, distributed like all examples, that are added to those of each category.
SMOOTHING_EXAMPLES = 2.0
#: How much each further principal direction counts relative to the one before: enough to tell categories apart that the
#: first does not, as it must where three categories are three classes.
DIRECTION_DISCOUNT = 0.01

#: For each attribute the values that are its categories, in the order of their numbers; None if it is not categorical.
Categories = tuple[tuple[Any, ...] | None, ...]
#: For each attribute the codes of its categories; None if it is not categorical.
Codes = tuple[np.ndarray | None, ...]

_TEXT_TYPES = ("categor", "enum", "string", "utf8", "dictionary", "large_string")


# ---------------------------------------------------------------------------------------------------- columns


def column_names(X: Any) -> list[str] | None:
    """Return the names of a frame's columns, None if there are none or not all are text."""
    names = list(X.columns) if hasattr(X, "columns") else []
    return names if names and all(isinstance(name, str) for name in names) else None


def _table(X: Any) -> Any:
    """Return X as something with columns that keep their types: frames and arrays as they are, lists as objects."""
    return X if hasattr(X, "dtypes") or isinstance(X, np.ndarray) else np.asarray(X, dtype=object)


def _column(X: Any, m: int) -> Any:
    if hasattr(X, "iloc"):
        return X.iloc[:, m]
    return X.to_series(m) if hasattr(X, "to_series") else X[:, m]


def _values(X: Any, m: int) -> list[Any]:
    column = _column(X, m)
    return list(column.tolist() if hasattr(column, "tolist") else column.to_list())


def _with_columns(X: Any, numbers: dict[int, np.ndarray]) -> Any:
    """Return a copy of X with some columns replaced."""
    if hasattr(X, "isetitem"):  # pandas
        X = X.copy(deep=False)
        for m, column in numbers.items():
            X.isetitem(m, column)
        return X
    if hasattr(X, "with_columns"):  # polars
        return X.with_columns([type(X.to_series(m))(X.columns[m], column) for m, column in numbers.items()])
    X = X.astype(np.float64 if X.dtype.kind in "biuf" else object)
    for m, column in numbers.items():
        X[:, m] = column
    return X


def _called(X: Any, m: int) -> str:
    names = column_names(X)
    return f"column {m}" if names is None else f"column {names[m]!r}"


def explain_text(X: Any, takes_categories: bool) -> None:
    """Raise a clear error if a column holds text, to be called where X cannot be turned into numbers."""
    X = _table(X)
    if getattr(X, "ndim", len(getattr(X, "shape", ()))) != 2:
        return
    for m in range(X.shape[1]):
        for value in _values(X, m):
            if isinstance(value, str) and not _is_number(value):
                advice = "encode it"
                if takes_categories:
                    is_typed = hasattr(X, "dtypes") and _is_text_type(X, m)
                    by_type = 'use categorical_features="from_dtype", ' if is_typed else ""
                    advice = f"{by_type}name it in categorical_features, or encode it"
                raise ValueError(
                    f"could not convert string to float: {_called(X, m)} holds text ({value!r}); {advice}"
                ) from None


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


# ---------------------------------------------------------------------------------------------------- which ones


def find_categorical(X: Any, categorical_features: Any) -> np.ndarray:
    """Return the indices of the categorical columns.

    Parameters
    ----------
    X : frame or array-like (n_samples, n_features)
    categorical_features : None, "from_dtype", or array-like of bool, int or str
        As in `OC1Classifier`.
    """
    nothing = np.empty(0, dtype=np.int64)
    X = _table(X)
    shape: tuple[int, ...] = getattr(X, "shape", ())
    if categorical_features is None or len(shape) != 2 or shape[1] == 0:
        return nothing  # checking X will say what is wrong
    n_features = shape[1]
    if isinstance(categorical_features, str):
        return np.flatnonzero([_is_text_type(X, m) for m in range(n_features)]) if hasattr(X, "dtypes") else nothing
    wanted = list(np.asarray(categorical_features, dtype=object).ravel())
    columns: Sequence[Any]
    if all(isinstance(one, bool | np.bool_) for one in wanted):
        if len(wanted) not in (0, n_features):
            raise ValueError(f"categorical_features is a mask for {len(wanted)} columns, but X has {n_features}")
        return np.flatnonzero(wanted)
    if all(isinstance(one, str) for one in wanted):
        names = column_names(X)
        if names is None:
            raise ValueError("categorical_features gives names, but the columns of X have none: give indices")
        columns, says, why = names, "names", f"X has no such column; it has {names}"
    elif all(isinstance(one, Integral) and not isinstance(one, bool | np.bool_) for one in wanted):
        wanted = list(map(int, wanted))
        columns, says, why = range(n_features), "has index", f"the columns of X are 0 to {n_features - 1}"
    else:
        raise ValueError(
            "categorical_features must be a list of names, of indices, or a mask of booleans; "
            f"got {categorical_features!r}"
        )
    for one in wanted:
        if one not in columns:
            raise ValueError(f"categorical_features {says} {one!r}, but {why}")
        if wanted.count(one) > 1:
            raise ValueError(f"categorical_features lists {one!r} more than once")
    return np.sort([columns.index(one) for one in wanted])


def _is_text_type(X: Any, m: int) -> bool:
    kind = str(_column(X, m).dtype).lower()
    if kind == "object":
        return any(isinstance(value, str) for value in _values(X, m))
    return kind == "str" or kind.startswith(_TEXT_TYPES)


# ---------------------------------------------------------------------------------------------------- numbers


def learn_and_encode(X: Any, categorical_features: Any) -> tuple[Any, Categories]:
    """Return X with numbers in its categorical columns, and the categories (empty if no column is categorical)."""
    if categorical_features is not None and not isinstance(categorical_features, str):
        _refuse_sparse(X)
    columns = find_categorical(X, categorical_features)
    if len(columns) == 0:
        return X, ()
    categories = learn_categories(X, columns)
    return encode(X, categories), categories


def learn_categories(X: Any, columns: np.ndarray) -> Categories:
    """List the values of the categorical columns, numbers before text, each in its order."""
    _refuse_sparse(X)
    X = _table(X)
    categories: list[tuple[Any, ...] | None] = [None] * X.shape[1]
    for m in columns.tolist():
        try:
            values = [value for value in dict.fromkeys(_values(X, m)) if not is_missing(value)]
        except TypeError:
            raise ValueError(f"{_called(X, m)} is categorical, but its values are not texts or numbers") from None
        categories[m] = tuple(sorted(values, key=_sorting_key))
    return tuple(categories)


def unite_categories(parts: Sequence[Categories]) -> Categories:
    """Return what `learn_categories` lists for all parts of a table together."""
    united: list[tuple[Any, ...] | None] = []
    for lists in zip(*parts, strict=True):
        values = None if lists[0] is None else dict.fromkeys(value for own in lists for value in own)
        united.append(None if values is None else tuple(sorted(values, key=_sorting_key)))
    return tuple(united)


def encode(X: Any, categories: Sequence[Any], owner: str = "this model") -> Any:
    """Return X with category numbers in the categorical columns; NaN for missing values and unknown categories."""
    _refuse_sparse(X)
    X = _table(X)
    shape: tuple[int, ...] = getattr(X, "shape", ())
    if len(shape) != 2:
        raise ValueError(
            f"Expected 2D array, got {len(shape)}D array instead. Reshape your data: a row for each example"
        )
    if shape[1] != len(categories):
        raise ValueError(f"X has {shape[1]} features, but {owner} is expecting {len(categories)} features as input")
    numbers = {}
    for m, own in enumerate(categories):
        if own is not None:
            number_of = {value: float(number) for number, value in enumerate(own)}
            try:
                numbers[m] = np.array([number_of.get(value, np.nan) for value in _values(X, m)], dtype=np.float64)
            except TypeError:
                raise ValueError(f"{_called(X, m)} is categorical, but its values are not texts or numbers") from None
    return _with_columns(X, numbers)


def renumber(
    X: np.ndarray, categories: Categories, y: np.ndarray, weights: np.ndarray | None
) -> tuple[np.ndarray, Categories]:
    """Give the categories new numbers by the examples in them, and forget those without any.

    The most frequent comes first, and their responses decide between equals, so that the numbers (which say what
    examples are drawn for pruning) do not depend on what the categories are called.
    """
    n_classes = int(y.max()) + 1 if y.dtype.kind in "iu" else 0
    responses = [
        None if own is None else response_sums(X[:, m], len(own), y, n_classes, weights)
        for m, own in enumerate(categories)
    ]
    numbers, arranged = number_by_response(categories, responses)
    return replace_by_codes(X, numbers), arranged


def number_by_response(
    categories: Categories, responses: Sequence[tuple[np.ndarray, np.ndarray] | None]
) -> tuple[Codes, Categories]:
    """Return the new number of each category (NaN if it has no examples), and the categories in this order.

    Parameters
    ----------
    categories : Categories
    responses : sequence
        For each categorical attribute what `response_sums` returns, from all examples.
    """
    numbers: list[np.ndarray | None] = [None] * len(categories)
    arranged = list(categories)
    for m, (own, response) in enumerate(zip(categories, responses, strict=True)):
        if own is not None and response is not None:
            sums, sizes = response
            order = np.lexsort([*(-sums.T[::-1]), -sizes])
            order = order[sizes[order] > 0]
            new_number = np.full(len(own), np.nan)
            new_number[order] = np.arange(len(order))
            numbers[m], arranged[m] = new_number, tuple(own[number] for number in order)
    return tuple(numbers), tuple(arranged)


def category_values(categories: Categories) -> list[np.ndarray | None] | None:
    """Return the categories as a fitted model lists them, ``categories_``; None if there are none."""
    return [None if own is None else np.array(own, dtype=object) for own in categories] or None


def labels_of(categories: Categories) -> tuple[tuple[str, ...] | None, ...]:
    """Return the categories as plain text."""
    return tuple(None if own is None else tuple(map(_label, own)) for own in categories)


def _label(value: Any) -> str:
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def _sorting_key(value: Any) -> tuple[int, Any, str]:
    return (0, value, "") if isinstance(value, Real) else (1, 0, str(value))


def is_missing(value: Any) -> bool:
    """Whether a value is None, NaN, or the missing value of pandas (which does not say whether it equals itself)."""
    if value is None or type(value).__name__ == "NAType":
        return True
    return not isinstance(value, str) and bool(value != value)


def _refuse_sparse(X: Any) -> None:
    if is_sparse(X):
        raise TypeError("categorical_features needs a frame or a dense array, but X is sparse")


# ---------------------------------------------------------------------------------------------------- codes


def _cells(column: np.ndarray, y: np.ndarray, n_classes: int) -> tuple[np.ndarray, np.ndarray]:
    """Return which rows have a category, and the number of the cell (category, class) of each of them."""
    known = ~np.isnan(column)
    return known, column[known].astype(np.int64) * n_classes + y[known]


def class_weights(
    column: np.ndarray, n_categories: int, y: np.ndarray, n_classes: int, weights: np.ndarray | None
) -> np.ndarray:
    """Return the weight of each class in each category (n_categories, n_classes), whatever the order of the rows."""
    # Whole numbers add up exactly as they are.
    if weights is None or ((weights == np.round(weights)).all() and np.abs(weights).sum() < 2.0**53):
        return _sums_by_cell(column, n_categories, y, n_classes, weights)
    return exact_class_weights(column, n_categories, y, n_classes, weights).astype(np.float64)


def _sums_by_cell(
    column: np.ndarray, n_categories: int, y: np.ndarray, n_classes: int, weights: np.ndarray | None
) -> np.ndarray:
    known, cells = _cells(column, y, n_classes)
    counts = np.bincount(cells, None if weights is None else weights[known], minlength=n_categories * n_classes)
    return counts.reshape(n_categories, n_classes).astype(np.float64)


def exact_class_weights(
    column: np.ndarray, n_categories: int, y: np.ndarray, n_classes: int, weights: np.ndarray
) -> np.ndarray:
    """Return the weight of each class in each category without rounding: what parts of a table give adds up exactly.

    Returns
    -------
    array of Fraction (n_categories, n_classes)
    """
    from .exact_moments import exact_sum  # compiled: not for those who only read a model

    known, cells = _cells(column, y, n_classes)
    by_cell = weights[known][np.argsort(cells, kind="stable")]
    ends = np.cumsum(np.bincount(cells, minlength=n_categories * n_classes))
    totals = [exact_sum(own) for own in np.split(by_cell, ends)[:-1]]
    return np.array(totals, dtype=object).reshape(n_categories, n_classes)


def response_sums(
    column: np.ndarray, n_categories: int, y: np.ndarray, n_classes: int, weights: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray]:
    """Return what the responses in each category add up to, and the weight of its examples.

    For classes that is the weight of each class; for numbers (``n_classes=0``) there is one column, their sum.
    """
    if n_classes:
        counts = class_weights(column, n_categories, y, n_classes, weights)
        return counts, counts.sum(axis=1)
    alike, own_weights = np.zeros(len(y), dtype=np.int64), np.ones(len(y)) if weights is None else weights
    sums, sizes = (_sums_by_cell(column, n_categories, alike, 1, w) for w in (own_weights * y, own_weights))
    return sums, sizes[:, 0]


def response_codes(
    sums: np.ndarray, unit: float = 1.0, smoothing: float = SMOOTHING_EXAMPLES, sizes: np.ndarray | None = None
) -> tuple[np.ndarray, float]:
    """Return the code of each category, which orders them by response, and the mean code.

    Shares (or means) of rare categories are drawn towards those of all examples. A category without examples gets the
    mean, and so does one of a single example: it would say no more than what response that example has.

    Parameters
    ----------
    sums : array (n_categories, n_classes or 1)
        Weight of each class in each category, or the weighted sum of the numbers to predict.
    unit : float, default=1.0
        The weight of one example.
    smoothing : float, default=2.0
        How many examples like all others are added to each category; 0 is CART's order.
    sizes : array (n_categories,), optional
        Weight of each category's examples. None: that of its classes.
    """
    sizes = sums.sum(axis=1) if sizes is None else sizes
    total = sizes.sum()
    if not total > 0:
        return np.zeros(len(sums)), 0.0
    overall = sums.sum(axis=0) / total
    prior = smoothing * unit
    shares = np.where(
        (sizes > 1.5 * unit)[:, None] if smoothing > 0 else (sizes > 0)[:, None],
        (sums + prior * overall) / np.maximum(sizes + prior, np.finfo(float).tiny)[:, None],
        overall,
    )
    if sums.shape[1] <= 2:
        return shares[:, -1], float(overall[-1])
    away = shares - overall
    _, directions = np.linalg.eigh((away * sizes[:, None]).T @ away / total)
    directions = directions[:, ::-1]  # the first principal direction first
    largest = np.abs(directions).argmax(axis=0)
    directions = directions * np.sign(directions[largest, np.arange(len(largest))])
    direction = directions @ DIRECTION_DISCOUNT ** np.arange(len(largest))
    return shares @ direction, float(overall @ direction)


def code_categories(
    X: np.ndarray, categories: Categories, y: np.ndarray, n_classes: int, rows: np.ndarray, weights: np.ndarray | None
) -> tuple[Codes, np.ndarray]:
    """Compute the codes of all categorical columns from some rows; also return the mean codes (0 elsewhere).

    Parameters
    ----------
    X : array (n_samples, n_features)
        Category numbers in the categorical columns.
    categories : Categories
    y : array (n_samples,)
        Class indices, or numbers to predict.
    n_classes : int
        0 for numbers.
    rows : int array
        Which examples to learn from.
    weights : array (n_samples,) or None
    """
    codes: list[np.ndarray | None] = [None] * X.shape[1]
    means = np.zeros(X.shape[1])
    own_weights = None if weights is None else weights[rows]
    unit = weight_of_one(own_weights)
    for m, own in enumerate(categories):
        if own is not None:
            sums, sizes = response_sums(X[rows, m], len(own), y[rows], n_classes, own_weights)
            codes[m], means[m] = response_codes(sums, unit, sizes=sizes)
    return tuple(codes), means


def replace_by_codes(X: np.ndarray, codes: Sequence[np.ndarray | None]) -> np.ndarray:
    """Return a float64 copy of X with codes instead of category numbers; NaN stays, and what is no number of one is."""
    X = np.array(X, dtype=np.float64)
    for m, own in enumerate(codes):
        if own is not None:
            X[:, m] = _taken(own, X[:, m])
    return X


def _taken(numbers: np.ndarray, column: np.ndarray) -> np.ndarray:
    """Return ``numbers[column]``, NaN where the column holds no valid index."""
    valid = (column >= 0) & (column < len(numbers))
    return np.append(numbers, np.nan)[np.where(valid, column, len(numbers)).astype(np.int64)]
