"""A node as the makers of linear starts see it: attributes standardised over it, and the way back to search space."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..kernels.layout import ABOVE_ALL
from .calls import NodeKernels
from .nodes import PendingNode
from .starts import STARTS, NodeView

#: Linear classifiers are fitted to this number of examples at most, evenly chosen: more hardly move a plane.
MAX_ROWS_PER_FIT = 20_000


class View(NamedTuple):
    """A node's standardised attributes, and where they lie in search space."""

    node: NodeView
    mean: np.ndarray
    scale: np.ndarray

    def to_search(self, plane: np.ndarray) -> np.ndarray:
        """Bring a plane on the node's standardised attributes to search space."""
        out = plane.copy()
        out[:-1] = np.divide(plane[:-1], self.scale, out=np.zeros(len(self.scale)), where=self.scale > 0.0)
        out[-1] -= out[:-1] @ self.mean
        return out / np.sqrt(out @ out) if out.any() else out

    def from_search(self, plane: np.ndarray) -> np.ndarray:
        """Bring a plane of the search space to the node's standardised attributes."""
        out = plane.copy()
        out[:-1] *= self.scale
        out[-1] += plane[:-1] @ self.mean
        return out

    def starts(self, names: tuple[str, ...]) -> list[np.ndarray]:
        """Return the planes, in search space, that some kinds of starts bring."""
        return [self.to_search(plane) for name in names for plane in STARTS[name](self.node)]


def view_of(node: PendingNode, kernels: NodeKernels, axis_plane: np.ndarray | None) -> View:
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
    rng = np.random.default_rng(int(node.seed))
    view = View(NodeView(Z, y, weights, kernels.options.groupings, rng), mean, scale)
    if axis_plane is not None:
        view.node.axis = view.from_search(axis_plane)
    if node.parent is not None:
        view.node.parent = view.from_search(_plane_of_parent(node, kernels))
    return view


def _plane_of_parent(node: PendingNode, kernels: NodeKernels) -> np.ndarray:
    """Return the parent's test as a plane of the search space; 0 where it asks only whether a value is missing."""
    test = node.parent
    if test is None or test.threshold == ABOVE_ALL:
        return np.zeros(kernels.n_features + 1)
    return kernels.space.plane_of(test.features, test.coefficients, test.threshold)
