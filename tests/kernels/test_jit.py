"""The cache of compiled code: renewed when any kernel source changes, used when none does, never a reason to fail."""

import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from waiting import MAX_WAIT_SECONDS

from oc1.kernels import _inner, _jit, _shipped

HELPER = """
from ._jit import inner

@inner
def twice(x):
    return 2.0 * x
"""
CALLER = """
from typing import NamedTuple
import numpy as np
from numba import typeof
from ._jit import fix_type, kernel
from .helper import twice

class Pair(NamedTuple):
    a: np.ndarray
    b: float

fix_type(Pair, typeof(np.zeros(1)), float)

@kernel
def add(pair):
    return twice(pair.a[0]) + pair.b
"""
USE = """
import sys
import numpy as np
{before}
from package.caller import Pair, add
value = add(Pair(np.ones(1), 0.5))
print(value, sum(add.stats.cache_hits.values()), sum(add.stats.cache_misses.values()))
"""


@pytest.fixture
def package(tmp_path):
    """A folder of two kernel files, one of which calls the other."""
    return make_package(tmp_path)


def make_package(folder):
    home = folder / "package"
    home.mkdir()
    (home / "__init__.py").touch()
    for module in (_jit, _inner, _shipped):
        shutil.copy(module.__file__, home)
    (home / "helper.py").write_text(HELPER)
    (home / "caller.py").write_text(CALLER)
    return home


def use(package, before=""):
    """Call the kernel in a new process; return (value, whether it came from the cache, what was said)."""
    environment = {"PATH": "", "NUMBA_CACHE_DIR": str(package.parent / "cache")}
    command = [sys.executable, "-B", "-c", USE.format(before=before)]
    done = subprocess.run(
        command,
        cwd=package.parent,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=MAX_WAIT_SECONDS,
    )
    assert done.returncode == 0, done.stderr
    value, hits, misses = done.stdout.split()
    assert int(hits) + int(misses) == 1
    return float(value), int(hits) == 1, done.stderr


def indices(package):
    return sorted(path.name for path in (package.parent / "cache").rglob("*.nb?"))


def test_changing_a_helper_compiles_its_callers_in_other_files(package):
    assert use(package)[:2] == (2.5, False)
    assert use(package)[:2] == (2.5, True)
    before = indices(package)
    (package / "helper.py").write_text(HELPER.replace("2.0", "3.0"))
    (package / "caller.py").write_text("# So that names in the cache, which have line numbers, change.\n" + CALLER)
    assert use(package)[:2] == (3.5, False)
    assert len(indices(package)) == len(before)  # what the old sources left is gone
    assert indices(package) != before


@pytest.mark.slow
def test_the_same_content_in_new_files_compiles_nothing(package):
    use(package)
    shutil.rmtree(package)
    make_package(package.parent)
    assert use(package)[:2] == (2.5, True)


@pytest.mark.slow
def test_damaged_files_lead_to_compiling_and_one_warning(package):
    use(package)
    for path in (package.parent / "cache").rglob("*.nb?"):
        path.write_bytes(b"nothing that Numba wrote")
    value, cached, said = use(package)
    assert (value, cached) == (2.5, False)
    assert said.count("RuntimeWarning") == 1
    assert "compiling again" in said
    assert use(package)[:2] == (2.5, True)


@pytest.mark.slow
def test_what_cannot_be_kept_is_used_all_the_same(package):
    full = "import os, numba.core.caching as c\ndef fail(*_): raise OSError('No space left on device')\n"
    value, cached, said = use(package, full + "c.IndexDataCacheFile._save_data = fail")
    assert (value, cached) == (2.5, False)
    assert said.count("RuntimeWarning") == 1
    assert "cannot be kept" in said


@pytest.mark.slow
def test_without_numbas_names_its_own_cache_is_used(package):
    # Numba itself has looked the name up before it is taken away.
    without = "import numba.core.ccallback, numba.core.caching as c; del c.FunctionCache"
    assert use(package, without)[:2] == (2.5, False)
    assert use(package, without)[:2] == (2.5, True)


def test_the_stamp_covers_all_kernel_sources():
    assert Path(_jit.FOLDER, "line_search.py").is_file()
    assert len(_jit.source_stamp()) == 64


@pytest.mark.slow
@pytest.mark.skipif(_jit.config.DISABLE_JIT, reason="nothing is compiled")
@pytest.mark.parametrize(("before", "is_there"), [("", True), ("del codegen.JITCodeLibrary", False)])
def test_inner_functions_have_no_machine_code_of_their_own(before, is_there):
    """Without the names of Numba that this takes, they are compiled as always."""
    code = f"""
import numpy as np
from numba import njit
from numba.core import codegen
{before}
from oc1.kernels import _inner, _jit
assert (_inner.InnerCompiler is not None) == {is_there}

@_jit.allocating
def twice(x):
    y = np.empty(x.size)
    for i in range(x.size):
        y[i] = 2.0 * x[i]
    return y

@njit
def last(x):
    return twice(twice(x))[x.size - 1]

assert last(np.arange(4.0)) == 12.0
(inner,) = twice.overloads.values()
assert (inner.library.get_pointer_to_function(inner.fndesc.llvm_func_name) == 0) == {is_there}
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_one_line_says_that_kernels_are_compiled_and_other_packages_compile_without_a_word(capsys):
    notice = _jit._Notice()
    for module, said in (("umap.layouts", ""), ("oc1.kernels.newton", f"{_jit.MESSAGE}\n"), ("oc1.kernels.split", "")):
        notice.on_start(SimpleNamespace(data={"dispatcher": SimpleNamespace(__module__=module)}))
        assert capsys.readouterr().err == said
