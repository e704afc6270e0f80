"""
The first tree
==============

Fit a tree to the iris data, read it, draw it, and ask what it is worth.
"""

# %%
# The iris data are 150 flowers of three species with four measurements each. The labels stay words, and the attributes
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
# Two tests are enough. The first one looks at one attribute: all flowers with narrow petals are setosa. The second one
# weighs all four measurements against each other. The numbers in brackets are the training flowers of each species.
#
# The picture shows the same tree. At each inner node, the histogram says where the flowers lie along the test, and
# the line where the tree cuts.

plot_tree(clf, X, species)
plt.show()

# %%
# It predicts like any scikit-learn classifier.

print(clf.predict(X.iloc[[0, 60, 110]]))
print(clf.predict_proba(X.iloc[[110]]).round(2))

# %%
# And it is judged like one. These are flowers that the trees had not seen.

folds = StratifiedKFold(5, shuffle=True, random_state=0)
scores = cross_val_score(clf, X, species, cv=folds)
print(f"{100 * scores.mean():.1f} % of the flowers are named right")
