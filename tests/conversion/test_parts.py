import pytest
from converted_models import fitted

from oc1.conversion.python import part_nodes, part_roots


@pytest.mark.parametrize(("max_leaves", "max_levels"), [(200, 20), (10, 20), (1000, 3), (3, 1)])
@pytest.mark.parametrize("name", ["large", "large machines", "leaf", "oblique"])
def test_parts_are_small_and_hold_every_node_once(name, max_leaves, max_levels):
    tree = fitted(name).tree_
    roots = part_roots(tree.children, max_leaves, max_levels)
    parts = {root: part_nodes(tree.children, root, roots) for root in roots}
    assert sorted(node for nodes in parts.values() for node in nodes) == list(range(tree.n_nodes))
    for root, nodes in parts.items():
        calls = [other for other in roots if tree.parents[other] in nodes]
        ends = [node for node in nodes if tree.is_leaf[node]] + calls
        assert len(ends) <= max_leaves
        assert max(tree.depths[ends]) - tree.depths[root] <= max_levels


def test_a_small_tree_is_one_part():
    tree = fitted("oblique").tree_
    assert part_roots(tree.children, tree.n_leaves, tree.max_depth) == {0}
    assert len(part_roots(tree.children, tree.n_leaves - 1, tree.max_depth)) > 1
    assert len(part_roots(tree.children, tree.n_leaves, tree.max_depth - 1)) > 1
