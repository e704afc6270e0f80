"""The search in rounds: what it scores, how good its positions are, and what its result must not depend on."""

from itertools import pairwise

import naive
import numpy as np
import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from oc1 import OC1Classifier
from oc1.data import sampling
from oc1.data import search_space as scaling
from oc1.datasets import make_ls10, make_pol, make_rcb
from oc1.growing import grower
from oc1.growing import large_nodes as batched
from oc1.growing.engines import Stretch, count_lines, count_sides
from oc1.growing.large_nodes import Climbing, Counted, Judge, Line, Sketch, answer, best_attribute, climb, search_lines
from oc1.impurity import MEASURES, get_measure
from oc1.kernels import _kernels
from oc1.kernels._pointers import typed

NO_HOLES = np.zeros((0, 0), dtype=np.uint8)
ORDERS = {"sequential": _kernels.SEQUENTIAL, "best": _kernels.BEST, "random": _kernels.RANDOM}


class Node:
    """Examples grouped by class, an engine that counts them in any pieces and notes what it was asked, and a judge."""

    at_once = 2

    def __init__(self, X, labels, weights=None, criterion="twoing", min_leaf=1, cuts=()):
        order = np.argsort(labels, kind="stable")
        X, self.labels = np.asarray(X)[order], np.asarray(labels)[order]
        self.k = int(self.labels.max()) + 1
        sizes = np.bincount(self.labels, minlength=self.k)
        self.columns = np.vstack([X.T, np.ones(len(X))]).astype(np.float32)
        self.weights = np.ones(len(X)) if weights is None else weights[order].astype(float)
        bounds = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        self.name = criterion if isinstance(criterion, str) else criterion.__name__
        self.cuts = [0, *cuts, len(X)]
        own = np.empty(0) if weights is None else self.weights
        self.stretch = Stretch(self.columns, bounds, own, NO_HOLES)
        measure = get_measure(criterion, self.k)
        totals = np.array([self.weights[self.labels == c].sum() for c in range(self.k)])
        self.judge = Judge(
            sizes, totals, np.arange(self.k), measure, *map(typed, measure.pointers()), min_leaf
        )  # fmt: skip
        self.sketch = Sketch(self.columns)
        self.asked: list[int] = []

    def count_lines(self, lines, half):
        self.asked.append(len(lines.which))
        parts = [
            count_lines(self.stretch._replace(bounds=np.clip(self.stretch.bounds, *piece)), lines, half)
            for piece in pairwise(self.cuts)
        ]
        return Counted(*(np.add.reduce(list(own)).astype(own[0].dtype) for own in zip(*parts, strict=True)))

    def count_sides(self, planes, sides):
        counts, sums = count_sides(self.stretch, planes, sides)
        return counts, sums if sums.size else counts.astype(float)

    def margins_and_rates(self, line):
        rates = self.columns[line.which] if line.which >= 0 else naive.combined(self.columns, line.direction)
        return naive.combined(self.columns, line.plane), rates

    def positions(self, line, min_leaf=1):
        """All positions on a line, as `naive.gains_along` lists them."""
        return naive.gains_along(
            *self.margins_and_rates(line), self.labels, self.weights, self.k, self.name, min_leaf
        )  # fmt: skip

    def gain_of(self, plane):
        left = ~(naive.combined(self.columns, plane) > 0)
        sides = (naive.class_weights(self.labels, self.weights, side, self.k) for side in (left, ~left))
        return naive.gain(self.name, *sides)


def own_gini(left, right):
    n_left, n_right = left.sum(), right.sum()
    return n_left - (left**2).sum() / n_left + n_right - (right**2).sum() / n_right


@st.composite
def nodes(draw, most=120, **fixed):
    """Awkward and ordinary examples; 2 to 8 classes; weights or none."""
    n, d, k = draw(st.integers(12, most)), draw(st.integers(1, 4)), draw(st.integers(2, 8))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    kind = draw(st.sampled_from(["integers", "normal", "atom"]))
    X = rng.integers(-3, 4, (n, d)) / 2.0 if kind == "integers" else rng.normal(size=(n, d))
    if kind == "atom":
        X = np.where(rng.random((n, d)) < 0.3, 0.25, X)
    labels = rng.integers(0, k, n)
    if draw(st.booleans()):
        labels = np.where(rng.random(n) < 0.8, np.clip((X.sum(axis=1) + k / 2).astype(int), 0, k - 1), labels)
    labels[:k] = np.arange(k)
    weights = draw(st.sampled_from(["none", "whole", "real"]))
    weights = {"none": None, "whole": rng.integers(1, 5, n), "real": rng.random(n) + 0.01}[weights]
    given_to = {"criterion": draw(st.sampled_from(sorted(MEASURES))), "min_leaf": draw(st.integers(1, 4))} | fixed
    return Node(X, labels, weights, **given_to), rng


