"""Growing a tree: a stack of nodes, stopping rules, a random stream for each node; one kernel call finds each split."""

from __future__ import annotations

import heapq
import itertools
import threading
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from . import _kernels
from ._compiling import announce_compiling
from .impurity import Measure, category_numbers, raise_failure
from .scaling import SearchSpace
from .tree import Tree

#: Subtrees of fewer examples than this are grown by one thread in one go.
SUBTREE_TASK = 1000


@dataclass(frozen=True)
class GrowthOptions:
    """What decides a tree besides the data (the parameters of `OC1Classifier`, resolved)."""

    measure: Measure
    splits: str
    n_restarts: int
    n_jumps: int
    order: int
    n_perturbations: int
    stagnation: float
    axis_bias: float
    min_samples_oblique: int
    max_depth: float
    min_samples_split: int
    min_samples_leaf: int
    max_leaf_nodes: int | None
    min_impurity_decrease: float
    normalize: str
    n_jobs: int = 1


def derive(seed: np.uint64, salt: int) -> np.uint64:
    """Return the seed of a child's random stream."""
    return np.uint64(_kernels.mix(seed, np.uint64(salt)))


class Node:
    """A node while the tree grows: a range of the examples, and its test once it has one."""

    __slots__ = (
        "children",
        "coefficients",
        "counts",
        "depth",
        "features",
        "gain",
        "seed",
        "start",
        "stop",
        "threshold",
    )

    def __init__(self, start: int, stop: int, depth: int, seed: np.uint64, counts: np.ndarray):
        self.start, self.stop, self.depth, self.seed, self.counts = start, stop, depth, seed, counts
        self.features: np.ndarray | None = None
        self.coefficients: np.ndarray | None = None
        self.threshold = self.gain = 0.0
        self.children: tuple[Node, Node] | None = None


