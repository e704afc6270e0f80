import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oc1.kernels import _apart, _jit
from oc1.kernels.newton import LOGISTIC

MAKER = "oc1.kernels.least_squares:compiled_least_squares"


class Pending:
    def __init__(self, seconds):
        self.seconds = seconds


@given(st.lists(st.floats(0.1, 50), min_size=1, max_size=12), st.integers(0, 4))
def test_work_is_divided_evenly(seconds, n_processes):
    pending = [Pending(own) for own in seconds]
    shares = _apart.divide(pending, n_processes)
    assert len(shares) <= n_processes
    given_away = [own for share in shares for own in share]
    assert len(set(given_away)) == len(given_away)
    here = sum(own.seconds for own in pending if own not in given_away)
    for share in shares:
        # No process is given another function once it has more to do than this one.
        before_last = sum(own.seconds for own in share) - min(own.seconds for own in share)
        assert before_last + _apart.START_SECONDS <= here + _apart.OWN_SECONDS + 1e-9


@pytest.mark.skipif(_jit.config.DISABLE_JIT, reason="nothing is compiled")
def test_another_process_fills_the_cache(tmp_path):
    """One process compiles, as `start` has it do; a second one finds the code."""
    environment = {"NUMBA_CACHE_DIR": str(tmp_path), _apart.ALONE: "1"}
    look = """
from oc1.kernels import _apart
from oc1.kernels.least_squares import compiled_least_squares
compiled_least_squares()
print(len(_apart._pending))
"""

    def run(code):
        command = [sys.executable, "-c", code]
        # Its stdin stays open.
        with subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=_apart.os.environ | environment, text=True
        ) as process:
            return process.stdout.read()

    assert run(look) == "1\n"
    run(f"from oc1.kernels._apart import compile_all; compile_all([{MAKER!r}])")
    assert run(look) == "0\n"


@pytest.mark.skipif(_jit.config.DISABLE_JIT, reason="nothing is compiled")
@pytest.mark.parametrize("command", [["-c", "raise SystemExit(1)"], ["-c", "pass"]])
def test_what_another_process_did_not_compile_is_compiled_here(command, monkeypatch):
    def double(Z, right, weights, ridge, plane, left_out):
        return 2.0 * ridge

    def same(Z, right, weights, ridge, plane, left_out):
        return ridge

    def started(makers):
        return subprocess.Popen([sys.executable, *command], stdin=subprocess.PIPE)

    monkeypatch.setattr(_apart, "_can_start", lambda: True)
    monkeypatch.setattr(_apart, "_start_process", started)
    monkeypatch.setattr(_apart.os, "cpu_count", lambda: 2)
    pointers = [
        _apart.compiled_apart(seconds)(lambda f=function: _jit.pointer(LOGISTIC, f, keep=False, compiles=False))()
        for function, seconds in ((double, 100), (same, 1))
    ]
    assert all(own in _apart._pending for own in pointers)
    _apart.start()
    assert [own.is_here for own in pointers] == [False, True]
    nothing = np.empty((0, 0)), np.empty(0, bool), np.empty(0), 4.0, np.empty(0), np.empty(0)
    from oc1.kernels.newton import fit

    assert [fit(own, *nothing) for own in pointers] == [8.0, 4.0]
    assert not _apart._pending
    assert not _apart._processes
