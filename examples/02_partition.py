"""
How a tree divides the plane
============================

With two attributes you can see everything: the data, the lines, and which line belongs to which node.
"""

# %%
# RCB, the paper's rotated checkerboard, has eight classes and seven oblique boundaries. Each node's line is drawn
# only inside the region of that node, and labelled with its number.

import matplotlib.pyplot as plt

from oc1 import OC1Classifier
from oc1.datasets import make_rcb
from oc1.plotting import plot_partition, plot_tree

X, y = make_rcb(1000, random_state=0)
oblique = OC1Classifier(random_state=0).fit(X, y)
axis = OC1Classifier(splits="axis", random_state=0).fit(X, y)

figure, axes = plt.subplots(1, 2, figsize=(12, 6), layout="constrained")
for ax, model, name in zip(axes, (oblique, axis), ("oblique", "axis-parallel"), strict=True):
    plot_partition(model, X, y, ax=ax)
    ax.set_title(f"{name}: {model.get_n_leaves()} leaves")
plt.show()

# %%
# The axis-parallel tree has to approximate each oblique boundary by steps. That costs leaves, and every corner of a
# step is an error. On new points:

X_new, y_new = make_rcb(5000, random_state=1)
for name, model in {"oblique": oblique, "axis-parallel": axis}.items():
    print(f"{name:14} {100 * model.score(X_new, y_new):5.1f} %  {model.get_n_leaves():3} leaves")

# %%
# The same oblique tree, drawn as a tree. Nodes have the same numbers as the lines above.

plot_tree(oblique, X, y)
plt.show()
