"""How the search at one node went, step by step.

The search is the real one: a tree is grown along the path to the node, and everything the search there tells (see
`oc1.growing.progress`) is kept. `oc1.animation.frames` chooses what is shown, `oc1.animation.page` makes a page of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ..data.search_space import SearchSpace
from ..data.training import Training
from ..growing.engines import LocalEngine
from ..growing.grower import Grower, make_grower
from ..growing.nodes import NodeTable, PendingNode, build_tree
from ..growing.options import TreeSetup
from ..growing.progress import MOVES, Move, Reporter
from ..kernels import layout
from ..learners import classifier
from ..learners.trees import Grown, SearchedTree, standard_scale
from ..plotting.style import shortened
from ..tree.linear import Tree
from ..tree.wording import feature_name, write_test

#: The path of the root, as ``.dt`` files write it.
ROOT = "Root"
#: What a step may be.
START, COEFFICIENT, JUMP = "start", "coefficient", "jump"
#: Impurities whose relative difference is no larger than this are equal but for rounding.
ROUNDING = 1e-9
#: Terms of a test that are written.
MAX_TERMS = 6


#: Coefficients of all attributes, and threshold: ``coefficients . x > threshold`` in the user's units.
Line = tuple[np.ndarray, float]


class Step(NamedTuple):
    """A position of the hyperplane.

    Attributes
    ----------
    run : int
        The run of the search that it belongs to, counted from 1.
    kind : {"start", "coefficient", "jump"}
        How the search got here.
    which : int or None
        The coefficient that changed: an attribute, or the number of attributes for the constant. None for a start or
        jump.
    before, after : float
        Impurity, infinite where all examples are on one side.
    line : (float array (n_features,), float)
        Coefficients and threshold of the test.
    """

    run: int
    kind: str
    which: int | None
    before: float
    after: float
    line: Line


@dataclass(frozen=True, eq=False)
class SearchRecord:
    """The search at one node of a tree.

    Parameters
    ----------
    node : str
        ``Root``, or the path to the node: ``l`` for not passing a test, ``r`` for passing it.
    steps : tuple of Step
        In the order in which they were made.
    best : int array (n_steps,)
        The best of the steps so far, by its number.
    n_moves : int
        Number of moves of the search; more than the number of steps if not all could be stored.
    split : (float array, float) or None
        Coefficients and threshold of the node's test: those of the best step, with the threshold midway between the
        examples, or those of an axis-parallel split that is as good. None if the node became a leaf after all.
    X : float array (n_samples, n_features)
        The examples of the node, missing values filled.
    y : int array (n_samples,)
        Their classes, by number.
    weights : float array (n_samples,)
    classes : array (n_classes,)
    feature_names : tuple of str
    space : SearchSpace
        The attributes as the search saw them.
    criterion : str
    """

    node: str
    steps: tuple[Step, ...]
    best: np.ndarray
    n_moves: int
    split: Line | None
    X: np.ndarray
    y: np.ndarray
    weights: np.ndarray
    classes: np.ndarray
    feature_names: tuple[str, ...]
    space: SearchSpace
    criterion: str

    @property
    def n_runs(self) -> int:
        """How many starts were made."""
        return max(step.run for step in self.steps)

    @property
    def impurities(self) -> np.ndarray:
        """Impurity after each step."""
        return np.array([step.after for step in self.steps])

    def drawn_examples(self, most: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the examples that are drawn, evenly chosen, and their classes."""
        chosen = np.unique(np.linspace(0, len(self.y) - 1, most).round().astype(int))
        return self.X[chosen], self.y[chosen]

    def describe(self, number: int) -> str:
        """Say in a few words what a step did."""
        step = self.steps[number]
        if step.kind == START:
            only = np.flatnonzero(step.line[0])
            on = f" axis-parallel, on {shortened(self.feature_names[only[0]])}," if len(only) == 1 else ""
            return f"starts{on} at {shown(step.after)}"
        change = f": {shown(step.before)} → {shown(step.after)}"
        if step.which is None:
            return "jump" + change
        what = "constant" if step.which == self.X.shape[1] else shortened(self.feature_names[step.which])
        return what + (change if not np.isclose(step.before, step.after, rtol=ROUNDING, atol=0.0) else ": no better")

    def write_test(self, coefficients: np.ndarray, threshold: float) -> str:
        """Write a test, of many terms the largest."""
        size = np.abs(coefficients * self.space.scale)
        kept = np.sort(np.argsort(-size, kind="stable")[:MAX_TERMS])
        kept = kept[size[kept] > 0.0]
        text = write_test([shortened(name) for name in self.feature_names], kept, coefficients[kept], threshold)
        if np.count_nonzero(size) == len(kept):
            return text
        terms, _, number = text.rpartition(" > ")
        return f"{terms} + … > {number}"


