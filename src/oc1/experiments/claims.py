"""What the paper claims, and whether it holds: in the paper's own tables, and in our results."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .claim import verdict
from .claims_on_experiments import CLAIMS as ON_EXPERIMENTS
from .claims_on_method import CLAIMS as ON_METHOD

CLAIMS = (*ON_METHOD, *ON_EXPERIMENTS)
HEADER = ["section", "the paper says", "in its tables", "here"]


def claims_table(entries: Mapping[str, Mapping[str, Any]]) -> tuple[list[str], list[list[str]]]:
    """Return header and rows of the claims whose experiments were run.

    Parameters
    ----------
    entries : dict of experiment to entry
        As in ``results.json``.
    """
    rows = [
        [claim.section, claim.text, verdict(claim.published()), verdict(claim.findings(entries))]
        for claim in CLAIMS
        if claim.experiment in entries
    ]
    return HEADER, rows


def claims_summary(entries: Mapping[str, Mapping[str, Any]]) -> str:
    """Return how many claims hold, in a sentence; nothing if no claim is about these experiments."""
    found = [claim.findings(entries).values() for claim in CLAIMS if claim.experiment in entries]
    if not found:
        return ""
    judged = [[holds for holds, _ in findings] for findings in found if findings]
    everywhere, nowhere = sum(map(all, judged)), sum(not any(one) for one in judged)
    parts = [
        f"{everywhere} hold",
        f"{len(judged) - everywhere - nowhere} hold on some data sets only",
        f"{nowhere} do not",
    ]
    if len(found) > len(judged):
        parts.append(f"{len(found) - len(judged)} cannot be judged from these results")
    return f"Of {len(found)} claims, {', '.join(parts)}."
