"""Prediction on Dask collections: nothing is computed until the result is."""

from __future__ import annotations

from typing import Any

import dask
import numpy as np
from dask.utils import is_dataframe_like
from sklearn.utils.validation import _check_feature_names, check_is_fitted

from ..learners.classifier import OC1Classifier
from .inputs import check_collection

#: The methods that can be called on a Dask collection.
METHODS = ("predict", "predict_proba", "predict_log_proba", "apply")


def predict(model: OC1Classifier, method: str, X: Any) -> Any:
    """Call a method of a fitted classifier on each partition of a Dask collection, once the result is computed.

    Parameters
    ----------
    model : fitted classifier
        One in memory, such as `OC1Classifier`. It is sent to the cluster once.
    method : {"predict", "predict_proba", "predict_log_proba", "apply"}
    X : dask Array (n_samples, n_features) or dask DataFrame

    Returns
    -------
    dask collection
        An array for an array. For a dataframe a series, or a dataframe with a column for each class; the index is that
        of X.
    """
    check_is_fitted(model)
    if method not in METHODS:
        raise ValueError(f"method must be one of {', '.join(METHODS)}; got {method!r}")
    check_collection(X)
    n_columns = X.shape[1]
    if not np.isnan(n_columns) and n_columns != model.n_features_in_:
        raise ValueError(
            f"X has {n_columns} features, but {type(model).__name__} is expecting {model.n_features_in_} features as "
            "input"
        )
    sent = dask.delayed(model, pure=True, traverse=False)
    if is_dataframe_like(X):
        _check_feature_names(model, X._meta, reset=False)
        meta = _answer_frame(X._meta, model, method)
        return X.map_partitions(_answer_frame, sent, method, meta=meta, align_dataframes=False)
    if X.numblocks[1] > 1:
        X = X.rechunk({1: -1})
    meta = _nothing(model, method)
    shape: dict[str, Any] = {"chunks": (X.chunks[0], (len(model.classes_),))}
    if meta.ndim == 1:
        shape = {"chunks": (X.chunks[0],), "drop_axis": 1}
    return X.map_blocks(_answer, model=sent, method=method, dtype=meta.dtype, meta=meta, **shape)


def _nothing(model: OC1Classifier, method: str) -> np.ndarray:
    """Return the answer for no rows."""
    if method == "predict":
        return np.empty(0, dtype=model.classes_.dtype)
    return np.empty(0, dtype=np.int64) if method == "apply" else np.empty((0, len(model.classes_)))


def _answer(X: Any, model: OC1Classifier, method: str) -> np.ndarray:
    return getattr(model, method)(X) if len(X) else _nothing(model, method)


def _answer_frame(X: Any, model: OC1Classifier, method: str) -> Any:
    import pandas as pd  # comes with Dask's dataframes

    answer = _answer(X, model, method)
    if answer.ndim == 2:
        return pd.DataFrame(answer, index=X.index, columns=model.classes_)
    # Text is given its type by hand: an empty series of it would be one of objects.
    return pd.Series(answer, index=X.index, dtype=pd.Series(model.classes_).dtype if method == "predict" else None)
