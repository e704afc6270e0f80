from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oc1.data.training import Training
from oc1.growing.linear_tests import LinearTest
from oc1.growing.progress import Reporter
from oc1.growing.splitters import ClassificationStatistics, Limits, Splitter, SplitterGrower, derived_seed, divide
from oc1.impurity import entropy, information_gained


@dataclass
class MiddleSplits(Splitter):
    """Cuts the attribute that the seed chooses in the middle; notes what it was given."""

    seen: list = field(default_factory=list)

    def split(self, node):
        self.seen.append(node)
        self.n_hyperplanes += 1
        attribute = node.seed % node.X.shape[1]
        return LinearTest.of_plane(np.eye(node.X.shape[1])[attribute], np.nanmedian(node.X[:, attribute]), node.X)


@dataclass
class FirstAttribute(Splitter):
    """Asks whether the first attribute, which may be missing, is positive."""

    keeps_missing: ClassVar[bool] = True

    def split(self, node):
        return LinearTest(np.array([0]), np.ones(1), 0.0)


@dataclass(frozen=True)
class ThreeWays:
    n_branches: int = 3

    def branches(self, X):
        return np.clip(X[:, 0].astype(int), 0, 2)


class InThree(Splitter):
    """A split with three branches."""

    def split(self, node):
        return ThreeWays()


def training(n=200, k=3, d=4, seed=0, **further):
    rng = np.random.default_rng(seed)
    data = {"X": rng.normal(size=(n, d)), "y": rng.integers(0, k, n), "weights": None, "fill": np.zeros(d)}
    return Training(**data | {"classes": np.arange(k), "feature_names": (), "seed": seed} | further)


def grow(data, splitter=None, rows=None, weights=None, **limits):
    rows = np.arange(data.n_examples) if rows is None else rows
    return SplitterGrower(
        MiddleSplits() if splitter is None else splitter, data, rows, weights, Limits(**limits)
    ).grow()


def leaves_of(root):
    return [node for node in root.preorder() if not node.children]


# ---------------------------------------------------------------------------------------------------- growing


@settings(deadline=None, max_examples=30)
@given(
    st.integers(0, 10**6),
    st.integers(1, 60),
    st.one_of(st.none(), st.integers(0, 5)),
    st.integers(2, 10),
    st.integers(1, 6),
    st.one_of(st.none(), st.integers(1, 9)),
)
def test_a_tree_keeps_to_its_limits_and_divides_its_examples(seed, n, max_depth, min_split, min_leaf, max_leaves):
    data = training(n, seed=seed)
    root = grow(
        data,
        max_depth=max_depth,
        min_samples_split=min_split,
        min_samples_leaf=min_leaf,
        max_leaf_nodes=max_leaves,
    )
    nodes = root.preorder()
    leaves = leaves_of(root)
    assert sorted(np.concatenate([leaf.rows for leaf in leaves])) == list(range(n))
    assert max_leaves is None or len(leaves) <= max_leaves
    for node in nodes:
        assert node.counts.tolist() == np.bincount(data.y[node.rows], minlength=3).tolist()
        assert (node.split is None) == (not node.children)
        if node.children:
            assert len(node.rows) >= min_split
            assert min(len(child.rows) for child in node.children) >= min_leaf
            assert max_depth is None or node.depth < max_depth
            gain = information_gained(np.array([child.counts for child in node.children]))
            assert node.gain == gain > 0
            assert all(child.depth == node.depth + 1 for child in node.children)


def test_without_limits_only_pure_nodes_are_leaves():
    data = training(100)
    root = grow(data)
    assert all(np.count_nonzero(leaf.counts) == 1 for leaf in leaves_of(root))
    pure = training(50, k=1)
    assert grow(pure).children == []


def test_a_split_must_gain_enough():
    data = training()
    everything = grow(data)
    for least in (0.01, 0.03, 0.1):
        kept = [node for node in grow(data, min_impurity_decrease=least).preorder() if node.children]
        assert all(node.gain * len(node.rows) / 200 >= least for node in kept)
    assert len(kept) < sum(bool(node.children) for node in everything.preorder())


def test_seeds_come_from_the_path():
    data = training()
    root = grow(data, max_depth=3)
    assert root.seed == derived_seed(data.seed, 0)
    for node in root.preorder():
        assert [child.seed for child in node.children] == [
            derived_seed(node.seed, number + 1) for number in range(len(node.children))
        ]
    by_seed = {node.seed: node.split for node in grow(data, max_leaf_nodes=6).preorder() if node.children}
    same = {node.seed: node.split for node in grow(data).preorder() if node.seed in by_seed}
    assert {seed: split.threshold for seed, split in by_seed.items()} == {s: t.threshold for s, t in same.items()}
    assert root.seed != grow(training(seed=1)).seed


def test_best_first_keeps_the_splits_that_gain_most():
    data = training(400, seed=3)
    worth = {node.seed: node.gain * len(node.rows) for node in grow(data).preorder()}
    split, waiting = set(), {}
    for most in range(1, 12):
        root = grow(data, max_leaf_nodes=most)
        assert len(leaves_of(root)) == most
        # One more than before, and of all that could have been split then it is the one that gains most.
        now = {node.seed for node in root.preorder() if node.children}
        assert split < now or most == 1
        for seed in now - split:
            assert worth[seed] == max(waiting.values())
        split, waiting = now, {leaf.seed: worth[leaf.seed] for leaf in leaves_of(root)}


