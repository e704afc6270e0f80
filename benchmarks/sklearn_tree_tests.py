"""scikit-learn's own tests of trees, with the learners of this package in the place of its decision trees.

::

python benchmarks/sklearn_tree_tests.py              # OC1Classifier for DecisionTreeClassifier, then the regressors
python benchmarks/sklearn_tree_tests.py classifier -v

The tests are those of the installed scikit-learn (``sklearn.tree.tests.test_tree``), nothing is copied. A case counts
if it makes a tree of the class that was replaced. Where a test is about something that we do not have, `NOT_APPLICABLE`
says what that is; where it wants a tree that the defaults do not grow, such as one that fits perfectly, `SETTINGS` says
with which parameters it gets one.
"""

from __future__ import annotations

import argparse
import io
import os
import sys
from collections import Counter
from contextlib import redirect_stdout
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar, NamedTuple

import pytest
import sklearn.tree

from oc1 import OC1Classifier, OC1Regressor

TESTS = "sklearn.tree.tests.test_tree"

SEVERAL_TARGETS = "several targets at once"
CYTHON = "the Cython code inside of scikit-learn's trees"
RANDOM_SPLITTER = "splitter='random': thresholds at random"
OTHER_LOSSES = "a loss that OC1Regressor does not have: friedman_mse or poisson"
MISSING_NUMBERS = "a learned direction of missing values, which regression trees do not have"

#: What a test, or a case of one, asks for that there is not: by its name, or by ``name[part of the case]``.
NOT_APPLICABLE = {
    "classifier": {
        "test_multioutput": SEVERAL_TARGETS,
        "test_classes_shape": SEVERAL_TARGETS,
        "test_class_weights": SEVERAL_TARGETS,
        "test_class_weight_errors": SEVERAL_TARGETS,
        "test_sparse_input[multilabel]": SEVERAL_TARGETS,
        "test_min_weight_fraction_leaf_on_sparse_input": SEVERAL_TARGETS,
        "test_min_weight_fraction_leaf_with_min_samples_leaf_on_sparse_input": SEVERAL_TARGETS,
        "test_prune_tree_classifier_are_subtrees[multilabel]": SEVERAL_TARGETS,
        "test_pickle": "tree_.capacity, the memory that Cython's tree has allocated",
        "test_build_pruned_tree_py": CYTHON,
        "test_build_pruned_tree_infinite_loop": CYTHON,
        "test_huge_allocations": "memory for max_leaf_nodes leaves that is allocated in advance",
        "test_big_input": "attributes that float32 cannot hold are refused; here they may be doubles",
        "test_almost_constant_feature": "attributes that vary by less than 1e-7 are ignored; here units do not matter",
        "test_importances_gini_equal_squared_error": "compares with a regression tree of scikit-learn",
        "test_apply_path_readonly_all_trees[random]": RANDOM_SPLITTER,
    },
    "regressor": {
        **dict.fromkeys(
            (
                "test_regression_toy[poisson]",
                "test_regression_toy[friedman_mse]",
                "test_diabetes_overfit[poisson]",
                "test_diabetes_overfit[friedman_mse]",
                "test_diabetes_underfit[poisson]",
                "test_diabetes_underfit[friedman_mse]",
                "test_min_impurity_decrease[poisson]",
                "test_min_impurity_decrease[friedman_mse]",
                "test_sparse_criteria[poisson]",
                "test_sparse_criteria[friedman_mse]",
                "test_balance_property[poisson]",
                "test_balance_property[friedman_mse]",
                "test_missing_values_best_splitter_on_equal_nodes_no_missing[poisson]",
                "test_missing_values_best_splitter_on_equal_nodes_no_missing[friedman_mse]",
                "test_regression_tree_missing_values_toy[poisson]",
                "test_regression_tree_missing_values_toy[friedman_mse]",
                "test_missing_values_poisson",
                "test_poisson_vs_mse",
                "test_poisson_zero_nodes",
                "test_friedman_mse_deprecation",
                "test_error",
            ),
            OTHER_LOSSES,
        ),
        **dict.fromkeys(
            (
                "test_multioutput",
                "test_sparse_input[multilabel]",
                "test_min_weight_fraction_leaf_on_sparse_input",
                "test_min_weight_fraction_leaf_with_min_samples_leaf_on_sparse_input",
                "test_prune_tree_regression_are_subtrees[multilabel]",
            ),
            SEVERAL_TARGETS,
        ),
        "test_regression_tree_missing_values_toy": MISSING_NUMBERS,
        "test_splitting_with_missing_values": MISSING_NUMBERS,
        "test_missing_values_is_resilience": MISSING_NUMBERS,
        "test_pickle": "tree_.capacity, the memory that Cython's tree has allocated",
        "test_almost_constant_feature": "attributes that vary by less than 1e-7 are ignored; here units do not matter",
        "test_importances_gini_equal_squared_error": "compares with a classification tree of scikit-learn",
        "test_apply_path_readonly_all_trees[random]": RANDOM_SPLITTER,
    },
}

