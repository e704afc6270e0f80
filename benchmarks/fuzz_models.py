"""Damaged and hostile files: each is refused with a clear message, or gives an answer.

Valid models, tables and journals of all kinds are spoilt at random, byte by byte and value by value. Models are loaded
and asked all they can be asked; models and tables go through the commands (classify, test, show, plot, convert, train).
A foreign exception, a crash, more than 5 seconds or more than 1 GB is a failure: the files are kept, and the script
exits with 1. The kind "fits" is about fits on numbers and weights of any size (see ``tools/extreme_fits.py``)::

    python benchmarks/fuzz_models.py --inputs 100000 --out failures
    python benchmarks/fuzz_models.py --what fits --inputs 20000
    python benchmarks/fuzz_models.py --what commands --inputs 20000 --seed 7

Seconds are those of the processor, so that a busy machine makes no failures.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import resource
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tools"))

import extreme_fits
import mutations

#: What an input may take, beyond what the process has at its start.
MAX_BYTES = 2**30
MAX_SECONDS = 5.0
#: Of the clock: a process that waits for something takes no time of the processor.
MAX_WAITING_SECONDS = 120.0
#: A process starts afresh after this many inputs: what matplotlib and others keep must not count as one input's.
INPUTS_PER_PROCESS = 500

#: In place of the time at which an input began.
STARTING = 2**40

KINDS = ("models", "commands", "journals", "fits")
Files = list[tuple[str, bytes]]


def make_task(what: str, models: Files, tables: Files, seed: int) -> Callable[[int], str]:
    """Return what is done with the input of a number."""
    if what == "models":
        return lambda number: mutations.outcome(*mutations.spoilt(models, number, seed))
    if what == "commands":
        return lambda number: mutations.run_command(mutations.command(models, tables, number, seed))
    if what == "fits":
        return lambda number: extreme_fits.outcome(number, seed)
    return lambda number: mutations.journal_outcome(number, seed)


def work(what: str, models: Files, tables: Files, first: int, last: int, seed: int, state) -> None:
    """Do the inputs of some numbers; `state` is (number, refused, answered, failed, ms at its start), shared."""
    task = make_task(what, models, tables, seed)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        if what == "commands":  # imports and thread pools come first
            table = next(one for one in tables if one[0] == ".csv")
            for arguments in (("classify", "model.json", "table.csv"), ("plot", "model.json", "-o", "out.png")):
                mutations.run_command(mutations.Command(arguments, {"model.json": models[0][1], "table.csv": table[1]}))
        used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used + MAX_BYTES, used + MAX_BYTES))
        for number in range(first, last):
            state[0], state[4] = number, int(1000 * time.process_time())
            try:
                state[1 if task(number) == "refused" else 2] += 1
                seconds = time.process_time() - state[4] / 1000
                assert seconds < MAX_SECONDS, f"{seconds:.1f} s"
            except BaseException:
                traceback.print_exc()
                state[3] = 1
                os.chdir("/")
                return
        state[0] = last
        os.chdir("/")


def processor_seconds(pid: int | None) -> float:
    """Return the processor time of a process so far."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rsplit(") ", 1)[1].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def keep(folder: Path, what: str, models: Files, tables: Files, number: int, seed: int) -> None:
    """Write the files of an input that failed."""
    folder = folder / f"{what}-{seed}-{number}"
    folder.mkdir(parents=True, exist_ok=True)
    if what == "models":
        ending, data = mutations.spoilt(models, number, seed)
        (folder / f"model{ending}").write_bytes(data)
    elif what == "commands":
        own = mutations.command(models, tables, number, seed)
        (folder / "command.txt").write_text(" ".join(own.arguments))
        for name, content in own.files.items():
            (folder / name).write_bytes(content)


def main() -> int:
    """Run, print counts, and keep what failed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--what", choices=KINDS, default="models")
    parser.add_argument("--inputs", type=int, default=100_000)
    parser.add_argument("--first", type=int, default=0, help="number of the first input")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=None, help="folder for files that fail")
    options = parser.parse_args()
    what, seed, number, last = options.what, options.seed, options.first, options.first + options.inputs
    models, tables = mutations.valid_files(), mutations.valid_tables()
    context = multiprocessing.get_context("spawn")  # polars does not survive a fork
    state = context.Array("q", 5, lock=False)
    failures, start = 0, time.perf_counter()
    while number < last:
        state[0], state[3], state[4] = number, 0, STARTING
        end = min(last, number + INPUTS_PER_PROCESS)
        child = context.Process(target=work, args=(what, models, tables, number, end, seed, state))
        child.start()
        at, since = number, time.perf_counter()
        while child.is_alive():
            child.join(1.0)
            if state[0] != at or state[4] == STARTING:
                at, since = state[0], time.perf_counter()
            spent = processor_seconds(child.pid) - state[4] / 1000
            if spent > 2 * MAX_SECONDS or time.perf_counter() - since > MAX_WAITING_SECONDS:
                child.kill()
        if state[0] == end:
            number = end
            print(f"{what}: {number - options.first} inputs, {failures} failures", flush=True)
            continue
        failures += 1
        reason = "failed" if state[3] else f"ended with {child.exitcode} (crash, too much memory or time)"
        print(f"{what} {state[0]} (seed {seed}) {reason}", flush=True)
        if options.out is not None:
            keep(options.out, what, models, tables, state[0], seed)
        number = state[0] + 1
    seconds = time.perf_counter() - start
    print(
        f"{options.inputs} inputs of kind {what!r} in {seconds:.0f} s: {state[1]} refused, {state[2]} answered, "
        f"{failures} failed"
    )
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
