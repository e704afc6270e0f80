"""Comparing learners as in section 4.1 of the paper: repeated cross-validation, on the same folds for all.

Unlike the paper's, which divide the data at random, the folds are stratified: each class is divided at random.

`cross_validate` returns one record per learner and fold, `summarise` computes the means and standard deviations that
the paper reports, `nested` chooses parameters inside the training folds, and `corrected_t_test` tests whether a
difference is more than chance.
"""

from __future__ import annotations

import os
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt
from joblib import Parallel, delayed
from numpy.typing import ArrayLike
from scipy import stats
from sklearn.base import BaseEstimator, is_classifier, is_regressor
from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold
from sklearn.utils import _safe_indexing

from ..learners.base import seeded


@dataclass(frozen=True)
class Fold:
    """One learner on one fold of one repeat."""

    data: str
    learner: str
    repeat: int
    fold: int

    @property
    def key(self) -> tuple[str, str, int, int]:
        """What tells folds apart."""
        return self.data, self.learner, self.repeat, self.fold


class ImpossibleRecord(ValueError):
    """No fold can have given such a record; the message says what is wrong with it."""


#: How large a fitted model is, in several ways.
SIZES = ("leaves", "depth", "hyperplanes", "terms")


@dataclass(frozen=True)
class FoldRecord(Fold):
    """The result of one learner on one fold.

    Attributes
    ----------
    data, learner : str
    repeat, fold : int
    n_test, n_correct : int
        Number of examples in the fold, and number of those that were classified correctly.
    leaves, depth, hyperplanes, terms : int or None
        Of the fitted model; None if it has no such attribute. Terms are the coefficients in all tests of a tree.
    seconds : float
        Fit time.
    """

    n_test: int
    n_correct: int
    leaves: int | None
    depth: int | None
    hyperplanes: int | None
    terms: int | None
    seconds: float

    def __post_init__(self) -> None:
        values: dict[str, Any] = vars(self)  # which may come from a file, and be anything
        for name in ("repeat", "fold", "n_test", "n_correct", *SIZES):
            count, may_be_unknown = values[name], name in SIZES
            is_count = isinstance(count, int | np.integer) and type(count) is not bool and count >= (name == "leaves")
            if not is_count and not (may_be_unknown and count is None):
                raise ImpossibleRecord(f"{name} is {count!r}")
        if self.n_correct > self.n_test:
            raise ImpossibleRecord(f"{self.n_correct} of {self.n_test} examples are correct")
        if not isinstance(values["seconds"], int | float) or not 0 <= self.seconds < np.inf:
            raise ImpossibleRecord(f"seconds is {self.seconds!r}")

    def without_times(self) -> dict[str, Any]:
        """Return what must be the same whenever the fold is run."""
        return {name: value for name, value in vars(self).items() if "seconds" not in name}

    @property
    def accuracy(self) -> float:
        """Per cent of the fold's examples that were classified correctly."""
        return 100 * self.n_correct / self.n_test


@dataclass(frozen=True)
class Task(Fold):
    """A fit still to be done, with everything it takes."""

    kind: ClassVar[str]
    splitter: ClassVar[type[StratifiedKFold | KFold]]
    estimator: Any
    X: ArrayLike
    y: ArrayLike
    test: npt.NDArray[np.intp]
    seed: int

    def fit_and_predict(self) -> tuple[Any, npt.NDArray[Any], float]:
        """Return the fitted model, its predictions for the fold's examples, and the fit time."""
        train = np.delete(np.arange(len(np.asarray(self.y))), self.test)
        model = seeded(self.estimator, derive_seed(self.seed, self.repeat, self.fold))
        start = time.perf_counter()
        model.fit(_safe_indexing(self.X, train), _safe_indexing(self.y, train))
        seconds = time.perf_counter() - start
        return model, np.asarray(model.predict(_safe_indexing(self.X, self.test))), seconds


@dataclass(frozen=True)
class FoldTask(Task):
    """A fit of a classifier still to be done."""

    kind: ClassVar = "classifier"
    splitter: ClassVar = StratifiedKFold

    def run(self) -> FoldRecord:
        """Fit and test the learner on this fold."""
        model, predicted, seconds = self.fit_and_predict()
        right = predicted == np.asarray(_safe_indexing(self.y, self.test))
        return FoldRecord(*self.key, len(self.test), int(right.sum()), *size_of(model), seconds)


