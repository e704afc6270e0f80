"""What happens to an example at each node on its way: the answer, and what speaks for and against it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from ..tree.structure import BranchRule, TreeStructure
from ..tree.wording import looks_like
from .changes import readable_values
from .example import Example


class Look(NamedTuple):
    """What the training examples at a node mostly are.

    Attributes
    ----------
    node : int
    label : str
        Their most frequent class, or the number that is predicted for them.
    share : float
        Of that class; 1 for numbers.
    weight : float
        Of all training examples there: their number, unless they have weights.
    n_equal : int
        The number of classes that are as frequent; 1 for numbers.
    prediction : float or None
        The number that is predicted; None for classes.
    """

    node: int
    label: str
    share: float
    weight: float
    n_equal: int
    prediction: float | None

    @classmethod
    def of(cls, tree: TreeStructure, node: int) -> Look:
        """Look at a node."""
        counts = tree.counts[node]
        prediction = None if tree.predicts_classes else float(tree.outputs()[node, 0])
        return cls(node, *looks_like(tree, node), int((counts == counts.max()).sum()), prediction)


class Evidence(NamedTuple):
    """One attribute in a test.

    Attributes
    ----------
    name : str
    value : float, str or None
        Of the example; the name of a category; None if it is missing.
    average : float or None
        Of the training examples; None for categories and where it is not known.
    push : float
        How far the attribute moves the example towards the branch that it takes, compared with the average training
        example: its share of the distance to the boundary. Negative where it speaks for the other side.
    """

    name: str
    value: float | str | None
    average: float | None
    push: float


class Side(NamedTuple):
    """What a side of a test speaks for.

    Attributes
    ----------
    labels : tuple of str
        One class or two; none where the side is that of the other classes; "larger numbers" or "smaller numbers" where
        numbers are predicted.
    """

    labels: tuple[str, ...]


class Alone(NamedTuple):
    """The attribute of a test that could change the answer with the smallest step, and the value that does.

    Attributes
    ----------
    name : str
    before, after : float
    is_unusual : bool
        Whether the value is far from all usual ones: see `Example.is_unusual`.
    """

    name: str
    before: float
    after: float
    is_unusual: bool


@dataclass(frozen=True)
class Step:
    """What happens at one node.

    Attributes
    ----------
    look : Look
        What the example looks like when it comes here.
    test : str
        What the node asks.
    kind : {"sum", "number", "categories", "missing", "machine"}
        A combination of attributes and a threshold; one number and a threshold; a set of categories, or a branch for
        each; where the value is missing and a branch is known for that; the largest of several functions.
    total, threshold : float or None
        What the test compares. For a machine, the largest function and the next one.
    evidence : tuple of Evidence
        What speaks for the branch, the strongest first; then, with a negative `push`, what speaks against it. Empty
        where averages are not known, and for sets of categories.
    unknown : tuple of str
        The attributes of the test whose values are missing.
    next_look : Look
        What it looks like after the test.
    speaks_for, speaks_against : Side or None
        What the branch taken and the other one speak for; None where that cannot be said.
    distance : float or None
        How far the example is from the boundary, see `Example.distance`; None where no number could change the answer.
    average_push : float or None
        Where the average training example is in the same unit, negative on the other side.
    alone : Alone or None
    """

    look: Look
    test: str
    kind: str
    next_look: Look
    total: float | None = None
    threshold: float | None = None
    evidence: tuple[Evidence, ...] = ()
    unknown: tuple[str, ...] = ()
    speaks_for: Side | None = None
    speaks_against: Side | None = None
    distance: float | None = None
    average_push: float | None = None
    alone: Alone | None = None


def steps_of(example: Example) -> list[Step]:
    """Return what happens at each inner node on the way of an example."""
    return [_step(example, node, child) for node, child in pairwise(example.path)]


def speaking_for(tree: TreeStructure, node: int) -> list[Side] | list[None]:
    """Return what the two sides of a test speak for.

    It is the class that is more frequent on that side than on the other, or two where no single one makes half of the
    difference, or where the second makes at least half as much of it as the first. A side of more classes is that of
    the other classes. None for sides that do not differ.
    """
    left, right = tree.children[node].tolist()[:2]
    outputs = tree.outputs()
    if not tree.predicts_classes:
        difference = float(outputs[right, 0] - outputs[left, 0])
        sides = [Side(("smaller numbers",)), Side(("larger numbers",))]
        return [None, None] if difference == 0 else sides if difference > 0 else sides[::-1]
    labels = []
    for gained in (outputs[left] - outputs[right], outputs[right] - outputs[left]):
        order = np.argsort(-gained, kind="stable")
        reached = np.cumsum(np.maximum(gained[order], 0.0))
        n_needed = 1 + int((reached < 0.5 * reached[-1] - 1e-9).sum()) if reached[-1] > 1e-9 else 0
        least = min(gained[order[n_needed - 1]], 0.5 * gained[order[0]]) - 1e-9 if n_needed else np.inf
        labels.append(tuple(str(tree.classes[k]) for k in order if gained[k] > least))
    if not labels[0] or min(map(len, labels)) > 2:
        return [None, None]
    return [Side(own if len(own) < 3 else ()) for own in labels]


def _step(example: Example, node: int, child: int) -> Step:
    tree = example.tree
    features, coefficients, constants = tree.node_functions(node)
    branch = tree.children[node].tolist().index(child)
    start = Step(
        look=Look.of(tree, node),
        next_look=Look.of(tree, child),
        test=" ".join(tree.equation_words(node, max_terms="auto")),
        kind="categories",
        unknown=tuple(tree.feature_name(m) for m in features.tolist() if example.is_missing[m]),
    )
    is_directed = example.fixed_branch(node) is not None and tree.directions[node] != 0
    if is_directed or (tree.has_thresholds and tree.threshold_of(node) is None):
        return replace(start, kind="missing", speaks_for=speaking_for(tree, node)[branch])
    rule = tree.branch_rule(node, branch)
    if rule.categories is not None:
        evidence = Evidence(tree.feature_name(int(features[0])), _value(example, int(features[0])), None, 0.0)
        return replace(start, evidence=(evidence,), speaks_for=Side((start.next_look.label,)))
    if len(constants) > 1:
        values = np.cumsum(np.column_stack([constants, coefficients * example.numbers[features]]), axis=1)[:, -1]
        others = np.delete(np.arange(len(values)), branch)  # in the order of the rule's inequalities
        nearest = int(values[others].argmax())
        names = tree.branch_names(node)
        weighed = _weighed(example, start, Inequality.of(rule, nearest))
        return replace(
            weighed,
            kind="machine",
            total=float(values[branch]),
            threshold=float(values[others[nearest]]),
            speaks_for=Side((names[branch],)),
            speaks_against=Side((names[others[nearest]],)),
        )
    favoured = speaking_for(tree, node)
    return replace(
        _weighed(example, start, Inequality.of(rule, 0)),
        kind="sum" if len(features) > 1 else "number",
        total=float(np.cumsum(coefficients[0] * example.numbers[features])[-1]),
        threshold=float(constants[0]),
        speaks_for=favoured[branch],
        speaks_against=favoured[1 - branch],
    )


class Inequality(NamedTuple):
    """One inequality of a `BranchRule`."""

    features: np.ndarray
    coefficients: np.ndarray
    bound: float
    strict: bool

    @classmethod
    def of(cls, rule: BranchRule, row: int) -> Inequality:
        """Take one of a rule's inequalities."""
        return cls(rule.features, rule.coefficients[row], float(rule.bounds[row]), bool(rule.strict[row]))

    def margin(self, values: np.ndarray) -> float:
        """Return by how much the sum is above the bound; NaN where it overflows."""
        with np.errstate(over="ignore", invalid="ignore"):
            return float(np.cumsum(self.coefficients * values)[-1] - self.bound)

    def holds(self, values: np.ndarray) -> bool:
        """Whether the sum is above the bound, or at it where that is enough."""
        margin = self.margin(values)
        return margin > 0 or (margin == 0 and not self.strict)


