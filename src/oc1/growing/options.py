"""What decides a tree besides its examples: the resolved parameters of `OC1Classifier`, and what all nodes share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..data.sampling import weight_of_one
from ..data.search_space import SearchSpace
from ..impurity import Measure
from ..kernels import layout
from ..kernels.layout import NO_SPLIT
from ..kernels.records import Settings

#: From this number of examples on, the runs of a node's search are shared among the threads. (That changes the order of
#: their stages, so the number is the same whether or not there are threads.)
MIN_SHARED_ROWS = 8000
#: From this number of examples on, a node is searched in rounds (see `oc1.growing.large_nodes`), wherever its examples
#: are; on a cluster this is also the size below which they move to one place.
MIN_LARGE_ROWS = 100_000
#: Where the search of a node may begin: at the best axis-parallel split, at a linear classifier, and anywhere.
STARTS = AXIS, LINEAR, RANDOM = "axis", "linear", "random"


@dataclass(frozen=True)
class SearchRules:
    """Where the search of a node may depart from Figures 6 and 8 of the paper, for better splits or for speed."""

    whole_rounds: bool = False  # in turn, go over all attributes, and never the constant, until a round changes nothing
    falls_at_ties: bool = False  # P_move falls at each tie, not only where the search moves to an equally good plane
    min_rows_to_meet: int = layout.MIN_ROWS_TO_MEET  # from here on, a run that gets where others were goes no further
    samples_large_nodes: bool = True  # nodes of `min_large_rows` are climbed on a sample first (see `large_nodes`)


#: More examples than any node has.
NEVER = int(np.iinfo(np.int64).max)
#: To the letter.
PAPER_RULES = SearchRules(whole_rounds=True, falls_at_ties=True, min_rows_to_meet=NEVER, samples_large_nodes=False)


@dataclass(frozen=True)
class GrowthOptions:
    """How a tree is grown."""

    measure: Measure
    splits: str = "best"
    n_restarts: int = 20
    n_jumps: int = 5
    order: int = layout.SEQUENTIAL
    n_perturbations: int = 50
    stagnation: float = 1.0
    axis_bias: float = 1.0
    min_samples_oblique: int | None = 0
    max_terms: int | None = None
    max_depth: int | None = None
    min_samples_split: int = 2
    min_samples_leaf: int = 1
    min_weight_fraction_leaf: float = 0.0
    max_features: float | str | None = None  # see `oc1.growing.subspaces`
    max_leaf_nodes: int | None = None
    min_impurity_decrease: float = 0.0
    normalize: str = "standard"
    starts: tuple[str, ...] = (AXIS, RANDOM)
    missing: str = "mean"  # or "direction": learned where a test has one attribute
    complexity_penalty: float = 0.0  # 0: the purest split wins, until leaves are pure
    to_purity: bool = False  # with a penalty: by linear classifiers, without a search, until leaves are pure
    splits_ties: bool = False  # axis-parallel growth to purity goes on where no split gains anything
    rounding: bool = False
    sparsity: float | None = None
    n_jobs: int = 1
    device: str = "cpu"  # who counts the examples of large nodes (see `oc1.cuda`)
    rules: SearchRules = SearchRules()
    min_large_rows: int = MIN_LARGE_ROWS

    @property
    def is_penalised(self) -> bool:
        """Whether the complexity penalty decides which split is made, and whether any is."""
        return self.splits != "axis" and self.complexity_penalty > 0.0

    @property
    def simplifies(self) -> bool:
        """Whether tests are rounded or lose terms (see `oc1.growing.simplifying`)."""
        return self.splits != "axis" and (self.rounding or self.sparsity is not None)

    @property
    def has_linear_start(self) -> bool:
        """Whether linear classifiers are fitted."""
        return self.splits != "axis" and LINEAR in self.starts

    def n_runs(self, n_features: int) -> int:
        """Return how many runs a search of a node makes, at most."""
        # With a single attribute there is nothing to combine.
        if self.splits == "axis" or (self.splits == "best" and n_features == 1):
            return 0
        return max(1, self.n_restarts) + self.has_linear_start

    def min_shared_rows(self, n_features: int) -> int:
        """Return from how many examples on threads share the work of one node."""
        # With a penalty, one call grows what is not large, and few runs are made.
        has_many_runs = self.n_runs(n_features) > 1 and not self.is_penalised
        return min(MIN_SHARED_ROWS if has_many_runs else self.min_large_rows, self.min_large_rows)

    def settings(self, n_features: int, total: float) -> Settings:
        """Return the options as the kernels take them; `total` is the weight of all examples."""
        min_oblique = 2 * n_features if self.min_samples_oblique is None else self.min_samples_oblique
        return Settings(
            min_leaf=self.min_samples_leaf,
            min_weight=self.min_weight_fraction_leaf * total if self.min_weight_fraction_leaf > 0.0 else NO_SPLIT,
            axis=self.splits != "oblique",
            min_oblique=min_oblique if self.splits == "best" else 0,
            n_runs=min(self.n_runs(n_features), max(1, self.n_restarts)),
            order=self.order,
            # The paper's sequential rounds leave the constant out. On centred attributes it is often near zero, and no
            # other coefficient can then move the plane away from the centre. On positive ones the rounds from random
            # planes do better without it, until nothing else changes (LS10 20:20: 98.7% and 6.7 leaves, against 97.7%
            # and 11.0).
            n_swept=n_features + (self.normalize == "standard"),
            whole_rounds=self.rules.whole_rounds,
            n_perturbations=self.n_perturbations,
            n_jumps=self.n_jumps,
            stagnation=self.stagnation,
            falls_at_ties=self.rules.falls_at_ties,
            min_rows_to_meet=self.rules.min_rows_to_meet,
            axis_bias=self.axis_bias,
            max_depth=NEVER if self.max_depth is None else self.max_depth,
            min_split=self.min_samples_split,
            min_decrease=float(self.min_impurity_decrease),
            total=total,
            max_terms=n_features if self.max_terms is None else self.max_terms,
            two_stages=MIN_SHARED_ROWS,
            axis_starts=int(AXIS in self.starts),
            n_given=0,
        )


class RootStatistics(NamedTuple):
    """What a tree needs to know of all examples that it is grown on, also where only some are at hand."""

    space: SearchSpace
    total: float  # their weight
    unit: float  # the weight of one

    @property
    def n_examples(self) -> float:
        """Their number, if each had the weight of one."""
        return self.total / self.unit

    @classmethod
    def of(cls, space: SearchSpace, n_rows: int, weights: np.ndarray | None) -> RootStatistics:
        """Return the statistics of examples with these weights (None if all count alike)."""
        return cls(space, float(n_rows if weights is None else weights.sum()), weight_of_one(weights))


class TreeSetup(NamedTuple):
    """What a tree is grown with, wherever its examples are.

    Attributes
    ----------
    options : GrowthOptions
    fill : float array (n_features,)
        What missing values count as.
    n_classes : int
    coded : bool sequence (n_features,), or empty
        Which attributes hold codes of categories: their missing values always count as their fill.
    known_statistics : RootStatistics or None
        A `LocalEngine` finds them, unless the tree, or what it is a part of, is grown on more examples.
    """

    options: GrowthOptions
    fill: np.ndarray
    n_classes: int
    coded: Sequence[bool] = ()
    known_statistics: RootStatistics | None = None

    @property
    def statistics(self) -> RootStatistics:
        """Those that are known, or were found."""
        assert self.known_statistics is not None
        return self.known_statistics

    @property
    def settings(self) -> Settings:
        """The options as the kernels take them."""
        return self.options.settings(len(self.fill), self.statistics.total)
