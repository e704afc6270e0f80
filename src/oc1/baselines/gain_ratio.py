"""How C4.5 tests a node: thresholds of numbers, branches for categories, the highest gain ratio of good tests."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from math import log2
from typing import ClassVar, NamedTuple

import numpy as np

from ..growing.linear_tests import LinearTest
from ..growing.splitters import NodeExamples, Splitter
from ..impurity import entropy
from .grouping import count_below

#: Gains closer than this are equal: they are sums in some order, rounded.
EQUAL = 1e-12
#: By how much less than the average, in bits, a test may gain and still compete, as in C4.5.
GAIN_SLACK_BITS = 1e-3
#: Values of a numeric attribute that are no further apart than this are equal. (C4.5, and Weka's J48, say 1e-5. Then
#: trees would depend on the units.)
MIN_VALUE_GAP = 0.0
#: A numeric test leaves at least this share of the known examples, for each class, on each side, but no more than the
#: number below it are asked for, as in C4.5.
MIN_SIDE_SHARE = 0.1
MAX_MIN_SIDE = 25.0
#: A categorical attribute with this many categories, as a share of the training examples, does not count in the average
#: gain, as in C4.5.
MANY_CATEGORIES_SHARE = 0.3


class Cut(NamedTuple):
    """A threshold of one attribute at a node."""

    below: float  # the nearest values on the two sides
    above: float
    gain: float  # less the penalty, in release 8
    ratio: float


class Cuts(NamedTuple):
    """The thresholds of one attribute at a node that leave enough weight on each side."""

    x: np.ndarray  # the values that are known, in order
    ends: np.ndarray  # the place in x that each threshold comes after
    gains: np.ndarray  # less the penalty, in release 8
    parts: np.ndarray  # weight of the two sides, and of the missing values, for each threshold

    def best(self) -> Cut:
        """Return the first of those that gain most."""
        return self.test(int(np.argmax(self.gains >= self.gains.max() - EQUAL)))

    def test(self, number: int) -> Cut:
        """Return one of them."""
        end, gain = self.ends[number], float(self.gains[number])
        return Cut(float(self.x[end]), float(self.x[end + 1]), gain, gain / float(entropy(self.parts[number])))


def find_cuts(
    x: np.ndarray, y: np.ndarray, weights: np.ndarray, n_classes: int, min_leaf: float, release: int = 5
) -> Cuts | None:
    """Return the thresholds of an attribute, None if there is none that leaves enough weight.

    Enough is a tenth of the known examples for each class, but at least `min_leaf` and at most 25. Examples whose value
    is missing tell nothing: the gain is that of the others times their share of the weight, and in the split
    information the missing ones are a third part. Release 8 charges the bits that it takes to say which threshold was
    chosen, spread over the examples.
    """
    known = ~np.isnan(x)
    x, below = count_below(x[known], y[known], weights[known], n_classes)
    ends = np.flatnonzero(x[1:] > x[:-1] + MIN_VALUE_GAP)
    if len(ends) == 0:
        return None
    total, left = below[-1], below[ends]
    right = np.maximum(total - left, 0.0)
    min_side = max(min_leaf, min(MAX_MIN_SIDE, MIN_SIDE_SHARE * total.sum() / n_classes))
    enough = np.minimum(left.sum(axis=1), right.sum(axis=1)) >= min_side * (1 - EQUAL)
    if not enough.any():
        return None
    ends, left, right = ends[enough], left[enough], right[enough]
    n_left, n_right, n_known, n_all = left.sum(axis=1), right.sum(axis=1), total.sum(), weights.sum()
    gains = (n_known * entropy(total) - n_left * entropy(left) - n_right * entropy(right)) / n_all
    if release == 8:
        gains -= log2(len(ends)) / n_all
    parts = np.column_stack([n_left, n_right, np.full(len(ends), n_all - n_known)]).clip(0)
    return Cuts(x, ends, gains, parts)


class Grouping(NamedTuple):
    """The test of a categorical attribute at a node: a branch for each group of categories."""

    groups: list[list[int]]
    gain: float
    ratio: float

    @property
    def gains(self) -> np.ndarray:
        """The gain of the only test."""
        return np.array([self.gain])

    def best(self) -> Grouping:
        """Return the test."""
        return self

    def test(self, number: int) -> Grouping:
        """Return the test."""
        return self


@dataclass(frozen=True)
class CategorySplit:
    """Sends each category of an attribute down its branch."""

    attribute: int
    table: np.ndarray  # the branch of each category, -1 if it did not occur
    n_branches: int

    def branches(self, X: np.ndarray) -> np.ndarray:
        """Return the branch of each row, -1 where the value is missing or did not occur."""
        x = X[:, self.attribute]
        return np.where(np.isnan(x), -1, self.table[np.nan_to_num(x).astype(np.int64)])


def group_categories(counts: np.ndarray, n_all: float, min_leaf: float, subset: bool) -> tuple[Grouping | None, int]:
    """Return the test of a categorical attribute (None: there is none), and how many were looked at.

    Parameters
    ----------
    counts : float array (n_categories, n_classes)
        Weight of each class in each category.
    n_all : float
        Weight of all examples, also those whose category is missing.
    min_leaf : float
        Two branches must have at least this weight.
    subset : bool
        Whether to merge groups of categories, beginning with one for each, as long as that raises the gain ratio and
        there are more than two. The pair whose union has the highest ratio is merged.
    """
    total = counts.sum(axis=0)

    def evaluate(groups: list[list[int]]) -> Grouping | None:
        if len(groups) < 2:  # none at all where all categories are missing
            return None
        parts = np.array([counts[group].sum(axis=0) for group in groups])
        sizes = parts.sum(axis=1)
        if np.count_nonzero(sizes >= min_leaf * (1 - EQUAL)) < 2:
            return None
        gain = float((sizes.sum() * entropy(total) - (sizes * entropy(parts)).sum()) / n_all)
        information = float(entropy(np.append(sizes, max(0.0, n_all - sizes.sum()))))
        return Grouping(groups, gain, gain / information)

    best, n_tests = evaluate([[int(category)] for category in np.flatnonzero(counts.sum(axis=1))]), 1
    while subset and best is not None and len(best.groups) > 2:
        merged = []
        for i, j in combinations(range(len(best.groups)), 2):
            rest = [group for k, group in enumerate(best.groups) if k not in (i, j)]
            merged.append(evaluate([*rest, sorted(best.groups[i] + best.groups[j])]))
        n_tests += len(merged)
        top = max((one for one in merged if one is not None), key=lambda one: one.ratio, default=None)
        if top is None or top.ratio <= best.ratio + EQUAL:
            break
        best = top
    return best, n_tests


@dataclass
class GainRatioSplitter(Splitter):
    """Takes the test of highest gain ratio among those that gain no less than the average.

    Attributes
    ----------
    min_samples_split, min_samples_leaf : float
        Weights, as C4.5 has it: examples may be fractions.
    release, subset, n_choices
        As in `C45Classifier`.
    values : list of float64 arrays
        The values of each attribute in all training examples, ascending.
    n_categories : list of int
        Of each attribute; 0 if it is a number.
    n_examples : int
        Of the whole tree.
    """

    keeps_missing: ClassVar[bool] = True

    min_samples_split: float
    min_samples_leaf: float
    release: int
    subset: bool
    n_choices: int
    values: list[np.ndarray]
    n_categories: list[int]
    n_examples: int

    def split(self, node: NodeExamples) -> LinearTest | CategorySplit | None:
        """Return the split of a node, None to leave it a leaf."""
        if node.weights.sum() < self.min_samples_split * (1 - EQUAL):
            return None
        found: dict[int, Cuts | Grouping] = {}
        for attribute in range(node.X.shape[1]):
            tests, n_tests = (self._group if self.n_categories[attribute] else self._cut)(attribute, node)
            self.n_hyperplanes += n_tests
            if tests is not None and tests.gains.max() > EQUAL:
                found[attribute] = tests
        if not found:
            return None
        if self.n_choices == 1:
            attribute, chosen = best_test(found, self._with_many_categories())
        else:
            attribute, chosen = random_test(found, self.n_choices, node.seed)
        if isinstance(chosen, Cut):
            # No gap: a threshold that is a value of the data must be printed in full.
            return LinearTest(np.array([attribute]), np.ones(1), self._threshold(attribute, chosen))
        table = np.full(self.n_categories[attribute], -1)
        for branch, group in enumerate(chosen.groups):
            table[group] = branch
        return CategorySplit(attribute, table, len(chosen.groups))

    def _cut(self, attribute: int, node: NodeExamples) -> tuple[Cuts | None, int]:
        x = node.X[:, attribute]
        cuts = find_cuts(x, node.y, node.weights, node.n_classes, self.min_samples_leaf, self.release)
        return cuts, 0 if cuts is None else len(cuts.ends)

    def _group(self, attribute: int, node: NodeExamples) -> tuple[Grouping | None, int]:
        x = node.X[:, attribute]
        known, counts = ~np.isnan(x), np.zeros((self.n_categories[attribute], node.n_classes))
        np.add.at(counts, (x[known].astype(np.int64), node.y[known]), node.weights[known])
        return group_categories(counts, node.weights.sum(), self.min_samples_leaf, self.subset)

    def _with_many_categories(self) -> set[int]:
        """Return the attributes that do not count in the average gain: they gain much by their number of values."""
        return {m for m, n in enumerate(self.n_categories) if n >= MANY_CATEGORIES_SHARE * self.n_examples}

    def _threshold(self, attribute: int, cut: Cut) -> float:
        """Return the largest value of the training examples that does not exceed the middle of the cut."""
        middle = cut.below + 0.5 * (cut.above - cut.below)
        if not cut.below <= middle < cut.above:  # neighbouring floats, or an overflow
            return cut.below
        values = self.values[attribute]
        return float(values[np.searchsorted(values, middle, side="right") - 1]) + 0.0  # not -0


def best_test(found: dict[int, Cuts | Grouping], with_many: set[int]) -> tuple[int, Cut | Grouping]:
    """Return the attribute, with its best test, of highest gain ratio among those of average gain at least."""
    best = {m: tests.best() for m, tests in found.items()}
    average = np.mean([test.gain for m, test in best.items() if m not in with_many or with_many >= best.keys()])
    ratios = {m: test.ratio for m, test in best.items() if test.gain >= average - GAIN_SLACK_BITS}
    highest = max(ratios.values())
    attribute = next(m for m, ratio in ratios.items() if ratio >= highest - EQUAL)
    return attribute, best[attribute]


def random_test(found: dict[int, Cuts | Grouping], n_choices: int, seed: int) -> tuple[int, Cut | Grouping]:
    """Return one of the tests that gain most information, drawn at random."""
    places = [(m, number) for m, tests in found.items() for number in range(len(tests.gains))]
    gains = np.concatenate([tests.gains for tests in found.values()])
    good = np.argsort(-gains, kind="stable")[:n_choices]
    good = good[gains[good] > EQUAL]
    attribute, number = places[good[np.random.default_rng(seed).integers(len(good))]]
    return attribute, found[attribute].test(number)
