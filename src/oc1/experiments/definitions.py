"""What each experiment of the paper runs, and the results that the paper gives.

"paper" after a learner's name means the paper's settings, which search on attributes shifted into the positive
quadrant; without it the name stands for today's defaults. What goes beyond the paper is in `benchmarks/`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..baselines import C45Classifier, CARTClassifier, CARTLCClassifier, LMDTClassifier, SADTClassifier
from ..impurity import MEASURES
from ..learners.classifier import OC1Classifier
from ..learners.ensemble import OC1EnsembleClassifier

REAL = ("cancer", "iris", "housing", "diabetes")
STARS = ("bright", "dim")
ARTIFICIAL = ("LS10", "POL", "RCB")
#: Points in the artificial sets, as in the paper.
FULL_SIZE = 2000
RESTARTS = (1, 2, 3, 5, 10, 20, 30, 40, 50)


@dataclass(frozen=True)
class Published:
    """What the paper says about a cell; None where it says nothing."""

    accuracy: float | None = None
    accuracy_sd: float | None = None
    leaves: float | None = None
    leaves_sd: float | None = None
    hyperplanes: float | None = None


@dataclass(frozen=True)
class Cell:
    """One learner on one data set."""

    data: str
    learner: str
    estimator: Any
    paper: Published | None = None


@dataclass(frozen=True)
class Experiment:
    """What is run, and what the paper says about it.

    Attributes
    ----------
    name, title : str
    claim : str
        What the paper says, in words.
    cells : tuple of Cell
    pairs : tuple of (str, str)
        Learners whose difference is tested on each data set.
    repeats : int
        Number of cross-validations, unless the user gives one.
    is_curve : bool
        Whether accuracy is drawn against the number of restarts.
    """

    name: str
    title: str
    claim: str
    cells: tuple[Cell, ...]
    pairs: tuple[tuple[str, str], ...] = ()
    repeats: int = 10
    is_curve: bool = False

    @property
    def data(self) -> tuple[str, ...]:
        """Names of the data sets, in order."""
        return tuple(dict.fromkeys(cell.data for cell in self.cells))


#: Cells, and the pairs of learners whose difference is tested.
Plan = tuple[tuple[Cell, ...], list[tuple[str, str]]]


def _experiment(plan: Callable[[], Plan], **settings: Any) -> Experiment:
    """Make an experiment of a function whose docstring is its title and what the paper claims."""
    name = plan.__name__.strip("_").replace("_", "-")
    title, _, claim = inspect.cleandoc(plan.__doc__ or "").partition("\n\n")
    cells, pairs = plan()
    return Experiment(name, title.rstrip("."), " ".join(claim.split()), cells, tuple(pairs), **settings)


def paper_oc1(**parameters: Any) -> OC1Classifier:
    """Return OC1 with the paper's settings (sections 3.1 and 4.1), but for the given parameters."""
    return OC1Classifier(preset="paper", **parameters)


def both(name: str, **parameters: Any) -> dict[str, Any]:
    """Return OC1 with the paper's settings, and with today's, under their names."""
    return {f"{name} paper": paper_oc1(**parameters), name: OC1Classifier(**parameters)}


def both_for(name: str, parameter: str, values: Iterable[Any], **parameters: Any) -> dict[str, Any]:
    """Return `both` for each value of a parameter, which stands in the name where the braces are."""
    made = [both(name.format(value), **{parameter: value}, **parameters) for value in values]
    return {learner: estimator for pair in made for learner, estimator in pair.items()}


def cross(
    data: Iterable[str], learners: Mapping[str, Any], published: Mapping[tuple[str, str], Published] | None = None
) -> tuple[Cell, ...]:
    """Return a cell for every learner on every data set, with what is published for them by data set and learner."""
    known = published or {}
    return tuple(
        Cell(name, learner, estimator, known.get((name, learner.removesuffix(" paper"))))
        for name in data
        for learner, estimator in learners.items()
    )


def _published(text: str, fields: Sequence[str]) -> Published:
    """Read ``98.9±0.2/4.3±1.0`` or ``89.8±1.2/67.0±5.8/2756``."""
    values: dict[str, float] = {}
    for field, part in zip(fields, text.split("/"), strict=True):
        mean, _, deviation = part.partition("±")
        values[field] = float(mean)
        if deviation:
            values[f"{field}_sd"] = float(deviation)
    return Published(**values)


def _published_table(lines: Mapping[str, str], data: Sequence[str], *fields: str) -> dict[tuple[str, str], Published]:
    """Read a table with a line for each learner; return its values by data set and learner."""
    return {
        (name, learner): _published(text, fields)
        for learner, line in lines.items()
        for name, text in zip(data, line.split(), strict=True)
    }


