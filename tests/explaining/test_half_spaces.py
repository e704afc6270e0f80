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
    assert np.linalg.norm(found.point) == pytest.approx(best * np.abs(offsets).max(), rel=1e-9)
    assert (normals @ found.point >= offsets - 1e-9 * np.abs(offsets).max()).all()
    # Where it begins makes no difference.
    start = tuple(rng.permutation(len(offsets))[:2].tolist())
    again = nearest_point(normals, offsets, start)
    assert np.linalg.norm(again.point) == pytest.approx(np.linalg.norm(found.point), rel=1e-9)


def test_without_half_spaces_the_origin_is_nearest():
    assert nearest_point(np.empty((0, 3)), np.empty(0)).point.tolist() == [0, 0, 0]


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
        np.testing.assert_allclose(wider.point, found.point, rtol=1e-9, atol=1e-12)
