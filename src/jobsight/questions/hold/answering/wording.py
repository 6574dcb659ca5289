"""Numbers put into words."""

from __future__ import annotations

__all__ = ["counted", "percent"]


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
