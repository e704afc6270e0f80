"""Pickles that say which version wrote them: with another one, what they hold may mean something else."""

from __future__ import annotations

import warnings
from typing import Any

from .. import __version__

#: Where the state of an estimator says which version of the package wrote it.
STAMP = "_oc1_version"


class VersionedPickle:
    """Puts the version of the package into pickles of an estimator, and looks at it when they are read."""

    def __getstate__(self) -> dict[str, Any]:
        """Return what is pickled."""
        return {**super().__getstate__(), STAMP: __version__}  # type: ignore[dict-item]

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Take over what was pickled; warn if another version of the package did it."""
        own = dict(state)
        written = own.pop(STAMP, None)
        if written != __version__:
            by = "a version before 0.1.0" if written is None else f"version {written}"
            warnings.warn(
                f"this {type(self).__name__} was pickled by {by} of oc1 and is read by version {__version__}: it may "
                "fail or give other answers. Pickles are for one version; oc1.save_model writes files that later "
                "versions read",
                UserWarning,
                stacklevel=2,
            )
        super().__setstate__(own)  # type: ignore[misc]
