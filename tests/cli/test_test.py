"""``oc1 test``."""

import json
import re

import numpy as np
import polars as pl
from command_line import NAMES, iris_frame, run
from sklearn.datasets import load_iris
from sklearn.metrics import confusion_matrix

from oc1 import load_model


def test_test_prints_accuracy_and_confusion(model, iris):
    frame = iris_frame()
    confusion = confusion_matrix(frame["species"], load_model(model).predict(frame.select(NAMES)))
    n_right = np.trace(confusion)
    assert 140 < n_right < 150
    done = run("test", model, "iris.csv")
    assert f"accuracy: {n_right / 150:.2%} ({n_right} of 150 examples)" in done.stdout
    assert re.search(r"virginica +{} +{} +{}".format(*confusion[2]), done.stdout)
    figures = json.loads(run("test", model, "iris.csv", "--json", "--misclassified", "wrong.csv").stdout)
    assert figures["confusion"] == confusion.tolist()
    wrong = pl.read_csv("wrong.csv")
    assert len(wrong) == 150 - n_right
    assert frame["species"][wrong["row"].to_list()].to_list() == wrong["class"].to_list()


def test_unknown_classes_count_as_wrong(model, iris):
    frame = iris_frame().with_columns(pl.col("species").replace("setosa", "rose"))
    frame.write_csv("roses.csv")
    n_right = (frame["species"].to_numpy() == load_model(model).predict(frame.select(NAMES))).sum()
    done = run("test", model, "roses.csv")
    assert f"accuracy: {n_right / 150:.2%} ({n_right} of 150 examples)" in done.stdout
    assert re.search(r"rose \(unknown\) +50 +0 +0", done.stdout)
    assert "the model does not know class 'rose'" in done.stderr


def test_integer_classes_that_begin_at_zero(iris):
    data = load_iris()
    pl.DataFrame(data.data, schema=NAMES).with_columns(species=pl.Series(data.target)).write_csv("numbers.csv")
    run("train", "numbers.csv")
    assert load_model("numbers.json").classes_.tolist() == [0, 1, 2]
    assert json.loads(run("test", "numbers.json", "numbers.csv", "--json").stdout)["accuracy"] > 0.97


def test_the_confusion_matrix_of_very_many_classes_is_left_out(iris):
    for n_classes, is_printed in ((100, True), (101, False)):
        labels = [f"c{k}" for k in range(n_classes)]
        pl.DataFrame({"x": range(n_classes), "label": labels}).select(pl.all().repeat_by(3).explode()).write_csv(
            "many.csv"
        )
        run("train", "many.csv", "--learner", "axis", "--holdout", "0")
        done = run("test", "many.json", "many.csv")
        assert ("true \\ predicted" in done.stdout) == is_printed
        assert (f"The confusion matrix of {n_classes} classes is left out" in done.stdout) != is_printed
    assert len(json.loads(run("test", "many.json", "many.csv", "--json").stdout)["confusion"]) == 101
