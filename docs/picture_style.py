"""The look of the pictures in the guide and the README: no background, and a grey that can be read on any other."""

from __future__ import annotations

from typing import Any

import matplotlib

GREY = "#7c7c7c"
STYLE = dict.fromkeys(("text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color"), GREY)
STYLE |= dict.fromkeys(("figure.facecolor", "axes.facecolor", "savefig.facecolor", "legend.facecolor"), "none")


def use_style(gallery: Any = None, example: Any = None) -> None:
    """Set matplotlib up for pictures on any background; the gallery calls this before each example."""
    matplotlib.rcParams.update(STYLE)