def shown(impurity: float) -> str:
    """Write an impurity."""
    return f"{impurity:.5g}" if np.isfinite(impurity) else "∞"


def record_search(X: Any, y: Any, sample_weight: Any = None, *, node: str = ROOT, **parameters: Any) -> SearchRecord:
    """Search for the split of a node as `OC1Classifier` does, and record every step.

    Parameters
    ----------
    X : array-like (n_samples, n_features)
    y : array-like (n_samples,)
        Class labels.
    sample_weight : array-like (n_samples,), optional
    node : str, default="Root"
        ``"Root"``, or the path from it: ``"l"`` is the node of the examples that do not pass the root's test, ``"lr"``
        the node below it of those that pass its test.
    **parameters
        Those of `OC1Classifier`. The default of ``prune`` is None here, which means a search as in the paper: from the
        best axis-parallel split and from random hyperplanes, for the purest split. (With ``prune="auto"``, the
        classifier's own default, linear classifiers are fitted instead, and only nodes of 100,000 examples or more are
        searched.) No examples are held out for pruning, whatever its value.

    Returns
    -------
    SearchRecord

    Raises
    ------
    ValueError
        If there is no such node, or it was not searched.

    Examples
    --------
    The best axis-parallel split of these eight points is a local minimum; a jump escapes from it.

    >>> from oc1.datasets import load_figure5
    >>> record = record_search(*load_figure5(), n_restarts=0, stagnation=0, random_state=1)
    >>> [(step.kind, round(step.after, 3)) for step in record.steps]
    [('start', 1.667), ('jump', 0.0)]
    """
    path = "" if node == ROOT else node
    if set(path) - set("lr") or not node:
        raise ValueError(f"node must be 'Root' or a path from it of l and r, such as 'lr', got {node[:60]!r}")
    recording = OC1Classifier(**({"prune": None} | parameters))
    recording._wanted = path
    recording.fit(X, y, sample_weight)
    record = recording._record
    if not record.steps:
        raise ValueError(f"no search was made at the node {node!r}: {recording._excuse()}")
    if not np.isfinite(record.impurities).any():
        raise ValueError(f"the search at the node {node!r} found no split: its examples cannot be told apart")
    return record


class _Recorder(Reporter):
    """Keep what the search of a node tells."""

    def __init__(self) -> None:
        super().__init__(MOVES, write=lambda line: None)
        self.forget()

    def forget(self) -> None:
        """Start again, at another node."""
        self.noted: list[Move] = []
        self.n_made = 0

    def moves(self, moves: Sequence[Move], n_made: int) -> None:
        """Keep the moves of a search."""
        self.noted.extend(moves)
        self.n_made += n_made


def _grow_path(grower: Grower, recorder: _Recorder, path: str, seed: int) -> tuple[NodeTable, np.ndarray]:
    """Grow only the nodes on the way to one of them; the others stay leaves. Return the tree and that node's rows."""
    root = node = PendingNode.root(grower.engine.root(), seed)
    with grower.working():
        for done, side in enumerate([*path, ""]):
            rows = np.sort(node.examples.rows)
            recorder.forget()
            below = grower.follow(node)
            for other in below:
                other.subtrees[other.row] = NodeTable.leaf(other)
            if side and not below:
                raise ValueError(f"there is no node {path!r}: the node {path[:done] or ROOT!r} is a leaf")
            if side:
                node = below["lr".index(side)]
    return root.subtrees[root.row], rows