def draw_line(node, rng):
    size = len(node.columns)
    which = int(rng.integers(-1, size))
    direction = np.eye(size)[which] if which >= 0 else rng.normal(size=size)
    plane = rng.normal(size=size) if rng.random() < 0.7 else rng.integers(-1, 2, size).astype(float)
    return Line(plane, direction, which, 0.0, float(2.0 ** rng.integers(-4, 3)))


# ------------------------------------------------------------------------------------------------ scores and bounds


def left_at_edges(node, line, half):
    """Which examples are on the left of each edge, by the buckets in which they cross."""
    codes = naive.bucket_codes(*node.margins_and_rates(line), line.centre, line.scale, half)
    bucket, goes_down, stays = codes % (2 * half), codes >= 2 * half, codes >= 4 * half
    for edge in range(2 * half + 1):
        yield np.where(stays, codes == 4 * half, np.where(goes_down, bucket < edge, bucket >= edge))


@settings(max_examples=150, deadline=None)
@given(problem=nodes(), half=st.sampled_from([2, 4]), criterion=st.sampled_from([*sorted(MEASURES), own_gini]))
def test_scores_at_edges_are_the_measure_of_the_counts(problem, half, criterion):
    node, rng = problem
    measure = get_measure(criterion, node.k)
    judge, min_leaf = node.judge, node.judge.min_leaf
    judge = Judge(judge.sizes, judge.totals, judge.present, measure, *map(typed, measure.pointers()), min_leaf)
    lines = [draw_line(node, rng) for _ in range(2)]
    scores, bounds = judge.lines(node.count_lines(batched.packed(lines), half))
    assert scores.shape == (2, 2 * half + 1)
    assert bounds.shape == (2, 2 * half)
    for row, line in enumerate(lines):
        counts, weights = [], []
        for score, left in zip(scores[row], left_at_edges(node, line, half), strict=True):
            here, there = (naive.class_weights(node.labels, node.weights, side, node.k) for side in (left, ~left))
            counts.append(np.bincount(node.labels[left], minlength=node.k))
            weights.append(here)
            if min(left.sum(), (~left).sum()) < min_leaf:
                assert score == _kernels.NOTHING
            else:
                expected = naive.gain(criterion, here, there) if criterion in MEASURES else -own_gini(here, there)
                assert score == pytest.approx(expected, rel=1e-9, abs=1e-12)
        again = judge.sides(np.array(counts), np.array(weights))
        np.testing.assert_allclose(again, scores[row], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", sorted(MEASURES))
@settings(max_examples=60, deadline=None)
@given(data=st.data(), half=st.sampled_from([1, 3, 16]))
def test_no_position_inside_a_bucket_is_better_than_its_bound(name, data, half):
    node, rng = data.draw(nodes(criterion=name))
    line = draw_line(node, rng)
    _, bounds = node.judge.lines(node.count_lines(batched.packed([line]), half))
    margins, rates = node.margins_and_rates(line)
    bucket = naive.bucket_codes(margins, rates, line.centre, line.scale, half) % (2 * half)
    t = naive.crossings(margins, rates)
    for before, after, gain in node.positions(line, node.judge.min_leaf):
        # In the bucket of the crossing before it, in that of the one after it, and in the empty ones between them.
        ends = [bucket[t == end].min() if np.isfinite(end) else None for end in (before, after)]
        first, last = (own if own is not None else other for own, other in zip(ends, ends[::-1], strict=True))
        assert gain <= bounds[0, first] + 1e-9
        assert gain <= bounds[0, last] + 1e-9


def test_a_users_measure_knows_nothing_of_the_insides_of_buckets():
    rng = np.random.default_rng(0)
    node = Node(rng.normal(size=(40, 2)), rng.integers(0, 2, 40), criterion=own_gini)
    assert np.isinf(node.judge.lines(node.count_lines(batched.packed([draw_line(node, rng)]), 4))[1]).all()


def test_a_users_measure_sees_the_classes_in_their_places():
    # Of five classes the second and the fourth are here.
    def by_label(left, right):
        return 10.0 * left[1] + right[3] + len(left)

    measure = get_measure(by_label, 5)
    pointers = map(typed, measure.pointers())
    judge = Judge(np.array([6, 4]), np.array([6.0, 4.0]), np.array([1, 3]), measure, *pointers, 1, 5)
    assert judge.sides(np.array([[2, 1]]), np.array([[2.0, 1.0]]))[0] == -(10.0 * 2 + 3 + 5)


def test_the_tolerance_is_what_an_example_is_worth():
    for sizes in ([500, 500], [900, 100], [600, 300, 100]):
        labels = np.repeat(np.arange(len(sizes)), sizes)
        judge = Node(np.zeros((len(labels), 1)), labels).judge
        ideal = max(naive.gain("twoing", left, sizes - left) for left in np.array(sizes) * np.tri(len(sizes))[:-1])
        assert judge.tolerance == pytest.approx(ideal / 1000, rel=1e-9)


def test_the_tolerance_is_small_also_where_a_class_has_fewer_examples_than_a_leaf():
    labels = np.repeat([0, 1], [990, 10])
    few, more = (Node(np.zeros((1000, 1)), labels, min_leaf=least).judge.tolerance for least in (1, 50))
    assert 0.0 <= more <= few


# ------------------------------------------------------------------------------------------------ one line


def asked_in_rounds(node, lines, from_plane, salt=3):
    before = len(node.asked)
    found = answer([search_lines(lines, node.judge, salt, 0, from_plane)], node, node.judge.half)[0]
    return found, len(node.asked) - before


def missed_at_most(node, rounds):
    """By how much a position may be worse than the best one of its line."""
    # Three finer counts do not settle every line, above all with so few buckets: nothing is promised then.
    return node.judge.tolerance + 1e-9 if rounds <= batched.ZOOMS else np.inf


def looked_at(node, line, positions):
    """Those positions that are not in the two outermost buckets, which have no end and are not looked into."""
    edges = line.edges(node.judge.half)
    return [gain for before, after, gain in positions if after > edges[1] and before < edges[-2]]


@pytest.mark.parametrize("half", [4, 64])
@settings(max_examples=100, deadline=None)
@given(problem=nodes(most=200))
def test_the_best_position_of_a_line_is_found_within_the_tolerance(half, problem):
    node, rng = problem
    node.judge.half = half
    line = draw_line(node, rng)
    (found,), rounds = asked_in_rounds(node, [line], from_plane=False)
    gains = node.positions(line, node.judge.min_leaf)
    event(f"{rounds} rounds")
    if found.score == _kernels.NOTHING:
        assert rounds > batched.ZOOMS or not looked_at(node, line, gains)
        return
    assert max(gain for *_, gain in gains) >= found.score - 1e-9
    best = max(looked_at(node, line, gains), default=found.score)
    assert found.score >= best - missed_at_most(node, rounds)


def test_a_line_that_finer_counts_do_not_settle_misses_few_examples():
    rounds = []
    for seed in range(3):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(2000, 3))
        labels = np.clip(X.sum(axis=1) + 2.5 + rng.normal(size=2000), 0, 4).astype(int)
        node = Node(X, labels)
        line = node.sketch.line(np.array([1.0, 0.8, 1.2, 0.1]), np.eye(4)[1], 1)
        (found,), n_rounds = asked_in_rounds(node, [line], from_plane=False)
        rounds.append(n_rounds)
        assert found.score >= max(looked_at(node, line, node.positions(line))) - 15 * node.judge.tolerance
    assert max(rounds) == batched.ZOOMS + 1


