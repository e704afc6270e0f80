"""``oc1 demo``: OC1 on iris."""

from __future__ import annotations


def demo() -> None:
    """Run OC1 on the iris data.

    Example: oc1 demo
    """
    from ...demo import demonstrate

    demonstrate()
