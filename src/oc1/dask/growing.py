"""Growing one tree on examples that stay on the workers of a cluster.

The client decides; workers count (see `portions`). Large nodes are searched in rounds, several of them at the same
time, so that one waits while another is counted. Then the examples of each small one move to one worker, which grows
the whole subtree: only then, because a round waits for all workers, and Dask moves what a busy one has to an idle one.
"""

from __future__ import annotations

import heapq
import itertools
import threading
from collections.abc import Sequence
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from distributed import Future

from ..data.search_space import sample_positions
from ..growing.blas import one_blas_thread
from ..growing.engines import Placed
from ..growing.grower import Axis, Ground, GrowthOptions, LargeNode, Place, pending
from ..growing.large_nodes import Counted, Judge, Lines
from ..growing.linear_tests import LinearTest
from ..growing.nodes import NodeTable
from ..growing.penalised import CarefulGrower
from ..growing.progress import Reporter, advance
from ..impurity import MEASURES
from ..kernels import _kernels
from ..kernels._compiling import announce_compiling
from ..kernels._kernels import BY_FILL
from ..tree.linear import Tree
from . import tasks as work
from .partitions import Partition
from .session import Held

#: The examples of a node move to one worker when their values are so many bytes, or fewer than make a node large: the
#: rounds would take longer.
FEW = 64 * 2**20
#: Seconds that a round takes however little is asked, and an example on a line.
ROUND, A_LINE = 5e-3, 1.5e-9
#: Large nodes that are searched together, and small ones whose examples are moved or that are grown: for each thread of
#: the workers, and at most. (Of the small ones so many that a worker has the next before it has done the last.)
LARGE_TOGETHER, SMALL_TOGETHER, MOST_TOGETHER = 2, 4, 256


class Group(NamedTuple):
    """What one worker has of a node."""

    numbers: list[int]  # of the partitions
    partitions: list[Partition]
    portions: Future  # of a list of Portion


class ClusterNode:
    """The examples of a node, on the workers; the engine behind `oc1.growing.large_nodes`.

    Parameters
    ----------
    hold : Held
    groups : list of Group
    tallies : list of lists of Tally
        Those of the portions of each group.
    fill : array (n_features,)
    """

    def __init__(self, hold: Held, groups: list[Group], tallies: list[list[work.Tally]], fill: np.ndarray):
        self.hold, self.groups, self.fill = hold, groups, fill
        numbered = {
            number: one
            for group, own in zip(groups, tallies, strict=True)
            for number, one in zip(group.numbers, own, strict=True)
        }
        in_order = [numbered[number] for number in sorted(numbered)]
        self.counts = np.array([one.counts for one in in_order])  # (n_partitions, n_classes)
        self.sums = np.sum([one.sums for one in in_order], axis=0)
        self.holes = np.any([one.holes for one in in_order], axis=0)
        self.present = np.flatnonzero(self.counts.sum(axis=0))
        self.children: tuple[ClusterNode, ClusterNode] | None = None
        self.large: LargeNode | None = None

    @property
    def size(self) -> int:
        """Number of examples."""
        return int(self.counts.sum())

    @property
    def at_once(self) -> int:
        """Lines that take no longer to count than a round takes anyway."""
        return max(2, int(ROUND / (A_LINE * self.size / self.hold.n_threads)))

    def count_lines(self, lines: Lines, half: int) -> Counted:
        """Count the classes that are present, by bucket along some lines."""
        counts, sums = self.hold.total(
            (work.count_lines_together, group.portions, self.present, lines, half) for group in self.groups
        )
        return Counted(counts.astype(np.int64), sums)

    def count_sides(self, planes: np.ndarray, sides: np.ndarray) -> Counted:
        """Count the classes that are present on the left of some planes; the sums are the counts if all count alike."""
        counts, sums = self.hold.total(
            (work.count_sides_together, group.portions, self.present, planes, sides) for group in self.groups
        )
        return Counted(counts, sums if sums.size else counts.astype(np.float64))

    def place(self, test: LinearTest) -> Placed:
        """Look how a test in the user's units divides the node."""
        return self.hold.total(
            (work.place_together, group.portions, group.partitions, self.present, self.fill, test)
            for group in self.groups
        )

    def sample(self, positions: np.ndarray) -> work.Picked:
        """Return some examples by their positions among all of the node, which are in order of class and row."""
        chosen = places_of(positions, self.counts)
        answers = self.hold.ask(
            (work.pick, group.portions, group.partitions, [chosen[i] for i in group.numbers]) for group in self.groups
        )
        parts = {
            i: one
            for group, own in zip(self.groups, answers, strict=True)
            for i, one in zip(group.numbers, own, strict=True)
        }
        return work.join([parts[i] for i in sorted(parts)])

    def divide(self, test: LinearTest) -> tuple[ClusterNode, ClusterNode]:
        """Give both children portions of their own, and let go of this node's."""
        sides = [
            [
                group._replace(
                    portions=self.hold.submit(work.go, group.portions, group.partitions, self.fill, test, side)
                )
                for group in self.groups
            ]
            for side in range(2)
        ]
        tallies = self.hold.ask([(work.tally, group.portions) for groups in sides for group in groups])
        n = len(self.groups)
        left, right = (
            ClusterNode(self.hold, groups, tallies[side * n : (side + 1) * n], self.fill)
            for side, groups in enumerate(sides)
        )
        self.release()
        self.children = (left, right)
        return self.children

    def release(self) -> None:
        """Let go of the examples."""
        self.hold.release([group.portions for group in self.groups])
        self.groups, self.large = [], None


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