@settings(max_examples=60, deadline=None)
@given(problem=nodes(most=200))
def test_the_best_of_several_lines_is_found_within_the_tolerance(problem):
    node, rng = problem
    node.judge.half = 8
    lines = [draw_line(node, rng) for _ in range(3)]
    found, rounds = asked_in_rounds(node, lines, from_plane=False)
    best = [gain for line in lines for gain in looked_at(node, line, node.positions(line, node.judge.min_leaf))]
    if best and max(one.score for one in found) > _kernels.NOTHING:
        assert max(one.score for one in found) >= max(best) - missed_at_most(node, rounds)


@settings(max_examples=100, deadline=None)
@given(problem=nodes(most=200))
def test_what_is_left_unmoved_cannot_be_improved_by_more_than_the_tolerance(problem):
    node, rng = problem
    node.judge.half = 8
    plane, judge = rng.normal(size=len(node.columns)), node.judge
    for _ in range(30):
        line = node.sketch.line(plane, np.eye(len(plane))[0], 0)
        (found,), rounds = asked_in_rounds(node, [line], from_plane=True)
        if not found.improves:
            break
        assert found.score > found.current + judge.tolerance
        plane = plane + found.alpha * line.direction
    else:
        raise AssertionError("it keeps moving")
    if found.current == _kernels.NOTHING:
        return
    assert found.current == pytest.approx(node.gain_of(plane), rel=1e-9, abs=1e-12)
    best = max(looked_at(node, line, node.positions(line, judge.min_leaf)), default=found.current)
    # Once for a better position that is not worth a move, once more for what is better than that.
    assert best <= found.current + 2 * missed_at_most(node, rounds)


