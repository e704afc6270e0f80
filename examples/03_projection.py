"""
Reading a projection histogram
==============================

A test on fifteen attributes cannot be drawn as a line in a plane. But a linear test turns each example into one number,
and these numbers can be plotted.
"""

# %%
# The breast cancer data describe 569 tumours by 30 attributes. With its defaults, OC1 needs a single test that uses
# half of them.

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer

from oc1 import OC1Classifier
from oc1.plotting import plot_importances, plot_partition, plot_projection, plot_sparsity_path

cancer = load_breast_cancer(as_frame=True)
X, diagnosis = cancer.data, cancer.target_names[cancer.target]
clf = OC1Classifier(random_state=0).fit(X, diagnosis)
print(clf.get_n_leaves(), "leaves")

# %%
# The test computes a sum for each tumour: coefficient times value, over its attributes. The histogram shows
# these sums. To the left of the line the answer is "no", to the right "yes".
#
# - The two distributions hardly overlap, so the test separates the classes.
# - Tumours near the line are uncertain. A small measurement error would change the answer.
# - Tumours whose colour is on the wrong side are misclassified.

figure, ax = plt.subplots(figsize=(8, 4), layout="constrained")
plot_projection(clf, 0, X, diagnosis, ax=ax)
plt.show()

# %%
# Which attributes contribute most to the sum? A coefficient depends on the unit of its attribute: it is a tenth as
# large if the attribute is measured in millimetres instead of centimetres. The importance does not depend on units: it
# is based on standardised coefficients.

figure, ax = plt.subplots(figsize=(8, 5), layout="constrained")
plot_importances(clf, top=12, ax=ax)
plt.show()

# %%
# A test on fifteen attributes is hard to explain to a physician. ``max_terms=2`` allows at most two per test.

short = OC1Classifier(max_terms=2, random_state=0).fit(X, diagnosis)
print(short.tree_)

figure, ax = plt.subplots(figsize=(8, 4), layout="constrained")
plot_projection(short, 0, X, diagnosis, ax=ax)
plt.show()

# %%
# The same node in two dimensions. The horizontal axis is the sum of the test; the vertical axis is the direction in
# which the node's examples differ most apart from that.

figure, ax = plt.subplots(figsize=(8, 6), layout="constrained")
plot_partition(short, X, diagnosis, node=0, ax=ax)
plt.show()

# %%
# What do shorter tests cost? ``sparsity_path`` cross-validates trees with different limits on the same folds. The terms
# in the whole tree are what there is to read.

path = OC1Classifier(random_state=0).sparsity_path(X, diagnosis)
print(path)

figure, ax = plt.subplots(figsize=(8, 5), layout="constrained")
plot_sparsity_path(path, ax=ax)
plt.show()
