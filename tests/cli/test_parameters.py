"""The parameters of the learner as options."""

import inspect
from numbers import Integral, Real

import pytest
from command_line import run

from oc1 import OC1Classifier, load_model
from oc1.cli.parameters import OPTIONS, RENAMED
from oc1.cli.screen import UsageError


def test_every_parameter_of_oc1_is_an_option():
    assert OPTIONS.keys() | RENAMED.keys() == inspect.signature(OC1Classifier).parameters.keys()


@pytest.mark.parametrize("option", OPTIONS.values(), ids=[*OPTIONS])
def test_options_say_what_the_class_does(option):
    default = inspect.signature(OC1Classifier).parameters[option.name].default
    if default is not None:
        assert option.help.endswith(f"(default: {default})")
    constraints = OC1Classifier._parameter_constraints[option.name]
    names = {name for one in constraints if hasattr(one, "options") for name in one.options}
    if option.kind in (int, float):
        assert constraints[0].type is {int: Integral, float: Real}[option.kind]
    if option.kind is str and names:
        assert set(option.choices) - {"none"} == names
        assert ("none" in option.choices) == (None in constraints and default is not None)


@pytest.mark.parametrize(
    ("name", "typed", "expected"),
    [
        ("min_samples_leaf", "5", 5),
        ("min_samples_leaf", "0.1", 0.1),
        ("min_samples_split", "0.5", 0.5),
        ("max_features", "3", 3),
        ("max_features", "0.5", 0.5),
        ("max_features", "sqrt", "sqrt"),
    ],
)
def test_numbers_and_shares_are_told_apart(name, typed, expected):
    value = OPTIONS[name].value(typed)
    assert value == expected
    assert type(value) is type(expected)


@pytest.mark.parametrize(("name", "words"), [("min_samples_leaf", "a number or a share"), ("max_features", "sqrt")])
def test_other_texts_are_no_numbers(name, words):
    with pytest.raises(UsageError, match=words):
        OPTIONS[name].value("few")


def test_help_names_options_not_parameters():
    assert "--order random" in OPTIONS["n_perturbations"].help
    assert not any("`" in option.help for option in OPTIONS.values())


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
