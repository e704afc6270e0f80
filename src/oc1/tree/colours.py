"""The colours of classes in HTML, those of the page of `oc1.explore`."""

from __future__ import annotations

#: The palette of Okabe and Ito, which colour-blind people can tell apart.
PALETTE = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", "#767676")
#: After eight classes, the colours come again, lighter and darker: what they are mixed with, and how much of it.
VARIANTS = ((255, 0.0), (255, 0.5), (0, 0.4), (255, 0.75))
#: The share of white in the colour of the smallest number and of the largest.
PALEST, DARKEST = 0.75, 0.0


def mixed(colour: str, other: int, share: float) -> str:
    """Mix a colour with a share of white (255) or black (0)."""
    parts = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return "#" + "".join(f"{round(part * (1 - share) + other * share):02x}" for part in parts)


def class_colour(number: int) -> str:
    """Return the colour of the class with this number; those of the first 32 are different.

    Examples
    --------
    >>> class_colour(0), class_colour(8)
    ('#0072b2', '#80b8d8')
    """
    other, share = VARIANTS[number // len(PALETTE) % len(VARIANTS)]
    return mixed(PALETTE[number % len(PALETTE)], other, share)


def number_colour(place: float) -> str:
    """Return the colour of a predicted number, darker the larger it is: `place` is from 0, the smallest, to 1."""
    return mixed(PALETTE[0], 255, PALEST + (DARKEST - PALEST) * place)
