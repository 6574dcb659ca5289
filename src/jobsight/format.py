"""Numbers, shares, amounts, moments and spans as text; a dash for what is unknown."""

from __future__ import annotations

import datetime as dt
from contextvars import ContextVar

from jobsight.clock import format_micros, format_span, micros

__all__ = [
    "UNKNOWN",
    "amount",
    "chance",
    "hours",
    "interval",
    "local",
    "memory",
    "moment",
    "number",
    "percent",
    "short",
    "show_in",
    "size",
    "span",
    "timestamp",
]

UNKNOWN = "–"

_FIRST, _LAST = -62_135_510_400, 253_402_214_400
_ZONE: ContextVar[dt.tzinfo] = ContextVar("zone", default=dt.UTC)


def number(value: float | None, digits: int = 3, *, signed: bool = False) -> str:
    """A number with so many decimals: ``0.693``, ``+0.010`` if `signed`."""
    return UNKNOWN if value is None else f"{value:{'+' if signed else ''}.{digits}f}"


def amount(value: float | None) -> str:
    """An amount of any size with three digits: ``0.0412``, ``41.2``, ``41,200``."""
    if value is None:
        return UNKNOWN
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def short(value: object) -> str:
    """A parameter or a metric: a float with four digits, anything else as it is."""
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def interval(low: float | None, high: float | None, digits: int = 2) -> str:
    """The bounds of an interval: ``0.50–0.61``."""
    return UNKNOWN if low is None or high is None else f"{low:.{digits}f}–{high:.{digits}f}"


def percent(share: float | None) -> str:
    """A share as a whole percentage; never 0 % or 100 % where it is not exactly that."""
    if share is None:
        return UNKNOWN
    whole = round(100 * share)
    if whole == 0 and share > 0:
        return "<1 %"
    if whole == 100 and share < 1:
        return ">99 %"
    return f"{whole} %"


def chance(probability: float, low: float | None, high: float | None) -> str:
    """A probability with its interval, where there is one: ``36 % (5–58 %)``."""
    if low is None or high is None:
        return percent(probability)
    return f"{percent(probability)} ({percent(low).removesuffix(' %')}–{percent(high)})"


def size(amount: float | None) -> str:
    """Bytes: ``845 bytes``, ``33.2 MB``."""
    if amount is None:
        return UNKNOWN
    if amount < 1000:
        return "1 byte" if amount == 1 else f"{amount:.0f} bytes"
    for unit in ("kB", "MB"):
        amount /= 1000
        if amount < 1000:
            return f"{amount:.1f} {unit}"
    return f"{amount / 1000:,.1f} GB"


def memory(megabytes: float | None) -> str:
    """MB of 2^20 bytes: ``999 MB``, ``2.5 GB``."""
    if megabytes is None:
        return UNKNOWN
    if megabytes < 1000:
        return f"{megabytes:.0f} MB"
    gigabytes = megabytes / 1024
    if gigabytes < 1000:
        return f"{gigabytes:.3g} GB"
    terabytes = gigabytes / 1024
    return f"{terabytes:.3g} TB" if terabytes < 1000 else f"{terabytes:.0f} TB"


def show_in(zone: dt.tzinfo) -> None:
    """Show moments in the time zone of who reads them, in this context; else they are in UTC."""
    _ZONE.set(zone)


def local(time: int) -> dt.datetime:
    """µs since 1970 on the reader's clock, in whole seconds; the nearest in the years 1 to 9999."""
    return dt.datetime.fromtimestamp(min(max(time // 1_000_000, _FIRST), _LAST), _ZONE.get())


def moment(time: int | str | None) -> str:
    """A moment for people: ``2026-11-21 02:05:11+01``, in UTC ``2026-11-21 01:05:11Z``.

    `time` is in µs since 1970, or text in ISO 8601 with its offset; any other is unknown.
    """
    if isinstance(time, str):
        try:
            time = micros(dt.datetime.fromisoformat(time))
        except (ValueError, TypeError):
            time = None
    if time is None:
        return UNKNOWN
    text = local(time).isoformat(" ")
    return text[:19] + ("Z" if text.endswith("+00:00") else text[19:].removesuffix(":00"))


def span(seconds: float | None, *, lasts: bool = False) -> str:
    """Seconds as ``12 min``; ``12 min…`` of what has not ended."""
    if seconds is None:
        return UNKNOWN
    return format_span(max(seconds, 0.0)) + ("…" if lasts else "")


def hours(value: float | None) -> str:
    """Hours: ``4.2``, ``1,200``."""
    return UNKNOWN if value is None else f"{value:,.{1 if value < 100 else 0}f}"


def timestamp(micros: int | None) -> str | None:
    """µs since 1970 in ISO 8601: ``2026-11-21T01:05:11.25Z``; None where it is unknown."""
    return None if micros is None else format_micros(micros).replace(" ", "T")
