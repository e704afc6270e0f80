import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oc1 import OC1Classifier
from oc1.tree.printable import MINUS
from oc1.tree.wording import looks_like, number, percent, terms_of, wrapped, write_number


@given(st.floats(allow_nan=False, allow_infinity=False), st.integers(1, 17))
def test_numbers_keep_their_digits(value, digits):
    written = number(value, digits)
    assert float(written.replace(MINUS, "-")) == pytest.approx(float(f"{value:.{digits}g}"), rel=1e-15)
    assert "-" not in written.replace("e-", "")
    assert "+" not in written
    if value == 0 or 1e-5 <= abs(value) < 1e9:
        assert "e" not in written


@given(st.floats(-1e6, 1e6), st.floats(1e-6, 1e3))
def test_thresholds_stay_between_their_examples(value, gap):
    assert abs(float(write_number(value, 3, gap).replace(MINUS, "-")) - value) <= max(0.25 * gap, 1e-9 * abs(value))


@given(st.floats(0, 1))
def test_only_all_is_all_and_only_nothing_is_nothing(share):
    written = percent(share)
    assert (written == "100%") == (share == 1)
    assert (written == "0%") == (share == 0)
    assert math.isclose(float(written.strip("<>%")), 100 * share, abs_tol=0.1)


@given(st.lists(st.text("abc ", min_size=1).filter(str.strip), min_size=1), st.integers(1, 40))
def test_words_stay_whole_where_they_fit(words, width):
    lines = wrapped(words, width)
    assert all(len(line) <= width for line in lines)
    assert "".join("".join(lines).split()) == "".join("".join(words).split())


def test_terms_are_ordered_by_what_they_do_to_the_test(noisy):
    X, y = noisy
    model = OC1Classifier(random_state=0).fit(X * np.array([1, 100, 0.01, 1]), y)
    tree = model.tree_
    for node in np.flatnonzero(~tree.is_leaf).tolist():
        terms = terms_of(tree, node)
        shares = [term.share for term in terms]
        assert shares == sorted(shares, reverse=True)
        assert sum(shares) == pytest.approx(1)
        features, coefficients, _ = tree.test(node)
        sizes = np.abs(coefficients) * tree.scale[features]
        known = dict(zip(features.tolist(), sizes / sizes.sum(), strict=True))
        assert {term.feature: term.share for term in terms} == pytest.approx(known)
    assert not terms_of(tree, int(np.flatnonzero(tree.is_leaf)[0]))


def test_what_a_node_looks_like(noisy):
    X, y = noisy
    tree = OC1Classifier(random_state=0).fit(X, y).tree_
    label, share, weight = looks_like(tree, 0)
    assert weight == len(y)
    assert share == max(np.bincount(y)) / len(y)
    assert label == str(np.bincount(y).argmax())
