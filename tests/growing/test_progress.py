"""What a fit tells: nodes, moves, and how far it has come."""

import re

import numpy as np
import pytest

from oc1 import OC1Classifier, OC1EnsembleClassifier
from oc1.baselines import C45Classifier, LMDTClassifier
from oc1.datasets import make_ls10, make_rcb
from oc1.growing.progress import MOST_MOVES, watching
from oc1.impurity import MEASURES


@pytest.mark.parametrize("prune", ["auto", None])
def test_listening_changes_nothing(prune, capsys):
    X, y = make_rcb(300, random_state=0)
    fits = [OC1Classifier(prune=prune, verbose=v, n_jobs=jobs, random_state=0) for v, jobs in ((0, 1), (1, 2), (2, 2))]
    trees = [fit.fit(X, y).tree_.to_dict() for fit in fits]
    assert trees[0] == trees[1] == trees[2]


def test_each_inner_node_is_told_once(capsys):
    X, y = make_rcb(300, random_state=0)
    seed = {"verbose": 1, "random_state": 0}
    for model in (OC1Classifier(prune=None, **seed), C45Classifier(verbose=1), LMDTClassifier(prune=None, **seed)):
        model.fit(X, y)
        lines = capsys.readouterr().out.splitlines()
        assert len(lines) == int((~model.unpruned_tree_.is_leaf).sum())
        assert lines[0].startswith("depth 0: 300 examples [")


@pytest.mark.parametrize("criterion", sorted(MEASURES))
def test_moves_never_make_the_split_less_pure(criterion, capsys):
    X, y = make_ls10(300, random_state=0)
    y = np.where(np.random.default_rng(0).random(300) < 0.2, 3, y)  # so that no split is pure
    OC1Classifier(
        criterion=criterion, n_restarts=3, n_jumps=40, prune=None, max_depth=1, verbose=2, random_state=1
    ).fit(X, y)
    where, jumps, steps = {}, 0, 0
    for line in capsys.readouterr().out.splitlines():
        start = re.match(r"  run (\d+): starts at impurity (.*)", line)
        move = re.match(r"  run (\d+): (\S+) (\S+) -> (\S+)", line)
        if start:
            where[start[1]] = float(start[2])
        elif move:
            before, after = float(move[3]), float(move[4])
            assert before == pytest.approx(where[move[1]], rel=1e-5)
            assert after <= before * (1 + 1e-5) + 1e-9
            where[move[1]], jumps, steps = after, jumps + (move[2] == "jump"), steps + 1
    assert len(where) == 3
    assert steps > 10
    assert jumps > 0


@pytest.mark.parametrize("criterion", sorted(MEASURES))
def test_a_split_that_leaves_both_sides_pure_has_no_impurity(criterion, capsys):
    X = np.array([[0.0, 0.0], [1.0, 3.0], [2.0, 1.0], [0.5, 2.5], [1.5, 3.5], [3.0, 4.2]])
    y = X[:, 1] > X[:, 0] + 1.1
    OC1Classifier(criterion=criterion, preset="paper", prune=None, verbose=2, random_state=0).fit(X, y)
    ends = re.findall(r" -> (\S+)\n", capsys.readouterr().out)
    assert ends[-1] == "0"
    assert all(float(end) >= 0.0 for end in ends)


def test_all_examples_reach_their_leaf():
    X, y = make_rcb(500, random_state=0)
    for model in (
        OC1Classifier(splits="axis", prune=None, random_state=0),
        OC1Classifier(prune=None, n_jobs=2, random_state=0),
        C45Classifier(),
        OC1EnsembleClassifier(n_estimators=3, n_jobs=2, random_state=0),
    ):
        seen = []
        with watching(seen.append):
            model.fit(X, y)
        assert seen[-1].settled == seen[-1].started
        assert seen[-1].started % 500 == 0
        assert [growth.settled for growth in seen] == sorted(growth.settled for growth in seen)
    OC1Classifier(random_state=0).fit(X, y)
    assert len(seen) > 0, "nobody is told outside of the block"


def test_a_search_of_many_moves_is_cut_short(capsys, monkeypatch):
    monkeypatch.setattr("oc1.growing.progress.MOST_MOVES", 10)
    X, y = make_rcb(300, random_state=0)
    OC1Classifier(prune=None, max_depth=1, verbose=2, random_state=0).fit(X, y)
    lines = capsys.readouterr().out.splitlines()
    assert sum(line.startswith("  run") for line in lines) == 10
    assert re.search(r"and \d+ more moves", lines[10])
    assert MOST_MOVES > 10
