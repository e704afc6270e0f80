"""OC1's search of one node, slowly: Figures 6 and 8 of the paper, line by line.

Single steps are rounded as in the kernels (float32 margins), and random numbers are drawn in the same order, so the
kernels must make the same moves. The rules are those of the paper, or those of the default, but for one that begins at
nodes of 250 examples: there a run that gets to the place of another one stops.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from oc1.impurity import MEASURES

from . import NOISE, crossings, gain, goes_right, preference

NO_SPLIT = -1e300
MASK = 2**64 - 1


def scramble(z):
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 & MASK
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB & MASK
    return z ^ (z >> 31)


def mix(seed, salt):
    return scramble(seed ^ (salt * 0x9E3779B97F4A7C15 + 0xBF58476D1CE4E5B9 & MASK))


@dataclass
class Stream:
    """Random numbers from a seed (splitmix64)."""

    state: int

    def bits(self):
        self.state = self.state + 0x9E3779B97F4A7C15 & MASK
        return scramble(self.state)

    def uniform(self):
        return (self.bits() >> 11) / 2**53


def slack(score):
    return 1e-10 * abs(score) + 1e-18


def better(a, b):
    return a > b + slack(b)


@dataclass
class Node:
    """A node's examples, grouped by class: columns of the attributes and of ones."""

    columns: np.ndarray  # float32 (d + 1, n)
    labels: np.ndarray
    weights: np.ndarray
    criterion: str
    min_leaf: int = 1
    min_weight: float = NO_SPLIT

    def score(self, right):
        if min(right.sum(), (~right).sum()) < self.min_leaf:
            return NO_SPLIT
        if min(self.weights[right].sum(), self.weights[~right].sum()) < self.min_weight:
            return NO_SPLIT
        score = gain(self.criterion, *self.sides(right))
        return score if abs(score) > NOISE else 0.0

    def sides(self, right):
        """The weights of the classes on the left and on the right."""
        k = self.labels.max() + 1
        return [np.bincount(self.labels[side], self.weights[side], minlength=k) for side in (~right, right)]

    def impurity(self, right):
        return MEASURES[self.criterion].impurity(*self.sides(right)) if self.score(right) > NO_SPLIT else np.inf

    def is_pure(self, right):
        return len(np.unique(self.labels[right])) == 1 and len(np.unique(self.labels[~right])) == 1

    def margins(self, plane):
        out = np.full(self.columns.shape[1], np.float32(plane[-1]))
        for a, column in zip(plane[:-1].astype(np.float32), self.columns, strict=False):
            if a != 0:
                out += a * column
        return out


def best_step(node, margins, rates, current, ties, stream):
    """The purest split ``margins + alpha * rates > 0``; of equally good ones the preferred, then by lot."""
    salt = stream.bits()
    t = crossings(margins, rates)
    values = np.unique(t[np.isfinite(t)])
    found = []
    for below, above in zip([-np.inf, *values], [*values, np.inf], strict=True):
        if not np.isfinite(below) and not np.isfinite(above):
            break
        if below == -np.inf:
            alpha = above - max(abs(above), 1.0)
        elif above == np.inf:
            alpha = below + max(abs(below), 1.0)
        else:
            alpha = below + 0.5 * (above - below)
        right = goes_right(margins, rates, 0.5 * (below + above) if np.isfinite(below + above) else alpha)
        passed = np.float32(node.weights[t <= below].sum())
        lot = mix(salt, int(passed.view(np.int32)))
        score = node.score(right)
        found.append((score, preference(node.criterion, *node.sides(right)) if score > NO_SPLIT else 0.0, lot, alpha))
    best = max((own[0] for own in found), default=NO_SPLIT)
    if best == NO_SPLIT or not (better(best, current) or (ties and best >= current - slack(current))):
        return NO_SPLIT, 0.0, 0.0
    equal = [own for own in found if own[0] >= best - slack(best)]
    liked = max(own[1] for own in equal)
    score, liking, _, alpha = max((own for own in equal if own[1] >= liked - slack(liked)), key=lambda own: own[2])
    return score, alpha, liking


