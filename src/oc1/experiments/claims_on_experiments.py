"""What section 4 of the paper claims.

A claim is a function of the results on one data set (see `oc1.experiments.claim`); its docstring is the claim. Where
the paper's words leave room ("roughly equal", "much smaller"), the limits are in the code and in the docstring.
"""

from __future__ import annotations

from .claim import Cells, Claim, Finding, claim_in, deviations, shrinks, values, written
from .definitions import ARTIFICIAL, REAL, STARS

CLAIMS: list[Claim] = []
_claim = claim_in(CLAIMS)

SYSTEMS = ("OC1", "CART-LC", "OC1-AP", "CART-AP", "C4.5")
OBLIQUE, AXIS_PARALLEL = SYSTEMS[:2], SYSTEMS[2:]
RANDOMIZED = ("OC1 0:0", "OC1 0:20", "OC1 20:0", "OC1 20:20")
MEASURED = ("max_minority", "gini", "info_gain", "twoing", "sum_of_variances")


@_claim("4.2.2", "table1", *STARS, *REAL)
def _(cells: Cells) -> Finding:
    """OC1 is more accurate than CART-LC on every data set."""
    ours, other = values(cells, OBLIQUE, "accuracy")
    return ours > other, written((ours, other), "against") + " %"


@_claim("4.2.2", "table1", "bright", *REAL)
def _(cells: Cells) -> Finding:
    """No difference between them is significant (two standard deviations at most), except on dim."""
    found = deviations(cells, *OBLIQUE)
    return abs(found) <= 2, f"{found:+.1f} deviations"


@_claim("4.2.2", "table1", "dim")
def _(cells: Cells) -> Finding:
    """On dim OC1 is significantly more accurate than CART-LC (more than two standard deviations)."""
    found = deviations(cells, *OBLIQUE)
    return found > 2, f"{found:+.1f} deviations"


@_claim("4.2.2", "table1", "dim")
def _(cells: Cells) -> Finding:
    """On dim OC1's trees are considerably smaller than CART-LC's (by a factor of 1.5 at least)."""
    return shrinks(cells, "CART-LC", "OC1", 1.5, float("inf"))


@_claim("4.2.2", "table1", "bright", *REAL)
def _(cells: Cells) -> Finding:
    """Trees of OC1 and CART-LC are roughly of the same size (a factor of 1.5 at most), except on dim."""
    sizes = values(cells, OBLIQUE, "leaves")
    return max(sizes) <= 1.5 * min(sizes), written(sizes, "and") + " leaves"


@_claim("4.2.2", "table1", *STARS, "cancer", "diabetes")
def _(cells: Cells) -> Finding:
    """OC1 is the most accurate of the five systems on bright, dim, cancer and diabetes."""
    return _has_rank(cells, 1)


@_claim("4.2.2", "table1", "iris", "housing")
def _(cells: Cells) -> Finding:
    """On iris and housing it is second (or better)."""
    return _has_rank(cells, 2)


def _has_rank(cells: Cells, rank: int) -> Finding:
    ours, *others = values(cells, SYSTEMS, "accuracy")
    found = 1 + sum(other > ours for other in others)
    return found <= rank, f"rank {found}"


@_claim("4.2.2", "table1", *STARS, "cancer", "housing", "diabetes")
def _(cells: Cells) -> Finding:
    """Oblique systems find much smaller trees than axis-parallel ones (each than each, half as large on average)."""
    oblique, axis = values(cells, OBLIQUE, "leaves"), values(cells, AXIS_PARALLEL, "leaves")
    is_smaller = max(oblique) < min(axis) and sum(oblique) / 2 <= 0.5 * sum(axis) / 3
    return is_smaller, f"{written(oblique, '/')} against {written(axis, '/')} leaves"


@_claim("4.2.2", "table1", "dim")
def _(cells: Cells) -> Finding:
    """On dim, C4.5's tree is about six times as large as OC1's (5 to 7 times)."""
    ratio = cells["C4.5"]["leaves"] / cells["OC1"]["leaves"]
    return 5 <= ratio <= 7, f"{ratio:.1f} times"


@_claim("4.2.2", "table1", "iris")
def _(cells: Cells) -> Finding:
    """On iris all systems find trees of similar size (a factor of 1.5 at most)."""
    sizes = values(cells, SYSTEMS, "leaves")
    return max(sizes) <= 1.5 * min(sizes), written((min(sizes), max(sizes)), "to") + " leaves"


@_claim("4.3", "table2", *ARTIFICIAL)
def _(cells: Cells) -> Finding:
    """Jumps, restarts and both each make OC1's trees more accurate and smaller than without randomization."""
    plain, *better = values(cells, RANDOMIZED, "accuracy")
    large, *smaller = values(cells, RANDOMIZED, "leaves")
    return min(better) > plain and max(smaller) < large, f"at least {min(better) - plain:+.1f} points"


