"""The README as PyPI shows it: hatchling calls this when it builds the package.

In a checkout, links and pictures are files beside the README. PyPI has no such files, so they become addresses in the
repository that ``[project.urls]`` names as ``Source``. Without one, they become plain text: no link is better than one
that leads nowhere.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

try:
    from hatchling.metadata.plugin.interface import MetadataHookInterface
except ModuleNotFoundError:  # the functions below are of use without it
    MetadataHookInterface = object

#: A picture on a line of its own, and a link that is not an address and not a place on the page.
PICTURE = re.compile(r"^!\[(?P<words>[^]]*)\]\((?P<path>(?!\w+:)[^)\s]+)\)\n\n?", re.MULTILINE)
LINK = re.compile(r"(?<!!)\[(?P<words>[^]]+)\]\((?P<path>(?!\w+:|#)[^)\s]+)\)")


def readme_for_pypi(text: str, repository: str | None, reference: str) -> str:
    """Return the README with links that work anywhere.

    Parameters
    ----------
    text : str
        The README.
    repository : str or None
        The address of the repository on GitHub.
    reference : str
        The tag of the release.
    """
    if repository is None:
        return LINK.sub(r"\g<words>", PICTURE.sub("", text))
    home = repository.rstrip("/")
    text = PICTURE.sub(rf"![\g<words>]({home}/raw/{reference}/\g<path>)\n\n", text)
    return LINK.sub(rf"[\g<words>]({home}/blob/{reference}/\g<path>)", text)


def package_readme(folder: Path, urls: dict[str, str]) -> str:
    """Return the README of a release from the folder of the project."""
    text, source = ((folder / name).read_text(encoding="utf-8") for name in ("README.md", "src/oc1/__init__.py"))
    version = re.search(r'^__version__ = "(.+)"$', source, re.MULTILINE)
    if version is None:
        raise ValueError("src/oc1/__init__.py does not say __version__")
    return readme_for_pypi(text, urls.get("Source"), f"v{version[1]}")


class ReadmeHook(MetadataHookInterface):  # type: ignore[misc]
    """Writes the field ``readme`` of the package's metadata."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Set the README."""
        text = package_readme(Path(self.root), metadata.get("urls", {}))
        metadata["readme"] = {"content-type": "text/markdown", "text": text}
