import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oc1.data import search_space as scaling
from oc1.data.search_space import SearchSpace
from oc1.kernels.records import flat_view

LAYOUTS = {
    "by rows": np.ascontiguousarray,
    "by columns": np.asfortranarray,
    "with gaps": lambda X: np.hstack([X, X])[:, : X.shape[1]],
    "every other row": lambda X: np.repeat(X, 2, axis=0)[::2],
    "every other column, by columns": lambda X: np.asfortranarray(np.repeat(X, 2, axis=1))[:, ::2],
    "backwards": lambda X: np.ascontiguousarray(X[::-1, ::-1])[::-1, ::-1],
    "one row for all": lambda X: np.broadcast_to(X[:1], X.shape),
}


def unaligned(X):
    """Return an equal array that begins between two numbers."""
    store = np.empty(X.nbytes + 1, dtype=np.uint8)
    shifted = store[1:].view(X.dtype).reshape(X.shape)
    shifted[:] = X
    return shifted


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("layout", [*LAYOUTS.values(), unaligned], ids=[*LAYOUTS, "unaligned"])
@pytest.mark.parametrize("shape", [(7, 3), (1, 3), (7, 1), (1, 1)], ids=str)
def test_a_flat_view_has_the_values_where_its_steps_lead(dtype, layout, shape):
    X = layout(np.arange(1.0, 1.0 + shape[0] * shape[1], dtype=dtype).reshape(shape))
    flat, row_step, column_step = flat_view(X)
    assert not flat.flags.writeable
    assert flat.flags.c_contiguous
    assert flat.dtype == dtype
    rows, columns = np.indices(X.shape)
    assert np.array_equal(flat[rows * row_step + columns * column_step], X)


@pytest.mark.parametrize("layout", ["by rows", "by columns", "with gaps", "every other column, by columns"])
def test_a_flat_view_is_no_copy(layout):
    X = LAYOUTS[layout](np.random.default_rng(0).normal(size=(6, 4)))
    assert np.shares_memory(flat_view(X)[0], X)


@pytest.mark.parametrize("shape", [(0, 3), (4, 0)], ids=str)
def test_a_flat_view_of_nothing_is_empty(shape):
    assert flat_view(np.empty(shape))[0].size == 0


def plainly(space, X, rows, fill):
    """What `SearchSpace.columns` returns, an operation at a time."""
    columns = np.ones((X.shape[1] + 1, len(rows)), dtype=np.float32)
    for m in range(X.shape[1]):
        x = X[rows, m].astype(np.float64)
        x[np.isnan(x)] = fill[m]
        columns[m] = (0.5 * x - 0.5 * space.shift[m]) * (1.0 / space.scale[m]) * 2.0 if space.scale[m] > 0 else 0.0
    return columns


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from(sorted(LAYOUTS)), st.sampled_from(["f4", "f8"]), st.integers(1, 3))
def test_columns_are_those_of_the_plain_formula(seed, layout, dtype, n_jobs):
    rng = np.random.default_rng(seed)
    n, d = rng.integers(1, 3000), rng.integers(1, 6)
    X = rng.normal(size=(n, d)) * 10.0 ** rng.uniform(-30, 30, d)
    X[rng.random((n, d)) < 0.1] = np.nan
    X = LAYOUTS[layout](X.astype(dtype))
    rows = rng.permutation(n)[: rng.integers(1, n + 1)]
    space = SearchSpace(rng.normal(size=d), np.where(rng.random(d) < 0.2, 0.0, 10.0 ** rng.uniform(-30, 30, d)))
    fill = rng.normal(size=d)
    with pytest.MonkeyPatch.context() as patch, np.errstate(all="ignore"):
        patch.setattr(scaling, "MIN_ROWS_PER_THREAD", 100)
        assert np.array_equal(space.columns(X, rows, fill, n_jobs), plainly(space, X, rows, fill))


def test_values_at_the_ends_of_what_can_be_told_do_not_overflow():
    X = np.array([[1.5e308], [-1.5e308], [0.0], [np.nan]])
    space = SearchSpace(np.array([-1.5e308]), np.array([1.5e308]))
    assert space.columns(X, np.arange(4), np.array([1.5e308]))[0].tolist() == [2.0, 0.0, 1.0, 2.0]


def test_only_negative_attributes_are_shifted_into_the_positive_quadrant():
    X = np.array([[1.0, -2.0, 1000.0, 1e9, 3.0], [4.0, 5.0, 7000.0, 1e9 + 5.0, 3.0]])
    space = SearchSpace.make(X, np.arange(2), np.zeros(5), None, "positive")
    # The fourth would be one number in float32, and the last does not vary.
    assert space.shift.tolist() == [0.0, -2.0, 0.0, 1e9, 0.0]
    assert space.scale.tolist() == [1.0, 1.0, 1.0, 1.0, 0.0]
    huge = SearchSpace.make(1e200 * X[:, :3], np.arange(2), np.zeros(3), None, "positive")
    np.testing.assert_allclose(huge.scale, 7e203)
