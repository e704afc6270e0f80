"""Results beside the paper's values: Markdown, and a page that needs no other file.

All functions take the entries that `oc1.experiments.reproduce` writes to ``results.json``.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable, Mapping
from html import escape
from pathlib import Path
from typing import Any

from .claims import HEADER as CLAIMS_HEADER
from .claims import claims_summary, claims_table

Entry = Mapping[str, Any]
Table = tuple[list[str], list[list[str]]]  # header and rows

#: The column of differences from the paper, in its standard deviations: small up to the first, large beyond the second.
DIFFERENCE = "difference (sd)"
SMALL_DIFFERENCE, LARGE_DIFFERENCE = 1.0, 2.0

#: What a run that is smaller than the paper's says of itself.
QUICK = "QUICK: fewer cross-validations or points than in the paper. The numbers cannot be compared with the paper's."
STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; color: #1c1c1c; max-width: 85em; margin: 2em auto; padding: 0 1em; }
table { border-collapse: collapse; margin: 1em 0; display: block; overflow-x: auto; }
th, td { padding: .2em .7em; border-bottom: 1px solid #ddd; text-align: right; white-space: nowrap; }
th:first-child, td:first-child, .names td:nth-child(2), .names th:nth-child(2) { text-align: left; }
th { border-bottom: 2px solid #888; }
.near { background: #d9efdc; } .off { background: #fdf0c8; } .far { background: #f8d3cd; }
.words td { text-align: left; white-space: normal; vertical-align: top; min-width: 9em; }
.note { color: #555; } img { max-width: 100%; } figure { margin: 1em 0; }
"""


def difference(ours: float | None, paper: float | None, deviation: float | None) -> float | None:
    """Return the difference from the paper's value in its standard deviations; None if it does not give both."""
    if ours is None or paper is None or not deviation:
        return None
    return (ours - paper) / deviation


def _value(cell: Entry, name: str, digits: int = 1) -> str:
    """Write a mean, and its standard deviation where it is known; hyperplanes without one."""
    mean, deviation = cell.get(name), cell.get(f"{name}_sd")
    if mean is None:
        return "-"
    return f"{mean:,.{digits}f}" + (f"±{deviation:.{digits}f}" if deviation is not None and digits else "")


def result_table(entry: Entry, seconds: Mapping[str, float] | None = None) -> Table:
    """Return header and rows of the main table; columns for which the paper has no values are left out."""
    cells = entry["cells"]
    papers = [cell["paper"] or {} for cell in cells]
    columns = [("data", [cell["data"] for cell in cells]), ("learner", [cell["learner"] for cell in cells])]
    for name, unit, digits in (("accuracy", " %", 1), ("leaves", "", 1), ("hyperplanes", "", 0)):
        columns.append((f"{name}{unit}", [_value(cell, name, digits) for cell in cells]))
        if any(paper.get(name) is not None for paper in papers):
            columns.append(("paper", [_value(paper, name, digits) for paper in papers]))
        if any(paper.get(f"{name}_sd") for paper in papers):
            pairs = zip(cells, papers, strict=True)
            away = [difference(cell[name], paper.get(name), paper.get(f"{name}_sd")) for cell, paper in pairs]
            columns.append((DIFFERENCE, ["-" if one is None else f"{one:+.1f}" for one in away]))
    columns.append(("depth", [_value(cell, "depth") for cell in cells]))
    if seconds:
        taken = [seconds.get(f"{cell['data']} / {cell['learner']}") for cell in cells]
        columns.append(("seconds per fit", ["-" if one is None else f"{one:.3f}" for one in taken]))
    header, texts = zip(*columns, strict=True)
    return list(header), [list(row) for row in zip(*texts, strict=True)]


def mean_table(entry: Entry) -> Table:
    """Return each learner's mean over the data sets, where there are several that all learners saw."""
    learners: dict[str, list[Entry]] = {}
    for cell in entry["cells"]:
        if cell["accuracy"] is not None:
            learners.setdefault(cell["learner"], []).append(cell)
    n_sets = len({cell["data"] for cells in learners.values() for cell in cells})
    if n_sets < 2 or any(len(cells) != n_sets for cells in learners.values()):
        return [], []
    rows = []
    for learner, cells in learners.items():
        means = [
            None if None in values else sum(values) / n_sets
            for values in ([cell[name] for cell in cells] for name in ("accuracy", "leaves"))
        ]
        rows.append([learner, f"{means[0]:.2f}", _value({"leaves": means[1]}, "leaves")])
    return [f"mean of {n_sets} sets", "accuracy %", "leaves"], rows


def pair_table(entry: Entry) -> Table:
    """Return the tests of differences between two learners."""
    rows = [
        [test["data"], f"{test['a']} - {test['b']}", f"{test['difference']:+.2f}", f"{test['p_value']:.3f}"]
        for test in entry["tests"]
    ]
    return ["data", "learners", "difference", "p"], rows


