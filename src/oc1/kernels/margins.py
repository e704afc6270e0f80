"""Margins: on which side of a hyperplane, and how far from it, the examples of a node are."""

import numpy as np

from ._jit import inner


@inner
def add_multiple(margins, a, line):
    """Add a multiple of an attribute to margins."""
    for j in range(margins.size):
        margins[j] += a * line[j]


@inner
def compute_margins(examples, start, plane, margins):
    """Compute V = plane . (x, 1) for the examples of a node, which begins at `start`."""
    last = examples.shift.size
    constant = np.float32(plane[last])
    for j in range(margins.size):
        margins[j] = constant
    for m in range(last):
        a = np.float32(plane[m])
        if a != 0:
            add_multiple(margins, a, examples.columns[m, start : start + margins.size])


@inner
def follow(plane, margins, rates, alpha):
    """Bring a plane that has moved by alpha back to unit length, and the margins along with it."""
    length = 0.0
    for m in range(plane.size):
        length += plane[m] * plane[m]
    shrink = 1.0 / np.sqrt(length) if length > 0.0 else 1.0
    for m in range(plane.size):
        plane[m] *= shrink
    keep, add = np.float32(shrink), np.float32(shrink * alpha)
    for j in range(margins.size):
        margins[j] = keep * margins[j] + add * rates[j]
