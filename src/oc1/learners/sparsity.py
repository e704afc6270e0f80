"""What short tests cost: accuracy and size of the tree for different limits on the number of terms per test."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from joblib import Parallel, delayed
from sklearn.base import clone
from sklearn.model_selection import BaseCrossValidator, check_cv
from sklearn.utils import _safe_indexing, check_random_state, indexable
from sklearn.utils.validation import _num_features

from ..tree.notebooks import ShownInNotebooks, html_table

if TYPE_CHECKING:
    from .classifier import OC1Classifier

#: Means that agree to this number of digits after the point are equal: what is left depends on the order of summation.
ROUNDED_DIGITS = 9


@dataclass(frozen=True, repr=False)
class SparsityPath(ShownInNotebooks):
    """Accuracy and size of trees by the number of terms that a test may have.

    Print it for a table, or let a notebook show it.

    Attributes
    ----------
    max_terms : int array (n_limits,)
        The limits, in increasing order. `n_features` means that there is none.
    accuracy : array (n_limits,)
        Mean accuracy over the folds, from 0 to 1.
    standard_error : array (n_limits,)
        Of `accuracy`: the standard deviation over the folds, divided by the square root of their number. NaN for a
        single fold.
    n_leaves : array (n_limits,)
        Mean number of leaves.
    n_terms : array (n_limits,)
        Mean number of terms in the whole tree: how much there is to read.
    n_features : int
        Number of attributes.
    """

    max_terms: npt.NDArray[np.int64]
    accuracy: npt.NDArray[np.float64]
    standard_error: npt.NDArray[np.float64]
    n_leaves: npt.NDArray[np.float64]
    n_terms: npt.NDArray[np.float64]
    n_features: int

    @property
    def labels(self) -> list[str]:
        """The limits in words."""
        return ["no limit" if limit >= self.n_features else str(limit) for limit in self.max_terms.tolist()]

    @property
    def on_frontier(self) -> npt.NDArray[np.bool_]:
        """Whether no other limit gives trees that are better in accuracy or size and no worse in the other."""
        more_accurate = np.subtract.outer(self.accuracy, self.accuracy).round(ROUNDED_DIGITS)
        shorter = -np.subtract.outer(self.n_terms, self.n_terms).round(ROUNDED_DIGITS)
        beats = (np.minimum(more_accurate, shorter) >= 0) & (np.maximum(more_accurate, shorter) > 0)
        return np.asarray(~beats.any(axis=0))

    def _cells(self) -> list[list[str]]:
        """Return the rows of the table as texts."""
        columns = (self.accuracy, self.standard_error, self.n_leaves, self.n_terms)
        rows = []
        for label, accuracy, error, leaves, terms in zip(self.labels, *columns, strict=True):
            share = f"{100 * accuracy:.1f}" + ("" if np.isnan(error) else f" ± {100 * error:.1f}")
            rows.append([label, share, f"{leaves:.1f}", f"{terms:.1f}"])
        return rows

    def __str__(self) -> str:
        lines = [f"{'max_terms':9}  accuracy %  leaves   terms"]
        lines += [f"{label:>9}  {share:>10}  {leaves:>6}  {terms:>6}" for label, share, leaves, terms in self._cells()]
        return "\n".join(lines)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        """Return the table, with the limits marked that no other one beats."""
        title = "Trees by the number of terms that a test may have; no other limit beats those marked"
        header = ("max_terms", "accuracy %", "leaves", "terms in the tree")
        return html_table(title, header, self._cells(), np.flatnonzero(self.on_frontier).tolist())


def usual_limits(n_features: int) -> Iterator[int]:
    """Return the limits to try: 1, 2, 3, 5, 8, ... (each the sum of the two before it), then none."""
    limit, following = 1, 2
    while limit < n_features:
        yield limit
        limit, following = following, limit + following
    yield n_features


def sparsity_path(
    model: OC1Classifier,
    X: npt.ArrayLike,
    y: npt.ArrayLike,
    sample_weight: npt.ArrayLike | None,
    max_terms: npt.ArrayLike | None,
    cv: int | BaseCrossValidator | Iterable[Any] | None,
) -> SparsityPath:
    """Cross-validate copies of a model that differ in `max_terms`; see `oc1.OC1Classifier.sparsity_path`."""
    X, y, sample_weight = indexable(X, y, sample_weight)
    n_features = _num_features(X)
    given = np.atleast_1d(list(usual_limits(n_features)) if max_terms is None else max_terms)
    if given.dtype.kind not in "iu" or given.min() < 1:
        raise ValueError(f"max_terms must be whole numbers of at least 1, got {max_terms!r}")
    limits = np.unique(np.minimum(given, n_features)).astype(np.int64)
    state = model.random_state
    seed = state if isinstance(state, int | np.integer) else check_random_state(state).randint(np.iinfo(np.int32).max)
    # The threads share the fits; within a fit, there is nothing left for more of them to do.
    copies = [clone(model).set_params(max_terms=limit, random_state=seed, n_jobs=1, verbose=0) for limit in limits]
    folds = list(check_cv(cv, y, classifier=True).split(X, y))
    fits = (delayed(_fit_and_score)(copy, X, y, sample_weight, *fold) for copy in copies for fold in folds)
    results = Parallel(n_jobs=model.n_jobs, prefer="threads")(fits)
    by_fold = np.array(results, dtype=np.float64).reshape(len(limits), len(folds), 3)
    accuracy, n_leaves, n_terms = by_fold.mean(axis=1).T
    deviation = by_fold[:, :, 0].std(axis=1, ddof=1) if len(folds) > 1 else np.full(len(limits), np.nan)
    return SparsityPath(limits, accuracy, deviation / np.sqrt(len(folds)), n_leaves, n_terms, n_features)


def _fit_and_score(
    model: OC1Classifier, X: Any, y: Any, sample_weight: Any, train: np.ndarray, test: np.ndarray
) -> tuple[float, int, int]:
    """Return the accuracy on a fold, the leaves, and the terms of a tree that was grown without it."""
    weights = [None if sample_weight is None else _safe_indexing(sample_weight, rows) for rows in (train, test)]
    fitted = clone(model).fit(_safe_indexing(X, train), _safe_indexing(y, train), sample_weight=weights[0])
    accuracy = fitted.score(_safe_indexing(X, test), _safe_indexing(y, test), sample_weight=weights[1])
    return float(accuracy), fitted.tree_.n_leaves, fitted.tree_.n_terms
