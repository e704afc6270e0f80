"""The engine of a tree whose examples stay on the workers of a cluster.

The client decides; workers count (see `oc1.dask.tasks`). Large nodes are searched in rounds, several of them at the
same time, so that one waits while another is counted. Then the examples of each small one move to one worker, which
grows the whole subtree: only then, because a round waits for all workers, and Dask moves what a busy one has to an idle
one.
"""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from functools import reduce
from operator import add
from typing import Any, NamedTuple

import numpy as np
from distributed import Future

from ..data.search_space import sample_positions
from ..growing.calls import MAX_NEAR, Histograms
from ..growing.engines import LocalExamples, Placed, divide_by_counts
from ..growing.focus import Nearby, Questions
from ..growing.large_nodes import LargeNode
from ..growing.linear_tests import LinearTest
from ..growing.nodes import Expansion, NodeTable, PendingNode
from ..growing.options import TreeSetup
from ..kernels.histograms import Lines
from . import tasks
from .partitions import Partition
from .session import Session

#: The examples of a node move to one worker when their values are this many bytes, or fewer than make a node large: the
#: rounds would take longer.
MAX_MOVED_BYTES = 64 * 2**20
#: Large nodes that are searched together, and small ones whose examples are moved or that are grown: for each thread of
#: the workers, and at most. (Of the small ones so many that a worker has the next before it has done the last.)
LARGE_PER_THREAD, SMALL_PER_THREAD, MAX_TOGETHER = 2, 4, 256


class Group(NamedTuple):
    """What one worker has of a node."""

    numbers: list[int]  # of the partitions
    partitions: list[Partition]
    parts: Future[Any]  # of a list of NodePart


