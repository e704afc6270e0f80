import os
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LinearRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from oc1 import OC1Classifier
from oc1.evaluation.protocol import FoldRecord, corrected_t_test, cross_validate, derive_seed, nested, seeded, summarise


def timeless(records):
    return [replace(record, seconds=0.0) for record in records]


def record(learner, repeat, fold, n_correct, n_test=20, leaves=2, seconds=0.0):
    return FoldRecord("data", learner, repeat, fold, n_test, n_correct, leaves, 1, 10, 4, seconds)


class Spy(DummyClassifier):
    """Remembers, for all copies, what it was trained on and with which seed."""

    seen: list = []  # noqa: RUF012

    def fit(self, X, y):
        Spy.seen.append((tuple(np.asarray(X)[:, 0]), self.random_state))
        return super().fit(X, y)


def test_partitions_are_shared_by_learners_differ_between_repeats_and_cover_all_examples():
    X, y = np.arange(60.0).reshape(-1, 1), np.repeat([0, 1, 2], 20)
    Spy.seen.clear()
    records = cross_validate({"a": Spy(), "b": Spy()}, X, y, repeats=2, folds=5)
    assert len(records) == len(Spy.seen) == 2 * 2 * 5
    by_fold = [Spy.seen[i : i + 2] for i in range(0, 20, 2)]
    assert all(one == other for one, other in by_fold)  # same examples, same seed
    tests = [set(X[:, 0]) - set(examples) for (examples, _), _ in by_fold]
    for repeat in (tests[:5], tests[5:]):
        assert sorted(number for test in repeat for number in test) == list(X[:, 0])
        assert all(np.bincount([y[int(number)] for number in test]).tolist() == [4, 4, 4] for test in repeat)
    assert {frozenset(test) for test in tests[:5]} != {frozenset(test) for test in tests[5:]}
    assert len({seed for (_, seed), _ in by_fold}) == 10


def test_records_do_not_depend_on_jobs_or_on_the_other_contestants(noisy):
    X, y = noisy
    tree, quick = DecisionTreeClassifier(splitter="random"), OC1Classifier(n_restarts=2)
    alone = cross_validate({"tree": tree}, X, y, repeats=2, seed=4, data="noisy")
    both = cross_validate({"OC1": quick, "tree": tree}, X, y, repeats=2, seed=4, data="noisy", n_jobs=2)
    assert timeless(alone) == timeless(record for record in both if record.learner == "tree")
    assert [record.key for record in both] == sorted((record.key for record in both), key=lambda key: key[1:])
    other = cross_validate({"tree": tree}, X, y, repeats=2, seed=5, data="noisy")
    assert [r.n_correct for r in other] != [r.n_correct for r in alone]


def test_records_hold_what_the_model_is(rcb):
    X, y = rcb
    contestants = {"OC1": OC1Classifier(n_restarts=2), "pipe": make_pipeline(StandardScaler(), OC1Classifier())}
    contestants |= {"tree": DecisionTreeClassifier(), "k-NN": KNeighborsClassifier()}
    called = []
    records = cross_validate(contestants, X, y, repeats=1, folds=3, on_record=called.append)
    assert sorted(called, key=id) == sorted(records, key=id)
    assert sum(record.n_test for record in records) == 4 * len(y)
    by_name = {record.learner: record for record in records}
    assert by_name["pipe"].leaves >= 8
    assert by_name["OC1"].hyperplanes > 0
    assert by_name["tree"].leaves > by_name["OC1"].leaves
    assert by_name["tree"].hyperplanes is None
    assert (by_name["k-NN"].leaves, by_name["k-NN"].depth) == (None, None)
    assert all(record.seconds > 0 for record in records)


def test_frames_with_names_reach_the_learners(pol):
    X, y = pol
    frame = pd.DataFrame(X, columns=["a", "b"])
    labels = pd.Series(np.where(y == 1, "x", "o"), index=np.arange(len(y)) + 7)
    named = cross_validate({"OC1": OC1Classifier(n_restarts=1)}, frame, labels, repeats=1)
    plain = cross_validate({"OC1": OC1Classifier(n_restarts=1)}, X, labels.to_numpy(), repeats=1)
    assert timeless(named) == timeless(plain)


def test_summary_pools_folds_and_takes_the_deviation_over_repeats():
    # Folds of 10 and 30 examples: pooling is not the mean of the folds' accuracies.
    first = [record("a", 0, 0, 10, 10, leaves=2, seconds=1.0), record("a", 0, 1, 15, 30, leaves=4, seconds=2.0)]
    second = [record("a", 1, 0, 5, 10, leaves=5, seconds=9.0), record("a", 1, 1, 30, 30, leaves=7, seconds=2.0)]
    (summary,) = summarise(first + second)
    assert summary.accuracy == pytest.approx((62.5 + 87.5) / 2)
    assert summary.accuracy_sd == pytest.approx(np.std([62.5, 87.5], ddof=1))
    assert (summary.leaves, summary.leaves_sd) == pytest.approx((4.5, np.std([3, 6], ddof=1)))
    assert (summary.repeats, summary.hyperplanes, summary.hyperplanes_sd, summary.seconds) == (2, 10, 0, 2.0)
    assert (summary.terms, summary.terms_sd) == (4, 0)
    assert summarise((first + second)[::-1]) == [summary]
    (once,) = summarise(first)
    assert (once.repeats, once.accuracy_sd, once.leaves_sd) == (1, None, None)
    (unsized,) = summarise([replace(r, leaves=None) for r in first])
    assert (unsized.leaves, unsized.leaves_sd, unsized.depth) == (None, None, 1)
    with pytest.raises(ValueError, match="two records"):
        summarise([*first, first[0]])


