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
BLOCK = 4096
#: Bits of a node's head that hold the number of terms, and these with the side of missing values.
TERM_BITS, HEAD_BITS = 24, 26
_TERMS, _SIDES = np.uint64((1 << TERM_BITS) - 1), np.uint64(3)
_TERM_BITS, _HEAD_BITS = np.uint64(TERM_BITS), np.uint64(HEAD_BITS)


class Walk(NamedTuple):
    """All trees of a forest in one buffer, which is looked at as whole numbers and as doubles.

    A node is a run of words, so that a visit touches one or two lines of the cache: a head, the threshold, then a word
    for the attribute and one for the coefficient of each term. Its left child comes next. The head of a leaf is
    -1 - its number; that of other nodes says where the right child begins, which side missing values take, and how many
    terms there are (`HEAD_BITS`).
    """

    roots: np.ndarray  # int64 (n_trees): where each tree begins
    first_nodes: np.ndarray  # int64 (n_trees): the number of its root
    words: np.ndarray  # uint64
    numbers: np.ndarray  # float64: the same memory
    has_sides: bool  # whether any test sends missing values to a side of their own
    fill: np.ndarray  # float64 (d)

    @classmethod
    def of(
        cls,
        roots: np.ndarray,
        right: np.ndarray,
        terms: np.ndarray,
        features: np.ndarray,
        coefficients: np.ndarray,
        thresholds: np.ndarray,
        missing: np.ndarray,
        fill: np.ndarray,
    ) -> Walk:
        """Put trees into one buffer; `right` has the number of each right child, -1 at leaves."""
        n_terms = np.diff(terms)
        at = np.concatenate([[0], np.cumsum(np.where(right < 0, 1, 2 + 2 * n_terms))])
        words = np.empty(at[-1], np.uint64)
        numbers = words.view(np.float64)
        inner, leaves = np.flatnonzero(right >= 0), np.flatnonzero(right < 0)
        words[at[leaves]] = leaves << HEAD_BITS
        sides = missing[inner].astype(np.int64) + 1
        words[at[inner]] = (at[right[inner]] << HEAD_BITS) | (sides << TERM_BITS) | n_terms[inner]
        numbers[at[inner] + 1] = thresholds[inner]
        owner = np.repeat(np.arange(len(right)), n_terms)
        places = at[owner] + 2 + 2 * (np.arange(len(features)) - terms[owner])
        words[places] = features
        numbers[places + 1] = coefficients
        first_nodes = np.ascontiguousarray(roots[:-1])
        return cls(at[first_nodes], first_nodes, words, numbers, bool(missing.any()), np.ascontiguousarray(fill, float))


class Rows(NamedTuple):
    """Rows to be predicted, NaN where values are missing."""

    values: np.ndarray  # float64 (n, d)


fix_type(
    Walk, types.int64[::1], types.int64[::1], types.uint64[::1], types.float64[::1], types.boolean, types.float64[::1]
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
def descend(X, walk, root, first, n, block, has_missing, walking, leaves):
    """Write the numbers of the leaves of a block's rows in one tree.

    The rows go down level by level, so that the steps of different rows do not wait for each other.
    """
    words, numbers, asks = walk.words, walk.numbers, has_missing and walk.has_sides
    one, two, three = np.uint64(1), np.uint64(2), np.uint64(3)
    left = np.uint64(n) if words[np.uint64(root)] & _TERMS else np.uint64(0)
    for i in range(n):
        walking[i], leaves[i] = i, root
    while left > 0:
        n_walking, left = left, np.uint64(0)
        for place in range(n_walking):
            i = walking[place]
            at = leaves[i]
            head = words[at]
            value = numbers[at + three] * block[i, words[at + two]]
            last = at + two + ((head & _TERMS) << one)
            j = at + two + two
            while j < last:
                value += numbers[j + one] * block[i, words[j]]
                j += two
            goes_right = value > numbers[at + one]
            if asks:
                side = np.int64((head >> _TERM_BITS) & _SIDES) - 1
                if side != layout.BY_FILL and np.isnan(X[first + i, words[at + two]]):
                    goes_right = side == layout.MISSING_RIGHT
            at = last + ((head >> _HEAD_BITS) - last) * np.uint64(goes_right)  # no branch to be guessed wrongly
            leaves[i] = at
            walking[left] = i
            left += np.uint64(words[at] & _TERMS > 0)
    for i in range(n):
        leaves[i] = words[leaves[i]] >> _HEAD_BITS


@kernel(allocates=True)
def add_outputs(rows, walk, values, first_row, last_row, out):
    """Add what each tree says of rows, `values` of their leaves, to the rows of `out`."""
    X = rows.values
    block, walking, leaves = np.empty((BLOCK, X.shape[1])), np.empty(BLOCK, np.uint64), np.empty(BLOCK, np.uint64)
    for first in range(first_row, last_row, BLOCK):
        n = min(BLOCK, last_row - first)
        has_missing = take_block(X, walk, first, n, block)
        for tree in range(walk.roots.size):
            descend(X, walk, walk.roots[tree], first, n, block, has_missing, walking, leaves)
            for i in range(n):
                for c in range(values.shape[1]):
                    out[first + i, c] += values[leaves[i], c]


@kernel(allocates=True)
def find_leaves(rows, walk, first_tree, last_tree, out):
    """Write the leaves of all rows in some trees, a column each, counted from the root of their tree."""
    X = rows.values
    block, walking, leaves = np.empty((BLOCK, X.shape[1])), np.empty(BLOCK, np.uint64), np.empty(BLOCK, np.uint64)
    for first in range(0, X.shape[0], BLOCK):
        n = min(BLOCK, X.shape[0] - first)
        has_missing = take_block(X, walk, first, n, block)
        for tree in range(first_tree, last_tree):
            descend(X, walk, walk.roots[tree], first, n, block, has_missing, walking, leaves)
            for i in range(n):
                out[first + i, tree - first_tree] = np.int64(leaves[i]) - walk.first_nodes[tree]
