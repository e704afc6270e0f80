"""What each part of the default tree gives: OC1Classifier with parts taken out, beside other single models.

::

    python benchmarks/bench_default.py [--sets banana heart] [--cvs 2] [--jobs 2] [--rows default axis]

All models see the same folds of the development sets, with at most 4,000 rows of each: see `harness.py`. A run of all
sets and rows also writes its table to docs/better-trees.md, between the marks ``<!-- ablation -->`` and
``<!-- end -->``.

A part is taken out by a parameter, or by another value of a module constant. Constants of compiled code are set before
the code is compiled, with an empty cache of its own for each row, which takes a minute more.
"""

from __future__ import annotations

import argparse
import re
from pathlib import Path
from typing import Any

from harness import DEVELOPMENT, Learner, means, run, table_line
from peers import LOGISTIC, SKLEARN, SKLEARN_CV

from oc1 import OC1Classifier

PAGE = Path(__file__).parents[1] / "docs" / "better-trees.md"
MARKS = re.compile(r"(?<=<!-- ablation -->\n).*?(?=<!-- end -->)", re.DOTALL)


def oc1(name: str, is_compiled: bool = False, constants: dict[str, Any] | None = None, **parameters: Any) -> Learner:
    """Return a row of OC1Classifier."""
    return Learner(name, OC1Classifier(random_state=0, **parameters), constants, is_compiled)


def never(tree: Any) -> bool:
    """Stand for `can_be_fitted_jointly`."""
    return False


SIMPLEST = {"learners.selection:EQUALLY_GOOD": 0.0}
ROWS = {
    "default": oc1("`OC1Classifier()`"),
    "axis": oc1('axis-parallel tests only (`splits="axis"`)', splits="axis"),
    "oblique": oc1('no axis-parallel candidates (`splits="oblique"`)', splits="oblique"),
    "terms": oc1("linear classifiers keep all terms", True, {"kernels.linear_fits:MAX_FAILED_LENGTHS": 0}),
    "node": oc1("no price of a term at a node", True, {"kernels.choice:PRICE_OF_A_TERM": 0.0}),
    "path": oc1("no price of a term on the path", constants={"learners.selection:PRICE_OF_A_TERM": 0.0}),
    "best": oc1("the most accurate tree, not the simplest", constants=SIMPLEST),
    "joint": oc1("no joint fit", constants={"learners.selection:can_be_fitted_jointly": never}),
    "sharp": oc1("joint fit not sharpened", constants={"growing.joint_fit:SHARPENING": ()}),
    "round": oc1("numbers not rounded", constants={"growing.rounding:MAX_DIGITS": 0}),
    "3 terms": oc1("at most three terms a test (`max_terms=3`)", max_terms=3),
    "sklearn": SKLEARN,
    "sklearn cv": SKLEARN_CV,
    "logistic": LOGISTIC,
}
COLUMNS = ("accuracy %", "leaves", "terms: mean", "median", "log loss", "seconds")


def main() -> None:
    """Print the table row by row; write it to the page if it is complete."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", nargs="+", choices=DEVELOPMENT, default=DEVELOPMENT, metavar="SET")
    parser.add_argument("--rows", nargs="+", choices=list(ROWS), default=list(ROWS), metavar="ROW")
    parser.add_argument("--cvs", type=int, default=1, help="cross-validations")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    chosen = parser.parse_args()
    lines = [table_line([f"mean of {len(chosen.sets)} sets", *COLUMNS]), "|---" + "|---:" * len(COLUMNS) + "|"]
    print(*lines, sep="\n", flush=True)
    for key in chosen.rows:
        figures = run(ROWS[key], chosen.sets, chosen.cvs, chosen.jobs)
        lines.append(table_line([ROWS[key].name, *means(figures)]))
        print(lines[-1], flush=True)
    if chosen.sets == DEVELOPMENT and chosen.rows == list(ROWS):
        table = "\n".join(["", *lines, "", ""])
        PAGE.write_text(MARKS.sub(lambda _: table, PAGE.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
