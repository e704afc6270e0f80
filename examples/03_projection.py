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
from sklearn.model_selection import cross_val_score

from oc1 import OC1Classifier
from oc1.plotting import plot_importances, plot_partition, plot_projection, plot_pruning_path

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
# What do shorter tests cost? Cross-validation with different limits says so. The terms in the whole tree are what there
# is to read.

for max_terms in (1, 2, 3, 5, None):
    limited = OC1Classifier(max_terms=max_terms, random_state=0)
    accuracy = cross_val_score(limited, X, diagnosis).mean()
    print(f"max_terms={max_terms!s:4}  accuracy {accuracy:.1%}, {limited.fit(X, diagnosis).tree_.n_terms} terms")

# %%
# What do smaller trees cost? The pruning path leads from the tree whose leaves are pure to the root. For each step it
# has the leaves, the terms in all tests, which are what there is to read, and the accuracy by cross-validation.

for step in clf.pruning_path_:
    print(f"alpha {step.alpha:.4f}: {step.leaves} leaves, {step.terms:2} terms, {step.accuracy:.1%}")

figure, ax = plt.subplots(figsize=(8, 5), layout="constrained")
plot_pruning_path(clf, ax=ax)
plt.show()
