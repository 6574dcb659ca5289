"""Times, spans and sizes of documents in few letters; a dash for what is not known."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jobsight.clock import format_micros, format_span

if TYPE_CHECKING:
    from jobsight.documents import JobDocument

__all__ = ["UNKNOWN", "memory", "moment", "span", "why"]

UNKNOWN = "–"


def moment(micros: int | None) -> str:
    """µs since 1970 as ``2026-11-21 01:05:11Z``; parts of seconds are left out."""
    return UNKNOWN if micros is None else format_micros(micros - micros % 1_000_000)


def span(seconds: float | None, *, lasts: bool = False) -> str:
    """Seconds as ``12 min``, of what goes on as ``12 min…``."""
    if seconds is None:
        return UNKNOWN
    return format_span(max(seconds, 0.0)) + ("…" if lasts else "")


def why(document: JobDocument) -> str:
    """The reason of a job's state, as last told; hostile text, empty where nobody told any."""
    if document.outcome is not None:
        said = document.outcome.reason
        code, signal = document.outcome.exit_code, document.outcome.signal
        if said is None and signal:
            return f"signal {signal}"
        return f"exit code {code}" if said is None and code else said or ""
    for event in reversed(document.timeline):
        if event.state is not None and event.state is not document.state:
            break
        if event.reason is not None:
            return event.reason
    return ""


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
