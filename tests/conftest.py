import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings

from oc1.datasets import make_ls10, make_pol, make_rcb

# The same examples in every run; look for new ones with ``pytest --hypothesis-profile explore``.
settings.register_profile("steady", derandomize=True, deadline=None)  # busy machines are slow
settings.register_profile("explore", derandomize=False, deadline=None)
settings.load_profile("steady")

SHARED = Path(__file__).resolve().parents[2] / "shared" / "data"
#: Calls every kernel; the second of two processes begins at the other end.
COMPILE = "from oc1._warmup import fits; [fit() for fit in fits()[::{step}]]"


def pytest_configure(config):
    """Compile all kernels before workers start, if the whole suite is to run: they would all compile the same ones."""
    is_worker, n_workers = hasattr(config, "workerinput"), getattr(config.option, "numprocesses", None) or 0
    asks_for_all = config.args_source is config.ArgsSource.TESTPATHS and not config.option.collectonly
    if asks_for_all and n_workers > 1 and not is_worker and not os.environ.get("NUMBA_DISABLE_JIT"):
        halves = [subprocess.Popen([sys.executable, "-c", COMPILE.format(step=step)]) for step in (1, -1)]
        for half in halves:
            half.wait()  # what fails here fails in a test, too


@pytest.fixture(scope="session")
def ls10():
    return make_ls10(600, random_state=0)


@pytest.fixture(scope="session")
def pol():
    return make_pol(600, random_state=0)


@pytest.fixture(scope="session")
def rcb():
    return make_rcb(600, random_state=0)


@pytest.fixture(scope="session")
def noisy():
    """Two overlapping classes, so that trees are deep and pruning matters."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(400, 4))
    y = (X @ [1.0, -1.0, 0.5, 0.0] + rng.normal(size=400) > 0).astype(int)
    return X, y


@pytest.fixture
def shared_data():
    """The data folder beside the project, where there is one."""
    if not SHARED.is_dir():
        pytest.skip("the folder shared/data is not beside this checkout")
    return SHARED
