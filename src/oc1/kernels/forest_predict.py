"""What a forest says of rows: blocks of rows go down one tree after the other.

A block of rows stays in the fast cache while the trees pass by. What the trees say is added up in their order, so the
sums do not depend on blocks or threads, and other programs can add up the same ones.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import types

from . import layout
from ._jit import allocating, fix_type, kernel

#: Rows of a block.
BLOCK = 128


class Walk(NamedTuple):
    """All trees of a forest, one after the other; the left child of a node is the next node."""

    roots: np.ndarray  # int64 (n_trees + 1)
    right: np.ndarray  # int32 (n_nodes): the other child; -1 at leaves
    terms: np.ndarray  # int64 (n_nodes + 1)
    features: np.ndarray  # int32 (n_terms)
    coefficients: np.ndarray  # float64 (n_terms)
    thresholds: np.ndarray  # float64 (n_nodes)
    missing: np.ndarray  # int8 (n_nodes); empty if all missing values count as `fill`
    fill: np.ndarray  # float64 (d)


class Rows(NamedTuple):
    """Rows to be predicted, NaN where values are missing."""

    values: np.ndarray  # float64 (n, d)


fix_type(
    Walk,
    types.int64[::1],
    types.int32[::1],
    types.int64[::1],
    types.int32[::1],
    types.float64[::1],
    types.float64[::1],
    types.int8[::1],
    types.float64[::1],
)
fix_type(Rows, types.float64[:, ::1])


@allocating
def take_block(X, walk, first, n, block):
    """Copy rows with their missing values filled in; return whether there are any."""
    has_missing = False
    for i in range(n):
        for m in range(X.shape[1]):
            value = np.float64(X[first + i, m])
            if np.isnan(value):
                has_missing, value = True, walk.fill[m]
            block[i, m] = value
    return has_missing


@allocating
def descend(X, walk, root, first, n, block, has_missing, leaves):
    """Write the leaf of each row of a block in one tree."""
    terms, features, coefficients = walk.terms, walk.features, walk.coefficients
    thresholds, right = walk.thresholds, walk.right
    asks = has_missing and walk.missing.size > 0
    for i in range(n):
        node = root
        while right[node] >= 0:
            j, last = terms[node], terms[node + 1]
            value = coefficients[j] * block[i, features[j]]
            j += 1
            while j < last:
                value += coefficients[j] * block[i, features[j]]
                j += 1
            goes_right = value > thresholds[node]
            if asks and walk.missing[node] != layout.BY_FILL and np.isnan(X[first + i, features[terms[node]]]):
                goes_right = walk.missing[node] == layout.MISSING_RIGHT
            node = np.int64(right[node]) if goes_right else node + 1
        leaves[i] = node


@kernel(allocates=True)
def add_outputs(rows, walk, values, first_row, last_row, out):
    """Add what each tree says of rows, `values` of their leaves, to the rows of `out`."""
    X = rows.values
    block, leaves = np.empty((BLOCK, X.shape[1])), np.empty(BLOCK, np.int64)
    for first in range(first_row, last_row, BLOCK):
        n = min(BLOCK, last_row - first)
        has_missing = take_block(X, walk, first, n, block)
        for tree in range(walk.roots.size - 1):
            descend(X, walk, walk.roots[tree], first, n, block, has_missing, leaves)
            for i in range(n):
                for c in range(values.shape[1]):
                    out[first + i, c] += values[leaves[i], c]


@kernel(allocates=True)
def find_leaves(rows, walk, first_tree, last_tree, out):
    """Write the leaves of all rows in some trees, a column each, counted from the root of their tree."""
    X = rows.values
    block, leaves = np.empty((BLOCK, X.shape[1])), np.empty(BLOCK, np.int64)
    for first in range(0, X.shape[0], BLOCK):
        n = min(BLOCK, X.shape[0] - first)
        has_missing = take_block(X, walk, first, n, block)
        for tree in range(first_tree, last_tree):
            root = walk.roots[tree]
            descend(X, walk, root, first, n, block, has_missing, leaves)
            for i in range(n):
                out[first + i, tree - first_tree] = leaves[i] - root
