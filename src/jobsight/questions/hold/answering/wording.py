"""Numbers and hostile text put into words that a terminal may show."""

from __future__ import annotations

import datetime as dt

from jobsight.clock import format_moment

__all__ = ["counted", "micros", "moment_text", "percent", "plain"]


def plain(text: str, width: int = 300) -> str:
    """Text from a log as one line without control characters, at most `width` long."""
    # Anything past this cannot show, however many blanks and control characters go.
    head = text[: 8 * width]
    clean = "".join(letter if letter.isprintable() else " " for letter in head)
    clean = " ".join(clean.split())
    return clean if len(clean) <= width else clean[: width - 1] + "…"


def percent(share: float) -> str:
    """A share as a whole percentage; never 0 % or 100 % where it is not exactly that."""
    whole = round(100 * share)
    if whole == 0 and share > 0:
        return "<1 %"
    if whole == 100 and share < 1:
        return ">99 %"
    return f"{whole} %"


def counted(number: int, noun: str, plural: str | None = None) -> str:
    """``1 batch``, ``12 batches``."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


_EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)


def micros(moment: dt.datetime) -> int:
    """A moment as µs since 1970."""
    return (moment - _EPOCH) // dt.timedelta(microseconds=1)


def moment_text(moment: int) -> str:
    """µs since 1970 as ISO 8601 in UTC."""
    return format_moment(_EPOCH + dt.timedelta(microseconds=moment))
