"""The training data of one fit, on the workers: what `oc1.data.training.Training` is on one machine."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import reduce
from operator import add
from typing import Any, TypeVar

import numpy as np

from ..data.categories import Categories, Codes, replace_by_codes, response_codes
from ..data.exact_moments import exact_moments
from ..data.sampling import relative_weights, weight_ratio
from ..data.search_space import SearchSpace, filled, sample_positions
from ..data.training import Training
from ..growing.options import RootStatistics, TreeSetup
from ..tree.pruning import PruningSequence
from . import tasks
from .engine import Group, places_of
from .partitions import Partition
from .session import Session
from .tasks import Share

T = TypeVar("T")


@dataclass(frozen=True)
class ClusterTraining:
    """Checked training data on the workers.

    Attributes
    ----------
    session : Session
    partitions : list of Partition
        In the order of the rows.
    class_counts : int array (n_partitions, n_classes)
    classes, feature_names, seed, categories, coded, fill
        As in `oc1.data.training.Training`. Parts of the data are said by a `Share`.
    """

    session: Session
    partitions: list[Partition]
    classes: np.ndarray
    class_counts: np.ndarray
    feature_names: tuple[str, ...]
    seed: int
    categories: Categories = ()
    coded: tuple[bool, ...] = ()
    fill: np.ndarray = field(default_factory=lambda: np.empty(0))  # see `with_fill`
    _known: dict[Share, list[tasks.PartStatistics]] = field(default_factory=dict)

    everything = Share()

    @property
    def n_examples(self) -> int:
        """Number of examples."""
        return int(self.class_counts.sum())

    def some(self, most: int) -> tuple[np.ndarray, np.ndarray]:
        """Return no examples: they stay on the workers."""
        return np.empty((0, len(self.fill))), np.empty(0, dtype=np.int64)

    @property
    def varies(self) -> bool:
        """Whether there is more than one class."""
        return int(np.count_nonzero(self.class_counts.sum(axis=0))) > 1

    def in_canonical_order(self, max_rows: int) -> ClusterTraining:
        """Return the data as they are: so many rows stay in their order."""
        return self

    def with_ratios(self, counts_evidence: bool = True) -> ClusterTraining:
        """Return the data with weights as ratios (see `Training`)."""
        unit = min(self.session.ask((tasks.least_weight, one) for one in self.partitions))
        facts = self.session.ask((tasks.weight_sums, one, unit) for one in self.partitions)
        total, squares, n_broken = reduce(add, facts).tolist()
        if total == squares:  # all are 1, or as good as none
            return self
        unit = 0.0 if n_broken else unit
        ratio = weight_ratio(total, squares, unit, counts_evidence)
        scaled = [self.session.submit(relative_weights, one.weights, ratio, unit) for one in self.partitions]
        partitions = [one._replace(weights=own) for one, own in zip(self.partitions, scaled, strict=True)]
        return replace(self, partitions=partitions, _known={})

    def sample(self, max_rows: int) -> Training:
        """Return about this number of examples, drawn as `Training.sample` does, in this process."""
        part = self.hold_out(max_rows / self.n_examples)[1]
        # Empty partitions do not know whether there are weights.
        found = [own for own in self.ask(tasks.examples_of_part, part) if len(own[1])]
        X, y, weights = zip(*found, strict=True)
        own_weights = None if any(own is None for own in weights) else np.concatenate(weights)
        own = self.fill, self.classes, self.feature_names, self.seed, self.categories, self.coded
        values = np.concatenate(X)
        moments = exact_moments(values, own_weights)
        return Training(values, np.concatenate(y).astype(np.int64), own_weights, *own, moments)

    def hold_out(self, fraction: float) -> tuple[Share, Share]:
        """Draw a part to be kept back; return (the others, that part)."""
        back = Share(self.seed, fraction=fraction)
        return back._replace(others=True), back

    def deal_folds(self, n_folds: int) -> Iterator[tuple[Share, Share]]:
        """Deal the examples into folds; yield (the others, that fold) for each."""
        for fold in range(n_folds):
            own = Share(self.seed, fold=fold, n_folds=n_folds)
            yield own._replace(others=True), own

    def mass(self, share: Share) -> float:
        """Return the weight of a part."""
        return reduce(add, self._statistics(share)).weight

    def judge(self, sequence: PruningSequence, share: Share) -> np.ndarray:
        """Return how many examples of a part each subtree of a sequence gets right."""
        return reduce(add, self.ask(tasks.judged, share, sequence))

    def with_fill(self) -> ClusterTraining:
        """Return the data with the means of the attributes, which missing values count as."""
        return replace(self, fill=reduce(add, self._statistics(self.everything)).moments.means)

    def ask(self, function: Callable[..., T], share: Share, *args: Any) -> list[T]:
        """Call a function with every partition and a part."""
        return self.session.ask((function, partition, share, *args) for partition in self.partitions)

    def _statistics(self, share: Share) -> list[tasks.PartStatistics]:
        if share not in self._known:
            self._known[share] = self.ask(tasks.statistics_of_part, share, len(self.classes))
        return self._known[share]

    def part(self, share: Share) -> tuple[Share, None]:
        """Return what `with_codes`, and what grows a tree, take: a part is said by its share."""
        return share, None

    def with_codes(self, share: Share, weights: None) -> tuple[ClusterTraining, Codes]:
        """Return the data with the codes that a part gives to the categories in their place, and these codes."""
        unit = reduce(add, self._statistics(share)).unit
        codes: list[np.ndarray | None] = [None] * len(self.categories)
        means = np.zeros(len(codes))
        for m, own in enumerate(self.categories):
            if own is not None:
                sums = reduce(add, self.ask(tasks.responses_of, share, m, len(own), len(self.classes)))
                codes[m], means[m] = response_codes(sums.astype(np.float64), unit)
        is_coded = tuple(own is not None for own in codes)
        fill = np.where(is_coded, means, self.fill)
        partitions = [one._replace(X=self.session.submit(replace_by_codes, one.X, codes)) for one in self.partitions]
        coded = replace(self, partitions=partitions, categories=(), coded=is_coded, fill=fill, _known={})
        return coded, tuple(codes)

    def statistics_of(self, share: Share, normalize: str, unit: float | None) -> tuple[RootStatistics, np.ndarray]:
        """Return what a tree needs to know of a part, and the standard deviations of its attributes.

        `unit` is the weight of one example, if that is known.
        """
        facts = self._statistics(share)
        everything = reduce(add, facts)
        n_rows = int(everything.counts.sum())
        places = places_of(sample_positions(n_rows), np.array([own.counts for own in facts]))
        asked = [(tasks.rows_at, partition, share, own) for partition, own in zip(self.partitions, places, strict=True)]
        sample = filled(np.concatenate(self.session.ask(asked)), self.fill)
        moments = everything.moments.filled(self.fill)
        space = SearchSpace.of_moments(moments, sample, normalize)
        statistics = RootStatistics(space, everything.weight, everything.unit if unit is None else unit)
        return statistics, SearchSpace.of_moments(moments, sample, "standard").scale

    def root_groups(self, share: Share, setup: TreeSetup) -> list[Group]:
        """Return the examples of a part where they are."""
        groups = []
        for numbers in self.session.together({i: one.X for i, one in enumerate(self.partitions)}):
            partitions = [self.partitions[i] for i in numbers]
            parts = self.session.submit(tasks.root_parts, partitions, share, setup)
            groups.append(Group(numbers, partitions, parts))
        return groups
