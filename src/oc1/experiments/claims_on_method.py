"""What the paper claims outside of its section 4: of oblique trees, votes, jumps, restarts and impurity measures.

A claim is a function of the results on one data set (see `oc1.experiments.claim`); its docstring is the claim. Where
the paper's words leave room ("very helpful", "substantially"), the limits are in the code and in the docstring.
"""

from __future__ import annotations

import math

import numpy as np

from .claim import MEAN, Cells, Claim, Finding, claim_in, values, written
from .definitions import ARTIFICIAL, REAL, RESTARTS, STARS

CLAIMS: list[Claim] = []
_claim = claim_in(CLAIMS)

GOOD_MEASURES = ("info_gain", "gini", "twoing")
OTHER_MEASURES = ("max_minority", "sum_minority", "sum_of_variances")
MEASURES = (*GOOD_MEASURES, *OTHER_MEASURES)
ORDERS = ("sequential", "best", "random")
#: The number of restarts after which accuracy levels off, says section 3.2.
LEVEL = (20, 50)


@_claim("1", "impurity", *ARTIFICIAL)
def _(cells: Cells) -> Finding:
    """Where a problem requires oblique splits, oblique trees are smaller and more accurate than axis-parallel ones."""
    learners = ("OC1 twoing", "OC1-AP twoing")
    accuracies, sizes = (values(cells, learners, name) for name in ("accuracy", "leaves"))
    is_better = accuracies[0] > accuracies[1] and sizes[0] < sizes[1]
    return is_better, f"{written(accuracies, 'against')} %, {written(sizes, 'against')} leaves"


@_claim("2", "votes", MEAN, *REAL, *ARTIFICIAL)
def _(cells: Cells) -> Finding:
    """Votes of k trees are consistently more accurate than one tree (11 trees; one, pruned or not)."""
    vote, *single = values(cells, ("11 trees", "one tree", "one unpruned tree"), "accuracy")
    return vote > max(single), f"{vote:.1f} against {written(single, '/')} %"


@_claim("2", "table2", *ARTIFICIAL)
def _(cells: Cells) -> Finding:
    """SADT runs much slower than CART-LC, LMDT or OC1 (at least ten times the hyperplanes of each)."""
    sadt, *others = values(cells, ("SADT", "CART-LC", "LMDT", "OC1 20:20"), "hyperplanes")
    return sadt >= 10 * max(others), f"{sadt:,.0f} against {written(others, '/', 0)}"


@_claim("2", "table2", *ARTIFICIAL)
def _(cells: Cells) -> Finding:
    """SADT considers tens of thousands of hyperplanes at a node (10,000 to 100,000 on average)."""
    at_node = cells["SADT"]["hyperplanes"] / max(1.0, cells["SADT"]["leaves"] - 1)
    return 1e4 <= at_node <= 1e5, f"{at_node:,.0f}"


@_claim("3.1", "orders", *REAL, *ARTIFICIAL)
def _(cells: Cells) -> Finding:
    """Orders of perturbation affect the accuracy less than randomization does (20:5 against 0:0)."""
    accuracies = values(cells, (f"OC1 {order}" for order in ORDERS), "accuracy")
    spread, gain = max(accuracies) - min(accuracies), accuracies[0] - cells["OC1 0:0"]["accuracy"]
    return spread < gain, f"{spread:.1f} against {gain:.1f} points"


@_claim("3.1", "orders", MEAN)
def _(cells: Cells) -> Finding:
    """None of the three orders is uniformly better than another (on every set)."""
    accuracies = values(cells, (f"OC1 {order}" for order in ORDERS), "accuracy")
    by_set = np.array([cells[f"OC1 {order}"]["accuracies"] for order in ORDERS])
    is_uniform = (by_set[:, None] > by_set).all(axis=2).any()
    return not is_uniform, written(accuracies, "/") + " %"


@_claim("3.2", "jumps", *REAL, *ARTIFICIAL)
def _(cells: Cells) -> Finding:
    """Even a single random jump at a local minimum improves accuracy, on every data set (0:1 against 0:0)."""
    return _rises(cells, "OC1 0:0", "OC1 0:1")


@_claim("3.2", "jumps", *REAL, *ARTIFICIAL)
def _(cells: Cells) -> Finding:
    """Jumps improve accuracy with restarts, too, on every data set (20:5, the paper's settings, against 20:0)."""
    return _rises(cells, "OC1 20:0", "OC1 20:5")


def _rises(cells: Cells, before: str, after: str) -> Finding:
    low, high = values(cells, (before, after), "accuracy")
    return high > low, f"{high - low:+.2f}"


@_claim("3.2", "restarts", *REAL, *ARTIFICIAL)
def _(cells: Cells) -> Finding:
    """In all experiments accuracy increases with more than one restart (with 2, 3, 5, ... 50 of them)."""
    one, *more = values(cells, (f"OC1 R={n}" for n in RESTARTS), "accuracy")
    return min(more) > one, f"{one:.1f} to {min(more):.1f} ... {max(more):.1f} %"


