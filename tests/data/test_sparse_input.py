"""Sparse matrices give the same trees and the same answers as arrays."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import make_pipeline

from oc1 import OC1Classifier, OC1EnsembleClassifier, OC1Regressor, baselines
from oc1.data import sparse_input
from oc1.data.sparse_input import as_dense, by_blocks, dense_blocks

QUICK = {"n_restarts": 2, "n_jumps": 1, "random_state": 0}
LEARNERS = [
    OC1Classifier(**QUICK),
    OC1Classifier(preset="paper", max_features=3, **QUICK),
    OC1Regressor(**QUICK),
    OC1EnsembleClassifier(OC1Classifier(splits="axis", prune=None), n_estimators=3, max_features=0.5, random_state=0),
    baselines.C45Classifier(),
    baselines.LMDTClassifier(max_passes=20, random_state=0),
]
CONTAINERS = [sparse.csr_matrix, sparse.csc_matrix, sparse.coo_matrix, sparse.csr_array, sparse.csc_array]


def some_data(dtype=np.float64) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = np.where(rng.random((120, 8)) < 0.6, 0.0, rng.normal(size=(120, 8))).astype(dtype)
    return X, (X[:, 0] - X[:, 1] + 0.2 * rng.normal(size=120) > 0).astype(int)


def fitted_trees(model) -> list:
    return [own.tree_.to_dict() for own in getattr(model, "estimators_", [model])]


@pytest.mark.parametrize("learner", LEARNERS, ids=lambda learner: type(learner).__name__)
@pytest.mark.parametrize("container", CONTAINERS, ids=lambda kind: kind.__name__)
def test_sparse_is_as_dense(learner, container, monkeypatch):
    monkeypatch.setattr(sparse_input, "BLOCK_BYTES", 1000)  # several blocks
    X, y = some_data()
    dense = learner.fit(X, y)
    expected, answers = fitted_trees(dense), dense.predict(X)
    model = learner.fit(container(X), y)
    assert fitted_trees(model) == expected
    assert_array_equal(model.predict(container(X)), answers)
    for name in ("predict_proba", "apply"):
        if hasattr(model, name):
            assert_array_equal(getattr(model, name)(container(X)), getattr(model, name)(X))
    if hasattr(model, "tree_"):
        assert_array_equal(model.tree_.apply(container(X)), model.tree_.apply(X))
        assert_array_equal(model.decision_path(container(X)).toarray(), model.decision_path(X).toarray())


def test_single_precision_stays_single_and_missing_values_missing():
    X, y = some_data(np.float32)
    X[::9, 2] = np.nan
    own, other = (OC1Classifier(missing="direction", **QUICK).fit(given, y) for given in (sparse.csr_matrix(X), X))
    assert own.tree_.to_dict() == other.tree_.to_dict()
    assert as_dense(sparse.csr_matrix(X)).dtype == np.float32


def test_what_does_not_fit_is_refused_with_the_bytes_needed():
    X = sparse.csr_matrix(([1.0], ([0], [0])), shape=(10**6, 10**7))
    needed = 10**13 * 12
    with pytest.raises(MemoryError, match=f"1,000,000 x 10,000,000 values written out: {needed:,} bytes"):
        OC1Classifier().fit(X, np.arange(10**6) % 2)


def test_a_prediction_never_writes_out_the_whole(monkeypatch):
    X, y = some_data()
    model = OC1Classifier(**QUICK).fit(X, y)
    rows = sparse.csr_matrix(np.tile(X, (30, 1)))
    monkeypatch.setattr(sparse_input, "BLOCK_BYTES", 100 * 8 * 8)
    assert {len(block) for block in dense_blocks(rows)} == {100}
    monkeypatch.setattr(sparse_input, "physical_memory", lambda: 0.0)
    assert_array_equal(model.predict(rows), np.tile(model.predict(X), 30))


def test_an_empty_matrix_has_no_leaves():
    assert by_blocks(lambda rows: rows.sum(axis=1), sparse.csr_matrix((0, 3))).shape == (0,)


def test_wrong_widths_and_categories_are_refused():
    X, y = some_data()
    model = OC1Classifier(**QUICK).fit(sparse.csr_matrix(X), y)
    with pytest.raises(ValueError, match="7 features"):
        model.predict(sparse.csr_matrix(X[:, 1:]))
    with pytest.raises(ValueError, match="the tree has 8 attributes"):
        model.tree_.apply(sparse.csr_matrix(X[:, 1:]))
    with pytest.raises((TypeError, ValueError), match="X is sparse"):
        OC1Classifier(categorical_features=[0]).fit(sparse.csr_matrix(X), y)


def test_words_of_texts():
    texts = ["good film", "bad film", "a good book", "a bad book", "good", "bad"] * 5
    model = make_pipeline(TfidfVectorizer(), OC1Classifier(random_state=0))
    labels = ["bad" not in text for text in texts]
    assert model.fit(texts, labels).score(texts, labels) == 1.0
