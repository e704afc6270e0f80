"""A fitted model as one C99 header without dependencies: in doubles, in floats, or in integers."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import __version__
from ..export import equation, functions
from .fixed_point import (
    BEYOND_FLOATS,
    Rounded,
    Walk,
    column_units,
    highest,
    in_floats,
    in_integers,
    leaves_and_doubts,
    to_inputs,
)
from .plain import PlainModel, PlainTree, plain_model

#: Larger or deeper trees are written as tables and a loop, not as nested ifs: compilers are quick with those.
MOST_LEAVES, MOST_DEPTH = 64, 15
#: What the shares of the classes add up to in a file of integers.
ONE = 1 << 15
#: The longest string that C99 promises to take.
LONGEST_TEXT = 4095
WIDTH = 110
#: Compilers must neither fuse products into sums nor forget NaN.
SAFETY = """\
#if defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__
#error "this file needs NaN and exact sums: compile it without -ffast-math"
#endif
#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#elif defined(__GNUC__)
#pragma GCC push_options
#pragma GCC optimize("fp-contract=off")
#elif defined(_MSC_VER)
#pragma fp_contract(off)
#else
#pragma STDC FP_CONTRACT OFF
#endif"""
END_OF_SAFETY = """\
#if defined(__clang__)
#pragma STDC FP_CONTRACT DEFAULT
#elif defined(__GNUC__)
#pragma GCC pop_options
#endif"""


@dataclass(frozen=True)
class CFile:
    """A model as C, and what rounding costs.

    Attributes
    ----------
    text : str
        The header; plain ASCII.
    n_rows : int or None
        On how many rows the rounded model was tried; None for doubles, which round nothing, and if no rows were given.
    n_different : int or None
        How many of them get another class than in doubles (for numbers: end in another leaf).
    n_close : int or None
        How many are so close to a test on their path that rounding could send them elsewhere: no others can differ.
    """

    text: str
    n_rows: int | None = None
    n_different: int | None = None
    n_close: int | None = None

    def __str__(self) -> str:
        return self.text


def to_c(
    model: Any,
    *,
    name: str = "oc1_tree",
    numbers: str = "double",
    bits: int = 32,
    data: Any = None,
    labels: Sequence[str] | None = None,
) -> CFile:
    """Write a fitted tree or vote as a C99 header.

    In doubles it does what the model does, bit for bit. (But C4.5 divides examples with missing values, which the
    header does not; and shares of votes smoothed by a fraction may differ in the last bit.)

    Parameters
    ----------
    model : fitted estimator of this package
    name : str, default="oc1_tree"
        What the names in the header begin with.
    numbers : {"double", "float", "fixed"}, default="double"
        What it computes with. "fixed" is for machines without floating point: integers that stand for multiples of a
        power of two, one for each attribute.
    bits : {16, 32}, default=32
        Size of those integers. Sums have twice as many bits.
    data : array-like (n_samples, n_features), optional
        Training rows, in the form in which the model takes them. They say how large the attributes become ("fixed"
        needs that), and on how many of them the header differs from the model.
    labels : sequence of str, optional
        What the classes are called, in their order; None: what they are.

    Returns
    -------
    CFile

    Examples
    --------
    >>> from oc1 import OC1Classifier
    >>> from oc1.datasets import make_pol
    >>> X, y = make_pol(random_state=0)
    >>> file = to_c(OC1Classifier(random_state=0).fit(X, y), name="pol", numbers="fixed", data=X)
    >>> print(file.text.splitlines()[2])
     * It is a tree with 5 leaves, for 2 classes.
    >>> file.n_rows, file.n_different
    (2000, 0)
    """
    if not isinstance(name, str) or not re.fullmatch("[A-Za-z][A-Za-z0-9_]{0,39}", name):
        raise ValueError(
            f"name={name!r} is no name in C: give up to 40 letters, digits and underscores, a letter first"
        )
    if numbers not in ("double", "float", "fixed"):
        raise ValueError(f'numbers must be "double", "float" or "fixed", got {numbers!r}')
    if bits not in (16, 32):
        raise ValueError(f"bits must be 16 or 32, got {bits!r}")
    if numbers == "fixed" and data is None:
        raise ValueError('numbers="fixed" needs data, the training rows: they say how large the attributes become')
    plain = plain_model(model)
    rows: Any = None if data is None else np.asarray(model._checked(data), dtype=float)
    categories = _categories(model, plain)
    if numbers == "fixed" and any(len(values) > highest(bits) for values in categories.values()):
        raise ValueError(f"an attribute has too many categories for integers of {bits} bits; give bits=32")
    texts = [str(label) for label in (plain.classes.tolist() if labels is None else labels)]
    if len(texts) != len(plain.classes):
        raise ValueError(f"labels has {len(texts)} names, but the model has {len(plain.classes)} classes")
    exact = [Walk.make(tree, categories) for tree in plain.trees]
    units, inputs = np.ones(len(plain.feature_names)), rows
    rounded: list[Rounded] | None = None
    if numbers == "fixed":
        units = column_units(rows, exact, bits)
        inputs = to_inputs(rows, units, bits)
        rounded = [in_integers(walk, units, bits) for walk in exact]
    elif numbers == "float":
        rounded = [in_floats(walk) for walk in exact]
        with np.errstate(over="ignore", under="ignore"):
            inputs = None if rows is None else rows.astype(np.float32)
    cost: tuple[int | None, int | None, int | None] = (None, None, None)
    if rounded is not None and rows is not None:
        cost = (len(rows), *_count_differences(plain, exact, rounded, rows, inputs))
    walks = exact if rounded is None else [one.walk for one in rounded]
    writer = _Writer(plain, walks, type(model).__name__, name, numbers, bits, units, categories, texts, cost)
    return CFile(writer.file(), *cost)