def test_a_node_whose_branches_are_too_many_stays_a_leaf():
    X = np.arange(60.0)[:, None] % 3
    data = training(60, d=1, X=X, y=(np.arange(60) % 3))
    assert len(grow(data, InThree()).children) == 3
    assert grow(data, InThree(), max_leaf_nodes=2).children == []
    assert len(grow(data, InThree(), max_leaf_nodes=3).children) == 3


def test_a_splitter_sees_the_examples_of_its_node():
    data, n = training(80), 80
    data.X[::5, 1] = np.nan
    weights = np.linspace(0.5, 2.0, n)
    rows = np.arange(0, 80, 2)
    splitter = MiddleSplits()
    root = grow(data._replace(fill=np.array([9.0, 8.0, 7.0, 6.0])), splitter, rows, weights, min_samples_leaf=3)
    first = splitter.seen[0]
    np.testing.assert_array_equal(first.X, np.where(np.isnan(data.X[rows]), [9.0, 8.0, 7.0, 6.0], data.X[rows]))
    np.testing.assert_array_equal(first.weights, weights[rows])
    assert (first.n_classes, first.min_leaf, first.seed) == (3, 3, root.seed)
    assert splitter.n_hyperplanes == len(splitter.seen)
    np.testing.assert_allclose(first.counts, np.bincount(data.y[rows], weights[rows]))


def test_a_reporter_hears_of_every_split():
    data = training(120)
    lines = []
    reporter = Reporter(1, (), write=lines.append)
    root = SplitterGrower(MiddleSplits(), data, np.arange(120), None, Limits(max_depth=3), reporter=reporter).grow()
    assert len(lines) == sum(bool(node.children) for node in root.preorder())
    lines.clear()
    three = data._replace(X=np.abs(data.X), y=(np.abs(data.X[:, 0]).astype(int) > 0).astype(int))
    SplitterGrower(InThree(), three, np.arange(120), None, Limits(max_depth=1), reporter=reporter).grow()
    assert all("3 branches" in line for line in lines)


# ---------------------------------------------------------------------------------------------------- missing values


def test_examples_that_cannot_be_placed_go_down_all_branches():
    X = np.array([[-1.0], [-2.0], [3.0], [np.nan]])
    parts = list(divide(LinearTest(np.array([0]), np.ones(1), 0.0), X, np.array([1.0, 1.0, 1.0, 6.0])))
    assert [here.tolist() for here, _ in parts] == [[True, True, False, True], [False, False, True, True]]
    np.testing.assert_allclose(parts[0][1], [1.0, 1.0, 4.0])
    np.testing.assert_allclose(parts[1][1], [1.0, 2.0])


def test_fractions_of_examples_add_up():
    data = training(100, k=2)
    data.X[::4, 0] = np.nan
    root = grow(data, FirstAttribute(), max_depth=1)
    left, right = root.children
    np.testing.assert_allclose(left.counts + right.counts, root.counts)
    assert set(left.rows) & set(right.rows) == set(range(0, 100, 4))
    np.testing.assert_allclose(left.weights.sum() + right.weights.sum(), 100.0)
    # Only examples whose value is known count for the limit.
    known = min((data.X[:, 0] > 0).sum(), (data.X[:, 0] <= 0).sum())
    assert grow(data, FirstAttribute(), max_depth=1, min_samples_leaf=int(known)).children
    assert not grow(data, FirstAttribute(), max_depth=1, min_samples_leaf=int(known) + 1).children


# ---------------------------------------------------------------------------------------------------- information


@given(st.lists(st.integers(0, 50), min_size=1, max_size=6).filter(any))
def test_entropy_is_what_it_is_by_definition(counts):
    shares = [count / sum(counts) for count in counts if count]
    assert entropy(np.array(counts, float)) == pytest.approx(-sum(share * np.log2(share) for share in shares))


@given(st.lists(st.lists(st.integers(0, 20), min_size=3, max_size=3).filter(any), min_size=1, max_size=4))
def test_information_is_what_the_branches_lose_of_the_entropy(branches):
    branches = np.array(branches, dtype=float)
    sizes = branches.sum(axis=1)
    after = sum(size * entropy(branch) for size, branch in zip(sizes, branches, strict=True)) / sizes.sum()
    gained = information_gained(branches)
    assert gained == pytest.approx(entropy(branches.sum(axis=0)) - after)
    statistics = ClassificationStatistics(3)
    assert statistics.gain(branches.sum(axis=0), branches) == (gained if gained > 1e-14 else 0.0)
    assert statistics.weight(branches[0]) == sizes[0]
    assert statistics.is_pure(branches[0]) == (np.count_nonzero(branches[0]) == 1)


def test_derived_seeds_differ():
    seeds = {derived_seed(seed, number) for seed in range(50) for number in range(50)}
    assert len(seeds) == 2500
    assert all(0 <= seed < 2**64 for seed in seeds)
