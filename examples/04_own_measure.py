"""
Your own impurity measure
=========================

The search asks one question of a split: how pure are the two sides? You may give your own answer.
"""

# %%
# A measure is a function of the class weights on the left and on the right. Smaller is purer. It is compiled by Numba,
# so it may use numbers, NumPy and loops, and it runs at the speed of the built-in ones.
#
# Twoing, the default, likes splits into halves. This measure likes splits with one side that is pure and large, and
# does not care about the other side. Trees grown by it peel off one pure piece after another, like a list
# of rules.

import matplotlib.pyplot as plt
import numpy as np

from oc1 import OC1Classifier
from oc1.datasets import make_rcb
from oc1.impurity import twoing
from oc1.plotting import plot_partition


def worst_of_best_side(left, right):
    """Return the share of errors on the better side, by Laplace's rule, so that few examples are not trusted."""
    k = len(left)
    return 1 - max((left.max() + 1) / (left.sum() + k), (right.max() + 1) / (right.sum() + k))


# %%
# Two splits of 100 examples of two classes, seen by both measures. The first one divides in halves and is right in nine
# of ten cases. The second one makes a pure side of 30.

for left, right in (([45.0, 5.0], [5.0, 45.0]), ([30.0, 0.0], [20.0, 50.0])):
    left, right = np.array(left), np.array(right)
    print(left, right, f"twoing {twoing(left, right):.2f}, own {worst_of_best_side(left, right):.3f}")

# %%
# Twoing prefers the first one, the other measure the second one. On the rotated checker board the trees differ in the
# same way, and halves are the better idea. ``prune=None`` grows them by the measure alone.

X, y = make_rcb(1000, random_state=0)
X_new, y_new = make_rcb(5000, random_state=1)

figure, axes = plt.subplots(1, 2, figsize=(12, 5.5), layout="constrained")
for ax, criterion in zip(axes, ("twoing", worst_of_best_side), strict=True):
    clf = OC1Classifier(criterion=criterion, prune=None, n_jumps=20, random_state=0).fit(X, y)
    plot_partition(clf, X, y, ax=ax)
    name = getattr(criterion, "__name__", criterion)
    ax.set_title(f"{name}: {clf.get_n_leaves()} leaves, depth {clf.get_depth()}")
    print(f"{name:20} {100 * clf.score(X_new, y_new):.1f} % on new points")
plt.show()
