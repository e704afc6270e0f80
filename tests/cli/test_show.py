"""``oc1 show``."""

import io
import json
import re
import subprocess
import sys

import pytest
from command_line import run
from waiting import MAX_WAIT_SECONDS

from oc1 import load_model
from oc1.cli import screen


def test_show(model):
    text = run("show", model).stdout
    assert re.match(r"#0 .*petal_wid.* > ", text)
    assert "trained on  150 examples of 'species' in iris.csv, 20" in text
    assert re.search(r"accuracy    [\d.]+% on 30 held-out examples, [\d.]+% on 150 training examples", text)
    assert "numpy" in text
    figures = json.loads(run("show", model, "--json").stdout)
    assert figures["leaves"] == 3
    assert figures["trees"][0]["format"] == 1
    numbers = [
        re.findall(r"([\d.]+) (?:petal|sepal)_", own) for own in (text, run("show", model, "--digits", 1).stdout)
    ]
    assert max(len(number.strip("0.").replace(".", "")) for number in numbers[0]) > 1
    assert max(len(number.strip("0.").replace(".", "")) for number in numbers[1]) == 1


def test_showing_a_tree_imports_nothing_large(model):
    large = {"sklearn", "scipy", "numba", "pandas", "polars", "matplotlib"}
    code = f"""
import sys
from oc1.__main__ import main
sys.argv[1:] = ["show", sys.argv[1]]
try:
    main()
except SystemExit:
    pass
print(*{large!r} & set(sys.modules), file=sys.stderr)
"""
    done = subprocess.run(
        [sys.executable, "-c", code, str(model)], capture_output=True, text=True, check=True, timeout=MAX_WAIT_SECONDS
    )
    assert "petal_wid" in done.stdout
    assert done.stderr.split() == []


def test_show_is_the_same_as_for_the_estimator(model):
    fitted = load_model(model)
    figures = json.loads(run("show", model, "--json").stdout)
    assert figures["learner"] == type(fitted).__name__
    assert figures["depth"] == fitted.get_depth()
    shown = {own["name"]: own["importance"] for own in figures["attributes"]}
    importances = dict(zip(fitted.feature_names_in_, fitted.feature_importances_, strict=True))
    assert shown == pytest.approx({name: own for name, own in importances.items() if own > 0})


def test_show_a_part_of_the_tree(model):
    n_terms = load_model(model).tree_.terms_of_nodes
    node = run("show", model, "--node", 2).stdout
    assert node.startswith("node #2: 100 examples, 50% versicolor, reached by #0 yes\n")
    rows = re.findall(r"^(petal|sepal)_(?:len|wid) +\S+ +([\d.]+)%$", node, re.MULTILINE)
    assert len(rows) == n_terms[2] > 1
    assert sum(float(share) for _, share in rows) == pytest.approx(100, abs=0.2)
    assert "setosa" not in node
    assert "... (2 leaves)" in run("show", model, "--depth", 1).stdout
    assert run("show", model, "--max-terms", 1).stdout.count(" more (") == (n_terms > 1).sum()
    assert "more" not in run("show", model, "--all-terms").stdout.split("learner")[0]
    assert "the nodes 0 to 4" in run("show", model, "--node", 5, code=2).stderr
    assert "exclude each other" in run("show", model, "--all-terms", "--max-terms", 1, code=2).stderr


def test_output_that_has_no_minus_sign(monkeypatch):
    shown = []
    monkeypatch.setattr(screen.sys, "stdout", io.TextIOWrapper(io.BytesIO(), encoding="cp1252"))
    monkeypatch.setattr(screen.typer, "echo", shown.append)
    screen.say("\N{MINUS SIGN}1.5 x + \N{HORIZONTAL ELLIPSIS} \N{SNOWMAN}")
    assert shown == ["-1.5 x + ... ?"]


def test_sentences_end_their_lines_between_words_in_a_terminal(model, monkeypatch):
    terminal = io.StringIO()
    terminal.isatty = lambda: True
    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.setattr("sys.stdout", terminal)
    screen.say_words("word " * 30)
    lines = terminal.getvalue().splitlines()
    assert len(lines) == 5
    assert max(map(len, lines)) <= 40
    assert {word for line in lines for word in line.split()} == {"word"}
    text = run("show", model).stdout
    assert "The terms that matter most come first." in text  # none is left out
    assert max(map(len, text.splitlines())) <= 110  # a file gets whole sentences
    assert "the number of terms left out" in run("show", model, "--max-terms", 1).stdout
