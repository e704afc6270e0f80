"""Options that several commands share: how data files are read, and the parameters of the learners."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer

from ..learners.registry import LEARNERS
from .screen import ClusterFailure, Refusal, Result, hear_interrupts

DATA_PANEL = "Data file"
SEARCH, STOPPING, PRUNING, READING = "Search", "When a node stays a leaf", "Pruning and probabilities", "Readable tests"

# ---------------------------------------------------------------------------------------------------- data files

FORMATS = ("csv", "tsv", "parquet", "arff", "oc1")


def completing(choices: Sequence[str]) -> Callable[[str], list[str]]:
    """Return what the shell's completion asks for words that begin like what was typed."""
    return lambda incomplete: [choice for choice in choices if choice.startswith(incomplete)]


Data = Annotated[
    str, typer.Argument(metavar="DATA", help="File of examples: CSV, TSV, Parquet, ARFF or OC1's own; .gz; - is stdin.")
]
Model = Annotated[Path, typer.Argument(metavar="MODEL", help="Model file that `oc1 train` wrote, or a .dt file.")]
Target = Annotated[
    str | None,
    typer.Option(
        "--target",
        "-t",
        metavar="NAME|INDEX",
        help="Column of the class: its name, or its index from 0 (-1 is the last). (default: the last)",
        rich_help_panel=DATA_PANEL,
    ),
]
Format = Annotated[
    str | None,
    typer.Option(
        "--format",
        metavar="NAME",
        help=f"{', '.join(FORMATS)} (default: by the name of the file, else by its content).",
        autocompletion=completing(FORMATS),
        rich_help_panel=DATA_PANEL,
    ),
]
Header = Annotated[
    bool | None,
    typer.Option(
        "--header/--no-header", help="Whether the first line holds names. (default: look)", rich_help_panel=DATA_PANEL
    ),
]
Ignore = Annotated[
    list[str] | None,
    typer.Option("--ignore", metavar="NAME|INDEX", help="A column that is no attribute.", rich_help_panel=DATA_PANEL),
]
Marker = Annotated[
    list[str] | None,
    typer.Option(
        "--missing-marker",
        metavar="TEXT",
        help="A text or number that means missing, besides ? NA NaN null none and empty fields.",
        rich_help_panel=DATA_PANEL,
    ),
]
Weights = Annotated[
    str | None,
    typer.Option("--weights", metavar="NAME|INDEX", help="Column of example weights.", rich_help_panel=DATA_PANEL),
]
OneHot = Annotated[
    bool,
    typer.Option("--one-hot", help="Turn text columns into one 0/1 column a value.", rich_help_panel=DATA_PANEL),
]
Categorical = Annotated[
    bool,
    typer.Option(
        "--categorical", help="Keep text columns as categories (learners oc1, axis, vote).", rich_help_panel=DATA_PANEL
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")]


def _check_jobs(jobs: int) -> int:
    if jobs == 0:
        raise typer.BadParameter("give a number of cores, or -1 for all of them")
    return jobs


Jobs = Annotated[int, typer.Option("--jobs", "-j", metavar="N", help="Cores to use; -1 is all.", callback=_check_jobs)]
Dask = Annotated[
    str | None,
    typer.Option(
        "--dask",
        metavar="ADDRESS",
        help="Work on a Dask cluster: its scheduler's address, such as tcp://host:8786, or scheduler file. All of its "
        "workers are used, whatever --jobs says.",
    ),
]
Seed = Annotated[int, typer.Option("--seed", "-s", min=0, max=2**32 - 1, help="The same seed gives the same answer.")]
Verbose = Annotated[
    int,
    typer.Option("--verbose", "-v", count=True, help="Show each node; -vv: each move with impurity before and after."),
]
LearnerName = Annotated[
    str,
    typer.Option("--learner", "-l", metavar="NAME", help=", ".join(LEARNERS), autocompletion=completing([*LEARNERS])),
]


def on_workers(address: str | None, work: Callable[[], Result], kept: str = "") -> Result:
    """Do work that joblib runs in parallel: on the workers of a cluster, or here if there is no address.

    Parameters
    ----------
    address : str or None
        As given with ``--dask``.
    work : callable
    kept : str, default=""
        What to say of the work done so far if the cluster is lost.
    """
    if address is None:
        return work()
    from ..dask.clusters import ClusterError, find_address, on_cluster

    try:
        find_address(address)
    except ValueError as problem:
        raise Refusal(f"--dask {problem}") from None
    try:
        with on_cluster(address):
            return work()
    except ClusterError as problem:
        raise ClusterFailure(f"{problem}{kept}") from problem


def with_reading(command: Callable) -> Callable:
    """Give a command the options that say how its data file is read; they reach it as `options`, a `ReadOptions`."""
    kinds = {"target": Target, "format": Format, "header": Header, "ignore": Ignore, "missing_marker": Marker}
    added = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=kind)
        for name, kind in kinds.items()
    ]
    return _extended(command, "options", added, lambda given: _reading(**given))


