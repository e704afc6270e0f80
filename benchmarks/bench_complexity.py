"""How the work at one node grows with the examples n and the attributes d, in operations: Appendix A of the paper.

::

    python benchmarks/bench_complexity.py

The kernels run as plain Python (NUMBA_DISABLE_JIT), so that what they do can be counted. A node is the root of a tree
with the paper's settings, one restart and five jumps, on noisy classes, where the hill climb has most to do. The table
has the line searches, the examples that they look at, those of them that are sorted (in buckets that are opened), and
both as operations: one for an example that is looked at, log2 m for each of m examples that are sorted together. Beside
them is what sorting all examples for each line search, as in the paper, would take; below, the exponents of n and d.
"""

from __future__ import annotations

import os
from collections import Counter

os.environ["NUMBA_DISABLE_JIT"] = "1"

import numpy as np

from oc1 import OC1Classifier
from oc1.kernels import line_search

N_EXAMPLES, N_ATTRIBUTES, SEEDS = (100, 200, 400, 800, 1600), (2, 4, 8, 16), range(5)


def counting(counts: Counter):
    """Make the line search count."""
    lay_out, sort_keys = line_search.lay_out, line_search.sort_keys

    def counted_lay_out(node, criterion, margins, rates, buffers):
        counts["searches"] += 1
        counts["looked at"] += margins.size
        counts["paper"] += margins.size * np.log2(margins.size)
        return lay_out(node, criterion, margins, rates, buffers)

    def counted_sort_keys(keys, first, last):
        counts["sorted"] += last - first
        counts["sorting"] += (last - first) * np.log2(max(last - first, 2))
        sort_keys(keys, first, last)

    line_search.lay_out, line_search.sort_keys = counted_lay_out, counted_sort_keys


def work_of_a_node(n: int, d: int, seed: int, counts: Counter) -> dict[str, float]:
    """Return what the root of a tree on n examples of d attributes takes."""
    counts.clear()
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    y = (X.sum(axis=1) + np.sqrt(d) * rng.normal(size=n) > 0).astype(int)
    OC1Classifier(preset="paper", prune=None, n_restarts=1, n_jumps=5, max_depth=1, random_state=seed).fit(X, y)
    return {**counts, "operations": counts["looked at"] + counts["sorting"]}


def main() -> None:
    """Print a table, and the exponents."""
    counts: Counter = Counter()
    counting(counts)
    work = {}
    print("| n | d | line searches | examples looked at | sorted | operations | with sorting | d n^2 log n |")
    print("|---" * 8 + "|")
    for d in N_ATTRIBUTES:
        for n in N_EXAMPLES:
            runs = [work_of_a_node(n, d, seed, counts) for seed in SEEDS]
            mean = work[n, d] = {name: float(np.mean([run.get(name, 0.0) for run in runs])) for name in runs[0]}
            cells = [mean["searches"], mean["looked at"], mean["sorted"], mean["operations"], mean["paper"]]
            print(f"| {n} | {d} | {' | '.join(f'{x:,.0f}' for x in [*cells, d * n * n * np.log2(n)])} |", flush=True)
    sizes = np.array([[np.log(n), np.log(d), 1.0] for n, d in work])
    for name in ("searches", "operations", "paper"):
        powers = np.linalg.lstsq(sizes, np.log([mean[name] for mean in work.values()]), rcond=None)[0]
        print(f"{name}: n to the power of {powers[0]:.2f}, d to the power of {powers[1]:.2f}")


if __name__ == "__main__":
    main()
