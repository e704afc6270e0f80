"""Trees cut into parts of limited size, for languages that cannot nest without end."""

from __future__ import annotations

import numpy as np


def part_roots(children: np.ndarray, max_leaves: int, max_levels: int) -> set[int]:
    """Return the nodes at which to cut a tree so that no part has more leaves or levels; the root is one of them.

    Examples
    --------
    >>> chain = np.array([[1, 2], [-1, -1], [3, 4], [-1, -1], [5, 6], [-1, -1], [-1, -1]])
    >>> sorted(part_roots(chain, 10, 2))
    [0, 2]
    """
    below = [[child for child in row if child >= 0] for row in children.tolist()]
    roots, leaves, levels = {0}, [1] * len(below), [0] * len(below)
    for node in range(len(below) - 1, -1, -1):  # preorder: children come after their parents
        if own := below[node]:
            if sum(leaves[child] for child in own) > max_leaves or max(levels[child] for child in own) >= max_levels:
                for child in (child for child in own if levels[child]):
                    roots.add(child)
                    leaves[child], levels[child] = 1, 0
            leaves[node], levels[node] = sum(leaves[child] for child in own), 1 + max(levels[child] for child in own)
    return roots


def part_nodes(children: np.ndarray, root: int, roots: set[int]) -> list[int]:
    """Return the nodes of the part that begins at a root, without those of other parts."""
    nodes = [root]
    for node in nodes:  # the list grows while it is walked
        nodes += [child for child in children[node].tolist() if child >= 0 and child not in roots]
    return nodes
