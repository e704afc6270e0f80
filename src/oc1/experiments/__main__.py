"""``python -m oc1.experiments table1``: repeat a table or figure of the paper and print its values beside ours.

"further" and "peers" go beyond the paper and are not part of "all".
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from . import LIMIT, Interrupted, draw_figures, make_plans, reproduce


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the experiments that the command line names; return the exit status."""
    plans = make_plans()
    parser = argparse.ArgumentParser(prog="python -m oc1.experiments", description=__doc__)
    parser.add_argument("what", choices=[*plans, "figures", "all"], help="the experiment")
    parser.add_argument("--data", type=Path, metavar="DIR", help="folder of CSV files, instead of installed packages")
    parser.add_argument("--out", type=Path, metavar="DIR", default=Path("oc1-results"), help="folder for the results")
    parser.add_argument("--sets", nargs="+", metavar="NAME", help="run these data sets only")
    parser.add_argument(
        "--repeats", type=int, metavar="N", help="cross-validations (default: 10; further: 5; peers, --quick: 1)"
    )
    parser.add_argument("--jobs", type=int, metavar="N", default=1, help="processes; -1 is all cores")
    parser.add_argument("--seed", type=int, metavar="S", default=0)
    parser.add_argument("--quick", action="store_true", help="one repeat, artificial data of 500 points")
    parser.add_argument("--limit", type=float, metavar="S", default=LIMIT, help="peers: seconds a fit may take")
    parser.add_argument("--fresh", action="store_true", help="start over instead of going on where a run stopped")
    chosen = parser.parse_args(arguments)
    if chosen.repeats is not None and chosen.repeats < 1:
        parser.error(f"--repeats must be at least 1, got {chosen.repeats}")
    if chosen.jobs == 0:
        parser.error("--jobs must be a number of processes, or -1 for all cores")
    if chosen.seed < 0:
        parser.error(f"--seed must not be negative, got {chosen.seed}")
    if chosen.limit <= 0:
        parser.error(f"--limit must be positive, got {chosen.limit:g}")
    n_samples = 500 if chosen.quick else 2000
    try:
        wanted = [name for name, plan in plans.items() if not plan.beyond] if chosen.what == "all" else [chosen.what]
        for name in wanted if chosen.what != "figures" else []:
            reproduce(
                plans[name],
                chosen.out,
                data=chosen.data,
                repeats=chosen.repeats or (1 if chosen.quick else plans[name].repeats),
                n_jobs=chosen.jobs,
                seed=chosen.seed,
                n_samples=n_samples,
                fresh=chosen.fresh,
                only=chosen.sets,
                limit=chosen.limit,
            )
            print((chosen.out / f"{name}.md").read_text(encoding="utf-8"), flush=True)
        if chosen.what in ("figures", "all"):
            for path in draw_figures(chosen.out, chosen.seed):
                print(path)
    except Interrupted as interrupted:
        print(interrupted, file=sys.stderr)
        return 130
    except (ValueError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    print(f"report: {chosen.out / 'report.html'}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
