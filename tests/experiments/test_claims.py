"""Claims of the paper, and the page that says which of them hold."""

import importlib.util
from dataclasses import asdict
from html import unescape
from pathlib import Path

import pytest

from oc1.experiments.claims import CLAIMS, claims_table
from oc1.experiments.definitions import make_experiments
from oc1.experiments.report import QUICK, claims_markdown, markdown, page

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture(scope="module")
def published():
    """Entries whose results are the paper's own."""
    unknown = dict.fromkeys(("accuracy", "accuracy_sd", "leaves", "leaves_sd", "hyperplanes"))
    return {
        name: {
            "cells": [
                (asdict(cell.paper) if cell.paper else unknown)
                | {"data": cell.data, "learner": cell.learner, "paper": asdict(cell.paper) if cell.paper else None}
                for cell in experiment.cells
            ]
        }
        for name, experiment in make_experiments().items()
    }


def test_the_paper_s_own_numbers_bear_out_its_claims_but_for_five(published):
    denied = {}
    for claim in CLAIMS:
        findings = claim.findings(published)
        if claim.section != "Appendix B":  # the paper gives no depths
            assert findings == claim.published()
        denied |= {claim.text: [data for data, (holds, _) in findings.items() if not holds]}
    assert {text: sets for text, sets in denied.items() if sets} == {
        "OC1's trees (20:20) are as good as, if not better than, those of LMDT and SADT.": ["LS10"],
        "From each line of Table 2 to the next (0:0, 0:20, 20:0, 20:20) accuracy rises and size falls.": ["POL"],
        "SADT needs 10 to 20 times the search of OC1 20:20.": ["RCB"],
        "Randomization does not significantly increase the cost (20:20 considers at most twice as much as 0:0).": [
            "LS10",
            "POL",
            "RCB",
        ],
        "On POL and RCB LMDT is significantly less accurate than OC1 (20:20) and SADT (two standard deviations).": [
            "POL",
            "RCB",
        ],
    }


def test_a_verdict_says_where_and_by_which_numbers(published):
    rows = {row[1]: row[3] for row in claims_table(published)[1]}
    assert rows["SADT needs 10 to 20 times the search of OC1 20:20."] == (
        "**holds on LS10, POL, not on RCB**: LS10 11.5 times; POL 17.6 times; RCB 30.9 times"
    )
    assert rows["On dim, C4.5's tree is about six times as large as OC1's (5 to 7 times)."].startswith("**holds**: dim")
    for cell in published["table1"]["cells"]:
        assert cell["learner"] != "OC1" or cell["paper"]
    worse = [
        cell | {"accuracy": 50.0} if cell["learner"] == "OC1 paper" else cell for cell in published["table1"]["cells"]
    ]
    rows = {row[1]: row for row in claims_table({"table1": {"cells": worse}})[1]}
    first = rows["OC1 is more accurate than CART-LC on every data set."]
    assert first[2].startswith("**holds**")
    assert first[3].startswith("**does not hold**: bright 50.0 against 98.8 %")


def cells(data, **learners):
    """Return the cells of one data set: accuracy, leaves and depth by learner, without "OC1" and "paper"."""
    names = ("accuracy", "leaves", "depth")
    return [
        dict(zip(names, numbers, strict=True), data=data, learner=f"OC1 {learner} paper", paper=None)
        for learner, numbers in learners.items()
    ]


def found(text, experiment, *sets):
    """Return where the claim that begins so holds, in results of this experiment."""
    (claim,) = [claim for claim in CLAIMS if claim.text.startswith(text)]
    assert claim.experiment == experiment
    findings = claim.findings({experiment: {"cells": [cell for own in sets for cell in own]}})
    return {data: holds for data, (holds, _) in findings.items()}


def test_a_claim_of_the_average_is_asked_of_each_set_too():
    good, poor = ["info_gain", "gini", "twoing"], ["max_minority", "sum_minority", "sum_of_variances"]
    easy = cells("iris", **dict.fromkeys(good, (95.0, 3.0, 2.0)), **dict.fromkeys(poor, (80.0, 3.0, 2.0)))
    odd = cells("POL", **dict.fromkeys(good, (95.0, 6.0, 2.0)), **dict.fromkeys(poor, (96.0, 5.0, 2.0)))
    said = found("Information gain, Gini and Twoing are better", "impurity", easy, odd)
    assert said == {"mean": True, "iris": True, "POL": False}