@dataclass
class Search:
    """The search of a node, and the moves it makes: (run, coefficient or -1 for a jump, impurity, plane).

    With `whole_rounds` and `falls_at_ties`, these are the rules of section 3.1 and Figure 8 to the letter.
    """

    node: Node
    stream: Stream
    order: str = "sequential"
    n_swept: int = 0
    n_perturbations: int = 50
    n_jumps: int = 5
    stagnation: float = 1.0
    max_stagnant: int = 10
    whole_rounds: bool = False
    falls_at_ties: bool = False
    moves: list = field(default_factory=list)

    def scan_axes(self):
        """The best axis-parallel split, with which OC1 begins: (score, attribute, threshold)."""
        best, liked, equals = (NO_SPLIT, -1, 0.0), 0.0, 0
        ones = self.node.columns[-1]
        for m, column in enumerate(self.node.columns[:-1]):
            score, alpha, liking = best_step(self.node, column, ones, best[0], True, self.stream)
            if score > NO_SPLIT and (better(score, best[0]) or not better(liked, liking)):
                equals = 1 if better(score, best[0]) or better(liking, liked) else equals + 1
                if equals == 1 or self.stream.uniform() * equals < 1.0:
                    best, liked = (score, m, -alpha), liking
        return best

    def improve(self, run, plane, n_swept):
        """Figure 6 for one start: perturb until nothing changes, jump, and again as long as a jump helps."""
        self.run, self.plane, self.p_move = run, plane.copy(), self.stagnation
        self.margins = self.node.margins(plane)
        self.score = self.node.score(self.margins > 0)
        self.moves.append((run, -2, self.node.impurity(self.margins > 0), plane))
        while True:
            self.climb(n_swept)
            if self.n_jumps == 0 or self.node.is_pure(self.margins > 0) or not self.jump():
                break
        return self.node.is_pure(self.node.margins(self.plane) > 0)

    def climb(self, n_swept):
        size = len(self.plane)
        if self.order == "random":
            for _ in range(self.n_perturbations):
                self.perturb(min(int(self.stream.uniform() * size), size - 1))
        elif self.order == "best":
            while self.perturb_best():
                pass
        elif self.whole_rounds:  # "Repeat until none of the coefficient values is modified in the For loop"
            while sum(self.perturb(m) for m in range(self.n_swept)):
                pass
        else:
            m, settled = 0, 0
            while settled < size:
                settled = 1 if self.perturb(m) else settled + 1
                m = size - 1 if settled >= n_swept else m + 1 if m + 1 < n_swept else 0

    def perturb(self, m):
        """Figure 8: give coefficient m its best value."""
        ties = self.p_move > 0 and (self.falls_at_ties or self.stream.uniform() < self.p_move)
        score, alpha, _ = best_step(self.node, self.margins, self.node.columns[m], self.score, ties, self.stream)
        return score > NO_SPLIT and self.decide(m, score, alpha)

    def perturb_best(self):
        """Give the coefficient that gains most its best value."""
        best = (NO_SPLIT, 0.0, -1)
        for m, column in enumerate(self.node.columns):
            ties = self.p_move > 0 and (self.falls_at_ties or self.stream.uniform() < self.p_move)
            bar = max(self.score, best[0])
            score, alpha, _ = best_step(self.node, self.margins, column, bar, ties, self.stream)
            if better(score, best[0]):
                best = (score, alpha, m)
        score, alpha, m = best
        return m >= 0 and self.decide(m, score, alpha)

    def decide(self, m, score, alpha):
        """The last lines of Figure 8: a better hyperplane is taken, an equal one with a probability that falls."""
        if better(score, self.score):
            self.p_move = self.stagnation
        elif self.falls_at_ties:
            p_move, self.p_move = self.p_move, self.p_move - self.stagnation / self.max_stagnant
            if not self.stream.uniform() < p_move:
                return False
        else:  # the coin was thrown before
            self.p_move -= self.stagnation / self.max_stagnant
        self.move(np.eye(len(self.plane))[m], alpha, m, score)
        return True

    def jump(self):
        """Move along the first of some random directions that helps."""
        for _ in range(self.n_jumps):
            direction = np.array([2.0 * self.stream.uniform() - 1.0 for _ in self.plane])
            rates = self.node.margins(direction)
            score, alpha, _ = best_step(self.node, self.margins, rates, self.score, False, self.stream)
            if score > NO_SPLIT:
                self.move(direction, alpha, -1, score)
                self.p_move = self.stagnation
                return True
        return False

    def move(self, direction, alpha, which, score):
        rates = self.node.margins(direction) if which < 0 else self.node.columns[which]
        self.plane = self.plane + alpha * direction
        length = np.sqrt((self.plane**2).sum())
        shrink = 1.0 / length if length > 0 else 1.0
        self.plane = self.plane * shrink
        self.margins = np.float32(shrink) * self.margins + np.float32(shrink * alpha) * rates
        self.score = score
        self.moves.append((self.run, which, self.node.impurity(self.margins > 0), self.plane))


def search_node(node, seed, n_runs, n_swept, **settings):
    """Figure 6: the best attribute, then several starts, the first of them at that attribute; return the moves."""
    search = Search(node, Stream(mix(seed, 3)), n_swept=n_swept, **settings)
    axis = search.scan_axes()
    size = len(node.columns)
    for run in range(n_runs):
        search.stream = Stream(mix(seed, 2 * run + 5))
        if run == 0 and axis[1] >= 0:
            plane, swept = np.zeros(size), size  # `whole_rounds` knows better
            plane[axis[1]], plane[-1] = 1.0, -axis[2]
        else:
            plane, swept = np.array([2.0 * search.stream.uniform() - 1.0 for _ in range(size)]), n_swept
        if search.improve(run, plane, swept):
            break
    return axis, search.moves
