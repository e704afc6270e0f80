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
def descend(X, walk, root, first, n, block, has_missing, room, leaves):
    """Write the numbers of the leaves of a block's rows in one tree.

    The rows of a node are divided among its children before any of them goes further: what a node asks is then looked
    up once for all of them, and how many terms it adds up need not be guessed for each.
    """
    words, numbers, asks = walk.words, walk.numbers, has_missing and walk.has_sides
    order, others, stack = room[0], room[1], room[2]
    one, two, three = np.uint64(1), np.uint64(2), np.uint64(3)
    for i in range(n):
        order[i] = i
    at, begin, end, size = np.uint64(root), 0, n, 0
    while True:
        head = words[at]
        if head & _TERMS:
            last, threshold = at + two + ((head & _TERMS) << one), numbers[at + one]
            factor, attribute = numbers[at + three], words[at + two]
            side = np.int64((head >> _TERM_BITS) & _SIDES) - 1 if asks else layout.BY_FILL
            front, back = begin, 0
            for place in range(begin, end):
                i = order[place]
                value, j = factor * block[i, attribute], at + two + two
                while j < last:
                    value += numbers[j + one] * block[i, words[j]]
                    j += two
                goes_right = value > threshold
                if side != layout.BY_FILL and np.isnan(X[first + np.int64(i), attribute]):
                    goes_right = side == layout.MISSING_RIGHT
                order[front], others[back] = i, i  # no branch to be guessed wrongly
                front += 1 - np.int64(goes_right)
                back += np.int64(goes_right)
            for place in range(back):
                order[front + place] = others[place]
            if back > 0 and front > begin:
                stack[size], stack[size + 1], stack[size + 2] = head >> _HEAD_BITS, front, end
                size += 3
            at, end = (last, front) if front > begin else (head >> _HEAD_BITS, end)
            continue
        for place in range(begin, end):
            leaves[order[place]] = head >> _HEAD_BITS
        if size == 0:
            break
        size -= 3
        at, begin, end = stack[size], np.int64(stack[size + 1]), np.int64(stack[size + 2])


@kernel(allocates=True)
def add_outputs(rows, walk, values, first_row, last_row, out):
    """Add what each tree says of rows, `values` of their leaves, to the rows of `out`."""
    X = rows.values
    block, room, leaves = (
        np.empty((BLOCK, X.shape[1])),
        np.empty((3, 3 * BLOCK + 3), np.uint64),
        np.empty(BLOCK, np.uint64),
    )
    for first in range(first_row, last_row, BLOCK):
        n = min(BLOCK, last_row - first)
        has_missing = take_block(X, walk, first, n, block)
        for tree in range(walk.roots.size):
            descend(X, walk, walk.roots[tree], first, n, block, has_missing, room, leaves)
            for i in range(n):
                for c in range(values.shape[1]):
                    out[first + i, c] += values[leaves[i], c]


@kernel(allocates=True)
def find_leaves(rows, walk, first_tree, last_tree, out):
    """Write the leaves of all rows in some trees, a column each, counted from the root of their tree."""
    X = rows.values
    block, room, leaves = (
        np.empty((BLOCK, X.shape[1])),
        np.empty((3, 3 * BLOCK + 3), np.uint64),
        np.empty(BLOCK, np.uint64),
    )
    for first in range(0, X.shape[0], BLOCK):
        n = min(BLOCK, X.shape[0] - first)
        has_missing = take_block(X, walk, first, n, block)
        for tree in range(first_tree, last_tree):
            descend(X, walk, walk.roots[tree], first, n, block, has_missing, room, leaves)
            for i in range(n):
                out[first + i, tree - first_tree] = np.int64(leaves[i]) - walk.first_nodes[tree]
