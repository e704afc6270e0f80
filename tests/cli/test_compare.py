"""``oc1 compare``."""

import json

from command_line import run


def test_compare(iris):
    done = run("compare", "iris.csv", "--repeats", 1, "--learner", "c45")
    assert "logistic regression" in done.stdout
    assert "C4.5" in done.stdout
    assert "findings" in json.loads(run("compare", "iris.csv", "--repeats", 1, "--json").stdout)
