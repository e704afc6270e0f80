"""
Watching the search
===================

Why does OC1 make random jumps? Eight points show why.
"""

# %%
# These points are like those of the paper's Figure 5: one line separates the classes, but the best axis-parallel split
# is a local minimum. Changing a single coefficient does not improve it. ``record_search`` runs the search at one
# node and records every step.

import matplotlib.pyplot as plt
import numpy as np

from oc1.animation.recording import record_search
from oc1.datasets import load_figure5, make_rcb

X, y = load_figure5()
record = record_search(X, y, n_restarts=0, n_jumps=5, random_state=0)
for step in record.steps:
    print(f"{step.kind:12} impurity {step.before:.3f} -> {step.after:.3f}")

# %%
# The search starts at the axis-parallel line and gets stuck. A jump rotates the line, and the split is perfect.

figure, ax = plt.subplots(figsize=(6, 5), layout="constrained")
ax.scatter(*X.T, c=np.array(["#0072B2", "#E69F00"])[y], s=60, zorder=2)
for step, style in ((record.steps[0], ":"), (record.steps[-1], "-")):
    along = np.array([-step.coefficients[1], step.coefficients[0]])
    point = step.threshold * step.coefficients / (step.coefficients @ step.coefficients)
    ax.axline(point, point + along, color="0.5", linestyle=style, label=step.kind)
ax.set(xlim=(0, 10), ylim=(-1, 10), xlabel="x1", ylabel="x2")
ax.legend()
plt.show()

# %%
# The root of the rotated checkerboard, searched with the paper's settings. The first run starts at the best
# axis-parallel line, the others at random lines. Each run descends, and jumps when it gets stuck.

X, y = make_rcb(1000, random_state=0)
record = record_search(X, y, preset="paper", n_restarts=4, n_jumps=20, random_state=0)
numbers = np.arange(len(record.steps))
runs = np.array([step.run for step in record.steps])
jumps = np.array([step.kind == "jump" for step in record.steps])

figure, ax = plt.subplots(figsize=(10, 4), layout="constrained")
for run in range(1, record.n_runs + 1):
    ax.plot(numbers[runs == run], record.impurities[runs == run], marker=".", color="#0072B2")
ax.plot(numbers[jumps], record.impurities[jumps], "o", color="#D55E00", label="after a jump")
ax.plot(numbers, record.impurities[record.best], color="0.5", linewidth=0.8, label="best so far")
ax.set(xlabel="step", ylabel=f"impurity ({record.criterion})")
ax.legend()
plt.show()

# %%
# ``oc1 animate rcb.csv -o search.html`` makes an animated page of the search.