@dataclass(frozen=True)
class Summary:
    """A cell of the paper's tables: one learner on one data set.

    Means and standard deviations (``_sd``) are over the repeats; a standard deviation is None if there is only one.

    Attributes
    ----------
    data, learner : str
    repeats : int
    accuracy, accuracy_sd : float
        Per cent, pooled over the folds of a repeat.
    leaves, depth, hyperplanes, terms : float or None
        Mean over the folds of a repeat, then over the repeats.
    seconds : float
        Median fit time: the first fit in a process also loads compiled code, which would distort a mean.
    """

    data: str
    learner: str
    repeats: int
    accuracy: float
    accuracy_sd: float | None
    leaves: float | None
    leaves_sd: float | None
    depth: float | None
    depth_sd: float | None
    hyperplanes: float | None
    hyperplanes_sd: float | None
    terms: float | None
    terms_sd: float | None
    seconds: float


class PairedTest(NamedTuple):
    """The result of `corrected_t_test`: mean difference a - b in percentage points, t statistic, p-value."""

    difference: float
    statistic: float
    p_value: float


def derive_seed(*numbers: int) -> int:
    """Return a seed that depends on all of the given numbers."""
    # The length goes in because a seed sequence pads with zeros: (3,) and (3, 0) would give the same numbers.
    return int(np.random.SeedSequence([len(numbers), *numbers]).generate_state(1)[0])


def size_of(model: Any) -> tuple[int | None, int | None, int | None, int | None]:
    """Return the sizes of a fitted model, or of the best or last model inside it."""
    while hasattr(model, "best_estimator_") or hasattr(model, "steps"):
        model = model.best_estimator_ if hasattr(model, "best_estimator_") else model.steps[-1][1]
    leaves = int(model.get_n_leaves()) if hasattr(model, "get_n_leaves") else None
    depth = int(model.get_depth()) if hasattr(model, "get_depth") else None
    hyperplanes = int(model.n_hyperplanes_) if hasattr(model, "n_hyperplanes_") else None
    terms = model.get_n_terms() if hasattr(model, "get_n_terms") else None
    return leaves, depth, hyperplanes, getattr(getattr(model, "tree_", None), "n_terms", terms)


AnyTask = TypeVar("AnyTask", bound=Task)
AnyRecord = TypeVar("AnyRecord", bound=Fold)


def make_tasks(
    task: type[AnyTask],
    contestants: Mapping[str, Any],
    X: ArrayLike,
    y: ArrayLike,
    *,
    repeats: int = 10,
    folds: int = 5,
    seed: int = 0,
    data: str = "",
) -> list[AnyTask]:
    """Return the fits of a repeated cross-validation; the arguments are those of `cross_validate`."""
    if not contestants:
        raise ValueError("no contestants: give a dictionary of names and learners")
    is_kind = {"classifier": is_classifier, "regressor": is_regressor}[task.kind]
    for name, estimator in contestants.items():
        if isinstance(estimator, type) or not hasattr(estimator, "fit") or not is_kind(estimator):
            raise ValueError(f"the contestant {name!r} is not a scikit-learn {task.kind}: {estimator!r}")
    n = len(np.asarray(y))
    if repeats < 1 or not 2 <= folds <= n:
        raise ValueError(f"needs at least 1 repeat and from 2 to {n} folds, got repeats={repeats}, folds={folds}")
    if seed < 0:
        raise ValueError(f"seed must not be negative, got {seed}")
    tasks = []
    for repeat in range(repeats):
        splitter = task.splitter(folds, shuffle=True, random_state=derive_seed(seed, repeat))
        if folds == n:  # leave one out: classes cannot be dealt evenly
            splitter = KFold(n)
        for fold, (_, test) in enumerate(splitter.split(np.zeros(n), y)):
            tasks += [task(data, name, repeat, fold, own, X, y, test, seed) for name, own in contestants.items()]
    return tasks


