"""Whole processes: the demonstration, and the kernels without compilation."""

import json
import os
import subprocess
import sys

import pytest
from waiting import MAX_WAIT_SECONDS

from oc1 import OC1Classifier
from oc1.datasets import make_rcb


def run(code, **environment):
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
        timeout=MAX_WAIT_SECONDS,
    )
    assert done.returncode == 0, done.stderr
    return done


def test_the_demonstration_runs():
    done = subprocess.run([sys.executable, "-m", "oc1"], capture_output=True, text=True, timeout=MAX_WAIT_SECONDS)
    assert done.returncode == 0, done.stderr
    assert "petal width (cm)" in done.stdout
    assert "leaves   3" in done.stdout
    assert "cross-validation" in done.stdout


def test_plain_python_gives_the_same_tree():
    code = """
import json
from oc1 import OC1Classifier
from oc1.datasets import make_rcb
X, y = make_rcb(60, random_state=0)
for order in ("sequential", "best", "random"):
    clf = OC1Classifier(prune=None, n_restarts=2, n_jumps=2, n_perturbations=5, order=order, random_state=3).fit(X, y)
    print(json.dumps(clf.tree_.to_dict()))
"""
    slow = run(code, NUMBA_DISABLE_JIT="1").stdout.splitlines()
    X, y = make_rcb(60, random_state=0)
    for line, order in zip(slow, ("sequential", "best", "random"), strict=True):
        clf = OC1Classifier(prune=None, n_restarts=2, n_jumps=2, n_perturbations=5, order=order, random_state=3).fit(
            X, y
        )
        assert json.loads(line) == clf.tree_.to_dict()


@pytest.mark.slow
def test_the_first_compile_is_announced_once(tmp_path):
    # Moments need one small kernel, a fit needs dozens.
    code = """
import numpy as np
from oc1.data.exact_moments import exact_moments
for _ in range(2):
    exact_moments(np.ones((3, 2)))
"""
    first = run(code, NUMBA_CACHE_DIR=str(tmp_path))
    assert first.stderr.count("compiling kernels") == 1
    assert run(code, NUMBA_CACHE_DIR=str(tmp_path)).stderr == ""


@pytest.mark.slow
def test_warmup_leaves_nothing_to_compile():
    done = subprocess.run(
        [sys.executable, "-m", "oc1", "warmup"], capture_output=True, text=True, timeout=MAX_WAIT_SECONDS
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("kernels compiled in ")
    code = """
import numpy as np
from oc1 import OC1Classifier, OC1Regressor
X = np.random.default_rng(0).normal(size=(9000, 3))
y = (X[:, 0] > X[:, 1]).astype(int)
for criterion in ("gini", "sum_of_variances", "max_minority", "info_gain"):
    clf = OC1Classifier(criterion=criterion, n_restarts=2, max_depth=2, n_jobs=2)
    clf.fit(np.asfortranarray(X), y, sample_weight=y + 1.5).predict(X[::2, ::-1])
    clf.fit(X.astype(np.float32), y)
for criterion in ("squared_error", "absolute_error"):
    model = OC1Regressor(criterion=criterion, n_restarts=2, max_depth=2)
    model.fit(np.asfortranarray(X[:900]).astype(np.float32), X[:900, 0], sample_weight=y[:900] + 1.5).predict(X)
"""
    assert run(code).stderr == ""
