"""What a model says of batches of examples: looked up by leaf where it can be, by the estimator where not."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from ..files.models.record import Source
from ..files.models.storage import estimator_of, read_record
from ..files.tables.reading import Inputs


class Predictor:
    """A fitted model, for columns of examples in their order.

    A single tree needs nothing but itself; everything else is an estimator, and takes scikit-learn, whose import takes
    longer than most files.

    Parameters
    ----------
    learner : str
        Name of its class.
    attributes : dict
        Of the fitted estimator.
    smoothing : float
    estimator : callable
        Makes the estimator, when it is needed.
    source : Source
    jobs : int, default=1
    """

    def __init__(
        self,
        learner: str,
        attributes: dict[str, Any],
        smoothing: Any,
        estimator: Callable[[], Any],
        source: Source,
        jobs: int = 1,
    ) -> None:
        self.source, self.n_jobs, self._make = source, jobs, estimator
        self._attributes, self._smoothing = attributes, smoothing
        self.classes: Any = attributes.get("classes_")
        self.tree: Any = attributes.get("tree_")
        # C4.5 divides an example with missing values among leaves; smoothing comes from a file, and may be anything.
        is_fine = type(smoothing) in (int, float) and 0.0 <= smoothing < np.inf
        self.is_looked_up = (
            self.tree is not None
            and learner != "C45Classifier"
            and attributes.get("categories_") is None
            and (is_fine or self.classes is None)
        )

    @classmethod
    def from_file(cls, path: Path, jobs: int = 1) -> Predictor:
        """Read a model file."""
        record, source = read_record(path)
        smoothing = record.parameters.get("smoothing", 0.0)
        return cls(record.learner, record.attributes, smoothing, lambda: estimator_of(record, path), source, jobs)

    @classmethod
    def of(cls, model: Any, source: Source, jobs: int = 1) -> Predictor:
        """Use a fitted estimator."""
        return cls(type(model).__name__, vars(model), getattr(model, "smoothing", 0.0), lambda: model, source, jobs)

    @cached_property
    def model(self) -> Any:
        """The estimator, without the names of its attributes: columns are in order, whatever they are called."""
        model = copy(self._make())
        if getattr(model, "categories_", None) is None and hasattr(model, "feature_names_in_"):
            del model.feature_names_in_
        if "n_jobs" in model.get_params(deep=False):
            model.set_params(n_jobs=self.n_jobs)
        return model

    @property
    def inputs(self) -> Inputs:
        """What the model wants to see in a file."""
        n_features = self._attributes["n_features_in_"]
        names = self._attributes.get("feature_names_in_")
        known = self._attributes.get("categories_") or [None] * n_features
        columns = [str(m) for m in range(n_features)] if names is None else [str(name) for name in names]
        return Inputs(
            n_features=n_features,
            names=None if names is None else tuple(columns),
            one_hot=self.source.one_hot,
            categorical=tuple(name for name, own in zip(columns, known, strict=True) if own is not None),
            target=self.source.target,
        )

    def joined(self, batches: Sequence[Any]) -> Any:
        """Return the attributes of batches in one piece, as the estimator takes them: with names, if it knows any."""
        pieces = [batch.X for batch in batches]
        if isinstance(pieces[0], pl.DataFrame):
            return pl.concat(pieces)
        return named(np.concatenate(pieces), self.inputs.names)

    def leaves(self, X: Any) -> np.ndarray:
        """Return the leaf of each example."""
        return self.tree.apply(X, self.n_jobs) if self.is_looked_up else self.model.apply(X)

    def leaf_shares(self) -> np.ndarray:
        """Return the probabilities of the classes at each node."""
        return self.tree.smoothed_probabilities(self._smoothing)

    def numbers(self, X: Any) -> np.ndarray:
        """Return the number predicted for each example."""
        return self.tree.values[self.leaves(X)] if self.is_looked_up else self.model.predict(X)

    def indices(self, X: Any) -> np.ndarray:
        """Return the class of each example, as an index."""
        if self.is_looked_up:
            return self.tree.majority[self.leaves(X)]
        return np.searchsorted(self.classes, self.model.predict(X))

    def shares(self, X: Any) -> np.ndarray:
        """Return the probabilities of the classes for each example."""
        return self.leaf_shares()[self.leaves(X)] if self.is_looked_up else self.model.predict_proba(X)


def named(X: Any, names: Sequence[str] | None) -> Any:
    """Return the attributes with their names, if they have any."""
    return X if names is None or isinstance(X, pl.DataFrame) else pl.DataFrame(X, schema=list(names))
