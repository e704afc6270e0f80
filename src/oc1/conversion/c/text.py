"""Texts of users and long lines as C takes them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from ...tree.printable import MINUS
from ..values import all_different

#: The longest string that C99 promises to take.
MAX_STRING_BYTES = 4095
WIDTH = 110


def comment(text: Any, longest: int = 60) -> str:
    r"""Write a user's text so that it can stand in a comment: ASCII, nothing that could end the comment or the line.

    Examples
    --------
    >>> comment("a*/b")
    'a\\u002a/b'
    """
    text = str(text).replace(MINUS, "-")
    text = text if len(text) <= longest else text[: longest - 3] + "..."
    return re.sub(r"[^ -~]|[\\*]|\?(?=\?)", lambda found: f"\\u{ord(found[0]):04x}", text)


def string(text: str) -> str:
    r"""Write a user's text as a string of C, in UTF-8.

    Examples
    --------
    >>> print(string('say "??/"\n'))
    "say \"\?\?/\"\012"
    """
    raw = text.encode("utf-8", "surrogatepass").decode("latin-1")  # a character a byte
    if len(raw) > MAX_STRING_BYTES:
        raise ValueError(f"the class label {comment(text)!r} is too long for C")
    return '"' + re.sub("[^ -~]", lambda found: f"\\{ord(found[0]):03o}", re.sub(r'(["\\?])', r"\\\1", raw)) + '"'


def identifiers(texts: Iterable[Any]) -> list[str]:
    """Turn texts into different ends of C names.

    Examples
    --------
    >>> identifiers(["petal len", "petal-len", ""])
    ['petal_len', 'petal_len_2', '2']
    """
    plain = [re.sub("[^A-Za-z0-9]+", "_", str(text)[:60]).strip("_") for text in texts]
    return all_different(text or str(number) for number, text in enumerate(plain))


def wrapped(parts: Iterable[str], joint: str, indent: str) -> str:
    """Join parts, with line breaks at joints where lines become long; the first line has no indentation."""
    lines: list[str] = []
    for part in parts:
        if lines and len(lines[-1]) + len(joint) + len(part) <= WIDTH:
            lines[-1] += joint + part
        else:
            if lines:
                lines[-1] += joint.rstrip()
            lines.append(indent + part)
    return "\n".join(lines)[len(indent) :]


def function(head: str, what: str, body: Iterable[str]) -> str:
    """Write a function and what it does."""
    return "\n".join([f"/* {what} */", f"static inline {head}", "{", *body, "}"])
