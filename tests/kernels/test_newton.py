"""Ridge logistic regression, compiled: what it fits, and what it says of an example that was left out."""

import warnings
from functools import partial
from typing import NamedTuple

import naive
import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from oc1.kernels.newton import compiled_logistic, fit


class Fit(NamedTuple):
    """A fitted plane, and the margins of the examples without having seen them."""

    plane: np.ndarray
    left_out: np.ndarray
    loss: float


def ridge_logistic(Z, right, weights, ridge, start=None):
    """Call the compiled fit."""
    plane, left_out = np.zeros(Z.shape[1]) if start is None else start.copy(), np.empty(len(Z))
    with np.errstate(all="ignore"):
        loss = fit(compiled_logistic(), np.ascontiguousarray(Z), right, weights, ridge, plane, left_out)
    return Fit(plane, left_out, loss)


def logistic_loss(margins, right, weights):
    """The loss of margins, by its definition."""
    return weights @ np.logaddexp(0.0, np.where(right, -margins, margins))


def make(n=60, d=4, seed=0, noise=1.0):
    """Standardised attributes with a column of ones, and two overlapping groups."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    right = X @ rng.normal(size=d) + 0.5 + noise * rng.normal(size=n) > 0
    right[:2] = False, True
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    return np.column_stack([X, np.ones(n)]), right


def exact_logistic(Z, right, weights, ridge):
    """Scikit-learn's answer to the same question."""
    model = LogisticRegression(C=1.0 / ridge, solver="newton-cholesky", tol=1e-8)
    model.fit(Z[:, :-1], right, sample_weight=weights)
    return np.append(model.coef_[0], model.intercept_[0])


def weighted(n, seed=1):
    return np.random.default_rng(seed).integers(1, 4, n).astype(float)


@pytest.mark.parametrize("ridge", [0.01, 1.0, 100.0])
@pytest.mark.parametrize("seed", range(3))
def test_logistic_regression_is_scikit_learns(ridge, seed):
    Z, right = make(seed=seed)
    for weights in (np.ones(len(Z)), weighted(len(Z))):
        plane = ridge_logistic(Z, right, weights, ridge).plane
        np.testing.assert_allclose(plane, exact_logistic(Z, right, weights, ridge), rtol=0.01, atol=0.005)


def test_attributes_that_all_but_agree_have_a_plane():
    """Their common part is so large that float32 cannot tell the rest from it, and the system is no longer definite."""
    rng = np.random.default_rng(0)
    Z = np.ones((300, 31))
    Z[:, :-1] = 1000.0 + rng.normal(size=(300, 30))
    right = Z[:, :-1] @ rng.normal(size=30) + 0.2 * rng.normal(size=300)
    right = right > np.median(right)

    def objective(plane):
        return logistic_loss(Z @ plane, right, np.ones(len(Z))) + 0.5 * plane[:-1] @ plane[:-1]

    plane = ridge_logistic(Z, right, np.ones(len(Z)), 1.0).plane
    exact = exact_logistic(Z, right, np.ones(len(Z)), 1.0)
    assert objective(plane) < 1.01 * objective(exact)


def test_another_start_leads_to_the_same_plane():
    Z, right = make()
    ones = np.ones(len(Z))
    near = ridge_logistic(Z, right, ones, 1.0, start=ridge_logistic(Z, right, ones, 0.1).plane)
    far = ridge_logistic(Z, right, ones, 1.0, start=np.full(Z.shape[1], -30.0))
    for other in (near, far):
        np.testing.assert_allclose(other.plane, ridge_logistic(Z, right, ones, 1.0).plane, rtol=0.01, atol=0.005)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("ridge", [0.3, 3.0])
def test_logistic_margins_are_close_to_those_of_real_refits(seed, ridge):
    Z, right = make(50, 6, seed)
    weights = weighted(len(Z), seed)
    fitted = ridge_logistic(Z, right, weights, ridge)
    real = naive.left_out_margins(partial(exact_logistic, ridge=ridge), Z, right, weights)
    seen = Z @ fitted.plane
    # Much nearer to the truth than the margins of the examples that were seen.
    assert np.abs(fitted.left_out - real).mean() < 0.2 * np.abs(seen - real).mean()
    assert np.corrcoef(fitted.left_out, real)[0, 1] > 0.99
    assert np.mean((fitted.left_out > 0) == (real > 0)) >= 0.96
    assert fitted.loss == pytest.approx(logistic_loss(real, right, weights), rel=0.1)
    assert fitted.loss > logistic_loss(seen, right, weights)


