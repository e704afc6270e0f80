"""Compiled code on disk: renewed when any kernel source changes, read only if we wrote it, never a reason to fail.

Numba renews a cached function when the file that holds it changes, but not when a function it calls in *another* file
does. So code is kept under names that begin with a hash of all kernel sources: it is used again exactly if none of them
has changed, also where the files were created anew with the same content. One file holds one function for one signature
and one processor, after a hash of what it is and of its code: a file that is damaged, or in the place of another, is
compiled anew.

Files are looked for in ``NUMBA_CACHE_DIR`` or, if that is not set, beside the package and in the user's own folder of
caches, and then where wheels bring them along (see `oc1.kernels._shipped`). They are written to the first of these
folders that can be written to. Reading one means to run what is in it: only files are read that belong to this user, to
the administrator, or to who has installed the package, and that not everybody may write to.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import sys
import warnings
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any
from uuid import uuid4

import numba
from numba import config

from ._shipped import shipped_code

SOURCES = Path(__file__).parent
#: Of a hash: what is before the code in a file.
HASH_BYTES = 32


@cache
def source_stamp() -> str:
    """Return a hash of all kernel sources."""
    digest = hashlib.sha256()
    for path in sorted(SOURCES.glob("*.py")):
        digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


def folders() -> list[Path]:
    """Return the folders for compiled code, the first choice first."""
    own = f"{SOURCES.name}_{hashlib.sha256(str(SOURCES).encode()).hexdigest()[:16]}"
    if config.CACHE_DIR:  # type: ignore[attr-defined]
        return [Path(config.CACHE_DIR, own)]  # type: ignore[attr-defined]
    caches = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return [SOURCES / "__pycache__", *([Path(caches, "oc1", own)] if os.path.isabs(caches) else [])]


def is_trusted(path: Path) -> bool:
    """Whether nobody has written a file but who may decide what this process runs."""
    if os.name == "nt":  # files there have no owner of this kind
        return True
    written = path.stat()
    return written.st_uid in (os.geteuid(), 0, SOURCES.stat().st_uid) and not written.st_mode & 0o002


@cache
def warn_once(message: str) -> None:
    """Warn of something about the cache, but not for every kernel."""
    warnings.warn(message, RuntimeWarning, stacklevel=2)


@cache
def remove_stale(folder: Path) -> None:
    """Remove, once, what earlier sources left in a folder."""
    for path in folder.glob("*.nb[ic]"):
        if not path.name.startswith(source_stamp()[:16]):
            with suppress(OSError):
                path.unlink(missing_ok=True)


def write(name: str, content: bytes) -> None:
    """Write a file to the first folder where that is possible; else say so."""
    problems = []
    for folder in folders():
        unfinished = folder / f"{name}.{uuid4().hex}"
        try:
            folder.mkdir(parents=True, exist_ok=True)
            unfinished.write_bytes(content)
            unfinished.replace(folder / name)
        except OSError as problem:
            problems.append(str(problem))
            with suppress(OSError):
                unfinished.unlink(missing_ok=True)
        else:
            remove_stale(folder)
            return
    warn_once(
        f"compiled code cannot be kept ({'; '.join(problems)}), so every process compiles it anew: "
        "set NUMBA_CACHE_DIR to a folder that can be written to"
    )


def make_cache(function: Callable[..., Any]) -> Any:
    """Return a cache for a function as Numba uses it; None if Numba has changed too much."""
    try:
        from numba.core.caching import NullCache
        from numba.core.compiler import CompileResult
        from numba.core.serialize import dumps
    except ImportError:
        return None
    title = f"{function.__module__.rpartition('.')[2]}.{function.__qualname__}"
    versions = numba.__version__, sys.implementation.cache_tag

    def key(signature: object, target: Iterable[object]) -> bytes:
        return repr((source_stamp(), title, versions, signature, tuple(target))).encode()

    def name(own: bytes) -> str:
        return f"{source_stamp()[:16]}-{title}-{hashlib.sha256(own).hexdigest()[:16]}.nbc"

    class KernelCache(NullCache):
        def load_overload(self, sig: Any, target_context: Any) -> Any:
            target_context.refresh()
            here = target_context.codegen().magic_tuple()
            for folder, target in [*((folder, here) for folder in folders()), *shipped_code()]:
                own = key(sig, target)
                try:
                    if not is_trusted(folder / name(own)):
                        continue
                    content = (folder / name(own)).read_bytes()
                    if hashlib.sha256(own + content[HASH_BYTES:]).digest() != content[:HASH_BYTES]:
                        raise ValueError("a file is damaged")
                    return CompileResult._rebuild(target_context, *pickle.loads(content[HASH_BYTES:]))
                except OSError:  # there is none, or none for us
                    continue
                except Exception as problem:
                    warn_once(f"compiled code in {folder} cannot be read ({problem}): compiling again")
            return None

        def save_overload(self, sig: Any, data: Any) -> None:
            if not data.library.has_dynamic_globals:  # addresses, which are others in another process
                own, code = key(sig, data.codegen.magic_tuple()), dumps(data._reduce())
                write(name(own), hashlib.sha256(own + code).digest() + code)

    return KernelCache()