def _weighed(example: Example, step: Step, inequality: Inequality) -> Step:
    """Add to a step what speaks for and against an inequality that holds, and how close it is."""
    tree, features, coefficients = example.tree, inequality.features, inequality.coefficients
    values, averages, scale = example.numbers[features], tree.fill[features], example.scale[features]
    is_number = np.array([not tree.is_categorical(m) for m in features.tolist()], dtype=bool)
    movable = is_number & ~example.is_missing[features]
    with np.errstate(over="ignore", invalid="ignore"):
        sizes = np.abs(coefficients * scale)
        length = float(np.linalg.norm(sizes[movable]))
        unit = length if length > 0 else 1.0
        pushes = coefficients * (values - averages) / unit
    evidence = [
        Evidence(
            tree.feature_name(feature),
            _value(example, feature),
            float(averages[i]) if is_number[i] else None,
            float(pushes[i]),
        )
        for i, feature in sorted(enumerate(features.tolist()), key=lambda pair: -pushes[pair[0]])
    ]
    return replace(
        step,
        evidence=tuple(evidence) if example.knows_averages or len(evidence) == 1 else (),
        distance=inequality.margin(values) / length if length > 0 else None,
        average_push=inequality.margin(averages) / unit if example.knows_averages else None,
        alone=_alone(example, inequality, int(np.where(movable, sizes, -1.0).argmax())) if movable.any() else None,
    )


def _alone(example: Example, inequality: Inequality, place: int) -> Alone | None:
    """Return a readable value of one attribute with which an inequality no longer holds, if there is one."""
    feature, values = int(inequality.features[place]), example.numbers[inequality.features].copy()
    before = float(values[place])
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        least = -inequality.margin(values) / inequality.coefficients[place]
    for after in readable_values(before, float(least), float(example.scale[feature])):
        values[place] = after
        if not example.low[feature] <= after <= example.high[feature]:
            return None
        if not inequality.holds(values):
            return Alone(example.tree.feature_name(feature), before, after, example.is_unusual(feature, after))
    return None


def _value(example: Example, feature: int) -> float | str | None:
    if example.is_missing[feature]:
        return None
    if example.tree.is_categorical(feature):
        return str(example.tree.categories[feature][int(example.row[feature])])
    return float(example.row[feature])
