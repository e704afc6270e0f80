"""Damaged and hostile model files: each is refused with a clear message, or gives a model that works.

Valid files of all kinds are spoilt at random, byte by byte and value by value, and loaded in a process of its own with
little memory. A traceback, a crash, too much time or too much memory is a failure: the file is kept, and the script
exits with 1::

    python benchmarks/fuzz_models.py --inputs 100000 --out failures
"""

from __future__ import annotations

import argparse
import multiprocessing
import resource
import sys
import time
import traceback
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from mutations import outcome, spoilt, valid_files

#: What a file may take, beyond what the process has at its start.
MEMORY = 2 * 2**30
SECONDS = 20.0


def work(files, first: int, last: int, seed: int, state) -> None:
    """Load the files of some numbers; `state` is (number, refused, loaded, failed), shared with the parent."""
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, used + MEMORY))
    for number in range(first, last):
        state[0] = number
        try:
            state[1 if outcome(*spoilt(files, number, seed)) == "refused" else 2] += 1
        except BaseException:
            traceback.print_exc()
            state[3] = 1
            return
    state[0] = last


def main() -> int:
    """Run, print counts, and keep what failed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--inputs", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=None, help="folder for files that fail")
    options = parser.parse_args()
    files, context = valid_files(), multiprocessing.get_context("fork")
    for ending, data in files:
        assert outcome(ending, data) == "loaded"
    state = context.Array("q", 4, lock=False)
    failures, number, start = 0, 0, time.perf_counter()
    while number < options.inputs:
        state[0], state[3] = number, 0
        child = context.Process(target=work, args=(files, number, options.inputs, options.seed, state))
        child.start()
        at, since = number, time.perf_counter()
        while child.is_alive():
            child.join(1.0)
            if state[0] != at:
                at, since = state[0], time.perf_counter()
            elif time.perf_counter() - since > SECONDS:
                child.kill()
        if state[0] == options.inputs:
            break
        failures += 1
        ending, data = spoilt(files, state[0], options.seed)
        reason = "failed" if state[3] else f"ended with {child.exitcode} (crash or timeout)"
        print(f"input {state[0]} {reason}", flush=True)
        if options.out is not None:
            options.out.mkdir(parents=True, exist_ok=True)
            (options.out / f"{options.seed}-{state[0]}{ending}").write_bytes(data)
        number = state[0] + 1
    seconds = time.perf_counter() - start
    print(
        f"{options.inputs} files of {len(files)} kinds in {seconds:.0f} s: {state[1]} refused, {state[2]} loaded and "
        f"worked, {failures} failed"
    )
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
