"""Which leaf each row ends in."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import typeof, types

from . import layout
from ._jit import fix_type, kernel
from .split import project

#: Rows that go down a tree together, and nodes that ask all of them.
BLOCK = 256
MAX_QUESTIONS_ON_TOP = 31


class Tests(NamedTuple):
    """The tests of a tree; those of a node have the terms ``terms[node]:terms[node + 1]``."""

    children: np.ndarray  # int32 (n_nodes, 2)
    terms: np.ndarray  # int64 (n_nodes + 1)
    features: np.ndarray  # int32 (n_terms)
    coefficients: np.ndarray  # float64 (n_terms)
    thresholds: np.ndarray  # float64 (n_nodes)
    missing: np.ndarray  # int8 (n_nodes): side of missing values

    @classmethod
    def of(cls, *arrays: np.ndarray) -> Tests:
        """Make it of the arrays of a tree, copied only if they are not as the kernels want them."""
        return cls(*(np.ascontiguousarray(own, dtype) for own, dtype in zip(arrays, _DTYPES, strict=True)))


_DTYPES = (np.int32, np.int64, np.int32, np.float64, np.float64, np.int8)
fix_type(Tests, *(typeof(np.zeros((1, 2) if i == 0 else 1, own)) for i, own in enumerate(_DTYPES)))


class Top(NamedTuple):
    """The uppermost nodes of a tree, level by level: those that ask every row of a block, and exits.

    Exits are leaves and nodes that are too many to ask everyone; they lead back to themselves.
    """

    nodes: np.ndarray  # int64 (places): which node stands at a place
    questions: np.ndarray  # int64 (places): which question it asks
    steps: np.ndarray  # int64 (2 * places): from place p to that of its child: steps[2 p + answer]
    asking: np.ndarray  # int64 (questions): which node asks
    column_of: np.ndarray  # int64 (d): place of an attribute among those asked for, or -1
    n_columns: int
    n_levels: int

    @classmethod
    def of(cls, tests: Tests, d: int) -> Top:
        """Find the top of a tree whose tests are on d attributes."""
        children, terms, features = tests.children, tests.terms, tests.features
        nodes, levels = [0], [0]
        questions: list[int] = []
        steps: list[int] = []
        asking: list[int] = []
        for place, node in enumerate(nodes):  # the list grows while it is walked
            questions.append(len(asking))
            if children[node, 0] >= 0 and len(asking) < MAX_QUESTIONS_ON_TOP:
                steps += [len(nodes), len(nodes) + 1]
                asking.append(node)
                nodes += children[node].tolist()
                levels += [levels[place] + 1] * 2
            else:
                steps += [place, place]
                questions[place] = 0
        asked = np.unique(
            np.concatenate([features[terms[node] : terms[node + 1]] for node in asking] or [features[:0]])
        )
        column_of = np.full(d, -1, np.int64)
        column_of[asked.astype(np.int64)] = np.arange(len(asked))
        in_order = [np.array(own, np.int64) for own in (nodes, questions, steps, asking)]
        return cls(in_order[0], in_order[1], in_order[2], in_order[3], column_of, len(asked), levels[-1])


fix_type(Top, *[types.int64[::1]] * 5, int, int)


@kernel(allocates=True)
def apply(source, tests, top, first_row, out):
    """Write the leaf of each row from `first_row` on to `out`. A node's terms are ``terms[node]:terms[node + 1]``.

    The uppermost nodes ask every row of a block, in vector registers, whether or not the row gets there: that costs
    less than to go and see. Below them a row is asked only what it needs, level by level, so that the steps of
    different rows do not wait for each other.
    """
    values, row_step, column_step, fill = source.values, source.row_step, source.column_step, source.fill
    children, terms, features, coefficients = tests.children, tests.terms, tests.features, tests.coefficients
    thresholds, missing = tests.thresholds, tests.missing
    questions, steps, asking, column_of = top.questions, top.steps, top.asking, top.column_of
    # Made here, not handed in: the compiler then knows that they do not overlap.
    columns, answers = np.empty((top.n_columns, BLOCK)), np.empty((max(1, asking.size), BLOCK), np.uint8)
    sums, walking = np.empty(BLOCK), np.empty(BLOCK, np.int64)
    for r in range(BLOCK):
        answers[0, r] = 0
    for begin in range(0, out.size, BLOCK):
        n = min(BLOCK, out.size - begin)
        at = (first_row + begin) * row_step
        for feature in range(fill.size):
            column = column_of[feature]
            if column >= 0:
                origin = at + feature * column_step
                for r in range(n):
                    x = np.float64(values[origin + r * row_step])
                    columns[column, r] = fill[feature] if np.isnan(x) else x
        for q in range(asking.size):
            node = asking[q]
            i, last, threshold = terms[node], terms[node + 1], thresholds[node]
            for r in range(n):
                sums[r] = 0.0
            while i + 4 <= last:
                # Four terms in one pass over the sums, in their order.
                c0, c1, c2, c3 = coefficients[i], coefficients[i + 1], coefficients[i + 2], coefficients[i + 3]
                x0, x1 = columns[column_of[features[i]]], columns[column_of[features[i + 1]]]
                x2, x3 = columns[column_of[features[i + 2]]], columns[column_of[features[i + 3]]]
                for r in range(n):
                    sums[r] = (((sums[r] + c0 * x0[r]) + c1 * x1[r]) + c2 * x2[r]) + c3 * x3[r]
                i += 4
            while i < last:
                c0, x0 = coefficients[i], columns[column_of[features[i]]]
                for r in range(n):
                    sums[r] += c0 * x0[r]
                i += 1
            for r in range(n):
                answers[q, r] = sums[r] > threshold
            if missing[node] != layout.BY_FILL:
                origin, answer = (
                    at + features[terms[node]] * column_step,
                    np.uint8(missing[node] == layout.MISSING_RIGHT),
                )
                for r in range(n):
                    answers[q, r] = answer if np.isnan(values[origin + r * row_step]) else answers[q, r]
        for r in range(n):
            walking[r] = 0
        for _ in range(top.n_levels):
            for r in range(n):
                place = walking[r]
                walking[r] = steps[2 * place + answers[questions[place], r]]
        left = 0
        for r in range(n):
            node = top.nodes[walking[r]]
            out[begin + r] = node
            walking[left] = begin + r
            left += np.int64(children[node, 0] >= 0)
        while left > 0:
            n, left = left, 0
            for i in range(n):
                row = walking[i]
                node = out[row]
                at = (first_row + row) * row_step
                value = project(source, at, features, coefficients, terms[node], terms[node + 1], missing, node)
                node = np.int64(children[node, np.int64(value > thresholds[node])])
                out[row] = node
                walking[left] = row
                left += np.int64(children[node, 0] >= 0)
