"""Do oblique splits pay off on these data? `compare` tries OC1 and simpler and larger models, and answers in words."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import ArrayLike
from scipy import stats
from sklearn.dummy import DummyClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import check_random_state, check_X_y
from sklearn.utils.multiclass import check_classification_targets

from ..growing.progress_bar import progress_bar
from ..learners.classifier import OC1Classifier
from ..learners.ensemble import OC1EnsembleClassifier
from ..tree.notebooks import ShownInNotebooks, html_table
from .protocol import FoldRecord, PairedTest, corrected_t_test, cross_validate, nested, paired_differences, summarise

#: Names of the learners that are always compared.
OBLIQUE, AXIS, VOTE = "OC1", "OC1, axis-parallel", "OC1, vote of 11"
TREE, LINEAR, MAJORITY = "scikit-learn's tree", "logistic regression", "majority class"
#: The columns of the table.
HEADER = ("", "accuracy %", "leaves", "depth", "seconds", f"p, against {OBLIQUE}")

#: A difference is clear if chance gives one as large less often than this.
SIGNIFICANCE_LEVEL = 0.05
#: If the difference is known no better than this, there are too few examples to tell.
MAX_MARGIN_POINTS = 5.0
#: A linear model that falls behind by no more than this still does as well.
MAX_LINEAR_LAG_POINTS = 0.5
#: A tree is clearly smaller with at most this share of the leaves, and at least one leaf fewer.
MAX_SHARE_OF_LEAVES = 2 / 3
#: Values of ccp_alpha to choose from for scikit-learn's tree. Of equals the first wins, so the smallest tree.
CCP_ALPHAS = (0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001, 0.0005, 0.0)


@dataclass(frozen=True, repr=False)
class Comparison(ShownInNotebooks):
    """What `compare` found: a table and advice. Print it, or let a notebook show it.

    Attributes
    ----------
    table : list of dict
        One row per learner: ``learner``; ``accuracy`` and ``accuracy_sd`` in per cent (the standard deviation is over
        the repeats, None if there is only one); ``leaves`` and ``depth`` (None for models that are not trees; for an
        ensemble, the leaves of all its trees); ``seconds`` (median fit time); ``difference`` in accuracy from oblique
        OC1, in percentage points, and its ``p_value`` by the corrected paired test (None for oblique OC1 itself).
    findings : tuple of str
        The advice in keywords: one of ``"oblique"`` (clearly more accurate than axis-parallel), ``"smaller"`` (as
        accurate, with a clearly smaller tree), ``"axis"`` (axis-parallel is as good or better), ``"unclear"`` (too few
        examples to tell), ``"majority"`` (nothing beats the majority class); then possibly ``"linear"`` (logistic
        regression is as good or better), ``"vote"`` (the ensemble is clearly more accurate than one tree), ``"others"``
        (so is another learner).
    advice : str
        A paragraph on whether oblique splits pay off.
    n_samples, n_features, n_classes, folds, repeats : int
    records : list of FoldRecord
        The result of every fold, for `oc1.evaluation`.
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
        values = {name: value for name, value in vars(self).items() if name != "records"}
        return values | {"table": [dict(row) for row in self.table], "findings": list(self.findings)}

    def __str__(self) -> str:
        lines = [list(HEADER), *map(table_cells, self.table)]
        widths = [max(len(line[place]) for line in lines) for place in range(len(HEADER))]
        text = ["  ".join([line[0].ljust(widths[0]), *map(str.rjust, line[1:], widths[1:])]).rstrip() for line in lines]
        advice = textwrap.fill(self.advice, 79, break_on_hyphens=False)
        return "\n".join([self._title, "", *text, "", advice])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        """Return the table, with the most accurate learners marked, and the advice."""
        accuracies = [row["accuracy"] for row in self.table]
        best = [number for number, accuracy in enumerate(accuracies) if accuracy == max(accuracies)]
        return html_table(self._title, HEADER, list(map(table_cells, self.table)), best, self.advice)

    @property
    def _title(self) -> str:
        examples = f"{self.n_samples} examples, {self.n_features} attributes, {self.n_classes} classes"
        return f"{examples}; {self.repeats} x {self.folds}-fold cross-validation"


def table_cells(row: Mapping[str, Any], digits: int = 1) -> list[str]:
    """Return a row of a table of learners as text: learner, accuracy, leaves, depth, seconds, p-value."""
    deviation = "" if row["accuracy_sd"] is None else f" ± {row['accuracy_sd']:.{digits}f}"
    sizes = ["-" if row[name] is None else f"{row[name]:.1f}" for name in ("leaves", "depth")]
    p_value = row["p_value"]
    chance = "" if p_value is None else "< 0.001" if p_value < 0.001 else f"{p_value:.3f}"
    return [row["learner"], f"{row['accuracy']:.{digits}f}{deviation}", *sizes, f"{row['seconds']:.3f}", chance]