@settings(max_examples=100, deadline=None)
@given(problem=nodes(most=200))
def test_the_step_leads_to_the_position_that_was_scored(problem):
    node, rng = problem
    node.judge.half = 16
    line = draw_line(node, rng)
    (found,), _ = asked_in_rounds(node, [line], from_plane=False)
    if found.score > _kernels.NOTHING:
        reached = node.gain_of(line.plane + found.alpha * line.direction)
        # Float32: an example right at the edge of a bucket may be on either side.
        assert reached == pytest.approx(found.score, rel=1e-9, abs=4 * node.judge.tolerance + 1e-9)


def test_later_lines_are_not_looked_into_when_one_is_better():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(3000, 3))
    node = Node(X, (X[:, 0] + 0.2 * X[:, 1] > 0).astype(int))
    plane = np.array([1.0, 0.0, 0.0, 0.5])
    lines = [node.sketch.line(plane, np.eye(4)[m], m) for m in (3, 1, 2)]
    found, rounds = asked_in_rounds(node, lines, from_plane=True)
    assert found[0].improves
    assert rounds == 1
    assert node.asked == [3]


@settings(max_examples=60, deadline=None)
@given(problem=nodes(most=200))
def test_the_best_attribute_is_as_pure_as_any_within_the_tolerance(problem):
    node, _ = problem
    d = len(node.columns) - 1
    score, attribute, threshold, side = best_attribute(
        node, node.judge, node.sketch, [(m, 0) for m in range(d)], seed=5
    )  # fmt: skip
    lines = [node.sketch.attribute(m, 0) for m in range(d)]
    gains = [gain for line in lines for gain in looked_at(node, line, node.positions(line, node.judge.min_leaf))]
    if attribute < 0:
        assert not gains
        return
    assert side == 0
    assert score >= max(gains, default=score) - missed_at_most(node, len(node.asked))
    plane = np.zeros(d + 1)
    plane[attribute], plane[-1] = 1.0, -threshold
    assert node.gain_of(plane) == pytest.approx(score, rel=1e-9, abs=1e-9)


# ------------------------------------------------------------------------------------------------ runs


def stripes(n=900, **how):
    rng = np.random.default_rng(7)
    X = rng.normal(size=(n, 4))
    labels = np.clip(np.floor(X @ [1.0, -1.0, 0.5, 0.0] + 0.3 * rng.normal(size=n) + 1.5), 0, 2).astype(int)
    return Node(X, labels, **how)


def climbed(node, order="sequential", at_once=2, room=8, n_jumps=3, numbers=range(5)):
    """Climb from some random planes, all together; return where each run ended."""
    how = Climbing(ORDERS[order], 12, n_jumps, at_once, room)
    starts = {i: np.random.default_rng(i).normal(size=5) for i in numbers}
    runs = [climb(start, node.judge, node.sketch, how, i + 1) for i, start in starts.items()]
    return dict(zip(starts, answer(runs, node, node.judge.half), strict=True))


