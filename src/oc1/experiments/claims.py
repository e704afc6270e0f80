"""What section 4 of the paper claims, and whether it holds: in the paper's own tables, and in our results.

A claim is a function of the cells of one data set, by learner, where "OC1" stands for OC1 with the paper's settings. It
returns whether the claim holds there, and the numbers; its docstring is the claim. Where the paper's words leave room
("roughly equal", "much smaller"), the limit is in the code, and generous enough for the paper's own numbers.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from .definitions import ARTIFICIAL, REAL, STARS

#: Columns of results by learner: accuracy in per cent, its standard deviation, leaves, hyperplanes.
Cells = Mapping[str, Mapping[str, Any]]
Finding = tuple[bool, str]

SYSTEMS = ("OC1", "CART-LC", "OC1-AP", "CART-AP", "C4.5")
OBLIQUE, AXIS_PARALLEL = SYSTEMS[:2], SYSTEMS[2:]
RANDOMIZED = ("OC1 0:0", "OC1 0:20", "OC1 20:0", "OC1 20:20")
MEASURED = ("max_minority", "gini", "info_gain", "twoing", "sum_of_variances")


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

    def findings(self, entries: Mapping[str, Mapping[str, Any]], published: bool = False) -> dict[str, Finding]:
        """Return what the results say, by data set; sets and learners that were not run are left out."""
        found = {}
        for data in self.data:
            try:
                found[data] = self.holds(_cells(entries[self.experiment], data, published))
            except (KeyError, TypeError):  # not run, or not published
                continue
        return found


CLAIMS: list[Claim] = []
HEADER = ["section", "the paper says", "in its tables", "here"]


def _claim(section: str, experiment: str, *data: str) -> Callable[[Callable[[Cells], Finding]], None]:
    return lambda holds: CLAIMS.append(Claim(section, experiment, data, holds))


def _cells(entry: Mapping[str, Any], data: str, published: bool) -> Cells:
    own = [cell for cell in entry["cells"] if cell["data"] == data]
    own.sort(key=lambda cell: cell["learner"].endswith(" paper"))  # which then replace those of the same name
    return {cell["learner"].removesuffix(" paper"): cell["paper"] if published else cell for cell in own}


def _values(cells: Cells, learners: Iterable[str], name: str) -> list[float]:
    return [float(cells[learner][name]) for learner in learners]


def _written(values: Iterable[float], between: str, digits: int = 1) -> str:
    return f" {between} ".join(f"{value:,.{digits}f}" for value in values)


@_claim("4.2.2", "table1", *STARS, *REAL)
def _(cells: Cells) -> Finding:
    """OC1 is more accurate than CART-LC on every data set."""
    ours, other = _values(cells, OBLIQUE, "accuracy")
    return ours > other, _written((ours, other), "against") + " %"


@_claim("4.2.2", "table1", *REAL)
def _(cells: Cells) -> Finding:
    """No difference between them is significant (two standard deviations at most), except on dim."""
    difference = abs(cells["OC1"]["accuracy"] - cells["CART-LC"]["accuracy"])
    deviation = max(_values(cells, OBLIQUE, "accuracy_sd"))
    return difference <= 2 * deviation, f"{difference / deviation:.1f} deviations"


@_claim("4.2.2", "table1", "bright", *REAL)
def _(cells: Cells) -> Finding:
    """Trees of OC1 and CART-LC are roughly of the same size (a factor of 1.5 at most), except on dim."""
    sizes = _values(cells, OBLIQUE, "leaves")
    return max(sizes) <= 1.5 * min(sizes), _written(sizes, "and") + " leaves"


@_claim("4.2.2", "table1", *STARS, "cancer", "diabetes")
def _(cells: Cells) -> Finding:
    """OC1 is the most accurate of the five systems on bright, dim, cancer and diabetes."""
    return _has_rank(cells, 1)


@_claim("4.2.2", "table1", "iris", "housing")
def _(cells: Cells) -> Finding:
    """On iris and housing it is second (or better)."""
    return _has_rank(cells, 2)


def _has_rank(cells: Cells, rank: int) -> Finding:
    ours, *others = _values(cells, SYSTEMS, "accuracy")
    found = 1 + sum(other > ours for other in others)
    return found <= rank, f"rank {found}"


@_claim("4.2.2", "table1", *STARS, "cancer", "housing", "diabetes")
def _(cells: Cells) -> Finding:
    """Oblique systems find much smaller trees (the larger of the two) than axis-parallel ones (the smallest)."""
    oblique, axis = max(_values(cells, OBLIQUE, "leaves")), min(_values(cells, AXIS_PARALLEL, "leaves"))
    return oblique < axis, _written((oblique, axis), "against") + " leaves"


@_claim("4.2.2", "table1", "dim")
def _(cells: Cells) -> Finding:
    """On dim, C4.5's tree is about six times as large as OC1's (at least five)."""
    ratio = cells["C4.5"]["leaves"] / cells["OC1"]["leaves"]
    return ratio >= 5, f"{ratio:.1f} times"


@_claim("4.2.2", "table1", "iris")
def _(cells: Cells) -> Finding:
    """On iris all systems find trees of similar size (a factor of 1.5 at most)."""
    sizes = _values(cells, SYSTEMS, "leaves")
    return max(sizes) <= 1.5 * min(sizes), _written((min(sizes), max(sizes)), "to") + " leaves"


@_claim("4.3", "table2", *ARTIFICIAL)
def _(cells: Cells) -> Finding:
    """Jumps, restarts and both each make OC1's trees more accurate and smaller than without randomization."""
    plain, *better = _values(cells, RANDOMIZED, "accuracy")
    large, *smaller = _values(cells, RANDOMIZED, "leaves")
    return min(better) > plain and max(smaller) < large, f"at least {min(better) - plain:+.1f} points"