def _categories(model: Any, plain: PlainModel) -> dict[int, list]:
    """Return the values of each categorical column in the order of their numbers."""
    known = getattr(model, "categories_", None) or [None] * len(plain.feature_names)
    return {m: list(own.tolist()) for m, own in enumerate(known) if own is not None}


def _count_differences(
    plain: PlainModel, exact: list[Walk], rounded: list[Rounded], rows: np.ndarray, inputs: np.ndarray
) -> tuple[int, int]:
    """Return how many rows get another answer after rounding, and how many could."""
    voices, own_voices, sure = (np.zeros((len(rows), max(1, len(plain.classes)))) for _ in range(3))
    doubts = np.zeros(len(rows))
    everyone = np.arange(len(rows))
    different = np.zeros(len(rows), dtype=bool)
    for tree, walk, own in zip(plain.trees, exact, rounded, strict=True):
        leaves, doubtful = leaves_and_doubts(walk, own, rows, inputs)
        own_leaves = own.walk.leaves(inputs)
        different = leaves != own_leaves
        voices[everyone, tree.votes[leaves]] += 1
        own_voices[everyone, tree.votes[own_leaves]] += 1
        sure[everyone, tree.votes[leaves]] += ~doubtful
        doubts += doubtful
    if plain.task == "number":
        return int(different.sum()), int(doubts.sum())
    winner = voices.argmax(axis=1)
    # Another class could win if it had all doubtful voices; of equals the first wins.
    reach = sure + doubts[:, None]
    ahead = sure[everyone, winner, None] - reach - (np.arange(voices.shape[1]) < winner[:, None])
    ahead[everyone, winner] = 0
    return int((winner != own_voices.argmax(axis=1)).sum()), int((ahead < 0).any(axis=1).sum())


# ---------------------------------------------------------------------------------------------------- users' texts


def comment(text: Any, longest: int = 60) -> str:
    r"""Write a user's text so that it can stand in a comment: ASCII, nothing that could end the comment or the line.

    Examples
    --------
    >>> comment("a*/b")
    'a\\u002a/b'
    """
    text = str(text)
    text = text if len(text) <= longest else text[: longest - 3] + "..."
    text = re.sub(r"[^ -~]|[\\*]|\?(?=\?)", lambda found: f"\\u{ord(found[0]):04x}", text)
    return text


def string(text: str) -> str:
    r"""Write a user's text as a string of C, in UTF-8.

    Examples
    --------
    >>> print(string('say "??/"\n'))
    "say \"\?\?/\"\012"
    """
    raw = text.encode("utf-8", "surrogatepass")
    if len(raw) > LONGEST_TEXT:
        raise ValueError(f"the class label {comment(text)!r} is too long for C; give labels")
    return '"' + "".join(_character(byte) for byte in raw) + '"'


