"""Times, spans and sizes of documents in few letters; a dash for what is not known."""

from __future__ import annotations

__all__ = ["UNKNOWN", "memory", "moment", "span"]

UNKNOWN = "–"


def moment(micros: int | None) -> str:
    """µs since 1970 as ``2026-11-21 01:05:11Z``; parts of seconds are left out."""
    from jobsight.clock import format_micros

    return UNKNOWN if micros is None else format_micros(micros - micros % 1_000_000)


def span(seconds: float | None) -> str:
    """Seconds as ``12 min``."""
    from jobsight.clock import format_span

    return UNKNOWN if seconds is None else format_span(max(seconds, 0.0))


def memory(megabytes: int | None) -> str:
    """MB of 2^20 bytes as ``1.5 GB``."""
    if megabytes is None:
        return UNKNOWN
    if megabytes < 1000:
        return f"{megabytes} MB"
    size = float(megabytes) / 1024
    for unit in ("GB", "TB"):
        if size < 1000 or unit == "TB":
            return f"{size:.3g} {unit}" if size < 1000 else f"{size:.0f} {unit}"
        size /= 1024
    raise AssertionError("unreachable")