@_claim("4.3", "table2", *ARTIFICIAL)
def _(cells: Cells) -> Finding:
    """OC1's trees (20:20) are as good as, if not better than, those of LMDT and SADT."""
    accuracies = values(cells, ("OC1 20:20", "LMDT", "SADT"), "accuracy")
    return accuracies[0] >= max(accuracies[1:]), written(accuracies, "/") + " %"


@_claim("4.3", "measures", *ARTIFICIAL)
def _(cells: Cells) -> Finding:
    """With information gain, OC1's accuracy (20:20) is not significantly different (two standard deviations)."""
    found = deviations(cells, "OC1 info_gain", "OC1 twoing")
    return abs(found) <= 2, f"{found:+.1f} deviations"


@_claim("4.3.1", "measures", "RCB")
def _(cells: Cells) -> Finding:
    """Sum Minority fails miserably on RCB, where Twoing works much better (by five points)."""
    accuracies = values(cells, ("OC1 sum_minority", "OC1 twoing"), "accuracy")
    return accuracies[1] - accuracies[0] >= 5, written(accuracies, "against") + " %"


@_claim("4.3.2", "table2", *ARTIFICIAL)
def _(cells: Cells) -> Finding:
    """Without randomization OC1 is very similar to CART-LC (a point of accuracy, a factor of 1.5 in size at most)."""
    learners = ("OC1 0:0", "CART-LC")
    accuracies, sizes = (values(cells, learners, name) for name in ("accuracy", "leaves"))
    is_similar = abs(accuracies[0] - accuracies[1]) <= 1 and max(sizes) <= 1.5 * min(sizes)
    return is_similar, f"{written(accuracies, 'against')} %, {written(sizes, 'against')} leaves"


@_claim("4.3.2", "table2", *ARTIFICIAL)
def _(cells: Cells) -> Finding:
    """From each line of Table 2 to the next (0:0, 0:20, 20:0, 20:20) accuracy rises and size falls."""
    accuracies, sizes = (values(cells, RANDOMIZED, name) for name in ("accuracy", "leaves"))
    is_ordered = accuracies == sorted(accuracies) and sizes == sorted(sizes, reverse=True)
    return is_ordered, f"{written(accuracies, '/')} %, {written(sizes, '/')} leaves"


@_claim("Table 2", "table2", *ARTIFICIAL)
def _(cells: Cells) -> Finding:
    """From each line to the next, OC1 considers more hyperplanes."""
    effort = values(cells, RANDOMIZED, "hyperplanes")
    return effort == sorted(effort), written(effort, "/", 0)


@_claim("4.3.2", "table2", *ARTIFICIAL)
def _(cells: Cells) -> Finding:
    """Jumps alone raise accuracy by 1 to 2 points (rounded)."""
    before, after = values(cells, RANDOMIZED[:2], "accuracy")
    return 0.5 <= after - before < 2.5, f"{after - before:+.1f}"


@_claim("4.3.2", "table2", "POL", "RCB")
def _(cells: Cells) -> Finding:
    """Jumps alone make trees on POL and RCB dramatically smaller, roughly by a factor of two (1.5 to 2.5)."""
    return shrinks(cells, *RANDOMIZED[:2], 1.5, 2.5)


@_claim("4.3.2", "table2", "LS10")
def _(cells: Cells) -> Finding:
    """On LS10 restarts alone raise accuracy significantly (more than two standard deviations)."""
    found = deviations(cells, "OC1 20:0", "OC1 0:0")
    return found > 2, f"{found:+.1f} deviations"


@_claim("4.3.2", "table2", "LS10")
def _(cells: Cells) -> Finding:
    """On LS10 restarts alone make trees smaller, from 67 to 26 leaves (by a factor of 2 to 3.2)."""
    return shrinks(cells, "OC1 0:0", "OC1 20:0", 2.0, 3.2)


@_claim("4.3.2", "table2", "LS10")
def _(cells: Cells) -> Finding:
    """On LS10 restarts alone help more than jumps alone, in accuracy and in size."""
    accuracies, sizes = (values(cells, RANDOMIZED[1:3], name) for name in ("accuracy", "leaves"))
    helps_more = accuracies[1] > accuracies[0] and sizes[1] < sizes[0]
    return helps_more, f"{written(accuracies[::-1], 'against')} %, {written(sizes[::-1], 'against')} leaves"


@_claim("4.3.2", "table2", "POL", "RCB")
def _(cells: Cells) -> Finding:
    """On POL and RCB restarts alone help about as much as jumps alone (accuracies within half a point)."""
    jumps, restarts = values(cells, RANDOMIZED[1:3], "accuracy")
    return abs(jumps - restarts) <= 0.5, written((restarts, jumps), "against") + " %"


@_claim("4.3.2", "table2", "RCB")
def _(cells: Cells) -> Finding:
    """On RCB restarts alone make trees smaller by a factor of three (2.5 to 3.5)."""
    return shrinks(cells, "OC1 0:0", "OC1 20:0", 2.5, 3.5)


