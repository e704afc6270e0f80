"""The energy that SADT's annealing minimises, by its definition."""

from naive import entropy, gain

#: scikit-learn's names.
OTHER_NAMES = {"entropy": "info_gain", "log_loss": "info_gain"}


def energy(name, left, right):
    name = OTHER_NAMES.get(name, name)
    total = left + right
    gained = gain(name, left, right) if min(left.sum(), right.sum()) > 0 else 0.0
    before = {"info_gain": entropy(total), "gini": 1 - ((total / total.sum()) ** 2).sum(), "twoing": 0.0}
    return before[name] - gained
