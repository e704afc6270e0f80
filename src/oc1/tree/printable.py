"""Text from files, safe to print, and the sign of negative numbers."""

MINUS = "\N{MINUS SIGN}"


def printable(text: str) -> str:
    r"""Return text without characters that could move the cursor or change colours.

    Examples
    --------
    >>> print(printable("petal\x1b[31m"))
    petal\x1b[31m
    """
    return "".join(c if c.isprintable() or c in "\n\t" else repr(c)[1:-1] for c in text)