def assert_same(one, other):
    assert one.keys() == other.keys()
    for number, run in one.items():
        np.testing.assert_array_equal(run.plane, other[number].plane)
        assert run.considered == other[number].considered


@pytest.mark.parametrize("half", [4, 64])
@pytest.mark.parametrize("order", sorted(ORDERS))
def test_a_climb_does_not_depend_on_how_much_is_asked_at_once(order, half, monkeypatch):
    monkeypatch.setattr(batched, "LEAST_HALF", half)
    monkeypatch.setattr(batched, "MOST_HALF", half)
    one_by_one = climbed(stripes(), order, at_once=1, room=1)
    for at_once, room in ((1, 2), (2, 3), (3, 3), (4, 100)):
        assert_same(climbed(stripes(), order, at_once=at_once, room=room), one_by_one)


@pytest.mark.parametrize("order", sorted(ORDERS))
@pytest.mark.parametrize("cuts", [(450,), (0, 1, 2, 300, 300, 899), tuple(range(50, 900, 50))], ids=len)
def test_a_climb_does_not_depend_on_how_the_examples_are_divided(order, cuts):
    weights = np.random.default_rng(0).integers(1, 4, 900)
    assert_same(climbed(stripes(weights=weights, cuts=cuts), order), climbed(stripes(weights=weights), order))


@pytest.mark.parametrize("order", sorted(ORDERS))
def test_a_climb_does_not_depend_on_the_other_runs(order):
    together = climbed(stripes(), order)
    assert_same(dict(sorted(climbed(stripes(), order, numbers=[4, 2, 0, 3, 1]).items())), together)
    alone = {number: climbed(stripes(), order, numbers=[number])[number] for number in range(5)}
    assert_same(alone, together)


@pytest.mark.parametrize("criterion", [*sorted(MEASURES), own_gini], ids=lambda c: c if isinstance(c, str) else "own")
@pytest.mark.parametrize("order", sorted(ORDERS))
def test_climbing_makes_planes_purer_until_no_coefficient_helps(criterion, order):
    node = stripes(300, criterion=criterion)
    runs = climbed(node, order, n_jumps=0)
    for number, run in runs.items():
        start = np.random.default_rng(number).normal(size=5)
        planes = np.array([start, run.plane])
        first, last = node.judge.sides(*node.count_sides(planes, np.zeros(2, int)))
        assert last >= first - 1e-12
        if criterion in MEASURES and order != "random":
            for m, unit in enumerate(np.eye(5)):
                line = node.sketch.line(run.plane, unit, m)
                (found,), rounds = asked_in_rounds(node, [line], from_plane=True)
                best = max(looked_at(node, line, node.positions(line)))
                assert not found.improves
                assert best <= last + 2 * missed_at_most(node, rounds)


def test_jumps_help():
    without, with_jumps = (climbed(stripes(), n_jumps=n, numbers=range(8)) for n in (0, 5))
    node = stripes()
    scores = [
        node.judge.sides(*node.count_sides(np.array([run.plane for run in runs.values()]), np.zeros(8, int)))
        for runs in (without, with_jumps)
    ]
    assert (scores[1] >= scores[0]).all()
    assert (scores[1] > scores[0]).any()


@pytest.mark.parametrize("order", sorted(ORDERS))
def test_a_round_is_one_question_for_all_runs(order):
    together = stripes()
    climbed(together, order)
    alone = []
    for number in range(5):
        node = stripes()
        climbed(node, order, numbers=[number])
        alone.append(node.asked)
    assert len(together.asked) == max(map(len, alone))
    for i, n_lines in enumerate(together.asked):
        assert n_lines == sum(asked[i] for asked in alone if i < len(asked))


def test_more_is_asked_for_the_longer_nothing_moves():
    node = stripes()
    end = climbed(node, numbers=[0], n_jumps=0)[0].plane
    node = stripes()
    how = Climbing(_kernels.SEQUENTIAL, 0, 0, 1, 100)
    answer([climb(end, node.judge, node.sketch, how, 1)], node, 2048)  # fine buckets: no line is counted twice
    assert node.asked == [1, 2, 2]


