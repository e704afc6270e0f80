"""Files that are there whole or not at all."""

from __future__ import annotations

import gzip
import os
import secrets
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from .problems import FilePath, explained


@contextmanager
def replacing(path: FilePath, mode: str = "wb", **options: Any) -> Iterator[IO[Any]]:
    """Open a temporary file beside `path`, which replaces it if the block succeeds, and is removed if it fails.

    Parameters
    ----------
    path : str or path-like
    mode : {"wb", "w"}, default="wb"
    **options
        Passed to `open`, such as ``encoding`` and ``newline``.

    Examples
    --------
    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "numbers.txt")
    >>> with replacing(path, "w", encoding="utf-8") as file:
    ...     _ = file.write("1 2 3")
    >>> os.listdir(os.path.dirname(path))
    ['numbers.txt']
    """
    if os.path.exists(path) and not os.path.isfile(path) and not os.path.isdir(path):
        # A device or a pipe is written to, not replaced.
        with open(path, mode, **options) as file:
            yield file
        return
    # What `path` links to is replaced, not the link, and in its own folder: a file cannot be renamed across disks.
    target = Path(os.path.realpath(path))
    name = os.fspath(target.parent / f".{target.name[:100]}.{secrets.token_hex(8)}.part")
    try:  # from before the file exists: Ctrl-C may come at any moment
        with open(name, mode.replace("w", "x"), opener=_for_this_user, **options) as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.chmod(name, _permissions(target))
        os.replace(name, target)
    except BaseException as error:
        with suppress(OSError):
            os.unlink(name)
        if isinstance(error, OSError) and error.filename in (None, name):
            with explained(path, "written"):  # the temporary name would mean nothing to the user
                raise
        raise


@contextmanager
def locked(path: FilePath) -> Iterator[None]:
    """Keep out all other processes that lock the same file; it is made if missing, and stays."""
    with open(path, "ab") as file:
        if sys.platform == "win32":
            import msvcrt

            while True:
                try:
                    msvcrt.locking(file.fileno(), msvcrt.LK_LOCK, 1)
                    break
                except OSError:  # after ten seconds
                    continue
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX)
        yield


def write_file(path: FilePath, content: bytes) -> None:
    """Write a file, packed if its name ends in .gz; raise `FileProblem` if that fails.

    Parameters
    ----------
    path : str or path-like
    content : bytes
    """
    if os.fspath(path).lower().endswith(".gz"):
        content = gzip.compress(content, mtime=0)
    with explained(path, "written"), replacing(path) as file:
        file.write(content)


def _for_this_user(name: str, flags: int) -> int:
    """Open a file that nobody else may read until it is whole."""
    return os.open(name, flags, 0o600)


def _permissions(target: Path) -> int:
    """Return the permissions of the file that is replaced, or those that a new file would get."""
    with suppress(OSError):
        return target.stat().st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
