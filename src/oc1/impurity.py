"""The six impurity measures of the paper, a register of them, and measures written by the user.

A measure is a function of the class counts on the two sides of a split; OC1 minimises it. The functions here are the
definitions of section 3.3.1 and Appendix B, for use and for reading; the compiled search maximises an equivalent *gain*
(`oc1.kernels.criteria`), and the tests hold the two together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from numbers import Real
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt
from numba import njit, types
from numba.core.errors import NumbaError, UnsupportedBytecodeError

from .kernels import criteria as _measures
from .kernels import layout
from .kernels._jit import Compiled

ImpurityFunction = Callable[[np.ndarray, np.ndarray], float]


def _sides(left: npt.ArrayLike, right: npt.ArrayLike) -> tuple[np.ndarray, np.ndarray, float, float]:
    left, right = np.asarray(left, dtype=float), np.asarray(right, dtype=float)
    return left, right, float(left.sum()), float(right.sum())


def _homogeneous(left: np.ndarray, right: np.ndarray) -> bool:
    """Whether each side holds one class only (the paper's check before every measure)."""
    return bool(np.count_nonzero(left) <= 1 and np.count_nonzero(right) <= 1)


def _reciprocal(gain: float) -> float:
    """Turn a goodness into an impurity. A useless split is infinitely impure (rounding must not make it negative)."""
    return 1.0 / gain if gain > 1e-14 else np.inf


def entropy(counts: np.ndarray) -> np.ndarray:
    """Return the entropy of class weights in bits, along the last axis."""
    total = counts.sum(axis=-1, keepdims=True)
    shares = np.divide(counts, total, out=np.zeros_like(counts, dtype=float), where=total > 0)
    bits: np.ndarray = -(shares * np.log2(shares, out=np.zeros_like(shares), where=shares > 0)).sum(axis=-1)
    return bits


def information_gained(branches: np.ndarray) -> float:
    """Return the information, in bits, that knowing the branch gives of the class; a row of class weights each."""
    sizes = branches.sum(axis=1)
    return float(entropy(branches.sum(axis=0)) - (sizes * entropy(branches)).sum() / sizes.sum())


def twoing(left: npt.ArrayLike, right: npt.ArrayLike) -> float:
    """Return the reciprocal of the Twoing value (Breiman et al. 1984)."""
    left, right, n_left, n_right = _sides(left, right)
    if _homogeneous(left, right):
        return 0.0
    if n_left == 0 or n_right == 0:
        return np.inf
    n = n_left + n_right
    return _reciprocal(n_left / n * n_right / n * float(np.abs(left / n_left - right / n_right).sum()) ** 2)


def gini(left: npt.ArrayLike, right: npt.ArrayLike) -> float:
    """Return the mean of the two sides' Gini indices, weighted by their sizes."""
    left, right, n_left, n_right = _sides(left, right)
    if _homogeneous(left, right):
        return 0.0
    both = sum(n * (1.0 - ((side / n) ** 2).sum()) for side, n in ((left, n_left), (right, n_right)) if n > 0)
    return float(both / (n_left + n_right))


def info_gain(left: npt.ArrayLike, right: npt.ArrayLike) -> float:
    """Return the reciprocal of the information gained by the split, in bits (Quinlan 1986)."""
    left, right, _, _ = _sides(left, right)
    return 0.0 if _homogeneous(left, right) else _reciprocal(information_gained(np.array([left, right])))


def max_minority(left: npt.ArrayLike, right: npt.ArrayLike) -> float:
    """Return the larger of the two sides' numbers of examples outside their majority class (Heath et al. 1993)."""
    left, right, n_left, n_right = _sides(left, right)
    return float(max(n_left - left.max(initial=0.0), n_right - right.max(initial=0.0)))


def sum_minority(left: npt.ArrayLike, right: npt.ArrayLike) -> float:
    """Return the number of examples that the majority classes of the two sides misclassify (Heath et al. 1993)."""
    left, right, n_left, n_right = _sides(left, right)
    return float(n_left - left.max(initial=0.0) + n_right - right.max(initial=0.0))


def category_numbers(counts: npt.ArrayLike) -> np.ndarray:
    """Give the classes the numbers 1, 2, ... by falling frequency at a node (equal ones in their order)."""
    frequencies = np.asarray(counts, dtype=float)
    numbers = np.empty(len(frequencies))
    numbers[np.argsort(-frequencies, kind="stable")] = np.arange(1, len(frequencies) + 1)
    return numbers


def sum_of_variances(left: npt.ArrayLike, right: npt.ArrayLike) -> float:
    """Return the sum of the two sides' variances (times their sizes) of the category numbers.

    Classes are renumbered by their frequency at the node, so the value does not depend on how they were coded.
    """
    left, right, n_left, n_right = _sides(left, right)
    if _homogeneous(left, right):
        return 0.0
    numbers = category_numbers(left + right)
    both = 0.0
    for side, n in ((left, n_left), (right, n_right)):
        if n > 0:
            mean = (numbers * side).sum() / n
            both += (side * (numbers - mean) ** 2).sum()
    return float(both)


class Measure(NamedTuple):
    """A named impurity measure: its definition, and its code in the kernels."""

    name: str
    impurity: ImpurityFunction
    code: int

    def pointers(self) -> tuple[Compiled, Compiled]:
        """Return the compiled functions by which the kernels score and bound splits."""
        if self.code == layout.CUSTOM:
            return _compile(self.impurity, self.name)[1], _measures.pointers(self.code)[1]
        return _measures.pointers(self.code)


MEASURES: dict[str, Measure] = {
    function.__name__: Measure(function.__name__, function, code)
    for function, code in (
        (twoing, layout.TWOING),
        (gini, layout.GINI),
        (info_gain, layout.INFO_GAIN),
        (max_minority, layout.MAX_MINORITY),
        (sum_minority, layout.SUM_MINORITY),
        (sum_of_variances, layout.VARIANCES),
    )
}

#: Other names, by which scikit-learn's trees know a measure.
ALIASES = {"entropy": "info_gain", "log_loss": "info_gain"}
#: What a criterion may be called.
NAMES = (*MEASURES, *ALIASES)

_compiled_measures: WeakKeyDictionary[ImpurityFunction, tuple[Callable[..., Any], Compiled]] = WeakKeyDictionary()


def get_measure(criterion: str | ImpurityFunction, n_classes: int = 2) -> Measure:
    """Return the measure of a name or of a user's function.

    Parameters
    ----------
    criterion : str or callable
        One of `NAMES`, or a plain Python function ``f(left, right) -> float`` of two float arrays with
        the weight of each class (in the order of ``classes_``) on the left and on the right. Smaller is purer. It is
        compiled by Numba and never called with an empty side.
    n_classes : int
        How many classes there are; a user's function is tried out on counts of that length.

    Raises
    ------
    ValueError, TypeError
        If there is no such name; or if the function imports something, fails, returns anything but a number, or changes
        its arguments, all of which is found out before it is compiled; or if it does not compile.
    """
    if isinstance(criterion, str):
        if criterion not in NAMES:
            raise ValueError(f"criterion must be one of {sorted(NAMES)} or a function, got {criterion!r}")
        return MEASURES[ALIASES.get(criterion, criterion)]
    name = getattr(criterion, "__name__", repr(criterion))
    _ask_in_python(criterion, name, max(2, n_classes))
    _ask_compiled(criterion, name, max(2, n_classes))
    return Measure(name, criterion, layout.CUSTOM)


def _compile(function: ImpurityFunction, name: str) -> tuple[Callable[..., Any], Compiled]:
    """Compile a user's measure, once: as a function of its own, and as the kernels call it."""
    if function in _compiled_measures:
        return _compiled_measures[function]
    vector = types.float64[::1]
    try:
        compiled = njit(types.float64(vector, vector), error_model="numpy", boundscheck=True)(
            getattr(function, "py_func", function)
        )
        rate = _measures.score_by(compiled)
    except (NumbaError, UnsupportedBytecodeError, TypeError) as error:
        reason = " ".join(line.strip() for line in str(error).strip().splitlines()[:4])
        if "IMPORT_NAME" in reason:
            raise TypeError(
                f"criterion {name!r} imports something, which cannot be compiled; import it above the function. "
                f"Numba says: {reason}"
            ) from error
        raise TypeError(
            f"criterion {name!r} could not be compiled by Numba; it must be a plain function of two float arrays "
            f"(class counts on the left, on the right) that returns a number. Numba says: {reason}"
        ) from error
    _compiled_measures[function] = compiled, rate
    return compiled, rate


def _trial_counts(n_classes: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Return the class counts of a few splits: a good one, a perfect one, and a useless one."""
    ramp = np.arange(1.0, n_classes + 1.0)
    yield ramp, ramp[::-1].copy()
    yield 3.0 * np.eye(n_classes)[0], 2.0 * np.eye(n_classes)[-1]
    yield ramp, ramp.copy()


def _ask_in_python(function: ImpurityFunction, name: str, n_classes: int) -> None:
    """Call a user's measure, as it is written, on a few counts: compiled code would not notice what is wrong."""
    plain = getattr(function, "py_func", function)
    for left, right in _trial_counts(n_classes):
        given = left.copy(), right.copy()
        try:
            with np.errstate(all="ignore"):
                value = plain(*given)
        except ArithmeticError:  # where Python divides by zero, compiled code returns an infinite number
            continue
        except Exception:
            raise_failure(function, name, left, right)
        if not (np.array_equal(given[0], left) and np.array_equal(given[1], right)):
            raise ValueError(f"criterion {name!r} changes its arguments; a measure must only read the counts")
        if not isinstance(value, Real):
            raise TypeError(
                f"criterion {name!r} returned {value!r}, a {type(value).__name__}, for {_words(left, right)}; "
                "a measure must return a number (inf for a useless split)"
            )
        if np.isnan(float(value)):
            raise_failure(function, name, left, right)


def _ask_compiled(function: ImpurityFunction, name: str, n_classes: int) -> None:
    """Call the compiled measure on the same counts."""
    compiled = _compile(function, name)[0]
    for left, right in _trial_counts(n_classes):
        try:
            value = compiled(left.copy(), right.copy())
        except Exception:  # told in the user's words below
            value = np.nan
        if np.isnan(value):
            raise_failure(function, name, left, right)


def _words(left: np.ndarray, right: np.ndarray) -> str:
    return f"left counts {left.tolist()} and right counts {right.tolist()}"


def raise_failure(function: ImpurityFunction, name: str, left: np.ndarray, right: np.ndarray) -> None:
    """Raise the error of a measure that gave no number for these counts."""
    plain = getattr(function, "py_func", function)
    counts = _words(left, right)
    try:
        plain(left.copy(), right.copy())
    except Exception as error:
        raise ValueError(f"criterion {name!r} failed for {counts}: {type(error).__name__}: {error}") from error
    raise ValueError(
        f"criterion {name!r} returned NaN for {counts}; a measure must return a number (inf for a useless split)"
    )
