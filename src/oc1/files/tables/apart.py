"""Libraries that a damaged file can bring down, in a process of their own."""

from __future__ import annotations

import os
import subprocess
import sys


def run_apart(function: str, *arguments: str, content: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    """Run a function like ``package.module:name`` in another process; its return code is neither 0 nor 1 if it crashes.

    Parameters
    ----------
    function : str
    *arguments : str
        Passed to the function.
    content : bytes
        What it finds in standard input.
    """
    module, _, name = function.partition(":")
    code = f"import sys; from {module} import {name}; {name}(*sys.argv[1:])"
    surroundings = os.environ | {"PYTHONPATH": os.pathsep.join(map(os.path.abspath, sys.path))}
    command = [sys.executable, "-P", "-c", code, *arguments]  # -P: no modules of the folder we are in
    return subprocess.run(command, input=content, capture_output=True, env=surroundings, check=False)