#: The parameters by which a test gets the tree that it wants: by the name of the test. (FULL: it wants a perfect fit,
#: or as many leaves as it allows. AXIS: it looks at thresholds of single attributes, with scikit-learn's default
#: criterion. DIRECTION: it is about missing values that have a meaning.)
FULL = {"prune": None}
AXIS = {"prune": None, "splits": "axis", "criterion": "gini"}
DIRECTION = {"missing": "direction"}
SETTINGS: dict[str, dict[str, dict[str, Any]]] = {
    "classifier": {
        "test_xor": FULL,
        "test_memory_layout": FULL,
        "test_unbalanced_iris": FULL,
        "test_max_leaf_nodes": FULL,
        "test_with_only_one_non_constant_features": FULL,
        "test_behaviour_constant_feature_after_splits": AXIS,
        "test_sample_weight": AXIS,
        "test_min_impurity_decrease": AXIS,
        "test_missing_values_and_constant_toy": DIRECTION,
    },
    "regressor": {
        test: {**FULL, "min_samples_leaf": 1, "splits": "axis"}
        for test in (
            "test_regression_toy",
            "test_diabetes_overfit",
            "test_diabetes_underfit",
            "test_memory_layout",
            "test_max_leaf_nodes",
            "test_mae",
            "test_min_impurity_decrease",
            "test_with_only_one_non_constant_features",
            "test_behaviour_constant_feature_after_splits",
            "test_regression_tree_missing_values_toy",
            "test_missing_values_best_splitter_on_equal_nodes_no_missing",
            "test_min_weight_leaf_split_level",
            "test_sample_weight_non_uniform",
            "test_splitting_with_missing_values",
            "test_decision_path_hardcoded",
        )
    },
}


class InPlace:
    """A learner that takes the place of one of scikit-learn's: with the settings of the test that is running."""

    settings: ClassVar[dict[str, Any]] = {}
    n_made: ClassVar[int] = 0

    def __new__(cls, **parameters: Any) -> Any:
        """Make an estimator, also where scikit-learn's `splitter` is given."""
        InPlace.n_made += 1
        parameters.pop("splitter", None)
        return super().__new__(cls, **parameters)

    def __post_init__(self) -> None:
        """Take the settings for all parameters that the test has left at their defaults."""
        for own in fields(self):  # type: ignore[arg-type]
            if own.name in InPlace.settings and getattr(self, own.name) == own.default:
                setattr(self, own.name, InPlace.settings[own.name])


@dataclass(kw_only=True, eq=False, repr=False)
class DecisionTreeClassifier(InPlace, OC1Classifier):
    """OC1Classifier, which ignores `splitter`."""

    splitter: str = field(default="best", metadata={"allowed": [str]})


@dataclass(kw_only=True, eq=False, repr=False)
class DecisionTreeRegressor(InPlace, OC1Regressor):
    """OC1Regressor, which ignores `splitter`."""

    splitter: str = field(default="best", metadata={"allowed": [str]})


CLASSES = {"classifier": DecisionTreeClassifier, "regressor": DecisionTreeRegressor}


class Outcome(NamedTuple):
    """How a case ended."""

    case: str
    verdict: str  # "passed", "failed", "not applicable" or "elsewhere": it makes no tree of the class
    why: str = ""

    @property
    def test(self) -> str:
        """The name of the test without that of the case."""
        return self.case.partition("[")[0]


