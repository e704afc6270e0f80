"""Where examples cross a moving hyperplane, and in which bucket (see `line_search`)."""

import numpy as np

from . import layout
from ._jit import inlined, inner

#: Examples looked at to find the scale of the buckets.
N_SAMPLED = 20


@inner
def locate_crossings(margins, rates, edges):
    """Return where most crossings are and how far apart: median and half the quartiles' distance of a few.

    They steer the speed, never the answer.
    """
    n, size = margins.size, 0
    step = max(1, n // min(N_SAMPLED, 4 + n // 32))
    for j in range(step // 2, n, step):
        t = -np.float64(margins[j]) / np.float64(rates[j])
        if abs(t) < layout.FAR:
            i = size
            while i > 0 and edges[0, i - 1] > t:
                edges[0, i] = edges[0, i - 1]
                i -= 1
            edges[0, i] = t
            size += 1
    if size == 0:
        return np.float32(0.0), np.float32(1.0)
    spread = 0.5 * (edges[0, (3 * size) // 4] - edges[0, size // 4])
    return np.float32(edges[0, size // 2]), np.float32(min(max(spread, 1e-20), 1e20))


@inlined
def bucket_of(t, margin, rate, centre, scale, half):
    """Return the bucket, among 2 * half, of an example that crosses at t; 2 * half further on where it goes down.

    Each operation on t is monotone in floating point too, so buckets never contradict the order of crossings. Examples
    that never cross get a bucket beyond the last: the first of two if they stay on the left, the second if on the
    right.
    """
    end = np.float32(half)
    down = np.int32(2 * half)
    never = not abs(t) < layout.FAR  # also where 0 / 0 is not a number
    u = np.float32(0.0) if never else np.float32(t - centre)
    inner_bucket = min(np.int32(end - np.float32(end * scale) / (np.float32(abs(u)) + scale)), np.int32(half - 1))
    bucket = half + inner_bucket if u >= 0 else half - 1 - inner_bucket
    code = bucket + (down if rate < 0 else 0)
    return code if not never else 2 * down + (1 if margin > 0 else 0)


@inner
def find_crossings(margins, rates, centre, scale, half, crossings, codes):
    """Compute where every example crosses, and its bucket."""
    for j in range(margins.size):
        t = -margins[j] / rates[j]
        crossings[j] = t
        codes[j] = bucket_of(t, margins[j], rates[j], centre, scale, half)


@inner
def left_of_edges(histogram, n_rows, n_buckets, left):
    """Add up what is on the left of each edge, from those that cross upwards and downwards, by bucket."""
    for c in range(n_rows):
        inside = histogram[c, 2 * n_buckets]
        for b in range(n_buckets):
            inside += histogram[c, b]
        left[c, 0] = inside
        for b in range(n_buckets):
            inside += histogram[c, n_buckets + b] - histogram[c, b]
            left[c, b + 1] = inside


@inner
def count_buckets(node, codes, n_buckets, histogram, left):
    """Count classes and directions by bucket, then the left weight of each class at every edge.

    After the rows of the k classes comes one with the number of examples, and, if they have weights, one with the total
    weight.
    """
    weights, bounds = node.weights, node.bounds
    k = bounds.size - 1
    n_rows = k + 2 if weights.size > 0 else k + 1
    for c in range(n_rows):
        for b in range(2 * n_buckets + 2):
            histogram[c, b] = 0.0
    for c in range(k):
        if weights.size > 0:
            for j in range(bounds[c], bounds[c + 1]):
                histogram[c, codes[j]] += weights[j]
                histogram[k, codes[j]] += 1.0
        else:
            for j in range(bounds[c], bounds[c + 1]):
                histogram[c, codes[j]] += 1.0
        for b in range(2 * n_buckets + 2):
            histogram[n_rows - 1, b] += histogram[c, b]
    left_of_edges(histogram, n_rows, n_buckets, left)
