import json

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier
from small_experiment import Page

from oc1.evaluation.protocol import nested
from oc1.experiments import reproduce as runner
from oc1.experiments.contest import standings
from oc1.experiments.definitions import Experiment, cross
from oc1.experiments.peers import CLASSES, Peer
from oc1.experiments.report import markdown
from oc1.experiments.suite import (
    critical_difference,
    indistinct_groups,
    overview,
    overview_table,
    rival_table,
    set_table,
)
from oc1.experiments.trials import TrialRecord

#: Right answers of 100 on each of four folds, by data set and learner.
RIGHTS = {
    "one": {"ours": (90, 92, 91, 93), "theirs": (80, 83, 81, 82), "third": (80, 82, 83, 81)},
    "two": {"ours": (70, 71, 70, 71), "theirs": (75, 76, 74, 76), "third": (60, 61, 62, 60)},
    "three": {"ours": (50, 60, 50, 60), "theirs": (60, 51, 60, 50), "third": (40, 41, 40, 41)},
}


def make_contest(rights=RIGHTS):
    records = [
        TrialRecord(data, learner, 0, fold, 100, right, 3, 2, None, 5, 1.0, 0.5, "1")
        for data, learners in rights.items()
        for learner, own in learners.items()
        for fold, right in enumerate(own)
    ]
    return standings(records, "ours", 4)


def test_ranks_wins_and_losses_over_all_sets():
    found = overview(make_contest())
    assert found["data"] == ["one", "two", "three"]
    ours, theirs, third = found["learners"]
    assert [one["rank"] for one in (ours, theirs, third)] == pytest.approx(
        [5 / 3, (2.5 + 1 + 1) / 3, (2.5 + 3 + 3) / 3]
    )
    assert [one["wins"] for one in (ours, theirs, third)] == [1, 2, 0]
    assert ours["lost"] == ["two"]  # on the third set it is behind by less than the standard error
    assert theirs["lost"] == ["one"]
    assert third["lost"] == ["one", "two", "three"]
    assert (ours["accuracy"], ours["leaves"], ours["terms"]) == pytest.approx(((91.5 + 70.5 + 55) / 3, 3, 5))
    assert 0 < found["p_value"] < 1
    assert found["critical_difference"] == critical_difference(3, 3)


def test_a_set_that_a_learner_has_no_result_of_is_left_out_of_the_means():
    rights = RIGHTS | {"two": {"ours": (70, 71, 70, 71), "theirs": (75, 76, 74, 76)}}
    contest = make_contest(rights)
    found = overview(contest)
    assert found["data"] == ["one", "three"]
    header, rows = set_table(contest, None)
    assert header[1:] == ["ours", "theirs", "third"]
    assert rows[1] == ["two", "70.5 / 3.0 / 5.0", "**75.2** / 3.0 / 5.0", "-"]
    without = overview(make_contest({"one": {"ours": (1, 2, 1, 2)}, "two": {"theirs": (1, 2, 1, 2)}}))
    assert (without["data"], without["p_value"], without["critical_difference"]) == ([], None, None)
    assert overview_table(without, None)[1][0] == ["ours", "-", "-", "-", "-", "-", "0", "0"]


def test_learners_that_are_alike_on_all_sets_are_not_tested():
    same = dict.fromkeys(("ours", "theirs", "third"), (90, 92, 91, 93))
    found = overview(make_contest({"one": same, "two": same}))
    assert found["p_value"] is None
    assert [one["rank"] for one in found["learners"]] == [2, 2, 2]
    assert [one["wins"] for one in found["learners"]] == [2, 2, 2]


def test_tables_say_where_ours_loses():
    contest = make_contest()
    times = {f"{data} / {learner}": {"seconds": 0.25} for data in RIGHTS for learner in ("ours", "theirs", "third")}
    assert set_table(contest, times)[1][0][:2] == ["one", "**91.5** / 3.0 / 5.0 / 0.25"]
    header, rows = overview_table(overview(contest), times)
    assert header[0] == "mean of 3 sets"
    assert [row[0] for row in rows] == ["theirs", "ours", "third"]
    assert rows[1] == ["ours", "72.33", "1.67", "3.0", "5.0", "0.25", "1", "1"]
    _, rivals = rival_table(contest)
    error = np.std([5, 5, 4, 5], ddof=1) / 2
    assert rivals == [["theirs", "1", "0", "2", f"two -4.8±{error:.1f}"], ["third", "3", "0", "0", "-"]]


def test_groups_are_as_long_as_they_can_be_and_none_is_inside_another():
    assert indistinct_groups([1.0, 2.0, 3.0], 5.0) == [(0, 2)]
    assert indistinct_groups([1.0, 2.0, 3.0], 0.5) == []
    assert indistinct_groups([1.0, 1.8, 2.5, 2.6, 4.0], 1.0) == [(0, 1), (1, 3)]


def test_a_suite_is_run_ranked_and_drawn(tmp_path, monkeypatch):
    alphas = {"parameters": [{"ccp_alpha": alpha} for alpha in (0.0, 0.01)]}
    learners = {
        "OC1": DecisionTreeClassifier(max_depth=1),  # nothing to compile
        "scikit-learn, by CV": nested(Peer("scikit-learn"), alphas),
        "absent, scaled": make_pipeline(StandardScaler(), Peer("absent")),
    }
    monkeypatch.setitem(CLASSES, "absent", ("no_such_module", "Tree"))
    settings = {"ours": "OC1", "beyond": True, "is_suite": True, "max_rows": 120}
    suite = Experiment("suite", "A suite", "Who?", cross(("sklearn-iris", "wine"), learners), **settings)
    said = []
    entry = runner.reproduce(suite, tmp_path, repeats=1, say=said.append)
    assert "absent is not installed" in said[0]
    assert entry["run"]["max_rows"] == 120
    assert sum(record[4] for record in entry["records"]) == 2 * 2 * 120  # examples tested on
    rows = {(one["data"], row["learner"]): row for one in entry["contest"]["sets"] for row in one["rows"]}
    peer = rows["sklearn-iris", "scikit-learn, by CV"]
    assert peer["terms"] == peer["leaves"] - 1 > 1
    assert [one["learner"] for one in entry["overview"]["learners"]] == ["OC1", "scikit-learn, by CV"]
    text = (tmp_path / "suite.md").read_text()
    assert "at most 120 rows" in text
    assert "Critical difference of mean ranks: " in text
    assert "| OC1 against |" in text
    assert (tmp_path / "suite-chart.png").stat().st_size > 5000
    assert len(Page((tmp_path / "report.html").read_text()).sources) == 1
    saved = json.loads((tmp_path / "results.json").read_text())["suite"]
    assert markdown(saved, json.loads((tmp_path / "timings.json").read_text())["suite"]) == text
    runner.why_missing.cache_clear()
