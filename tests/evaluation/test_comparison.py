import json
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pytest
from reading_html import Rows
from sklearn.datasets import load_iris, make_classification
from sklearn.neighbors import KNeighborsClassifier

import oc1
from oc1 import OC1Classifier, OC1EnsembleClassifier, compare
from oc1.datasets import make_ls10, make_pol
from oc1.evaluation.comparison import AXIS, LINEAR, MAJORITY, OBLIQUE, TREE, VOTE, Comparison
from oc1.tree.notebooks import ShownInNotebooks

QUICK = {"repeats": 1, "random_state": 0, "progress": False}
#: Leaves out what a test does not need.
FEW = {VOTE: None, TREE: None}


def rows(comparison):
    return {row["learner"]: row for row in comparison.table}


def steps(n=300):
    """Two classes on the two sides of a diagonal, so far apart that stairs are as good as a line."""
    rng = np.random.default_rng(0)
    place, y = rng.integers(5, size=n), rng.integers(2, size=n)
    X = np.column_stack([place + y, place + 1 - y]) + rng.uniform(-0.2, 0.2, size=(n, 2))
    return X, y


def one_attribute(n=500):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 3))
    return X, np.where(rng.random(n) < 0.05, X[:, 0] <= 0.3, X[:, 0] > 0.3)


# --- advice


def test_oblique_splits_pay():
    comparison = compare(*make_pol(1000, random_state=0), learners=FEW, **QUICK)
    found = rows(comparison)
    assert comparison.findings == ("oblique",)
    assert comparison.advice.startswith("Oblique splits pay on these data")
    for name in (OBLIQUE, AXIS):
        assert f"{found[name]['accuracy']:.1f} %" in comparison.advice
        assert f"{found[name]['leaves']:.1f}" in comparison.advice
    assert found[AXIS]["difference"] < -2
    assert found[AXIS]["p_value"] < 0.05
    assert found[OBLIQUE]["p_value"] is None


def test_oblique_splits_pay_in_size():
    comparison = compare(*steps(), learners=FEW, **QUICK)
    found = rows(comparison)
    assert comparison.findings[0] == "smaller"
    assert "pay in size" in comparison.advice
    assert found[OBLIQUE]["leaves"] < found[AXIS]["leaves"] - 1


def test_axis_parallel_splits_do_as_well():
    comparison = compare(*one_attribute(), learners=FEW, **QUICK)
    assert comparison.findings[0] == "axis"
    assert "do not pay" in comparison.advice
    assert "axis-parallel tree" in comparison.advice


def test_axis_parallel_splits_are_better():
    guess = OC1Classifier(max_depth=0)  # stands in for an oblique tree that fails
    comparison = compare(*one_attribute(), learners={OBLIQUE: guess, **FEW, LINEAR: None}, **QUICK)
    assert comparison.findings == ("axis",)
    assert "no clear difference" not in comparison.advice


def test_a_linear_model_does_as_well():
    X, y = make_ls10(500, random_state=0)
    y = np.where(np.random.default_rng(0).random(500) < 0.05, 3 - y, y)
    plain = OC1Classifier(prune="holdout")  # today's default does better
    comparison = compare(X, y, learners={OBLIQUE: plain, **FEW}, **QUICK)
    assert comparison.findings == ("oblique", "linear")
    assert f"{rows(comparison)[LINEAR]['accuracy']:.1f} %" in comparison.advice


def test_a_linear_model_is_better():
    X, y = make_ls10(500, random_state=0)
    comparison = compare(X, y, learners={OBLIQUE: OC1Classifier(splits="axis", max_depth=2), **FEW}, **QUICK)
    assert comparison.findings[1:] == ("linear",)
    assert "clearly more accurate than the oblique tree" in comparison.advice


def test_the_vote_gains():
    X, y = make_classification(1200, 12, n_informative=10, n_classes=4, random_state=0)
    quick = OC1Classifier(n_restarts=0, n_jumps=0, prune=None)
    both = {OBLIQUE: quick, VOTE: OC1EnsembleClassifier(quick, bootstrap=True), TREE: None}
    comparison = compare(X, y, learners=both, **QUICK)
    assert "vote" in comparison.findings
    found = rows(comparison)
    assert found[VOTE]["accuracy"] > found[OBLIQUE]["accuracy"]
    assert f"the vote gains: {found[VOTE]['accuracy']:.1f} %" in comparison.advice


def test_nothing_beats_the_majority():
    rng = np.random.default_rng(0)
    comparison = compare(rng.normal(size=(200, 3)), rng.random(200) < 0.3, learners=FEW, **QUICK)
    assert comparison.findings == ("majority",)
    assert f"{rows(comparison)[MAJORITY]['accuracy']:.1f} %" in comparison.advice


def test_too_few_examples_to_tell():
    X, y = make_classification(50, 4, n_informative=3, n_redundant=0, class_sep=0.9, random_state=2)
    comparison = compare(X, y, learners=FEW, **QUICK)
    assert comparison.findings[0] == "unclear"
    assert "too few examples" in comparison.advice


def test_other_learners_take_part():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(400, 2))
    y = (np.floor(5 * X).sum(axis=1) % 2).astype(int)  # a board of a hundred fields
    others = {"neighbour": KNeighborsClassifier(1), OBLIQUE: OC1Classifier(max_depth=2)}
    comparison = compare(X, y, learners=others | FEW, **QUICK)
    assert comparison.findings[-1] == "others" or comparison.findings == ("majority",)
    assert list(rows(comparison)) == [OBLIQUE, AXIS, LINEAR, MAJORITY, "neighbour"]


# --- the result