def _reading(
    target: str | None,
    format: str | None,
    header: bool | None,
    ignore: Sequence[str] | None,
    missing_marker: Sequence[str] | None,
):
    from ..files.tables.reading import ReadOptions

    if format is not None and format not in FORMATS:
        raise Refusal(f"--format {format!r} is not known; it is one of {', '.join(FORMATS)}")
    hear_interrupts()  # the file may be a pipe
    return ReadOptions(format, header, target, None, tuple(ignore or ()), tuple(missing_marker or ()))


# ---------------------------------------------------------------------------------------------------- parameters


class ParameterOption(NamedTuple):
    """A parameter of the learners as an option."""

    name: str
    panel: str
    kind: Any
    default: str  # in words
    about: str
    choices: tuple[str, ...] = ()

    @property
    def flag(self) -> str:
        """The option as it is typed."""
        return "--" + self.name.replace("_", "-")

    def _further(self) -> Iterator[str]:
        if self.choices:
            yield f"One of: {', '.join(self.choices)}."
        if self.default:
            yield f"(default: {self.default})"

    def typed(self) -> inspect.Parameter:
        """Return it as typer wants it."""
        flag = self.flag if self.kind is not bool else f"{self.flag}/--no-{self.flag[2:]}"
        own = typer.Option(
            flag,
            help=" ".join([self.about, *self._further()]),
            rich_help_panel=self.panel,
            metavar="NAME" if self.choices else "LABEL=WEIGHT" if self.name == "class_weight" else None,
            autocompletion=completing(self.choices) if self.choices else None,
            show_default=False,
        )
        return inspect.Parameter(
            self.name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=Annotated[self.kind | None, own]
        )


_MEASURES = ("twoing", "gini", "info_gain", "max_minority", "sum_minority", "sum_of_variances")
_STARTS = (
    "axis", "random", "logistic", "least_squares", "lda", "svm", "means", "smooth", "householder", "parent",
)  # fmt: skip
_GROUPINGS = ("one_vs_rest", "twoing", "random")
_CAREFUL = "where the complexity penalty applies"

#: All parameters of `OC1Classifier`, but for those that have another name here (see `RENAMED`).
PARAMETERS = (
    ParameterOption("preset", SEARCH, str, "", "All settings of section 4.1 of the paper.", ("paper",)),
    ParameterOption("criterion", SEARCH, str, "twoing", "Impurity measure.", _MEASURES),
    ParameterOption("splits", SEARCH, str, "best", "The better, or one kind only.", ("best", "axis", "oblique")),
    ParameterOption("normalize", SEARCH, str, "auto", "positive: the paper's shift.", ("auto", "standard", "positive")),
    ParameterOption("n_restarts", SEARCH, int, "20", "Restarts of the search at a node, the paper's R."),
    ParameterOption("n_jumps", SEARCH, int, "5", "Random jumps at each local minimum, the paper's J."),
    ParameterOption("starts", SEARCH, list[str], "", "Where searches begin; several times.", _STARTS),
    ParameterOption("groupings", SEARCH, list[str], "", "Of classes, for linear starts; several times.", _GROUPINGS),
    ParameterOption("order", SEARCH, str, "sequential", "Of perturbations.", ("sequential", "best", "random")),
    ParameterOption("n_perturbations", SEARCH, int, "50", "Perturbations for --order random."),
    ParameterOption("stagnation", SEARCH, float, "1.0", "Probability of equally good moves, the paper's P_stag."),
    ParameterOption("axis_bias", SEARCH, float, "1.0", "How much better an oblique split must be, at least 1."),
    ParameterOption("min_samples_oblique", SEARCH, int, "2 x attributes", "Fewer are split axis-parallel only."),
    ParameterOption("missing", SEARCH, str, "mean", "Count as the mean, or go a learned way.", ("mean", "direction")),
    ParameterOption("class_weight", SEARCH, list[str], "", "balanced, or LABEL=WEIGHT, several times."),
    ParameterOption("refine", SEARCH, bool, _CAREFUL, "Fit each test again when the tree is grown."),
    ParameterOption("complexity_penalty", STOPPING, float, "3.0", "A larger one gives smaller trees."),
    ParameterOption("max_depth", STOPPING, int, "", "Deepest level of a leaf."),
    ParameterOption("min_samples_split", STOPPING, int, "2", "Fewer examples are a leaf."),
    ParameterOption("min_samples_leaf", STOPPING, int, "1", "No split leaves fewer on a side."),
    ParameterOption("max_leaf_nodes", STOPPING, int, "", "Grow best-first until there are so many leaves."),
    ParameterOption("min_impurity_decrease", STOPPING, float, "0", "Least gain of a split."),
    ParameterOption(
        "prune", PRUNING, str, "auto", "auto: left to the complexity penalty.", ("auto", "holdout", "cv", "none")
    ),
    ParameterOption("prune_fraction", PRUNING, float, "0.1", "Share kept back for --prune holdout."),
    ParameterOption("prune_se", PRUNING, float, "0", "Smallest tree within so many standard errors."),
    ParameterOption("ccp_alpha", PRUNING, float, "0", "The price of a leaf, as in scikit-learn."),
    ParameterOption("smoothing", PRUNING, float, "0", "Added to the counts of each leaf; 1 is Laplace's rule."),
    ParameterOption("max_terms", READING, int, "", "At most so many attributes in a split."),
    ParameterOption("sparsity", READING, float, "", "Drop terms that cost no more than this share of purity."),
    ParameterOption("rounding", READING, bool, _CAREFUL, "Round numbers as far as it costs nothing."),
)

