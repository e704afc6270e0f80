"""Digests of some hundred fits: the same code, however it is arranged, grows the same trees.

``python tools/digests.py`` fits every model below and compares the digest of each with ``tools/digests.json``;
``--write`` stores them. A digest covers the tree before and after pruning to the last bit, the number of hyperplanes
considered, and the attributes' importances. Run it before and after a change that should not change any tree. The
digests hold on one machine and one set of library versions: linear algebra rounds differently elsewhere, so they are
not part of the test suite, and ``--write`` on the commit before a change makes them comparable.

All of them take about a minute of processor time once the kernels are compiled. Options: ``--only TEXT`` fits the
models whose name contains TEXT.
"""

from __future__ import annotations

import argparse
import hashlib
import inspect
import json
import sys
import warnings
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_iris, load_wine

from oc1 import OC1Classifier, OC1EnsembleClassifier, OC1Regressor, baselines
from oc1.datasets import make_ls10, make_pol, make_rcb

STORED = Path(__file__).with_name("digests.json")


# ---------------------------------------------------------------------------------------------------- data


@cache
def blobs(n: int, d: int = 4, k: int = 3, missing: float = 0.0, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return overlapping classes on an oblique grid."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * rng.uniform(0.1, 10.0, d) + rng.normal(size=d)
    y = np.floor((X @ rng.normal(size=d) + rng.normal(scale=0.5, size=n)) / 4.0).astype(int) % k
    if missing:
        X[rng.uniform(size=X.shape) < missing] = np.nan
    return X, y


@cache
def mixed(n: int = 600) -> tuple[pd.DataFrame, np.ndarray]:
    """Return a table with two text columns, a number, and missing values."""
    rng = np.random.default_rng(3)
    colour, size = rng.integers(0, 5, n), rng.integers(0, 3, n)
    width = rng.normal(size=n)
    y = ((colour % 2) + width + 0.3 * size > 0.8).astype(int)
    width[rng.uniform(size=n) < 0.1] = np.nan
    table = pd.DataFrame(
        {
            "colour": np.array(["red", "green", "blue", "black", "white"])[colour],
            "size": np.array(["small", "medium", "large"])[size],
            "width": width,
            "noise": rng.normal(size=n),
        }
    )
    return table, y


def sklearn_data(load: Callable) -> tuple[np.ndarray, np.ndarray]:
    """Return one of scikit-learn's data sets."""
    return load(return_X_y=True)


@cache
def weights_of(n: int, whole: bool = False) -> np.ndarray:
    """Return weights, some of them zero."""
    rng = np.random.default_rng(5)
    return rng.integers(0, 4, n).astype(float) if whole else rng.uniform(0.0, 3.0, n)


# ---------------------------------------------------------------------------------------------------- models


def linear_gain(left: np.ndarray, right: np.ndarray) -> float:
    """Count the misclassified: a measure of the user's own."""
    return (left.sum() - left.max()) + (right.sum() - right.max())


def classifiers() -> Iterator[tuple[str, object, tuple, dict]]:
    """List the fits of `OC1Classifier`: name, estimator, data, further arguments of fit."""
    iris, cancer, wine = (sklearn_data(load) for load in (load_iris, load_breast_cancer, load_wine))
    digits = sklearn_data(load_digits)
    rcb, pol, ls10 = make_rcb(700, random_state=1), make_pol(600, random_state=1), make_ls10(500, random_state=1)
    three = blobs(800)

    def one(name: str, data: tuple, _fit: dict | None = None, **parameters):
        return name, OC1Classifier(random_state=1, **parameters), data, _fit or {}

    for label, data in {"iris": iris, "cancer": cancer, "wine": wine, "rcb": rcb, "pol": pol, "ls10": ls10}.items():
        yield one(f"default {label}", data)
        yield one(f"paper {label}", data, preset="paper")
    yield one("default digits", digits)
    yield one("default three classes", three)
    yield one("one leaf", (iris[0], np.zeros(len(iris[1]), dtype=int)))
    yield one("one attribute", (iris[0][:, :1], iris[1]))
    for criterion in ("twoing", "gini", "info_gain", "max_minority", "sum_minority", "sum_of_variances"):
        for label, data in {"two": rcb, "three": three}.items():
            yield one(f"{criterion} {label}", data, preset="paper", n_restarts=5, criterion=criterion)
        yield one(f"{criterion} default", three, criterion=criterion)
    yield one("own criterion", (three[0][:200], three[1][:200]), criterion=linear_gain, n_restarts=3, prune=None)
    for order in ("sequential", "best", "random"):
        yield one(f"order {order}", three, order=order, prune="holdout")
        yield one(f"order {order} paper", ls10, order=order, preset="paper")
    for splits in ("axis", "oblique", "auto"):
        yield one(f"splits {splits}", three, splits=splits)
        yield one(f"splits {splits} unpruned", rcb, splits=splits, prune=None)
    for prune in ("holdout", "cv", None):
        yield one(f"prune {prune}", three, prune=prune)
    yield one("one standard error", three, prune="cv", prune_se=1.0, n_restarts=3)
    yield one("ccp_alpha", three, prune=None, ccp_alpha=0.01)
    yield one("normalize positive", three, normalize="positive")
    yield one("max_terms", cancer, max_terms=2)
    yield one("max_terms purest", ls10, max_terms=3, prune="holdout", n_restarts=4)
    yield one("axis_bias", three, axis_bias=2.0)
    yield one("axis_bias purest", three, axis_bias=1.5, preset="paper")
    yield one("min_samples_oblique", three, min_samples_oblique=100, prune="holdout")
    yield one("limits", three, max_depth=4, min_samples_split=20, min_samples_leaf=7, min_impurity_decrease=0.001)
    yield one("limits purest", three, max_depth=6, min_samples_leaf=5, prune=None, min_impurity_decrease=0.001)
    yield one("max_leaf_nodes", three, max_leaf_nodes=6)
    yield one("max_leaf_nodes purest", three, max_leaf_nodes=9, prune=None, n_restarts=4)
    yield one("no stagnation, no jumps", three, stagnation=0.0, n_jumps=0, prune="holdout")
    yield one("weights", three, {"sample_weight": weights_of(800)})
    yield one("whole weights", three, {"sample_weight": weights_of(800, True)}, prune="holdout", n_restarts=4)
    yield one("class weights", three, class_weight="balanced")
    yield one(
        "weights gini purest", three, {"sample_weight": weights_of(800)}, criterion="gini", prune="cv", n_restarts=2
    )
    gaps = blobs(700, missing=0.08, seed=2)
    for missing in ("mean", "direction"):
        yield one(f"missing {missing}", gaps, missing=missing)
        yield one(f"missing {missing} purest", gaps, missing=missing, prune="holdout", n_restarts=4)
    yield one("missing direction axis", gaps, missing="direction", splits="axis")
    yield one("float32", (three[0].astype(np.float32), three[1]))
    for prune in ("auto", "holdout", "cv"):
        yield one(f"categories {prune}", mixed(), categorical_features="from_dtype", prune=prune, n_restarts=3)
    yield one("threads", blobs(12_000, seed=4), n_jobs=2)
    yield one("threads purest", blobs(12_000, seed=4), n_jobs=2, prune="holdout", n_restarts=4)
    yield one("subtrees purest", blobs(9_000, seed=4), prune="holdout", n_restarts=3)
    large = blobs(130_000, 3, 2, seed=6)
    yield one("large", large, n_jobs=2)
    yield one("large purest", large, prune="holdout", n_restarts=3, max_depth=5)
    for order in ("best", "random"):
        yield one(f"large {order}", large, order=order, prune=None, n_restarts=3, max_depth=3)
    yield one("large axis", large, splits="axis", max_depth=6)
    yield one("large max_terms", large, max_terms=2, max_depth=3)
    yield one("large bias", large, axis_bias=1.5, prune=None, n_restarts=2, max_depth=2)
    yield one("large weights", large, {"sample_weight": weights_of(130_000)}, max_depth=4)
    yield one("large missing", blobs(130_000, 3, 2, missing=0.05, seed=6), missing="direction", max_depth=4)
    wide = np.asfortranarray(blobs(1_100_000, 8, 2, seed=7)[0], dtype=np.float32)
    yield one("large float32 by columns", (wide, blobs(1_100_000, 8, 2, seed=7)[1]), max_depth=4, n_jobs=2)


def others() -> Iterator[tuple[str, object, tuple, dict]]:
    """List the fits of the other learners."""
    iris, cancer = sklearn_data(load_iris), sklearn_data(load_breast_cancer)
    three, diabetes = blobs(300), sklearn_data(load_diabetes)
    for name in baselines.__all__:
        kind = getattr(baselines, name)
        quick = {"patience": 300} if name == "SADTClassifier" else {}
        if "random_state" in inspect.signature(kind).parameters:
            quick["random_state"] = 1
        for label, data in {"iris": iris, "three": three, "cancer": (cancer[0][:, :6], cancer[1])}.items():
            yield f"{name} {label}", kind(**quick), data, {}
        yield f"{name} weights", kind(**quick), three, {"sample_weight": weights_of(300)}
        yield f"{name} limits", kind(**quick, max_depth=3, min_samples_leaf=10, max_leaf_nodes=4), three, {}
    yield "CART-LC Breiman", baselines.CARTLCClassifier(mode="breiman", random_state=1), three, {}
    yield "LMDT eliminate", baselines.LMDTClassifier(eliminate=True, random_state=1), iris, {}
    for criterion in ("squared_error", "absolute_error"):
        for prune in ("auto", "holdout", "cv", None):
            yield (
                f"regression {criterion} {prune}",
                OC1Regressor(criterion=criterion, prune=prune, random_state=1, n_restarts=2),
                diabetes,
                {},
            )
    yield "regression axis", OC1Regressor(splits="axis", random_state=1), diabetes, {}
    yield "regression weights", OC1Regressor(random_state=1), diabetes, {"sample_weight": weights_of(len(diabetes[1]))}
    table, y = mixed()
    yield (
        "regression categories",
        OC1Regressor(random_state=1, categorical_features="from_dtype"),
        (table, y + table["noise"].to_numpy()),
        {},
    )
    yield "vote", OC1EnsembleClassifier(n_estimators=3, random_state=1), three, {}
    yield (
        "vote bootstrap",
        OC1EnsembleClassifier(n_estimators=3, bootstrap=True, max_features=0.5, random_state=1, n_jobs=2),
        three,
        {},
    )
    yield (
        "vote of CART",
        OC1EnsembleClassifier(
            baselines.CARTClassifier(), n_estimators=3, max_samples=0.7, bootstrap=True, random_state=1
        ),
        three,
        {},
    )


def clusters() -> Iterator[tuple[str, Callable[[], object]]]:
    """List the fits on a Dask cluster, each a function that returns the local model."""
    import dask.array as da
    from distributed import Client

    from oc1.dask import DaskOC1Classifier

    settings: dict[str, dict] = {
        "default": {},
        "purest": {"prune": "holdout", "n_restarts": 2, "max_depth": 3},
        "axis": {"splits": "axis", "max_depth": 4},
        "missing": {"missing": "direction", "max_depth": 3},
        "max_terms": {"max_terms": 2, "max_depth": 2},
    }
    with Client(n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None) as client:
        for name, parameters in settings.items():
            gaps = 0.05 if name == "missing" else 0.0

            def fit(parameters=parameters, gaps=gaps):
                model = DaskOC1Classifier(client=client, random_state=1, **parameters)
                rows, y = blobs(130_000, 3, 2, gaps, 6)
                cut = (40_000, 90_000)
                return model.fit(da.from_array(rows, chunks=(cut, 3)), da.from_array(y, chunks=(cut,))).to_local()

            yield f"dask {name}", fit


# ---------------------------------------------------------------------------------------------------- digests


def contents(model) -> list:
    """Return everything of a fitted model that must stay as it is, as plain lists, numbers and strings."""
    if hasattr(model, "estimators_"):
        return [contents(own) for own in model.estimators_]
    path = getattr(model, "pruning_path_", None)
    names = [] if path is None else [name for name in path.dtype.names if name != "terms"]  # they follow from the tree
    columns = [np.asarray(path[name]).tolist() for name in names]
    importances = getattr(model, "feature_importances_", np.empty(0))
    unpruned = getattr(model, "unpruned_tree_", model.tree_)
    hyperplanes = getattr(model, "n_hyperplanes_", 0)
    trees = [{k: v for k, v in tree.to_dict().items() if k != "scale"} for tree in (model.tree_, unpruned)]
    return [*trees, int(hyperplanes), columns, importances.tolist()]


def digest(model) -> str:
    """Return a short digest of a fitted model."""
    text = json.dumps(contents(model), sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def fits() -> Iterator[tuple[str, Callable[[], object]]]:
    """List all fits: a name, and a function that returns the fitted model."""
    for source in (classifiers, others):
        for name, model, data, arguments in source():
            yield name, lambda model=model, data=data, arguments=arguments: model.fit(*data, **arguments)
    yield from clusters()


def main() -> int:
    """Compare or store; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true", help="store the digests instead of comparing them")
    parser.add_argument("--only", default="", help="only the models whose name contains this text")
    chosen = parser.parse_args()
    stored = json.loads(STORED.read_text()) if STORED.exists() else {}
    found, different = {}, []
    warnings.simplefilter("ignore")
    for name, fit in fits():
        if chosen.only not in name:
            continue
        try:
            found[name] = digest(fit())
        except Exception as error:  # a fit that fails is a difference like any other
            found[name] = f"{type(error).__name__}: {error}"[:120]
        if stored.get(name) != found[name]:
            different.append(name)
            if not chosen.write:
                print(f"{name}: {stored.get(name)} is now {found[name]}", flush=True)
    if not chosen.only:
        different += sorted(stored.keys() - found.keys())
    if chosen.write:
        STORED.write_text(json.dumps({**(stored if chosen.only else {}), **found}, indent=1, sort_keys=True) + "\n")
    print(f"{len(found)} fits, {len(different)} differ", file=sys.stderr)
    return int(bool(different) and not chosen.write)


if __name__ == "__main__":
    sys.exit(main())
