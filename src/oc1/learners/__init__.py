"""The estimators, in the manner of scikit-learn, and what they share.

In go parameters, and with `fit` tables of examples with classes or numbers; out come fitted estimators, which predict,
explain, and keep a tree (`tree_`), several or a forest. Begin with `classifier.OC1Classifier`, whose steps of a fit are
in `base` and whose default way to choose a tree is `selection.select`; `registry.make_learner` makes any by its name.
"""
