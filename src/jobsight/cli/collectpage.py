"""How a collector is, as lines for a terminal: its store, and one row per source."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from jobsight.cli.tables import table
from jobsight.cli.terminal import paint, wrap
from jobsight.format import UNKNOWN, moment, size, span
from jobsight.text import counted, printable

if TYPE_CHECKING:
    from jobsight.service.status import Report

__all__ = ["page"]

_STATE_COLOURS = {
    "running": "36", "waiting": "32", "done": "32", "starting": "33", "stopped": "2",
    "backing off": "31", "conflict": "31", "failed": "31", "stuck": "31",
}  # fmt: skip
_TEXT = 400


def page(report: Report) -> Iterator[str]:
    """The lines of the page, without what is wrong now: that is in `report.problems`."""
    status, store = report.status, report.status["store"]
    states, sources = store.get("states") or {}, sorted(status["sources"].items())
    ended = status.get("stopped") is not None
    head = "has ended" if ended else "runs well" if report.healthy else "is not well"
    yield from wrap(
        f"the collector (process {printable(status.get('pid'), 20)} on "
        f"{printable(status.get('host'), 60)}) {head}; {'was ' if ended else ''}up "
        f"{span(status.get('uptime_s') or 0)}, {printable(status.get('memory_mb'), 20)} MB of "
        f"memory, as of {moment(status['written'])}"
    )
    jobs = f": {counted(sum(states.values()), 'job')}, {store.get('active') or 0:,} not ended"
    url = printable(store.get("url") or "not opened yet", 120)
    yield from wrap(f"store {url}{jobs if states else ''}")
    if last := _last_error(store):
        yield from _indented(last)
    headings = ["state", "lag", "documents", "per s", "polls", "errors", "source"]
    rows = [_row(name, one) for name, one in sources]
    yield table(headings, rows, ["polls", "per s"], left=["source"])
    for name, one in sources:
        for text in _notes(one):
            yield from _indented(f"{printable(name, 100)}: {text}")


def _indented(text: str) -> Iterator[str]:
    yield from (f"  {line}" for line in wrap(text, 2))


def _last_error(one: dict[str, Any]) -> str | None:
    """The last error, with when it was and when it was over, so that it is not taken for now."""
    error = one.get("last_error")
    if not isinstance(error, dict) or not isinstance(error.get("time"), int):
        return None
    over = error.get("over")
    until = f", over since {moment(over)}" if isinstance(over, int) else ""
    return f"last error {moment(error['time'])}{until}: {printable(error.get('text'), _TEXT)}"


def _notes(one: dict[str, Any]) -> Iterator[str]:
    """When a source is asked again, what could not be read of it, and its last error if over."""
    source = one.get("source") or {}
    if one.get("state") in ("backing off", "conflict") and isinstance(one.get("until"), int):
        yield f"asked again at {moment(one['until'])}"
    keys = ("gaps", "gap_bytes", "skipped", "skipped_bytes")
    gaps, missing, skipped, bytes_ = (
        value if isinstance(value := source.get(key), int) else 0 for key in keys
    )
    if gaps:
        advice = printable(source.get("advice"), _TEXT)
        yield f"{counted(gaps, 'gap')}, at least {missing:,} bytes missing: {advice}"
    if skipped:
        stretches = counted(skipped, "damaged stretch", "damaged stretches")
        yield f"{stretches} skipped, {bytes_:,} bytes"
    if one.get("healthy") and (last := _last_error(one)):
        yield last


def _row(name: str, one: dict[str, Any]) -> list[str]:
    counts = [one.get(kind) or 0 for kind in ("errors", "conflicts", "crashes", "refused")]
    state = "stuck" if one.get("turning") is False else printable(one.get("state"), 20)
    return [
        paint(state, _STATE_COLOURS.get(state, "0")),
        _lag(one.get("source") or {}),
        f"{one.get('documents') or 0:,}",
        f"{one.get('documents_per_s') or 0:.1f}",
        f"{one.get('polls') or 0:,}",
        f"{sum(counts):,}",
        printable(name, 100),
    ]


def _lag(source: dict[str, Any]) -> str:
    """How far behind a source is, in its own unit."""
    if isinstance(found := source.get("bytes_behind"), int):
        return size(found)
    if isinstance(found := source.get("lag"), int):
        return f"{found:,} messages"
    if isinstance(found := source.get("behind_s"), int | float):
        return span(found)
    return UNKNOWN
