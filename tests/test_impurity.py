import naive
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oc1 import OC1Classifier, impurity
from oc1.datasets import make_pol
from oc1.impurity import MEASURES, get_measure

COUNTS = st.lists(st.integers(0, 20), min_size=2, max_size=6)


@pytest.mark.parametrize("name", sorted(MEASURES))
@settings(max_examples=100, deadline=None)
@given(left=COUNTS, data=st.data())
def test_definitions_agree_with_gains(name, left, data):
    right = data.draw(st.lists(st.integers(0, 20), min_size=len(left), max_size=len(left)))
    left, right = np.array(left, float), np.array(right, float)
    if left.sum() == 0 or right.sum() == 0:
        return
    value = MEASURES[name].impurity(left, right)
    if np.count_nonzero(left) == 1 and np.count_nonzero(right) == 1:
        assert value == 0
        return
    gain = naive.gain(name, left, right)
    n, total = left.sum() + right.sum(), left + right
    unsplit = {
        "gini": 1 - ((total / n) ** 2).sum(),
        "sum_minority": n - total.max(),
        "max_minority": n - total.max(),
    }
    if name in ("twoing", "info_gain"):
        assert value == pytest.approx(1 / gain, rel=1e-6) if gain > 1e-12 else value == np.inf
    elif name == "gini":
        assert value == pytest.approx(unsplit[name] - gain)
    elif name != "sum_of_variances":
        assert value == pytest.approx(unsplit[name] - n * gain)
    else:
        number = impurity.category_numbers(total)
        mean = (total * number).sum() / n
        assert value == pytest.approx((total * (number - mean) ** 2).sum() - n * gain)


def test_values_by_hand():
    left, right = [30, 10], [5, 25]
    assert impurity.twoing(left, right) == pytest.approx(
        1 / (40 / 70 * 30 / 70 * (abs(30 / 40 - 5 / 30) + abs(10 / 40 - 25 / 30)) ** 2)
    )
    assert impurity.gini(left, right) == pytest.approx(
        (40 * (1 - 0.75**2 - 0.25**2) + 30 * (1 - (5 / 30) ** 2 - (25 / 30) ** 2)) / 70
    )
    assert impurity.max_minority(left, right) == 10
    assert impurity.sum_minority(left, right) == 15
    # 10 of category 1 and 3 of another one: renumbered 1 and 2 whatever the other was called (Appendix B).
    assert impurity.sum_of_variances([10, 3, 0, 0, 0], [1, 1, 0, 0, 0]) == impurity.sum_of_variances(
        [10, 0, 0, 0, 3], [1, 0, 0, 0, 1]
    )


def test_the_papers_flaw_of_sum_minority():
    # Appendix B: 50 of category 1, 24 of category 2, 26 of category 1 in a row: every split has sum minority 24.
    row = np.repeat([0, 1, 0], [50, 24, 26])
    values = {
        impurity.sum_minority(np.bincount(row[:cut], minlength=2), np.bincount(row[cut:], minlength=2))
        for cut in range(1, 100)
    }
    assert values == {24.0}
    # Of splits that it cannot tell apart, the one that Gini's index gains most by is made, and growth goes on.
    for own in ("sum_minority", lambda left, right: left.sum() - left.max() + right.sum() - right.max()):
        clf = OC1Classifier(criterion=own, preset="paper", prune=None, random_state=0)
        clf.fit(np.arange(100.0)[:, None], row)
        assert clf.get_n_leaves() == 3
        assert sorted(clf.tree_.thresholds[~clf.tree_.is_leaf]) == [49.5, 73.5]


def test_useless_splits_are_infinitely_impure():
    assert impurity.twoing([10, 20], [1, 2]) == np.inf
    assert impurity.info_gain([10, 20], [1, 2]) == np.inf
    assert impurity.twoing([3, 4], [0, 0]) == np.inf


def own_twoing(left, right):
    n_left, n_right = left.sum(), right.sum()
    n = n_left + n_right
    value = n_left / n * n_right / n * np.abs(left / n_left - right / n_right).sum() ** 2
    return 1 / value if value > 1e-14 else np.inf


