"""Fitted models of every kind, and rows that try them, for the tests of what they are converted to."""

from functools import cache

import numpy as np
import pandas as pd

from oc1.baselines import (
    C45Classifier,
    CARTClassifier,
    CARTLCClassifier,
    LMDTClassifier,
    MSMTClassifier,
    PerceptronTreeClassifier,
    SADTClassifier,
)
from oc1.datasets import make_rcb
from oc1.learners.classifier import OC1Classifier
from oc1.learners.ensemble import OC1EnsembleClassifier
from oc1.learners.regressor import OC1Regressor

NASTY = ["it's", 'say "hi"\n"""', "früh ☃", "a\\b'; DROP TABLE data; --", "%s {x} \t", "-- x", "", "Ω"]


def numbers(n=400, d=3, seed=1, holes=0.1):
    """Points of three classes with missing values, whose missingness says something."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * [1.0, 10.0, 0.1, *[1.0] * (d - 3)]
    noise = rng.normal(size=n) * 0.5
    y = (X[:, 0] + X[:, 1] / 10 + noise > 0).astype(int) + (X[:, 0] - 10 * X[:, 2] > 1)
    X[rng.random(X.shape) < holes] = np.nan
    X[(y == 1) & (rng.random(n) < 0.3), 0] = np.nan
    return X, y


def frame(n=400, seed=2):
    """Attributes with categories that are texts, numbers and truth values, and awkward names."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "select": rng.choice(np.array(["it's", "b", 'c"', "Ω", ""], dtype=object), n),
            'si"ze': rng.normal(size=n),
            "X": rng.integers(0, 4, n).astype(float) / 2,
            "list": rng.choice([True, False], n),
        }
    )
    y = np.array(NASTY[:3], dtype=object)[
        (X["select"].isin(["b", "Ω"]) & (X["X"] > 0)).astype(int) + (X['si"ze'] + X["list"] > 1).astype(int)
    ]
    X.loc[rng.random(n) < 0.1, "select"] = None
    X.loc[rng.random(n) < 0.1, "X"] = np.nan
    return X, y


CATEGORICAL = ["select", "X", "list"]


@cache
def fitted(name):
    """Return a fitted model by name."""
    X, y = numbers()
    rcb, corners = make_rcb(500, random_state=0)
    if name == "oblique":
        return OC1Classifier(random_state=0, smoothing=0.3, prune=None).fit(rcb, corners)
    if name == "directed":
        model = OC1Classifier(splits="axis", prune=None, random_state=0, missing="direction").fit(X, y)
        assert (model.tree_.missing != 0).any()
        return model
    if name == "leaf":
        return OC1Classifier().fit(X[:5], ["only"] * 5)
    if name == "nasty":
        return OC1Classifier(random_state=0, n_restarts=2).fit(rcb, np.array(NASTY)[corners - 1])
    if name == "truth":
        return OC1Classifier(random_state=0).fit(X, y > 0)
    if name == "float labels":
        return CARTClassifier().fit(X, y * 2.0 - 2)
    if name == "vote":
        return OC1EnsembleClassifier(n_estimators=4, smoothing=0.1, random_state=0, bootstrap=True).fit(X, y)
    if name == "subspaces":
        base = OC1Classifier(prune=None, splits="axis")
        return OC1EnsembleClassifier(base, 5, max_features=2, random_state=0).fit(rcb[:, [0, 1, 0]], corners)
    if name == "machine votes":
        return OC1EnsembleClassifier(LMDTClassifier(), 3, bootstrap=True, random_state=0).fit(rcb, corners)
    if name == "categories":
        data, labels = frame()
        return OC1Classifier(categorical_features=CATEGORICAL, prune=None, random_state=0).fit(data, labels)
    if name == "votes on categories":
        data, labels = frame()
        base = OC1Classifier(categorical_features=CATEGORICAL, prune=None, missing="direction")
        return OC1EnsembleClassifier(base, 3, bootstrap=True, max_features=3, random_state=0).fit(data, labels)
    if name == "regression":
        return OC1Regressor(random_state=0).fit(rcb, rcb[:, 0] * 3 + corners)
    if name == "large":
        rng = np.random.default_rng(0)
        points = rng.normal(size=(900, 4))
        return CARTClassifier(prune=None).fit(points, rng.integers(0, 3, 900))
    if name == "large oblique":
        rng = np.random.default_rng(0)
        points = rng.normal(size=(700, 4))
        return OC1Classifier(prune=None, n_restarts=1, random_state=0).fit(points, rng.integers(0, 2, 700))
    if name == "large machines":
        rng = np.random.default_rng(0)
        points = rng.normal(size=(900, 3))
        return LMDTClassifier(prune=None).fit(points, rng.integers(0, 3, 900))
    learners = {
        "cart": CARTClassifier(), "cart-lc": CARTLCClassifier(), "c45": C45Classifier(), "lmdt": LMDTClassifier(),
        "sadt": SADTClassifier(random_state=0), "msmt": MSMTClassifier(),
        "perceptron": PerceptronTreeClassifier(random_state=0),
    }  # fmt: skip
    return learners[name].fit(rcb, corners)


NUMERIC = [
    "oblique", "directed", "leaf", "nasty", "truth", "float labels", "vote", "subspaces", "machine votes", "regression",
    "cart", "cart-lc", "c45", "lmdt", "sadt", "msmt", "perceptron", "large", "large oblique", "large machines",
]  # fmt: skip
WITH_CATEGORIES = ["categories", "votes on categories"]


def rows_for(model, n, seed=0, holes=True, huge=True):
    """Return rows that try a model: spread like its data, on its thresholds, with missing, huge and tiny values."""
    rng = np.random.default_rng(seed)
    d = model.n_features_in_
    X = rng.normal(size=(n, d)) * rng.choice([0.3, 1.0, 10.0], size=(n, 1)) + rng.choice([0.0, 0.5], size=(n, 1))
    trees = [member.tree_ for member in getattr(model, "estimators_", [model])]
    cuts = np.concatenate([tree.thresholds[~tree.is_leaf] for tree in trees if hasattr(tree, "thresholds")] or [[]])
    if len(cuts):
        exact = rng.random(X.shape) < 0.1
        X[exact] = rng.choice(cuts, exact.sum())
    if huge:
        X[: n // 50] = np.clip(X[: n // 50], -17, 17) * 1e307
        X[n // 50 : n // 25] *= 1e-310
    if holes:
        X[rng.random(X.shape) < 0.05] = np.nan
    if type(model).__name__ == "C45Classifier":  # with missing values it does what its notes say
        X = np.nan_to_num(X)
    return X


def mixed_rows(n, seed=5):
    """Return rows with unknown categories and missing values."""
    X = frame(n, seed)[0]
    rng = np.random.default_rng(seed)
    X.loc[rng.random(n) < 0.05, "select"] = "unheard of"
    X.loc[rng.random(n) < 0.05, "X"] = 77.0
    X.loc[rng.random(n) < 0.05, 'si"ze'] = np.nan
    return X