def _split_of(tree: Tree, path: str) -> Line | None:
    """Return the coefficients of all attributes and the threshold of the node at the end of a path."""
    node = 0
    for side in path:
        node = tree.children[node, "lr".index(side)]
    features, coefficients, threshold = tree.test(node)
    return None if tree.is_leaf[node] else (_whole(features, coefficients, len(tree.fill)), threshold)


class OC1Classifier(classifier.OC1Classifier):
    """Fits the path to a node only, and keeps the search there. Named as its base, because messages name it."""

    _wanted: str
    _record: SearchRecord

    def _learn(self, data: Training) -> None:
        SearchedTree._learn(self, data)  # whatever would be chosen: only the nodes on the way are of interest

    def _pruning_method(self, data: Training) -> None:
        return None

    def _grow_tree(self, data: Training, rows: np.ndarray, weights: np.ndarray | None) -> Grown:
        options, recorder = self._options(len(data.classes)), _Recorder()
        setup = TreeSetup(options, data.fill, len(data.classes), data.coded)
        engine = LocalEngine(data.X, data.y, weights, rows, setup)
        grower = make_grower(engine, recorder)
        table, own = _grow_path(grower, recorder, self._wanted, data.seed)
        tree, space = build_tree(table, data.fill, data.classes, data.feature_names), engine.setup.statistics.space
        steps = tuple(_step_of(move, space) for move in recorder.noted)
        names = [feature_name(data.feature_names, m) for m in range(data.X.shape[1])]
        coded = data.coded or (False,) * len(names)
        X = np.asarray(data.X[own], dtype=np.float64)
        self._record = SearchRecord(
            node=self._wanted or ROOT,
            steps=steps,
            best=_best_so_far([step.after for step in steps]),
            n_moves=recorder.n_made,
            split=_split_of(tree, self._wanted),
            X=np.where(np.isnan(X), data.fill, X),
            y=data.y[own],
            weights=np.ones(len(own)) if weights is None else weights[own],
            classes=data.classes,
            feature_names=tuple(f"code({name})" if own else name for name, own in zip(names, coded, strict=True)),
            space=space,
            criterion=options.measure.name,
        )
        return Grown(tree, grower.n_hyperplanes, standard_scale(data, rows, weights))

    def _excuse(self) -> str:
        """Say why no search was made."""
        n = len(self._record.y)
        if len(np.unique(self._record.y)) == 1:
            return f"its {n} examples are of one class"
        limits = ("splits", "max_depth", "min_samples_split", "min_samples_leaf", "min_samples_oblique", "prune")
        settings = ", ".join(f"{name}={getattr(self, name)!r}" for name in limits)
        return f"among its {n} examples of {self.n_features_in_} attributes, no oblique split is sought with {settings}"


def _step_of(move: Move, space: SearchSpace) -> Step:
    d = len(space.scale)
    kind = {layout.A_START: START, layout.A_JUMP: JUMP}.get(move.which, COEFFICIENT)
    coefficients, threshold = np.zeros(d), 0.0
    if (move.plane[:-1] * space.scale).any():
        features, own, threshold = space.test_of(move.plane)
        if len(features) == 1:  # written as trees write it
            own, threshold = np.ones(1), threshold / own[0]
        coefficients = _whole(features, own, d)
    which = move.which if kind == COEFFICIENT else None
    return Step(move.run + 1, kind, which, move.before, move.after, (coefficients, threshold))


def _whole(features: np.ndarray, coefficients: np.ndarray, n_features: int) -> np.ndarray:
    """Return the coefficients of all attributes."""
    whole = np.zeros(n_features)
    whole[features] = coefficients
    return whole


def _best_so_far(impurities: Sequence[float]) -> np.ndarray:
    best, numbers = 0, []
    for number, impurity in enumerate(impurities):
        best = number if impurity < impurities[best] - ROUNDING * abs(impurity) else best
        numbers.append(best)
    return np.array(numbers, dtype=np.int64)
