"""Figures of the paper's Tables 1 and 2 that OC1 with the paper's settings must come near."""

import numpy as np
import pytest
from sklearn.model_selection import StratifiedKFold

from oc1 import OC1Classifier
from oc1.datasets import make_ls10, make_pol, make_rcb

pytestmark = pytest.mark.slow


def cross_validate(X, y, n_repeats, **parameters):
    """Return the mean accuracy in percent, and the mean number of leaves, of 5-fold cross-validations."""
    scores, leaves = [], []
    for seed in range(n_repeats):
        for train, test in StratifiedKFold(5, shuffle=True, random_state=seed).split(X, y):
            clf = OC1Classifier(preset="paper", random_state=seed, **parameters).fit(X[train], y[train])
            scores.append(100 * clf.score(X[test], y[test]))
            leaves.append(clf.get_n_leaves())
    return np.mean(scores), np.mean(leaves)


@pytest.mark.parametrize(
    ("name", "accuracy", "leaves", "deviation"),
    [("cancer", 96.2, 2.8, 0.9), ("iris", 94.7, 3.1, 0.2), ("housing", 82.4, 6.9, 3.2), ("diabetes", 74.4, 5.4, 3.8)],
)
def test_table_1(shared_data, name, accuracy, leaves, deviation):
    table = np.genfromtxt(shared_data / f"{name}.csv", delimiter=",", skip_header=1, dtype=str)
    table = table[(table != "").all(axis=1)]
    X, y = table[:, :-1].astype(float), table[:, -1]
    found = cross_validate(X, y.astype(float) < 21 if name == "housing" else y, 2)
    # The paper has ten cross-validations of other folds: three points of accuracy, one and a half of its deviations.
    assert found[0] == pytest.approx(accuracy, abs=3)
    assert found[1] == pytest.approx(leaves, abs=1.5 * deviation)


@pytest.mark.parametrize(
    ("make", "variant", "accuracy", "leaves"),
    [
        (make_ls10, (0, 0), 89.8, 67.0),
        (make_pol, (0, 0), 98.3, 21.6),
        (make_pol, (20, 0), 99.1, 14.2),
        (make_pol, (20, 20), 99.6, 5.5),
        (make_rcb, (0, 20), 99.3, 19.7),
        (make_rcb, (20, 20), 99.8, 8.7),
    ],
)
def test_table_2(make, variant, accuracy, leaves):
    X, y = make(random_state=0)
    found = cross_validate(X, y, 1, n_restarts=variant[0], n_jumps=variant[1], prune=None)
    # A point and a half of accuracy, a third of the leaves. (RCB is missing for 0:0 and 20:0: without jumps our trees
    # are larger than the paper's, see docs/reproduction.md. POL is missing for 0:20, where they are smaller: 6 leaves.)
    assert found[0] == pytest.approx(accuracy, abs=1.5)
    assert found[1] == pytest.approx(leaves, rel=1 / 3)


def test_randomisation_helps_on_ls10_more_than_in_table_2():
    # 91.5, 95.0 and 97.2 in the paper, with 55.2, 25.6 and 13.9 leaves.
    X, y = make_ls10(random_state=0)
    variants = [(0, 0), (0, 20), (20, 0), (20, 20)]
    found = [cross_validate(X, y, 1, n_restarts=r, n_jumps=j, prune=None) for r, j in variants]
    accuracies, leaves = zip(*found, strict=True)
    assert (np.array(accuracies[1:]) > np.array([91.5, 95.0, 97.2]) - 1).all()
    assert (np.array(leaves[1:]) < np.array([55.2, 25.6, 13.9]) * 4 / 3).all()
    assert accuracies[0] < min(accuracies[1:3]) < max(accuracies[1:3]) < accuracies[3]
    assert leaves[0] > max(leaves[1:3]) > min(leaves[1:3]) > leaves[3]
