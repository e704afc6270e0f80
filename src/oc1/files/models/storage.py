"""Fitted models as files: JSON, and the ``.dt`` files of 1994."""

from __future__ import annotations

import gzip
import io
import json
import os
import stat
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ...tree.validation import InvalidField, described
from ..atomic import replacing
from ..problems import FileProblem
from . import dt
from .decoding import decoded_document
from .record import Fitted, Source, StoredModel

#: Larger files, also once they are unpacked, are not read.
MOST_BYTES = 2**30

PICKLE = "is a pickle, which is never read: it could run any program; save the model with oc1.save_model"


def save_model(model: Any, path: str | os.PathLike, *, source: Source | None = None) -> None:
    """Write a fitted model to a file, whole or not at all.

    Parameters
    ----------
    model : fitted estimator of this package
        A tree or a vote of trees.
    path : str or path-like
        ``.dt`` writes the format of the OC1 program of 1994, which holds hyperplanes and class counts only: no names,
        no labels but 1, 2, ..., no values for missing ones, no parameters, and no `source`. Everything else is written
        as JSON, packed if the name ends in ``.gz``.
    source : Source, optional
        What the training data looked like.

    Raises
    ------
    TypeError
        The model is not of this package.
    ValueError
        The format cannot hold the model; the file cannot be written (`FileProblem`).

    Warns
    -----
    UserWarning
        A parameter cannot be stored, such as a criterion that is a function. The loaded model predicts the same, but
        has the parameter's default for the next fit.

    Examples
    --------
    >>> import os, tempfile
    >>> from oc1 import OC1Classifier, load_model, save_model
    >>> from oc1.datasets import make_pol
    >>> X, y = make_pol(random_state=0)
    >>> clf = OC1Classifier(random_state=0).fit(X, y)
    >>> path = os.path.join(tempfile.mkdtemp(), "pol.json")
    >>> save_model(clf, path)
    >>> bool((load_model(path).predict_proba(X) == clf.predict_proba(X)).all())
    True
    """
    from .encoding import written_json  # here and below: scikit-learn takes a second to import

    name = os.fspath(path).lower()
    plain = name.removesuffix(".gz")
    if plain.endswith(".dt"):
        data = dt.written(model, Path(plain).stem).encode("utf-8")
    else:
        data = written_json(model, Source() if source is None else source)
    if name != plain:
        data = gzip.compress(data, mtime=0)
    try:
        with replacing(path) as file:
            file.write(data)
    except OSError as error:
        raise FileProblem(path, f"cannot be written: {error.strerror or error}") from error


def load_model(path: str | os.PathLike) -> Any:
    """Read a fitted model that `save_model` wrote, or a ``.dt`` file.

    Parameters
    ----------
    path : str or path-like

    Returns
    -------
    fitted estimator
        It predicts as the one that was saved, to the last bit. A ``.dt`` file gives an `OC1Classifier` with the
        default parameters and the classes 1, 2, ...; the format knows no names and no pruning, and missing values
        count as 0.

    Raises
    ------
    FileProblem
        The file cannot be read, or is not a model in every detail. (It is a ValueError.)
    """
    return read_model(path).model


def read_model(path: str | os.PathLike) -> StoredModel:
    """Read a fitted model together with what is known of its training data.

    Parameters
    ----------
    path : str or path-like

    Returns
    -------
    StoredModel
    """
    return model_from_bytes(_read(path), path)


def read_fitted(path: str | os.PathLike) -> tuple[Fitted, Source]:
    """Read a model without making an estimator of it, which takes a second less: scikit-learn is not imported.

    Parameters
    ----------
    path : str or path-like

    Returns
    -------
    fitted : Fitted
        `estimator_of` makes an estimator of it.
    source : Source
    """
    return fitted_from_bytes(_read(path), path)


def _read(path: str | os.PathLike) -> bytes:
    try:
        status = os.stat(path)
        if stat.S_ISDIR(status.st_mode):
            raise FileProblem(path, "is a folder, not a model file")
        if not stat.S_ISREG(status.st_mode):
            raise FileProblem(path, "is not a regular file")
        with open(path, "rb") as file:
            data = file.read(MOST_BYTES + 1) if status.st_size <= MOST_BYTES else b""
    except FileNotFoundError:
        raise FileProblem(path, "there is no such file") from None
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        if isinstance(error, FileProblem):
            raise
        raise FileProblem(path, f"cannot be read: {getattr(error, 'strerror', None) or error}") from None
    if status.st_size > MOST_BYTES or len(data) > MOST_BYTES:
        raise FileProblem(path, _too_large())
    return data


