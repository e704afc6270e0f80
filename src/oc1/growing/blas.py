"""One thread for BLAS: the sums of matrix products, and so a tree, must not depend on how many threads it would take.

Besides, for matrices as small as those of a node, threads take longer to meet than one takes to multiply.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import cache

from threadpoolctl import ThreadpoolController


@cache
def _libraries() -> ThreadpoolController:
    """Return the loaded libraries; to look for them takes milliseconds."""
    return ThreadpoolController()


def one_blas_thread() -> AbstractContextManager[object]:
    """Return a context in which BLAS works with one thread."""
    context: AbstractContextManager[object] = _libraries().limit(limits=1, user_api="blas")
    return context
