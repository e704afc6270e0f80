"""A fitted model as a self-contained, interactive HTML page.

A model goes in, with examples if there are any, and a `Page` comes out: one text that loads nothing, which notebooks
show in a frame and ``save`` writes to a file. `explore` is the entry point; `page.page_data` gathers what the page
knows, and what it looks like and does is in ``assets``.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
from importlib import resources
from typing import Any

from numpy.typing import ArrayLike

from .framed import Page
from .page import page_data

__all__ = ["Page", "explore"]

#: The parts of the script, each of which uses those before it (and, once the page is open, all others).
SCRIPTS = (
    "model",
    "words",
    "elements",
    "boxes",
    "tree",
    "moving",
    "sides",
    "node",
    "pruning",
    "example",
    "map",
    "start",
)


def explore(
    model: Any,
    X: ArrayLike | None = None,
    y: ArrayLike | None = None,
    *,
    source: Any = None,
    title: str | None = None,
) -> Page:
    """Return an interactive HTML page of a model: its trees, the test of each node, and the path of an example.

    Parameters
    ----------
    model : fitted tree learner or ensemble of this package
    X : array-like (n_samples, n_features), optional
        Examples, for the histograms, the score of each pruned tree, and to follow through the tree: at most 200 of
        them, drawn at random, are stored in the page.
    y : array-like (n_samples,), optional
        Their classes (all of which the model must know) or targets; needed with X.
    source : oc1.files.models.record.Source, optional
        What is known about the training data: the name of the target, the ranges of the attributes.
    title : str, optional
        Title of the page. None: what the model predicts, or the name of the learner.

    Returns
    -------
    Page
        HTML that does not load anything else: a text that notebooks show in a frame, with a method ``save(path)``. The
        same model and examples give the same page.

    Examples
    --------
    >>> from oc1 import OC1Classifier
    >>> from oc1.datasets import make_rcb
    >>> X, y = make_rcb(200, random_state=0)
    >>> page = explore(OC1Classifier(random_state=0).fit(X, y), X, y)
    >>> page[:15], "http" in page.replace("http-equiv", "").replace("http://www.w3.org", "")
    ('<!DOCTYPE html>', False)
    """
    data = page_data(model, X, y, source=source, title=title)
    style, script = _asset("page.css"), _script()
    # Names come from users: as JSON without a "<" they can neither end the script nor begin another one.
    content = json.dumps(data, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")
    parts = {
        "{{policy}}": f"default-src 'none'; style-src {_hash(style)}; script-src {_hash(script)}; base-uri 'none'; "
        "form-action 'none'",
        "{{title}}": html.escape(_encodable(data["title"])),
        "{{style}}": style,
        "{{data}}": content,
        "{{script}}": script,
    }
    page = _asset("page.html")
    pieces = []
    # In the order of the template, so that nothing that was put in is looked at again.
    for mark, part in parts.items():
        before, _, page = page.partition(mark)
        pieces += [before, part]
    return Page("".join([*pieces, page]))


def _script() -> str:
    """Return the parts of the script as one, which shares no name with anything else."""
    parts = "\n".join(_asset(f"{name}.js") for name in SCRIPTS)
    return f'"use strict";\n(() => {{\n{parts}}})();\n'


def _asset(name: str) -> str:
    return (resources.files(__package__) / "assets" / name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


def _encodable(text: str) -> str:
    return text.encode("utf-8", "replace").decode("utf-8")
