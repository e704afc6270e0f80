"""How kernels are compiled, cached and called.

Five kinds of functions:

- `kernel`: called from Python, and kept in the cache;
- `inner`: called by kernels only (a way in from Python would take as long to compile as the function itself);
- `spliced`: the same, written into its caller;
- `inlined`: the same, for what runs at every position of a line, where a call would hand over some forty words;
- `pointer`: compiled once for a given signature and called through its address. A function that is called directly is
  compiled again inside each of its callers, which is too expensive for the largest ones.

``NUMBA_DISABLE_JIT=1`` turns all of them into plain Python, for debugging.

The cache
---------
Numba renews a cached function when the file that holds it changes, but not when a function it calls in *another* file
does. So cached code is stamped with a hash of all kernel sources: it is used again exactly if none of them has changed,
also where the files were created anew with the same content. This leans on names that Numba does not promise; without
them, Numba's own cache is used. What is not in the cache may have come with the package (see `oc1.kernels._shipped`).
"""

from __future__ import annotations

import hashlib
import pickle
import sys
import warnings
from collections.abc import Callable
from contextlib import suppress
from functools import cache, partial
from pathlib import Path
from typing import Any, get_type_hints

import numba
from numba import config, njit
from numba.core import event, sigutils, types
from numba.core.ccallback import CFunc
from numba.core.types import WrapperAddressProtocol
from numba.core.typing.templates import Signature
from numba.extending import typeof_impl

from ._inner import InnerCompiler
from ._shipped import find_shipped

FOLDER = Path(__file__).parent
MESSAGE = "oc1: compiling kernels (once on this machine, up to a minute; later runs use the cache)"

_options: dict[str, Any] = {"error_model": "numpy", "nogil": True, "no_cfunc_wrapper": True}
# Kernels work in buffers that the caller keeps alive; without reference counts they take a tenth less time to compile.
_uncounted: dict[str, Any] = {"_nrt": False}
_no_way_in: dict[str, Any] = {"no_cpython_wrapper": True, "pipeline_class": InnerCompiler}


class _Notice(event.Listener):
    """Tells the user, once, that kernels are being compiled."""

    told = False

    def on_start(self, event: Any) -> None:
        """Look at what is compiled: other packages compile without a word."""
        if not self.told and getattr(event.data.get("dispatcher"), "__module__", "").startswith("oc1."):
            self.told = True
            print(MESSAGE, file=sys.stderr)

    def on_end(self, event: Any) -> None:
        """Do nothing."""


event.register("numba:compile", _Notice())


# --------------------------------------------------------------------------------------------------- the cache


@cache
def source_stamp() -> str:
    """Return a hash of all kernel sources."""
    digest = hashlib.sha256()
    for path in sorted(FOLDER.glob("*.py")):
        digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


def make_cache(function: Callable) -> Any:
    """Return a cache for a function that is stamped with all kernel sources; None if Numba has changed too much."""
    try:
        from numba.core.caching import FunctionCache

        class KernelCache(FunctionCache):
            def __init__(self, function: Callable):
                super().__init__(function)
                if not self._cache_file._source_stamp:
                    raise AttributeError("Numba's index files have no stamp")
                self._cache_file._source_stamp = source_stamp()

            def load_overload(self, sig: Any, target_context: Any) -> Any:
                try:
                    return super().load_overload(sig, target_context) or self._load_shipped(sig, target_context)
                except Exception as problem:  # a damaged file, or one that names a class that is gone: compile anew
                    warn_once(f"compiled code in {self.cache_path} cannot be read ({problem}): compiling again")
                    with suppress(Exception):
                        self.flush()
                    return None

            def _load_shipped(self, sig: Any, target_context: Any) -> Any:
                data = find_shipped(self, sig, target_context.codegen(), source_stamp())
                return None if data is None else self._impl.rebuild(target_context, data)

            def save_overload(self, *arguments: Any) -> None:
                try:
                    super().save_overload(*arguments)
                    remove_stale(Path(self.cache_path))
                except OSError as problem:  # a full disk, say: the compiled code is at hand all the same
                    warn_once(f"compiled code cannot be kept in {self.cache_path} ({problem})")

        return KernelCache(function)
    except (ImportError, AttributeError):
        return None


