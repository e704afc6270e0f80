"""Cross-validation of regressors: the folds of `protocol`, with errors in place of right and wrong answers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import is_regressor
from sklearn.model_selection import KFold

from .protocol import Fit, Fold, derive_seed, in_parallel, size_of


@dataclass(frozen=True)
class RegressionRecord(Fold):
    """The result of one regressor on one fold.

    Attributes
    ----------
    data, learner : str
    repeat, fold : int
    n_test : int
        Number of examples in the fold.
    squared_error, absolute_error : float
        Means over these examples.
    variance : float
        Mean squared distance of their targets from the mean of all targets: the error of a constant prediction.
    leaves, depth, terms : int or None
        Of the fitted model.
    seconds : float
        Fit time.
    """

    n_test: int
    squared_error: float
    absolute_error: float
    variance: float
    leaves: int | None
    depth: int | None
    terms: int | None
    seconds: float


@dataclass(frozen=True)
class RegressionSummary:
    """One regressor on one data set: means over the repeats, and standard deviations (``_sd``) if there are several.

    Attributes
    ----------
    learner : str
    repeats : int
    r2, r2_sd : float
        Share of the variance that is explained, pooled over the folds of a repeat; NaN if all targets are equal.
    absolute_error, root_squared_error : float
        Mean absolute error, and root of the mean squared error.
    leaves, depth, terms : float or None
    seconds : float
        Median fit time.
    """

    learner: str
    repeats: int
    r2: float
    r2_sd: float | None
    absolute_error: float
    root_squared_error: float
    leaves: float | None
    depth: float | None
    terms: float | None
    seconds: float


@dataclass(frozen=True)
class RegressionTask(Fit):
    """A fit still to be done, with everything it takes to make its `RegressionRecord`."""

    def run(self) -> RegressionRecord:
        """Fit and test the learner on this fold."""
        model, predicted, test, seconds = self.fit_and_predict()
        y = np.asarray(self.y, dtype=np.float64)
        errors, spread = y[test] - predicted, y[test] - y.mean()
        leaves, depth, _, terms = size_of(model)
        squared, absolute, variance = (float(np.mean(own)) for own in (errors**2, np.abs(errors), spread**2))
        return RegressionRecord(*self.key, len(test), squared, absolute, variance, leaves, depth, terms, seconds)

    def splitter(self) -> KFold:
        """Return what deals the examples to folds."""
        return KFold(self.folds, shuffle=True, random_state=derive_seed(self.seed, self.repeat))


def cross_validate_regressors(
    contestants: Mapping[str, Any],
    X: ArrayLike,
    y: ArrayLike,
    *,
    repeats: int = 10,
    folds: int = 5,
    seed: int = 0,
    n_jobs: int = 1,
    on_record: Callable[[RegressionRecord], None] | None = None,
) -> list[RegressionRecord]:
    """Cross-validate regressors: each repeat has its own random folds, shared by all of them.

    Parameters
    ----------
    contestants : dict of str to regressor
        Their ``random_state`` is set from (seed, repeat, fold).
    X : array-like (n_samples, n_features)
    y : array-like (n_samples,)
    repeats, folds, seed, n_jobs, on_record
        As in `oc1.evaluation.cross_validate`; the folds are not stratified.

    Returns
    -------
    list of RegressionRecord
        Ordered by contestant, repeat and fold.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.linear_model import LinearRegression
    >>> X, y = load_diabetes(return_X_y=True)
    >>> (summary,) = summarise_regression(cross_validate_regressors({"linear": LinearRegression()}, X, y, repeats=2))
    >>> round(summary.r2, 1)
    0.5
    """
    n = len(np.asarray(y))
    for name, estimator in contestants.items():
        if not is_regressor(estimator):
            raise ValueError(f"the contestant {name!r} is not a scikit-learn regressor: {estimator!r}")
    if repeats < 1 or not 2 <= folds <= n:
        raise ValueError(f"needs at least 1 repeat and from 2 to {n} folds, got repeats={repeats}, folds={folds}")
    tasks = [
        RegressionTask("", name, repeat, fold, estimator, X, y, folds, seed)
        for repeat in range(repeats)
        for fold in range(folds)
        for name, estimator in contestants.items()
    ]
    records: list[RegressionRecord] = []
    for record in in_parallel(tasks, n_jobs):
        records.append(record)
        if on_record is not None:
            on_record(record)
    order = list(contestants)
    return sorted(records, key=lambda record: (order.index(record.learner), record.repeat, record.fold))


def summarise_regression(records: Iterable[RegressionRecord]) -> list[RegressionSummary]:
    """Return means and standard deviations over the repeats, for each learner in order of appearance."""
    cells: dict[str, dict[int, list[RegressionRecord]]] = defaultdict(lambda: defaultdict(list))
    for record in records:
        cells[record.learner][record.repeat].append(record)
    return [_summarise(learner, list(repeats.values())) for learner, repeats in cells.items()]


def _summarise(learner: str, repeats: list[list[RegressionRecord]]) -> RegressionSummary:
    def pooled(name: str) -> np.ndarray:
        """Return the mean over all examples, for each repeat."""
        sums = [(sum(getattr(r, name) * r.n_test for r in own), sum(r.n_test for r in own)) for own in repeats]
        return np.array([total / n for total, n in sums])

    def mean_size(name: str) -> float | None:
        sizes = [getattr(r, name) for own in repeats for r in own]
        return None if None in sizes else float(np.mean(sizes))

    errors, variances = pooled("squared_error"), pooled("variance")
    r2 = 1 - np.divide(errors, variances, out=np.full(len(errors), np.nan), where=variances > 0)
    return RegressionSummary(
        learner,
        len(repeats),
        float(r2.mean()),
        float(r2.std(ddof=1)) if len(r2) > 1 else None,
        float(pooled("absolute_error").mean()),
        float(np.sqrt(errors).mean()),
        mean_size("leaves"),
        mean_size("depth"),
        mean_size("terms"),
        float(np.median([r.seconds for own in repeats for r in own])),
    )
