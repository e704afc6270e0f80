"""Finding columns by their names, in capital or small letters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from difflib import get_close_matches
from unicodedata import normalize


def _key(name: str) -> str:
    """Return what names have in common that look alike: without case, and with one way to write a letter."""
    return normalize("NFKC", name).casefold().strip()


def find_name(wanted: str, names: Sequence[str]) -> int | None:
    """Return the place of a name, or else of the only one that differs from it by case alone; None if there is none.

    Examples
    --------
    >>> find_name("Species", ["width", "species"]), find_name("X", ["x", "X"]), find_name("Y", ["y", "y "])
    (1, 1, None)
    """
    return match_names([wanted], names).get(wanted)


def match_names(wanted: Sequence[str], names: Sequence[str]) -> dict[str, int]:
    """Return the places of those names that are there, where none is taken for two.

    Case matters only where it tells two names apart.

    Parameters
    ----------
    wanted : sequence of str
    names : sequence of str
        All different.

    Examples
    --------
    >>> match_names(["Width", "x", "X"], ["width", "height", "X"])
    {'X': 2, 'Width': 0}
    """
    place = {name: m for m, name in enumerate(names)}
    found = {name: place[name] for name in wanted if name in place}
    taken = {*found}
    free = [name for name in names if name not in taken]
    folded = {_key(name): place[name] for name in free}
    n_alike = Counter(_key(name) for name in free)
    missing = [name for name in wanted if name not in found]
    n_wanted = Counter(_key(name) for name in wanted)
    for name in missing:
        key = _key(name)
        if n_alike[key] == 1 and n_wanted[key] == 1:
            found[name] = folded[key]
    return found


def nearest_first(wanted: str, names: Sequence[str], limit: int = 3) -> list[str]:
    """Return all names, beginning with those that are spelt most like the one that is wanted.

    Examples
    --------
    >>> nearest_first("pedal width", ["id", "sepal length", "petal width"])
    ['petal width', 'sepal length', 'id']
    """
    by_key = {_key(name): name for name in names}
    nearest = [by_key[key] for key in get_close_matches(_key(wanted), list(by_key), limit, cutoff=0.4)]
    return nearest + [name for name in names if name not in nearest]
