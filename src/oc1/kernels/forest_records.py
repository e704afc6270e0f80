"""What the kernels of forests take: the examples, the rules, and the buffers of a thread."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numba import typeof, types

from ._jit import fix_type

#: Columns of `Work.statistics` where numbers are predicted: weight, sum, and sum of squares of an example's number.
WEIGHT, SUM, SQUARES = range(3)


class ForestData(NamedTuple):
    """The training examples of a forest, one row of `columns` for each attribute."""

    columns: np.ndarray  # float64 (d, n), NaN where values are missing
    fill: np.ndarray  # float64 (d): what missing values count as
    labels: np.ndarray  # int32 (n): classes; all 0 where numbers are predicted
    numbers: np.ndarray  # float64 (n): numbers to predict; empty for classes
    weights: np.ndarray  # float64 (n)
    drawable: np.ndarray  # int64: the examples that a bootstrap sample is drawn from
    n_classes: int  # 0: numbers are predicted


class ForestRules(NamedTuple):
    """How the trees of a forest are grown."""

    n_drawn: int  # attributes that a node looks at, one by one and combined
    n_linear: int  # directions that are fitted at a node
    entropy: bool  # instead of Gini
    n_bootstrap: int  # examples to draw for a tree; 0: each tree sees all
    balanced: bool  # weigh the classes of each sample so that they count alike
    max_depth: int
    min_split: int
    min_leaf: int
    min_decrease: float


def buffers(n: int, d: int, q: int, k: int, n_statistics: int) -> dict[str, np.ndarray]:
    """Return buffers for n examples of d attributes, q of which are drawn, and k classes.

    There is room for the largest tree there can be; what is not written to takes no memory.
    """
    rows: Callable[..., np.ndarray] = partial(np.empty, dtype=np.int64)
    return {
        # by example of the tree
        "times": np.empty(n, np.int32),  # how often each was drawn
        "tree_weights": np.empty(n),
        "rows": rows(n),
        "spare": rows(n),
        # by example of the node
        "labels": rows(n),
        "numbers": np.empty(n),
        "weights": np.empty(n),
        "values": np.empty((q, n)),  # the attributes drawn, with missing values filled in
        "standard": np.empty((q, n)),  # the same in standard units
        "line": np.empty(n),  # values along one direction
        "products": np.empty(n),
        "short": np.empty(n, np.float32),  # values along one direction, from the first example's on
        # by attribute or class
        "permutation": rows(d),
        "drawn": rows(q),
        "order": rows(q),  # the attributes drawn in their order
        "is_complete": np.empty(q, np.bool_),  # whether all values of the node are known, or none is
        "spread": np.empty(q),
        "direction": np.empty(q),
        "best": np.empty(q),
        "system": np.empty((q, q)),
        "penalty": np.empty(q),
        "sums": np.empty((k, q)),
        "sides": np.empty((2, k)),
        "totals": np.empty(2),  # weight of the node, and of the tree
        "class_weights": np.empty(k),
        "stream": np.empty(1, np.uint64),
        "stack": rows((n + 1, 5)),
        # the tree
        "children": np.empty((2 * n, 2), np.int32),
        "statistics": np.empty((2 * n, n_statistics)),  # the weight of each class, or `WEIGHT` to `SQUARES`
        "gains": np.empty(2 * n),
        "thresholds": np.empty(2 * n),
        "gaps": np.empty(2 * n),
        "missing": np.empty(2 * n, np.int8),
        "terms": rows(2 * n + 1),
        "features": np.empty(n * q, np.int32),
        "coefficients": np.empty(n * q),
    }


#: The buffers in which one thread grows its trees.
Work: Any = NamedTuple("Work", [(name, np.ndarray) for name in buffers(1, 1, 1, 1, 1)])  # type: ignore[misc]


def make_work(data: ForestData, rules: ForestRules) -> Any:
    """Make the buffers for growing trees on some data."""
    d, n = data.columns.shape
    return Work(**buffers(n, d, rules.n_drawn, max(data.n_classes, 1), data.n_classes or SQUARES + 1))


_numbers = types.float64[::1]
fix_type(ForestData, types.float64[:, ::1], _numbers, types.int32[::1], _numbers, _numbers, types.int64[::1], int)
fix_type(ForestRules)
fix_type(Work, *map(typeof, buffers(1, 1, 1, 1, 1).values()))
