"""Nodes while a tree is growing, and the tree that they become.

The compiled search makes flat tables of nodes (`NodeTable`); the systems of `oc1.growing.splitters`, whose nodes may
have any number of branches, make objects (`GrownNode`). Those with linear tests become a `Tree` in one place,
`build_tree`.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ..kernels import _kernels
from ..tree.linear import Tree
from .linear_tests import LinearTest, Split


@dataclass
class NodeTable:
    """The nodes that one call into the kernels made.

    Pending ones are the roots of further tables, `subtrees`, by their row in this one.
    """

    nodes: _kernels.Nodes
    subtrees: dict[int, NodeTable] = field(default_factory=dict)

    @property
    def is_leaf(self) -> bool:
        """Whether the first node turned out to be a leaf."""
        return bool(self.nodes.table[0, _kernels.STATUS] == _kernels.LEAF)


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
        nodes = _kernels.Nodes.make(len(grown), 0, structure["counts"].shape[1])
        nodes.counts[:], nodes.reals[:, 1] = structure["counts"], structure["gains"]
        nodes.table[:, _kernels.STATUS] = _kernels.LEAF
        first = 0
        for i, test in tests.items():
            n_terms = len(test.features)
            row = (*structure["children"][i], first, n_terms, _kernels.INNER, test.missing)
            nodes.table[i, _kernels.LEFT :] = row
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
    lefts, rights = children.T.tolist()
    order, stack = [], [0]
    while stack:
        node = stack.pop()
        order.append(node)
        if lefts[node] >= 0:
            stack.append(rights[node])
            stack.append(lefts[node])
    return np.array(order)


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
    inner = table[:, _kernels.STATUS] == _kernels.INNER
    children = np.where(
        inner[:, None], table[:, [_kernels.LEFT, _kernels.RIGHT]] + np.repeat(begins, sizes)[:, None], -1
    )
    stands_for = np.arange(len(table))
    if links:
        pending, followed = np.array(links).T
        stands_for[pending] = followed
        children = np.where(children >= 0, stands_for[children], -1)
    order = preorder(children)
    number_of = np.full(len(table), -1)
    number_of[order] = np.arange(len(order))
    children, inner, table = children[order], inner[order], table[order]

    n_terms = np.where(inner, table[:, _kernels.N_TERMS], 0)
    terms = np.concatenate([[0], np.cumsum(n_terms)])
    begin = (np.repeat(first_terms[:-1], sizes)[order] + table[:, _kernels.FIRST_TERM]) - terms[:-1]
    where = np.repeat(begin, n_terms) + np.arange(terms[-1])
    missing = np.where(inner, table[:, _kernels.MISSING], _kernels.BY_FILL).astype(np.int8)
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
