"""What a claim of the paper is, and how results are asked about it."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict
from typing import Any, NamedTuple

import numpy as np

from .data import KNOWN
from .definitions import FULL_SIZE, make_experiments

#: Results on one data set by learner: accuracy in per cent, its standard deviation, leaves, depth, hyperplanes.
Cells = Mapping[str, Mapping[str, Any]]
#: Whether a claim holds there, and the numbers.
Finding = tuple[bool, str]
#: Stands for the mean over all data sets of an experiment.
MEAN = "mean"


class Claim(NamedTuple):
    """What the paper says, where, and how to tell.

    Attributes
    ----------
    section : str
    experiment : str
        The experiment whose results are asked.
    data : tuple of str
        The data sets that it is about.
    holds : callable
    """

    section: str
    experiment: str
    data: tuple[str, ...]
    holds: Callable[[Cells], Finding]

    @property
    def text(self) -> str:
        """What is claimed."""
        return " ".join(inspect.cleandoc(self.holds.__doc__ or "").split())

    def findings(self, entries: Mapping[str, Mapping[str, Any]]) -> dict[str, Finding]:
        """Return what the results say, by data set; sets and learners that were not run are left out."""
        return self._asked(_cells(entries.get(self.experiment, {"cells": []})))

    def published(self) -> dict[str, Finding]:
        """Return what the paper's own tables say; where they give no numbers, nothing."""
        known: dict[str, dict[str, Mapping[str, Any]]] = {}
        for cell in make_experiments()[self.experiment].cells:
            if cell.paper is not None:
                known.setdefault(cell.data, {})[cell.learner.removesuffix(" paper")] = asdict(cell.paper)
        return self._asked(known)

    def _asked(self, known: Mapping[str, Cells]) -> dict[str, Finding]:
        found = {}
        for data in self.data:
            try:
                found[data] = self.holds(_mean(list(known.values())) if data == MEAN else known[data])
            except (KeyError, TypeError):  # not run, or not published
                continue
        return found


def claim_in(claims: list[Claim]) -> Callable[..., Callable[[Callable[[Cells], Finding]], None]]:
    """Return a decorator that adds a function to a list of claims: its docstring is what is claimed."""

    def claim(section: str, experiment: str, *data: str) -> Callable[[Callable[[Cells], Finding]], None]:
        return lambda holds: claims.append(Claim(section, experiment, data, holds))

    return claim


def _cells(entry: Mapping[str, Any]) -> dict[str, dict[str, Mapping[str, Any]]]:
    """Return the results by data set and learner; "OC1 paper" stands there as "OC1", in the place of today's."""
    n_samples = entry.get("run", {}).get("n_samples", FULL_SIZE)
    known: dict[str, dict[str, Mapping[str, Any]]] = {}
    for cell in sorted(entry["cells"], key=lambda cell: cell["learner"].endswith(" paper")):
        n_training = 0.8 * (KNOWN[cell["data"]].rows if cell["data"] in KNOWN else n_samples)
        own = known.setdefault(cell["data"], {})
        own[cell["learner"].removesuffix(" paper")] = cell | {"n_training": n_training}
    return known


def _mean(sets: list[Cells]) -> Cells:
    """Return the means over data sets, with the accuracy on each; nothing without sets."""
    learners = set.intersection(*map(set, sets)) if sets else set()
    return {
        learner: {name: float(np.mean([own[learner][name] for own in sets])) for name in ("accuracy", "leaves")}
        | {"accuracies": [own[learner]["accuracy"] for own in sets]}
        for learner in learners
    }


def values(cells: Cells, learners: Iterable[str], name: str) -> list[float]:
    """Return one number of several learners."""
    return [float(cells[learner][name]) for learner in learners]


def written(numbers: Iterable[float], between: str, digits: int = 1) -> str:
    """Write numbers with a word between them."""
    return f" {between} ".join(f"{number:,.{digits}f}" for number in numbers)


def deviations(cells: Cells, one: str, other: str) -> float:
    """Return by how much one is more accurate than another, in standard deviations, the larger of the two."""
    first, second = values(cells, (one, other), "accuracy")
    return (first - second) / max(values(cells, (one, other), "accuracy_sd"))


def shrinks(cells: Cells, before: str, after: str, least: float, most: float) -> Finding:
    """Say whether trees become smaller by a factor between two limits."""
    sizes = values(cells, (before, after), "leaves")
    factor = sizes[0] / sizes[1]
    return least <= factor <= most, f"{written(sizes, 'to')} leaves, a factor of {factor:.1f}"


def verdict(findings: Mapping[str, Finding]) -> str:
    """Say where a claim holds, with the numbers."""
    if not findings:
        return "-"
    yes = [data for data, (holds, _) in findings.items() if holds]
    no = [data for data in findings if data not in yes]
    holds = "holds" if yes else "does not hold"
    if yes and no:
        holds = f"holds on {', '.join(yes)}, not on {', '.join(no)}"
    return f"**{holds}**: {'; '.join(f'{data} {numbers}' for data, (_, numbers) in findings.items())}"
