"""``oc1 show``."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from ..options import Json, Model
from ..printing import print_node, print_size, print_tree, print_worth, size_of
from ..screen import UsageError, plain, print_json, say, say_words


def show(
    model: Model,
    digits: Annotated[int, typer.Option(min=1, max=17)] = 3,
    depth: Annotated[int | None, typer.Option(min=1)] = None,
    node: Annotated[int | None, typer.Option(min=0)] = None,
    max_terms: Annotated[int | None, typer.Option(min=1)] = None,
    all_terms: bool = False,
    json: Json = False,
) -> None:
    """Print a model's tree, its size, and what it is worth.

    The terms of a test are ordered by their share of it: the coefficient times the spread of the attribute.

    Example: oc1 show iris.json

    Parameters
    ----------
    digits : int
        Significant digits of the numbers.
    depth : int
        Levels of tests to print. (default: all)
    node : int
        Print only this node, with each term of its test, and the tree below it. Nodes are numbered from 0, the root.
    max_terms : int
        Terms of each test to print, the largest. (default: all of up to 8, else 6)
    all_terms : bool
        Print all terms of each test.
    """
    if all_terms and max_terms is not None:
        raise UsageError("--all-terms and --max-terms exclude each other")
    from ...files.models.record import RecordedTree
    from ...files.models.storage import estimator_of, read_record
    from ...tree.text import MAX_DEPTH, attribute_names, text

    record, source = read_record(model)
    # One tree is printed as it is in the file: scikit-learn takes seconds to import.
    fitted = RecordedTree.of(record) if "tree_" in record.attributes else estimator_of(record, model)
    size = size_of(fitted)
    options: dict[str, Any] = {"digits": digits, "max_terms": None if all_terms else max_terms or "auto"}
    options["max_depth"] = MAX_DEPTH if depth is None else depth - 1
    if node is not None:
        tree = _tree_with_node(fitted, node)
        options["node"] = node
    if json:
        classes = plain(getattr(fitted, "classes_", None))
        trees = [one.tree_.to_dict() for one in getattr(fitted, "estimators_", [fitted])]
        about = {"learner": type(fitted).__name__, "classes": classes, "feature_names": attribute_names(fitted)}
        print_json(about | size | {"text": text(fitted, **options), "trees": trees})
        return
    if node is not None:
        print_node(tree, node, digits)
    is_shortened = print_tree(fitted, numbered=size["tests"] > 1, **options)
    if node is not None:
        return
    say()
    if size["oblique_tests"]:
        more = "; after … are the number of terms left out and their share of the test" if is_shortened else ""
        say_words(
            f"A test adds up its terms: yes if the sum exceeds the number. The terms that matter most come first{more}."
        )
        say()
    say(f"learner     {type(fitted).__name__}")
    print_size(fitted, size)
    print_worth(source)


def _tree_with_node(fitted: Any, node: int) -> Any:
    """Return the tree of a model; refuse a node that it does not have."""
    if hasattr(fitted, "estimators_"):
        raise UsageError("--node is for a model of one tree, and this has several trees")
    if node >= fitted.tree_.n_nodes:
        raise UsageError(f"there is no node {node}: the tree has the nodes 0 to {fitted.tree_.n_nodes - 1}")
    return fitted.tree_
