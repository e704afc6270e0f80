"""Fonts for names in any script: letters that matplotlib's own font lacks come from a font of the system."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import TypeVar

from matplotlib import rcParams
from matplotlib.artist import Artist
from matplotlib.font_manager import FontProperties, findfont, fontManager, get_font
from matplotlib.text import Text

#: Fonts that have a sign for every letter, which says only what kind of letter it is.
STAND_INS = ("last resort", "adobe blank", "unifont upper")
#: Where several fonts have a letter, those that go with matplotlib's own come first.
PREFERRED = ("noto sans", "source han sans", "dejavu", "hiragino", "microsoft yahei", "malgun", "pingfang")


def families_for(text: str) -> list[str]:
    """Return the font families that a text needs: matplotlib's own, and others for letters that it lacks."""
    found = (_family_of(letter, len(fontManager.ttflist)) for letter in sorted(set(text)) if letter.isprintable())
    return list(dict.fromkeys([*rcParams["font.family"], *filter(None, found)]))


def letters_without_font(texts: Iterable[str]) -> str:
    """Return the letters of texts that no font of the system has, each once."""
    letters = sorted(letter for letter in set("".join(texts)) if letter.isprintable())
    return "".join(letter for letter in letters if _family_of(letter, len(fontManager.ttflist)) is None)


AnyArtist = TypeVar("AnyArtist", bound=Artist)


def with_fonts(artist: AnyArtist) -> AnyArtist:
    """Give all texts of an artist the fonts that their letters need; return it."""
    for text in artist.findobj(Text):
        families = families_for(text.get_text())
        if len(families) > len(rcParams["font.family"]):
            text.set_fontfamily(families)
    return artist


@lru_cache(maxsize=4096)
def _family_of(letter: str, n_fonts: int) -> str | None:
    """Return the family of a font that has a letter, "" if matplotlib's own has it; again when fonts are added."""
    if get_font(findfont(FontProperties())).get_char_index(ord(letter)):
        return ""
    fonts = {(font.name, font.fname) for font in fontManager.ttflist if font.style == "normal"}
    known = ((name, path) for name, path in fonts if not name.lower().lstrip(".").startswith(STAND_INS))
    return next((name for name, path in sorted(known, key=_preference) if _can_draw(path, letter)), None)


def _preference(font: tuple[str, str]) -> tuple[int, str]:
    name = font[0].lower()
    return next((i for i, one in enumerate(PREFERRED) if name.startswith(one)), len(PREFERRED)), name


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