def compare(
    X: ArrayLike,
    y: ArrayLike,
    *,
    learners: Mapping[str, Any] | None = None,
    folds: int = 5,
    repeats: int = 3,
    random_state: int | np.random.RandomState | None = None,
    n_jobs: int | None = None,
    progress: bool = True,
) -> Comparison:
    """Compare oblique OC1 with axis-parallel trees, an ensemble and a linear model, and say if oblique splits pay off.

    All learners use the same folds of a repeated stratified cross-validation. They are OC1 with its defaults, with
    axis-parallel splits only, and as an ensemble of 11 trees; scikit-learn's tree, with its cost-complexity pruning
    chosen by cross-validation inside the training folds (included in its time); logistic regression on standardised
    attributes, with missing values filled with the mean; and always predicting the majority class.

    Parameters
    ----------
    X : array-like (n_samples, n_features)
        Numbers; NaN where a value is missing.
    y : array-like (n_samples,)
        Class labels.
    learners : dict of str to classifier or None, optional
        Additional classifiers, or replacements for one of the six, by its name in the table. None leaves that one out
        (except oblique and axis-parallel OC1 and the majority class, which the advice needs).
    folds : int, default=5
    repeats : int, default=3
    random_state : int, RandomState instance or None, default=None
        The same seed gives the same results (except for the times), for any `n_jobs`.
    n_jobs : int or None, default=None
        Number of processes. None means one, -1 all cores.
    progress : bool, default=True
        Whether to show a progress bar, in a notebook, or in a terminal if rich is installed.

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
    examples, labels = check_X_y(X, y, dtype=[np.float64, np.float32], ensure_all_finite="allow-nan")
    check_classification_targets(labels)
    classes, codes, counts = np.unique(labels, return_inverse=True, return_counts=True)
    if folds < 2 or repeats < 1:
        raise ValueError(f"needs at least 2 folds and 1 repeat, got folds={folds}, repeats={repeats}")
    _check_classes(classes, counts, folds)
    contestants = _contestants(learners, int(counts.min()), folds)
    seed = int(check_random_state(random_state).randint(np.iinfo(np.int32).max))
    jobs = effective_n_jobs(n_jobs)
    with progress_bar("folds", len(contestants) * folds * repeats) if progress else nullcontext() as bar:
        advance = None if bar is None else lambda record: bar.advance()
        records = cross_validate(
            contestants, examples, codes, repeats=repeats, folds=folds, seed=seed, n_jobs=jobs, on_record=advance
        )
    tests = {name: corrected_t_test(records, name, OBLIQUE) for name in contestants if name != OBLIQUE}
    table = _table(records, tests)
    findings, advice = _advise({row["learner"]: row for row in table}, tests, records)
    n_samples, n_features = examples.shape
    return Comparison(table, findings, advice, n_samples, n_features, len(classes), folds, repeats, records)


def _check_classes(classes: np.ndarray, counts: np.ndarray, folds: int) -> None:
    if len(classes) < 2:
        raise ValueError(f"there is one class only ({classes[0]!s}), so there is nothing to tell apart")
    rarest, fewest = classes[counts.argmin()], int(counts.min())
    if fewest < folds:
        has = f"class {rarest!s} has {fewest} example{'s' if fewest > 1 else ''}, fewer than the {folds} folds"
        raise ValueError(f"{has}: {f'give folds={fewest}, or ' if fewest > 1 else ''}leave the class out")


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
        TREE: nested(tree, {"ccp_alpha": CCP_ALPHAS}, inner) if inner > 1 else tree,
        LINEAR: make_pipeline(
            SimpleImputer(keep_empty_features=True), StandardScaler(), LogisticRegression(max_iter=2000)
        ),
        MAJORITY: DummyClassifier(strategy="most_frequent"),
    }
    chosen |= learners or {}
    for name in (OBLIQUE, AXIS, MAJORITY):
        if chosen[name] is None:
            raise ValueError(f"{name!r} cannot be left out: the advice is about it")
    return {name: learner for name, learner in chosen.items() if learner is not None}


def _table(records: list[FoldRecord], tests: Mapping[str, PairedTest]) -> list[dict[str, Any]]:
    columns = ("learner", "accuracy", "accuracy_sd", "leaves", "depth", "seconds")
    rows = [{name: getattr(cell, name) for name in columns} for cell in summarise(records)]
    for row in rows:
        test = tests.get(row["learner"])
        row |= {name: getattr(test, name, None) for name in ("difference", "p_value")}
    return rows


def _advise(
    rows: Mapping[str, Mapping[str, Any]], tests: Mapping[str, PairedTest], records: list[FoldRecord]
) -> tuple[tuple[str, ...], str]:
    """Return the findings and the paragraph."""
    best = max((row for name, row in rows.items() if name != MAJORITY), key=lambda row: row["accuracy"])
    against = corrected_t_test(records, best["learner"], MAJORITY)
    if not _clearly_better(against):
        return ("majority",), (
            f"Nothing here beats always answering the majority class, which is right in "
            f"{_share(rows[MAJORITY])} of the cases: the best, {best['learner']}, is right in "
            f"{_share(best)} ({_chance(against)}). Whether splits are oblique makes no difference "
            "until there are attributes, or more examples, that tell the classes apart."
        )
    findings = [_oblique_or_axis(rows[OBLIQUE], rows[AXIS], records)]
    if LINEAR in rows and (said := _linear(rows[LINEAR], tests[LINEAR])):
        findings.append(("linear", said))
    better = {name: f"{_share(rows[name])} ({_chance(test)})" for name, test in tests.items() if _clearly_better(test)}
    if VOTE in better:
        findings.append(("vote", f"Where accuracy matters more than a readable model, the vote gains: {better[VOTE]}."))
    others = [f"{name}, {gain}" for name, gain in better.items() if name not in (AXIS, VOTE, LINEAR, MAJORITY)]
    if others:
        findings.append(("others", f"Clearly more accurate than one oblique tree: {'; '.join(others)}."))
    keywords, sentences = zip(*findings, strict=True)
    return keywords, " ".join(sentences)


def _oblique_or_axis(oblique: Mapping[str, Any], axis: Mapping[str, Any], records: list[FoldRecord]) -> tuple[str, str]:
    """Return whether oblique splits pay, as a keyword and in words."""
    test = corrected_t_test(records, OBLIQUE, AXIS)
    accuracies = f"{_share(oblique)}, with axis-parallel splits {_share(axis)}"
    is_clear = test.p_value < SIGNIFICANCE_LEVEL
    clarity = "" if is_clear else ", no clear difference"
    difference = f"{clarity} (difference {test.difference:+.1f} points, {_chance(test)})"
    sizes, is_smaller = "", False
    if oblique["leaves"] is not None and axis["leaves"] is not None:
        sizes = f"; {oblique['leaves']:.1f} leaves against {axis['leaves']:.1f}"
        is_smaller = oblique["leaves"] <= min(MAX_SHARE_OF_LEAVES * axis["leaves"], axis["leaves"] - 1)
    if _clearly_better(test):
        return "oblique", f"Oblique splits pay on these data: OC1 is right in {accuracies}{difference}{sizes}."
    margin = _margin(records)
    if not is_clear and margin > MAX_MARGIN_POINTS:
        low, high = test.difference - margin, test.difference + margin
        return "unclear", (
            f"There are too few examples to tell whether oblique splits pay: OC1 is right in {accuracies}{sizes}, but "
            f"the true difference may be anything from {low:+.0f} to {high:+.0f} points. More repeats will hardly "
            "help; more examples will."
        )
    if not is_clear and is_smaller:
        return "smaller", (
            f"Oblique splits pay in size, not in accuracy: OC1 is right in {accuracies}{difference}{sizes}. If having "
            "few tests matters more to you than having each on one attribute, take the oblique tree."
        )
    return "axis", (
        f"Oblique splits do not pay on these data: OC1 is right in {accuracies}{difference}{sizes}. "
        "Take the axis-parallel tree, whose tests are easier to read."
    )


def _linear(linear: Mapping[str, Any], test: PairedTest) -> str:
    """Return a sentence on a linear model that does as well or better; empty if it does not."""
    if _clearly_better(test):
        verdict = "is clearly more accurate than the oblique tree"
        hint = "One linear formula is all these data call for."
    elif test.p_value >= SIGNIFICANCE_LEVEL and test.difference >= -MAX_LINEAR_LAG_POINTS:
        verdict = "does as well as the oblique tree, as far as can be told"
        hint = "If one linear formula serves you as well as a tree, no tree is needed."
    else:
        return ""
    return f"Logistic regression {verdict}: {_share(linear)} ({_chance(test)}). {hint}"


def _clearly_better(test: PairedTest) -> bool:
    return test.difference > 0 and test.p_value < SIGNIFICANCE_LEVEL


def _share(row: Mapping[str, Any]) -> str:
    return f"{row['accuracy']:.1f} %"


def _chance(test: PairedTest) -> str:
    return "p < 0.001" if test.p_value < 0.001 else f"p = {test.p_value:.3f}"


def _margin(records: list[FoldRecord]) -> float:
    """Return half the width of the 95% confidence interval of the difference between oblique and axis-parallel OC1."""
    differences, variance = paired_differences(records, OBLIQUE, AXIS)
    return float(stats.t.ppf(1 - SIGNIFICANCE_LEVEL / 2, len(differences) - 1) * np.sqrt(variance))
