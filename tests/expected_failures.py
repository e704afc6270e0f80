"""Checks of scikit-learn that learners contradict on purpose."""


def repetitions_are_evidence(estimator):
    """Return the checks that say that a weight of 2 is an example that is there twice.

    To learners that weigh evidence, weights are ratios: a weight of 2 for all is no evidence, each example twice is.
    """
    contradicted = "weights are ratios: their effective number of examples is evidence, not their sum"
    return {f"check_sample_weight_equivalence_on_{kind}_data": contradicted for kind in ("dense", "sparse")}