#: Accuracy and leaves by data set: bright, dim, cancer, iris, housing, diabetes.
TABLE_1 = {
    "OC1": "98.9±0.2/4.3±1.0 95.0±0.3/13.0±8.7 96.2±0.3/2.8±0.9 94.7±3.1/3.1±0.2 82.4±0.8/6.9±3.2 74.4±1.0/5.4±3.8",
    "CART-LC": "98.8±0.2/3.9±1.3 92.8±0.5/24.2±8.7 95.3±0.6/3.5±0.9 93.5±2.9/3.2±0.3 81.4±1.2/5.8±3.2 73.7±1.2/8.0±5.2",
    "OC1-AP": "98.1±0.2/6.9±2.4 94.0±0.2/29.3±8.8 94.5±0.5/6.4±1.7 92.7±2.4/3.2±0.3 81.8±1.0/8.6±4.5 73.8±1.0/11.4±7.5",
    "CART-AP": "98.5±0.5/13.9±5.7 94.2±0.7/30.4±10 95.0±1.6/11.5±7.2 93.8±3.7/4.3±1.6 82.1±3.5/15.1±10 "
    "73.9±3.4/11.5±9.1",
    "C4.5": "98.5±0.5/14.3±2.2 93.3±0.8/77.9±7.4 95.3±2.0/9.8±2.2 95.1±3.2/4.6±0.8 83.2±3.1/28.2±3.3 71.4±3.3/56.3±7.9",
}
#: Accuracy, leaves and hyperplanes on LS10, POL and RCB.
TABLE_2 = {
    "OC1 0:0": "89.8±1.2/67.0±5.8/2756 98.3±0.3/21.6±1.9/164 98.4±0.2/35.5±1.4/573",
    "OC1 0:20": "91.5±1.5/55.2±7.0/3824 99.3±0.2/9.0±1.0/360 99.3±0.3/19.7±0.8/1778",
    "OC1 20:0": "95.0±0.6/25.6±2.4/24913 99.1±0.2/14.2±1.1/3230 99.6±0.2/12.0±1.4/6436",
    "OC1 20:20": "97.2±0.7/13.9±3.2/30366 99.6±0.1/5.5±0.3/4852 99.8±0.1/8.7±0.4/11634",
    "LMDT": "99.7±0.2/2.2±0.5/9089 89.6±10.2/41.9±19.2/1732 95.7±2.3/70.1±9.6/2451",
    "SADT": "95.2±1.8/15.5±5.7/349067 99.3±0.4/8.4±2.1/85594 97.9±1.1/32.5±4.9/359112",
}


def _table1() -> Plan:
    """Table 1: OC1 and other systems on real data.

    OC1 is more accurate than CART-LC on all six sets and the most accurate of the five systems on four; the oblique
    systems find much smaller trees than the axis-parallel ones, except on iris, where all are of similar size
    (section 4.2.2).
    """
    learners = {
        **both("OC1"),
        "CART-LC": CARTLCClassifier(),
        "OC1-AP": paper_oc1(splits="axis"),
        "CART-AP": CARTClassifier(),
        "C4.5": C45Classifier(),
    }
    data = (*STARS, *REAL)
    cells = cross(data, learners, _published_table(TABLE_1, data, "accuracy", "leaves"))
    return cells, [("OC1", "OC1 paper"), *(("OC1 paper", other) for other in ("CART-LC", "OC1-AP", "C4.5"))]


def _table2() -> Plan:
    """Table 2: what randomization does for OC1 (restarts:jumps), and LMDT, SADT and CART-LC, unpruned.

    The more randomization, the more accurate and the smaller are the trees of OC1. LMDT does very well on LS10, but on
    POL and RCB its trees are larger and less accurate than those of OC1 and SADT. SADT needs 10 to 20 times the search
    of OC1 20:20. OC1 0:0 is very similar to CART-LC, which is not in the paper's table (section 4.3.2).
    """
    learners: dict[str, Any] = {}
    for restarts, jumps in ((0, 0), (0, 20), (20, 0), (20, 20)):
        learners |= both(f"OC1 {restarts}:{jumps}", n_restarts=restarts, n_jumps=jumps, prune=None)
    learners |= {"LMDT": LMDTClassifier(prune=None), "SADT": SADTClassifier(patience=10_000, prune=None)}
    learners["CART-LC"] = CARTLCClassifier(prune=None)
    published = _published_table(TABLE_2, ARTIFICIAL, "accuracy", "leaves", "hyperplanes")
    pairs = [("OC1 20:20 paper", "OC1 0:0 paper"), ("OC1 20:20", "OC1 20:20 paper"), ("OC1 20:20 paper", "SADT")]
    return cross(ARTIFICIAL, learners, published), pairs


