"""
Do oblique splits pay off?
==========================

On some data they do, on others they do not. `compare` tries both on the same folds and reports which is better.
"""

# %%
# Where they pay off
# ------------------
#
# POL has diagonal stripes: the class depends on the *sum* of two attributes.

import textwrap

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine

from oc1 import OC1Classifier, compare
from oc1.datasets import make_pol
from oc1.plotting import plot_partition

X_pol, y_pol = make_pol(1000, random_state=0)
print(compare(X_pol, y_pol, repeats=1, random_state=0, progress=False))

# %%
# Where they do not
# -----------------
#
# A checkerboard that is not rotated: each boundary is a value of *one* attribute, and which class is on which side
# depends on the other one. Any oblique line crosses several squares, and cross-validation finds that OC1 does better
# without oblique tests.

rng = np.random.default_rng(0)
X_board = rng.uniform(size=(1500, 2))
y_board = np.where(np.floor(3 * X_board).sum(axis=1) % 2 == 0, "white", "black")
print(compare(X_board, y_board, repeats=1, random_state=0, progress=False))

# %%
# The four trees, fitted to all points:

figure, axes = plt.subplots(2, 2, figsize=(12, 12), layout="constrained")
for row, (name, X, y) in zip(axes, (("POL", X_pol, y_pol), ("board", X_board, y_board)), strict=True):
    for ax, splits in zip(row, ("auto", "axis"), strict=True):
        clf = OC1Classifier(splits=splits, random_state=0).fit(X, y)
        plot_partition(clf, X, y, ax=ax)
        ax.set_title(f"{name}, splits={splits!r}: {clf.get_n_leaves()} leaves")
plt.show()

# %%
# Where it is too early to tell
# -----------------------------
#
# The wine data have only 178 examples. `compare` says that it cannot tell.

wine = compare(*load_wine(return_X_y=True), repeats=1, random_state=0, progress=False)
print(textwrap.fill(wine.advice, 100))
