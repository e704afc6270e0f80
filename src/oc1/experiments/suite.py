"""Learners over many data sets: means, mean ranks, wins and losses, and which ranks may differ by chance.

The ranks are tested as by Demšar, J. (2006), Statistical Comparisons of Classifiers over Multiple Data Sets, Journal of
Machine Learning Research 7.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy import stats

from .contest import ERRORS, contest_cells, mean_of_known, write_size

#: Level of significance of the tests.
LEVEL = 0.05
EXPLANATION = (
    f"{ERRORS} Terms: coefficients in all tests of a tree. Seconds: the median time to fit. A set is lost if the "
    "paired standard error is smaller than the distance to the first. The mean ranks of two learners differ by more "
    f"than chance if they are further apart than the critical difference (Nemenyi's test, level {LEVEL:g})."
)


def overview(contest: Mapping[str, Any]) -> dict[str, Any]:
    """Rank the learners over all data sets on which each of them has a result.

    Parameters
    ----------
    contest : dict
        What `oc1.experiments.contest.standings` returns.

    Returns
    -------
    dict
        ``data``: the names of the sets. ``learners``: for each its mean ``accuracy``, ``leaves`` and ``terms`` (None if
        not known), ``rank``, the number of ``wins``, alone or with others, and the sets it ``lost``, more than one
        paired standard error behind the first. ``p_value``: of Friedman's test that all ranks are the same; None for
        two learners. ``critical_difference``: of two mean ranks, by Nemenyi's test. Both are None without data sets.
    """
    names = list(contest["leads"])
    sets = [one for one in contest["sets"] if len(one["rows"]) == len(names)]
    rows = {name: [row for one in sets for row in one["rows"] if row["learner"] == name] for name in names}
    accuracies = np.array([[row["accuracy"] for row in own] for own in rows.values()]).reshape(len(names), len(sets))
    ranks = stats.rankdata(-accuracies, axis=0)
    learners = [
        {
            "learner": name,
            **{what: mean_of_known([row[what] for row in own]) for what in ("accuracy", "leaves", "terms")},
            "rank": mean_of_known(list(places)),
            "wins": sum(name in one["first"] for one in sets),
            "lost": [one["data"] for one, row in zip(sets, own, strict=True) if row["behind"] > row["behind_se"]],
        }
        for (name, own), places in zip(rows.items(), ranks, strict=True)
    ]
    is_tested = len(sets) > 1 and len(names) > 2 and bool((ranks != ranks[0]).any())
    return {
        "data": [one["data"] for one in sets],
        "learners": learners,
        "p_value": float(stats.friedmanchisquare(*accuracies).pvalue) if is_tested else None,
        "critical_difference": critical_difference(len(names), len(sets)) if sets and len(names) > 1 else None,
    }


def critical_difference(n_learners: int, n_sets: int) -> float:
    """Return how far two mean ranks must be apart to differ by more than chance, by Nemenyi's test.

    Examples
    --------
    >>> round(critical_difference(4, 14), 2)  # as in Demšar's example
    1.25
    """
    quantile = stats.studentized_range.ppf(1 - LEVEL, n_learners, np.inf) / np.sqrt(2)
    return float(quantile * np.sqrt(n_learners * (n_learners + 1) / (6 * n_sets)))


def indistinct_groups(ranks: list[float], difference: float) -> list[tuple[int, int]]:
    """Return the longest runs of ranks, in ascending order, that lie within a difference: first and last index of each.

    Examples
    --------
    >>> indistinct_groups([1.0, 1.5, 2.2, 4.0], 1.0)
    [(0, 1), (1, 2)]
    """
    groups: list[tuple[int, int]] = []
    for first, rank in enumerate(ranks):
        last = max(i for i, other in enumerate(ranks) if other - rank <= difference)
        if last > first and (not groups or last > groups[-1][1]):
            groups.append((first, last))
    return groups


def set_table(contest: Mapping[str, Any], times: Mapping[str, Any] | None) -> tuple[list[str], list[list[str]]]:
    """Return header and rows of the main table: a row per data set, a column per learner; the first are in bold."""

    def write(row: dict[str, Any], key: str) -> list[str]:
        seconds = [f"{times[key]['seconds']:.2f}"] if times and key in times else []
        return [f"{row['accuracy']:.1f}", write_size(row["leaves"]), write_size(row["terms"]), *seconds]

    columns = [contest_cells(contest, name, write) for name in contest["leads"]]
    unit = "accuracy % / leaves / terms" + (" / seconds" if times else "")
    rows = zip((one["data"] for one in contest["sets"]), *columns, strict=True)
    return [f"data ({unit})", *contest["leads"]], [list(row) for row in rows]


def overview_table(found: Mapping[str, Any], times: Mapping[str, Any] | None) -> tuple[list[str], list[list[str]]]:
    """Return header and rows of the table of means, the best mean rank first."""
    rows = []
    for one in sorted(found["learners"], key=lambda one: one["rank"] or 0.0):
        own = [(times or {}).get(f"{data} / {one['learner']}", {}) for data in found["data"]]
        seconds = mean_of_known([time.get("seconds") for time in own])
        texts = ["-" if value is None else f"{value:.2f}" for value in (one["accuracy"], one["rank"], seconds)]
        sizes = [write_size(one["leaves"]), write_size(one["terms"])]
        rows.append([one["learner"], *texts[:2], *sizes, texts[2], str(one["wins"]), str(len(one["lost"]))])
    header = [f"mean of {len(found['data'])} sets", "accuracy %", "rank", "leaves", "terms", "seconds", "first on"]
    return [*header, "lost by more than one se"], rows


def rival_table(contest: Mapping[str, Any]) -> tuple[list[str], list[list[str]]]:
    """Return header and rows of the table that says against whom, and where, ours loses."""
    rows = []
    for name in contest["leads"]:
        met = [(one["data"], row) for one in contest["sets"] for row in one["rows"] if row["learner"] == name]
        met = [(data, row) for data, row in met if row["ahead"] is not None]
        if name == contest["ours"] or not met:
            continue
        signs = [int(np.sign(row["ahead"])) for _, row in met]
        lost = [(data, row) for data, row in met if row["ahead"] > row["ahead_se"]]
        lost.sort(key=lambda one: -one[1]["ahead"])
        where = ", ".join(f"{data} {-row['ahead']:.1f}±{row['ahead_se']:.1f}" for data, row in lost)
        rows.append([name, *(str(signs.count(sign)) for sign in (-1, 0, 1)), where or "-"])
    return [f"{contest['ours']} against", "better", "equal", "worse", "worse by more than one paired se"], rows


def verdict(found: Mapping[str, Any]) -> list[str]:
    """Return what the tests of the ranks say, in lines."""
    if found["critical_difference"] is None:
        return []
    friedman = (
        "" if found["p_value"] is None else f"Friedman's test that all learners are alike: p = {found['p_value']:.2g}. "
    )
    return [f"{friedman}Critical difference of mean ranks: {found['critical_difference']:.2f}."]
