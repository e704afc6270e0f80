"""
Ensembles
=========

A single tree is easy to read. Several trees can be more accurate, and give better probabilities.
"""

# %%
# A few lines cannot follow a curved boundary. One tree draws a few straight lines; the vote of thirty-one trees, each
# grown on a different bootstrap sample, is smoother.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_circles

from oc1 import OC1Classifier, OC1EnsembleClassifier
from oc1.datasets import make_rcb
from oc1.plotting import plot_partition

X, y = make_circles(300, noise=0.15, factor=0.5, random_state=0)
X_new, y_new = make_circles(4000, noise=0.15, factor=0.5, random_state=1)

tree = OC1Classifier(random_state=0).fit(X, y)
vote = OC1EnsembleClassifier(n_estimators=31, bootstrap=True, oob_score=True, random_state=0).fit(X, y)

print(f"one tree  {100 * tree.score(X_new, y_new):.1f} %")
print(f"vote      {100 * vote.score(X_new, y_new):.1f} %  (out of bag: {100 * vote.oob_score_:.1f} %)")

# %%
# The colour on the right is the fraction of votes for the inner class.

figure, axes = plt.subplots(1, 2, figsize=(12, 5.5), layout="constrained")
plot_partition(tree, X, y, ax=axes[0])
axes[0].set_title("one tree")

x1, x2 = np.meshgrid(np.linspace(-1.6, 1.6, 120), np.linspace(-1.6, 1.6, 120))
share = vote.predict_proba(np.column_stack([x1.ravel(), x2.ravel()]))[:, 1].reshape(x1.shape)
mesh = axes[1].contourf(x1, x2, share, levels=np.linspace(0, 1, 11), cmap="cividis")
figure.colorbar(mesh, ax=axes[1], label="share of the votes for class 1")
axes[1].scatter(*X.T, c=y, s=9, cmap="cividis", edgecolors="white", linewidths=0.5)
axes[1].set(title="vote of 31 trees", xlabel="x1", ylabel="x2", aspect="equal")
plt.show()

# %%
# An ensemble does not always pay off. On RCB, whose boundaries are lines, a single tree is as good:

X, y = make_rcb(1000, random_state=0)
X_new, y_new = make_rcb(5000, random_state=1)
for name, model in {
    "one tree": OC1Classifier(random_state=0),
    "vote of 11": OC1EnsembleClassifier(random_state=0),
}.items():
    print(f"{name:10} {100 * model.fit(X, y).score(X_new, y_new):.1f} %")
