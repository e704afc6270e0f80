"""Growing a tree: which node is grown when, and by which thread.

How a node is split is for a *policy* to say (`oc1.growing.policy`); where the examples are, for an *engine*
(`oc1.growing.engines`).
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager, nullcontext

import numpy as np

from ..kernels import layout
from ..kernels.records import Nodes
from .blas import one_blas_thread
from .calls import NodeKernels
from .engines import Engine
from .nodes import Expansion, NodeTable, PendingNode
from .policy import Policy
from .progress import Reporter, advance
from .subspaces import SubspacePolicy, subspace_size

#: Nodes that are handed out to threads before these have time for them.
N_AHEAD = 4


def make_grower(engine: Engine, reporter: Reporter | None = None) -> Grower:
    """Return a grower with the policy that the options ask for.

    Parameters
    ----------
    engine : Engine
        Holds the examples.
    reporter : Reporter, optional
        Is told of each inner node, and of each move if it wants to know.
    """
    reporter = Reporter(0) if reporter is None else reporter
    # The moves of a node are not to be mixed with those of others.
    pool = None if reporter.n_moves else engine.pool
    kernels = NodeKernels(engine.setup, engine.max_local_rows, reporter, pool)
    size = subspace_size(kernels.options.max_features, kernels.n_features)
    if size < kernels.n_features:
        return Grower(engine, SubspacePolicy(kernels, size), kernels)
    return Grower(engine, Policy(kernels), kernels)


class Grower:
    """Grows one tree.

    Parameters
    ----------
    engine : Engine
    policy : Policy or SubspacePolicy
    kernels : NodeKernels
        Those of the policy.
    """

    def __init__(self, engine: Engine, policy: Policy | SubspacePolicy, kernels: NodeKernels):
        self.engine, self.policy, self.kernels = engine, policy, kernels
        self.options, self.reporter = kernels.options, kernels.reporter

    @property
    def n_hyperplanes(self) -> int:
        """Hyperplanes considered so far."""
        return self.kernels.n_hyperplanes

    def grow(self, seed: int) -> NodeTable:
        """Grow the tree; return the table that begins with its root.

        All randomness comes from the seed and a node's path, so neither threads nor their number matter.
        """
        return self.grow_from(PendingNode.root(self.engine.root(), seed))

    def grow_from(self, root: PendingNode) -> NodeTable:
        """Grow the subtree of a node, which may be a part of a larger tree."""
        with self.working():
            advance(started=root.size)
            if self.options.max_leaf_nodes is not None and self.engine.is_local:
                self._grow_best_first(root)
            else:
                self._grow_subtree(root)
        return root.subtrees[root.row]

    @contextmanager
    def working(self) -> Iterator[None]:
        """Return a context in which nodes can be grown."""
        # Sums must not depend on the number of threads that BLAS would take.
        pool = self.kernels.pool or nullcontext()
        with one_blas_thread(), pool, np.errstate(all="ignore"):
            self.kernels.compile()
            yield

    def _grow_subtree(self, root: PendingNode) -> None:
        """Grow a node and all below it."""
        n_large, n_small = self.engine.n_large_together, self.engine.n_small_together
        if n_small == 1 or self.reporter.n_moves:
            waiting = [root]
            while waiting:
                waiting.extend(self.follow(waiting.pop()))
        elif self.engine.is_local:
            self._follow_all([root], n_small, n_large)
        else:
            small = self._follow_all([root], n_large, n_large, self.engine.min_together_rows)
            self._follow_all(small, n_small, n_small)

    def _follow_all(
        self, waiting: list[PendingNode], n_together: int, n_large_together: int, min_rows: int = 0
    ) -> list[PendingNode]:
        """Grow nodes and those below them, several at the same time, the largest first; return those of few examples.

        The examples of nodes do not overlap, and the kernels release the interpreter lock.
        """
        smaller: list[PendingNode] = []
        heaps: list[list[tuple[int, int, PendingNode]]] = [[], []]  # nodes that are not large, and large ones
        running: dict[Future[list[PendingNode]], bool] = {}  # whether they are large
        order, n_large = itertools.count(), 0

        def push(nodes: Iterable[PendingNode]) -> None:
            for node in nodes:
                size = node.size
                if size < min_rows:
                    smaller.append(node)
                else:
                    heapq.heappush(heaps[size >= self.engine.min_together_rows], (-size, next(order), node))

        # Not the threads that share the work of a node: those never wait for others. Large nodes are not kept waiting,
        # and get half of the processors: what is below them cannot begin before.
        with ThreadPoolExecutor(n_together) as pool, ThreadPoolExecutor(n_large_together) as pool_of_large:
            push(waiting)
            try:
                while heaps[0] or heaps[1] or running:
                    while heaps[1] and n_large < n_large_together:
                        running[pool_of_large.submit(self.follow, heapq.heappop(heaps[1])[-1])] = True
                        n_large += 1
                    # A few more than there are threads: none of them waits until this one hands out the next node.
                    most = max(1, n_together // 2) if n_large else n_together + N_AHEAD
                    while heaps[0] and len(running) - n_large < most:
                        running[pool.submit(self.follow, heapq.heappop(heaps[0])[-1])] = False
                    for future in wait(running, return_when=FIRST_COMPLETED).done:
                        n_large -= running.pop(future)
                        push(future.result())
            except BaseException:
                self.engine.stop()
                raise
        return smaller

    def _grow_best_first(self, root: PendingNode) -> None:
        """Keep the split that gains most, until there are enough leaves."""
        order = itertools.count()
        heap: list[tuple[float, int, PendingNode, Expansion]] = []

        def consider(node: PendingNode) -> None:
            grown = self.policy.split(node)
            self._tell(grown.table)
            if grown.table.is_leaf:
                node.subtrees[node.row] = grown.table
            else:
                heapq.heappush(heap, (-grown.table.gain, next(order), node, grown))

        consider(root)
        n_leaves = 1
        while heap and n_leaves < (self.options.max_leaf_nodes or 0):
            _, _, node, grown = heapq.heappop(heap)
            node.subtrees[node.row] = grown.table
            n_leaves += 1
            for below in grown.pending:
                consider(below)
        for _, _, node, _ in heap:
            node.subtrees[node.row] = NodeTable.leaf(node)

    def follow(self, node: PendingNode) -> list[PendingNode]:
        """Grow a pending node, as far as one call goes; return what is pending below it."""
        handed_over = self.engine.hand_over(node)
        if handed_over is None:
            with np.errstate(all="ignore"):  # a thread does not inherit it
                grown = self.policy.grow(node)
        else:
            grown = Expansion(handed_over[0], [])
            self.kernels.count(handed_over[1])
        node.subtrees[node.row] = grown.table
        self._tell(grown.table)
        if not grown.pending:
            node.examples.release()
        return grown.pending

    def _tell(self, table: NodeTable) -> None:
        """Tell of all nodes of a table, and of those below it."""
        tables = [table]
        while tables:
            table = tables.pop()
            tables.extend(table.subtrees.values())
            self._tell_of_table(table.nodes)

    def _tell_of_table(self, nodes: Nodes) -> None:
        status = nodes.table[:, layout.STATUS]
        leaves = nodes.table[status == layout.LEAF]
        advance(settled=int((leaves[:, layout.STOP] - leaves[:, layout.START]).sum()))
        for row in np.flatnonzero(status == layout.INNER) if self.reporter.verbose else ():
            start, stop, depth = nodes.table[row, : layout.LEFT]
            first, n_terms = nodes.table[row, [layout.FIRST_TERM, layout.N_TERMS]]
            terms, (threshold, gain, _) = slice(first, first + n_terms), nodes.reals[row]
            test = nodes.features[terms], nodes.coefficients[terms], threshold
            self.reporter.linear_node(depth, nodes.counts[row], stop - start, *test, gain)
