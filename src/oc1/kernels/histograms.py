"""Compiled: class counts by bucket along many lines of hyperplanes at once.

This is all that the batched search (see `large_nodes`) asks of the examples, and it adds up: over stretches of an
array, over threads, over the partitions of a cluster. A block of examples stays in the processor's cache while all
lines are counted on it, so that the attributes come from memory once, however many lines there are. Margins are
computed anew from the planes: nothing has to be remembered between two questions.
"""

from typing import NamedTuple

import numpy as np

from ._jit import allocating, kernel
from .crossings import bucket_of
from .margins import add_multiple

#: Examples that are looked at together: their margins, rates and buckets fit into the nearest cache.
BLOCK = 1024


class NodeSlice(NamedTuple):
    """Examples of one node, grouped by class, somewhere in arrays that may hold others before and after them."""

    columns: np.ndarray  # float32 (d + 1, n): in search space; the last is not needed
    bounds: np.ndarray  # int64 (k + 1): where the examples of each class that is present at the node begin and end
    weights: np.ndarray  # float64 (n), or empty if all count alike
    missing_mask: np.ndarray  # uint8 (d, n): which values are missing and get a learned direction; or (0, 0)


class Lines(NamedTuple):
    """Lines of hyperplanes, ``plane + alpha * direction``, along which examples are counted."""

    planes: np.ndarray  # float32 (n_planes, d + 1)
    plane_of: np.ndarray  # int64 (q): the hyperplane from which each line leads away; the same ones stand together
    directions: np.ndarray  # float32 (q, d + 1)
    which: np.ndarray  # int64 (q): the one attribute of which the direction consists (d for the constant), or -1
    sides: np.ndarray  # int64 (q): where examples stay in which the plane's only attribute is missing, unless BY_FILL
    centres: np.ndarray  # float32 (q): where the buckets are finest,
    scales: np.ndarray  # float32 (q): and how fine


@allocating
def combine(columns, begin, plane, out):
    """Compute ``plane . (x, 1)`` of the examples from `begin` on, as many as there is room for."""
    last = plane.size - 1
    for j in range(out.size):
        out[j] = plane[last]
    for m in range(last):
        a = plane[m]
        if a != 0:
            add_multiple(out, a, columns[m, begin : begin + out.size])


@allocating
def find_buckets(margins, rates, centre, scale, half, codes):
    """Find the bucket, among 2 * half, in which each example crosses."""
    for j in range(margins.size):
        codes[j] = bucket_of(-margins[j] / rates[j], margins[j], rates[j], centre, scale, half)


@kernel(allocates=True)
def count_lines(part, lines, counts, sums):
    """Add the examples of a `NodeSlice` to the class counts by bucket along each of some `Lines`.

    Parameters
    ----------
    part : NodeSlice
    lines : Lines
    counts : int32 array (q, k, 4 * half + 2)
        By class: examples that cross upwards, by bucket; downwards; never, on the left; never, on the right.
    sums : float64 array (q, k, 4 * half + 2)
        Their weights; (0, 0, 0) if all count alike.
    """
    columns, bounds, weights, mask = part
    planes, plane_of, directions, which, sides, centres, scales = lines
    d, half = planes.shape[1] - 1, (counts.shape[2] - 2) // 4
    margins, rates, ones = np.empty(BLOCK, np.float32), np.empty(BLOCK, np.float32), np.ones(BLOCK, np.float32)
    codes = np.empty(BLOCK, np.uint16)
    for c in range(bounds.size - 1):
        for begin in range(bounds[c], bounds[c + 1], BLOCK):
            n = min(BLOCK, bounds[c + 1] - begin)
            known = -1
            for q in range(plane_of.size):
                if plane_of[q] != known:
                    known = plane_of[q]
                    combine(columns, begin, planes[known], margins[:n])
                m = which[q]
                if m == d:
                    rate = ones[:n]
                elif m >= 0:
                    rate = columns[m, begin : begin + n]
                else:
                    rate = rates[:n]
                    combine(columns, begin, directions[q], rate)
                find_buckets(margins[:n], rate, centres[q], scales[q], half, codes)
                if sides[q] != 0 and mask.shape[0] > 0:
                    only = 0
                    while planes[known, only] == 0:
                        only += 1
                    for j in range(n):
                        if mask[only, begin + j] != 0:
                            codes[j] = 4 * half + (1 if sides[q] > 0 else 0)
                own = counts[q, c]
                for j in range(n):
                    own[codes[j]] += 1
                if sums.shape[0] > 0:
                    weighed = sums[q, c]
                    for j in range(n):
                        weighed[codes[j]] += weights[begin + j]


@kernel(allocates=True)
def find_near(part, planes, widths, counts, sums, near):
    """Add the examples of a `NodeSlice` that are on the left of planes to counts; note those that are near them.

    Parameters
    ----------
    part : NodeSlice
    planes : float32 array (q, d + 1)
    widths : float32 array (q)
        Margins of examples that are near have this size at most.
    counts, sums : int64, float64 array (q, k)
        By class: examples on the left, and their weights; nothing is added to these if all count alike.
    near : int64 array (q, n + 1)
        Where the places of those go that are near; one more than there are is written to.

    Returns
    -------
    int64 array (q)
        How many are near.
    """
    n_near, margins = np.zeros(widths.size, np.int64), np.empty(BLOCK, np.float32)
    for c in range(part.bounds.size - 1):
        for begin in range(part.bounds[c], part.bounds[c + 1], BLOCK):
            n = min(BLOCK, part.bounds[c + 1] - begin)
            for q in range(widths.size):
                combine(part.columns, begin, planes[q], margins[:n])
                n_left, width, found = 0, widths[q], n_near[q]
                for j in range(n):
                    n_left += margins[j] <= 0.0
                counts[q, c] += n_left
                for j in range(n if width >= 0.0 else 0):
                    near[q, found] = begin + j
                    found += abs(margins[j]) <= width
                n_near[q] = found
                if part.weights.size > 0:
                    for j in range(n):
                        sums[q, c] += part.weights[begin + j] if margins[j] <= 0.0 else 0.0
    return n_near


@kernel(allocates=True)
def compute_margins_of(columns, plane, out):
    """Compute ``plane . (x, 1)`` of examples by their columns, as `find_near` does."""
    for begin in range(0, out.size, BLOCK):
        combine(columns, begin, plane, out[begin : begin + BLOCK])


@kernel(allocates=True)
def gather_columns(values, row_step, column_step, rows, fill, shift, scale, start, stop, out):
    """Bring some rows of the user's array, which comes as `flat_view`, to search space; NaN is the fill.

    Row ``rows[j]`` becomes ``out[:, j]``, for the j from `start` to `stop`. The values are halved, because the
    difference of two large numbers could overflow.
    """
    # By rows, a block of them stays in the cache; by columns, one column after the other comes from memory.
    block = BLOCK if column_step < row_step else max(stop - start, 1)
    for begin in range(start, stop, block):
        own_rows, own_out = rows[begin : min(begin + block, stop)], out[:, begin : begin + block]
        for m in range(shift.size):
            factor, away = 2.0 / scale[m] if scale[m] > 0.0 else 0.0, 0.5 * shift[m]
            column = values[m * column_step :]
            for j in range(own_rows.size):  # from 0 on: Numba then knows that no place is counted from the end
                x = np.float64(column[own_rows[j] * row_step])
                if np.isnan(x):
                    x = fill[m]
                own_out[m, j] = (0.5 * x - away) * factor
