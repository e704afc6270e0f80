"""Compile all kernels now, so that no later fit has to wait."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from .baselines import CARTLCClassifier, LMDTClassifier, PerceptronTreeClassifier, SADTClassifier
from .datasets import make_rcb
from .growing.options import MIN_SHARED_ROWS
from .learners.classifier import OC1Classifier
from .learners.forest import OC1ForestClassifier
from .learners.regressor import OC1Regressor


class _Rounds(OC1Classifier):
    """Searches as if there were many examples."""

    _large = 50


def warmup() -> float:
    """Compile all kernels of all learners; return the time this took, in seconds.

    The compiled code is cached on disk, so this needs to be done only once per machine: when an image is built, after
    an upgrade, or before a benchmark.

    Returns
    -------
    float
        About two minutes the first time, well under a second after that.

    Examples
    --------
    >>> from oc1 import warmup
    >>> seconds = warmup()
    """
    start = time.perf_counter()
    X, y = make_rcb(200, random_state=0)
    quick: Any = {"n_restarts": 2, "n_jumps": 1, "random_state": 0}
    for criterion in ("twoing", "info_gain", "sum_minority"):
        OC1Classifier(criterion=criterion, **quick).fit(X, y)
    OC1Regressor(prune=None, **quick).fit(X, X[:, 0])
    OC1Classifier(max_terms=1, **quick).fit(X.astype(np.float32), y).predict(X.astype(np.float32))
    for learner in (CARTLCClassifier, LMDTClassifier, SADTClassifier, PerceptronTreeClassifier):
        learner(max_depth=1, random_state=0).fit(X, y)
    for values in (X, X.astype(np.float32)):
        _Rounds(max_depth=1, prune=None, **quick).fit(values, y)
    _Rounds(max_depth=1, **quick).fit(X, y)
    OC1ForestClassifier(n_estimators=1).fit(X, y).predict(X)
    X, y = make_rcb(MIN_SHARED_ROWS, random_state=0)
    OC1Classifier(n_jobs=2, max_depth=1, prune=None, **quick).fit(X, y)
    return time.perf_counter() - start