class Trial(NamedTuple):
    """A test tried on a node: its score, the class weights on its left, and the test itself."""

    score: float
    left: np.ndarray
    features: np.ndarray
    coefficients: np.ndarray
    threshold: float


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
    report : callable, optional
        Called with a line of text for each node.
    """

    def __init__(
        self, X, y, weights, rows, fill, n_classes, options: GrowthOptions, seed: int, report: Callable | None = None
    ):
        rows = rows[np.argsort(y[rows], kind="stable")]  # grouped by class: see _kernels
        own_weights = None if weights is None else weights[rows]
        self.X, self.fill, self.n_classes, self.options, self.report = X, fill, n_classes, options, report
        self.space = SearchSpace.make(X, rows, fill, own_weights, options.normalize)
        self.rows = rows.astype(np.int64)
        self.labels = y[rows].astype(np.int32)
        self.weights = np.empty(0) if own_weights is None else own_weights.astype(np.float64)
        self.n_hyperplanes = 0
        self._lock = threading.Lock()
        self._local = threading.local()
        self._root_seed = derive(np.uint64(seed), 0)
        self._total = float(len(rows)) if own_weights is None else float(own_weights.sum())

    # ------------------------------------------------------------------------------------------------ the work list

    def grow(self) -> tuple[Node, int]:
        """Grow the tree; return its root and the number of hyperplanes considered."""
        with announce_compiling(), np.errstate(all="ignore"):  # errstate: for NUMBA_DISABLE_JIT
            counts = np.bincount(
                self.labels, weights=self.weights if self.weights.size else None, minlength=self.n_classes
            ).astype(float)
            root = Node(0, len(self.rows), 0, self._root_seed, counts)
            if self.options.max_leaf_nodes is not None:
                self._grow_best_first(root)
            elif self.options.n_jobs > 1:
                self._grow_on_threads(root)
            else:
                self._grow_subtree(root)
        return root, self.n_hyperplanes

    def _grow_subtree(self, node: Node) -> None:
        stack = [node]
        while stack:
            node = stack.pop()
            if self._find_test(node):
                stack.extend(self._divide(node)[::-1])

    def _grow_best_first(self, root: Node) -> None:
        """Divide the node that gains most, until there are enough leaves."""
        order = itertools.count()
        heap: list[tuple[float, int, Node]] = []

        def consider(node: Node) -> None:
            if self._find_test(node):
                heapq.heappush(heap, (-node.gain * node.counts.sum(), next(order), node))

        consider(root)
        leaves = 1
        while heap and leaves < (self.options.max_leaf_nodes or 0):
            node = heapq.heappop(heap)[2]
            leaves += 1
            for child in self._divide(node):
                consider(child)
        for _, _, node in heap:
            node.features = None

    def _grow_on_threads(self, root: Node) -> None:
        """Let threads take nodes: ranges of examples do not overlap, and kernels release the interpreter lock."""

        def task(node: Node) -> list[Node]:
            with np.errstate(all="ignore"):
                if node.stop - node.start < SUBTREE_TASK:
                    self._grow_subtree(node)
                    return []
                return list(self._divide(node)) if self._find_test(node) else []

        with ThreadPoolExecutor(self.options.n_jobs) as pool:
            running = {pool.submit(task, root)}
            while running:
                done, running = wait(running, return_when=FIRST_COMPLETED)
                for future in done:
                    running |= {pool.submit(task, child) for child in future.result()}

    # ------------------------------------------------------------------------------------------------ one node

    def _find_test(self, node: Node) -> bool:
        """Find the node's test, or leave it a leaf (False)."""
        options, n = self.options, node.stop - node.start
        present = np.flatnonzero(node.counts > 0)
        stopped = (
            len(present) < 2
            or node.depth >= options.max_depth
            or n < options.min_samples_split
            or n < 2 * options.min_samples_leaf
        )
        if stopped:
            return False
        oblique = options.splits == "oblique" or (options.splits == "best" and n >= options.min_samples_oblique)
        plan = _kernels.Plan(
            measure=options.measure.code,
            min_leaf=options.min_samples_leaf,
            axis=options.splits != "oblique",
            n_runs=max(1, options.n_restarts) if oblique else 0,
            order=options.order,
            # The paper's sequential rounds leave the constant out. On centred attributes it is often near zero, and no
            # other coefficient can then move the plane away from the centre. On positive ones the rounds from random
            # planes do better without it, until nothing else changes (LS10 20:20: 98.7% and 6.7 leaves, against 97.7%
            # and 11.0).
            n_swept=self.X.shape[1] + (options.normalize == "standard"),
            n_perturbations=options.n_perturbations,
            n_jumps=options.n_jumps,
            stagnation=options.stagnation,
        )
        scratch = self._scratch()
        totals = node.counts[present]
        classes = (totals, category_numbers(totals), present)
        axis_score, attribute, threshold, oblique_score, considered = _kernels.search(
            self.space.columns, self.labels, self.weights, node.start, node.stop, self._class_bounds(node, present),
            *classes, options.measure.compiled, tuple(plan), node.seed, tuple(scratch),
        )  # fmt: skip
        with self._lock:
            self.n_hyperplanes += considered

        # The search works on rounded numbers: what counts is how a test divides the examples themselves.
        chosen = None
        if oblique_score > axis_score:
            chosen = self._try_test(node, classes, *self.space.to_user_units(scratch.planes[1]))
        if attribute >= 0 and (
            chosen is None or options.axis_bias > 1.0 or not _kernels.better(chosen.score, axis_score)
        ):
            axis = self._try_test(node, classes, *self._axis_test(attribute, threshold))
            if chosen is None or (axis is not None and not self._oblique_wins(node, chosen, axis)):
                chosen = axis
        if scratch.stream[1]:
            raise_failure(options.measure.impurity, options.measure.name, scratch.counts[3], scratch.counts[4])
        if chosen is None:
            return False
        gain = chosen.score - self._useless_score(node)
        if not gain > 1e-12 or gain * node.counts.sum() / self._total < options.min_impurity_decrease:
            return False
        node.features, node.coefficients, node.threshold = chosen.features, chosen.coefficients, chosen.threshold
        node.gain = gain if np.isfinite(gain) else 0.0
        if self.report:
            kind = "oblique" if len(chosen.features) > 1 else "axis-parallel"
            self.report(f"depth {node.depth}: {n} examples, {kind} test, gain {gain:.4g}, {considered} hyperplanes")
        return True

    def _try_test(
        self, node: Node, classes, features: np.ndarray, coefficients: np.ndarray, threshold: float
    ) -> Trial | None:
        """Try a test in the user's units on the node's examples; None if it does not divide them."""
        if not (np.isfinite(coefficients).all() and np.isfinite(threshold)):
            return None
        scratch, measure = self._local.scratch, self.options.measure
        score, threshold = _kernels.place_test(
            self.X, self.rows, self.labels, self.weights, node.start, node.stop, features, coefficients, threshold,
            self.fill, *classes, measure.code, self.options.min_samples_leaf, measure.compiled, scratch.places,
            scratch.counts, scratch.stream, self._local.projections,
        )  # fmt: skip
        if score == _kernels.NOTHING:
            return None
        return Trial(score, scratch.counts[0, : len(classes[2])].copy(), features, coefficients, threshold)

    def _oblique_wins(self, node: Node, oblique: Trial, axis: Trial) -> bool:
        """Whether the oblique test is purer, even times the bias towards axis-parallel ones."""
        if self.options.axis_bias == 1.0:
            return bool(_kernels.better(oblique.score, axis.score))
        totals = node.counts[node.counts > 0]
        impurity = self.options.measure.impurity
        bent, straight = (impurity(trial.left, np.maximum(totals - trial.left, 0.0)) for trial in (oblique, axis))
        return self.options.axis_bias * bent < straight

    def _scratch(self) -> _kernels.Scratch:
        """Return this thread's buffers."""
        if not hasattr(self._local, "scratch"):
            self._local.scratch = _kernels.Scratch.make(len(self.rows), self.n_classes, self.X.shape[1])
            self._local.projections = np.empty(len(self.rows))
            self._local.buffer = np.empty(len(self.rows))
        return self._local.scratch

    def _class_bounds(self, node: Node, present: np.ndarray) -> np.ndarray:
        """Return where each class's group begins, relative to the node."""
        labels = self.labels[node.start : node.stop]
        return np.append(np.searchsorted(labels, present), len(labels)).astype(np.int64)

    def _axis_test(self, attribute: int, threshold: float) -> tuple[np.ndarray, np.ndarray, float]:
        """Turn an axis-parallel split of the search into a test ``x > threshold`` in the user's units."""
        in_units = self.space.shift[attribute] + threshold * self.space.scale[attribute]
        return np.array([attribute], dtype=np.int32), np.ones(1), float(in_units)

    def _useless_score(self, node: Node) -> float:
        """Return the score of not splitting at all: 0 for a built-in measure, a user's own value for the whole node."""
        measure = self.options.measure
        if measure.code != _kernels.CUSTOM:
            return 0.0
        value = measure.compiled(node.counts.copy(), np.zeros_like(node.counts))
        return -value if np.isfinite(value) else -np.inf

    def _divide(self, node: Node) -> tuple[Node, Node]:
        """Partition the node's examples by its test and make the children."""
        self._scratch()
        n = node.stop - node.start
        _kernels.project_rows(
            self.X,
            self.rows,
            node.start,
            node.stop,
            node.features,
            node.coefficients,
            self.fill,
            self._local.projections,
        )
        left = np.empty(self.n_classes)
        _kernels.partition(
            self.space.columns, self.labels, self.weights, self.rows, node.start, node.stop,
            self._local.projections[:n], node.threshold, self._local.buffer, left,
        )  # fmt: skip
        middle = node.start + int(np.count_nonzero(~(self._local.projections[:n] > node.threshold)))
        right = node.counts - left
        right[np.abs(right) < 1e-9 * node.counts] = 0.0
        node.children = (
            Node(node.start, middle, node.depth + 1, derive(node.seed, 1), left),
            Node(middle, node.stop, node.depth + 1, derive(node.seed, 2), right),
        )
        return node.children


