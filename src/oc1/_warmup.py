"""Compile all kernels now, so that no later fit has to wait."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
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


def fits() -> list[Callable[[], Any]]:
    """List fits that between them call every kernel; the first and the last have few kernels in common."""
    X, y = make_rcb(200, random_state=0)
    many_X, many_y = make_rcb(MIN_SHARED_ROWS, random_state=0)
    single = X.astype(np.float32)
    quick: Any = {"n_restarts": 2, "n_jumps": 1, "random_state": 0}
    baselines: Any = (CARTLCClassifier, LMDTClassifier, SADTClassifier, PerceptronTreeClassifier)
    return [
        *(
            partial(OC1Classifier(criterion=criterion, **quick).fit, X, y)
            for criterion in ("twoing", "info_gain", "sum_minority")
        ),
        *(partial(_Rounds(max_depth=1, prune=None, **quick).fit, values, y) for values in (X, single)),
        partial(_Rounds(max_depth=1, **quick).fit, X, y),
        partial(OC1Classifier(n_jobs=2, max_depth=1, prune=None, **quick).fit, many_X, many_y),
        lambda: OC1Classifier(max_terms=1, **quick).fit(single, y).predict(single),
        partial(OC1Regressor(prune=None, **quick).fit, X, X[:, 0]),
        *(partial(learner(max_depth=1, random_state=0).fit, X, y) for learner in baselines),
        lambda: OC1ForestClassifier(n_estimators=1).fit(X, y).predict(X),
    ]


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
    for fit in fits():
        fit()
    return time.perf_counter() - start