@_claim("4.3.2", "table2", *ARTIFICIAL)
def _(cells: Cells) -> Finding:
    """Of OC1's four variants 20:20 is the most accurate and has the smallest trees."""
    accuracies, sizes = (values(cells, RANDOMIZED, name) for name in ("accuracy", "leaves"))
    is_best = accuracies[-1] == max(accuracies) and sizes[-1] == min(sizes)
    return is_best, f"{accuracies[-1]:.1f} %, {sizes[-1]:.1f} leaves"


@_claim("4.3.2", "table2", "RCB")
def _(cells: Cells) -> Finding:
    """On RCB 20:20 comes very close to the eight leaves of the smallest tree (nine at most, and no fewer)."""
    leaves = cells["OC1 20:20"]["leaves"]
    return 7.95 <= leaves <= 9, f"{leaves:.1f} leaves"


@_claim("4.3.2", "table2", "POL")
def _(cells: Cells) -> Finding:
    """On POL 20:20 finds the smallest tree, five leaves, most of the time (5.5 on average at most)."""
    leaves = cells["OC1 20:20"]["leaves"]
    return 4.95 <= leaves <= 5.5, f"{leaves:.1f} leaves"


@_claim("4.3.2", "table2", "LS10")
def _(cells: Cells) -> Finding:
    """On LS10 OC1 (20:20) and SADT have difficulty finding the separating plane (more than 2.5 leaves)."""
    sizes = values(cells, ("OC1 20:20", "SADT"), "leaves")
    return min(sizes) > 2.5, written(sizes, "and") + " leaves"


@_claim("4.3.2, footnote 8", "footnote8", "LS10")
def _(cells: Cells) -> Finding:
    """With 10 restarts and 200 jumps OC1 consistently finds the separating plane of LS10: two leaves."""
    leaves = cells["OC1 10:200"]["leaves"]
    return 1.95 <= leaves <= 2.05, f"{leaves:.1f} leaves"


@_claim("4.3.2", "measures", "POL")
def _(cells: Cells) -> Finding:
    """On POL, OC1 with Sum Minority finds the right tree, five leaves, with less effort than with any other measure."""
    ours, *others = values(cells, (f"OC1 {name}" for name in ("sum_minority", *MEASURED)), "hyperplanes")
    leaves = cells["OC1 sum_minority"]["leaves"]
    numbers = f"{ours:,.0f} hyperplanes, others from {min(others):,.0f}"
    return 4.95 <= leaves <= 5.05 and ours < min(others), f"{leaves:.1f} leaves, {numbers}"


@_claim("4.3.2", "table2", "LS10")
def _(cells: Cells) -> Finding:
    """LMDT does very well on LS10 (99 %, 2.5 leaves at most), with less search than OC1 20:20."""
    lmdt, effort = cells["LMDT"], values(cells, ("LMDT", "OC1 20:20"), "hyperplanes")
    numbers = f"{lmdt['accuracy']:.1f} %, {lmdt['leaves']:.1f} leaves, {written(effort, 'against', 0)} hyperplanes"
    return lmdt["accuracy"] >= 99 and lmdt["leaves"] <= 2.5 and effort[0] < effort[1], numbers


@_claim("4.3.2", "table2", "POL", "RCB")
def _(cells: Cells) -> Finding:
    """On POL and RCB LMDT's trees are much larger (twice) and less accurate than those of OC1 (20:20) and SADT."""
    learners = ("LMDT", "OC1 20:20", "SADT")
    accuracies, sizes = (values(cells, learners, name) for name in ("accuracy", "leaves"))
    is_worst = accuracies[0] < min(accuracies[1:]) and sizes[0] >= 2 * max(sizes[1:])
    return is_worst, f"{written(accuracies, '/')} %, {written(sizes, '/')} leaves"


@_claim("4.3.2", "table2", "POL", "RCB")
def _(cells: Cells) -> Finding:
    """On POL and RCB LMDT is significantly less accurate than OC1 (20:20) and SADT (two standard deviations)."""
    found = [deviations(cells, other, "LMDT") for other in ("OC1 20:20", "SADT")]
    return min(found) > 2, f"{written(found, 'and')} deviations"


@_claim("4.3.2", "table2", "POL", "RCB")
def _(cells: Cells) -> Finding:
    """Even 0:0 outperforms LMDT on POL and RCB, with much less search (half as much at most)."""
    learners = ("OC1 0:0", "LMDT")
    accuracies, sizes, effort = (values(cells, learners, name) for name in ("accuracy", "leaves", "hyperplanes"))
    is_better = accuracies[0] > accuracies[1] and sizes[0] < sizes[1] and effort[0] <= 0.5 * effort[1]
    return is_better, f"{written(accuracies, 'against')} %, {written(effort, 'against', 0)} hyperplanes"


@_claim("4.3.2", "table2", *ARTIFICIAL)
def _(cells: Cells) -> Finding:
    """SADT needs 10 to 20 times the search of OC1 20:20."""
    sadt, oc1 = values(cells, ("SADT", "OC1 20:20"), "hyperplanes")
    return 10 <= sadt / oc1 <= 20, f"{sadt / oc1:.1f} times"
