"""Growing a tree: which part is grown when, and by which thread. The splits themselves are found in `_kernels`."""

from __future__ import annotations

import heapq
import itertools
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ..data.sampling import weight_of_one
from ..data.search_space import SearchSpace, sample_positions
from ..impurity import Measure, raise_failure
from ..kernels import _kernels
from ..kernels._compiling import announce_compiling
from ..kernels._pointers import typed
from ..kernels.elimination import shortening
from .engines import LocalEngine, Stretch, count_sides
from .large_nodes import Climbing, Judge, Sketch, answer, best_attribute, climb, promising, room_for_lines
from .linear_tests import LinearTest
from .nodes import NodeTable
from .progress import Reporter, advance, noted_moves
from .splitters import derived_seed
from .starts import AXIS, RANDOM

#: A subtree of fewer examples is grown by one call into the kernels; larger nodes are split one by one, so that the
#: work can be interrupted and shared.
SUBTREE = 4000
#: From so many examples on, the runs of a node's search are spread over the threads. (That changes the order of their
#: stages, so the number is the same whether or not there are threads.)
SHARED_SEARCH = 8000
#: From so many examples on, a node is searched in rounds (see `large_nodes`), wherever its examples are: on a cluster
#: this is also the size below which they move to one place. Runs climb on an even sample first.
LARGE = 100_000
#: A float32 array in column order of so many bytes is not copied. Its nodes get columns of their own, one subtree after
#: the other, when they hold no more than one in so many of its examples.
BORROWED = 32 * 2**20
GATHERED = 8
#: Room for terms in one call, in addition to that of one test.
TERMS = 20_000
#: What a search returns of the best axis-parallel split: score, attribute, threshold in search space, and the side of
#: the missing values.
Axis = tuple[float, int, float, int]
NO_AXIS: Axis = (_kernels.NOTHING, -1, 0.0, _kernels.BY_FILL)
#: Where no missing value gets a learned direction.
NO_HOLES = np.zeros((0, 0), dtype=np.uint8)


@dataclass(frozen=True)
class GrowthOptions:
    """What decides a tree besides the data (the parameters of `OC1Classifier`, resolved)."""

    measure: Measure
    splits: str = "best"
    n_restarts: int = 20
    n_jumps: int = 5
    order: int = _kernels.SEQUENTIAL
    n_perturbations: int = 50
    stagnation: float = 1.0
    axis_bias: float = 1.0
    min_samples_oblique: int | None = 0
    max_terms: int | None = None
    max_depth: int | None = None
    min_samples_split: int = 2
    min_samples_leaf: int = 1
    max_leaf_nodes: int | None = None
    min_impurity_decrease: float = 0.0
    normalize: str = "standard"
    starts: tuple[str, ...] = (AXIS, RANDOM)
    groupings: tuple[str, ...] = ("one_vs_rest",)
    missing: str = "mean"  # or "direction": learned where a test has one attribute
    complexity_penalty: float = 0.0  # 0: the purest split wins, until leaves are pure
    rounding: bool = False
    sparsity: float | None = None
    n_jobs: int = 1
    large: int = LARGE

    @property
    def shortens(self) -> bool:
        """Whether tests are made shorter (see `oc1.growing.simplifying`)."""
        return self.rounding or self.sparsity is not None

    @property
    def is_careful(self) -> bool:
        """Whether this needs the grower that goes node by node (see `oc1.growing.penalised`)."""
        plain = {AXIS, RANDOM}.issuperset(self.starts) and not self.shortens
        return self.splits != "axis" and (self.complexity_penalty > 0.0 or not plain)

    def plan(self, n_features: int, total: float) -> _kernels.Plan:
        """Return the options as the kernels take them."""
        return _kernels.Plan(
            measure=self.measure.code,
            min_leaf=self.min_samples_leaf,
            axis=self.splits != "oblique",
            min_oblique=0
            if self.splits != "best"
            else 2 * n_features
            if self.min_samples_oblique is None
            else self.min_samples_oblique,
            # With a single attribute there is nothing to combine.
            n_runs=0
            if self.splits == "axis" or (self.splits == "best" and n_features == 1)
            else max(1, self.n_restarts),
            order=self.order,
            # The paper's sequential rounds leave the constant out. On centred attributes it is often near zero, and no
            # other coefficient can then move the plane away from the centre. On positive ones the rounds from random
            # planes do better without it, until nothing else changes (LS10 20:20: 98.7% and 6.7 leaves, against 97.7%
            # and 11.0).
            n_swept=n_features + (self.normalize == "standard"),
            n_perturbations=self.n_perturbations,
            n_jumps=self.n_jumps,
            stagnation=self.stagnation,
            axis_bias=self.axis_bias,
            max_depth=np.iinfo(np.int64).max if self.max_depth is None else self.max_depth,
            min_split=self.min_samples_split,
            min_decrease=float(self.min_impurity_decrease),
            total=total,
            max_terms=n_features if self.max_terms is None else self.max_terms,
            shared=SHARED_SEARCH,
            axis_starts=int(AXIS in self.starts),
            n_given=0,
        )


