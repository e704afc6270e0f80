"""The regions of a tree's leaves, the nearest to an example first.

The region of a leaf is an intersection of half-spaces, one or more for each test on the way to it, and of sets of
categories. A search that always goes on from the nearest part of the space that is left finds the nearest region
without looking at most of the others: to go down the tree only ever adds conditions, so the distance cannot fall.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import count
from typing import NamedTuple

import numpy as np

from ..tree.structure import BranchRule, TreeStructure
from .example import Example
from .half_spaces import nearest_point

#: Distances beyond this are not worth looking for: such values overflow.
MAX_DISTANCE = 1e100


class Region(NamedTuple):
    """A part of the space that leads to a node.

    Distances are those of `Example.distance`: numbers are divided by their scales, a different category counts as 1.

    Attributes
    ----------
    node : int
    normals : tuple of float64 array (n_movable,)
        Of length 1, one for each half-space.
    offsets : tuple of float
        How far the boundary of each half-space is from the example, negative where it is inside.
    allowed : dict of int to bool array
        Which categories an attribute may have; all of them if it is not listed.
    point : float64 array (n_movable,)
        The nearest point, as steps from the example; until `is_solved`, that of the region around this one.
    n_switched : int
        The number of attributes whose category must change.
    is_solved : bool
    """

    node: int
    normals: tuple[np.ndarray, ...]
    offsets: tuple[float, ...]
    allowed: dict[int, np.ndarray]
    point: np.ndarray
    n_switched: int
    is_solved: bool

    @property
    def distance(self) -> float:
        """How far the nearest point is."""
        return float(np.sqrt(self.point @ self.point + self.n_switched))


def leading_to(tree: TreeStructure, leaves: np.ndarray) -> np.ndarray:
    """Mark some leaves and all nodes above them."""
    return np.asarray(tree.sum_upwards(leaves) > 0)


@dataclass
class RegionSearch:
    """A search for the leaves nearest to an example.

    Attributes
    ----------
    example : Example
    goals : bool array (n_nodes,)
        The leaves that are looked for, and all nodes above them: see `leading_to`.
    free : bool array (n_features,)
        The attributes that may change. Missing values never do.
    """

    example: Example
    goals: np.ndarray
    free: np.ndarray
    movable: np.ndarray = field(init=False)  # the numbers among the free attributes

    def __post_init__(self) -> None:
        tree = self.example.tree
        used = np.zeros(len(tree.fill), dtype=bool)
        used[tree.used_features] = True
        self._is_categorical = np.array([tree.is_categorical(m) for m in range(len(used))], dtype=bool)
        self._can_change = used & self.free & ~self.example.is_missing
        self.movable = np.flatnonzero(self._can_change & ~self._is_categorical)
        self._place = np.full(len(used), -1)
        self._place[self.movable] = np.arange(len(self.movable))

    def nearest(self, at_most: float = MAX_DISTANCE) -> Iterator[Region]:
        """Yield the regions of the leaves that are looked for, the nearest first, as far as `at_most`."""
        root = Region(0, *self.limits, {}, np.zeros(len(self.movable)), 0, True)
        order = count()  # of equals, the first found comes first
        heap = [(0.0, next(order), root)]
        while heap:
            _, _, region = heapq.heappop(heap)
            if not region.is_solved:
                point = nearest_point(np.array(region.normals), np.array(region.offsets))
                if point is None:
                    continue
                region = region._replace(point=point, is_solved=True)
                if region.distance <= at_most:
                    heapq.heappush(heap, (region.distance, next(order), region))
            elif self.example.tree.children[region.node, 0] < 0:
                yield region
            else:
                for bound, below in self._divided(region):
                    if bound <= at_most:
                        heapq.heappush(heap, (bound, next(order), below))

    @cached_property
    def limits(self) -> tuple[tuple[np.ndarray, ...], tuple[float, ...]]:
        """Normals and offsets of the half-spaces in which all numbers are where they may be; a region's first ones."""
        example, axes = self.example, np.eye(len(self.movable))
        normals, offsets = [], []
        for sign, ends in ((1.0, example.low), (-1.0, example.high)):
            steps = sign * (ends - example.row)[self.movable] / example.scale[self.movable]
            for axis, step in zip(axes, steps.tolist(), strict=True):
                if np.isfinite(step):
                    normals.append(sign * axis)
                    offsets.append(step)
        return tuple(normals), tuple(offsets)

    def _divided(self, region: Region) -> Iterator[tuple[float, Region]]:
        """Yield the parts of a region that the branches of its node lead to, with a lower bound of their distances."""
        tree, node = self.example.tree, region.node
        unpinned = self._unpinned(region)
        if unpinned is not None:
            yield from ((part.distance, part) for part in self._pinned(region, unpinned))
            return
        fixed = self.example.fixed_branch(node)
        for branch, child in enumerate(tree.children[node].tolist()):
            if child < 0 or not self.goals[child] or fixed not in (None, branch):
                continue
            below = region._replace(node=child)
            if fixed is not None:
                yield region.distance, below
                continue
            rule = tree.branch_rule(node, branch)
            if rule.categories is not None:
                parts = self._narrowed(below, int(rule.features[0]), rule.categories)
            else:
                parts = self._bounded(below, rule)
            for part in parts:
                lacking = max((o - n @ part.point for n, o in self._added(region, part)), default=0.0)
                # All of a convex region is as far from its nearest point as that from what it is cut off by.
                distance = float(np.sqrt(part.distance**2 + max(lacking, 0.0) ** 2))
                yield distance, part if lacking <= 0 else part._replace(is_solved=False)

    @staticmethod
    def _added(region: Region, part: Region) -> Iterator[tuple[np.ndarray, float]]:
        start = len(region.normals)
        return zip(part.normals[start:], part.offsets[start:], strict=True)

    def _narrowed(self, region: Region, feature: int, categories: np.ndarray) -> Iterator[Region]:
        """Yield the part of a region in which an attribute is one of some categories, if there is any."""
        before = region.allowed.get(feature)
        allowed = categories if before is None else before & categories
        if not self._can_change[feature]:
            allowed = allowed & (np.arange(len(allowed)) == self._category(feature))
        if not allowed.any():
            return
        was_switched = before is not None and not before[self._category(feature)]
        is_switched = not allowed[self._category(feature)]
        yield region._replace(
            allowed={**region.allowed, feature: allowed},
            n_switched=region.n_switched + int(is_switched) - int(was_switched),
        )

    def _unpinned(self, region: Region) -> int | None:
        """Return a categorical attribute of a combination at the region's node whose code is not known yet."""
        tree, features = self.example.tree, self.example.tree.node_functions(region.node).features
        for feature in features.tolist() if len(features) > 1 else []:
            if self._is_categorical[feature] and self._can_change[feature]:
                allowed = region.allowed.get(feature)
                if allowed is None or np.ptp(np.asarray(tree.codes[feature])[allowed]) > 0:
                    return int(feature)
        return None

    def _pinned(self, region: Region, feature: int) -> Iterator[Region]:
        """Yield the parts of a region in which a categorical attribute has one code each."""
        codes = np.asarray(self.example.tree.codes[feature])
        allowed = region.allowed.get(feature, np.ones(len(codes), dtype=bool))
        for code in np.unique(codes[allowed]):
            yield from self._narrowed(region, feature, codes == code)

    def _bounded(self, region: Region, rule: BranchRule) -> Iterator[Region]:
        """Yield the part of a region in which the inequalities of a rule hold, unless there is evidently none."""
        example, features = self.example, rule.features
        values = example.numbers[features].copy()
        for i, feature in enumerate(features.tolist()):
            if self._is_categorical[feature] and feature in region.allowed:
                values[i] = example.tree.codes[feature][self.category(region, feature)]
        movable = self._place[features] >= 0
        places = self._place[features[movable]]
        normals, offsets = list(region.normals), list(region.offsets)
        for coefficients, bound, strict in zip(rule.coefficients, rule.bounds.tolist(), rule.strict, strict=True):
            with np.errstate(over="ignore", invalid="ignore"):
                total = float(np.cumsum(coefficients * values)[-1]) if len(values) else 0.0
                slope = coefficients[movable] * example.scale[features[movable]]
                size = float(np.abs(slope).max(initial=0.0))
                length = size * float(np.linalg.norm(slope / size)) if size > 0 else 0.0
                offset = (bound - total) / length if length > 0 else np.nan
            if not length > 0:
                if total > bound or (total == bound and not strict):
                    continue
                return
            if not offset < MAX_DISTANCE:
                return
            if offset > -MAX_DISTANCE:
                normal = np.zeros(len(self.movable))
                normal[places] = slope / length
                normals.append(normal)
                offsets.append(offset)
        yield region._replace(normals=tuple(normals), offsets=tuple(offsets))

    def category(self, region: Region, feature: int) -> int:
        """Return the category of an attribute in a region: its own where it may keep it, else the first allowed."""
        own, allowed = self._category(feature), region.allowed.get(feature)
        return own if allowed is None or allowed[own] else int(allowed.argmax())

    def _category(self, feature: int) -> int:
        return int(self.example.row[feature])
