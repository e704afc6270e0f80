"""Fonts for names in any script: letters that matplotlib's own font lacks come from a font of the system."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from matplotlib import rcParams
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.font_manager import FontProperties, findfont, fontManager, get_font
from matplotlib.text import Text

#: Fonts that have a sign for every letter, which says only what kind of letter it is.
STAND_INS = ("last resort", "adobe blank", "unifont upper")
#: Where several fonts have a letter, those that go with matplotlib's own come first.
PREFERRED = ("noto sans", "source han sans", "dejavu", "hiragino", "microsoft yahei", "malgun", "pingfang")


def families_for(text: str) -> list[str]:
    """Return the font families that a text needs: matplotlib's own, and others for letters that it lacks."""
    lacking = frozenset(letter for letter in text if letter.isprintable() and ord(letter) not in _own_letters())
    own = list(rcParams["font.family"])
    return own + [family for family in _others(lacking, len(fontManager.ttflist))[0] if family not in own]


def letters_without_font(texts: Iterable[str]) -> str:
    """Return the letters of texts that no font of the system has, each once."""
    shown = {letter for text in texts for letter in text if letter.isprintable()}
    lacking = frozenset(letter for letter in shown if ord(letter) not in _own_letters())
    return "".join(sorted(_others(lacking, len(fontManager.ttflist))[1]))


def with_fonts(artist: Axes) -> Axes:
    """Give all texts of axes the fonts that their letters need; return the axes."""
    use_fonts(artist)
    return artist


def use_fonts(artist: Artist) -> None:
    """Give all texts of an artist the fonts that their letters need."""
    for text in artist.findobj(Text):
        families = families_for(text.get_text())
        if len(families) > len(rcParams["font.family"]):
            text.set_fontfamily(families)


def _own_letters() -> dict[int, int]:
    return _letters_of(findfont(FontProperties()))


@lru_cache(maxsize=8)
def _letters_of(path: str) -> dict[int, int]:
    return dict(get_font(path).get_charmap())


@lru_cache(maxsize=256)
def _others(letters: frozenset[str], n_fonts: int) -> tuple[tuple[str, ...], frozenset[str]]:
    """Return families that have these letters, and the letters that none has; looked up again when fonts are added."""
    families: list[str] = []
    missing = set(letters)
    if not missing:
        return (), frozenset()

    def order(entry: tuple[str, str, str]) -> tuple[int, str]:
        name = entry[0].lower()
        return next((i for i, one in enumerate(PREFERRED) if name.startswith(one)), len(PREFERRED)), name

    entries = {(own.name, own.fname, str(own.style)) for own in fontManager.ttflist if own.style == "normal"}
    for name, path, _ in sorted(entries, key=order):
        if not missing:
            break
        if name in families or name.lower().lstrip(".").startswith(STAND_INS):
            continue
        found = {letter for letter in missing if _can_draw(path, letter)}
        if found:
            families.append(name)
            missing -= found
    return tuple(families), frozenset(missing)


def _can_draw(path: str, letter: str) -> bool:
    """Say whether a font has the outline of a letter; fonts of coloured pictures have none."""
    try:
        font = get_font(path)
        if not font.scalable or font.get_char_index(ord(letter)) == 0:
            return False
        font.set_size(12, 72)
        font.load_char(ord(letter))
        return len(font.get_path()[0]) > 0
    except (OSError, RuntimeError, ValueError):
        return False
