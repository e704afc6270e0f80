"""Do oblique splits pay on these data? `compare` tries OC1 beside simpler and larger models and says so in words."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from scipy import stats
from sklearn.dummy import DummyClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import check_array, check_consistent_length, check_random_state, column_or_1d
from sklearn.utils.multiclass import check_classification_targets

from ..growing.progress_bar import progress_bar
from ..learners.classifier import OC1Classifier
from ..learners.ensemble import OC1EnsembleClassifier
from .protocol import FoldRecord, PairedTest, corrected_t_test, cross_validate, nested, summarise

#: Names of the learners that are always compared.
OBLIQUE, AXIS, VOTE = "OC1", "OC1, axis-parallel", "OC1, vote of 11"
TREE, LINEAR, MAJORITY = "scikit-learn's tree", "logistic regression", "majority class"

#: A difference is clear if chance gives one as large less often than this.
LEVEL = 0.05
#: Points of accuracy: if a difference is known no better than this, there are too few examples to tell.
TOO_WIDE = 5.0
#: Points of accuracy by which a linear model may fall behind and still do as well.
SLIGHT = 0.5
#: A tree is clearly smaller with this share of the leaves, and one leaf less.
SMALLER = 2 / 3
#: What the pruning of scikit-learn's tree is chosen from; the first of equals, so the smallest tree.
ALPHAS = (0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001, 0.0005, 0.0)


@dataclass(frozen=True)
class Comparison:
    """What `compare` found; print it.

    Attributes
    ----------
    table : list of dict
        A row a learner: ``learner``, ``accuracy`` and ``accuracy_sd`` (per cent; the deviation is over the repeats,
        None if there is one), ``leaves`` and ``depth`` (None for what is no tree; the leaves of a vote are those of
        all its trees), ``seconds`` (median time of a fit), ``difference`` in points of accuracy from oblique OC1 and
        its ``p_value`` by the corrected paired test (None for oblique OC1 itself).
    findings : tuple of str
        What the advice says, in keywords: one of ``"oblique"`` (clearly more accurate than axis-parallel),
        ``"smaller"`` (as accurate, with a clearly smaller tree), ``"axis"`` (axis-parallel is as good or better),
        ``"unclear"`` (too few examples to tell), ``"majority"`` (nothing beats the majority class); then maybe
        ``"linear"`` (logistic regression does as well or better), ``"vote"`` (the vote is clearly more accurate than
        one tree), ``"others"`` (so is another learner).
    advice : str
        A paragraph on whether oblique splits pay.
    n_samples, n_features, n_classes, folds, repeats : int
    records : list of FoldRecord
        Every fold, for `oc1.evaluation`.
    """

    table: list[dict[str, Any]]
    findings: tuple[str, ...]
    advice: str
    n_samples: int
    n_features: int
    n_classes: int
    folds: int
    repeats: int
    records: list[FoldRecord] = field(repr=False)

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the folds, in JSON's types."""
        values = {name: value for name, value in self.__dict__.items() if name != "records"}
        return values | {"table": [dict(row) for row in self.table], "findings": list(self.findings)}

    def __str__(self) -> str:
        header = ["", "accuracy %", "leaves", "depth", "seconds", f"p, against {OBLIQUE}"]
        lines = [header, *(_cells(row) for row in self.table)]
        widths = [max(len(line[place]) for line in lines) for place in range(len(header))]
        text = ["  ".join([line[0].ljust(widths[0]), *map(str.rjust, line[1:], widths[1:])]).rstrip() for line in lines]
        title = (
            f"{self.n_samples} examples, {self.n_features} attributes, {self.n_classes} classes; "
            f"{self.repeats} x {self.folds}-fold cross-validation"
        )
        return "\n".join([title, "", *text, "", textwrap.fill(self.advice, 100, break_on_hyphens=False)])