class ClusterEngine:
    """The examples of a tree are on the workers of a cluster.

    Parameters
    ----------
    session : Session
    groups : list of Group
        The examples of the root.
    setup : TreeSetup
    max_moved_bytes : int, optional
        See `MAX_MOVED_BYTES`.

    Attributes
    ----------
    n_searched : int
        Nodes that were searched by all workers together.
    """

    is_local = False
    pool: ThreadPoolExecutor | None = None  # the workers share the work

    def __init__(self, session: Session, groups: list[Group], setup: TreeSetup, max_moved_bytes: int = MAX_MOVED_BYTES):
        self.session, self.setup = session, setup
        self._root = ClusterExamples(self, groups, session.ask((tasks.tally, group.parts) for group in groups))
        self.max_local_rows = min(self._root.size, len(sample_positions(self._root.size)) + MAX_NEAR)
        self.min_together_rows = max(setup.options.min_large_rows, max_moved_bytes // (8 * len(setup.fill)))
        n_threads = session.n_threads
        self.n_large_together = min(LARGE_PER_THREAD * n_threads, MAX_TOGETHER)
        self.n_small_together = min(SMALL_PER_THREAD * n_threads, MAX_TOGETHER)
        self.n_searched = 0
        self.counting, self.dividing = threading.Lock(), threading.Lock()

    def root(self) -> ClusterExamples:
        """Return all examples."""
        return self._root

    def hand_over(self, node: PendingNode) -> tuple[NodeTable, int] | None:
        """Let one worker grow the subtree of a small node; return it and how many hyperplanes that took."""
        if node.size >= self.min_together_rows:
            with self.counting:
                self.n_searched += 1
            return None
        return self._grow_on_a_worker(node) if len(node.examples.present) > 1 else (NodeTable.leaf(node), 0)

    def _grow_on_a_worker(self, node: PendingNode) -> tuple[NodeTable, int]:
        groups, session = node.examples.groups, self.session
        # First of all that a worker has to do: the worker that grows the subtree waits for it.
        picked = [
            session.submit(tasks.pick, group.parts, group.partitions, [slice(None)] * len(group.numbers), priority=1)
            for group in groups
        ]
        own = node._replace(examples=None, subtrees={})  # nothing of what is above that the worker does not need
        numbers = [group.numbers for group in groups]
        grown: tuple[NodeTable, int] = session.ask([(tasks.grow_subtree, numbers, picked, own, self.setup)])[0]
        session.release(picked)
        return grown

    def stop(self) -> None:
        """Let all threads fail that still ask for something: one has failed."""
        self.session.stop()


class ClusterExamples:
    """The examples of a node, on the workers.

    Parameters
    ----------
    engine : ClusterEngine
    groups : list of Group
    tallies : list of lists of Tally
        Those of the parts of each group.
    """

    def __init__(self, engine: ClusterEngine, groups: list[Group], tallies: list[list[tasks.Tally]]):
        self.engine, self.groups = engine, groups
        in_order = tasks.in_order([group.numbers for group in groups], tallies)
        self.counts = np.array([one.counts for one in in_order])  # (n_partitions, n_classes)
        self.class_weights = np.sum([one.sums for one in in_order], axis=0)
        self.present = np.flatnonzero(self.counts.sum(axis=0))
        missing = np.any([one.is_missing for one in in_order], axis=0)
        self.missing_attributes = missing if len(missing) else np.zeros(len(engine.setup.fill), dtype=bool)

    @property
    def size(self) -> int:
        """Number of examples."""
        return int(self.counts.sum())

    @property
    def class_sizes(self) -> np.ndarray:
        """Number of examples of each class that is present."""
        return np.asarray(self.counts.sum(axis=0)[self.present])

    def count_lines(self, lines: Lines, half: int) -> Histograms:
        """Count the classes that are present, by bucket along some lines."""
        counts, sums = self.engine.session.total(
            (tasks.count_lines_of_parts, group.parts, self.present, lines, half) for group in self.groups
        )
        return Histograms(counts.astype(np.int64), sums)

    def near(self, questions: Questions) -> list[Nearby]:
        """Return, for each plane, the examples near it, in this process, and what is on its left."""
        answers = self.engine.session.ask(
            (tasks.near_parts, group.parts, group.partitions, self.present, questions) for group in self.groups
        )
        numbers, left = [group.numbers for group in self.groups], reduce(add, (own.left for own in answers))
        nearby = []
        for plane, sides in enumerate(zip(*left, strict=True)):
            picked = [own.picked[plane] for own in answers]
            nearby.append(Nearby(tasks.local_engine(numbers, picked, self.engine.setup).root(), *sides))
        return nearby

    def place(self, test: LinearTest) -> Placed:
        """Look how a test in the user's units divides the node."""
        placed: Placed = self.engine.session.total(
            (tasks.place_parts, group.parts, group.partitions, self.present, self.engine.setup.fill, test)
            for group in self.groups
        )
        return placed

    def sample(self) -> LocalExamples:
        """Return an even sample, in this process."""
        chosen = places_of(sample_positions(self.size), self.counts)
        picked = self.engine.session.ask(
            (tasks.pick, group.parts, group.partitions, [chosen[i] for i in group.numbers]) for group in self.groups
        )
        return tasks.local_engine([group.numbers for group in self.groups], picked, self.engine.setup).root()

    def divide(self, large: LargeNode, test: LinearTest, centred: bool) -> Expansion:
        """Divide the node by a test; or leave it a leaf."""
        return divide_by_counts(large, test, centred, self._parted)

    def _parted(self, test: LinearTest) -> tuple[ClusterExamples, ClusterExamples]:
        """Give both children parts of their own, and let go of this node's."""
        session, fill, n_groups = self.engine.session, self.engine.setup.fill, len(self.groups)

        def child_of(group: Group, side: int) -> Group:
            parts = session.submit(tasks.child_parts, group.parts, group.partitions, fill, test, side)
            return group._replace(parts=parts)

        with self.engine.dividing:  # for a moment, workers hold a node and its children
            left, right = ([child_of(group, side) for group in self.groups] for side in range(2))
            tallies = session.ask((tasks.tally, group.parts) for group in left + right)
            self.release()
        children = (left, tallies[:n_groups]), (right, tallies[n_groups:])
        return tuple(ClusterExamples(self.engine, *child) for child in children)  # type: ignore[return-value]

    def release(self) -> None:
        """Let go of the examples."""
        self.engine.session.release([group.parts for group in self.groups])
        self.groups = []


def places_of(positions: np.ndarray, counts: np.ndarray) -> list[np.ndarray]:
    """Return the places in each partition of examples that are given by their positions in order of class and row.

    Parameters
    ----------
    positions : int array, rising
    counts : int array (n_partitions, n_classes)
    """
    n_partitions = len(counts)
    cells = counts.T.ravel()  # in the order of the positions: by class, then by partition
    ends = np.cumsum(cells)
    cell = np.searchsorted(ends, positions, side="right")
    label, partition = np.divmod(cell, n_partitions)
    before = np.cumsum(counts, axis=1) - counts  # in a partition, examples of smaller classes come first
    place = positions - (ends - cells)[cell] + before[partition, label]
    return [place[partition == number] for number in range(n_partitions)]
