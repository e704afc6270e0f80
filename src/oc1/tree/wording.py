"""How numbers, terms and tests are written wherever a person reads them: terminal, notebook, picture and page."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

import numpy as np

from .printable import MINUS

if TYPE_CHECKING:
    from .linear import Tree
    from .structure import TreeStructure

#: How many terms of a test are written: see `write_terms`.
MaxTerms: TypeAlias = int | Literal["auto"] | None

#: A test with more terms shows the ones with the largest shares.
MAX_TERMS, TERMS_OF_LONG_TEST = 8, 6
#: A longer set of categories is cut to this many words.
MAX_CATEGORIES = 8
#: Numbers outside of this range have an exponent, unless all their digits are wanted.
SMALLEST_PLAIN, LARGEST_PLAIN = 1e-5, 1e9
_TIED = "\N{NO-BREAK SPACE}"


def number(value: float, digits: int = 3) -> str:
    """Write a number with some significant digits, without an exponent unless it is tiny or huge.

    Examples
    --------
    >>> number(4901.2), number(-0.000123), number(2.0), number(1.5e-9)
    ('4900', '−0.000123', '2', '1.5e-9')
    """
    size = abs(float(value))
    if SMALLEST_PLAIN <= size < max(LARGEST_PLAIN, 10.0**digits):
        text = np.format_float_positional(size, precision=digits, unique=False, fractional=False, trim="-")
    elif size == 0 or not np.isfinite(size):
        text = f"{size:g}"
    else:
        text = np.format_float_scientific(size, precision=digits - 1, unique=False, trim="-", exp_digits=1)
        text = text.replace("e+", "e")
    return f"{MINUS}{text}" if value < 0 else text


def percent(share: float) -> str:
    """Write a share in per cent; only all is 100% and only nothing is 0%.

    Examples
    --------
    >>> percent(0.5), percent(0.98643), percent(0.99999), percent(0.0001), percent(1)
    ('50%', '98.6%', '>99.9%', '<0.1%', '100%')
    """
    if 0 < share < 0.001:
        return "<0.1%"
    if 0.999 < share < 1:
        return ">99.9%"
    return f"{100 * share:.3g}%"


def digits_needed(value: float, gap: float, digits: int = 3) -> int:
    """Return how many significant digits, `digits` or more, keep a number within a quarter of a gap."""
    while digits < 17 and abs(float(f"{value:.{digits}g}") - value) > 0.25 * gap:
        digits += 1
    return digits


def write_number(value: float, digits: int, gap: float) -> str:
    """Write a number with as many digits as keep it within a quarter of a gap."""
    return number(value, digits_needed(value, gap, digits))


class Term(NamedTuple):
    """A term of a test.

    Attributes
    ----------
    feature : int
        Its attribute.
    name : str
        What the attribute is called; ``code(...)`` stands for the code of a category.
    coefficient : float
    share : float
        Its share of the size of the test: coefficient times spread of the attribute. NaN if spreads are not known.
    """

    feature: int
    name: str
    coefficient: float
    share: float

    def write(self, digits: int = 3, is_first: bool = False) -> str:
        """Write the term, like ``0.37 petal_len``, or ``− 1.2 petal_wid`` where it is not the first one."""
        factor = number(abs(self.coefficient), digits)
        size = self.name if factor == "1" else f"{factor} {self.name}"
        if is_first:
            return f"{MINUS}{size}" if self.coefficient < 0 else size
        return f"{MINUS if self.coefficient < 0 else '+'} {size}"


def make_terms(
    tree: TreeStructure, features: np.ndarray, coefficients: np.ndarray, scale: np.ndarray | None = None
) -> list[Term]:
    """Return terms, the largest share first; in the order they are given where spreads are not known.

    Parameters
    ----------
    tree : TreeStructure
    features : int array (n_terms,)
    coefficients : float array (n_terms,)
    scale : float array (n_features,), optional
        Spread of each attribute. None: what the tree knows.
    """
    scale = tree.scale if scale is None else scale
    shares = np.full(len(features), np.nan)
    order = np.arange(len(features))
    if len(scale):
        shares = shares_of(coefficients * scale[features])
        order = np.argsort(-shares, kind="stable")
    names = [tree.feature_name(feature) for feature in features.tolist()]
    coded = [f"code({name})" if tree.is_categorical(m) else name for m, name in zip(features, names, strict=True)]
    return [Term(int(features[i]), coded[i], float(coefficients[i]), float(shares[i])) for i in order.tolist()]


def shares_of(terms: np.ndarray) -> np.ndarray:
    """Return the share of each term of a test in the size of them all."""
    sizes = np.abs(terms)
    return sizes / sizes.sum() if sizes.sum() > 0 else np.full(len(sizes), 1 / max(len(sizes), 1))


def terms_of(tree: TreeStructure, node: int, scale: np.ndarray | None = None) -> list[Term]:
    """Return the terms of a node's test, the largest share first; linear machines and leaves have none."""
    if not tree.has_thresholds or tree.children[node, 0] < 0:
        return []
    features, (coefficients,), _ = tree.node_functions(node)
    return make_terms(tree, features, coefficients, scale)


