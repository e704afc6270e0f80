"""A node whose examples are counted in any pieces, for the tests of the search in rounds."""

from itertools import pairwise

import naive
import numpy as np
from hypothesis import strategies as st

from oc1.growing.attributes import Sketch
from oc1.growing.calls import Histograms, count_lines
from oc1.growing.rounds import MAX_ZOOMS, Line, Scorer, search_lines
from oc1.impurity import MEASURES, get_measure
from oc1.kernels.histograms import NodeSlice

NO_MISSING = np.zeros((0, 0), dtype=np.uint8)


class Node:
    """Examples grouped by class, an engine that counts them in any pieces and notes what it was asked, and a scorer."""

    def __init__(self, X, labels, weights=None, criterion="twoing", min_leaf=1, cuts=()):
        order = np.argsort(labels, kind="stable")
        X, self.labels = np.asarray(X)[order], np.asarray(labels)[order]
        self.k = int(self.labels.max()) + 1
        sizes = np.bincount(self.labels, minlength=self.k)
        self.columns = np.vstack([X.T, np.ones(len(X))]).astype(np.float32)
        self.weights = np.ones(len(X)) if weights is None else weights[order].astype(float)
        bounds = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        self.name = criterion if isinstance(criterion, str) else criterion.__name__
        self.cuts = [0, *cuts, len(X)]
        own = np.empty(0) if weights is None else self.weights
        self.slice = NodeSlice(self.columns, bounds, own, NO_MISSING)
        measure = get_measure(criterion, self.k)
        totals = np.array([self.weights[self.labels == c].sum() for c in range(self.k)])
        self.scorer = Scorer(sizes, totals, np.arange(self.k), measure, min_leaf)
        self.sketch = Sketch(self.columns)
        self.min_leaf, self.asked = min_leaf, list[int]()

    def count_lines(self, lines, half):
        self.asked.append(len(lines.which))
        parts = [
            count_lines(self.slice._replace(bounds=np.clip(self.slice.bounds, *piece)), lines, half)
            for piece in pairwise(self.cuts)
        ]
        return Histograms(*(np.add.reduce(list(own)).astype(own[0].dtype) for own in zip(*parts, strict=True)))

    def margins_and_rates(self, line):
        rates = self.columns[line.which] if line.which >= 0 else naive.combined(self.columns, line.direction)
        return naive.combined(self.columns, line.plane), rates

    def positions(self, line, min_leaf=1):
        """All positions on a line, as `naive.gains_along` lists them."""
        return naive.gains_along(
            *self.margins_and_rates(line), self.labels, self.weights, self.k, self.name, min_leaf
        )  # fmt: skip

    def gain_of(self, plane):
        left = ~(naive.combined(self.columns, plane) > 0)
        sides = (naive.class_weights(self.labels, self.weights, side, self.k) for side in (left, ~left))
        return naive.gain(self.name, *sides)


def own_gini(left, right):
    n_left, n_right = left.sum(), right.sum()
    return n_left - (left**2).sum() / n_left + n_right - (right**2).sum() / n_right


@st.composite
def nodes(draw, most=120, **fixed):
    """Awkward and ordinary examples; 2 to 8 classes; weights or none."""
    n, d, k = draw(st.integers(12, most)), draw(st.integers(1, 4)), draw(st.integers(2, 8))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    kind = draw(st.sampled_from(["integers", "normal", "atom"]))
    X = rng.integers(-3, 4, (n, d)) / 2.0 if kind == "integers" else rng.normal(size=(n, d))
    if kind == "atom":
        X = np.where(rng.random((n, d)) < 0.3, 0.25, X)
    labels = rng.integers(0, k, n)
    if draw(st.booleans()):
        labels = np.where(rng.random(n) < 0.8, np.clip((X.sum(axis=1) + k / 2).astype(int), 0, k - 1), labels)
    labels[:k] = np.arange(k)
    weights = draw(st.sampled_from(["none", "whole", "real"]))
    weights = {"none": None, "whole": rng.integers(1, 5, n), "real": rng.random(n) + 0.01}[weights]
    given_to = {"criterion": draw(st.sampled_from(sorted(MEASURES))), "min_leaf": draw(st.integers(1, 4))} | fixed
    return Node(X, labels, weights, **given_to), rng


def draw_line(node, rng):
    size = len(node.columns)
    which = int(rng.integers(-1, size))
    direction = np.eye(size)[which] if which >= 0 else rng.normal(size=size)
    plane = rng.normal(size=size) if rng.random() < 0.7 else rng.integers(-1, 2, size).astype(float)
    return Line(plane, direction, which, 0.0, float(2.0 ** rng.integers(-4, 3)))


def asked_in_rounds(node, lines, salt=3):
    before = len(node.asked)
    found = search_lines(lines, node, node.scorer, salt, 0)
    return found, len(node.asked) - before


def missed_at_most(node, n_rounds):
    """By how much a position may be worse than the best one of its line."""
    # Three finer counts do not settle every line, above all with so few buckets: nothing is promised then.
    return node.scorer.tolerance + 1e-9 if n_rounds <= MAX_ZOOMS else np.inf


def looked_at(node, line, positions):
    """Those positions that are not in the two outermost buckets, which have no end and are not looked into."""
    edges = line.edges(node.scorer.half)
    return [gain for before, after, gain in positions if after > edges[1] and before < edges[-2]]