def run_tasks(tasks: Iterable[Any], n_jobs: int = 1) -> Iterator[Any]:
    """Yield what the method `run` of each task returns, as it comes, in any order."""
    # Started now, not when the first record is asked for: see `oc1.experiments`, whose workers inherit what is set now.
    records: Iterator[Any] = Parallel(
        n_jobs=n_jobs, return_as="generator_unordered", initializer=end_with_parent, initargs=(os.getpid(),)
    )(delayed(type(task).run)(task) for task in tasks)
    return records


def end_with_parent(parent: int) -> None:
    """End this process, a worker, soon after the one that started it has ended, in whatever way that was."""
    if os.name != "posix" or os.getppid() not in (parent, 1):  # 1: the parent has ended already
        return  # there is a process between the two, such as a fork server, or it cannot be seen

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(0.5)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def cross_validate(
    contestants: Mapping[str, Any],
    X: ArrayLike,
    y: ArrayLike,
    *,
    repeats: int = 10,
    folds: int = 5,
    seed: int = 0,
    n_jobs: int = 1,
    data: str = "",
    on_record: Callable[[FoldRecord], None] | None = None,
) -> list[FoldRecord]:
    """Cross-validate classifiers: as in the paper, each repeat has its own random folds, shared by all learners.

    Parameters
    ----------
    contestants : dict of str to classifier
        Any scikit-learn classifiers. Their ``random_state`` is set from (seed, repeat, fold).
    X : array-like (n_samples, n_features)
    y : array-like (n_samples,)
    repeats : int, default=10
    folds : int, default=5
        Number of folds, which are stratified (the paper's are not). As many folds as examples means leave-one-out.
    seed : int, default=0
        The same seed gives the same records (except for the times), for any `n_jobs`.
    n_jobs : int, default=1
        Number of processes.
    data : str, default=""
        The name of the data set in the records.
    on_record : callable, optional
        Called with each record as soon as it is available.

    Returns
    -------
    list of FoldRecord
        Ordered by contestant, repeat and fold.

    Examples
    --------
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from oc1 import OC1Classifier
    >>> from oc1.datasets import make_rcb
    >>> X, y = make_rcb(400, random_state=0)
    >>> records = cross_validate({"OC1": OC1Classifier(), "5-NN": KNeighborsClassifier()}, X, y, repeats=2)
    >>> oc1, neighbours = summarise(records)
    >>> oc1.accuracy > neighbours.accuracy, neighbours.leaves
    (True, None)
    """
    tasks = make_tasks(FoldTask, contestants, X, y, repeats=repeats, folds=folds, seed=seed, data=data)
    return ordered(run_tasks(tasks, n_jobs), list(contestants), on_record)


def ordered(
    found: Iterable[AnyRecord], learners: list[str], on_record: Callable[[AnyRecord], None] | None
) -> list[AnyRecord]:
    """Return records by learner, repeat and fold; tell of each as it comes."""
    records = []
    for record in found:
        records.append(record)
        if on_record is not None:
            on_record(record)
    return sorted(records, key=lambda record: (learners.index(record.learner), record.repeat, record.fold))


def nested(estimator: BaseEstimator, grid: Mapping[str, Sequence[Any]], folds: int = 3) -> GridSearchCV:
    """Return a contestant whose parameters are chosen by cross-validation inside the training folds.

    Parameters
    ----------
    estimator : classifier
    grid : dict of str to list
        The values to choose from.
    folds : int, default=3
        Number of folds of the inner cross-validation.

    Returns
    -------
    GridSearchCV
        Leaves, depth and hyperplanes in the records are those of the final model; the time includes the whole search.

    Examples
    --------
    >>> from oc1 import OC1Classifier
    >>> chooser = nested(OC1Classifier(), {"prune_se": [0.0, 1.0]})
    """
    return GridSearchCV(estimator, dict(grid), cv=StratifiedKFold(folds, shuffle=True, random_state=0))


def summarise(records: Iterable[FoldRecord]) -> list[Summary]:
    """Return means and standard deviations over the repeats, for each data set and learner in order of appearance.

    Parameters
    ----------
    records : iterable of FoldRecord

    Returns
    -------
    list of Summary
    """
    cells: dict[tuple[str, str], dict[int, dict[int, FoldRecord]]] = defaultdict(lambda: defaultdict(dict))
    for record in records:
        folds = cells[record.data, record.learner][record.repeat]
        if record.fold in folds:
            raise ValueError(f"two records of the same fold: {record.key}")
        folds[record.fold] = record
    return [_summarise(*cell, [list(folds.values()) for folds in repeats.values()]) for cell, repeats in cells.items()]


