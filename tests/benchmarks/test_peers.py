import numpy as np
import pytest
from harness import load
from peers import CONFIGURATIONS, Peer, make_peers, package_of, why_missing
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from oc1 import OC1Classifier


@pytest.mark.parametrize("package", [package for package in CONFIGURATIONS if why_missing(package) is None])
def test_every_configuration_of_an_installed_peer_works(package):
    X, y = load("RCB", 200)
    for peer in make_peers().values():
        if peer.model.package == package:
            model = peer.model.fit(X, y + 5)
            assert np.mean(model.predict(X) == y + 5) > 0.5, peer.name
            assert model.get_n_leaves() > 2
            n_terms = model.get_n_terms()
            assert n_terms is None or n_terms >= model.get_n_leaves() - 1


def test_the_package_of_a_learner_inside_another_is_known():
    assert package_of(OC1Classifier()) is None
    for peer in (
        Peer("STree"),
        make_pipeline(StandardScaler(), Peer("STree")),
        GridSearchCV(Peer("STree"), {"parameters": []}),
    ):
        assert package_of(peer) == "STree"


def test_there_are_some_twenty_configurations_and_none_twice():
    made = [repr(sorted(peer.model.get_params().items(), key=str)) for peer in make_peers().values()]
    assert len(made) == len(set(made)) >= 20