@cache
def warn_once(message: str) -> None:
    """Warn of something about the cache, but not for every kernel."""
    warnings.warn(message, RuntimeWarning, stacklevel=2)


@cache
def remove_stale(folder: Path) -> None:
    """Remove, once, what earlier sources left in the cache: their line numbers are in the names of the files."""
    for index in folder.glob("*.nbi"):
        with suppress(Exception), index.open("rb") as file:
            if pickle.load(file) == numba.__version__ and pickle.load(file)[0] != source_stamp():
                for data in (*folder.glob(f"{index.stem}.*.nbc"), index):
                    data.unlink(missing_ok=True)


def cached(compiled: Any, function: Callable) -> Any:
    """Give a compiled function its cache."""
    if not config.DISABLE_JIT:  # type: ignore[attr-defined]
        compiled.enable_caching()
        compiled._cache = make_cache(function) or compiled._cache
    return compiled


# --------------------------------------------------------------------------------------------------- kinds of functions


def kernel(function: Callable | None = None, *, allocates: bool = False) -> Any:
    """Compile a function that is called from Python; it may make arrays if it `allocates`."""
    if function is None:
        return partial(kernel, allocates=allocates)
    return cached(njit(**_options, **({} if allocates else _uncounted))(function), function)


inner = njit(**_options, **_uncounted, **_no_way_in)
inlined = njit(**_options, **_uncounted, **_no_way_in, forceinline=True)
#: An `inner` function that becomes part of its caller before anything is compiled: what returns part of an array, which
#: Numba allows only there, and small steps that are called from one place, which then need not be compiled by
#: themselves. Large ones take longer that way: for each block of code, Numba copies all variables of the function.
spliced = njit(**_options, **_uncounted, **_no_way_in, inline="always")
#: An `inner` function that may make arrays.
allocating = njit(**_options, **_no_way_in)
#: The same, where sums may be taken in any order, so that they run on several lanes.
summing = njit(**_options, **_no_way_in, fastmath={"reassoc", "nsz"})


def pointer(signature: Any, function: Callable, allocates: bool = False, keep: bool = True) -> Any:
    """Compile a function for a signature and return it as an argument for kernels; `keep` it in the cache, or not."""
    if config.DISABLE_JIT:  # type: ignore[attr-defined]
        return function
    options = {"error_model": "numpy", **({} if allocates else _uncounted)}
    compiled = CFunc(function, sigutils.normalize_signature(signature), locals={}, options=options)
    if keep:
        cached(compiled, function)
    compiled.compile()
    return Pointer(compiled)


class Pointer(WrapperAddressProtocol):
    """A compiled function that knows its type.

    Numba works out the type of a function each time it is handed over, which takes longer than a search of a small
    node.
    """

    def __init__(self, function: CFunc):
        self.function, self.type = function, types.FunctionType(function._sig)  # type: ignore[attr-defined]

    def __wrapper_address__(self) -> int:
        """Return where the function begins."""
        return self.function._wrapper_address  # type: ignore[attr-defined]

    def signature(self) -> Any:
        """Return what the function takes and returns."""
        return self.function._sig  # type: ignore[attr-defined]


@typeof_impl.register(Pointer)
def _typeof_pointer(value: Pointer, context: Any) -> types.Type:
    return value.type


_types: dict[Any, Any] = {int: types.int64, float: types.float64, bool: types.boolean}


def numba_type(kind: Any) -> Any:
    """Return the Numba type of a record, a Python type or a pointer with some signature; Numba's own are themselves."""
    return types.FunctionType(kind) if isinstance(kind, Signature) else _types.get(kind, kind)


def fix_type(record: type, *fields: Any) -> None:
    """Tell Numba the types of a record's fields, so that it need not look at each of them at every call.

    By default, they are those of the annotations.
    """
    own = types.NamedTuple(tuple(map(numba_type, fields or get_type_hints(record).values())), record)
    _types[record] = own
    typeof_impl.register(record)(lambda value, context: own)


def signature(result: Any, *arguments: Any) -> Any:
    """Return the signature of a function that takes and returns what `numba_type` knows."""
    return numba_type(result)(*map(numba_type, arguments))
