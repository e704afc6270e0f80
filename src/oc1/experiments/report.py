"""Results beside the paper's values: Markdown, and a page that needs no other file.

All functions take the entries that `oc1.experiments.reproduce` writes to ``results.json``.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping
from html import escape
from pathlib import Path
from typing import Any

from .contest import EXPLANATION, accuracy_table, place_table

Entry = Mapping[str, Any]
Row = list[tuple[str, float | None]]  # the text of each cell, and its difference in standard deviations where known

#: Differences from the paper, in its standard deviations: small up to the first, large beyond the second.
SMALL_DIFFERENCE, LARGE_DIFFERENCE = 1.0, 2.0

STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; color: #1c1c1c; max-width: 85em; margin: 2em auto; padding: 0 1em; }
table { border-collapse: collapse; margin: 1em 0; display: block; overflow-x: auto; }
th, td { padding: .2em .7em; border-bottom: 1px solid #ddd; text-align: right; white-space: nowrap; }
th:first-child, td:first-child, .names td:nth-child(2), .names th:nth-child(2) { text-align: left; }
th { border-bottom: 2px solid #888; }
.near { background: #d9efdc; } .off { background: #fdf0c8; } .far { background: #f8d3cd; }
.note { color: #555; } img { max-width: 100%; } figure { margin: 1em 0; }
"""


def difference(ours: float | None, paper: float | None, deviation: float | None) -> float | None:
    """Return the difference from the paper's value in its standard deviations; None if it does not give both."""
    if ours is None or paper is None or not deviation:
        return None
    return (ours - paper) / deviation


def _value(mean: float | None, deviation: float | None = None, digits: int = 1) -> str:
    if mean is None:
        return "-"
    text = f"{mean:,.{digits}f}"
    return text if deviation is None else f"{text}±{deviation:.{digits}f}"


def _signed(value: float | None) -> str:
    return "-" if value is None else f"{value:+.1f}"


def result_table(entry: Entry, seconds: Mapping[str, float] | None = None) -> tuple[list[str], list[Row]]:
    """Return header and rows of the main table; columns for which the paper has no values are left out."""
    papers = [cell["paper"] or {} for cell in entry["cells"]]
    header = ["data", "learner"]
    compared = [name for name in ("accuracy", "leaves", "hyperplanes") if any(p.get(name) is not None for p in papers)]
    deviating = [name for name in compared if any(p.get(f"{name}_sd") for p in papers)]
    for name, unit in (("accuracy", " %"), ("leaves", ""), ("hyperplanes", "")):
        header.append(f"{name}{unit}")
        if name in compared:
            header.append(entry.get("source", "paper"))
            if name in deviating:
                header.append("difference (sd)")
    header.append("depth")
    if seconds:
        header.append("seconds per fit")
    rows: list[Row] = []
    for cell, paper in zip(entry["cells"], papers, strict=True):
        row: Row = [(cell["data"], None), (cell["learner"], None)]
        for name in ("accuracy", "leaves", "hyperplanes"):
            digits = 0 if name == "hyperplanes" else 1
            ours = cell[name]
            row.append((_value(ours, cell[f"{name}_sd"] if digits else None, digits), None))
            if name in compared:
                row.append((_value(paper.get(name), paper.get(f"{name}_sd"), digits), None))
                if name in deviating:
                    away = difference(ours, paper.get(name), paper.get(f"{name}_sd"))
                    row.append((_signed(away), away))
        row.append((_value(cell["depth"], cell["depth_sd"]), None))
        if seconds:
            taken = seconds.get(f"{cell['data']} / {cell['learner']}")
            row.append(("-" if taken is None else f"{taken:.3f}", None))
        rows.append(row)
    return header, rows


def mean_table(entry: Entry) -> tuple[list[str], list[Row]]:
    """Return each learner's mean over the data sets, where there are several that all learners saw."""
    run = [cell for cell in entry["cells"] if cell["accuracy"] is not None]
    names = list(dict.fromkeys(cell["data"] for cell in run))
    learners: dict[str, list[Entry]] = {}
    for cell in run:
        learners.setdefault(cell["learner"], []).append(cell)
    if len(names) < 2 or any(len(cells) != len(names) for cells in learners.values()):
        return [], []
    rows: list[Row] = []
    for learner, cells in learners.items():
        accuracy = sum(cell["accuracy"] for cell in cells) / len(cells)
        leaves = [cell["leaves"] for cell in cells if cell["leaves"] is not None]
        size = _value(sum(leaves) / len(leaves)) if len(leaves) == len(cells) else "-"
        rows.append([(learner, None), (f"{accuracy:.2f}", None), (size, None)])
    return [f"mean of {len(names)} sets", "accuracy %", "leaves"], rows


