"""Where rows end up in trees: blocks of rows go down one tree after the other.

A block of rows stays in the fast cache while the trees pass by. What the trees of a forest say is added up in their
order, so the sums do not depend on blocks or threads, and other programs can add up the same ones.
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
    """All trees of a forest, or one, in one buffer, which is looked at as whole numbers and as doubles.

    A node is a run of words, so that a visit touches one or two lines of the cache: a head, the threshold, then a word
    for the attribute and one for the coefficient of each term. Its left child comes next. The head of a leaf is its
    number; that of other nodes says where the right child begins, which side missing values take, and how many terms
    there are (`HEAD_BITS`).
    """

    roots: np.ndarray  # int64 (n_trees): where each tree begins
    first_nodes: np.ndarray  # int64 (n_trees): the number of its root
    words: np.ndarray  # uint64
    numbers: np.ndarray  # float64: the same memory
    has_sides: bool  # whether any test sends missing values to a side of their own
    asked: np.ndarray  # int64: the attributes that tests ask for; words hold places among them

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
        is_asked = np.bincount(features) > 0
        words[places] = (np.cumsum(is_asked) - 1)[features]
        numbers[places + 1] = coefficients
        return cls(at[roots], np.asarray(roots), words, numbers, bool(missing.any()), np.flatnonzero(is_asked))


_wholes = types.int64[::1]
fix_type(Walk, _wholes, _wholes, types.uint64[::1], types.float64[::1], types.boolean, _wholes)


class Block(NamedTuple):
    """Buffers for the rows of a block."""

    columns: np.ndarray  # float64 (attributes asked for, BLOCK): values, missing ones filled in
    order: np.ndarray  # uint64 (BLOCK): the rows, those of a node together
    others: np.ndarray  # uint64 (BLOCK): those that go right
    leaves: np.ndarray  # uint64 (BLOCK): where they end
    stack: np.ndarray  # uint64 (3 * BLOCK): nodes that wait: where each is, and its rows in the order


@allocating
def make_block(walk):
    """Make room for the rows of a block."""
    return Block(
        np.empty((walk.asked.size, BLOCK)),
        np.empty(BLOCK, np.uint64),
        np.empty(BLOCK, np.uint64),
        np.empty(BLOCK, np.uint64),
        np.empty(3 * BLOCK + 3, np.uint64),
    )


@allocating
def take_rows(source, walk, first, n, block):
    """Copy what is asked of rows, with missing values filled in; return whether there are any."""
    n_missing = 0
    for q in range(walk.asked.size):
        column, fill = block.columns[q], source.fill[walk.asked[q]]
        origin = first * source.row_step + walk.asked[q] * source.column_step
        for i in range(n):
            value = np.float64(source.values[origin + i * source.row_step])
            n_missing += np.isnan(value)
            column[i] = fill if np.isnan(value) else value
    return n_missing > 0


@allocating
def descend(source, walk, root, first, n, has_missing, block):
    """Write the numbers of the leaves of a block's rows in one tree.

    The rows of a node are divided among its children before any of them goes further: what a node asks is then looked
    up once for all of them, and how many terms it adds up need not be guessed for each.
    """
    words, numbers, asks, columns = walk.words, walk.numbers, has_missing and walk.has_sides, block.columns
    order, others, leaves, stack = block.order, block.others, block.leaves, block.stack
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
            origin = first * source.row_step + walk.asked[attribute] * source.column_step
            front, back = begin, 0
            for place in range(begin, end):
                i = order[place]
                value, j = factor * columns[attribute, i], at + two + two
                while j < last:
                    value += numbers[j + one] * columns[words[j], i]
                    j += two
                goes_right = value > threshold
                if side != layout.BY_FILL and np.isnan(source.values[origin + np.int64(i) * source.row_step]):
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
def add_outputs(source, walk, values, first_row, last_row, out):
    """Add what each tree says of rows, `values` of their leaves, to the rows of `out`."""
    block = make_block(walk)
    for first in range(first_row, last_row, BLOCK):
        n = min(BLOCK, last_row - first)
        has_missing = take_rows(source, walk, first, n, block)
        for tree in range(walk.roots.size):
            descend(source, walk, walk.roots[tree], first, n, has_missing, block)
            for i in range(n):
                for c in range(values.shape[1]):
                    out[first + i, c] += values[block.leaves[i], c]


@kernel(allocates=True)
def find_leaves(source, walk, first_tree, last_tree, first_row, last_row, out):
    """Write the leaves of rows in some trees, a column each, counted from the root of their tree."""
    block = make_block(walk)
    for first in range(first_row, last_row, BLOCK):
        n = min(BLOCK, last_row - first)
        has_missing = take_rows(source, walk, first, n, block)
        for tree in range(first_tree, last_tree):
            descend(source, walk, walk.roots[tree], first, n, has_missing, block)
            for i in range(n):
                out[first + i, tree - first_tree] = np.int64(block.leaves[i]) - walk.first_nodes[tree]
