"""Keeping examples back for pruning, by what the examples are and not by where they stand.

Examples are drawn by a hash of their content: the rank of each attribute's value. So the same examples are kept back
whatever the order of the rows, the units of the attributes or the names of the classes; equal examples stay together;
and an example of weight 2 is treated as two equal ones.
"""

from __future__ import annotations

import numpy as np

_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
_SHIFT = np.uint64(29)


def content_hashes(X: np.ndarray, seed: int) -> np.ndarray:
    """Return a number for each row that depends on the seed and on the ranks of the row's values only."""
    hashes = np.full(X.shape[0], np.uint64(seed))
    for m in range(X.shape[1]):
        ranks = np.unique(X[:, m], return_inverse=True)[1].astype(np.uint64)
        hashes = (hashes ^ (ranks + np.uint64(m + 1))) * _MULTIPLIER
        hashes ^= hashes >> _SHIFT
    hashes *= _MULTIPLIER
    return hashes ^ (hashes >> _SHIFT)


def hold_out(X: np.ndarray, weights: np.ndarray | None, fraction: float, seed: int) -> np.ndarray:
    """Return whether each row is kept back. At least one is, and one is not, where there are two different ones."""
    distinct, group = np.unique(content_hashes(X, seed), return_inverse=True)
    mass = np.bincount(group, weights=weights, minlength=len(distinct))
    before = np.cumsum(mass) - mass
    taken = before + 0.5 * mass <= fraction * mass.sum()
    if len(distinct) > 1:
        taken[0], taken[-1] = True, False
    else:
        taken[:] = False
    return taken[group]


def deal_folds(X: np.ndarray, y: np.ndarray, n_folds: int, seed: int) -> list[np.ndarray]:
    """Deal the rows into folds, class by class (stratified); fewer folds where there are fewer distinct examples."""
    hashes = content_hashes(X, seed)
    # Classes in the order of their smallest hash, which does not depend on their names.
    smallest = np.array([hashes[y == c].min() for c in range(y.max() + 1) if (y == c).any()])
    present = np.unique(y)
    position = np.empty(y.max() + 1, dtype=np.int64)
    position[present[np.argsort(smallest, kind="stable")]] = np.arange(len(present))
    order = np.lexsort((hashes, position[y]))
    new = np.ones(len(order), dtype=bool)
    new[1:] = (np.diff(position[y][order]) != 0) | (hashes[order][1:] != hashes[order][:-1])
    fold = np.empty(len(order), dtype=np.int64)
    fold[order] = (np.cumsum(new) - 1) % n_folds
    return [np.flatnonzero(fold == f) for f in range(n_folds) if (fold == f).any()]
