"""Compiled code that came with the package, for the common processors: the first fit need not wait for the compiler.

Wheels that ``tools/compiled_wheel.py`` makes hold the files of the cache (see `oc1.kernels._cache`), in one folder for
each level of the x86-64 instruction set. Code is taken from there if it was compiled from these very sources, by this
version of Numba and Python, and if this processor has all instructions of the level. Otherwise kernels are compiled, as
they are where no code came along.
"""

from __future__ import annotations

import json
import platform
from functools import cache
from pathlib import Path

from llvmlite import binding
from numba import config

#: Below this folder, each level has one.
FOLDER = Path(__file__).parent / "compiled"
#: In each: the target that Numba has compiled for, as it puts it into the keys of its caches.
TARGET = "target.json"
#: The instructions of the levels, beyond those that all x86-64 processors have; the best first.
_V2 = ("cx16", "popcnt", "sahf", "sse3", "sse4.1", "sse4.2", "ssse3")
_V3 = (*_V2, "avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe", "xsave")
_V4 = (*_V3, "avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl")
LEVELS = {"x86-64-v4": _V4, "x86-64-v3": _V3}


def features_of(level: str) -> str:
    """Return the instructions of a level as LLVM takes them."""
    return ",".join(f"+{name}" for name in LEVELS[level])


def usable_levels() -> list[str]:
    """Return the levels all of whose instructions this processor has."""
    host = binding.get_host_cpu_features()
    return [level for level, names in LEVELS.items() if all(host.get(name, False) for name in names)]


@cache
def shipped_code() -> tuple[tuple[Path, tuple[str, ...]], ...]:
    """Return the folders whose code this processor can run, with the targets it was compiled for; the best first."""
    chosen = config.CPU_NAME or config.CPU_FEATURES is not None  # type: ignore[attr-defined]
    if chosen or platform.machine().lower() not in ("x86_64", "amd64") or not FOLDER.is_dir():
        return ()
    folders = [FOLDER / level for level in usable_levels() if (FOLDER / level / TARGET).is_file()]
    return tuple((folder, tuple(json.loads((folder / TARGET).read_text(encoding="utf-8")))) for folder in folders)
