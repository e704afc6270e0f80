"""How a tree comes about: it is grown node by node, and its tests may be fitted together afterwards.

In go training examples (`oc1.data.training`), options (`options.GrowthOptions`) and a seed; out come nodes, which
`nodes.build_tree` makes a tree of, or a forest. Begin with `grower.make_grower` (OC1 and axis-parallel trees; where the
examples are is for `engines`, and which split a node gets for `policy`), `splitters.SplitterGrower` (all other
learners), `forest.grow_trees`, and `joint_fit.JointFit` (by a `soft_tree`; `rebuild` makes a tree of its tests).
"""
