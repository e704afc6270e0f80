"""The linear program of MSM-T as it is printed, and its objective."""

import numpy as np
from scipy.optimize import linprog


def least_objective(X, sides, weights):
    """The least objective, by the program as it is printed: min c'y, sides (Xw + g) + y >= 1, y >= 0."""
    n, d = X.shape
    share = np.where(sides > 0, weights / weights[sides > 0].sum(), weights / weights[sides < 0].sum())
    constraints = -np.hstack([sides[:, None] * np.column_stack([X, np.ones(n)]), np.eye(n)])
    answer = linprog(
        np.concatenate([np.zeros(d + 1), share]),
        A_ub=constraints,
        b_ub=-np.ones(n),
        bounds=[(None, None)] * (d + 1) + [(0, None)] * n,
        method="highs",
    )
    assert answer.status == 0
    return answer.fun


def objective(plane, X, sides, weights):
    missed = np.maximum(0, 1 - sides * (X @ plane[:-1] + plane[-1]))
    return sum((weights * missed)[sides == s].sum() / weights[sides == s].sum() for s in (1, -1))
