"""What is wrong with a file, said in one sentence with the place at fault."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

FilePath = str | os.PathLike[str]

#: In characters. What a problem quotes from a file may be of any length; a message is read by people.
MAX_PROBLEM_LENGTH = 500


class FileProblem(ValueError):
    """A file cannot be used as it is.

    Parameters
    ----------
    path : str or path-like
    problem : str
        What is wrong, in words that make sense to whoever made the file; cut where it is very long.
    line : int, optional
        Counted from 1, as editors do.
    row : int, optional
        Where a file has no lines: its row, counted from 1.
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
        path: FilePath,
        problem: str,
        *,
        line: int | None = None,
        row: int | None = None,
        column: int | None = None,
        name: str | None = None,
    ) -> None:
        if len(problem) > MAX_PROBLEM_LENGTH:
            problem = f"{problem[: MAX_PROBLEM_LENGTH - 3]}..."
        self.path, self.problem = os.fspath(path), problem
        self.line, self.row, self.column, self.name = line, row, column, name
        numbers = {"line": line, "row": row}
        place = [self.path, *(f"{what} {number}" for what, number in numbers.items() if number is not None)]
        if column is not None:
            place.append(f"column {column}" + (f" ({name})" if name else ""))
        elif name:
            place.append(f"column {name!r}")
        super().__init__(f"{', '.join(place)}: {problem}")

    def reworded(self, problem: str) -> FileProblem:
        """Return another problem at the same place."""
        place = {"line": self.line, "row": self.row, "column": self.column}
        return FileProblem(self.path, problem, **place, name=self.name)


@contextmanager
def explained(path: FilePath, action: str = "read") -> Iterator[None]:
    """Turn errors of the system into a `FileProblem`; a closed pipe stays what it is.

    Parameters
    ----------
    path : str or path-like
        As it stands in messages.
    action : {"read", "written"}
        What is done to the file.
    """
    try:
        yield
    except (FileProblem, BrokenPipeError):
        raise
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        problem = f"cannot be {action}: {getattr(error, 'strerror', None) or error}"
        if action == "read" and isinstance(error, FileNotFoundError):
            problem = "there is no such file"
        elif isinstance(error, IsADirectoryError):
            problem = "is a folder, not a file"
        raise FileProblem(path, problem) from None