class ClusterGrower(CarefulGrower):
    """Grow one tree; the root's examples are on the workers.

    Parameters
    ----------
    root : ClusterNode
    ground : Ground
    n_classes, options, seed, reporter, coded
        Those of `TreeGrower`.
    few : int
        Bytes; see `FEW`.
    """

    def __init__(
        self, root: ClusterNode, ground: Ground, n_classes: int, options: GrowthOptions, seed: int,
        reporter: Reporter | None = None, coded: Sequence[bool] = (), few: int = FEW,
    ):  # fmt: skip
        self._prepare(ground, n_classes, options, seed, reporter)
        if not options.is_careful:
            self.plan = options.plan(len(self.scale), ground.total)
        self.root, self.ground, self.coded, self.borrows = root, ground, coded, False
        self.room = len(sample_positions(root.size))
        self.few = max(options.large, few // (8 * len(self.scale)))
        self.n_searched = 0
        self._one_division = threading.Lock()  # for a moment, workers hold a node and its children

    def grow(self, above: NodeTable | None = None, row: int = 0) -> NodeTable:
        """Grow the tree; return the batch that begins with its root."""
        with one_blas_thread(), announce_compiling(), np.errstate(all="ignore"):
            self._compile()
            above = NodeTable(_kernels.Nodes.make(1, 0, self.n_classes))
            above.nodes.counts[0], above.nodes.seeds[0] = self.root.sums, self.seed
            advance(started=self.root.size)
            root = Place(above, 0, self.root, 0, self.root.size)  # type: ignore[arg-type]
            small = self._follow_all([root], self.few, LARGE_TOGETHER)
            self._follow_all(small, 0, SMALL_TOGETHER)
        return above.subtrees[0]

    def _follow_all(self, waiting: list[Place], least: int, together: int) -> list[Place]:
        """Follow all nodes that have so many examples, and those below them; return the nodes that have fewer."""
        fewer: list[Place] = []
        # The moves of a node are not to be mixed with those of others.
        n_nodes = 1 if self.reporter.n_moves else min(together * self.root.hold.n_threads, MOST_TOGETHER)
        with ThreadPoolExecutor(n_nodes) as pool:
            running: set = set()
            try:
                while waiting or running:
                    fewer += [place for place in waiting if place.size < least]
                    running |= {pool.submit(self._follow, place) for place in waiting if place.size >= least}
                    done, running = wait(running, return_when=FIRST_COMPLETED)
                    waiting = [place for future in done for place in future.result()]
            except BaseException:
                self.root.hold.stop()
                raise
        return fewer

    def _follow(self, place: Place, pool: ThreadPoolExecutor | None = None) -> list[Place]:
        node: ClusterNode = place.examples  # type: ignore[assignment]
        with np.errstate(all="ignore"):
            if place.size < self.few:
                place.above.subtrees[place.row] = self._finished(place, node)
                return []
            with self._lock:
                self.n_searched += 1
            batch = place.above.subtrees[place.row] = self._split(place)
        below = list(pending(batch, place.examples))
        if not below:
            node.release()
            return []
        assert node.children is not None
        return [place._replace(examples=child) for place, child in zip(below, node.children, strict=True)]  # type: ignore[arg-type]

    def _finished(self, place: Place, node: ClusterNode) -> NodeTable:
        """Let one worker grow the subtree of a node."""
        if len(node.present) < 2:
            node.release()
            return self._leaf(place)
        hold, groups = node.hold, node.groups
        # First of all that a worker has to do: the worker that grows the subtree waits for it.
        picked = [
            hold.submit(work.pick, group.portions, group.partitions, [None] * len(group.numbers), priority=1)
            for group in groups
        ]
        # Not more of what is above than the worker needs.
        above = NodeTable(place.above.nodes)
        batch, considered = hold.ask(
            [
                (
                    work.finish, [group.numbers for group in groups], picked, above, place.row,
                    replace(self.options, n_jobs=1), self.ground, node.fill, self.n_classes, self.coded,
                )
            ]
        )[0]  # fmt: skip
        hold.release(picked)
        node.release()
        self._count(considered)
        grown = [batch]
        while grown:
            one = grown.pop()
            self._tell(one)
            grown.extend(one.subtrees.values())
        return batch

    # ------------------------------------------------------------------------------------------------ large nodes

    def _large(self, place: Place, pool: ThreadPoolExecutor | None = None) -> LargeNode:
        node: ClusterNode = place.examples  # type: ignore[assignment]
        if node.large is None:
            picked = node.sample(sample_positions(place.size))
            with_holes = self.options.missing == "direction" and bool(node.holes.any())
            sample = work.examples_of(picked, self.space, node.fill, with_holes, self.coded)
            node.large = self._large_node(place, node, node.counts.sum(axis=0)[node.present], sample)
        return node.large

    def _has_holes(self, place: Place, m: int) -> bool:
        node: ClusterNode = place.examples  # type: ignore[assignment]
        return self.options.missing == "direction" and len(node.holes) > m and bool(node.holes[m])

    def _split(self, place: Place, pool: ThreadPoolExecutor | None = None) -> NodeTable:
        if self.options.is_careful:
            return super()._split(place, pool)
        return self._split_large(place, self.plan, None, pool)

    def _call(
        self,
        place: Place,
        max_splits: int,
        axis: Axis | None = None,
        given: LinearTest | None = None,
        centred: bool = True,
        plan: _kernels.Plan | None = None,
    ) -> NodeTable:
        """Divide a node by a given test, as `_kernels.grow` does."""
        node: ClusterNode = place.examples  # type: ignore[assignment]
        assert given is not None  # large nodes are divided by nothing else
        test, placed = given, node.place(given)
        if work.is_missing_test(test, placed):
            test = replace(test, threshold=float(_kernels.ABOVE_ALL), missing=_kernels.MISSING_RIGHT)
            placed = node.place(test)
            threshold, gap = test.threshold, 0.0
        else:
            threshold, gap = test.threshold, placed.above - placed.below
            if centred:
                threshold = placed.below + 0.5 * (placed.above - placed.below)
                threshold = threshold if placed.below <= threshold < placed.above else placed.below
        gain = self._gain(place, placed) if len(test.features) else None
        if gain is None:
            return self._leaf(place)
        with self._one_division:
            children = node.divide(replace(test, threshold=threshold))
        batch = self._batch_of(place, test, threshold, gain, gap, children)
        self._tell(batch)
        return batch

    def _gain(self, place: Place, placed: Placed) -> float | None:
        """Return what a division gains, None if it is not to be made."""
        large = self._large(place)
        judge: Judge = large.judge
        score = judge.sides(placed.counts[None], placed.sums[None])[0]
        if score == _kernels.NOTHING:
            return None
        code = self.options.measure.code
        least = 1e-18 if code <= _kernels.VARIANCES else 1e-14
        if code == _kernels.CUSTOM:
            _, _, rate, bound = self._pointers
            gini = Judge(judge.sizes, judge.totals, judge.present, MEASURES["gini"], rate, bound, 1)
            score, least = max(0.0, gini.sides(placed.counts[None], placed.sums[None])[0]), -1.0
        if not score > least or score * judge.totals.sum() / self.plan.total < self.plan.min_decrease:
            return None
        return float(score)

    def _batch_of(
        self, place: Place, test: LinearTest, threshold: float, gain: float, gap: float, children
    ) -> NodeTable:
        above, n_terms = place.above.nodes, len(test.features)
        nodes = _kernels.Nodes.make(3, n_terms, self.n_classes)
        depth, middle = above.table[place.row, _kernels.DEPTH], place.start + children[0].size
        nodes.table[0] = place.start, place.stop, depth, 1, 2, 0, n_terms, _kernels.INNER, test.missing
        nodes.reals[0] = threshold, gain, gap
        nodes.counts[0], nodes.seeds[0] = above.counts[place.row], above.seeds[place.row]
        nodes.features[:], nodes.coefficients[:] = test.features, test.coefficients
        for side, (child, span) in enumerate(zip(children, ((place.start, middle), (middle, place.stop)), strict=True)):
            nodes.table[1 + side] = *span, depth + 1, 0, 0, 0, 0, _kernels.PENDING, BY_FILL
            nodes.counts[1 + side] = child.sums
            nodes.seeds[1 + side] = _kernels.mix(nodes.seeds[0], np.uint64(side + 1))
        return NodeTable(nodes)


def best_first(tree: Tree, max_leaf_nodes: int) -> Tree:
    """Keep the splits that gain most, until there are enough leaves.

    Splits do not depend on each other, so this is the tree that would have been grown best first.
    """
    order = itertools.count()
    gains = tree.gains * tree.counts.sum(axis=1)
    heap = [(-gains[0], next(order), 0)] if tree.n_nodes > 1 else []
    leaf, leaves = np.ones(tree.n_nodes, dtype=bool), 1
    while heap and leaves < max_leaf_nodes:
        node = heapq.heappop(heap)[2]
        leaf[node] = False
        leaves += 1
        for child in tree.children[node]:
            if tree.children[child, 0] >= 0:
                heapq.heappush(heap, (-gains[child], next(order), child))
    return tree.cut(leaf)
