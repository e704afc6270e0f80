"""``oc1 test``: a model on labelled examples."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ...growing.progress_bar import progress_bar
from ..options import Data, Json, Model
from ..printing import print_classes, print_confusion, print_scores
from ..screen import check_output, note, print_json, say
from .classify import MAX_BATCHES_AHEAD, file_size

if TYPE_CHECKING:
    from ...evaluation.scores import Confusion, Residuals
    from ...files.tables import ReadOptions
    from ..predictor import Predictor

#: Classes that a note names.
MAX_NAMED_CLASSES = 10


def test(
    model: Model,
    data: Data,
    options: ReadOptions,
    misclassified: Path | None = None,
    json: Json = False,
) -> None:
    """Test a model on labelled examples: accuracy, confusion matrix.

    Examples of classes that the model does not know count as errors and are listed.

    Example: oc1 test iris.json more-flowers.csv

    Parameters
    ----------
    misclassified : FILE
        Write misclassified examples: row, class, prediction.
    """
    from ...evaluation.scores import Residuals
    from ..predictor import Predictor

    predictor = Predictor.from_file(model)
    check_output(misclassified, data, model)
    scores = score_file(predictor, data, options, misclassified)
    if json:
        print_json(scores.to_dict())
        return
    if isinstance(scores, Residuals):
        print_scores("numbers", scores)
        return
    print_scores("accuracy", scores)
    print_classes({"": scores})
    say()
    print_confusion(scores)
    if scores.unknown:
        names = [f"{label!r:.60}" for label in scores.unknown]
        more = " and others" if len(names) > MAX_NAMED_CLASSES else ""
        named = ", ".join(names[:MAX_NAMED_CLASSES]) + more
        note(f"note: the model does not know class {named}; these examples count as wrong")


def score_file(
    model: Predictor, data: str, options: ReadOptions, misclassified: Path | None = None
) -> Confusion | Residuals:
    """Return how a model does on a file of labelled examples; write those it gets wrong."""
    import numpy as np
    import polars as pl

    from ...evaluation.scores import Confusion, Residuals
    from ...files.tables import RowWriter, label_indices, prefetch, scan_table
    from ..predictor import as_numbers

    scores = Residuals() if model.classes is None else Confusion(model.classes.tolist())
    wrong = []
    with progress_bar("testing", file_size(data)) as bar:
        for batch in prefetch(scan_table(data, model.inputs, options, labelled=True), MAX_BATCHES_AHEAD):
            predicted, labels = model.predict(batch.X), np.asarray(batch.y)
            if isinstance(scores, Residuals):
                scores.add(as_numbers(batch.y, data, batch.first_row), predicted)
            else:
                truth = label_indices(labels, model.classes)
                scores.add(truth, predicted, labels)
                if misclassified is not None:
                    rows = np.flatnonzero(truth != predicted)
                    texts = {"class": labels[rows], "prediction": model.classes[predicted[rows]]}
                    columns = {"row": rows + batch.first_row} | {name: own.astype(str) for name, own in texts.items()}
                    wrong.append(pl.DataFrame(columns))
            bar.update(batch.n_bytes)
    if wrong:
        with RowWriter(misclassified, None) as writer:
            writer.write(pl.concat(wrong))
    return scores
