"""Compiled code that comes with the package is used if it fits, and only then."""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

from oc1.kernels import _shipped

TOOL = Path(__file__).parents[2] / "tools" / "compiled_wheel.py"
LEVEL = "x86-64-v3"
# A kernel that is quick to compile.
CALL = "import numpy as np; from oc1.data.exact_moments import exact_moments; exact_moments(np.ones((3, 2)))"
LISTEN = """
import sys
from pathlib import Path
from numba.core import event
from oc1.kernels import _cache, _jit, _shipped

class Listener(event.Listener):
    def on_start(self, event):
        print("compiled")
    def on_end(self, event):
        pass

event.register("numba:compile", Listener())
_shipped.FOLDER = Path(sys.argv[1])
"""

needs_level = pytest.mark.skipif(LEVEL not in _shipped.usable_levels(), reason=f"this processor is not {LEVEL}")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with compiled code for a level."""
    spec = importlib.util.spec_from_file_location("compiled_wheel", TOOL)
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    made = tmp_path_factory.mktemp("compiled")
    tool.compile_for(LEVEL, made / LEVEL, CALL)
    return made


def is_compiled(folder, tmp_path, before="", **environment):
    """Whether the kernel is compiled in a process that finds code in a folder, and nothing in its cache."""
    code = f"{LISTEN}\n{before}\n{CALL}"
    own = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path), **environment}
    done = subprocess.run([sys.executable, "-c", code, folder], env=own, capture_output=True, text=True, check=True)
    return "compiled" in done.stdout


@pytest.mark.slow
@needs_level
def test_code_that_came_along_is_not_compiled(folder, tmp_path):
    assert not is_compiled(folder, tmp_path)
    assert not list(tmp_path.rglob("*.nbc"))


@pytest.mark.slow
@needs_level
@pytest.mark.parametrize(
    ("before", "environment"),
    [
        ("_cache.source_stamp = lambda: 'another'", {}),
        ("_shipped.usable_levels = lambda: []", {}),
        ("", {"NUMBA_CPU_NAME": "x86-64-v3"}),
    ],
    ids=["other sources", "an older processor", "the user has chosen a processor"],
)
def test_code_that_does_not_fit_is_not_used(folder, tmp_path, before, environment):
    assert is_compiled(folder, tmp_path, before, **environment)


def test_no_code_is_looked_for_where_none_came_along(monkeypatch, tmp_path):
    monkeypatch.setattr(_shipped, "FOLDER", tmp_path / "nothing")
    assert _shipped.shipped_code.__wrapped__() == ()


def test_a_level_has_all_instructions_of_the_one_below():
    assert set(_shipped.LEVELS["x86-64-v3"]) < set(_shipped.LEVELS["x86-64-v4"])
    assert _shipped.features_of("x86-64-v3").startswith("+cx16,+")