def test_no_order_may_be_better_on_every_set():
    one = cells("iris", sequential=(95.0, 3.0, 2.0), best=(94.0, 3.0, 2.0), random=(95.0, 3.0, 2.0))
    other = cells("POL", sequential=(95.0, 3.0, 2.0), best=(95.5, 3.0, 2.0), random=(95.2, 3.0, 2.0))
    assert found("None of the three orders is uniformly better", "orders", one, other) == {"mean": True}
    assert found("None of the three orders is uniformly better", "orders", one) == {"mean": False}


@pytest.mark.parametrize(("leaves", "holds"), [(5.0, False), (15.0, True), (25.0, False)])
def test_a_factor_of_two_is_neither_six_nor_one(leaves, holds):
    sets = cells("POL", **{"0:0": (95.0, 30.0, 9.0), "0:20": (95.0, leaves, 9.0)})
    assert found("Jumps alone make trees on POL", "table2", sets) == {"POL": holds}


@pytest.mark.parametrize(("n_samples", "holds"), [(2000, True), (500, False)])  # log2 of 1600 is 10.6, of 400 8.6
def test_the_depth_of_max_minority_is_compared_with_log_n(n_samples, holds):
    entry = {"run": {"n_samples": n_samples}, "cells": cells("POL", max_minority=(99.0, 30.0, 10.0))}
    (claim,) = [claim for claim in CLAIMS if claim.text.startswith("Trees that minimize Max Minority")]
    assert {data: holds for data, (holds, _) in claim.findings({"measures": entry}).items()} == {"POL": holds}


def test_a_claim_without_data_is_shown_without_a_verdict(published):
    local = [cell for cell in published["table1"]["cells"] if cell["data"] == "iris"]
    rows = {row[1]: row[3] for row in claims_table({"table1": {"cells": local}})[1]}
    assert rows["On dim, C4.5's tree is about six times as large as OC1's (5 to 7 times)."] == "-"
    assert "cannot be judged" in claims_markdown({"table1": {"cells": local}})


def test_quick_results_say_so(published, entry):
    assert QUICK not in claims_markdown(published)
    quick = claims_markdown(published | {"table2": published["table2"] | {"is_quick": True}})
    assert quick.startswith(f"{QUICK} (table2)\n")
    assert entry["is_quick"]
    assert QUICK in markdown(entry)
    assert QUICK in unescape(page({"tiny": entry}))
    assert QUICK not in markdown(entry | {"is_quick": False})


def test_claims_without_results_are_left_out(entry):
    assert claims_markdown({"tiny": entry}) == ""
    assert "What the paper claims" not in page({"tiny": entry})


def test_the_page_of_a_run_begins_with_the_claims(published, entry):
    whole = entry | {"cells": [cell | {"depth": 1.0, "depth_sd": None} for cell in published["table2"]["cells"]]}
    shown = page({"table2": whole})
    assert "<h2>What the paper claims</h2>" in shown
    assert "claims, " in shown
    assert "<b>holds on LS10, RCB, not on POL</b>" in shown


@pytest.fixture
def making():
    """Return the script that writes the page."""
    spec = importlib.util.spec_from_file_location("make_reproduction", DOCS / "make_reproduction.py")
    making = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(making)
    return making


def test_quick_results_are_not_documented(making, published):
    with pytest.raises(ValueError, match="quick results: table1"):
        making.kept_text({"table1": published["table1"] | {"is_quick": True}})


def test_the_documentation_has_the_numbers_that_are_kept(making):
    text = making.KEPT.read_text(encoding="utf-8")
    entries = making.read_kept(text)
    assert making.kept_text(entries) == text
    shown = making.PAGE.read_text(encoding="utf-8")
    assert making.filled(shown, entries) == shown
    said = {row[1] for row in claims_table(entries)[1]}
    assert len(said) >= 45
    assert all(text in shown for text in said)
