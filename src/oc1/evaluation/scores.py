"""How well a classifier or a regressor does on examples, added up batch by batch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

#: Classes that a model does not know are listed up to this number.
MAX_UNKNOWN_CLASSES = 100
OTHER_CLASSES = "other classes"
#: A confusion matrix has the square of this many numbers.
MAX_CLASSES = 5000


class Confusion:
    """Examples by their true and their predicted class.

    Parameters
    ----------
    classes : sequence
        The classes that a model knows.

    Attributes
    ----------
    counts : int array (n_classes, n_classes)
        True class in the rows, predicted class in the columns.
    unknown : dict of str to int array (n_classes,)
        Predictions for examples of classes that the model does not know; they all count as wrong. The first
        `MAX_UNKNOWN_CLASSES` have a row each, all others one together.

    Examples
    --------
    >>> confusion = Confusion(["a", "b"])
    >>> confusion.add(np.array([0, 0, 1]), np.array([0, 1, 1]))
    >>> confusion.n, confusion.n_correct, confusion.recalls.tolist()
    (3, 2, [0.5, 1.0])
    """

    def __init__(self, classes: Sequence[Any]) -> None:
        if len(classes) > MAX_CLASSES:
            raise ValueError(f"{len(classes):,} classes are too many to count by; there may be {MAX_CLASSES:,}")
        self.classes = list(classes)
        self.counts = np.zeros((len(classes), len(classes)), dtype=np.int64)
        self.unknown: dict[str, np.ndarray] = {}

    def add(self, truth: np.ndarray, predicted: np.ndarray, labels: np.ndarray | None = None) -> None:
        """Count examples by class indices; where the true one is -1, `labels` has what it is called."""
        k = len(self.classes)
        known = truth >= 0
        cells = np.bincount(truth[known] * k + predicted[known], minlength=k * k)
        self.counts += cells.reshape(k, k)
        if labels is not None:
            names = list(map(str, labels[~known]))
            n_more = max(0, MAX_UNKNOWN_CLASSES - len(self.unknown))
            for name in sorted({*names} - {*self.unknown})[:n_more]:
                self.unknown[name] = np.zeros(k, dtype=np.int64)
            for name, prediction in zip(names, predicted[~known].tolist(), strict=True):
                row = name if name in self.unknown else OTHER_CLASSES
                self.unknown.setdefault(row, np.zeros(k, dtype=np.int64))[prediction] += 1

    @property
    def n(self) -> int:
        """Number of examples."""
        return int(self.counts.sum()) + sum(int(row.sum()) for row in self.unknown.values())

    @property
    def n_correct(self) -> int:
        """Number of examples that were classified correctly."""
        return int(np.trace(self.counts))

    @property
    def accuracy(self) -> float:
        """Share of them; NaN if there are no examples."""
        return self.n_correct / self.n if self.n else np.nan

    @property
    def recalls(self) -> np.ndarray:
        """Share of each class that was classified correctly: the accuracy per class. NaN where it has no examples."""
        return _shares(np.diag(self.counts), self.counts.sum(axis=1))

    @property
    def precisions(self) -> np.ndarray:
        """Share of what was called each class that is of it. NaN where nothing was."""
        others = sum(self.unknown.values(), np.zeros(len(self.classes), dtype=np.int64))
        return _shares(np.diag(self.counts), self.counts.sum(axis=0) + others)

    def to_dict(self) -> dict[str, Any]:
        """Return everything in JSON's types; shares that do not exist are None."""
        n_examples, n_correct = self.counts.sum(axis=1).tolist(), np.diag(self.counts).tolist()
        rows = zip(self.classes, n_examples, n_correct, self.recalls, self.precisions, strict=True)
        names = ("class", "examples", "correct", "accuracy", "precision")
        return {
            "examples": self.n,
            "correct": self.n_correct,
            "accuracy": self.accuracy,
            "classes": [dict(zip(names, row, strict=True)) for row in rows],
            "confusion": self.counts.tolist(),
            "unknown_classes": {label: row.tolist() for label, row in self.unknown.items()},
        }


def _shares(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    with np.errstate(invalid="ignore"):
        shares: np.ndarray = part / whole
    return shares


class Residuals:
    """Errors of predicted numbers.

    Examples
    --------
    >>> residuals = Residuals()
    >>> residuals.add(np.array([1.0, 2.0, 3.0]), np.array([1.0, 2.0, 4.0]))
    >>> residuals.to_dict()["r2"]
    0.5
    """

    def __init__(self) -> None:
        self.n = 0
        self._squares = self._sizes = self._spread = self._mean = 0.0

    def add(self, truth: np.ndarray, predicted: np.ndarray) -> None:
        """Count the errors of some examples."""
        if len(truth) == 0:
            return
        self._squares += float(((truth - predicted) ** 2).sum())
        self._sizes += float(np.abs(truth - predicted).sum())
        # Sums of squares around the mean of all so far: Chan's way to put two groups together.
        mean, n = float(truth.mean()), len(truth)
        apart = mean - self._mean
        self._spread += float(((truth - mean) ** 2).sum()) + apart**2 * self.n * n / (self.n + n)
        self._mean += apart * n / (self.n + n)
        self.n += n

    def to_dict(self) -> dict[str, Any]:
        """Return the usual figures: the share of the variance that is explained, mean squared and absolute error."""
        n = self.n or np.nan
        return {
            "examples": self.n,
            "r2": 1.0 - self._squares / self._spread if self._spread > 0 else np.nan,
            "mean_squared_error": self._squares / n,
            "mean_absolute_error": self._sizes / n,
        }
