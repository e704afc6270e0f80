"""``oc1``, or ``python -m oc1``: the command line. Without arguments, ``python -m oc1`` shows OC1 on iris."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line."""
    try:
        from .cli.app import app
    except ModuleNotFoundError as problem:
        if (problem.name or "").partition(".")[0] not in ("typer", "rich"):
            raise
        sys.exit('error: the command line needs typer, rich and polars; install them with: pip install "oc1[cli]"')
    app(prog_name="oc1")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        main()
    else:
        # Needs nothing but the package itself.
        from .demonstration import demonstrate

        demonstrate()
