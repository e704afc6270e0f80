"""How long the commands take: those of examples/newcomer.sh, ``oc1 --help``, and a file larger than a batch.

    python benchmarks/bench_cli.py            the commands, after a warm-up
    python benchmarks/bench_cli.py stream     oc1 classify on 5,000,000 rows, beside reading the file alone
    python benchmarks/bench_cli.py stream --rows 1000000

Seconds are those of whole processes. Peak memory is that of the process (its resident set). "Reading alone" is the same
reader without a model (``oc1.files.tables.scan_table``), and polars reading the whole file at once.
"""

import argparse
import os
import resource
import shlex
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

REPEATS = 3
OC1 = [sys.executable, "-m", "oc1"]
SCRIPT = Path(__file__).parent.parent / "examples" / "newcomer.sh"

SCAN = """
import sys
from oc1.files.tables import ModelInputs, scan_table
names = tuple(f"x{m + 1}" for m in range(10))
print(sum(len(batch.X) for batch in scan_table(sys.argv[1], ModelInputs(10, names), labelled=False)))
"""
POLARS = "import sys, polars; print(len(polars.read_csv(sys.argv[1])))"


def timed(command: list[str], folder: Path) -> tuple[float, float]:
    """Run a command; return its seconds and its peak memory in MiB."""
    start = time.perf_counter()
    process = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - start
    if status != 0:
        sys.exit(f"{shlex.join(command)} failed: {process.stderr.read().decode()}")
    process.stderr.close()
    return seconds, usage.ru_maxrss / 1024


def commands(folder: Path) -> None:
    """Time the newcomer's commands."""
    lines = [line.partition("#")[0] for line in SCRIPT.read_text().splitlines() if line.startswith("oc1 ")]
    timed([*OC1, "warmup"], folder)
    print(f"{'command':88} {'seconds':>8} {'MiB':>6}")
    for line in ["oc1 --help", "oc1 train --help", *lines]:
        runs = [timed([*OC1, *shlex.split(line)[1:]], folder) for _ in range(REPEATS)]
        seconds, memory = statistics.median(run[0] for run in runs), max(run[1] for run in runs)
        print(f"{line.strip():88} {seconds:8.2f} {memory:6.0f}", flush=True)


def stream(folder: Path, rows: int) -> None:
    """Time a large file."""
    timed([*OC1, "generate", "ls10", "-n", str(rows), "-o", "large.csv"], folder)
    timed([*OC1, "generate", "ls10", "-o", "small.csv"], folder)
    timed([*OC1, "train", "small.csv", "-o", "model.json"], folder)
    size = (folder / "large.csv").stat().st_size
    print(f"{rows} rows x 10 attributes, {size / 2**20:.0f} MiB")
    ways = {
        "polars.read_csv, whole": [sys.executable, "-c", POLARS, "large.csv"],
        "reading alone, in batches": [sys.executable, "-c", SCAN, "large.csv"],
        "oc1 classify -o classes.csv": [*OC1, "classify", "model.json", "large.csv", "-o", "classes.csv"],
        "the same, labels only": [
            *OC1, "classify", "model.json", "large.csv", "-o", "classes.csv", "--no-probabilities",
        ],
        "oc1 classify -o classes.parquet": [*OC1, "classify", "model.json", "large.csv", "-o", "classes.parquet"],
        "oc1 test": [*OC1, "test", "model.json", "large.csv"],
    }  # fmt: skip
    # In turn, so that what else the machine does falls on all of them alike.
    results: dict[str, list[tuple[float, float]]] = {way: [] for way in ways}
    for _ in range(REPEATS):
        for way, command in ways.items():
            results[way].append(timed(command, folder))
    reading = statistics.median(run[0] for run in results["reading alone, in batches"])
    print(f"{'':32} {'seconds':>8} {'MiB/s':>7} {'peak MiB':>9} {'throughput / reading alone':>28}")
    for way, runs in results.items():
        seconds = statistics.median(run[0] for run in runs)
        peak = max(run[1] for run in runs)
        print(f"{way:32} {seconds:8.2f} {size / 2**20 / seconds:7.0f} {peak:9.0f} {reading / seconds:28.2f}")


def main() -> None:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="?", choices=["commands", "stream"], default="commands")
    parser.add_argument("--rows", type=int, default=5_000_000)
    chosen = parser.parse_args()
    # The memory of a child counts from that of its parent.
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss < 100 * 1024
    with tempfile.TemporaryDirectory() as folder:
        if chosen.what == "commands":
            commands(Path(folder))
        else:
            stream(Path(folder), chosen.rows)


if __name__ == "__main__":
    main()
