"""Questions in rounds: how buckets are scored, and how good the position is that is found on a line."""

import naive
import numpy as np
import pytest
from counted_node import Node, asked_in_rounds, draw_line, looked_at, missed_at_most, nodes, own_gini
from hypothesis import event, given, settings
from hypothesis import strategies as st

from oc1.growing.rounds import MAX_ZOOMS, Line, Scorer, packed
from oc1.impurity import MEASURES, get_measure
from oc1.kernels import layout

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
    scorer, min_leaf = node.scorer, node.min_leaf
    scorer = Scorer(scorer.sizes, scorer.totals, np.arange(node.k), measure, min_leaf)
    lines = [draw_line(node, rng) for _ in range(2)]
    scores, bounds = scorer.lines(node.count_lines(packed(lines), half))
    assert scores.shape == (2, 2 * half + 1)
    assert bounds.shape == (2, 2 * half)
    for row, line in enumerate(lines):
        counts, weights = [], []
        for score, left in zip(scores[row], left_at_edges(node, line, half), strict=True):
            here, there = (naive.class_weights(node.labels, node.weights, side, node.k) for side in (left, ~left))
            counts.append(np.bincount(node.labels[left], minlength=node.k))
            weights.append(here)
            if min(left.sum(), (~left).sum()) < min_leaf:
                assert score == layout.NO_SPLIT
            else:
                expected = naive.gain(criterion, here, there) if criterion in MEASURES else -own_gini(here, there)
                assert score == pytest.approx(expected, rel=1e-9, abs=1e-12)
        again = scorer.sides(np.array(counts), np.array(weights))
        np.testing.assert_allclose(again, scores[row], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", sorted(MEASURES))
@settings(max_examples=60, deadline=None)
@given(data=st.data(), half=st.sampled_from([1, 3, 16]))
def test_no_position_inside_a_bucket_is_better_than_its_bound(name, data, half):
    node, rng = data.draw(nodes(criterion=name))
    line = draw_line(node, rng)
    _, bounds = node.scorer.lines(node.count_lines(packed([line]), half))
    margins, rates = node.margins_and_rates(line)
    bucket = naive.bucket_codes(margins, rates, line.centre, line.scale, half) % (2 * half)
    t = naive.crossings(margins, rates)
    for before, after, gain in node.positions(line, node.min_leaf):
        # In the bucket of the crossing before it, in that of the one after it, and in the empty ones between them.
        ends = [bucket[t == end].min() if np.isfinite(end) else None for end in (before, after)]
        first, last = (own if own is not None else other for own, other in zip(ends, ends[::-1], strict=True))
        assert gain <= bounds[0, first] + 1e-9
        assert gain <= bounds[0, last] + 1e-9


def test_a_users_measure_knows_nothing_of_the_insides_of_buckets():
    rng = np.random.default_rng(0)
    node = Node(rng.normal(size=(40, 2)), rng.integers(0, 2, 40), criterion=own_gini)
    assert np.isinf(node.scorer.lines(node.count_lines(packed([draw_line(node, rng)]), 4))[1]).all()


def test_a_users_measure_sees_the_classes_in_their_places():
    # Of five classes the second and the fourth are here.
    def by_label(left, right):
        return 10.0 * left[1] + right[3] + len(left)

    measure = get_measure(by_label, 5)
    scorer = Scorer(np.array([6, 4]), np.array([6.0, 4.0]), np.array([1, 3]), measure, 1, 5)
    assert scorer.sides(np.array([[2, 1]]), np.array([[2.0, 1.0]]))[0] == -(10.0 * 2 + 3 + 5)


def test_the_tolerance_is_what_an_example_is_worth():
    for sizes in ([500, 500], [900, 100], [600, 300, 100]):
        labels = np.repeat(np.arange(len(sizes)), sizes)
        scorer = Node(np.zeros((len(labels), 1)), labels).scorer
        ideal = max(naive.gain("twoing", left, sizes - left) for left in np.array(sizes) * np.tri(len(sizes))[:-1])
        assert scorer.tolerance == pytest.approx(ideal / 1000, rel=1e-9)


def test_the_tolerance_is_small_also_where_a_class_has_fewer_examples_than_a_leaf():
    labels = np.repeat([0, 1], [990, 10])
    few, more = (Node(np.zeros((1000, 1)), labels, min_leaf=least).scorer.tolerance for least in (1, 50))
    assert 0.0 <= more <= few


# ------------------------------------------------------------------------------------------------ one line


@pytest.mark.parametrize("half", [4, 64])
@settings(max_examples=100, deadline=None)
@given(problem=nodes(most=200))
def test_the_best_position_of_a_line_is_found_within_the_tolerance(half, problem):
    node, rng = problem
    node.scorer.half = half
    line = draw_line(node, rng)
    (found,), n_rounds = asked_in_rounds(node, [line])
    gains = node.positions(line, node.min_leaf)
    event(f"{n_rounds} rounds")
    if found.score == layout.NO_SPLIT:
        assert n_rounds > MAX_ZOOMS or not looked_at(node, line, gains)
        return
    assert max(gain for *_, gain in gains) >= found.score - 1e-9
    best = max(looked_at(node, line, gains), default=found.score)
    assert found.score >= best - missed_at_most(node, n_rounds)


def test_a_line_that_finer_counts_do_not_settle_misses_few_examples():
    needed = []
    for seed in range(3):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(2000, 3))
        labels = np.clip(X.sum(axis=1) + 2.5 + rng.normal(size=2000), 0, 4).astype(int)
        node = Node(X, labels)
        line = Line(np.array([1.0, 0.8, 1.2, 0.1]), np.eye(4)[1], 1, 0.0, 2.0**-5)
        (found,), n_rounds = asked_in_rounds(node, [line])
        needed.append(n_rounds)
        assert found.score >= max(looked_at(node, line, node.positions(line))) - 15 * node.scorer.tolerance
    assert max(needed) == MAX_ZOOMS + 1


@settings(max_examples=60, deadline=None)
@given(problem=nodes(most=200))
def test_the_best_of_several_lines_is_found_within_the_tolerance(problem):
    node, rng = problem
    node.scorer.half = 8
    lines = [draw_line(node, rng) for _ in range(3)]
    found, n_rounds = asked_in_rounds(node, lines)
    best = [gain for line in lines for gain in looked_at(node, line, node.positions(line, node.min_leaf))]
    if best and max(one.score for one in found) > layout.NO_SPLIT:
        assert max(one.score for one in found) >= max(best) - missed_at_most(node, n_rounds)


@settings(max_examples=100, deadline=None)
@given(problem=nodes(most=200))
def test_the_step_leads_to_the_position_that_was_scored(problem):
    node, rng = problem
    node.scorer.half = 16
    line = draw_line(node, rng)
    (found,), _ = asked_in_rounds(node, [line])
    if found.score > layout.NO_SPLIT:
        reached = node.gain_of(line.plane + found.alpha * line.direction)
        # Float32: an example right at the edge of a bucket may be on either side.
        assert reached == pytest.approx(found.score, rel=1e-9, abs=4 * node.scorer.tolerance + 1e-9)
