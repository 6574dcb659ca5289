"""Amounts as people write them in a config: sizes (``4 GB``), spans (``2 h``, ``1-12:00:00``)."""

from __future__ import annotations

import re
from typing import Any

__all__ = ["megabytes", "seconds"]

_SIZES = {"k": 1 / 1024, "m": 1, "g": 1 << 10, "t": 1 << 20}
_SPANS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 7 * 86400}
_SIZE = re.compile(r"(\d{1,12}(?:\.\d{1,6})?) ?([kmgt])(?:i?b)?", re.ASCII | re.IGNORECASE)
_SPAN = re.compile(
    r"(\d{1,9}(?:\.\d{1,6})?) ?"
    r"(?:(s)(?:ec|econds?)?|(m)(?:in(?:utes?)?)?|(h)(?:ours?)?|(d)(?:ays?)?|(w)(?:eeks?)?)",
    re.ASCII | re.IGNORECASE,
)
_CLOCK = re.compile(r"(?:(\d{1,4})-)?(\d{1,4}):([0-5]\d):([0-5]\d)", re.ASCII)


def megabytes(value: Any) -> Any:
    """MiB meant by ``4 GB``, ``512M`` (binary, as HTCondor and Slurm count) or a number of MiB.

    Raises:
        ValueError: a text is no size.
    """
    if not isinstance(value, str):
        return value
    if not (found := _SIZE.fullmatch(value.strip())):
        raise ValueError("write a size such as 4 GB or 512 MB, or a number of MB")
    return max(1, round(float(found[1]) * _SIZES[found[2].lower()]))


def seconds(value: Any) -> Any:
    """Seconds meant by ``2 h``, ``90 min``, ``12:00:00``, ``1-12:00:00`` or a number of seconds.

    Raises:
        ValueError: a text is no span.
    """
    if not isinstance(value, str):
        return value
    text = value.strip()
    if clock := _CLOCK.fullmatch(text):
        days, *rest = (int(part or 0) for part in clock.groups())
        return days * 86400 + rest[0] * 3600 + rest[1] * 60 + rest[2]
    if not (found := _SPAN.fullmatch(text)):
        raise ValueError("write a span such as 2 h, 90 min or 1-12:00:00, or a number of seconds")
    unit = next(letter for letter in found.groups()[1:] if letter)
    return max(1, round(float(found[1]) * _SPANS[unit.lower()]))
