"""
Your first tree
===============

Fit a tree to the iris data, read it, plot it, and measure its accuracy.
"""

# %%
# The iris data describe 150 flowers of three species by four measurements each. Labels can be strings, and attributes
# keep their names.

import matplotlib.pyplot as plt
from sklearn.datasets import load_iris
from sklearn.model_selection import StratifiedKFold, cross_val_score

from oc1 import OC1Classifier
from oc1.plotting import plot_tree

iris = load_iris(as_frame=True)
X, species = iris.data, iris.target_names[iris.target]

clf = OC1Classifier(random_state=0).fit(X, species)
print(clf.tree_)

# %%
# Two tests are enough, and both combine all four measurements. The first one finds setosa, the second one tells the
# other two species apart. The numbers in brackets are the counts of training flowers of each species.
#
# The plot shows the same tree. At each inner node, a histogram shows the values of the test for the flowers that reach
# it, and the line marks the threshold.

plot_tree(clf, X, species)
plt.show()

# %%
# It predicts like any scikit-learn classifier.

print(clf.predict(X.iloc[[0, 60, 110]]))
print(clf.predict_proba(X.iloc[[110]]).round(2))

# %%
# It is evaluated like one, too. Cross-validation tests each tree on flowers it has not seen.

folds = StratifiedKFold(5, shuffle=True, random_state=0)
scores = cross_val_score(clf, X, species, cv=folds)
print(f"{100 * scores.mean():.1f} % of the flowers are named right")
