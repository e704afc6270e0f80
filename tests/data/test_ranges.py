import numpy as np
import pytest

from oc1 import OC1Classifier, OC1EnsembleClassifier, OC1Regressor
from oc1.baselines import C45Classifier, CARTClassifier, LMDTClassifier
from oc1.data.ranges import check_attributes, ordinary_weights, target_unit
from oc1.datasets import make_pol

X, Y = make_pol(120, random_state=0)
NUMBERS = 3 * X[:, 0] + (X[:, 1] > 0.5)
QUICK = {"n_restarts": 1, "n_jumps": 0, "random_state": 0}


@pytest.mark.parametrize("size", [1e-18, 0.1, 1.0, 3.0, 1e18])
def test_ordinary_weights_stay_as_they_are(size):
    weights = np.array([size, 0.0, 0.3 * size])
    assert ordinary_weights(weights) is weights


@pytest.mark.parametrize("size", [5e-324, 1e-320, 1e-200, 1e-20, 1e20, 1e154, 1.7e308])
def test_extreme_weights_are_scaled_by_a_power_of_two(size):
    weights = np.array([size, 0.0, size / 2])
    scaled = ordinary_weights(weights)
    assert np.frexp(scaled[0])[0] == np.frexp(size)[0]
    assert scaled[1] == 0
    assert scaled[2] * 2 == scaled[0] or weights[2] * 2 != weights[0]  # half of the smallest double is nothing
    assert 0.5 <= scaled[0] < 2.0**53
    assert (scaled[0] == round(scaled[0])) == (size > 1)  # large ones count examples


def test_weights_that_differ_too_much_are_refused():
    assert ordinary_weights(np.array([1e-60, 1.0])).tolist() == [1e-60, 1.0]
    with pytest.raises(ValueError, match=r"differ too much: from 1e-100 to 1"):
        OC1Classifier(**QUICK).fit(X, Y, np.where(np.arange(len(X)) == 5, 1e-100, 1.0))


@pytest.mark.parametrize("size", [1e-320, 1e-200, 1e154, 1e308])
@pytest.mark.parametrize("learner", [OC1Classifier, CARTClassifier, LMDTClassifier, C45Classifier, OC1Regressor])
def test_only_ratios_of_extreme_weights_matter(learner, size):
    parameters = QUICK if learner in (OC1Classifier, OC1Regressor) else {"random_state": 0}
    y = NUMBERS if learner is OC1Regressor else Y
    # Powers of two, so that the smallest double holds them, too.
    factors = 2.0 ** np.random.default_rng(0).integers(0, 3, len(X))
    size = 2.0 ** np.floor(np.log2(size)) / 4
    ordinary = 2.0**50 if size > 1 else 0.125
    here, there = (learner(**parameters).fit(X, y, factors * own) for own in (ordinary, size))
    assert here.get_n_leaves() > 1
    assert here.tree_.asks_the_same(there.tree_)
    outputs = "predict" if learner is OC1Regressor else "predict_proba"
    np.testing.assert_array_equal(getattr(here, outputs)(X), getattr(there, outputs)(X))


def test_a_vote_takes_extreme_weights():
    base = OC1Classifier(splits="axis", prune=None)
    for size in (1e-320, 1e308):
        model = OC1EnsembleClassifier(base, 2, bootstrap=True, random_state=0).fit(X, Y, np.full(len(X), size))
        assert model.score(X, Y) > 0.8


@pytest.mark.parametrize("factor", [np.inf, np.nan, -1.0])
def test_class_weights_are_finite(factor):
    with pytest.raises(ValueError, match="class_weight must be finite and not negative"):
        OC1Classifier(**QUICK, class_weight={1: factor, 2: 1.0}).fit(X, Y)


def test_huge_weights_of_classes_and_examples_together():
    expected = OC1Classifier(**QUICK, class_weight={1: 2.0, 2: 1.0}).fit(X, Y, np.full(len(X), 2.0**52))
    model = OC1Classifier(**QUICK, class_weight={1: 2.0**900, 2: 2.0**899}).fit(X, Y, np.full(len(X), 2.0**900))
    assert model.tree_.asks_the_same(expected.tree_)


