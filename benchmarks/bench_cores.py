"""Fits on one thread, two, four and so on, and whether the tree is the same.

::

    python benchmarks/bench_cores.py                     # all fits; --fit waves for some of them
    python benchmarks/bench_cores.py --threads 1 16 --repeat 3
    python benchmarks/bench_cores.py --rounds            # rounds of questions at the large nodes instead

Kernels are compiled before anything is measured. The tree of scikit-learn, on one core, is what to compare with.
"""

from __future__ import annotations

import argparse
import os
import platform
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.tree import DecisionTreeClassifier

from oc1 import OC1Classifier, warmup
from oc1.data.search_space import MAX_SAMPLED_ROWS
from oc1.growing.engines import LocalExamples

MILLION = 1_000_000


def drawn(
    n: int, d: int, boundary: Callable[[np.ndarray], np.ndarray], dtype: str, seed: int = 0
) -> tuple[np.ndarray, np.ndarray]:
    """Return normal attributes and which of them are above a boundary; 5% of the labels are wrong."""
    rng = np.random.default_rng(seed)
    X, y = np.empty((n, d), dtype), np.empty(n, np.int8)
    for begin in range(0, n, 100_000):
        here = slice(begin, min(begin + 100_000, n))
        X[here] = rng.normal(size=(here.stop - begin, d))
        y[here] = (boundary(X[here]) > 0.0) != (rng.random(here.stop - begin) < 0.05)
    return X, y


def plane(X: np.ndarray) -> np.ndarray:
    """Return the distance from a plane."""
    return X @ np.cos(1.0 + np.arange(X.shape[1]))


def waves(X: np.ndarray) -> np.ndarray:
    """Return the height above a surface that is wavy in two attributes."""
    return X[:, 0] + np.sin(2.0 * X[:, 1]) + 0.5 * np.sin(3.0 * X[:, 2])


#: Name: examples, attributes, boundary, dtype, parameters.
FITS: dict[str, tuple[int, int, Callable[[np.ndarray], np.ndarray], str, dict[str, Any]]] = {
    "plane": (MILLION, 10, plane, "float64", {}),
    "waves": (MILLION, 10, waves, "float64", {}),
    "unpruned": (100_000, 20, plane, "float64", {"prune": None, "n_restarts": 20, "n_jumps": 5}),
    "axis": (MILLION, 20, plane, "float64", {"splits": "axis", "prune": None}),
    "plane10": (10 * MILLION, 10, plane, "float32", {}),
}
WHAT = {
    "plane": "default, 1,000,000 x 10, one noisy plane",
    "waves": "default, 1,000,000 x 10, waves",
    "unpruned": "unpruned 20:5, 100,000 x 20",
    "axis": "axis-parallel, unpruned, 1,000,000 x 20",
    "plane10": "default, 10,000,000 x 10 float32, one noisy plane",
}


def timed(model: Any, X: np.ndarray, y: np.ndarray, repeat: int = 1) -> float:
    """Return the shortest time of several fits."""
    times = []
    for _ in range(repeat):
        start = time.perf_counter()
        model.fit(X, y)
        times.append(time.perf_counter() - start)
    return min(times)


def compare_threads(names: list[str], threads: list[int], repeat: int, peer: bool) -> None:
    """Print a table of seconds by number of threads."""
    heads = [f"{n} thread{'s' * (n > 1)}" for n in threads]
    heads += [f"{threads[-1]} to {threads[0]}", "same tree", "leaves", *["scikit-learn, depth 20 (leaves)"] * peer]
    print(f"| fit (seconds) | {' | '.join(heads)} |\n" + "|---" * (len(heads) + 1) + "|", flush=True)
    for name in names:
        n, d, boundary, dtype, parameters = FITS[name]
        X, y = drawn(n, d, boundary, dtype)
        seconds, trees = [], []
        for n_jobs in threads:
            model = OC1Classifier(random_state=0, n_jobs=n_jobs, **parameters)
            seconds.append(timed(model, X, y, repeat))
            trees.append(model.tree_.to_dict())
        cells = [f"{took:.2f}" for took in seconds]
        cells += [f"{seconds[0] / seconds[-1]:.1f}", str(all(tree == trees[0] for tree in trees))]
        cells.append(str(model.get_n_leaves()))
        if peer and n <= MILLION:
            other = DecisionTreeClassifier(max_depth=20, random_state=0)
            cells.append(f"{timed(other, X, y):.1f} ({other.get_n_leaves():,})")
        print(f"| {WHAT[name]} | {' | '.join(cells)} |", flush=True)


def count_rounds(names: list[str], n_jobs: int) -> None:
    """Print how many rounds the large nodes take: questions that all of their examples answer."""
    counted: list[int] = []

    def noted(question: Callable[..., Any]) -> Callable[..., Any]:
        def ask(self: LocalExamples, *about: Any) -> Any:
            if self.size > MAX_SAMPLED_ROWS:
                counted.append(self.size)
            return question(self, *about)

        return ask

    for question in ("count_lines", "near", "place", "parted"):
        setattr(LocalExamples, question, noted(getattr(LocalExamples, question)))
    for name in names:
        n, d, boundary, dtype, parameters = FITS[name]
        counted.clear()
        OC1Classifier(random_state=0, n_jobs=n_jobs, **parameters).fit(*drawn(n, d, boundary, dtype))
        sizes, rounds = np.unique(counted, return_counts=True)
        nodes = ", ".join(f"{size:,}: {number}" for size, number in zip(sizes[::-1], rounds[::-1], strict=True))
        mean = rounds.mean() if len(rounds) else 0.0
        print(f"{WHAT[name]}: {mean:.1f} rounds a node, {rounds.max(initial=0)} at most ({nodes})", flush=True)


def main() -> None:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fit", choices=list(FITS), action="append", help="one of the fits; several times for several")
    parser.add_argument("--threads", type=int, nargs="+", help="numbers of threads")
    parser.add_argument("--repeat", type=int, default=1, help="fits of which the shortest time counts")
    parser.add_argument("--rounds", action="store_true", help="count the rounds of large nodes instead")
    parser.add_argument("--no-peer", action="store_true", help="leave scikit-learn out")
    given = parser.parse_args()
    n_cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    threads = given.threads or [n for n in (1, 2, 4, 8, 16, 32, 64) if n <= n_cores]
    names = given.fit or list(FITS)
    print(f"{platform.machine()}, {n_cores} cores, Python {platform.python_version()}", flush=True)
    warmup()
    X, y = drawn(300_000, 4, plane, "float64")
    for n_jobs in (1, 2):  # what only large nodes need
        OC1Classifier(random_state=0, n_jobs=n_jobs).fit(X, y)
    if given.rounds:
        count_rounds(names, threads[-1])
    else:
        compare_threads(names, threads, given.repeat, not given.no_peer)


if __name__ == "__main__":
    main()
