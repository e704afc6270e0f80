"""The smallest change of an example that leads to another answer, in numbers that a person can read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from .example import Example
from .half_spaces import nearest_point
from .regions import MAX_DISTANCE, Region, RegionSearch

#: How much larger than the smallest change a change may be that is named in fewer digits.
MAX_EXCESS = 0.005
#: How far beyond the boundaries a change leads, as shares of its size: far enough for few digits, if there is room.
MARGINS = (3e-3, 1e-3, 1e-4, 1e-6, 1e-8, 1e-10, 1e-12, 0.0)
#: Digits after the first one of the standard deviation.
DIGITS = range(15)
#: An example that is nearer to a boundary than this is on it, and a change of `VISIBLE_STEP` is named.
ON_BOUNDARY, VISIBLE_STEP = 1e-9, 0.01


@dataclass(frozen=True)
class Change:
    """A change of an example.

    Attributes
    ----------
    row : float64 array (n_features,)
        The changed example, with category numbers.
    leaf : int
        Where it ends.
    distance : float
        Its size: see `Example.distance`.
    features : tuple of int
        The attributes that change, the largest step first.
    is_on_boundary : bool
        Whether the example is on a boundary, so that any change in the right direction is enough.
    """

    row: np.ndarray
    leaf: int
    distance: float
    features: tuple[int, ...]
    is_on_boundary: bool


def smallest_change(
    example: Example, goals: np.ndarray, free: np.ndarray | None = None, at_most: float = MAX_DISTANCE
) -> Change | None:
    """Return the smallest change that leads to one of some leaves; None if none does.

    The smallest possible change of a strict inequality has no smallest value, and the boundary seldom is a round
    number, so the change is up to 0.5% larger than it must be, with as few digits as that allows.

    Parameters
    ----------
    example : Example
    goals : bool array (n_nodes,)
        The leaves that it shall lead to, and the nodes above them: see `oc1.explaining.regions.leading_to`.
    free : bool array (n_features,), optional
        The attributes that may change. None: all. Missing values stay missing in any case.
    at_most : float, optional
        Larger changes are not looked for.
    """
    everything = np.ones(len(example.row), dtype=bool)
    search = RegionSearch(example, goals, everything if free is None else free)
    for region in search.nearest(at_most):
        change = _readable(search, region)
        if change is not None:
            return change
    return None


def smallest_single_change(example: Example, goals: np.ndarray) -> Change | None:
    """Return the smallest change of one attribute that leads to one of some leaves; None if none does."""
    best: Change | None = None
    for feature in example.tree.used_features.tolist():
        free = np.zeros(len(example.row), dtype=bool)
        free[feature] = True
        found = smallest_change(example, goals, free, MAX_DISTANCE if best is None else best.distance)
        if found is not None and (best is None or found.distance < best.distance):
            best = found
    return best


def readable_values(before: float, step: float, scale: float) -> Iterator[float]:
    """Yield values that are a step away from another, or up to 0.5% more, those with the fewest digits first."""
    if not np.isfinite(step) or not np.isfinite(before + step):
        return
    place = int(np.floor(np.log10(scale)))
    step = step or np.copysign(VISIBLE_STEP * scale, step)
    for digits in DIGITS:
        for margin in (0.5 * MAX_EXCESS, 0.1 * MAX_EXCESS, 0.0):
            value = round(before + step * (1 + margin), digits - place)
            if abs(step) <= abs(value - before) <= abs(step) * (1 + MAX_EXCESS):
                yield value
    for margin in MARGINS[::-1]:
        yield before + step * (1 + margin)


def _readable(search: RegionSearch, region: Region) -> Change | None:
    """Return a change that leads to a region, in as few digits as possible; None if rounding errors leave no room."""
    example, size = search.example, float(np.linalg.norm(region.point))
    is_on_boundary = size < ON_BOUNDARY
    rows = _candidates(search, region, VISIBLE_STEP if is_on_boundary else size)
    leaves, distances = example.tree.apply(rows), example.distance(rows)
    limit = 2 * VISIBLE_STEP if is_on_boundary else size * (1 + MAX_EXCESS)
    good = np.flatnonzero(search.goals[leaves] & (distances**2 - region.n_switched <= limit**2))
    if len(good) == 0:
        return None
    row = rows[good[0]]
    with np.errstate(over="ignore"):
        steps = np.nan_to_num(np.abs(row - example.row) / example.scale)
    steps[list(region.allowed)] = np.minimum(steps[list(region.allowed)], 1.0)  # numbers of categories have no size
    order = [int(m) for m in np.argsort(-steps, kind="stable") if steps[m] > 0]
    has_moved = bool((row != example.row)[search.movable].any())
    return Change(row, int(leaves[good[0]]), float(distances[good[0]]), tuple(order), is_on_boundary and has_moved)


def _candidates(search: RegionSearch, region: Region, size: float) -> np.ndarray:
    """Return rows in or near a region, those with the fewest digits first; `size` is that of a step that counts."""
    example, movable = search.example, search.movable
    base = example.row.copy()
    for feature in region.allowed:
        base[feature] = search.category(region, feature)
    normals = np.array(region.normals).reshape(len(region.offsets), len(movable))
    is_test = np.arange(len(region.offsets)) >= len(search.limits[1])  # limits of the values need no margin
    inside = [nearest_point(normals, np.array(region.offsets) + margin * size * is_test) for margin in MARGINS]
    own, scale = base[movable], example.scale[movable]
    exact = own + np.array([point for point in inside if point is not None] + [region.point]) * scale
    first = np.floor(np.log10(scale)).astype(int)  # the place of the first digit of the standard deviation
    rows = [own] if region.n_switched else []
    for digits in DIGITS:
        for values in exact.tolist():
            rounded = [round(value, digits - place) for value, place in zip(values, first.tolist(), strict=True)]
            near = np.abs(values - own) < 0.5 * 10.0 ** (first - digits)
            rows.append(np.where(near, own, rounded))
    rows.extend(exact)
    changed = np.repeat(base[None, :], len(rows), axis=0)
    changed[:, movable] = np.clip(rows, example.low[movable], example.high[movable])
    return changed
