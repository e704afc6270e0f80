"""A tree read softly: each test sends a sample right with a probability, and the answer is the mean over the leaves.

This is all that is known of soft trees here: the mean, and how it changes with each test. What the margins come from
and what leaves say is for the callers (`oc1.growing.joint_fit`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

#: Numbers that a pass over the tests keeps in the processor's cache: rows are taken so many at a time.
BLOCK_SIZE = 2**17


class Level(NamedTuple):
    """The inner nodes of one depth; nodes are counted by depth, left children of a depth before the right ones."""

    nodes: np.ndarray
    tests: slice
    left: slice
    right: slice


class SoftTree:
    """The shape of a tree of soft tests.

    Parameters
    ----------
    children : int array (n_nodes, 2)
        -1 at leaves.

    Attributes
    ----------
    inner : int array (n_tests,)
        The inner nodes of the tree, in the order of the tests.
    leaves : int array (n_leaves,)
        The leaves of the tree, in the order of their values.
    """

    def __init__(self, children: np.ndarray):
        depth, tests, first = np.zeros(1, dtype=np.int64), 0, 0
        order, self.levels = [depth], []
        while True:
            has_test = children[order[-1], 0] >= 0
            above = order[-1][has_test]
            if not len(above):
                break
            end = first + len(order[-1])
            sides = slice(end, end + len(above)), slice(end + len(above), end + 2 * len(above))
            self.levels.append(Level(first + np.flatnonzero(has_test), slice(tests, tests + len(above)), *sides))
            order.append(np.concatenate([children[above, 0], children[above, 1]]))
            first, tests = end, tests + len(above)
        nodes = np.concatenate(order)
        is_leaf = children[nodes, 0] < 0
        self.inner, self.leaves, self._leaf_rows = nodes[~is_leaf], nodes[is_leaf], np.flatnonzero(is_leaf)
        self.n_nodes = len(nodes)
        self._rooms: dict[str, np.ndarray] = {}

    def blocks(self, n_rows: int) -> list[slice]:
        """Return the rows of each pass."""
        size = max(64, BLOCK_SIZE // max(1, len(self.inner)))
        return [slice(first, min(first + size, n_rows)) for first in range(0, n_rows, size)]

    def _room(self, name: str, n_rows: int, like: np.ndarray) -> np.ndarray:
        """Return an array for samples, the same one for each block: new memory would take longer than what is done."""
        room = self._rooms.get(name)
        if room is None or room.shape != (n_rows, like.shape[1]) or room.dtype != like.dtype:
            room = self._rooms[name] = np.empty((n_rows, like.shape[1]), like.dtype)
        return room

    def margins(self, planes: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """Return the margins of samples, (n_tests, n), from planes in the order of the tests."""
        return np.matmul(planes, columns, out=self._room("margins", len(planes), columns))

    def reach(self, margins: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return how likely each row goes right at each test, (n_tests, n), and gets to each node, (n_nodes, n).

        `margins` (n_tests, n) are overwritten.
        """
        with np.errstate(over="ignore"):  # infinite where the probability is 0
            goes_right = np.exp(np.negative(margins, out=margins), out=margins)
        goes_right += 1.0
        np.reciprocal(goes_right, out=goes_right)
        reach = self._room("reach", self.n_nodes, margins)
        reach[0] = 1.0
        for level in self.levels:
            right, left = reach[level.right], reach[level.left]
            np.take(reach, level.nodes, axis=0, out=left, mode="clip")  # without a check, which would need a copy
            np.multiply(left, goes_right[level.tests], out=right)
            left -= right
        return goes_right, reach

    def mean(self, margins: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the mean over the leaves, how it grows with each margin, and how likely each leaf is.

        Parameters
        ----------
        margins : float array (n_tests, n_samples)
            Overwritten.
        values : array (n_leaves, n_samples)
            What each leaf says of each sample.

        Returns
        -------
        mean (n_samples,), slopes (n_tests, n_samples), leaf probabilities (n_leaves, n_samples)
        """
        goes_right, reach = self.reach(margins)
        means = self._room("means", self.n_nodes, margins)
        means[self._leaf_rows] = values
        for level in reversed(self.levels):
            left, right, side = means[level.left], means[level.right], goes_right[level.tests]
            right -= left
            right *= side
            left += right
            means[level.nodes] = left
            np.multiply(right, reach[level.left], out=side)  # no longer needed: slopes take their place
        return means[0], goes_right, reach[self._leaf_rows]
