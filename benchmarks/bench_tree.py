"""Rows a second in prediction, beside scikit-learn's tree with the same number of leaves, in one run.

::

python benchmarks/bench_tree.py
"""

from __future__ import annotations

import numpy as np
from bench_classifier import best_time
from sklearn.tree import DecisionTreeClassifier

from oc1 import OC1Classifier


def rows_a_second(predict, X: np.ndarray) -> float:
    """Return the best of several runs, in millions of rows a second."""
    return len(X) / best_time(lambda: predict(X), 5) / 1e6


def main() -> None:
    """Print a table of millions of rows a second."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(5000, 10))
    y = ((X @ rng.normal(size=10) > 0) ^ (X[:, 0] * X[:, 1] > 0)).astype(int)
    rows = rng.normal(size=(2_000_000, 10))
    print("| leaves | input | scikit-learn | axis-parallel | oblique | oblique, 2 threads |\n" + "|---" * 6 + "|")
    for leaves in (2, 5, 20, 200):
        peer = DecisionTreeClassifier(max_leaf_nodes=leaves, random_state=0).fit(X, y)
        options = {"prune": None, "max_leaf_nodes": leaves, "random_state": 0, "n_restarts": 3}
        axis = OC1Classifier(splits="axis", **options).fit(X, y)
        oblique = OC1Classifier(**options).fit(X, y)
        threads = OC1Classifier(n_jobs=2, **options).fit(X, y)
        for dtype in (np.float64, np.float32):
            speeds = [rows_a_second(m.predict, rows.astype(dtype)) for m in (peer, axis, oblique, threads)]
            cells = " | ".join(f"{speed:.1f}" for speed in speeds)
            print(f"| {leaves} | {np.dtype(dtype).name} | {cells} |", flush=True)


if __name__ == "__main__":
    main()
