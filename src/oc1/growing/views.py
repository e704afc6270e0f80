"""A node as the makers of linear starts see it."""

from __future__ import annotations

import numpy as np

from .calls import NodeKernels
from .nodes import PendingNode
from .starts import NodeView

#: Linear classifiers are fitted to this number of examples at most, evenly chosen: more hardly move a plane.
MAX_ROWS_PER_FIT = 20_000


def view_of(node: PendingNode, kernels: NodeKernels, axis_plane: np.ndarray | None) -> NodeView:
    """Return a node whose examples are in this process, or an even sample of it; with its best axis-parallel split."""
    held, unit = node.examples, kernels.setup.statistics.unit
    chosen = np.arange(held.start, held.stop)
    if node.size > MAX_ROWS_PER_FIT:
        chosen = chosen[np.linspace(0, node.size - 1, MAX_ROWS_PER_FIT).astype(np.int64)]
    Z = np.array(held.columns(chosen).T, dtype=np.float64, order="C")
    weights = held.arrays.weights[chosen] / unit if held.arrays.weights.size else np.ones(len(chosen))
    y = np.unique(held.arrays.labels[chosen], return_inverse=True)[1]
    mean = np.average(Z[:, :-1], axis=0, weights=weights)
    Z[:, :-1] -= mean
    scale = np.sqrt(np.average(Z[:, :-1] ** 2, axis=0, weights=weights))
    # The columns are rounded to float32: less than this is no spread.
    scale[scale <= 1e-6 * np.abs(mean)] = 0.0
    Z[:, :-1] = np.divide(Z[:, :-1], scale, out=np.zeros_like(Z[:, :-1]), where=scale > 0.0)
    view = NodeView(Z, y, weights, mean, scale)
    if axis_plane is not None:
        view.axis = view.from_search(axis_plane)
    return view
