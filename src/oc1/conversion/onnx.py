"""A model as an ONNX graph of standard operators, which takes whole batches and works as long as its trees are deep.

Every row has the number of the node it has come to. One round for each level of a tree looks up the node's test, asks
it, and looks up the child; leaves lead to themselves.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .. import __version__
from ..learners.reduction import ReducedModel, ReducedTree, reduce_model
from ..tree.structure import TreeStructure
from .values import all_different, check_text, kind_of, known_categories, labels_of

#: Operators of this version are in onnxruntime from 1.12 on, and in most others.
OPSET, ML_OPSET, IR_VERSION = 17, 3, 8
#: Of a tree. Each level is some nine operators of the graph: more are of no use to programs that read it.
MAX_LEVELS = 5000
_ELEMENTS = {"float32": 1, "int32": 6, "int64": 7, "str": 8, "bool": 9, "float64": 11}


def to_onnx(model: Any, *, input_type: str = "double") -> bytes:
    """Return a fitted model as a serialised ONNX model.

    Needs the package onnx (``pip install "oc1[onnx]"``). The numbers are doubles all the way and are added up in the
    order in which the model does, so labels and probabilities are the same to the last bit. (So they are in onnxruntime
    on a CPU. Where CumSum is computed in another order, an example at a distance of some 1e-16 from a plane may be on
    its other side.) Infinite values, which the model refuses, are not refused here.

    Parameters
    ----------
    model : fitted estimator of this package
    input_type : {"double", "float"}, default="double"
        Of the numbers that go in. "float" is for programs that have float32; the answers are those of the model for
        float32 data.

    Returns
    -------
    bytes
        The content of an ``.onnx`` file. Its input ``X`` has shape (N, number of attributes), NaN where a value is
        missing. A model with categorical attributes has an input of shape (N, 1) for each attribute instead, by its
        name: texts, or numbers; unknown categories, such as an empty text, count as missing. The outputs are ``label``
        (N) (int64, string, bool or double as the labels are) and ``probabilities`` (N, number of classes), or
        ``prediction`` (N) for numbers.

    Examples
    --------
    >>> from oc1 import OC1Classifier
    >>> from oc1.datasets import make_pol
    >>> X, y = make_pol(random_state=0)
    >>> content = to_onnx(OC1Classifier(random_state=0).fit(X, y))  # doctest: +SKIP
    >>> import onnxruntime  # doctest: +SKIP
    >>> label, probabilities = onnxruntime.InferenceSession(content).run(None, {"X": X})  # doctest: +SKIP
    """
    try:
        import onnx
    except ImportError:
        raise ImportError('writing ONNX needs the package onnx: pip install "oc1[onnx]"') from None
    if input_type not in ("double", "float"):
        raise ValueError(f"input_type must be 'double' or 'float', got {input_type!r}")
    plain = reduce_model(model)
    labels, kind = ([], float) if plain.has_numbers else labels_of(plain)
    graph = _Graph(onnx)
    rows, columns = _inputs(graph, plain, np.float32 if input_type == "float" else np.float64)
    nodes = [_walk(graph, tree, rows, columns) for tree in plain.trees]
    said = _together(graph, plain, nodes)
    if plain.has_numbers:
        graph.put_out("prediction", said, np.float64)
    else:
        if plain.is_one_of_many:
            winner = graph.add("ArgMax", said, axis=1, keepdims=0)
        else:
            winner = graph.add("Gather", graph.table(plain.trees[0].votes.astype(np.int64)), nodes[0])
        called, element = _label_table(labels, kind)
        graph.put_out("label", graph.add("Gather", graph.table(called), winner), element)
        graph.put_out("probabilities", said, np.float64, len(labels))
    return graph.serialise(_description(model, plain, labels))


def _label_table(labels: list[Any], kind: type) -> tuple[np.ndarray, type]:
    if kind is str:
        return np.array(labels, dtype=object), str
    element: type = {bool: np.bool_, int: np.int64, float: np.float64}[kind]
    try:
        return np.array(labels, dtype=element), element
    except OverflowError:
        raise ValueError("a class label is too large for ONNX, whose whole numbers have 64 bits") from None


def _description(model: Any, plain: ReducedModel, labels: list[Any]) -> dict[str, str]:
    return {
        "learner": type(model).__name__,
        "feature_names": json.dumps([str(name) for name in plain.feature_names]),
        "classes": json.dumps(labels),
        "trees": str(len(plain.trees)),
        "notes": json.dumps(plain.notes),
    }


class _Graph:
    """An ONNX graph that is being written; values are known by their names."""

    def __init__(self, onnx: Any) -> None:
        self.onnx = onnx
        self.nodes: list[Any] = []
        self.tables: list[Any] = []
        self.inputs: list[Any] = []
        self.outputs: list[Any] = []
        self.taken: set[str] = set()
        self.n_values = 0
        self.uses_ml = False

    def _new_name(self) -> str:
        while True:
            self.n_values += 1
            if (name := f"v{self.n_values}") not in self.taken:
                return name

    def _put(self, operator: str, inputs: Sequence[str], outputs: list[str], **attributes: Any) -> None:
        self.uses_ml |= attributes.get("domain") == "ai.onnx.ml"
        own_name = f"n{len(self.nodes) + 1}"  # some programs want one
        self.nodes.append(self.onnx.helper.make_node(operator, inputs, outputs, name=own_name, **attributes))

    def add(self, operator: str, *inputs: str, **attributes: Any) -> str:
        """Add an operator; return the name of its output."""
        name = self._new_name()
        self._put(operator, inputs, [name], **attributes)
        return name

    def columns(self, value: str, width: int) -> list[str]:
        """Return the columns of a value, (N, 1) each."""
        if width == 1:
            return [value]
        names = [self._new_name() for _ in range(width)]
        self._put("Split", [value], names, axis=1)
        return names

    def table(self, values: Any) -> str:
        """Add constants; return their name."""
        values, name = np.asarray(values), self._new_name()
        self.tables.append(self.onnx.numpy_helper.from_array(np.ascontiguousarray(values).reshape(values.shape), name))
        return name

    def cast(self, value: str, element: type) -> str:
        """Add a change of type."""
        return self.add("Cast", value, to=_ELEMENTS[np.dtype(element).name])

    def _described(self, name: str, element: type, *sizes: int) -> Any:
        number = _ELEMENTS["str" if element is str else np.dtype(element).name]
        return self.onnx.helper.make_tensor_value_info(name, number, ["N", *sizes])

    def put_in(self, name: str, element: type, size: int) -> str:
        """Add an input of rows of that size; it is called as wanted, or like it where that is taken or empty."""
        (name,) = all_different([check_text(name, "the attribute") or "attribute"], self.taken)
        self.taken.add(name)
        self.inputs.append(self._described(name, element, size))
        return name

    def put_out(self, name: str, value: str, element: type, *sizes: int) -> None:
        """Make a value an output under a name of its own."""
        self._put("Identity", [value], [name])
        self.outputs.append(self._described(name, element, *sizes))

    def serialise(self, properties: dict[str, str]) -> bytes:
        """Check the whole and return it as bytes, the same ones every time."""
        helper = self.onnx.helper
        versions = [helper.make_opsetid("", OPSET)]
        if self.uses_ml:
            versions.append(helper.make_opsetid("ai.onnx.ml", ML_OPSET))
        graph = helper.make_graph(self.nodes, "oc1", self.inputs, self.outputs, self.tables)
        model = helper.make_model(graph, opset_imports=versions, producer_name="oc1", producer_version=__version__)
        model.ir_version = IR_VERSION
        model.doc_string = f"{properties['learner']} of the Python package oc1. Missing values are NaN."
        helper.set_model_props(model, properties)
        self.onnx.checker.check_model(model, full_check=True)
        return bytes(model.SerializeToString(deterministic=True))


def _inputs(graph: _Graph, plain: ReducedModel, element: type) -> tuple[str, Any]:
    """Add the inputs; return (one of them, all attributes).

    All attributes are one value (N, d) of doubles, or, where some are categorical, a list with a value (N, 1) for each:
    of doubles, or of category numbers in a tuple with those that the categories have.
    """

    def doubles(value: str) -> str:
        return value if element is np.float64 else graph.cast(value, np.float64)

    known = known_categories(plain)
    graph.taken |= {"label", "probabilities", "prediction"}
    if not known:
        rows = graph.put_in("X", element, len(plain.feature_names))
        return rows, doubles(rows)
    columns: list[Any] = []
    first = ""
    for column, feature_name in enumerate(plain.feature_names):
        values = known.get(column)
        if values is None:
            name = graph.put_in(str(feature_name), element, 1)
            columns.append(doubles(name))
        elif kind_of(values, f"the categories of {feature_name!r}") is str if values else False:
            name = graph.put_in(str(feature_name), str, 1)
            keys = [check_text(value, "the category") for value in values]
            table = {"keys_strings": keys, "values_int64s": list(range(len(keys))), "default_int64": len(keys)}
            columns.append((graph.add("LabelEncoder", name, domain="ai.onnx.ml", **table), values))
        else:
            name = graph.put_in(str(feature_name), element, 1)
            if any(float(value) != value for value in values):
                raise ValueError(f"a category of {feature_name!r} is a whole number too large for a double")
            # The first that is equal, or else the last column, which stands for unknown and missing.
            equal = graph.add("Equal", doubles(name), graph.table(np.array([[*map(float, values)]], dtype=np.float64)))
            answers = graph.add("Pad", graph.cast(equal, np.int32), graph.table([0, 0, 0, 1]), graph.table(np.int32(1)))
            columns.append((graph.add("ArgMax", answers, axis=1, keepdims=1), values))
        first = first or name
    return first, columns


def _attributes(graph: _Graph, tree: ReducedTree, columns: Any) -> str:
    """Return all attributes as the tree sees them, (N, d) doubles with NaN where values are missing."""
    if isinstance(columns, str):
        return columns
    seen = []
    for column, value in enumerate(columns):
        if isinstance(value, tuple):
            numbers, values = value
            own = tree.codes.get(column, {})
            codes = np.array([*(own.get(category, np.nan) for category in values), np.nan])
            value = graph.add("Gather", graph.table(codes), numbers)
        seen.append(value)
    return graph.add("Concat", *seen, axis=1)


def _walk(graph: _Graph, plain: ReducedTree, rows: str, columns: Any) -> str:
    """Let all rows walk down a tree; return the number of the leaf that each comes to, (N) int32."""
    count = graph.add("Shape", rows, start=0, end=1)
    node = graph.add("ConstantOfShape", count, value=graph.onnx.numpy_helper.from_array(np.zeros(1, dtype=np.int32)))
    tree = plain.tree
    if tree.is_leaf[0]:
        return node
    depth = tree.max_depth
    if depth > MAX_LEVELS:
        raise ValueError(f"the tree has {depth} levels; in ONNX it may have {MAX_LEVELS}")
    raw = _attributes(graph, plain, columns)
    seen = graph.add("Where", graph.add("IsNaN", raw), graph.table(tree.fill[None, :]), raw)
    leaf, n_branches = tree.is_leaf, tree.children.shape[1]
    numbers = np.arange(tree.n_nodes)[:, None]
    children = np.where(leaf[:, None] | (tree.children < 0), numbers, tree.children).astype(np.int32)
    steps, branches = graph.table(children.ravel()), graph.table(np.int32(n_branches))
    ask = (_tests if tree.has_thresholds else _machines)(graph, tree, raw, seen)
    for _ in range(depth):
        branch = ask(node)
        node = graph.add("Gather", steps, graph.add("Add", graph.add("Mul", node, branches), branch))
    return node


def _padded(graph: _Graph, seen: str, chosen: list[np.ndarray], n_features: int) -> tuple[str, np.ndarray]:
    """Return the attributes, and which of them each node asks for, as many for all: a column of zeros fills up."""
    width = max(map(len, chosen))
    features = np.full((len(chosen), width), n_features, dtype=np.int32)
    for node, own in enumerate(chosen):
        features[node, : len(own)] = own
    if (features == n_features).any():
        seen = graph.add("Pad", seen, graph.table([0, 0, 0, 1]), graph.table(np.float64(0.0)))
    return seen, features


def _tests(graph: _Graph, tree: Any, raw: str, seen: str) -> Callable[[str], str]:
    """Return a function that adds the question which branch, 0 or 1, a row takes at its node."""
    n_features, owner = len(tree.fill), np.repeat(np.arange(tree.n_nodes), np.diff(tree.terms))
    chosen = np.split(tree.features, tree.terms[1:-1])
    asks_all = 1 < n_features < 2 * max(map(len, chosen))
    if asks_all:
        # To ask for all attributes, with coefficients of zero, is less work than to pick out most of them.
        coefficients = np.zeros((tree.n_nodes, n_features))
        coefficients[owner, tree.features] = tree.coefficients
    else:
        seen, features = _padded(graph, seen, chosen, n_features)
        features_table, coefficients = graph.table(features), np.zeros(features.shape)
        coefficients[features < n_features] = tree.coefficients  # both go node by node
    width = coefficients.shape[1]
    has_factors = width > 1 or (tree.coefficients != 1.0).any()
    coefficients_table = graph.table(coefficients) if has_factors else ""
    thresholds = graph.table(np.where(tree.is_leaf, np.inf, tree.thresholds)[:, None])
    directed, axes = tree.directions != 0, graph.table([1])
    last = [graph.table([width - 1]), graph.table([width]), axes] if width > 1 else []
    if directed.any():
        asked = np.zeros((tree.n_nodes, 1), dtype=np.int32)
        asked[owner[::-1], 0] = tree.features[::-1]  # the first of each node is written last
        asked_table, directed_table = graph.table(asked), graph.table(directed[:, None])
        right_table = graph.table((tree.directions > 0).astype(np.int32)[:, None])

    def ask(node: str) -> str:
        values = seen
        if not asks_all:
            values = graph.add("GatherElements", seen, graph.add("Gather", features_table, node), axis=1)
        if has_factors:
            values = graph.add("Mul", values, graph.add("Gather", coefficients_table, node))
        if width > 1:  # one by one, in the order in which the model adds up: ReduceSum need not
            values = graph.add("Slice", graph.add("CumSum", values, axes), *last)
        answer = graph.cast(graph.add("Greater", values, graph.add("Gather", thresholds, node)), np.int32)
        if directed.any():
            value = graph.add("GatherElements", raw, graph.add("Gather", asked_table, node), axis=1)
            sent = graph.add("And", graph.add("IsNaN", value), graph.add("Gather", directed_table, node))
            answer = graph.add("Where", sent, graph.add("Gather", right_table, node), answer)
        return graph.add("Squeeze", answer, axes)

    return ask


def _machines(graph: _Graph, tree: TreeStructure, raw: str, seen: str) -> Callable[[str], str]:
    """Return a function that adds the question which branch's function is the largest at a row's node."""
    machines = [tree.node_functions(node) for node in range(tree.n_nodes)]
    chosen = [asked for asked, _, _ in machines]
    seen, features = _padded(graph, seen, chosen, len(tree.fill))
    n_branches = tree.children.shape[1]
    constants = np.full((tree.n_nodes, n_branches), -np.inf)
    coefficients = np.zeros((features.shape[1], tree.n_nodes, n_branches))
    for node, (asked, own, own_constants) in enumerate(machines):
        constants[node, : len(own)] = own_constants
        coefficients[: len(asked), node, : len(own)] = own.T
    features_table, constants_table = graph.table(features), graph.table(constants)
    coefficient_tables = [graph.table(own) for own in coefficients]

    def ask(node: str) -> str:
        values = graph.add("Gather", constants_table, node)
        taken = graph.add("GatherElements", seen, graph.add("Gather", features_table, node), axis=1)
        for column, table in zip(graph.columns(taken, features.shape[1]), coefficient_tables, strict=True):
            values = graph.add("Add", values, graph.add("Mul", column, graph.add("Gather", table, node)))
        # Where huge values overflow the model takes the first function that is no number; ArgMax need not.
        undefined = graph.cast(graph.add("IsNaN", values), np.int32)
        lost = graph.cast(graph.add("ReduceMax", undefined, axes=[1], keepdims=0), np.bool_)
        first_lost, first = (graph.add("ArgMax", value, axis=1, keepdims=0) for value in (undefined, values))
        return graph.cast(graph.add("Where", lost, first_lost, first), np.int32)

    return ask


def _together(graph: _Graph, plain: ReducedModel, nodes: list[str]) -> str:
    """Return what all trees say together: numbers (N), or shares of classes or of votes (N, number of classes)."""
    is_vote, total = plain.task == "vote", ""
    voices = graph.table(np.eye(len(plain.classes))) if is_vote else ""
    for tree, node in zip(plain.trees, nodes, strict=True):
        if is_vote:
            said = graph.add("Gather", voices, graph.add("Gather", graph.table(tree.votes.astype(np.int32)), node))
        else:
            said = graph.add("Gather", graph.table(tree.leaves[:, 0] if plain.has_numbers else tree.leaves), node)
        total = graph.add("Add", total, said) if total else said
    if is_vote and plain.smoothing:
        total = graph.add("Add", total, graph.table(np.float64(plain.smoothing)))
    divisor = np.float64(plain.total_votes if is_vote else len(plain.trees))
    return graph.add("Div", total, graph.table(divisor)) if plain.is_one_of_many else total
