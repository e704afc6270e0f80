"""
Pruning
=======

How large should a tree be? OC1 grows a tree until its leaves are pure and then prunes it. By default, cross-validation
chooses the size, and the terms of tests have a price, too.
"""

# %%
# The wine data have three classes. To add noise, about one label in ten is replaced by a random one.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine

from oc1 import OC1Classifier
from oc1.plotting import plot_pruning_path

X, y = load_wine(return_X_y=True, as_frame=True)
rng = np.random.default_rng(0)
y = y.where(rng.uniform(size=len(y)) > 0.1, rng.integers(0, 3, size=len(y)))

clf = OC1Classifier(random_state=0).fit(X, y)
print(f"grown: {clf.unpruned_tree_.n_leaves} leaves, pruned: {clf.get_n_leaves()}")

# %%
# The cost-complexity sequence leads from the full tree to the root. Each step removes the branch that is worth least
# for its leaves and terms. Accuracy is estimated by cross-validation, and of the trees that are about as accurate as
# the best one, the simplest is chosen.

figure, ax = plt.subplots(figsize=(8, 4.5), layout="constrained")
plot_pruning_path(clf, ax=ax)
plt.show()

# %%
# With ``prune="cv"``, splits are searched as in the paper, and the most accurate size is chosen; ``prune_se=1`` chooses
# the smallest tree within one standard error of it. ``ccp_alpha`` sets the cost of a leaf directly, on scikit-learn's
# scale.

for parameters in ({}, {"prune": "cv"}, {"prune": "cv", "prune_se": 1.0}, {"prune": None}, {"ccp_alpha": 0.05}):
    clf = OC1Classifier(random_state=0, **parameters).fit(X, y)
    print(f"{parameters!s:35} {clf.get_n_leaves():3} leaves")
