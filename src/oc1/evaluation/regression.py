"""Cross-validation of regressors: the folds of `protocol`, with errors in place of right and wrong answers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from numpy.typing import ArrayLike
from sklearn.model_selection import KFold

from .protocol import Fold, Task, make_tasks, ordered, over_repeats, run_tasks, size_of


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
class RegressionTask(Task):
    """A fit of a regressor still to be done."""

    kind: ClassVar = "regressor"
    splitter: ClassVar = KFold

    def run(self) -> RegressionRecord:
        """Fit and test the learner on this fold."""
        model, predicted, seconds = self.fit_and_predict()
        y = np.asarray(self.y, dtype=np.float64)
        errors, spread = y[self.test] - predicted, y[self.test] - y.mean()
        leaves, depth, _, terms = size_of(model)
        squared, absolute, variance = (float(np.mean(own)) for own in (errors**2, np.abs(errors), spread**2))
        return RegressionRecord(*self.key, len(self.test), squared, absolute, variance, leaves, depth, terms, seconds)


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
    tasks = make_tasks(RegressionTask, contestants, X, y, repeats=repeats, folds=folds, seed=seed)
    return ordered(run_tasks(tasks, n_jobs), list(contestants), on_record)


def summarise_regression(records: Iterable[RegressionRecord]) -> list[RegressionSummary]:
    """Return means and standard deviations over the repeats, for each learner in order of appearance."""
    cells: dict[str, dict[int, list[RegressionRecord]]] = defaultdict(lambda: defaultdict(list))
    for record in records:
        cells[record.learner][record.repeat].append(record)
    return [_summarise(learner, list(repeats.values())) for learner, repeats in cells.items()]


def _summarise(learner: str, repeats: list[list[RegressionRecord]]) -> RegressionSummary:
    def pooled(name: str) -> npt.NDArray[np.float64]:
        """Return the mean over all examples, for each repeat."""
        return np.array(
            [np.average([getattr(r, name) for r in own], weights=[r.n_test for r in own]) for own in repeats]
        )

    records = [record for own in repeats for record in own]
    sizes = [[getattr(record, name) for record in records] for name in ("leaves", "depth", "terms")]
    leaves, depth, terms = (None if None in own else float(np.mean(own)) for own in sizes)
    errors, variances = pooled("squared_error"), pooled("variance")
    r2 = 1 - np.divide(errors, variances, out=np.full(len(errors), np.nan), where=variances > 0)
    mean_r2, r2_sd = over_repeats(r2.tolist())
    absolute, root = float(pooled("absolute_error").mean()), float(np.sqrt(errors).mean())
    seconds = float(np.median([record.seconds for record in records]))
    return RegressionSummary(learner, len(repeats), mean_r2, r2_sd, absolute, root, leaves, depth, terms, seconds)