def test_a_run_that_separates_the_classes_stops():
    X = np.array([[-2.0, 0.0], [-1.0, 1.0], [1.0, 0.5], [2.0, 0.1]] * 20)
    node = Node(X, (X[:, 0] > 0).astype(int))
    how = Climbing(_kernels.SEQUENTIAL, 0, 5, 1, 4)
    (run,) = answer([climb(np.array([1.0, 0.0, 0.0]), node.judge, node.sketch, how, 1)], node, node.judge.half)
    np.testing.assert_array_equal(run.plane, [1.0, 0.0, 0.0])
    assert node.asked == [1]


# ------------------------------------------------------------------------------------------------ whole trees


@pytest.fixture
def fit(monkeypatch):
    """Return a function that fits a tree whose nodes count as large from so many examples on."""

    def fit(X, y, large=400, sampled=150, sample_weight=None, **options):
        monkeypatch.setattr(OC1Classifier, "_large", large)
        monkeypatch.setattr(scaling, "MAX_SAMPLED_ROWS", sampled)
        monkeypatch.setattr(sampling, "MAX_RANKED_EXAMPLES", large)
        return OC1Classifier(**{"n_restarts": 5, "random_state": 0} | options).fit(X, y, sample_weight=sample_weight)

    return fit


def assert_same_tree(one, other):
    assert one.tree_.n_nodes > 1
    for name in ("children", "terms", "features", "coefficients", "thresholds", "counts", "gains", "missing"):
        np.testing.assert_array_equal(getattr(one.tree_, name), getattr(other.tree_, name))


def three_classes(n=1200, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, np.clip(np.floor(X @ [1.0, -0.7, 0.2] + 0.2 * rng.normal(size=n) + 1.5), 0, 2).astype(int)


@pytest.mark.parametrize("prune", ["auto", "holdout", None], ids=str)
@pytest.mark.parametrize("weighted", [False, True], ids=["alike", "weighted"])
@pytest.mark.parametrize("splits", ["axis", "best"])
def test_trees_of_large_nodes_do_not_depend_on_threads(fit, prune, weighted, splits):
    X, y = three_classes()
    weights = np.random.default_rng(1).random(len(y)) + 0.1 if weighted else None
    options = {"prune": prune, "splits": splits, "max_depth": 4, "sample_weight": weights}
    one, *others = (fit(X, y, n_jobs=n_jobs, **options) for n_jobs in (1, 2, 3))
    for other in others:
        assert_same_tree(one, other)


@pytest.mark.parametrize("make", [make_ls10, make_pol, make_rcb])
@pytest.mark.parametrize("prune", ["auto", None], ids=str)
def test_trees_of_large_nodes_are_as_accurate(fit, make, prune):
    X, y = make(3000, random_state=0)
    unseen = make(5000, random_state=1)
    scores = [fit(X, y, large=large, sampled=600, prune=prune).score(*unseen) for large in (1000, 10**9)]
    assert scores[0] > scores[1] - 0.01


@pytest.mark.parametrize("prune", ["auto", None], ids=str)
@pytest.mark.parametrize(
    "options",
    [
        *({"criterion": name} for name in sorted(MEASURES)),
        {"criterion": own_gini},
        {"order": "best"},
        {"order": "random"},
        {"max_terms": 2},
        {"axis_bias": 1.5},
        {"splits": "axis"},
        {"splits": "oblique"},
        {"n_restarts": 0},
        {"n_jumps": 0},
        {"min_samples_leaf": 60},
        {"max_leaf_nodes": 6},
        {"normalize": "positive"},
    ],
    ids=lambda options: "-".join(f"{k}={v if isinstance(v, (str, int, float)) else 'own'}" for k, v in options.items()),
)
def test_all_options_do_in_large_nodes_what_they_do_in_small_ones(fit, options, prune):
    X, y = three_classes()
    unseen = three_classes(3000, seed=1)
    options = {"prune": prune, "max_depth": 4} | options
    large, small = (fit(X, y, large=n, **options) for n in (400, 10**9))
    assert large.score(*unseen) > small.score(*unseen) - 0.03
    # What the tree says of its nodes is true.
    nodes = large.unpruned_tree_
    paths = large.decision_path(X).toarray().astype(bool)
    for node in range(large.tree_.n_nodes):
        here = np.bincount(y[paths[:, node]], minlength=3)
        np.testing.assert_array_equal(large.tree_.counts[node], here)
        if nodes.n_nodes == large.tree_.n_nodes and not nodes.is_leaf[node] and options.get("criterion") in MEASURES:
            left, right = (np.bincount(y[paths[:, child]], minlength=3) for child in nodes.children[node])
            assert nodes.gains[node] == pytest.approx(naive.gain(options["criterion"], left, right), rel=1e-6)
    if "max_terms" in options:
        assert np.diff(large.tree_.terms).max() == options["max_terms"]
    if "min_samples_leaf" in options:
        assert large.tree_.counts.sum(axis=1).min() >= options["min_samples_leaf"]
    if options.get("splits") == "axis":
        assert np.diff(large.tree_.terms).max() == 1


@pytest.mark.parametrize("splits", ["axis", "best"])
def test_missing_values_of_large_nodes_get_their_direction(fit, splits):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1500, 3))
    y = (X[:, 0] > 0.3).astype(int)
    X[(y == 1) & (rng.random(1500) < 0.4), 0] = np.nan  # only the second class has holes: they belong on its side
    X[rng.random(1500) < 0.1, 1] = np.nan
    options = {"splits": splits, "missing": "direction", "prune": None}
    one, two = (fit(X, y, n_jobs=n_jobs, **options) for n_jobs in (1, 2))
    assert_same_tree(one, two)
    assert one.tree_.n_nodes == 3
    assert one.tree_.missing[0] == 1
    assert one.score(X, y) == 1.0


