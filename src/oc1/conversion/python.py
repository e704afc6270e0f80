"""A model as a plain Python module: no imports, nothing but numbers and ifs."""

from __future__ import annotations

import builtins
import keyword
import math
import textwrap
from typing import Any

import numpy as np

from .. import __version__
from ..learners.reduction import ReducedModel, reduce_model
from ..tree.validation import cut
from .values import all_different, known_categories, labels_of, linear, made_of, plain_value

#: A tree of more levels or leaves is cut into several functions: Python refuses a hundred nested blocks.
MAX_LEVELS, MAX_LEAVES = 20, 200


def to_python(model: Any, *, name: str = "predict") -> str:
    """Return a fitted model as the source of a Python module.

    The module imports nothing and runs on Python 3.8 and later. It has a function that classifies one example, or
    predicts its number, and for classes another one, ``predict_proba``, that returns their probabilities in the order
    of the module's ``CLASSES``. Both give what the model gives, to the last bit.

    Parameters
    ----------
    model : fitted estimator of this package
    name : str, default="predict"
        What the function is called; the other one's name is this and ``_proba``.

    Returns
    -------
    str
        An example is a sequence in the order of ``ATTRIBUTES``, or a mapping by their names; None and NaN are missing
        values, and so are unknown categories. (Infinite values, which the model refuses, are not refused.)

    Examples
    --------
    >>> import numpy as np
    >>> from oc1 import OC1Classifier
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> print(to_python(OC1Classifier(splits="axis", prune=None).fit(X, [0, 0, 1, 1])).split("def ")[2].strip())
    _tree_1(x):
        x1 = x[0] if x[0] == x[0] else 1.5  # 'x1'
        if x1 > 1.5:
            return 1, (0.0, 1.0)  # 1
        else:
            return 0, (1.0, 0.0)  # 0
    """
    if not (name.isidentifier() and name.isascii()) or keyword.iskeyword(name) or name.startswith("_"):
        raise ValueError(f"name must be a valid name of a Python function that does not begin with _, got {name!r}")
    if name in dir(builtins) or name in ("ATTRIBUTES", "CLASSES"):
        raise ValueError(f"name={name!r} would hide something that the module needs; choose another name")
    plain = reduce_model(model)
    labels = [] if plain.has_numbers else labels_of(plain)[0]
    parts = [_head(model, plain, labels), _reader(plain)]
    if not all(tree.tree.has_thresholds for tree in plain.trees):
        parts.append(_LARGEST)
    parts += [_TreeWriter(plain, number, labels).functions() for number in range(1, len(plain.trees) + 1)]
    parts.append(_answers(plain, name))
    return "\n\n\n".join(part.strip("\n") for part in parts) + "\n"


def literal(value: Any) -> str:
    """Write a plain value so that Python reads the same one."""
    if isinstance(value, float) and not math.isfinite(value):
        return f'float("{value}")'
    return repr(value)


def _row(values: Any) -> str:
    """Write a tuple."""
    written = [literal(value) for value in values]
    return f"({', '.join(written)}{',' if len(written) == 1 else ''})"


def _listed(called: str, values: list[Any]) -> str:
    """Write a tuple under a name, on as many lines as it takes."""
    one_line = f"{called} = {_row(values)}"
    if len(one_line) <= 100:
        return one_line
    return f"{called} = (\n" + "".join(f"    {literal(value)},\n" for value in values) + ")"


def _head(model: Any, plain: ReducedModel, labels: list[Any]) -> str:
    title = f"{type(model).__name__} of the Python package oc1, version {__version__}, as plain Python."
    what = made_of(plain)
    paragraphs = [f"{what[0].upper()}{what[1:]}. An example has {len(plain.feature_names)} attributes: see ATTRIBUTES."]
    paragraphs += [f"{note[0].upper()}{note[1:]}." for note in plain.notes]
    words = "\n\n".join(textwrap.fill(paragraph, 100) for paragraph in [title, *paragraphs])
    constants = [_listed("ATTRIBUTES", [str(feature) for feature in plain.feature_names])]
    if not plain.has_numbers:
        constants.append(_listed("CLASSES", labels))
    return f'"""{words}\n"""\n\n' + "\n".join(constants)


def _reader(plain: ReducedModel) -> str:
    categorical = sorted(known_categories(plain))
    numbers = "float(value) if value is not None else _NAN"
    values = f"    return [{numbers} for value in x]"
    if categorical:
        values = (
            f"    return [\n        value if at in {_row(categorical)} else {numbers}\n"
            "        for at, value in enumerate(x)\n    ]"
        )
    return f'''
_NAN = float("nan")


def _values(x):
    """Return the values of an example in their order."""
    if hasattr(x, "keys"):
        x = [x[name] for name in ATTRIBUTES]
    if len(x) != len(ATTRIBUTES):
        raise ValueError("an example has %d values, not %d" % (len(ATTRIBUTES), len(x)))
{values}
'''


