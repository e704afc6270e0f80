"""The best axis-parallel split of a large node, found in rounds."""

import numpy as np
import pytest
from counted_node import looked_at, missed_at_most, nodes
from hypothesis import given, settings

from oc1.growing.attributes import best_attribute


@settings(max_examples=60, deadline=None)
@given(problem=nodes(most=200))
def test_the_best_attribute_is_as_pure_as_any_within_the_tolerance(problem):
    node, _ = problem
    d = len(node.columns) - 1
    score, attribute, threshold, side = best_attribute(
        node, node.scorer, node.sketch, [(m, 0) for m in range(d)], seed=5
    )  # fmt: skip
    lines = [node.sketch.attribute(m, 0) for m in range(d)]
    gains = [gain for line in lines for gain in looked_at(node, line, node.positions(line, node.min_leaf))]
    if attribute < 0:
        assert not gains
        return
    assert side == 0
    assert score >= max(gains, default=score) - missed_at_most(node, len(node.asked))
    plane = np.zeros(d + 1)
    plane[attribute], plane[-1] = 1.0, -threshold
    assert node.gain_of(plane) == pytest.approx(score, rel=1e-9, abs=1e-9)
