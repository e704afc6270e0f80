"""Who is first on each data set, by how much, and what a difference is worth."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from .trials import TrialRecord

ERRORS = (
    "Accuracy is pooled over all folds. Plain standard error: the standard deviation of the accuracy over the folds, "
    "divided by the root of the folds of one cross-validation (repeats use the same examples again and do not make it "
    "smaller). Paired standard error: the same of the fold-by-fold differences from the first."
)
EXPLANATION = (
    f"{ERRORS} Time: the median over the folds of the time to fit, divided by that of scikit-learn's default tree on "
    "the same fold just before."
)


def standings(records: Iterable[TrialRecord], ours: str, folds: int) -> dict[str, Any]:
    """Compare all learners that have all folds of a data set.

    Parameters
    ----------
    records : iterable of TrialRecord
        None of them failures, all learners of a data set on the same folds in the same order.
    ours : str
        The learner whose place is asked for.
    folds : int
        Of one cross-validation.

    Returns
    -------
    dict
        ``sets``: for each data set the rows (``learner``, ``accuracy``, ``se``, ``behind``, ``behind_se``, ``leaves``,
        ``terms``, and by how much it is better than ours, ``ahead`` and ``ahead_se``, None if ours was not run), the
        learners that are ``first``, and whether ours is ``within_plain`` and ``within_paired`` standard error of them
        (None if it was not run; where several are first, of each). ``leads``: on how many sets each is first, alone or
        with others.
    """
    by_data: dict[str, dict[str, list[TrialRecord]]] = defaultdict(lambda: defaultdict(list))
    versions: dict[str, set[str]] = defaultdict(set)
    for record in records:
        by_data[record.data][record.learner].append(record)
        versions[record.learner].add(record.version)
    sets = [_standing(data, learners, ours, folds) for data, learners in by_data.items()]
    leads = {name: sum(name in one["first"] for one in sets) for name in versions}
    return {"ours": ours, "sets": sets, "leads": leads, "versions": {name: sorted(versions[name]) for name in versions}}


def _standing(data: str, learners: Mapping[str, list[TrialRecord]], ours: str, folds: int) -> dict[str, Any]:
    shares = {name: np.array([record.accuracy for record in own]) for name, own in learners.items()}
    right = {name: sum(record.n_correct for record in own) for name, own in learners.items()}
    total = sum(record.n_test for record in next(iter(learners.values())))
    most = max(right.values())
    first = [name for name in learners if right[name] == most]

    def error(values: np.ndarray) -> float:
        return float(values.std(ddof=1) / np.sqrt(folds))

    rows: list[dict[str, Any]] = []
    for name, own in learners.items():
        rows.append(
            {
                "learner": name,
                "accuracy": 100 * right[name] / total,
                "se": error(shares[name]),
                "behind": 100 * (most - right[name]) / total,
                "behind_se": min(error(shares[leader] - shares[name]) for leader in first),
                "ahead": 100 * (right[name] - right[ours]) / total if ours in right else None,
                "ahead_se": error(shares[name] - shares[ours]) if ours in right else None,
                "leaves": mean_of_known([record.leaves for record in own]),
                "terms": mean_of_known([record.terms for record in own]),
            }
        )
    mine = next((row for row in rows if row["learner"] == ours), None)
    return {
        "data": data,
        "first": first,
        "within_plain": mine and bool(mine["behind"] <= min(error(shares[name]) for name in first)),
        "within_paired": mine and bool(mine["behind"] <= mine["behind_se"]),
        "rows": rows,
    }


def mean_of_known(values: Sequence[float | None]) -> float | None:
    """Return the mean of values, None if one of them is not known or there are none."""
    return None if not values or None in values else float(np.mean(np.array(values, dtype=float)))


def contest_cells(
    contest: Mapping[str, Any], learner: str, write: Callable[[dict[str, Any], str], list[str]]
) -> list[str]:
    """Return the cells of a learner, one for each data set; the accuracies of the first are in bold.

    `write` takes the learner's row and the key of its times; it returns the accuracy, and what else stands in the cell.
    """
    cells = []
    for one in contest["sets"]:
        row = next((row for row in one["rows"] if row["learner"] == learner), None)
        accuracy, *more = write(row, f"{one['data']} / {learner}") if row else ["-"]
        cells.append(" / ".join([f"**{accuracy}**" if learner in one["first"] else accuracy, *more]))
    return cells


def write_size(size: float | None) -> str:
    """Return a mean of leaves or terms, "-" if it is not known."""
    return "-" if size is None else f"{size:.1f}"


def accuracy_table(
    contest: Mapping[str, Any], times: Mapping[str, Any] | None, failures: Mapping[str, str]
) -> tuple[list[str], list[list[str]]]:
    """Return header and rows of the main table: a row per learner, a column per data set; the first are in bold."""
    names = list(dict.fromkeys([*contest["leads"], *(key.split(" / ", 1)[1] for key in failures)]))

    def write(row: dict[str, Any], key: str) -> list[str]:
        parts = [f"{row['accuracy']:.1f}±{row['se']:.1f}", write_size(row["leaves"])]
        time = (times or {}).get(key)
        return [*parts, f"{time['ratio']:.{1 if time['ratio'] < 10 else 0}f}x"] if time else parts

    rows = [[name, *contest_cells(contest, name, write), str(contest["leads"].get(name, 0))] for name in names]
    unit = "accuracy±plain se / leaves" + (" / time" if times else "")
    return [f"learner ({unit})", *(one["data"] for one in contest["sets"]), "first on"], rows


def place_table(contest: Mapping[str, Any]) -> tuple[list[str], list[list[str]]]:
    """Return header and rows of the table that says how ours ranks."""
    ours, rows = contest["ours"], []
    for one in contest["sets"]:
        own = {row["learner"]: row for row in one["rows"]}
        leaders = [own[name] for name in one["first"]]
        best = f"{'; '.join(one['first'])}: {leaders[0]['accuracy']:.2f}"
        if ours not in own:
            rows.append([one["data"], best, "not run", "-", "-", "-", "-"])
            continue
        mine = own[ours]
        if ours in one["first"]:
            verdict = "first"
        else:
            within = [word for word in ("plain", "paired") if one[f"within_{word}"]]
            verdict = f"within one se ({' and '.join(within)})" if within else "behind"
        plain = min(leader["se"] for leader in leaders)
        numbers = (mine["accuracy"], mine["behind"], plain, mine["behind_se"])
        rows.append([one["data"], best, *(f"{number:.2f}" for number in numbers), verdict])
    return ["data", "first", ours, "behind", "plain se of the first", "paired se", "verdict"], rows
