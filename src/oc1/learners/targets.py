"""What classifiers of the package make of labels and of class weights."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import compute_sample_weight
from sklearn.utils.multiclass import check_classification_targets

from ..data.ranges import ordinary_weights


def check_labels(y: np.ndarray) -> None:
    """Refuse what are no classes, and labels that cannot be put in order, because they are of different kinds."""
    if y.dtype.kind == "O":
        kinds = sorted({type(label).__name__ for label in y.flat})
        try:
            np.unique(y)
        except TypeError:
            raise ValueError(
                f"the labels in y are of different kinds ({', '.join(kinds)}): make all of them numbers, or all text"
            ) from None
    check_classification_targets(y)


def encode_classes(y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return (class indices, classes)."""
    check_labels(y)
    if y.dtype.kind in "biu":  # of numbers, the different ones are found without sorting all
        classes = np.unique(y)
        return np.searchsorted(classes, y), classes
    classes, indices = np.unique(y, return_inverse=True)
    return indices, classes


def with_class_weight(weights: np.ndarray | None, class_weight: Any, y: np.ndarray) -> np.ndarray | None:
    """Return the weights of the examples, None if all count alike, times those of their classes."""
    if class_weight is None:
        return weights
    of_classes: np.ndarray = compute_sample_weight(class_weight, y)
    if not (np.isfinite(of_classes).all() and of_classes.min() >= 0):
        raise ValueError(f"class_weight must be finite and not negative, got {class_weight!r}")
    of_classes = ordinary_weights(of_classes)
    return of_classes if weights is None else ordinary_weights(weights * of_classes)
