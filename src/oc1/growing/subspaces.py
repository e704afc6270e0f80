"""Random subspaces (Ho 1998, Breiman 2001): a node looks at some of the attributes only, drawn for it (`max_features`).

A node is split as if the attributes that were drawn were all there are: their columns become the examples of an engine
of their own, and the policy splits its root. Where that gives no split, the next attributes take their turn, until all
have had theirs. What is drawn comes from the node's own random stream, so the tree does not depend on threads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from ..data.search_space import SearchSpace
from .calls import NodeKernels
from .engines import LocalEngine, LocalExamples
from .linear_tests import LinearTest
from .nodes import Expansion, NodeTable, PendingNode, derived_seed
from .options import TreeSetup
from .policy import Policy
from .splitters import NodeExamples

#: Numbers of attributes by name.
SUBSPACE_SIZES: dict[str, Callable[[float], float]] = {"sqrt": np.sqrt, "log2": np.log2}
#: The stream of a node's seed from which its attributes are drawn. (Smaller ones are those of its children and runs.)
DRAWING = 2**32


def subspace_size(max_features: float | str | None, n_features: int) -> int:
    """Return how many attributes a node looks at.

    Parameters
    ----------
    max_features : int, float, "sqrt", "log2" or None
        A number; a share of all attributes; a function of their number; or all of them.
    n_features : int
        Number of attributes.
    """
    if max_features is None:
        return n_features
    if isinstance(max_features, str):
        size = SUBSPACE_SIZES[max_features](n_features)
    else:
        size = max_features if isinstance(max_features, int | np.integer) else max_features * n_features
    return max(1, min(int(size), n_features))


def subspaces(seed: int, candidates: np.ndarray, size: int) -> Iterator[np.ndarray]:
    """Deal attributes into subspaces, in a random order; each is in the order of the attributes."""
    shuffled = np.random.default_rng(derived_seed(seed, DRAWING)).permutation(candidates)
    for first in range(0, len(shuffled), size):
        yield np.sort(shuffled[first : first + size])


class SubspacePolicy:
    """Splits each node by what a policy finds on some of the attributes.

    Parameters
    ----------
    kernels : NodeKernels
        Of the whole tree.
    size : int
        Number of attributes that are drawn.
    """

    def __init__(self, kernels: NodeKernels, size: int):
        self.kernels, self.size = kernels, size

    def grow(self, node: PendingNode) -> Expansion:
        """Grow a node: one split at a time."""
        return self.split(node)

    def split(self, node: PendingNode) -> Expansion:
        """Split one node and no further."""
        if not self.kernels.stays_leaf(node):
            for chosen in subspaces(int(node.seed), self._candidates(node.examples), self.size):
                table = self._split_on(node, chosen)
                if not table.is_leaf:
                    test = replace(table.test, features=chosen[table.test.features].astype(np.int32))
                    return NodeTable.divided(node, test, float(table.nodes.reals[0, 1]), node.examples.parted(test))
        return Expansion(NodeTable.leaf(node), [])

    def _candidates(self, examples: LocalExamples) -> np.ndarray:
        """Return the attributes that can split a node: as in scikit-learn, constant ones are not drawn."""
        X, rows = examples.engine.X, examples.rows
        columns = (X[rows, m] for m in range(X.shape[1]))
        return np.array([m for m, x in enumerate(columns) if varies(x)], dtype=np.int64)

    def _split_on(self, node: PendingNode, chosen: np.ndarray) -> NodeTable:
        """Split a node on some attributes only; return the table, in which these are all attributes."""
        held, kernels = node.examples, self.kernels
        setup, reporter = subspace_setup(kernels.setup, chosen), kernels.reporter.on_attributes(chosen.tolist())
        weights = held.weights
        labels = np.asarray(held.labels, dtype=np.int64)
        X = np.ascontiguousarray(held.engine.X[np.ix_(held.rows, chosen)])
        engine = LocalEngine(X, labels, weights, np.arange(held.size), setup)
        own = NodeKernels(engine.setup, engine.max_local_rows, reporter, None)
        own.compile()
        table = Policy(own).split(node._replace(examples=engine.root(), subtrees={})).table
        kernels.count(own.n_hyperplanes)
        return table


def varies(values: np.ndarray) -> bool:
    """Whether a column has different values, of which a missing one is another."""
    known = values[~np.isnan(values)]
    return bool(len(known) and (len(known) < len(values) or known.min() < known.max()))


def subspace_setup(setup: TreeSetup, chosen: np.ndarray) -> TreeSetup:
    """Return what a node is split with, where some attributes are all there are."""
    space = setup.statistics.space
    own_space = SearchSpace(space.shift[chosen], space.scale[chosen])
    return setup._replace(
        options=replace(setup.options, n_jobs=1, max_features=None),
        fill=setup.fill[chosen],
        coded=tuple(np.asarray(setup.coded)[chosen].tolist()) if setup.coded else (),
        known_statistics=setup.statistics._replace(space=own_space),
    )


def split_on_subspace(
    split: Callable[[NodeExamples, np.ndarray], LinearTest | None], node: NodeExamples, size: int
) -> LinearTest | None:
    """Split a node of `oc1.growing.splitters` on some of its attributes, drawn for it.

    Parameters
    ----------
    split : callable
        Splits a node that has some attributes only, the second argument.
    node : NodeExamples
    size : int
        Number of attributes that are drawn.
    """
    if size >= node.X.shape[1]:
        return split(node, np.arange(node.X.shape[1]))
    candidates = np.flatnonzero(np.ptp(node.X, axis=0) > 0)
    for chosen in subspaces(node.seed, candidates, size):
        test = split(replace(node, X=node.X[:, chosen]), chosen)
        if test is not None and len(test.features):
            return replace(test, features=chosen[test.features].astype(np.int32))
    return None
