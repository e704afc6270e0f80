"""Going on with a hyperplane at a large node: on all examples near it, and on some of the others.

A hyperplane that was found on a sample is a little off, and while it is put right only examples near it change sides.
So a *focused sample* holds the examples near the plane. Of those far away it holds some, which stand for all others of
their class on their side and weigh as much as these. What it says of the plane itself is then what all examples say,
and of planes next to it, nearly so. OC1's search climbs from the plane on its focused sample; then all examples are
asked again, what the new plane is worth and which of them are near it. A node takes a handful of such questions, not
one for each line that is searched.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from .calls import MAX_NEAR, margins_of

if TYPE_CHECKING:
    from .engines import EngineExamples, LocalExamples
    from .nodes import PendingNode

#: Examples that are near a plane, more or less: a sample tells how far away that is.
N_NEAR = 20_000


class Questions(NamedTuple):
    """Planes, and how far from them an example is near; none is where that is below 0."""

    planes: np.ndarray  # float32 (q, d + 1)
    widths: np.ndarray  # float32 (q)


class Nearby(NamedTuple):
    """What all examples of a node say of a plane."""

    examples: LocalExamples  # those near it, in this process, by class and row
    counts: np.ndarray  # int64 (k): examples on its left, by the classes that are present
    sums: np.ndarray  # float64 (k): their weights; the same where all count alike


@dataclass(frozen=True)
class Focus:
    """A node at which planes are looked at closely.

    Parameters
    ----------
    node : PendingNode
    sample : LocalExamples
        An even sample of its examples.
    """

    node: PendingNode
    sample: LocalExamples

    def ask(self, planes: np.ndarray, with_examples: bool) -> list[Nearby]:
        """Ask all examples about some planes; only what is on the left, unless examples are wanted."""
        examples: EngineExamples = self.node.examples
        planes = planes.astype(np.float32)
        widths = [self._width(plane) if with_examples else -1.0 for plane in planes]
        return examples.near(Questions(planes, np.array(widths, dtype=np.float32)))

    def _width(self, plane: np.ndarray) -> float:
        """Return how far from a plane about `N_NEAR` examples are; below 0 where far more are equally far away."""
        distances = np.sort(np.abs(margins_of(self.sample, plane)))
        n_near = min(max(1, N_NEAR * len(distances) // self.node.size), len(distances))
        width = distances[n_near - 1]
        if np.searchsorted(distances, width, side="right") <= 2 * n_near:
            return float(width)
        first = np.searchsorted(distances, width, side="left")
        return float(distances[first - 1]) if first > 0 else -1.0

    def focused(self, plane: np.ndarray, nearby: Nearby, seed: int) -> PendingNode:
        """Return the node with a focused sample in the place of its examples, and a random stream of its own."""
        plane, totals = plane.astype(np.float32), self.node.class_weights
        left = np.zeros_like(totals)
        left[totals > 0.0] = nearby.sums
        width = np.abs(margins_of(nearby.examples, plane)).max(initial=-1.0)
        here = tally(nearby.examples, plane)
        near = thinned(nearby.examples, MAX_NEAR)
        far = self.sample.taken(np.flatnonzero(np.abs(margins_of(self.sample, plane)) > width))
        far_away = np.maximum(np.array([left, totals - left]) - here, 0.0)
        own = united(near, far, [weights_for(near, plane, here), weights_for(far, plane, far_away)])
        return self.node._replace(examples=own, class_weights=own.class_weights, seed=np.uint64(seed))


def thinned(examples: LocalExamples, most: int) -> LocalExamples:
    """Return examples, or some of them, evenly spread, if there are more than that."""
    if examples.size <= most:
        return examples
    return examples.taken(examples.start + np.linspace(0, examples.size - 1, most).astype(np.int64))


def tally(examples: LocalExamples, plane: np.ndarray) -> np.ndarray:
    """Return the weight of each class on the left of a plane, and on its right."""
    n_classes = examples.engine.setup.n_classes
    cells = examples.labels + n_classes * (margins_of(examples, plane) > 0.0)
    return np.bincount(cells, examples.weights, 2 * n_classes).reshape(2, n_classes).astype(np.float64)


def weights_for(examples: LocalExamples, plane: np.ndarray, totals: np.ndarray) -> np.ndarray:
    """Return weights for examples, so that they add up to what there is of each class on the left and on the right."""
    with np.errstate(all="ignore"):
        factors = np.nan_to_num(totals / tally(examples, plane), posinf=0.0)
    sides = (margins_of(examples, plane) > 0.0).astype(np.int64)
    weights = 1.0 if examples.weights is None else examples.weights
    return np.asarray(weights * factors[sides, examples.labels])


def united(one: LocalExamples, other: LocalExamples, weights: list[np.ndarray]) -> LocalExamples:
    """Return examples of two kinds together, grouped by class, to be searched for hyperplanes.

    What is neither a column nor a label nor a weight is of no use to that: they may come from different arrays.
    """
    both = one.arrays, other.arrays
    labels = np.concatenate([own.labels for own in both])
    order = np.argsort(labels, kind="stable")
    order = order[np.concatenate(weights)[order] > 0.0]
    arrays = one.arrays._replace(
        columns=np.concatenate([own.columns for own in both], axis=1).take(order, axis=1),
        labels=labels[order],
        weights=np.concatenate(weights)[order],
        rows=np.concatenate([own.rows for own in both])[order],
    )
    return type(one)(one.engine, arrays, 0, len(order))
