"""The smallest change against brute force: it leads to another class, and 1% less does not."""

from dataclasses import replace

import numpy as np
import pytest
from generated_trees import random_tree
from naive import nearest_region as naive

from oc1.explaining.changes import smallest_change, smallest_single_change
from oc1.explaining.example import Example
from oc1.explaining.regions import leading_to

NONE_LARGER = 1.0051  # than the smallest change is a change in readable digits


def situation(seed, **options):
    """Return a tree, an example, and the leaves of other classes."""
    rng = np.random.default_rng(seed)
    tree = random_tree(rng, **options)
    row, scale = rng.normal(size=len(tree.fill)), rng.uniform(0.3, 3, len(tree.fill))
    if tree.codes:
        row[0] = rng.integers(len(tree.codes[0]))
    tree = replace(tree, scale=scale)
    example = Example.make(tree, row)
    return tree, example, leading_to(tree, tree.is_leaf & (tree.majority != tree.majority[example.leaf]))


def answers(tree, rows):
    return tree.majority[tree.apply(np.atleast_2d(rows))]


@pytest.mark.parametrize("seed", range(120))
def test_the_smallest_change_is_that_of_brute_force(seed):
    n_features = 2 + seed % 2
    tree, example, goals = situation(seed, n_features=n_features, depth=2 + seed % 3, n_classes=2 + seed % 3)
    best, change = naive.smallest_change(tree, example.row, example.scale), smallest_change(example, goals)
    if change is None:
        assert best == np.inf
        return
    assert best * (1 - 1e-9) <= change.distance <= best * NONE_LARGER
    own = answers(tree, example.row)[0]
    assert answers(tree, change.row)[0] != own
    assert answers(tree, example.row + 0.99 * (change.row - example.row))[0] == own
    # No example in the ball of this radius has another class.
    steps = np.random.default_rng(seed).normal(size=(2000, n_features))
    radii = np.random.default_rng(seed).uniform(0, 1, (2000, 1)) ** (1 / n_features)
    inside = steps / np.linalg.norm(steps, axis=1, keepdims=True) * radii * 0.99 * best
    assert (answers(tree, example.row + inside * example.scale) == own).all()


@pytest.mark.parametrize("seed", range(60))
def test_categories_change_to_others(seed):
    tree, example, goals = situation(seed, n_features=3, depth=3, n_categories=4)
    best, change = naive.smallest_change(tree, example.row, example.scale), smallest_change(example, goals)
    if change is None:
        assert best == np.inf
        return
    assert best * (1 - 1e-9) <= change.distance <= max(best * NONE_LARGER, best + 1e-9)
    own = answers(tree, example.row)[0]
    assert answers(tree, change.row)[0] != own
    less = example.row + 0.99 * (change.row - example.row)
    less[0] = change.row[0]  # a category changes or does not
    if (less != change.row).any():
        assert answers(tree, less)[0] == own


@pytest.mark.parametrize("seed", range(120))
def test_the_smallest_change_of_one_attribute_is_that_of_brute_force(seed):
    tree, example, goals = situation(seed, n_features=2 + seed % 3, depth=2 + seed % 3, n_classes=2 + seed % 2)
    best, change = (
        naive.smallest_single_change(tree, example.row, example.scale),
        smallest_single_change(example, goals),
    )
    if change is None:
        assert best == np.inf
        return
    assert len(change.features) == 1
    assert best * (1 - 1e-6) <= change.distance <= best * NONE_LARGER
    own = answers(tree, example.row)[0]
    assert answers(tree, change.row)[0] != own
    assert answers(tree, example.row + 0.99 * (change.row - example.row))[0] == own


@pytest.mark.parametrize("seed", range(60))
def test_changes_stay_within_ranges(seed):
    tree, example, goals = situation(seed, n_features=2, depth=3)
    ranges = np.array([[-0.7, -0.4], [0.5, np.nan]])
    bounded = Example.make(tree, example.row, ranges)
    low, high = np.minimum(ranges[0], example.row), np.fmax(ranges[1], example.row)
    low, high = low, np.where(np.isnan(ranges[1]), np.inf, high)
    change = smallest_change(bounded, goals)
    # On a fine grid inside of the ranges, nothing nearer has another class.
    sides = [np.linspace(low[m], min(high[m], example.row[m] + 12), 300) for m in range(2)]
    grid = np.stack(np.meshgrid(*sides), axis=-1).reshape(-1, 2)
    others = grid[answers(tree, grid) != answers(tree, example.row)[0]]
    nearest = example.distance(others).min(initial=np.inf)
    if change is None:
        assert nearest == np.inf
        return
    assert answers(tree, change.row)[0] != answers(tree, example.row)[0]
    assert ((low <= change.row) & (change.row <= high)).all()
    assert change.distance <= nearest * NONE_LARGER
    unbounded = smallest_change(example, goals)
    assert unbounded.distance <= change.distance * NONE_LARGER


@pytest.mark.parametrize("far", [1e6, 1e10, 1e13])
@pytest.mark.parametrize("seed", range(20))
def test_a_far_limit_changes_nothing(seed, far):
    """A single outlier in a table makes a range wide, and blurred the boundaries of all other attributes once."""
    tree, example, goals = situation(seed, n_features=3, depth=3)
    near, wide = (Example.make(tree, example.row, np.array([3 * [-end], [end, end, 100]])) for end in (100.0, far))
    expected, change = smallest_change(near, goals), smallest_change(wide, goals)
    assert change.distance == pytest.approx(expected.distance, rel=1e-9)
    np.testing.assert_allclose(change.row, expected.row)