_LARGEST = '''
def _largest(values):
    """Return the place of the largest value, the first of equals; what is no number comes before all others."""
    best = 0
    for place, value in enumerate(values):
        if value > values[best] or (value != value and values[best] == values[best]):
            best = place
    return best
'''


class _TreeWriter:
    """Writes a tree as functions of nested ifs: one, and further ones for parts of a large tree."""

    def __init__(self, plain: ReducedModel, number: int, labels: list[Any]) -> None:
        self.plain, self.number, self.labels = plain, number, labels
        self.tree = plain.trees[number - 1]
        self.own = self.tree.tree
        self.is_leaf, self.directions = self.own.is_leaf, self.own.directions  # computed from all nodes each time
        self.variables = _variables(plain)
        self.roots = part_roots(self.own.children, MAX_LEAVES, MAX_LEVELS)
        self.ask = self._ask_test if self.own.has_thresholds else self._ask_machine

    def functions(self) -> str:
        """Write the functions of the tree, and the constants that they need."""
        constants, coded = self._codes()
        parts = [self._part(root, [] if root else coded) for root in sorted(self.roots)]
        return "\n\n\n".join(["\n".join(constants), *parts] if constants else parts)

    def _called(self, root: int) -> str:
        return f"_tree_{self.number}" + (f"_{root}" if root else "")

    def _part(self, root: int, lines: list[str]) -> str:
        """Write the part of the tree that begins at a root, after variables for the attributes that it asks for."""
        inner = [node for node in part_nodes(self.own.children, root, self.roots) if not self.is_leaf[node]]
        for column in sorted({m for node in inner for m in self.own.node_functions(node).features.tolist()}):
            value, fill = f"x[{column}]", literal(float(self.own.fill[column]))
            seen = f"    {self.variables[column]} = {value} if {value} == {value} else {fill}"
            lines.append(f"{seen}  # {cut(str(self.plain.feature_names[column]))}")
        return "\n".join([f"def {self._called(root)}(x):", *lines, *self._node(root, "    ")])

    def _codes(self) -> tuple[list[str], list[str]]:
        """Write the codes of the categories as constants, and the lines that put them in their places."""
        constants, lines = [], []
        for column, codes in sorted(self.tree.codes.items()):
            called = f"_CODES_{self.number}_{column + 1}"
            keys = [literal(plain_value(value, "the category")) for value in codes]
            pairs = [f"    {key}: {literal(code)},\n" for key, code in zip(keys, codes.values(), strict=True)]
            constants.append(f"{called} = {{\n{''.join(pairs)}}}")
            lines.append(f"    x[{column}] = {called}.get(x[{column}], _NAN)")
        return constants, ["    x = list(x)", *lines] if lines else []

    def _leaf(self, node: int) -> str:
        """Write what a leaf says: a number, the class it votes for, probabilities, or (class, probabilities)."""
        if self.plain.has_numbers:
            return literal(float(self.tree.leaves[node, 0]))
        vote = int(self.tree.votes[node])
        if self.plain.task == "shares":
            return f"{_row(self.tree.leaves[node].tolist())}  # {cut(self.labels[vote])}"
        shares = "" if self.plain.task == "vote" else f", {_row(self.tree.leaves[node].tolist())}"
        return f"{vote}{shares}  # {cut(self.labels[vote])}"

    def _node(self, node: int, indent: str) -> list[str]:
        if self.is_leaf[node]:
            return [f"{indent}return {self._leaf(node)}"]
        before, branches = self.ask(node)
        lines, deeper = [indent + line for line in before], indent + "    "
        for question, child in branches:
            called = [f"{deeper}return {self._called(child)}(x)"] if child in self.roots else self._node(child, deeper)
            lines += [indent + question, *called]
        return lines

    def _ask_test(self, node: int) -> tuple[list[str], list[tuple[str, int]]]:
        """Write an inner node: lines that come first, and for each child a line that begins its block."""
        features, (coefficients,), (threshold,) = (part.tolist() for part in self.own.node_functions(node))
        terms = linear([], coefficients, [self.variables[m] for m in features], literal)
        test = f"{' '.join(terms)} > {literal(threshold)}"
        way, value = self.directions[node], f"x[{features[0]}]"
        if way:
            test = f"{value} != {value} or {test}" if way > 0 else f"{value} == {value} and {test}"
        left, right = self.own.children[node].tolist()
        return [], [(f"if {test}:", right), ("else:", left)]

    def _ask_machine(self, node: int) -> tuple[list[str], list[tuple[str, int]]]:
        features, coefficients, constants = (part.tolist() for part in self.own.node_functions(node))
        names = [self.variables[m] for m in features]
        written = [
            f"    {' '.join(linear([literal(one)], row, names, literal))},"
            for row, one in zip(coefficients, constants, strict=True)
        ]
        words = ["if branch == 0:", *(f"elif branch == {branch}:" for branch in range(1, len(written) - 1)), "else:"]
        children = self.own.children[node, : len(written)].tolist()
        return ["branch = _largest((", *written, "))"], list(zip(words, children, strict=True))


