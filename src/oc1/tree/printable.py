"""Text from files, safe to print, and the sign of negative numbers."""

MINUS = "\N{MINUS SIGN}"


def printable(text: str, kept: str = "\n\t") -> str:
    r"""Return text with escapes in place of characters that could move the cursor or change colours, but those `kept`.

    Examples
    --------
    >>> print(printable("petal\x1b[31m"))
    petal\x1b[31m
    """
    return "".join(c if c.isprintable() or c in kept else repr(c)[1:-1] for c in text)