def _cells(row: Mapping[str, Any]) -> list[str]:
    deviation = "" if row["accuracy_sd"] is None else f" ± {row['accuracy_sd']:.1f}"
    sizes = ["-" if row[name] is None else f"{row[name]:.1f}" for name in ("leaves", "depth")]
    chance = "" if row["p_value"] is None else f"{row['p_value']:.3f}"
    return [row["learner"], f"{row['accuracy']:.1f}{deviation}", *sizes, f"{row['seconds']:.3f}", chance]


def compare(
    X,
    y,
    *,
    learners: Mapping[str, Any] | None = None,
    folds: int = 5,
    repeats: int = 3,
    random_state=None,
    n_jobs: int | None = None,
    progress: bool = True,
) -> Comparison:
    """Compare oblique OC1 with axis-parallel trees, a vote and a linear model, and say whether oblique splits pay.

    All learners see the same folds of a repeated stratified cross-validation: OC1 with its defaults, with axis-parallel
    splits only, and as a vote of 11 trees; scikit-learn's tree, its cost-complexity pruning chosen by cross-validation
    inside the training folds (which its time includes); logistic regression on standardised attributes, missing
    values filled with the mean; and always answering the majority class.

    Parameters
    ----------
    X : array-like (n_samples, n_features)
        Numbers; NaN where a value is missing.
    y : array-like (n_samples,)
        Class labels.
    learners : dict of str to classifier or None, optional
        Classifiers to compare with, besides the six; or instead of one of them, by its name in the table. None leaves
        one out (but not oblique and axis-parallel OC1 and the majority class, which the advice is about).
    folds : int, default=5
    repeats : int, default=3
    random_state : int, RandomState instance or None, default=None
        The same seed gives the same numbers (but for the seconds), for any `n_jobs`.
    n_jobs : int or None, default=None
        Processes. None is one, -1 is all cores.
    progress : bool, default=True
        Show a bar, if stderr is a terminal and rich is installed.

    Returns
    -------
    Comparison
        Print it, or read ``advice``, ``findings`` and ``table``.

    Examples
    --------
    >>> from oc1 import compare
    >>> from oc1.datasets import make_pol
    >>> X, y = make_pol(1000, random_state=0)
    >>> comparison = compare(X, y, repeats=1, random_state=0)
    >>> comparison.findings[0]
    'oblique'
    >>> print(comparison.advice.split(":")[0])
    Oblique splits pay on these data
    """
    X = check_array(X, dtype=[np.float64, np.float32], ensure_all_finite="allow-nan")
    labels = column_or_1d(y)
    check_consistent_length(X, labels)
    check_classification_targets(labels)
    classes, codes = np.unique(labels, return_inverse=True)
    if folds < 2 or repeats < 1:
        raise ValueError(f"needs at least 2 folds and 1 repeat, got folds={folds}, repeats={repeats}")
    _check_classes(classes, codes, folds)
    contestants = _contestants(learners, int(np.bincount(codes).min()), folds)
    seed = int(check_random_state(random_state).randint(np.iinfo(np.int32).max))
    total = len(contestants) * folds * repeats
    if progress:
        with progress_bar("folds", total) as bar:
            records = _run(contestants, X, codes, folds, repeats, seed, n_jobs, bar.advance)
    else:
        records = _run(contestants, X, codes, folds, repeats, seed, n_jobs, lambda: None)
    table = _table(records)
    findings, advice = _advise(table, records)
    n_samples, n_features = X.shape
    return Comparison(table, findings, advice, n_samples, n_features, len(classes), folds, repeats, records)


def _run(contestants, X, codes, folds, repeats, seed, n_jobs, advance) -> list[FoldRecord]:
    return cross_validate(
        contestants,
        X,
        codes,
        repeats=repeats,
        folds=folds,
        seed=seed,
        n_jobs=effective_n_jobs(n_jobs),
        on_record=lambda record: advance(),
    )


def _check_classes(classes: np.ndarray, codes: np.ndarray, folds: int) -> None:
    if len(classes) < 2:
        raise ValueError(f"there is one class only ({classes[0]!s}): nothing is to be told apart")
    counts = np.bincount(codes)
    rarest = int(counts.argmin())
    if counts[rarest] < folds:
        few = int(counts[rarest])
        way = f"give folds={few}, or leave the class out" if few > 1 else "leave the class out"
        raise ValueError(
            f"class {classes[rarest]!s} has {few} example{'s' if few > 1 else ''}, fewer than the {folds} folds: {way}"
        )


