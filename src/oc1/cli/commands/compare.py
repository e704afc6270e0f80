"""``oc1 compare``: whether oblique splits pay."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from ...learners.registry import LEARNERS, OF_NUMBERS
from ..options import Dask, Data, Folds, Jobs, Json, OneHot, Repeats, Seed, choice, on_workers
from ..parameters import make_estimator
from ..screen import UsageError, print_json, say
from .cv import as_shares, check_learners

if TYPE_CHECKING:
    from ...files.tables import ReadOptions

#: Learners that are always compared.
ALWAYS = ("oc1", "axis", "vote")


def compare(
    data: Data,
    options: ReadOptions,
    folds: Folds = 5,
    repeats: Repeats = 3,
    learner: Annotated[list[str] | None, choice([*LEARNERS], "--learner", "-l")] = None,
    one_hot: OneHot = False,
    seed: Seed = 0,
    jobs: Jobs = 1,
    dask: Dask = None,
    json: Json = False,
) -> None:
    """Say in plain words whether oblique splits pay off.

    Compares oblique and axis-parallel trees, an ensemble, scikit-learn's tree and logistic regression.

    Example: oc1 compare iris.csv --target species

    Parameters
    ----------
    learner : NAME
        Another learner to compare with: forest, cart, cart-lc, c45, lmdt, sadt, msmt, perceptron; may be given several
        times.
    """
    names = list(dict.fromkeys(learner or []))
    check_learners(names, {})
    if of_numbers := [name for name in names if name in OF_NUMBERS]:
        raise UsageError(f"--learner {of_numbers[0]} predicts numbers; for these, use oc1 cv --learner {of_numbers[0]}")
    for name in names:
        if name in ALWAYS:
            raise UsageError(f"--learner {name} is not needed: it is always compared")
    import numpy as np

    from ...evaluation.comparison import compare as compare_learners
    from ..training import check_classes, read_training_table

    table = read_training_table(data, options, one_hot=one_hot)
    check_classes(table)
    further = {LEARNERS[name].title: make_estimator(name, {}) for name in names}
    comparison = on_workers(
        dask,
        lambda: compare_learners(
            table.X, np.asarray(table.y), learners=further, folds=folds, repeats=repeats, random_state=seed, n_jobs=jobs
        ),
    )
    if json:
        figures = comparison.to_dict()
        rows = [as_shares(row, "accuracy", "accuracy_sd", "difference") for row in figures["table"]]
        print_json(figures | {"table": rows})
    else:
        say(str(comparison))