class Place(NamedTuple):
    """A node that is still to be grown: a row of the batch above it, and a range of examples."""

    above: NodeTable
    row: int
    examples: _kernels.Examples  # held by the work list only: gathered columns go when their subtree is done
    start: int
    stop: int

    @property
    def size(self) -> int:
        """Return the number of examples."""
        return self.stop - self.start


def pending(table: NodeTable, examples: _kernels.Examples) -> Iterator[Place]:
    """List the nodes of a table that are still to be grown, which are ranges of these examples."""
    for row in np.flatnonzero(table.nodes.table[:, _kernels.STATUS] == _kernels.PENDING):
        start, stop = table.nodes.table[row, [_kernels.START, _kernels.STOP]].tolist()
        yield Place(table, int(row), examples, start, stop)


class Ground(NamedTuple):
    """What a tree needs to know of all examples that it is grown on, also where only some are at hand."""

    space: SearchSpace
    total: float  # their weight
    unit: float  # the weight of one
    n_examples: float  # their number, if each had the weight of one

    @classmethod
    def of(cls, X, rows, fill, weights, normalize: str, n_jobs: int = 1) -> Ground:
        """Look at the given rows of X, which have these weights (None if all count alike)."""
        space = SearchSpace.make(X, rows, fill, weights, normalize, n_jobs)
        if weights is None:
            return cls(space, float(len(rows)), 1.0, float(len(rows)))
        unit = weight_of_one(weights)
        return cls(space, float(weights.sum()), unit, float(weights.sum() / unit))


class LargeNode(NamedTuple):
    """A node that is searched in rounds."""

    engine: Any  # that of `oc1.growing.large_nodes`, with a method `place` (see `oc1.growing.engines.LocalEngine`)
    judge: Judge
    sample: Place  # the same node, but with an even sample of its examples
    sketch: Sketch


