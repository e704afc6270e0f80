"""``oc1 show``."""

import json

from command_line import run


def test_show(model):
    text = run("show", model).stdout
    assert text.startswith("petal_wid > 0.8\n")
    assert "trained on  150 examples of 'species'" in text
    figures = json.loads(run("show", model, "--json").stdout)
    assert figures["leaves"] == 3
    assert figures["trees"][0]["format"] == 1
    assert "0.5 sepal_len" in run("show", model, "--digits", 1).stdout
