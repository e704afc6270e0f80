"""Margins: on which side of a hyperplane, and how far from it, the examples of a node are."""

import numpy as np

from ._jit import inner, spliced


@inner
def gather(examples, m, start, line):
    """Write an attribute of a node's examples, in search space, from the user's array to `line`.

    Does nothing where the columns are our own (see `records`). The last attribute is the constant.
    """
    shift, scale = examples.shift, examples.scale
    if examples.columns.shape[0] > shift.size:
        return
    factor = 1.0 / scale[m] if m < shift.size and scale[m] > 0.0 else 0.0
    for j in range(line.size):
        if factor > 0.0:
            x = np.float64(examples.columns[m, examples.rows[start + j]])
            line[j] = ((examples.fill[m] if np.isnan(x) else x) - shift[m]) * factor
        else:
            line[j] = 1.0 if m == shift.size else 0.0


@spliced
def attribute_of(examples, m, start, buffer):
    """Return an attribute of a node's examples, as many as the buffer has room for; the last is the constant."""
    is_own = examples.columns.shape[0] > examples.shift.size
    line = examples.columns[m, start : start + buffer.size] if is_own else buffer
    gather(examples, m, start, line)
    return line


@inner
def add_multiple(margins, a, line):
    """Add a multiple of an attribute to margins."""
    for j in range(margins.size):
        margins[j] += a * line[j]


@inner
def compute_margins(examples, start, plane, margins, buffer):
    """Compute V = plane . (x, 1) for the examples of a node, which begins at `start`."""
    last = examples.shift.size
    constant = np.float32(plane[last])
    for j in range(margins.size):
        margins[j] = constant
    for m in range(last):
        a = np.float32(plane[m])
        if a != 0:
            add_multiple(margins, a, attribute_of(examples, m, start, buffer))


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
