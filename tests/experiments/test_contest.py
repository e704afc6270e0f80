from dataclasses import asdict

import numpy as np
import pytest

from oc1.experiments.contest import standings
from oc1.experiments.trials import TrialRecord


def trial(data, learner, fold, right, seconds=1.0):
    return TrialRecord(data, learner, 0, fold, 100, right, 3, 2, None, 4, seconds, 0.5, "1")


def test_standings_say_who_is_first_and_by_how_much():
    rights = {"ours": (90, 92, 91, 93), "near": (91, 91, 92, 94), "far": (70, 75, 72, 71), "twin": (94, 92, 91, 91)}
    records = [trial("d", name, fold, right) for name, own in rights.items() for fold, right in enumerate(own)]
    contest = standings(records, "ours", 4)
    (one,) = contest["sets"]
    assert one["first"] == ["near", "twin"]
    assert contest["leads"] == {"ours": 0, "near": 1, "far": 0, "twin": 1}
    mine = one["rows"][0]
    assert (mine["accuracy"], mine["behind"]) == (91.5, 0.5)
    assert (mine["leaves"], mine["terms"], mine["ahead"], mine["ahead_se"]) == (3, 4, 0, 0)
    assert [row["ahead"] for row in one["rows"][1:]] == [0.5, -19.5, 0.5]
    assert one["rows"][1]["ahead_se"] == pytest.approx(np.std([1, -1, 1, 1], ddof=1) / 2)
    assert mine["se"] == pytest.approx(np.std([90, 92, 91, 93], ddof=1) / 2)
    assert mine["behind_se"] == pytest.approx(np.std([1, -1, 1, 1], ddof=1) / 2)
    assert one["within_plain"] is True
    assert one["within_paired"] is True
    assert standings(records, "far", 4)["sets"][0]["within_paired"] is False
    assert standings(records, "nobody", 4)["sets"][0]["within_plain"] is None


def test_repeats_do_not_make_the_standard_error_smaller():
    rights = [(0, 90), (1, 94), (2, 92)]
    once = [trial("d", "a", fold, right) for fold, right in rights]
    twice = [*once, *(TrialRecord(**asdict(one) | {"repeat": 1}) for one in once)]
    errors = [standings(records, "a", 3)["sets"][0]["rows"][0]["se"] for records in (once, twice)]
    assert errors[1] == pytest.approx(errors[0] * np.sqrt(4 / 5))  # six values of the same spread, divided by root 3
