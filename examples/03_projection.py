"""
Reading a projection histogram
==============================

A test on thirty attributes cannot be drawn as a line in a plane. But a linear test turns each example into one number,
and numbers can be drawn.
"""

# %%
# The breast cancer data have 569 tumours and 30 attributes. By default OC1 needs a single test, which uses them all.

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import StratifiedKFold, cross_val_score

from oc1 import OC1Classifier
from oc1.plotting import plot_importances, plot_partition, plot_projection

cancer = load_breast_cancer(as_frame=True)
X, diagnosis = cancer.data, cancer.target_names[cancer.target]
clf = OC1Classifier(random_state=0).fit(X, diagnosis)
print(clf.get_n_leaves(), "leaves")

# %%
# The test computes a sum for each tumour: coefficient times value, over all attributes. The histogram shows
# these sums. Left of the line the answer is "no", right of it "yes".
#
# - Two heaps that hardly overlap: the test tells the classes apart.
# - What lies near the line is uncertain. A small error of measurement would change the answer.
# - The colour that is on the wrong side is what the test gets wrong.

figure, ax = plt.subplots(figsize=(8, 4), layout="constrained")
plot_projection(clf, 0, X, diagnosis, ax=ax)
plt.show()

# %%
# Which attributes make the sum? A coefficient depends on the unit of its attribute: measured in millimetres, an
# attribute has a coefficient a tenth as large as in centimetres. The importance does not: it goes by the standardised
# coefficients.

figure, ax = plt.subplots(figsize=(8, 5), layout="constrained")
plot_importances(clf, top=12, ax=ax)
plt.show()

# %%
# Thirty attributes are hard to defend before a physician. ``max_terms=2`` allows two in a test.

short = OC1Classifier(max_terms=2, random_state=0).fit(X, diagnosis)
print(short.tree_)

figure, ax = plt.subplots(figsize=(8, 4), layout="constrained")
plot_projection(short, 0, X, diagnosis, ax=ax)
plt.show()

# %%
# The same node from above: along the horizontal axis the sum of the test, along the vertical one the direction in which
# the node's examples differ most otherwise.

figure, ax = plt.subplots(figsize=(8, 6), layout="constrained")
plot_partition(short, X, diagnosis, node=0, ax=ax)
plt.show()

# %%
# What do the shorter tests cost? On the same five folds:

folds = StratifiedKFold(5, shuffle=True, random_state=0)
for name, model in {"all attributes": clf, "at most two in a test": short}.items():
    print(f"{name:22} {100 * cross_val_score(model, X, diagnosis, cv=folds).mean():.1f} %")
