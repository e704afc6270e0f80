"""What the kernels of forests take: the examples, the rules, and the buffers of a thread."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import types

from ._jit import fix_type

#: Columns of `Work.statistics` where numbers are predicted: weight, sum, and sum of squares of an example's number.
WEIGHT, SUM, SQUARES = range(3)


class ForestData(NamedTuple):
    """The training examples of a forest, one row of `columns` for each attribute."""

    columns: np.ndarray  # float64 (d, n), NaN where values are missing
    has_missing: np.ndarray  # bool (d)
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
    split_by_weight: bool  # whether a node has as many examples as its weight, for `min_split`
    min_leaf: int
    min_decrease: float


class Work(NamedTuple):
    """The buffers in which one thread grows its trees."""

    # by example of the tree
    times: np.ndarray  # int32 (n): how often each example was drawn
    tree_weights: np.ndarray  # float64 (n)
    rows: np.ndarray  # int64
    spare: np.ndarray  # int64
    # by example of the node
    labels: np.ndarray  # int64
    numbers: np.ndarray  # float64
    weights: np.ndarray  # float64
    values: np.ndarray  # float64 (n_drawn, n): the attributes drawn, with missing values filled in
    standard: np.ndarray  # float64 (n_drawn, n): the same in standard units
    line: np.ndarray  # float64: values along one direction
    products: np.ndarray  # float64
    short: np.ndarray  # float32: values along one direction, from the first example's on
    # by attribute or class
    permutation: np.ndarray  # int64 (d)
    drawn: np.ndarray  # int64 (n_drawn)
    order: np.ndarray  # int64 (n_drawn): the attributes drawn in their order
    spread: np.ndarray  # float64 (n_drawn)
    direction: np.ndarray  # float64 (n_drawn)
    best: np.ndarray  # float64 (n_drawn)
    system: np.ndarray  # float64 (n_drawn, n_drawn)
    penalty: np.ndarray  # float64 (n_drawn)
    sums: np.ndarray  # float64 (max(n_classes, 1), n_drawn)
    left: np.ndarray  # float64 (n_classes)
    totals: np.ndarray  # float64 (2): weight of the node, and of the tree
    class_weights: np.ndarray  # float64 (n_classes)
    stream: np.ndarray  # uint64 (1)
    stack: np.ndarray  # int64 (n + 1, 5)
    # the tree
    children: np.ndarray  # int32 (2 n, 2)
    statistics: np.ndarray  # float64 (2 n, n_classes or 3)
    gains: np.ndarray  # float64 (2 n)
    thresholds: np.ndarray  # float64 (2 n)
    gaps: np.ndarray  # float64 (2 n)
    missing: np.ndarray  # int8 (2 n)
    terms: np.ndarray  # int64 (2 n + 1)
    features: np.ndarray  # int32 (n * n_drawn)
    coefficients: np.ndarray  # float64 (n * n_drawn)

    @classmethod
    def make(cls, data: ForestData, rules: ForestRules) -> Work:
        """Make room for the largest tree there can be; what is not written to takes no memory."""
        (d, n), q, k = data.columns.shape, rules.n_drawn, max(data.n_classes, 1)
        nodes, room = 2 * n, n * q
        return cls(
            times=np.empty(n, np.int32),
            tree_weights=np.empty(n),
            rows=np.empty(n, np.int64),
            spare=np.empty(n, np.int64),
            labels=np.empty(n, np.int64),
            numbers=np.empty(n),
            weights=np.empty(n),
            values=np.empty((q, n)),
            standard=np.empty((q, n)),
            line=np.empty(n),
            products=np.empty(n),
            short=np.empty(n, np.float32),
            permutation=np.empty(d, np.int64),
            drawn=np.empty(q, np.int64),
            order=np.empty(q, np.int64),
            spread=np.empty(q),
            direction=np.empty(q),
            best=np.empty(q),
            system=np.empty((q, q)),
            penalty=np.empty(q),
            sums=np.empty((k, q)),
            left=np.empty(k),
            totals=np.empty(2),
            class_weights=np.empty(k),
            stream=np.empty(1, np.uint64),
            stack=np.empty((n + 1, 5), np.int64),
            children=np.empty((nodes, 2), np.int32),
            statistics=np.empty((nodes, data.n_classes or 3)),
            gains=np.empty(nodes),
            thresholds=np.empty(nodes),
            gaps=np.empty(nodes),
            missing=np.empty(nodes, np.int8),
            terms=np.empty(nodes + 1, np.int64),
            features=np.empty(room, np.int32),
            coefficients=np.empty(room),
        )


_wholes, _numbers, _table = types.int64[::1], types.float64[::1], types.float64[:, ::1]
_short_wholes = types.int32[::1]
fix_type(ForestData, _table, types.boolean[::1], _numbers, _short_wholes, _numbers, _numbers, _wholes, int)
fix_type(ForestRules)
fix_type(
    Work,
    *(_short_wholes, _numbers, _wholes, _wholes),
    *(_wholes, _numbers, _numbers, _table, _table, _numbers, _numbers),
    *(types.float32[::1], _wholes, _wholes, _wholes, _numbers, _numbers, _numbers, _table, _numbers, _table),
    *(_numbers, _numbers, _numbers, types.uint64[::1], types.int64[:, ::1]),
    *(types.int32[:, ::1], _table, _numbers, _numbers, _numbers, types.int8[::1], _wholes, _short_wholes, _numbers),
)
