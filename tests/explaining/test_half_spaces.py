import numpy as np
import pytest
from naive import nearest_region as naive

from oc1.explaining.half_spaces import nearest_point


@pytest.mark.parametrize("seed", range(150))
def test_the_nearest_point_is_that_of_brute_force(seed):
    rng = np.random.default_rng(seed)
    normals = rng.normal(size=(rng.integers(1, 8), rng.integers(1, 5)))
    if seed % 3 == 0:  # slabs, and half-spaces that exclude each other
        normals = np.concatenate([normals, -normals])
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    offsets = rng.normal(size=len(normals)) * 10.0 ** rng.integers(-6, 7)
    found, best = nearest_point(normals, offsets), naive.nearest_point(normals, offsets / np.abs(offsets).max())
    if found is None:
        assert best == np.inf
        return
    assert np.linalg.norm(found) == pytest.approx(best * np.abs(offsets).max(), rel=1e-9)
    assert (normals @ found >= offsets - 1e-9 * np.abs(offsets).max()).all()


def test_without_half_spaces_the_origin_is_nearest():
    assert nearest_point(np.empty((0, 3)), np.empty(0)).tolist() == [0, 0, 0]


@pytest.mark.parametrize("far", [1e6, 1e10, 1e13, 1e300])
@pytest.mark.parametrize("seed", range(20))
def test_a_far_half_space_that_holds_changes_nothing(seed, far):
    rng = np.random.default_rng(seed)
    normals = rng.normal(size=(rng.integers(1, 6), 3))
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    offsets = rng.normal(size=len(normals))
    found, wider = (
        nearest_point(np.concatenate([normals, more]), np.concatenate([offsets, [-far] * len(more)]))
        for more in (np.empty((0, 3)), np.eye(3))
    )
    assert (found is None) == (wider is None)
    if found is not None:
        np.testing.assert_allclose(wider, found, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("seed", range(40))
def test_repeated_and_nearly_parallel_half_spaces_are_no_trouble(seed):
    """A way down a deep tree asks for the same attributes again and again."""
    rng = np.random.default_rng(seed)
    normals, offsets = rng.normal(size=(6, 3)), rng.integers(-2, 3, 6).astype(float)
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    found = nearest_point(normals, offsets)
    bent = normals + 1e-10 * rng.normal(size=normals.shape)
    again = nearest_point(np.concatenate([normals, normals, bent]), np.concatenate([offsets, offsets - 1, offsets]))
    assert (found is None) == (again is None)
    if found is not None:
        np.testing.assert_allclose(again, found, rtol=1e-6, atol=1e-6)
