"""Scores of splits by counts alone, for nodes whose examples are elsewhere (see `oc1.growing.large_nodes`)."""

import numpy as np

from . import layout
from ._jit import kernel
from .bounds import bound_twoing
from .criteria import has_room, score_position
from .crossings import left_of_edges
from .layout import NO_SPLIT
from .line_search import score_buckets


@kernel
def score_lines(counts, sums, sizes, node, criterion, buffers, scores, bounds):
    """Score the edges of the buckets of several lines, and bound what is inside, from counts (see `histograms`).

    `sizes` are the numbers of examples of the classes present. Where a user's criterion scores, nothing is known of the
    insides of buckets.
    """
    totals, code = node.totals, criterion.code
    histogram, left, edges, pairs = buffers.histogram, buffers.left, buffers.edges, buffers.counts
    k, n_buckets, weighted = totals.size, (counts.shape[2] - 2) // 2, sums.shape[0] > 0
    n, total = 0.0, 0.0
    for c in range(k):
        n += sizes[c]
        total += totals[c]
    n_rows = k + 2 if weighted else k + 1
    for q in range(counts.shape[0]):
        for b in range(2 * n_buckets + 2):
            histogram[k, b] = 0.0
            histogram[n_rows - 1, b] = 0.0
            for c in range(k):
                histogram[c, b] = sums[q, c, b] if weighted else counts[q, c, b]
                histogram[k, b] += counts[q, c, b]
                if weighted:
                    histogram[k + 1, b] += sums[q, c, b]
        left_of_edges(histogram, n_rows, n_buckets, left)
        if code == layout.CUSTOM:
            for b in range(n_buckets + 1):
                n_left = 0.0
                for c in range(k):
                    pairs[0, c] = left[c, b]
                    n_left += left[c, b]
                if 0.0 < left[k, b] < n:
                    edges[0, b] = score_position(pairs, n_left, total, node, criterion, buffers.stream)
                edges[1, min(b, n_buckets - 1)] = np.inf
        else:
            score_buckets(node, criterion, total, n_rows - 1, n_buckets, buffers)
        for b in range(n_buckets + 1):
            weight = left[n_rows - 1, b]
            is_roomy = has_room(left[k, b], n - left[k, b], weight, total - weight, criterion)
            scores[q, b] = edges[0, b] if is_roomy else NO_SPLIT
        for b in range(n_buckets):
            bounds[q, b] = edges[1, b]
            if code == layout.TWOING and k > 2:
                bounds[q, b] = bound_twoing(
                    b, totals, total, n_rows - 1, n_buckets, histogram, left, edges[1, b], pairs
                )


@kernel
def score_sides(left, left_sizes, sizes, node, criterion, buffers, scores):
    """Score splits by the class weights on their left; NO_SPLIT where a side has too few examples."""
    pairs = buffers.counts
    total, n = 0.0, 0.0
    for c in range(node.totals.size):
        total += node.totals[c]
        n += sizes[c]
    for q in range(left.shape[0]):
        n_left, count = 0.0, 0.0
        for c in range(node.totals.size):
            pairs[0, c] = left[q, c]
            n_left += left[q, c]
            count += left_sizes[q, c]
        scores[q] = NO_SPLIT
        if 0.0 < count < n and has_room(count, n - count, n_left, total - n_left, criterion):
            scores[q] = score_position(pairs, n_left, total, node, criterion, buffers.stream)
