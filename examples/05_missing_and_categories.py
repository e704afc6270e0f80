"""
Missing values and categories
=============================

Data with gaps and with words can stay as they are.
"""

# %%
# A made-up orchard: will a fruit keep until spring? It depends on its firmness and sugar together, and on the sort.
# Sugar was not measured for fruits that were already soft, so a gap says something, too.

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
# ``categorical_features`` names the columns of words. Each tree gives every word a number, by how often its fruits
# keep, and the numbers may take part in a linear combination; they are listed below the tree. A missing value counts as
# the attribute's mean.

clf = OC1Classifier(categorical_features=["sort"], random_state=0).fit(fruit, keeps)
print(clf.tree_)

# %%
# ``missing="direction"`` lets an axis-parallel test learn where the missing values go, and lets it ask
# whether a value is missing.

axis = OC1Classifier(
    categorical_features=["sort"], missing="direction", splits="axis", max_leaf_nodes=6, random_state=0
).fit(fruit, keeps)
print(axis.tree_)

# %%
# New fruits may have gaps in any column, and sorts that nobody has seen yet: they count as the mean.

unseen = pd.DataFrame(
    {"firmness": [7.5, np.nan, 4.0], "sugar": [12.0, 13.0, np.nan], "sort": ["Topaz", "Boskoop", "Jonagold"]}
)
print(clf.predict(unseen), clf.predict_proba(unseen).round(2).tolist())

# %%
# The first tree as a picture:

plot_tree(clf, fruit, keeps)
plt.show()
