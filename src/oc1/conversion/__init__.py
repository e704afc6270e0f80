"""Fitted models as programs that run elsewhere: ONNX graphs, C headers, Python modules, SQL.

`to_onnx`, `to_c`, `to_python` and `to_sql` take a fitted tree or vote and return what a file holds.
"""

from .c.program import to_c
from .onnx import to_onnx
from .python import to_python
from .sql import to_sql

__all__ = ["to_c", "to_onnx", "to_python", "to_sql"]
