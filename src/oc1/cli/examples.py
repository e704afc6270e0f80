"""Labelled examples of a file, as a model takes them."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..files.problems import FileProblem
from ..files.tables.reading import ReadOptions, label_indices, scan_table
from .commands.predict import as_numbers
from .predictor import Predictor
from .screen import note


def examples_of(model: Any, source: Any, data: str, options: ReadOptions) -> tuple[Any, np.ndarray]:
    """Return the examples of a file whose class the model knows.

    Parameters
    ----------
    model : fitted estimator
    source : Source
        What is known of its training data.
    data : str
        Path of the file.
    options : ReadOptions

    Returns
    -------
    X : array or frame
    y : array
        Classes of the model, or numbers.
    """
    predictor = Predictor.of(model, source)
    batches = list(scan_table(data, predictor.inputs, options, labelled=True))
    labels = np.concatenate([np.asarray(batch.y) for batch in batches])
    X = predictor.joined(batches)
    if not hasattr(model, "classes_"):
        return X, as_numbers(labels, data, 0)
    numbers = label_indices(labels, model.classes_)
    known = np.flatnonzero(numbers >= 0)
    if len(known) == 0:
        own = ", ".join(str(label)[:20] for label in model.classes_[:5]) + (", ..." if len(model.classes_) > 5 else "")
        raise FileProblem(data, f"has no example of a class that the model knows: its classes are {own}")
    if len(known) < len(numbers):
        unknown = str(labels[numbers < 0][0])
        note(f"note: {len(numbers) - len(known)} examples are left out: the model knows no class {unknown!r:.60}")
    return X[known], model.classes_[numbers[known]]