@_claim("4.3", "table2", *ARTIFICIAL)
def _(cells: Cells) -> Finding:
    """OC1's trees (20:20) are as good as, if not better than, those of LMDT and SADT."""
    accuracies = _values(cells, ("OC1 20:20", "LMDT", "SADT"), "accuracy")
    return accuracies[0] >= max(accuracies[1:]), _written(accuracies, "/") + " %"


@_claim("4.3", "impurity", *ARTIFICIAL)
def _(cells: Cells) -> Finding:
    """With information gain, OC1's accuracy is not significantly different (two standard deviations)."""
    learners = ("OC1 info_gain", "OC1 twoing")
    gain, twoing = _values(cells, learners, "accuracy")
    deviations = abs(gain - twoing) / max(_values(cells, learners, "accuracy_sd"))
    return deviations <= 2, f"{deviations:.1f} deviations"


@_claim("4.3.1", "impurity", "RCB")
def _(cells: Cells) -> Finding:
    """Sum Minority fails miserably on RCB, where Twoing works much better (five points)."""
    accuracies = _values(cells, ("OC1 sum_minority", "OC1 twoing"), "accuracy")
    return accuracies[1] - accuracies[0] >= 5, _written(accuracies, "against") + " %"


@_claim("4.3.2", "table2", *ARTIFICIAL)
def _(cells: Cells) -> Finding:
    """From each line of Table 2 to the next (0:0, 0:20, 20:0, 20:20) accuracy rises and size falls."""
    accuracies, sizes = (_values(cells, RANDOMIZED, name) for name in ("accuracy", "leaves"))
    is_ordered = accuracies == sorted(accuracies) and sizes == sorted(sizes, reverse=True)
    return is_ordered, f"{_written(accuracies, '/')} %, {_written(sizes, '/')} leaves"


@_claim("Table 2", "table2", *ARTIFICIAL)
def _(cells: Cells) -> Finding:
    """From each line to the next, OC1 considers more hyperplanes."""
    effort = _values(cells, RANDOMIZED, "hyperplanes")
    return effort == sorted(effort), _written(effort, "/", 0)


