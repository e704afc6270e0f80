"""Scores that are added up batch by batch equal those of scikit-learn on everything."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics

from oc1.evaluation.scores import MAX_UNKNOWN_CLASSES, Confusion, Residuals

pairs = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=60)


@given(pairs, st.integers(1, 10))
def test_confusion_in_batches(examples, size):
    truth, predicted = np.array(examples).T
    confusion = Confusion(list("abcd"))
    for first in range(0, len(truth), size):
        confusion.add(truth[first : first + size], predicted[first : first + size])
    assert confusion.counts.tolist() == metrics.confusion_matrix(truth, predicted, labels=range(4)).tolist()
    assert confusion.accuracy == pytest.approx(metrics.accuracy_score(truth, predicted))
    there = np.isin(np.arange(4), truth)
    expected = metrics.recall_score(truth, predicted, labels=range(4), average=None, zero_division=np.nan)
    np.testing.assert_allclose(confusion.recalls[there], expected[there])
    assert np.isnan(confusion.recalls[~there]).all()
    called = np.isin(np.arange(4), predicted)
    expected = metrics.precision_score(truth, predicted, labels=range(4), average=None, zero_division=np.nan)
    np.testing.assert_allclose(confusion.precisions[called], expected[called])


def test_unknown_classes_count_as_wrong():
    confusion = Confusion(["a", "b"])
    confusion.add(np.array([0, -1, -1]), np.array([0, 1, 0]), np.array(["a", "zebra", "yak"], dtype=object))
    confusion.add(np.array([-1]), np.array([1]), np.array(["zebra"], dtype=object))
    assert (confusion.n, confusion.n_correct, confusion.accuracy) == (4, 1, 0.25)
    assert confusion.to_dict()["unknown_classes"] == {"yak": [1, 0], "zebra": [0, 2]}
    assert confusion.precisions.tolist() == [0.5, 0.0]


def test_very_many_unknown_classes_are_counted_together():
    confusion = Confusion(["a", "b"])
    labels = np.array([f"class {i:05}" for i in range(3000)], dtype=object)
    for part in np.array_split(np.arange(3000), 3):
        confusion.add(np.full(len(part), -1), np.zeros(len(part), dtype=int), labels[part])
    assert list(confusion.unknown) == [f"class {i:05}" for i in range(MAX_UNKNOWN_CLASSES)] + ["other classes"]
    assert confusion.unknown["other classes"].tolist() == [3000 - MAX_UNKNOWN_CLASSES, 0]
    assert (confusion.n, confusion.n_correct) == (3000, 0)


def test_too_many_classes_are_refused():
    with pytest.raises(ValueError, match="100,000 classes are too many"):
        Confusion(range(100_000))


def test_no_examples():
    assert np.isnan(Confusion(["a"]).accuracy)
    assert Residuals().to_dict()["examples"] == 0


@given(st.lists(st.tuples(*[st.floats(-100, 100)] * 2), min_size=2, max_size=40), st.integers(1, 7))
def test_residuals_in_batches(examples, size):
    truth, predicted = np.array(examples).T
    residuals = Residuals()
    for first in range(0, len(truth), size):
        residuals.add(truth[first : first + size], predicted[first : first + size])
    figures = residuals.to_dict()
    assert figures["mean_squared_error"] == pytest.approx(metrics.mean_squared_error(truth, predicted))
    assert figures["mean_absolute_error"] == pytest.approx(metrics.mean_absolute_error(truth, predicted))
    if np.ptp(truth) > 1e-3:
        assert figures["r2"] == pytest.approx(metrics.r2_score(truth, predicted), rel=1e-6, abs=1e-6)
