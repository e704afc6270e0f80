"""Fitted models as files: JSON, and the ``.dt`` files of 1994."""

from __future__ import annotations

import json
import os
import stat
import zlib
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from ...tree.validation import InvalidField, described
from ..atomic import write_file
from ..problems import FilePath, FileProblem, explained
from ..source import ByteSource
from . import dt
from .decoding import decode_document
from .record import LoadedModel, ModelRecord, Source

#: Larger files, also once they are unpacked, are not read.
MAX_FILE_BYTES = 2**30

_PICKLE = "is a pickle, which is never read: it could run any program; save the model with oc1.save_model"


def save_model(model: Any, path: FilePath, *, source: Source | None = None) -> None:
    """Save a fitted model to a file, completely or not at all.

    Parameters
    ----------
    model : fitted estimator of this package
        A tree or an ensemble of trees.
    path : str or path-like
        A name that ends in ``.dt`` selects the format of the 1994 OC1 program, which stores only hyperplanes and class
        counts: no names, no labels other than 1, 2, ..., no fill values for missing values, no parameters, and no
        `source`. Everything else is written as JSON, compressed if the name ends in ``.gz``.
    source : Source, optional
        Where the model comes from. None: what is known of it, if it was loaded from a file.

    Raises
    ------
    TypeError
        The model is not from this package.
    ValueError
        The format cannot represent the model, or the file cannot be written (`FileProblem`).

    Warns
    -----
    UserWarning
        A parameter cannot be stored, such as a criterion that is a function. The loaded model predicts the same, but
        will use the parameter's default if it is fitted again.

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
    from .encoding import encode_model  # here and below: scikit-learn takes a second to import

    name = os.fspath(path).lower().removesuffix(".gz")
    if name.endswith(".dt"):
        write_file(path, dt.format_tree(model, Path(name).stem).encode("utf-8"))
    else:
        known = getattr(model, "source_", Source()) if source is None else source
        write_file(path, encode_model(model, known))


def load_model(path: FilePath) -> Any:
    """Load a fitted model that was saved by `save_model`, or a ``.dt`` file.

    Parameters
    ----------
    path : str or path-like

    Returns
    -------
    fitted estimator
        It predicts exactly as the model that was saved. A ``.dt`` file gives an `OC1Classifier` with the default
        parameters and the classes 1, 2, ...; the format has no names and no pruning, and missing values count as 0.

    Raises
    ------
    FileProblem
        The file cannot be read or is not a valid model. (This is a ValueError.)
    """
    return read_model(path).model


def read_model(path: FilePath, content: bytes | None = None) -> LoadedModel:
    """Load a fitted model together with what is known about its training data.

    Parameters
    ----------
    path : str or path-like
    content : bytes, optional
        What to read instead of the file.

    Returns
    -------
    LoadedModel
    """
    record, source = read_record(path, content)
    model = estimator_of(record, path)
    if source != Source():
        model.source_ = source
    return LoadedModel(model, source)


def read_record(path: FilePath, content: bytes | None = None) -> tuple[ModelRecord, Source]:
    """Read a model without making an estimator of it, which takes a second less: scikit-learn is not imported.

    Parameters
    ----------
    path : str or path-like
    content : bytes, optional
        What to read instead of the file.

    Returns
    -------
    record : ModelRecord
        `estimator_of` makes an estimator of it.
    source : Source
    """
    if content is None:
        with explained(path):
            mode = os.stat(path).st_mode
        if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
            raise FileProblem(path, "is not a regular file")
    with closing(ByteSource(path, content)) as file, _problems_of(path):
        data = file.read_all(MAX_FILE_BYTES)
        if not data.strip():
            raise FileProblem(path, "is empty")
        if _is_pickle(data):
            raise FileProblem(path, _PICKLE)
        if _is_table(data, path):
            raise FileProblem(path, f"is data, not a model; `oc1 train {os.fspath(path)}` makes a model of it")
        if dt.is_dt(data) or os.fspath(path).lower().removesuffix(".gz").endswith(".dt"):
            record = dt.parse_tree(data, path)
            n_examples = float(record.attributes["tree_"].counts[0].sum())
            return record, Source(n_examples=int(n_examples) if n_examples.is_integer() else None)
        return decode_document(_parse_json(data, path))


def estimator_of(record: ModelRecord, path: FilePath) -> Any:
    """Make an estimator of a model that was read from a file.

    Parameters
    ----------
    record : ModelRecord
    path : str or path-like
        For messages: its parameters may be wrong.
    """
    from .building import build_estimator

    with _problems_of(path):
        return build_estimator(record)


@contextmanager
def _problems_of(path: FilePath) -> Iterator[None]:
    """Say of which file something is wrong."""
    try:
        yield
    except InvalidField as error:
        raise FileProblem(path, str(error)) from None
    except RecursionError:
        raise FileProblem(path, "is nested too deeply") from None
    except MemoryError:
        raise FileProblem(path, "is too large for the memory") from None


def _is_pickle(data: bytes) -> bool:
    """Whether bytes are a pickle, or a packed one as joblib writes them."""
    if data[:1] == b"\x78":
        try:
            data = zlib.decompressobj().decompress(data, 64)
        except zlib.error:
            return False
    is_old = data[:1] in (b"c", b"(") and data.rstrip()[-1:] == b"." and b"\n" in data[:200]
    return is_old or (data[:1] == b"\x80" and data[1:2] in (b"\x02", b"\x03", b"\x04", b"\x05"))


def _is_table(data: bytes, path: FilePath) -> bool:
    """Whether a file is a table of examples: by its ending or first bytes, unless it has what a model begins with."""
    if data.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{") or dt.is_dt(data):
        return False
    from ..tables.sniffing import ENDINGS  # polars comes with it, and takes its time

    name = os.fspath(path).lower().removesuffix(".gz")
    endings = tuple(ending for own in ENDINGS.values() for ending in own)
    return name.endswith(endings) or data.startswith((b"PAR1", b"ARROW1"))


def _parse_json(data: bytes, path: FilePath) -> Any:
    def fields(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            (twice, _), *_ = Counter(name for name, _ in pairs).most_common(1)
            raise InvalidField("", f"the field {described(twice)} is there twice")
        return found

    def constant(name: str) -> None:
        raise InvalidField("", f"{name} is not a number that JSON knows")

    try:
        return json.loads(data.decode("utf-8-sig"), object_pairs_hook=fields, parse_constant=constant)
    except InvalidField:
        raise
    except UnicodeDecodeError as error:
        raise FileProblem(path, f"is not a model file: byte {error.start} is not UTF-8") from None
    except json.JSONDecodeError as error:
        reason = f"is not valid JSON: {error.msg[:1].lower()}{error.msg[1:]} (character {error.colno})"
        if not data.lstrip().startswith(b"{"):
            reason += "; if it is data, `oc1 train` makes a model of it"
        raise FileProblem(path, reason, line=error.lineno) from None
    except ValueError:  # Python turns no more than 4300 digits into a number
        raise FileProblem(path, "holds a number with too many digits") from None