def _footnote8() -> Plan:
    """Footnote 8: ten restarts and 200 jumps on LS10, unpruned.

    With 10 restarts and 200 random jumps OC1 consistently finds the linear separator: a tree of two leaves.
    """
    learners = both("OC1 10:200", n_restarts=10, n_jumps=200, prune=None)
    return cross(("LS10",), learners, {("LS10", "OC1 10:200"): Published(leaves=2.0)}), []


def _measures() -> Plan:
    """Six impurity measures in the setting of Table 2: 20:20, unpruned.

    Information gain is not significantly different from Twoing (section 4.3). Sum Minority easily finds the exact tree
    of POL, five leaves, in less time than any other measure (sections 3.3.1 and 4.3.2), but fails on RCB (4.3.1). With
    Max Minority the depth of a tree is log n at most; trees of other measures are seldom much deeper (Appendix B).
    """
    learners: dict[str, Any] = {}
    for measure in MEASURES:
        learners[f"OC1 {measure} paper"] = paper_oc1(criterion=measure, n_jumps=20, prune=None)
        learners[f"OC1-AP {measure}"] = paper_oc1(criterion=measure, splits="axis", prune=None)
    return cross((*ARTIFICIAL, *REAL), learners), []


def _impurity() -> Plan:
    """Six impurity measures, pruned.

    On average, information gain, Gini and Twoing do better than Max Minority, Sum Minority and Sum of Variances, for
    axis-parallel and oblique trees alike (section 3.3.1).
    """
    learners: dict[str, Any] = {}
    for measure in MEASURES:
        learners |= both(f"OC1 {measure}", criterion=measure)
        learners[f"OC1-AP {measure}"] = paper_oc1(criterion=measure, splits="axis")
    return cross((*REAL, *ARTIFICIAL), learners), []


def _orders() -> Plan:
    """Orders in which coefficients are perturbed.

    The order matters less for accuracy than other parameters, especially randomization, and none is uniformly better
    (section 3.1).
    """
    learners = both_for("OC1 {}", "order", ("sequential", "best", "random"))
    learners["OC1 0:0 paper"] = paper_oc1(n_restarts=0, n_jumps=0)
    orders = [(order, one) for one in (" paper", "") for order in ("best", "random")]
    pairs = [(f"OC1 {order}{one}", f"OC1 sequential{one}") for order, one in orders]
    return cross((*REAL, *ARTIFICIAL), learners), pairs


def _jumps() -> Plan:
    """Accuracy with one jump at each local minimum, and with five (artificial data unpruned).

    Even a single random jump is very helpful: accuracy improved on every data set (section 3.2).
    """
    counts = [(restarts, jumps) for restarts in (0, 20) for jumps in (0, 1, 5)]

    def learners(**how: Any) -> dict[str, Any]:
        return {f"OC1 {r}:{j} paper": paper_oc1(n_restarts=r, n_jumps=j, **how) for r, j in counts}

    pairs = [("OC1 0:1 paper", "OC1 0:0 paper"), ("OC1 20:5 paper", "OC1 20:0 paper")]
    return cross(ARTIFICIAL, learners(prune=None)) + cross(REAL, learners()), pairs


def _restarts() -> Plan:
    """Accuracy against the number of restarts (5 jumps; artificial data unpruned).

    Accuracy rises with more than one restart and levels off after about 20 to 50 of them (section 3.2).
    """
    unpruned, pruned = (both_for("OC1 R={}", "n_restarts", RESTARTS, **how) for how in ({"prune": None}, {}))
    pairs = [(f"OC1 R=20{one}", f"OC1 R=1{one}") for one in (" paper", "")]
    return cross(ARTIFICIAL, unpruned) + cross(REAL, pruned), pairs


def _votes() -> Plan:
    """Votes of eleven trees (k-DT) against one.

    By the majority vote of k trees, k-DT methods consistently outperform single trees in accuracy (section 2, citing
    Heath et al. 1993a). The leaves of a vote are those of all its trees.
    """
    learners: dict[str, Any] = {**both("one tree"), **both("one unpruned tree", prune=None)}
    learners |= {
        "11 trees paper": OC1EnsembleClassifier(paper_oc1(prune=None), n_estimators=11),
        "11 trees": OC1EnsembleClassifier(n_estimators=11),
    }
    return cross((*REAL, *ARTIFICIAL), learners), [(f"11 trees{one}", f"one tree{one}") for one in (" paper", "")]


def make_experiments() -> dict[str, Experiment]:
    """Return all experiments by name.

    Examples
    --------
    >>> list(make_experiments())[:2]
    ['table1', 'table2']
    """
    plans = (_table1, _table2, _footnote8, _measures, _impurity, _orders, _jumps, _restarts, _votes)
    experiments = [_experiment(plan, is_curve=plan is _restarts) for plan in plans]
    return {experiment.name: experiment for experiment in experiments}
