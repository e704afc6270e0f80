"""Fitted models as programs that run elsewhere: ONNX graphs, C headers, Python modules, SQL.

`to_onnx`, `to_c`, `to_python` and `to_sql` take a fitted tree or vote and return what a file holds. They are imported
when asked for.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .c.program import to_c
    from .onnx import to_onnx
    from .python import to_python
    from .sql import to_sql

__all__ = ["to_c", "to_onnx", "to_python", "to_sql"]

_MODULES = {"to_c": ".c.program", "to_onnx": ".onnx", "to_python": ".python", "to_sql": ".sql"}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_MODULES[name], __name__), name)


def __dir__() -> list[str]:
    return __all__
