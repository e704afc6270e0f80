"""Fitted trees: what they are, how they are pruned, checked, printed and summarised.

A tree (`Tree`, `RegressionTree`, `MachineTree`, `BranchTree`) is made of arrays by a learner, or of a dictionary from a
file by `from_dict`; rows go in, and out come the leaves where they end, texts, tables and subtrees. Begin with
`structure.TreeStructure`, which says what all trees have, `text.text`, which prints one, and `pruning.prune_sequence`;
the words of errors about files are in `validation`, how numbers and tests are written in `wording`.
"""
