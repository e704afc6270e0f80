"""Tables that are read in batches, to be classified by a model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..inputs import InputColumn, ModelInputs
from ..problems import FilePath
from .columns import (
    Reader,
    ReadOptions,
    Roles,
    assemble,
    checked_numbers,
    find_column,
    find_ignored,
    find_roles,
    open_reader,
    plain_labels,
)
from .names import find_name, match_names, nearest_first
from .parsing import TextFound
from .sniffing import is_number, listed, shown_name, whole_number


@dataclass(frozen=True)
class ExampleBatch:
    """Some rows of a table.

    Parameters
    ----------
    X : array or polars.DataFrame
        The columns a model wants, in its order.
    y : object array of str, or None
    first_row : int
        The number of the first example, from 0.
    n_bytes : int
        Of the file, read so far (packed bytes if it is compressed).
    """

    X: Any
    y: np.ndarray | None
    first_row: int
    n_bytes: int


def scan_table(
    path: FilePath,
    inputs: ModelInputs,
    options: ReadOptions = ReadOptions(),  # noqa: B008
    *,
    labelled: bool,
    batch_bytes: int = 16 << 20,
) -> Iterator[ExampleBatch]:
    """Read a table in batches, in as much memory as a few of them take.

    Columns are found by name where both the file and the model have names, in any order and whatever the case of the
    letters; other columns are passed over. Otherwise they go by position: the attributes of the training file, if there
    are as many columns as it had, else all columns, which must be as many as the model wants. A text that is new to a
    0/1 column gives zeros, a missing one NaN.

    Parameters
    ----------
    path : str or path-like
        "-" is standard input (CSV unless the options say otherwise).
    inputs : ModelInputs
        What the model wants to see.
    options : ReadOptions
    labelled : bool
        Whether there are labels: in the column that `options` names, or that is called as in training, or in the last.
    batch_bytes : int
        Roughly how much of the file makes a batch.

    Yields
    ------
    ExampleBatch

    Raises
    ------
    FileProblem
        Whatever is wrong with the file, with line and column.
    """
    with closing(open_reader(path, options, batch_bytes)) as reader:
        expected = inputs.columns()
        target, places = _match(reader, inputs, expected, options, labelled)
        kinds = {m: "number" if own.kind == "number" else "text" for m, own in zip(places, expected, strict=True)}
        numeric = [m for m, kind in kinds.items() if kind == "number"]
        if labelled and target is not None:
            kinds[target] = "text"
        n_rows = 0
        try:
            for chunk in reader.chunks(kinds):
                y = None
                if labelled and target is not None:
                    labels = chunk.frame[str(target)]
                    if labels.null_count():
                        raise chunk.complain(int(labels.is_null().arg_true()[0]), target, "the label is missing")
                    y = plain_labels(labels, reader).to_numpy()
                texts = (chunk.frame[str(m)] for m in places if kinds[m] == "text")
                X = assemble(expected, checked_numbers(chunk, numeric, options), texts)
                yield ExampleBatch(X, y, n_rows, chunk.n_bytes)
                n_rows += chunk.frame.height
        except TextFound as found:
            raise next(iter(found.columns.values())) from None
        if n_rows == 0:
            raise reader.no_rows()


def _match(
    reader: Reader, inputs: ModelInputs, expected: list[InputColumn], options: ReadOptions, labelled: bool
) -> tuple[int | None, list[int]]:
    """Return the number of the column of labels, and those of the columns that a model expects."""
    names = reader.names
    target = None
    if names is not None and inputs.target is not None and options.target is None:
        target = find_name(inputs.target, names)
    if names is None or inputs.names is None:
        return _match_positions(reader, inputs, len(expected), options, labelled, target)
    place = match_names([column.title for column in expected], names)
    absent = [column.title for column in expected if column.title not in place]
    if absent:
        has = f"; it has {listed(nearest_first(absent[0], names))}"
        raise reader.problem(f"lacks what the model needs: column {listed(absent)}{has}")
    columns = [place[column.title] for column in expected]
    unwanted = find_ignored(reader, options)
    if options.target is not None and not labelled:
        unwanted.append(find_column(reader, options.target, "column"))
    for column in unwanted:
        if column in columns:
            raise reader.problem("is an attribute of the model, and cannot be left out", name=shown_name(names[column]))
    if not labelled:
        return None, columns
    target = find_roles(reader, options, labelled, target).target
    if target is not None and target in columns:
        problem = "is an attribute of the model, not the label; say which column is the label with --target"
        raise reader.problem(problem, column=target + 1, name=shown_name(names[target]))
    return target, columns


def _match_positions(
    reader: Reader, inputs: ModelInputs, n_needed: int, options: ReadOptions, labelled: bool, target: int | None
) -> tuple[int | None, list[int]]:
    """Return the same as `_match` where columns go by position; `target` is the column called like the labels."""
    known = inputs.file_columns
    if not labelled and n_needed == reader.n_columns:
        target = None  # it is called like the target, but is needed
    elif labelled and target is None and known is not None and known.n_columns == reader.n_columns:
        target = known.target
    roles = find_roles(reader, options, labelled, target)
    n_found = len(roles.attributes)
    if n_found == n_needed:
        return roles.target, roles.attributes
    places = _known_places(reader, inputs, options, roles)
    if places is not None:
        return roles.target, places
    more = n_found == n_needed + 1 and roles.target is None
    hint = "; if one of them is the label, say which with --target" if more else ""
    besides = " besides the label" if roles.target is not None else ""
    counted = f"{n_found} column{'' if n_found == 1 else 's'}"
    raise reader.problem(f"has {counted}{besides}, but the model wants {n_needed}{hint}")


def _known_places(reader: Reader, inputs: ModelInputs, options: ReadOptions, roles: Roles) -> list[int] | None:
    """Return where the attributes were in training, if the file can be like the one trained on."""
    places = None if inputs.file_columns is None else inputs.file_columns.attributes_among(reader.n_columns)
    others = {*find_ignored(reader, options), roles.target}
    return None if places is None or others & {*places} else places


def label_indices(labels: Sequence[str] | np.ndarray, classes: Sequence[Any] | np.ndarray) -> np.ndarray:
    """Return which of a model's classes each label is, -1 for none of them.

    Numbers match however they are written, other classes by their text.

    Parameters
    ----------
    labels : sequence of str
    classes : sequence of int, str, float or bool

    Examples
    --------
    >>> label_indices(["1", " 2.0", "3"], [1, 2]), label_indices(["b", "c"], ["a", "b"])
    (array([ 0,  1, -1]), array([ 1, -1]))
    """
    known: dict[str | float, int] = {}
    for k, value in enumerate(np.asarray(classes).tolist()):
        if isinstance(value, bool):
            known |= dict.fromkeys((str(value).lower(), str(value), str(int(value))), k)
        else:
            known[value.strip() if isinstance(value, str) else value] = k

    def find(text: str) -> int:
        text = str(text).strip()
        if text in known or not is_number(text):
            return known.get(text, -1)
        whole = whole_number(text)
        return known.get(float(text) if whole is None else whole, -1)

    found = {text: find(text) for text in set(labels)}
    return np.array([found[text] for text in labels], dtype=np.int64)
