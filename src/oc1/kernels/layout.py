"""Codes, and the columns of the tables that kernels read and write."""

import numpy as np

# Codes of the criteria. Twoing, Gini and variances are built into the kernels; the others come as pointers.
TWOING, GINI, VARIANCES, INFO_GAIN, SUM_MINORITY, MAX_MINORITY, CUSTOM = range(7)
# Codes of the orders in which coefficients are perturbed.
SEQUENTIAL, BEST, RANDOM = range(3)
# Where an axis-parallel test sends missing values; by fill: as if they were the attribute's fill value.
MISSING_LEFT, BY_FILL, MISSING_RIGHT = -1, 0, 1
# Stages of a search: runs without their jumps, only the jumps, or both.
CLIMB, JUMP, BOTH = range(3)
# Columns of `Workspace.runs`: the score; whether the split is pure (1 if it was so before the stage of jumps, 2 if
# after it); hyperplanes considered, and those of a stage of jumps; the score before the jumps; the plane from here on.
SCORE, PURE, CLIMBED, JUMPED, FIRST_SCORE, PLANE = range(6)
# Columns of `Workspace.moves`: the next free row (in the first row only); the run; the coefficient that moved, or one
# of the two below; the impurities before and after; from here on the plane after the move.
NEXT_MOVE, MOVED_RUN, MOVED_WHICH, MOVED_FROM, MOVED_TO, MOVED_PLANE = range(6)
A_JUMP, A_START = -1, -2
# Columns of `Nodes.table`, and what `STATUS` says. (`MISSING` is where the test sends missing values.)
START, STOP, DEPTH, LEFT, RIGHT, FIRST_TERM, N_TERMS, STATUS, MISSING = range(9)
PENDING, LEAF, INNER = range(3)

#: At nodes with fewer examples, equal scores do not say that two runs stand at the same place: there are few scores.
MIN_ROWS_TO_MEET = 250
MAX_BUCKETS = 1024
#: Crossings beyond this are never reached by a finite step.
FAR = np.float32(1e30)
#: The score of no split at all: finite, so that differences from it are numbers.
NO_SPLIT = -1e300
#: The threshold of a test that asks only whether a value is missing: no known value is above it.
ABOVE_ALL = np.finfo(np.float64).max