@_claim("4.3.2", "table2", *ARTIFICIAL)
def _(cells: Cells) -> Finding:
    """Jumps alone raise accuracy by 1 to 2 points (rounded)."""
    before, after = _values(cells, RANDOMIZED[:2], "accuracy")
    return 0.5 <= after - before < 2.5, f"{after - before:+.1f}"


@_claim("4.3.2", "table2", "POL", "RCB")
def _(cells: Cells) -> Finding:
    """Jumps alone make trees dramatically smaller, roughly by a factor of two (at least 1.5), on POL and RCB."""
    return _shrinks(cells, RANDOMIZED[:2], 1.5)


def _shrinks(cells: Cells, learners: Iterable[str], factor: float) -> Finding:
    before, after = _values(cells, learners, "leaves")
    return before >= factor * after, f"{_written((before, after), 'to')} leaves, a factor of {before / after:.1f}"


@_claim("4.3.2", "table2", "LS10")
def _(cells: Cells) -> Finding:
    """On LS10 restarts alone help more than jumps alone, in accuracy and in size."""
    accuracies, sizes = (_values(cells, RANDOMIZED[1:3], name) for name in ("accuracy", "leaves"))
    helps_more = accuracies[1] > accuracies[0] and sizes[1] < sizes[0]
    return helps_more, f"{_written(accuracies[::-1], 'against')} %, {_written(sizes[::-1], 'against')} leaves"


@_claim("4.3.2", "table2", "POL", "RCB")
def _(cells: Cells) -> Finding:
    """On POL and RCB restarts alone help about as much as jumps alone (accuracies within half a point)."""
    jumps, restarts = _values(cells, RANDOMIZED[1:3], "accuracy")
    return abs(jumps - restarts) <= 0.5, _written((restarts, jumps), "against") + " %"


@_claim("4.3.2", "table2", "RCB")
def _(cells: Cells) -> Finding:
    """On RCB restarts alone make trees smaller by a factor of three (at least 2.5)."""
    return _shrinks(cells, ("OC1 0:0", "OC1 20:0"), 2.5)


@_claim("4.3.2", "table2", *ARTIFICIAL)
def _(cells: Cells) -> Finding:
    """Of OC1's four variants 20:20 is the most accurate and has the smallest trees."""
    accuracies, sizes = (_values(cells, RANDOMIZED, name) for name in ("accuracy", "leaves"))
    is_best = accuracies[-1] == max(accuracies) and sizes[-1] == min(sizes)
    return is_best, f"{accuracies[-1]:.1f} %, {sizes[-1]:.1f} leaves"


@_claim("4.3.2", "table2", "RCB")
def _(cells: Cells) -> Finding:
    """On RCB 20:20 comes very close to the eight leaves of the smallest tree (nine at most)."""
    leaves = cells["OC1 20:20"]["leaves"]
    return leaves <= 9, f"{leaves:.1f} leaves"


@_claim("4.3.2", "table2", "POL")
def _(cells: Cells) -> Finding:
    """On POL 20:20 finds the smallest tree, five leaves, most of the time (5.5 on average at most)."""
    leaves = cells["OC1 20:20"]["leaves"]
    return leaves <= 5.5, f"{leaves:.1f} leaves"


@_claim("4.3.2", "table2", "LS10")
def _(cells: Cells) -> Finding:
    """On LS10 OC1 (20:20) and SADT have difficulty finding the separating plane (more than 2.5 leaves)."""
    sizes = _values(cells, ("OC1 20:20", "SADT"), "leaves")
    return min(sizes) > 2.5, _written(sizes, "and") + " leaves"


@_claim("4.3.2, footnote 8", "footnote8", "LS10")
def _(cells: Cells) -> Finding:
    """With 10 restarts and 200 jumps OC1 consistently finds the separating plane of LS10: two leaves."""
    leaves = cells["OC1 10:200"]["leaves"]
    return leaves < 2.05, f"{leaves:.1f} leaves"


