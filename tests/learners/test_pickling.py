"""Pickles of this version are read in silence, those of others with a warning that says what to do."""

import copy
import pickle
import warnings

import numpy as np
import pytest
from sklearn.base import clone

from oc1 import OC1Classifier, OC1EnsembleClassifier, OC1Regressor
from oc1.datasets import make_pol
from oc1.learners import pickling

X, Y = make_pol(300, random_state=0)
LEARNERS = {
    "tree": OC1Classifier(splits="axis", random_state=0),
    "vote": OC1EnsembleClassifier(OC1Classifier(splits="axis"), n_estimators=2, random_state=0),
    "regressor": OC1Regressor(splits="axis", random_state=0),
}


@pytest.fixture(params=list(LEARNERS))
def model(request):
    return clone(LEARNERS[request.param]).fit(X, Y)


def test_a_pickle_of_this_version_is_read_in_silence(model):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for again in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
            np.testing.assert_array_equal(again.predict(X), model.predict(X))
            assert vars(again).keys() == vars(model).keys()  # the version is not left behind


def test_a_pickle_of_another_version_is_read_with_a_warning(model, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(pickling, "__version__", "0.0.9")
        old = pickle.dumps(model)
    with pytest.warns(UserWarning, match=r"pickled by version 0\.0\.9 of oc1 .* oc1\.save_model"):
        again = pickle.loads(old)
    np.testing.assert_array_equal(again.predict(X), model.predict(X))


def test_a_pickle_from_before_versions_were_written_is_read_with_a_warning(model, monkeypatch):
    with monkeypatch.context() as patch:
        patch.delattr(pickling.VersionedPickle, "__getstate__")
        old = pickle.dumps(model)
    assert pickling.STAMP.encode() not in old
    with pytest.warns(UserWarning, match=r"pickled by a version before 0\.1\.0 of oc1"):
        again = pickle.loads(old)
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
