"""A recorded search (see `oc1.animation.recording`) as a page of its own: played, stepped through, with a slider."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
from importlib.resources import files
from typing import Any

import numpy as np

from ..files.atomic import write_file
from ..files.problems import FilePath
from ..plotting.partition import box_around
from .frames import LASTS, frames_of, histograms_of, impurity_range, pieces_of
from .recording import JUMP, Line, SearchRecord

#: Points that are drawn.
MAX_POINTS = 2000


def write_page(record: SearchRecord, path: FilePath, *, fps: float = 8.0, max_frames: int = 300) -> int:
    """Write a recorded search as a self-contained HTML page.

    Two attributes are drawn as a plane: the examples, the hyperplane, its previous positions in grey, jumps in a
    different colour, and the best hyperplane so far as a dashed line. For more attributes, a histogram shows the
    examples along the direction of the test. Next to it is the impurity after each step.

    Parameters
    ----------
    record : SearchRecord
    path : str or path-like
        The file is written completely or not at all.
    fps : float, default=8
        Initial speed in steps per second; the reader can change it.
    max_frames : int, default=300
        See `oc1.animation.frames.frames_of`. One more frame at the end shows the node's final test.

    Returns
    -------
    int
        The number of frames.
    """
    if not fps > 0:
        raise ValueError(f"fps must be above 0, got {fps}")
    data = page_data(record, max_frames)
    write_file(path, page_of(data | {"fps": fps}).encode())
    return len(data["frames"])


def page_of(data: dict[str, Any]) -> str:
    """Return the page that shows these data."""
    template = files(__package__).joinpath("animated_page.html").read_text(encoding="utf-8")
    hashes = {}
    for tag in ("style", "script"):
        inside = re.search(rf"<{tag}>(.*?)</{tag}>", template, re.DOTALL)
        assert inside is not None
        hashes[tag] = base64.b64encode(hashlib.sha256(inside[1].encode()).digest()).decode()
    rules = f"default-src 'none'; style-src 'sha256-{hashes['style']}'; script-src 'sha256-{hashes['script']}'"
    # In a page, "<" could end the script that holds the data.
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")
    fields = {"@RULES@": f"{rules}; base-uri 'none'; form-action 'none'", "@DATA@": text}
    fields["@TITLE@"] = html.escape(f"The search at the node {data['node']}")
    return re.sub("@(RULES|DATA|TITLE)@", lambda found: fields[found[0]], template)


def page_data(record: SearchRecord, max_frames: int) -> dict[str, Any]:
    """Return what the page needs to know, as JSON takes it."""
    steps, frames = record.steps, frames_of(record, max_frames)
    data: dict[str, Any] = {
        "node": record.node,
        "criterion": record.criterion,
        "lasts": LASTS,
        "names": record.feature_names,
        "classes": [str(name) for name in record.classes],
        "present": np.unique(record.y).tolist(),
        "n_examples": len(record.y),
        "n_moves": record.n_moves,
        "n_runs": record.n_runs,
        "range": [_rounded(value) for value in impurity_range(record)],
        "curve": [_rounded(step.after) if np.isfinite(step.after) else None for step in steps],
        "best": record.best.tolist(),
        "pieces": pieces_of(record),
        "jumps": [i for i, step in enumerate(steps) if step.kind == JUMP],
        "frames": [
            {name: getattr(frame, name) for name in ("kind", "run", "step", "n_done", "title", "test")}
            for frame in frames
        ],
    }
    if record.X.shape[1] == 2:
        X, classes = record.drawn_examples(MAX_POINTS)
        data["box"] = box_around(record.X)
        data["lines"] = [[_line(frame.line), _line(frame.best_line)] for frame in frames]
        data["points"] = [[_rounded(x), _rounded(y), int(c)] for (x, y), c in zip(X, classes, strict=True)]
    else:
        # Heights in thousandths of the picture.
        data["histograms"] = [
            {"at": _rounded(own.threshold), "bins": (1000 * own.heights).round().astype(int).tolist()}
            for own in histograms_of(record, frames)
        ]
    return data


def _line(line: Line) -> list[float]:
    return [_rounded(value, 10) for value in (*line[0], line[1])]


def _rounded(value: float, digits: int = 6) -> float:
    """Keep as many digits as can be seen."""
    return float(f"{value:.{digits}g}")