@_claim("4.3.2", "sum-minority", "POL")
def _(cells: Cells) -> Finding:
    """On POL, OC1 with Sum Minority finds the right tree with less effort than with any other measure."""
    ours, *others = _values(cells, (f"OC1 20:20 {name}" for name in ("sum_minority", *MEASURED)), "hyperplanes")
    leaves = cells["OC1 20:20 sum_minority"]["leaves"]
    numbers = f"{ours:,.0f} hyperplanes, others from {min(others):,.0f}"
    return leaves <= 5.5 and ours < min(others), f"{leaves:.1f} leaves, {numbers}"


@_claim("4.3.2", "table2", "LS10")
def _(cells: Cells) -> Finding:
    """LMDT does very well on LS10 (99 %, 2.5 leaves at most), with less search than OC1 20:20."""
    lmdt, effort = cells["LMDT"], _values(cells, ("LMDT", "OC1 20:20"), "hyperplanes")
    numbers = f"{lmdt['accuracy']:.1f} %, {lmdt['leaves']:.1f} leaves, {_written(effort, 'against', 0)} hyperplanes"
    return lmdt["accuracy"] >= 99 and lmdt["leaves"] <= 2.5 and effort[0] < effort[1], numbers


@_claim("4.3.2", "table2", "POL", "RCB")
def _(cells: Cells) -> Finding:
    """On POL and RCB LMDT's trees are larger and less accurate than those of OC1 (20:20) and SADT."""
    learners = ("LMDT", "OC1 20:20", "SADT")
    accuracies, sizes = (_values(cells, learners, name) for name in ("accuracy", "leaves"))
    is_worst = accuracies[0] < min(accuracies[1:]) and sizes[0] > max(sizes[1:])
    return is_worst, f"{_written(accuracies, '/')} %, {_written(sizes, '/')} leaves"


@_claim("4.3.2", "table2", "POL", "RCB")
def _(cells: Cells) -> Finding:
    """Even 0:0 outperforms LMDT on POL and RCB, with much less search."""
    learners = ("OC1 0:0", "LMDT")
    accuracies, sizes, effort = (_values(cells, learners, name) for name in ("accuracy", "leaves", "hyperplanes"))
    is_better = accuracies[0] > accuracies[1] and sizes[0] < sizes[1] and effort[0] < effort[1]
    return is_better, f"{_written(accuracies, 'against')} %, {_written(effort, 'against', 0)} hyperplanes"


@_claim("4.3.2", "table2", *ARTIFICIAL)
def _(cells: Cells) -> Finding:
    """SADT needs 10 to 20 times the search of OC1 20:20."""
    sadt, oc1 = _values(cells, ("SADT", "OC1 20:20"), "hyperplanes")
    return 10 <= sadt / oc1 <= 20, f"{sadt / oc1:.1f} times"


def _verdict(findings: Mapping[str, Finding]) -> str:
    """Say where a claim holds, with the numbers."""
    if not findings:
        return "-"
    yes = [data for data, (holds, _) in findings.items() if holds]
    no = [data for data in findings if data not in yes]
    verdict = "holds" if yes else "does not hold"
    if yes and no:
        verdict = f"holds on {', '.join(yes)}, not on {', '.join(no)}"
    return f"**{verdict}**: {'; '.join(f'{data} {numbers}' for data, (_, numbers) in findings.items())}"


def claims_table(entries: Mapping[str, Mapping[str, Any]]) -> tuple[list[str], list[list[str]]]:
    """Return header and rows of the claims about which there are results.

    Parameters
    ----------
    entries : dict of experiment to entry
        As in ``results.json``.
    """
    rows = [
        [claim.section, claim.text, _verdict(claim.findings(entries, published=True)), _verdict(found)]
        for claim in CLAIMS
        if (found := claim.findings(entries))
    ]
    return HEADER, rows
