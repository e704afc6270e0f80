"""A tree as a C function: nested ifs that people can read, or tables and a loop if it is large."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...learners.reduction import ReducedModel
from ..values import linear
from .fixed_point import FlatTree
from .style import Style, integers, table
from .text import comment, function, wrapped

#: Larger or deeper trees are written as tables and a loop, not as nested ifs: compilers are quick with those.
MAX_LEAVES, MAX_DEPTH = 64, 15


def write_largest(style: Style) -> str:
    """Write the function by which trees of machines choose a branch."""
    first, until = ("", "") if style.is_fixed else (" (and of those that are no numbers)", " && f[best] == f[best]")
    return function(
        f"int {style.name}_largest(const {style.sum} f[], int n)",
        f"Which is the largest, the first of equals{first}.",
        [
            "    int j, best = 0;",
            f"    for (j = 1; j < n{until}; ++j)",
            "        if (!(f[j] <= f[best])) best = j;",
            "    return best;",
        ],
    )


def write_tree(style: Style, plain: ReducedModel, number: int, flat: FlatTree) -> list[str]:
    """Write a function that returns the leaf's place among the leaves, or in a vote the class, and what it needs."""
    writer = _TreeWriter(style, plain, number, flat)
    parts = [writer.code(m) for m in flat.codes if m in writer.used]
    is_small = flat.is_leaf.sum() <= MAX_LEAVES and writer.tree.tree.max_depth <= MAX_DEPTH
    called, what = f"{style.name}_place", "The place of the row among the leaves."
    if writer.is_one_of_many:
        called = f"{style.name}_tree{number}"
    if writer.is_vote:
        what = f"The class that tree {number} votes for."
    body = writer.nested() if is_small else writer.looped()
    return [*parts, function(f"int {called}({style.row})", what, body)]


