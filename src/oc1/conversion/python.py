"""A model as a plain Python module: no imports, nothing but numbers, ifs and small tables."""

from __future__ import annotations

import builtins
import keyword
import math
import textwrap
from typing import Any

from .. import __version__
from ..learners.reduction import ReducedModel, ReducedTree, reduce_model
from ..tree.machine import MachineTree
from .sums import asked_features, linear, machine_parts, written_total
from .values import known_categories, labels_of, plain_value, shortened

#: A tree of more levels or nodes is written as a table: nobody reads it, and Python refuses a hundred nested blocks.
MOST_LEVELS, MOST_NODES = 20, 400


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
        raise ValueError(f"name must be what a Python function can be called, not beginning with _, got {name!r}")
    if name in dir(builtins) or name in ("ATTRIBUTES", "CLASSES"):
        raise ValueError(f"name={name!r} would hide something that the module needs; choose another name")
    plain = reduce_model(model)
    labels = [] if plain.task == "number" else labels_of(plain)[0]
    parts = [_head(model, plain, labels), _reader(plain)]
    if any(isinstance(tree.tree, MachineTree) for tree in plain.trees):
        parts.append(_LARGEST)
    walked = [_is_large(tree) for tree in plain.trees]
    kinds = {isinstance(tree.tree, MachineTree) for tree, large in zip(plain.trees, walked, strict=True) if large}
    parts += [source for kind, source in ((False, _WALK), (True, _WALK_MACHINES)) if kind in kinds]
    for number, (tree, large) in enumerate(zip(plain.trees, walked, strict=True), 1):
        parts.append((_table if large else _nested)(plain, tree, labels, number))
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
    sizes = [tree.tree.n_leaves for tree in plain.trees]
    what = f"{len(sizes)} trees that vote" if plain.task == "vote" else "One tree"
    paragraphs = [f"{what}, {sum(sizes)} leaves. An example has {len(plain.feature_names)} attributes: see ATTRIBUTES."]
    paragraphs += [f"{note[0].upper()}{note[1:]}." for note in plain.notes]
    words = "\n\n".join(textwrap.fill(paragraph, 100) for paragraph in [title, *paragraphs])
    constants = [_listed("ATTRIBUTES", [str(feature) for feature in plain.feature_names])]
    if plain.task != "number":
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

_WALK = '''
def _walk(nodes, fill, x):
    """Go down a tree whose nodes are (right child, threshold, way of missing values, attributes, coefficients).

    The left child is the next node. A leaf is (None, what it says).
    """
    at = 0
    while nodes[at][0] is not None:
        right, threshold, way, attributes, coefficients = nodes[at]
        total = 0.0
        for place, coefficient in zip(attributes, coefficients):
            value = x[place]
            total += coefficient * (value if value == value else fill[place])
        if way and x[attributes[0]] != x[attributes[0]]:
            goes_right = way > 0
        else:
            goes_right = total > threshold
        at = right if goes_right else at + 1
    return nodes[at][1]
'''

_WALK_MACHINES = '''
def _walk_machines(nodes, fill, x):
    """Go down a tree whose nodes are (children, attributes, a function for each child).

    A function is (constant, coefficients). A leaf is (None, what it says).
    """
    at = 0
    while nodes[at][0] is not None:
        children, attributes, functions = nodes[at]
        seen = [x[place] if x[place] == x[place] else fill[place] for place in attributes]
        values = []
        for constant, coefficients in functions:
            for value, coefficient in zip(seen, coefficients):
                constant += value * coefficient
            values.append(constant)
        at = children[_largest(values)]
    return nodes[at][1]
'''


def _is_large(plain: ReducedTree) -> bool:
    return plain.tree.n_nodes > MOST_NODES or plain.tree.max_depth > MOST_LEVELS


def _leaf(plain: ReducedModel, tree: ReducedTree, node: int) -> str:
    """Write what a leaf says: a number, the class it votes for, or (class, probabilities)."""
    if plain.task == "number":
        return literal(float(tree.leaves[node, 0]))
    vote = str(int(tree.votes[node]))
    return vote if plain.task == "vote" else f"{vote}, {_row(tree.leaves[node].tolist())}"


def _codes(tree: ReducedTree, number: int) -> tuple[list[str], list[str]]:
    """Write the codes of the categories as constants, and the lines that put them in their places."""
    constants, lines = [], []
    for column in sorted(tree.codes):
        called = f"_CODES_{number}_{column + 1}"
        pairs = [
            f"    {literal(plain_value(value, 'the category'))}: {literal(code)},\n"
            for value, code in tree.codes[column].items()
        ]
        constants.append(f"{called} = {{\n{''.join(pairs)}}}")
        lines.append(f"    x[{column}] = {called}.get(x[{column}], _NAN)")
    return constants, ["    x = list(x)", *lines] if lines else []


