"""``oc1``, or ``python -m oc1``: the command line. Without arguments, ``python -m oc1`` shows OC1 on iris."""

from __future__ import annotations

import os
import sys


def main() -> None:
    """Run the command line."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:  # closed by whoever started us; files must not be opened in its place
            setattr(sys, name, open(os.open(os.devnull, os.O_RDWR), mode))  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")  # a label may have letters that the terminal has not
    try:
        from .cli.app import app_for

        app = app_for(sys.argv[1:])
    except KeyboardInterrupt:
        sys.exit(130)
    except ModuleNotFoundError as problem:
        if (problem.name or "").partition(".")[0] not in ("typer", "rich"):
            raise
        sys.exit('error: the command line needs typer, rich and polars; install them with: pip install "oc1[cli]"')
    try:
        sys.exit(app(prog_name="oc1", standalone_mode=False))
    except KeyboardInterrupt:
        sys.exit(130)
    except Exception as problem:
        # What typer has to say of wrong options, in one sentence like everything else. (Its classes have moved around.)
        if not hasattr(problem, "format_message"):
            raise
        if type(problem).__name__ == "NoArgsIsHelpError":
            problem.show()  # type: ignore[attr-defined]
        else:
            is_option = type(problem).__name__ == "NoSuchOption" and sys.argv[1] in ("train", "cv", "animate")
            advice = " (-P NAME=VALUE sets any parameter of the learner)" if is_option else ""
            print(f"error: {' '.join(problem.format_message().split())}{advice}", file=sys.stderr)
        sys.exit(problem.exit_code)  # type: ignore[attr-defined]


if __name__ == "__main__":
    if len(sys.argv) > 1:
        main()
    else:
        # Needs nothing but the package itself.
        from .demo import demonstrate

        demonstrate()
