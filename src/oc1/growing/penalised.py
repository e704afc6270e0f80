"""Growing with care: a split is made where it tells more than chance would, and the widest of equal splits is taken.

At a node there are up to three candidates: the best axis-parallel split, a linear classifier (see `starts`), and
the purest hyperplane of OC1's search, which begins at the other two among others. The purest fits the training examples
best, but a search over d + 1 coefficients finds something in noise, too. What a candidate is *worth* is its Twoing
value less what chance accounts for: for the searched ones ``complexity_penalty / n`` times the number of
coefficients; for the linear classifier nothing, since each example is judged by the plane that was fitted without it.
Where no candidate is worth more than ``complexity_penalty / 3n`` for each class, the node stays a leaf: no example need
be kept back for pruning, and no time goes into the noise at the bottom. Without a penalty the purest split wins, until
the leaves are pure.

Twoing prefers splits into halves, also where one class can be told from all others almost without fault, and examples
that go astray at the top are lost. So the candidate is taken that is worth most for each example it misplaces.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np

from ..kernels import _kernels
from .blas import one_blas_thread
from .grower import NO_AXIS, Ground, GrowthOptions, Place, TreeGrower, pending
from .nodes import NodeTable
from .simplifying import round_numbers, simplify
from .starts import AXIS, RANDOM, STARTS, NodeView, twoing

#: Linear classifiers are fitted to so many examples at most, evenly chosen: more hardly move a plane.
FITTED = 20_000
#: What choosing the attribute costs an axis-parallel split, in coefficients for each doubling of the attributes.
CHOICE = 0.4
#: An oblique split must have so many times the merit of an axis-parallel one, which is easier to read.
SIMPLER = 1.1
#: Room for the planes that all kinds of starts together may bring.
ROOM = 16
#: With fewer examples in all the penalty is proportionally smaller: even six examples should be told apart.
CAUTIOUS = 50
#: Rows looked at in one piece.
PIECE = 65_536


class Candidate(NamedTuple):
    """A hyperplane in search space."""

    plane: np.ndarray
    value: float  # its Twoing value
    worth: float  # ... less what chance accounts for
    misplaced: float  # share of the examples that are not on their class's side, and what chance hides of it
    is_linear: bool = False  # a linear classifier's own: its threshold stays where it is
    is_pure: bool = False  # no class is on both sides
    missing: int = _kernels.BY_FILL  # side of the missing values of an axis-parallel one

    @property
    def merit(self) -> float:
        """What is gained for each example that goes astray."""
        return self.worth / self.misplaced


class View(NamedTuple):
    """A node as the makers of starts see it, and the way back."""

    node: NodeView
    mean: np.ndarray
    scale: np.ndarray

    def to_search(self, plane: np.ndarray) -> np.ndarray:
        """Bring a plane on the node's standardised attributes to search space."""
        out = plane.copy()
        out[:-1] = np.divide(plane[:-1], self.scale, out=np.zeros(len(self.scale)), where=self.scale > 0.0)
        out[-1] -= out[:-1] @ self.mean
        return out / np.sqrt(out @ out) if out.any() else out

    def from_search(self, plane: np.ndarray) -> np.ndarray:
        """Bring a plane of the search space to the node's standardised attributes."""
        out = plane.copy()
        out[:-1] *= self.scale
        out[-1] += plane[:-1] @ self.mean
        return out


def highest(totals: np.ndarray) -> float:
    """Return a Twoing value that no split of these class weights exceeds: that of two halves, if classes allow it."""
    share = max(0.5, totals.max() / totals.sum())
    return float(4.0 * share * (1.0 - share))


def misplaced(left: np.ndarray, totals: np.ndarray) -> float:
    """Return the share of the examples that are not on the side where most of their class is."""
    return float(np.minimum(left, totals - left).sum() / totals.sum())


