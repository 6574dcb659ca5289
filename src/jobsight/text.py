"""Text to show: what is hostile made safe for a terminal, a page, an error; numbers of things."""

import difflib
import re
from collections.abc import Iterable

__all__ = [
    "abridged",
    "beginning",
    "closest",
    "counted",
    "meant",
    "one_slip",
    "printable",
    "visible",
    "without_surrogates",
    "wordlist",
    "wordset",
]

_SHOWN = 60
_SURROGATE = re.compile("[\ud800-\udfff]")
_PER_LETTER = 8
"""Characters read for each that may show; what follows so many blanks is cut with them."""


def counted(number: int, noun: str, plural: str | None = None) -> str:
    """``1 batch``, ``12 batches``."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def wordlist(text: str) -> tuple[str, ...]:
    """The words of a list in the source, which would take a line each."""
    return tuple(text.split())


def wordset(text: str) -> frozenset[str]:
    """The same as a set."""
    return frozenset(text.split())


def one_slip(name: str, other: str) -> bool:
    """Whether one character is missing, too much, wrong, or swapped with the next."""
    if name == other or abs(len(name) - len(other)) > 1 or name.lower() == other.lower():
        return False
    at = next(
        (k for k, (a, b) in enumerate(zip(name, other, strict=False)) if a != b),
        min(len(name), len(other)),
    )
    if at == min(len(name), len(other)) and (name + other)[-1].isdigit():
        return False  # python2, gcc12
    rest, end = name[at:], other[at:]
    swapped = len(rest) > 1 and rest[1] + rest[0] + rest[2:] == end
    return (
        swapped
        or (rest[1:] == end[1:] and not rest[:1].isdigit())
        or rest[1:] == end
        or rest == end[1:]
    )


def meant(name: str, known: Iterable[str]) -> str | None:
    """The known name that is one slip away; None: there is none, and another would be a guess."""
    return next((one for one in sorted(known) if one_slip(name, one)), None)


def closest(name: str, known: Iterable[str], least: float = 0.6) -> str | None:
    """The known name that is most alike, by `difflib`; None: none is alike enough."""
    return next(iter(difflib.get_close_matches(name, known, 1, least)), None)


def visible(text: str) -> str:
    """The text with a blank for each control, formatting, private or surrogate character."""
    if text.isprintable():
        return text
    return "".join(character if character.isprintable() else " " for character in text)


def without_surrogates(text: str) -> str:
    """The text with halves of characters, which JSON may escape and no document holds, replaced."""
    return text if text.isascii() else _SURROGATE.sub("\ufffd", text)


def printable(value: object, width: int | None = None) -> str:
    """Any value as one line without control or formatting characters and runs of blanks."""
    text = str(value)
    head = text if width is None else text[: _PER_LETTER * width]
    line = " ".join(visible(head).split())
    if width is None or (len(line) <= width and len(head) == len(text)):
        return line
    return line[: width - 1].rstrip() + "…"


def abridged(value: object, width: int) -> str:
    """As `printable`, but what is too long is cut in its middle: errors end with their reason."""
    text, most = str(value), _PER_LETTER * width
    line = printable(text if len(text) <= 2 * most else f"{text[:most]} … {text[-most:]}")
    if len(line) <= width:
        return line
    head = width // 3
    return f"{line[:head].rstrip()} … {line[head + 3 - width :].lstrip()}"


def beginning(head: bytes) -> str:
    """What a file of an unknown kind begins with, in words: its first line, as far as it shows."""
    first = head.lstrip()[:_SHOWN]
    if not first:
        return "nothing but blanks" if head else "nothing: it is empty"
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "text in UTF-16, which iconv -f UTF-16 -t UTF-8 makes readable"
    if b"\0" in first:
        return f"bytes that are not text ({first[:8].hex(' ')})"
    return repr(printable(first.partition(b"\n")[0].decode("utf-8", "replace"), _SHOWN))