@pytest.mark.parametrize("criterion", ["squared_error", "absolute_error"])
@pytest.mark.parametrize("exponent", [-390, -150, 150, 256, 398])
def test_only_ratios_of_targets_matter(criterion, exponent):
    unit = 2.0**exponent
    of_loss = unit if criterion == "absolute_error" else unit**2
    here, there = (
        OC1Regressor(criterion=criterion, ccp_alpha=0.003 * loss, min_impurity_decrease=0.001 * loss, **QUICK).fit(X, y)
        for y, loss in ((NUMBERS, 1.0), (NUMBERS * unit, of_loss))
    )
    assert here.get_n_leaves() > 1
    assert here.tree_.asks_the_same(there.tree_)
    np.testing.assert_array_equal(here.predict(X) * unit, there.predict(X))
    np.testing.assert_array_equal(here.tree_.losses * of_loss, there.tree_.losses)
    np.testing.assert_array_equal(here.feature_importances_, there.feature_importances_)
    for name, factor in (("alpha", of_loss), ("leaves", 1), ("loss", of_loss)):
        np.testing.assert_array_equal(here.pruning_path_[name] * factor, there.pruning_path_[name])
    assert there.get_params()["ccp_alpha"] == 0.003 * of_loss


@pytest.mark.parametrize(("size", "advice"), [(1e200, "divide"), (1e-200, "multiply")])
def test_targets_whose_squares_are_no_numbers_are_refused(size, advice):
    with pytest.raises(ValueError, match=f"beyond what can be squared: {advice} them first"):
        OC1Regressor(**QUICK).fit(X, NUMBERS * size)
    assert target_unit(np.zeros(3)) == 1.0


def test_tiny_attributes_are_refused():
    tiny = X * [1.0, 1e-310]
    for learner in (OC1Classifier(**QUICK), OC1Regressor(**QUICK), CARTClassifier()):
        with pytest.raises(ValueError, match=r"the attribute number 2 has no value beyond .*, too small"):
            learner.fit(tiny, Y)
    check_attributes(np.array([1e-310, 0.0, np.inf]), np.array([1e-310, 1.0, -np.inf]), ())
    with pytest.raises(ValueError, match="the attribute 'b'"):
        check_attributes(np.array([0.0, 0.0]), np.array([1.0, 5e-324]), ("a", "b"))


def test_an_attribute_that_is_tiny_in_one_part_only_does_no_harm():
    # All but one of its values are tiny: where that one is kept back, it is as good as constant.
    moved = np.column_stack([X, np.where(np.arange(len(X)) == 7, 1.0, X[:, 0] * 1e-315)])
    model = OC1Classifier(prune="cv", normalize="standard", **QUICK).fit(moved, Y)
    assert model.score(moved, Y) > 0.8


@pytest.mark.parametrize(
    "name",
    ["max_depth", "max_leaf_nodes", "min_samples_oblique", "n_restarts"],
)
@pytest.mark.parametrize("learner", [OC1Classifier, OC1Regressor])
def test_whole_numbers_end_where_compiled_code_ends(learner, name):
    with pytest.raises(ValueError, match=f"'{name}' parameter"):
        learner(**{**QUICK, name: 2**63}).fit(X, Y)
    if name != "n_restarts":
        learner(**{**QUICK, name: 2**63 - 1}).fit(X, Y)


@pytest.mark.parametrize("name", ["min_samples_split", "min_samples_leaf"])
@pytest.mark.parametrize("learner", [OC1Classifier, OC1Regressor])
def test_least_numbers_of_examples_have_no_end(learner, name):
    """As in scikit-learn's trees: what compiled code cannot hold is more than there are, like what it just can."""
    assert learner(**QUICK).fit(X, Y).get_n_leaves() > 1
    for limit in (2**63 - 1, 2**63, 2**70, np.uint64(2**63)):
        model = learner(**{**QUICK, name: limit}).fit(X, Y)
        assert model.get_n_leaves() == 1
        assert getattr(model, name) == limit


def test_smoothing_is_checked_when_it_is_used():
    vote = OC1EnsembleClassifier(OC1Classifier(**QUICK), 2, random_state=0)
    for model in (OC1Classifier(**QUICK), C45Classifier(), vote):
        model.fit(X, Y)
        for wrong in (-1.0, np.nan, np.inf):
            model.set_params(smoothing=wrong)
            with pytest.raises(ValueError, match="smoothing must be from 0"):
                model.predict_proba(X)
        assert np.isfinite(model.set_params(smoothing=1e300).predict_proba(X)).all()
