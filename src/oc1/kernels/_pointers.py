"""The kernels by their former names, for callers that have not moved yet."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:

    def __getattr__(name: str) -> Any: ...

else:
    from ._jit import typed  # noqa: F401
