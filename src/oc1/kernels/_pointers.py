"""Compiled functions as arguments of kernels, with their types at hand.

Numba works out the type of a function each time it is handed over, which takes longer than a search of a small node.
"""

from __future__ import annotations

from collections.abc import Callable

from numba import typeof
from numba.core.ccallback import CFunc
from numba.core.types import WrapperAddressProtocol
from numba.extending import typeof_impl


class Pointer(WrapperAddressProtocol):
    """A compiled function that knows its type."""

    def __init__(self, function: CFunc):
        self.function, self.type = function, typeof(function)

    def __wrapper_address__(self):
        """Return where the function begins."""
        return self.function._wrapper_address

    def signature(self):
        """Return what the function takes and returns."""
        return self.function._sig


@typeof_impl.register(Pointer)
def _typeof_pointer(value, context):
    return value.type


def typed(function: Callable) -> Callable | Pointer:
    """Return a compiled function as a `Pointer`, any other as it is."""
    return Pointer(function) if isinstance(function, CFunc) else function