def _table(plain: ReducedModel, tree: ReducedTree, labels: list[Any], number: int) -> str:
    """Write a tree as a table with a row for each node."""
    own: Any = tree.tree
    rows = []
    for node in range(own.n_nodes):
        if own.is_leaf[node]:
            says = _leaf(plain, tree, node)
            rows.append(f"    (None, {f'({says})' if plain.task == 'class' else says}),\n")
        elif isinstance(own, MachineTree):
            asked, *functions = (part.tolist() for part in machine_parts(own, node))
            written = [f"({literal(constant)}, {_row(row)})" for row, constant in zip(*functions, strict=True)]
            children = own.children[node, : len(written)].tolist()
            rows.append(f"    ({_row(children)}, {_row(asked)}, ({', '.join(written)},)),\n")
        else:
            features, coefficients, threshold = own.test(node)
            test = f"{literal(threshold)}, {int(tree.missing[node])}, {_row(features.tolist())}"
            rows.append(f"    ({int(own.children[node, 1])}, {test}, {_row(coefficients.tolist())}),\n")
    constants, lines = _codes(tree, number)
    walk = "_walk_machines" if isinstance(own, MachineTree) else "_walk"
    fill = f"_FILL_{number} = {_row(own.fill.tolist())}"
    nodes = f"_NODES_{number} = (\n{''.join(rows)})"
    body = [f"def _tree_{number}(x):", *lines, f"    return {walk}(_NODES_{number}, _FILL_{number}, x)"]
    return "\n".join([*constants, fill, nodes]) + "\n\n\n" + "\n".join(body)


def _variables(plain: ReducedModel) -> list[str]:
    """Return what each attribute is called inside a function: its name where Python takes it, else ``x1``, ``x2``..."""
    names = [str(feature) for feature in plain.feature_names]
    plainly = [
        name.isascii()
        and name.isidentifier()
        and not keyword.iskeyword(name)
        and not name.startswith("_")
        and name not in ("x", "branch", *dir(builtins))
        and names.count(name) == 1
        for name in names
    ]
    taken = {name for name, as_it_is in zip(names, plainly, strict=True) if as_it_is}
    variables = []
    for number, (name, as_it_is) in enumerate(zip(names, plainly, strict=True), 1):
        other = f"x{number}"
        while other in taken:
            other += "_"
        variables.append(name if as_it_is else other)
        taken.add(variables[-1])
    return variables


def _nested(plain: ReducedModel, tree: ReducedTree, labels: list[Any], number: int) -> str:
    """Write a tree as nested ifs."""
    own: Any = tree.tree
    variables = _variables(plain)
    constants, lines = _codes(tree, number)
    for column in asked_features(tree):
        value, fill = f"x[{column}]", literal(float(own.fill[column]))
        seen = f"    {variables[column]} = {value} if {value} == {value} else {fill}"
        lines.append(f"{seen}  # {shortened(str(plain.feature_names[column]))}")

    stack: list[Any] = [(0, 1)]  # nodes to be written, with their indentation, and lines
    while stack:
        item = stack.pop()
        if isinstance(item, str):
            lines.append(item)
            continue
        node, level = item
        indent = "    " * level
        if own.is_leaf[node]:
            comment = "" if plain.task == "number" else f"  # {shortened(labels[tree.votes[node]])}"
            lines.append(f"{indent}return {_leaf(plain, tree, node)}{comment}")
        elif isinstance(own, MachineTree):
            asked, *functions = (part.tolist() for part in machine_parts(own, node))
            names = [variables[column] for column in asked]
            lines.append(f"{indent}branch = _largest((")
            for row, constant in zip(*functions, strict=True):
                lines.append(f"{indent}    {' '.join(linear([literal(constant)], row, names, literal))},")
            lines.append(f"{indent}))")
            last = len(functions[0]) - 1
            for branch in range(last, -1, -1):
                word = "if" if branch == 0 else "elif"
                question = f"{indent}else:" if branch == last else f"{indent}{word} branch == {branch}:"
                stack += [(own.children[node, branch], level + 1), question]
        else:
            features, coefficients, threshold = own.test(node)
            terms = linear([], coefficients.tolist(), [variables[m] for m in features], literal)
            test = f"{' '.join(terms)} > {literal(threshold)}"
            way, value = tree.missing[node], f"x[{features[0]}]"
            if way:
                test = f"{value} != {value} or {test}" if way > 0 else f"{value} == {value} and {test}"
            lines.append(f"{indent}if {test}:")
            left, right = own.children[node].tolist()
            stack += [(left, level + 1), f"{indent}else:", (right, level + 1)]
    function = "\n".join([f"def _tree_{number}(x):", *lines])
    return "\n".join(constants) + "\n\n\n" + function if constants else function


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
    total = written_total(plain, [f"votes[{c}]" for c in range(len(plain.classes))], literal)
    smoothing = literal(plain.smoothing)
    smoothed = f"    votes = [vote + {smoothing} for vote in votes]\n" if plain.smoothing else ""
    return f'''
_TREES = (
{trees})


def {name}(x):
    """Return the class of an example: the one with most votes, the first of equals."""
    shares = {name}_proba(x)
    return CLASSES[shares.index(max(shares))]


def {name}_proba(x):
    """Return the share of the votes for each of CLASSES."""
    x = _values(x)
    votes = [0.0] * len(CLASSES)
    for tree in _TREES:
        votes[tree(x)] += 1.0
{smoothed}    total = {total}
    return [vote / total for vote in votes]
'''