#: Parameters that have another name on the command line.
RENAMED = {"random_state": "--seed", "n_jobs": "--jobs", "verbose": "-v", "categorical_features": "--categorical"}

Param = Annotated[
    list[str] | None,
    typer.Option(
        "--param",
        "-P",
        metavar="NAME=VALUE",
        help="Any parameter of the learner, such as -P n_estimators=25 of vote. May be given several times.",
    ),
]


def with_parameters(command: Callable) -> Callable:
    """Give a command an option for each of `PARAMETERS`; those given reach it as the dictionary `parameters`."""
    added = [option.typed() for option in PARAMETERS]
    return _extended(
        command, "parameters", added, lambda given: {name: value for name, value in given.items() if value is not None}
    )


def _extended(command: Callable, name: str, added: list[inspect.Parameter], made_of: Callable[[dict], Any]) -> Callable:
    """Give a command further options, which reach it as one argument."""
    own = [p for p in inspect.signature(command, eval_str=True).parameters.values() if p.name != name]

    def run(**values: Any) -> Any:
        given = {option.name: values.pop(option.name) for option in added}
        return command(**values, **{name: made_of(given)})

    run.__name__, run.__doc__ = command.__name__, command.__doc__
    keyword = [p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for p in own]
    run.__signature__ = inspect.Signature([*keyword, *added])  # type: ignore[attr-defined]
    return run


def make(name: str, parameters: dict[str, Any], extra: Sequence[str] | None, *, strict: bool = True, **usual: Any):
    """Return the learner of a name, not fitted.

    Parameters
    ----------
    name : str
        As given with ``--learner``.
    parameters : dict
        Given as options.
    extra : list of str
        Given with ``--param``.
    strict : bool, default=True
        Whether it is an error if the learner has no such parameter; if not, only what it has is used.
    **usual
        Used if the learner has such a parameter.
    """
    from ..learners.registry import make_learner, parameters_of

    if name not in LEARNERS:
        raise Refusal(f"--learner {name!r} is not known; it is one of {', '.join(LEARNERS)}")
    known, pairs = parameters_of(name), dict(map(_pair, extra or ()))
    wanted = {key: _value(key, value) for key, value in parameters.items()} | pairs
    for key in pairs.keys() & parameters.keys():
        raise Refusal(f"{key} is given twice: as an option and with --param")
    for key, value in LEARNERS[name].fixed.items():
        if wanted.get(key, value) != value:
            raise Refusal(f"the learner {name!r} has {key}={value!r}: another value makes it another learner")
    for key in [key for key in wanted if key not in known]:
        if strict:
            raise Refusal(f"the learner {name!r} has no parameter {key!r}; it has {', '.join(known)}")
        del wanted[key]
    return make_learner(name, **{key: value for key, value in usual.items() if key in known} | wanted)


def _value(name: str, value: Any) -> Any:
    """Turn what was given for an option into the parameter."""
    option = next(option for option in PARAMETERS if option.name == name)
    for one in value if isinstance(value, list) else [value]:
        if option.choices and one not in option.choices:
            raise Refusal(f"{option.flag} {one!r} is not known; it is one of {', '.join(option.choices)}")
    if name == "prune" and value == "none":
        return None
    if name == "class_weight":
        return value[0] if value == ["balanced"] else dict(_weight(text) for text in value)
    return value


def _weight(text: str) -> tuple[Any, float]:
    label, _, weight = text.rpartition("=")
    try:
        return _literal(label), float(weight)
    except ValueError:
        raise Refusal(f"--class-weight takes 'balanced' or LABEL=WEIGHT, got {text!r}") from None


def _pair(text: str) -> tuple[str, Any]:
    name, sign, value = text.partition("=")
    if not sign or not name.isidentifier():
        raise Refusal(f"--param takes NAME=VALUE, got {text!r}")
    return name, _literal(value)


def _literal(text: str) -> Any:
    """Return the number, truth value or None that a text stands for, else the text."""
    words = {"none": None, "true": True, "false": False}
    if text.lower() in words:
        return words[text.lower()]
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