def _summarise(data: str, learner: str, repeats: list[list[FoldRecord]]) -> Summary:
    accuracies = [100 * sum(r.n_correct for r in repeat) / sum(r.n_test for r in repeat) for repeat in repeats]
    seconds = float(np.median([record.seconds for repeat in repeats for record in repeat]))
    sizes: dict[str, float | None] = {}
    for name in SIZES:
        values = [[getattr(record, name) for record in repeat] for repeat in repeats]
        known = not any(None in own for own in values)
        mean, deviation = over_repeats([float(np.mean(sorted(own))) for own in values]) if known else (None, None)
        sizes |= {name: mean, f"{name}_sd": deviation}
    accuracy, accuracy_sd = over_repeats(accuracies)
    return Summary(data, learner, len(repeats), accuracy, accuracy_sd, **sizes, seconds=seconds)


def over_repeats(values: list[float]) -> tuple[float, float | None]:
    """Return the mean of one value for each repeat, and its standard deviation if there are several."""
    values = sorted(values)  # the last digit of a mean depends on the order, and records may come in any
    return float(np.mean(values)), float(np.std(values, ddof=1)) if len(values) > 1 else None


def corrected_t_test(records: Iterable[FoldRecord], a: str, b: str, data: str | None = None) -> PairedTest:
    """Test whether two learners differ in accuracy: the corrected resampled t-test of Nadeau & Bengio (2003).

    The folds of a repeated cross-validation share training examples, so the plain t-test finds differences where there
    are none. The correction increases the variance according to the ratio of test to training examples.

    Parameters
    ----------
    records : iterable of FoldRecord
        Of both learners, on the same folds.
    a, b : str
        Names of the learners.
    data : str, optional
        Name of the data set, if there are records of several.

    Returns
    -------
    PairedTest
        ``difference`` (a - b, in percentage points), ``statistic``, ``p_value`` (two-sided).

    Examples
    --------
    >>> from sklearn.dummy import DummyClassifier
    >>> from oc1 import OC1Classifier
    >>> from oc1.datasets import make_pol
    >>> X, y = make_pol(300, random_state=0)
    >>> records = cross_validate({"OC1": OC1Classifier(), "majority": DummyClassifier()}, X, y, repeats=2)
    >>> corrected_t_test(records, "OC1", "majority").p_value < 0.001
    True
    """
    differences, variance = paired_differences(records, a, b, data)
    mean = float(differences.mean())
    if variance == 0:
        return PairedTest(mean, np.sign(mean) * np.inf if mean else 0.0, 0.0 if mean else 1.0)
    statistic = float(mean / np.sqrt(variance))
    return PairedTest(mean, statistic, float(2 * stats.t.sf(abs(statistic), len(differences) - 1)))


def paired_differences(
    records: Iterable[FoldRecord], a: str, b: str, data: str | None = None
) -> tuple[npt.NDArray[np.float64], float]:
    """Return the difference in accuracy on each fold, and the corrected variance of their mean (`corrected_t_test`)."""
    if a == b:
        raise ValueError(f"needs two different learners, got {a!r} twice")
    kept = [record for record in records if data is None or record.data == data]
    if len({record.data for record in kept}) > 1:
        raise ValueError("the records are of several data sets: name one with data=")
    of_a, of_b = ({(r.repeat, r.fold): r for r in kept if r.learner == name} for name in (a, b))
    if of_a.keys() != of_b.keys():
        raise ValueError(f"{a!r} and {b!r} have no records on the same folds")
    if len(of_a) < 2:
        raise ValueError(f"needs at least two folds of {a!r} and {b!r}, got {len(of_a)}")
    differences = np.array([of_a[fold].accuracy - of_b[fold].accuracy for fold in sorted(of_a)])
    sizes = [record.n_test for record in of_b.values()]
    n_test, n_all = float(np.mean(sizes)), sum(sizes) / len({repeat for repeat, _ in of_b})
    return differences, (1 / len(sizes) + n_test / (n_all - n_test)) * float(differences.var(ddof=1))
