import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from oc1 import OC1Classifier
from oc1.evaluation.protocol import nested
from oc1.experiments.data import load
from oc1.experiments.peers import CONFIGURATIONS, Peer, make_peers, package_of, why_missing


@pytest.mark.parametrize("package", [package for package in CONFIGURATIONS if why_missing(package) is None])
def test_every_configuration_of_an_installed_peer_works(package):
    data = load("RCB", n_samples=200)
    for name, peer in make_peers().items():
        if peer.package == package:
            model = Peer(**peer.get_params() | {"random_state": 2**32 - 1}).fit(data.X, data.y + 5)
            assert np.mean(model.predict(data.X) == data.y + 5) > 0.5, name
            assert model.get_n_leaves() > 2
            n_terms = model.get_n_terms()
            assert n_terms is None or n_terms >= model.get_n_leaves() - 1


def test_the_package_of_a_learner_inside_another_is_known():
    assert package_of(OC1Classifier()) == "oc1"
    assert package_of(nested(OC1Classifier(), {"prune_se": [0.0]})) == "oc1"
    for peer in (
        Peer("STree"),
        make_pipeline(StandardScaler(), Peer("STree")),
        nested(Peer("STree"), {"parameters": []}),
    ):
        assert package_of(peer) == "STree"


def test_there_are_some_twenty_configurations_and_none_twice():
    made = [repr(sorted(peer.get_params().items(), key=str)) for peer in make_peers().values()]
    assert len(made) == len(set(made)) >= 20
