"""How kernels are compiled, cached and called.

Five kinds of functions:

- `kernel`: called from Python, and kept in the cache;
- `inner`: called by kernels only (a way in from Python would take as long to compile as the function itself);
- `spliced`: the same, written into its caller;
- `inlined`: the same, for what runs at every position of a line, where a call would hand over some forty words;
- `pointer`: compiled once for a given signature and called through its address. A function that is called directly is
  compiled again inside each of its callers, which is too expensive for the largest ones.

``NUMBA_DISABLE_JIT=1`` turns all of them into plain Python, for debugging.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any, get_type_hints

from numba import config, njit
from numba.core import event, sigutils, types
from numba.core.ccallback import CFunc
from numba.core.compiler_lock import global_compiler_lock
from numba.core.types import WrapperAddressProtocol
from numba.core.typing.templates import Signature
from numba.extending import typeof_impl

from ._cache import make_cache
from ._inner import InnerCompiler

MESSAGE = "oc1: compiling kernels (once on this machine, up to a minute; later runs use the cache)"

_options: dict[str, Any] = {"error_model": "numpy", "nogil": True, "no_cfunc_wrapper": True}
# Kernels work in buffers that the caller keeps alive; without reference counts they take a tenth less time to compile.
_uncounted: dict[str, Any] = {"_nrt": False}
_no_way_in: dict[str, Any] = {"no_cpython_wrapper": True, "pipeline_class": InnerCompiler}


class _Notice(event.Listener):
    """Tells the user, once, that kernels are being compiled."""

    told = False

    def on_start(self, event: event.Event) -> None:
        """Look at what is compiled: other packages compile without a word."""
        if not self.told and str(getattr(event.data.get("dispatcher"), "__module__", "")).startswith("oc1."):
            self.told = True
            if sys.stderr is not None:  # print would take stdout in its place
                print(MESSAGE, file=sys.stderr)

    def on_end(self, event: event.Event) -> None:
        """Do nothing."""


event.register("numba:compile", _Notice())
if hasattr(os, "register_at_fork"):
    # A child must not begin with a lock that a thread it does not have is to give back.
    os.register_at_fork(
        before=global_compiler_lock.acquire,
        after_in_parent=global_compiler_lock.release,
        after_in_child=global_compiler_lock.release,
    )


def cached(compiled: Any, function: Callable[..., Any]) -> Any:
    """Give a compiled function its cache: ours or, if Numba has changed too much, its own."""
    own = make_cache(function)
    if own is not None and hasattr(compiled, "_cache"):
        compiled._cache = own
    elif not config.DISABLE_JIT:  # type: ignore[attr-defined]
        with suppress(RuntimeError):  # no folder can be written to
            compiled.enable_caching()
    return compiled


# --------------------------------------------------------------------------------------------------- kinds of functions


def kernel(function: Callable[..., Any] | None = None, *, allocates: bool = False) -> Any:
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


def pointer(signature: object, function: Callable[..., Any], allocates: bool = False, keep: bool = True) -> Compiled:
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
        return self.function._wrapper_address  # type: ignore[attr-defined, no-any-return]

    def signature(self) -> Signature:
        """Return what the function takes and returns."""
        return self.function._sig  # type: ignore[attr-defined, no-any-return]


#: What `pointer` returns: the function itself where Numba is told not to compile.
Compiled = Pointer | Callable[..., Any]


@typeof_impl.register(Pointer)
def _typeof_pointer(value: Pointer, context: object) -> types.Type:
    return value.type


_types: dict[object, types.Type] = {int: types.int64, float: types.float64, bool: types.boolean}


def numba_type(kind: object) -> Any:
    """Return the Numba type of a record, a Python type or a pointer with some signature; Numba's own are themselves."""
    return types.FunctionType(kind) if isinstance(kind, Signature) else _types.get(kind, kind)


def fix_type(record: type, *fields: object) -> None:
    """Tell Numba the types of a record's fields, so that it need not look at each of them at every call.

    By default, they are those of the annotations.
    """
    own = types.NamedTuple(tuple(map(numba_type, fields or get_type_hints(record).values())), record)
    _types[record] = own
    typeof_impl.register(record)(lambda value, context: own)


def signature(result: object, *arguments: object) -> Signature:
    """Return the signature of a function that takes and returns what `numba_type` knows."""
    own: Signature = numba_type(result)(*map(numba_type, arguments))
    return own
