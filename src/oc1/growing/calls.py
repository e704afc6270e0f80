"""Every call into the compiled kernels that growing makes, and the buffers that they work in.

What they take and return is put here in the terms of the other modules, which know nothing of the kernels' arguments.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import numpy as np

from ..data.search_space import sample_positions
from ..impurity import Measure, raise_failure
from ..kernels import histograms, layout, split
from ..kernels._jit import Compiled
from ..kernels.choice import Methods, compiled_axis_scan, compiled_informative
from ..kernels.elimination import shortening
from ..kernels.grow import Searches, compiled_purest, grow
from ..kernels.histograms import Lines, NodeSlice
from ..kernels.line_search import compiled_line_search
from ..kernels.linear_fits import MAX_PLANES, classify_node, compiled_linear_classifiers
from ..kernels.newton import compiled_logistic
from ..kernels.node_search import compiled_search, search_node
from ..kernels.records import AxisSplit, Criterion, Examples, Nodes, Settings, Source, Workspace
from .linear_tests import LinearTest
from .nodes import Expansion, NodeTable, PendingNode
from .options import NEVER, TreeSetup
from .progress import Reporter, noted_moves

if TYPE_CHECKING:
    from .engines import LocalExamples

#: Examples near a plane, at most, that are searched beside a sample (see `oc1.growing.focus`).
MAX_NEAR = 40_000
#: Room for terms in one call, in addition to that of one test.
MAX_TERMS_PER_CALL = 20_000

#: What growing a node takes, and dividing it.
Data = tuple[Source, Examples, Criterion, Settings]
Given = TypeVar("Given")
Result = TypeVar("Result")


def map_on(pool: ThreadPoolExecutor | None, task: Callable[[Given], Result], several: Sequence[Given]) -> list[Result]:
    """Return what a task makes of several things, on the threads of a pool if there is one."""
    return list(map(task, several) if pool is None or len(several) < 2 else pool.map(task, several))


# ---------------------------------------------------------------------------------------------------- counting


class Histograms(NamedTuple):
    """Numbers of examples by class and bucket along some lines, or by class on the left of some planes."""

    counts: np.ndarray  # int (q, k, 4 * half + 2), or (q, k)
    sums: np.ndarray  # their weights; empty if all count alike

    def __add__(self, other: Histograms) -> Histograms:  # type: ignore[override]
        # Where there are no examples, it is not known that others have weights.
        sums = self.sums + other.sums if self.sums.size and other.sums.size else max(self.sums, other.sums, key=np.size)
        return Histograms(self.counts + other.counts, sums)


def count_lines(part: NodeSlice, lines: Lines, half: int) -> Histograms:
    """Count examples by class and by bucket, twice `half` of them, along some lines."""
    shape = len(lines.which), len(part.bounds) - 1, 4 * half + 2
    counts, sums = np.zeros(shape, dtype=np.int32), np.zeros(shape if part.weights.size else (0, 0, 0))
    with np.errstate(all="ignore"):  # here and below for NUMBA_DISABLE_JIT
        histograms.count_lines(part, lines, counts, sums)
    return Histograms(counts, sums)


def count_sides(
    count: Callable[[Lines, int], Histograms], planes: np.ndarray, sides: np.ndarray | None = None
) -> Histograms:
    """Count the classes on the left of some planes, with their missing values on some sides; the sums are the weights.

    These are lines that lead nowhere: no example crosses, and all stay where they are. `count` is the `count_lines` of
    an engine's examples.
    """
    n, planes = len(planes), planes.astype(np.float32)
    sides = np.full(n, layout.BY_FILL) if sides is None else sides
    one = np.ones(n, np.float32)
    counts, sums = count(Lines(planes, np.arange(n), 0 * planes, np.full(n, -1), sides, one, one), 0)
    return Histograms(counts[..., 0], sums[..., 0] if sums.size else counts[..., 0].astype(np.float64))


def find_near(part: NodeSlice, planes: np.ndarray, widths: np.ndarray) -> tuple[Histograms, list[np.ndarray]]:
    """Count the classes on the left of planes, and find the places of the examples near them."""
    shape, n = (len(planes), len(part.bounds) - 1), part.bounds[-1] - part.bounds[0]
    counts, sums, near = np.zeros(shape, np.int64), np.zeros(shape), np.empty((len(planes), n + 1), np.int64)
    with np.errstate(all="ignore"):
        n_near = histograms.find_near(part, planes, widths, counts, sums, near)
    sums = sums if part.weights.size else counts.astype(np.float64)
    return Histograms(counts, sums), [own[:size].copy() for own, size in zip(near, n_near.tolist(), strict=True)]


def margins_of(examples: LocalExamples, plane: np.ndarray) -> np.ndarray:
    """Return the margins of examples that have columns of their own, as `find_near` computes them."""
    margins = np.empty(examples.size, np.float32)
    columns = np.ascontiguousarray(examples.arrays.columns[:, examples.start : examples.stop])
    with np.errstate(all="ignore"):
        histograms.compute_margins_of(columns, np.ascontiguousarray(plane, dtype=np.float32), margins)
    return margins


def project_rows(X: np.ndarray, rows: np.ndarray, fill: np.ndarray, test: LinearTest) -> np.ndarray:
    """Return the linear combination of a test for some rows, exactly as growing and prediction add it up."""
    out = np.empty(len(rows))
    places = np.ascontiguousarray(rows, dtype=np.int64)
    terms = test.features.astype(np.int32), np.ascontiguousarray(test.coefficients, dtype=np.float64)
    with np.errstate(all="ignore"):
        split.project_rows(Source.of(X, fill), places, *terms, np.array([test.missing]), out)
    return out


# ---------------------------------------------------------------------------------------------------- searching


def check_measure(measure: Measure, work: Workspace) -> None:
    """Raise an error if a user's measure gave no number."""
    if work.failed_pair is not None:
        raise_failure(measure.impurity, measure.name, *work.failed_pair)


