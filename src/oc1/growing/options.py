"""What decides a tree besides its examples: the resolved parameters of `OC1Classifier`, and what all nodes share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..data.search_space import SearchSpace
from ..impurity import Measure
from ..kernels import layout
from ..kernels.layout import NO_SPLIT
from ..kernels.linear_fits import MAX_PLANES
from ..kernels.records import Settings

#: From this number of examples on, the runs of a node's search are shared among the threads. (That changes the order of
#: their stages, so the number is the same whether or not there are threads.)
MIN_SHARED_ROWS = 8000
#: From this number of examples on, a node is searched in rounds (see `oc1.growing.large_nodes`), wherever its examples
#: are; on a cluster this is also the size below which they move to one place.
MIN_LARGE_ROWS = 100_000
#: Where there are as many, growth stops at nodes with fewer than this share of them: the rest is noise, and takes long.
MIN_SHARE_OF_LARGE = 0.0005


@dataclass(frozen=True)
class SearchRules:
    """Where the search of a node may depart from Figures 6 and 8 of the paper, for better splits or for speed."""

    whole_rounds: bool = False  # in turn, go over the coefficients until a whole round changes nothing
    sweeps_constant: bool = True  # whole rounds are of all d + 1 coefficients ("each" in Figure 6), not of the first d
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
    max_stagnant: int = 10
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
    missing: str = "mean"  # or "direction": learned where a test has one attribute
    alpha: float = 0.0  # the price of a leaf that is known beforehand: what it would prune anyway is not grown
    is_informative: bool = False  # whether information chooses a split (`oc1.kernels.choice`), or the purest one wins
    n_jobs: int = 1
    rules: SearchRules = SearchRules()
    min_large_rows: int = MIN_LARGE_ROWS

    def n_runs(self, n_features: int) -> int:
        """Return how many runs a search of a node makes, at most."""
        # With a single attribute there is nothing to combine.
        if self.splits == "axis" or (self.splits == "best" and n_features == 1):
            return 0
        return 1 + MAX_PLANES if self.is_informative else max(1, self.n_restarts)

    def min_shared_rows(self, n_features: int) -> int:
        """Return from how many examples on threads share the work of one node."""
        # Where information decides, one call grows what is not large.
        has_many_runs = self.n_runs(n_features) > 1 and not self.is_informative
        return min(MIN_SHARED_ROWS if has_many_runs else self.min_large_rows, self.min_large_rows)

    @property
    def sweeps_constant(self) -> bool:
        """Whether the constant is among the coefficients that are perturbed in turn."""
        # On centred attributes the constant is often near zero, and no other coefficient can then move the plane away
        # from the centre. On positive ones, rounds from random planes do better without it, until nothing else changes.
        return self.rules.sweeps_constant if self.rules.whole_rounds else self.normalize == "standard"

    def settings(self, n_features: int, total: float, n_examples: float) -> Settings:
        """Return the options as the kernels take them, for examples of a `total` weight."""
        usual_min_oblique = 0 if self.is_informative else 2 * n_features
        min_oblique = usual_min_oblique if self.min_samples_oblique is None else self.min_samples_oblique
        min_split = self.min_samples_split
        if self.is_informative and n_examples >= MIN_LARGE_ROWS:
            min_split = max(min_split, int(MIN_SHARE_OF_LARGE * n_examples))
        return Settings(
            min_leaf=self.min_samples_leaf,
            min_weight=self.min_weight_fraction_leaf * total if self.min_weight_fraction_leaf > 0.0 else NO_SPLIT,
            axis=self.splits != "oblique",
            min_oblique=min_oblique if self.splits == "best" else 0,
            n_runs=self.n_runs(n_features),
            order=self.order,
            n_swept=n_features + self.sweeps_constant,
            whole_rounds=self.rules.whole_rounds,
            n_perturbations=self.n_perturbations,
            n_jumps=self.n_jumps,
            stagnation=self.stagnation,
            max_stagnant=self.max_stagnant,
            falls_at_ties=self.rules.falls_at_ties,
            min_rows_to_meet=self.rules.min_rows_to_meet,
            axis_bias=self.axis_bias,
            max_depth=NEVER if self.max_depth is None else self.max_depth,
            min_split=min_split,
            min_decrease=float(self.min_impurity_decrease),
            max_errors=self.alpha * total if self.alpha > 0.0 else NO_SPLIT,
            total=total,
            max_terms=n_features if self.max_terms is None else self.max_terms,
            two_stages=MIN_SHARED_ROWS,
            axis_starts=int(not self.is_informative),
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
        return self.options.settings(len(self.fill), self.statistics.total, self.statistics.n_examples)