def _character(byte: int) -> str:
    if chr(byte) in '"\\?':
        return "\\" + chr(byte)
    return chr(byte) if 32 <= byte < 127 else f"\\{byte:03o}"


def identifiers(texts: Iterable[Any]) -> list[str]:
    """Turn texts into different ends of C names.

    Examples
    --------
    >>> identifiers(["petal len", "petal-len", ""])
    ['petal_len', 'petal_len_1', '2']
    """
    taken: set[str] = set()
    ends = []
    for number, text in enumerate(texts):
        plain = re.sub("[^A-Za-z0-9]+", "_", str(text)[:60]).strip("_")
        end, extra = plain or str(number), f"_{number}"
        while end in taken:
            end, extra = plain + extra, extra + "_"
        taken.add(end)
        ends.append(end)
    return ends


# ---------------------------------------------------------------------------------------------------- the file


def _wrapped(parts: Iterable[str], joint: str, indent: str) -> str:
    """Join parts, with line breaks at joints where lines become long."""
    lines: list[str] = []
    for part in parts:
        if lines and len(lines[-1]) + len(joint) + len(part) <= WIDTH:
            lines[-1] += joint + part
        else:
            if lines:
                lines[-1] += joint.rstrip()
            lines.append(indent + part)
    return "\n".join(lines)[len(indent) :]


def _integer_type(numbers: np.ndarray) -> str:
    """Return the smallest type that C promises to hold these integers."""
    most = int(np.abs(numbers).max(initial=0))
    return "signed char" if most < 1 << 7 else "short" if most < 1 << 15 else "long"