def write_terms(terms: Sequence[Term], digits: int = 3, max_terms: MaxTerms = None) -> list[str]:
    """Write terms like ``0.37 petal_len`` and ``− 1.2 petal_wid``.

    Parameters
    ----------
    terms : sequence of Term
    digits : int, default=3
        Significant digits of the coefficients.
    max_terms : int, "auto" or None, default=None
        Where there are more, only the first ones are written, and how many more there are. "auto": of more than 8 terms
        those with the 6 largest shares, if shares are known. None: all are written.
    """
    if max_terms == "auto":
        max_terms = TERMS_OF_LONG_TEST if len(terms) > MAX_TERMS and terms[0].share == terms[0].share else None
    shown = terms if max_terms is None else terms[:max_terms]
    words = [term.write(digits, is_first=i == 0) for i, term in enumerate(shown)]
    if len(shown) < len(terms):
        rest = sum(term.share for term in terms[len(shown) :])
        share = f" ({percent(rest)})" if rest == rest else ""
        words.append(f"+ \N{HORIZONTAL ELLIPSIS} {len(terms) - len(shown)} more{share}")
    return words


def write_test(
    names: Sequence[str], features: np.ndarray, coefficients: np.ndarray, threshold: float, digits: int = 3
) -> str:
    """Write a test that is not in a tree yet; without names, attributes are ``x1``, ``x2``, ..."""
    terms = [
        Term(feature, feature_name(names, feature), coefficient, np.nan)
        for feature, coefficient in zip(features.tolist(), np.asarray(coefficients).tolist(), strict=True)
    ]
    return f"{' '.join(write_terms(terms, digits))} > {number(threshold, digits)}"


def write_membership(tree: Tree, node: int) -> str:
    """Write a test on a categorical attribute alone, like ``colour in {red, green}``."""
    feature = int(tree.test(node)[0][0])

    codes = np.asarray(tree.codes[feature])

    def passing(node: int) -> np.ndarray:
        """Say which categories answer yes."""
        _, coefficients, threshold = tree.test(node)
        return np.asarray(coefficients[0] * codes > threshold)

    # Categories that a test further up has sent elsewhere are not worth a word.
    possible = np.ones(len(codes), dtype=bool)
    parents, below = tree.parents, node
    while (above := int(parents[below])) >= 0:
        if tree.test(above)[0].tolist() == [feature]:
            possible &= passing(above) == (tree.children[above, 1] == below)
        below = above
    labels = np.array(tree.categories[feature], dtype=object)
    yes, no = (sorted(labels[possible & side]) for side in (passing(node), ~passing(node)))
    if not yes:
        return f"{tree.feature_name(feature)} missing"
    word, chosen = ("not in", no) if len(yes) > MAX_CATEGORIES and len(no) < len(yes) else ("in", yes)
    if len(chosen) > MAX_CATEGORIES:
        chosen = [*chosen[: MAX_CATEGORIES - 1], f"{len(chosen) - MAX_CATEGORIES + 1} more"]
    return f"{tree.feature_name(feature)} {word} {{{', '.join(chosen)}}}"


def wrapped(words: Sequence[str], width: int) -> list[str]:
    """Write words in lines, each word whole where a line has room for it."""
    tied = " ".join(word.replace(" ", _TIED) if len(word) <= width else word for word in words)
    lines = textwrap.wrap(tied, max(width, 1), break_on_hyphens=False)
    return [line.replace(_TIED, " ") for line in lines]


def feature_name(names: Sequence[str], feature: int) -> str:
    """Return an attribute's name, ``x1``, ``x2``, ... where there are none."""
    return names[feature] if names else f"x{feature + 1}"


def looks_like(tree: TreeStructure, node: int) -> tuple[str, float, float]:
    """Return what the training examples at a node mostly are: the class, its share, and the weight of all of them.

    Where numbers are predicted, the number in place of the class, with a share of 1.
    """
    total = float(tree.counts[node].sum())
    share = float(tree.counts[node].max()) / total if tree.predicts_classes and total > 0 else 1.0
    return tree.label(node), share, total