def part_roots(children: np.ndarray, max_leaves: int, max_levels: int) -> set[int]:
    """Return the nodes at which to cut a tree so that no part has more leaves or levels; the root is one of them.

    Examples
    --------
    >>> chain = np.array([[1, 2], [-1, -1], [3, 4], [-1, -1], [5, 6], [-1, -1], [-1, -1]])
    >>> sorted(part_roots(chain, 10, 2))
    [0, 2]
    """
    below = [[child for child in row if child >= 0] for row in children.tolist()]
    roots, leaves, levels = {0}, [1] * len(below), [0] * len(below)
    for node in range(len(below) - 1, -1, -1):  # preorder: children come after their parents
        if own := below[node]:
            if sum(leaves[child] for child in own) > max_leaves or max(levels[child] for child in own) >= max_levels:
                for child in (child for child in own if levels[child]):
                    roots.add(child)
                    leaves[child], levels[child] = 1, 0
            leaves[node], levels[node] = sum(leaves[child] for child in own), 1 + max(levels[child] for child in own)
    return roots


def part_nodes(children: np.ndarray, root: int, roots: set[int]) -> list[int]:
    """Return the nodes of the part that begins at a root, without those of other parts."""
    nodes = [root]
    for node in nodes:  # the list grows while it is walked
        nodes += [child for child in children[node].tolist() if child >= 0 and child not in roots]
    return nodes


def _variables(plain: ReducedModel) -> list[str]:
    """Return what each attribute is called inside a function: its name where Python takes it, else ``x1``, ``x2``..."""
    names = [str(feature) for feature in plain.feature_names]
    reserved = {"x", "branch", *keyword.kwlist, *dir(builtins)}
    usable = {name for name in names if name.isascii() and name.isidentifier() and names.count(name) == 1} - reserved
    usable = {name for name in usable if not name.startswith("_")}
    others = all_different((f"x{number}" for number in range(1, len(names) + 1)), usable)
    return [name if name in usable else other for name, other in zip(names, others, strict=True)]


def _answers(plain: ReducedModel, name: str) -> str:
    """Write the functions that users call."""
    if plain.task == "number":
        return f'''
def {name}(x):
    """Return the number predicted for an example."""
    return _tree_1(_values(x))
'''
    if plain.task == "class":
        return f'''
def {name}(x):
    """Return the class of an example."""
    return CLASSES[_tree_1(_values(x))[0]]


def {name}_proba(x):
    """Return the probability of each of CLASSES for an example."""
    return list(_tree_1(_values(x))[1])
'''
    trees = "".join(f"    _tree_{number},\n" for number in range(1, len(plain.trees) + 1))
    n_trees = literal(float(len(plain.trees)))
    if plain.has_numbers:
        return f'''
_TREES = (
{trees})


def {name}(x):
    """Return the number predicted for an example: the mean of what the trees predict."""
    x, total = _values(x), 0.0
    for tree in _TREES:
        total += tree(x)
    return total / {n_trees}
'''
    if plain.task == "vote":
        what, add, total = "the share of the votes for", "totals[tree(x)] += 1.0", literal(float(plain.total_votes))
    else:
        what, total = "the mean of the trees' probabilities of", n_trees
        add = "for place, share in enumerate(tree(x)):\n            totals[place] += share"
    one = f"(one + {literal(plain.smoothing)})" if plain.task == "vote" and plain.smoothing else "one"
    return f'''
_TREES = (
{trees})


def {name}(x):
    """Return the most probable class of an example, the first of equals."""
    shares = {name}_proba(x)
    return CLASSES[shares.index(max(shares))]


def {name}_proba(x):
    """Return {what} each of CLASSES."""
    x, totals = _values(x), [0.0] * len(CLASSES)
    for tree in _TREES:
        {add}
    return [{one} / {total} for one in totals]
'''