def pair_table(entry: Entry) -> tuple[list[str], list[Row]]:
    """Return the tests of differences between two learners."""
    rows: list[Row] = []
    for test in entry["tests"]:
        name = f"{test['a']} - {test['b']}"
        numbers = (f"{test['difference']:+.2f}", f"{test['p_value']:.3f}")
        rows.append([(test["data"], None), (name, None), *((number, None) for number in numbers)])
    return (["data", "learners", "difference", "p"], rows) if rows else ([], [])


def settings_line(entry: Entry) -> str:
    """Return how the results were obtained, in one line."""
    run = entry["run"]
    repeats = run["repeats"]
    size = f", artificial data of {run['n_samples']} points" if "n_samples" in run else ""
    how = f"oc1 {run['version']}, {repeats} x {run['folds']}-fold cross-validation, seed {run['seed']}{size}. "
    if "contest" in entry:
        found = {(name.split(",")[0], *versions) for name, versions in entry["contest"]["versions"].items()}
        peers = sorted(" ".join(known) for known in found if not known[0].startswith("OC1"))
        return f"{how}With {', '.join(peers)}. {EXPLANATION}"
    return (
        f"{how}"
        "Mean±standard deviation over the repeats; differences in the paper's standard deviations. "
        'A learner named "... paper" has the paper\'s settings (normalize="positive"), others have today\'s defaults.'
    )


def _tables(entry: Entry, seconds: Mapping[str, Any] | None) -> list[tuple[list[str], list[Row]]]:
    """Return the tables of an experiment."""
    if "contest" in entry:
        plain = [accuracy_table(entry["contest"], seconds, entry["failures"]), place_table(entry["contest"])]
        return [(header, [[(text, None) for text in row] for row in rows]) for header, rows in plain]
    tables = [result_table(entry, seconds), mean_table(entry), pair_table(entry)]
    return [(header, rows) for header, rows in tables if rows]


def _preface(entry: Entry) -> tuple[str, str]:
    """Return what the claim is, and the claim."""
    return "Question" if "contest" in entry else entry.get("source", "paper").capitalize(), entry["claim"]


def _notes(entry: Entry) -> list[str]:
    """Return what was not run or failed, in lines."""
    failures = [f"No result: {cell}: {reason}" for cell, reason in entry.get("failures", {}).items()]
    return [*(f"Not run: {line}" for line in entry["skipped"]), *failures]


def markdown(entry: Entry, seconds: Mapping[str, float] | None = None) -> str:
    """Return an experiment's tables in Markdown."""
    parts = [f"# {entry['title']}", ": ".join(_preface(entry)), settings_line(entry), *_notes(entry)]
    parts += [_markdown_table(header, rows) for header, rows in _tables(entry, seconds)]
    return "\n\n".join(parts) + "\n"


def _markdown_table(header: list[str], rows: Iterable[Row]) -> str:
    lines = [header, ["---"] * len(header), *([text for text, _ in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _html_table(header: list[str], rows: Iterable[Row]) -> str:
    def cell(text: str, away: float | None) -> str:
        shade = ""
        if away is not None:
            shade = "near" if abs(away) <= SMALL_DIFFERENCE else "off" if abs(away) <= LARGE_DIFFERENCE else "far"
        return f'<td class="{shade}">{escape(text)}</td>' if shade else f"<td>{escape(text)}</td>"

    names = ' class="names"' if header[1] in ("learner", "learners") else ""
    head = "".join(f"<th>{escape(name)}</th>" for name in header)
    body = "\n".join(f"<tr>{''.join(cell(*item) for item in row)}</tr>" for row in rows)
    return f"<table{names}>\n<tr>{head}</tr>\n{body}\n</table>"


def _picture(path: Path) -> str:
    if path.suffix == ".svg":
        _, start, drawing = path.read_text(encoding="utf-8").partition("<svg")
        return f"<figure>{start}{drawing}</figure>"
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
        PNG or SVG; those of the name "figures" come last.

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
    for name, entry in entries.items():
        body.append(f'<h2 id="{escape(name)}">{escape(entry["title"])}</h2>')
        body.append("<p><b>{}:</b> {}</p>".format(*map(escape, _preface(entry))))
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
