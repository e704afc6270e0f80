"""A model as SQL: a ``CASE`` expression, or a whole query, for SQLite, PostgreSQL, DuckDB and others like them.

A tree is a nested ``CASE``. SQLite takes only some twenty of them inside each other, so subtrees of a deep tree are cut
out and come first: ``CASE WHEN <the way to it> THEN <subtree> ... ELSE <the rest of the tree> END``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..learners.reduction import ReducedModel, ReducedTree, reduce_model
from .values import all_different, check_text, kind_of, known_categories, labels_of, linear, plain_value

#: How many CASEs may stand inside each other before a tree is cut, and into how many parts it is cut then.
MAX_LEVELS, N_PARTS = 10, 6
#: SQLite takes an expression of a thousand levels, and a sum or a chain of ANDs has one for each term.
MAX_TERMS = 900
#: SQLite joins 64 tables at most.
MAX_TREES = 60


def to_sql(model: Any, *, table: str | Sequence[str] | None = None) -> str:
    """Return a fitted model as SQL, for columns that have the names of its attributes.

    NULL is a missing value, and so is an unknown category. Columns are cast to DOUBLE PRECISION, and numbers are
    written so that they are the same doubles everywhere. What differs from the model:

    - A floating-point NaN is no NULL, and databases take it for the largest of all numbers: make it NULL first
      (``NULLIF(x, 'NaN')``).
    - Where a sum of products overflows, PostgreSQL reports an error, and other databases may take another branch of a
      linear machine (LMDT).
    - A forest that predicts classes cannot be written; one that predicts numbers can, and databases take that of
      some dozens of trees.
    - SQLite takes a name in double quotes that is no column for a text. In a query (see `table`) it says so.

    Parameters
    ----------
    model : fitted estimator of this package
    table : str or sequence of str, optional
        The table that a query is written for; a sequence if it takes more than one name, such as
        ``("schema", "table")``. None: only an expression is written.

    Returns
    -------
    str
        An expression for the label, or the predicted number; with `table` a SELECT of all columns of the table,
        ``prediction``, and for each class its probability ``p_<class>``.

    Examples
    --------
    >>> import numpy as np
    >>> from oc1 import OC1Classifier
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> print(to_sql(OC1Classifier(splits="axis", prune=None).fit(X, ["a", "a", "b", "b"])))
    CASE WHEN COALESCE(CAST("x1" AS DOUBLE PRECISION), 1.5e+00) > 1.5e+00
      THEN 'b'
      ELSE 'a'
    END
    """
    plain = reduce_model(model)
    if plain.task == "shares":
        raise ValueError(
            "a forest averages the probabilities of its trees, which SQL cannot say in an expression that databases "
            "take: convert it to ONNX, C or Python, or give a single tree, one of its estimators_"
        )
    _check_names(plain)
    notes = "".join(f"-- {note}\n" for note in plain.notes)
    columns = _Columns(plain, "data." if table is not None else "")
    if table is None:
        return notes + _expression(plain, columns)
    parts = [table] if isinstance(table, str) else list(table)
    source = ".".join(quoted_name(part, "the table") for part in parts)
    (answers,) = all_different(["oc1_answers"], [parts[-1].casefold()])  # not the table itself
    return f"{notes}{_query(plain, columns, source, answers)}\n"


# ---------------------------------------------------------------------------------------------------- names and values


def quoted_name(name: str, what: str) -> str:
    """Write a name of a table or a column."""
    if not name or "\0" in name:
        raise ValueError(f"{what} {name!r} cannot be a name in SQL: it is empty or holds the character 0")
    return '"' + check_text(name, what).replace('"', '""') + '"'


def literal(value: Any) -> str:
    """Write a text, a truth value or a number."""
    if isinstance(value, str):
        if "\0" in value:
            raise ValueError(f"the text {value!r} cannot be written in SQL: it holds the character 0")
        return "'" + check_text(value, "the text").replace("'", "''") + "'"
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, int):
        return str(value)
    if not math.isfinite(value):
        raise ValueError(f"the model holds the number {value}, which cannot be written in SQL")
    # With an exponent, or else DuckDB takes it for a decimal and rounds; the shortest digits that are exact.
    digits = repr(value)
    if "e" in digits:
        return digits
    return next(text for n in range(1, 18) if float(text := f"{value:.{n}e}") == value)


def _is_number(kind: type) -> bool:
    return kind in (int, float)


def _check_names(plain: ReducedModel) -> None:
    """Refuse names that databases cannot tell apart."""
    names: dict[str, str] = {}
    for column in sorted({m for tree in plain.trees for m in tree.tree.used_features.tolist()}):
        name = str(plain.feature_names[column])
        other = names.setdefault(name.casefold(), name)
        if other is not name:
            raise ValueError(
                f"the attributes {other!r} and {name!r} cannot be columns of one table: many databases make no "
                "difference between small and capital letters"
            )


class _Columns:
    """Writes the attributes of a model as columns."""

    def __init__(self, plain: ReducedModel, prefix: str) -> None:
        self.plain, self.prefix = plain, prefix
        self.kinds = {
            column: kind_of(values, f"the categories of {plain.feature_names[column]!r}") if values else str
            for column, values in known_categories(plain).items()
        }

    def raw(self, column: int) -> str:
        """Write a column as it is, or as a double if it holds numbers."""
        name = self.prefix + quoted_name(str(self.plain.feature_names[column]), "the attribute")
        is_number = _is_number(self.kinds.get(column, float))
        return f"CAST({name} AS DOUBLE PRECISION)" if is_number else name

    def category(self, column: int, value: Any) -> str:
        """Write a category."""
        value = plain_value(value, "the category")
        return literal(float(value) if _is_number(self.kinds[column]) else value)

    def filled(self, tree: ReducedTree, column: int) -> str:
        """Write a number that is never NULL: the value, the code of the category, or what missing values count as."""
        fill = literal(float(tree.tree.fill[column]))
        if column not in tree.codes:
            return f"COALESCE({self.raw(column)}, {fill})"
        if not tree.codes[column]:
            return f"({fill})"  # two minus signs would begin a comment
        cases = " ".join(
            f"WHEN {self.category(column, value)} THEN {literal(float(code))}"
            for value, code in tree.codes[column].items()
        )
        return f"CASE {self.raw(column)} {cases} ELSE {fill} END"


# ---------------------------------------------------------------------------------------------------- questions


def _linear(start: list[str], coefficients: list[float], values: list[str]) -> str:
    """Write a linear combination, which all databases add up from left to right, as the model does."""
    if len(values) > MAX_TERMS:
        raise ValueError(f"a test has {len(values)} attributes; in SQL it may have {MAX_TERMS}")
    return " ".join(linear(start, coefficients, values, literal))


def _test(columns: _Columns, tree: ReducedTree, node: int) -> str:
    """Write the test of a node; it may come out NULL instead of false."""
    own = tree.tree
    features, (coefficients,), (threshold,) = (part.tolist() for part in own.node_functions(node))
    way, first = int(own.directions[node]), features[0]
    if len(features) == 1 and first in tree.codes:
        return _membership(columns, tree, first, lambda code: coefficients[0] * code > threshold, way)
    if not way:
        values = [columns.filled(tree, column) for column in features]
        return f"{_linear([], coefficients, values)} > {literal(threshold)}"
    raw = columns.raw(first)
    if own.threshold_of(node) is None:
        return f"{raw} IS NULL"
    test = f"{_linear([], coefficients, [raw])} > {literal(threshold)}"
    return f"({raw} IS NULL OR {test})" if way > 0 else test


def _membership(columns: _Columns, tree: ReducedTree, column: int, passes: Callable[[float], bool], way: int) -> str:
    """Write a test of a categorical attribute alone as a list of categories."""
    sides: tuple[list[str], list[str]] = ([], [])
    for value, code in tree.codes[column].items():
        sides[passes(code)].append(columns.category(column, value))
    raw = columns.raw(column)
    if way > 0 or (way == 0 and passes(float(tree.tree.fill[column]))):
        return f"({raw} IS NULL OR {raw} NOT IN ({', '.join(sides[0])}))" if sides[0] else "1 = 1"
    return f"{raw} IN ({', '.join(sides[1])})" if sides[1] else "1 = 0"


def _questions(columns: _Columns, tree: ReducedTree, node: int) -> tuple[list[str], list[int]]:
    """Write the questions of an inner node, to be asked one after the other, and the children to which "yes" leads.

    There is one child more: where all answers are "no". A machine asks only whether a function is not less than those
    after it: those before it were less than one of them.
    """
    own = tree.tree
    children = own.children[node][own.children[node] >= 0].tolist()
    if own.has_thresholds:
        return [_test(columns, tree, node)], children[::-1]
    features, coefficients, constants = (part.tolist() for part in own.node_functions(node))
    values = [columns.filled(tree, column) for column in features]
    written = [_linear([literal(one)], row, values) for row, one in zip(coefficients, constants, strict=True)]
    questions = [" AND ".join(f"{this} >= {other}" for other in written[b + 1 :]) for b, this in enumerate(written)]
    return questions[:-1], children


def _takes(columns: _Columns, tree: ReducedTree, node: int, child: int) -> str:
    """Write whether a row goes from a node to a child, so that it can stand in a chain of ANDs."""
    questions, children = _questions(columns, tree, node)
    place = children.index(child)
    no, yes = questions[:place], questions[place : place + 1]
    return " AND ".join([*(f"({question}) IS NOT TRUE" for question in no), *(f"({question})" for question in yes)])


# ---------------------------------------------------------------------------------------------------- trees


def _write_tree(columns: _Columns, tree: ReducedTree, say: Callable[[int], str]) -> str:
    """Write a tree as an expression; `say` writes a leaf."""
    own = tree.tree
    parents = own.parents
    if own.max_depth > MAX_TERMS:
        raise ValueError(f"the tree has {own.max_depth} levels; in SQL it may have {MAX_TERMS}")
    below = [row[row >= 0].tolist() for row in own.children]

    def remaining(root: int, gone: set[int]) -> tuple[list[int], dict[int, int], dict[int, int]]:
        """Return the nodes of a subtree without those that are gone, parents first; their CASEs, and their leaves."""
        nodes = [root]
        for node in nodes:  # the list grows while it is walked
            nodes += [child for child in below[node] if child not in gone]
        levels: dict[int, int] = {}
        leaves: dict[int, int] = {}
        for node in reversed(nodes):
            left = [child for child in below[node] if child not in gone]
            levels[node] = max((levels[child] for child in left), default=0) + (len(left) > 1)
            leaves[node] = sum(leaves[child] for child in left) if below[node] else 1
        return nodes, levels, leaves

    def write(root: int, gone: set[int], indent: str) -> str:
        nodes, levels, leaves = remaining(root, gone)
        if levels[root] <= MAX_LEVELS:
            return nest(root, gone, indent)
        lines, goal = [], leaves[root] / N_PARTS
        for _ in range(N_PARTS - 1):
            if levels[root] <= MAX_LEVELS:
                break
            part = min((node for node in nodes if below[node]), key=lambda n: (n == root, abs(leaves[n] - goal)))
            if part == root:
                break
            lines.append(f"WHEN {way(root, part)}\n{indent}  THEN {write(part, set(gone), indent + '  ')}")
            gone = {*gone, part}
            nodes, levels, leaves = remaining(root, gone)
        rest = write(root, gone, indent + "  ")
        return "CASE " + f"\n{indent}     ".join(lines) + f"\n{indent}  ELSE {rest}\n{indent}END"

    def way(root: int, node: int) -> str:
        """Write the conditions under which a row comes from the root to a node."""
        steps = []
        while node != root:
            parent = int(parents[node])
            steps.append(_takes(columns, tree, parent, node))
            node = parent
        return " AND ".join(reversed(steps))

    def nest(node: int, gone: set[int], indent: str) -> str:
        while len(left := [child for child in below[node] if child not in gone]) == 1:
            node = left[0]  # every row that comes here takes this branch
        if not left:
            return say(node)
        questions, children = _questions(columns, tree, node)
        deeper = indent + "  "
        *cases, last = [(place, nest(child, gone, deeper)) for place, child in enumerate(children) if child in left]
        written = [f"WHEN {questions[place]}\n{deeper}THEN {answer}" for place, answer in cases]
        return "CASE " + f"\n{indent}     ".join(written) + f"\n{deeper}ELSE {last[1]}\n{indent}END"

    return write(0, set(), "")


def _expression(plain: ReducedModel, columns: _Columns) -> str:
    """Write the label, or the number, as one expression."""
    first = plain.trees[0]
    if plain.has_numbers:
        numbers = [_number(columns, tree) for tree in plain.trees]
        return f"({' + '.join(numbers)}) / {literal(float(len(numbers)))}" if plain.is_forest else numbers[0]
    labels = _written_labels(plain)
    if plain.task == "class":
        return _write_tree(columns, first, lambda node: labels[first.votes[node]])
    trees = [_votes(columns, tree) for tree in plain.trees]
    votes = "\nUNION ALL SELECT ".join([f"{trees[0]} AS vote", *trees[1:]])
    names = " ".join(f"WHEN {number} THEN {label}" for number, label in enumerate(labels))
    return (
        f"(SELECT CASE vote {names} END\nFROM (SELECT {votes}) AS votes\n"
        "GROUP BY vote ORDER BY COUNT(*) DESC, vote LIMIT 1)"
    )


def _number(columns: _Columns, tree: ReducedTree) -> str:
    values = _write_tree(columns, tree, lambda node: literal(float(tree.leaves[node, 0])))
    return f"CAST({values} AS DOUBLE PRECISION)"


def _votes(columns: _Columns, tree: ReducedTree) -> str:
    return _write_tree(columns, tree, lambda node: str(int(tree.votes[node])))


def _written_labels(plain: ReducedModel) -> list[str]:
    labels, kind = labels_of(plain)
    if kind is float:
        return [f"CAST({literal(float(label))} AS DOUBLE PRECISION)" for label in labels]
    return [literal(label) for label in labels]


def _query(plain: ReducedModel, columns: _Columns, source: str, table: str) -> str:
    """Write a query whose rows are those of the table with the answers beside them.

    The answers stand in a small table, joined by what a tree says, so that a tree is asked once for all of them.
    """
    if plain.has_numbers:
        return f"SELECT data.*, {_expression(plain, columns)} AS prediction\nFROM {source} AS data"
    if len(plain.trees) > MAX_TREES:
        raise ValueError(
            f"the vote has {len(plain.trees)} trees; a query can ask {MAX_TREES}. Without a table there is an "
            "expression for the label, which has no such limit"
        )
    is_vote, labels, n_classes = plain.task == "vote", _written_labels(plain), len(plain.classes)
    # Each leaf says one of these: a class, and the shares of the classes.
    if is_vote:
        answers: list[Any] = [(c, *row) for c, row in enumerate(np.eye(n_classes).tolist())]
        aliases = [f"a{number}" for number in range(1, len(plain.trees) + 1)]
        trees = [_votes(columns, tree) for tree in plain.trees]
    else:
        tree, aliases = plain.trees[0], ["answers"]
        said = [(vote, *row) for vote, row in zip(tree.votes.tolist(), tree.leaves.tolist(), strict=True)]
        answers = list(dict.fromkeys(said[node] for node in np.flatnonzero(tree.tree.is_leaf)))
        places = {answer: str(place) for place, answer in enumerate(answers)}
        trees = [_write_tree(columns, tree, lambda node: places[said[node]])]
    rows = [f"({i}, {labels[vote]}, {', '.join(map(literal, row))})" for i, (vote, *row) in enumerate(answers)]
    sums = [" + ".join(f"{alias}.s{c}" for alias in aliases) for c in range(n_classes)]
    voices = [f"CAST({one} AS DOUBLE PRECISION)" for one in sums]  # PostgreSQL's literals are exact decimals
    shares, chosen = voices, "answers.label"
    if is_vote:
        smoothing = literal(float(plain.smoothing))
        smoothed = [f"({one} + {smoothing})" if plain.smoothing else one for one in voices]
        shares = [f"{one} / {literal(float(plain.total_votes))}" for one in smoothed]
        cases = "\n  ".join(
            f"WHEN {' AND '.join(f'{voices[c]} >= {other}' for other in voices[c + 1 :])} THEN {labels[c]}"
            for c in range(n_classes - 1)
        )
        chosen = f"CASE {cases} ELSE {labels[-1]} END" if cases else labels[0]
    names = ", ".join(["number", "label", *(f"s{c}" for c in range(n_classes))])
    values = ",\n  ".join(rows)
    called = all_different((f"p_{label}" for label in labels_of(plain)[0]), key=str.casefold)
    outputs = [f"{share} AS {quoted_name(name, 'the class')}" for share, name in zip(shares, called, strict=True)]
    selected = ",\n  ".join(["data.*", f"{chosen} AS prediction", *outputs])
    joins = [f"JOIN {table} AS {alias} ON {alias}.number = {one}" for alias, one in zip(aliases, trees, strict=True)]
    lines = [f"WITH {table}({names}) AS (VALUES\n  {values}\n)", f"SELECT {selected}", f"FROM {source} AS data", *joins]
    return "\n".join(lines)