def test_a_large_node_may_ask_whether_a_value_is_missing(fit):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1000, 2))
    y = rng.integers(0, 2, 1000)
    X[y == 1, 0] = np.nan
    clf = fit(X, y, splits="axis", missing="direction", prune=None)
    assert clf.tree_.n_nodes == 3
    assert clf.score(X, y) == 1.0


def test_an_atom_beside_other_values_is_not_torn_away(fit):
    # Most values of the only attribute are one number; those just below belong with it, all above do not.
    for seed in range(10):
        rng = np.random.default_rng(seed)
        atom = rng.normal()
        away = rng.exponential(size=2000) * np.where(rng.random(2000) < 0.15, -1.0, 1.0)
        x = np.where(rng.random(2000) < 0.6, atom, atom + away)
        y = (x > atom).astype(int)
        clf = fit(x[:, None], y, splits="axis", prune=None)
        assert clf.score(x[:, None], y) > 0.999


def test_an_example_of_weight_two_is_as_good_as_two(fit):
    X, y = three_classes()
    weighted = fit(X, y, prune=None, max_depth=2, sample_weight=np.full(len(y), 2.0))
    twice = fit(np.repeat(X, 2, axis=0), np.repeat(y, 2), prune=None, max_depth=2)
    # Samples and buckets go by the number of rows: the trees are as pure, not the same.
    np.testing.assert_array_equal(weighted.tree_.counts[0], twice.tree_.counts[0])
    assert weighted.tree_.gains[0] == pytest.approx(twice.tree_.gains[0], rel=0.01)


@pytest.mark.parametrize("prune", ["auto", None], ids=str)
def test_a_borrowed_array_gives_the_tree_of_a_copied_one(fit, monkeypatch, prune):
    X, y = three_classes(2500)
    X = np.asfortranarray(X, dtype=np.float32)
    copied = fit(X, y, prune=prune, max_depth=5)
    monkeypatch.setattr(grower, "BORROWED", 0)
    for n_jobs in (1, 2):
        assert_same_tree(fit(X, y, prune=prune, max_depth=5, n_jobs=n_jobs), copied)


def test_a_class_absent_from_a_large_node_is_no_trouble_for_a_users_measure(fit):
    def costs(left, right):
        price = np.array([1.0, 2.0, 3.0, 4.0, 5.0])
        a, b = left * price, right * price
        return a.sum() - a.max() + b.sum() - b.max()

    rng = np.random.default_rng(0)
    X = rng.normal(size=(2500, 2))
    y = np.clip(np.floor(X[:, 0] + 0.5 * X[:, 1] + 2.5), 0, 4).astype(int)
    trees = [fit(X, y, large=large, prune=None, criterion=costs, max_depth=3) for large in (400, 10**9)]
    assert trees[0].score(X, y) > trees[1].score(X, y) - 0.02
