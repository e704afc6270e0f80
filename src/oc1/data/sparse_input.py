"""Sparse matrices: written out for a fit, if that fits into memory, and block by block for a prediction.

The search reads whole columns and moves thresholds through them, zeros included, so a fit needs them written out.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

#: A block of rows is written out to about this number of bytes.
BLOCK_BYTES = 2**26
#: Of each value in the search space, beside the value itself.
SEARCH_BYTES = 4


def is_sparse(X: Any) -> bool:
    """Whether X is one of scipy's sparse matrices; nothing is if nobody has imported them."""
    sparse = sys.modules.get("scipy.sparse")
    return sparse is not None and bool(sparse.issparse(X))


def physical_memory() -> float:
    """Return the memory of this machine in bytes; infinite where that is not known."""
    try:
        return float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    except (AttributeError, OSError, ValueError):  # not on Windows
        return np.inf


def as_dense(X: Any) -> np.ndarray:
    """Return a sparse matrix written out, in column order; anything else as it is.

    Raises
    ------
    MemoryError
        It would not fit into memory; the message says how much would be needed.
    """
    if not is_sparse(X):
        return np.asarray(X)
    n_rows, n_columns = X.shape
    needed = n_rows * n_columns * (X.dtype.itemsize + SEARCH_BYTES)
    try:
        if needed > physical_memory():
            raise MemoryError
        return np.asarray(X.toarray(order="F"))
    except MemoryError:
        raise MemoryError(
            f"X is sparse, and the search needs its {n_rows:,} x {n_columns:,} values written out: {needed:,} bytes "
            f"({needed / 2**30:.1f} GiB), more than there is. Choose columns (sklearn.feature_selection), combine them "
            "(TruncatedSVD), or take fewer rows"
        ) from None


def dense_blocks(X: Any) -> Iterator[np.ndarray]:
    """Return the rows of a sparse matrix written out, block by block."""
    rows = X.tocsr()
    size = max(1, BLOCK_BYTES // max(1, X.shape[1] * X.dtype.itemsize))
    for first in range(0, max(X.shape[0], 1), size):
        yield rows[first : first + size].toarray()


def by_blocks(function: Callable[[np.ndarray], np.ndarray], X: Any) -> np.ndarray:
    """Return what a function says of each row, of a sparse matrix or of an array."""
    return np.concatenate([function(block) for block in dense_blocks(X)]) if is_sparse(X) else function(X)
