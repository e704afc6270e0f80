from oc1 import OC1Classifier
from oc1.experiments import data as loaders
from oc1.experiments.data import KNOWN
from oc1.experiments.definitions import ARTIFICIAL, Published, make_experiments


def test_experiments_have_unique_cells_and_pairs_that_exist():
    for experiment in make_experiments().values():
        keys = [(cell.data, cell.learner) for cell in experiment.cells]
        assert len(keys) == len(set(keys))
        assert set(experiment.data) <= {*loaders.ARTIFICIAL, *KNOWN}
        for a, b in experiment.pairs:
            assert all({(name, a), (name, b)} <= set(keys) for name in experiment.data)


def test_the_paper_s_values_stand_beside_the_right_learners():
    experiments = make_experiments()
    for name, n_cells in (("table1", 6 * 6), ("table2", 3 * 10)):
        known = [cell for cell in experiments[name].cells if cell.paper]
        assert len(known) == n_cells
        assert all(cell.paper.accuracy and cell.paper.leaves_sd for cell in known)
    cells = {(c.data, c.learner): c for experiment in ("table1", "table2") for c in experiments[experiment].cells}
    assert cells["diabetes", "C4.5"].paper == Published(71.4, 3.3, 56.3, 7.9)
    assert cells["bright", "OC1"].paper == cells["bright", "OC1 paper"].paper == Published(98.9, 0.2, 4.3, 1.0)
    assert cells["RCB", "OC1 0:20 paper"].paper == Published(99.3, 0.3, 19.7, 0.8, 1778)
    assert (
        cells["RCB", "OC1 0:20 paper"].estimator.get_params()
        == OC1Classifier(preset="paper", n_restarts=0, n_jumps=20, prune=None).get_params()
    )
    assert cells["POL", "SADT"].paper.hyperplanes == 85594
    paper = cells["iris", "OC1 paper"].estimator
    assert (paper.preset, paper.n_restarts, paper.n_jumps) == ("paper", 20, 5)
    assert (paper.prune_fraction, paper.criterion) == (0.1, "twoing")
    assert cells["iris", "OC1"].estimator.get_params() == OC1Classifier().get_params()
    assert cells["iris", "OC1-AP"].estimator.get_params() == OC1Classifier(preset="paper", splits="axis").get_params()
    assert {data for data, learner in cells if learner == "CART-LC"} == {*experiments["table1"].data, *ARTIFICIAL}


def test_claims_are_judged_in_the_setting_of_their_table():
    estimators = [cell.estimator for cell in make_experiments()["measures"].cells]
    assert {(own.preset, own.n_restarts, own.n_jumps, own.prune) for own in estimators if own.splits != "axis"} == {
        ("paper", 20, 20, None)
    }
