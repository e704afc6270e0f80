"""What a fit sees of a table: numbers for categories, means and spreads without rounding, a space to search in.

In go arrays or data frames, weights and a seed; out come the checked examples of a fit, the columns that are searched,
and which examples are kept back for pruning. Begin with `training.Training`, which a fit makes first,
`search_space.SearchSpace`, and `categories.learn_and_encode`.
"""
