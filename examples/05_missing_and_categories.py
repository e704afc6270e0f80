"""
Missing values and categories
=============================

Missing values and columns of text need no preprocessing.
"""

# %%
# An invented orchard: will an apple keep until spring? That depends on its firmness and sugar together, and on the
# variety (``sort``). Sugar was not measured for apples that were already soft, so a missing value carries information.

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from oc1 import OC1Classifier
from oc1.plotting import plot_tree

rng = np.random.default_rng(0)
n = 800
fruit = pd.DataFrame(
    {
        "firmness": rng.normal(6, 1.5, n).round(1),
        "sugar": rng.normal(12, 2, n).round(1),
        "sort": rng.choice(["Boskoop", "Elstar", "Gala", "Topaz"], n),
    }
)
better = fruit["sort"].map({"Boskoop": 1.5, "Topaz": 1.0, "Elstar": -1.0, "Gala": -1.5})
keeps = np.where(fruit["firmness"] + 0.5 * fruit["sugar"] + better > 12, "keeps", "rots")
fruit.loc[fruit["firmness"] < 4.5, "sugar"] = np.nan
print(fruit.isna().sum().to_dict())

# %%
# ``categorical_features`` names the columns of text. Each tree gives every category a code, based on how often its
# apples keep, and the codes can take part in linear combinations; they are listed below the tree. Missing values are
# replaced by the attribute's mean.

clf = OC1Classifier(categorical_features=["sort"], random_state=0).fit(fruit, keeps)
print(clf.tree_)

# %%
# With ``missing="direction"``, an axis-parallel test learns where to send missing values, and can test whether a value
# is missing.

axis = OC1Classifier(
    categorical_features=["sort"], missing="direction", splits="axis", max_leaf_nodes=6, random_state=0
).fit(fruit, keeps)
print(axis.tree_)

# %%
# New apples may have missing values in any column, and varieties not seen in training: both are replaced by the mean.

unseen = pd.DataFrame(
    {"firmness": [7.5, np.nan, 4.0], "sugar": [12.0, 13.0, np.nan], "sort": ["Topaz", "Boskoop", "Jonagold"]}
)
print(clf.predict(unseen), clf.predict_proba(unseen).round(2).tolist())

# %%
# A plot of the first tree:

plot_tree(clf, fruit, keeps)
plt.show()
