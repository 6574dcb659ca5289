"""Numbers put into words."""

from __future__ import annotations

__all__ = ["chance_words", "percent"]


def percent(share: float) -> str:
    """A share as a whole percentage; never 0 % or 100 % where it is not exactly that."""
    whole = round(100 * share)
    if whole == 0 and share > 0:
        return "<1 %"
    if whole == 100 and share < 1:
        return ">99 %"
    return f"{whole} %"


def chance_words(probability: float, low: float | None, high: float | None) -> str:
    """A probability with its interval, where there is one: ``36 % (5–58 %)``."""
    if low is None or high is None:
        return percent(probability)
    return f"{percent(probability)} ({percent(low).removesuffix(' %')}–{percent(high)})"
