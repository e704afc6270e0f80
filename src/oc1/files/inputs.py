"""The columns of a table that a model wants to see."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal


@dataclass(frozen=True)
class InputColumn:
    """A column of a file as a model sees it.

    Parameters
    ----------
    title : str
    kind : {"number", "text", "one_hot"}
    values : tuple of str
        Of a column that becomes 0/1 columns.
    """

    title: str
    kind: Literal["number", "text", "one_hot"]
    values: tuple[str, ...] = ()

    @property
    def names(self) -> list[str]:
        """Names of what it becomes."""
        return [f"{self.title}={value}" for value in self.values] or [self.title]


@dataclass(frozen=True)
class FileColumns:
    """Which columns of a file are what, for files without names.

    Parameters
    ----------
    n_columns : int
        Of the whole file.
    target : int
        The number of the column of labels, from 0.
    attributes : tuple of int
        The numbers of the columns that are attributes, in order. Others are passed over.
    """

    n_columns: int
    target: int
    attributes: tuple[int, ...]

    @property
    def is_usual(self) -> bool:
        """Whether the labels are in the last column, and all others are attributes."""
        return self.target == self.n_columns - 1 and len(self.attributes) == self.n_columns - 1

    def attributes_among(self, n_columns: int) -> list[int] | None:
        """Return where the attributes are in a file of as many columns, or without that of the labels; else None."""
        if n_columns == self.n_columns:
            return list(self.attributes)
        return [m - (m > self.target) for m in self.attributes] if n_columns == self.n_columns - 1 else None


@dataclass(frozen=True)
class ModelInputs:
    """What a model wants to see.

    Parameters
    ----------
    n_features : int
        After text columns became 0/1 columns.
    names : tuple of str or None
        Of these attributes; None to go by position.
    one_hot, categorical, target
        As in `oc1.files.tables.Table`.
    file_columns : FileColumns, optional
        Of the training file.
    """

    n_features: int
    names: tuple[str, ...] | None
    one_hot: dict[str, tuple[str, ...]] = field(default_factory=dict)
    categorical: tuple[str, ...] = ()
    target: str | None = None
    file_columns: FileColumns | None = None

    def columns(self) -> list[InputColumn]:
        """Return the columns of a file, before some become 0/1 columns.

        Raises
        ------
        ValueError
            The columns that `one_hot` names are not those of the attributes.
        """
        if self.names is None:
            n_columns = self.n_features - sum(max(1, len(values)) - 1 for values in self.one_hot.values())
            titles = list(map(str, range(n_columns)))
        else:
            first = {f"{title}={values[0]}": title for title, values in self.one_hot.items() if values}
            others = {f"{title}={value}" for title, values in self.one_hot.items() for value in values[1:]}
            titles = [first.get(name, name) for name in self.names if name not in others]
        columns = [
            InputColumn(title, "one_hot", self.one_hot[title])
            if title in self.one_hot
            else InputColumn(title, "text" if title in self.categorical else "number")
            for title in titles
        ]
        becomes = [name for column in columns for name in column.names]
        is_complete = self.one_hot.keys() <= {*titles} and len(becomes) == self.n_features
        if not is_complete or (self.names is not None and tuple(becomes) != self.names):
            raise ValueError("the 0/1 columns are not attributes of the model")
        return columns
