"""Dask collections as a fit is given them: checked for their kind and shape, and taken apart into partitions."""

from __future__ import annotations

from typing import Any

import dask
import numpy as np
from dask.utils import is_arraylike, is_dataframe_like, is_series_like


def is_collection(X: Any) -> bool:
    """Return whether X is a Dask array or a Dask dataframe."""
    return dask.is_dask_collection(X) and (is_dataframe_like(X) or is_arraylike(X))


def check_collection(X: Any) -> None:
    """Raise an error if X is no table of Dask."""
    if not is_collection(X):
        kind = type(X).__name__
        raise TypeError(f"X must be a Dask array or a Dask dataframe, got {kind}; for data in memory use OC1Classifier")
    if X.ndim != 2:
        raise ValueError(f"X must have a row for each example and a column for each attribute, got {X.ndim}-D")


def delayed_rows(X: Any, y: Any, sample_weight: Any) -> tuple[Any, list[tuple[Any, ...]]]:
    """Return an empty example of X and, for each partition, its parts of X, y and the weights (or None), delayed."""
    check_collection(X)
    if is_arraylike(X):
        if np.isnan(X.shape[1]):
            raise ValueError("the number of columns of X is not known: call X.compute_chunk_sizes() first")
        X = X.rechunk({1: -1}) if X.numblocks[1] > 1 else X
    meta = X._meta if is_dataframe_like(X) else np.empty((0, X.shape[1]), dtype=X.dtype)
    if meta.shape[1] == 0:
        raise ValueError("X has no columns: at least one attribute is needed")
    given = [X, _aligned("y", y, X)]
    if sample_weight is not None:
        given.append(_aligned("sample_weight", sample_weight, X))
    parts = _delayed_parts(given)
    if sample_weight is None:
        parts.append([None] * len(parts[0]))
    return meta, list(zip(*parts, strict=True))


def _delayed_parts(collections: list[Any]) -> list[list[Any]]:
    """Return the partitions of each collection, delayed, so that what all are computed from is computed once."""
    frames = [one for one in collections if not is_arraylike(one)]
    parts_of_frames: list[list[Any]] = []
    if frames:
        first, *others = frames
        how = {"align_dataframes": False, "enforce_metadata": False, "meta": first._meta}
        joined = first.map_partitions(_as_tuple, *others, **how)
        tuples = joined.to_delayed(optimize_graph=len(frames) == len(collections))
        parts_of_frames = [[one[place] for one in tuples] for place in range(len(frames))]
    # Arrays are not optimised: each would be fused with a copy of its own of what they share.
    return [
        one.to_delayed(optimize_graph=False).ravel().tolist() if is_arraylike(one) else parts_of_frames.pop(0)
        for one in collections
    ]


def _as_tuple(*parts: Any) -> tuple[Any, ...]:
    return parts


def _aligned(name: str, given: Any, X: Any) -> Any:
    """Return y or the weights with the partitions of X."""
    is_series = is_series_like(given) or is_dataframe_like(given)
    if not dask.is_dask_collection(given) or not (is_series or is_arraylike(given)):
        kind = type(given).__name__
        raise TypeError(f"{name} must be a Dask array or a Dask series, as X is a Dask collection; got {kind}")
    if given.ndim == 2 and len(given.columns if is_series else range(given.shape[1])) != 1:
        raise ValueError(f"{name} must have one column")
    if is_arraylike(given):
        given = given[:, 0] if given.ndim == 2 else given
        if is_arraylike(X) and not np.isnan([*X.chunks[0], *given.chunks[0]]).any():
            if len(given) != len(X):
                raise ValueError(f"X has {len(X)} rows, but {name} has {len(given)}")
            return given.rechunk((X.chunks[0],))
    n_partitions = given.numblocks[0] if is_arraylike(given) else given.npartitions
    n_expected = X.numblocks[0] if is_arraylike(X) else X.npartitions
    if n_partitions != n_expected:
        raise ValueError(
            f"X has {n_expected} partitions, but {name} has {n_partitions}: take both from one collection, or "
            "repartition one of them"
        )
    return given
