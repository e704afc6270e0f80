"""The parameters of the learner as options."""

import inspect
from typing import get_args

import pytest
from command_line import run

from oc1 import OC1Classifier, load_model
from oc1.cli.parameters import OPTIONS, learner_parameters, make_estimator
from oc1.cli.screen import UsageError
from oc1.learners.registry import LEARNERS


@pytest.mark.parametrize("option", OPTIONS, ids=[option.name for option in OPTIONS])
def test_options_say_what_the_class_does(option):
    default = inspect.signature(OC1Classifier).parameters[option.name].default
    kind, declared = get_args(option.annotation)
    if default is not None:
        assert declared.help.endswith(f"(default: {default})")
    constraints = OC1Classifier._parameter_constraints[option.name]
    names = {name for one in constraints if hasattr(one, "options") for name in one.options}
    for value in names:
        assert declared.callback(value) == value
        assert value in declared.help
    assert bool(names) == (str in get_args(kind))
    if names:
        with pytest.raises(Exception, match="unknown name 'oak'; choose from "):
            declared.callback("oak")


@pytest.mark.parametrize("name", LEARNERS)
def test_values_are_checked_before_anything_is_read(name):
    make_estimator(name, {})
    with pytest.raises(UsageError, match="has no parameter 'wings'; it has "):
        make_estimator(name, {"wings": 2})
    number = "n_estimators" if name == "vote" else "max_depth"
    with pytest.raises(ValueError, match=rf"The '{number}' parameter of \w+ must be"):
        make_estimator(name, {number: "some"})


@pytest.mark.parametrize(
    ("typed", "expected"), [("5", 5), ("0.1", 0.1), ("sqrt", "sqrt"), ("none", None), ("True", True), ("1e2", 100.0)]
)
def test_numbers_and_texts_are_told_apart(typed, expected):
    (value,) = learner_parameters(param=[f"max_features={typed}"]).values()
    assert value == expected
    assert type(value) is type(expected)


def test_parameters_reach_the_learner(iris):
    run(
        "train", "iris.csv", "-o", "a.json", "--n-restarts", 7, "--prune", "none", "--splits", "oblique",
        "--criterion", "gini", "--class-weight", "setosa=2", "--seed", 5, "--max-terms", 2,
        "--class-weight", "virginica=0.5", "-P", "min_samples_leaf=3",
    )  # fmt: skip
    given = load_model("a.json").get_params()
    assert (given["n_restarts"], given["prune"], given["splits"]) == (7, None, "oblique")
    assert (given["criterion"], given["random_state"]) == ("gini", 5)
    assert given["class_weight"] == {"setosa": 2.0, "virginica": 0.5}
    assert (given["min_samples_leaf"], given["max_terms"]) == (3, 2)
    run("train", "iris.csv", "-o", "b.json", "-l", "vote", "-P", "n_estimators=3", "-P", "window=0.2", "--holdout", 0)
    assert len(load_model("b.json").estimators_) == 3
    assert load_model("b.json").window == 0.2
