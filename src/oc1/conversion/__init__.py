"""Fitted models as programs that run elsewhere: ONNX graphs, C headers, Python modules, SQL.

A fitted tree, vote or forest goes in, and what a file holds comes out; it predicts what the model predicts, to the last
bit unless it is asked for smaller numbers. `to_onnx`, `to_c`, `to_python` and `to_sql` are the entry points, each in a
module of its own; what they share, such as names, labels and sums, is in `values`.
"""

from .c.program import to_c
from .onnx import to_onnx
from .python import to_python
from .sql import to_sql

__all__ = ["to_c", "to_onnx", "to_python", "to_sql"]
