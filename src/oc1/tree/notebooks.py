"""What an object shows as the last expression of a notebook's cell."""

from __future__ import annotations

import html
import os
import secrets
import shutil
from abc import ABC, abstractmethod
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

TABLE_STYLE = """
.oc1-table {font: 13px/1.5 system-ui, sans-serif; color: inherit; max-width: 60em}
.oc1-table .scroll {overflow-x: auto}
.oc1-table table {border-collapse: collapse; margin: .4em 0; font-variant-numeric: tabular-nums; border: 0}
.oc1-table caption {text-align: left; padding: 0 0 .3em; color: inherit; opacity: .75; white-space: nowrap}
.oc1-table tr {background: none !important}
.oc1-table th, .oc1-table td {padding: .2em .9em; text-align: right !important; white-space: nowrap; border: 0;
  color: inherit; background: none}
.oc1-table th:first-child {text-align: left !important; font-weight: normal}
.oc1-table thead th {font-weight: 600; border-bottom: 1px solid #8889}
.oc1-table tr.best {background: #0090e033 !important}
.oc1-table tr.best th, .oc1-table tr.best td {font-weight: 600}
.oc1-table p {margin: .4em 0; text-align: left}
"""


PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>{title}</title>
<style>:root {{color-scheme: light dark}} body {{margin: 1.5em auto; padding: 0 1em; max-width: max-content}}</style>
</head>
<body>
{content}
</body>
</html>
"""


def whole_page(title: str, content: str) -> str:
    """Return a page of its own, which loads nothing and runs nothing, with a piece of HTML."""
    return PAGE.format(title=escaped(title), content=content)


class ShownInNotebooks(ABC):
    """Base of what shows itself as HTML in notebooks, and as text elsewhere."""

    __slots__ = ()

    @abstractmethod
    def _repr_html_(self) -> str:
        """Return HTML for a cell of a notebook."""

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        """Return what a notebook shows, as text and as HTML."""
        return {"text/plain": repr(self), "text/html": self._repr_html_()}

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write what a notebook shows to a file.

        Parameters
        ----------
        path : str or path-like
            A page (.html) or text (.txt). An existing file is replaced once the new one is whole.

        Raises
        ------
        ValueError
            If the name has another ending.
        """
        ending = Path(path).suffix.lower()
        if ending not in (".html", ".htm", ".txt"):
            raise ValueError(
                f"{path} should end in .html or .txt, for people to read; oc1.save_model writes models to be loaded"
            )
        write_text(path, f"{self}\n" if ending == ".txt" else whole_page("oc1", self._repr_html_()))


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write a file beside the one that it then replaces: where the disk is full, the old one stays."""
    target = Path(os.path.realpath(path))  # not the link, if it is one
    how: dict[str, Any] = {"encoding": "utf-8", "errors": "replace", "newline": "\n"}
    if target.exists() and not target.is_file():  # a device or a pipe; a folder is an error
        target.write_text(text, **how)
        return
    beside = target.with_name(f".{target.name[:100]}.{secrets.token_hex(8)}.part")
    try:
        with open(beside, "x", **how) as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        if target.exists():
            shutil.copymode(target, beside)
        os.replace(beside, target)
    except OSError as error:  # the temporary name would mean nothing to the user
        raise type(error)(error.errno, error.strerror, os.fspath(path)) from None
    finally:
        beside.unlink(missing_ok=True)


def escaped(text: object) -> str:
    """Return a text from anywhere, safe to stand in HTML, also between quotation marks."""
    return html.escape(str(text).encode("utf-8", "replace").decode("utf-8"))


def html_table(
    title: str, header: Sequence[str], rows: Sequence[Sequence[str]], best: Collection[int] = (), below: str = ""
) -> str:
    """Return a table as HTML.

    Parameters
    ----------
    title : str
        What stands above it.
    header : sequence of str
    rows : sequence of sequences of str
        The first entry of each row is its name; the others are numbers.
    best : collection of int, optional
        The rows to be marked.
    below : str, optional
        A paragraph.

    Examples
    --------
    >>> html_table("sizes", ["", "leaves"], [["a", "3"], ["<b>", "5"]]).count("&lt;b&gt;")
    1
    """
    names = "".join(f'<th scope="col">{escaped(name)}</th>' for name in header)
    lines = []
    for number, (name, *cells) in enumerate(rows):
        mark = ' class="best" title="best"' if number in best else ""
        lines.append(
            f'<tr{mark}><th scope="row">{escaped(name)}</th>'
            + "".join(f"<td>{escaped(cell)}</td>" for cell in cells)
            + "</tr>"
        )
    paragraph = f"<p>{escaped(below)}</p>" if below else ""
    return (
        f'<div class="oc1-table"><style>{TABLE_STYLE}</style><div class="scroll"><table>'
        f"<caption>{escaped(title)}</caption><thead><tr>{names}</tr></thead><tbody>{''.join(lines)}</tbody></table></div>"
        f"{paragraph}</div>"
    )