def test_a_weight_of_two_is_a_row_twice():
    Z, right = make(40, 3)
    weights = weighted(len(Z))
    times = weights.astype(int)
    once = ridge_logistic(Z, right, weights, 1.0)
    rows = ridge_logistic(Z.repeat(times, axis=0), right.repeat(times), np.ones(times.sum()), 1.0)
    np.testing.assert_allclose(once.plane, rows.plane, rtol=1e-4)
    np.testing.assert_allclose(once.left_out.repeat(times), rows.left_out, rtol=1e-4, atol=1e-4)
    assert once.loss == pytest.approx(rows.loss, rel=1e-5)


def test_the_two_groups_are_alike():
    Z, right = make()
    weights = weighted(len(Z))
    one, other = (ridge_logistic(Z, side, weights, 1.0) for side in (right, ~right))
    np.testing.assert_allclose(one.plane, -other.plane, rtol=1e-5, atol=1e-5)
    assert one.loss == pytest.approx(other.loss, rel=1e-5)


def test_left_out_losses_tell_a_good_ridge():
    """Few examples of many attributes: hardly any ridge does badly on new examples, and the left-out loss knows."""
    Z, right = make(2000, 20, noise=2.0)
    some, ones = slice(0, 60), np.ones(60)
    fits = {ridge: ridge_logistic(Z[some], right[some], ones, ridge) for ridge in (0.01, 10.0)}
    true = {ridge: logistic_loss(Z[60:] @ own.plane, right[60:], np.ones(1940)) for ridge, own in fits.items()}
    assert true[10.0] < 0.7 * true[0.01]
    assert fits[10.0].loss < 0.7 * fits[0.01].loss


AWKWARD = {
    "separable": (np.array([[-2.0], [-1.0], [1.0], [2.0]]), [0, 0, 1, 1]),
    "constant": (np.zeros((6, 3)), [0, 1, 0, 1, 1, 1]),
    "partly constant": (np.array([[0.0, -1], [0, 1], [0, -1], [0, 1]]), [0, 1, 0, 1]),
    "twins": (np.tile([[-1.0], [1.0], [0.5]], (2, 2)), [0, 1, 1, 0, 1, 1]),
    "one of a class": (np.random.default_rng(0).normal(size=(20, 3)), [1] + [0] * 19),
    "fewer than attributes": (np.random.default_rng(1).normal(size=(5, 30)), [0, 1, 0, 1, 1]),
    "two": (np.array([[-1.0, 0.0], [1.0, 0.0]]), [0, 1]),
    "two alike": (np.zeros((2, 2)), [0, 1]),
    "far out": (np.array([[1e6], [-1.0], [0.0], [1.0]]), [1, 0, 1, 0]),
}


@pytest.mark.parametrize("name", AWKWARD)
@pytest.mark.parametrize("ridge", [1e-3, 1.0, 1e12])
@pytest.mark.parametrize("weight", [1.0, 0.01, 1e9])
def test_awkward_data_give_finite_planes_and_no_warnings(name, ridge, weight):
    X, y = AWKWARD[name]
    Z, right = np.column_stack([X, np.ones(len(X))]), np.array(y, dtype=bool)
    weights = np.full(len(Z), weight)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fitted = ridge_logistic(Z, right, weights, ridge)
    assert np.isfinite(fitted.plane).all()
    assert np.isfinite(fitted.left_out).all()
    assert 0.0 <= fitted.loss < np.inf
    if name == "separable" and ridge == 1.0:
        np.testing.assert_array_equal(Z @ fitted.plane > 0, right)
    if ridge == 1e12 and weight == 1.0 and name != "far out":
        assert np.abs(fitted.plane[:-1]).max() < 1e-6  # nothing but the constant is left
        share = right.mean()
        assert fitted.plane[-1] == pytest.approx(np.log(share / (1 - share)), abs=0.01)
