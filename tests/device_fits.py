"""Fits that are the same with a GPU and without: parameters, data, and what is compared."""

import numpy as np


def waves(n=1500, d=4, k=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    score = X[:, 0] + 0.5 * X[:, 1] + 0.7 * np.sin(3 * X[:, 2])
    y = np.digitize(score + 0.1 * rng.normal(size=n), np.quantile(score, np.linspace(0, 1, k + 1)[1:-1]))
    return X, y


def assert_same_tree(one, other):
    for name in ("children", "terms", "features", "coefficients", "thresholds", "gains", "counts", "missing"):
        np.testing.assert_array_equal(getattr(one.tree_, name), getattr(other.tree_, name), err_msg=name)
    assert one.n_hyperplanes_ == other.n_hyperplanes_


OPTIONS = {
    "default": {},
    "threads": {"n_jobs": 2},
    "axis": {"splits": "axis", "prune": None, "max_depth": 3},
    "purest": {"prune": None, "max_depth": 3, "n_restarts": 3},
    "held out": {"prune": "holdout", "n_restarts": 2},
    "best first": {"max_leaf_nodes": 5},
    "gini": {"criterion": "gini", "prune": None, "max_depth": 2, "n_restarts": 2},
    "few terms": {"max_terms": 2},
}