class _TreeWriter:
    """Writes what one tree needs."""

    def __init__(self, style: Style, plain: ReducedModel, number: int, flat: FlatTree) -> None:
        self.style, self.plain, self.number, self.flat = style, plain, number, flat
        self.labels = plain.classes.tolist()
        self.tree = plain.trees[number]
        self.is_vote, self.is_one_of_many = plain.task == "vote", plain.is_one_of_many
        self.used = np.unique(flat.features).tolist()
        self.directed = {int(flat.parts(flat.functions[node])[0][0]) for node in np.flatnonzero(flat.missing)}
        leaves = np.flatnonzero(flat.is_leaf)
        self.answers = np.full(len(flat.children), -1)
        self.answers[leaves] = self.tree.votes[leaves] if self.is_vote else np.arange(len(leaves))

    # ------------------------------------------------------------------ attributes

    def _code_name(self, m: int) -> str:
        return f"{self.style.name}_code{m}" + (f"_tree{self.number}" if self.is_one_of_many else "")

    def code(self, m: int) -> str:
        """Write what gives a category the number that stands for it in this tree."""
        style, codes = self.style, self.flat.codes[m]
        unknown = codes == self.flat.missing_mark if style.is_fixed else np.isnan(codes)
        written = [style.marker if gone else style.number(code) for code, gone in zip(codes, unknown, strict=True)]
        return function(
            f"{style.input} {self._code_name(m)}({style.input} number)",
            f"What stands for a category of {comment(self.plain.feature_names[m])}.",
            [
                table(style.input, "codes", written),
                f"    return number >= 0 && number < {len(codes)} ? codes[(int)number] : {style.marker};",
            ],
        )

    def _variables(self) -> list[str]:
        """Write variables for the attributes that the tree asks for."""
        style, flat, lines = self.style, self.flat, []
        for m in self.used:
            raw = f"x[{m}]"
            if m in flat.codes:
                raw = f"c{m}"
                lines.append(f"    const {style.input} c{m} = {self._code_name(m)}(x[{m}]);")
            gone = f"{raw} == {style.marker}" if style.is_fixed or m in flat.codes else f"{raw} != {raw}"
            if m in self.directed:
                lines.append(f"    const int m{m} = {gone};")
                gone = f"m{m}"
            filled = f"{gone} ? {style.number(flat.fill[m])} : {raw}"
            lines.append(f"    const {style.sum} v{m} = {filled}; /* {comment(self.plain.feature_names[m])} */")
        return lines or ["    (void)x;"]

    # ------------------------------------------------------------------ nested ifs

    def nested(self) -> list[str]:
        """Write a tree as nested ifs."""
        lines = self._variables()
        self._branch(0, "    ", lines)
        return lines

    def _branch(self, node: int, indent: str, lines: list[str]) -> None:
        if self.flat.is_leaf[node]:
            lines.append(f"{indent}return {self.answers[node]}; /* {self._leaf(node)} */")
        elif self.flat.is_machine:
            self._machine(node, indent, lines)
        else:
            self._test(node, indent, lines)

    def _leaf(self, node: int) -> str:
        if self.plain.has_numbers:
            return f"leaf {node}, {self.tree.leaves[node, 0]:.6g}"
        return f"leaf {node}, class {comment(self.labels[self.tree.votes[node]], 40)}"

    def _test(self, node: int, indent: str, lines: list[str]) -> None:
        flat, deeper = self.flat, indent + "    "
        tree: Any = self.tree.tree
        own = flat.functions[node]
        test = f"{self._linear(own, deeper)} > {self.style.number(flat.constants[own])}"
        if flat.missing[node]:
            m = flat.parts(own)[0][0]
            test = f"m{m} || {test}" if flat.missing[node] > 0 else f"!m{m} && {test}"
        lines.append(f"{indent}/* {comment(tree.equation(node), 100)} */")
        lines.append(f"{indent}if ({test}) {{")
        self._branch(int(flat.children[node, 1]), deeper, lines)
        lines.append(f"{indent}}}")
        self._branch(int(flat.children[node, 0]), indent, lines)

    def _machine(self, node: int, indent: str, lines: list[str]) -> None:
        tree: Any = self.tree.tree
        deeper, own = indent + "    ", self.flat.of_node(node)
        lines += [f"{indent}{{", f"{deeper}const {self.style.sum} f[] = {{"]
        for one, written in zip(own, tree.branch_functions(node), strict=True):
            lines.append(f"{deeper}    /* {comment(written, 90)} */")
            lines.append(f"{deeper}    {self._linear(one, deeper + '    ')},")
        lines += [f"{deeper}}};", f"{deeper}switch ({self.style.name}_largest(f, {len(own)})) {{"]
        for branch in range(len(own)):
            lines.append(f"{deeper}{'default' if branch == len(own) - 1 else f'case {branch}'}:")
            self._branch(int(self.flat.children[node, branch]), deeper + "    ", lines)
        lines += [f"{deeper}}}", f"{indent}}}"]

    def _linear(self, one: int, indent: str) -> str:
        """Write the sum of a function of the tree."""
        flat, write = self.flat, self.style.number
        features, coefficients = flat.parts(one)
        start = [write(flat.constants[one])] if flat.is_machine else []
        return wrapped(linear(start, coefficients.tolist(), [f"v{m}" for m in features], write), " ", indent)

    # ------------------------------------------------------------------ tables

    def looped(self) -> list[str]:
        """Write a tree as tables: inner nodes from 0 on, and -1 - answer for leaves."""
        style, flat = self.style, self.flat
        lines = [
            *self._variables(),
            self._array(style.sum, "v", [f"v{m}" for m in self.used]),
            integers("term", flat.terms),  # where the terms of each function begin
            integers("feature", np.searchsorted(self.used, flat.features)),
            style.numbers_table("int32_t" if style.is_fixed else style.sum, "coefficient", flat.coefficients),
            style.numbers_table(style.sum, "constant", flat.constants),
        ]
        nodes = np.flatnonzero(~flat.is_leaf)
        goes_to = np.where(flat.is_leaf, -1 - self.answers, np.cumsum(~flat.is_leaf) - 1)
        tables, step = (self._machine_loop if flat.is_machine else self._test_loop)(nodes, goes_to)
        start, end = ["    long node = 0;", "    do {"], ["    } while (node >= 0);", "    return (int)(-1 - node);"]
        return [*lines, *tables, *start, *step, *end]

    def _array(self, kind: str, name: str, values: list[str]) -> str:
        """Write variables as an array."""
        return f"    const {kind} {name}[] = {{{wrapped(values, ', ', '        ')}}};"

    def _test_loop(self, nodes: np.ndarray, goes_to: np.ndarray) -> tuple[list[str], list[str]]:
        """Return further tables, and how a row goes from `node` to the next."""
        tables = [integers("next", goes_to[self.flat.children[nodes]].ravel())]  # left and right
        directed = []
        if self.directed:
            tables.append(integers("side", self.flat.missing[nodes]))  # where missing values go
            tables.append(self._array("int", "missing", [f"m{m}" if m in self.directed else "0" for m in self.used]))
            directed.append("        if (side[node] && missing[feature[term[node]]]) right = side[node] > 0;")
        return tables, [
            f"        {self.style.sum} sum = 0;",
            "        int right;",
            "        long i;",
            "        for (i = term[node]; i < term[node + 1]; ++i)",
            "            sum += coefficient[i] * v[feature[i]];",
            "        right = sum > constant[node];",
            *directed,
            "        node = next[2 * node + right];",
        ]

    def _machine_loop(self, nodes: np.ndarray, goes_to: np.ndarray) -> tuple[list[str], list[str]]:
        """Return further tables, and how a row goes from `node` to the next."""
        flat, style = self.flat, self.style
        branches = np.concatenate([goes_to[flat.children[n][: len(flat.of_node(int(n)))]] for n in nodes])
        first = np.concatenate([flat.functions[nodes], [len(flat.constants)]])  # the first function of each node
        return [integers("first", first), integers("next", branches)], [
            f"        {style.sum} f[{int(np.diff(first).max())}];",
            "        const int n = (int)(first[node + 1] - first[node]);",
            "        int j;",
            "        long i;",
            "        for (j = 0; j < n; ++j) {",
            "            f[j] = constant[first[node] + j];",
            "            for (i = term[first[node] + j]; i < term[first[node] + j + 1]; ++i)",
            "                f[j] += coefficient[i] * v[feature[i]];",
            "        }",
            f"        node = next[first[node] + {style.name}_largest(f, n)];",
        ]
