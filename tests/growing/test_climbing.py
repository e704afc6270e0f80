"""The hill climb in rounds: what its result must not depend on, and that it climbs."""

from types import SimpleNamespace

import numpy as np
import pytest
from counted_node import Node, asked_in_rounds, looked_at, missed_at_most, nodes, own_gini
from hypothesis import given, settings

from oc1.growing import rounds
from oc1.growing.calls import count_sides
from oc1.growing.climbing import Climbing, best_attribute, climb
from oc1.growing.rounds import answer
from oc1.impurity import MEASURES
from oc1.kernels import layout


def climbing(order, n_perturbations, n_jumps, n_lines, max_lines):
    """How runs climb, by the only settings that they look at."""
    settings = SimpleNamespace(order=order, n_perturbations=n_perturbations, n_jumps=n_jumps)
    return Climbing(settings, n_lines, max_lines)


ORDERS = {"sequential": layout.SEQUENTIAL, "best": layout.BEST, "random": layout.RANDOM}


@settings(max_examples=60, deadline=None)
@given(problem=nodes(most=200))
def test_the_best_attribute_is_as_pure_as_any_within_the_tolerance(problem):
    node, _ = problem
    d = len(node.columns) - 1
    score, attribute, threshold, side = best_attribute(
        node, node.scorer, node.sketch, [(m, 0) for m in range(d)], seed=5
    )  # fmt: skip
    lines = [node.sketch.attribute(m, 0) for m in range(d)]
    gains = [gain for line in lines for gain in looked_at(node, line, node.positions(line, node.min_leaf))]
    if attribute < 0:
        assert not gains
        return
    assert side == 0
    assert score >= max(gains, default=score) - missed_at_most(node, len(node.asked))
    plane = np.zeros(d + 1)
    plane[attribute], plane[-1] = 1.0, -threshold
    assert node.gain_of(plane) == pytest.approx(score, rel=1e-9, abs=1e-9)


def stripes(n=900, **how):
    rng = np.random.default_rng(7)
    X = rng.normal(size=(n, 4))
    labels = np.clip(np.floor(X @ [1.0, -1.0, 0.5, 0.0] + 0.3 * rng.normal(size=n) + 1.5), 0, 2).astype(int)
    return Node(X, labels, **how)


def climbed(node, order="sequential", n_lines=2, max_lines=8, n_jumps=3, numbers=range(5)):
    """Climb from some random planes, all together; return where each run ended."""
    how = climbing(ORDERS[order], 12, n_jumps, n_lines, max_lines)
    starts = {i: np.random.default_rng(i).normal(size=5) for i in numbers}
    runs = [climb(start, node.scorer, node.sketch, how, i + 1) for i, start in starts.items()]
    return dict(zip(starts, answer(runs, node, node.scorer.half), strict=True))


def assert_same(one, other):
    assert one.keys() == other.keys()
    for number, run in one.items():
        np.testing.assert_array_equal(run.plane, other[number].plane)
        assert run.considered == other[number].considered


@pytest.mark.parametrize("half", [4, 64])
@pytest.mark.parametrize("order", sorted(ORDERS))
def test_a_climb_does_not_depend_on_how_much_is_asked_at_once(order, half, monkeypatch):
    monkeypatch.setattr(rounds, "MIN_HALF", half)
    monkeypatch.setattr(rounds, "MAX_HALF", half)
    one_by_one = climbed(stripes(), order, n_lines=1, max_lines=1)
    for n_lines, max_lines in ((1, 2), (2, 3), (3, 3), (4, 100)):
        assert_same(climbed(stripes(), order, n_lines=n_lines, max_lines=max_lines), one_by_one)


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
        first, last = node.scorer.sides(*count_sides(node, planes))
        assert last >= first - 1e-12
        if criterion in MEASURES and order != "random":
            for m, unit in enumerate(np.eye(5)):
                line = node.sketch.line(run.plane, unit, m)
                (found,), n_rounds = asked_in_rounds(node, [line], from_plane=True)
                best = max(looked_at(node, line, node.positions(line)))
                assert not found.improves
                assert best <= last + 2 * missed_at_most(node, n_rounds)


def test_jumps_help():
    without, with_jumps = (climbed(stripes(), n_jumps=n, numbers=range(8)) for n in (0, 5))
    node = stripes()
    scores = [
        node.scorer.sides(*count_sides(node, np.array([run.plane for run in runs.values()])))
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
    how = climbing(layout.SEQUENTIAL, 0, 0, 1, 100)
    answer([climb(end, node.scorer, node.sketch, how, 1)], node, 2048)  # fine buckets: no line is counted twice
    assert node.asked == [1, 2, 2]


def test_a_run_that_separates_the_classes_stops():
    X = np.array([[-2.0, 0.0], [-1.0, 1.0], [1.0, 0.5], [2.0, 0.1]] * 20)
    node = Node(X, (X[:, 0] > 0).astype(int))
    how = climbing(layout.SEQUENTIAL, 0, 5, 1, 4)
    (run,) = answer([climb(np.array([1.0, 0.0, 0.0]), node.scorer, node.sketch, how, 1)], node, node.scorer.half)
    np.testing.assert_array_equal(run.plane, [1.0, 0.0, 0.0])
    assert node.asked == [1]
