"""``oc1 warmup``: compiled kernels."""

from __future__ import annotations

from ..options import Json
from ..screen import print_json, say


def warmup(json: Json = False) -> None:
    """Compile all kernels now, so that no later command waits.

    Example: oc1 warmup
    """
    from ..._warmup import warmup as compile_kernels

    seconds = compile_kernels()
    if json:
        print_json({"seconds": seconds})
    else:
        say(f"kernels compiled in {seconds:.1f} seconds")
