"""A page as a text that notebooks show in a frame."""

from __future__ import annotations

import re
from html import unescape

from ..files.atomic import write_file
from ..files.problems import FilePath
from ..tree.notebooks import ShownInNotebooks, escaped

#: Height of the frame in pixels: room for three or four levels of a tree, and still all on one screen.
HEIGHT = 640


class Page(str, ShownInNotebooks):
    """An HTML page: a text, which a notebook shows in a frame.

    It can be used wherever a text can, and is written to a file by ``save``.

    Examples
    --------
    >>> page = Page("<!DOCTYPE html><title>iris</title>...")
    >>> page
    Page('iris', 1 kB; page.save("page.html") writes it)
    >>> page.startswith("<!DOCTYPE"), "iframe" in page._repr_html_()
    (True, True)
    """

    __slots__ = ()

    @property
    def heading(self) -> str:
        """The title of the page; empty if it has none."""
        found = re.search("<title>(.*?)</title>", self, re.DOTALL)
        return unescape(found[1]) if found else ""

    def save(self, path: FilePath) -> None:
        """Write the page to a file, which is there whole or not at all.

        Parameters
        ----------
        path : str or path-like
            An existing file is replaced. The file is packed if its name ends in .gz.

        Raises
        ------
        FileProblem
            If the file cannot be written; it is a ValueError.
        """
        write_file(path, self.encode("utf-8"))

    def __repr__(self) -> str:
        kilobytes = -(-len(self.encode("utf-8")) // 1000)
        title = self.heading if len(self.heading) <= 60 else f"{self.heading[:59]}…"
        return f'Page({title!r}, {kilobytes} kB; page.save("page.html") writes it)'

    def _repr_html_(self) -> str:
        """Return a frame with the page. Its script runs, but reaches nothing outside of the frame."""
        return (
            f'<iframe sandbox="allow-scripts" srcdoc="{escaped(self)}" title="{escaped(self.heading)}" loading="lazy" '
            f'style="box-sizing: border-box; width: 100%; height: {HEIGHT}px; '
            'border: 1px solid #8888; border-radius: 6px"></iframe>'
        )