@pytest.mark.parametrize("options", [{}, {"splits": "axis"}, {"preset": "paper"}], ids=str)
def test_user_measure_grows_the_same_tree(rcb, options):
    X, y = rcb
    own, built_in = (
        OC1Classifier(criterion=criterion, n_restarts=3, prune=None, random_state=1, **options).fit(X, y).tree_
        for criterion in (own_twoing, "twoing")
    )
    for name in ("children", "features", "coefficients", "thresholds", "counts"):
        np.testing.assert_array_equal(getattr(own, name), getattr(built_in, name))
    assert get_measure(own_twoing).pointers()[0] is get_measure(own_twoing).pointers()[0]  # compiled once


def test_user_measure_sees_counts_of_all_classes(rcb):
    X, y = rcb

    def eight_classes(left, right):
        return own_length(left) if len(left) == 8 else np.nan

    def own_length(left):
        return 0.0

    # Calls a helper that Numba cannot see through: does not compile.
    with pytest.raises(TypeError, match=r"eight_classes.*could not be compiled"):
        OC1Classifier(criterion=eight_classes).fit(X, y)

    def sizes(left, right):
        if len(left) != 8:
            return np.nan
        return np.minimum(left, right).sum()

    assert OC1Classifier(criterion=sizes, n_restarts=1, random_state=0, max_depth=2).fit(X, y).get_depth() <= 2


@pytest.mark.parametrize("compiled", [False, True])
def test_broken_measures_get_clear_errors(compiled):
    X, y = np.arange(40.0).reshape(20, 2), np.arange(20) % 3

    def returns_nan(left, right):
        return np.nan

    def fails(left, right):
        if left[0] >= 0:
            raise ValueError("no luck")
        return 0.0

    def fails_late(left, right):
        if left.sum() == 7:
            raise ZeroDivisionError("seven")
        return np.minimum(left, right).sum()

    def changes(left, right):
        left[0] = 0
        return 1.0

    def returns_text(left, right):
        return "pure"

    def returns_counts(left, right):
        return left + right

    def reads_too_far(left, right):
        return left[3] + right[3]

    def reads_too_far_late(left, right):
        return left[3 if left.sum() == 7 else 0]

    def imports(left, right):
        import math

        return math.sqrt(left.sum())

    for function, error, words in (
        (returns_nan, ValueError, "'returns_nan' returned NaN for left counts"),
        (fails, ValueError, "'fails' failed for left counts.*ValueError: no luck"),
        (fails_late, ValueError, "'fails_late' failed for left counts.*ZeroDivisionError: seven"),
        (changes, ValueError, "'changes' changes its arguments"),
        (returns_text, TypeError, "'returns_text' returned 'pure', a str, for left counts"),
        (returns_counts, TypeError, "'returns_counts' returned array.*must return a number"),
        (reads_too_far, ValueError, "'reads_too_far' failed for left counts.*IndexError: index 3 is out of bounds"),
        (reads_too_far_late, ValueError, "'reads_too_far_late' failed for left counts.*IndexError"),
        (imports, TypeError, r"'imports' imports something, .*; import it above .*test_impurity.py \(\d+\)"),
    ):
        from numba import njit

        clf = OC1Classifier(criterion=njit(function) if compiled else function, splits="axis", prune=None)
        with pytest.raises(error, match=words):
            clf.fit(X, y)
        assert not hasattr(clf, "tree_")


def test_unknown_name_lists_the_known_ones():
    with pytest.raises(ValueError, match=r"'criterion' parameter.*'twoing'"):
        OC1Classifier(criterion="purity").fit([[0.0], [1.0]], [0, 1])
    with pytest.raises(ValueError, match=r"one of .*gini"):
        get_measure("purity")


@pytest.mark.parametrize("alias", ["entropy", "log_loss"])
def test_the_names_of_scikit_learn_mean_information_gain(alias):
    X, y = make_pol(200, random_state=0)
    models = [OC1Classifier(criterion=name, prune=None, random_state=0).fit(X, y) for name in (alias, "info_gain")]
    assert models[0].tree_.to_dict() == models[1].tree_.to_dict()
    assert models[0].get_params()["criterion"] == alias
