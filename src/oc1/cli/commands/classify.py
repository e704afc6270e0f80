"""``oc1 classify``: a model on files of any size."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...growing.progress_bar import progress_bar
from ..options import Data, Jobs, Json, Model, OutputFile
from ..screen import UsageError, check_output, note

if TYPE_CHECKING:
    import polars as pl

    from ...files.tables import ReadOptions
    from ..predictor import Predictor

#: Batches that may be read before they are needed.
MAX_BATCHES_AHEAD = 8
#: Endings of the files that can be written.
ENDINGS = (".csv", ".tsv", ".parquet", ".jsonl")


def classify(
    model: Model,
    data: Data,
    options: ReadOptions,
    out: OutputFile = None,
    probabilities: bool = True,
    leaf: bool = False,
    jobs: Jobs = 1,
    json: Json = False,
) -> None:
    """Predict the class of each example in a file.

    The examples need no labels. Columns are matched by name if both the model and the file have names. Files are read
    in batches, so they may be larger than memory.

    Example: oc1 classify iris.json new-flowers.csv -o classes.csv

    Parameters
    ----------
    out : FILE
        CSV, TSV, Parquet or JSON lines (.jsonl). (default: stdout)
    probabilities : bool
        Write the probability of each class.
    leaf : bool
        Also write the number of the leaf.
    """
    from ...files.tables import RowWriter, prefetch, scan_table
    from ..predictor import Predictor

    predictor = Predictor.from_file(model, jobs)
    predict = prediction_frames(predictor, probabilities, leaf)
    out = None if out == Path("-") else out
    if out is not None and not out.name.lower().removesuffix(".gz").endswith(ENDINGS):
        raise UsageError(f"--output {out} must end in {', '.join(ENDINGS)}, optionally followed by .gz")
    check_output(out, data, model)
    n = 0
    with progress_bar("classifying", file_size(data)) as bar, RowWriter(out, "jsonl" if json else None) as writer:
        # The next batches are read while one is classified and written: the first has to wait for compiled code.
        for batch in prefetch(scan_table(data, predictor.inputs, options, labelled=False), MAX_BATCHES_AHEAD):
            writer.write(predict(batch.X))
            n += len(batch.X)
            bar.update(batch.n_bytes)
    if out is not None:
        note(f"{n} examples classified; written to {out}")


def file_size(path: str) -> int | None:
    """Return the bytes of a file; None for what has no size."""
    return Path(path).stat().st_size if path != "-" and Path(path).is_file() else None


def prediction_frames(model: Predictor, probabilities: bool, leaf: bool) -> Callable[[Any], pl.DataFrame]:
    """Return a function from attributes to a frame of predictions, and where wanted probabilities and leaves."""
    import numpy as np
    import polars as pl

    if leaf and model.tree is None:
        raise UsageError("--leaf: a vote or forest has no single leaf")
    labels = None if model.classes is None else model.classes.tolist()

    def frame(predicted: Any, shares: Callable[[], np.ndarray], leaves: Callable[[], np.ndarray]) -> pl.DataFrame:
        columns: dict[str, Any] = {"prediction": predicted if labels is None else [labels[c] for c in predicted]}
        if labels is not None and probabilities:
            columns |= {f"p_{label}": own for label, own in zip(labels, shares().T, strict=True)}
        return pl.DataFrame(columns | ({"leaf": leaves()} if leaf else {}))

    if not model.is_looked_up:
        return lambda X: frame(model.predict(X), lambda: model.predict_proba(X), lambda: model.leaves(X))
    # All that can be said is said by a leaf: written once, and looked up for each example.
    by_leaf = frame(model.leaf_values, model.leaf_probabilities, lambda: np.arange(model.tree.n_nodes))
    return lambda X: by_leaf[model.leaves(X)]
