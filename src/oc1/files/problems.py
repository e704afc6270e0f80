"""What is wrong with a file, said in one sentence with the place at fault."""

from __future__ import annotations

import os


class FileProblem(ValueError):
    """A file cannot be used as it is.

    Parameters
    ----------
    path : str or path-like
    problem : str
        What is wrong, in the words of whoever made the file.
    line : int, optional
        Counted from 1, as editors do.
    column : int, optional
        The field of the line, counted from 1.
    name : str, optional
        What the column is called.

    Examples
    --------
    >>> print(FileProblem("iris.csv", "'abc' is not a number", line=3, column=2, name="sepal_wid"))
    iris.csv, line 3, column 2 (sepal_wid): 'abc' is not a number
    """

    def __init__(
        self,
        path: str | os.PathLike,
        problem: str,
        *,
        line: int | None = None,
        column: int | None = None,
        name: str | None = None,
    ) -> None:
        self.path, self.problem, self.line, self.column, self.name = os.fspath(path), problem, line, column, name
        place = [self.path]
        if line is not None:
            place.append(f"line {line}")
        if column is not None:
            place.append(f"column {column}" + (f" ({name})" if name else ""))
        elif name:
            place.append(f"column {name!r}")
        super().__init__(f"{', '.join(place)}: {problem}")