def build_tree(root: Node, fill: np.ndarray, classes: np.ndarray, feature_names: tuple[str, ...]) -> Tree:
    """Flatten grown nodes into a `Tree`, in preorder."""
    nodes: list[Node] = []
    stack = [root]
    while stack:
        node = stack.pop()
        nodes.append(node)
        if node.children:
            stack.extend(node.children[::-1])
    number = {id(node): i for i, node in enumerate(nodes)}
    nothing = np.empty(0)
    features = [node.features if node.children and node.features is not None else nothing for node in nodes]
    coefficients = [node.coefficients if node.children and node.coefficients is not None else nothing for node in nodes]
    return Tree(
        children=np.array(
            [[number[id(c)] for c in node.children] if node.children else [-1, -1] for node in nodes], dtype=np.int32
        ),
        terms=np.concatenate([[0], np.cumsum([len(part) for part in features])]).astype(np.int64),
        features=np.concatenate(features).astype(np.int32),
        coefficients=np.concatenate(coefficients),
        thresholds=np.array([node.threshold if node.children else 0.0 for node in nodes]),
        counts=np.array([node.counts for node in nodes]),
        gains=np.array([node.gain if node.children else 0.0 for node in nodes]),
        fill=fill,
        classes=classes,
        feature_names=feature_names,
    )
