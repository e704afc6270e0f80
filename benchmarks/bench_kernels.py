"""The line search against one that sorts, in one run: ratios of time for several sizes and numbers of classes.

The sorting one is numpy's argsort followed by the same sweep (every position scored by Twoing), compiled::

    python benchmarks/bench_kernels.py
"""

from __future__ import annotations

import numpy as np
from bench_classifier import best_time
from numba import njit

from oc1.impurity import MEASURES
from oc1.kernels.layout import NO_SPLIT
from oc1.kernels.line_search import compiled_line_search
from oc1.kernels.records import Criterion, Node, Workspace


@njit(error_model="numpy", nogil=True)
def sweep(crossings, order, rates, margins, labels, totals, left):
    """Score every position of a sorted line; return the best score and step."""
    k, n = totals.size, crossings.size
    total, n_left = 0.0, 0.0
    for c in range(k):
        total += totals[c]
        left[c] = 0.0
    for j in range(n):
        if rates[j] > 0:
            left[labels[j]] += 1.0
            n_left += 1.0
    best, alpha = -1.0, 0.0
    for i in range(n - 1):
        j = order[i]
        step = -1.0 if rates[j] > 0 else 1.0
        left[labels[j]] += step
        n_left += step
        after = crossings[order[i + 1]]
        if not crossings[j] < after or n_left < 1 or total - n_left < 1:
            continue
        share, norm = n_left / total, 0.0
        if k == 2:
            norm = 2.0 * abs(left[0] - totals[0] * share)
        else:
            for c in range(k):
                norm += abs(left[c] - totals[c] * share)
        score = norm * norm / (n_left * (total - n_left))
        if score > best:
            best, alpha = score, 0.5 * (crossings[j] + after)
    return best, alpha


@njit
def repeat_search(times, line, node, criterion, margins, rates, current, ties, buffers):
    """Search the same line many times, so that the call from Python does not count."""
    best = (0.0, 0.0)
    for _ in range(times):
        best = line(node, criterion, margins, rates, current, ties, buffers)
    return best


def make_line(n: int, k: int, seed: int = 0):
    """Make a line as a hill climb sees it: a plane that is nearly right, and the attribute that would mend it."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(4, n))
    value = x[0] + 0.5 * x[1] + 0.3 * x[2] + 0.3 * x[3] + 0.2 * rng.normal(size=n)
    labels = np.digitize(value, np.quantile(value, np.linspace(0, 1, k + 1)[1:-1]))
    order = np.argsort(labels, kind="stable")
    margins = (x[0] + 0.5 * x[1] + 0.3 * x[2])[order].astype(np.float32)
    return margins, x[3][order].astype(np.float32), labels[order].astype(np.int32)


def main() -> None:
    """Print a table of nanoseconds an example and ratios."""
    line, criterion = compiled_line_search(), Criterion(MEASURES["twoing"].code, 1, *MEASURES["twoing"].pointers())
    print("| n | classes | sorting, ns an example | from scratch | better than the current | nothing better | ratio |")
    print("|---" * 7 + "|")
    for n, k in (
        (50, 2),
        (200, 2),
        (2000, 2),
        (20_000, 2),
        (200_000, 2),
        (2000, 8),
        (50, 26),
        (2000, 26),
        (20_000, 26),
    ):
        margins, rates, labels = make_line(n, k)
        bounds = np.searchsorted(labels, np.arange(k + 1)).astype(np.int64)
        totals = np.diff(bounds).astype(float)
        buffers = Workspace.make(n, k, 1, 1).line
        buffers.places[:k] = np.arange(k)
        node = Node(0, labels, np.empty(0), totals, np.arange(1.0, k + 1), np.arange(k), bounds)
        times = max(3, 300_000 // n)

        def by_sorting(margins=margins, rates=rates, labels=labels, totals=totals, k=k):
            crossings = -margins / rates
            return sweep(crossings, np.argsort(crossings), rates, margins, labels, totals, np.empty(k))

        def by_counting(origin, current, ties, times=times, node=node, rates=rates, buffers=buffers):
            return repeat_search(times, line, node, criterion, origin, rates, current, ties, buffers)

        expected, _ = by_sorting()
        best, alpha = by_counting(margins, NO_SPLIT, True)
        assert abs(best - expected) < 1e-9 * best, (best, expected)
        moved = margins + np.float32(alpha) * rates
        base = best_time(lambda: [by_sorting() for _ in range(times)], 7) / times / n * 1e9  # noqa: B023
        cells = [
            best_time(lambda: by_counting(origin, current, ties), 7) / times / n * 1e9  # noqa: B023
            for origin, current, ties in (
                (margins, NO_SPLIT, True),
                (margins, 0.9 * best, False),
                (moved, best, False),
            )
        ]
        row = " | ".join(f"{cell:.2f}" for cell in cells)
        print(f"| {n} | {k} | {base:.1f} | {row} | {base / max(cells):.1f} |", flush=True)


if __name__ == "__main__":
    main()