class Searched(NamedTuple):
    """What a search of a node found."""

    axis: AxisSplit
    runs: np.ndarray  # float64 (n_runs, PLANE + d + 1): see `kernels.layout`

    @property
    def made(self) -> np.ndarray:
        """The runs that were made: none after one that is pure."""
        pure = np.flatnonzero(self.runs[:, layout.PURE])
        return self.runs[: pure[0] + 1] if len(pure) else self.runs

    @property
    def best(self) -> np.ndarray:
        """The purest of the runs."""
        best: np.ndarray = self.made[self.made[:, layout.SCORE].argmax()]
        return best

    @property
    def considered(self) -> int:
        """Hyperplanes that the runs have considered."""
        return int(self.made[:, [layout.CLIMBED, layout.JUMPED]].sum())


class NodeKernels:
    """Searches and grows nodes whose examples are in this process, with buffers for each thread.

    Parameters
    ----------
    setup : TreeSetup
    max_rows : int
        Examples that a node has here, at most.
    reporter : Reporter
        Is told of the moves of a search, if it wants to know.
    pool : ThreadPoolExecutor or None
        Threads that share the runs of a node, if it has many examples.
    """

    def __init__(self, setup: TreeSetup, max_rows: int, reporter: Reporter, pool: ThreadPoolExecutor | None):
        self.setup, self.options, self.n_classes = setup, setup.options, setup.n_classes
        self.max_rows, self.reporter, self.pool = max_rows, reporter, pool
        self.space, self.settings = setup.statistics.space, setup.settings
        self.n_features = len(setup.fill)
        self.n_varying = max(1, int(np.count_nonzero(self.space.scale)))  # attributes that are not constant
        #: Whether there is more than one attribute to combine, or no other kind of split.
        self.is_oblique = self.settings.n_runs > 0 and (self.n_varying > 1 or not self.settings.axis)
        self.n_hyperplanes = 0
        self._lock, self._local = threading.Lock(), threading.local()

    def compile(self) -> None:
        """Get the functions that kernels call through pointers: the finder of splits, and the two of the measure."""
        line = compiled_line_search()
        if self.options.is_informative:
            fits = compiled_linear_classifiers(), compiled_logistic()
            unit = self.setup.statistics.unit
            methods = Methods(unit, self.is_oblique, line, compiled_axis_scan(), *fits)
            self._finder: tuple[Compiled, Methods | Searches] = compiled_informative(), methods
        else:
            shorten = shortening(self.settings.max_terms < self.n_features)
            self._finder = compiled_purest(), Searches(compiled_search(), line, shorten)
        self._functions = self.options.measure.pointers()

    def count(self, considered: int) -> None:
        """Add to the number of hyperplanes that were considered."""
        with self._lock:
            self.n_hyperplanes += considered

    def stays_leaf(self, node: PendingNode) -> bool:
        """Whether a node is not to be split, whatever a search would find (see `kernels.node_search.stays_leaf`)."""
        if node.class_weights.sum() - node.class_weights.max() <= self.settings.max_errors:
            return True
        too_small = node.size < max(self.settings.min_split, 2 * self.settings.min_leaf)
        return bool(np.count_nonzero(node.class_weights) < 2 or node.depth >= self.settings.max_depth or too_small)

    def grow(
        self,
        node: PendingNode,
        max_splits: int = 1,
        searched: Searched | None = None,
        test: LinearTest | None = None,
        centred: bool = True,
        settings: Settings | None = None,
    ) -> Expansion:
        """Grow from a node, as far as `max_splits` allows.

        Its split is the best of what was `searched` for before; or that of the given `test`, whose threshold is then
        `centred` between its neighbours or not.
        """
        work, settings = self._workspace(), self.settings if settings is None else settings
        nodes, data = self._room(node, max_splits), self._data(node, settings)
        with np.errstate(all="ignore"):
            if test is not None:
                n_nodes, n_terms = self._divide(data, test, centred, nodes, work)
            else:
                if searched is not None:
                    work.runs[: len(searched.runs)] = searched.runs
                axis = AxisSplit() if searched is None else searched.axis
                n_nodes, n_terms, considered = grow(
                    *data, *self._finder, max_splits, searched is not None, axis, work.plane, nodes, work
                )
                self.count(considered)
        return self._expansion(node, nodes.trimmed(n_nodes, n_terms), work)

    def linear_planes(self, node: PendingNode) -> list[np.ndarray]:
        """Fit linear classifiers to a node whose examples are in this process; return their planes."""
        held, planes, work = node.examples, np.zeros((MAX_PLANES, self.n_features + 1)), self._workspace()
        place = held.start, held.stop, node.class_weights, self.options.measure.code
        rules = self.setup.statistics.unit, self.settings.max_terms, compiled_linear_classifiers(), compiled_logistic()
        with np.errstate(all="ignore"):
            n_planes = classify_node(held.arrays, *place, *rules, planes, work)
        self.count(n_planes)
        return list(planes[:n_planes])

    def _room(self, node: PendingNode, max_splits: int) -> Nodes:
        """Return a table for a node and those below it."""
        room, n_terms = (3, 0) if max_splits == 1 else (2 * node.size + 1, MAX_TERMS_PER_CALL)
        nodes = Nodes.make(room, self.n_features + n_terms, self.n_classes)
        nodes.table[0, : layout.LEFT] = node.examples.start, node.examples.stop, node.depth
        nodes.counts[0], nodes.seeds[0] = node.class_weights, node.seed
        return nodes

    def _data(self, node: PendingNode, settings: Settings) -> Data:
        held = node.examples
        return held.engine.source, held.arrays, self._criterion(settings), settings

    def _expansion(self, node: PendingNode, nodes: Nodes, work: Workspace) -> Expansion:
        """Return what a call has made of a node, unless the measure failed."""
        check_measure(self.options.measure, work)
        self._tell_moves(work)
        table, held = NodeTable(nodes), node.examples
        return Expansion(table, [node.child(table, row, held.part(start, stop)) for row, start, stop in table.pending])

    def _divide(self, data: Data, test: LinearTest, centred: bool, nodes: Nodes, work: Workspace) -> tuple[int, int]:
        """Divide the first of the nodes by a test, if it can be; return the numbers of nodes and terms."""
        size = len(test.features)
        nodes.features[:size], nodes.coefficients[:size] = test.features, test.coefficients
        nodes.reals[0, 0], nodes.table[0, layout.MISSING] = test.threshold, test.missing
        return (3, size) if split.split_node(*data, size, centred, nodes, work) else (1, 0)

    def _criterion(self, settings: Settings) -> Criterion:
        return Criterion(self.options.measure.code, settings.min_leaf, *self._functions, settings.min_weight)

    def search(
        self, node: PendingNode, settings: Settings, with_axis: bool, given: list[np.ndarray] | None = None
    ) -> Searched:
        """Make all runs of a node, and look for its best axis-parallel split if `with_axis`.

        The runs after the axis-parallel start, if the settings has one, begin at the `given` planes.
        """
        own, held = self._workspace(), node.examples
        if node.size > own.margins.size:  # kernels trust the size of their buffers
            raise RuntimeError(f"a node of {node.size} examples, and buffers for {own.margins.size}")
        data = held.arrays, self._criterion(settings), settings, compiled_search(), compiled_line_search()
        place = held.start, held.stop, node.depth, node.class_weights, np.uint64(node.seed)
        n_runs = settings.n_runs
        starts = np.array(given) if given else np.empty((0, self.n_features + 1))

        def run(stage: int, first: int, last: int) -> AxisSplit:
            work, made = self._workspace(), slice(max(first, 0), last)
            if stage != layout.JUMP:
                work.runs[settings.axis_starts :][: len(starts), layout.PLANE :] = starts
            elif work is not own:
                work.runs[:] = climbed
            with np.errstate(all="ignore"):
                axis: AxisSplit = search_node(*data, *place, stage, first, last, work)
            check_measure(self.options.measure, work)
            self._tell_moves(work)
            own.runs[made] = work.runs[made]
            return axis

        is_shared = node.size >= settings.two_stages
        pool = self.pool if is_shared and n_runs > 1 else None
        two_stages = is_shared and settings.n_jumps > 0 and n_runs > 0
        stage, first_run = layout.CLIMB if two_stages else layout.BOTH, -1 if with_axis else 0
        if pool is None:
            axis = run(stage, first_run, n_runs)
        else:
            # The first run may need the best attribute; all others start anywhere.
            axis, *_ = pool.map(run, itertools.repeat(stage), [first_run, *range(1, n_runs)], range(1, n_runs + 1))
        climbed = own.runs.copy()
        if two_stages and not climbed[:n_runs, layout.PURE].any():
            if pool is None:
                run(layout.JUMP, 0, n_runs)
            else:
                list(pool.map(run, itertools.repeat(layout.JUMP), range(n_runs), range(1, n_runs + 1)))
        return Searched(axis, own.runs[:n_runs].copy())

    def climb_from(self, plane: np.ndarray, node: PendingNode, settings: Settings) -> np.ndarray:
        """Make one run from a plane."""
        alone = settings._replace(n_runs=1, n_given=1, axis_starts=0, two_stages=NEVER)
        return self.search(node, alone, False, [plane]).best

    def shortening_run(self, plane: np.ndarray) -> Searched:
        """Return what a search would have found if this plane were all: `grow` then drops its surplus terms."""
        run = np.zeros((1, layout.PLANE + self.n_features + 1))
        run[0, layout.SCORE], run[0, layout.PLANE :] = np.inf, plane
        return Searched(AxisSplit(), run)

    def _workspace(self) -> Workspace:
        """Return this thread's buffers."""
        if not hasattr(self._local, "workspace"):
            # Larger nodes are searched by samples, and divided elsewhere.
            n_sampled = len(sample_positions(self.max_rows)) + MAX_NEAR
            n_searched = min(self.max_rows, max(self.options.min_large_rows, n_sampled))
            n_runs, n_moves = self.options.n_runs(self.n_features), self.reporter.n_moves
            self._local.workspace = Workspace.make(n_searched, self.n_classes, self.n_features, n_runs, n_moves)
        work: Workspace = self._local.workspace
        return work

    def _tell_moves(self, work: Workspace) -> None:
        if self.reporter.n_moves:
            self.reporter.moves(*noted_moves(work.moves))