@pytest.fixture(scope="module")
def whole():
    X, y = load_iris(return_X_y=True)
    return compare(X, y, folds=3, repeats=2, random_state=0, progress=False)


def test_the_text_is_an_aligned_table_and_a_paragraph(whole):
    lines = str(whole).splitlines()
    assert lines[0] == "150 examples, 4 attributes, 3 classes; 2 x 3-fold cross-validation"
    end = lines.index("", 2)
    table = lines[2:end]
    assert [line.split("  ")[0] for line in table[1:]] == [OBLIQUE, AXIS, VOTE, TREE, LINEAR, MAJORITY]
    assert len({line.rindex(".", 0, 33) for line in table[1:]}) == 1
    assert " ".join(lines[end + 1 :]) == whole.advice
    assert max(map(len, lines)) <= 80


def test_a_notebook_shows_the_same_table_with_the_best_marked(whole):
    bundle = whole._repr_mimebundle_()
    assert bundle["text/plain"] == repr(whole) == str(whole)
    table = Rows(bundle["text/html"])
    assert [row[0] for row in table.rows[1:]] == [OBLIQUE, AXIS, VOTE, TREE, LINEAR, MAJORITY]
    assert all(cell in line for row, line in zip(table.rows, str(whole).splitlines()[2:], strict=False) for cell in row)
    accuracies = [row["accuracy"] for row in whole.table]
    assert table.marked[1:] == [accuracy == max(accuracies) for accuracy in accuracies]
    assert whole.advice.split(";")[0] in bundle["text/html"]


def test_names_of_learners_are_escaped(whole):
    table = [{**whole.table[0], "learner": "<script>"}]
    assert "<script" not in replace(whole, table=table)._repr_html_()


def test_the_dictionary_is_json(whole):
    values = json.loads(json.dumps(whole.to_dict()))
    assert values["advice"] == whole.advice
    assert values["table"][0]["learner"] == OBLIQUE
    assert (values["folds"], values["repeats"], values["n_samples"]) == (3, 2, 150)
    assert len(whole.records) == 6 * 6


def test_trees_have_sizes_and_others_have_none(whole):
    found = rows(whole)
    assert {name for name, row in found.items() if row["leaves"] is None} == {LINEAR, MAJORITY}
    assert found[VOTE]["leaves"] > 11
    assert found[MAJORITY]["accuracy"] == pytest.approx(100 / 3, abs=3)
    assert found[TREE]["leaves"] <= 8  # pruned


def test_the_same_seed_gives_the_same_numbers_for_any_number_of_jobs():
    X, y = make_pol(200, random_state=0)
    runs = [
        compare(X, y, repeats=2, learners=FEW, random_state=3, n_jobs=jobs, progress=False).to_dict() for jobs in (1, 2)
    ]
    for run in runs:
        for row in run["table"]:
            del row["seconds"]
    assert runs[0] == runs[1]


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_frames_string_labels_and_missing_values_are_welcome(frame):
    X, y = make_pol(200, random_state=0)
    expected = compare(X, y, learners=FEW, **QUICK)
    names = np.array(["", "one", "two"])[y]
    given = compare(frame({"a": X[:, 0], "b": X[:, 1]}), names, learners=FEW, **QUICK)
    assert given.findings == expected.findings
    assert rows(given)[OBLIQUE]["accuracy"] == rows(expected)[OBLIQUE]["accuracy"]
    X[::3, 0] = np.nan
    holes = compare(frame({"a": X[:, 0], "b": X[:, 1]}), pd.Series(names), learners={VOTE: None}, **QUICK)
    assert len(holes.table) == 5


def test_importing_the_package_does_not_load_it():
    code = "import oc1, sys; name = 'oc1.evaluation'; assert name not in sys.modules; oc1.compare; sys.modules[name]"
    subprocess.run([sys.executable, "-c", code], check=True)
    assert "compare" in oc1.__all__
    with pytest.raises(AttributeError, match="no attribute 'contrast'"):
        _ = oc1.contrast


# --- errors

TWO = [0, 1] * 10


@pytest.mark.parametrize(
    ("y", "options", "message"),
    [
        ([1] * 20, {}, r"one class only \(1\)"),
        (["a"] * 17 + ["b"] * 3, {}, "class b has 3 examples, fewer than the 5 folds: give folds=3"),
        (["a"] * 19 + ["b"], {}, "class b has 1 example, fewer than the 5 folds: leave the class out"),
        (TWO, {"folds": 1}, "at least 2 folds"),
        (TWO, {"repeats": 0}, "1 repeat"),
        (TWO, {"learners": ["OC1"]}, "learners must be a dictionary"),
        (TWO, {"learners": {"mine": 3}}, "'mine' is not a scikit-learn classifier"),
        (TWO, {"learners": {AXIS: None}}, "'OC1, axis-parallel' cannot be left out"),
        (TWO[:-1], {}, "inconsistent numbers of samples"),
        (np.linspace(0, 1, 20), {}, "continuous"),
    ],
)
def test_errors_are_in_the_user_s_words(y, options, message):
    X = np.arange(20.0)[:, None]
    with pytest.raises(ValueError, match=message):
        compare(X, y, progress=False, **options)


def test_a_rare_class_is_no_obstacle_to_choosing_the_pruning():
    X = np.column_stack([np.arange(12.0), np.zeros(12)])
    comparison = compare(X, [0, 0] + [1] * 10, folds=2, learners={VOTE: None}, **QUICK)
    assert rows(comparison)[TREE]["leaves"] >= 1


def test_an_old_file_stays_where_the_new_one_cannot_be_written():
    # By the tests of what other things save: tests/tree/test_notebooks.py.
    assert Comparison.save is ShownInNotebooks.save
