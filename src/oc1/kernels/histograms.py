"""Compiled: class counts by bucket along many lines at once, and class counts on the left of many hyperplanes.

This is all that the batched search (see `large_nodes`) asks of the examples, and it adds up: over stretches of an
array, over threads, over the partitions of a cluster. A block of examples stays in the processor's cache while all
lines are counted on it, so that the attributes come from memory once, however many lines there are. Margins are
computed anew from the planes: nothing has to be remembered between two questions.
"""

import numpy as np

from ._jit import allocating, kernel
from .crossings import bucket_of
from .margins import add_multiple

#: Examples that are looked at together: their margins, rates and buckets fit into the nearest cache.
BLOCK = 1024


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
def count_lines(
    columns, bounds, weights, holes, first, stop, planes, plane_of, directions, which, sides, centres, scales, counts,
    sums,
):  # fmt: skip
    """Add the examples from `first` to `stop` to the class counts by bucket, for each of some lines.

    Parameters
    ----------
    columns : float32 array (d or more, n)
        Attributes in search space.
    bounds : int64 array (k + 1,)
        Where the examples of each class begin and end; they are grouped by class.
    weights : float64 array (n,), or empty if all count alike
    holes : uint8 array (d, n), or (0, 0)
        Which values are missing.
    first, stop : int
    planes : float32 array (n_planes, d + 1)
    plane_of : int64 array (q,)
        The hyperplane from which each line leads away; the same ones stand together.
    directions : float32 array (q, d + 1)
    which : int64 array (q,)
        The one attribute of which the direction consists (d for the constant), or -1.
    sides : int64 array (q,)
        Where not 0, examples in which the plane's only attribute is missing stay on the left (-1) or right (1).
    centres, scales : float32 array (q,)
        Where the buckets are finest, and how fine.
    counts : int32 array (q, k, 4 * half + 2)
        By class: examples that cross upwards, by bucket; downwards; never, on the left; never, on the right.
    sums : float64 array (q, k, 4 * half + 2)
        Their weights; (0, 0, 0) if all count alike.
    """
    d, half = planes.shape[1] - 1, (counts.shape[2] - 2) // 4
    margins, rates, ones = np.empty(BLOCK, np.float32), np.empty(BLOCK, np.float32), np.ones(BLOCK, np.float32)
    codes = np.empty(BLOCK, np.uint16)
    for c in range(bounds.size - 1):
        stretch_end = min(bounds[c + 1], stop)
        for begin in range(max(bounds[c], first), stretch_end, BLOCK):
            n = min(BLOCK, stretch_end - begin)
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
                if sides[q] != 0 and holes.shape[0] > 0:
                    only = 0
                    while planes[known, only] == 0:
                        only += 1
                    for j in range(n):
                        if holes[only, begin + j] != 0:
                            codes[j] = 4 * half + (1 if sides[q] > 0 else 0)
                own = counts[q, c]
                for j in range(n):
                    own[codes[j]] += 1
                if sums.shape[0] > 0:
                    weighed = sums[q, c]
                    for j in range(n):
                        weighed[codes[j]] += weights[begin + j]


@kernel(allocates=True)
def count_sides(columns, bounds, weights, holes, first, stop, planes, sides, counts, sums):
    """Add the examples from `first` to `stop` to the class counts on the left of each plane.

    Parameters are those of `count_lines`; `counts` is int64 (n_planes, k), `sums` float64 (n_planes, k) or (0, 0).
    """
    margins = np.empty(BLOCK, np.float32)
    for c in range(bounds.size - 1):
        stretch_end = min(bounds[c + 1], stop)
        for begin in range(max(bounds[c], first), stretch_end, BLOCK):
            n = min(BLOCK, stretch_end - begin)
            for p in range(planes.shape[0]):
                combine(columns, begin, planes[p], margins[:n])
                if sides[p] != 0 and holes.shape[0] > 0:
                    only = 0
                    while planes[p, only] == 0:
                        only += 1
                    for j in range(n):
                        if holes[only, begin + j] != 0:
                            margins[j] = np.float32(sides[p])
                inside, weight = 0, 0.0
                if sums.shape[0] > 0:
                    for j in range(n):
                        weight += weights[begin + j] if not margins[j] > 0 else 0.0
                    sums[p, c] += weight
                for j in range(n):
                    inside += not margins[j] > 0
                counts[p, c] += inside


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