def settings_line(entry: Entry) -> str:
    """Return how the results were obtained, in one line."""
    run = entry["run"]
    repeats = run["repeats"]
    size = f", artificial data of {run['n_samples']} points" if "n_samples" in run else ""
    how = f"oc1 {run['version']}, {repeats} x {run['folds']}-fold cross-validation, seed {run['seed']}{size}. "
    return (
        f"{how}"
        "Mean±standard deviation over the repeats; differences in the paper's standard deviations. "
        'A learner named "... paper" has the paper\'s settings (preset="paper"), "OC1" alone today\'s defaults.'
    )


def _tables(entry: Entry, seconds: Mapping[str, Any] | None) -> list[Table]:
    """Return the tables of an experiment, without empty ones."""
    return [table for table in (result_table(entry, seconds), mean_table(entry), pair_table(entry)) if table[1]]


def _notes(entry: Entry) -> list[str]:
    """Return what was not run, in lines, and whether the run was a quick one."""
    return [*([QUICK] if entry.get("is_quick") else []), *(f"Not run: {line}" for line in entry["skipped"])]


def claims_markdown(entries: Mapping[str, Entry]) -> str:
    """Return what the paper claims, and what came of it, in Markdown."""
    header, rows = claims_table(entries)
    if not rows:
        return ""
    return "\n\n".join([*claims_notes(entries), markdown_table(header, rows)]) + "\n"


def claims_notes(entries: Mapping[str, Entry]) -> list[str]:
    """Return how many claims hold, and whether that is known from a quick look only."""
    quick = [name for name, entry in entries.items() if entry.get("is_quick")]
    return [*([f"{QUICK} ({', '.join(quick)})"] if quick else []), claims_summary(entries)]


def markdown(entry: Entry, seconds: Mapping[str, float] | None = None) -> str:
    """Return an experiment's tables in Markdown."""
    parts = [f"# {entry['title']}", f"Paper: {entry['claim']}", settings_line(entry), *_notes(entry)]
    parts += [markdown_table(header, rows) for header, rows in _tables(entry, seconds)]
    return "\n\n".join(parts) + "\n"


def markdown_table(header: list[str], rows: list[list[str]]) -> str:
    """Return a table in Markdown."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _html_table(header: list[str], rows: list[list[str]]) -> str:
    def cell(column: str, text: str) -> str:
        if column != DIFFERENCE or text == "-":
            bold = re.sub(r"\*\*(.+?)\*\*", r"<b>\1</b>", escape(text))
            return f"<td>{bold}</td>"
        away = abs(float(text))
        shade = "near" if away <= SMALL_DIFFERENCE else "off" if away <= LARGE_DIFFERENCE else "far"
        return f'<td class="{shade}">{escape(text)}</td>'

    kinds = {"learner": "names", "learners": "names", CLAIMS_HEADER[1]: "words"}
    kind = f' class="{kinds[header[1]]}"' if header[1] in kinds else ""
    head = "".join(f"<th>{escape(name)}</th>" for name in header)
    body = "\n".join(f"<tr>{''.join(map(cell, header, row))}</tr>" for row in rows)
    return f"<table{kind}>\n<tr>{head}</tr>\n{body}\n</table>"


def _picture(path: Path) -> str:
    content = base64.b64encode(path.read_bytes()).decode()
    name = escape(path.stem.replace("-", " ").replace("_", " "))
    return f'<figure><img alt="{name}" src="data:image/png;base64,{content}"></figure>'


def page(
    entries: Mapping[str, Entry],
    seconds: Mapping[str, Mapping[str, float]] | None = None,
    pictures: Mapping[str, Iterable[Path]] | None = None,
) -> str:
    """Return all experiments as one HTML page with its style and pictures inside.

    Parameters
    ----------
    entries : dict of name to entry
    seconds : dict of name to seconds per fit, optional
    pictures : dict of name to files, optional
        PNG; those of the name "figures" come last.

    Returns
    -------
    str
    """
    pictures = pictures or {}
    body = [
        "<h1>OC1: the paper's experiments repeated</h1>",
        (
            '<p class="note">Cells are coloured by the difference in the paper\'s standard deviations: '
            f'<span class="near">up to {SMALL_DIFFERENCE:g}</span>, '
            f'<span class="off">up to {LARGE_DIFFERENCE:g}</span>, <span class="far">more</span>.</p>'
        ),
    ]
    header, rows = claims_table(entries)
    if rows:
        body.append("<h2>What the paper claims</h2>")
        body += [*(f'<p class="note">{escape(line)}</p>' for line in claims_notes(entries)), _html_table(header, rows)]
    for name, entry in entries.items():
        body.append(f'<h2 id="{escape(name)}">{escape(entry["title"])}</h2>')
        body.append(f"<p><b>Paper:</b> {escape(entry['claim'])}</p>")
        body.append(f'<p class="note">{escape(settings_line(entry))}</p>')
        body += [f'<p class="note">{escape(line)}</p>' for line in _notes(entry)]
        body += [_html_table(header, rows) for header, rows in _tables(entry, (seconds or {}).get(name))]
        body += [_picture(path) for path in pictures.get(name, ())]
    if pictures.get("figures"):
        body.append("<h2>Figures</h2>")
        body += [_picture(path) for path in pictures["figures"]]
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>OC1: the paper repeated</title>\n'
        f"<style>{STYLE}</style>\n</head>\n<body>\n" + "\n".join(body) + "\n</body>\n</html>\n"
    )