class Recorder:
    """A plugin of pytest that sets up each case and notes how it ended."""

    def __init__(self, place: str):
        self.not_applicable, self.settings = NOT_APPLICABLE[place], SETTINGS[place]
        self.outcomes: list[Outcome] = []

    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        """Choose the settings of a test."""
        InPlace.settings, InPlace.n_made = self.settings.get(item.name.partition("[")[0], {}), 0

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note how a case ended."""
        if report.when != "call" and report.passed:
            return
        case = report.nodeid.partition("::")[2]
        reason = next((why for name, why in self.not_applicable.items() if matches(case, name)), "")
        if InPlace.n_made == 0:
            self.outcomes.append(Outcome(case, "elsewhere"))
        elif reason:
            self.outcomes.append(Outcome(case, "not applicable", reason + (" (but passes)" if report.passed else "")))
        elif report.passed:
            self.outcomes.append(Outcome(case, "passed"))
        else:
            message = getattr(getattr(report.longrepr, "reprcrash", None), "message", str(report.longrepr))
            self.outcomes.append(Outcome(case, "failed", message.strip().splitlines()[0]))


def matches(case: str, name: str) -> bool:
    """Whether a case is the named one, or one of a named test: ``test`` or ``test[part of the case's parameters]``."""
    test, _, part = name.rstrip("]").partition("[")
    own_test, _, own_part = case.rstrip("]").partition("[")
    return test == own_test and part in own_part


def run(place: str, chosen: str = "") -> list[Outcome]:
    """Run the tests with our class in one place."""
    name, recorder = CLASSES[place].__name__, Recorder(place)
    theirs = getattr(sklearn.tree, name)
    setattr(sklearn.tree, name, CLASSES[place])
    sys.modules.pop(TESTS, None)  # the tests bind the classes when they are imported
    try:
        options = ["--pyargs", TESTS, "-q", "-c", os.devnull, "-p", "no:cacheprovider"]
        with redirect_stdout(io.StringIO()):
            pytest.main([*options, *(["-k", chosen] if chosen else [])], plugins=[recorder])
    finally:
        setattr(sklearn.tree, name, theirs)
    return recorder.outcomes


def show(place: str, outcomes: list[Outcome], verbose: bool) -> None:
    """Print a table: each test with its cases, then why some do not apply and others fail."""
    counts = Counter(outcome.verdict for outcome in outcomes)
    applying = counts["passed"] + counts["failed"]
    print(f"\n{CLASSES[place].__mro__[2].__name__} in the place of {CLASSES[place].__name__}")
    print(f"{counts['passed']} of {applying} cases pass, {counts['not applicable']} do not apply, ", end="")
    print(f"{counts['elsewhere']} make no such tree\n")
    print(f"{'test':70} passed  failed  does not apply")
    by_test: dict[str, Counter[str]] = {}
    for outcome in outcomes:
        if outcome.verdict != "elsewhere":
            by_test.setdefault(outcome.test, Counter())[outcome.verdict] += 1
    for test, own in by_test.items():
        note = "".join(f"  {name}={value!r}" for name, value in SETTINGS[place].get(test, {}).items())
        print(f"{test:70} {own['passed']:6}  {own['failed']:6}  {own['not applicable']:14}{note}")
    print("\nDoes not apply:")
    reasons = Counter((outcome.why, outcome.test) for outcome in outcomes if outcome.verdict == "not applicable")
    for (why, test), n in sorted(reasons.items()):
        print(f"  {test} ({n}): {why}")
    print("\nFailed:")
    for outcome in outcomes:
        if outcome.verdict == "failed" or (verbose and outcome.verdict == "elsewhere"):
            print(f"  {outcome.case}: {outcome.why or outcome.verdict}")


def main() -> None:
    """Run what is asked for and print it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("place", nargs="*", help="classifier, regressor; both if none is given")
    parser.add_argument("-k", default="", help="tests, as pytest chooses them")
    parser.add_argument("-v", action="store_true", help="also list the cases that make no such tree")
    given = parser.parse_args()
    for place in given.place or CLASSES:
        show(place, run(place, given.k), given.v)


if __name__ == "__main__":
    main()
