"""``oc1 explain``: why a model answers as it does for one example."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..options import Data, Json, Model, OutputFile
from ..screen import UsageError, check_output, note, print_json, say

if TYPE_CHECKING:
    from ...explaining import Explanation
    from ...files.tables import ReadOptions
    from ..predictor import Predictor

#: Endings of the files that can be written.
ENDINGS = (".html", ".json", ".txt")


def explain(
    model: Model,
    data: Data,
    options: ReadOptions,
    row: Annotated[int, typer.Option("--row", min=1)] = 1,
    out: OutputFile = None,
    json: Json = False,
) -> None:
    """Explain the answer for one example, and what would change it.

    It tells the way of the example through the tree: what it looks like at each node, what speaks for and against that,
    how close it is to the other side, and the smallest change that leads to another class, within the ranges of the
    training data. The file needs no labels.

    Example: oc1 explain iris.json iris.csv --row 71

    Parameters
    ----------
    row : N
        Which example: 1 is the first; a line of names is not counted.
    out : FILE
        HTML (.html), JSON (.json) or text (.txt). (default: text to stdout)
    """
    from ...files.atomic import replacing
    from ..predictor import Predictor

    if out is not None and out != Path("-") and out.suffix.lower() not in ENDINGS:
        raise UsageError(f"--output {out} must end in {', '.join(ENDINGS)}")
    check_output(out, data, model)
    predictor = Predictor.from_file(model)
    explanation = explain_row(predictor, find_row(predictor, data, options, row))
    if out is not None and out != Path("-"):
        with replacing(out, "w", encoding="utf-8", errors="replace", newline="\n") as file:
            file.write(explanation.as_file(out.suffix))
        note(f"written to {out}")
    elif json:
        print_json(explanation.to_dict())
    else:
        say(str(explanation))


def explain_row(predictor: Predictor, x: Any) -> Explanation:
    """Explain one example; where the model knows the ranges of its training data, changes stay within them."""
    import numpy as np

    from ...explaining import explain_tree, one_row

    ranges = predictor.source.ranges
    if predictor.tree is None or not ranges:
        if not hasattr(predictor.model, "explain"):
            raise UsageError("a forest has no single way that explains an answer: use oc1 explore, tree by tree")
        explanation: Explanation = predictor.model.explain(x)
        return explanation
    return explain_tree(predictor.model, one_row(predictor.model, x), np.array(ranges, dtype=float).T)


def find_row(predictor: Predictor, data: str, options: ReadOptions, row: int) -> Any:
    """Return one example of a file, counted from 1; nothing after it is read."""
    from ...files.problems import FileProblem
    from ...files.tables import scan_table

    n = 0
    for batch in scan_table(data, predictor.inputs, options, labelled=False):
        if row <= n + len(batch.X):
            return batch.X[row - n - 1 : row - n]
        n += len(batch.X)
    raise FileProblem(data, f"has {n} examples, so there is no --row {row}")