def _too_large() -> str:
    return f"is larger than {MOST_BYTES:,} bytes, the most that a model file may have"


def model_from_bytes(data: bytes, path: str | os.PathLike) -> StoredModel:
    """Make a model of what a file holds.

    Parameters
    ----------
    data : bytes
    path : str or path-like
        For messages.
    """
    fitted, source = fitted_from_bytes(data, path)
    return StoredModel(estimator_of(fitted, path), source)


def estimator_of(fitted: Fitted, path: str | os.PathLike) -> Any:
    """Make an estimator of a model that was read from a file.

    Parameters
    ----------
    fitted : Fitted
    path : str or path-like
        For messages: its parameters may be wrong.
    """
    from .building import built

    with _problems_of(path):
        return built(fitted)


def fitted_from_bytes(data: bytes, path: str | os.PathLike) -> tuple[Fitted, Source]:
    """Make a model, not yet an estimator, of what a file holds; the arguments are those of `model_from_bytes`."""
    if data[:2] == b"\x1f\x8b":
        data = _unpacked(data, path)
    if not data.strip():
        raise FileProblem(path, "is empty")
    if _is_pickle(data):
        raise FileProblem(path, PICKLE)
    with _problems_of(path):
        if dt.is_dt(data) or os.fspath(path).lower().removesuffix(".gz").endswith(".dt"):
            fitted = dt.parsed(data, path)
            n_examples = float(fitted.attributes["tree_"].counts[0].sum())
            return fitted, Source(n_examples=int(n_examples) if n_examples.is_integer() else None)
        return decoded_document(_parsed_json(data, path))


@contextmanager
def _problems_of(path: str | os.PathLike) -> Iterator[None]:
    """Say of which file something is wrong."""
    try:
        yield
    except InvalidField as error:
        raise FileProblem(path, str(error)) from None
    except RecursionError:
        raise FileProblem(path, "is nested too deeply") from None
    except MemoryError:
        raise FileProblem(path, "is too large for the memory") from None


def _unpacked(data: bytes, path: str | os.PathLike) -> bytes:
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(data)) as file:
            unpacked = file.read(MOST_BYTES + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise FileProblem(path, f"cannot be unpacked: {error}") from None
    except MemoryError:
        raise FileProblem(path, "is too large for the memory") from None
    if len(unpacked) > MOST_BYTES:
        raise FileProblem(path, _too_large())
    return unpacked


def _is_pickle(data: bytes) -> bool:
    """Whether bytes are a pickle, or a packed one as joblib writes them."""
    if data[:1] == b"\x78":
        try:
            data = zlib.decompressobj().decompress(data, 64)
        except zlib.error:
            return False
    is_old = data[:1] in (b"c", b"(") and data.rstrip()[-1:] == b"." and b"\n" in data[:200]
    return is_old or (data[:1] == b"\x80" and data[1:2] in (b"\x02", b"\x03", b"\x04", b"\x05"))


def _parsed_json(data: bytes, path: str | os.PathLike) -> Any:
    def fields(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            seen: set[str] = set()
            twice = next(name for name, _ in pairs if name in seen or seen.add(name))  # type: ignore[func-returns-value]
            raise InvalidField("", f"the field {described(twice)} is there twice")
        return found

    def constant(name: str) -> None:
        raise InvalidField("", f"{name} is not a number that JSON knows")

    try:
        return json.loads(data.decode("utf-8-sig"), object_pairs_hook=fields, parse_constant=constant)
    except UnicodeDecodeError as error:
        raise FileProblem(path, f"is not a model file: byte {error.start} is not UTF-8") from None
    except json.JSONDecodeError as error:
        reason = f"is not valid JSON: {error.msg[:1].lower()}{error.msg[1:]} (character {error.colno})"
        raise FileProblem(path, reason, line=error.lineno) from None
    except InvalidField:
        raise
    except ValueError:  # Python turns no more than 4300 digits into a number
        raise FileProblem(path, "holds a number with too many digits") from None