class CarefulGrower(TreeGrower):
    """Grow a tree node by node; the parameters are those of `TreeGrower`."""

    def _prepare(self, ground: Ground, n_classes: int, options: GrowthOptions, *further) -> None:
        super()._prepare(ground, n_classes, options, *further)
        self.unit = ground.unit
        self.n_attributes = max(1, int(np.count_nonzero(self.scale)))
        self.linear = [name for name in self.options.starts if name not in (AXIS, RANDOM)]
        self.is_oblique = self.plan.n_runs > 0 and (self.n_attributes > 1 or not self.plan.axis)
        self.plan = self.plan._replace(axis_starts=0, n_runs=self.plan.n_runs + ROOM)
        self.complexity_penalty = self.options.complexity_penalty * min(1.0, ground.n_examples / CAUTIOUS)

    def grow(self, above: NodeTable | None = None, row: int = 0) -> NodeTable:
        """Grow the tree, or the subtree of a pending node above it; return the batch that begins with its root."""
        with one_blas_thread():  # sums must not depend on their number
            return super().grow(above, row)

    def _follow(self, place: Place, pool: ThreadPoolExecutor | None = None) -> list[Place]:
        batch = place.above.subtrees[place.row] = self._split(place, pool)
        return list(pending(batch, place.examples))

    def _split(self, place: Place, pool: ThreadPoolExecutor | None = None) -> NodeTable:
        plan, nodes = self.plan, place.above.nodes
        totals = nodes.counts[place.row][nodes.counts[place.row] > 0.0]
        if self._stays_leaf(place):
            return self._leaf(place)
        if self.complexity_penalty == 0.0:
            return self._purest(place, pool)
        best = self._best(place, totals, pool)
        if best is None:
            return self._leaf(place)
        if plan.max_terms < np.count_nonzero(best.plane[:-1]):
            return self._shortened(place, best)
        if best.missing != _kernels.BY_FILL:
            return self._call(place, 1, given=self._test(best.plane, best.missing))
        return self._divide(place, best.plane, best.is_linear)

    def _divide(self, place: Place, plane: np.ndarray, is_linear: bool) -> NodeTable:
        """Split by a plane, in as short a form as costs nothing."""
        test, options = self._test(plane), self.options
        if not options.shortens or place.size > FITTED or place.size >= options.large:
            return self._call(place, 1, given=test, centred=not is_linear)
        own = slice(place.start, place.stop)
        X = np.asarray(self.X[place.examples.rows[own]], dtype=np.float64)
        X = np.where(np.isnan(X), place.examples.fill, X)
        if is_linear and options.sparsity is None:
            test = round_numbers(test, X, scale=self.scale)
        else:
            weights = place.examples.weights[own] if place.examples.weights.size else None
            test = simplify(
                test, X, place.examples.labels[own], weights, self.n_classes, scale=self.scale,
                tolerance=options.sparsity, rounding=options.rounding, min_leaf=self.plan.min_leaf,
            )  # fmt: skip
        return self._call(place, 1, given=test, centred=False)

    def _purest(self, place: Place, pool: ThreadPoolExecutor | None) -> NodeTable:
        """Split by the purest of all runs, as `TreeGrower` does; some of them begin at the planes of the starts."""
        given = []
        if self.is_oblique and place.size >= self.plan.min_oblique:
            view = self._view(place, self._axis_candidate(place, np.ones(1), 0.0))
            given = self._starts(view)
        is_axis = int(AXIS in self.options.starts)
        n_runs = max(is_axis + len(given), self.options.n_restarts if RANDOM in self.options.starts else 0, 1)
        plan = self.plan._replace(axis_starts=is_axis, n_given=len(given), n_runs=n_runs if self.is_oblique else 0)
        if place.size >= self.options.large:
            return self._split_large(place, plan, np.array(given) if given else None, pool)
        axis = self._search(place, plan, -1 if plan.axis else 0, np.array(given) if given else None, pool)
        runs = self._scratch().runs[:n_runs]
        searched = plan.n_runs > 0 and place.size >= plan.min_oblique
        if self.options.shortens and searched and self.options.axis_bias == 1.0 and plan.max_terms >= len(self.scale):
            best = self._best_run(runs)
            if best[_kernels.SCORE] > axis[0]:
                return self._divide(place, best[_kernels.PLANE :].copy(), is_linear=False)
        return self._call(place, 1, axis, plan=plan)

    # ------------------------------------------------------------------------------------------------ candidates

    def _best(self, place: Place, totals: np.ndarray, pool: ThreadPoolExecutor | None) -> Candidate | None:
        """Return the candidate that is worth most, None if none is worth a split."""
        price = self.complexity_penalty * self.unit / totals.sum()
        axis = self._axis_candidate(place, totals, price)
        self._tell_worth("axis-parallel split", axis)
        best = axis if axis is not None and axis.worth > len(totals) * price / 3.0 else None

        def take(candidate: Candidate | None) -> None:
            """Take an oblique candidate if it is worth more."""
            nonlocal best
            if candidate is None or not candidate.worth > len(totals) * price / 3.0:
                return
            if best is not None and not candidate.merit > best.merit * (SIMPLER if best is axis else 1.0):
                return
            bias = self.options.axis_bias
            if axis is None or bias == 1.0 or candidate.is_pure or candidate.value > bias * axis.value:
                best = candidate

        if not self.is_oblique:
            return best
        given = [axis.plane] if axis is not None and AXIS in self.options.starts else []
        if self.linear and (self.options.min_samples_oblique is None or place.size >= self.plan.min_oblique):
            view = self._view(place, axis)
            given += self._starts(view)
            self._count(len(given))
            linear = self._linear_candidate(view, place)
            self._tell_worth("linear classifier", linear)
            take(linear)
        if place.size >= self.plan.min_oblique and self._could_be_better(best, totals, price):
            found = self._searched_candidate(place, totals, price, given, pool)
            self._tell_worth("purest split of the search", found)
            take(found)
        elif self.reporter.n_moves:
            self.reporter.write("  no search: nothing it could find would be worth more")
        return best

    def _tell_worth(self, what: str, candidate: Candidate | None) -> None:
        if self.reporter.n_moves and candidate is not None:
            about = f"Twoing value {candidate.value:.4g}, less what chance accounts for {candidate.worth:.4g}"
            self.reporter.write(f"  {what}: {about}")

    def _starts(self, view: View) -> list[np.ndarray]:
        """Return the planes of the linear starts, in search space."""
        return [view.to_search(plane) for name in self.linear for plane in STARTS[name](view.node)]

    def _axis_candidate(self, place: Place, totals: np.ndarray, price: float) -> Candidate | None:
        if not self.plan.axis:
            return None
        _, attribute, at, missing = self._search(place, self.plan._replace(n_runs=0), -1)
        self._count(self.n_attributes)
        if attribute < 0:
            return None
        plane = np.zeros(len(self.scale) + 1)
        plane[attribute], plane[-1] = 1.0, -at
        return self._judged(place, plane, totals, price, 1.0 + CHOICE * np.log2(self.n_attributes), missing)

    def _linear_candidate(self, view: View, place: Place) -> Candidate | None:
        """Return the linear classifier with the least left-out loss."""
        if not view.node.fits:
            return None
        fit, right = min(view.node.fits, key=lambda fit: fit[0].loss)
        n_left, totals = np.count_nonzero(view.node.Z @ fit.plane <= 0.0), view.node.totals
        n_seen = len(view.node.y)  # all examples, or a sample
        if min(n_left, n_seen - n_left) * max(place.size, n_seen) < self.plan.min_leaf * n_seen:
            return None
        value = view.node.value(fit.left_out, right)
        astray = misplaced(view.node.left_weights(fit.left_out), totals) + 1.0 / totals.sum()
        return Candidate(view.to_search(fit.plane), value, value, astray, is_linear=True)

    def _searched_candidate(
        self, place: Place, totals: np.ndarray, price: float, given: list[np.ndarray], pool: ThreadPoolExecutor | None
    ) -> Candidate | None:
        """Return the purest hyperplane of OC1's search."""
        # Beside linear starts, half as many random ones find as much.
        n_random = self.options.n_restarts if RANDOM in self.options.starts else 0
        n_runs = max(len(given) + (n_random // 2 if self.linear else n_random - len(given)), 1)
        plan = self.plan._replace(n_runs=n_runs, n_given=len(given))
        self._search(place, plan, 0, np.array(given) if given else None, pool)
        runs = self._scratch().runs[:n_runs]
        best = self._best_run(runs)
        if not best[_kernels.SCORE] > _kernels.NOTHING:
            return None
        plane = best[_kernels.PLANE :].copy()
        return self._judged(place, plane, totals, price, self.n_attributes + 1.0)

    def _best_run(self, runs: np.ndarray) -> np.ndarray:
        """Return the purest of the runs, and count what they considered; after one that is pure, none was made."""
        pure = np.flatnonzero(runs[:, _kernels.PURE])
        made = runs[: pure[0] + 1] if len(pure) else runs
        self._count(int(made[:, _kernels.CLIMBED].sum() + made[:, _kernels.JUMPED].sum()))
        return made[made[:, _kernels.SCORE].argmax()]

    def _count(self, considered: int) -> None:
        with self._lock:
            self.n_hyperplanes += considered

    # ------------------------------------------------------------------------------------------------ spaces

    def _view(self, place: Place, axis: Candidate | None) -> View:
        """Return the node, or an even sample of it, with attributes standardised over it."""
        if place.size >= self.options.large:
            place = self._large(place).sample
        examples = place.examples
        chosen = np.arange(place.start, place.stop)
        if place.size > FITTED:
            chosen = chosen[np.linspace(0, place.size - 1, FITTED).astype(np.int64)]
        Z = np.array(self._columns(place, chosen).T, dtype=np.float64, order="C")
        weights = examples.weights[chosen] / self.unit if examples.weights.size else np.ones(len(chosen))
        y = np.unique(examples.labels[chosen], return_inverse=True)[1]
        mean = np.average(Z[:, :-1], axis=0, weights=weights)
        Z[:, :-1] -= mean
        scale = np.sqrt(np.average(Z[:, :-1] ** 2, axis=0, weights=weights))
        # The columns are rounded to float32: less than this is no spread.
        scale[scale <= 1e-6 * np.abs(mean)] = 0.0
        Z[:, :-1] = np.divide(Z[:, :-1], scale, out=np.zeros_like(Z[:, :-1]), where=scale > 0.0)
        rng = np.random.default_rng(int(place.above.nodes.seeds[place.row]))
        view = View(NodeView(Z, y, weights, self.options.groupings, rng), mean, scale)
        view.node.axis = None if axis is None else view.from_search(axis.plane)
        if place.row > 0:
            view.node.parent = view.from_search(self._plane_above(place))
        return view

    def _plane_above(self, place: Place) -> np.ndarray:
        """Return the parent's test as a plane of the search space."""
        nodes = place.above.nodes
        if nodes.reals[0, 0] == _kernels.ABOVE_ALL:
            return np.zeros(len(self.scale) + 1)
        return self.space.plane_of(nodes.features, nodes.coefficients, nodes.reals[0, 0])

    def _pieces(self, place: Place) -> Iterator[np.ndarray]:
        for first in range(place.start, place.stop, PIECE):
            yield np.arange(first, min(first + PIECE, place.stop))

    def _judged(
        self,
        place: Place,
        plane: np.ndarray,
        totals: np.ndarray,
        price: float,
        n_coefficients: float,
        missing: int = _kernels.BY_FILL,
    ) -> Candidate:
        """Return a plane that was found by search with what it is worth."""
        left = self._left_weights(place, plane, missing)
        value, chance, astray = twoing(left, totals), n_coefficients * price, misplaced(left, totals)
        # Chance hides some that go astray; but where no class is on both sides, there are none.
        hidden = (chance if astray > 0.0 else price) / 3.0
        return Candidate(plane, value, value - chance, astray + hidden, is_pure=astray == 0.0, missing=missing)

    def _left_weights(self, place: Place, plane: np.ndarray, missing: int) -> np.ndarray:
        """Return the weights, on the left of a plane, of the classes that are present at a node."""
        if place.size >= self.options.large:
            return self._large(place).engine.count_sides(plane[None], np.array([missing]))[1][0]
        left = np.zeros(self.n_classes)
        for piece in self._pieces(place):
            goes_left = plane @ self._columns(place, piece) <= 0.0
            if missing != _kernels.BY_FILL:
                holes = place.examples.holes[np.flatnonzero(plane[:-1])[0], place.examples.rows[piece]]
                goes_left = np.where(holes, missing == _kernels.MISSING_LEFT, goes_left)
            weights = place.examples.weights[piece] if place.examples.weights.size else np.ones(len(piece))
            left += np.bincount(place.examples.labels[piece], weights=weights * goes_left, minlength=self.n_classes)
        return left[place.above.nodes.counts[place.row] > 0.0]

    def _could_be_better(self, best: Candidate | None, totals: np.ndarray, price: float) -> bool:
        """Whether a perfect hyperplane, found by search, would be better."""
        chance = price * (self.n_attributes + 1)
        ideal = highest(totals) - chance
        return ideal > 0.0 and (best is None or ideal > best.merit * chance / 3.0)

    def _shortened(self, place: Place, best: Candidate) -> NodeTable:
        """Split by a plane with too many terms, after dropping some of them."""
        if place.size >= self.options.large:
            test = self._few_terms(self._large(place).sample, place, best.plane)
            return self._leaf(place) if test is None else self._call(place, 1, given=test)
        runs = self._scratch().runs
        runs[0, : _kernels.PLANE] = 0.0
        runs[0, _kernels.SCORE], runs[0, _kernels.PLANE :] = np.inf, best.plane
        plan = self.plan._replace(n_runs=1, min_oblique=0)
        return self._call(place, 1, NO_AXIS, plan=plan)
