"""What a model predicts for batches of examples: looked up by leaf where possible, else by the estimator."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from ..files.models.record import ModelRecord, Source
from ..files.models.storage import estimator_of, read_record
from ..files.problems import FileProblem
from ..files.tables import ExampleBatch, ModelInputs, ReadOptions, label_indices, scan_table
from .screen import note


class Predictor:
    """A fitted model, for examples whose columns are in the model's order.

    A single tree predicts by itself. Everything else needs the estimator, and so scikit-learn, whose import takes
    longer than predicting most files.

    Parameters
    ----------
    record : ModelRecord
    source : Source
        What is known about its training data.
    make_estimator : callable
        Makes the estimator when it is needed.
    n_jobs : int, default=1
    """

    def __init__(self, record: ModelRecord, source: Source, make_estimator: Callable[[], Any], n_jobs: int = 1) -> None:
        self.source, self.n_jobs = source, n_jobs
        self._make_estimator = make_estimator
        self._attributes = record.attributes
        self._smoothing = record.parameters.get("smoothing", 0.0)
        self.classes: Any = record.attributes.get("classes_")
        self.tree: Any = record.attributes.get("tree_")
        self.is_looked_up = (
            record.is_plain_tree
            and record.attributes.get("categories_") is None
            and (record.has_valid_smoothing or self.classes is None)
        )

    @classmethod
    def from_file(cls, path: Path, n_jobs: int = 1) -> Predictor:
        """Read a model file."""
        record, source = read_record(path)
        return cls(record, source, lambda: estimator_of(record, path), n_jobs)

    @classmethod
    def of(cls, model: Any, source: Source) -> Predictor:
        """Use a fitted estimator."""
        record = ModelRecord(type(model).__name__, model.get_params(deep=False), vars(model))
        return cls(record, source, lambda: model)

    @cached_property
    def model(self) -> Any:
        """The estimator, without the names of its attributes: columns are in order, whatever they are called."""
        model = copy(self._make_estimator())
        if getattr(model, "categories_", None) is None and hasattr(model, "feature_names_in_"):
            del model.feature_names_in_
        if "n_jobs" in model.get_params(deep=False):
            model.set_params(n_jobs=self.n_jobs)
        return model

    @property
    def inputs(self) -> ModelInputs:
        """What the model expects of a file."""
        n_features = self._attributes["n_features_in_"]
        names = self._attributes.get("feature_names_in_")
        known = self._attributes.get("categories_") or [None] * n_features
        columns = [str(name) for name in (range(n_features) if names is None else names)]
        return ModelInputs(
            n_features=n_features,
            names=None if names is None else tuple(columns),
            one_hot=self.source.one_hot,
            categorical=tuple(name for name, own in zip(columns, known, strict=True) if own is not None),
            target=self.source.target,
            file_columns=self.source.columns,
        )

    def leaves(self, X: Any) -> np.ndarray:
        """Return the leaf of each example."""
        return np.asarray(self.tree.apply(X, self.n_jobs) if self.is_looked_up else self.model.apply(X))

    @property
    def leaf_values(self) -> np.ndarray:
        """What is predicted at each node: a class by its index, or a number."""
        return np.asarray(self.tree.values if self.classes is None else self.tree.majority)

    def leaf_probabilities(self) -> np.ndarray:
        """Return the probabilities of the classes at each node."""
        return np.asarray(self.tree.outputs(self._smoothing))

    def predict(self, X: Any) -> np.ndarray:
        """Return the class of each example, as an index; or the number predicted for it."""
        if self.is_looked_up:
            return np.asarray(self.leaf_values[self.leaves(X)])
        predicted = np.asarray(self.model.predict(X))
        return predicted if self.classes is None else np.searchsorted(self.classes, predicted)

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the probabilities of the classes for each example, by the estimator."""
        return np.asarray(self.model.predict_proba(X))

    def read(self, data: str, options: ReadOptions, *, labelled: bool) -> tuple[Any, list[ExampleBatch]]:
        """Read a whole file; return the attributes as the estimator takes them, with names if it knows any."""
        batches = list(scan_table(data, self.inputs, options, labelled=labelled))
        pieces = [batch.X for batch in batches]
        if isinstance(pieces[0], pl.DataFrame):
            return pl.concat(pieces), batches
        return with_names(np.concatenate(pieces), self.inputs.names), batches

    def read_known(self, data: str, options: ReadOptions) -> tuple[Any, np.ndarray]:
        """Return the labelled examples of a file, without those of classes that the model does not know.

        Returns
        -------
        X : array or frame
        y : array
            Classes of the model, or numbers.
        """
        X, batches = self.read(data, options, labelled=True)
        labels = np.concatenate([np.asarray(batch.y) for batch in batches])
        if self.classes is None:
            return X, as_numbers(labels, data)
        numbers = label_indices(labels, self.classes)
        known = np.flatnonzero(numbers >= 0)
        if len(known) == 0:
            names = [str(label)[:20] for label in self.classes[:5]] + ["..."] * (len(self.classes) > 5)
            raise FileProblem(
                data, f"has no example of a class that the model knows: its classes are {', '.join(names)}"
            )
        if len(known) < len(numbers):
            unknown = str(labels[numbers < 0][0])
            note(f"note: {len(numbers) - len(known)} examples left out: the model does not know class {unknown!r:.60}")
        return X[known], self.classes[numbers[known]]


def with_names(X: Any, names: Sequence[str] | None) -> Any:
    """Return the attributes with their names, if they have any."""
    return X if names is None or isinstance(X, pl.DataFrame) else pl.DataFrame(X, schema=list(names))


def as_numbers(labels: Any, path: str, first_row: int = 0) -> np.ndarray:
    """Return the targets of a regression as numbers."""
    try:
        return np.asarray(labels, dtype=np.float64)
    except ValueError:
        for row, label in enumerate(labels):
            try:
                float(label)
            except ValueError:
                reason = f"the target of example {first_row + row + 1} is {label!r}, not a number"
                raise FileProblem(path, reason) from None
        raise
