"""Compiled code, a file for each step of the paper.

In go records of arrays and codes (`records`, `layout`), with buffers to work in; out come nodes, planes and leaves, in
those buffers. Begin with `grow.grow`, which grows a subtree, `node_search.search_node`, and `predict.find_leaves`.

====================  ==============================================================================================
`node_search`         Figure 6: OC1 at a node: the best attribute, then restarts, each perturbed and jumping
`perturb`             Figure 8: one coefficient moved to its best value; the orders in which that is done
`jump`                random directions out of a local minimum
`axis_scan`           the best axis-parallel split
`line_search`         the best step along a direction, in linear time; its parts: `crossings`, `bounds`, `criteria`
`grow`, `split`       a subtree grown split by split, the purest ones or the default's; a test placed among the
                      examples, and the division by it
`predict`             which leaf each row ends in, in one tree or in those of a forest
`elimination`         coefficients improved in turn, attributes dropped (Figure 4: CART-LC; and `max_terms`)
`histograms`          class counts along many lines, for large nodes; `histogram_scores` scores them
`regression`          the same search for numbers
`choice`              the default's choice of a split: the best axis-parallel one against linear classifiers
`linear_fits`         linear classifiers of a node: `class_views` of its examples, `groupings` of its classes,
                      logistic regression (`newton`)
`annealing`           SADT;  `linear_machine`: LMDT;  `perceptron`: the pocket algorithm
`forest_tree`         a tree of a forest; its parts: `forest_directions`, `forest_thresholds`; `forest_records` is
                      what they take
`exact_sums`          sums without rounding;  `margins`: on which side of a plane;  `random`: streams of random numbers
`records`, `layout`   what kernels take: records with named fields; codes and columns of tables
`_jit`                how kernels are compiled and called; `_inner`: without machine code for what only kernels call
`_cache`              compiled code on disk; `_shipped`: that which came with a wheel
====================  ==============================================================================================

``tests/naive`` says the same slowly, and the tests compare the two.
"""
