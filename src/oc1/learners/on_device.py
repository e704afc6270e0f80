"""Trees whose examples may be on a GPU (see `oc1.cuda`), for growing and for prediction."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.validation import check_is_fitted

from ..cuda.arrays import DEVICES, chosen_device, host_copy, is_on_device, like, view_of
from ..data.exact_moments import ExactMoments
from ..data.training import Training
from ..growing.engines import Engine
from ..growing.options import TreeSetup
from ..growing.progress import Reporter
from .base import SearchedTree
from .parameters import parameter


def checked_table(model: Any, X: Any, device: Any) -> Any:
    """Check the input of a prediction that is on a GPU; return it as numbers that the GPU takes."""
    check_is_fitted(model)
    table = view_of(X, device)
    if table.ndim != 2 or table.shape[1] != model.n_features_in_:
        raise ValueError(
            f"X has the shape {table.shape}, but {type(model).__name__} is expecting {model.n_features_in_} features "
            "as input"
        )
    if table.dtype not in (np.float32, np.float64):
        table = table.astype(np.float64)
    if bool(device.xp.isinf(table).any()):
        raise ValueError("Input X contains infinity or a value too large for its type.")
    return table


def leaves_on_device(model: Any, table: Any, device: Any) -> Any:
    """Return the leaf of each row of a checked table on a GPU."""
    if model.tree_.codes:  # categories are looked up by the processor
        return device.xp.asarray(model.tree_.apply(host_copy(table)))
    return device.find_leaves(table, model.tree_)


def labels_on_device(classes: np.ndarray, numbers: Any, given: Any) -> Any:
    """Return classes by their numbers: on the GPU, if they are numbers, and as what was given there."""
    if classes.dtype.kind in "biuf":
        return like(chosen_device("cuda").xp.asarray(classes)[numbers], given)
    return classes[host_copy(numbers)]


@dataclass(kw_only=True, eq=False, repr=False)
class DeviceTree(SearchedTree):
    """Base of the classifiers whose large nodes can be counted by a GPU."""

    device: str = parameter("cpu", StrOptions(set(DEVICES)))

    def _validate(self, X: npt.ArrayLike, y: npt.ArrayLike, sample_weight: npt.ArrayLike | None) -> Training:
        device = chosen_device(self.device, X, y, sample_weight)
        if device is None and self.device == "auto" and self.verbose:
            Reporter(self.verbose).write("device='auto': there is no GPU that can be used")
        data = super()._validate(*(host_copy(own) for own in (X, y, sample_weight)))
        if device is None or not is_on_device(X):
            return data
        table = view_of(X, device)
        return data._replace(on_device=table) if (table.shape, table.dtype) == (data.X.shape, data.X.dtype) else data

    def _make_engine(
        self,
        data: Training,
        rows: np.ndarray,
        weights: np.ndarray | None,
        setup: TreeSetup,
        moments: ExactMoments | None,
    ) -> Engine:
        device = chosen_device(self.device) if len(rows) >= setup.options.min_large_rows else None
        if device is None:  # all nodes are small
            return super()._make_engine(data, rows, weights, setup, moments)
        from ..cuda.engine import CudaEngine

        return CudaEngine(device, data.X, data.on_device, data.y, weights, rows, setup, moments)

    def apply(self, X: npt.ArrayLike) -> Any:
        """Return the number of the leaf that each example ends up in.

        Parameters
        ----------
        X : array-like or sparse matrix (n_samples, n_features)
            Of an array on a GPU, the leaves are on the GPU, too.

        Returns
        -------
        int array (n_samples,)
        """
        if not is_on_device(X):
            return super().apply(X)
        device = chosen_device("cuda")
        return like(leaves_on_device(self, checked_table(self, X, device), device), X)

    def predict(self, X: npt.ArrayLike) -> Any:
        """Return the class of each example: the majority of its leaf.

        Parameters
        ----------
        X : array-like or sparse matrix (n_samples, n_features)
            Of an array on a GPU, the classes are on the GPU, too, unless they are text.

        Returns
        -------
        array (n_samples,)
        """
        if not is_on_device(X):
            return super().predict(X)
        device = chosen_device("cuda")
        leaves = leaves_on_device(self, checked_table(self, X, device), device)
        return labels_on_device(self.classes_, device.xp.asarray(self.tree_.majority)[leaves], X)

    def predict_proba(self, X: npt.ArrayLike) -> Any:
        """Return the share of each class in the leaf of each example, after smoothing.

        Parameters
        ----------
        X : array-like or sparse matrix (n_samples, n_features)
            Of an array on a GPU, the shares are on the GPU, too.

        Returns
        -------
        array (n_samples, n_classes)
            In the order of ``classes_``.
        """
        if not is_on_device(X):
            return super().predict_proba(X)
        device = chosen_device("cuda")
        leaves = leaves_on_device(self, checked_table(self, X, device), device)
        return like(device.xp.asarray(self.tree_.outputs(self._checked_smoothing()))[leaves], X)
