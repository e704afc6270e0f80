"""The search of a node makes the moves of the slow one: every perturbation, every jump, every start."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive import node_search as slow
from pairwise import pairwise
from sklearn.datasets import load_iris

from oc1.growing.options import PAPER_RULES, GrowthOptions, SearchRules
from oc1.impurity import MEASURES
from oc1.kernels import layout
from oc1.kernels.line_search import compiled_line_search
from oc1.kernels.node_search import compiled_search, search_node
from oc1.kernels.records import Criterion, Examples, Settings, Workspace

ORDERS = {"sequential": layout.SEQUENTIAL, "best": layout.BEST, "random": layout.RANDOM}


def fast_search(columns, labels, weights, name, min_leaf, min_weight, seed, n_runs, order, **own):
    """Return the axis-parallel split and the moves, as the slow search does."""
    d, k = len(columns) - 1, int(labels.max()) + 1
    counts = np.bincount(labels, weights, minlength=k)
    plain = weights if (weights != 1).any() else np.empty(0)
    work = Workspace.make(len(labels), k, d, n_runs, 20_000)
    how = Settings(
        min_leaf=min_leaf,
        min_weight=min_weight,
        axis=True,
        min_oblique=0,
        n_runs=n_runs,
        order=ORDERS[order],
        min_rows_to_meet=250,
        axis_bias=1.0,
        max_depth=99,
        min_split=2,
        min_decrease=0.0,
        max_errors=-1.0,
        total=counts.sum(),
        max_terms=d,
        two_stages=10**9,
        axis_starts=1,
        n_given=0,
        **own,
    )
    with np.errstate(all="ignore"):
        axis = search_node(
            Examples.of_columns(columns, labels, plain),
            Criterion(MEASURES[name].code, min_leaf, *MEASURES[name].pointers(), min_weight),
            how,
            compiled_search(),
            compiled_line_search(),
            0,
            len(labels),
            0,
            counts,
            np.uint64(seed),
            layout.BOTH,
            -1,
            n_runs,
            work,
        )
    rows = work.moves[: int(work.moves[0, layout.NEXT_MOVE])]
    return tuple(axis)[:3], rows


@st.composite
def nodes(draw):
    """Small nodes with ties, zeros and duplicates; 2 to 4 classes; weights or none; a least weight of sides or none."""
    n, d, k = draw(st.integers(8, 40)), draw(st.integers(1, 4)), draw(st.integers(2, 4))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    x = rng.integers(-3, 4, (d, n)) if draw(st.booleans()) else rng.normal(size=(d, n))
    labels = np.sort(np.concatenate([np.arange(k), rng.integers(0, k, n - k)])).astype(np.int32)
    if draw(st.booleans()):
        x = x + labels  # something to find
    weights = rng.integers(1, 4, n).astype(float) if draw(st.booleans()) else np.ones(n)
    limits = draw(st.integers(1, 3)), draw(st.sampled_from([layout.NO_SPLIT, 4.0, 0.25 * weights.sum()]))
    return np.vstack([x, np.ones(n)]).astype(np.float32), labels, weights, *limits


def test_the_paper_sweeps_all_coefficients_unless_it_is_read_otherwise():
    options = GrowthOptions(MEASURES["twoing"], normalize="positive", rules=PAPER_RULES)
    assert options.settings(4, 100.0, 100.0).n_swept == 5
    without = replace(options, rules=replace(PAPER_RULES, sweeps_constant=False))
    assert without.settings(4, 100.0, 100.0).n_swept == 4


def test_random_starts_are_uniform_and_may_have_all_examples_on_one_side():
    X, _ = load_iris(return_X_y=True)
    y = np.sort(np.arange(len(X)) % 3).astype(np.int32)
    X = np.random.default_rng(0).permutation(X)  # no plane is pure, so all runs are made
    columns = np.vstack([X.T, np.ones(len(X))]).astype(np.float32)
    how = {"stagnation": 1.0, "max_stagnant": 10, "n_swept": 5, "n_perturbations": 1, "n_jumps": 0}
    how |= {"whole_rounds": True, "falls_at_ties": True}
    weights = np.ones(len(y))
    _, moves = fast_search(columns, y, weights, "twoing", 1, layout.NO_SPLIT, 0, 400, "best", **how)
    starts = moves[moves[:, layout.MOVED_WHICH] == layout.A_START][1:]
    planes = starts[:, layout.MOVED_PLANE :]
    assert (np.abs(planes) <= 1.0).all()
    np.testing.assert_allclose(planes.mean(axis=0), 0.0, atol=0.12)
    np.testing.assert_allclose((planes**2).mean(axis=0), 1 / 3, atol=0.06)
    # All attributes are positive, so many planes do not reach the examples, until a coefficient is perturbed.
    assert 0.25 < np.isinf(starts[:, layout.MOVED_TO]).mean() < 1.0
    ends = {int(move[layout.MOVED_RUN]): move[layout.MOVED_TO] for move in moves}
    assert np.isfinite(list(ends.values())).all()


def kinds_of_search():
    """List (measure, order, rules); quick are as many as make any two of them meet."""
    rules = {"default": SearchRules(), "paper": PAPER_RULES}
    factors = ["twoing", "gini", "info_gain", "sum_minority", "max_minority"], sorted(ORDERS), sorted(rules)
    quick = pairwise(*factors)
    return [
        pytest.param(*kind[:2], rules[kind[2]], id="-".join(kind), marks=() if kind in quick else pytest.mark.slow)
        for kind in itertools.product(*factors)
    ]


@pytest.mark.parametrize(("name", "order", "rules"), kinds_of_search())
@settings(max_examples=15, deadline=None)
@given(
    node=nodes(),
    seed=st.integers(0, 2**63),
    n_jumps=st.integers(0, 3),
    stagnation=st.sampled_from([0.0, 0.5, 1.0]),
    max_stagnant=st.sampled_from([1, 3, 10]),
    with_constant=st.booleans(),
)
def test_the_search_makes_the_moves_of_the_slow_one(
    name, order, rules, node, seed, n_jumps, stagnation, max_stagnant, with_constant
):
    columns, labels, weights, min_leaf, min_weight = node
    how = {"order": order, "n_perturbations": 12, "n_jumps": n_jumps, "stagnation": stagnation}
    how |= {"max_stagnant": max_stagnant, "n_swept": len(columns) - 1 + with_constant}
    how |= {"whole_rounds": rules.whole_rounds, "falls_at_ties": rules.falls_at_ties}
    expected_axis, expected = slow.search_node(
        slow.Node(columns, labels, weights, name, min_leaf, min_weight), seed, n_runs=3, **how
    )
    axis, moves = fast_search(columns, labels, weights, name, min_leaf, min_weight, seed, 3, **how)
    assert axis == pytest.approx(expected_axis, rel=1e-6, abs=1e-9)
    assert moves[:, [layout.MOVED_RUN, layout.MOVED_WHICH]].tolist() == [list(move[:2]) for move in expected]
    before = np.inf
    for row, (_, which, impurity, plane) in zip(moves, expected, strict=True):
        before = impurity if which == layout.A_START else before
        assert row[[layout.MOVED_FROM, layout.MOVED_TO]] == pytest.approx([before, impurity], rel=1e-9, abs=1e-12)
        np.testing.assert_allclose(row[layout.MOVED_PLANE :], plane, rtol=1e-6, atol=1e-9)
        before = impurity