class TreeGrower:
    """Grow one tree on the given rows of X.

    Parameters
    ----------
    X : float array (n_samples, n_features), may hold NaN
    y : int array (n_samples,)
        Class indices.
    weights : float array (n_samples,) or None
        None if all examples count alike.
    rows : int array
        Which examples to grow on.
    fill : float array (n_features,)
        What missing values count as.
    n_classes : int
    options : GrowthOptions
    seed : int
        All randomness comes from it and the node's path, so neither threads nor their number matter.
    reporter : Reporter, optional
        Is told of each inner node, and of each move if it wants to know.
    coded : bool sequence (n_features,), optional
        Which attributes hold codes of categories: their missing values always count as their fill.
    ground : Ground, optional
        If the tree, or what it is a part of, is grown on more examples than these.
    """

    def __init__(
        self, X, y, weights, rows, fill, n_classes, options: GrowthOptions, seed: int,
        reporter: Reporter | None = None, coded: Sequence[bool] = (), ground: Ground | None = None,
    ):  # fmt: skip
        rows = rows[np.argsort(y[rows], kind="stable")]  # grouped by class: see _kernels
        own_weights = None if weights is None else weights[rows]
        ground = ground or Ground.of(X, rows, fill, own_weights, options.normalize, options.n_jobs)
        self._prepare(ground, n_classes, options, seed, reporter)
        self.X = X
        self.borrows = (
            X.dtype == np.float32 and X.flags.f_contiguous and X.nbytes >= BORROWED and options.max_terms is None
        )
        values, row_step, column_step = _kernels.flat_view(X)
        self.examples = _kernels.Examples(
            values=values,
            row_step=row_step,
            column_step=column_step,
            fill=fill,
            shift=self.space.shift,
            scale=self.scale,
            columns=_kernels.borrowed(X.T) if self.borrows else self.space.columns(X, rows, fill, options.n_jobs),
            labels=y[rows].astype(np.int32),
            weights=np.empty(0) if own_weights is None else own_weights.astype(np.float64),
            rows=rows.astype(np.int64),
            holes=holes_of(X, coded) if options.missing == "direction" else NO_HOLES,
        )
        self.room = len(rows)

    def _prepare(
        self, ground: Ground, n_classes: int, options: GrowthOptions, seed: int, reporter: Reporter | None
    ) -> None:
        """Set what does not depend on where the examples are."""
        self.space, self.scale = ground.space, ground.space.scale
        self.n_classes, self.options = n_classes, options
        self.reporter = Reporter(0) if reporter is None else reporter
        self.plan = options.plan(len(self.scale), ground.total)
        with np.errstate(over="ignore"):  # for NUMBA_DISABLE_JIT
            self.seed = np.uint64(_kernels.mix(np.uint64(seed), np.uint64(0)))
        self.n_hyperplanes = 0
        self._lock = threading.Lock()
        self._local = threading.local()
        self._dividing = threading.current_thread()  # the others get nodes that are not large

    # ------------------------------------------------------------------------------------------------ the work list

    def grow(self, above: NodeTable | None = None, row: int = 0) -> NodeTable:
        """Grow the tree, or the subtree of a pending node above it; return the batch that begins with its root."""
        with announce_compiling(), np.errstate(all="ignore"):  # errstate: for NUMBA_DISABLE_JIT
            self._compile()
            above = above or self._above_root()
            root = Place(above, row, self.examples, 0, len(self.examples.labels))
            advance(started=root.size)
            if self.options.max_leaf_nodes is not None:
                self._grow_best_first(root)
            elif self.options.n_jobs > 1 and not self.reporter.n_moves:
                with ThreadPoolExecutor(self.options.n_jobs) as pool:
                    self._grow_all(root, pool)
            else:
                self._grow_all(root)
        return above.subtrees[row]

    def _compile(self) -> None:
        """Get the two searches and the measure's two functions, which the kernels call through pointers."""
        self._pointers = tuple(map(typed, (*_kernels.compiled_searches(), *self.options.measure.pointers())))
        self._shorten = typed(shortening(self.plan.max_terms < len(self.scale)))

    def _above_root(self) -> NodeTable:
        """Return a batch of one pending node, which stands above the root."""
        labels, weights = self.examples.labels, self.examples.weights
        above = NodeTable(_kernels.Nodes.make(1, 0, self.n_classes))
        above.nodes.counts[0] = np.bincount(
            labels, weights=weights if weights.size else None, minlength=self.n_classes
        )  # fmt: skip
        above.nodes.seeds[0] = self.seed
        return above

    def _grow_all(self, root: Place, pool: ThreadPoolExecutor | None = None) -> None:
        """Grow the whole tree; where the user's array is borrowed, its top, then one gathered subtree after the other.

        (Best-first growing does not gather: there all leaves would have columns of their own at the same time.)
        """
        stack = [root]
        while stack:
            place = stack.pop()
            if self.borrows and place.size > root.size // GATHERED:
                stack.extend(self._follow(place, pool))
                continue
            if self.borrows:
                place = self._gathered(place)
            if pool:
                self._grow_on_threads(place, pool)
            else:
                self._grow_subtree(place)

    def _gathered(self, place: Place) -> Place:
        """Return the same node with columns of its own."""
        own = slice(place.start, place.stop)
        examples = place.examples
        rows = examples.rows[own]
        return place._replace(
            examples=examples._replace(
                columns=self.space.columns(self.X, rows, examples.fill, self.options.n_jobs),
                labels=examples.labels[own],
                weights=examples.weights[own],
                rows=rows,
            ),
            start=0,
            stop=place.size,
        )

    def _grow_subtree(self, place: Place) -> None:
        stack = [place]
        while stack:
            stack.extend(self._follow(stack.pop()))

    def _grow_best_first(self, root: Place) -> None:
        """Keep the split that gains most, until there are enough leaves."""
        order = itertools.count()
        heap: list[tuple[float, int, Place, NodeTable]] = []

        def consider(place: Place) -> None:
            batch = self._split(place)
            if not batch.is_leaf:
                gain = batch.nodes.reals[0, 1] * batch.nodes.counts[0].sum()
                heapq.heappush(heap, (-gain, next(order), place, batch))
            else:
                place.above.subtrees[place.row] = batch

        consider(root)
        leaves = 1
        while heap and leaves < (self.options.max_leaf_nodes or 0):
            _, _, place, batch = heapq.heappop(heap)
            place.above.subtrees[place.row] = batch
            leaves += 1
            for below in pending(batch, place.examples):
                consider(below)
        for _, _, place, batch in heap:
            batch.nodes.table[0, _kernels.STATUS] = _kernels.LEAF
            place.above.subtrees[place.row] = batch

    def _grow_on_threads(self, root: Place, pool: ThreadPoolExecutor) -> None:
        """Share the runs of large nodes among the threads, then let each thread take whole nodes and subtrees.

        Ranges of examples do not overlap, and the kernels release the interpreter lock.
        """

        def task(place: Place) -> list[Place]:
            with np.errstate(all="ignore"):
                return self._follow(place)

        large, small = [root], []
        while large:
            place = large.pop()
            is_shared = place.size >= SHARED_SEARCH and self.plan.n_runs > 1
            if place.size < self.options.large and not is_shared:
                small.append(place)
            else:
                large.extend(self._follow(place, pool))
        running = {pool.submit(task, place) for place in sorted(small, key=lambda place: place.size, reverse=True)}
        while running:
            done, running = wait(running, return_when=FIRST_COMPLETED)
            for future in done:
                running |= {pool.submit(task, place) for place in future.result()}

    # ------------------------------------------------------------------------------------------------ one call

    def _follow(self, place: Place, pool: ThreadPoolExecutor | None = None) -> list[Place]:
        """Grow a pending node, as far as one call goes, and hook the new batch in; return what is pending in it."""
        # One by one also where moves are told: those of a node must not be mixed with those of others.
        alone = place.size >= min(SUBTREE, self.options.large) or self.reporter.n_moves > 0
        batch = self._split(place, pool) if alone else self._call(place, 2**62)
        place.above.subtrees[place.row] = batch
        return list(pending(batch, place.examples))

    def _split(self, place: Place, pool: ThreadPoolExecutor | None = None) -> NodeTable:
        """Split one node and no further."""
        if place.size >= self.options.large:
            return self._split_large(place, self.plan, None, pool)
        if pool is None or self.plan.n_runs < 2 or place.size < SHARED_SEARCH:
            return self._call(place, 1)
        return self._call(place, 1, self._shared_search(place, pool))

    def _call(
        self,
        place: Place,
        max_splits: int,
        axis: Axis | None = None,
        given: LinearTest | None = None,
        centred: bool = True,
        plan: _kernels.Plan | None = None,
    ) -> NodeTable:
        """Grow from a node; `given` is its test, whose threshold is then `centred` between its neighbours or not."""
        batch = self._grown(place, max_splits, axis, given, centred, plan)
        self._tell(batch)
        return batch

    def _grown(
        self, place: Place, max_splits: int, axis: Axis | None, given: LinearTest | None, centred: bool,
        plan: _kernels.Plan | None,
    ) -> NodeTable:  # fmt: skip
        above, row = place.above, place.row
        n_features = len(self.scale)
        room = 3 if max_splits == 1 else 2 * place.size + 1
        nodes = _kernels.Nodes.make(room, n_features if max_splits == 1 else TERMS + n_features, self.n_classes)
        depth = above.nodes.table[row, _kernels.DEPTH]
        nodes.table[0, : _kernels.LEFT] = place.start, place.stop, depth
        nodes.counts[0] = above.nodes.counts[row]
        nodes.seeds[0] = above.nodes.seeds[row]
        if given is not None:
            size = len(given.features)
            nodes.features[:size], nodes.coefficients[:size] = given.features, given.coefficients
            nodes.reals[0, 0], nodes.table[0, _kernels.MISSING] = given.threshold, given.missing
        scratch = self._scratch()
        n_nodes, n_terms, considered = _kernels.grow(
            tuple(place.examples),
            tuple(plan or self.plan),
            self._shorten,
            *self._pointers,
            tuple(scratch),
            tuple(nodes),
            max_splits,
            axis is not None,
            axis or NO_AXIS,
            0 if given is None else len(given.features),
            centred,
        )
        self._check_measure(scratch)
        with self._lock:
            self.n_hyperplanes += considered
        batch = NodeTable(nodes.trimmed(n_nodes, n_terms))
        self._tell_moves(place, scratch)
        return batch

    def _shared_search(self, place: Place, pool: ThreadPoolExecutor) -> Axis:
        """Search a node with all threads; leave the runs in this thread's buffers, return the axis-parallel split."""
        return self._search(place, self.plan, -1 if self.plan.axis else 0, pool=pool)

    def _search(
        self,
        place: Place,
        plan: _kernels.Plan,
        first_run: int,
        given: np.ndarray | None = None,
        pool: ThreadPoolExecutor | None = None,
    ) -> Axis:
        """Make all runs of a node from a first one on, with a pool of threads if there is one.

        The runs are left in this thread's buffers; those after the axis-parallel start begin at the `given` planes.
        """
        if place.size >= self.options.large:
            return self._search_large(place, plan, first_run, given, pool)
        return self._search_here(place, plan, first_run, given, pool)

    def _search_here(
        self, place: Place, plan: _kernels.Plan, first_run: int, given: np.ndarray | None,
        pool: ThreadPoolExecutor | None,
    ) -> Axis:  # fmt: skip
        """Search a node whose examples the kernels have at hand; see `_search`."""
        nodes, row, own = place.above.nodes, place.row, self._scratch()
        node = (place.start, place.stop, int(nodes.table[row, _kernels.DEPTH]), nodes.counts[row])
        examples = place.examples
        data = (examples.columns, examples.labels, examples.weights, examples.rows, examples.holes)
        space = (examples.fill, examples.shift, examples.scale)

        def run(stage: int, first: int, last: int) -> Axis:
            scratch, made = self._scratch(), slice(max(first, 0), last)
            if stage == _kernels.JUMP:
                if scratch is not own:
                    scratch.runs[:] = climbed
            else:
                scratch.runs[made, _kernels.JUMPED] = 0.0
                if given is not None:
                    # Not the run before them, which begins at the best attribute.
                    own_given = slice(max(first - plan.axis_starts, 0), max(last - plan.axis_starts, 0))
                    begin = own_given.start + plan.axis_starts
                    planes = given[own_given]
                    scratch.runs[begin : begin + len(planes), _kernels.PLANE :] = planes
            with np.errstate(all="ignore"):
                axis = _kernels.search_node(
                    *data, *space, *node, *self._pointers, tuple(plan), nodes.seeds[row], stage, first, last,
                    tuple(scratch),
                )  # fmt: skip
            self._check_measure(scratch)
            self._tell_moves(place, scratch)
            own.runs[made] = scratch.runs[made]
            return axis

        n_runs, two_stages = plan.n_runs, place.size >= SHARED_SEARCH and plan.n_jumps > 0 and plan.n_runs > 0
        stage = _kernels.CLIMB if two_stages else _kernels.BOTH
        if pool is None or place.size < SHARED_SEARCH:
            axis = run(stage, first_run, n_runs)
        else:
            # The first run may need the best attribute; all others start anywhere.
            firsts, lasts = [first_run, *range(1, n_runs)], range(1, n_runs + 1)
            axis, *_ = pool.map(run, itertools.repeat(stage), firsts, lasts)
        climbed = own.runs.copy()
        if two_stages and not climbed[:n_runs, _kernels.PURE].any():
            if pool is None:
                run(_kernels.JUMP, 0, n_runs)
            else:
                list(pool.map(run, itertools.repeat(_kernels.JUMP), range(n_runs), range(1, n_runs + 1)))
        return axis

    # ------------------------------------------------------------------------------------------------ large nodes

    def _large(self, place: Place, pool: ThreadPoolExecutor | None = None) -> LargeNode:
        """Return what is needed to search a node in rounds."""
        counts = place.above.nodes.counts[place.row]
        engine = LocalEngine(
            self.X, place.examples, place.start, place.stop, np.flatnonzero(counts > 0.0), self.space, pool,
            self.options.n_jobs,
        )  # fmt: skip
        chosen = place.start + sample_positions(place.size)
        examples = place.examples
        sample = examples._replace(
            columns=np.ascontiguousarray(self._columns(place, chosen)),
            labels=examples.labels[chosen],
            weights=examples.weights[chosen] if examples.weights.size else examples.weights,
            rows=examples.rows[chosen],
        )
        return self._large_node(place, engine, np.diff(engine.bounds), sample)

    def _large_node(self, place: Place, engine: Any, sizes: np.ndarray, sample: _kernels.Examples) -> LargeNode:
        """Put together a large node; `sizes` are the numbers of examples of the classes present."""
        counts = place.above.nodes.counts[place.row]
        judge = self._judge_of(counts, sizes, self.plan.min_leaf)
        # The sample is a node like the other, but for the weights of its classes.
        above = NodeTable(place.above.nodes._replace(counts=place.above.nodes.counts.copy()))
        above.nodes.counts[place.row] = np.bincount(
            sample.labels, weights=sample.weights if sample.weights.size else None, minlength=self.n_classes
        )
        return LargeNode(
            engine, judge, Place(above, place.row, sample, 0, len(sample.labels)), Sketch(sample.columns)
        )  # fmt: skip

    def _judge_of(self, counts: np.ndarray, sizes: np.ndarray, min_leaf: int) -> Judge:
        present = np.flatnonzero(counts > 0.0)
        _, _, rate, bound = self._pointers
        return Judge(
            sizes, counts[present], present, self.options.measure, rate, bound, min_leaf, self.n_classes
        )  # fmt: skip

    def _columns(self, place: Place, chosen: np.ndarray) -> np.ndarray:
        """Return the columns of some of a node's examples, in search space."""
        if self.borrows and place.examples.columns.shape[0] == len(self.scale):
            return self.space.columns(self.X, place.examples.rows[chosen], place.examples.fill)
        return place.examples.columns[:, chosen]

    def _attributes(self, place: Place) -> list[tuple[int, int]]:
        """List the attributes that can split a node, with the sides to which they may send missing values."""
        both = (_kernels.MISSING_LEFT, _kernels.MISSING_RIGHT)
        attributes = []
        for m in range(len(self.scale)):
            has_holes = bool(self._has_holes(place, m))
            if has_holes or self.scale[m] > 0.0:
                attributes += [(m, side) for side in (both if has_holes else (_kernels.BY_FILL,))]
        return attributes

    def _has_holes(self, place: Place, m: int) -> bool:
        """Whether an attribute is missing in some example of a node, and gets a learned direction there."""
        holes = place.examples.holes
        return bool(holes.size) and bool(holes[m, place.examples.rows[place.start : place.stop]].any())

    def _search_large(
        self, place: Place, plan: _kernels.Plan, first_run: int, given: np.ndarray | None,
        pool: ThreadPoolExecutor | None,
    ) -> Axis:  # fmt: skip
        """Search a large node: runs climb on a sample, then the best of them, together, on all examples.

        What `_search` returns and leaves behind; runs that were given up have the score NOTHING.
        """
        node = self._large(place, pool)
        seed = derived_seed(int(place.above.nodes.seeds[place.row]), 0)
        axis = NO_AXIS
        if first_run < 0 and plan.axis:
            axis = best_attribute(node.engine, node.judge, node.sketch, self._attributes(place), seed)
        if plan.n_runs == 0 or place.size < plan.min_oblique:
            return axis
        if self.reporter.n_moves:
            self.reporter.write(f"  on a sample of {node.sample.size} of {place.size} examples:")
        on_sample = plan._replace(min_leaf=self._least_of(node.sample, place))
        self._search_here(node.sample, on_sample, -1 if plan.axis_starts else 0, given, pool)
        runs = self._scratch().runs[: plan.n_runs]
        pure = np.flatnonzero(runs[:, _kernels.PURE])
        n_made = pure[0] + 1 if len(pure) else len(runs)
        planes = runs[:n_made, _kernels.PLANE :].copy()
        kept = self._promising(node.sample, planes, on_sample.min_leaf)
        room = room_for_lines(node.judge, max(1, len(kept)))
        at_once = min(max(2, node.engine.at_once // max(1, len(kept))), room)
        how = Climbing(plan.order, plan.n_perturbations, plan.n_jumps, at_once, room)
        climbs = [climb(planes[i], node.judge, node.sketch, how, derived_seed(seed, i + 1)) for i in kept]
        climbed = answer(climbs, node.engine, node.judge.half)
        runs[:, _kernels.SCORE], runs[:, _kernels.PURE] = _kernels.NOTHING, 0.0
        runs[n_made:, [_kernels.CLIMBED, _kernels.JUMPED]] = 0.0
        if not kept:
            return axis
        ends = np.array([run.plane for run in climbed])
        counts, weights = node.engine.count_sides(ends, np.zeros(len(kept), dtype=np.int64))
        scores = node.judge.sides(counts, weights)
        if self.reporter.n_moves:
            impurities = [self.options.measure.impurity(left, node.judge.totals - left) for left in weights]
            shown = ", ".join(f"{i + 1} to {impurity:.6g}" for i, impurity in zip(kept, impurities, strict=True))
            self.reporter.write(f"  on all examples, runs {shown}")
        for i, run, score, left in zip(kept, climbed, scores, weights, strict=True):
            runs[i, _kernels.SCORE], runs[i, _kernels.PURE] = score, float(node.judge.is_pure(left))
            runs[i, _kernels.CLIMBED] += run.considered
            runs[i, _kernels.PLANE :] = run.plane
        return axis

    def _least_of(self, sample: Place, place: Place) -> int:
        """Return how many examples of a sample stand for those that each side of a split must have."""
        return max(1, self.plan.min_leaf * sample.size // place.size)

    def _promising(self, sample: Place, planes: np.ndarray, min_leaf: int) -> list[int]:
        """Return the runs that are worth going on with, by how they do on the sample."""
        totals = sample.above.nodes.counts[sample.row]
        examples = sample.examples
        bounds = np.append(np.searchsorted(examples.labels, np.flatnonzero(totals > 0.0)), sample.size)
        stretch = Stretch(examples.columns, bounds.astype(np.int64), examples.weights, NO_HOLES)
        counts, weights = count_sides(stretch, planes, np.zeros(len(planes), dtype=np.int64))
        weights = weights if weights.size else counts.astype(np.float64)
        judge = self._judge_of(totals, np.diff(bounds), min_leaf)
        return promising(planes, judge.sides(counts, weights), weights, judge)

    def _split_large(
        self, place: Place, plan: _kernels.Plan, given: np.ndarray | None, pool: ThreadPoolExecutor | None
    ) -> NodeTable:
        """Split a large node by the purest hyperplane, as `_kernels.grow` does with smaller ones."""
        if self._stays_leaf(place):
            return self._leaf(place)
        axis = self._search(place, plan, -1 if plan.axis else 0, given, pool)
        runs = self._scratch().runs[: plan.n_runs].copy()
        with self._lock:
            self.n_hyperplanes += len(self.scale) * bool(plan.axis)
            self.n_hyperplanes += int(runs[:, [_kernels.CLIMBED, _kernels.JUMPED]].sum())
        node = self._large(place, pool)
        tests = []
        best = runs[runs[:, _kernels.SCORE].argmax()] if len(runs) else None
        if best is not None and best[_kernels.SCORE] > axis[0]:
            tests.append(self._few_terms(node.sample, place, best[_kernels.PLANE :]))
        if axis[1] >= 0:
            plane = np.zeros(len(self.scale) + 1)
            plane[axis[1]], plane[-1] = 1.0, -axis[2]
            tests.append(self._test(plane, axis[3]))
        test = self._purer(node, [test for test in tests if test is not None and len(test.features)])
        return self._leaf(place) if test is None else self._call(place, 1, given=test)

    def _purer(self, node: LargeNode, tests: list[LinearTest]) -> LinearTest | None:
        """Return the first of two tests, the oblique one, if it is purer by as much as the bias asks for."""
        if len(tests) < 2:
            return tests[0] if tests else None
        placed = [node.engine.place(test) for test in tests]
        scores = node.judge.sides(np.array([p.counts for p in placed]), np.array([p.sums for p in placed]))
        bias, totals, impurity = self.options.axis_bias, node.judge.totals, self.options.measure.impurity
        if bias > 1.0 and scores.min() > _kernels.NOTHING:
            oblique, axis = (impurity(p.sums, totals - p.sums) for p in placed)
            return tests[0] if bias * oblique < axis else tests[1]
        return tests[0] if scores[0] > scores[1] else tests[1]

    def _few_terms(self, sample: Place, place: Place, plane: np.ndarray) -> LinearTest | None:
        """Return a plane as a test with no more terms than are allowed, chosen by what they do on a sample."""
        if np.count_nonzero(plane[:-1]) <= self.plan.max_terms:
            return self._test(plane)
        runs = self._scratch().runs
        runs[0, : _kernels.PLANE] = 0.0
        runs[0, _kernels.SCORE], runs[0, _kernels.PLANE :] = np.inf, plane
        plan = self.plan._replace(n_runs=1, min_oblique=0, min_leaf=self._least_of(sample, place))
        # The sample is brought into the order of the sides: not the one that others use.
        arrays = ("columns", "labels", "weights", "rows")
        own = sample.examples._replace(**{name: getattr(sample.examples, name).copy() for name in arrays})
        nodes = self._grown(sample._replace(examples=own), 1, NO_AXIS, None, True, plan).nodes
        if nodes.table[0, _kernels.STATUS] != _kernels.INNER:
            return None
        return LinearTest(nodes.features, nodes.coefficients, float(nodes.reals[0, 0]))

    def _test(self, plane: np.ndarray, missing: int = _kernels.BY_FILL) -> LinearTest:
        """Return a plane of the search space as a test in the user's units."""
        return LinearTest.of_search_plane(plane, self.space, missing)

    def _stays_leaf(self, place: Place) -> bool:
        """Whether a node is not to be split, whatever a search would find (see `_kernels.stays_leaf`)."""
        nodes, plan = place.above.nodes, self.plan
        too_small = place.size < max(plan.min_split, 2 * plan.min_leaf)
        too_deep = nodes.table[place.row, _kernels.DEPTH] >= plan.max_depth
        return bool(np.count_nonzero(nodes.counts[place.row]) < 2 or too_deep or too_small)

    def _leaf(self, place: Place) -> NodeTable:
        """Return a batch that leaves a node a leaf."""
        above = place.above.nodes
        nodes = _kernels.Nodes.make(1, 0, self.n_classes)
        nodes.table[0, : _kernels.LEFT] = place.start, place.stop, above.table[place.row, _kernels.DEPTH]
        nodes.table[0, _kernels.STATUS] = _kernels.LEAF
        nodes.counts[0], nodes.seeds[0] = above.counts[place.row], above.seeds[place.row]
        batch = NodeTable(nodes)
        self._tell(batch)
        return batch

    # ------------------------------------------------------------------------------------------------ buffers, words

    def _scratch(self) -> _kernels.Scratch:
        """Return this thread's buffers."""
        if not hasattr(self._local, "scratch"):
            # Larger nodes are only divided here.
            n_searched = max(min(self.room, self.options.large), len(sample_positions(self.room)))
            self._local.scratch = _kernels.Scratch.make(
                n_searched, self.n_classes, len(self.scale), self.plan.n_runs, self.reporter.n_moves,
                self.room if threading.current_thread() is self._dividing else n_searched,
            )  # fmt: skip
        return self._local.scratch

    def _check_measure(self, scratch: _kernels.Scratch) -> None:
        if scratch.stream[1]:
            measure = self.options.measure
            raise_failure(measure.impurity, measure.name, scratch.counts[3], scratch.counts[4])

    def _tell_moves(self, place: Place, scratch: _kernels.Scratch) -> None:
        if self.reporter.n_moves:
            counts = place.above.nodes.counts[place.row]
            self.reporter.moves(*noted_moves(scratch.moves, self.plan.measure, counts[counts > 0.0]))

    def _tell(self, batch: NodeTable) -> None:
        nodes = batch.nodes
        status = nodes.table[:, _kernels.STATUS]
        leaves = nodes.table[status == _kernels.LEAF]
        advance(settled=int((leaves[:, _kernels.STOP] - leaves[:, _kernels.START]).sum()))
        for row in np.flatnonzero(status == _kernels.INNER) if self.reporter.verbose else ():
            start, stop, depth = nodes.table[row, : _kernels.LEFT]
            first, size = nodes.table[row, _kernels.FIRST_TERM], nodes.table[row, _kernels.N_TERMS]
            terms, (threshold, gain, _) = slice(first, first + size), nodes.reals[row]
            self.reporter.linear_node(
                depth,
                nodes.counts[row],
                stop - start,
                nodes.features[terms],
                nodes.coefficients[terms],
                threshold,
                gain,
            )


def holes_of(X: np.ndarray, coded: Sequence[bool] = ()) -> np.ndarray:
    """Return which values are missing, a row for each attribute; nothing where none are, or only codes."""
    holes = np.zeros(X.shape[::-1], dtype=np.uint8)
    for m in range(X.shape[1]):
        if not (coded and coded[m]):
            np.isnan(X[:, m], out=holes[m].view(bool))
    return holes if holes.any() else NO_HOLES
