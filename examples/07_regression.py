"""
Regression
==========

`OC1Regressor` grows the same kind of tree to predict numbers: each leaf predicts the mean of its examples.
"""

# %%
# A surface with three levels, oblique edges and some noise.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.model_selection import KFold, cross_val_score

from oc1 import OC1Regressor
from oc1.plotting import plot_tree

rng = np.random.default_rng(0)
X = rng.uniform(-1, 1, size=(600, 2))
steps = np.where(X @ [1, 1] > 0.2, 2.0, np.where(X @ [1, -2] > 0.3, 1.0, 0.0))
y = steps + rng.normal(scale=0.1, size=600)

oblique = OC1Regressor(random_state=0).fit(X, y)
axis = OC1Regressor(splits="axis", random_state=0).fit(X, y)
print(oblique.tree_)

# %%
# The tree finds both edges. Axis-parallel splits can only approximate them by steps.

x1, x2 = np.meshgrid(np.linspace(-1, 1, 200), np.linspace(-1, 1, 200))
grid = np.column_stack([x1.ravel(), x2.ravel()])
figure, axes = plt.subplots(1, 2, figsize=(12, 5), layout="constrained")
for ax, model, name in zip(axes, (oblique, axis), ("oblique", "axis-parallel"), strict=True):
    mesh = ax.pcolormesh(x1, x2, model.predict(grid).reshape(x1.shape), cmap="cividis", vmin=-0.2, vmax=2.2)
    ax.set(title=f"{name}: {model.get_n_leaves()} leaves", xlabel="x1", ylabel="x2", aspect="equal")
figure.colorbar(mesh, ax=axes, label="prediction")
plt.show()

# %%
# Real data: the progression of diabetes in 442 patients. An oblique split is chosen only where it justifies its
# additional coefficients.

patients = load_diabetes(as_frame=True, scaled=False)
folds = KFold(5, shuffle=True, random_state=0)
for name, model in {
    "oblique": OC1Regressor(random_state=0),
    "axis-parallel": OC1Regressor(splits="axis", random_state=0),
}.items():
    scores = cross_val_score(model, patients.data, patients.target, cv=folds)
    print(f"{name:14} R2 = {scores.mean():.2f}")

# %%
# The histograms count patients. The darker a leaf, the higher its prediction.

reg = OC1Regressor(random_state=0).fit(patients.data, patients.target)
plot_tree(reg, patients.data, patients.target)
plt.show()
