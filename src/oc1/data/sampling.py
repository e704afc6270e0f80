"""Keeping examples back for pruning, by their content and not by their position.

Examples are drawn by a hash of their content: the ranks of their values, and their class. So the same ones are kept
back whatever the order of the rows, the units of the attributes or the names of the classes. Equal examples are shared
out evenly, and an example of weight 2 is two equal ones: part of its weight may be kept back. (Weights that are not
whole numbers do not count repetitions; such an example stays whole.)

Ranks need all values in one place, and which of very many examples are kept back hardly matters: more than
`MAX_RANKED_EXAMPLES` are drawn by a hash of their position.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

#: More examples than this are drawn by their position.
MAX_RANKED_EXAMPLES = 100_000

_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
_SHIFT = np.uint64(29)


def _mixed(hashes: np.ndarray, numbers: np.ndarray) -> np.ndarray:
    hashes = (hashes ^ (numbers.astype(np.uint64) + _MULTIPLIER)) * _MULTIPLIER
    mixed: np.ndarray = hashes ^ (hashes >> _SHIFT)
    return mixed


def content_hashes(X: np.ndarray, y: np.ndarray, seed: int) -> np.ndarray:
    """Return a number for each example that depends on the seed, the ranks of its values and its class only."""
    hashes = np.full(X.shape[0], np.uint64(seed))
    for m in range(X.shape[1]):
        hashes = _mixed(hashes, np.unique(X[:, m], return_inverse=True)[1])
    # A class is known by the smallest hash among its examples, whatever its name.
    names = np.full(y.max() + 1, np.iinfo(np.uint64).max)
    np.minimum.at(names, y, hashes)
    return _mixed(_mixed(hashes, names[y]), np.zeros(1))


def place_hashes(first: int, n: int, seed: int) -> np.ndarray:
    """Return a number for each of n examples, the first of which is number `first` of all."""
    hashes = np.full(n, np.uint64(seed))
    return _mixed(_mixed(hashes, np.arange(first, first + n)), np.zeros(1))


def _units(weights: np.ndarray | None, n: int) -> np.ndarray:
    """Return how many equal examples each one stands for."""
    if weights is None or (weights != np.round(weights)).any():
        return np.ones(n)
    return weights


def hold_out(
    X: np.ndarray, y: np.ndarray, weights: np.ndarray | None, fraction: float, seed: int
) -> tuple[np.ndarray, np.ndarray]:
    """Draw a share of the examples; return the share (0 to 1) of each that is kept for growing and that is kept back.

    At least one example is kept back, and one for growing, where there are two.
    """
    if len(y) > MAX_RANKED_EXAMPLES:
        back = (place_hashes(0, len(y), seed) < fraction * 2.0**64).astype(np.float64)
        return 1.0 - back, back
    units = _units(weights, len(y))
    order = np.argsort(content_hashes(X, y, seed), kind="stable")
    end = np.cumsum(units[order])
    # Every 1 / fraction-th unit along the line of all units. The line begins with equal examples together, so that many
    # equal ones give their share and a single one is taken or not.
    taken = np.floor(end * fraction + 0.5) - np.floor((end - units[order]) * fraction + 0.5)
    total = end[-1]
    if total < 2:
        taken[:] = 0
    elif taken.sum() < 1:
        taken[0] = 1
    elif taken.sum() >= total:
        taken[-1] -= 1
    back = np.empty(len(y))
    back[order] = taken / units[order]
    return 1.0 - back, back


def deal_folds(
    X: np.ndarray, y: np.ndarray, weights: np.ndarray | None, n_folds: int, seed: int
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Deal the examples into folds, class by class (stratified); for each fold, yield what `hold_out` returns."""
    if len(y) > MAX_RANKED_EXAMPLES:
        numbers = place_hashes(0, len(y), seed) % np.uint64(n_folds)
        for fold in range(n_folds):
            back = (numbers == fold).astype(np.float64)
            yield 1.0 - back, back
        return
    units = _units(weights, len(y))
    hashes = content_hashes(X, y, seed)
    smallest = np.full(y.max() + 1, np.iinfo(np.uint64).max)
    np.minimum.at(smallest, y, hashes)
    order = np.lexsort((hashes, smallest[y]))
    end = np.cumsum(units[order])
    for fold in range(int(min(n_folds, end[-1]))):
        # Unit number u, from 0, goes to fold u modulo n_folds.
        taken = np.floor((end - 1 - fold) / n_folds) - np.floor((end - units[order] - 1 - fold) / n_folds)
        back = np.empty(len(y))
        back[order] = taken / units[order]
        yield 1.0 - back, back


def weight_ratio(total: float, squares: float, unit: float, counts_evidence: bool) -> float:
    """Return what to divide weights by, from their sum and that of their squares.

    They then add up to the effective number of samples, ``sum(weights) ** 2 / sum(weights ** 2)``. Where evidence does
    not count, multiples of a `unit`, which is not 0 then, become numbers of rows.
    """
    return unit if unit > 0.0 and not counts_evidence else squares / total


def are_multiples(weights: np.ndarray, unit: float) -> bool:
    """Whether weights are whole multiples of a unit, none of them very large."""
    multiples = weights / unit
    return bool((np.abs(multiples - np.round(multiples)) < 1e-9 * multiples + 1e-12).all() and multiples.max() < 2**20)


def relative_weights(weights: np.ndarray, ratio: float, unit: float) -> np.ndarray:
    """Divide weights by a ratio, in few digits: rounding does not show in which unit they were.

    If all are multiples of a `unit`, which is not 0 then, they still are: splits that were equally good still are, too.
    """
    if unit > 0.0:
        return np.asarray(np.round(weights / unit) * float(np.float32(unit / ratio)))
    relative: np.ndarray = (weights / ratio).astype(np.float32).astype(np.float64)
    return relative


def effective_number(weights: np.ndarray) -> float:
    """Return the effective number of examples with these weights."""
    return float(weights.sum() ** 2 / (weights**2).sum())


def as_ratios(weights: np.ndarray | None, counts_evidence: bool = True) -> np.ndarray | None:
    """Return weights in a unit of their own (see `weight_ratio`); None if all examples count alike."""
    if weights is None:
        return None
    least = float(weights[weights > 0.0].min())
    unit = least if are_multiples(weights, least) else 0.0
    ratio = weight_ratio(float(weights.sum()), float((weights**2).sum()), unit, counts_evidence)
    relative = relative_weights(weights, ratio, unit)
    return None if (relative == 1.0).all() else relative


def weight_of_one(weights: np.ndarray | None) -> float:
    """Return the weight that stands for one example.

    Whole numbers are repetitions; other weights say how much examples count, not how many there are, and their mean
    stands for one.
    """
    if weights is None or weights.size == 0 or are_whole(weights):
        return 1.0
    return float(weights.mean())


def are_whole(weights: np.ndarray) -> bool:
    """Whether weights are whole numbers, which count repetitions."""
    return bool((np.abs(weights - np.round(weights)) < 1e-9 * weights).all())
