"""Focused samples: what they say of a plane, and that climbing on them makes planes of large nodes purer."""

import naive
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oc1 import OC1Classifier
from oc1.data import search_space
from oc1.growing import focus, large_nodes
from oc1.growing.engines import LocalEngine
from oc1.growing.focus import Focus, Questions
from oc1.growing.nodes import PendingNode
from oc1.growing.options import GrowthOptions, TreeSetup
from oc1.impurity import get_measure


def engine_of(X, y, weights=None, n_jobs=1):
    options = GrowthOptions(measure=get_measure("twoing", int(y.max()) + 1), n_jobs=n_jobs)
    setup = TreeSetup(options, np.zeros(X.shape[1]), int(y.max()) + 1)
    return LocalEngine(X, y, weights, np.arange(len(y)), setup)


@st.composite
def problems(draw):
    """A node, a plane of its search space, and how many examples are to be sampled and near."""
    n, d, k = draw(st.integers(30, 400)), draw(st.integers(1, 4)), draw(st.integers(2, 4))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    X = rng.normal(size=(n, d)) if draw(st.booleans()) else rng.integers(-2, 3, (n, d)).astype(float)
    y = rng.integers(0, k, n)
    y[:k] = np.arange(k)
    weights = rng.random(n) + 0.1 if draw(st.booleans()) else None
    plane = rng.normal(size=d + 1)
    return X, y, weights, plane, draw(st.integers(10, 60)), draw(st.integers(1, 50))


def left_of(examples, plane):
    return ~(naive.combined(examples.arrays.columns, plane.astype(np.float32)) > 0)


@settings(max_examples=80, deadline=None)
@given(problems(), st.integers(1, 3))
def test_near_examples_are_all_within_the_width_and_the_left_is_counted(problem, n_jobs):
    X, y, weights, plane, _, _ = problem
    engine = engine_of(X, y, weights, n_jobs)
    root, planes = engine.root(), np.array([plane, -plane], dtype=np.float32)
    margins = naive.combined(root.arrays.columns, planes[0])
    width = np.float32(np.median(np.abs(margins)))
    answers = root.near(Questions(planes, np.array([width, -1.0], np.float32)))
    for answer, sign, own in zip(answers, (1, -1), (width, -1), strict=True):
        np.testing.assert_array_equal(answer.examples.rows, root.rows[np.abs(margins) <= own])
        left = ~(sign * margins > 0)
        labels, given = root.labels, np.ones(len(y)) if weights is None else root.weights
        np.testing.assert_array_equal(answer.counts, np.bincount(labels[left], minlength=y.max() + 1))
        np.testing.assert_allclose(answer.sums, np.bincount(labels[left], given[left], y.max() + 1))


@settings(max_examples=80, deadline=None)
@given(problems())
def test_a_focused_sample_says_of_its_plane_what_all_examples_say(problem):
    X, y, weights, plane, n_sampled, n_near = problem
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(search_space, "MAX_SAMPLED_ROWS", n_sampled)
        patch.setattr(focus, "N_NEAR", n_near)
        root = engine_of(X, y, weights).root()
        node = PendingNode.root(root, 0)
        looked = Focus(node, root.sample())
        (nearby,) = looked.ask(plane[None], with_examples=True)
        sample = looked.focused(plane, nearby, 3)
    own, all_left = sample.examples, left_of(root, plane)
    given = np.ones(len(y)) if weights is None else root.weights
    there = np.zeros((2, y.max() + 1))
    np.add.at(there, ((~left_of(own, plane)).astype(int), own.labels), own.weights)
    for side, chosen in enumerate((all_left, ~all_left)):
        for label in range(y.max() + 1):
            is_sampled = ((left_of(own, plane) == (side == 0)) & (own.labels == label)).any()
            expected = given[chosen & (root.labels == label)].sum()
            # Where nobody far away was sampled, nobody stands for those far away.
            assert there[side, label] <= expected * (1 + 1e-9)
            if is_sampled and nearby.examples.size == 0:
                assert there[side, label] == pytest.approx(expected)
    np.testing.assert_array_equal(own.labels, np.sort(own.labels))


def test_examples_near_a_plane_are_all_there_and_weigh_what_they_weigh():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(5000, 3))
    y, plane = (X[:, 0] > 0).astype(int), np.array([1.0, 0.2, 0.0, 0.1])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(search_space, "MAX_SAMPLED_ROWS", 500)
        patch.setattr(focus, "N_NEAR", 400)
        root = engine_of(X, y).root()
        looked = Focus(PendingNode.root(root, 0), root.sample())
        (nearby,) = looked.ask(plane[None], with_examples=True)
        own = looked.focused(plane, nearby, 0).examples
    assert 200 < nearby.examples.size < 800
    margins = np.abs(naive.combined(own.arrays.columns, plane.astype(np.float32)))
    near = margins <= np.abs(naive.combined(nearby.examples.arrays.columns, plane.astype(np.float32))).max()
    assert near.sum() == nearby.examples.size
    np.testing.assert_array_equal(own.weights[near], 1.0)
    assert own.weights.sum() == pytest.approx(5000)
    assert own.weights[~near].min() > 5.0


@pytest.mark.parametrize("seed", range(3))
def test_going_on_finds_what_a_sample_cannot_see(seed, monkeypatch):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(20_000, 4))
    y = (X @ [1.0, -0.8, 0.6, 0.3] > 0.2).astype(int)
    monkeypatch.setattr(search_space, "MAX_SAMPLED_ROWS", 300)
    monkeypatch.setattr(focus, "N_NEAR", 1500)
    monkeypatch.setattr(OC1Classifier, "_large", 10_000)
    errors = []
    for max_steps in (0, large_nodes.MAX_STEPS):
        monkeypatch.setattr(large_nodes, "MAX_STEPS", max_steps)
        clf = OC1Classifier(prune=None, max_depth=1, random_state=0).fit(X, y)
        errors.append(1.0 - clf.score(X, y))
    assert errors[1] < 0.2 * errors[0]
    assert errors[1] < 0.002
