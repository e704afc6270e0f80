"""Nodes while a tree is growing, and the tree that they become.

A `PendingNode` is still to be grown. The compiled search makes flat tables of nodes (`NodeTable`); the systems of
`oc1.growing.splitters`, whose nodes may have any number of branches, make objects (`GrownNode`). Those with linear
tests become a `Tree` in one place, `build_tree`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..kernels import layout
from ..kernels.random import mix
from ..kernels.records import Nodes
from ..tree.linear import Tree
from .linear_tests import LinearTest, Split

if TYPE_CHECKING:
    from .engines import EngineExamples


@dataclass
class NodeTable:
    """The nodes that one call into the kernels made, or that stand for such.

    Pending ones are the roots of further tables, `subtrees`, by their row in this one.
    """

    nodes: Nodes
    subtrees: dict[int, NodeTable] = field(default_factory=dict)

    @classmethod
    def leaf(cls, node: PendingNode) -> NodeTable:
        """Return a table of one node, which stays a leaf."""
        return cls(_rooted(node, 1, 0, layout.LEAF))

    @classmethod
    def divided(cls, node: PendingNode, test: LinearTest, gain: float, children: Sequence[EngineExamples]) -> Expansion:
        """Return a node that was divided by a test, and its two children."""
        n_terms, middle = len(test.features), children[0].size
        nodes = _rooted(node, 3, n_terms, layout.INNER)
        nodes.table[0, layout.LEFT : layout.STATUS] = 1, 2, 0, n_terms
        nodes.table[0, layout.MISSING] = test.missing
        nodes.reals[0] = test.threshold, gain, test.gap
        nodes.features[:], nodes.coefficients[:] = test.features, test.coefficients
        nodes.table[1:, layout.START], nodes.table[1:, layout.STOP] = (0, middle), (middle, node.size)
        nodes.table[1:, layout.DEPTH], nodes.table[1:, layout.STATUS] = node.depth + 1, layout.PENDING
        for side, child in enumerate(children):
            nodes.counts[1 + side] = child.class_weights
            nodes.seeds[1 + side] = derived_seed(int(node.seed), side + 1)
        table = cls(nodes)
        return Expansion(table, [node.child(table, 1 + side, child) for side, child in enumerate(children)])

    @property
    def is_leaf(self) -> bool:
        """Whether the first node turned out to be a leaf."""
        return bool(self.nodes.table[0, layout.STATUS] == layout.LEAF)

    @property
    def gain(self) -> float:
        """What the split of the first node gains, for all its examples."""
        return float(self.nodes.reals[0, 1] * self.nodes.counts[0].sum())

    @property
    def test(self) -> LinearTest:
        """The test of the first node."""
        n_terms, missing = self.nodes.table[0, [layout.N_TERMS, layout.MISSING]].tolist()
        threshold, _, gap = self.nodes.reals[0].tolist()
        return LinearTest(
            self.nodes.features[:n_terms], self.nodes.coefficients[:n_terms], threshold, gap, missing=missing
        )

    @property
    def pending(self) -> list[tuple[int, int, int]]:
        """The nodes that are still to be grown: row, and the range of its examples."""
        rows = np.flatnonzero(self.nodes.table[:, layout.STATUS] == layout.PENDING)
        spans = self.nodes.table[rows][:, [layout.START, layout.STOP]].tolist()
        return [(row, start, stop) for row, (start, stop) in zip(rows.tolist(), spans, strict=True)]


def _rooted(node: PendingNode, n_nodes: int, n_terms: int, status: int) -> Nodes:
    """Return an empty table but for its first node."""
    nodes = Nodes.make(n_nodes, n_terms, len(node.class_weights))
    nodes.table[0, : layout.LEFT], nodes.table[0, layout.STATUS] = (0, node.size, node.depth), status
    nodes.counts[0], nodes.seeds[0] = node.class_weights, node.seed
    return nodes


class PendingNode(NamedTuple):
    """A node that is still to be grown.

    Attributes
    ----------
    examples : EngineExamples
        `LocalExamples` where the kernels search them. Held by the work list only: what an engine holds for them goes
        when the subtree is done.
    class_weights : float array (n_classes,)
    depth : int
    seed : uint64
        All randomness of the node comes from it.
    subtrees : dict
        Where the table that begins with this node goes, under the key `row`.
    """

    examples: Any
    class_weights: np.ndarray
    depth: int
    seed: np.uint64
    subtrees: dict[int, NodeTable]
    row: int = 0

    @classmethod
    def root(cls, examples: EngineExamples, seed: int) -> PendingNode:
        """Return the root of a tree."""
        return cls(examples, examples.class_weights, 0, np.uint64(derived_seed(seed, 0)), {})

    def child(self, table: NodeTable, row: int, examples: EngineExamples) -> PendingNode:
        """Return a pending node of a table that begins with this node."""
        nodes = table.nodes
        depth = int(nodes.table[row, layout.DEPTH])
        return PendingNode(examples, nodes.counts[row], depth, nodes.seeds[row], table.subtrees, row)

    @property
    def size(self) -> int:
        """Number of examples."""
        return int(self.examples.size)


class Expansion(NamedTuple):
    """A table that begins with a pending node, and what is pending in it."""

    table: NodeTable
    pending: list[PendingNode]


def derived_seed(seed: int, number: int) -> int:
    """Derive an independent seed from a seed and a number."""
    with np.errstate(over="ignore"):  # for NUMBA_DISABLE_JIT
        return int(mix(np.uint64(seed), np.uint64(number)))


@dataclass
class GrownNode:
    """A node that a splitter has split or left a leaf."""

    rows: np.ndarray
    weights: np.ndarray  # of those rows, in this node
    depth: int
    seed: int
    counts: np.ndarray  # weight of each class, or what else the tree notes of its nodes
    split: Split | None = None
    gain: float = 0.0
    children: list[GrownNode] = field(default_factory=list)

    def preorder(self) -> list[GrownNode]:
        """List this node and all below it, parents first, first branches first."""
        nodes, stack = [], [self]
        while stack:
            nodes.append(stack.pop())
            stack.extend(reversed(nodes[-1].children))
        return nodes

    def table(self) -> NodeTable:
        """Return this node and all below it, whose splits are linear tests, as a table."""
        grown = self.preorder()
        tests = {i: node.split for i, node in enumerate(grown) if isinstance(node.split, LinearTest)}
        structure = structure_of(grown, 2)
        nodes = Nodes.make(len(grown), 0, structure["counts"].shape[1])
        nodes.counts[:], nodes.reals[:, 1] = structure["counts"], structure["gains"]
        nodes.table[:, layout.STATUS] = layout.LEAF
        first = 0
        for i, test in tests.items():
            n_terms = len(test.features)
            row = (*structure["children"][i], first, n_terms, layout.INNER, test.missing)
            nodes.table[i, layout.LEFT :] = row
            nodes.reals[i, 0], nodes.reals[i, 2] = test.threshold, test.gap
            first += n_terms
        features = np.concatenate([np.empty(0), *(test.features for test in tests.values())]).astype(np.int32)
        coefficients = np.concatenate([np.empty(0), *(test.coefficients for test in tests.values())])
        return NodeTable(nodes._replace(features=features, coefficients=coefficients))


def structure_of(nodes: list[GrownNode], n_branches: int) -> dict[str, np.ndarray]:
    """Return the fields ``children``, ``counts`` and ``gains`` of a `TreeStructure` from nodes in preorder."""
    number = {id(node): i for i, node in enumerate(nodes)}
    children = np.full((len(nodes), n_branches), -1, dtype=np.int32)
    for i, node in enumerate(nodes):
        children[i, : len(node.children)] = [number[id(child)] for child in node.children]
    return {
        "children": children,
        "counts": np.array([node.counts for node in nodes]),
        "gains": np.array([node.gain for node in nodes]),
    }


def preorder(children: np.ndarray) -> np.ndarray:
    """Return the nodes of a tree in preorder; children are -1 at leaves, and node 0 is the root."""
    levels = [np.zeros(1, dtype=np.int64)]
    while len(levels[-1]):
        levels.append(children[levels[-1][children[levels[-1], 0] >= 0]].ravel())
    sizes, places = np.ones(len(children), dtype=np.int64), np.zeros(len(children), dtype=np.int64)
    for level in reversed(levels):
        inner = level[children[level, 0] >= 0]
        sizes[inner] += sizes[children[inner]].sum(axis=1)
    for level in levels:
        inner = level[children[level, 0] >= 0]
        left, right = children[inner].T
        places[left] = places[inner] + 1
        places[right] = places[left] + sizes[left]
    reached = np.concatenate(levels)
    order = np.empty(len(reached), dtype=np.int64)
    order[places[reached]] = reached
    return order


def build_tree(
    root: NodeTable | GrownNode, fill: np.ndarray, classes: np.ndarray, feature_names: tuple[str, ...]
) -> Tree:
    """Join the tables of a grown tree, all of whose tests are linear, into a `Tree` with its nodes in preorder."""
    tables, begins, links = [root.table() if isinstance(root, GrownNode) else root], [0], []
    for number, own in enumerate(tables):  # the list grows while it is walked
        for row, further in own.subtrees.items():
            links.append((begins[number] + row, begins[-1] + len(tables[-1].nodes.table)))
            begins.append(links[-1][1])
            tables.append(further)
    table = np.concatenate([own.nodes.table for own in tables])
    reals = np.concatenate([own.nodes.reals for own in tables])
    counts = np.concatenate([own.nodes.counts for own in tables])
    features = np.concatenate([own.nodes.features for own in tables])
    coefficients = np.concatenate([own.nodes.coefficients for own in tables])
    first_terms = np.cumsum([0] + [len(own.nodes.features) for own in tables])
    sizes = [len(own.nodes.table) for own in tables]

    # Children by their place in the joined table; a pending node is the first node of the batch that followed it.
    inner = table[:, layout.STATUS] == layout.INNER
    children = np.where(inner[:, None], table[:, [layout.LEFT, layout.RIGHT]] + np.repeat(begins, sizes)[:, None], -1)
    stands_for = np.arange(len(table))
    if links:
        pending, followed = np.array(links).T
        stands_for[pending] = followed
        children = np.where(children >= 0, stands_for[children], -1)
    order = preorder(children)
    number_of = np.full(len(table), -1)
    number_of[order] = np.arange(len(order))
    children, inner, table = children[order], inner[order], table[order]

    n_terms = np.where(inner, table[:, layout.N_TERMS], 0)
    terms = np.concatenate([[0], np.cumsum(n_terms)])
    begin = (np.repeat(first_terms[:-1], sizes)[order] + table[:, layout.FIRST_TERM]) - terms[:-1]
    where = np.repeat(begin, n_terms) + np.arange(terms[-1])
    missing = np.where(inner, table[:, layout.MISSING], layout.BY_FILL).astype(np.int8)
    return Tree(
        children=np.where(children >= 0, number_of[children], -1).astype(np.int32),
        terms=terms.astype(np.int64),
        features=features[where],
        coefficients=coefficients[where],
        thresholds=np.where(inner, reals[order, 0], 0.0),
        counts=counts[order],
        gains=np.where(inner, reals[order, 1], 0.0),
        gaps=np.where(inner, reals[order, 2], 0.0),
        missing=missing if missing.any() else (),
        fill=fill,
        classes=classes,
        feature_names=feature_names,
    )