class _Writer:
    """Writes the header of one model."""

    def __init__(self, plain, walks, learner, name, numbers, bits, units, categories, labels, cost):
        self.plain: PlainModel = plain
        self.walks: list[Walk] = walks
        self.learner, self.name, self.big = learner, name, name.upper()
        self.is_fixed = numbers == "fixed"
        self.bits, self.units, self.categories, self.labels, self.cost = bits, units, categories, labels, cost
        self.input = f"int{bits}_t" if self.is_fixed else numbers
        self.sum = f"int{2 * bits}_t" if self.is_fixed else numbers
        self.share = "uint16_t" if self.is_fixed else numbers
        self.is_float = numbers == "float"
        self.row = f"const {self.input} x[{self.big}_N_FEATURES]"
        self.names = [comment(one) for one in plain.feature_names]
        self.marker = f"{self.big}_MISSING" if self.is_fixed else f"{self.big}_UNKNOWN"

    # ------------------------------------------------------------------ small things

    def number(self, value: float | int) -> str:
        """Write a number in full: it is read back as the same one."""
        if self.is_fixed:
            return str(int(value))
        if not self.is_float:
            return repr(float(value))
        if abs(value) > np.finfo(np.float32).max:
            raise ValueError(BEYOND_FLOATS)
        return f"{np.float32(value)!s}f"

    def table(self, kind: str, name: str, values: Sequence, indent: str = "    ", size: str = "") -> str:
        body = _wrapped((v if isinstance(v, str) else self.number(v) for v in values), ", ", indent + "    ")
        return f"{indent}static const {kind} {name}[{size}] = {{\n{indent}    {body}\n{indent}}};"

    def integers(self, name: str, values: np.ndarray) -> str:
        return self.table(_integer_type(values), name, [str(int(v)) for v in values])

    def is_gone(self, m: int, value: str) -> str:
        """Write the question whether a value is missing."""
        return f"{value} == {self.marker}" if self.is_fixed or m in self.categories else f"{value} != {value}"

    def code_name(self, tree: int, m: int) -> str:
        return f"{self.name}_code{m}" + (f"_tree{tree}" if self.plain.task == "vote" else "")

    def what_leaf(self, plain: PlainTree, node: int) -> str:
        if self.plain.task == "number":
            return f"leaf {node}, {plain.leaves[node, 0]:.6g}"
        return f"leaf {node}, class {comment(self.labels[plain.votes[node]], 40)}"

    # ------------------------------------------------------------------ parts of the file

    def file(self) -> str:
        guard = f"{self.big}_H_INCLUDED"
        parts = [self.top(), f"#ifndef {guard}\n#define {guard}", self.safety(), self.sizes()]
        if self.is_fixed:
            parts.append(self.inputs())
        if self.categories:
            parts.append(self.category_numbers())
        if any(walk.is_machine for walk in self.walks):
            parts.append(self.largest())
        for number, (plain, walk) in enumerate(zip(self.plain.trees, self.walks, strict=True)):
            parts += [self.code(number, m, own) for m, own in walk.codes.items() if m in walk.features]
            parts.append(self.tree(number, plain, walk))
        parts.append(self.votes() if self.plain.task == "vote" else self.answers())
        if not self.is_fixed:
            parts.append(END_OF_SAFETY)
        parts.append(f"#endif /* {guard} */")
        return "\n\n".join(parts) + "\n"

    def top(self) -> str:
        plain, trees = self.plain, self.plain.trees
        kind = f"{self.bits}-bit integers" if self.is_fixed else f"{self.input}s"
        leaves = sum(tree.tree.n_leaves for tree in trees)
        what = "numbers" if plain.task == "number" else f"{len(self.labels)} classes"
        made_of = f"{len(trees)} trees that vote, " if plain.task == "vote" else "a tree with "
        lines = [
            f"A model made by oc1 {__version__} ({self.learner}), as C99 with {kind}.",
            "",
            f"It is {made_of}{leaves} {'leaf' if leaves == 1 else 'leaves'}, for {what}.",
            "",
            *self.how_to_call(),
            "",
            *self.how_it_computes(),
            *(f"Note: {note}." for note in plain.notes),
            "",
            "Attributes:",
            *(self.attribute(m) for m in range(len(self.names))),
        ]
        if plain.task != "number":
            lines += ["", "Classes:", *(f"  {c}  {comment(label)}" for c, label in enumerate(self.labels))]
        return "/* " + "\n * ".join(lines).replace("* \n", "*\n") + "\n */"

    def how_to_call(self) -> list[str]:
        calls = {}
        if self.plain.task == "number":
            calls["predict(x)"] = "the predicted number" + (f" times {self.big}_SCALE" if self.is_fixed else "")
        else:
            total = f", as integers that add up to {ONE}" if self.is_fixed else ""
            if self.is_fixed and self.plain.task == "vote":
                total += f" or up to {len(self.labels)} less"
            calls["predict(x)"] = f"the class, an index of {self.big}_LABELS"
            calls["probabilities(x, p)"] = f"the share of each class{total}"
        if self.plain.task != "vote":
            calls["leaf(x)"] = "the number of the leaf"
        wide = max(map(len, calls))
        lines = [f"  {self.name}_{call.ljust(wide)}  {what}" for call, what in calls.items()]
        return [f"With a row {self.input} x[{self.big}_N_FEATURES]:", *lines]

    def how_it_computes(self) -> list[str]:
        lines = ["Rows take the same way as in Python: sums are rounded alike, term by term."]
        if self.is_fixed:
            lines = [
                f"Attributes are integers: x times a power of two, rounded ({self.big}_FIX_... does it, and cuts off",
                f"at the ends of the range); {self.big}_MISSING where a value is missing. No sum can overflow.",
            ]
        elif self.is_float:
            lines = ["Parameters and sums are floats: rows very near a test may go another way than in doubles."]
        if not self.is_fixed:
            lines += [
                "A missing value is NaN. A compiler that fuses a * b + c into one operation rounds once where two are",
                "meant; the pragmas below forbid it (as do -std=c99 or -ffp-contract=off). Do not use -ffast-math,",
                "nor an x87, whose sums have more digits.",
            ]
        if self.cost[0] is not None:
            rows, different, close = self.cost
            other = "end in another leaf" if self.plain.task == "number" else "get another class"
            lines += [
                "",
                f"Of the {rows} rows it was tried on, {different} {other} than in doubles; {close} are so close",
                "to a test that rounding could send them elsewhere. No others can differ.",
            ]
        return lines

    def attribute(self, m: int) -> str:
        line = f"  x[{m}]  {self.names[m]}"
        if m in self.categories:
            return (
                line + f": a category, by number (out of range: missing); {len(self.categories[m])} of them, see below"
            )
        if self.is_fixed:
            end = highest(self.bits) / self.units[m]
            return line + f": times {self.units[m]:.17g}, between {-end:.6g} and {end:.6g}"
        return line

    def safety(self) -> str:
        if self.is_fixed:
            return "#include <stdint.h>"
        return SAFETY

    def sizes(self) -> str:
        lines = [f"#define {self.big}_N_FEATURES {len(self.names)}"]
        if self.cost[0] is not None:
            for what, value in zip(("TESTED", "DIFFERENT", "CLOSE"), self.cost, strict=True):
                lines.append(f"#define {self.big}_ROWS_{what} {value}")
        if self.plain.task != "number":
            lines += [
                f"#define {self.big}_N_CLASSES {len(self.labels)}",
                "",
                self.table(
                    "char *const", f"{self.big}_LABELS", list(map(string, self.labels)), "", f"{self.big}_N_CLASSES"
                ),
            ]
        return "\n".join(lines)

    def inputs(self) -> str:
        most, marker = highest(self.bits), f"INT{self.bits}_MIN"
        lines = [
            "/* What a missing value is, and measurements as integers (constants are turned at compile time). */",
            f"#define {self.big}_MISSING {marker}",
            f"#define {self.big}_FIX(x, scale) (({self.input})( \\",
            f"    (x) != (x) ? {marker} : \\",
            f"    (x) * (scale) >= {most}.0 ? {most} : (x) * (scale) <= -{most}.0 ? -{most} : \\",
            f"    ({self.input})((x) * (scale) + ((x) < 0 ? -0.5 : 0.5))))",
        ]
        for m, end in enumerate(identifiers(self.plain.feature_names)):
            if m not in self.categories:
                lines.append(f"#define {self.big}_FIX_{end}(x) {self.big}_FIX(x, {float(self.units[m])!r})")
        return "\n".join(lines)

    def category_numbers(self) -> str:
        parts = []
        if not self.is_fixed:
            most = float(np.finfo(np.float32 if self.is_float else np.float64).max)
            parts.append(f"#define {self.big}_UNKNOWN {self.number(most)} /* the code of what is not known */")
        ends = identifiers(self.plain.feature_names)
        taken: set[str] = set()
        for m, values in ((m, values) for m, values in self.categories.items() if values):
            lines = [f"enum {{ /* numbers of the categories of {self.names[m]} */"]
            for number, (value, end) in enumerate(zip(values, identifiers(values), strict=True)):
                called = f"{self.big}_VALUE_{ends[m]}_{end}"
                while called in taken:
                    called += f"_{m}"
                taken.add(called)
                comma = "," if number + 1 < len(values) else ""
                lines.append(f"    {called} = {number}{comma} /* {comment(value)} */")
            parts.append("\n".join([*lines, "};"]))
        return "\n\n".join(parts)

    def code(self, tree: int, m: int, codes: np.ndarray) -> str:
        values = [self.marker if self.is_unknown(code) else self.number(code) for code in codes]
        return "\n".join(
            [
                f"/* What stands for a category of {self.names[m]}. */",
                f"static inline {self.input} {self.code_name(tree, m)}({self.input} number)",
                "{",
                self.table(self.input, "codes", values),
                f"    return number >= 0 && number < {len(codes)} ? codes[(int)number] : {self.marker};",
                "}",
            ]
        )

    def is_unknown(self, code: float | int) -> bool:
        return code == self.walks[0].missing_mark if self.is_fixed else math.isnan(code)

    # ------------------------------------------------------------------ trees

    def tree(self, number: int, plain: PlainTree, walk: Walk) -> str:
        """Write a function that returns the leaf's place among the leaves, or in a vote the class."""
        is_vote = self.plain.task == "vote"
        leaves = np.flatnonzero(walk.is_leaf)
        answers = np.full(len(walk.children), -1)
        answers[leaves] = plain.votes[leaves] if is_vote else np.arange(len(leaves))
        what = f"The class that tree {number} votes for." if is_vote else "The place of the row among the leaves."
        small = len(leaves) <= MOST_LEAVES and plain.tree.max_depth <= MOST_DEPTH
        body = self.nested(number, plain, walk, answers) if small else self.looped(number, walk, answers)
        called = f"{self.name}_tree{number}" if is_vote else f"{self.name}_place"
        start = [] if small else [self.value(number, walk)]
        return "\n\n".join(
            [*start, "\n".join([f"/* {what} */", f"static inline int {called}({self.row})", "{", *body, "}"])]
        )

    def nested(self, number: int, plain: PlainTree, walk: Walk, answers: np.ndarray) -> list[str]:
        directed = {int(walk.parts(walk.functions[node])[0][0]) for node in np.flatnonzero(walk.missing)}
        lines = [] if len(walk.features) else ["    (void)x;"]
        for m in np.unique(walk.features).tolist():
            raw = f"x[{m}]"
            if m in walk.codes:
                raw = f"c{m}"
                lines.append(f"    const {self.input} c{m} = {self.code_name(number, m)}(x[{m}]);")
            if m in directed:
                lines.append(f"    const int m{m} = {self.is_gone(m, raw)};")
            gone = f"m{m}" if m in directed else self.is_gone(m, raw)
            lines.append(
                f"    const {self.sum} v{m} = {gone} ? {self.number(walk.fill[m])} : {raw}; /* {self.names[m]} */"
            )
        self.branch(0, plain, walk, answers, "    ", lines)
        return lines

    def branch(
        self, node: int, plain: PlainTree, walk: Walk, answers: np.ndarray, indent: str, lines: list[str]
    ) -> None:
        if walk.children[node, 0] < 0:
            lines.append(f"{indent}return {answers[node]}; /* {self.what_leaf(plain, node)} */")
            return
        deeper = indent + "    "
        if walk.is_machine:
            lines.append(f"{indent}{{")
            lines.append(f"{deeper}const {self.sum} f[] = {{")
            for function, written in zip(walk.of_node(node), functions(plain.tree, node), strict=True):
                lines.append(f"{deeper}    /* {comment(written, 90)} */")
                lines.append(f"{deeper}    {self.linear(walk, function, deeper + '    ')},")
            n = len(walk.of_node(node))
            lines += [f"{deeper}}};", f"{deeper}switch ({self.name}_largest(f, {n})) {{"]
            for branch in range(n):
                lines.append(f"{deeper}{'default' if branch == n - 1 else f'case {branch}'}:")
                self.branch(int(walk.children[node, branch]), plain, walk, answers, deeper + "    ", lines)
            lines += [f"{deeper}}}", f"{indent}}}"]
            return
        tree: Any = plain.tree
        function = walk.functions[node]
        test = f"{self.linear(walk, function, deeper)} > {self.number(walk.constants[function])}"
        if walk.missing[node]:
            m = walk.parts(function)[0][0]
            test = f"m{m} || {test}" if walk.missing[node] > 0 else f"!m{m} && {test}"
        lines.append(f"{indent}/* {comment(equation(tree, node), 100)} */")
        lines.append(f"{indent}if ({test}) {{")
        self.branch(int(walk.children[node, 1]), plain, walk, answers, deeper, lines)
        lines.append(f"{indent}}}")
        self.branch(int(walk.children[node, 0]), plain, walk, answers, indent, lines)

    def linear(self, walk: Walk, function: int, indent: str) -> str:
        """Write a sum, its terms in order; minus is plus of the negative, to the bit."""
        terms = []
        if walk.is_machine:
            terms.append(self.number(walk.constants[function]))
        for m, c in zip(*walk.parts(function), strict=True):
            size = self.number(abs(c))
            product = f"v{m}" if c in (1, -1) else f"{size} * v{m}"
            sign = "-" if c < 0 else "+"
            terms.append((f"{sign} " if terms else "-" * int(c < 0)) + product)
        return _wrapped(terms, " ", indent)

    def value(self, number: int, walk: Walk) -> str:
        """Write what gives a large tree the value of an attribute."""
        used = [m for m in walk.codes if m in walk.features]
        cases = [f"    case {m}: value = {self.code_name(number, m)}(value); break;" for m in used]
        gone = "value == " + self.marker if self.is_fixed else "value != value"
        if used and not self.is_fixed:
            gone += f" || (value == {self.marker} && ({' || '.join(f'm == {m}' for m in used)}))"
        return "\n".join(
            [
                "/* The value of attribute m, and whether it is missing. */",
                f"static inline {self.sum} {self.name}_value{number}({self.row}, int m, int *missing)",
                "{",
                self.table(self.input, "fill", walk.fill.tolist(), size=f"{self.big}_N_FEATURES"),
                f"    {self.input} value = x[m];",
                *(["    switch (m) {", *cases, "    default: break;", "    }"] if cases else []),
                f"    *missing = {gone};",
                "    return *missing ? fill[m] : value;",
                "}",
            ]
        )

    def looped(self, number: int, walk: Walk, answers: np.ndarray) -> list[str]:
        """Write a tree as tables: inner nodes from 0 on, and -1 - answer for leaves."""
        inner = np.cumsum(~walk.is_leaf) - 1
        goes_to = np.where(walk.is_leaf, -1 - answers, inner)
        nodes = np.flatnonzero(~walk.is_leaf)
        kind = "int32_t" if self.is_fixed else self.sum
        value = f"{self.name}_value{number}(x, feature[i], &missing)"
        lines = [
            self.integers("term", walk.terms),  # where the terms of each function begin
            self.integers("feature", walk.features),
            self.table(kind, "coefficient", walk.coefficients.tolist()),
            self.table(self.sum, "constant", walk.constants.tolist()),
        ]
        if walk.is_machine:
            branches = np.concatenate([goes_to[walk.children[n][: len(walk.of_node(int(n)))]] for n in nodes])
            first = np.concatenate([walk.functions[nodes], [len(walk.constants)]])
            return [
                *lines,
                self.integers("first", first),  # the first function of each node
                self.integers("next", branches),
                "    long node = 0;",
                "    do {",
                f"        {self.sum} f[{int(np.diff(first).max())}];",
                "        const int n = (int)(first[node + 1] - first[node]);",
                "        int j, missing;",
                "        long i;",
                "        for (j = 0; j < n; ++j) {",
                "            f[j] = constant[first[node] + j];",
                "            for (i = term[first[node] + j]; i < term[first[node] + j + 1]; ++i)",
                f"                f[j] += coefficient[i] * {value};",
                "        }",
                f"        node = next[first[node] + {self.name}_largest(f, n)];",
                "    } while (node >= 0);",
                "    return (int)(-1 - node);",
            ]
        directed = walk.missing[nodes].any()
        return [
            *lines,
            self.integers("next", goes_to[walk.children[nodes]].ravel()),  # left and right
            *([self.integers("side", walk.missing[nodes])] if directed else []),  # where missing values go
            "    long node = 0;",
            "    do {",
            f"        {self.sum} sum = 0;",
            "        int missing = 0, right;",
            "        long i;",
            "        for (i = term[node]; i < term[node + 1]; ++i)",
            f"            sum += coefficient[i] * {value};",
            "        right = sum > constant[node];",
            *(["        if (missing && side[node]) right = side[node] > 0;"] if directed else []),
            "        node = next[2 * node + right];",
            "    } while (node >= 0);",
            "    return (int)(-1 - node);",
        ]

    def largest(self) -> str:
        first, until = ("", "") if self.is_fixed else (" (and of those that are no numbers)", " && f[best] == f[best]")
        return "\n".join(
            [
                f"/* Which is the largest, the first of equals{first}. */",
                f"static inline int {self.name}_largest(const {self.sum} f[], int n)",
                "{",
                "    int j, best = 0;",
                f"    for (j = 1; j < n{until}; ++j)",
                "        if (!(f[j] <= f[best])) best = j;",
                "    return best;",
                "}",
            ]
        )

    # ------------------------------------------------------------------ answers

    def answers(self) -> str:
        """Write the functions that a single tree has."""
        plain, walk = self.plain.trees[0], self.walks[0]
        nodes = np.flatnonzero(walk.is_leaf)
        place = f"{self.name}_place(x)"
        parts = [
            self.function(
                f"int {self.name}_leaf({self.row})",
                "The number of the leaf, as apply() counts.",
                [self.integers("leaf", nodes), f"    return leaf[{place}];"],
            )
        ]
        if self.plain.task == "number":
            values = plain.leaves[nodes, 0]
            if self.is_fixed:
                return "\n\n".join([*parts, self.fixed_values(values, place)])
            body = [self.table(self.input, "value", values.tolist()), f"    return value[{place}];"]
            head = f"{self.input} {self.name}_predict({self.row})"
            return "\n\n".join([*parts, self.function(head, "The predicted number.", body)])
        shares = plain.leaves[nodes]
        rows = [int(n) for n in _shares(shares).ravel()] if self.is_fixed else shares.ravel().tolist()
        parts.append(
            self.function(
                f"int {self.name}_predict({self.row})",
                "The class of the row.",
                [self.integers("label", plain.votes[nodes]), f"    return label[{place}];"],
            )
        )
        parts.append(
            self.function(
                f"void {self.name}_probabilities({self.row}, {self.share} p[{self.big}_N_CLASSES])",
                "The share of each class.",
                [
                    self.table(self.share, "share", rows),
                    f"    const long first = (long){place} * {self.big}_N_CLASSES;",
                    "    int c;",
                    f"    for (c = 0; c < {self.big}_N_CLASSES; ++c) p[c] = share[first + c];",
                ],
            )
        )
        return "\n\n".join(parts)

    def fixed_values(self, values: np.ndarray, place: str) -> str:
        largest = float(np.abs(values).max())
        exponent = self.bits - 1 - math.frexp(largest)[1] if largest > 0 else 0
        scale = 2.0 ** min(max(exponent, -1000), 1000)
        if largest * scale > highest(self.bits):  # rounded up to the power of two itself
            scale /= 2
        integers = np.clip(np.rint(values * scale), -highest(self.bits), highest(self.bits))
        head = f"{self.input} {self.name}_predict({self.row})"
        body = [self.table(self.input, "value", integers.tolist()), f"    return value[{place}];"]
        what = f"The predicted number times {self.big}_SCALE."
        return f"#define {self.big}_SCALE {scale!r}\n\n" + self.function(head, what, body)

    def votes(self) -> str:
        """Write the functions that a vote has."""
        n, smoothing, c = len(self.walks), self.plain.smoothing, f"{self.big}_N_CLASSES"
        count = self.function(
            f"void {self.name}_votes({self.row}, int votes[{c}])",
            "How many trees vote for each class.",
            [
                "    int c;",
                f"    for (c = 0; c < {c}; ++c) votes[c] = 0;",
                *(f"    ++votes[{self.name}_tree{number}(x)];" for number in range(n)),
            ],
        )
        ask = [f"    int votes[{c}], c;"]
        predict = self.function(
            f"int {self.name}_predict({self.row})",
            "The class with most votes, the first of equals.",
            [
                f"    int votes[{c}], c, best = 0;",
                f"    {self.name}_votes(x, votes);",
                f"    for (c = 1; c < {c}; ++c)",
                "        if (votes[c] > votes[best]) best = c;",
                "    return best;",
            ],
        )
        if self.is_fixed:
            shares = (np.arange(n + 1) + smoothing) / (n + smoothing * len(self.labels))
            # The shares of rounded votes must not add up to more than they should.
            table = self.table(self.share, "share", np.floor(shares * ONE * (1 - 1e-15)).astype(int).tolist())
            body = [
                table,
                *ask,
                f"    {self.name}_votes(x, votes);",
                f"    for (c = 0; c < {c}; ++c) p[c] = share[votes[c]];",
            ]
        else:
            more = f" + {self.number(smoothing)}" if smoothing else ""
            body = [
                *ask,
                f"    {self.input} sum = 0;",
                f"    {self.name}_votes(x, votes);",
                f"    for (c = 0; c < {c}; ++c) sum += p[c] = ({self.input})votes[c]{more};",
                f"    for (c = 0; c < {c}; ++c) p[c] /= sum;",
            ]
        head = f"void {self.name}_probabilities({self.row}, {self.share} p[{c}])"
        return "\n\n".join([count, predict, self.function(head, "The share of the votes for each class.", body)])

    def function(self, head: str, what: str, body: list[str]) -> str:
        return "\n".join([f"/* {what} */", f"static inline {head}", "{", *body, "}"])


def _shares(shares: np.ndarray) -> np.ndarray:
    """Round the shares of each row to integers that add up to `ONE`: what is left over goes to the largest rests."""
    scaled = shares * ONE
    whole = np.floor(scaled)
    left = (ONE - whole.sum(axis=1)).astype(int)
    order = np.argsort(-(scaled - whole), axis=1, kind="stable")
    rank = np.argsort(order, axis=1, kind="stable")
    return (whole + (rank < left[:, None])).astype(int)
