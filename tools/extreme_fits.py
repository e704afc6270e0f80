"""Fits on numbers, weights and classes of any size: each is refused with a ValueError, or gives sane answers.

An input is a small data set whose features may be tiny, huge, constant, tied or missing, with or without weights, and a
learner with random parameters. The answers must be finite, the probabilities those of a distribution, and another
unit of the weights must change nothing. ``benchmarks/fuzz_models.py --what fits`` runs these by the thousand.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier

from oc1 import OC1Classifier, OC1EnsembleClassifier, OC1ForestClassifier, OC1ForestRegressor, OC1Regressor
from oc1.baselines import C45Classifier, CARTClassifier

FEW = {"n_estimators": 3}
#: Learners, and whether weights are ratios to them: the regressor counts whole weights as repetitions.
LEARNERS = (
    (OC1Classifier(), True),
    (OC1Classifier(prune=None, n_restarts=2), True),
    (OC1Classifier(prune="cv", n_restarts=2), True),
    (OC1Classifier(preset="paper", n_restarts=2), True),
    (OC1Classifier(splits="axis", missing="direction"), True),
    (OC1ForestClassifier(**FEW), True),
    (OC1EnsembleClassifier(OC1Classifier(prune=None, n_restarts=1), **FEW), True),
    (C45Classifier(), True),
    (CARTClassifier(), True),
    (OC1Regressor(n_restarts=2), False),
    (OC1ForestRegressor(**FEW), True),
)


def feature(rng: np.random.Generator, n: int) -> np.ndarray:
    """Return a column of some size and kind."""
    values = rng.normal(size=n)
    kind = rng.integers(7)
    if kind == 0:
        values = rng.integers(0, 3, n).astype(float)
    elif kind == 1:
        values = np.full(n, values[0])
    elif kind == 2:
        values = values + 10.0 ** rng.uniform(0, 16)
    elif kind == 3:
        values = values * 10.0 ** rng.uniform(-320, 307)
    elif kind == 4:
        values = values * 10.0 ** rng.uniform(-150, 150, n)
    elif kind == 5:
        values[rng.integers(n)] = rng.choice([1e300, -1e300, -99999.0, 5e-324])
    if rng.random() < 0.2:
        values[rng.random(n) < 0.3] = np.nan
    return values


def problem(number: int, seed: int) -> tuple[Any, bool, np.ndarray, np.ndarray, np.ndarray | None, float]:
    """Return a learner, whether weights are ratios to it, X, y, weights, and a factor for these."""
    rng = np.random.default_rng([seed, number])
    learner, has_ratios = LEARNERS[rng.integers(len(LEARNERS))]
    n, d = int(rng.integers(2, 60)), int(rng.integers(1, 5))
    X = np.column_stack([feature(rng, n) for _ in range(d)])
    if is_classifier(learner):
        y = rng.integers(0, rng.integers(2, 5), n)
        clear = np.nan_to_num(X[:, 0]) > np.median(np.nan_to_num(X[:, 0]))
        y = np.where(rng.random(n) < 0.7, clear, y)
    else:
        y = rng.normal(size=n) * 10.0 ** rng.uniform(-100, 100)
    weights, factor = None, 1.0
    if rng.random() < 0.6:
        weights = rng.choice([rng.integers(0, 4, n) + 0.0, rng.uniform(0.1, 3, n), 10.0 ** rng.uniform(-7, 7, n)])
        factor = 10.0 ** rng.uniform(-290, 290)
    return clone(learner).set_params(random_state=0), has_ratios, X, y, weights, factor


def outcome(number: int, seed: int) -> str:
    """Fit an input; return whether it was refused or answered."""
    learner, has_ratios, X, y, weights, factor = problem(number, seed)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            learner.fit(X, y, sample_weight=weights)
    except ValueError:
        return "refused"
    answers = learner(X)
    assert np.isfinite(answers).all(), "an answer is not finite"
    if is_classifier(learner):
        assert (answers >= 0.0).all(), "a probability is negative"
        assert np.allclose(answers.sum(axis=1), 1.0), "probabilities do not add up to 1"
        assert np.isin(learner.predict(X), y).all(), "a class that is not there"
    else:
        rounded = 1e-12 * np.abs(y).max()  # the mean over the trees of a forest
        assert y.min() - rounded <= answers.min(), "a number below all others"
        assert answers.max() <= y.max() + rounded, "a number above all others"
    if weights is not None and has_ratios:
        other = clone(learner).fit(X, y, sample_weight=weights * factor)
        np.testing.assert_allclose(other(X), answers, rtol=1e-6, atol=1e-12, err_msg="another unit of the weights")
    return "answered"
