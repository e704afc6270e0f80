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
except ModuleNotFoundError:  # the function below is of use without it
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


class ReadmeHook(MetadataHookInterface):  # type: ignore[misc]
    """Writes the field ``readme`` of the package's metadata."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Set the README."""
        folder = Path(self.root)
        version = re.search(r'__version__ = "(.+)"', (folder / "src" / "oc1" / "__init__.py").read_text(encoding="utf-8"))
        assert version is not None
        text = readme_for_pypi(
            (folder / "README.md").read_text(encoding="utf-8"), metadata.get("urls", {}).get("Source"), f"v{version[1]}"
        )
        metadata["readme"] = {"content-type": "text/markdown", "text": text}
