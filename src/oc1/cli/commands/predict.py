"""``oc1 classify`` and ``oc1 test``: a model on files of any size."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ...growing.progress_bar import progress_bar
from ..options import Data, Jobs, Json, Model, with_reading
from ..screen import Refusal, check_output, note, print_json, refusing
from .show import print_classes, print_confusion, print_scores

if TYPE_CHECKING:
    from ..predictor import Predictor


#: Batches that may have been read and not yet used.
DEPTH = 8
#: How the files end that `oc1 classify` writes.
ENDINGS = (".csv", ".tsv", ".parquet", ".jsonl")


@refusing
@with_reading
def classify(
    model: Model,
    data: Data,
    out: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", metavar="FILE", help="CSV, TSV, Parquet or JSON lines (.jsonl). (default: stdout)"
        ),
    ] = None,
    probabilities: Annotated[bool, typer.Option(help="Write the probability of each class.")] = True,
    leaf: Annotated[bool, typer.Option("--leaf", help="Write the number of the leaf, too.")] = False,
    jobs: Jobs = 1,
    json: Json = False,
    options: Any = None,
) -> None:
    """Give each example of a file its class, and the probabilities of all classes.

    The examples need no label. Columns are found by their names where both the model and the file have names. Files
    larger than memory are read in pieces.

    Example: oc1 classify iris.json new-flowers.csv -o classes.csv
    """
    from ...files.tables.parsing import ahead
    from ...files.tables.reading import RowWriter, scan_table
    from ..predictor import Predictor

    predictor = Predictor.from_file(model, jobs)
    predict = answering(predictor, probabilities, leaf)
    out = None if out == Path("-") else out
    if out is not None and not out.name.lower().removesuffix(".gz").endswith(ENDINGS):
        raise Refusal(f"--output {out} must end in {', '.join(ENDINGS)}, or one of them and .gz")
    check_output(out, data, model)
    n = 0
    with progress_bar("classifying", size_of_file(data)) as bar, RowWriter(out, "jsonl" if json else None) as writer:
        # The next batches are read while one is classified and written: the first has to wait for compiled code.
        for batch in ahead(scan_table(data, predictor.inputs, options, labelled=False), DEPTH):
            writer.write(predict(batch.X))
            n += len(batch.X)
            bar.update(batch.n_bytes)
    if out is not None:
        note(f"{n} examples classified; written to {out}")


@refusing
@with_reading
def examine(
    model: Model,
    data: Data,
    misclassified: Annotated[
        Path | None,
        typer.Option("--misclassified", metavar="FILE", help="Write the wrong ones: row, class, prediction."),
    ] = None,
    json: Json = False,
    options: Any = None,
) -> None:
    """Test a model on a file of labelled examples: accuracy, per class, and the confusion matrix.

    Classes that the model does not know count as wrong, and are listed.

    Example: oc1 test iris.json more-flowers.csv
    """
    from ..predictor import Predictor

    predictor = Predictor.from_file(model)
    check_output(misclassified, data, model)
    scores = score_file(predictor, data, options, misclassified)
    if json:
        print_json(scores.to_dict())
        return
    print_scores("numbers" if predictor.classes is None else "accuracy", scores)
    if predictor.classes is not None:
        print_classes({"": scores})
        from ..screen import say

        say()
        print_confusion(scores)
        if scores.unknown:
            names = ", ".join(map(repr, scores.unknown))
            note(f"note: the model knows no class {names}; these examples count as wrong")


def size_of_file(path: str) -> int | None:
    """Return the bytes of a file; None for what has no size."""
    return None if path == "-" or not Path(path).is_file() else Path(path).stat().st_size


def answering(model: Predictor, probabilities: bool, leaf: bool) -> Callable[[Any], Any]:
    """Return a function from attributes to a frame: prediction, and as asked for probabilities and leaf."""
    import numpy as np
    import polars as pl

    if leaf and model.tree is None:
        raise Refusal("--leaf: a vote has no single leaf")
    labels = None if model.classes is None else model.classes.tolist()

    def frame(answers: np.ndarray, shares: Callable[[], np.ndarray]) -> pl.DataFrame:
        if labels is None:
            return pl.DataFrame({"prediction": answers})
        columns = {f"p_{label}": own for label, own in zip(labels, shares().T, strict=True)} if probabilities else {}
        return pl.DataFrame({"prediction": [labels[c] for c in answers], **columns})

    if model.is_looked_up:
        # All that can be said is said by a leaf: written once, and looked up for each example.
        said = frame(model.tree.values if labels is None else model.tree.majority, model.leaf_shares)
        if leaf:
            said = said.with_columns(pl.Series("leaf", np.arange(model.tree.n_nodes)))
        return lambda X: said[model.leaves(X)]

    def generally(X) -> pl.DataFrame:
        answers = model.numbers(X) if labels is None else model.indices(X)
        answer = frame(answers, lambda: model.shares(X))
        return answer.with_columns(pl.Series("leaf", model.leaves(X))) if leaf else answer

    return generally


def score_file(model: Predictor, data: str, options: Any, misclassified: Path | None = None):
    """Return how a model does on a file of labelled examples; write those it gets wrong."""
    import numpy as np
    import polars as pl

    from ...evaluation.scores import Confusion, Residuals
    from ...files.tables.parsing import ahead
    from ...files.tables.reading import RowWriter, label_indices, scan_table

    batches = ahead(scan_table(data, model.inputs, options, labelled=True), DEPTH)
    with progress_bar("testing", size_of_file(data)) as bar:
        if model.classes is None:
            residuals = Residuals()
            for batch in batches:
                residuals.add(as_numbers(batch.y, data, batch.first_row), model.numbers(batch.X))
                bar.update(batch.n_bytes)
            return residuals
        confusion, wrong = Confusion(model.classes.tolist()), []
        for batch in batches:
            predicted, labels = model.indices(batch.X), np.asarray(batch.y)
            truth = label_indices(labels, model.classes)
            confusion.add(truth, predicted, labels)
            if misclassified is not None:
                rows = np.flatnonzero(truth != predicted)
                columns = {
                    "row": rows + batch.first_row,
                    "class": [str(label) for label in labels[rows]],
                    "prediction": [str(label) for label in model.classes[predicted[rows]]],
                }
                wrong.append(pl.DataFrame(columns))
            bar.update(batch.n_bytes)
    if misclassified is not None:
        with RowWriter(misclassified, None) as writer:
            writer.write(pl.concat(wrong))
    return confusion


def as_numbers(labels, path: str, first_row: int):
    """Return the targets of a regression as numbers."""
    import numpy as np

    from ...files.problems import FileProblem

    try:
        return labels.astype(np.float64)
    except ValueError:
        for row, label in enumerate(labels):
            try:
                float(label)
            except ValueError:
                raise FileProblem(
                    path, f"the target of example {first_row + row + 1} is {label!r}, not a number"
                ) from None
        raise
