"""Hostile text made safe to show: in a terminal, in a page, in an error."""

__all__ = ["printable", "visible"]

_PER_LETTER = 8
"""Letters looked at for each that may show; what is behind so many blanks is cut with them."""


def visible(text: str) -> str:
    """The text with a blank for each control, formatting, private or surrogate character."""
    if text.isprintable():
        return text
    return "".join(letter if letter.isprintable() else " " for letter in text)


def printable(value: object, width: int | None = None) -> str:
    """Any value as one line without control or formatting characters, and without runs of blanks.

    Args:
        value: whatever a log told.
        width: cut to that many characters, with an ellipsis.
    """
    text = str(value)
    head = text if width is None else text[: _PER_LETTER * width]
    line = " ".join(visible(head).split())
    if width is None or (len(line) <= width and len(head) == len(text)):
        return line
    return line[: width - 1].rstrip() + "…"