@_claim("3.2", "restarts", *REAL, *ARTIFICIAL)
def _(cells: Cells) -> Finding:
    """Accuracy levels off after 20 to 50 restarts (comes within half a standard deviation of the best)."""
    learners = [f"OC1 R={n}" for n in RESTARTS]
    accuracies, spreads = (values(cells, learners, name) for name in ("accuracy", "accuracy_sd"))
    enough = max(accuracies) - 0.5 * max(spreads)
    level = next(n for n, accuracy in zip(RESTARTS, accuracies, strict=True) if accuracy >= enough)
    return LEVEL[0] <= level <= LEVEL[1], f"after {level}"


@_claim("3.2", "table1", *STARS, *REAL)
def _(cells: Cells) -> Finding:
    """OC1-AP compares favorably with CART-AP and C4.5 (smaller, less accurate by two deviations at most)."""
    ours, *others = values(cells, ("OC1-AP", "CART-AP", "C4.5"), "accuracy")
    best = max(("CART-AP", "C4.5"), key=lambda learner: cells[learner]["accuracy"])
    sizes = values(cells, ("OC1-AP", "CART-AP", "C4.5"), "leaves")
    deviation = max(values(cells, ("OC1-AP", best), "accuracy_sd"))
    is_good = ours >= max(others) - 2 * deviation and sizes[0] < min(sizes[1:])
    return (
        is_good,
        f"{ours:.1f} against {written(others, '/')} %, {sizes[0]:.1f} against {written(sizes[1:], '/')} leaves",
    )


def _compared_measures(cells: Cells, learner: str) -> Finding:
    good, other = (
        values(cells, (f"{learner} {name}" for name in names), "accuracy") for names in (GOOD_MEASURES, OTHER_MEASURES)
    )
    return min(good) > max(other), f"{written(good, '/')} against {written(other, '/')} %"


@_claim("3.3.1", "impurity", MEAN, *REAL, *ARTIFICIAL)
def _(cells: Cells) -> Finding:
    """Information gain, Gini and Twoing are better than the other three measures on average (each than each)."""
    return _compared_measures(cells, "OC1")


@_claim("3.3.1", "impurity", MEAN, *REAL, *ARTIFICIAL)
def _(cells: Cells) -> Finding:
    """For axis-parallel trees, too, information gain, Gini and Twoing are better than the other three on average."""
    return _compared_measures(cells, "OC1-AP")


@_claim("3.3.1", "measures", "POL")
def _(cells: Cells) -> Finding:
    """Sum Minority easily finds the exact tree of POL, five leaves; all others have difficulty (more than 5.05)."""
    sizes = {name: cells[f"OC1 {name}"]["leaves"] for name in MEASURES}
    ours, others = sizes.pop("sum_minority"), sizes.values()
    return 4.95 <= ours <= 5.05 < min(others), f"{ours:.1f} leaves, others {written(others, '/')}"


@_claim("3.3.2, citing others", "votes", *REAL)
def _(cells: Cells) -> Finding:
    """Pruning makes trees smaller and more accurate."""
    learners = ("one tree", "one unpruned tree")
    accuracies, sizes = (values(cells, learners, name) for name in ("accuracy", "leaves"))
    is_better = accuracies[0] > accuracies[1] and sizes[0] < sizes[1]
    return is_better, f"{written(accuracies, 'against')} %, {written(sizes, 'against')} leaves"


def _depth_of_max_minority(cells: Cells, learner: str) -> Finding:
    cell = cells[f"{learner} max_minority"]
    bound = math.log2(cell["n_training"])
    return cell["depth"] <= bound, f"{cell['depth']:.1f}, log n is {bound:.1f}"


def _deepest(cells: Cells, learner: str) -> Finding:
    depths = {name: cells[f"{learner} {name}"]["depth"] for name in MEASURES}
    ours, others = depths.pop("max_minority"), depths.values()
    return max(others) <= 1.5 * ours, f"{ours:.1f}, others {written(others, '/')}"


@_claim("5", "table2", *ARTIFICIAL)
def _(cells: Cells) -> Finding:
    """Randomization does not significantly increase the cost (20:20 considers at most twice as much as 0:0)."""
    before, after = values(cells, ("OC1 0:0", "OC1 20:20"), "hyperplanes")
    return after <= 2 * before, f"{after / before:.1f} times the hyperplanes"


@_claim("Appendix B", "measures", *REAL, *ARTIFICIAL)
def _(cells: Cells) -> Finding:
    """Trees that minimize Max Minority have a depth of log n at most (the mean depth of unpruned ones, log2)."""
    return _depth_of_max_minority(cells, "OC1")


@_claim("Appendix B", "measures", *REAL, *ARTIFICIAL)
def _(cells: Cells) -> Finding:
    """Axis-parallel trees that minimize Max Minority have a depth of log n at most."""
    return _depth_of_max_minority(cells, "OC1-AP")


@_claim("Appendix B", "measures", *REAL, *ARTIFICIAL)
def _(cells: Cells) -> Finding:
    """Other measures seldom give trees substantially deeper than Max Minority's (by half)."""
    return _deepest(cells, "OC1")


@_claim("Appendix B", "measures", *REAL, *ARTIFICIAL)
def _(cells: Cells) -> Finding:
    """For axis-parallel trees, too, other measures seldom give substantially deeper ones (by half)."""
    return _deepest(cells, "OC1-AP")