def _contestants(learners: Mapping[str, Any] | None, rarest: int, folds: int) -> dict[str, Any]:
    """Return all that is compared; `rarest` is the size of the smallest class."""
    if learners is not None and not isinstance(learners, Mapping):
        raise ValueError(f"learners must be a dictionary of names and classifiers, got {type(learners).__name__}")
    inner = min(5, rarest * (folds - 1) // folds)
    tree = DecisionTreeClassifier()
    chosen: dict[str, Any] = {
        OBLIQUE: OC1Classifier(),
        AXIS: OC1Classifier(splits="axis"),
        VOTE: OC1EnsembleClassifier(n_estimators=11),
        TREE: nested(tree, {"ccp_alpha": ALPHAS}, inner) if inner > 1 else tree,
        LINEAR: make_pipeline(
            SimpleImputer(keep_empty_features=True), StandardScaler(), LogisticRegression(max_iter=2000)
        ),
        MAJORITY: DummyClassifier(strategy="most_frequent"),
    }
    chosen |= learners or {}
    for name in (OBLIQUE, AXIS, MAJORITY):
        if chosen[name] is None:
            raise ValueError(f"{name!r} cannot be left out: the advice is about it")
    for name, learner in chosen.items():
        if learner is not None and not hasattr(learner, "fit"):
            raise ValueError(f"the learner {name!r} is not a scikit-learn classifier: {learner!r}")
    return {name: learner for name, learner in chosen.items() if learner is not None}


def _table(records: list[FoldRecord]) -> list[dict[str, Any]]:
    rows = []
    for cell in summarise(records):
        test = corrected_t_test(records, cell.learner, OBLIQUE) if cell.learner != OBLIQUE else None
        rows.append(
            {
                "learner": cell.learner,
                "accuracy": cell.accuracy,
                "accuracy_sd": cell.accuracy_sd,
                "leaves": cell.leaves,
                "depth": cell.depth,
                "seconds": cell.seconds,
                "difference": None if test is None else test.difference,
                "p_value": None if test is None else test.p_value,
            }
        )
    return rows


def _advise(table: list[dict[str, Any]], records: list[FoldRecord]) -> tuple[tuple[str, ...], str]:
    """Return the findings and the paragraph."""
    rows = {row["learner"]: row for row in table}
    oblique = rows[OBLIQUE]
    best = max((row for row in table if row["learner"] != MAJORITY), key=lambda row: row["accuracy"])
    against = corrected_t_test(records, best["learner"], MAJORITY)
    if not _clearly_better(against):
        return ("majority",), (
            f"Nothing here beats always answering the majority class, which is right in "
            f"{rows[MAJORITY]['accuracy']:.1f} % of the cases: the best, {best['learner']}, is right in "
            f"{best['accuracy']:.1f} % ({_chance(against.p_value)}). Whether splits are oblique makes no difference "
            "until there are attributes, or more examples, that tell the classes apart."
        )
    finding, text = _oblique_or_axis(oblique, rows[AXIS], records)
    findings, sentences = [finding], [text]
    if LINEAR in rows and (said := _linear(oblique, rows[LINEAR])):
        findings.append("linear")
        sentences.append(said)
    if VOTE in rows and _clearly_better(_difference(rows[VOTE])):
        findings.append("vote")
        sentences.append(
            f"Where accuracy matters more than reading the model, the vote gains: {_share(rows[VOTE])} "
            f"({_chance(rows[VOTE]['p_value'])})."
        )
    named = {OBLIQUE, AXIS, VOTE, LINEAR, MAJORITY}
    better = [row for row in table if row["learner"] not in named and _clearly_better(_difference(row))]
    if better:
        findings.append("others")
        each = "; ".join(f"{row['learner']}, {_share(row)} ({_chance(row['p_value'])})" for row in better)
        sentences.append(f"Clearly more accurate than one oblique tree: {each}.")
    return tuple(findings), " ".join(sentences)


def _oblique_or_axis(oblique: Mapping, axis: Mapping, records: list[FoldRecord]) -> tuple[str, str]:
    test = corrected_t_test(records, OBLIQUE, AXIS)
    accuracies = f"{_share(oblique)}, with axis-parallel splits {_share(axis)}"
    chance = f"(difference {test.difference:+.1f} points, {_chance(test.p_value)})"
    has_sizes = oblique["leaves"] is not None and axis["leaves"] is not None
    sizes = f"; {oblique['leaves']:.1f} leaves against {axis['leaves']:.1f}" if has_sizes else ""
    if _clearly_better(test):
        return "oblique", f"Oblique splits pay on these data: OC1 is right in {accuracies} {chance}{sizes}."
    if test.p_value < LEVEL:
        return "axis", (
            f"Oblique splits do not pay on these data: OC1 is right in {accuracies} {chance}{sizes}. Take the "
            "axis-parallel tree."
        )
    margin = _margin(records, OBLIQUE, AXIS)
    if margin > TOO_WIDE:
        low, high = test.difference - margin, test.difference + margin
        return "unclear", (
            f"There are too few examples to tell whether oblique splits pay: OC1 is right in {accuracies}{sizes}, but "
            f"the true difference may be anything from {low:+.0f} to {high:+.0f} points. More repeats will hardly "
            "help, more examples will."
        )
    if has_sizes and oblique["leaves"] <= min(SMALLER * axis["leaves"], axis["leaves"] - 1):
        return "smaller", (
            f"Oblique splits pay in size, not in accuracy: OC1 is right in {accuracies}, no clear difference "
            f"{chance}, but has {oblique['leaves']:.1f} leaves against {axis['leaves']:.1f}. If few tests matter more "
            "than that each is on one attribute, take the oblique tree."
        )
    return "axis", (
        f"Oblique splits do not pay on these data: OC1 is right in {accuracies}, no clear difference {chance}{sizes}. "
        "Take the axis-parallel tree, whose tests are easier to read."
    )


def _linear(oblique: Mapping, linear: Mapping) -> str:
    """Return a sentence on a linear model that does as well or better; empty if it does not."""
    test = _difference(linear)
    if _clearly_better(test):
        return (
            f"Logistic regression is clearly more accurate than the oblique tree: {_share(linear)} "
            f"({_chance(test.p_value)}). One linear formula is what these data ask for."
        )
    if test.p_value >= LEVEL and test.difference >= -SLIGHT:
        return (
            f"Logistic regression does as well as the oblique tree, as far as can be told: {_share(linear)} "
            f"({_chance(test.p_value)}). If one linear formula serves you as well as a tree, no tree is needed."
        )
    return ""


def _difference(row: Mapping[str, Any]) -> PairedTest:
    return PairedTest(row["difference"], np.nan, row["p_value"])


def _clearly_better(test: PairedTest) -> bool:
    return test.difference > 0 and test.p_value < LEVEL


def _share(row: Mapping[str, Any]) -> str:
    return f"{row['accuracy']:.1f} %"


def _chance(p_value: float) -> str:
    return "p < 0.001" if p_value < 0.001 else f"p = {p_value:.3f}"


def _margin(records: list[FoldRecord], a: str, b: str) -> float:
    """Return half the width of the interval that holds the true difference in 19 of 20 cases (see the paired test)."""
    shares = [
        np.array([100 * r.n_correct / r.n_test for r in records if r.learner == name]) for name in (a, b)
    ]  # in the same order: `cross_validate` sorts them
    differences = shares[0] - shares[1]
    folds = len({record.fold for record in records})
    variance = (1 / len(differences) + 1 / (folds - 1)) * differences.var(ddof=1)
    return float(stats.t.ppf(1 - LEVEL / 2, len(differences) - 1) * np.sqrt(variance))
