"""Growing on large data: cost and memory against n, two threads against one, axis-parallel against scikit-learn.

Each size runs in a process of its own, so that its peak memory can be read::

    python benchmarks/bench_grower.py scaling [--plot scaling.png]
    python benchmarks/bench_grower.py threads
    python benchmarks/bench_grower.py axis
    python benchmarks/bench_grower.py memory          # 5,000,000 x 20 float32: needs 8 GiB and some minutes
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from concurrent.futures import ProcessPoolExecutor

import numpy as np
from bench_classifier import best_time, noisy_linear
from sklearn.tree import DecisionTreeClassifier

from oc1 import OC1Classifier, warmup


def fit_once(n: int, d: int, dtype: str, options: dict, order: str = "C") -> dict:
    """Fit one model on noisy linear data; return seconds, leaves and peak memory (MiB)."""
    rng = np.random.default_rng(0)
    X = np.empty((n, d), dtype, order=order)
    for begin in range(0, n, 100_000):
        X[begin : begin + 100_000] = rng.normal(size=(min(100_000, n - begin), d))
    y = (X @ rng.normal(size=d).astype(dtype) > 0).astype(np.int8)
    flipped = rng.random(n) < 0.05
    y[flipped] = 1 - y[flipped]
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    start = time.perf_counter()
    model = OC1Classifier(random_state=0, **options).fit(X, y)
    return {
        "seconds": time.perf_counter() - start,
        "leaves": model.get_n_leaves(),
        "grown": model.unpruned_tree_.n_leaves,
        "planes": model.n_hyperplanes_,
        "data": X.nbytes / 2**20,
        "before": before,
        "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


def apart(*arguments) -> dict:
    """Run `fit_once` in a process of its own."""
    code = f"import json, bench_grower; print(json.dumps(bench_grower.fit_once(*{arguments!r})))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=sys.path[0])
    return json.loads(done.stdout.splitlines()[-1])


def scaling(plot: str | None) -> None:
    """Print (and draw) the cost of a fit with default settings from 10,000 to 1,000,000 examples."""
    print(
        "| n x 10 | seconds | microseconds an example | leaves (grown) | hyperplanes | peak MiB (data) |\n"
        + "|---" * 6
        + "|"
    )
    sizes, seconds = [], []
    for n in (10_000, 30_000, 100_000, 300_000, 1_000_000):
        r = apart(n, 10, "float64", {"n_jobs": 2})
        sizes.append(n)
        seconds.append(r["seconds"])
        print(
            f"| {n:,} | {r['seconds']:.1f} | {r['seconds'] / n * 1e6:.0f} | {r['leaves']} ({r['grown']}) "
            f"| {r['planes']} | {r['peak']:.0f} ({r['data']:.0f}) |",
            flush=True,
        )
    if plot:
        import matplotlib.pyplot as plt

        _, ax = plt.subplots()
        ax.loglog(sizes, seconds, "o-", label="OC1, default settings, two threads")
        ax.loglog(sizes, np.array(sizes) * seconds[0] / sizes[0], "--", label="linear")
        ax.set(xlabel="examples", ylabel="seconds")
        ax.legend()
        plt.savefig(plot)


def spin(seed: int) -> float:
    """Fit a fixed amount of work in one thread; return the seconds."""
    X, y = noisy_linear(50_000, 20, seed=seed)
    start = time.perf_counter()
    OC1Classifier(prune=None, n_restarts=5, max_depth=3, random_state=0).fit(X, y)
    return time.perf_counter() - start


def threads() -> None:
    """Print how much faster two threads are than one, and what two independent processes give on this machine."""
    X, y = noisy_linear(100_000, 20)
    seconds, trees = [], []
    for n_jobs in (1, 2):
        start = time.perf_counter()
        model = OC1Classifier(prune=None, random_state=0, max_depth=8, n_jobs=n_jobs).fit(X, y)
        seconds.append(time.perf_counter() - start)
        trees.append(model.tree_.to_dict())
    print(
        f"100,000 x 20, 20:5, depth 8: one thread {seconds[0]:.1f} s, two {seconds[1]:.1f} s: "
        f"{seconds[0] / seconds[1]:.2f} times faster"
    )
    print(f"same tree: {trees[0] == trees[1]}")
    alone = spin(0)
    with ProcessPoolExecutor(2) as pool:
        together = max(pool.map(spin, [0, 0]))
    print(f"two processes doing the same work at once: {2 * alone / together:.2f} times the work of one")


def axis() -> None:
    """Print axis-parallel trees beside scikit-learn's, in one run."""
    print("| data | scikit-learn | OC1-AP (gini) | ratio | leaves | training accuracy |\n" + "|---" * 6 + "|")
    for n, d in ((10_000, 10), (100_000, 20)):
        X, y = noisy_linear(n, d)
        results = []
        for model in (
            DecisionTreeClassifier(random_state=0),
            OC1Classifier(splits="axis", criterion="gini", prune=None, random_state=0),
        ):
            seconds = best_time(lambda: model.fit(X, y), 3)  # noqa: B023
            results.append((seconds, model.get_n_leaves(), model.score(X, y)))
        (base, leaves, score), (ours, own_leaves, own_score) = results
        print(
            f"| {n:,} x {d} | {base:.3f} s | {ours:.3f} s | {ours / base:.2f} | {leaves}, {own_leaves} "
            f"| {score:.4f}, {own_score:.4f} |",
            flush=True,
        )


def memory() -> None:
    """Print the peak memory of a fit on 5,000,000 x 20 in float32, by rows (copied) and by columns (not copied)."""
    options = {"n_jobs": 2, "n_restarts": 2, "n_jumps": 1, "max_depth": 6, "prune": None}
    for order, name in (("C", "rows"), ("F", "columns")):
        r = apart(5_000_000, 20, "float32", options, order)
        print(
            f"5,000,000 x 20 float32 by {name} ({r['data']:.0f} MiB): {r['seconds']:.0f} s, {r['leaves']} leaves, "
            f"peak {r['peak']:.0f} MiB, {r['before']:.0f} before the fit",
            flush=True,
        )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["scaling", "threads", "axis", "memory"])
    parser.add_argument("--plot", help="write the scaling as a picture to this file")
    chosen = parser.parse_args()
    warmup()
    {"scaling": lambda: scaling(chosen.plot), "threads": threads, "axis": axis, "memory": memory}[chosen.what]()
