"""Soft trees against the slow version, on generated trees and examples."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive.soft_tree import soft_loss
from scipy.optimize import approx_fprime, minimize

from oc1.kernels.soft_tree import BLOCK, SoftTree, compiled_soft_fit, fit

# Preorder; -1 for leaves.
SHAPES = {
    "one test": [2, -1, -1],
    "chain": [2, -1, 4, -1, -1],
    "full": [4, 3, -1, -1, 6, -1, -1],
    "left": [6, 5, 4, -1, -1, -1, -1],
}


def ends_of(right):
    ends = list(range(1, len(right) + 1))
    for node in reversed(range(len(right))):
        if right[node] >= 0:
            ends[node] = ends[right[node]]
    return ends


class Problem:
    """A soft tree on random examples; some terms of its tests are missing."""

    def __init__(self, shape, n, d, n_classes, seed, sharpness):
        rng = np.random.default_rng(seed)
        self.right = np.array(SHAPES[shape])
        self.Z, self.labels = rng.normal(size=(n, d)), rng.integers(n_classes, size=n)
        self.weights, self.penalties = rng.uniform(0.1, 3.0, n), rng.uniform(0.1, 1.0, d)
        self.uses = (rng.random((len(self.right), d)) < 0.7) & (self.right >= 0)[:, None]
        self.shares = rng.dirichlet(np.ones(n_classes), len(self.right))
        self.nodes, self.features = map(np.ascontiguousarray, np.nonzero(self.uses))
        self.start = sharpness * rng.normal(size=len(self.nodes) + len(self.right))
        self.start[len(self.nodes) :][self.right < 0] = 0.0

    def fit(self, ridge, max_steps):
        """Return the loss and the parameters after some steps."""
        starts = np.concatenate([[0], np.cumsum(self.uses.sum(axis=1))])
        ends, columns = np.array(ends_of(self.right)), self.Z.T.astype(np.float32, order="C")
        shape = self.right, ends, starts, self.features
        tree = SoftTree(
            columns, self.labels, self.weights, *shape, self.penalties[self.features], self.shares.astype(np.float32)
        )
        parameters = self.start.copy()
        with np.errstate(all="ignore"):
            return fit(compiled_soft_fit(), tree, ridge, max_steps, parameters), parameters

    def naive(self, parameters, ridge):
        planes = np.zeros((len(self.right), self.Z.shape[1] + 1))
        planes[self.nodes, self.features] = parameters[: len(self.nodes)]
        planes[:, -1] = parameters[len(self.nodes) :]
        return soft_loss(self.Z, self.labels, self.weights, self.right, planes, self.shares, self.penalties, ridge)


problems = st.builds(
    Problem,
    st.sampled_from(sorted(SHAPES)),
    st.sampled_from([1, 2, BLOCK - 1, BLOCK, BLOCK + 1, 3 * BLOCK + 5]),
    st.integers(1, 4),
    st.integers(2, 4),
    st.integers(0, 10**6),
    st.sampled_from([0.1, 1.0, 3.0]),
)


@settings(max_examples=60, deadline=None)
@given(problems, st.sampled_from([0.0, 0.03, 2.0]))
def test_the_loss_is_that_of_the_slow_version(problem, ridge):
    # What few examples reach is not looked at, which changes a likelihood in the fourth digit at most.
    assert problem.fit(ridge, 0)[0] == pytest.approx(problem.naive(problem.start, ridge), rel=1e-3, abs=1e-3)


@settings(max_examples=30, deadline=None)
@given(problems)
def test_the_first_step_goes_straight_down(problem):
    gradient = approx_fprime(problem.start, lambda parameters: problem.naive(parameters, 0.1))
    moved = problem.fit(0.1, 1)[1] - problem.start
    length = np.linalg.norm(gradient) * np.linalg.norm(moved)
    assert length == 0.0 or -gradient @ moved / length > 0.999


@settings(max_examples=30, deadline=None)
@given(problems)
def test_more_steps_never_raise_the_loss(problem):
    losses = [problem.fit(0.1, n_steps)[0] for n_steps in (0, 1, 3, 10, 40)]
    assert all(later <= earlier for earlier, later in pairwise(losses))


@pytest.mark.parametrize("seed", range(3))
def test_a_single_test_ends_where_scipy_does(seed):
    problem = Problem("one test", 200, 3, 2, seed, 0.1)
    problem.shares = np.array([[0.5, 0.5], [0.99, 0.01], [0.01, 0.99]])
    best = minimize(lambda parameters: problem.naive(parameters, 1.0), problem.start).fun
    assert problem.fit(1.0, 200)[0] == pytest.approx(best, rel=1e-4)
