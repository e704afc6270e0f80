"""Windowing (Quinlan 1993, chapter 6): a tree learns from a part of the examples, and from those it then gets wrong."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import numpy as np

#: Of the examples outside the window that a tree gets wrong, this share at least joins it ...
LEAST_SHARE = 0.5
#: ... and up to this share of the size of the first window, if there are as many.
INCREMENT = 0.2
#: The window grows no more after this number of trees in a row that are no better than the best so far.
PATIENCE = 3

Model = TypeVar("Model")


def first_window(labels: np.ndarray, size: int, rng: np.random.Generator) -> np.ndarray:
    """Draw a window in which the classes are as equally frequent as they can be; return which examples are in it.

    Each class has one example in it at least.
    """
    order = rng.permutation(len(labels))
    by_class = order[np.argsort(labels[order], kind="stable")]
    _, first, counts = np.unique(labels[by_class], return_index=True, return_counts=True)
    turn = np.arange(len(labels)) - np.repeat(first, counts)  # an example's place among those of its class
    inside = np.zeros(len(labels), dtype=bool)
    inside[by_class[np.argsort(turn, kind="stable")[: max(size, len(counts))]]] = True
    return inside


def grow_in_windows(
    fit: Callable[[np.ndarray], Model],
    is_wrong: Callable[[Model], np.ndarray],
    labels: np.ndarray,
    weights: np.ndarray,
    size: int,
    rng: np.random.Generator,
) -> Model:
    """Fit a model to a window that grows by examples it gets wrong, as long as it becomes more accurate.

    Parameters
    ----------
    fit : callable
        Returns a model of some examples, given by a mask.
    is_wrong : callable
        Returns which of all examples a model gets wrong.
    labels : array (n_samples,)
    weights : array (n_samples,)
        What an error counts.
    size : int
        Number of examples in the first window.
    rng : numpy Generator

    Returns
    -------
    model
        The one with the fewest errors on all examples, the first of those.
    """
    inside = first_window(labels, size, rng)
    best, fewest, in_vain = None, np.inf, 0
    while True:
        model = fit(inside)
        wrong = is_wrong(model)
        errors = float(weights[wrong].sum())
        in_vain += 1
        if best is None or errors < fewest:
            best, fewest, in_vain = model, errors, 0
        outside = rng.permutation(np.flatnonzero(wrong & ~inside))
        if len(outside) == 0 or in_vain == PATIENCE:
            return best
        n_added = max(LEAST_SHARE * len(outside), INCREMENT * size)
        inside[outside[: int(np.ceil(n_added))]] = True
