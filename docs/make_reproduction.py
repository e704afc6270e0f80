"""The tables of reproduction.md: ``python docs/make_reproduction.py FOLDER`` takes them from `oc1 reproduce`'s folder.

The results are kept in reproduction.csv, and a test holds the page to them. Without a folder, the page is written again
from what is kept.
"""

from __future__ import annotations

import csv
import io
import json
import sys
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from oc1.experiments.definitions import make_experiments
from oc1.experiments.report import claims_markdown, markdown_table, mean_table, result_table

PAGE, KEPT = (Path(__file__).with_name(f"reproduction.{ending}") for ending in ("md", "csv"))
NUMBERS = ("accuracy", "accuracy_sd", "leaves", "leaves_sd", "depth", "depth_sd", "hyperplanes", "hyperplanes_sd")
#: What stands between ``<!-- name -->`` and ``<!-- end -->`` on the page, besides the claims.
TABLES: dict[str, Callable[[Mapping[str, Any]], tuple[list[str], list[list[str]]]]] = {
    "table1": result_table,
    "table2": result_table,
    "footnote8": result_table,
    "measures": mean_table,
    "impurity": mean_table,
    "orders": mean_table,
    "jumps": mean_table,
    "restarts": mean_table,
    "votes": mean_table,
}


def kept_text(results: Mapping[str, Mapping[str, Any]]) -> str:
    """Return the results as CSV; they must not be quick ones."""
    if quick := [name for name in TABLES if results.get(name, {}).get("is_quick")]:
        raise ValueError(f"quick results: {', '.join(quick)}; run oc1 reproduce all without --quick")
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["experiment", "data", "learner", *NUMBERS])
    for name in TABLES:
        for cell in results.get(name, {"cells": []})["cells"]:
            numbers = ["" if cell[key] is None else f"{cell[key]:.3f}" for key in NUMBERS]
            writer.writerow([name, cell["data"], cell["learner"], *numbers])
    return text.getvalue()


def read_kept(text: str) -> dict[str, dict[str, Any]]:
    """Return what `kept_text` wrote as entries, with the paper's values beside ours."""
    experiments = make_experiments()
    published = {(name, cell.data, cell.learner): cell.paper for name, one in experiments.items() for cell in one.cells}
    entries: dict[str, dict[str, Any]] = {}
    for row in csv.DictReader(io.StringIO(text)):
        paper = published[row["experiment"], row["data"], row["learner"]]
        numbers = {key: float(row[key]) if row[key] else None for key in NUMBERS}
        names = {"data": row["data"], "learner": row["learner"], "paper": None if paper is None else asdict(paper)}
        entries.setdefault(row["experiment"], {"cells": []})["cells"].append(names | numbers)
    return entries


def filled(page: str, entries: Mapping[str, Mapping[str, Any]]) -> str:
    """Return the page with the tables of these entries; tables of other experiments stay as they are."""
    tables = {name: markdown_table(*TABLES[name](entry)) + "\n" for name, entry in entries.items()}
    for name, table in ({"claims": claims_markdown(entries)} | tables).items():
        before, mark, rest = page.partition(f"<!-- {name} -->\n")
        _, end, after = rest.partition("<!-- end -->")
        if not mark or not end:
            raise ValueError(f"the page has no place for the table of {name}")
        page = f"{before}{mark}\n{table}\n{end}{after}"
    return page


def main() -> None:
    """Write the page."""
    if len(sys.argv) > 1:
        results = json.loads((Path(sys.argv[1]) / "results.json").read_text(encoding="utf-8"))
        KEPT.write_text(kept_text(results), encoding="utf-8")
    entries = read_kept(KEPT.read_text(encoding="utf-8"))
    PAGE.write_text(filled(PAGE.read_text(encoding="utf-8"), entries), encoding="utf-8")


if __name__ == "__main__":
    main()
