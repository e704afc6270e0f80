"""What the dictionary of a tree must look like: exact types, consistent lengths, finite numbers, indices in range.

Compiled code follows the indices of a tree without a second look, so everything that comes from a file passes here.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import chain, pairwise
from typing import Any

import numpy as np

#: Version of the dictionaries that trees turn into.
FORMAT = 1
#: Characters of a text from a file that a message quotes.
LONGEST = 60
#: Types of class labels by name; texts are arrays of text, or of objects as pandas has them.
LABEL_TYPES: dict[str, type] = {
    "bool": bool,
    **{f"{sign}int{bits}": int for sign in ("", "u") for bits in (8, 16, 32, 64)},
    **{f"float{bits}": float for bits in (16, 32, 64)},
    "str": str,
    "object": str,
}
#: Of names and labels: they are repeated in each line of a tree's text.
MAX_TEXT_LENGTH = 1000
#: An array of texts gives each of them the room of the longest. Larger ones hold objects.
MAX_FIXED_WIDTH_CHARACTERS = 2**22
_USUAL = {bool: "bool", int: "int64", float: "float64", str: "str"}


class InvalidField(ValueError):
    """A field is not what it must be.

    Parameters
    ----------
    where : str
        The field, like ``tree.children[3]``; empty for the whole.
    problem : str
    """

    def __init__(self, where: str, problem: str) -> None:
        self.where, self.problem = where, problem
        super().__init__(f"{where}: {problem}" if where else problem)


def require(holds: Any, where: str, problem: str) -> None:
    """Raise an `InvalidField` unless something holds."""
    if not holds:
        raise InvalidField(where, problem)


@contextmanager
def within(where: str) -> Iterator[None]:
    """Put the name of the record in front of the field that a `InvalidField` names."""
    try:
        yield
    except InvalidField as error:
        raise InvalidField(f"{where}.{error.where}" if error.where else where, error.problem) from None


def described(value: Any) -> str:
    """Say what a value is, in a few words that are safe to print.

    Examples
    --------
    >>> described([1, 2]), described(None), described("x" * 100)
    ('a list', 'null', "'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx...'")
    """
    if isinstance(value, str):
        return repr(value if len(value) <= LONGEST else value[: LONGEST - 3] + "...")
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    if isinstance(value, list | dict):
        return "a list" if isinstance(value, list) else "an object"
    return cut(value)


def cut(value: Any) -> str:
    """Return the ``repr`` of a value, not longer than messages bear."""
    words = repr(value)
    return words if len(words) <= LONGEST else words[: LONGEST - 3] + "..."


# ---------------------------------------------------------------------------------------------------- single values


def record(value: Any, required: Iterable[str], optional: Iterable[str] = ()) -> dict[str, Any]:
    """Return a dictionary that has the required fields, and no others than the optional ones."""
    require(type(value) is dict, "", f"must be an object with named fields, not {described(value)}")
    known = {*required, *optional}
    for name in value:
        require(name in known, "", f"the field {described(name)} is not known")
    for name in required:
        require(name in value, name, "is missing")
    return dict(value)


def text(value: Any, where: str) -> str:
    """Return a text."""
    if not isinstance(value, str):
        raise InvalidField(where, f"must be a text, not {described(value)}")
    if len(value) > MAX_TEXT_LENGTH:
        raise InvalidField(where, f"has {len(value):,} characters, more than {MAX_TEXT_LENGTH:,}")
    return str(value)


def whole(value: Any, where: str, low: int = 0, high: int = 2**63 - 1) -> int:
    """Return a whole number in a range."""
    require(type(value) is int, where, f"must be a whole number, not {described(value)}")
    require(low <= value <= high, where, f"must be from {low} to {high}, not {described(value)}")
    return int(value)


def items(value: Any, where: str, length: int | None = None) -> list[Any]:
    """Return a list, of some length if one is given."""
    require(type(value) is list, where, f"must be a list, not {described(value)}")
    require(length in (None, len(value)), where, f"must have {length} entries, but has {len(value)}")
    return value  # type: ignore[no-any-return]


# ---------------------------------------------------------------------------------------------------- arrays


def numbers(
    values: Any,
    where: str,
    dtype: Any = np.float64,
    *,
    length: int | None = None,
    low: float = -np.inf,
    high: float = np.inf,
    width: int | None = None,
) -> np.ndarray:
    """Return a list of finite numbers as an array; `width` is that of the table whose rows it joins, for messages."""
    items(values, where, length)
    is_whole = np.issubdtype(dtype, np.integer)
    allowed = {int} if is_whole else {int, float}

    def place(i: int) -> str:
        return f"{where}[{i}]" if width is None else f"{where}[{i // width}][{i % width}]"

    if not set(map(type, values)) <= allowed:
        i = next(i for i, value in enumerate(values) if type(value) not in allowed)
        raise InvalidField(place(i), f"must be a {'whole ' if is_whole else ''}number, not {described(values[i])}")
    try:
        array = np.array(values, dtype=np.int64 if is_whole else np.float64)
    except OverflowError:
        i = max(range(len(values)), key=lambda i: abs(values[i]))
        raise InvalidField(place(i), f"{described(values[i])} is too large") from None
    bad = ~np.isfinite(array) | (array < low) | (array > high)
    if bad.any():
        i = int(np.flatnonzero(bad)[0])
        limits = f"{low} or more" if high == np.inf else f"{low} to {high}"
        if low == -np.inf or not np.isfinite(array[i]):
            limits = "finite"
        raise InvalidField(place(i), f"must be {limits}, not {described(values[i])}")
    return array.astype(dtype)


def table(
    rows: Any,
    where: str,
    dtype: Any = np.float64,
    *,
    length: int | None = None,
    width: int | None = None,
    **limits: Any,
) -> np.ndarray:
    """Return a list of rows as an array; the first row says how wide it is if `width` does not."""
    items(rows, where, length)
    for i, row in enumerate(rows):
        width = len(items(row, f"{where}[{i}]", width))
    width = width or 0
    return numbers(list(chain.from_iterable(rows)), where, dtype, width=width, **limits).reshape(len(rows), width)


def texts(values: Any, where: str, length: int | None = None) -> tuple[str, ...]:
    """Return a list of texts."""
    return tuple(text(value, f"{where}[{i}]") for i, value in enumerate(items(values, where, length)))


def labels(values: Any, where: str, kind: str | None = None) -> np.ndarray:
    """Return class labels as ``np.unique`` gives them: of one type (a key of `LABEL_TYPES`), in order, each once."""
    types = {type(value) for value in items(values, where)}
    if types == {str}:
        texts(values, where)
    if kind is None:
        usual = len(types) <= 1 and types <= {*_USUAL}
        require(usual, where, "must all be texts, all whole numbers, all numbers, or true and false")
        kind = _USUAL[types.pop()] if types else "float64"
    require(kind in LABEL_TYPES, where, f"type {described(kind)} is not known")
    require(types <= {LABEL_TYPES[kind]}, where, f"not all labels are of type {kind}")
    in_order = all(one < other for one, other in pairwise(values))
    require(in_order, where, "the labels must be in order, each of them once")
    dtype = kind if kind != "int64" or max(values, default=0) < 2**63 else "uint64"
    if kind == "str" and len(values) * max(map(len, values), default=0) > MAX_FIXED_WIDTH_CHARACTERS:
        dtype = "object"
    try:
        with np.errstate(over="ignore"):
            array = np.array(values, dtype=dtype)
    except OverflowError:
        raise InvalidField(where, f"a label is too large for {kind}") from None
    holds = array.tolist() == values and (array.dtype.kind != "f" or np.isfinite(array).all())
    require(holds, where, f"a label cannot be held by {kind}")
    return array


# ---------------------------------------------------------------------------------------------------- trees


def preorder(children: np.ndarray) -> None:
    """Check that nodes form a tree in preorder: a node, then all below its first branch, then the second, ..."""
    rows, stack, expected, where = children.tolist(), [0], 0, "children"
    while stack:
        node = stack.pop()
        if node < expected:
            raise InvalidField(where, f"node {node} is reached twice")
        if node > expected:
            raise InvalidField(where, f"the nodes are not in preorder: node {node} stands where {expected} should")
        expected += 1
        branches = [child for child in rows[node] if child >= 0]
        if rows[node][: len(branches)] != branches:
            raise InvalidField(where, f"node {node} has a branch after one that is missing")
        if len(branches) == 1:
            raise InvalidField(where, f"node {node} has only one branch")
        stack += branches[::-1]
    require(expected == len(rows), where, f"node {expected} has no parent")


def offsets(values: Any, where: str, is_leaf: np.ndarray, total: int, least: int) -> np.ndarray:
    """Return where the parts of each node begin: leaves have none, other nodes `least` or more."""
    starts = numbers(values, where, np.int64, length=len(is_leaf) + 1, low=0, high=total)
    sizes = np.diff(starts)
    rises = starts[0] == 0 and starts[-1] == total and (sizes >= 0).all()
    require(rises, where, f"must rise from 0 to {total}")
    for node in np.flatnonzero(np.where(is_leaf, sizes != 0, sizes < least)):
        raise InvalidField(where, f"node {node} must have {'none' if is_leaf[node] else f'at least {least}'}")
    return starts


STRUCTURE = ("format", "children", "counts", "gains", "gaps", "fill", "classes", "feature_names")


def tree_fields(data: Any, kind: str) -> dict[str, Any]:
    """Return the checked fields of a tree of some kind: a key of `KINDS`."""
    require(type(data) is dict, "", f"must be an object with named fields, not {described(data)}")
    own_kind, form = data.get("kind", "tests"), data.get("format")
    require(own_kind == kind, "kind", f"this is a tree of {cut(own_kind).strip(chr(39))}, not of {kind}")
    is_known = type(form) is int and form == FORMAT
    require(is_known, "format", f"tree format {cut(form)} is not known; this version reads format {FORMAT}")
    required, optional, width, check = KINDS[kind]
    record(data, (*STRUCTURE, *required), ("kind", "scale", *optional))
    fields = structure(data, width, 1 if kind == "regression" else None)
    return fields | check(data, **fields)


def structure(data: dict[str, Any], width: int | None, n_outputs: int | None = None) -> dict[str, Any]:
    """Return the checked fields of a `TreeStructure`; `n_outputs` are the columns of ``counts`` if not the classes."""
    n = len(items(data["children"], "children"))
    require(n > 0, "children", "a tree has at least one node")
    children = table(data["children"], "children", np.int32, width=width, low=-1, high=n - 1)
    require(children.shape[1] > 0, "children", "a node has at least one place for a branch")
    preorder(children)
    fill = numbers(data["fill"], "fill")
    require(len(fill) > 0, "fill", "there must be at least one attribute")
    classes = labels(data["classes"], "classes")
    require(n_outputs or len(classes), "classes", "there must be at least one class")
    require(not (n_outputs and len(classes)), "classes", "a tree that predicts numbers has no classes")
    counts = table(data["counts"], "counts", length=n, width=n_outputs or len(classes), low=0)
    with np.errstate(over="ignore"):
        sums = counts.sum(axis=1)
    for node in np.flatnonzero(~((sums > 0) & np.isfinite(sums))):
        raise InvalidField(f"counts[{node}]", f"must add up to a positive finite number, not {sums[node]}")
    names = texts(data["feature_names"], "feature_names")
    wanted = f"must be none or {len(fill)}, as many as there are attributes, not {len(names)}"
    require(len(names) in (0, len(fill)), "feature_names", wanted)
    return {
        "children": children,
        "counts": counts,
        "gains": numbers(data["gains"], "gains", length=n),
        "gaps": numbers(data["gaps"], "gaps", length=n, low=0),
        "fill": fill,
        "classes": classes,
        "feature_names": names,
        "scale": numbers(data["scale"], "scale", length=len(fill), low=0) if "scale" in data else (),
    }


def linear_tests(data: dict[str, Any], children: np.ndarray, fill: np.ndarray, **_: Any) -> dict[str, Any]:
    """Return the checked fields that trees of linear tests have in addition."""
    is_leaf, n, d = children[:, 0] < 0, len(children), len(fill)
    features = numbers(data["features"], "features", np.int32, low=0, high=d - 1)
    terms = offsets(data["terms"], "terms", is_leaf, len(features), 1)
    starts = np.zeros(len(features), dtype=bool)
    starts[terms[:-1][~is_leaf]] = True
    in_order = (np.diff(features, prepend=-1)[~starts] > 0).all()
    require(in_order, "features", "the terms of a test must be in the order of the attributes, each of them once")
    codes, categories = categorical(data.get("codes", []), data.get("categories", []), d)
    return {
        "terms": terms,
        "features": features,
        "coefficients": numbers(data["coefficients"], "coefficients", length=len(features)),
        "thresholds": numbers(data["thresholds"], "thresholds", length=n),
        "codes": codes,
        "categories": categories,
        "missing": directions(data.get("missing", []), np.diff(terms)),
        **{name: numbers(data[name], name, length=n) for name in ("values", "losses") if name in data},
    }


def branches(data: dict[str, Any], children: np.ndarray, fill: np.ndarray, **_: Any) -> dict[str, Any]:
    """Return the checked fields that trees with a branch for each group of categories have in addition."""
    is_leaf, n, d = children[:, 0] < 0, len(children), len(fill)
    features = numbers(data["features"], "features", np.int32, length=n, low=0, high=d - 1)
    entries = numbers(data["branches"], "branches", np.int32, low=-1)
    tables = offsets(data["tables"], "tables", is_leaf, len(entries), 0)
    codes, categories = categorical(data["codes"], data["categories"], d)
    for node in np.flatnonzero(~is_leaf):
        own, table = codes[features[node]] if codes else None, entries[tables[node] : tables[node + 1]]
        n_branches = int((children[node] >= 0).sum())
        n_wanted = 0 if own is None else len(own)
        require(len(table) == n_wanted, "tables", f"node {node} must have {n_wanted} entries, one for each category")
        found = {-1, *table.tolist()} == set(range(-1, n_branches)) if len(table) else n_branches == 2
        require(found, "branches", f"node {node} must lead to each of its branches, and to no others")
    thresholds = numbers(data["thresholds"], "thresholds", length=n)
    own_fields = {"features": features, "thresholds": thresholds, "tables": tables, "branches": entries}
    return {**own_fields, "codes": codes, "categories": categories}


def machines(
    data: dict[str, Any], children: np.ndarray, fill: np.ndarray, classes: np.ndarray, **_: Any
) -> dict[str, Any]:
    """Return the checked fields that trees of linear machines have in addition."""
    n_branches = (children >= 0).sum(axis=1)
    functions = table(data["functions"], "functions", width=len(fill) + 1)
    starts = offsets(data["machines"], "machines", n_branches == 0, len(functions), 2)
    for node in np.flatnonzero(np.diff(starts) != n_branches):
        raise InvalidField("machines", f"node {node} must have a function for each branch")
    own_labels = numbers(data["labels"], "labels", np.int32, length=len(functions), low=0, high=len(classes) - 1)
    return {"machines": starts, "functions": functions, "labels": own_labels}


def directions(values: Any, n_terms: np.ndarray) -> Any:
    """Return where missing values go at each node; empty if no node says."""
    if values == []:
        return ()
    missing = numbers(values, "missing", np.int8, length=len(n_terms), low=-1, high=1)
    alone = (n_terms[missing != 0] == 1).all()
    require(alone, "missing", "only a test of one attribute can have a direction for missing values")
    return missing


def categorical(codes: Any, names: Any, d: int) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """Return the codes of categories and what these are called, for each attribute or for none."""
    if codes == [] and names == []:
        return (), ()
    own_codes, own_names = [], []
    for m, (own, called) in enumerate(zip(items(codes, "codes", d), items(names, "categories", d), strict=True)):
        both = (own is None) == (called is None)
        require(both, f"codes[{m}]", "an attribute with codes must have categories, and one without must not")
        own_codes.append(None if own is None else numbers(own, f"codes[{m}]"))
        own_names.append(None if own is None else texts(called, f"categories[{m}]", len(own)))
    return tuple(own_codes), tuple(own_names)


_LINEAR, _NAMED = ("terms", "features", "coefficients", "thresholds"), ("codes", "categories")
#: By the kind of a tree: the fields that it must have in addition, those that it may have, the most branches of a node,
#: and what checks these fields.
KINDS: dict[str, tuple[tuple[str, ...], tuple[str, ...], int | None, Callable[..., dict[str, Any]]]] = {
    "tests": (_LINEAR, (*_NAMED, "missing"), 2, linear_tests),
    "regression": ((*_LINEAR, "values", "losses"), (*_NAMED, "missing"), 2, linear_tests),
    "machines": (("machines", "functions", "labels"), (), None, machines),
    "branches": (("features", "thresholds", "tables", "branches", *_NAMED), (), None, branches),
}
