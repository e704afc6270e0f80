"""``oc1 demo``: OC1 on iris."""

from __future__ import annotations


def demo() -> None:
    """Show OC1 at work on iris.

    Example: oc1 demo
    """
    from ...demo import demonstrate

    demonstrate()
