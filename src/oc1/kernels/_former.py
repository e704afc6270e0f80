"""The kernels by their former names and signatures."""
# mypy: ignore-errors

from functools import cache
from typing import NamedTuple

import numpy as np

from . import grow as _grow
from . import histogram_scores, node_search, predict, split
from .elimination import shortening  # noqa: F401
from .layout import *  # noqa: F403
from .layout import NO_SPLIT
from .line_search import compiled_line_search, line_search  # noqa: F401
from .node_search import compiled_search
from .predict import Top
from .random import mix, uniform  # noqa: F401
from .records import *  # noqa: F403
from .records import AxisSplit, Criterion, LineBuffers, Node, Settings, Source, Workspace, flat_view  # noqa: F401
from .records import Examples as _Examples
from .records import Nodes as _Nodes

NOTHING = NO_SPLIT


class Plan(NamedTuple):
    measure: int
    min_leaf: int
    axis: bool
    min_oblique: int
    n_runs: int
    order: int
    n_swept: int
    n_perturbations: int
    n_jumps: int
    stagnation: float
    axis_bias: float
    max_depth: int
    min_split: int
    min_decrease: float
    total: float
    max_terms: int
    shared: int
    axis_starts: int
    n_given: int


class Examples(NamedTuple):
    values: np.ndarray
    row_step: int
    column_step: int
    fill: np.ndarray
    shift: np.ndarray
    scale: np.ndarray
    columns: np.ndarray
    labels: np.ndarray
    weights: np.ndarray
    rows: np.ndarray
    holes: np.ndarray


class Scratch:
    def __init__(self, work):
        self.work = work
        self.runs, self.moves = work.runs, work.moves
        self.stream, self.counts = work.line.stream, work.line.counts
        self.classes = work.line.places[None]

    @classmethod
    def make(cls, *arguments):
        return cls(Workspace.make(*arguments))

    def __iter__(self):
        yield self.work


@cache
def compiled_searches():
    return compiled_search(), compiled_line_search()


def search_node(columns, labels, weights, rows, holes, fill, shift, scale, start, stop, depth, node_counts, look, line,
                rate, bound, plan, seed, stage, first_run, last_run, scratch):  # fmt: skip
    examples = _Examples(columns, labels, weights, rows, holes, fill, shift, scale)
    axis = node_search.search_node(
        examples, Criterion(plan[0], plan[1], rate, bound), Settings(*plan[2:]), look, line, start, stop, depth,
        node_counts, seed, stage, first_run, last_run, scratch[0],
    )  # fmt: skip
    return tuple(axis)


def grow(examples, plan, shorten, look, line, rate, bound, scratch, nodes, max_splits, searched, axis, given, centred):
    values, row_step, column_step, fill, shift, scale, columns, labels, weights, rows, holes = examples
    source = Source(values, row_step, column_step, fill)
    examples = _Examples(columns, labels, weights, rows, holes, fill, shift, scale)
    criterion, settings, nodes = Criterion(plan[0], plan[1], rate, bound), Settings(*plan[2:]), _Nodes(*nodes)
    if given:
        if split.split_node(source, examples, criterion, settings, given, centred, nodes, scratch[0]):
            return 3, nodes.table[0, N_TERMS], 0  # noqa: F405
        return 1, 0, 0
    return _grow.grow(
        source, examples, criterion, settings, _grow.Searches(look, line, shorten), max_splits, searched,
        AxisSplit(*axis), nodes, scratch[0],
    )  # fmt: skip


def apply(values, row_step, column_step, fill, children, terms, features, coefficients, thresholds, missing, top, first,
          out):  # fmt: skip
    tests = predict.Tests.of(children, terms, features, coefficients, thresholds, missing)
    return predict.apply(Source(values, row_step, column_step, fill), tests, Top(*top), first, out)


def project_rows(values, row_step, column_step, fill, rows, features, coefficients, missing, out):
    source = Source(values, row_step, column_step, fill)
    split.project_rows(source, rows, features, coefficients, missing, out)


def _node(totals, ranks, present):
    nothing = np.empty(0, np.int64)
    return Node(0, np.empty(0, np.int32), np.empty(0), totals, ranks, present, nothing)


def _buffers(histogram, left, edges, pairs, stream):
    nothing = np.empty(0, np.int64)
    return LineBuffers(
        np.empty(0, np.float32), np.empty(0, np.uint16), np.empty(0, np.uint64), histogram, left, edges, nothing,
        nothing, pairs, stream,
    )  # fmt: skip


def score_lines(counts, sums, sizes, totals, ranks, present, code, min_leaf, rate, bound, histogram, left, edges, pairs,
                stream, scores, bounds):  # fmt: skip
    histogram_scores.score_lines(
        counts, sums, sizes, _node(totals, ranks, present), Criterion(code, min_leaf, rate, bound),
        _buffers(histogram, left, edges, pairs, stream), scores, bounds,
    )  # fmt: skip


def score_sides(left, left_sizes, sizes, totals, ranks, present, code, min_leaf, rate, pairs, stream, scores):
    from .criteria import pointers

    nothing = np.empty((0, 0))
    histogram_scores.score_sides(
        left, left_sizes, sizes, _node(totals, ranks, present), Criterion(code, min_leaf, rate, pointers(TWOING)[1]),  # noqa: F405
        _buffers(nothing, nothing, nothing, pairs, stream), scores,
    )  # fmt: skip
