"""Add compiled kernels to a wheel, so that the first fit after an installation does not have to compile them.

    python -m build --wheel
    python tools/compiled_wheel.py dist/oc1-0.1.0-py3-none-any.whl

writes another wheel beside it, for this version of Python on this platform. The package itself must be installed here,
with the Numba that users are expected to have: with any other version, the kernels are compiled as usual. It takes some
minutes: all kernels are compiled for each level of the x86-64 instruction set that this processor has.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

from oc1.kernels import _shipped
from oc1.kernels._cache import source_stamp

TELL_TARGET = """
import json
from numba.core.registry import cpu_target
print(json.dumps(cpu_target.target_context.codegen().magic_tuple()))
"""
STAMP = "from oc1.kernels._cache import source_stamp; print(source_stamp())"


def compile_for(level: str, folder: Path, compile_: str = "oc1.warmup()") -> None:
    """Compile all kernels, or those that a statement needs, for a level; leave the code in a folder."""
    with tempfile.TemporaryDirectory() as kept:
        chosen = {"NUMBA_CPU_NAME": level, "NUMBA_CPU_FEATURES": _shipped.features_of(level), "NUMBA_CACHE_DIR": kept}
        command = [sys.executable, "-c", f"import oc1\n{compile_}\n{TELL_TARGET}"]
        done = subprocess.run(command, env={**os.environ, **chosen}, check=True, stdout=subprocess.PIPE, text=True)
        folder.mkdir(parents=True)
        (folder / _shipped.TARGET).write_text(done.stdout.splitlines()[-1] + "\n", encoding="utf-8")
        for path in Path(kept).rglob("*.nbc"):
            shutil.copy(path, folder / path.name)


def main() -> None:
    """Read a wheel and write one with compiled kernels."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("wheel", type=Path, help="a wheel of this package, without compiled kernels")
    given = parser.parse_args()
    levels = _shipped.usable_levels()
    if not levels:
        sys.exit(f"this processor has not all instructions of any of {', '.join(_shipped.LEVELS)}")
    tool = [sys.executable, "-m", "wheel"]
    with tempfile.TemporaryDirectory() as unpacked:
        subprocess.run([*tool, "unpack", given.wheel, "--dest", unpacked], check=True, stdout=subprocess.DEVNULL)
        (root,) = Path(unpacked).iterdir()
        theirs = {**os.environ, "PYTHONPATH": str(root)}
        found = subprocess.run([sys.executable, "-c", STAMP], env=theirs, check=True, stdout=subprocess.PIPE, text=True)
        if found.stdout.strip() != source_stamp():
            sys.exit(f"the kernels in {given.wheel} are not those that are installed here")
        for level in levels:
            print(f"compiling for {level}", flush=True)
            compile_for(level, root / "oc1" / "kernels" / "compiled" / level)
        subprocess.run([*tool, "pack", root, "--dest-dir", unpacked], check=True, stdout=subprocess.DEVNULL)
        (packed,) = Path(unpacked).glob("*.whl")
        python = f"cp{sys.version_info.major}{sys.version_info.minor}"
        system = sysconfig.get_platform().replace("-", "_").replace(".", "_")
        tags = ["--python-tag", python, "--abi-tag", python, "--platform-tag", system]
        tagged = subprocess.run([*tool, "tags", *tags, packed], check=True, stdout=subprocess.PIPE, text=True)
        name = tagged.stdout.splitlines()[-1]
        made = shutil.move(Path(unpacked) / name, given.wheel.parent / name)
    print(json.dumps({"wheel": str(made), "MB": round(Path(made).stat().st_size / 1e6, 1), "levels": levels}))


if __name__ == "__main__":
    main()
