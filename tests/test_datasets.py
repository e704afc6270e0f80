import numpy as np
import pytest

from oc1.datasets import label_pol, label_rcb, make_ls10, make_pol, make_rcb


@pytest.mark.parametrize(("make", "n_features", "classes"), [(make_ls10, 10, 2), (make_pol, 2, 2), (make_rcb, 2, 8)])
def test_shapes_and_seeds(make, n_features, classes):
    X, y = make(random_state=0)
    assert X.shape == (2000, n_features)
    assert 0 <= X.min() < 0.01 < 0.99 < X.max() <= 1
    assert sorted(set(y)) == list(range(1, classes + 1))
    again = make(random_state=0)
    np.testing.assert_array_equal(X, again[0])
    np.testing.assert_array_equal(y, again[1])
    assert (make(random_state=1)[0] != X).any()
    assert len(make(7, random_state=0)[1]) == 7
    with pytest.raises(ValueError, match="n_samples"):
        make(0)


def test_ls10_is_linearly_separable():
    X, y = make_ls10(random_state=2)
    np.testing.assert_array_equal(y == 1, X @ np.repeat([1, -1], 5) < 0)


@pytest.mark.parametrize(("name", "label"), [("pol", label_pol), ("rcb", label_rcb)])
def test_lines_agree_with_figure_9(shared_data, name, label):
    points = np.genfromtxt(shared_data / f"{name}_figure9.csv", delimiter=",", skip_header=1)
    assert len(points) == 1000
    assert (label(points[:, :2]) != points[:, 2]).sum() <= 2