def test_nested_chooses_inside_the_training_folds(rcb):
    X, y = rcb
    chooser = nested(DecisionTreeClassifier(), {"max_depth": [1, 12]})
    records = cross_validate({"chosen": chooser, "stump": DecisionTreeClassifier(max_depth=1)}, X, y, repeats=1)
    chosen, stump = summarise(records)
    assert chosen.accuracy > stump.accuracy + 30
    assert chosen.leaves > 2
    again = cross_validate({"chosen": chooser}, X, y, repeats=1)
    assert timeless(again) == timeless(records[:5])


def test_every_random_state_inside_is_set_and_the_original_left_alone():
    original = nested(make_pipeline(StandardScaler(), OC1Classifier(random_state=1)), {"oc1classifier__n_jumps": [1]})
    copy = seeded(original, 99)
    assert copy.get_params()["estimator__oc1classifier__random_state"] == 99
    assert original.get_params()["estimator__oc1classifier__random_state"] == 1
    assert len({derive_seed(), derive_seed(0), derive_seed(0, 0), derive_seed(1), derive_seed(0, 1)}) == 5


def test_corrected_t_test_is_the_formula():
    rng = np.random.default_rng(0)
    right = {name: rng.integers(10, 20, size=10) for name in "ab"}
    records = [record(name, i // 5, i % 5, int(n)) for name, numbers in right.items() for i, n in enumerate(numbers)]
    found = corrected_t_test(records, "a", "b")
    differences = 5.0 * (right["a"] - right["b"])  # 20 examples a fold
    statistic = differences.mean() / np.sqrt((1 / 10 + 20 / 80) * differences.var(ddof=1))
    assert found == pytest.approx((differences.mean(), statistic, 2 * stats.t.sf(abs(statistic), 9)))
    back = corrected_t_test(records[::-1], "b", "a")
    assert back == pytest.approx((-found.difference, -found.statistic, found.p_value))
    assert found.p_value > stats.ttest_1samp(differences, 0).pvalue


def test_corrected_t_test_without_variance():
    same = [record(name, 0, fold, 15) for name in "ab" for fold in range(5)]
    assert corrected_t_test(same, "a", "b") == (0, 0, 1)
    better = [replace(r, n_correct=16) if r.learner == "a" else r for r in same]
    assert corrected_t_test(better, "b", "a") == (-5, -np.inf, 0)


def test_corrected_t_test_needs_shared_folds_of_one_set():
    records = [record(name, 0, fold, 15) for name in "ab" for fold in range(5)]
    with pytest.raises(ValueError, match="same folds"):
        corrected_t_test(records[1:], "a", "b")
    with pytest.raises(ValueError, match="'c'"):
        corrected_t_test(records, "a", "c")
    with pytest.raises(ValueError, match="twice"):
        corrected_t_test(records, "a", "a")
    other = [replace(r, data="other") for r in records]
    with pytest.raises(ValueError, match="several data sets"):
        corrected_t_test(records + other, "a", "b")
    assert corrected_t_test(records + other, "a", "b", data="other").p_value == 1


@pytest.mark.parametrize(
    ("contestants", "options", "message"),
    [
        ({}, {}, "no contestants"),
        ({"line": LinearRegression()}, {}, "'line' is not"),
        ({"class": GaussianNB}, {}, "'class' is not"),
        ({"bayes": GaussianNB()}, {"repeats": 0}, "at least 1 repeat"),
        ({"bayes": GaussianNB()}, {"folds": 1}, "from 2 to 600 folds"),
        ({"bayes": GaussianNB()}, {"seed": -1}, "seed"),
    ],
)
def test_bad_input_is_named(pol, contestants, options, message):
    with pytest.raises(ValueError, match=message):
        cross_validate(contestants, *pol, **options)


WORKER = """
import sys, time
from oc1.evaluation.protocol import end_with_parent
end_with_parent(int(sys.argv[1]))
print("started", flush=True)
time.sleep(2)
print("alive")
"""
STARTER = """
import os, subprocess, sys
pid = os.getpid() if sys.argv[1] == "its parent" else os.getppid()
subprocess.Popen([sys.executable, "-c", sys.argv[2], str(pid)])
sys.stdin.readline()
"""


@pytest.mark.skipif(os.name != "posix", reason="asks for the parent of a process")
@pytest.mark.parametrize(("whom", "said"), [("its parent", ""), ("another process", "alive\n")])
def test_a_worker_ends_with_its_parent_and_only_with_that(whom, said):
    starter = [sys.executable, "-c", STARTER, whom, WORKER]
    with subprocess.Popen(starter, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "started\n"
        process.stdin.close()  # now it ends
        assert process.stdout.read() == said
