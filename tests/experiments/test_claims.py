"""Claims of the paper, and the page that says which of them hold."""

import importlib.util
from dataclasses import asdict
from pathlib import Path

import pytest

from oc1.experiments.claims import CLAIMS, claims_table
from oc1.experiments.definitions import make_experiments
from oc1.experiments.report import claims_markdown, page

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


def test_the_paper_s_own_numbers_bear_out_its_claims_but_for_three(published):
    denied = {}
    for claim in CLAIMS:
        findings = claim.findings(published)
        assert findings == claim.findings(published, published=True)
        denied |= {claim.text: [data for data, (holds, _) in findings.items() if not holds]}
    assert {text: sets for text, sets in denied.items() if sets} == {
        "OC1's trees (20:20) are as good as, if not better than, those of LMDT and SADT.": ["LS10"],
        "From each line of Table 2 to the next (0:0, 0:20, 20:0, 20:20) accuracy rises and size falls.": ["POL"],
        "SADT needs 10 to 20 times the search of OC1 20:20.": ["RCB"],
    }


def test_a_verdict_says_where_and_by_which_numbers(published):
    rows = {row[1]: row[3] for row in claims_table(published)[1]}
    assert rows["SADT needs 10 to 20 times the search of OC1 20:20."] == (
        "**holds on LS10, POL, not on RCB**: LS10 11.5 times; POL 17.6 times; RCB 30.9 times"
    )
    assert rows["On dim, C4.5's tree is about six times as large as OC1's (at least five)."].startswith(
        "**holds**: dim"
    )
    for cell in published["table1"]["cells"]:
        assert cell["learner"] != "OC1" or cell["paper"]
    worse = [
        cell | {"accuracy": 50.0} if cell["learner"] == "OC1 paper" else cell for cell in published["table1"]["cells"]
    ]
    first = claims_table({"table1": {"cells": worse}})[1][0]
    assert first[2].startswith("**holds**")
    assert first[3].startswith("**does not hold**: bright 50.0 against 98.8 %")


def test_claims_without_results_are_left_out(entry):
    assert claims_markdown({"tiny": entry}) == ""
    assert "section 4" not in page({"tiny": entry})


def test_the_page_of_a_run_begins_with_the_claims(published, entry):
    whole = entry | {"cells": [cell | {"depth": 1.0, "depth_sd": None} for cell in published["table2"]["cells"]]}
    shown = page({"table2": whole})
    assert "<h2>What section 4 of the paper claims</h2>" in shown
    assert "<b>holds on LS10, RCB, not on POL</b>" in shown


def test_the_documentation_has_the_numbers_that_are_kept():
    spec = importlib.util.spec_from_file_location("make_reproduction", DOCS / "make_reproduction.py")
    making = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(making)
    text = making.KEPT.read_text(encoding="utf-8")
    entries = making.read_kept(text)
    assert making.kept_text(entries) == text
    shown = making.PAGE.read_text(encoding="utf-8")
    assert making.filled(shown, entries) == shown
    said = {row[1] for row in claims_table(entries)[1]}
    assert len(said) >= 25
    assert all(text in shown for text in said)
